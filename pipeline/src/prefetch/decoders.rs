//! What the task that asks decoders on other machines takes of the reads ahead, and gives to them.

use std::sync::Arc;
use std::time::Instant;

use forebay_sources::Container;

use super::Prefetch;
use super::loaded::Loaded;
use super::readahead::{Noted, ReadJob};
use crate::remote::answer::AnsweredPicture;
use crate::remote::lane::TakenBack;
use crate::remote::share::RemoteShare;

impl Prefetch {
    /// What is shared with the task that asks decoders, if there are some.
    pub(crate) fn remote(&self) -> Option<&Arc<RemoteShare>> {
        self.shared.remote.as_ref()
    }

    /// Whether nothing is read any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.state.lock().closed
    }

    /// The next position for a decoder. If there is no memory for further answers, only the oldest one is given.
    pub(crate) fn decoder_job(&self, is_full: bool) -> Option<ReadJob> {
        let job = self.shared.state.lock().ahead.decoder_job(is_full, Instant::now())?;
        if job.last {
            self.shared.hungry.notify_one();
        }
        Some(job)
    }

    /// The size of a record and its version, as far as its source knows them.
    pub(crate) fn known_of(&self, record: u64) -> (u64, Option<String>) {
        let version = match self.source.locator(record).container {
            Container::Object { version, .. } => version,
            Container::File(_) => None,
        };
        (self.source.size(record), version)
    }

    /// Takes what a decoder has made of a position.
    pub(crate) fn made(&self, job: &ReadJob, made: AnsweredPicture) {
        let noted = self.shared.state.lock().ahead.made(job, Loaded::Made(made), Instant::now());
        if noted != Noted::Behind {
            self.shared.announce();
        }
    }

    /// Takes a position back from a decoder.
    pub(crate) fn take_back(&self, back: &TakenBack<ReadJob>) {
        self.shared.state.lock().ahead.take_back(&back.item, back.here, back.suspect);
        self.shared.work.notify_one();
    }
}
