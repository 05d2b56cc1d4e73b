//! What the batch stage looks at once a second: reads that take too long, a storage that gives nothing, and what the current
//! epoch waits for.

use std::time::{Duration, Instant};

use forebay_delivery::{Fate, Handover, StageWait};

use super::BatchStage;
use crate::prefetch::{StorageNotice, StorageWait};
use crate::record::BadRecord;

/// Trainers that wait for a shorter time are not told why.
pub(super) const WORTH_A_WORD: Duration = Duration::from_secs(10);

impl BatchStage {
    /// What time brings: reads that take too long, and a storage that gives nothing.
    pub(super) fn look(&mut self, now: Instant) {
        self.tell_wait();
        self.parts.prefetch.expire(now);
        self.look_at_suspects(now);
        let wait = self.parts.prefetch.storage_wait(now);
        let (stream, word) = (&self.parts.stream, self.patience.look(now, wait.as_ref().map(|wait| wait.since)));
        match (word, wait) {
            (Some(StorageNotice::Waits { time, log, expired }), Some(StorageWait { reason, .. })) => {
                let seconds = time.as_secs();
                if log {
                    tracing::warn!(stream, seconds, reason, "the storage does not give a file; reads are retried");
                }
                let words = format!(
                    "stream \"{stream}\" has waited {seconds} s for a file ({reason}). Nothing is lost, and reads are \
                     retried: fix the cause"
                );
                if expired || time >= WORTH_A_WORD {
                    (self.parts.output)(Handover::Stalled { words, expired });
                }
            }
            (Some(StorageNotice::Over(time)), _) => {
                tracing::info!(stream, seconds = time.as_secs(), "the storage gives all files again");
                if time >= WORTH_A_WORD {
                    (self.parts.output)(Handover::Resumed);
                }
            }
            _ => {}
        }
    }

    /// Tells the ring, and then the ledger, of a bad record: it may be the last one of its epoch.
    pub(super) fn tell_bad(&mut self, bad: BadRecord) {
        (self.parts.output)(Handover::Bad { epoch: bad.position.epoch, reason: bad.to_string() });
        self.tell(Fate::Bad(bad.into()));
    }

    /// Tells the ring what a batch of the current epoch waits for, if that has changed.
    fn tell_wait(&mut self) {
        let current = self.parts.progress.borrow().floor;
        let is_mixing = || self.parts.mixer.as_ref().is_some_and(|mixer| !mixer.is_idle());
        let wait = match () {
            () if self.lacks_slot => StageWait::Slot,
            () if self.batcher.is_busy_with(current) || is_mixing() => StageWait::Decoding,
            () if self.parts.prefetch.has(current) => StageWait::Reading,
            () => StageWait::Nothing,
        };
        if std::mem::replace(&mut self.told, wait) != wait {
            (self.parts.output)(Handover::Waits(wait));
        }
    }
}
