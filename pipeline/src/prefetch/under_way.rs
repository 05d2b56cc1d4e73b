//! The requests that are under way, so that unwanted ones can be withdrawn. A request keeps its memory until it ends.

use std::collections::HashMap;
use std::time::Instant;

use forebay_sources::Withdrawal;

use super::readahead::ReadJob;

/// The requests without an answer, by the read and by when it began, because a record may be requested again.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    requests: HashMap<(u64, Instant), (ReadJob, Withdrawal)>,
}

impl UnderWay {
    pub(super) fn begin(&mut self, job: ReadJob, withdrawal: Withdrawal) {
        self.requests.insert((job.id, job.began), (job, withdrawal));
    }

    pub(super) fn end(&mut self, job: &ReadJob) {
        self.requests.remove(&(job.id, job.began));
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Takes out the requests that are not wanted. Withdraw them while no lock is held, because their answers may come at
    /// once.
    pub(super) fn unwanted(&mut self, is_wanted: impl Fn(&ReadJob) -> bool) -> Vec<Withdrawal> {
        let unwanted = self.requests.extract_if(|_, (job, _)| !is_wanted(job));
        unwanted.map(|(_, (_, withdrawal))| withdrawal).collect()
    }
}
