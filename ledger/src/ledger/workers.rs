//! The workers of a ledger, and the trainers that their former incarnations had.

mod expired;
mod missing;
mod replies;
mod roster;
mod worker;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use forebay_proto::v1::{StoredHead, StoredLease, StoredWorker};

use self::missing::Missing;
use self::roster::Roster;
pub(super) use self::worker::Worker;
use super::documents::{DocumentWriter, Revision};
use super::times::Times;

/// What the keys of workers' documents begin with.
pub(super) const WORKER: &str = "worker/";

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    roster: Roster,
    missing: Missing,
    /// Workers whose documents the next commit writes.
    dirty: BTreeSet<Arc<str>>,
    pub(super) revision: Revision,
}

impl Workers {
    /// From the head of a stored ledger, without the workers.
    pub(super) fn load(head: &StoredHead, now: u64, times: Times) -> Self {
        Self { missing: Missing::of(&head.missing, now.saturating_add(times.grace)), ..Self::default() }
    }

    /// Takes in a worker that was stored.
    pub(super) fn load_worker(&mut self, name: &Arc<str>, stored: StoredWorker, now: u64) {
        self.roster.put(name, Worker::load(stored, now));
    }

    pub(super) fn fill_head(&self, head: &mut StoredHead) {
        head.missing = self.missing.stored();
    }

    /// Writes the documents of these workers, and of those that have changed. A worker's document has its leases too.
    pub(super) fn write_changes(
        &mut self,
        mut others: BTreeSet<Arc<str>>,
        leases: impl Fn(&str) -> Vec<StoredLease>,
        documents: &mut DocumentWriter<'_>,
    ) {
        others.append(&mut self.dirty);
        self.write(&others, leases, documents);
    }

    pub(super) fn write_all(&self, leases: impl Fn(&str) -> Vec<StoredLease>, documents: &mut DocumentWriter<'_>) {
        self.write(self.roster.iter().map(|(name, _)| name), leases, documents);
    }

    fn write<'a>(
        &self,
        names: impl IntoIterator<Item = &'a Arc<str>>,
        leases: impl Fn(&str) -> Vec<StoredLease>,
        documents: &mut DocumentWriter<'_>,
    ) {
        for name in names {
            let worker = self.roster.get(name).map(|worker| worker.stored(leases(name)));
            documents.put(&format!("{WORKER}{name}"), worker.as_ref());
        }
    }

    /// The workers that are known.
    pub(super) const fn roster(&self) -> &Roster {
        &self.roster
    }

    pub(super) fn get(&self, name: &str) -> Option<&Worker> {
        self.roster.get(name)
    }

    /// Changes a worker, if it is known. What is stored of that is written with the next commit that has the worker's document.
    pub(super) fn change<R>(&mut self, name: &str, act: impl FnOnce(&mut Worker) -> R) -> Option<R> {
        self.roster.change(name, act)
    }

    /// Adds a worker, or replaces its incarnation. Gives the one that was.
    pub(super) fn replace(&mut self, name: &str, worker: Worker) -> Option<Worker> {
        let before = self.remove(name);
        self.roster.put(&Arc::from(name), worker);
        before
    }

    /// Takes a worker out. Its document is removed.
    pub(super) fn remove(&mut self, name: &str) -> Option<Worker> {
        self.write_with_next(name);
        self.roster.remove(name)
    }

    /// Takes all of them out.
    pub(super) fn remove_all(&mut self) {
        let all = std::mem::take(&mut self.roster);
        self.dirty.extend(all.iter().map(|(name, _)| Arc::clone(name)));
        self.revision.rise();
    }

    /// Ends the waiting of workers that were silent for so long.
    pub(super) fn stop_waits(&mut self, millis: u64, now: u64) {
        self.roster.stop_waits(millis, now);
    }

    /// The next commit writes the worker's document.
    pub(super) fn write_with_next(&mut self, name: &str) {
        if !self.dirty.contains(name) {
            self.dirty.insert(Arc::from(name));
        }
    }

    /// The worker was heard, so its expired leases did not end with its death.
    pub(super) fn hear(&mut self, name: &str, now: u64) {
        let had_expired = self.change(name, |worker| {
            worker.heard = now;
            worker.expired.forget()
        });
        if had_expired == Some(true) {
            self.write_with_next(name);
        }
    }

    /// Leases of a worker have expired, with these positions of an epoch that were in no finished batch.
    pub(super) fn note_expired(&mut self, name: &str, epoch: u64, positions: impl Iterator<Item = Range<u64>>) {
        self.change(name, |worker| worker.expired.add(epoch, positions));
    }

    /// Forgets the expired positions. No worker has a position any more, so no death can count late.
    pub(super) fn forget_expired(&mut self) {
        self.dirty.extend(self.roster.change_all(|worker| worker.expired.forget()));
    }

    /// Forgets which trainers each worker has. Others may have come since the snapshot from which the ledger continues.
    pub(super) fn forget_trainers(&mut self) {
        self.dirty.extend(self.roster.change_all(|worker| worker.trainers.take().is_some()));
    }

    /// Whether a trainer is attached to a worker.
    pub(super) fn is_attached(&self, name: &str, trainer: u64) -> bool {
        let here = self.get(name).and_then(|worker| worker.trainers.as_ref());
        here.is_some_and(|here| here.contains(&trainer))
    }

    /// Whether a trainer of a worker's former incarnations has not come back.
    pub(super) fn awaits_trainers(&self, name: &str) -> bool {
        self.missing.is_of(name)
    }

    /// Whether loads wait for this trainer of a worker's former incarnations.
    pub(super) fn is_awaited(&self, name: &str, trainer: u64, now: u64) -> bool {
        self.missing.is_awaited(name, trainer, now)
    }

    /// The last epoch in which a worker's trainers may have seen more than its receipts will report. `None` if they have
    /// seen nothing else: all have left, and the worker has reported what they had. Batches of epochs after `floor` are
    /// not offered.
    pub(super) fn seen_until(&self, name: &str, floor: u64) -> Option<u64> {
        let is_told = self.get(name).is_some_and(Worker::was_left) && !self.missing.is_of(name);
        (!is_told).then_some(floor)
    }

    /// The trainers of an incarnation that has ended are missing, until they come back.
    pub(super) fn miss_trainers(&mut self, name: &str, trainers: Option<&BTreeSet<u64>>) {
        self.missing.add(name, trainers);
        self.revision.rise();
    }

    /// Loads wait for missing trainers until this moment.
    pub(super) const fn await_trainers(&mut self, until: u64) {
        self.missing.wait_until(until);
    }

    /// These trainers are attached, and have handed in what they had. True if they were the last ones that the worker missed.
    pub(super) fn came_back(&mut self, name: &str, here: &BTreeSet<u64>) -> bool {
        let came_back = self.missing.came_back(name, here);
        if came_back.is_some() {
            self.revision.rise();
        }
        came_back == Some(true)
    }

    /// Until when loads wait for missing trainers.
    pub(super) const fn awaits_until(&self) -> Option<u64> {
        self.missing.until()
    }

    /// Waits no longer for the trainers that have not come back in time. Answers whether it did until now.
    pub(super) fn stop_awaiting(&mut self, now: u64) -> bool {
        let stops = self.missing.stop_waiting(now);
        if stops {
            self.revision.rise();
        }
        stops
    }

    /// Forgets missing trainers on whom nothing depends any more.
    pub(super) fn forget_missing(&mut self, matters: impl Fn(&str, &BTreeSet<u64>) -> bool) {
        if self.missing.retain(matters) {
            self.revision.rise();
        }
    }
}
