//! The cache on a local disk, as the options of a dataset name it.

use std::sync::Arc;

use forebay_objects::Cache;
use forebay_sources::{DiskCache, Options, SourceError};

/// The cache that the options name. All datasets of the process share it.
///
/// # Errors
/// Its folder cannot be used.
pub(crate) fn of_options(options: &Options) -> Result<Option<Arc<Cache>>, SourceError> {
    options.cache.as_ref().map(open).transpose()
}

/// Whether the cache can be used. Its folder is made if it is absent.
///
/// # Errors
/// The folder belongs to another user, other users may write to it, or it cannot be made.
pub fn check_cache(cache: &DiskCache) -> Result<(), SourceError> {
    open(cache).map(drop)
}

fn open(cache: &DiskCache) -> Result<Arc<Cache>, SourceError> {
    let opened = Cache::shared(&cache.folder, cache.size);
    opened.map_err(|error| SourceError::Cache { problem: error.to_string() })
}
