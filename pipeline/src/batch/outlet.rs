//! What the batch stage tells: batches and notices to the ring's thread, and to the ledger what becomes of records without a
//! trainer.

use std::fmt;

use forebay_delivery::{BadPlace, DeliveryOutcome, Handover, OutcomeSender, SettledEpoch};
use forebay_proto::v1::{Cause, LeasedRange, Range, ReturnedRange};

use crate::batch::returned_steps::ReturnedSteps;
use crate::record::{BadRecord, LeasePart, Position};

/// Where the stage's results go.
pub(crate) struct Outlet {
    /// Name of the stream, for messages.
    pub(super) stream: String,
    /// What the places of bad records show.
    bad_place: BadPlace,
    /// Where batches go.
    output: Box<dyn Fn(Handover) + Send>,
    /// What became of records without a trainer.
    outcomes: OutcomeSender,
    /// What is given back of steps of classes.
    returned_steps: ReturnedSteps,
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Outlet {
    /// Of a stream with this name. Batches go to `output`, and what became of records without a trainer to `outcomes`. Steps of
    /// classes have `step` positions.
    pub(crate) fn new(
        stream: String,
        output: Box<dyn Fn(Handover) + Send>,
        outcomes: OutcomeSender,
        step: Option<u64>,
    ) -> Self {
        Self { stream, bad_place: BadPlace::default(), output, outcomes, returned_steps: ReturnedSteps::new(step) }
    }

    /// With this in the places of bad records.
    pub(crate) fn with_bad_place(self, bad_place: BadPlace) -> Self {
        Self { bad_place, ..self }
    }

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
        // A bad record of a step of a class is told with its step.
        if !self.returned_steps.are_of_classes() {
            self.tell(DeliveryOutcome::Bad(bad.into()));
        }
    }

    /// Tells the ring alone of a bad record. If places never shift, the ledger hears of it with its batch's receipts.
    pub(super) fn tell_ring_of(&self, bad: &BadRecord) {
        let Position { epoch, .. } = bad.position;
        let (turn, reason, place) = (bad.position.turn(), bad.to_string(), self.bad_place);
        self.hand_over(Handover::Bad { epoch, turn, reason, place });
    }

    /// Tells the ledger that this daemon has no batch of an epoch in the making, and which positions fill no batch.
    pub(super) fn settled(&self, epoch: u64, last_lease: u64, tail: &[Position]) {
        let range = |(lease, start, end)| LeasedRange { lease, range: Some(Range { start, end }) };
        let tail = joined(tail.iter().map(Position::part)).into_iter().map(range).collect();
        self.tell(DeliveryOutcome::Settled(SettledEpoch { epoch, last_lease, tail }));
    }

    /// Whether the step of a position is being given back. Then the position is to go with it.
    pub(super) fn returns(&self, position: &Position) -> bool {
        self.returned_steps.has_step_of(position)
    }

    /// Gives positions back, each with the rest of its step.
    pub(super) fn give_back(&mut self, positions: impl IntoIterator<Item = Position>) {
        let parts = self.returned_steps.take(positions);
        self.give_parts_back(parts.into_iter());
    }

    /// Gives all that is left back: the stage ends.
    pub(super) fn close(&mut self, rest: impl Iterator<Item = LeasePart>) {
        let mut parts: Vec<LeasePart> = self.returned_steps.close().into_iter().chain(rest).collect();
        // A step may have been taken in part.
        parts.sort_unstable();
        self.give_parts_back(parts.into_iter());
    }

    /// No trainer has seen them.
    fn give_parts_back(&self, parts: impl Iterator<Item = LeasePart>) {
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
