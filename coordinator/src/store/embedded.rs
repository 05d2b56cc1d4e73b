//! Documents in one redb file on this node: the store of the embedded coordinator.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use forebay_ledger::Change;
use forebay_printable::printable;
use redb::{Database, Durability, ReadableDatabase, StorageBackend, TableDefinition};

use super::{Store, StoreError};

const DOCUMENTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("documents");

/// Bytes of redb's magic number, at the start of its file.
const MAGIC: usize = 9;
/// Bytes that its header does not go beyond.
const HEADER: usize = 4096;
/// Length that no empty database has: redb begins with less than 2 MB.
const LONGEST_UNFINISHED: u64 = 16 << 20;
/// Most bytes of the file that redb keeps in memory; its own default is 1 GiB. The coordinator has the ledgers in memory
/// anyway and reads them once, so that only the pages which the next commit changes are of use.
const CACHE: usize = 1 << 20;

const OPEN_ELSEWHERE: &str = "another daemon has it open; stop that one, or give this one another folder for ledgers";
const IS_THERE: &str =
    "it is there already; if it was recovered, start without --recover-from; if not, move it away first";
const BLANK: &str = "it is empty or holds nothing but zeros, which is what a crash of the machine can leave of a \
                     ledger; put a backup in its place, or remove it to restart every run in it";

/// A redb file with mode 0600, synced at each commit and locked while it is open.
///
/// After an I/O error, redb refuses all further work. The store then reopens the database on the same file, for the next
/// call.
#[derive(Debug)]
pub struct EmbeddedStore {
    medium: Medium,
    /// Nothing after an error.
    database: Option<Database>,
    path: String,
}

/// The storage of a database. It outlives the database, so that the file stays locked while redb reopens it.
#[derive(Clone, Debug)]
struct Medium(Arc<dyn StorageBackend>);

/// A file that this process has locked.
#[derive(Debug)]
struct Locked(File);

impl EmbeddedStore {
    /// Opens the file, or makes it; its folder must exist.
    ///
    /// An error names the file and says why: it is open in another process, not readable, no ledger file, or blank.
    /// A blank file was a ledger once: a new one gets its name when it is complete.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let name = printable(path).to_string();
        let opening = |error: io::Error| StoreError::new(format!("Opening the ledger file {name}"), Box::new(error));
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::make(path, &name, &[]),
            Err(error) => return Err(opening(error)),
        };
        close_to_others(&file).map_err(opening)?;
        lock(&file, &name)?;
        if is_blank(&file).map_err(opening)? {
            return Err(StoreError::new(format!("Opening the ledger file {name}"), BLANK));
        }
        Self::in_file(file, &name)
    }

    /// Makes the file with these documents. A kill leaves all of them or no file.
    ///
    /// # Errors
    /// There is a file, or it cannot be made.
    pub fn create(path: &Path, documents: &[Change]) -> Result<Self, StoreError> {
        let name = printable(path).to_string();
        let failed = |error: io::Error| StoreError::new(format!("Making the ledger file {name}"), Box::new(error));
        if path.try_exists().map_err(failed)? {
            return Err(StoreError::new(format!("Making the ledger file {name}"), IS_THERE));
        }
        Self::make(path, &name, documents)
    }

    /// Makes a file under another name, and renames it when it is a ledger, so that a kill leaves no half of one.
    fn make(path: &Path, name: &str, documents: &[Change]) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::new(format!("Making the ledger file {name}"), Box::new(error));
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".new");
        let unfinished = PathBuf::from(unfinished);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&unfinished);
        let file = file.map_err(failed)?;
        close_to_others(&file).map_err(failed)?;
        lock(&file, name)?;
        // Another process may have made the ledger since, of this very file or of one before it.
        if !is_at(&file, &unfinished).map_err(failed)? {
            return Self::open_made(path, name, documents);
        }
        if path.try_exists().map_err(failed)? {
            fs::remove_file(&unfinished).map_err(failed)?;
            return Self::open_made(path, name, documents);
        }
        file.set_len(0).map_err(failed)?;
        let mut store = Self::in_file(file, name)?;
        store.commit(documents)?;
        fs::rename(&unfinished, path).map_err(failed)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(store)
    }

    /// Opens what another process has made meanwhile, unless documents were to be in it.
    fn open_made(path: &Path, name: &str, documents: &[Change]) -> Result<Self, StoreError> {
        if documents.is_empty() {
            return Self::open(path);
        }
        Err(StoreError::new(format!("Making the ledger file {name}"), IS_THERE))
    }

    /// Uses an open file, which may be anonymous memory and blank; `name` is for messages.
    pub fn in_file(file: File, name: &str) -> Result<Self, StoreError> {
        let opening = || format!("Opening the ledger file {name}");
        lock(&file, name)?;
        if is_blank(&file).map_err(|error| StoreError::new(opening(), error))? {
            file.set_len(0).map_err(|error| StoreError::new(opening(), error))?;
        }
        Self::in_medium(Medium(Arc::new(Locked(file))), name)
    }

    fn in_medium(medium: Medium, name: &str) -> Result<Self, StoreError> {
        let mut store = Self { medium, database: None, path: name.to_owned() };
        store.database().map_err(|error| StoreError::new(format!("Opening the ledger file {name}"), error))?;
        // An empty commit makes the table, so that `load` need not care whether it is there.
        store.commit(&[])?;
        Ok(store)
    }

    fn database(&mut self) -> Result<&Database, redb::Error> {
        let database = match self.database.take() {
            Some(database) => database,
            None => Database::builder().set_cache_size(CACHE).create_with_backend(self.medium.clone())?,
        };
        Ok(self.database.insert(database))
    }

    fn read(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, redb::Error> {
        let table = self.database()?.begin_read()?.open_table(DOCUMENTS)?;
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

    fn write(&mut self, changes: &[Change]) -> Result<(), redb::Error> {
        let mut transaction = self.database()?.begin_write()?;
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
    fn term(&mut self) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn commands_at_once(&self) -> usize {
        usize::MAX
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.read(prefix).map_err(|error| self.failed("Reading", error))
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        self.write(changes).map_err(|error| self.failed("Writing", error).unknown())
    }
}

impl EmbeddedStore {
    fn failed(&mut self, doing: &str, error: redb::Error) -> StoreError {
        self.database = None;
        StoreError::new(format!("{doing} the ledger file {}", self.path), error)
    }
}

impl StorageBackend for Medium {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

impl StorageBackend for Locked {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }
}

/// One process at a time; the same open file may be locked again.
fn lock(file: &File, name: &str) -> Result<(), StoreError> {
    let opening = || format!("Opening the ledger file {name}");
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(StoreError::new(opening(), OPEN_ELSEWHERE).not_leader(None)),
        Err(TryLockError::Error(error)) => Err(StoreError::new(opening(), error)),
    }
}

/// Whether the file has no data: it is empty or all zeros, or its process was killed before it wrote any. redb writes the
/// rest of an empty database first, then its magic number, and then the first page of data.
fn is_blank(file: &File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    if len > LONGEST_UNFINISHED {
        return Ok(false);
    }
    let mut bytes = vec![0; usize::try_from(len).expect("it is short")];
    file.read_exact_at(&mut bytes, 0)?;
    let behind = bytes.get(HEADER..).unwrap_or_default();
    Ok(bytes.iter().take(MAGIC).chain(behind).all(|byte| *byte == 0))
}

/// Whether the path leads to this file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (own, there) = (file.metadata()?, path.metadata());
    match there {
        Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whatever the umask was when it was made, or the mode of a copy.
fn close_to_others(file: &File) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

    use redb::backends::InMemoryBackend;

    use super::*;
    use crate::suite::{check_mending, check_unknown};

    /// Memory that takes no writes while it is full.
    #[derive(Debug, Default)]
    struct Disk {
        memory: InMemoryBackend,
        full: AtomicBool,
        /// The write, counted down to 1, that fails; 0 for none.
        fails: AtomicU8,
        /// Bytes that were read.
        read: AtomicUsize,
    }

    impl Disk {
        fn room(&self) -> io::Result<()> {
            let left = self.fails.load(Ordering::SeqCst);
            self.fails.store(left.saturating_sub(1), Ordering::SeqCst);
            if self.full.load(Ordering::SeqCst) || left == 1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> io::Result<u64> {
            self.memory.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.read.fetch_add(out.len(), Ordering::SeqCst);
            self.memory.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.room().and_then(|()| self.memory.set_len(len))
        }

        fn sync_data(&self) -> io::Result<()> {
            self.room().and_then(|()| self.memory.sync_data())
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.room().and_then(|()| self.memory.write(offset, data))
        }
    }

    #[test]
    fn a_file_that_could_not_be_written_is_written_again_when_its_disk_has_room() {
        let disk = Arc::new(Disk::default());
        let medium: Arc<dyn StorageBackend> = Arc::<Disk>::clone(&disk);
        let store = EmbeddedStore::in_medium(Medium(medium), "the test's disk").unwrap();
        check_mending(store, |full| disk.full.store(full, Ordering::SeqCst));
    }

    #[test]
    fn a_commit_that_fails_at_any_of_its_writes_is_looked_up() {
        let disk = Arc::new(Disk::default());
        let medium: Arc<dyn StorageBackend> = Arc::<Disk>::clone(&disk);
        let store = EmbeddedStore::in_medium(Medium(medium), "the test's disk").unwrap();
        check_unknown(store, |_, round| disk.fails.store(1 + round % 3, Ordering::SeqCst));
    }

    #[test]
    fn memory_for_a_file_does_not_grow_with_the_file() {
        let disk = Arc::new(Disk::default());
        let medium: Arc<dyn StorageBackend> = Arc::<Disk>::clone(&disk);
        let mut store = EmbeddedStore::in_medium(Medium(medium), "the test's disk").unwrap();
        let document = 1 << 10;
        for commit in 0..32 {
            let put = |at| Change::Put { key: format!("{commit:02}-{at:03}"), value: vec![7; document] };
            store.commit(&(0..512).map(put).collect::<Vec<_>>()).unwrap();
        }
        let before = disk.read.load(Ordering::SeqCst);
        let size = store.load("").unwrap().len() * document;
        let read = disk.read.load(Ordering::SeqCst) - before;
        assert_eq!(size, 16 << 20);
        assert!(read >= size - CACHE, "{read} bytes of {size} were read, the others were in memory");
    }
}
