//! Which record stands in which place of which batch, and what becomes of bad ones: a state machine without slots,
//! threads or pixels. It answers with [`Action`]s, in the order in which they are to be done.
//!
//! Batches of an epoch are published in the order of their numbers. A batch waits until every place of it is settled:
//!
//! * `skip`, dynamic: the place of a bad record is a hole, the next record of the order fills it; at the epoch's end
//!   the last pictures move into the holes that are left, so that only the last batch is short.
//! * `skip`, static: places never shift; the place repeats a good picture, its record is -1.
//! * `replace`: the place repeats a good record of the same lease.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use forebay_coordinator::Policy;

use crate::batch::draft::{Draft, Fill, Place};
use crate::batch::sheet::Sheet;
use crate::config::stream::OnError;
use crate::record::{BadRecord, Position};

/// Number of a batch and a place in it.
pub type At = (u64, u32);

/// What the batches of a stream follow.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Places of a batch.
    pub batch_size: u32,
    /// What a bad record does.
    pub on_error: OnError,
    /// The stream fails at one more bad record than this.
    pub max_failures: Option<u64>,
    /// Dynamic assignment, with its policy for the last batch; static gives its tail with [`Batcher::end`].
    pub dynamic: Option<Policy>,
}

/// One batch at the end of a static epoch: the rest of the epoch's own records, then these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Records that follow the own ones; copies, not acked.
    pub copies: Vec<u64>,
    /// How many places the user sees.
    pub shown: u32,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read this record and decode it into the place; the outcome comes with [`Batcher::outcome`].
    Fetch { at: At, epoch: u64, record: u64 },
    /// The same with the record at this index of the epoch's order.
    Probe { at: At, epoch: u64, index: u64 },
    /// Copy a picture; both batches have no place in decoding.
    Copy { from: At, to: At },
    /// No picture is left to repeat: the place is black.
    Clear { at: At },
    /// Hand the batch on.
    Publish(Sheet),
    /// Give the batch's slot back, nothing is in it.
    Discard { batch: u64 },
    /// Ack these as dropped.
    Dropped(Vec<Position>),
    /// Quarantine this record.
    Nack(BadRecord),
    /// The stream has failed.
    Fail(String),
}

/// The state.
#[derive(Debug)]
pub struct Batcher {
    rules: Rules,
    next: u64,
    drafts: BTreeMap<u64, Draft>,
    /// Batch that takes the next records, by epoch.
    open: HashMap<u64, u64>,
    /// Dynamic epochs whose records have all been placed.
    ended: BTreeSet<u64>,
    /// Static batches that are still to be made, with their epoch.
    tails: VecDeque<(u64, Tail)>,
    /// Last good record of a lease among the published batches, for `replace`.
    last_good: HashMap<u64, u64>,
    bad: u64,
    failed: bool,
    actions: VecDeque<Action>,
}

impl Batcher {
    /// No batch yet.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            next: 0,
            drafts: BTreeMap::new(),
            open: HashMap::new(),
            ended: BTreeSet::new(),
            tails: VecDeque::new(),
            last_good: HashMap::new(),
            bad: 0,
            failed: false,
            actions: VecDeque::new(),
        }
    }

    /// Continues the numbers of an earlier batcher of the same stream.
    #[must_use]
    pub fn numbered_from(mut self, next: u64) -> Self {
        self.next = next;
        self
    }

    /// Number of the next batch.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// The next thing to be done.
    pub fn action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether a record of this epoch needs a new batch, and so a slot.
    pub fn needs_slot(&self, epoch: u64) -> bool {
        self.hole(epoch).is_none() && !self.open.contains_key(&epoch)
    }

    /// Whether a batch at a static epoch's end waits for a slot.
    pub fn tail_needs_slot(&self) -> Option<u64> {
        self.tails.front().map(|(epoch, _)| *epoch)
    }

    /// Opens a batch, for which the caller has a slot. Gives its number.
    pub fn begin(&mut self, epoch: u64) -> u64 {
        let batch = self.next;
        self.next += 1;
        self.drafts.insert(batch, Draft::new(epoch, self.rules.batch_size));
        if let Some((tail_epoch, _)) = self.tails.front()
            && *tail_epoch == epoch
        {
            self.begin_tail(batch);
        } else {
            self.open.insert(epoch, batch);
        }
        batch
    }

    /// Gives a record that was read its place, where it is to be decoded. A batch with room must be there.
    pub fn place(&mut self, position: Position, label: i64) -> At {
        self.ended.remove(&position.epoch);
        let at = self.hole(position.epoch).unwrap_or_else(|| self.append(position.epoch));
        let place = Place { own: Some(position), record: position.record, label, fill: Fill::Decoding };
        self.draft(at.0).set(at.1, place);
        at
    }

    /// Notes a record that could not be read. Answers whether it has a place, which it has where places never shift:
    /// then a batch with room must be there.
    pub fn unreadable(&mut self, bad: BadRecord, label: i64) {
        let position = bad.position;
        self.ended.remove(&position.epoch);
        if self.report(bad) && self.keeps_places() {
            let at = self.append(position.epoch);
            let fill = bad_place(self.rules.on_error, position);
            let place = Place { own: None, record: position.record, label, fill };
            self.draft(at.0).set(at.1, place);
            self.settle(position.epoch);
        }
    }

    /// Whether a bad record keeps its place.
    pub fn keeps_places(&self) -> bool {
        self.rules.dynamic.is_none() || self.rules.on_error == OnError::Replace
    }

    /// Notes what decoding gave. `label` is the record's, for copies.
    pub fn outcome(&mut self, at: At, outcome: Result<(), (String, String)>) {
        let Some(draft) = self.drafts.get_mut(&at.0) else { return };
        let epoch = draft.epoch();
        let place = draft.place_mut(at.1);
        match (place.own, outcome) {
            (_, Ok(())) => place.fill = Fill::Good,
            (Some(position), Err((file, reason))) => {
                place.own = None;
                place.fill = bad_place(self.rules.on_error, position);
                self.report(BadRecord { position, file, reason });
            }
            (None, Err(_)) => place.copy_failed(),
        }
        self.settle(epoch);
    }

    /// Names what a fetched copy is of, before it is decoded.
    pub fn copying(&mut self, at: At, record: u64, label: i64) {
        if let Some(draft) = self.drafts.get_mut(&at.0) {
            let place = draft.place_mut(at.1);
            place.record = record;
            place.label = label;
        }
    }

    /// Record that stands in a place, for messages.
    pub fn record(&self, at: At) -> Option<u64> {
        self.drafts.get(&at.0).map(|draft| draft.place(at.1).record)
    }

    /// Epoch of a batch in the making.
    pub fn epoch(&self, batch: u64) -> Option<u64> {
        self.drafts.get(&batch).map(Draft::epoch)
    }

    /// Every record of the epoch that is to be had was placed. Static: with the batches of its end.
    pub fn end(&mut self, epoch: u64, tails: Vec<Tail>) {
        if self.rules.dynamic.is_some() {
            self.ended.insert(epoch);
        } else {
            self.tails.extend(tails.into_iter().map(|tail| (epoch, tail)));
            if let Some(batch) = self.open.remove(&epoch) {
                self.begin_tail(batch);
            }
        }
        self.settle(epoch);
    }

    /// Acks a static epoch's position that no batch has room for.
    pub fn drop_position(&mut self, position: Position) {
        self.actions.push_back(Action::Dropped(vec![position]));
    }

    /// Whether the epoch has no batch in the making.
    pub fn is_idle(&self, epoch: u64) -> bool {
        self.drafts.values().all(|draft| draft.epoch() != epoch) && self.tails.iter().all(|(tail, _)| *tail != epoch)
    }

    /// Positions of all batches that are not published, given up with them.
    pub fn close(&mut self) -> Vec<Position> {
        self.open.clear();
        self.tails.clear();
        std::mem::take(&mut self.drafts).values().flat_map(Draft::owned).collect()
    }

    /// Bad records so far.
    pub fn bad(&self) -> u64 {
        self.bad
    }

    /// Forgets what completed epochs left behind.
    pub fn completed(&mut self, live: impl Fn(u64) -> bool) {
        self.last_good.retain(|lease, _| live(*lease));
    }

    fn draft(&mut self, batch: u64) -> &mut Draft {
        self.drafts.get_mut(&batch).expect("a batch that was begun and not yet published")
    }

    /// The lowest hole of the epoch that the next record fills.
    fn hole(&self, epoch: u64) -> Option<At> {
        if self.rules.dynamic.is_none() {
            return None;
        }
        self.drafts
            .iter()
            .filter(|(_, draft)| draft.epoch() == epoch)
            .find_map(|(batch, draft)| draft.hole().map(|place| (*batch, place)))
    }

    fn append(&mut self, epoch: u64) -> At {
        let batch = *self.open.get(&epoch).expect("the caller began a batch when needs_slot said so");
        let place = self.draft(batch).append();
        if place + 1 == self.rules.batch_size {
            self.open.remove(&epoch);
        }
        (batch, place)
    }

    /// Quarantines a record. False when that ends the stream.
    fn report(&mut self, bad: BadRecord) -> bool {
        self.bad += 1;
        let text = bad.to_string();
        if self.rules.on_error == OnError::Fail {
            self.fail(format!(
                "{text}. The stream stops at a bad record because on_error is \"fail\"; \"skip\" or \"replace\" go on"
            ));
            return false;
        }
        self.actions.push_back(Action::Nack(bad));
        if let Some(limit) = self.rules.max_failures.filter(|limit| self.bad > *limit) {
            self.fail(format!("{} bad records are more than max_failures ({limit}); the last: {text}", self.bad));
            return false;
        }
        true
    }

    fn fail(&mut self, text: String) {
        if !std::mem::replace(&mut self.failed, true) {
            self.actions.push_back(Action::Fail(text));
        }
    }

    fn begin_tail(&mut self, batch: u64) {
        if let Some((_, tail)) = self.tails.pop_front() {
            let draft = self.draft(batch);
            for &record in &tail.copies {
                let place = draft.append();
                draft.set(place, Place { own: None, record, label: -1, fill: Fill::Copy { asked: false } });
            }
            draft.end(tail.shown);
            let epoch = draft.epoch();
            self.settle(epoch);
        }
    }

    /// Publishes what may be published of an epoch.
    fn settle(&mut self, epoch: u64) {
        if self.failed {
            return;
        }
        while let Some((&batch, draft)) = self.drafts.iter().find(|(_, draft)| draft.epoch() == epoch) {
            if draft.decoding() || !(draft.is_full() || draft.is_ended() || self.ended.contains(&epoch)) {
                break;
            }
            if !self.repair(batch) {
                break;
            }
            if self.rules.dynamic.is_some() && !self.whole(batch) && !self.close_holes(batch, epoch) {
                break;
            }
            self.finish(batch);
        }
    }

    /// Finds pictures for the places that repeat one. False while one is to be fetched.
    fn repair(&mut self, batch: u64) -> bool {
        let replace = self.rules.on_error == OnError::Replace;
        let fixed = self.rules.dynamic.is_none();
        let Some(draft) = self.drafts.get_mut(&batch) else { return false };
        let epoch = draft.epoch();
        for place in 0..draft.len() {
            let fill = draft.place(place).fill;
            match fill {
                Fill::Bad { position, probe } if replace => {
                    let donor = draft.donor_in_lease(place, position.lease);
                    if let Some(donor) = donor.filter(|donor| *donor < place) {
                        self.actions.push_back(Action::Copy { from: (batch, donor), to: (batch, place) });
                        draft.repeat(donor, place);
                    } else if let Some(record) = self.last_good.get(&position.lease).filter(|_| probe.is_none()) {
                        draft.place_mut(place).fill = Fill::Probing { position, probe: position.offset + 1 };
                        self.actions.push_back(Action::Fetch { at: (batch, place), epoch, record: *record });
                        return false;
                    } else if let Some(donor) = donor {
                        self.actions.push_back(Action::Copy { from: (batch, donor), to: (batch, place) });
                        draft.repeat(donor, place);
                    } else {
                        let offset = probe.unwrap_or(position.offset + 1);
                        if offset >= position.lease_len {
                            draft.place_mut(place).fill = Fill::Hole;
                            continue;
                        }
                        draft.place_mut(place).fill = Fill::Probing { position, probe: offset + 1 };
                        let index = position.index - position.offset + offset;
                        self.actions.push_back(Action::Probe { at: (batch, place), epoch, index });
                        return false;
                    }
                }
                Fill::Copy { asked } => {
                    if let Some(donor) = draft.donor_of(draft.place(place).record) {
                        self.actions.push_back(Action::Copy { from: (batch, donor), to: (batch, place) });
                        draft.repeat(donor, place);
                    } else if asked {
                        draft.place_mut(place).fill = Fill::Hole;
                    } else {
                        let record = draft.place(place).record;
                        draft.place_mut(place).fill = Fill::Fetching;
                        self.actions.push_back(Action::Fetch { at: (batch, place), epoch, record });
                        return false;
                    }
                }
                _ => {}
            }
        }
        if fixed {
            for place in 0..draft.len() {
                if draft.place(place).fill == Fill::Hole {
                    match draft.nearest_good(place) {
                        Some(donor) => {
                            self.actions.push_back(Action::Copy { from: (batch, donor), to: (batch, place) });
                            draft.repeat(donor, place);
                        }
                        None => self.actions.push_back(Action::Clear { at: (batch, place) }),
                    }
                    draft.place_mut(place).anonymous();
                }
            }
        }
        true
    }

    fn whole(&self, batch: u64) -> bool {
        self.drafts.get(&batch).is_some_and(|draft| draft.is_full() && draft.hole().is_none())
    }

    /// Moves the last pictures of an ended epoch into its holes. False while records or outcomes are still to come.
    fn close_holes(&mut self, batch: u64, epoch: u64) -> bool {
        if !self.ended.contains(&epoch) || self.drafts.values().any(|draft| draft.epoch() == epoch && draft.decoding())
        {
            return false;
        }
        let later: Vec<u64> = self
            .drafts
            .range(batch + 1..)
            .filter(|(_, draft)| draft.epoch() == epoch)
            .map(|(batch, _)| *batch)
            .collect();
        for other in &later {
            if !self.repair(*other) {
                return false;
            }
        }
        let mut all = later;
        all.insert(0, batch);
        self.compact(&all);
        self.open.remove(&epoch);
        true
    }

    fn compact(&mut self, batches: &[u64]) {
        let mut from = batches.len();
        loop {
            // The last batch with a picture gives, the first with a hole before it takes.
            while from > 0 && self.draft(batches[from - 1]).trim() == 0 {
                from -= 1;
            }
            let Some(giver) = from.checked_sub(1).map(|last| batches[last]) else { break };
            let taker = batches[..from].iter().find_map(|batch| {
                let draft = &self.drafts[batch];
                draft.hole().or_else(|| draft.room().filter(|_| *batch != giver)).map(|place| (*batch, place))
            });
            let Some(to) = taker else { break };
            let last = self.draft(giver).len() - 1;
            let moved = self.draft(giver).take_last();
            self.actions.push_back(Action::Copy { from: (giver, last), to });
            self.draft(to.0).put(to.1, moved);
        }
        for batch in batches {
            if self.draft(*batch).trim() == 0 {
                self.drafts.remove(batch);
                self.actions.push_back(Action::Discard { batch: *batch });
            }
        }
    }

    /// Publishes a settled batch, or drops it.
    fn finish(&mut self, batch: u64) {
        let Some(mut draft) = self.drafts.remove(&batch) else { return };
        self.open.retain(|_, open| *open != batch);
        let own: Vec<Position> = draft.owned().collect();
        let short = draft.len() < self.rules.batch_size;
        if short && self.rules.dynamic == Some(Policy::Drop) {
            self.actions.push_back(Action::Dropped(own));
            self.actions.push_back(Action::Discard { batch });
            return;
        }
        if short && self.rules.dynamic == Some(Policy::Fill) {
            let last = draft.len() - 1;
            while draft.len() < self.rules.batch_size {
                let place = draft.append();
                self.actions.push_back(Action::Copy { from: (batch, last), to: (batch, place) });
                draft.repeat(last, place);
            }
        }
        if self.rules.on_error == OnError::Replace {
            for position in own {
                self.last_good.insert(position.lease, position.record);
            }
        }
        self.actions.push_back(Action::Publish(Sheet::of(batch, &draft)));
    }
}

/// What a bad record leaves behind in its place.
fn bad_place(on_error: OnError, position: Position) -> Fill {
    match on_error {
        OnError::Replace => Fill::Bad { position, probe: None },
        OnError::Fail | OnError::Skip => Fill::Hole,
    }
}
