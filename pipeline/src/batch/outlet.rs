//! What the batch stage tells: batches and notices to the ring's thread, and to the ledger what becomes of records without a
//! trainer.

use std::fmt;

use forebay_delivery::{DeliveryOutcome, Handover, OutcomeSender, SettledEpoch};
use forebay_proto::v1::{Cause, LeasedRange, Range, ReturnedRange};

use crate::record::{BadRecord, Position};

/// A part of a lease: its id, the first offset, and the end.
pub(crate) type LeasePart = (u64, u64, u64);

/// Where the stage's results go.
pub(crate) struct Outlet {
    /// Name of the stream, for messages.
    pub stream: String,
    /// Where batches go.
    pub output: Box<dyn Fn(Handover) + Send>,
    /// What became of records without a trainer.
    pub outcomes: OutcomeSender,
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Outlet {
    /// Hands something over to the ring's thread.
    pub(super) fn hand_over(&self, made: Handover) {
        (self.output)(made);
    }

    /// Tells the ledger one thing.
    pub(super) fn tell(&self, outcome: DeliveryOutcome) {
        // The ledger's task outlives the stage, except in a daemon that ends at once.
        let _gone = self.outcomes.send(outcome);
    }

    /// Tells the ring, and then the ledger, of a bad record: it may be the last one of its epoch.
    pub(super) fn tell_bad(&self, bad: BadRecord) {
        self.tell_ring_of(&bad);
        self.tell(DeliveryOutcome::Bad(bad.into()));
    }

    /// Tells the ring alone of a bad record. If places never shift, the ledger hears of it with its batch's receipts.
    pub(super) fn tell_ring_of(&self, bad: &BadRecord) {
        let Position { epoch, .. } = bad.position;
        self.hand_over(Handover::Bad { epoch, turn: bad.position.turn(), reason: bad.to_string() });
    }

    /// Tells the ledger that this daemon has no batch of an epoch in the making, and which positions fill no batch.
    pub(super) fn settled(&self, epoch: u64, last_lease: u64, tail: &[Position]) {
        let range = |(lease, start, end)| LeasedRange { lease, range: Some(Range { start, end }) };
        let tail = joined(tail.iter().map(part)).into_iter().map(range).collect();
        self.tell(DeliveryOutcome::Settled(SettledEpoch { epoch, last_lease, tail }));
    }

    /// Gives parts of leases back: no trainer has seen them.
    pub(super) fn give_back(&self, parts: impl Iterator<Item = LeasePart>) {
        let back = |(lease, start, end)| ReturnedRange {
            lease,
            range: Some(Range { start, end }),
            cause: Cause::Unseen.into(),
        };
        let ranges: Vec<_> = joined(parts).into_iter().map(back).collect();
        if !ranges.is_empty() {
            self.tell(DeliveryOutcome::Returned(ranges));
        }
    }
}

/// The part of its lease that one position is.
pub(super) fn part(position: &Position) -> LeasePart {
    (position.lease, position.offset, position.offset + 1)
}

/// Parts of leases, with neighbours put together.
fn joined(parts: impl Iterator<Item = LeasePart>) -> Vec<LeasePart> {
    let mut whole: Vec<LeasePart> = Vec::new();
    for (lease, start, end) in parts {
        match whole.last_mut() {
            Some(last) if last.0 == lease && last.2 == start => last.2 = end,
            _ => whole.push((lease, start, end)),
        }
    }
    whole
}
