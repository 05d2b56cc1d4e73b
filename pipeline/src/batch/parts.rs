//! What the batch stage works with.

use std::sync::Arc;

use forebay_proto::v1::Progress;
use tokio::sync::watch;

use crate::batch::finish::Finish;
use crate::batch::order::RecordOrder;
use crate::batch::outlet::Outlet;
use crate::batch::stage_slots::StageSlots;
use crate::decode::Decoding;
use crate::prefetch::{Patience, Prefetch};

/// What the stage works with.
#[derive(Debug)]
pub(crate) struct BatchParts {
    /// Which record is where.
    pub order: RecordOrder,
    /// Records that were read.
    pub prefetch: Arc<Prefetch>,
    /// When trainers are told that the storage gives nothing.
    pub patience: Patience,
    /// What fills no batch at an epoch's end is put together with what other daemons have (semantics rule 36).
    pub shares_tails: bool,
    /// Where batches are made.
    pub slots: StageSlots,
    /// What becomes of pictures.
    pub decoding: Decoding,
    /// What becomes of settled batches.
    pub finish: Finish,
    /// What the coordinator says about the epochs.
    pub progress: watch::Receiver<Progress>,
    /// Where batches go.
    pub outlet: Outlet,
}

impl BatchParts {
    /// The first epoch that is not complete.
    pub(super) fn floor(&self) -> u64 {
        self.progress.borrow().floor
    }
}
