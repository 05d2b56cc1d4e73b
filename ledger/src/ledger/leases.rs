//! The leases of a ledger: how far its positions were leased, which leases are out, and which positions came back. Each
//! leased position that is not complete is in exactly one place: in a lease that is out, or in one of the lists of
//! positions that came back. A complete position is in neither.

mod granting;
mod lease_out;
mod leases_out;
mod returned;
mod spans;
mod taking;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use forebay_plan::MAX_EPOCH;
use forebay_proto::v1::{EpochPosition, Lease, StoredHead, StoredLease, StoredReturned};

pub(super) use self::lease_out::LeaseOut;
use self::leases_out::LeasesOut;
pub(super) use self::returned::{Grant, ReturnedPositions, TakenPositions, positions, receipt_range};
pub(super) use self::spans::{Spans, overlap};
use super::damage::Damage;
use super::documents::Revision;
use super::terms::Terms;
use super::times::Times;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Leases {
    next_id: u64,
    /// The epoch that is leased, and the first position of it that was never leased.
    cursor_epoch: u64,
    cursor: u64,
    out: LeasesOut,
    /// Positions that were leased, are not complete, and are in no lease now. Sorted by (epoch, start), disjoint.
    returned: Vec<ReturnedPositions>,
    /// Like `returned`, for positions too few to fill a batch at a worker (semantics rule 36). An epoch counts as drained
    /// even if it still has tails.
    tails: Vec<ReturnedPositions>,
    /// In lockstep: positions that another rank's `reset()` abandoned. Their receipts may be under way.
    abandoned: Vec<ReturnedPositions>,
    /// Until when receipts of `abandoned` positions count. Not stored.
    abandoned_until: u64,
    /// Workers whose leases have changed since the last commit, for their documents.
    changed: BTreeSet<Arc<str>>,
    pub(super) revision: Revision,
}

impl Leases {
    /// Those of a fresh ledger. `origin` makes its lease ids differ from those of other ledgers.
    pub(super) fn new(origin: &[u8]) -> Self {
        Self {
            next_id: first_id(origin),
            cursor_epoch: 0,
            cursor: 0,
            out: LeasesOut::default(),
            returned: Vec::new(),
            tails: Vec::new(),
            abandoned: Vec::new(),
            abandoned_until: 0,
            changed: BTreeSet::new(),
            revision: Revision::default(),
        }
    }

    /// From the head of a stored ledger, without the leases that are out: workers have these.
    pub(super) fn load(head: &StoredHead, now: u64, times: Times) -> Self {
        let load = |stored: &[StoredReturned]| {
            let back = stored.iter().map(|stored| ReturnedPositions::load(stored, head.version, now, times));
            let mut back: Vec<_> = back.collect();
            back.sort_by_key(|back| (back.epoch, back.start));
            back
        };
        Self {
            next_id: head.next_lease,
            cursor_epoch: head.cursor_epoch,
            cursor: head.cursor,
            returned: load(&head.returned),
            tails: load(&head.tails),
            abandoned: load(&head.abandoned),
            abandoned_until: now.saturating_add(times.lease_ttl),
            ..Self::new(b"")
        }
    }

    /// Takes in the leases of a worker that were stored in this document.
    pub(super) fn load_of(
        &mut self,
        holder: &Arc<str>,
        stored: &[StoredLease],
        key: &str,
        deadline: u64,
    ) -> Result<(), Damage> {
        for stored in stored {
            let held = LeaseOut::load(stored, holder, deadline).ok_or_else(|| Damage::Leases(key.to_owned()))?;
            // An id is never used twice.
            match self.out.get(held.lease.id) {
                Some(other) if other.holder == *holder => return Err(Damage::Leases(key.to_owned())),
                Some(_) => return Err(Damage::LeaseIds),
                None => self.out.insert(held),
            }
        }
        Ok(())
    }

    /// Checks that no position is in two leases, in a lease and returned, or beyond the cursor, that no lease id can be used
    /// again, and that no step of a class is open in part.
    pub(super) fn check(&self, terms: &Terms) -> Result<(), Damage> {
        let len = |epoch| terms.plan().epoch_len(epoch);
        if self.cursor_epoch > MAX_EPOCH || self.cursor > len(self.cursor_epoch) || self.next_id >= 1 << 63 {
            return Err(Damage::Number);
        }
        if self.out.iter().any(|held| held.lease.id >= self.next_id) {
            return Err(Damage::LeaseIds);
        }
        let cursor = [(self.cursor_epoch, 0..self.cursor)];
        if !self.open().chain(cursor).all(|(_, range)| terms.plan().is_of_whole_steps(&range)) {
            return Err(Damage::Steps);
        }
        let mut ranges: Vec<_> = self.open().map(|(epoch, range)| (epoch, range.start, range.end)).collect();
        ranges.sort_unstable();
        let inside = |&(epoch, start, end): &(u64, u64, u64)| {
            let len = if epoch == self.cursor_epoch { self.cursor } else { len(epoch) };
            start < end && end <= len && epoch <= self.cursor_epoch
        };
        if !ranges.iter().all(inside) {
            return Err(Damage::Outside);
        }
        if !ranges.is_sorted_by(|a, b| a.0 < b.0 || a.2 <= b.1) {
            return Err(Damage::Twice);
        }
        Ok(())
    }

    pub(super) fn fill_head(&self, head: &mut StoredHead) {
        let stored = |back: &[ReturnedPositions]| back.iter().map(ReturnedPositions::stored).collect();
        (head.next_lease, head.cursor_epoch, head.cursor) = (self.next_id, self.cursor_epoch, self.cursor);
        (head.returned, head.tails, head.abandoned) =
            (stored(&self.returned), stored(&self.tails), stored(&self.abandoned));
    }

    /// The leases of a worker, for its document.
    pub(super) fn stored_of(&self, holder: &str) -> Vec<StoredLease> {
        self.out.of(holder).map(LeaseOut::stored).collect()
    }

    /// The workers whose leases have changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<Arc<str>> {
        std::mem::take(&mut self.changed)
    }

    /// Id of the next lease.
    pub(super) const fn next_id(&self) -> u64 {
        self.next_id
    }

    /// The epoch that is leased, and its first position that was never leased.
    pub(super) const fn cursor(&self) -> (u64, u64) {
        (self.cursor_epoch, self.cursor)
    }

    /// Sets the cursor: all positions before this place were leased, and none from there on.
    pub(super) const fn set_cursor(&mut self, at: EpochPosition) {
        (self.cursor_epoch, self.cursor) = (at.epoch, at.position);
        self.revision.rise();
    }

    /// Moves the cursor over the end of an epoch that is leased out, but only into the epoch after the first incomplete
    /// one: at most one epoch of lookahead. The move follows from the rest of the state, so it need not be stored.
    pub(super) fn settle(&mut self, terms: &Terms) {
        while !self.is_exhausted(terms)
            && self.cursor == terms.plan().epoch_len(self.cursor_epoch)
            && self.first_open().is_none_or(|open| open >= self.cursor_epoch)
        {
            self.cursor_epoch += 1;
            self.cursor = 0;
        }
    }

    /// Every position of every epoch was leased once.
    pub(super) const fn is_exhausted(&self, terms: &Terms) -> bool {
        terms.epochs() > 0 && self.cursor_epoch >= terms.epochs()
    }

    /// There is a position that was never leased and may be now.
    pub(super) fn is_fresh(&self, terms: &Terms) -> bool {
        !self.is_exhausted(terms) && self.cursor < terms.plan().epoch_len(self.cursor_epoch)
    }

    /// Whether positions of the epoch may be leased, or were.
    pub(super) const fn has_begun(&self, terms: &Terms, epoch: u64) -> bool {
        epoch < self.cursor_epoch || (epoch == self.cursor_epoch && !self.is_exhausted(terms))
    }

    /// Every position of the epoch was leased once.
    pub(super) fn is_leased_out(&self, terms: &Terms, epoch: u64) -> bool {
        epoch < self.cursor_epoch || (epoch == self.cursor_epoch && self.cursor == terms.plan().epoch_len(epoch))
    }

    /// Every position of the epoch is accounted for.
    pub(super) fn is_complete(&self, terms: &Terms, epoch: u64) -> bool {
        let is_back = || self.unleased().any(|back| back.epoch == epoch);
        self.is_leased_out(terms, epoch) && !self.out.has_of(epoch) && !is_back()
    }

    /// The first epoch below or at the cursor that has a position out or returned.
    pub(super) fn first_open(&self) -> Option<u64> {
        let returned = self.returned.first().map(|returned| returned.epoch);
        let tail = self.tails.first().map(|tail| tail.epoch);
        [self.out.first_epoch(), returned, tail].into_iter().flatten().min()
    }

    /// All epochs below it are complete.
    pub(super) fn floor(&self) -> u64 {
        self.first_open().map_or(self.cursor_epoch, |open| open.min(self.cursor_epoch))
    }

    /// All epochs below it have nothing left to lease except tails.
    pub(super) fn drained(&self, terms: &Terms) -> u64 {
        let returned = self.returned.first().map_or(u64::MAX, |returned| returned.epoch);
        let is_begun = self.is_exhausted(terms) || self.is_fresh(terms);
        returned.min(if is_begun { self.cursor_epoch } else { self.cursor_epoch + 1 })
    }

    /// Positions that were leased, are not complete, and are in no lease now.
    pub(super) fn unleased(&self) -> impl Iterator<Item = &ReturnedPositions> {
        self.returned.iter().chain(&self.tails)
    }

    /// Positions that are leased, or were leased, and are not complete.
    pub(super) fn open(&self) -> impl Iterator<Item = (u64, Range<u64>)> {
        let held = self.out.iter().flat_map(|held| held.open.iter().map(|span| (held.lease.epoch, span)));
        held.chain(self.unleased().map(|back| (back.epoch, back.start..back.end)))
    }

    /// Whether a position at this place or after it is complete.
    pub(super) fn has_counted_behind(&self, terms: &Terms, at: EpochPosition) -> bool {
        (at.epoch..=self.cursor_epoch).any(|epoch| {
            let from = if epoch == at.epoch { at.position } else { 0 };
            // Positions that the plan leaves out do not count.
            let leased = if epoch == self.cursor_epoch { self.cursor } else { terms.plan().epoch_len(epoch) };
            let to = leased.min(terms.leasable(epoch));
            let open =
                self.open().filter(|(of, _)| *of == epoch).map(|(_, positions)| overlap(&positions, &(from..to)));
            open.sum::<u64>() < to.saturating_sub(from)
        })
    }

    /// All leases that are out, by worker.
    pub(super) fn iter(&self) -> impl Iterator<Item = &LeaseOut> {
        self.out.iter()
    }

    /// A lease that is out.
    pub(super) fn get(&self, id: u64) -> Option<&LeaseOut> {
        self.out.get(id)
    }

    /// A lease that is out at this worker.
    pub(super) fn get_of(&self, holder: &str, id: u64) -> Option<&LeaseOut> {
        self.out.get(id).filter(|held| *held.holder == *holder)
    }

    /// The leases of a worker, by their ids.
    pub(super) fn of(&self, holder: &str) -> impl Iterator<Item = &Lease> {
        self.out.of(holder).map(|held| &held.lease)
    }

    /// How many positions of a worker's leases are not complete.
    pub(super) fn positions_of(&self, holder: &str) -> u64 {
        self.out.of(holder).map(LeaseOut::positions).sum()
    }

    /// Whether a worker has a lease.
    pub(super) fn has(&self, holder: &str) -> bool {
        self.out.has(holder)
    }

    /// Who has leases of an epoch, in the order of their first ones.
    pub(super) fn holders_of(&self, epoch: u64) -> impl Iterator<Item = &Arc<str>> {
        self.out.holders_of(epoch)
    }

    /// Positions in all leases that are not complete.
    pub(super) const fn leased(&self) -> u64 {
        self.out.positions()
    }

    /// When the next lease expires.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.out.next_deadline()
    }

    /// The leases that have expired.
    pub(super) fn late(&self, now: u64) -> Vec<u64> {
        self.out.late(now)
    }

    /// Until when receipts of abandoned positions count, if there are any.
    pub(super) fn abandoned_until(&self) -> Option<u64> {
        (!self.abandoned.is_empty()).then_some(self.abandoned_until)
    }

    /// The returned positions of a lease that is not out, if no other lease has got them since.
    pub(super) fn returned_of(&self, lease: u64) -> Option<&ReturnedPositions> {
        self.returned.iter().find(|back| back.lease == lease && lease != 0)
    }

    /// Epoch and first position of a lease, whether it is out, returned or abandoned.
    pub(super) fn locate(&self, worker: &str, lease: u64) -> Option<(u64, u64)> {
        let back = || self.returned.iter().chain(&self.abandoned).find(|back| back.was_of(worker, lease));
        self.get_of(worker, lease)
            .map(|held| (held.lease.epoch, held.lease.start))
            .or_else(|| back().map(|back| (back.epoch, back.lease_start)))
    }
}

/// Where the ids of leases begin in a ledger with this origin.
fn first_id(origin: &[u8]) -> u64 {
    let hash = blake3::derive_key("forebay lease ids 1", origin);
    u64::from_le_bytes([0, 0, 0, 0, 0, hash[0], hash[1], hash[2] >> 1]) + 1
}
