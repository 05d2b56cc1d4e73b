//! A cache of bytes on a local disk. It has a limit, survives the death of its processes at any time, and is shared by
//! all processes of its user. It may forget anything at any time, but never gives other bytes than were stored.

mod entry;
mod eviction;
mod folder;
mod key;
mod shared_reads;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use entry::{CHUNK, FIXED, Header, VALUE_LIMIT, chunks};
pub use folder::CacheError;
use folder::Folder;
pub use key::CacheKey;
use shared_reads::SharedReads;
pub(crate) use shared_reads::{BlockRead, BlockReader};

/// A folder of entries. Threads share it.
///
/// An entry is written under a temporary name and then renamed, so a process that is killed leaves no half entry. Each
/// read compares the bytes with digests, so neither does a machine that loses its power. An entry that is not what was
/// written is deleted.
#[derive(Debug)]
pub struct Cache {
    folder: Folder,
    size: u64,
    /// Bytes that this process wrote since it last looked at the whole folder. Too many at first: the folder may be
    /// full.
    written: AtomicU64,
    looking: Mutex<()>,
    shared_reads: Arc<SharedReads>,
    /// Whether a failure to write was told already.
    told: AtomicBool,
}

/// The least size of a cache.
const LEAST: u64 = 64 << 20;
/// Parts of its size: after each part that a process writes, it looks at the whole folder. If more than all parts but
/// one are used, it deletes entries until two parts are free.
const PARTS: u64 = 16;

impl Cache {
    /// Opens the cache in this folder, which is made if it is absent, with a limit in bytes. Several processes may
    /// open it, each with its own limit: each deletes what is too much for its own.
    ///
    /// The folder must belong to the user of this process, and nobody else may write to it.
    ///
    /// ```
    /// use forebay_objects::{Cache, CacheKey};
    ///
    /// # let temporary = tempfile::tempdir().unwrap();
    /// # let folder = temporary.path().join("objects");
    /// let cache = Cache::open(&folder, 1 << 30)?;
    /// let key = CacheKey::new("example", [b"a name".as_slice(), b"its version"]);
    /// cache.write(&key, b"some bytes");
    ///
    /// let mut buf = Vec::new();
    /// assert!(cache.read(&key, 5..10, &mut buf));
    /// assert_eq!(buf, b"bytes");
    /// # Ok::<(), forebay_objects::CacheError>(())
    /// ```
    pub fn open(folder: &Path, size: u64) -> Result<Arc<Self>, CacheError> {
        if size < LEAST {
            return Err(CacheError::TooSmall { size, least: LEAST });
        }
        let folder = Folder::open(folder)?;
        let (looking, shared_reads, told) = (Mutex::new(()), Arc::default(), AtomicBool::new(false));
        Ok(Arc::new(Self { folder, size, written: AtomicU64::new(u64::MAX / 2), looking, shared_reads, told }))
    }

    /// Where a user's cache is by default: `forebay/objects` in `XDG_CACHE_HOME`, or in `.cache` of `HOME`.
    pub fn default_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        let absolute = |name| variable(name).filter(|path| path.is_absolute());
        let caches = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
        Some(caches.join("forebay/objects"))
    }

    /// Appends a range of the entry to `buf`, if the cache has it. Otherwise `buf` stays as it is. Blocks.
    pub fn read(&self, key: &CacheKey, range: Range<u64>, buf: &mut Vec<u8>) -> bool {
        let Some(file) = self.folder.entry(key) else { return false };
        let before = buf.len();
        let read = read_entry(&file, key, &range, buf);
        match read {
            Ok(()) => {
                file.used();
                true
            }
            Err(Unusable::Failed(error)) => {
                buf.truncate(before);
                tracing::debug!(%error, "an entry of the cache cannot be read");
                false
            }
            Err(Unusable::Damaged) => {
                buf.truncate(before);
                tracing::warn!(entry = %key, "an entry of the cache is damaged and is deleted");
                self.folder.remove(key);
                false
            }
        }
    }

    /// The blocks that are being read for this cache.
    pub(crate) fn shared_reads(&self) -> &Arc<SharedReads> {
        &self.shared_reads
    }

    /// Keeps the bytes under this key. Does nothing if they are too many for the cache, or if the disk fails: that is
    /// told once. Blocks.
    pub fn write(&self, key: &CacheKey, bytes: &[u8]) {
        let length = bytes.len() as u64;
        if length > VALUE_LIMIT || length > self.size / PARTS {
            return;
        }
        let header = Header::of(key, bytes);
        match self.folder.write(key, &header, bytes) {
            Ok(()) => self.account(header.len() as u64 + length),
            Err(error) => {
                if !self.told.swap(true, Ordering::Relaxed) {
                    let folder = self.folder.path().display();
                    tracing::warn!(%folder, %error, "the cache cannot be written; reads go on without it");
                }
            }
        }
    }

    /// Counts what was written, and looks at the whole folder from time to time.
    fn account(&self, bytes: u64) {
        let part = self.size / PARTS;
        if self.written.fetch_add(bytes, Ordering::Relaxed) + bytes <= part {
            return;
        }
        // If another thread looks, its look will do.
        let Some(_looking) = self.looking.try_lock() else { return };
        self.written.store(0, Ordering::Relaxed);
        let looked = self.folder.exclusively(|folder| {
            folder.remove_leftovers();
            let entries = folder.entries();
            for entry in eviction::evicted(entries, self.size - part, self.size - 2 * part) {
                folder.remove_file(&entry);
            }
        });
        if let Err(error) = looked {
            tracing::debug!(%error, "the cache cannot be looked through");
        }
    }
}

/// Why an entry gives no bytes.
enum Unusable {
    /// The disk says why.
    Failed(std::io::Error),
    /// It is not what was written.
    Damaged,
}

fn read_entry(file: &folder::Entry, key: &CacheKey, range: &Range<u64>, buf: &mut Vec<u8>) -> Result<(), Unusable> {
    let mut fixed = [0; FIXED];
    let read = |offset, bytes: &mut [u8]| match file.read(offset, bytes) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unusable::Damaged),
        Err(error) => Err(Unusable::Failed(error)),
    };
    read(0, &mut fixed)?;
    let size = Header::size(&fixed, key, file.len()).ok_or(Unusable::Damaged)?;
    let mut bytes = vec![0; size];
    read(0, &mut bytes)?;
    let header = Header::parse(&bytes, key, file.len()).ok_or(Unusable::Damaged)?;
    if range.start > range.end || range.end > header.length() {
        return Err(Unusable::Damaged);
    }
    let mut chunk = vec![0; CHUNK];
    for number in chunks(range) {
        let place = header.place(number);
        let bytes = &mut chunk[..usize::try_from(place.end - place.start).map_err(|_| Unusable::Damaged)?];
        read(size as u64 + place.start, bytes)?;
        if !header.has(number, bytes) {
            return Err(Unusable::Damaged);
        }
        let from = range.start.max(place.start) - place.start;
        let to = range.end.min(place.end) - place.start;
        let wanted = usize::try_from(from).and_then(|from| Ok(from..usize::try_from(to)?));
        buf.extend_from_slice(&bytes[wanted.map_err(|_| Unusable::Damaged)?]);
    }
    Ok(())
}
