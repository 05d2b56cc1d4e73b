//! What workers report about their leases: positions that were delivered, dropped, bad, given back or abandoned. If a lease
//! ends with batches that only some groups have consumed, this module settles them too.

use std::collections::{BTreeSet, HashMap};

use forebay_proto::v1::{
    self, AckItem, AckReply, AckRequest, BadRecord, Cause, GroupShare, Lease, NackReply, ReturnReply, ReturnedRange,
    StoredShare, Verdict, ack_item::Kind, policies::OnError,
};
use forebay_proto::{RecordSum, Turn};

use super::Ledger;
use super::account::{GroupReceipts, PositionOutcome, has_name};
use super::leases::{Grant, LeaseOut, TakenPositions, positions, receipt_range};
use super::quarantine::cut;
use super::shares::is_consumed;
use super::steps::{NamedPlaces, StepReceipt, without_a_reason};

/// A receipt that contradicts itself or the plan.
struct WrongReceipt;

/// What a request says beside its receipts.
struct BesideReceipts<'a> {
    /// The receipts come from consumers of a dead incarnation.
    resumed: bool,
    /// What is wrong with records.
    bad: HashMap<u64, &'a BadRecord>,
    /// The same by their places, where steps have classes.
    named: NamedPlaces<'a>,
    groups: GroupReceipts<'a>,
}

impl Ledger {
    /// Counts receipts. Each is accepted once, and only while no other worker has its positions.
    pub fn ack(&mut self, worker: &str, request: &AckRequest) -> AckReply {
        let has_classes = self.plan().classes().is_some();
        let beside = BesideReceipts {
            resumed: request.resumed,
            // Of two entries for a record, the first counts.
            bad: request.bad.iter().rev().map(|bad| (bad.record, bad)).collect(),
            named: if has_classes { NamedPlaces::of(&request.bad, &request.bare) } else { NamedPlaces::default() },
            groups: GroupReceipts::of(&request.groups),
        };
        self.shares.note_groups(&mut self.account, &request.began, &request.ended);
        request.shares.iter().for_each(|share| self.share(worker, share));
        let verdicts = request.items.iter().map(|item| self.ack_item(worker, item, &beside).into()).collect();
        let missed = self.shares.missed(&mut self.account, &request.missing);
        AckReply { verdicts, progress: Some(self.progress()), missed }
    }

    fn ack_item(&mut self, worker: &str, item: &AckItem, beside: &BesideReceipts<'_>) -> Verdict {
        if !self.has_whole_steps(worker, item.lease, item.range) {
            return Verdict::Invalid;
        }
        match item.kind() {
            Kind::Finished => return self.leases.finish(worker, item.lease, &item.range.unwrap_or_default()),
            Kind::Seen => return self.seen(worker, item.lease, &item.range.unwrap_or_default()),
            Kind::Delivered | Kind::Dropped | Kind::Bare | Kind::Unspecified => {}
        }
        let Ok(steps) = self.read_receipt(worker, item, &beside.named) else { return Verdict::Invalid };
        let range = item.range.unwrap_or_default();
        let taken = if beside.resumed {
            self.leases.take_kept(worker, item.lease, &range)
        } else {
            self.take(worker, item.lease, &range)
        };
        let taken = match taken {
            Err(Verdict::Lost) => self.take_abandoned(worker, item.lease, &range),
            taken => taken,
        };
        let of_groups = beside.groups.about(item.lease, item.range);
        let grant = match taken {
            Ok(TakenPositions { grant, .. }) => grant,
            Err(verdict) => {
                let settled = of_groups.iter().filter(|receipt| self.shares.settle_owed(&mut self.account, receipt));
                return if settled.count() > 0 { Verdict::Accepted } else { verdict };
            }
        };
        match steps {
            Some(steps) => self.account_steps(worker, &grant, item, &steps),
            None if item.kind() == Kind::Bare => self.account_bare(worker, &grant, &beside.bad),
            None => self.account.count_receipt(self.terms.plan(), grant.epoch, &grant.range, item),
        }
        if item.kind() != Kind::Bare {
            for receipt in of_groups {
                self.shares.tally(&mut self.account, grant.epoch).groups.count(receipt, item);
            }
        }
        self.shares.end(&mut self.account, grant.epoch, item, of_groups);
        for receipt in of_groups.iter().filter(|_| beside.resumed) {
            self.shares.owe_to_others(&mut self.account, grant.epoch, receipt);
        }
        self.account.count_ack();
        Verdict::Accepted
    }

    /// Checks that a receipt agrees with itself and with the plan. Where steps have classes, gives what it says of them, if its lease
    /// is known.
    fn read_receipt<'a>(
        &self,
        worker: &str,
        item: &AckItem,
        named: &NamedPlaces<'a>,
    ) -> Result<Option<StepReceipt<'a>>, WrongReceipt> {
        if self.plan().classes().is_some() {
            let Some(place) = self.leases.locate(worker, item.lease) else { return Ok(None) };
            // No lease is longer. So the steps that are counted are few.
            let range = item.range.ok_or(WrongReceipt)?;
            if range.end.saturating_sub(range.start) > self.lease_size() {
                return Err(WrongReceipt);
            }
            return StepReceipt::read(self.plan(), place, item, named).map(Some).ok_or(WrongReceipt);
        }
        let range = receipt_range(item).ok_or(WrongReceipt)?;
        if item.kind() != Kind::Bare && !self.has_records(worker, item.lease, &range) {
            return Err(WrongReceipt);
        }
        Ok(None)
    }

    /// Counts a receipt of whole steps, and quarantines their bad records.
    fn account_steps(&mut self, worker: &str, grant: &Grant, item: &AckItem, steps: &StepReceipt<'_>) {
        self.account.count_steps(self.terms.plan(), grant.epoch, &grant.range, item, steps);
        for bad in steps.bad() {
            self.put_in_quarantine(worker, grant.epoch, bad.position, bad.turn, &bad.record());
        }
    }

    /// Whether a part of a lease is one of whole steps, as far as the lease is known. It always is if steps have no classes.
    pub(super) fn has_whole_steps(&self, worker: &str, lease: u64, range: Option<v1::Range>) -> bool {
        let Some((_, start)) = self.leases.locate(worker, lease) else { return true };
        positions(start, &range.unwrap_or_default()).is_none_or(|positions| self.plan().is_of_whole_steps(&positions))
    }

    /// Quarantines the bad records of a batch that was delivered without them. Positions without a record only end.
    fn account_bare(&mut self, worker: &str, grant: &Grant, known: &HashMap<u64, &BadRecord>) {
        let order = self.plan().epoch(grant.epoch);
        let turns = grant.range.clone().filter_map(|position| Some((position, order.own(position)?)));
        for (position, turn) in turns.collect::<Vec<_>>() {
            let record = turn.record();
            let bad = known.get(&record).map_or_else(|| without_a_reason(record), |bad| (*bad).clone());
            self.put_in_quarantine(worker, grant.epoch, position, turn, &bad);
        }
    }

    /// Each position of the range has a record, as far as the lease is known.
    fn has_records(&self, worker: &str, lease: u64, range: &v1::Range) -> bool {
        self.leases.locate(worker, lease).is_none_or(|(epoch, start)| {
            start.checked_add(range.end).is_some_and(|end| end <= self.plan().epoch_records(epoch))
        })
    }

    /// A trainer that ended had these positions, and its daemon delivers them again. The ledger counts the repeats now.
    /// If it waited for the receipt, a snapshot or a death before the receipt would lose them.
    fn seen(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Verdict {
        match self.leases.open_of(worker, lease, range) {
            Ok((epoch, positions)) => {
                self.account.count_repeats(self.terms.plan(), epoch, &positions, Cause::TrainerEnded);
                Verdict::Accepted
            }
            Err(verdict) => verdict,
        }
    }

    /// A second reader also gets the open positions of a lease, so their records may be repeated.
    pub(crate) fn may_repeat(&mut self, lease: &Lease, cause: Cause) {
        self.account.count_repeats(self.terms.plan(), lease.epoch, &(lease.start..lease.end), cause);
    }

    /// Quarantines bad records.
    pub fn nack(&mut self, worker: &str, records: &[BadRecord]) -> NackReply {
        let verdicts = records.iter().map(|bad| self.nack_record(worker, bad).into()).collect();
        NackReply { verdicts, progress: Some(self.progress()) }
    }

    fn nack_record(&mut self, worker: &str, bad: &BadRecord) -> Verdict {
        let Some((epoch, start)) = self.leases.locate(worker, bad.lease) else { return Verdict::Lost };
        // A bad record of a step of a class keeps its place, and is named with its step.
        if self.plan().classes().is_some() {
            return Verdict::Invalid;
        }
        let place = start.checked_add(bad.position);
        let turn = place.and_then(|place| Some((place, self.plan().epoch(epoch).own(place)?)));
        let found = turn.filter(|(_, turn)| turn.record() == bad.record);
        let Some((place, turn)) = found else { return Verdict::Invalid };
        let range = v1::Range { start: bad.position, end: bad.position.saturating_add(1) };
        match self.take(worker, bad.lease, &range) {
            Ok(taken) => {
                self.put_in_quarantine(worker, taken.grant.epoch, place, turn, bad);
                Verdict::Accepted
            }
            Err(verdict) => verdict,
        }
    }

    /// Counts the turn of a record at a position as quarantined, and lists the record. `worker` has found that it is bad.
    fn put_in_quarantine(&mut self, worker: &str, epoch: u64, position: u64, turn: Turn, bad: &BadRecord) {
        let (place, plan) = (position..position + 1, self.terms.plan());
        self.account.count(epoch, &place, |tallies| {
            tallies.quarantined += RecordSum::from_iter([turn]);
            tallies.count(plan, epoch, &place, PositionOutcome::Quarantined);
        });
        self.quarantine.add(epoch, turn.record(), bad);
        self.judge(worker, epoch, bad);
    }

    /// Decides whether the run fails at this bad record, which a worker has found and which is in the quarantine. Only
    /// the first failure is kept. The one daemon of a shard or a rank decides by itself. But only the ledger knows how
    /// many records were bad over all restarts of that daemon.
    fn judge(&mut self, worker: &str, epoch: u64, bad: &BadRecord) {
        let is_shared = self.terms.is_shared();
        let Some(policies) = self.terms.policies().filter(|_| !self.quarantine.has_failed()) else { return };
        let count = self.quarantine.bad();
        let records = self.plan().epoch_records(epoch);
        let of_epoch = self.account.get(epoch).map_or(0, |tallies| tallies.quarantined.count);
        let words = if is_shared && policies.on_error() == OnError::Fail {
            "The stream stops at a bad record because on_error is \"fail\"; \"skip\" or \"replace\" go on".to_owned()
        } else if let Some(limit) = policies.max_failures.filter(|limit| count > *limit && !bad.skipped) {
            let nodes = if is_shared { " on all nodes" } else { "" };
            format!("{count} bad records{nodes} are more than max_failures ({limit})")
        } else if is_shared && of_epoch >= records {
            format!("Every record of epoch {epoch} is bad, {records} in all. Mend the dataset, and begin a new run")
        } else {
            return;
        };
        let BadRecord { record, file, reason, .. } = bad;
        let reason = cut(reason.trim_end_matches('.'));
        // A batch that outlived its daemon tells which of its records were bad, and not their files.
        let file = if file.is_empty() { String::new() } else { format!(" ({})", cut(file)) };
        self.quarantine.fail(format!("record {record}{file}, which node {worker:?} has read: {reason}. {words}"));
    }

    /// Gives positions back, to be leased again before all others. If they were kept for consumers of a dead incarnation,
    /// the ledger stops waiting for these consumers.
    pub fn give_back(&mut self, worker: &str, items: &[ReturnedRange], now: u64) -> ReturnReply {
        let kept_until = now.saturating_add(self.terms.times().grace);
        let verdicts = items
            .iter()
            .map(|item| {
                if !self.has_whole_steps(worker, item.lease, item.range) {
                    return Verdict::Invalid.into();
                }
                if self.deliver_given_back(worker, item.lease, item.range) {
                    return Verdict::Accepted.into();
                }
                match self.take(worker, item.lease, &item.range.unwrap_or_default()) {
                    Ok(taken) => {
                        self.leases.put_back(worker, item, taken, kept_until);
                        Verdict::Accepted.into()
                    }
                    Err(verdict) => verdict.into(),
                }
            })
            .collect();
        ReturnReply { verdicts, progress: Some(self.progress()) }
    }

    /// Takes positions of a lease from a worker that is known: see [`Leases::take`](super::Leases::take).
    pub(super) fn take(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Result<TakenPositions, Verdict> {
        self.workers.get(worker).ok_or(Verdict::Lost)?;
        self.leases.take(worker, lease, range)
    }

    /// Takes positions back that were abandoned while their receipt was under way, because another rank ended the epoch.
    fn take_abandoned(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Result<TakenPositions, Verdict> {
        let taken = self.leases.take_abandoned(worker, lease, range)?;
        self.account.take_abandoned(self.terms.plan(), taken.grant.epoch, &taken.grant.range);
        Ok(taken)
    }

    /// A group has consumed a batch that others still wait for.
    fn share(&mut self, worker: &str, share: &GroupShare) {
        let Some(receipt) = share.receipt.as_ref().filter(|receipt| is_consumed(receipt) && has_name(receipt)) else {
            return;
        };
        let Some(item) = receipt.item else { return };
        // A step with bad records is for all groups again if its daemon dies: they are known with its receipt.
        let is_right = self.read_receipt(worker, &item, &NamedPlaces::default()).is_ok();
        if let (true, Some((epoch, _))) = (is_right, self.leases.locate(worker, item.lease)) {
            self.shares.share(epoch, item, receipt, &share.waiting);
        }
    }

    /// Leases of a worker end. What some of its groups have consumed of them counts as delivered, and is owed to the
    /// other groups. If trainers only hold a batch, they hand it in again, or all groups get it again.
    pub(super) fn deliver_shares(&mut self, worker: &str, ends: impl Fn(&LeaseOut) -> bool) {
        let continues = |held: &LeaseOut| *held.holder != *worker || !ends(held);
        let ended = self.shares.take_of_leases(|lease| !self.leases.get(lease).is_some_and(continues));
        for share in ended {
            self.deliver(worker, share);
        }
    }

    /// The same for all leases that end at this moment because no heartbeat has named them.
    pub(super) fn deliver_late_shares(&mut self, now: u64) {
        if self.shares.is_empty() {
            return;
        }
        let late: BTreeSet<u64> = self.leases.late(now).into_iter().collect();
        // A share whose lease is gone ends with the first worker.
        let first = self.workers.roster().iter().next().map(|(name, _)| name);
        let holders = late.iter().filter_map(|id| self.leases.get(*id)).map(|held| &held.holder);
        let workers: BTreeSet<_> = holders.chain(first).cloned().collect();
        for worker in workers {
            self.deliver_shares(&worker, |held| late.contains(&held.lease.id));
        }
    }

    /// A trainer gives back a batch that it held. If another group has consumed the batch, it counts as delivered, and
    /// the groups that wait for it have missed it. The method returns true then. Otherwise all groups get the batch
    /// again.
    fn deliver_given_back(&mut self, worker: &str, lease: u64, range: Option<v1::Range>) -> bool {
        self.shares.take_held(lease, range).is_some_and(|share| self.deliver(worker, share))
    }

    /// Counts a share as delivered. Returns false if no group has consumed it, or if one of its positions has ended in
    /// another way. Then all groups get it again.
    fn deliver(&mut self, worker: &str, share: StoredShare) -> bool {
        let Some(item) = share.had.iter().find_map(|receipt| receipt.item) else { return false };
        let taken = self.take(worker, item.lease, &item.range.unwrap_or_default());
        let Ok(TakenPositions { grant, .. }) = taken else { return false };
        self.account.count_receipt(self.terms.plan(), grant.epoch, &grant.range, &item);
        self.shares.deliver(&mut self.account, grant.epoch, item, share);
        self.account.count_ack();
        true
    }
}
