//! How files are read ahead, for each stream.

use crate::ByteSize;

/// How much is read ahead, and by how many threads or requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefetchSettings {
    /// Reader threads of each stream whose source is read by threads.
    pub threads: usize,
    /// Requests that may be under way for each stream whose source is read by requests. The source may allow fewer.
    pub requests: usize,
    /// Bytes that each stream may have read ahead.
    pub budget: ByteSize,
    /// Leases whose records no thread has begun to read.
    pub leases_ahead: usize,
}

impl Default for PrefetchSettings {
    fn default() -> Self {
        Self { threads: 8, requests: 256, budget: ByteSize(256_000_000), leases_ahead: 2 }
    }
}
