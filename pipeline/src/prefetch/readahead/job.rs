//! One read, as the threads and the requests that do it know it.

use std::time::Instant;

use crate::record::EpochTurn;

/// One read to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadJob {
    /// Number of the read, never used twice.
    pub id: u64,
    /// What to read: the turn of a record in its epoch.
    pub of: EpochTurn,
    /// Bytes of the budget that it has.
    pub reserved: u64,
    /// It is the last of its lease: a further one may be wanted.
    pub last: bool,
    /// The epoch in whose order it is read. None for a read out of turn.
    pub(super) epoch: Option<u64>,
    /// When it began. A record may be requested again during an earlier request, and this distinguishes the two.
    pub began: Instant,
    /// A probe only asks whether the storage answers. It reads the record alone, without partners, and its content is
    /// discarded.
    pub probe: bool,
}

impl ReadJob {
    /// Number of the record to read.
    pub(crate) fn record(&self) -> u64 {
        self.of.turn.record()
    }
}
