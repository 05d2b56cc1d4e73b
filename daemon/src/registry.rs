//! The registry of a user's private daemons: a folder with sockets at which commands ask them how they are. Only the user may
//! enter it. Its entries are named `LOADER-DAEMON.sock`, after the two processes, and each has the metrics beside it. A user may have
//! several such folders, for each runtime folder that a session or a job has been given.

mod listed_sockets;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::geteuid;

use crate::config::Metrics;
use crate::control::ControlEndpoint;
use crate::folder::{self, Whose};
use crate::telemetry::MetricsEndpoint;

/// Name of the folder, in that of the user's sockets.
const FOLDER: &str = "private";
const CONTROL: &str = ".sock";
const METRICS: &str = ".metrics";
/// Of a control socket that does not listen yet.
const NEW: &str = ".new";
/// How often a folder that another daemon has just removed is made again.
const ATTEMPTS: usize = 8;

/// A private daemon that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The process whose Loaders it serves.
    pub loader: u32,
    /// Its own process.
    pub daemon: u32,
    /// Its control socket.
    pub control: PathBuf,
    /// Whether it is in another folder than this process has for sockets.
    pub is_elsewhere: bool,
}

/// A private daemon's own entry. The folder goes with the last entry.
#[derive(Debug)]
pub(crate) struct Registration {
    folder: PathBuf,
}

impl Registration {
    /// Enters a daemon, and gives its sockets.
    ///
    /// # Errors
    /// The folder or a socket cannot be made. Nothing depends on the entry but commands that look for it.
    pub(crate) fn of(user_sockets: &Path, loader: u32) -> io::Result<(Self, ControlEndpoint, MetricsEndpoint)> {
        let folder = user_sockets.join(FOLDER);
        let name = format!("{loader}-{}", std::process::id());
        let mut attempts = 0..ATTEMPTS;
        loop {
            let entered = enter(&folder, user_sockets, &name);
            match entered {
                Ok((control, metrics)) => return Ok((Self { folder }, control, metrics)),
                // The last daemon that was here has removed the folder at this moment.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts.next().is_some() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Its folder, for the log.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Others may have entries: then it stays, and so does the folder around it.
        if fs::remove_dir(&self.folder).is_ok()
            && let Some(around) = self.folder.parent().filter(|around| around.starts_with("/tmp"))
        {
            let _has_others = fs::remove_dir(around);
        }
    }
}

fn enter(folder: &Path, user_sockets: &Path, name: &str) -> io::Result<(ControlEndpoint, MetricsEndpoint)> {
    for folder in [user_sockets, folder] {
        folder::own(folder, None, Whose::Exposed).map_err(io::Error::other)?;
    }
    // What daemons that were killed have left.
    let _living = living(folder);
    // A socket gets its name when it listens: one that refuses is a dead daemon's.
    let (being_made, control) = (folder.join(format!("{name}{NEW}")), folder.join(format!("{name}{CONTROL}")));
    let metrics = MetricsEndpoint::bind(&Metrics::Socket(folder.join(format!("{name}{METRICS}"))), folder);
    let metrics = metrics.map_err(io::Error::other)?;
    Ok((ControlEndpoint::bind(&being_made, 0o600)?.renamed(control)?, metrics))
}

/// The private daemons of this user, by their processes: first those with sockets in this folder, and then those in other folders.
/// The kernel lists all sockets with names, so they are found wherever they are. Other users can make sockets as well: a folder
/// counts only if no other user can write in it, and a daemon elsewhere only if this user runs it.
pub fn private_daemons(user_sockets: &Path) -> Vec<Entry> {
    let mut entries = in_folder(user_sockets);
    entries.extend(elsewhere(user_sockets, listed_sockets::registries(&listed_sockets::read())));
    entries
}

/// Those with sockets in this folder. The entries of daemons that were killed are removed.
fn in_folder(user_sockets: &Path) -> Vec<Entry> {
    let folder = user_sockets.join(FOLDER);
    if is_ours(user_sockets) && is_ours(&folder) { living(&folder) } else { Vec::new() }
}

/// Whether only this user may make anything in a folder: another user may have made one in /tmp.
fn is_ours(folder: &Path) -> bool {
    let found = fs::symlink_metadata(folder);
    found.is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0)
}

/// Those in these folders, but for the user's own. Nothing is removed there.
fn elsewhere(user_sockets: &Path, folders: impl IntoIterator<Item = PathBuf>) -> Vec<Entry> {
    let identity = |folder: &Path| fs::metadata(folder).map(|found| (found.dev(), found.ino())).ok();
    let mut seen = vec![identity(&user_sockets.join(FOLDER))];
    let mut entries = Vec::new();
    for folder in folders {
        let is_secure = folder.parent().is_some_and(is_ours) && is_ours(&folder);
        let identity = identity(&folder);
        if !is_secure || seen.contains(&identity) {
            continue;
        }
        seen.push(identity);
        let found = entries_of(&folder, true).into_iter();
        entries.extend(found.filter(|entry| is_own_listener(&entry.control)));
    }
    sort(&mut entries);
    entries
}

fn living(folder: &Path) -> Vec<Entry> {
    let mut entries = entries_of(folder, false);
    entries.retain(|entry| {
        let answers = is_listened_at(&entry.control);
        if !answers {
            for socket in [entry.control.clone(), entry.control.with_extension(&METRICS[1..])] {
                let _gone = fs::remove_file(socket);
            }
        }
        answers
    });
    sort(&mut entries);
    entries
}

fn entries_of(folder: &Path, is_elsewhere: bool) -> Vec<Entry> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.filter_map(|name| Entry::read(folder, &name, is_elsewhere)).collect()
}

fn sort(entries: &mut [Entry]) {
    entries.sort_by_key(|entry| (entry.loader, entry.daemon));
}

impl Entry {
    fn read(folder: &Path, name: &str, is_elsewhere: bool) -> Option<Self> {
        let (loader, daemon) = processes(name.strip_suffix(CONTROL)?)?;
        Some(Self { loader, daemon, control: folder.join(name), is_elsewhere })
    }
}

/// The processes of the Loaders and of the daemon, after which an entry is named.
fn processes(name: &str) -> Option<(u32, u32)> {
    let (loader, daemon) = name.split_once('-')?;
    Some((loader.parse().ok()?, daemon.parse().ok()?))
}

/// Whether a process listens at this socket. A process that does not answer counts: its queue may be full.
pub fn is_listened_at(path: &Path) -> bool {
    matches!(connected(path), Ok(_) | Err(Errno::AGAIN))
}

/// Whether a process of this user listens at this socket.
fn is_own_listener(path: &Path) -> bool {
    match connected(path) {
        Ok(socket) => socket_peercred(&socket).is_ok_and(|peer| peer.uid == geteuid()),
        Err(error) => error == Errno::AGAIN,
    }
}

fn connected(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn a_daemon_is_found_while_it_lives_and_leaves_nothing() {
        let runtime = tempfile::tempdir().unwrap();
        let sockets = runtime.path().join("forebay");
        assert_eq!(in_folder(&sockets), []);
        let (registration, control, metrics) = Registration::of(&sockets, 7).unwrap();
        let own = std::process::id();
        let control_socket = sockets.join(format!("private/7-{own}.sock"));
        assert_eq!(
            in_folder(&sockets),
            [Entry { loader: 7, daemon: own, control: control_socket.clone(), is_elsewhere: false }]
        );
        for (path, mode) in [(&*sockets.join("private"), 0o700), (&control_socket, 0o600)] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
        }
        // A command with another runtime folder finds it too, and chooses it last.
        let other = runtime.path().join("other");
        let found: Vec<_> = private_daemons(&other).into_iter().filter(|entry| entry.loader == 7).collect();
        let entry = Entry { loader: 7, daemon: own, control: control_socket, is_elsewhere: true };
        assert!(found.contains(&entry), "{found:?}");
        assert_eq!(private_daemons(&sockets).into_iter().filter(|found| found.control == entry.control).count(), 1);
        drop((control, metrics, registration));
        assert!(!sockets.join("private").exists());
    }

    #[test]
    fn what_a_killed_daemon_left_is_removed_and_what_others_have_stays() {
        let runtime = tempfile::tempdir().unwrap();
        let sockets = runtime.path().join("forebay");
        let folder = sockets.join("private");
        folder::own(&sockets, None, Whose::Exposed).unwrap();
        folder::own(&folder, None, Whose::Exposed).unwrap();
        let [killed, lives] = [(20, 21), (4, 5)].map(|(loader, daemon)| folder.join(format!("{loader}-{daemon}.sock")));
        drop(UnixListener::bind(&killed).unwrap());
        fs::write(folder.join("20-21.metrics"), "").unwrap();
        let listener = UnixListener::bind(&lives).unwrap();
        for foreign in ["notes", "1-2.new", "a-b.sock"] {
            fs::write(folder.join(foreign), "").unwrap();
        }
        let found = in_folder(&sockets);
        assert_eq!(found, [Entry { loader: 4, daemon: 5, control: lives.clone(), is_elsewhere: false }]);
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["1-2.new", "4-5.sock", "a-b.sock", "notes"]);
        drop(listener);
    }

    #[test]
    fn a_folder_in_which_others_may_write_or_a_link_is_not_looked_into() {
        let runtime = tempfile::tempdir().unwrap();
        let (sockets, elsewhere) = (runtime.path().join("forebay"), runtime.path().join("elsewhere"));
        folder::own(&sockets, None, Whose::Exposed).unwrap();
        folder::own(&elsewhere, None, Whose::Exposed).unwrap();
        let listener = UnixListener::bind(elsewhere.join("1-2.sock")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, sockets.join("private")).unwrap();
        assert_eq!(in_folder(&sockets), []);
        fs::remove_file(sockets.join("private")).unwrap();
        fs::rename(&elsewhere, sockets.join("private")).unwrap();
        assert_eq!(in_folder(&sockets).len(), 1);
        fs::set_permissions(&sockets, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(in_folder(&sockets), []);
        drop(listener);
    }

    #[test]
    fn in_other_folders_only_what_is_the_users_alone_counts_and_nothing_is_removed() {
        let runtime = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = runtime.path().join(name).join(FOLDER);
            folder::own(folder.parent().unwrap(), None, Whose::Exposed).unwrap();
            folder::own(&folder, None, Whose::Exposed).unwrap();
            folder
        };
        let [good, exposed, link] = ["good", "exposed", "link"].map(folder);
        let listeners = [&good, &exposed].map(|folder| UnixListener::bind(folder.join("8-9.sock")).unwrap());
        drop(UnixListener::bind(good.join("1-2.sock")).unwrap());
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(exposed.parent().unwrap(), open.clone()).unwrap();
        fs::remove_dir(&link).unwrap();
        std::os::unix::fs::symlink(&good, &link).unwrap();
        let listed =
            || [good.clone(), exposed.clone(), link.clone(), runtime.path().join("missing"), good.join("../private")];
        let own = runtime.path().join("own");
        let expected = [Entry { loader: 8, daemon: 9, control: good.join("8-9.sock"), is_elsewhere: true }];
        assert_eq!(elsewhere(&own, listed()), expected);
        assert!(good.join("1-2.sock").exists(), "only its own folder is tidied");
        assert_eq!(elsewhere(good.parent().unwrap(), listed()), [], "those of its own folder are known");
        drop(listeners);
        assert_eq!(elsewhere(&own, listed()), []);
    }
}
