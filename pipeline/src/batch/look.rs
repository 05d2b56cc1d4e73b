//! What the ring's thread hears of what the batch stage waits for: a storage that gives nothing, and what the current epoch waits
//! for.

use std::time::{Duration, Instant};

use forebay_delivery::{Handover, StageWait};

use super::outlet::Outlet;
use crate::prefetch::{Patience, Prefetch, StorageNotice, StorageWait};

/// Trainers that wait for a shorter time are not told why.
pub(super) const WORTH_A_WORD: Duration = Duration::from_secs(10);

/// Tells the log, and trainers that wait, of a storage that gives nothing, and when it gives all files again.
pub(super) fn tell_storage(now: Instant, prefetch: &Prefetch, patience: &mut Patience, outlet: &Outlet) {
    let wait = prefetch.storage_wait(now);
    let (stream, word) = (&outlet.stream, patience.look(now, wait.as_ref().map(|wait| wait.since)));
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
                outlet.hand_over(Handover::Stalled { words, expired });
            }
        }
        (Some(StorageNotice::Over(time)), _) => {
            tracing::info!(stream, seconds = time.as_secs(), "the storage gives all files again");
            if time >= WORTH_A_WORD {
                outlet.hand_over(Handover::Resumed);
            }
        }
        _ => {}
    }
}

/// What the ring knows that the stage waits for.
#[derive(Debug, Default)]
pub(super) struct ToldWait(StageWait);

impl ToldWait {
    /// Tells the ring what a batch of the current epoch waits for, if that has changed.
    pub(super) fn tell(&mut self, wait: StageWait, outlet: &Outlet) {
        if std::mem::replace(&mut self.0, wait) != wait {
            outlet.hand_over(Handover::Waits(wait));
        }
    }
}
