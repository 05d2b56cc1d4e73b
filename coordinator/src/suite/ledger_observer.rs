//! A checker of what a ledger says about positions: leased to whom, and accepted. It keeps plain sets, nothing clever.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_proto::v1::Lease;

use super::violation::{Invariant, Violation};

/// An epoch, and a position in its order.
pub type Place = (u64, u64);

/// What a ledger has said. Workers have numbers here.
#[derive(Clone, Debug, Default)]
pub struct LedgerObserver {
    /// Accounted for.
    done: BTreeSet<Place>,
    /// What live leases have: the lease, and its worker.
    held: BTreeMap<Place, (u64, usize)>,
    /// All leases that were ever granted.
    ids: BTreeSet<u64>,
}

impl LedgerObserver {
    /// A worker was granted a lease.
    pub fn granted(&mut self, worker: usize, lease: &Lease) -> Result<(), Violation> {
        let id = lease.id;
        Invariant::Exclusive.check(self.ids.insert(id), || format!("the id of {lease:?} was used before"))?;
        for place in places(lease.epoch, lease.start..lease.end) {
            Invariant::AcceptedOnce.check(!self.done.contains(&place), || {
                format!("{place:?} is leased to worker {worker} though it is complete")
            })?;
            let before = self.held.insert(place, (id, worker));
            Invariant::Exclusive.check(before.is_none(), || format!("{place:?} is in lease {id} and in {before:?}"))?;
        }
        Ok(())
    }

    /// The ledger has accepted that these positions of a lease are done. They may have come back a moment before.
    pub fn accepted(&mut self, lease: u64, epoch: u64, positions: Range<u64>) -> Result<(), Violation> {
        for place in places(epoch, positions) {
            self.give_up(lease, place)?;
            let is_new = self.done.insert(place);
            Invariant::AcceptedOnce.check(is_new, || format!("{place:?} was accepted twice, now in lease {lease}"))?;
        }
        Ok(())
    }

    /// The ledger has taken these positions of a lease back.
    pub fn given_up(&mut self, lease: u64, epoch: u64, positions: Range<u64>) -> Result<(), Violation> {
        places(epoch, positions).try_for_each(|place| self.give_up(lease, place))
    }

    fn give_up(&mut self, lease: u64, place: Place) -> Result<(), Violation> {
        let owner = self.held.remove(&place);
        Invariant::Exclusive.check(owner.is_none_or(|(id, _)| id == lease), || {
            format!("{place:?} was taken from lease {lease}, and is in {owner:?}")
        })
    }

    /// A worker has these positions in a lease that it had before.
    pub fn reclaimed(&mut self, worker: usize, lease: &Lease, positions: Range<u64>) -> Result<(), Violation> {
        for place in places(lease.epoch, positions) {
            let before = self.held.insert(place, (lease.id, worker));
            Invariant::Exclusive.check(before.is_none() && !self.done.contains(&place), || {
                format!("{place:?} went back into lease {} and is complete or in {before:?}", lease.id)
            })?;
        }
        Ok(())
    }

    /// The ledger has put a position in quarantine.
    pub fn quarantined(&mut self, place: Place) {
        self.done.insert(place);
    }

    /// Leases keep what they have of these places alone.
    pub fn keep(&mut self, mut is_kept: impl FnMut(&Place, u64, usize) -> bool) {
        self.held.retain(|place, (lease, worker)| is_kept(place, *lease, *worker));
    }

    /// The ledger went back to a state in which this was accounted for.
    pub fn restored(&mut self, done: BTreeSet<Place>) {
        self.done = done;
        self.held.clear();
    }

    /// What is accounted for.
    pub const fn done(&self) -> &BTreeSet<Place> {
        &self.done
    }

    /// Which lease has a position, and whose it is.
    pub const fn held(&self) -> &BTreeMap<Place, (u64, usize)> {
        &self.held
    }

    /// Whether a lease was ever granted.
    pub fn knows(&self, lease: u64) -> bool {
        self.ids.contains(&lease)
    }

    /// The first epoch that is not complete. `len` gives the number of an epoch's positions.
    pub fn floor(&self, epochs: u64, len: impl Fn(u64) -> u64) -> u64 {
        let is_open = |&epoch: &u64| self.done.range((epoch, 0)..(epoch + 1, 0)).count() as u64 != len(epoch);
        (0..epochs).find(is_open).unwrap_or(epochs)
    }
}

fn places(epoch: u64, positions: Range<u64>) -> impl Iterator<Item = Place> {
    positions.map(move |position| (epoch, position))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(id: u64, start: u64, end: u64) -> Lease {
        Lease { id, start, end, ..Lease::default() }
    }

    fn broken(result: Result<(), Violation>) -> Option<Invariant> {
        result.err().map(|violation| violation.invariant)
    }

    #[test]
    fn a_position_in_two_leases_and_an_id_that_comes_again_are_found() {
        let mut observer = LedgerObserver::default();
        assert_eq!(broken(observer.granted(0, &lease(1, 0, 4))), None);
        assert_eq!(broken(observer.clone().granted(1, &lease(2, 3, 5))), Some(Invariant::Exclusive));
        assert_eq!(broken(observer.clone().given_up(2, 0, 3..4)), Some(Invariant::Exclusive));
        assert_eq!(broken(observer.given_up(1, 0, 0..4)), None);
        assert_eq!(broken(observer.granted(1, &lease(1, 0, 4))), Some(Invariant::Exclusive), "the id comes again");
    }

    #[test]
    fn a_position_that_is_accepted_twice_or_leased_after_that_is_found() {
        let mut observer = LedgerObserver::default();
        assert_eq!(broken(observer.granted(0, &lease(1, 0, 4))), None);
        assert_eq!(broken(observer.accepted(1, 0, 0..2)), None);
        assert_eq!((observer.floor(1, |_| 2), observer.floor(1, |_| 4)), (1, 0));
        assert_eq!(broken(observer.clone().accepted(1, 0, 1..3)), Some(Invariant::AcceptedOnce));
        assert_eq!(broken(observer.clone().granted(1, &lease(2, 1, 2))), Some(Invariant::AcceptedOnce));
        assert_eq!(broken(observer.clone().reclaimed(0, &lease(1, 0, 4), 1..2)), Some(Invariant::Exclusive));
        observer.restored(BTreeSet::from([(0, 0)]));
        assert_eq!(broken(observer.granted(1, &lease(2, 1, 2))), None);
    }
}
