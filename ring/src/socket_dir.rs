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
/// Where folders of users without a runtime folder are. Not TMPDIR, which may differ between a daemon and its trainers.
const TEMPORARY: &str = "/tmp";

/// Where this user's daemon has its sockets, and where its trainers and commands look for them (rule 27):
/// `$XDG_RUNTIME_DIR/forebay`, else `/run/user/UID/forebay` if `/run/user/UID` is ours, else `/tmp/forebay-UID`.
///
/// Everybody may make a folder in `/tmp`: a daemon makes it without following a link, and looks whose it is; a trainer asks
/// [`is_own_socket_dir`] first.
pub fn socket_dir(xdg_runtime_dir: Option<&OsStr>) -> PathBuf {
    match runtime_dir(xdg_runtime_dir, Path::new("/run/user")) {
        Some(folder) => folder.join(NAME),
        None => Path::new(TEMPORARY).join(format!("{NAME}-{}", own_uid())),
    }
}

/// Whether a socket in this folder can only be of a daemon of this user: a stranger may have made the folder, if it is in `/tmp`.
pub fn is_own_socket_dir(path: &Path) -> bool {
    !path.starts_with(TEMPORARY) || is_ours(path).unwrap_or(false)
}

/// Makes a new folder in `below`, with mode 0700. A name that already exists is not used.
pub fn make_temporary_dir(below: &Path) -> io::Result<PathBuf> {
    let mut attempt = 0_u32;
    loop {
        let path = below.join(format!("{NAME}-process-{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(error) => return Err(error),
        }
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
    use super::*;

    #[test]
    fn rule_27_the_runtime_folder_of_the_environment_comes_first() {
        let runtime = tempfile::tempdir().unwrap();
        let folder = socket_dir(Some(runtime.path().as_os_str()));
        assert_eq!(folder, runtime.path().join("forebay"));
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
    fn a_temporary_folder_is_fresh_and_of_mode_700() {
        let temporary = tempfile::tempdir().unwrap();
        let one = make_temporary_dir(temporary.path()).unwrap();
        let other = make_temporary_dir(temporary.path()).unwrap();
        assert_ne!(one, other);
        assert_eq!(fs::metadata(&one).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn rule_27_a_folder_in_tmp_is_looked_into_only_by_its_owner_and_never_through_a_link() {
        let other = std::env::temp_dir();
        assert!(is_own_socket_dir(Path::new("/run/user/1/forebay")), "systemd made it");
        let temporary = tempfile::tempdir_in(TEMPORARY).unwrap();
        let folder = temporary.path().join("forebay-1000");
        assert!(!is_own_socket_dir(&folder), "nothing is there");
        std::os::unix::fs::symlink(other, &folder).unwrap();
        assert!(!is_own_socket_dir(&folder), "a link");
        fs::remove_file(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        assert!(is_own_socket_dir(&folder));
    }
}
