//! `[prefetch]`: how files are read ahead, for each stream.

use super::quantity::ByteSize;
use super::table::Table;
use super::value::{size, whole};

pub(super) const EXAMPLE: &str = r#"[prefetch]
# Threads that read files, for each stream. More help where a read waits for a network or a disk.
threads = 8
# Bytes that may be read ahead of decoding, for each stream.
budget = "256mb"
# Leases whose records are read ahead.
leases_ahead = 2
"#;

/// The section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// Reader threads of each stream.
    pub threads: usize,
    /// Bytes that each stream may have read ahead.
    pub budget: ByteSize,
    /// Leases whose records nobody has begun to read.
    pub leases_ahead: usize,
}

impl Default for Prefetch {
    fn default() -> Self {
        Self { threads: 8, budget: ByteSize(256_000_000), leases_ahead: 2 }
    }
}

impl Prefetch {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        let default = Self::default();
        Self {
            threads: table.take_or("threads", default.threads, whole(1..=1024)),
            budget: table.take_or("budget", default.budget, size),
            leases_ahead: table.take_or("leases_ahead", default.leases_ahead, whole(1..=64)),
        }
    }
}
