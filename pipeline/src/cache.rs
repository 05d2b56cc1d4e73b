//! The cache of a dataset in memory. Records that were read or decoded in one epoch are reused in later ones.
//!
//! A stream requests it with `cache = { keep, memory }`. The cache keeps encoded bytes, which saves reading, or whole
//! decoded pictures, which saves reading and decoding. [`admission`] decides what is kept. Streams of a dataset with
//! the same settings share one cache ([`Caches`]).

pub(crate) mod admission;
mod caches;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use forebay_pixels::Form;
use parking_lot::Mutex;

use crate::memory::Promisee;
use crate::record::Content;
use admission::Admission;
pub(crate) use caches::CacheKey;
pub use caches::{CacheError, Caches};

/// The form in which a record is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The file's bytes.
    Encoded,
    /// The decoded picture, in this form.
    Decoded(Form),
}

/// Records that were read or decoded before. The threads of all its streams share it.
pub struct Cache {
    keep: Keep,
    records: Mutex<Admission<Content>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The right to keep a record, and room for it. Dropping it unused notes that the record is not to be kept.
#[derive(Debug)]
#[must_use]
pub struct Room<'a> {
    cache: &'a Cache,
    record: u64,
    bytes: u64,
    used: bool,
}

/// How full a cache is, and how often it was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// How often a record was found.
    pub hits: u64,
    /// Records that had to be read, because the cache did not have them.
    pub misses: u64,
    /// Records that are kept.
    pub records: u64,
    /// Bytes that they take, including overhead.
    pub bytes: u64,
    /// The most that they may take.
    pub budget: u64,
}

impl Cache {
    /// An empty cache of at most `budget` bytes.
    pub fn new(keep: Keep, budget: u64) -> Self {
        let records = Mutex::new(Admission::new(budget));
        Self { keep, records, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// What it keeps.
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// A record, if it is there, counted as a hit. Once it is there, it stays.
    pub fn find(&self, record: u64) -> Option<Content> {
        let found = self.records.lock().find(record).cloned();
        self.hits.fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
        found
    }

    /// Room to keep this many bytes of a record. `None` if the record is not to be kept.
    pub fn room(&self, record: u64, bytes: u64) -> Option<Room<'_>> {
        let admitted = self.records.lock().admit(record, bytes);
        admitted.then(|| Room { cache: self, record, bytes, used: false })
    }

    /// Takes note of a file that was read since it was not there, and keeps a copy if this is a cache of files and there is
    /// room.
    pub fn offer(&self, record: u64, bytes: &[u8]) {
        self.misses.fetch_add(1, Ordering::Relaxed);
        if self.keep == Keep::Encoded
            && let Some(room) = self.room(record, bytes.len() as u64)
        {
            room.keep(Content::File(bytes.into()));
        }
    }

    /// How full it is.
    pub fn figures(&self) -> Figures {
        let records = self.records.lock();
        Figures {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            records: records.kept(),
            bytes: records.used(),
            budget: records.budget(),
        }
    }
}

impl Promisee for Cache {
    fn untaken(&self) -> u64 {
        let records = self.records.lock();
        records.budget() - records.used()
    }
}

impl Room<'_> {
    /// Keeps the record, unless it is larger than the room that was requested.
    pub fn keep(mut self, content: Content) {
        if content.len() as u64 <= self.bytes {
            self.used = true;
            self.cache.records.lock().keep(self.record, content);
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if !self.used {
            self.cache.records.lock().give_up(self.record);
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("keep", &self.keep).field("figures", &self.figures()).finish_non_exhaustive()
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encoded => "encoded",
            Self::Decoded(_) => "decoded",
        })
    }
}
