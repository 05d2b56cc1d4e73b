//! What expired of a worker's leases, until the worker is heard again. If its successor comes instead, the worker had died with
//! them (semantics rule 9).

use std::ops::Range;

use forebay_proto::v1::OpenRange;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpiredPositions(Vec<(u64, Range<u64>)>);

impl ExpiredPositions {
    pub(super) fn of(stored: &[OpenRange]) -> Self {
        Self(stored.iter().map(|range| (range.epoch, range.start..range.end)).collect())
    }

    pub(super) fn stored(&self) -> Vec<OpenRange> {
        let stored = |(epoch, range): &(u64, Range<u64>)| {
            let (epoch, start, end) = (*epoch, range.start, range.end);
            OpenRange { epoch, start, end, ..OpenRange::default() }
        };
        self.0.iter().map(stored).collect()
    }

    /// Adds positions of an epoch that were in no finished batch.
    pub(super) fn add(&mut self, epoch: u64, positions: impl Iterator<Item = Range<u64>>) {
        self.0.extend(positions.map(|range| (epoch, range)));
    }

    /// The positions, each range with its epoch.
    pub(super) fn ranges(&self) -> &[(u64, Range<u64>)] {
        &self.0
    }

    /// Forgets all. Answers whether there was anything.
    pub(super) fn forget(&mut self) -> bool {
        !std::mem::take(self).0.is_empty()
    }
}
