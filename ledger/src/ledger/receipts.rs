//! What workers say about their leases: delivered, dropped, bad, given back, abandoned.

use std::collections::HashMap;
use std::ops::Range;

use forebay_proto::v1::{
    self, AckItem, AckReply, AckRequest, BadRecord, Cause, NackReply, ReturnReply, ReturnedRange, Verdict,
    ack_item::Kind,
};

use super::returned::{TakenPositions, positions, take_out};
use super::{Grant, Ledger, ReturnedPositions, groups::GroupReceipts, tallies::PositionFate};

/// What a request says beside its receipts.
struct BesideReceipts<'a> {
    /// They are of a dead incarnation's consumers.
    hand_in: bool,
    /// What is wrong with records.
    bad: HashMap<u64, &'a BadRecord>,
    groups: GroupReceipts<'a>,
}

impl Ledger {
    /// Counts receipts. Each is accepted once, and only while its positions are nobody else's.
    pub fn ack(&mut self, worker: &str, request: &AckRequest) -> AckReply {
        let beside = BesideReceipts {
            hand_in: request.hand_in,
            // Of two entries for a record, the first counts.
            bad: request.bad.iter().rev().map(|bad| (bad.record, bad)).collect(),
            groups: GroupReceipts::of(&request.groups),
        };
        self.note_groups(&request.began, &request.ended);
        request.shares.iter().for_each(|share| self.share(worker, share));
        let verdicts = request.items.iter().map(|item| self.ack_item(worker, item, &beside).into()).collect();
        let missed = self.missed(&request.missing);
        AckReply { verdicts, progress: Some(self.progress()), missed }
    }

    fn ack_item(&mut self, worker: &str, item: &AckItem, beside: &BesideReceipts<'_>) -> Verdict {
        match item.kind() {
            Kind::Finished => return self.finished(worker, item.lease, &item.range.unwrap_or_default()),
            Kind::Seen => return self.seen(worker, item.lease, &item.range.unwrap_or_default()),
            Kind::Delivered | Kind::Dropped | Kind::Bare | Kind::Unspecified => {}
        }
        let Some(range) = receipt_range(item) else { return Verdict::Invalid };
        if item.kind() != Kind::Bare && !self.has_records(worker, item.lease, &range) {
            return Verdict::Invalid;
        }
        let taken = if beside.hand_in {
            self.take_kept(worker, item.lease, &range)
        } else {
            self.take(worker, item.lease, &range)
        };
        let taken = match taken {
            Err(Verdict::Lost) => self.take_abandoned(worker, item.lease, &range),
            taken => taken,
        };
        let of_groups = beside.groups.about(item.lease, item.range);
        match taken {
            Ok(TakenPositions { grant, .. }) => {
                if item.kind() == Kind::Bare {
                    self.account_bare(worker, &grant, &beside.bad);
                } else {
                    self.account(grant.epoch, &grant.range, |tallies, plan| {
                        tallies.add(item);
                        tallies.count(plan, grant.epoch, &grant.range, PositionFate::of_receipt(item.kind()));
                    });
                    for receipt in of_groups {
                        self.tally_of_groups(grant.epoch).count_for_group(receipt, item);
                    }
                }
                self.end_share(grant.epoch, item, of_groups);
                for receipt in of_groups.iter().filter(|_| beside.hand_in) {
                    self.owe_to_others(grant.epoch, receipt);
                }
                self.acks = self.acks.saturating_add(1);
                self.touch();
                Verdict::Accepted
            }
            Err(verdict) => {
                let settled = of_groups.iter().filter(|receipt| self.settle_owed(receipt)).count();
                if settled > 0 { Verdict::Accepted } else { verdict }
            }
        }
    }

    /// Quarantines the bad records of a batch that was delivered without them. Positions without a record only end.
    fn account_bare(&mut self, worker: &str, grant: &Grant, known: &HashMap<u64, &BadRecord>) {
        let order = self.plan.epoch(grant.epoch);
        for (position, turn) in grant.range.clone().filter_map(|position| Some((position, order.own(position)?))) {
            let record = turn.record();
            // A daemon that found out why a record is bad, and died before it said so, leaves no better words.
            let unknown = || {
                let reason = "its batch was delivered without it".to_owned();
                BadRecord { record, reason, ..BadRecord::default() }
            };
            let bad = known.get(&record).map_or_else(unknown, |bad| (*bad).clone());
            self.put_in_quarantine(grant.epoch, position, turn, &bad.file, &bad.reason);
            self.judge(worker, grant.epoch, &bad);
        }
    }

    /// Each position of the range has a record, as far as the lease is known.
    pub(super) fn has_records(&self, worker: &str, lease: u64, range: &v1::Range) -> bool {
        self.locate(worker, lease).is_none_or(|(epoch, start)| {
            start.checked_add(range.end).is_some_and(|end| end <= self.plan.epoch_records(epoch))
        })
    }

    /// No later death is blamed on what is in a finished batch (rule 9).
    fn finished(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Verdict {
        let holder = self.workers.get_mut(worker);
        let Some(held) = holder.and_then(|worker| worker.leases.get_mut(&lease)) else { return Verdict::Lost };
        let Some(positions) = positions(held.lease.start, range) else { return Verdict::Invalid };
        if held.note_made(&positions) {
            self.touch();
        }
        Verdict::Accepted
    }

    /// A trainer that ended had these, and its daemon delivers them again: they are counted now, so that it is known
    /// in every snapshot and after every death that comes before their receipt.
    fn seen(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Verdict {
        let Some((epoch, start)) = self.locate(worker, lease) else { return Verdict::Lost };
        let Some(positions) = positions(start, range) else { return Verdict::Invalid };
        let held = self.workers.get(worker).and_then(|worker| worker.leases.get(&lease));
        let out = held.into_iter().flat_map(|held| held.open.iter());
        let ours = self.returned.iter().filter(|back| back.lease == lease && back.worker == worker);
        let open = out.chain(ours.map(|back| back.start..back.end));
        let there: u64 = open.map(|span| overlap(&span, &positions)).sum();
        if there != positions.end - positions.start {
            return if held.is_some() { Verdict::Invalid } else { Verdict::Lost };
        }
        self.count_repeats(epoch, &positions, Cause::TrainerEnded);
        self.touch();
        Verdict::Accepted
    }

    /// Counts positions that may have been seen before. One without a record is none.
    pub(super) fn count_repeats(&mut self, epoch: u64, positions: &Range<u64>, cause: Cause) {
        for part in self.split_at_marks(epoch, positions) {
            let records = overlap(&part, &(0..self.plan.epoch_records(epoch)));
            if cause != Cause::Unseen && records > 0 {
                self.account(epoch, &part, |tallies, plan| {
                    tallies.repeats.add(cause, records);
                    tallies.count(plan, epoch, &part, PositionFate::Repeated);
                });
            }
        }
    }

    /// Quarantines bad records.
    pub fn nack(&mut self, worker: &str, records: &[BadRecord]) -> NackReply {
        let verdicts = records.iter().map(|bad| self.nack_record(worker, bad).into()).collect();
        NackReply { verdicts, progress: Some(self.progress()) }
    }

    fn nack_record(&mut self, worker: &str, bad: &BadRecord) -> Verdict {
        let Some((epoch, start)) = self.locate(worker, bad.lease) else { return Verdict::Lost };
        let place = start.checked_add(bad.position);
        let turn = place.and_then(|place| Some((place, self.plan.epoch(epoch).own(place)?)));
        let found = turn.filter(|(_, turn)| turn.record() == bad.record);
        let Some((place, turn)) = found else { return Verdict::Invalid };
        let range = v1::Range { start: bad.position, end: bad.position.saturating_add(1) };
        match self.take(worker, bad.lease, &range) {
            Ok(taken) => {
                self.put_in_quarantine(taken.grant.epoch, place, turn, &bad.file, &bad.reason);
                self.judge(worker, taken.grant.epoch, bad);
                Verdict::Accepted
            }
            Err(verdict) => verdict,
        }
    }

    /// Gives positions back, to be leased again before all others. What consumers of a dead incarnation were waited
    /// for is waited for no more.
    pub fn give_back(&mut self, worker: &str, items: &[ReturnedRange], now: u64) -> ReturnReply {
        let verdicts = items
            .iter()
            .map(|item| {
                if self.deliver_given_back(worker, item.lease, item.range) {
                    return Verdict::Accepted.into();
                }
                match self.take(worker, item.lease, &item.range.unwrap_or_default()) {
                    Ok(taken) => {
                        self.put_back(worker, item.lease, taken, item.cause(), now);
                        Verdict::Accepted.into()
                    }
                    Err(verdict) => verdict.into(),
                }
            })
            .collect();
        ReturnReply { verdicts, progress: Some(self.progress()) }
    }

    fn put_back(&mut self, worker: &str, lease: u64, taken: TakenPositions, cause: Cause, now: u64) {
        let TakenPositions { grant, lease_start, returned } = taken;
        let Grant { epoch, range, .. } = grant;
        // What a trainer had in its hands is no poison.
        let deaths = if cause == Cause::Unseen { grant.deaths } else { 0 };
        let kept_for_consumers = cause == Cause::DaemonStopped;
        let mut back = ReturnedPositions {
            epoch,
            start: range.start,
            end: range.end,
            deaths,
            lease,
            lease_start,
            worker: worker.to_owned(),
            cause: if cause == Cause::Unseen { grant.cause } else { cause },
            kept_for_consumers,
            not_before: if kept_for_consumers { now.saturating_add(self.times.grace) } else { 0 },
        };
        if !returned {
            // A lease comes back in as few ranges as it may, however many batches gave it back.
            let (cause, kept) = (back.cause, back.kept_for_consumers);
            let touches = |other: &ReturnedPositions| {
                other.epoch == epoch
                    && other.lease == lease
                    && (other.cause, other.kept_for_consumers, other.deaths) == (cause, kept, deaths)
                    && (other.end == range.start || other.start == range.end)
            };
            for other in self.returned.extract_if(.., |other| touches(other)) {
                back.start = back.start.min(other.start);
                back.end = back.end.max(other.end);
            }
        }
        self.insert_returned(back);
    }

    /// Takes positions of a lease out of it, or out of the returned ones where the lease has ended without anybody
    /// else having got them.
    pub(super) fn take(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Result<TakenPositions, Verdict> {
        let Some(holder) = self.workers.get_mut(worker) else { return Err(Verdict::Lost) };
        let Some(held) = holder.leases.get_mut(&lease) else { return self.take_returned(worker, lease, range) };
        let inner = held.lease;
        let positions = positions(inner.start, range).ok_or(Verdict::Invalid)?;
        if !held.open.remove(&positions) {
            // A part that was given back is still this lease's to acknowledge.
            return self.take_returned(worker, lease, range).map_err(|_| Verdict::Invalid);
        }
        let deaths = held.take_deaths(&positions);
        let grant = Grant { epoch: inner.epoch, range: positions, deaths, cause: Cause::Unseen };
        if held.open.is_empty() {
            holder.leases.remove(&lease);
            self.note(worker);
        } else {
            self.index.take_positions(worker, grant.range.end - grant.range.start);
        }
        self.touch();
        Ok(TakenPositions { grant, lease_start: inner.start, returned: false })
    }

    /// Takes positions that are kept for consumers of a dead incarnation: a lease that is out is not theirs to end,
    /// nor what a living consumer gave back.
    pub(super) fn take_kept(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Result<TakenPositions, Verdict> {
        self.take_back(worker, lease, range, |back| back.kept_for_consumers)
    }

    fn take_returned(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Result<TakenPositions, Verdict> {
        self.take_back(worker, lease, range, |_| true)
    }

    /// Takes positions out of the returned ones, by the lease that they were in last.
    fn take_back(
        &mut self,
        worker: &str,
        lease: u64,
        range: &v1::Range,
        which: impl Fn(&ReturnedPositions) -> bool,
    ) -> Result<TakenPositions, Verdict> {
        let ours = |back: &ReturnedPositions| back.was_of(worker, lease) && which(back);
        let taken = take_out(&mut self.returned, ours, range)?;
        self.touch();
        Ok(taken)
    }

    /// Takes positions back that were abandoned while their receipt was under way, because another rank ended the epoch.
    fn take_abandoned(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Result<TakenPositions, Verdict> {
        let taken = take_out(&mut self.abandoned.0, |back| back.was_of(worker, lease), range)?;
        let Grant { epoch, range, .. } = &taken.grant;
        self.account_by_plan(*epoch, range, |tallies, plan, part, sum| {
            tallies.take_abandoned(plan, *epoch, part, sum);
        });
        self.touch();
        Ok(taken)
    }

    /// Epoch and first position of a lease, whether it is out, returned or abandoned.
    pub(super) fn locate(&self, worker: &str, lease: u64) -> Option<(u64, u64)> {
        let held = self.workers.get(worker).and_then(|worker| worker.leases.get(&lease));
        let back = || self.returned.iter().chain(&self.abandoned.0).find(|back| back.was_of(worker, lease));
        held.map(|held| (held.lease.epoch, held.lease.start))
            .or_else(|| back().map(|back| (back.epoch, back.lease_start)))
    }
}

/// The range of a receipt that agrees with itself.
pub(super) fn receipt_range(item: &AckItem) -> Option<v1::Range> {
    let range = item.range?;
    let len = range.end.checked_sub(range.start)?;
    let records = match item.kind() {
        Kind::Delivered | Kind::Dropped => len,
        Kind::Bare if (item.sum_high, item.sum_low) == (0, 0) => 0,
        Kind::Bare | Kind::Finished | Kind::Seen | Kind::Unspecified => return None,
    };
    (len > 0 && records == item.count).then_some(range)
}

/// How many positions are in both.
pub(super) fn overlap(one: &Range<u64>, other: &Range<u64>) -> u64 {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}
