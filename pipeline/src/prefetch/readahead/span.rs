//! A lease that is being read.

use std::sync::Arc;

use forebay_proto::Turn;

use crate::record::Position;

/// A lease to be read, with what its positions have as a function.
pub(crate) struct Span {
    /// Lease id.
    pub lease: u64,
    /// Epoch of the lease.
    pub epoch: u64,
    /// First place in the epoch's order.
    pub start: u64,
    /// How many positions that have a record.
    pub len: u64,
    /// How many positions behind them that have none.
    pub bare: u64,
    /// Its records are suspects.
    pub suspect: bool,
    /// What a place in the epoch's order has.
    pub turn: Arc<dyn Fn(u64) -> Turn + Send + Sync>,
}

impl Span {
    pub(super) fn position(&self, offset: u64) -> Position {
        let Self { lease, epoch, len, suspect, .. } = *self;
        let index = self.start + offset;
        let turn = (self.turn)(index);
        let (record, repeat) = (turn.record(), turn.repeat());
        Position { epoch, lease, offset, lease_len: len, index, record, repeat, suspect }
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Span").field("lease", &self.lease).field("len", &self.len).finish_non_exhaustive()
    }
}
