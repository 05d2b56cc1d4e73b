//! What a client knows of its run beyond the replies to single commands. Each change goes straight to the ring's thread.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forebay_proto::v1::{LedgerUpdate, Progress, RunFailure};
use tokio::sync::watch;

use super::others::OtherWorkers;
use crate::consumers::{InboxMessage, Outbox};
use crate::ledger_event::LedgerEvent;

/// See the module.
#[derive(Debug)]
pub struct LedgerUpdates {
    progress: watch::Sender<Progress>,
    /// Whether the run has failed, whichever daemon's record it was, with the ledger's generation.
    failure: watch::Sender<(u64, RunFailure)>,
    others: OtherWorkers,
    ring: Outbox,
}

impl LedgerUpdates {
    /// The progress at the start. The ring's thread hears of it first.
    pub(super) fn new(progress: Progress, ring: Outbox) -> Self {
        ring.post(InboxMessage::Progress(progress));
        Self {
            progress: watch::Sender::new(progress),
            failure: watch::Sender::default(),
            others: OtherWorkers::default(),
            ring,
        }
    }

    /// What the coordinator last said about the epochs.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Whether the run has failed, as the coordinator last said, with the generation in which it has.
    pub fn failure(&self) -> watch::Receiver<(u64, RunFailure)> {
        self.failure.subscribe()
    }

    /// Tails of epochs below this one can be leased.
    pub fn tails(&self) -> watch::Receiver<u64> {
        self.others.tails()
    }

    /// Epochs below this one are left to other workers, whose trainers wait for them.
    pub fn recalled(&self) -> watch::Receiver<u64> {
        self.others.recalled()
    }

    /// Whether this worker's trainers wait for what others have of an epoch. Its heartbeats say so.
    pub(crate) fn waiting(&self) -> Arc<AtomicBool> {
        self.others.waiting()
    }

    /// Whether this worker's trainers wait for others, as the coordinator is told now.
    pub(super) fn say_who_waits(&self) -> bool {
        self.others.say()
    }

    /// Hears what the coordinator tells all workers of the ledger, as the worker of this name.
    pub(super) fn hear(&self, mut update: LedgerUpdate, name: &str) {
        self.hear_progress(update.progress);
        self.hear_failure(update.progress, update.failure.take());
        if let Some(others) = self.others.hear(update, name) {
            self.tell(LedgerEvent::Others(others));
        }
    }

    pub(super) fn hear_progress(&self, progress: Option<Progress>) {
        let Some(progress) = progress else { return };
        self.progress.send_if_modified(|known| {
            // What was said before a restore may arrive after it.
            let is_new = progress.generation >= known.generation && std::mem::replace(known, progress) != progress;
            if is_new {
                // Under the channel's lock: of two replies at once, the ring's thread hears the same one last.
                self.ring.post(InboxMessage::Progress(progress));
            }
            is_new
        });
    }

    /// Notes whether the run has failed, unless the report is older than the one that is known.
    pub(super) fn hear_failure(&self, progress: Option<Progress>, failure: Option<RunFailure>) {
        let (Some(Progress { generation, .. }), Some(failure)) = (progress, failure) else { return };
        self.failure.send_if_modified(|(known_generation, known)| {
            let is_new = (generation, failure.number) > (*known_generation, known.number);
            let has_changed = is_new && failure.why != known.why;
            if is_new {
                (*known_generation, *known) = (generation, failure);
            }
            has_changed
        });
    }

    /// Tells the ring's thread of leases and batches.
    pub(crate) fn tell(&self, word: LedgerEvent) {
        self.ring.post(InboxMessage::Ledger(word));
    }

    /// Where the ring's thread is told.
    pub(crate) const fn ring(&self) -> &Outbox {
        &self.ring
    }
}
