//! A cache of bytes on a local disk. It has a limit, survives the death of its processes at any time, and is shared by
//! all processes of its user. It may forget anything at any time, but never gives other bytes than were stored.

mod entry;
mod eviction;
mod folder;
mod key;
mod makers;
mod opened;
mod retained;
mod shared_reads;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use forebay_sources::DiskCache;
use parking_lot::Mutex;

use entry::{CHUNK, FIXED, Header, VALUE_LIMIT, chunks};
pub use folder::CacheError;
use folder::Folder;
pub use key::CacheKey;
pub use makers::CacheMaker;
use makers::Makers;
use retained::Retained;
pub use retained::{CacheFull, RetainedEntries};
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
    /// The limit that was given last.
    size: AtomicU64,
    /// Bytes that this process wrote since it last looked at the whole folder. Too many at first: the folder may be
    /// full.
    written: AtomicU64,
    looking: Mutex<()>,
    makers: Arc<Makers>,
    retained: Retained,
    shared_reads: Arc<SharedReads>,
    /// Whether a failure to write was logged already.
    told: AtomicBool,
}

/// Parts of its size: after each part that a process writes, it looks at the whole folder. If more than all parts but
/// one are used, it deletes entries until two parts are free.
const PARTS: u64 = 16;
/// How many of its parts may be retained. The rest is for entries that come and go.
const RETAINED_PARTS: u64 = 12;

impl Cache {
    /// Opens the cache in this folder, which is made if it is absent, with a limit in bytes. Several processes may
    /// open it, each with its own limit: each deletes what is too much for its own.
    ///
    /// The folder must belong to the user of this process, and no other user may write to it.
    ///
    /// ```
    /// use forebay_objects::{Cache, CacheKey};
    ///
    /// # let temporary = tempfile::tempdir().unwrap();
    /// # let folder = temporary.path().join("objects");
    /// let cache = Cache::open(&folder, 1 << 30)?;
    /// let key = CacheKey::new("example", [b"a name".as_slice(), b"its version"]);
    /// assert!(cache.write(&key, b"some bytes"));
    ///
    /// let mut buf = Vec::new();
    /// assert!(cache.read(&key, 5..10, &mut buf));
    /// assert_eq!(buf, b"bytes");
    /// # Ok::<(), forebay_objects::CacheError>(())
    /// ```
    pub fn open(folder: &Path, size: u64) -> Result<Arc<Self>, CacheError> {
        check(size)?;
        let folder = Folder::open(folder)?;
        let (written, looking, told) = (AtomicU64::new(u64::MAX / 2), Mutex::new(()), AtomicBool::new(false));
        let (makers, retained, shared_reads) = (Arc::default(), Retained::default(), Arc::default());
        let size = AtomicU64::new(size);
        Ok(Arc::new(Self { folder, size, written, looking, makers, retained, shared_reads, told }))
    }

    /// The cache in this folder, as [`open`](Self::open) opens it. While it is open, a further call with the same folder
    /// returns the same cache. The latest call sets its limit.
    pub fn shared(folder: &Path, size: u64) -> Result<Arc<Self>, CacheError> {
        opened::find_or_open(folder, size)
    }

    /// Sets another limit. The next writes delete what exceeds it.
    fn resize(&self, size: u64) -> Result<(), CacheError> {
        check(size)?;
        self.size.store(size, Ordering::Relaxed);
        Ok(())
    }

    /// The limit in bytes.
    fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    /// The most bytes of all entries that are retained: three quarters of the limit.
    pub fn room(&self) -> u64 {
        self.size().max(DiskCache::LEAST) / PARTS * RETAINED_PARTS
    }

    /// Retains entries, none at first.
    pub fn retain(self: &Arc<Self>) -> RetainedEntries {
        RetainedEntries::none(Arc::clone(self))
    }

    /// Waits until no other thread of this process makes the entry of this key. Blocks.
    pub fn maker(&self, key: &CacheKey) -> CacheMaker {
        self.makers.take(key)
    }

    /// Whether there is an entry for this key. Its bytes are not checked. Blocks.
    pub fn has(&self, key: &CacheKey) -> bool {
        self.folder.entry(key).is_some()
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

    /// Keeps the bytes under this key, and says whether they are kept now. They are not if they are too many for the cache,
    /// or if the disk fails, which is logged once. Blocks.
    pub fn write(&self, key: &CacheKey, bytes: &[u8]) -> bool {
        let length = bytes.len() as u64;
        if length > VALUE_LIMIT || length > self.size() / PARTS {
            return false;
        }
        let header = Header::of(key, bytes);
        match self.folder.write(key, &header, bytes) {
            Ok(()) => {
                self.account(header.len() as u64 + length);
                true
            }
            Err(error) => {
                if !self.told.swap(true, Ordering::Relaxed) {
                    let folder = self.folder.path().display();
                    tracing::warn!(%folder, %error, "the cache cannot be written; reads continue without it");
                }
                false
            }
        }
    }

    /// Counts the bytes written, and scans the whole folder from time to time.
    fn account(&self, bytes: u64) {
        let size = self.size();
        let part = size / PARTS;
        if self.written.fetch_add(bytes, Ordering::Relaxed) + bytes <= part {
            return;
        }
        // If another thread looks, its look will do.
        let Some(_looking) = self.looking.try_lock() else { return };
        self.written.store(0, Ordering::Relaxed);
        let looked = self.folder.exclusively(|folder| {
            folder.remove_leftovers();
            let entries = folder.entries(|key| self.retained.has(key));
            for entry in eviction::evicted(entries, size - part, size - 2 * part) {
                folder.remove_file(&entry);
            }
        });
        if let Err(error) = looked {
            tracing::debug!(%error, "the cache cannot be looked through");
        }
    }
}

fn check(size: u64) -> Result<(), CacheError> {
    if size < DiskCache::LEAST { Err(CacheError::TooSmall { size, least: DiskCache::LEAST }) } else { Ok(()) }
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
