//! Which positions are leased next, and to take positions back for consumers that still hold them.

use forebay_proto::v1::{
    AcquireReply, AcquireRequest, Cause, Lease, ReclaimReply, ReclaimRequest, Verdict, acquire_reply::Answer,
};

use super::{Grant, LeaseOut, Ledger, groups::GroupReceipts, returned::TakenPositions, spans::Spans};

/// Leases that one Acquire gives at most.
const MAX_GRANTED: u32 = 64;
/// After so many deaths in a row, positions are leased as suspects (semantics rule 9).
const SUSPECT: u32 = 2;

impl Ledger {
    pub(crate) fn acquire(&mut self, worker: &str, request: &AcquireRequest, now: u64) -> AcquireReply {
        self.drop_by_plan();
        let mut granted = self.grant_tails(worker, request, now);
        let more = if request.tails { 0 } else { request.leases.clamp(1, MAX_GRANTED) as usize };
        while granted.len() < more {
            let Some(grant) = self.next_grant(now) else { break };
            granted.push(self.grant(worker, grant, now));
            self.drop_by_plan();
        }
        let progress = self.progress();
        let answer = if !granted.is_empty() {
            Answer::Granted
        } else if !self.leased_out() {
            Answer::Wait
        } else if self.first_open().is_some() {
            Answer::EpochEnd
        } else {
            Answer::DatasetDone
        };
        AcquireReply { answer: answer.into(), leases: granted, progress: Some(progress) }
    }

    /// No epoch has a position left to lease at this moment, and no epoch is to come.
    fn leased_out(&self) -> bool {
        let last = self.epochs > 0 && self.cursor_epoch + 1 == self.epochs && !self.fresh();
        (self.exhausted() || last) && self.unleased().next().is_none()
    }

    /// Gives a worker's earlier positions to its current incarnation, for what consumers still hold (rule 16).
    pub fn reclaim(&mut self, worker: &str, request: &ReclaimRequest, now: u64) -> ReclaimReply {
        let groups = GroupReceipts::of(&request.groups);
        let verdicts = request
            .items
            .iter()
            .map(|item| {
                let of_group = groups.about(item.lease, item.range).first();
                match self.take_kept(worker, item.lease, &item.range.unwrap_or_default()) {
                    Ok(taken) => {
                        if let Some(receipt) = of_group {
                            self.owe_to_others(taken.grant.epoch, receipt);
                        }
                        self.go_on(worker, item.lease, taken, now);
                        Verdict::Accepted.into()
                    }
                    Err(verdict) => {
                        // It may be delivered already, or another trainer goes on holding it: its group has not consumed it yet.
                        if let Some(receipt) = of_group {
                            self.wait_for_holder(receipt);
                        }
                        verdict.into()
                    }
                }
            })
            .collect();
        ReclaimReply { verdicts, progress: Some(self.progress()) }
    }

    /// Puts positions back into the lease that they were in. It keeps its id: receipts that its consumers have of
    /// these positions are good after any number of deaths.
    fn go_on(&mut self, worker: &str, id: u64, taken: TakenPositions, now: u64) {
        let TakenPositions { grant: Grant { epoch, range, .. }, lease_start, .. } = taken;
        let deadline = now.saturating_add(self.times.lease_ttl);
        // Consumers have seen these records: whatever the worker died of, it was not them.
        let fresh = || LeaseOut {
            lease: Lease { id, epoch, start: lease_start, end: lease_start, ..Lease::default() },
            open: Spans::default(),
            made: Spans::default(),
            // Trainers hold them, in batches.
            is_settled: true,
            deadline,
        };
        let leases = &mut self.workers.entry(worker.to_owned()).or_default().leases;
        let held = leases.entry(id).or_insert_with(fresh);
        held.lease.end = held.lease.end.max(range.end);
        held.open.insert(range.clone());
        held.note_made(&range);
        held.deadline = deadline;
        self.note(worker);
    }

    /// The next span: of the first epoch that has one, what came back, then what is fresh, and last what consumers
    /// may still hand in. While an epoch waits for its consumers no later epoch is touched. A shard or a rank is granted
    /// strictly by position and waits for its consumers: batches are made of what follows each other.
    fn next_grant(&mut self, now: u64) -> Option<Grant> {
        self.settle();
        let fresh = self.fresh().then_some(self.cursor_epoch);
        let returned = self.returned.first().map(|returned| returned.epoch);
        let epoch = [fresh, returned].into_iter().flatten().min()?;
        if self.plan.part().is_some() {
            return match self.returned.first().filter(|back| back.epoch == epoch) {
                Some(back) => (back.not_before <= now).then(|| self.grant_returned(0)),
                None => Some(self.fresh_grant()),
            };
        }
        let of_epoch = self.returned.iter().enumerate().take_while(|(_, returned)| returned.epoch == epoch);
        let (mut plain, mut kept) = (None, None);
        for (index, returned) in of_epoch {
            if !returned.kept_for_consumers {
                plain = Some(index);
                break;
            }
            if kept.is_none() && returned.not_before <= now {
                kept = Some(index);
            }
        }
        match (plain, fresh) {
            (None, Some(fresh)) if fresh == epoch => Some(self.fresh_grant()),
            _ => plain.or(kept).map(|index| self.grant_returned(index)),
        }
    }

    /// From the cursor to the end of its shard or of the epoch.
    fn fresh_grant(&mut self) -> Grant {
        let end = self.fresh_end();
        let range = self.cursor..end;
        self.cursor = end;
        Grant { epoch: self.cursor_epoch, range, deaths: 0, cause: Cause::Unseen }
    }

    /// What came back, at most a shard of it.
    fn grant_returned(&mut self, index: usize) -> Grant {
        let returned = &mut self.returned[index];
        let end = returned.start.saturating_add(self.shard_size).min(returned.end);
        let range = returned.start..end;
        let grant =
            Grant { epoch: returned.epoch, range: range.clone(), deaths: returned.deaths, cause: returned.cause };
        if end == returned.end {
            self.returned.remove(index);
        } else {
            returned.start = end;
        }
        self.count_repeats(grant.epoch, &range, grant.cause);
        grant
    }

    /// Makes a lease with a fresh id.
    pub(super) fn grant(&mut self, worker: &str, grant: Grant, now: u64) -> Lease {
        let Grant { epoch, range, deaths, .. } = grant;
        let (start, end, suspect) = (range.start, range.end, deaths >= SUSPECT);
        let lease = Lease { id: self.next_lease, epoch, start, end, deaths, suspect, ..Lease::default() };
        self.next_lease += 1;
        let deadline = now.saturating_add(self.times.lease_ttl);
        let held = LeaseOut { lease, open: Spans::of(range), made: Spans::default(), is_settled: false, deadline };
        self.workers.entry(worker.to_owned()).or_default().leases.insert(lease.id, held);
        self.note(worker);
        self.touch();
        lease
    }
}
