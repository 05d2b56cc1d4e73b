//! The workers by name, and in the order in which they were heard, so that no command looks at all of them. The orders follow from
//! the workers, and change only with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::worker::Worker;

/// Names of workers, each behind the moment at which it was heard.
type ByMoment = BTreeSet<(u64, Arc<str>)>;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::ledger) struct Roster {
    by_name: BTreeMap<Arc<str>, Worker>,
    /// All of them.
    heard: ByMoment,
    /// Those whose trainers wait for the end of an epoch.
    waiting: ByMoment,
    /// Those that have trainers.
    attended: ByMoment,
}

/// What of a worker decides its places in the orders.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WorkerOrder {
    heard: u64,
    waits: bool,
    attended: bool,
}

impl WorkerOrder {
    const fn of(worker: &Worker) -> Self {
        Self { heard: worker.heard, waits: worker.waits, attended: worker.attended }
    }
}

impl Roster {
    pub(in crate::ledger) fn get(&self, name: &str) -> Option<&Worker> {
        self.by_name.get(name)
    }

    /// All of them, by name.
    pub(in crate::ledger) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Worker)> {
        self.by_name.iter()
    }

    pub(in crate::ledger) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Changes a worker, if it is known.
    pub(super) fn change<R>(&mut self, name: &str, act: impl FnOnce(&mut Worker) -> R) -> Option<R> {
        let worker = self.by_name.get_mut(name)?;
        let before = WorkerOrder::of(worker);
        let result = act(worker);
        let now = WorkerOrder::of(worker);
        if before != now {
            let name = self.by_name.get_key_value(name).map(|(name, _)| Arc::clone(name))?;
            self.take_out(&name, before);
            self.put_in(&name, now);
        }
        Some(result)
    }

    /// Changes all workers. Gives the names of those of which `act` says that it has changed them.
    pub(super) fn change_all(&mut self, act: impl Fn(&mut Worker) -> bool) -> Vec<Arc<str>> {
        let names: Vec<_> = self.by_name.keys().cloned().collect();
        names.into_iter().filter(|name| self.change(name, &act) == Some(true)).collect()
    }

    /// Adds a worker of a new name.
    pub(super) fn put(&mut self, name: &Arc<str>, worker: Worker) {
        self.put_in(name, WorkerOrder::of(&worker));
        self.by_name.insert(Arc::clone(name), worker);
    }

    fn put_in(&mut self, name: &Arc<str>, worker: WorkerOrder) {
        for order in self.orders_of(worker) {
            order.insert((worker.heard, Arc::clone(name)));
        }
    }

    fn take_out(&mut self, name: &Arc<str>, worker: WorkerOrder) {
        let place = (worker.heard, Arc::clone(name));
        for order in self.orders_of(worker) {
            order.remove(&place);
        }
    }

    /// The orders that have a place for such a worker.
    fn orders_of(&mut self, worker: WorkerOrder) -> impl Iterator<Item = &mut ByMoment> {
        let all = [(&mut self.heard, true), (&mut self.waiting, worker.waits), (&mut self.attended, worker.attended)];
        all.into_iter().filter_map(|(order, has_place)| has_place.then_some(order))
    }

    /// Takes a worker out.
    pub(super) fn remove(&mut self, name: &str) -> Option<Worker> {
        let (name, worker) = self.by_name.remove_entry(name)?;
        self.take_out(&name, WorkerOrder::of(&worker));
        Some(worker)
    }

    /// Workers that were silent for so long.
    pub(in crate::ledger) fn silent_for(&self, millis: u64, now: u64) -> impl Iterator<Item = &Arc<str>> {
        passed(&self.heard, millis, now)
    }

    /// When another worker will have been silent for so long. Those that were before are left out.
    pub(in crate::ledger) fn next_silent(&self, millis: u64, now: u64) -> Option<u64> {
        let first = now.checked_sub(millis).map_or(0, |last| last.saturating_add(1));
        let mut to_come = self.heard.range((first, Arc::from(""))..);
        to_come.next().map(|(heard, _)| heard.saturating_add(millis))
    }

    /// Workers that wait, and were silent for so long, wait no more.
    pub(super) fn stop_waits(&mut self, millis: u64, now: u64) {
        let silent: Vec<_> = passed(&self.waiting, millis, now).cloned().collect();
        for name in silent {
            self.change(&name, |worker| worker.waits = false);
        }
    }

    /// When a worker that waits will have been silent for so long.
    pub(in crate::ledger) fn next_waiting(&self, millis: u64) -> Option<u64> {
        self.waiting.first().map(|(heard, _)| heard.saturating_add(millis))
    }

    /// Whether a worker waits for the end of an epoch.
    pub(in crate::ledger) fn is_one_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The worker beside this one that was heard last, and when that was.
    pub(in crate::ledger) fn heard_beside(&self, name: &str) -> Option<(&str, u64)> {
        last_beside(&self.heard, name)
    }

    /// The same among those that have trainers.
    pub(in crate::ledger) fn attended_beside(&self, name: &str) -> Option<(&str, u64)> {
        last_beside(&self.attended, name)
    }
}

/// Those whose moment was so long ago.
fn passed(order: &ByMoment, millis: u64, now: u64) -> impl Iterator<Item = &Arc<str>> {
    order.iter().take_while(move |(moment, _)| moment.saturating_add(millis) <= now).map(|(_, name)| name)
}

/// The last one that is not this worker.
fn last_beside<'a>(order: &'a ByMoment, name: &str) -> Option<(&'a str, u64)> {
    order.iter().rev().find(|(_, other)| **other != *name).map(|(moment, other)| (&**other, *moment))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What happens to a worker: it speaks, and says whether it waits and has trainers, or it is gone.
    type Event = (usize, Option<(bool, bool)>);

    fn names<'a>(of: impl Iterator<Item = &'a Arc<str>>) -> BTreeSet<&'a str> {
        of.map(|name| &**name).collect()
    }

    /// Each order says what a look at each worker says.
    fn compare(workers: &Roster, now: u64) {
        let which = |is_meant: &dyn Fn(&Worker) -> bool| -> BTreeSet<&str> {
            workers.by_name.iter().filter(|(_, worker)| is_meant(worker)).map(|(name, _)| &**name).collect()
        };
        for millis in [0, 3] {
            let is_silent = |worker: &Worker| worker.heard + millis <= now;
            assert_eq!(names(workers.silent_for(millis, now)), which(&is_silent));
            assert_eq!(
                names(passed(&workers.waiting, millis, now)),
                which(&|worker| worker.waits && is_silent(worker))
            );
            let heard = workers.by_name.values().map(|worker| worker.heard + millis);
            assert_eq!(workers.next_silent(millis, now), heard.filter(|moment| *moment > now).min());
        }
        let waiting = workers.by_name.values().filter(|worker| worker.waits).map(|worker| worker.heard + 3).min();
        assert_eq!((workers.next_waiting(3), workers.is_one_waiting()), (waiting, waiting.is_some()));
        for name in ["w0", "w3", "nobody"] {
            let others = || workers.by_name.iter().filter(|(other, _)| ***other != *name).map(|(_, worker)| worker);
            let last = others().map(|worker| worker.heard).max();
            assert_eq!(workers.heard_beside(name).map(|(_, heard)| heard), last);
            let last = others().filter(|worker| worker.attended).map(|worker| worker.heard).max();
            assert_eq!(workers.attended_beside(name).map(|(_, heard)| heard), last);
        }
    }

    proptest! {
        #[test]
        fn each_order_says_what_a_look_at_each_worker_says(
            events in proptest::collection::vec((0..5_usize, proptest::option::weighted(0.8, any::<(bool, bool)>())), 0..60),
        ) {
            let mut workers = Roster::default();
            for (now, (number, said)) in (0..).zip::<Vec<Event>>(events) {
                let name = format!("w{number}");
                let Some((waits, attended)) = said else {
                    workers.remove(&name);
                    compare(&workers, now + 2);
                    continue;
                };
                if workers.get(&name).is_none() {
                    workers.put(&Arc::from(&*name), Worker::default());
                }
                workers.change(&name, |worker| (worker.heard, worker.waits, worker.attended) = (now, waits, attended));
                compare(&workers, now + 2);
                workers.stop_waits(3, now);
                compare(&workers, now + 2);
            }
        }
    }
}
