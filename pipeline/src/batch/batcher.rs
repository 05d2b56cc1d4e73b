//! Decides which record is in which place of which batch, and how bad records are handled. It is a state machine
//! without slots, threads or pixels. It answers with [`Action`]s, in the order in which the caller must execute them.
//!
//! Batches of an epoch are published in the order of their numbers. A batch waits until all of its places are settled:
//!
//! * `skip`, dynamic: the place of a bad record is a hole, and the next record of the order fills it. At the epoch's
//!   end, the last pictures move into the remaining holes, so that only the last batch is short.
//! * `skip`, static: places never shift. The place repeats a good picture, and its record is -1.
//! * `replace`: the place repeats a good record of the same batch. If a dynamic batch has none, its places are
//!   holes, as with `skip`.

mod action;
mod drafts;
mod failures;
#[cfg(test)]
mod invariants;
mod mend;
#[cfg(test)]
mod model;
mod rules;
mod seats;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use forebay_pixels::Origin;
use forebay_plan::{LastBatchPolicy, Plan};
use forebay_proto::Turn;
use forebay_sources::Locator;

use crate::batch::draft::{Draft, DraftPlace, Fill};
use crate::batch::form::Form;
use crate::place::At;
use crate::reason::Reason;
use crate::record::{BadRecord, Position};
pub(crate) use action::Action;
use drafts::Drafts;
use failures::Failures;
pub(crate) use rules::Rules;
use seats::Seats;

/// The state.
#[derive(Debug)]
pub(crate) struct Batcher {
    rules: Rules,
    drafts: Drafts,
    /// Dynamic: the batch that takes the next records, by epoch.
    open: HashMap<u64, u64>,
    /// Static: batches to which positions may still come.
    seats: Seats,
    /// Dynamic epochs whose records have all been placed and that have batches in the making.
    ended: BTreeSet<u64>,
    /// Those of them that end with full batches only.
    settling: BTreeSet<u64>,
    /// Positions that no batch has room for, until their epoch ends.
    dropped: Vec<Position>,
    failures: Failures,
    failed: bool,
    actions: VecDeque<Action>,
}

impl Batcher {
    /// No batch yet.
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            drafts: Drafts::new(rules.batch_size),
            open: HashMap::new(),
            seats: Seats::new(rules.batch_size),
            ended: BTreeSet::new(),
            settling: BTreeSet::new(),
            dropped: Vec::new(),
            failures: Failures::new(rules.on_error, rules.max_failures),
            failed: false,
            actions: VecDeque::new(),
        }
    }

    /// Continues the numbers of an earlier batcher of the same stream.
    #[must_use]
    pub(crate) fn numbered_from(mut self, next: u64) -> Self {
        self.drafts.number_from(next);
        self
    }

    /// Makes the stream fail if all records of an epoch by this plan are bad. Otherwise, epochs without a batch would
    /// follow each other as fast as they can be read, and no trainer would learn why.
    #[must_use]
    pub(crate) fn failing_without_one_of(mut self, plan: Arc<Plan>) -> Self {
        self.failures.needs_one_of(plan);
        self
    }

    /// Number of the next batch.
    pub(crate) fn next_number(&self) -> u64 {
        self.drafts.next_number()
    }

    /// The next thing to be done.
    pub(crate) fn action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether a position needs a new batch, and so a slot.
    pub(crate) fn needs_slot(&self, position: &Position) -> bool {
        if self.rules.is_fixed() {
            return self.seats.needs_batch(position, &self.drafts);
        }
        !self.open.contains_key(&position.epoch) && self.drafts.hole(position.epoch).is_none()
    }

    /// Opens a batch of a dynamic epoch, for which the caller has a slot. Gives its number.
    pub(crate) fn begin(&mut self, epoch: u64) -> u64 {
        let batch = self.drafts.begin(epoch);
        self.open.insert(epoch, batch);
        batch
    }

    /// Opens the batch of a static position, for which the caller has a slot. Gives its number.
    pub(crate) fn begin_fixed(&mut self, position: &Position, form: &Form) -> u64 {
        self.pass(position);
        // If it has a batch, its place there is taken: the position is repeated after its lease was lost.
        self.seats.end_own(position, &mut self.drafts);
        let batch = self.drafts.begin_fixed(position.epoch, form);
        self.seats.add(position, batch);
        self.settle(position.epoch);
        batch
    }

    /// Closes the batches before a static position's own for now. Positions are granted in order, so each missing position is
    /// either complete, or a trainer or another worker still has it.
    pub(crate) fn pass(&mut self, position: &Position) {
        if self.rules.is_fixed() {
            self.seats.end_before(position, &mut self.drafts);
            self.settle(position.epoch);
        }
    }

    /// Notes a static position that has no record. Its batch must be there.
    pub(crate) fn bare(&mut self, position: Position) {
        let batch = self.seats.batch_of(&position);
        self.drafts.of_mut(batch).bare.push(position);
        self.seats.arrived(batch, &position, &mut self.drafts);
        self.settle(position.epoch);
    }

    /// Notes a position that no batch has room for: it is acked as dropped at the epoch's end, or given up with the tail.
    pub(crate) fn drop_position(&mut self, position: Position) {
        self.dropped.push(position);
    }

    /// Gives a place to a record that was read. The record will be decoded there. A batch with room must exist.
    pub(crate) fn place(&mut self, position: Position, label: i64) -> At {
        self.continues(position.epoch);
        let (own, turn) = (Some(position), position.turn());
        let place = DraftPlace { own, turn, label, fill: Fill::Decoding, ..DraftPlace::HOLE };
        self.seat(&position, place)
    }

    /// Notes a record that could not be read. If bad records keep their places ([`Batcher::keeps_places`]), a batch with
    /// room must exist.
    pub(crate) fn unreadable(&mut self, bad: BadRecord, label: i64) {
        let position = bad.position;
        self.continues(position.epoch);
        let at = self.keeps_places().then(|| {
            let fill = self.rules.left_behind();
            self.seat(&position, DraftPlace { turn: position.turn(), label, fill, ..DraftPlace::HOLE })
        });
        self.report(at, bad);
        self.settle(position.epoch);
    }

    /// Whether a bad record keeps its place.
    pub(crate) fn keeps_places(&self) -> bool {
        self.rules.keeps_places()
    }

    /// Notes the result of decoding, or that the record for a copy could not be read.
    pub(crate) fn outcome(&mut self, at: At, outcome: Result<Origin, (Locator, Reason)>) {
        let Some(draft) = self.drafts.get_mut(at.0) else { return };
        let (epoch, place) = (draft.epoch(), *draft.place(at.1));
        match (place.own, outcome) {
            (_, Ok(origin)) => draft.set(at.1, DraftPlace { fill: Fill::Good, origin: Some(origin), ..place }),
            (Some(position), Err((locator, reason))) => {
                draft.set(at.1, DraftPlace { own: None, fill: self.rules.left_behind(), ..place });
                self.report(Some(at), BadRecord { position, locator, reason });
            }
            (None, Err(_)) => mend::copy_failed(at, &mut self.drafts),
        }
        self.settle(epoch);
    }

    /// Names the record of a fetched copy, before it is decoded.
    pub(crate) fn copying(&mut self, at: At, turn: Turn, label: i64) {
        if let Some(draft) = self.drafts.get_mut(at.0) {
            draft.set(at.1, DraftPlace { turn, label, ..*draft.place(at.1) });
        }
    }

    /// The record at a place, for messages.
    pub(crate) fn record(&self, at: At) -> Option<u64> {
        self.drafts.get(at.0).map(|draft| draft.place(at.1).turn.record())
    }

    /// Epoch of a batch in the making.
    pub(crate) fn epoch(&self, batch: u64) -> Option<u64> {
        self.drafts.get(batch).map(Draft::epoch)
    }

    /// Whether pictures of the epoch are being made.
    pub(crate) fn is_busy_with(&self, epoch: u64) -> bool {
        self.drafts.of_epoch(epoch).any(|(_, draft)| draft.is_busy())
    }

    /// How many further positions of a dynamic epoch make no batch, if no others come. What its batches in the making have is
    /// counted, since a bad record may yet need one of them.
    pub(crate) fn spare(&self, epoch: u64) -> u64 {
        if self.rules.dynamic != Some(LastBatchPolicy::Drop) {
            return 0;
        }
        let taken: u64 = self.drafts.of_epoch(epoch).map(|(_, draft)| u64::from(draft.taken())).sum();
        let left_out = self.dropped.iter().filter(|position| position.epoch == epoch).count() as u64;
        u64::from(self.rules.batch_size).saturating_sub(1 + taken + left_out)
    }

    /// The youngest batch in the making that is of an epoch behind this one.
    pub(crate) fn youngest_after(&self, epoch: u64) -> Option<u64> {
        self.drafts.youngest_after(epoch)
    }

    /// Gives a batch in the making up, whose slot the caller takes. Gives the positions that it answers for. If they all
    /// `come_back` to this daemon, its epoch ends behind them: the batches before it may wait for their records.
    pub(crate) fn withdraw(&mut self, batch: u64, come_back: bool) -> Vec<Position> {
        let Some(draft) = self.drafts.remove(batch) else { return Vec::new() };
        self.open.retain(|_, open| *open != batch);
        self.seats.forget(batch);
        if come_back {
            self.continues(draft.epoch());
        }
        self.settle(draft.epoch());
        draft.owned().chain(draft.without()).collect()
    }

    /// Notes that every available record of the epoch has a place. It is called again if more records come later.
    pub(crate) fn end(&mut self, epoch: u64) {
        if !self.settling.contains(&epoch) {
            let left_out = self.left_out(epoch);
            self.give_up(left_out);
        }
        if !self.rules.is_fixed() {
            self.ended.insert(epoch);
        } else {
            self.seats.end_epoch(epoch, &mut self.drafts);
        }
        self.settle(epoch);
    }

    /// Like [`end`](Self::end), for a dynamic epoch that other daemons have parts of. Positions that fill no batch are
    /// given up, so that they can be combined with those of the other daemons (semantics rule 36).
    pub(crate) fn end_at_whole_batches(&mut self, epoch: u64) {
        self.settling.insert(epoch);
        self.end(epoch);
    }

    /// Gives up everything that is not published, and returns its positions. The caller must execute all actions before.
    pub(crate) fn close(&mut self) -> Vec<Position> {
        self.open.clear();
        self.seats.clear();
        let mut rest = std::mem::take(&mut self.dropped);
        rest.extend(self.drafts.close());
        rest
    }

    /// Notes that another record of the epoch has come.
    fn continues(&mut self, epoch: u64) {
        self.ended.remove(&epoch);
        self.settling.remove(&epoch);
    }

    fn seat(&mut self, position: &Position, place: DraftPlace) -> At {
        if self.rules.is_fixed() {
            let at = (self.seats.batch_of(position), self.seats.place_of(position));
            self.drafts.of_mut(at.0).set(at.1, place);
            self.seats.arrived(at.0, position, &mut self.drafts);
            return at;
        }
        let epoch = position.epoch;
        if let Some(at) = self.drafts.hole(epoch) {
            self.drafts.of_mut(at.0).set(at.1, place);
            return at;
        }
        let batch = *self.open.get(&epoch).expect("the caller began a batch when needs_slot said so");
        let draft = self.drafts.of_mut(batch);
        let at = (batch, draft.append(place));
        if draft.is_full() {
            self.open.remove(&epoch);
        }
        at
    }

    /// The positions of an epoch that were left out.
    fn left_out(&mut self, epoch: u64) -> Vec<Position> {
        self.dropped.extract_if(.., |position| position.epoch == epoch).collect()
    }

    /// Quarantines a record at once. If places never shift, it is quarantined with its batch instead. So if another
    /// daemon makes the batch again, it is the same batch.
    ///
    /// If the stream fails at this record, the failure is reported first. The ledger may end the epoch with this record,
    /// and trainers must hear of the failure before that end.
    fn report(&mut self, at: Option<At>, bad: BadRecord) {
        if let Some(why) = self.failures.judge(&bad) {
            self.fail(why);
        }
        match at.filter(|_| self.rules.is_fixed() && !self.failed) {
            Some(at) => self.drafts.of_mut(at.0).bad.push(bad),
            None => self.actions.push_back(Action::Nack(bad)),
        }
    }

    fn fail(&mut self, text: String) {
        if !std::mem::replace(&mut self.failed, true) {
            self.actions.push_back(Action::Fail(text));
            let bad = self.drafts.take_bad();
            self.actions.extend(bad.into_iter().map(Action::Nack));
        }
    }

    fn give_up(&mut self, positions: Vec<Position>) {
        if !positions.is_empty() {
            self.actions.push_back(Action::Dropped(positions));
        }
    }

    /// Publishes what may be published of an epoch.
    fn settle(&mut self, epoch: u64) {
        let mut tail = Vec::new();
        while !self.failed {
            let Some((batch, draft)) = self.drafts.of_epoch(epoch).next() else { break };
            let is_fixed = self.rules.is_fixed();
            let complete = if is_fixed { draft.is_ended() } else { draft.is_full() || self.ended.contains(&epoch) };
            if draft.is_busy() || !complete || !mend::mend(batch, is_fixed, &mut self.drafts, &mut self.actions) {
                return;
            }
            let draft = self.drafts.of(batch);
            let whole = draft.is_full() && draft.hole().is_none();
            if !is_fixed && !whole && !self.close_holes(epoch) {
                return;
            }
            // One without a single picture is not there any more.
            let Some(draft) = self.drafts.get(batch) else { continue };
            if self.settling.contains(&epoch) && !draft.is_full() {
                tail.extend(draft.owned());
                self.drafts.remove(batch);
                self.actions.push_back(Action::Discard { batch });
                continue;
            }
            self.finish(batch);
        }
        if self.settling.remove(&epoch) && !self.failed {
            tail.extend(self.left_out(epoch));
            self.actions.push_back(Action::Settled { epoch, tail });
        }
        self.ended.remove(&epoch);
    }

    /// Moves the last pictures of an ended dynamic epoch into its holes. False if it has not ended, or if a picture is still to
    /// come.
    fn close_holes(&mut self, epoch: u64) -> bool {
        let closed = self.ended.contains(&epoch) && mend::close_holes(epoch, &mut self.drafts, &mut self.actions);
        if closed {
            self.open.remove(&epoch);
        }
        closed
    }

    /// Publishes a settled batch, or drops it.
    fn finish(&mut self, batch: u64) {
        let Some(mut draft) = self.drafts.remove(batch) else { return };
        let size = self.rules.batch_size;
        let (short, policy) = (!draft.is_full(), self.rules.dynamic);
        if short && policy == Some(LastBatchPolicy::Drop) {
            self.give_up(draft.owned().collect());
            self.actions.push_back(Action::Discard { batch });
            return;
        }
        if short && policy == Some(LastBatchPolicy::Fill) {
            let last = draft.taken() - 1;
            for place in draft.taken()..size {
                self.actions.push_back(Action::Copy { from: (batch, last), to: (batch, place) });
                draft.repeat(last, place);
            }
        }
        // No trainer must see the pictures of an earlier batch in this slot.
        self.actions.extend((draft.taken()..size).map(|place| Action::Clear { at: (batch, place) }));
        self.actions.push_back(Action::Publish(draft.metadata(batch)));
    }
}
