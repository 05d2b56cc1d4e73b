//! Trainers whose daemon ended, until they come back to the next one. What trainers may have seen of a daemon's leases follows
//! from them (semantics rule 15), and whose loads of a state count (rule 23).

use std::collections::{BTreeMap, BTreeSet};

use forebay_proto::v1::MissingTrainers;

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
    pub(super) fn of(stored: &[MissingTrainers], until: u64) -> Self {
        let named = stored.iter().filter(|missing| !missing.trainers.is_empty());
        let by_worker: BTreeMap<_, _> =
            named.map(|missing| (missing.worker.clone(), missing.trainers.iter().copied().collect())).collect();
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

    /// Loads wait until this moment.
    pub(super) const fn wait_until(&mut self, until: u64) {
        self.until = Some(until);
    }

    /// Loads wait no more if this moment is over. Answers whether they did until now.
    pub(super) fn stop_waiting(&mut self, now: u64) -> bool {
        let is_over = self.until.is_some_and(|until| until <= now);
        if is_over {
            self.until = None;
        }
        is_over
    }

    fn has(&self, worker: &str, trainer: u64) -> bool {
        self.by_worker.get(worker).is_some_and(|missing| missing.contains(&trainer))
    }

    /// The trainers of a worker's incarnation that has ended are missing. `None`: it did not name them.
    pub(super) fn add(&mut self, worker: &str, trainers: Option<&BTreeSet<u64>>) {
        let nameless = BTreeSet::from([NAMELESS]);
        for &trainer in trainers.unwrap_or(&nameless) {
            let missing = self.by_worker.entry(worker.to_owned()).or_default();
            // It is enough to know that there are more.
            missing.insert(if missing.len() < MOST { trainer } else { NAMELESS });
        }
    }

    /// Takes those out that have come back. Says whether they were the last ones of the worker, if one has come back.
    pub(super) fn came_back(&mut self, worker: &str, here: &BTreeSet<u64>) -> Option<bool> {
        let missing = self.by_worker.get_mut(worker)?;
        let before = missing.len();
        missing.retain(|trainer| !here.contains(trainer));
        let (has_changed, is_last) = (missing.len() < before, missing.is_empty());
        if is_last {
            self.by_worker.remove(worker);
        }
        has_changed.then_some(is_last)
    }

    /// Forgets those of workers on whom nothing depends, unless loads wait for them. Answers whether there were some.
    pub(super) fn retain(&mut self, matters: impl Fn(&str, &BTreeSet<u64>) -> bool) -> bool {
        let before = self.by_worker.len();
        if self.until.is_none() {
            self.by_worker.retain(|worker, trainers| matters(worker, trainers));
        }
        self.by_worker.len() < before
    }
}
