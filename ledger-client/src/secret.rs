//! Files that prove an identity: tokens, certificates and keys. They may be replaced while the process runs.
//!
//! Each use checks whether they have changed, and then reads them again. If the new files cannot be used, the old content is
//! kept, and this is logged once.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forebay_printable::printable;
use parking_lot::Mutex;
use thiserror::Error;

/// Longest file of a token, a key or certificates, in bytes.
const LONGEST: u64 = 1 << 20;

/// A file that cannot be used.
#[derive(Debug, Error)]
#[error("the file \"{file}\" cannot be used: {reason}", file = printable(file))]
pub struct SecretError {
    file: PathBuf,
    reason: String,
}

/// A value made from some files, and kept until they change.
pub(crate) struct Reread<T> {
    files: Vec<PathBuf>,
    make: Box<dyn Fn() -> Result<T, SecretError> + Send + Sync>,
    kept: Mutex<(Vec<Option<Stamp>>, Arc<T>)>,
}

/// Tells one content of a file from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

impl SecretError {
    /// What is wrong with a file.
    pub fn new(file: &Path, reason: impl Into<String>) -> Self {
        Self { file: file.to_owned(), reason: reason.into() }
    }
}

impl<T> std::fmt::Debug for Reread<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the content, which is secret.
        f.debug_struct("Reread").field("files", &self.files).finish_non_exhaustive()
    }
}

impl<T> Reread<T> {
    /// Makes the value of these files for the first time.
    ///
    /// # Errors
    /// They cannot be used.
    pub(crate) fn new(
        files: Vec<PathBuf>,
        make: impl Fn() -> Result<T, SecretError> + Send + Sync + 'static,
    ) -> Result<Self, SecretError> {
        // Looked at before they are read: a change in between is seen at the next look.
        let stamps = stamps(&files);
        let value = Arc::new(make()?);
        Ok(Self { files, make: Box::new(make), kept: Mutex::new((stamps, value)) })
    }

    /// The value of the files as they are now, or as they were when they could be used last.
    pub(crate) fn now(&self) -> Arc<T> {
        let stamps = stamps(&self.files);
        let mut kept = self.kept.lock();
        if kept.0 != stamps {
            kept.0 = stamps;
            match (self.make)() {
                Ok(value) => {
                    kept.1 = Arc::new(value);
                    tracing::info!(files = ?self.files, "read again");
                }
                Err(error) => tracing::error!(%error, "the files have changed, and the earlier ones stay in use"),
            }
        }
        Arc::clone(&kept.1)
    }
}

/// The content of a small file, as tokens and certificates are. A longer one is refused.
pub fn read(file: &Path) -> Result<Vec<u8>, SecretError> {
    let failed = |error: io::Error| SecretError::new(file, error.to_string());
    let mut bytes = Vec::new();
    File::open(file).map_err(failed)?.take(LONGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(SecretError::new(file, format!("it has more than {LONGEST} bytes")));
    }
    Ok(bytes)
}

/// Refuses a secret that other users can read.
pub fn check_closed(file: &Path) -> Result<(), SecretError> {
    let found = fs::metadata(file).map_err(|error| SecretError::new(file, error.to_string()))?;
    if found.mode() & 0o007 != 0 {
        return Err(SecretError::new(file, "every user can read or change it; run chmod o= on it"));
    }
    Ok(())
}

/// What tells the content of each of these files from the next; nothing for one that is not there.
pub(crate) fn stamps(files: &[PathBuf]) -> Vec<Option<Stamp>> {
    let stamp =
        |found: Metadata| Stamp { inode: found.ino(), len: found.len(), changed: (found.ctime(), found.ctime_nsec()) };
    files.iter().map(|file| fs::metadata(file).ok().map(stamp)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn rule_25_a_file_that_is_replaced_is_read_again_and_a_broken_one_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        let replace = |text: &str| {
            let next = folder.path().join("next");
            fs::write(&next, text).unwrap();
            fs::rename(next, &file).unwrap();
        };
        replace("1");
        let path = file.clone();
        let number = Reread::new(vec![file.clone()], move || {
            let text = String::from_utf8(read(&path)?).unwrap();
            text.parse::<u64>().map_err(|error| SecretError::new(&path, error.to_string()))
        })
        .unwrap();
        assert_eq!(*number.now(), 1);
        replace("22");
        assert_eq!(*number.now(), 22);
        replace("x");
        assert_eq!(*number.now(), 22, "what could be used last stays");
        fs::remove_file(&file).unwrap();
        assert_eq!(*number.now(), 22);
        replace("333");
        assert_eq!(*number.now(), 333);
    }

    #[test]
    fn rule_25_a_secret_that_everybody_can_read_and_a_file_without_end_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "x").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(check_closed(&file).unwrap_err().to_string().contains("chmod o="));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        check_closed(&file).unwrap();
        assert!(read(Path::new("/dev/zero")).unwrap_err().to_string().contains("more than 1048576 bytes"));
    }
}
