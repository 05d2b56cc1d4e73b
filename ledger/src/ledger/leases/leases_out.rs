//! The leases that are out, in the orders that commands ask for, so that no command looks at all of them: by worker, by the
//! moment at which they expire, by epoch. The orders follow from the leases, and change only with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lease_out::LeaseOut;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeasesOut {
    by_id: BTreeMap<u64, LeaseOut>,
    /// Their ids, by worker. Never an empty set.
    by_holder: BTreeMap<Arc<str>, BTreeSet<u64>>,
    /// Their ids, by when they expire.
    deadlines: BTreeSet<(u64, u64)>,
    epochs: BTreeMap<u64, EpochLeases>,
    /// Positions that are not complete.
    positions: u64,
}

/// The leases of an epoch; never none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct EpochLeases {
    /// Their ids, by worker.
    by_holder: BTreeMap<Arc<str>, BTreeSet<u64>>,
    /// The first one of each worker.
    firsts: BTreeMap<u64, Arc<str>>,
    /// Leases that are not settled: some of their positions may not be in published batches yet.
    unsettled: u64,
    /// Unsettled leases that may leave a tail.
    fraying: u64,
}

/// The properties of a lease that may change and that decide its places in the orders.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LeaseOrder {
    deadline: u64,
    positions: u64,
    is_unsettled: bool,
    is_fraying: bool,
}

impl LeaseOrder {
    fn of(lease: &LeaseOut) -> Self {
        Self {
            deadline: lease.deadline,
            positions: lease.positions(),
            is_unsettled: !lease.is_settled,
            is_fraying: lease.may_leave_tail(),
        }
    }
}

impl LeasesOut {
    pub(super) fn get(&self, id: u64) -> Option<&LeaseOut> {
        self.by_id.get(&id)
    }

    /// Adds a lease. Its id is that of no other one.
    pub(super) fn insert(&mut self, mut lease: LeaseOut) {
        let (id, epoch) = (lease.lease.id, lease.lease.epoch);
        // All leases of a worker share its name.
        if let Some((name, _)) = self.by_holder.get_key_value(&lease.holder) {
            lease.holder = Arc::clone(name);
        }
        let holder = &lease.holder;
        self.by_holder.entry(Arc::clone(holder)).or_default().insert(id);
        self.epochs.entry(epoch).or_default().insert(id, holder);
        self.add_to_orders(id, epoch, LeaseOrder::of(&lease));
        self.by_id.insert(id, lease);
    }

    /// Removes a lease.
    pub(super) fn remove(&mut self, id: u64) -> Option<LeaseOut> {
        let lease = self.by_id.remove(&id)?;
        let epoch = lease.lease.epoch;
        self.remove_from_orders(id, epoch, LeaseOrder::of(&lease));
        remove_id(&mut self.by_holder, &lease.holder, id);
        if let Some(of_epoch) = self.epochs.get_mut(&epoch) {
            of_epoch.remove(id, &lease.holder);
            if of_epoch.by_holder.is_empty() {
                self.epochs.remove(&epoch);
            }
        }
        Some(lease)
    }

    /// Changes a lease, but neither its id nor its worker nor its epoch.
    pub(super) fn change<R>(&mut self, id: u64, act: impl FnOnce(&mut LeaseOut) -> R) -> Option<R> {
        let lease = self.by_id.get_mut(&id)?;
        let (epoch, before) = (lease.lease.epoch, LeaseOrder::of(lease));
        let result = act(lease);
        let now = LeaseOrder::of(lease);
        if before != now {
            self.remove_from_orders(id, epoch, before);
            self.add_to_orders(id, epoch, now);
        }
        Some(result)
    }

    /// Takes in all of them.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = LeaseOut> + use<> {
        std::mem::take(self).by_id.into_values()
    }

    fn add_to_orders(&mut self, id: u64, epoch: u64, lease: LeaseOrder) {
        self.positions += lease.positions;
        self.deadlines.insert((lease.deadline, id));
        let of_epoch = self.epochs.entry(epoch).or_default();
        of_epoch.unsettled += u64::from(lease.is_unsettled);
        of_epoch.fraying += u64::from(lease.is_fraying);
    }

    fn remove_from_orders(&mut self, id: u64, epoch: u64, lease: LeaseOrder) {
        self.positions -= lease.positions;
        self.deadlines.remove(&(lease.deadline, id));
        let of_epoch = self.epochs.entry(epoch).or_default();
        of_epoch.unsettled -= u64::from(lease.is_unsettled);
        of_epoch.fraying -= u64::from(lease.is_fraying);
    }

    /// All of them, by worker.
    pub(super) fn iter(&self) -> impl Iterator<Item = &LeaseOut> {
        self.by_holder.values().flatten().filter_map(|id| self.by_id.get(id))
    }

    /// Those of a worker, by their ids.
    pub(super) fn of(&self, holder: &str) -> impl Iterator<Item = &LeaseOut> {
        self.by_holder.get(holder).into_iter().flatten().filter_map(|id| self.by_id.get(id))
    }

    /// The workers that have leases.
    pub(super) fn holders(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_holder.keys()
    }

    /// Whether a worker has a lease.
    pub(super) fn has(&self, holder: &str) -> bool {
        self.by_holder.contains_key(holder)
    }

    /// Positions in all leases that are not complete.
    pub(super) const fn positions(&self) -> u64 {
        self.positions
    }

    /// The first epoch of which a lease is out.
    pub(super) fn first_epoch(&self) -> Option<u64> {
        self.epochs.first_key_value().map(|(epoch, _)| *epoch)
    }

    /// Whether a lease of the epoch is out.
    pub(super) fn has_of(&self, epoch: u64) -> bool {
        self.epochs.contains_key(&epoch)
    }

    /// Who has leases of an epoch, in the order of their first ones.
    pub(super) fn holders_of(&self, epoch: u64) -> impl Iterator<Item = &Arc<str>> {
        self.epochs.get(&epoch).into_iter().flat_map(|of_epoch| of_epoch.firsts.values())
    }

    /// The leases of an epoch.
    pub(super) fn ids_of(&self, epoch: u64) -> Vec<u64> {
        let of_epoch = self.epochs.get(&epoch).into_iter();
        of_epoch.flat_map(|of_epoch| of_epoch.by_holder.values().flatten().copied()).collect()
    }

    /// Whether a lease of the epoch is not settled yet.
    pub(super) fn is_unsettled(&self, epoch: u64) -> bool {
        self.epochs.get(&epoch).is_some_and(|of_epoch| of_epoch.unsettled > 0)
    }

    /// Whether a lease of an epoch up to this one may leave a tail yet.
    pub(super) fn may_leave_tails(&self, epoch: u64) -> bool {
        self.epochs.range(..=epoch).any(|(_, of_epoch)| of_epoch.fraying > 0)
    }

    /// When the next lease expires.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Leases that expire now, or have expired.
    pub(super) fn late(&self, now: u64) -> Vec<u64> {
        self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now).map(|(_, id)| *id).collect()
    }
}

impl EpochLeases {
    fn insert(&mut self, id: u64, holder: &Arc<str>) {
        let own = self.by_holder.entry(Arc::clone(holder)).or_default();
        if let Some(first) = own.first() {
            self.firsts.remove(first);
        }
        own.insert(id);
        self.firsts.extend(own.first().map(|first| (*first, Arc::clone(holder))));
    }

    fn remove(&mut self, id: u64, holder: &Arc<str>) {
        self.firsts.remove(&id);
        remove_id(&mut self.by_holder, holder, id);
        let first = self.by_holder.get(holder).and_then(BTreeSet::first);
        self.firsts.extend(first.map(|first| (*first, Arc::clone(holder))));
    }
}

fn remove_id(by_holder: &mut BTreeMap<Arc<str>, BTreeSet<u64>>, holder: &str, id: u64) {
    if let Some(own) = by_holder.get_mut(holder) {
        own.remove(&id);
        if own.is_empty() {
            by_holder.remove(holder);
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::Lease;
    use proptest::prelude::*;

    use super::super::spans::Spans;
    use super::*;

    /// Something that happens to the leases.
    #[derive(Clone, Debug)]
    enum Event {
        Granted { holder: usize, epoch: u64, lasts: u64, is_settled: bool, whole: bool },
        Extended { which: usize, until: u64 },
        Settled { which: usize },
        Shortened { which: usize },
        Ended { which: usize },
        AllEnded,
    }

    fn event() -> impl Strategy<Value = Event> {
        let which = 0..12_usize;
        let granted = (0..5_usize, 0..3_u64, 0..9_u64, any::<bool>(), any::<bool>()).prop_map(
            |(holder, epoch, lasts, is_settled, whole)| Event::Granted { holder, epoch, lasts, is_settled, whole },
        );
        prop_oneof![
            8 => granted,
            3 => (which.clone(), 0..80_u64).prop_map(|(which, until)| Event::Extended { which, until }),
            2 => which.clone().prop_map(|which| Event::Settled { which }),
            3 => which.clone().prop_map(|which| Event::Shortened { which }),
            4 => which.prop_map(|which| Event::Ended { which }),
            1 => Just(Event::AllEnded),
        ]
    }

    /// Each order says what a look at each lease says.
    fn compare(out: &LeasesOut, now: u64) {
        let all: Vec<&LeaseOut> = out.by_id.values().collect();
        assert_eq!(out.first_epoch(), all.iter().map(|held| held.lease.epoch).min());
        assert_eq!(out.next_deadline(), all.iter().map(|held| held.deadline).min());
        let late: BTreeSet<u64> = all.iter().filter(|held| held.deadline <= now).map(|held| held.lease.id).collect();
        assert_eq!(out.late(now).into_iter().collect::<BTreeSet<_>>(), late);
        assert_eq!(out.positions(), all.iter().map(|held| held.positions()).sum::<u64>());
        let mut by_holder = all.clone();
        by_holder.sort_by_key(|held| (&*held.holder, held.lease.id));
        assert_eq!(out.iter().collect::<Vec<_>>(), by_holder);
        for name in ["w0", "w1", "w4", "nobody"] {
            let own: Vec<&LeaseOut> = all.iter().copied().filter(|held| *held.holder == *name).collect();
            assert_eq!(out.has(name), !own.is_empty());
            assert_eq!(out.of(name).collect::<Vec<_>>(), own);
        }
        for epoch in 0..4 {
            let of_epoch: Vec<&LeaseOut> = all.iter().copied().filter(|held| held.lease.epoch == epoch).collect();
            let mut seen = BTreeSet::new();
            let firsts: Vec<&str> =
                of_epoch.iter().filter(|held| seen.insert(&held.holder)).map(|held| &*held.holder).collect();
            assert_eq!(out.holders_of(epoch).map(|name| &**name).collect::<Vec<_>>(), firsts);
            assert_eq!(out.has_of(epoch), !of_epoch.is_empty());
            let ids: BTreeSet<u64> = of_epoch.iter().map(|held| held.lease.id).collect();
            assert_eq!(out.ids_of(epoch).into_iter().collect::<BTreeSet<_>>(), ids);
            assert_eq!(out.is_unsettled(epoch), of_epoch.iter().any(|held| !held.is_settled));
            let frays = |held: &&&LeaseOut| held.lease.epoch <= epoch && !held.is_settled && !held.lease.whole;
            assert_eq!(out.may_leave_tails(epoch), all.iter().any(|held| frays(&held)));
        }
    }

    proptest! {
        #[test]
        fn each_order_says_what_a_look_at_each_lease_says(events in proptest::collection::vec(event(), 0..60)) {
            let mut out = LeasesOut::default();
            for (now, event) in (0..).zip(events) {
                let nth = |which: usize| out.by_id.keys().nth(which).copied().unwrap_or_default();
                match event {
                    Event::Granted { holder, epoch, lasts, is_settled, whole } => {
                        // An id that came back may be lower than those that are out.
                        let lease = Lease { id: now ^ 5, epoch, start: 0, end: 9, whole, ..Lease::default() };
                        let (open, holder) = (Spans::of(0..9), Arc::from(format!("w{holder}")));
                        let deadline = now + lasts;
                        if out.get(lease.id).is_none() {
                            out.insert(LeaseOut { lease, holder, open, made: Spans::default(), is_settled, deadline });
                        }
                    }
                    Event::Extended { which, until } => drop(out.change(nth(which), |held| held.deadline = until)),
                    Event::Settled { which } => drop(out.change(nth(which), |held| held.is_settled = true)),
                    Event::Shortened { which } => {
                        out.change(nth(which), |held| held.open.cut(&(now % 9..now % 9 + 2)));
                    }
                    Event::Ended { which } => drop(out.remove(nth(which))),
                    Event::AllEnded => assert!(out.take_all().is_sorted_by_key(|held| held.lease.id)),
                }
                compare(&out, now + 2);
            }
        }
    }
}
