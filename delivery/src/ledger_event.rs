//! What the ring's thread is told of the ledger.

use forebay_proto::v1::{LastHolder, MissedBatches};

/// A message about leases and batches for the ring's thread. Lost leases are always reported before a deadline that does
/// not cover them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LedgerEvent {
    /// Leases that are complete, or that another worker has.
    Lost(Vec<u64>),
    /// `CLOCK_BOOTTIME` nanosecond until which all others are this worker's, whatever happens (semantics rule 19). Until then,
    /// batches may be handed out.
    Deadline(u64),
    /// Which of an epoch's last leases other workers have, and which they want.
    Others(Others),
    /// The ledger has answered the report that a trainer that ended may have seen this batch. Even if it refused the
    /// report, the batch may be offered again.
    Noted(u64),
    /// Which batches the groups have missed that the ledger was asked about.
    Missed {
        /// Their names.
        asked: Vec<String>,
        /// Batches that other groups have consumed, and that these groups have not got.
        missed: Vec<MissedBatches>,
    },
}

/// What other workers have and want of the first epoch that is not complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Others {
    /// The epoch.
    pub epoch: u64,
    /// Who has its last leases, first those that have had them for longest. There may be more.
    pub holders: Vec<LastHolder>,
    /// Their trainers wait: what no trainer here has taken for a while is given back.
    pub want: bool,
}
