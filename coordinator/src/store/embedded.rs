//! Documents in one redb file on this node: the store of the embedded coordinator.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use redb::{Database, DatabaseError, Durability, ReadableDatabase, TableDefinition};

use super::{Change, Store, StoreError};

const DOCUMENTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("documents");

/// Bytes of redb's magic number, at the start of its file.
const MAGIC: usize = 9;
/// Bytes that its header does not go beyond.
const HEADER: usize = 4096;
/// Length that no empty database has: redb begins with less than 2 MB.
const LONGEST_UNFINISHED: u64 = 16 << 20;

/// A redb file with mode 0600, synced at each commit and locked while it is open.
#[derive(Debug)]
pub struct EmbeddedStore {
    database: Database,
    path: String,
}

impl EmbeddedStore {
    /// Opens the file, or makes it; its folder must exist.
    ///
    /// An error names the file and says why: it is open in another process, not readable, or no ledger file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let name = path.display().to_string();
        let file = private_file(path)
            .map_err(|error| StoreError::new(format!("Opening the ledger file {name}"), Box::new(error)))?;
        Self::in_file(file, &name)
    }

    /// Uses an open file, which may be anonymous memory; `name` is for messages.
    pub fn in_file(file: File, name: &str) -> Result<Self, StoreError> {
        let opening = || format!("Opening the ledger file {name}");
        let open_elsewhere = "another daemon has it open; stop that one, or give this one another folder for ledgers";
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::new(opening(), open_elsewhere)),
            Err(TryLockError::Error(error)) => return Err(StoreError::new(opening(), error)),
        }
        if is_unfinished(&file).map_err(|error| StoreError::new(opening(), error))? {
            file.set_len(0).map_err(|error| StoreError::new(opening(), error))?;
        }
        let database = Database::builder().create_file(file).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => StoreError::new(opening(), open_elsewhere),
            error => StoreError::new(opening(), error),
        })?;
        let mut store = Self { database, path: name.to_owned() };
        // An empty commit makes the table, so that `load` need not care whether it is there.
        store.commit(&[])?;
        Ok(store)
    }

    fn read(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, redb::Error> {
        let table = self.database.begin_read()?.open_table(DOCUMENTS)?;
        let mut found = Vec::new();
        for entry in table.range(prefix..)? {
            let (key, value) = entry?;
            if !key.value().starts_with(prefix) {
                break;
            }
            found.push((key.value().to_owned(), value.value().to_owned()));
        }
        Ok(found)
    }

    fn write(&self, changes: &[Change]) -> Result<(), redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            for change in changes {
                match change {
                    Change::Put { key, value } => table.insert(key.as_str(), value.as_slice())?,
                    Change::Delete { key } => table.remove(key.as_str())?,
                };
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

impl Store for EmbeddedStore {
    fn load(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.read(prefix).map_err(|error| StoreError::new(format!("Reading the ledger file {}", self.path), error))
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        self.write(changes).map_err(|error| StoreError::new(format!("Writing the ledger file {}", self.path), error))
    }
}

/// Whether whoever made the file was killed before it held anything. redb writes its magic number when all else of an empty
/// database is there, and the first page of data after that: a file without either was never used.
fn is_unfinished(file: &File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    if !(MAGIC as u64..=LONGEST_UNFINISHED).contains(&len) {
        return Ok(false);
    }
    let mut bytes = vec![0; usize::try_from(len).expect("it is short")];
    file.read_exact_at(&mut bytes, 0)?;
    let behind = bytes.get(HEADER..).unwrap_or_default();
    Ok(bytes[..MAGIC].iter().chain(behind).all(|byte| *byte == 0))
}

/// The mode is set at creation and again, so that a file from a wider umask or a copy is closed to others too.
fn private_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}
