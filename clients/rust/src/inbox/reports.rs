//! What the daemon reports beside batches and ends of epochs: failures, waits, and words for the user. Pure.

use std::collections::VecDeque;

use forebay_ring::Missed;

use crate::watch::HeldBatch;

/// Most notices that are kept for a trainer that takes no batch for hours: the latest ones.
const MOST_NOTICES: usize = 32;

/// The reports that the caller has not been given yet, and those that hold until the daemon is another one.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// Code and text of FAILED: every later `next()` says so.
    failure: Option<(u32, String)>,
    /// Text of EVICT: this consumer gets nothing more.
    evicted: Option<String>,
    /// The batch that holds up the epoch, and whether it does so for too long.
    held: Option<(HeldBatch, bool)>,
    /// Text of STALLED.
    stalled: Option<String>,
    /// Batches that the trainer's group does not get, which the caller was not told of.
    missed: VecDeque<Missed>,
    /// Words of the daemon for the user, which the caller was not told.
    notices: VecDeque<String>,
}

impl Reports {
    pub(crate) fn fail(&mut self, code: u32, text: String) {
        self.failure = Some((code, text));
    }

    pub(crate) fn evict(&mut self, text: String) {
        self.evicted = Some(text);
    }

    pub(crate) fn hold_up(&mut self, held: HeldBatch, expired: bool) {
        self.held = Some((held, expired));
    }

    pub(crate) fn stall(&mut self, text: String) {
        self.stalled = Some(text);
    }

    pub(crate) fn miss(&mut self, missed: Missed) {
        self.missed.push_back(missed);
    }

    pub(crate) fn notice(&mut self, words: String) {
        if self.notices.len() == MOST_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(words);
    }

    /// A batch has come: the storage gives again.
    pub(super) fn flows(&mut self) {
        self.stalled = None;
    }

    /// An epoch has ended: no batch holds it up.
    pub(super) fn epoch_ended(&mut self) {
        self.held = None;
    }

    /// The run went back, or left its epoch: what kept it from continuing no longer holds.
    pub(super) fn fence(&mut self) {
        self.failure = None;
        self.held = None;
        self.stalled = None;
    }

    /// A new daemon has taken over, which reports itself what fails and what holds up the epoch.
    pub(super) fn take_over(&mut self) {
        self.failure = None;
        self.held = None;
    }

    pub(crate) fn failure(&self) -> Option<(u32, String)> {
        self.failure.clone()
    }

    pub(crate) fn evicted(&self) -> Option<String> {
        self.evicted.clone()
    }

    /// The latest word on who holds up the epoch, once.
    pub(crate) fn take_held(&mut self) -> Option<(HeldBatch, bool)> {
        self.held.take()
    }

    /// That the storage has given nothing for too long, once.
    pub(crate) fn take_stalled(&mut self) -> Option<String> {
        self.stalled.take()
    }

    /// What the trainer's group has missed, each once.
    pub(crate) fn take_missed(&mut self) -> Option<Missed> {
        self.missed.pop_front()
    }

    /// What the daemon has said to the user, each once.
    pub(crate) fn take_notice(&mut self) -> Option<String> {
        self.notices.pop_front()
    }
}
