//! What the stage works with, and what leaves it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel as channel;
use forebay_coordinator::{Batching, Plan};
use forebay_pixels::Recipe;
use forebay_proto::v1::Progress;
use forebay_ring::SlotMut;
use forebay_sources::Source;
use tokio::sync::watch;

use crate::ack::Fates;
use crate::cache::Cache;
use crate::decode::Pool;
use crate::gpu_ring::GpuRings;
use crate::meter::Meter;
use crate::prefetch::Prefetch;
use crate::publish::Ready;

/// What leaves the stage.
#[derive(Debug)]
pub(crate) enum Output {
    /// A batch for the trainers.
    Ready(Ready),
    /// A batch that no trainer can be given, for which the stream has failed, with the reason in words.
    Lost(Ready, String),
    /// A slot that was not needed.
    Unused(SlotMut),
    /// The storage gives nothing, in words for trainers.
    Stalled {
        /// How long, which file, and why.
        words: String,
        /// It has lasted for longer than they wait.
        expired: bool,
    },
    /// The storage gives files again.
    Resumed,
    /// The stream has failed, with the reason in words.
    Failed(String),
}

/// What the stage works with.
pub(crate) struct Parts {
    /// Name of the stream, for messages.
    pub stream: String,
    /// Where records come from.
    pub source: Arc<dyn Source>,
    /// Which record stands where.
    pub plan: Arc<Plan>,
    /// What becomes of pictures.
    pub recipe: Arc<Recipe>,
    /// Seed of the random choices.
    pub seed: u64,
    /// Static assignment: the shape of an epoch's batches.
    pub fixed: Option<Batching>,
    /// Records that were read.
    pub prefetch: Arc<Prefetch>,
    /// How long trainers wait for a storage that gives nothing.
    pub storage_timeout: Duration,
    /// Where decoded pictures are kept.
    pub cache: Option<Arc<Cache>>,
    /// The stream's rings in a GPU, where its pixels stand there.
    pub gpu: Option<Arc<GpuRings>>,
    /// Free slots.
    pub free: channel::Receiver<SlotMut>,
    /// Threads that decode.
    pub pool: Arc<Pool>,
    /// The GPU whose lanes decode, where the stream is bound to one.
    pub decode_gpu: Option<i32>,
    /// What the coordinator says about the epochs.
    pub progress: watch::Receiver<Progress>,
    /// What became of records without a trainer.
    pub fates: Fates,
    /// Where batches go.
    pub output: Box<dyn Fn(Output) + Send>,
    /// How long the stage waited for slots (writer) and for records (reader).
    pub meter: Arc<Meter>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("source", &self.source).field("fixed", &self.fixed).finish_non_exhaustive()
    }
}
