//! What root writes for another user, such as the index of a service. It belongs to the owner of the folder that it is
//! in, who must be able to read it.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::process::geteuid;

use crate::part_name::part_name;

/// Makes a folder that only its owner may look into, and the folders above it that are missing.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = above(folder);
    make_folder(above)?;
    // The folder has its owner before it has its name. So what another process puts there gets the same owner.
    let part = part_name(folder);
    DirBuilder::new().mode(0o700).create(&part)?;
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    let made = OpenOptions::new().read(true).custom_flags(flags).open(&part).and_then(|made| {
        give_away(&made, above);
        // A folder of another process stays, even an empty one. That process may be about to make a file there.
        renameat_with(CWD, &part, CWD, folder, RenameFlags::NOREPLACE).map_err(io::Error::from)
    });
    made.or_else(|error| {
        let _gone = fs::remove_dir(&part);
        match error.kind() {
            // Another process was faster.
            io::ErrorKind::AlreadyExists if folder.is_dir() => Ok(()),
            // Some network disks rename only with replacing.
            io::ErrorKind::InvalidInput => fs::create_dir(folder).or_else(|error| match error.kind() {
                io::ErrorKind::AlreadyExists if folder.is_dir() => Ok(()),
                _ => Err(error),
            }),
            _ => Err(error),
        }
    })
}

/// Gives a file that was just made to the owner of its folder, if this process is root's. The file is given by its
/// descriptor, so the folder's owner cannot put another file in its place.
pub(crate) fn give_away(made: &File, folder: &Path) {
    if !geteuid().is_root() {
        return;
    }
    let given = fs::metadata(folder).and_then(|folder| match folder.uid() {
        0 => Ok(()),
        owner => fchown(made, Some(owner), Some(folder.gid())),
    });
    if let Err(error) = given {
        // On some network disks, root is an ordinary user.
        tracing::debug!(folder = %folder.display(), %error, "a file stays root's");
    }
}

/// Whether a file belongs to this process's user. For root, a file of the folder's owner counts too.
pub(crate) fn is_own(file: &Metadata, folder: &Path) -> bool {
    let own = geteuid();
    file.uid() == own.as_raw() || own.is_root() && fs::metadata(folder).is_ok_and(|folder| folder.uid() == file.uid())
}

/// The folder that a file or folder is in.
pub(crate) fn above(path: &Path) -> &Path {
    match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::print_stdout, reason = "a skipped test says why")]

    use std::os::unix::fs::chown;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    const NOBODY: u32 = 65_534;

    #[test]
    fn rule_53_a_folder_that_root_makes_belongs_to_the_owner_of_the_one_above_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        let root = geteuid().is_root();
        if root {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        } else {
            println!("skipped in part: only root can give folders away");
        }
        make_folder(&folder).unwrap();
        make_folder(&folder).unwrap();
        for folder in [folder.as_path(), above(&folder)] {
            let metadata = folder.metadata().unwrap();
            let expected = if root { NOBODY } else { geteuid().as_raw() };
            assert_eq!((metadata.uid(), metadata.mode() & 0o777), (expected, 0o700));
        }
        assert_eq!(fs::read_dir(above(&folder)).unwrap().count(), 1, "nothing else is left there");
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        assert!(is_own(&file.metadata().unwrap(), &folder));
        assert!(make_folder(&file).is_err(), "a file is in the way");
        if root {
            chown(&file, Some(NOBODY - 1), None).unwrap();
            assert!(!is_own(&file.metadata().unwrap(), &folder), "a third user's");
        }
    }

    #[test]
    fn rule_53_threads_that_make_the_same_folder_all_find_it_with_its_owner() {
        if !geteuid().is_root() {
            println!("skipped: only root can give folders away");
            return;
        }
        for _ in 0..200 {
            let dir = tempfile::tempdir().unwrap();
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            let folder = dir.path().join("a/b");
            let begin = Barrier::new(4);
            thread::scope(|scope| {
                for number in 0..4 {
                    let (begin, folder) = (&begin, &folder);
                    scope.spawn(move || {
                        begin.wait();
                        make_folder(folder).unwrap();
                        assert_eq!(folder.metadata().unwrap().uid(), NOBODY);
                        fs::write(folder.join(number.to_string()), "").unwrap();
                    });
                }
            });
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
        }
    }
}
