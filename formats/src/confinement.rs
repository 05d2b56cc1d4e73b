//! Folders outside of which this process reads no dataset. A decoder sets them (semantics rule 60): daemons name the files, and
//! must not reach others.
//!
//! They are of the process, and not an option of each dataset, so that no way to open a file can forget them. A file is checked
//! after it was opened, by the path that the kernel has of it: a link that changes meanwhile leads nowhere else.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static ROOTS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// From now on, this process reads only files below these folders. Links are resolved first. Later calls change nothing.
///
/// # Errors
/// One of them is no folder that can be reached.
pub fn confine(roots: &[PathBuf]) -> io::Result<()> {
    let resolve = |root: &PathBuf| {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", root.display()));
        let root = root.canonicalize().map_err(named)?;
        if root.is_dir() { Ok(root) } else { Err(named(io::ErrorKind::NotADirectory.into())) }
    };
    let roots = roots.iter().map(resolve).collect::<io::Result<Vec<_>>>()?;
    // A process is confined once, when it starts.
    let _again = ROOTS.set(roots);
    Ok(())
}

/// Whether a file or folder may be read that is open.
///
/// # Errors
/// It is outside of the roots.
pub(crate) fn check_open(file: File) -> io::Result<File> {
    if let Some(roots) = ROOTS.get() {
        check(roots, &fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?)?;
    }
    Ok(file)
}

/// Whether what has this name may be looked at.
///
/// # Errors
/// It is outside of the roots, or is not there.
pub(crate) fn check_name(path: &Path) -> io::Result<()> {
    ROOTS.get().map_or(Ok(()), |roots| check(roots, &path.canonicalize()?))
}

/// The metadata of what has this name.
///
/// # Errors
/// It is outside of the roots, or is not there.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    check_name(path).and_then(|()| path.metadata())
}

fn check(roots: &[PathBuf], real: &Path) -> io::Result<()> {
    if roots.iter().any(|root| real.starts_with(root)) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is outside of the folders that this process may read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_60_only_what_is_below_a_root_may_be_read_whatever_links_and_dots_say() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("root/inner")).unwrap();
        fs::create_dir_all(at("root-two")).unwrap();
        for name in ["root/inner/a.jpg", "root-two/b.jpg", "c.jpg"] {
            fs::write(at(name), name).unwrap();
        }
        std::os::unix::fs::symlink(at("c.jpg"), at("root/link.jpg")).unwrap();
        std::os::unix::fs::symlink(at("root/inner/a.jpg"), at("outside.jpg")).unwrap();
        let roots = [at("root")];
        let may = |name: &str| {
            let file = File::open(at(name)).unwrap();
            let by_file = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
            let by_name = at(name).canonicalize().unwrap();
            let both = [check(&roots, &by_file).is_ok(), check(&roots, &by_name).is_ok()];
            assert_eq!(both[0], both[1], "{name}");
            both[0]
        };
        for (name, allowed) in [
            ("root/inner/a.jpg", true),
            ("root", true),
            ("outside.jpg", true),
            ("root/link.jpg", false),
            ("root/../c.jpg", false),
            ("root-two/b.jpg", false),
        ] {
            assert_eq!(may(name), allowed, "{name}");
        }
        assert!(confine(&[at("none")]).unwrap_err().to_string().contains("none"));
        assert!(confine(&[at("c.jpg")]).is_err(), "a file is no root");
    }
}
