//! A lease that is being read.

use std::ops::Range;
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
    /// How many positions.
    pub len: u64,
    /// Offsets of those that have no record, which rise.
    pub bare: Vec<Range<u64>>,
    /// Its records are suspects.
    pub suspect: bool,
    /// What a place in the epoch's order has.
    pub turn: Arc<dyn Fn(u64) -> Turn + Send + Sync>,
}

impl Span {
    /// The offsets of positions with a record, as ranges that rise.
    pub(super) fn records(&self) -> impl Iterator<Item = Range<u64>> {
        let starts = [0].into_iter().chain(self.bare.iter().map(|bare| bare.end));
        let ends = self.bare.iter().map(|bare| bare.start).chain([self.len]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|records| !records.is_empty())
    }

    /// The first offset from this one on that has a record. At the lease's end, it is [`Self::end`] or beyond.
    pub(super) fn next(&self, offset: u64) -> u64 {
        let at = self.bare.partition_point(|bare| bare.end <= offset);
        self.bare.get(at).filter(|bare| bare.start <= offset).map_or(offset, |bare| bare.end)
    }

    /// The offset behind the last position with a record.
    pub(super) fn end(&self) -> u64 {
        self.bare.last().filter(|bare| bare.end == self.len).map_or(self.len, |bare| bare.start)
    }

    pub(super) fn position(&self, offset: u64) -> Position {
        let Self { lease, epoch, suspect, .. } = *self;
        let index = self.start + offset;
        let turn = (self.turn)(index);
        let (record, repeat) = (turn.record(), turn.repeat());
        Position { epoch, lease, offset, lease_end: self.end(), index, record, repeat, suspect }
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Span").field("lease", &self.lease).field("len", &self.len).finish_non_exhaustive()
    }
}
