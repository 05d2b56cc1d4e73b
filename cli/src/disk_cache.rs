//! The cache on a local disk for commands that read a dataset themselves: what the environment says of it.

use forebay_daemon::config::{Environment, Sources};
use forebay_sources::DiskCache;

use crate::failure::Failure;

/// The cache that `FOREBAY_CACHE_SIZE` and `FOREBAY_CACHE` ask for.
pub(crate) fn disk_cache(environment: &Environment) -> Result<Option<DiskCache>, Failure> {
    Sources::default().disk_cache(environment).map_err(|error| Failure::Usage(error.to_string()))
}
