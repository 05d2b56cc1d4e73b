//! How files are read ahead, for each stream.

use crate::ByteSize;

/// How much is read ahead, and by how many threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefetchSettings {
    /// Reader threads of each stream.
    pub threads: usize,
    /// Bytes that each stream may have read ahead.
    pub budget: ByteSize,
    /// Leases whose records no thread has begun to read.
    pub leases_ahead: usize,
}

impl Default for PrefetchSettings {
    fn default() -> Self {
        Self { threads: 8, budget: ByteSize(256_000_000), leases_ahead: 2 }
    }
}
