//! The cache on a local disk: where it is, and how large it may be.

use std::path::PathBuf;

/// A cache on a local disk, of what is read from stores of objects and of what compressed files hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCache {
    /// Its folder, which belongs to the user of the process.
    pub folder: PathBuf,
    /// The most bytes that it may have; at least [`LEAST`](Self::LEAST).
    pub size: u64,
}

impl DiskCache {
    /// A cache with fewer bytes is of no use.
    pub const LEAST: u64 = 64 << 20;
}
