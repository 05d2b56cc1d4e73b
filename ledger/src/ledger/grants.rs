//! Gives positions to workers: leases, what consumers of a dead incarnation still hold, and tails. Extends the leases of
//! workers whose heartbeats come, and takes back those of workers that are silent ([`Ledger::expire`]).

use std::sync::Arc;

use forebay_proto::v1::{
    AcquireReply, AcquireRequest, Cause, HeartbeatReply, HeartbeatRequest, Lease, ReclaimReply, ReclaimRequest,
    SettleReply, SettleRequest, Verdict, acquire_reply::Answer,
};

use super::Ledger;
use super::account::GroupReceipts;
use super::leases::{Grant, LeaseOut, TakenPositions};
use super::quarantine::Quarantine;
use super::terms::Terms;
use crate::error::LedgerError;

/// Leases that one Acquire gives at most.
const MAX_GRANTED: u32 = 64;
/// How long a worker without leases is remembered after its leases would have expired, in milliseconds.
const REMEMBERED: u64 = 3_600_000;

impl Ledger {
    pub(crate) fn acquire(&mut self, worker: &str, request: &AcquireRequest, now: u64) -> AcquireReply {
        self.drop_by_plan();
        let deadline = self.deadline(now);
        let (terms, quarantine) = (&self.terms, &self.quarantine);
        let has_poison = |grant: &Grant| has_poison(quarantine, terms, grant);
        let mut granted = self.leases.grant_tails(terms, worker, request.batch, deadline, has_poison);
        let more = if request.tails { 0 } else { request.leases.clamp(1, MAX_GRANTED) as usize };
        while granted.len() < more {
            let Some(lease) = self.grant_next(worker, now) else { break };
            granted.push(lease);
            self.drop_by_plan();
        }
        let progress = self.progress();
        let answer = if !granted.is_empty() {
            Answer::Granted
        } else if !self.leases.nothing_is_left(&self.terms) {
            Answer::Wait
        } else if self.leases.first_open().is_some() {
            Answer::EpochEnd
        } else {
            Answer::DatasetDone
        };
        AcquireReply { answer: answer.into(), leases: granted, progress: Some(progress) }
    }

    fn grant_next(&mut self, worker: &str, now: u64) -> Option<Lease> {
        let grant = self.leases.next_grant(&self.terms, now)?;
        self.account.count_repeats(self.terms.plan(), grant.epoch, &grant.range, grant.cause);
        let has_poison = has_poison(&self.quarantine, &self.terms, &grant);
        Some(self.leases.grant(worker, grant, self.deadline(now), has_poison))
    }

    /// Counts positions of fixed places that no batch has as dropped, once all before them are leased.
    fn drop_by_plan(&mut self) {
        for (epoch, positions) in self.leases.take_unbatched(&self.terms) {
            self.account.count_dropped(self.terms.plan(), epoch, &positions);
        }
    }

    /// When a lease expires that is granted or extended now.
    fn deadline(&self, now: u64) -> u64 {
        now.saturating_add(self.terms.times().lease_ttl)
    }

    /// Gives a worker's earlier positions to its current incarnation, for what consumers still hold (rule 16).
    pub fn reclaim(&mut self, worker: &str, request: &ReclaimRequest, now: u64) -> ReclaimReply {
        let groups = GroupReceipts::of(&request.groups);
        let deadline = self.deadline(now);
        let verdicts = request
            .items
            .iter()
            .map(|item| {
                let of_group = groups.about(item.lease, item.range).first();
                if !self.has_whole_steps(worker, item.lease, item.range) {
                    return Verdict::Invalid.into();
                }
                match self.leases.take_kept(worker, item.lease, &item.range.unwrap_or_default()) {
                    Ok(taken) => {
                        if let Some(receipt) = of_group {
                            self.shares.owe_to_others(&mut self.account, taken.grant.epoch, receipt);
                        }
                        self.leases.put_back_out(worker, item.lease, taken, deadline);
                        Verdict::Accepted.into()
                    }
                    Err(verdict) => {
                        // It may be delivered already. Or another trainer still holds it, and its group has not consumed it
                        // yet.
                        if let Some(receipt) = of_group {
                            self.shares.wait_for_holder(receipt);
                        }
                        verdict.into()
                    }
                }
            })
            .collect();
        ReclaimReply { verdicts, progress: Some(self.progress()) }
    }

    /// Takes a worker's tail of an epoch. The leases that the worker had then are settled.
    ///
    /// # Errors
    /// A shard has no tails: its positions have fixed places. Neither have steps of classes, which are whole batches.
    pub fn settle_epoch(&mut self, worker: &str, request: &SettleRequest) -> Result<SettleReply, LedgerError> {
        if !self.terms.is_shared() {
            return Err(LedgerError::Invalid("A shard or a rank has no tails.".to_owned()));
        }
        if self.plan().classes().is_some() && !request.tail.is_empty() {
            return Err(LedgerError::Invalid("Steps of classes have no tails.".to_owned()));
        }
        let verdicts = request
            .tail
            .iter()
            .map(|item| match self.take(worker, item.lease, &item.range.unwrap_or_default()) {
                Ok(TakenPositions { grant, .. }) => {
                    self.leases.add_tail(&grant);
                    Verdict::Accepted.into()
                }
                Err(verdict) => verdict.into(),
            })
            .collect();
        self.leases.settle_leases(worker, request.epoch, request.last_lease);
        Ok(SettleReply { verdicts, progress: Some(self.progress()) })
    }

    /// Returns the leases that no heartbeat has named for a whole time to live. Forgets workers that have had none for long.
    pub(crate) fn expire(&mut self, now: u64) {
        self.deliver_late_shares(now);
        for name in self.long_idle(now).cloned().collect::<Vec<_>>() {
            self.workers.remove(&name);
        }
        // Nothing is recalled for one that is gone.
        self.workers.stop_waits(self.terms.times().lease_ttl, now);
        if self.workers.stop_awaiting(now) {
            self.forget_missing();
        }
        let mut back = Vec::new();
        let floor = self.progress().floor;
        for (name, late) in self.leases.take_late(now) {
            let seen_until = self.workers.seen_until(&name, floor);
            for held in &late {
                self.workers.note_expired(&name, held.lease.epoch, held.unmade());
                back.extend(held.lost(Cause::LeaseExpired, seen_until, false));
            }
            let silent = self.workers.get(&name).map_or(0, |worker| worker.silent(now)) / 1000;
            tracing::warn!(
                worker = &*name,
                leases = late.len(),
                silent,
                "leases were not extended for their time: they are returned"
            );
        }
        self.leases.add_all_returned(back);
        self.leases.forget_abandoned(now);
        self.settle();
        // So every history of the tests checks it. With many workers, it would take most of their time.
        let is_known = |held: &LeaseOut| self.workers.get(&held.holder).is_some();
        debug_assert!(
            self.workers.roster().len() > 64 || self.leases.iter().all(is_known),
            "a lease is out at no worker"
        );
    }

    /// When the next lease expires.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.leases.next_deadline()
    }

    /// Workers without leases that were silent for so long that they are forgotten.
    fn long_idle(&self, now: u64) -> impl Iterator<Item = &Arc<str>> {
        self.workers.roster().silent_for(self.remembered(), now).filter(|name| !self.leases.has(name))
    }

    /// When [`expire`](Self::expire), which was called at this moment, has something to do next, if no command changes anything
    /// before.
    pub(crate) fn next_due(&self, now: u64) -> Option<u64> {
        // Those whose leases have just expired are forgotten at once. Those that still have some wait for a command that ends these.
        let idle = self.long_idle(now).next().map(|_| now);
        let silent = idle.or_else(|| self.workers.roster().next_silent(self.remembered(), now));
        let waiting = self.workers.roster().next_waiting(self.terms.times().lease_ttl);
        let (deadline, abandoned) = (self.leases.next_deadline(), self.leases.abandoned_until());
        [deadline, silent, waiting, abandoned, self.workers.awaits_until()].into_iter().flatten().min()
    }

    /// How long a silent worker without leases is remembered.
    fn remembered(&self) -> u64 {
        // Leases of tasks never expire, but a worker that is silent for long is forgotten.
        self.terms.times().lease_ttl.min(REMEMBERED) + REMEMBERED
    }

    /// Extends the leases that the caller names.
    pub(crate) fn heartbeat(&mut self, request: &HeartbeatRequest, now: u64) -> Result<HeartbeatReply, LedgerError> {
        let (lease_ttl_ms, caller) = (self.terms.times().lease_ttl, self.known(request.caller.as_ref(), now)?);
        let (deadline, name) = (now.saturating_add(lease_ttl_ms), &*caller.worker);
        self.workers.change(name, |worker| {
            worker.unseen = worker.unseen.max(caller.unseen);
            worker.waits = request.waits;
        });
        for named in &request.leases {
            self.leases.extend(name, *named, deadline);
        }
        let leases = self.leases.of(name).map(|lease| lease.id).collect();
        let update = self.latest_update();
        Ok(HeartbeatReply { progress: update.progress, lease_ttl_ms, leases, update: Some(update) })
    }
}

/// Whether positions have a record of which an earlier epoch has shown that it ends processes (semantics rule 9).
fn has_poison(quarantine: &Quarantine, terms: &Terms, grant: &Grant) -> bool {
    let poison = quarantine.poison();
    if poison.is_empty() {
        return false;
    }
    let order = terms.plan().epoch(grant.epoch);
    grant.range.clone().filter_map(|position| order.own(position)).any(|turn| poison.contains(&turn.record()))
}
