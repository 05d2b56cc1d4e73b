//! Which positions are leased next.
//!
//! A tail is the part of an epoch at a worker that is too small for a batch once nothing of the epoch is left to lease
//! (semantics rule 36). A worker gives up its tail when all its other positions of the epoch are in published batches.
//! Its leases are *settled* then. When all leases of the epoch are settled, the ledger grants the tails of all workers
//! again, in whole batches. Only the positions that are left after that become a batch that is not full.

use std::ops::Range;
use std::sync::Arc;

use forebay_proto::v1::{Cause, Lease};

use super::lease_out::LeaseOut;
use super::returned::{Grant, ReturnedPositions, TakenPositions, insert};
use super::spans::Spans;
use super::{Leases, Terms};

/// After so many deaths in a row, positions are leased as suspects (semantics rule 9).
const SUSPECT: u32 = 2;

impl Leases {
    /// No epoch has a position left to lease at this moment, and no epoch is to come.
    pub(in crate::ledger) fn nothing_is_left(&self, terms: &Terms) -> bool {
        let last = terms.epochs() > 0 && self.cursor_epoch + 1 == terms.epochs() && !self.is_fresh(terms);
        (self.is_exhausted(terms) || last) && self.unleased().next().is_none()
    }

    /// Whether a worker that asks now gets a lease, or hears that there will be none.
    pub(in crate::ledger) fn has_answer(&self, terms: &Terms) -> bool {
        self.is_fresh(terms) || !self.returned.is_empty() || (self.is_exhausted(terms) && self.first_open().is_none())
    }

    /// The next span to lease, from the first epoch that has one. Returned positions come first, then fresh ones, and
    /// last those that consumers may still hand in. While an epoch waits for its consumers, no later epoch is leased. A
    /// shard or a rank is granted strictly by position and waits for its consumers, because its batches have consecutive
    /// positions.
    pub(in crate::ledger) fn next_grant(&mut self, terms: &Terms, now: u64) -> Option<Grant> {
        self.settle(terms);
        let fresh = self.is_fresh(terms).then_some(self.cursor_epoch);
        let returned = self.returned.first().map(|returned| returned.epoch);
        let epoch = [fresh, returned].into_iter().flatten().min()?;
        if !terms.is_shared() {
            return match self.returned.first().filter(|back| back.epoch == epoch) {
                Some(back) => (back.not_before <= now).then(|| take_first(&mut self.returned, 0, terms.lease_size())),
                None => Some(self.take_fresh(terms)),
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
            (None, Some(fresh)) if fresh == epoch => Some(self.take_fresh(terms)),
            _ => plain.or(kept).map(|index| take_first(&mut self.returned, index, terms.lease_size())),
        }
    }

    /// Takes the positions from the cursor to the end of its shard or of the epoch. If whole grains are leased, it stops
    /// at the end of the cursor's grain.
    fn take_fresh(&mut self, terms: &Terms) -> Grant {
        let (epoch, cursor, lease_size) = (self.cursor_epoch, self.cursor, terms.lease_size());
        let grain = terms.plan().grain_at(epoch, cursor).filter(|_| terms.leases_whole_grains());
        let end = grain.map_or_else(
            || (cursor / lease_size + 1).saturating_mul(lease_size).min(terms.leasable(epoch)),
            |(places, _)| places.end,
        );
        self.cursor = end;
        Grant { epoch, range: cursor..end, deaths: 0, cause: Cause::Unseen }
    }

    /// Makes a lease with a fresh id. If a record in it is known to end processes, the lease is a suspect at once.
    pub(in crate::ledger) fn grant(&mut self, holder: &str, grant: Grant, deadline: u64, has_poison: bool) -> Lease {
        let Grant { epoch, range, deaths, .. } = grant;
        let (start, end, suspect) = (range.start, range.end, has_poison || deaths >= SUSPECT);
        let lease = Lease { id: self.next_id, epoch, start, end, deaths, suspect, ..Lease::default() };
        self.next_id += 1;
        self.change_of(holder);
        let (open, made, holder) = (Spans::of(range), Spans::default(), Arc::from(holder));
        self.out.insert(LeaseOut { lease, holder, open, made, is_settled: false, deadline });
        lease
    }

    /// Puts positions back into the lease that they were in. The lease keeps its id, so receipts that its consumers have
    /// of these positions are valid after any number of deaths.
    pub(in crate::ledger) fn put_back_out(&mut self, holder: &str, id: u64, taken: TakenPositions, deadline: u64) {
        let TakenPositions { grant: Grant { epoch, range, .. }, lease_start, .. } = taken;
        if self.out.get(id).is_none() {
            // Consumers have seen these records, so the worker did not die of them. The consumers hold them in batches.
            let lease = Lease { id, epoch, start: lease_start, end: lease_start, ..Lease::default() };
            let (open, made, holder) = (Spans::default(), Spans::default(), Arc::from(holder));
            self.out.insert(LeaseOut { lease, holder, open, made, is_settled: true, deadline });
        }
        self.out.change(id, |held| {
            held.lease.end = held.lease.end.max(range.end);
            held.open.insert(range.clone());
            held.note_made(&range);
            held.deadline = deadline;
        });
        self.change_of(holder);
    }

    /// Settles a worker's leases of an epoch up to `last`: their positions are in published batches, except for the
    /// worker's tail.
    pub(in crate::ledger) fn settle_leases(&mut self, holder: &str, epoch: u64, last: u64) {
        let of_epoch = self.out.of(holder).map(|held| held.lease).filter(|lease| lease.epoch == epoch);
        let settled: Vec<u64> = of_epoch.map(|lease| lease.id).take_while(|id| *id <= last).collect();
        for id in settled {
            self.out.change(id, |held| held.is_settled = true);
        }
        self.change_of(holder);
    }

    /// The epoch whose tails may be granted: nothing else of it, or of an earlier one, can still come into a batch.
    pub(in crate::ledger) fn epoch_of_tails(&self, terms: &Terms) -> Option<u64> {
        let epoch = self.tails.first()?.epoch;
        let comes_back = self.returned.first().is_some_and(|back| back.epoch <= epoch);
        let is_fresh = self.cursor_epoch < epoch || (self.cursor_epoch == epoch && self.is_fresh(terms));
        (!comes_back && !is_fresh && !self.out.may_leave_tails(epoch)).then_some(epoch)
    }

    /// Grants a whole batch of the worker's size from the tails. If they have no whole batch any more, and none is under way,
    /// grants all that is left, for the batch that is not full.
    pub(in crate::ledger) fn grant_tails(
        &mut self,
        terms: &Terms,
        holder: &str,
        batch: u64,
        deadline: u64,
        has_poison: impl Fn(&Grant) -> bool,
    ) -> Vec<Lease> {
        let Some(epoch) = self.epoch_of_tails(terms) else { return Vec::new() };
        // There may be a tail of each worker: those that fill a batch are enough.
        let enough = if batch > 0 { batch } else { u64::MAX };
        let mut there = 0;
        for tail in self.tails.iter().take_while(|tail| tail.epoch == epoch) {
            there += tail.end - tail.start;
            if there >= enough {
                break;
            }
        }
        let is_whole = there >= enough;
        if !is_whole && self.out.is_unsettled(epoch) {
            return Vec::new();
        }
        let mut left = if is_whole { batch } else { there };
        let mut granted = Vec::new();
        while left > 0 {
            let grant = take_first(&mut self.tails, 0, left.min(terms.lease_size()));
            left -= grant.range.end - grant.range.start;
            let has_poison = has_poison(&grant);
            let lease = self.grant(holder, grant, deadline, has_poison);
            let lease = self.out.change(lease.id, |held| {
                (held.lease.whole, held.lease.last) = (is_whole, !is_whole);
                held.lease
            });
            granted.extend(lease);
        }
        granted
    }

    /// Puts positions among the tails, in their order. Neighbours of the same kind become one.
    pub(in crate::ledger) fn add_tail(&mut self, grant: &Grant) {
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
        self.revision.rise();
    }

    /// Takes out the positions of fixed places that no batch has, once all before them are leased.
    pub(in crate::ledger) fn take_unbatched(&mut self, terms: &Terms) -> Vec<(u64, Range<u64>)> {
        self.settle(terms);
        let mut dropped = Vec::new();
        if !terms.drops_by_plan() {
            return dropped;
        }
        for back in &mut self.returned {
            // Leased while batches were larger.
            let end = terms.leasable(back.epoch).clamp(back.start, back.end);
            if end < back.end {
                dropped.push((back.epoch, end..back.end));
                back.end = end;
            }
        }
        self.returned.retain(|back| back.start < back.end);
        if !self.is_exhausted(terms) {
            let (epoch, len) = (self.cursor_epoch, terms.plan().epoch_len(self.cursor_epoch));
            if terms.leasable(epoch) <= self.cursor && self.cursor < len {
                dropped.push((epoch, self.cursor..len));
                self.cursor = len;
            }
        }
        if !dropped.is_empty() {
            self.revision.rise();
            self.settle(terms);
        }
        dropped
    }
}

/// The first positions of an entry of the list, at most so many.
fn take_first(list: &mut Vec<ReturnedPositions>, index: usize, most: u64) -> Grant {
    let back = &mut list[index];
    let end = back.start.saturating_add(most).min(back.end);
    let ReturnedPositions { epoch, start, deaths, cause, .. } = *back;
    if end == back.end {
        list.remove(index);
    } else {
        back.start = end;
    }
    Grant { epoch, range: start..end, deaths, cause }
}
