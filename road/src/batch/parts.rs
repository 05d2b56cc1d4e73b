//! What the batch stage works with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel as channel;
use forebay_delivery::{Fates, Handover};
use forebay_proto::v1::Progress;
use tokio::sync::watch;

use crate::batch::order::RecordOrder;
use crate::batch::slots::Slots;
use crate::decode::Decoding;
use crate::decode::mixing::Mixer;
use crate::meter::Meter;
use crate::prefetch::Prefetch;
use crate::targets::TargetWriter;

/// What the stage works with.
pub(crate) struct BatchParts {
    /// Name of the stream, for messages.
    pub stream: String,
    /// How long trainers wait for a storage that gives nothing.
    pub storage_timeout: Duration,
    /// Writes the columns that come from the dataset.
    pub targets: TargetWriter,
    /// Which record is where.
    pub order: RecordOrder,
    /// Records that were read.
    pub prefetch: Arc<Prefetch>,
    /// What fills no batch at an epoch's end is put together with what other daemons have (semantics rule 36).
    pub shares_tails: bool,
    /// Where batches are made.
    pub slots: Slots,
    /// Numbers of batches that have given way in the ring. Each is told before its slot comes.
    pub gave_way: channel::Receiver<u64>,
    /// What becomes of pictures.
    pub decoding: Decoding,
    /// What mixes the pictures of settled batches, if the stream does that.
    pub mixer: Option<Mixer>,
    /// What the coordinator says about the epochs.
    pub progress: watch::Receiver<Progress>,
    /// What became of records without a trainer.
    pub fates: Fates,
    /// Where batches go.
    pub output: Box<dyn Fn(Handover) + Send>,
    /// How long the stage waited for slots (writer) and for records (reader).
    pub meter: Arc<Meter>,
}

impl fmt::Debug for BatchParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchParts").field("stream", &self.stream).field("order", &self.order).finish_non_exhaustive()
    }
}
