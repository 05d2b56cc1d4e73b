//! Trainers whose daemon ended, until they come back to the next one. What trainers may have seen of a daemon's leases follows
//! from them (semantics rule 15), and whose loads of a state count (rule 23).

use std::collections::{BTreeMap, BTreeSet};

use forebay_proto::v1::{Cause, MissingTrainers};

use super::{Ledger, ReturnedPositions, Worker};

/// Most missing trainers of a worker whose numbers are kept.
const MOST: usize = 4096;
/// Among the numbers of trainers, this is for those that have none. They never come back.
const NAMELESS: u64 = 0;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Missing {
    /// Never an empty set.
    by_worker: BTreeMap<String, BTreeSet<u64>>,
    /// Until when loads wait for them. Not stored: after a restart of the coordinator, they have the full time again.
    until: Option<u64>,
}

impl Missing {
    /// From the stored lists. Loads wait until this moment.
    pub(super) fn of(stored: Vec<MissingTrainers>, until: u64) -> Self {
        let named = stored.into_iter().filter(|missing| !missing.trainers.is_empty());
        let by_worker: BTreeMap<_, _> =
            named.map(|missing| (missing.worker, missing.trainers.into_iter().collect())).collect();
        let until = (!by_worker.is_empty()).then_some(until);
        Self { by_worker, until }
    }

    pub(super) fn stored(&self) -> Vec<MissingTrainers> {
        let stored = |(worker, trainers): (&String, &BTreeSet<u64>)| MissingTrainers {
            worker: worker.clone(),
            trainers: trainers.iter().copied().collect(),
        };
        self.by_worker.iter().map(stored).collect()
    }

    /// Whether loads wait for this trainer of a worker.
    pub(super) fn is_awaited(&self, worker: &str, trainer: u64, now: u64) -> bool {
        self.until.is_some_and(|until| now < until) && self.has(worker, trainer)
    }

    /// Whether a trainer of the worker has not come back.
    pub(super) fn is_of(&self, worker: &str) -> bool {
        self.by_worker.contains_key(worker)
    }

    /// Until when loads wait.
    pub(super) const fn until(&self) -> Option<u64> {
        self.until
    }

    fn has(&self, worker: &str, trainer: u64) -> bool {
        self.by_worker.get(worker).is_some_and(|missing| missing.contains(&trainer))
    }

    fn add(&mut self, worker: &str, trainers: impl IntoIterator<Item = u64>) {
        for trainer in trainers {
            let missing = self.by_worker.entry(worker.to_owned()).or_default();
            // It is enough to know that there are more.
            missing.insert(if missing.len() < MOST { trainer } else { NAMELESS });
        }
    }

    /// Takes those out that have come back. True if no other one of the worker is missing then.
    fn came_back(&mut self, worker: &str, here: &BTreeSet<u64>) -> bool {
        let Some(missing) = self.by_worker.get_mut(worker) else { return false };
        missing.retain(|trainer| !here.contains(trainer));
        let is_last = missing.is_empty();
        if is_last {
            self.by_worker.remove(worker);
        }
        is_last
    }
}

impl Ledger {
    /// Whether a trainer of a worker's former incarnations has not come back.
    pub(crate) fn awaits_trainers(&self, worker: &str) -> bool {
        self.missing.is_of(worker)
    }

    /// The last epoch of which a worker's trainers may have seen more than its receipts will tell. `None`: they have seen nothing
    /// else, because all have left and the worker has told what they had. No batch is offered of an epoch behind `floor`.
    pub(super) fn seen_until(&self, worker: &str, floor: u64) -> Option<u64> {
        let has_left = |known: &Worker| known.trainers.as_ref().is_some_and(BTreeSet::is_empty);
        let is_told = self.workers.get(worker).is_some_and(has_left) && !self.missing.is_of(worker);
        (!is_told).then_some(floor)
    }

    /// The trainers of a worker's incarnation that has ended are missing, until they come back.
    pub(super) fn miss_trainers(&mut self, worker: &str, ended: &Worker) {
        match &ended.trainers {
            Some(trainers) => self.missing.add(worker, trainers.iter().copied()),
            None => self.missing.add(worker, [NAMELESS]),
        }
        self.touch();
    }

    /// A worker has a new incarnation. What the former one had waits for the missing trainers. If there are none, it waits for
    /// nothing.
    pub(super) fn await_trainers(&mut self, worker: &str, has_ended: bool, now: u64) {
        if self.missing.is_of(worker) {
            self.missing.until = Some(now.saturating_add(self.times.grace));
        } else if has_ended {
            self.all_are_back(worker);
        }
    }

    /// These trainers are attached, and have handed in what they had.
    pub(super) fn trainers_are_back(&mut self, worker: &str, here: &BTreeSet<u64>) {
        if self.missing.came_back(worker, here) {
            self.all_are_back(worker);
        }
    }

    /// Nothing is handed in any more of what a worker's former incarnations had. So no trainer has seen the rest.
    fn all_are_back(&mut self, worker: &str) {
        for back in self.returned.iter_mut().filter(|back| back.kept_for_consumers && back.worker == worker) {
            back.not_before = 0;
            if back.cause == Cause::DaemonDied {
                back.cause = Cause::Unseen;
            }
        }
        self.touch();
    }

    /// Waits no longer for the trainers that have not come back in time.
    pub(super) fn stop_waiting_for_trainers(&mut self, now: u64) {
        if self.missing.until.is_none_or(|until| now < until) {
            return;
        }
        self.missing.until = None;
        self.forget_missing();
        self.touch();
    }

    /// Forgets missing trainers on whom nothing depends any more: nothing of what they may have seen is left to lease, and none
    /// has loaded the run's state.
    pub(super) fn forget_missing(&mut self) {
        let undecided = |back: &&ReturnedPositions| back.kept_for_consumers && back.cause == Cause::DaemonDied;
        let open: BTreeSet<&str> = self.returned.iter().filter(undecided).map(|back| &*back.worker).collect();
        let Self { missing, loads, .. } = self;
        if missing.until.is_none() {
            let has_loaded = |trainers: &BTreeSet<u64>| trainers.iter().any(|trainer| loads.has(*trainer));
            missing.by_worker.retain(|worker, trainers| open.contains(&**worker) || has_loaded(trainers));
        }
    }
}

/// How trainers may have seen positions that come back for this cause.
pub(super) fn seen_by(cause: Cause, epoch: u64, seen_until: Option<u64>) -> Cause {
    if seen_until.is_some_and(|last| epoch <= last) { cause } else { Cause::Unseen }
}
