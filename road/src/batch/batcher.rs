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
mod fixed;
#[cfg(test)]
mod invariants;
mod left_out;
mod mend;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
mod withdraw;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use forebay_pixels::Origin;
use forebay_plan::{LastBatchPolicy, Plan};
use forebay_proto::Turn;
use forebay_sources::Locator;

use crate::batch::draft::{Draft, DraftPlace, Fill};
use crate::place::At;
use crate::reason::Reason;
use crate::record::{BadRecord, Position};
use crate::settings::OnError;
pub(crate) use action::Action;

/// What the batches of a stream follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Places of a batch.
    pub batch_size: u32,
    /// What a bad record does.
    pub on_error: OnError,
    /// The stream fails at one more bad record than this.
    pub max_failures: Option<u64>,
    /// Dynamic assignment, with its policy for the last batch; static gives every batch its form.
    pub dynamic: Option<LastBatchPolicy>,
}

/// The state.
#[derive(Debug)]
pub(crate) struct Batcher {
    rules: Rules,
    next: u64,
    drafts: BTreeMap<u64, Draft>,
    /// Dynamic: the batch that takes the next records, by epoch.
    open: HashMap<u64, u64>,
    /// Static: batches to which positions may still come, by epoch and number in it.
    seats: BTreeMap<(u64, u64), u64>,
    /// Dynamic epochs whose records have all been placed and that have batches in the making.
    ended: BTreeSet<u64>,
    /// Those of them that end with full batches only.
    settling: BTreeSet<u64>,
    /// Positions that no batch has room for, until their epoch ends.
    dropped: Vec<Position>,
    /// Bad records, as far as their number matters.
    bad: HashSet<u64>,
    /// The plan, if an epoch without a good record fails the stream. It says which records an epoch has.
    plan: Option<Arc<Plan>>,
    /// Bad turns of records of the latest epochs, as far as they matter. One may be read twice.
    bad_of: BTreeMap<u64, HashSet<Turn>>,
    failed: bool,
    actions: VecDeque<Action>,
}

impl Batcher {
    /// No batch yet.
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            next: 0,
            drafts: BTreeMap::new(),
            open: HashMap::new(),
            seats: BTreeMap::new(),
            ended: BTreeSet::new(),
            settling: BTreeSet::new(),
            dropped: Vec::new(),
            bad: HashSet::new(),
            plan: None,
            bad_of: BTreeMap::new(),
            failed: false,
            actions: VecDeque::new(),
        }
    }

    /// Continues the numbers of an earlier batcher of the same stream.
    #[must_use]
    pub(crate) fn numbered_from(mut self, next: u64) -> Self {
        self.next = next;
        self
    }

    /// Makes the stream fail if all records of an epoch by this plan are bad. Otherwise, epochs without a batch would
    /// follow each other as fast as they can be read, and no trainer would learn why.
    #[must_use]
    pub(crate) fn failing_without_one_of(mut self, plan: Arc<Plan>) -> Self {
        self.plan = Some(plan);
        self
    }

    /// Number of the next batch.
    pub(crate) fn next_number(&self) -> u64 {
        self.next
    }

    /// The next thing to be done.
    pub(crate) fn action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether a position needs a new batch, and so a slot.
    pub(crate) fn needs_slot(&self, position: &Position) -> bool {
        if self.rules.dynamic.is_none() {
            return self.needs_seat(position);
        }
        !self.open.contains_key(&position.epoch) && self.hole(position.epoch).is_none()
    }

    /// Opens a batch of a dynamic epoch, for which the caller has a slot. Gives its number.
    pub(crate) fn begin(&mut self, epoch: u64) -> u64 {
        let batch = self.number();
        self.drafts.insert(batch, Draft::new(epoch, self.rules.batch_size));
        self.open.insert(epoch, batch);
        batch
    }

    /// Gives a place to a record that was read. The record will be decoded there. A batch with room must exist.
    pub(crate) fn place(&mut self, position: Position, label: i64) -> At {
        self.goes_on(position.epoch);
        let (own, turn) = (Some(position), position.turn());
        let place = DraftPlace { own, turn, label, fill: Fill::Decoding, ..DraftPlace::HOLE };
        self.seat(&position, place)
    }

    /// Notes a record that could not be read. If bad records keep their places ([`Batcher::keeps_places`]), a batch with
    /// room must exist.
    pub(crate) fn unreadable(&mut self, bad: BadRecord, label: i64) {
        let position = bad.position;
        self.goes_on(position.epoch);
        let at = self.keeps_places().then(|| {
            let fill = self.left_behind();
            self.seat(&position, DraftPlace { turn: position.turn(), label, fill, ..DraftPlace::HOLE })
        });
        self.report(at, bad);
        self.settle(position.epoch);
    }

    /// Whether a bad record keeps its place.
    pub(crate) fn keeps_places(&self) -> bool {
        self.rules.dynamic.is_none() || self.rules.on_error == OnError::Replace
    }

    /// Notes the result of decoding, or that the record for a copy could not be read.
    pub(crate) fn outcome(&mut self, at: At, outcome: Result<Origin, (Locator, Reason)>) {
        let Some(draft) = self.drafts.get_mut(&at.0) else { return };
        let epoch = draft.epoch();
        let place = *draft.place(at.1);
        match (place.own, outcome) {
            (_, Ok(origin)) => draft.set(at.1, DraftPlace { fill: Fill::Good, origin: Some(origin), ..place }),
            (Some(position), Err((locator, reason))) => {
                let fill = self.left_behind();
                self.draft(at.0).set(at.1, DraftPlace { own: None, fill, ..place });
                self.report(Some(at), BadRecord { position, locator, reason });
            }
            (None, Err(_)) => self.copy_failed(at),
        }
        self.settle(epoch);
    }

    /// Names the record of a fetched copy, before it is decoded.
    pub(crate) fn copying(&mut self, at: At, turn: Turn, label: i64) {
        if let Some(draft) = self.drafts.get_mut(&at.0) {
            draft.set(at.1, DraftPlace { turn, label, ..*draft.place(at.1) });
        }
    }

    /// The record at a place, for messages.
    pub(crate) fn record(&self, at: At) -> Option<u64> {
        self.drafts.get(&at.0).map(|draft| draft.place(at.1).turn.record())
    }

    /// Epoch of a batch in the making.
    pub(crate) fn epoch(&self, batch: u64) -> Option<u64> {
        self.drafts.get(&batch).map(Draft::epoch)
    }

    /// Notes that every available record of the epoch has a place. It is called again if more records come later.
    pub(crate) fn end(&mut self, epoch: u64) {
        if !self.settling.contains(&epoch) {
            let left_out = self.left_out(epoch);
            self.give_up(left_out);
        }
        if self.rules.dynamic.is_some() {
            self.ended.insert(epoch);
        } else {
            self.end_seats((epoch, 0), (epoch + 1, 0));
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
        let drafts = std::mem::take(&mut self.drafts);
        rest.extend(drafts.values().flat_map(|draft| draft.owned().chain(draft.without())));
        rest
    }

    /// Notes that another record of the epoch has come.
    fn goes_on(&mut self, epoch: u64) {
        self.ended.remove(&epoch);
        self.settling.remove(&epoch);
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    fn draft(&mut self, batch: u64) -> &mut Draft {
        self.drafts.get_mut(&batch).expect("a batch that was begun and not yet published")
    }

    fn of_epoch(&self, epoch: u64) -> impl Iterator<Item = (&u64, &Draft)> {
        self.drafts.iter().filter(move |(_, draft)| draft.epoch() == epoch)
    }

    /// The lowest hole of the epoch, which the next record fills.
    fn hole(&self, epoch: u64) -> Option<At> {
        self.rules.dynamic?;
        self.of_epoch(epoch).find_map(|(batch, draft)| Some((*batch, draft.hole()?)))
    }

    fn seat(&mut self, position: &Position, place: DraftPlace) -> At {
        if self.rules.dynamic.is_none() {
            return self.seat_fixed(position, place);
        }
        let epoch = position.epoch;
        if let Some(at) = self.hole(epoch) {
            self.draft(at.0).set(at.1, place);
            return at;
        }
        let batch = *self.open.get(&epoch).expect("the caller began a batch when needs_slot said so");
        let draft = self.draft(batch);
        let at = (batch, draft.append(place));
        if draft.is_full() {
            self.open.remove(&epoch);
        }
        at
    }

    /// What a bad record leaves behind in its place.
    fn left_behind(&self) -> Fill {
        match self.rules.on_error {
            OnError::Replace => Fill::Bad,
            OnError::Fail | OnError::Skip => Fill::Hole,
        }
    }

    /// Quarantines a record at once. If places never shift, it is quarantined with its batch instead. So if another
    /// daemon makes the batch again, it is the same batch.
    ///
    /// If the stream fails at this record, the failure is reported first. The ledger may end the epoch with this record,
    /// and trainers must hear of the failure before that end.
    fn report(&mut self, at: Option<At>, bad: BadRecord) {
        if let Some(why) = self.judge(&bad) {
            self.fail(why);
        }
        match at.filter(|_| self.rules.dynamic.is_none() && !self.failed) {
            Some(at) => self.draft(at.0).bad.push(bad),
            None => self.actions.push_back(Action::Nack(bad)),
        }
    }

    /// Why the stream fails at a bad record, if it does.
    fn judge(&mut self, bad: &BadRecord) -> Option<String> {
        let (turn, epoch, text) = (bad.position.turn(), bad.position.epoch, bad.to_string());
        if self.rules.on_error == OnError::Fail {
            return Some(format!(
                "{text}. The stream stops at a bad record because on_error is \"fail\"; \"skip\" or \"replace\" go on"
            ));
        }
        if let Some(whole) = self.whole(epoch) {
            self.bad_of = self.bad_of.split_off(&epoch.saturating_sub(2));
            let bad = self.bad_of.entry(epoch).or_default();
            bad.insert(turn);
            if bad.len() as u64 >= whole {
                let text = format!("{}.", text.trim_end_matches('.'));
                return Some(format!(
                    "Every record of epoch {epoch} is bad, {whole} in all; the last: {text} Mend the dataset, and begin a \
                     new run or load an earlier state"
                ));
            }
        }
        let limit = self.rules.max_failures?;
        self.bad.insert(turn.record());
        let count = self.bad.len();
        (count as u64 > limit)
            .then(|| format!("{count} bad records are more than max_failures ({limit}); the last: {text}"))
    }

    /// The number of records of an epoch, if they must not all be bad. Nothing for a shard or a rank: a part says too
    /// little about the dataset, and the other parts would wait for one that fails alone.
    fn whole(&self, epoch: u64) -> Option<u64> {
        let plan = self.plan.as_ref()?;
        let is_a_part = plan.part().is_some_and(|part| part.count() > 1);
        (!is_a_part).then(|| plan.epoch_records(epoch))
    }

    fn fail(&mut self, text: String) {
        if !std::mem::replace(&mut self.failed, true) {
            self.actions.push_back(Action::Fail(text));
            let bad = self.bad_of_drafts();
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
            let first = self.of_epoch(epoch).map(|(batch, _)| *batch).next();
            let Some(batch) = first else { break };
            let draft = &self.drafts[&batch];
            let complete = match self.rules.dynamic {
                Some(_) => draft.is_full() || self.ended.contains(&epoch),
                None => draft.is_ended(),
            };
            if draft.is_busy() || !complete || !self.mend(batch) {
                return;
            }
            let whole = self.drafts[&batch].is_full() && self.drafts[&batch].hole().is_none();
            if self.rules.dynamic.is_some() && !whole && !self.close_holes(epoch) {
                return;
            }
            if self.settling.contains(&epoch) && !self.drafts[&batch].is_full() {
                let draft = self.drafts.remove(&batch);
                self.actions.push_back(Action::Discard { batch });
                tail.extend(draft.iter().flat_map(Draft::owned));
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

    /// Publishes a settled batch, or drops it.
    fn finish(&mut self, batch: u64) {
        let Some(mut draft) = self.drafts.remove(&batch) else { return };
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
        self.actions.push_back(Action::Publish(draft.sheet(batch)));
    }
}
