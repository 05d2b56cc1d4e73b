//! A lease that is out: which of its positions are in finished batches, and how many deaths in a row the others have been
//! through (semantics rule 9).

use std::ops::Range;
use std::sync::Arc;

use forebay_proto::v1::{Cause, Lease, StoredLease};

use super::returned::ReturnedPositions;
use super::spans::Spans;

/// A lease that is out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ledger) struct LeaseOut {
    pub(in crate::ledger) lease: Lease,
    /// The worker that has it.
    pub(in crate::ledger) holder: Arc<str>,
    /// Positions that are not complete, counted from the epoch's start; never empty.
    pub(in crate::ledger) open: Spans,
    /// The open positions that were in a finished batch, if the lease has been through a death. No later death is blamed
    /// on them.
    pub(super) made: Spans,
    /// Its open positions are in published batches.
    pub(super) is_settled: bool,
    /// When it expires. Not stored: after a restart, the lease gets its full time to live again.
    pub(super) deadline: u64,
}

impl LeaseOut {
    /// From what is stored. Nothing if it contradicts itself.
    pub(super) fn load(stored: &StoredLease, holder: &Arc<str>, deadline: u64) -> Option<Self> {
        let lease = stored.lease?;
        let (open, made) = (Spans::load(&stored.open)?, Spans::load(&stored.made)?);
        let is_bounded = open.iter().all(|span| lease.start <= span.start && span.end <= lease.end);
        let held = Self { lease, holder: Arc::clone(holder), open, made, is_settled: stored.settled, deadline };
        (is_bounded && !held.open.is_empty()).then_some(held)
    }

    pub(super) fn stored(&self) -> StoredLease {
        StoredLease {
            lease: Some(self.lease),
            open: self.open.stored(),
            made: self.made.stored(),
            settled: self.is_settled,
        }
    }

    /// How many positions of it are not complete.
    pub(super) fn positions(&self) -> u64 {
        self.open.iter().map(|span| span.end - span.start).sum()
    }

    /// Whether it may leave positions that fill no batch. Whole batches leave none, unless a record is bad.
    pub(super) const fn may_leave_tail(&self) -> bool {
        !self.is_settled && !self.lease.whole
    }

    /// Its open positions, each part with the number of deaths in a row that it has been through.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Range<u64>, u32)> {
        let deaths = self.lease.deaths;
        let parts = self.open.iter().flat_map(|span| self.made.parts(&span).collect::<Vec<_>>());
        parts.map(move |(part, is_made)| (part, if is_made { 0 } else { deaths }))
    }

    /// Its open positions that were in no finished batch.
    pub(in crate::ledger) fn unmade(&self) -> impl Iterator<Item = Range<u64>> {
        self.parts().map(|(part, _)| part).filter(|part| !self.is_made(part))
    }

    /// Whether all of a part is in finished batches.
    pub(super) fn is_made(&self, part: &Range<u64>) -> bool {
        self.is_settled || self.made.parts(part).all(|(_, is_made)| is_made)
    }

    /// Notes that these positions are in a finished batch. Returns whether that changed anything.
    pub(super) fn note_made(&mut self, positions: &Range<u64>) -> bool {
        if self.lease.deaths == 0 {
            return false;
        }
        let inside = self.open.parts(positions).filter(|(_, is_open)| *is_open);
        let new: Vec<_> = inside.flat_map(|(part, _)| self.made.parts(&part).collect::<Vec<_>>()).collect();
        let mut is_more = false;
        for (part, _) in new.into_iter().filter(|(_, is_made)| !is_made) {
            self.made.insert(part);
            is_more = true;
        }
        is_more
    }

    /// Takes positions out that are not open any more. Gives the deaths in a row that they have been through.
    pub(super) fn take_deaths(&mut self, positions: &Range<u64>) -> u32 {
        let deaths = if self.is_made(positions) { 0 } else { self.lease.deaths };
        self.made.cut(positions);
        deaths
    }

    /// The positions that come back when the lease ends without its worker. Deaths rise only if the worker died: a worker
    /// whose leases expired may still live, cut off or paused (semantics rule 9). No trainer has seen anything of epochs
    /// after `seen_until`.
    pub(in crate::ledger) fn lost(&self, cause: Cause, seen_until: Option<u64>, died: bool) -> Vec<ReturnedPositions> {
        let cause = seen_by(cause, self.lease.epoch, seen_until);
        let lost = |(range, deaths): (Range<u64>, u32)| {
            let deaths = if self.is_made(&range) { 0 } else { deaths.saturating_add(u32::from(died)) };
            ReturnedPositions { deaths, cause, ..self.returned(range) }
        };
        self.parts().map(lost).collect()
    }

    /// The positions that come back when the worker gives the lease up without having died.
    pub(in crate::ledger) fn given_up(&self, cause: Cause, seen_until: Option<u64>) -> Vec<ReturnedPositions> {
        let cause = seen_by(cause, self.lease.epoch, seen_until);
        self.parts().map(|(range, deaths)| ReturnedPositions { deaths, cause, ..self.returned(range) }).collect()
    }

    /// Positions of it that come back from its worker.
    pub(super) fn returned(&self, positions: Range<u64>) -> ReturnedPositions {
        ReturnedPositions {
            lease: self.lease.id,
            lease_start: self.lease.start,
            worker: self.holder.to_string(),
            ..ReturnedPositions::unleased(self.lease.epoch, positions)
        }
    }
}

/// How trainers may have seen positions that come back for this cause.
fn seen_by(cause: Cause, epoch: u64, seen_until: Option<u64>) -> Cause {
    if seen_until.is_some_and(|last| epoch <= last) { cause } else { Cause::Unseen }
}
