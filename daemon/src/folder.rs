//! Folders that belong to the daemon: for sockets, and for ledgers.

use std::fs::{DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use forebay_printable::printable;
use rustix::fs::{AtFlags, CWD, Gid, chownat};
use rustix::process::geteuid;
use thiserror::Error;

/// A folder that the daemon cannot use.
#[derive(Debug, Error)]
#[error("the folder \"{folder}\" cannot be used: {reason}", folder = printable(folder))]
pub struct FolderError {
    folder: PathBuf,
    reason: String,
}

/// Who decided where a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The service manager, which made the folder for this service. Its unit may open the folder to others. The files
    /// in it have their own modes.
    Managed,
    /// The user, by the configuration or the environment. It may be a link.
    Chosen,
    /// Neither. The folder may be in `/tmp`, where another user can make it first. So no link is followed.
    Exposed,
}

/// Makes a folder that only this user may enter, and a group if one is given.
///
/// A folder that exists keeps its mode. It is refused if others could reach the files that will be in it.
///
/// # Errors
/// It cannot be made, or others may enter it.
pub(crate) fn own(folder: &Path, group: Option<u32>, whose: Whose) -> Result<(), FolderError> {
    let mode = if group.is_some() { 0o750 } else { 0o700 };
    let fail = |reason: String| FolderError { folder: folder.to_owned(), reason };
    let failed = |error: std::io::Error| fail(error.to_string());
    if let Some(parent) = folder.parent() {
        make(parent, mode).map_err(failed)?;
    }
    match DirBuilder::new().mode(mode).create(folder) {
        Ok(()) => {
            // Whatever the umask is.
            std::fs::set_permissions(folder, Permissions::from_mode(mode)).map_err(failed)?;
            return group.map_or(Ok(()), |group| give_to_group(folder, group));
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    let found = match whose {
        Whose::Exposed => folder.symlink_metadata(),
        Whose::Chosen | Whose::Managed => folder.metadata(),
    };
    let found = found.map_err(failed)?;
    let (own, owner) = (geteuid().as_raw(), found.uid());
    let shown = printable(folder);
    if !found.is_dir() {
        return Err(fail("something else is there; move it away, or name another folder".into()));
    }
    if owner != own {
        return Err(fail(format!(
            "it belongs to user {owner}, and the daemon runs as user {own}; name a folder of its own, such as {shown}/forebay if \
             the daemon may make that"
        )));
    }
    let managed = whose == Whose::Managed;
    let open = found.mode() & if managed { 0o002 } else { 0o007 };
    if open != 0 {
        return Err(fail(format!(
            "every user of this machine may enter it; name a folder of the daemon's own, such as {shown}/forebay, which it makes, \
             or close this one with `chmod {mode:o} {shown}`"
        )));
    }
    match group {
        Some(group) if managed => give_to_group(folder, group),
        Some(group) if found.gid() != group || found.mode() & 0o010 == 0 => Err(fail(format!(
            "group {group} may not enter it; let it in with `chgrp {group} {shown} && chmod {mode:o} {shown}`"
        ))),
        _ => Ok(()),
    }
}

/// Makes a folder, with those above it that are missing, all with this mode. One that exists is kept as it is.
///
/// # Errors
/// The system refuses it.
pub(crate) fn make(folder: &Path, mode: u32) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(mode).create(folder)
}

/// Gives a file or a folder to a group.
///
/// # Errors
/// The daemon's user is not in the group.
pub(crate) fn give_to_group(path: &Path, group: u32) -> Result<(), FolderError> {
    chownat(CWD, path, None, Some(Gid::from_raw(group)), AtFlags::empty()).map_err(|error| FolderError {
        folder: path.to_owned(),
        reason: format!("it cannot be given to group {group}: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_27_a_volume_that_is_open_to_all_is_refused_and_a_folder_in_it_is_made_for_the_daemon_and_its_group() {
        let home = tempfile::tempdir().unwrap();
        let volume = home.path().join("volume");
        std::fs::create_dir(&volume).unwrap();
        for mode in [0o777, 0o2777, 0o1777, 0o755] {
            std::fs::set_permissions(&volume, Permissions::from_mode(mode)).unwrap();
            let refused = own(&volume, None, Whose::Chosen).unwrap_err().to_string();
            assert!(refused.contains("volume/forebay, which it makes"), "{refused}");
            let inside = volume.join(format!("sockets-{mode:o}"));
            // A group of the process: only root may give a folder to another.
            own(&inside, Some(rustix::process::getegid().as_raw()), Whose::Chosen).unwrap();
            assert_eq!(inside.metadata().unwrap().mode() & 0o7777, 0o750, "{mode:o}");
        }
    }

    #[test]
    fn rule_27_a_link_is_followed_only_where_the_user_chose_it() {
        let home = tempfile::tempdir().unwrap();
        let [link, there] = ["link", "there"].map(|name| home.path().join(name));
        own(&there, None, Whose::Chosen).unwrap();
        std::os::unix::fs::symlink(&there, &link).unwrap();
        own(&link, None, Whose::Chosen).unwrap();
        let refused = own(&link, None, Whose::Exposed).unwrap_err().to_string();
        assert!(refused.contains("link\" cannot be used"), "{refused}");
        own(&there, None, Whose::Exposed).unwrap();
    }
}
