//! The folder of a user's socket: two users, or a user and a stranger's leftovers, never meet in it by accident.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

/// Name of our folder.
const NAME: &str = "forebay";

/// Why there is no folder for the socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketDirError {
    /// It belongs to another user, or is a link.
    #[error("{path} is not a folder of user {uid}; unset XDG_RUNTIME_DIR or set it to a folder of your own")]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// This process's user.
        uid: u32,
    },
    /// Others may enter it.
    #[error("{path} has mode {mode:o}, so that other users may enter it; chmod it to 700")]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The kernel refused.
    #[error("cannot use {path} for the socket: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Where this user's daemon would have its socket: `$XDG_RUNTIME_DIR/forebay`, else `/run/user/UID/forebay` if that
/// folder is ours. `None` where neither is; a daemon is then in a folder of its own that only it can name.
pub fn find_socket_dir(xdg_runtime_dir: Option<&OsStr>) -> Option<PathBuf> {
    runtime_dir(xdg_runtime_dir, Path::new("/run/user")).map(|folder| folder.join(NAME))
}

/// Makes the folder for a daemon's socket, with mode 0700: the one that [`find_socket_dir`] gives, else a new one
/// below `temporary` (rule 27).
pub fn make_socket_dir(xdg_runtime_dir: Option<&OsStr>, temporary: &Path) -> Result<PathBuf, SocketDirError> {
    match find_socket_dir(xdg_runtime_dir) {
        Some(path) => make(path),
        None => make_temporary(temporary),
    }
}

fn runtime_dir(xdg: Option<&OsStr>, run_user: &Path) -> Option<PathBuf> {
    // The specification says that a relative path counts as unset.
    if let Some(xdg) = xdg.map(Path::new).filter(|path| path.is_absolute()) {
        return Some(xdg.to_owned());
    }
    let folder = run_user.join(own_uid().to_string());
    is_ours(&folder).unwrap_or(false).then_some(folder)
}

fn make(path: PathBuf) -> Result<PathBuf, SocketDirError> {
    let at = |source| SocketDirError::Io { path: path.clone(), source };
    match DirBuilder::new().mode(0o700).create(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(at(error)),
    }
    if !is_ours(&path).map_err(at)? {
        return Err(SocketDirError::NotOurs { path, uid: own_uid() });
    }
    // A group may be let in by hand, for a socket with a group; everybody may not.
    let mode = fs::symlink_metadata(&path).map_err(at)?.mode() & 0o777;
    if mode & 0o007 != 0 {
        return Err(SocketDirError::Open { path, mode });
    }
    Ok(path)
}

/// A folder that did not exist before: making it fails if somebody else was first.
fn make_temporary(below: &Path) -> Result<PathBuf, SocketDirError> {
    let mut attempt = 0_u32;
    loop {
        let path = below.join(format!("{NAME}-{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(source) => return Err(SocketDirError::Io { path, source }),
        }
    }
}

/// A folder, not a link to one, that belongs to this process's user.
fn is_ours(path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    Ok(found.is_dir() && found.uid() == own_uid())
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn rule_27_the_runtime_folder_of_the_environment_comes_first() {
        let runtime = tempfile::tempdir().unwrap();
        let made = make_socket_dir(Some(runtime.path().as_os_str()), Path::new("/nowhere")).unwrap();
        assert_eq!(made, runtime.path().join("forebay"));
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
        let again = make_socket_dir(Some(runtime.path().as_os_str()), Path::new("/nowhere")).unwrap();
        assert_eq!(again, made);
    }

    #[test]
    fn rule_27_without_it_run_user_is_taken_only_if_it_is_ours() {
        let run_user = tempfile::tempdir().unwrap();
        assert_eq!(runtime_dir(None, run_user.path()), None);
        assert_eq!(runtime_dir(Some(OsStr::new("relative")), run_user.path()), None);
        let ours = run_user.path().join(own_uid().to_string());
        fs::create_dir(&ours).unwrap();
        assert_eq!(runtime_dir(None, run_user.path()), Some(ours.clone()));
        fs::remove_dir(&ours).unwrap();
        std::os::unix::fs::symlink("/", &ours).unwrap();
        assert_eq!(runtime_dir(None, run_user.path()), None, "a link is not a folder of ours");
    }

    #[test]
    fn rule_27_else_a_fresh_folder_of_mode_700() {
        let temporary = tempfile::tempdir().unwrap();
        let one = make_temporary(temporary.path()).unwrap();
        let other = make_temporary(temporary.path()).unwrap();
        assert_ne!(one, other);
        assert_eq!(fs::metadata(&one).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn rule_27_a_folder_of_others_or_open_to_others_is_refused() {
        let runtime = tempfile::tempdir().unwrap();
        let folder = runtime.path().join("forebay");
        std::os::unix::fs::symlink("/tmp", &folder).unwrap();
        assert!(matches!(make(folder.clone()), Err(SocketDirError::NotOurs { .. })));
        fs::remove_file(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(make(folder.clone()), Err(SocketDirError::Open { mode: 0o777, .. })));
        if rustix::process::geteuid().is_root() {
            fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(&folder, Some(65534), None).unwrap();
            assert!(matches!(make(folder), Err(SocketDirError::NotOurs { .. })));
        } else {
            println!("skipped the part with another user's folder: it needs root");
        }
    }
}
