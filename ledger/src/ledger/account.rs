//! What a ledger has counted of its epochs: the sums by epoch, and where they begin and end.
//!
//! In lockstep, it also keeps marks: the places where states of the run were taken. For each mark, it keeps the rank's
//! sums up to that place. The account can then continue or end at a mark, whatever was delivered after it (semantics rule
//! 40).

mod groups;
mod sums;
mod tallies;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::RecordSum;
use forebay_proto::v1::{AckItem, Cause, EpochPosition, EpochTally, StoredHead, StoredMark, UnsummedRange};

pub(super) use self::groups::{GroupReceipts, NAME_LEN, extend, has_name};
pub(super) use self::tallies::{EpochTallies, PositionOutcome, Tallies};
use super::documents::{DocumentWriter, Revision};
use super::steps::StepReceipt;

/// What the keys of epochs' sums begin with.
pub(super) const EPOCH: &str = "epoch/";
/// What the keys of marks begin with.
pub(super) const MARK: &str = "mark/";

/// Marks that are kept. Older ones are forgotten.
const MARKS: usize = 64;
/// Most positions without a receipt whose records the ledger adds up itself when it cuts an account or ends an epoch.
/// This takes a few milliseconds. If there are more, the audit adds them up.
const SUMMED_AT_ONCE: u64 = 1 << 16;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    tallies: EpochTallies,
    /// Receipts that were accepted.
    acks: u64,
    /// Where accounts begin that a restore in lockstep began in the middle of an epoch.
    begins: Vec<EpochPosition>,
    /// The places where states were taken, each with the sums of its epoch up to there. Earlier epochs are counted in
    /// full.
    marks: BTreeMap<(u64, u64), Tallies>,
    /// Where the account ends, if the run continued with another number of ranks.
    ends: Option<EpochPosition>,
    dirty: DirtyAccount,
    pub(super) revision: Revision,
}

/// Which documents changed since the last commit.
#[derive(Clone, Debug, Default)]
struct DirtyAccount {
    epochs: BTreeSet<u64>,
    marks: BTreeSet<(u64, u64)>,
}

impl Account {
    /// From the head of a stored ledger. Marks that are in it become documents with the next commit.
    pub(super) fn load(head: &StoredHead) -> Self {
        let mut account = Self { acks: head.acks, begins: head.begins.clone(), ends: head.ends, ..Self::default() };
        for mark in &head.marks {
            let place = account.load_mark(mark);
            account.dirty.marks.insert(place);
            account.revision.rise();
        }
        account
    }

    /// Takes in a mark that was stored.
    pub(super) fn load_mark(&mut self, stored: &StoredMark) -> (u64, u64) {
        let place = order(stored.at.unwrap_or_default());
        self.marks.insert(place, stored.below.as_ref().map(Tallies::from_message).unwrap_or_default());
        place
    }

    /// Takes in the sums of an epoch that were stored.
    pub(super) fn load_epoch(&mut self, tally: &EpochTally) {
        self.tallies.insert(tally.epoch, Tallies::from_message(tally));
    }

    pub(super) fn fill_head(&self, head: &mut StoredHead) {
        (head.acks, head.ends) = (self.acks, self.ends);
        head.begins.clone_from(&self.begins);
    }

    pub(super) fn write_changes(&mut self, documents: &mut DocumentWriter<'_>) {
        let dirty = std::mem::take(&mut self.dirty);
        self.write(&dirty, documents);
    }

    pub(super) fn write_all(&self, documents: &mut DocumentWriter<'_>) {
        let (epochs, marks) = (self.tallies.keys().copied().collect(), self.marks.keys().copied().collect());
        self.write(&DirtyAccount { epochs, marks }, documents);
    }

    fn write(&self, dirty: &DirtyAccount, documents: &mut DocumentWriter<'_>) {
        for &epoch in &dirty.epochs {
            let tally = self.tallies.get(epoch).map(|tallies| tallies.message(epoch));
            documents.put(&format!("{EPOCH}{epoch:016x}"), tally.as_ref());
        }
        for &(epoch, position) in &dirty.marks {
            let at = Some(EpochPosition { epoch, position });
            let below = self.marks.get(&(epoch, position));
            let mark = below.map(|below| StoredMark { at, below: Some(below.message(epoch)) });
            documents.put(&format!("{MARK}{epoch:016x}-{position:016x}"), mark.as_ref());
        }
    }

    /// The sums of an epoch, if something was counted of it.
    pub(super) fn get(&self, epoch: u64) -> Option<&Tallies> {
        self.tallies.get(epoch)
    }

    /// The sums of all epochs.
    pub(super) const fn tallies(&self) -> &EpochTallies {
        &self.tallies
    }

    /// Receipts that were accepted.
    pub(super) const fn acks(&self) -> u64 {
        self.acks
    }

    /// Where the accounts of epochs begin that do not begin with the epoch.
    pub(super) fn begins(&self) -> &[EpochPosition] {
        &self.begins
    }

    /// Where the account ends, if it does.
    pub(super) const fn ends(&self) -> Option<EpochPosition> {
        self.ends
    }

    /// The sums of an epoch, to be changed.
    pub(super) fn tally(&mut self, epoch: u64) -> &mut Tallies {
        self.dirty.epochs.insert(epoch);
        self.revision.rise();
        self.tallies.of(epoch)
    }

    /// Adds what was counted of the epochs from one on to the sums of several ledgers.
    pub(super) fn add_to(&self, from_epoch: u64, sums: &mut BTreeMap<u64, Tallies>) {
        for (&epoch, tallies) in self.tallies.range(from_epoch..) {
            sums.entry(epoch).or_default().add_all(tallies);
        }
    }

    /// Adds a count for these positions to their epoch, and to the marks after them. A mark that lies between them is
    /// removed, because the count cannot be split at it.
    pub(super) fn count(&mut self, epoch: u64, positions: &Range<u64>, count: impl Fn(&mut Tallies)) {
        count(self.tally(epoch));
        let gone: Vec<_> = self.marks.range(between(epoch, positions)).map(|(place, _)| *place).collect();
        for place in gone {
            self.marks.remove(&place);
            self.dirty.marks.insert(place);
        }
        for (place, below) in self.marks.range_mut((epoch, positions.end)..=(epoch, u64::MAX)) {
            count(below);
            self.dirty.marks.insert(*place);
        }
    }

    /// Counts a receipt of records.
    pub(super) fn count_receipt(&mut self, plan: &Plan, epoch: u64, positions: &Range<u64>, item: &AckItem) {
        self.count(epoch, positions, |tallies| {
            tallies.add(item);
            tallies.count(plan, epoch, positions, PositionOutcome::of_receipt(item.kind()));
        });
    }

    /// Counts a receipt of whole steps, without their bad records.
    pub(super) fn count_steps(
        &mut self,
        plan: &Plan,
        epoch: u64,
        positions: &Range<u64>,
        item: &AckItem,
        steps: &StepReceipt<'_>,
    ) {
        self.count(epoch, positions, |tallies| tallies.add_delivered(plan, epoch, item, steps));
    }

    /// Counts an accepted receipt, whatever it says.
    pub(super) const fn count_ack(&mut self) {
        self.acks = self.acks.saturating_add(1);
        self.revision.rise();
    }

    /// Counts positions that may have been seen before. Positions without a record do not count.
    pub(super) fn count_repeats(&mut self, plan: &Plan, epoch: u64, positions: &Range<u64>, cause: Cause) {
        for part in self.split_at_marks(epoch, positions) {
            let records = if cause == Cause::Unseen { 0 } else { plan.records_in(epoch, &part) };
            if records > 0 {
                self.count(epoch, &part, |tallies| {
                    tallies.repeats.add(cause, records);
                    tallies.count(plan, epoch, &part, PositionOutcome::Repeated);
                });
            }
        }
    }

    /// Counts positions as dropped. They are fewer than a batch of each part has.
    pub(super) fn count_dropped(&mut self, plan: &Plan, epoch: u64, positions: &Range<u64>) {
        self.count_by_plan(plan, epoch, positions, |tallies, part, sum| {
            tallies.dropped += sum;
            tallies.count(plan, epoch, part, PositionOutcome::Dropped);
        });
    }

    /// Counts positions of an epoch as abandoned. Returns how many records they have.
    pub(super) fn count_abandoned(&mut self, plan: &Plan, epoch: u64, positions: &[Range<u64>]) -> u64 {
        let count: u64 = positions.iter().map(|range| range.end - range.start).sum();
        let abandon = |range| {
            // While the ledger adds up records, it answers no call. So it leaves large numbers of them to the audit.
            if count > SUMMED_AT_ONCE {
                return self.count_unsummed(plan, epoch, range, PositionOutcome::Abandoned);
            }
            self.count_by_plan(plan, epoch, range, |tallies, part, sum| {
                tallies.abandoned += sum;
                tallies.count(plan, epoch, part, PositionOutcome::Abandoned);
            })
        };
        positions.iter().map(abandon).sum()
    }

    /// Reverts the count of positions that were counted as abandoned.
    pub(super) fn take_abandoned(&mut self, plan: &Plan, epoch: u64, positions: &Range<u64>) {
        self.count_by_plan(plan, epoch, positions, |tallies, part, sum| {
            tallies.take_abandoned(plan, epoch, part, sum);
        });
    }

    /// Counts positions whose records are in no receipt, part by part between the marks. The records come from the plan,
    /// and each of them is hashed. Returns how many records there are.
    fn count_by_plan(
        &mut self,
        plan: &Plan,
        epoch: u64,
        positions: &Range<u64>,
        count: impl Fn(&mut Tallies, &Range<u64>, RecordSum),
    ) -> u64 {
        let (order, mut records) = (plan.epoch(epoch), 0);
        for part in self.split_at_marks(epoch, positions) {
            let sum: RecordSum = part.clone().filter_map(|position| order.own(position)).collect();
            records += sum.count;
            if sum.count > 0 {
                self.count(epoch, &part, |tallies| count(tallies, &part, sum));
            }
        }
        records
    }

    /// Counts positions as abandoned, or as delivered by a state, without their sums. Returns how many records they have.
    fn count_unsummed(&mut self, plan: &Plan, epoch: u64, positions: &Range<u64>, outcome: PositionOutcome) -> u64 {
        let rank = plan.spec().lockstep.unwrap_or_default();
        let (abandoned, mut records) = (outcome == PositionOutcome::Abandoned, 0);
        for part in self.split_at_marks(epoch, positions) {
            let (Range { start, end }, count) = (plan.clip(epoch, &part), plan.records_in(epoch, &part));
            if count > 0 {
                let (rank, world_size) = (rank.rank, rank.world_size);
                let more = UnsummedRange { rank, world_size, start, end, abandoned };
                records += count;
                self.count(epoch, &part, |tallies| tallies.add_unsummed(more, count));
            }
        }
        records
    }

    /// Divides positions at the marks.
    fn split_at_marks(&self, epoch: u64, positions: &Range<u64>) -> Vec<Range<u64>> {
        let marks = self.marks.range(between(epoch, positions)).map(|((_, position), _)| *position);
        let ends: Vec<u64> = marks.chain([positions.end]).collect();
        let starts = [positions.start].into_iter().chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, &end)| start..end).collect()
    }

    /// Notes that a state of the run was taken at this place. `below` has the epoch's sums up to there.
    pub(super) fn mark(&mut self, at: EpochPosition, below: Tallies) {
        self.marks.insert(order(at), below);
        self.dirty.marks.insert(order(at));
        while self.marks.len() > MARKS {
            self.dirty.marks.extend(self.marks.pop_first().map(|(oldest, _)| oldest));
        }
    }

    /// Whether a state of the run was taken at this place, and the sums up to there are kept.
    pub(super) fn has_mark(&self, at: EpochPosition) -> bool {
        self.marks.contains_key(&order(at))
    }

    /// Forgets all that was counted. The account begins at this place.
    pub(super) fn begin_again(&mut self, at: EpochPosition) {
        self.dirty.marks.extend(std::mem::take(&mut self.marks).into_keys());
        self.forget_epochs();
        self.begins = if order(at) == (0, 0) { Vec::new() } else { vec![at] };
        self.revision.rise();
    }

    /// The account ends at this place.
    pub(super) const fn end(&mut self, at: EpochPosition) {
        self.ends = Some(at);
        self.revision.rise();
    }

    /// Forgets what was counted of all epochs.
    pub(super) fn forget_epochs(&mut self) {
        self.dirty.epochs.extend(std::mem::take(&mut self.tallies).into_keys());
        self.revision.rise();
    }

    /// Continues from a state: takes its sums, and forgets those of every epoch for which `is_stale` is true.
    pub(super) fn take_state(&mut self, plan: &Plan, tallies: &[EpochTally], is_stale: impl Fn(u64) -> bool) {
        let mut stale: Vec<u64> = self.tallies.keys().copied().collect();
        stale.retain(|&epoch| is_stale(epoch));
        for epoch in stale {
            self.tallies.remove(epoch);
            self.dirty.epochs.insert(epoch);
        }
        for tally in tallies {
            // States of ranks have no tallies.
            let is_own = |range: &UnsummedRange| {
                let positions = range.start..range.end;
                let fits = !positions.is_empty() && plan.clip(tally.epoch, &positions) == positions;
                range.abandoned && range.world_size == 0 && fits
            };
            let unsummed = tally.unsummed.iter().copied().filter(is_own).collect();
            *self.tally(tally.epoch) = Tallies::from_message(&EpochTally { unsummed, ..tally.clone() });
        }
        self.revision.rise();
    }

    /// Continues the number of accepted receipts from that of a state.
    pub(super) const fn set_acks(&mut self, acks: u64) {
        self.acks = acks;
        self.revision.rise();
    }

    /// Forgets the marks after this place and the sums of later epochs. If something was counted after the place, the
    /// sums of its own epoch return to those of the mark there. Without a mark, the epoch loses its sums up to there:
    /// then this range is returned.
    pub(super) fn cut(&mut self, at: EpochPosition, has_counted_behind: bool) -> Option<Range<u64>> {
        self.revision.rise();
        let behind = self.marks.split_off(&(at.epoch, at.position.saturating_add(1)));
        self.dirty.marks.extend(behind.into_keys());
        if !has_counted_behind {
            // Nothing was delivered of later epochs that were leased ahead. But positions that the plan leaves out may be
            // counted there.
            self.dirty.epochs.extend(self.tallies.split_off(at.epoch.saturating_add(1)).into_keys());
            return None;
        }
        let begins = self.epoch_begins(at.epoch);
        let mark = self.marks.get(&order(at)).cloned();
        // Without a mark, the epoch's sums cannot be split at this place.
        let unsummed = mark.is_none().then_some(begins..at.position);
        self.dirty.epochs.extend(self.tallies.split_off(at.epoch).into_keys());
        if begins < at.position {
            *self.tally(at.epoch) = mark.unwrap_or_default();
        }
        unsummed
    }

    /// Counts positions that have no receipt as delivered by a state.
    pub(super) fn count_by_state(&mut self, plan: &Plan, open: Vec<(u64, Range<u64>)>) {
        let mut room = SUMMED_AT_ONCE;
        for (epoch, positions) in open {
            let Some(left) = room.checked_sub(positions.end - positions.start) else {
                self.count_unsummed(plan, epoch, &positions, PositionOutcome::Delivered);
                continue;
            };
            room = left;
            self.count_by_plan(plan, epoch, &positions, |tallies, part, sum| {
                tallies.by_state += sum;
                tallies.count(plan, epoch, part, PositionOutcome::Delivered);
            });
        }
    }

    /// Where the account begins that contains the newest epoch.
    pub(super) fn newest_begins(&self) -> EpochPosition {
        self.begins.last().copied().unwrap_or_default()
    }

    /// Where the account of an epoch begins.
    fn epoch_begins(&self, epoch: u64) -> u64 {
        self.begins.iter().find(|begin| begin.epoch == epoch).map_or(0, |begin| begin.position)
    }
}

/// Places in the order in which they come.
pub(super) const fn order(place: EpochPosition) -> (u64, u64) {
    (place.epoch, place.position)
}

/// The places of marks that divide these positions.
fn between(epoch: u64, positions: &Range<u64>) -> Range<(u64, u64)> {
    let first = positions.start.saturating_add(1);
    (epoch, first)..(epoch, positions.end.max(first))
}
