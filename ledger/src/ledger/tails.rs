//! Tails: what does not fill a batch at a worker when nothing of an epoch is left to lease (semantics rule 36).
//!
//! A worker gives its tail up when all else that it has of the epoch stands in published batches: its leases are *settled* then.
//! When all leases of the epoch are settled, the tails of all workers are granted again, in whole batches. Only what is left
//! after that becomes a batch that is not full.

use std::ops::Range;

use forebay_proto::v1::{AcquireRequest, Lease, SettleReply, SettleRequest, Verdict};

use super::returned::{TakenPositions, insert};
use super::{Grant, Ledger, ReturnedPositions};
use crate::error::LedgerError;

impl Ledger {
    /// Takes a worker's tail of an epoch. The leases that the worker had then are settled.
    ///
    /// # Errors
    /// A shard has no tails: its positions have fixed places.
    pub fn settle_epoch(&mut self, worker: &str, request: &SettleRequest) -> Result<SettleReply, LedgerError> {
        if self.plan.part().is_some() {
            return Err(LedgerError::Invalid("A shard or a rank has no tails.".to_owned()));
        }
        let verdicts = request
            .tail
            .iter()
            .map(|item| match self.take(worker, item.lease, &item.range.unwrap_or_default()) {
                Ok(TakenPositions { grant, .. }) => {
                    self.add_tail(&grant);
                    Verdict::Accepted.into()
                }
                Err(verdict) => verdict.into(),
            })
            .collect();
        let known = self.workers.get_mut(worker).into_iter().flat_map(|worker| worker.leases.values_mut());
        for held in known.filter(|held| held.lease.epoch == request.epoch && held.lease.id <= request.last_lease) {
            held.is_settled = true;
        }
        self.note(worker);
        self.touch();
        Ok(SettleReply { verdicts, progress: Some(self.progress()) })
    }

    /// The epoch whose tails may be granted: nothing else of it, or of an earlier one, can still come into a batch.
    pub(super) fn epoch_of_tails(&self) -> Option<u64> {
        let epoch = self.tails.first()?.epoch;
        let comes_back = self.returned.first().is_some_and(|back| back.epoch <= epoch);
        let is_fresh = self.cursor_epoch < epoch
            || (self.cursor_epoch == epoch && self.cursor < self.plan.epoch_len(epoch) && !self.exhausted());
        (!comes_back && !is_fresh && !self.index.may_leave_tails(epoch)).then_some(epoch)
    }

    /// Grants a whole batch of the worker's size from the tails. If they have no whole batch any more, and none is under way,
    /// grants all that is left, for the batch that is not full.
    pub(super) fn grant_tails(&mut self, worker: &str, request: &AcquireRequest, now: u64) -> Vec<Lease> {
        let Some(epoch) = self.epoch_of_tails() else { return Vec::new() };
        // There may be a tail of each worker: those that fill a batch are enough.
        let enough = if request.batch > 0 { request.batch } else { u64::MAX };
        let mut there = 0;
        for tail in self.tails.iter().take_while(|tail| tail.epoch == epoch) {
            there += tail.end - tail.start;
            if there >= enough {
                break;
            }
        }
        let is_whole = there >= enough;
        if !is_whole && self.index.is_unsettled(epoch) {
            return Vec::new();
        }
        let mut left = if is_whole { request.batch } else { there };
        let mut granted = Vec::new();
        while left > 0 {
            let grant = self.take_tail(left);
            left -= grant.range.end - grant.range.start;
            let lease = self.grant(worker, grant, now);
            let held = self.workers.get_mut(worker).and_then(|worker| worker.leases.get_mut(&lease.id));
            let held = held.expect("it was granted to this worker just now");
            (held.lease.whole, held.lease.last) = (is_whole, !is_whole);
            granted.push(held.lease);
        }
        self.note(worker);
        granted
    }

    /// The first positions of the tails, at most so many. There are some.
    fn take_tail(&mut self, most: u64) -> Grant {
        let tail = &mut self.tails[0];
        let end = tail.start.saturating_add(most.min(self.shard_size)).min(tail.end);
        let ReturnedPositions { epoch, start, deaths, cause, .. } = *tail;
        if end == tail.end {
            self.tails.remove(0);
        } else {
            tail.start = end;
        }
        self.touch();
        Grant { epoch, range: start..end, deaths, cause }
    }

    /// Puts positions among the tails, in their order. Neighbours of the same kind become one.
    fn add_tail(&mut self, grant: &Grant) {
        let &Grant { epoch, range: Range { mut start, mut end }, deaths, cause } = grant;
        let touches = |tail: &ReturnedPositions| {
            tail.epoch == epoch
                && (tail.deaths, tail.cause) == (deaths, cause)
                && (tail.end == start || tail.start == end)
        };
        let near: Vec<ReturnedPositions> = self.tails.extract_if(.., |tail| touches(tail)).collect();
        for tail in near {
            (start, end) = (start.min(tail.start), end.max(tail.end));
        }
        let tail = ReturnedPositions { deaths, cause, ..ReturnedPositions::unleased(epoch, start..end) };
        insert(&mut self.tails, tail);
    }
}
