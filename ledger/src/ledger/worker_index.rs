//! Workers in the orders that commands ask for, so that no command looks at all of them: by when they were heard, by when their
//! next lease expires, by the epochs of which they have leases. It follows from the workers, and is not stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Worker;

/// Names of workers, each behind a moment in milliseconds.
type ByMoment = BTreeSet<(u64, Arc<str>)>;

/// See the module. A worker is in it as it was when it was last [noted](Self::note).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkerIndex {
    known: BTreeMap<Arc<str>, WorkerSummary>,
    /// All of them, by when they were heard.
    heard: ByMoment,
    /// Those without a lease, by when they were heard.
    idle: ByMoment,
    /// Those whose trainers wait for the end of an epoch, by when they were heard.
    waiting: ByMoment,
    /// Those that have trainers, by when they were heard.
    attended: ByMoment,
    /// Those that have leases, by when the first of these expires.
    deadlines: ByMoment,
    /// Epochs of which a lease is out.
    epochs: BTreeMap<u64, EpochHolders>,
    /// The worker of each lease.
    holders: BTreeMap<u64, Arc<str>>,
    /// Positions in all leases that are not complete.
    positions: u64,
}

/// What the index knows of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WorkerSummary {
    heard: u64,
    waits: bool,
    attended: bool,
    /// When the first of its leases expires.
    deadline: Option<u64>,
    leases: Vec<u64>,
    /// Positions in its leases that are not complete.
    positions: u64,
    epochs: BTreeMap<u64, EpochLeases>,
}

/// What a worker has of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EpochLeases {
    /// The lowest id.
    first: u64,
    /// Leases that do not yet stand in published batches.
    unsettled: u64,
    /// Those of them that may leave a tail.
    fraying: u64,
}

/// Who has leases of an epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct EpochHolders {
    /// By their first lease of the epoch.
    by_lease: BTreeSet<(u64, Arc<str>)>,
    /// As in [`EpochLeases`], of all of them.
    unsettled: u64,
    fraying: u64,
}

impl WorkerIndex {
    /// The index of all workers.
    pub(super) fn of(workers: &BTreeMap<String, Worker>) -> Self {
        let mut index = Self::default();
        for (name, worker) in workers {
            index.note(name, Some(worker));
        }
        index
    }

    /// Takes in how a worker is now; `None` for one that is gone. To be called whenever something of it has changed. It takes as
    /// long as the worker has leases.
    pub(super) fn note(&mut self, name: &str, worker: Option<&Worker>) {
        let now = worker.map(WorkerSummary::of);
        let (name, before) = match self.known.remove_entry(name) {
            Some((name, before)) => (name, Some(before)),
            None => (Arc::from(name), None),
        };
        // Most commands change no lease.
        let [had, has] =
            [&before, &now].map(|worker| worker.as_ref().map_or(&[][..], |worker| worker.leases.as_slice()));
        if had != has {
            for lease in had {
                self.holders.remove(lease);
            }
            self.holders.extend(has.iter().map(|lease| (*lease, Arc::clone(&name))));
        }
        if before != now {
            if let Some(before) = &before {
                self.take_out(&name, before);
            }
            if let Some(now) = &now {
                self.put_in(&name, now);
            }
        }
        self.known.extend(now.map(|now| (name, now)));
    }

    /// Takes in that so many positions of a worker's leases are complete, or are the worker's no more. Nothing else has changed.
    pub(super) fn take_positions(&mut self, name: &str, count: u64) {
        if let Some(worker) = self.known.get_mut(name) {
            worker.positions -= count;
            self.positions -= count;
        }
    }

    fn put_in(&mut self, name: &Arc<str>, now: &WorkerSummary) {
        self.positions += now.positions;
        for order in self.orders_of(now) {
            order.insert((now.heard, Arc::clone(name)));
        }
        self.deadlines.extend(now.deadline.map(|deadline| (deadline, Arc::clone(name))));
        for (epoch, own) in &now.epochs {
            let of_epoch = self.epochs.entry(*epoch).or_default();
            of_epoch.by_lease.insert((own.first, Arc::clone(name)));
            of_epoch.unsettled += own.unsettled;
            of_epoch.fraying += own.fraying;
        }
    }

    fn take_out(&mut self, name: &Arc<str>, before: &WorkerSummary) {
        self.positions -= before.positions;
        let place = (before.heard, Arc::clone(name));
        for order in self.orders_of(before) {
            order.remove(&place);
        }
        if let Some(deadline) = before.deadline {
            self.deadlines.remove(&(deadline, Arc::clone(name)));
        }
        for (epoch, own) in &before.epochs {
            let of_epoch = self.epochs.entry(*epoch).or_default();
            of_epoch.by_lease.remove(&(own.first, Arc::clone(name)));
            of_epoch.unsettled -= own.unsettled;
            of_epoch.fraying -= own.fraying;
            if of_epoch.by_lease.is_empty() {
                self.epochs.remove(epoch);
            }
        }
    }

    /// The orders by when workers were heard that have a place for such a worker.
    fn orders_of(&mut self, worker: &WorkerSummary) -> impl Iterator<Item = &mut ByMoment> {
        let all = [
            (&mut self.heard, true),
            (&mut self.idle, worker.leases.is_empty()),
            (&mut self.waiting, worker.waits),
            (&mut self.attended, worker.attended),
        ];
        all.into_iter().filter_map(|(order, has_place)| has_place.then_some(order))
    }

    /// How many workers there are.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Positions in all leases that are not complete.
    pub(super) const fn positions(&self) -> u64 {
        self.positions
    }

    /// The worker that has a lease.
    pub(super) fn holder(&self, lease: u64) -> Option<&Arc<str>> {
        self.holders.get(&lease)
    }

    /// The first epoch of which a lease is out.
    pub(super) fn first_epoch(&self) -> Option<u64> {
        self.epochs.first_key_value().map(|(epoch, _)| *epoch)
    }

    /// Who has leases of an epoch, in the order of their first ones.
    pub(super) fn holders_of(&self, epoch: u64) -> impl Iterator<Item = &Arc<str>> {
        self.epochs.get(&epoch).into_iter().flat_map(|of_epoch| &of_epoch.by_lease).map(|(_, name)| name)
    }

    /// Whether a lease of the epoch does not yet stand in published batches.
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

    /// Workers of which a lease expires now, or has expired.
    pub(super) fn late(&self, now: u64) -> Vec<Arc<str>> {
        passed(&self.deadlines, 0, now)
    }

    /// Workers without leases that were silent for so long.
    pub(super) fn idle_for(&self, millis: u64, now: u64) -> Vec<Arc<str>> {
        passed(&self.idle, millis, now)
    }

    /// When a worker without leases will have been silent for so long.
    pub(super) fn next_idle(&self, millis: u64) -> Option<u64> {
        self.idle.first().map(|(heard, _)| heard.saturating_add(millis))
    }

    /// The same of one that waits.
    pub(super) fn next_waiting(&self, millis: u64) -> Option<u64> {
        self.waiting.first().map(|(heard, _)| heard.saturating_add(millis))
    }

    /// Workers that wait, and were silent for so long.
    pub(super) fn waiting_for(&self, millis: u64, now: u64) -> Vec<Arc<str>> {
        passed(&self.waiting, millis, now)
    }

    /// Whether a worker waits for the end of an epoch.
    pub(super) fn is_one_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The worker beside this one that was heard last, and when that was.
    pub(super) fn heard_beside(&self, worker: &str) -> Option<(&str, u64)> {
        last_beside(&self.heard, worker)
    }

    /// The same among those that have trainers.
    pub(super) fn attended_beside(&self, worker: &str) -> Option<(&str, u64)> {
        last_beside(&self.attended, worker)
    }
}

impl WorkerSummary {
    fn of(worker: &Worker) -> Self {
        let mut epochs = BTreeMap::<u64, EpochLeases>::new();
        for (&id, held) in &worker.leases {
            let nothing = EpochLeases { first: id, unsettled: 0, fraying: 0 };
            let of_epoch = epochs.entry(held.lease.epoch).or_insert(nothing);
            of_epoch.unsettled += u64::from(!held.is_settled);
            // Whole batches leave none, unless a record is bad.
            of_epoch.fraying += u64::from(!held.is_settled && !held.lease.whole);
        }
        Self {
            heard: worker.heard,
            waits: worker.waits,
            attended: worker.attended,
            deadline: worker.leases.values().map(|held| held.deadline).min(),
            leases: worker.leases.keys().copied().collect(),
            positions: worker.positions(),
            epochs,
        }
    }
}

/// Those whose moment was so long ago.
fn passed(order: &ByMoment, millis: u64, now: u64) -> Vec<Arc<str>> {
    let until_now = order.iter().take_while(|(moment, _)| moment.saturating_add(millis) <= now);
    until_now.map(|(_, name)| Arc::clone(name)).collect()
}

/// The last one that is not this worker.
fn last_beside<'a>(order: &'a ByMoment, worker: &str) -> Option<(&'a str, u64)> {
    order.iter().rev().find(|(_, name)| **name != *worker).map(|(moment, name)| (&**name, *moment))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use forebay_proto::v1::Lease;
    use proptest::prelude::*;

    use super::super::{LeaseOut, Spans};
    use super::*;

    /// A lease: worker, epoch, deadline, whether it is settled and whole.
    type Given = (usize, u64, u64, bool, bool);

    /// Something that happens to a worker.
    #[derive(Clone, Debug)]
    enum Event {
        Speaks {
            worker: usize,
            waits: bool,
            attended: bool,
        },
        Gets(Given),
        /// Loses the lease that is so many behind its first one.
        Loses(usize, usize),
        Goes(usize),
    }

    fn event() -> impl Strategy<Value = Event> {
        let worker = 0..5_usize;
        let flags = (any::<bool>(), any::<bool>());
        prop_oneof![
            3 => (worker.clone(), flags)
                .prop_map(|(worker, (waits, attended))| Event::Speaks { worker, waits, attended }),
            4 => (worker.clone(), 0..3_u64, 0..9_u64, flags)
                .prop_map(|(worker, epoch, lasts, (settled, whole))| Event::Gets((worker, epoch, lasts, settled, whole))),
            3 => (worker.clone(), 0..4_usize).prop_map(|(worker, which)| Event::Loses(worker, which)),
            1 => worker.prop_map(Event::Goes),
        ]
    }

    fn names(of: &[Arc<str>]) -> BTreeSet<&str> {
        of.iter().map(|name| &**name).collect()
    }

    /// What somebody says who looks at each worker and at each lease.
    fn compare(index: &WorkerIndex, workers: &BTreeMap<String, Worker>, now: u64) {
        let all = || workers.iter().flat_map(|(name, worker)| worker.leases.values().map(move |held| (name, held)));
        assert_eq!(index.first_epoch(), all().map(|(_, held)| held.lease.epoch).min());
        assert_eq!(index.next_deadline(), all().map(|(_, held)| held.deadline).min());
        let late = all().filter(|(_, held)| held.deadline <= now).map(|(name, _)| &**name).collect();
        assert_eq!(names(&index.late(now)), late);
        for id in 0..60 {
            let holder = all().find(|(_, held)| held.lease.id == id).map(|(name, _)| &**name);
            assert_eq!(index.holder(id).map(|name| &**name), holder);
        }
        for epoch in 0..3 {
            let mut firsts: Vec<(u64, &str)> = Vec::new();
            for (name, worker) in workers {
                let first = worker.leases.values().find(|held| held.lease.epoch == epoch);
                firsts.extend(first.map(|held| (held.lease.id, &**name)));
            }
            firsts.sort_unstable();
            let firsts: Vec<&str> = firsts.into_iter().map(|(_, name)| name).collect();
            assert_eq!(index.holders_of(epoch).map(|name| &**name).collect::<Vec<_>>(), firsts);
            let unsettled = all().any(|(_, held)| held.lease.epoch == epoch && !held.is_settled);
            assert_eq!(index.is_unsettled(epoch), unsettled);
            let is_fraying = |held: &LeaseOut| held.lease.epoch <= epoch && !held.is_settled && !held.lease.whole;
            assert_eq!(index.may_leave_tails(epoch), all().any(|(_, held)| is_fraying(held)));
        }
        let open: u64 = all().flat_map(|(_, held)| held.open.iter()).map(|span| span.end - span.start).sum();
        assert_eq!((index.len(), index.positions()), (workers.len(), open));
        assert_eq!(index.is_one_waiting(), workers.values().any(|worker| worker.waits));
        for millis in [0, 3] {
            let silent = |which: &dyn Fn(&Worker) -> bool| {
                let those = workers.iter().filter(|(_, worker)| which(worker) && worker.heard + millis <= now);
                those.map(|(name, _)| &**name).collect::<BTreeSet<_>>()
            };
            assert_eq!(names(&index.idle_for(millis, now)), silent(&|worker| worker.leases.is_empty()));
            assert_eq!(names(&index.waiting_for(millis, now)), silent(&|worker| worker.waits));
        }
        for name in ["w0", "w3", "nobody"] {
            let others = || workers.iter().filter(|(other, _)| **other != name);
            let last = others().map(|(_, worker)| worker.heard).max();
            assert_eq!(index.heard_beside(name).map(|(_, heard)| heard), last);
            let last = others().filter(|(_, worker)| worker.attended).map(|(_, worker)| worker.heard).max();
            assert_eq!(index.attended_beside(name).map(|(_, heard)| heard), last);
        }
    }

    proptest! {
        #[test]
        fn the_index_says_what_a_look_at_each_worker_says(events in proptest::collection::vec(event(), 0..60)) {
            let (mut index, mut workers) = (WorkerIndex::default(), BTreeMap::<String, Worker>::new());
            for (now, event) in (0..).zip(events) {
                let (Event::Speaks { worker: number, .. }
                | Event::Gets((number, ..))
                | Event::Loses(number, _)
                | Event::Goes(number)) = event;
                let name = format!("w{number}");
                let mut worker = workers.remove(&name).unwrap_or_default();
                worker.heard = now;
                match event {
                    Event::Speaks { waits, attended, .. } => (worker.waits, worker.attended) = (waits, attended),
                    Event::Gets((_, epoch, lasts, is_settled, whole)) => {
                        let lease = Lease { id: now, epoch, whole, ..Lease::default() };
                        let deadline = now + lasts;
                        let held = LeaseOut { lease, open: Spans::of(0..1), made: Spans::default(), is_settled, deadline };
                        worker.leases.insert(now, held);
                    }
                    Event::Loses(_, which) => {
                        let lost = worker.leases.keys().nth(which).copied();
                        lost.map(|lease| worker.leases.remove(&lease));
                    }
                    Event::Goes(_) => {}
                }
                if !matches!(event, Event::Goes(_)) {
                    workers.insert(name.clone(), worker);
                }
                index.note(&name, workers.get(&name));
                compare(&index, &workers, now + 2);
            }
            prop_assert_eq!(index, WorkerIndex::of(&workers));
        }
    }
}
