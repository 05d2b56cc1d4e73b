//! Suspects in the batch stage: which epochs have some, and what trainers are told of one that waits (semantics rule 9).

use std::collections::BTreeSet;
use std::time::Instant;

use forebay_delivery::Handover;

use super::look::WORTH_A_WORD;
use super::outlet::Outlet;
use crate::decode::Decoding;
use crate::record::Position;

/// What the stage knows of suspects.
#[derive(Debug, Default)]
pub(super) struct StageSuspects {
    /// Epochs with suspects.
    epochs: BTreeSet<u64>,
    /// Trainers were told that one waits.
    told: bool,
}

impl StageSuspects {
    /// Whether an epoch has some. What is read there out of turn may be one of them.
    pub(super) fn has_some(&self, epoch: u64) -> bool {
        self.epochs.contains(&epoch)
    }

    /// Notes whether a position is a suspect. Epochs before `floor` are complete.
    pub(super) fn note(&mut self, position: &Position, floor: impl FnOnce() -> u64) {
        if position.suspect && self.epochs.insert(position.epoch) {
            let floor = floor();
            self.epochs.retain(|epoch| *epoch >= floor);
        }
    }

    /// Tells trainers that a suspect waits for the machine, once, and when it has been made.
    pub(super) fn look(&mut self, now: Instant, decoding: &Decoding, outlet: &Outlet) {
        match decoding.suspect_wait() {
            Some((since, why)) if !self.told && now.saturating_duration_since(since) >= WORTH_A_WORD => {
                self.told = true;
                let stream = &outlet.stream;
                let words = format!(
                    "stream \"{stream}\" waits for a picture, because {why}. Nothing is lost, and it is made again: find out \
                     what ends that process, such as too little memory"
                );
                tracing::warn!(stream, why, "a picture cannot be made; it is tried again");
                outlet.hand_over(Handover::Stalled { words, expired: false });
            }
            None if std::mem::take(&mut self.told) => outlet.hand_over(Handover::Resumed),
            _ => {}
        }
    }
}
