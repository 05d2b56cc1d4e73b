//! What is told of a stream's stages, whether they run or not.

use std::sync::atomic::Ordering;

use forebay_proto::v1::FunctionStatus;
use forebay_sources::Reading;

use super::{StageMeters, Stages};
use crate::fill::BatchFill;
use crate::latest_batch::LatestTurns;
use crate::meter::Meter;
use crate::prefetch::Prefetch;
use crate::remote::roster::DecoderFigures;

impl Stages {
    /// Threads that decode, for this stream and others.
    pub(in crate::stream) fn decode_threads(&self) -> usize {
        self.pool.threads()
    }

    /// Its functions in Python, and how many processes call them.
    pub(in crate::stream) fn functions(&self) -> (Vec<FunctionStatus>, usize) {
        self.steps.as_ref().map(|steps| steps.report()).unwrap_or_default()
    }

    /// Threads that read, or the one that makes requests.
    pub(in crate::stream) fn readers(&self) -> usize {
        match self.dataset.source().reading() {
            Reading::Requests { .. } if self.mosaics().is_none() => 1,
            Reading::Threads | Reading::Requests { .. } => self.prefetch.threads,
        }
    }

    /// The settings as they were written, in JSON, and the records of the batch that was made last.
    pub(in crate::stream) fn drawing(&self) -> (&str, LatestTurns) {
        (&self.document, self.meters.latest.turns())
    }

    /// The meters of the stages that run whether or not the prefetch does, with the items of this stream. All streams
    /// share the decode threads, so their waits are those for all streams.
    pub(in crate::stream) fn meters(&self) -> [(&Meter, u64); 2] {
        let StageMeters { batch, decoded, .. } = &self.meters;
        [(self.pool.meter(), decoded.load(Ordering::Relaxed)), (batch, batch.waits().items)]
    }

    /// The unit in which the room of steps is counted, and how far records fill it. Nothing if all pictures have one size.
    pub(in crate::stream) fn fill(&self) -> Option<(&'static str, BatchFill)> {
        Some((self.settings.form.as_ref()?.unit(), self.meters.fill.sum()))
    }

    /// The decoders on other machines, by name.
    pub(in crate::stream) fn roster(&self) -> Vec<(String, DecoderFigures)> {
        self.meters.roster.all()
    }

    /// Looks at the prefetch. Returns nothing while the stream restarts, because there is no prefetch then.
    pub(in crate::stream) fn look_at_prefetch<T>(&self, look: impl FnOnce(&Prefetch) -> T) -> Option<T> {
        let state = self.state.try_lock().ok()?;
        state.running.as_ref().map(|running| look(&running.prefetch))
    }
}
