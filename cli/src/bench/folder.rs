//! Folders of a measurement, for its sockets and its ledger. They are gone with it.

use std::io;
use std::path::{Path, PathBuf};

use forebay_printable::printable;

use crate::failure::Failure;

/// A folder that only this user may enter.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Where temporary files are.
    pub(super) fn temporary() -> Result<Self, Failure> {
        Self::below(&std::env::temp_dir()).map_err(|error| Failure::Failed(error.to_string()))
    }

    /// For a ledger on the file system of this folder, which need not exist.
    pub(super) fn for_ledger(beside: &Path) -> Result<Self, Failure> {
        let whole = std::path::absolute(beside)?;
        let there = whole.ancestors().find(|folder| folder.is_dir()).unwrap_or(&whole);
        Self::below(there).map_err(|error| {
            Failure::Failed(format!(
                "The ledger of the measurement cannot be written beside the stream's, in \"{}\": {error}. Run forebay bench as \
                 the user of the daemon, and with room on the disk.",
                printable(there)
            ))
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn below(folder: &Path) -> io::Result<Self> {
        forebay_ring::make_temporary_dir(folder).map(Self)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %printable(&self.0), "a temporary folder is left");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_is_beside_the_streams_or_where_its_folder_will_be() {
        let home = tempfile::tempdir().unwrap();
        let ledgers = home.path().join("state");
        let beside = Folder::for_ledger(&ledgers.join("forebay")).unwrap();
        assert_eq!(beside.path().parent(), Some(home.path()));
        std::fs::create_dir(&ledgers).unwrap();
        let beside = Folder::for_ledger(&ledgers).unwrap();
        assert_eq!(beside.path().parent(), Some(&*ledgers));
        let path = beside.path().to_owned();
        drop(beside);
        assert!(!path.exists() && ledgers.exists());
    }
}
