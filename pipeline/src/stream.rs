//! A running stream: its dataset, its pipeline, and the delivery of its batches.
//!
//! The pipeline can be stopped and started again (for a restore, a reset or another run). The delivery with its ring and
//! its trainers stays.

mod calls;
mod dataset;
mod decoders;
mod elsewhere;
mod identity;
mod idle;
mod open;
mod order;
mod policies;
mod report;
mod resources;
mod restart;
mod ring_memory;
mod rings;
mod stages;
mod summary;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use forebay_columns::SchemaError;
use forebay_delivery::{AttachRequest, Delivery, DeliveryError, ledger_code};
use forebay_ledger_client::CallError;
use forebay_plan::Batching;
use forebay_proto::v1::{AckItem, AuditReply, ListQuarantineReply, QuarantineKey, Snapshot, StreamStatus};
use forebay_ring::{Peer, RegionError, ShapeError, Socket, TooLittle, text_code};
use thiserror::Error;

use crate::box_column::NoBoxes;
use crate::cache::CacheError;
use crate::classes::ClassError;
use crate::decode::steps::StepError;
use crate::follow::NotFollowed;
use crate::latest_batch::LatestTurns;
use crate::placement::{Credentials, PixelPlace, PlacementRefusal};
use crate::samples::Samples;
use crate::settings::{Sharding, StreamSettings};
use crate::size_check::WrongSizes;
use crate::targets::UnknownColumn;
use dataset::Dataset;
pub use decoders::Decoders;
use elsewhere::ToldOfFailure;
pub use identity::Identity;
pub use open::{LedgerAccess, Node, OpenDataset, Opening, Surplus};
pub(crate) use order::StreamOrder;
pub use resources::SharedResources;
pub use ring_memory::RingMemory;
use rings::Site;
use stages::Stages;

/// A running stream.
#[derive(Debug)]
pub struct Stream {
    identity: Identity,
    settings: Arc<StreamSettings>,
    dataset: Arc<Dataset>,
    delivery: Arc<Delivery>,
    /// Where its rings are.
    site: Arc<Site>,
    pipeline: Stages,
    told_of_failure: ToldOfFailure,
    /// Generation of the ledger in which the stream has begun.
    generation: AtomicU64,
    opened: Instant,
}

/// Why a stream cannot be opened.
#[derive(Debug, Error)]
pub enum StreamError {
    /// The ledger.
    #[error("{0}")]
    Ledger(#[from] CallError),
    /// The ring's shape.
    #[error("the ring: {0}")]
    Shape(#[from] ShapeError),
    /// Decoders on other machines cannot make its pictures, and the daemon has no threads for them.
    #[error(
        "decoders on other machines make no pictures of a stream with {what}, and threads = 0 in [decode] leaves them all to those \
         decoders. Give this daemon decode threads (docs/cluster.md)"
    )]
    NotRemote {
        /// What it has.
        what: &'static str,
    },
    /// A column that the dataset does not have.
    #[error("columns: {0}")]
    Columns(#[from] UnknownColumn),
    /// A column that cannot follow the pictures.
    #[error("columns: {0}")]
    NotFollowed(#[from] NotFollowed),
    /// A transform that needs boxes.
    #[error("{0}")]
    NoBoxes(#[from] NoBoxes),
    /// A column that says nothing about mixed pictures.
    #[error(
        "mixing: column \"{column}\" has places in the picture (boxes, points or masks), which do not fit mixed pictures. \
         Leave the column out of `columns`, or leave out `mixing`"
    )]
    NotMixed {
        /// The column.
        column: String,
    },
    /// A setting that cannot be combined with mosaics.
    #[error("{key}: cannot be combined with a mosaic. Leave out `{key}`, or the mosaic")]
    NoMosaic {
        /// The setting.
        key: &'static str,
    },
    /// Classes that its steps cannot have.
    #[error("{0}")]
    Classes(#[from] ClassError),
    /// A function in Python that cannot be used.
    #[error("{0}")]
    Step(#[from] StepError),
    /// More columns than a batch has.
    #[error("columns: {0}")]
    Schema(#[from] SchemaError),
    /// Memory for the ring.
    #[error("the ring: {0}")]
    Memory(#[from] TooLittle),
    /// Memory for the cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Its pixels cannot be where they are requested.
    #[error("placement: {0}")]
    Placement(#[from] PlacementRefusal),
    /// The GPU that should decode does not.
    #[error("decode_gpu = {asked}: {there}. Leave decode_gpu out, or name lanes of that GPU in decode.lanes")]
    DecodeGpu {
        /// Its number.
        asked: i32,
        /// Which GPUs do, in words.
        there: String,
    },
    /// The ring itself.
    #[error("the ring: {0}")]
    Region(#[from] RegionError),
    /// Every group of trainers is to get each batch, and other nodes may have trainers.
    #[error(
        "stream \"{stream}\" has groups = \"each\", which needs a ledger of one daemon, but its ledger is at a coordinator \
         that serves several nodes. Leave out [coordinator] endpoint in this daemon's configuration, so that each node runs the \
         stream for itself, or give each trainer a shard with num_shards"
    )]
    Shared {
        /// Its name.
        stream: String,
    },
    /// The record numbers of the dataset cannot be planned.
    #[error("{0}")]
    Plan(#[from] forebay_plan::SpecError),
    /// Every epoch would be dropped completely, without end.
    #[error(
        "{records} records over {shards} shards never fill a batch of {batch_size}, and last_batch_policy = \"drop\" \
         leaves out batches that are not full: no epoch would ever have a batch. Lower batch_size, set \"partial\" or \"fill\", \
         or give epochs for that many epochs without a batch"
    )]
    NoBatch {
        /// Records of the dataset.
        records: u64,
        /// Shards that share them; 1 without.
        shards: u64,
        /// Places of a batch.
        batch_size: u32,
    },
    /// The system has no more threads or descriptors.
    #[error("the stream cannot be opened: {0}")]
    System(#[from] std::io::Error),
}

/// How long a stopping stream waits before it checks again whether trainers are done.
const DRAIN_STEP: Duration = Duration::from_millis(20);

impl StreamError {
    /// The error code for a refused trainer's program.
    pub fn code(&self) -> u32 {
        match self {
            Self::Ledger(error) => ledger_code(error),
            Self::Memory(_) | Self::Cache(_) | Self::Region(_) => text_code::MEMORY,
            Self::Placement(refusal) => refusal.code(),
            // The storage may give the headers a moment later, and the system may have threads and descriptors.
            Self::System(_) | Self::Classes(ClassError::Wrong(WrongSizes::Read { .. })) => text_code::BUSY,
            Self::Shape(_)
            | Self::Columns(_)
            | Self::Schema(_)
            | Self::NotFollowed(_)
            | Self::NoBoxes(_)
            | Self::NotMixed { .. }
            | Self::NoMosaic { .. }
            | Self::Classes(_)
            | Self::Step(_)
            | Self::Plan(_)
            | Self::Shared { .. }
            | Self::NoBatch { .. }
            | Self::NotRemote { .. }
            | Self::DecodeGpu { .. } => text_code::SETTINGS,
        }
    }
}

impl From<DeliveryError> for StreamError {
    fn from(error: DeliveryError) -> Self {
        match error {
            DeliveryError::Ledger(error) => Self::Ledger(error),
            DeliveryError::System(error) => Self::System(error),
        }
    }
}

impl Stream {
    /// Its name, and its shard if it has one.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Records of its dataset.
    pub fn records(&self) -> u64 {
        self.dataset.selected()
    }

    /// Its settings.
    pub fn settings(&self) -> &StreamSettings {
        &self.settings
    }

    /// What its pictures are made again from, beside its dataset: its settings as they were written, in JSON, and the records of
    /// the batch that was made last.
    pub fn drawing(&self) -> (&str, LatestTurns) {
        self.pipeline.drawing()
    }

    /// Where its pixels are.
    pub fn place(&self) -> PixelPlace {
        self.site.place()
    }

    /// Whether this trainer can read its pixels and is allowed to.
    ///
    /// # Errors
    /// The trainer is another user's and could write to them, or they are in a GPU and the trainer sees other GPUs.
    pub fn open_to(&self, trainer: &Credentials) -> Result<(), PlacementRefusal> {
        self.site.open_to(trainer, self.settings.pin_memory)
    }

    /// Whether its batches have all of these columns.
    ///
    /// # Errors
    /// They do not have one of them.
    pub fn has_columns(&self, names: &[String]) -> Result<(), UnknownColumn> {
        self.dataset.targets().has(names)
    }

    /// Admits a trainer.
    pub async fn attach(&self, socket: Socket, peer: Peer, request: AttachRequest) {
        self.delivery.attach(socket, peer, request, |epoch| report::info(self, epoch)).await;
    }

    /// Whether no trainer is attached at this moment.
    pub async fn is_left(&self) -> bool {
        self.delivery.see_who_left().await;
        self.is_idle()
    }

    /// Whether no trainer reads the stream, and either its shard belongs to another daemon now, or its run continues with
    /// another number of ranks. A trainer that wants the shard or the rank here needs the stream to be opened again
    /// (semantics rules 39 and 40).
    pub async fn has_moved(&self) -> bool {
        let ledger = self.delivery.ledger();
        if self.identity.part.is_none() || !self.is_idle() {
            return false;
        }
        // The worker may not know that yet. If the coordinator does not answer, the trainer is told later.
        if let Err(error) = ledger.heartbeat().await {
            tracing::debug!(stream = %self.identity, %error, "the ledger was not asked whose the shard is");
        }
        ledger.is_fenced()
    }

    /// Whether no trainer was attached at the last report of the ring's thread.
    pub fn is_idle(&self) -> bool {
        self.delivery.is_idle()
    }

    /// The stream's status. If the ledger refuses, for example after its run was forgotten, that is the stream's failure.
    pub async fn status(&self) -> StreamStatus {
        report::status(self).await
    }

    /// The stream's status, with the last known counts of the ledger. The ledger is not asked.
    pub async fn reading(&self) -> StreamStatus {
        report::reading(self).await
    }

    /// Its metrics.
    pub async fn show(&self, samples: &mut Samples) {
        report::show(self, samples).await;
    }

    /// The ledger's tallies from an epoch on, a page of them, with all that was handed in.
    ///
    /// # Errors
    /// The ledger cannot be asked; or it cannot be written, and something waits for that.
    pub async fn audit(&self, from_epoch: u64) -> Result<AuditReply, CallError> {
        self.delivery.ledger().audit(from_epoch).await
    }

    /// The quarantine's list behind an entry, a page of it, with all that was handed in.
    ///
    /// # Errors
    /// Those of [`audit`](Self::audit).
    pub async fn quarantine(&self, after: Option<QuarantineKey>) -> Result<ListQuarantineReply, CallError> {
        self.delivery.ledger().quarantine(after).await
    }

    /// The run's state, with these receipts counted as consumed (semantics rule 22).
    ///
    /// # Errors
    /// The ledger cannot be asked.
    pub async fn snapshot(&self, in_hand: Vec<AckItem>) -> Result<Snapshot, CallError> {
        self.delivery.ledger().snapshot(in_hand).await
    }

    /// Ends the stream while the daemon continues. The stream has no trainers any more, or it will begin again. An outage
    /// of a coordinator in another process is not waited for (semantics rule 34).
    pub async fn close(&self) {
        self.delivery.ledger().end();
        self.delivery.drain().await;
        drop(self.pipeline.stop().await);
        self.end().await;
    }

    /// Ends the stream with the daemon. It makes no new batches, trainers finish what they hold, and the rest is
    /// returned (semantics rule 21). An outage is waited for no longer than trainers are.
    pub async fn leave(&self, drain: Duration) {
        let deadline = Instant::now() + drain;
        let drained = async {
            self.delivery.drain().await;
            self.pipeline.leave().await;
            while Instant::now() < deadline && self.delivery.status().await.is_some_and(|ring| ring.unfinished > 0) {
                tokio::time::sleep(DRAIN_STEP).await;
            }
        };
        let late = async {
            tokio::time::sleep_until(deadline.into()).await;
            self.delivery.ledger().end();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = drained => self.delivery.ledger().end(),
            () = late => {}
        }
        self.end().await;
    }

    async fn end(&self) {
        self.delivery.tell_who_left().await;
        self.delivery.trainers_stay().await;
        self.delivery.close().await;
        self.delivery.ledger().flush().await;
        self.delivery.ledger().farewell().await;
        tracing::info!(stream = %self.identity, "the stream is closed");
    }
}

fn batching(settings: &StreamSettings) -> Batching {
    let pad_last_batch = match settings.sharding {
        Sharding::Static { pad_last_batch, .. } => pad_last_batch,
        Sharding::Dynamic | Sharding::Lockstep { .. } => false,
    };
    Batching { batch_size: settings.batch_size.into(), policy: settings.last_batch_policy, pad_last_batch }
}
