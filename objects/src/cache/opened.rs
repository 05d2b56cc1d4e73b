//! The caches that this process has open. A second open of the same folder returns the same cache. So all streams share it,
//! and none deletes what another one retains.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{Cache, CacheError};

/// A cache that is open as long as a stream uses it.
struct OpenCache {
    folder: PathBuf,
    cache: Weak<Cache>,
}

static OPEN: Mutex<Vec<OpenCache>> = Mutex::new(Vec::new());

/// The cache in this folder, with this limit from now on. Opens it, unless it is open.
pub(super) fn find_or_open(folder: &Path, size: u64) -> Result<Arc<Cache>, CacheError> {
    let mut open = OPEN.lock();
    open.retain(|one| one.cache.strong_count() > 0);
    let same = open.iter().find(|one| one.folder == folder);
    if let Some(cache) = same.and_then(|one| one.cache.upgrade()) {
        cache.resize(size)?;
        return Ok(cache);
    }
    let cache = Cache::open(folder, size)?;
    open.push(OpenCache { folder: folder.to_owned(), cache: Arc::downgrade(&cache) });
    Ok(cache)
}
