//! A stream that runs: its dataset, its standing with the coordinator, its ring's thread and its pipeline.
//!
//! The pipeline may be stopped and started again (a restore, a reset, another run); the ring and its trainers stay.

mod calls;
mod dataset;
mod hand_in;
mod open;
mod pipeline;
mod report;
mod ring_memory;
mod rings;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_coordinator::{Batching, CallError};
use forebay_pixels::Recipe;
use forebay_proto::v1::{AckItem, Snapshot};
use forebay_ring::{ConsumerId, Peer, RegionError, ShapeError, SlotMut, Socket, TooLittle, text_code};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::{oneshot, watch};

use crate::ack::{Fate, Fates, ReceiptCounts};
use crate::cache::CacheError;
use crate::consumers::{Arrival, Counters, Note, Outbox};
use crate::decode::Pool;
use crate::gpu_ring::{GpuRings, RingCosts};
use crate::meter::Meter;
use crate::placement::{Credentials, PixelPlace, PlacementRefusal};
use crate::settings::{PrefetchSettings, Sharding, StreamSettings};
use crate::worker::Worker;
use dataset::Dataset;
pub use hand_in::HandIns;
pub use open::{Identity, Opening, Surplus};
use pipeline::Pipeline;
use report::Counted;
pub use ring_memory::RingMemory;

/// A running stream.
#[derive(Debug)]
pub struct Stream {
    identity: Identity,
    settings: StreamSettings,
    dataset: Dataset,
    recipe: Arc<Recipe>,
    spec_hash: Vec<u8>,
    worker: Arc<Worker>,
    fates: Fates,
    counts: Arc<ReceiptCounts>,
    outbox: Outbox,
    free: channel::Receiver<SlotMut>,
    pool: Arc<Pool>,
    /// Its rings in a GPU, where its pixels stand there.
    gpu: Option<Arc<GpuRings>>,
    /// What its rings take beside their slots.
    taken: Arc<RingCosts>,
    /// The daemon's user.
    uid: u32,
    prefetch: PrefetchSettings,
    pipeline: tokio::sync::Mutex<Option<Pipeline>>,
    batch_meter: Arc<Meter>,
    counters: Arc<Counters>,
    consumers: Arc<Mutex<HashMap<ConsumerId, u32>>>,
    next_consumer: AtomicU64,
    restored: tokio::sync::Mutex<Option<(blake3::Hash, Vec<ConsumerId>)>>,
    /// Whether leases may be asked for. A shard has one trainer, which may hold batches of an earlier incarnation: it is
    /// heard first, however long it takes to come.
    heard: watch::Sender<bool>,
    /// What the ledger said last, for the status while it cannot be asked.
    counted: Mutex<Counted>,
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
    /// Memory for the ring.
    #[error("the ring: {0}")]
    Memory(#[from] TooLittle),
    /// Memory for the cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Its pixels cannot stand where they are wanted.
    #[error("placement: {0}")]
    Placement(#[from] PlacementRefusal),
    /// The GPU that is to decode does not.
    #[error("decode_gpu = {asked}: {there}. Leave decode_gpu out, or name lanes of that GPU in decode.lanes")]
    DecodeGpu {
        /// Its number.
        asked: i32,
        /// Which ones do, in words.
        there: String,
    },
    /// The ring itself.
    #[error("the ring: {0}")]
    Region(#[from] RegionError),
    /// The record numbers of the dataset cannot be planned.
    #[error("{0}")]
    Plan(#[from] forebay_coordinator::SpecError),
    /// Every epoch would be dropped whole, one after the other without end.
    #[error(
        "{records} records over {shards} shards never fill a batch of {batch_size}, and last_batch_policy = \"drop\" \
         leaves out what does not: no epoch would ever have a batch. Lower batch_size, take \"partial\" or \"fill\", or \
         give epochs for so many epochs without a batch"
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

/// How long before a stopping stream looks again whether trainers are done.
const DRAIN_STEP: Duration = Duration::from_millis(20);

impl StreamError {
    /// What a refused trainer is told for its program.
    pub fn code(&self) -> u32 {
        match self {
            Self::Ledger(error) => ledger_code(error),
            Self::Memory(_) | Self::Cache(_) | Self::Region(_) => text_code::MEMORY,
            Self::Placement(refusal) => refusal.code(),
            Self::Shape(_) | Self::Plan(_) | Self::NoBatch { .. } | Self::DecodeGpu { .. } => text_code::SETTINGS,
            // The system may have threads and descriptors a moment later.
            Self::System(_) => text_code::BUSY,
        }
    }
}

/// What a trainer is told for its program where the ledger refuses.
fn ledger_code(error: &CallError) -> u32 {
    match error {
        CallError::Unavailable(_) => text_code::BUSY,
        // No time changes it: a new run, or the old dataset or settings, do.
        CallError::SpecMismatch(_) => text_code::SETTINGS,
        _ => text_code::OTHER,
    }
}

impl Stream {
    /// Its name, and its shard where it has one.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Records of its dataset.
    pub fn records(&self) -> u64 {
        self.dataset.records()
    }

    /// Its settings.
    pub fn settings(&self) -> &StreamSettings {
        &self.settings
    }

    /// Where its pixels stand.
    pub fn place(&self) -> PixelPlace {
        self.gpu.as_ref().map_or(PixelPlace::Host, |rings| rings.place())
    }

    /// Whether this trainer can read its pixels, and may.
    ///
    /// # Errors
    /// It is another user's, and could write to them; or they stand in a GPU, and it sees other GPUs.
    pub fn open_to(&self, trainer: &Credentials) -> Result<(), PlacementRefusal> {
        self.place().open_to(trainer, self.uid)?;
        if self.settings.pin_memory { trainer.may_pin(self.uid) } else { Ok(()) }
    }

    /// Lets a trainer in, with what it consumed and holds from an earlier incarnation of the daemon.
    pub async fn attach(&self, socket: Socket, peer: Peer, credits: u32, hand_ins: HandIns) {
        let id = ConsumerId(self.next_consumer.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        self.see_who_left().await;
        let refusal = self.enter(id, peer.pid());
        let (adopted, refusal) = match refusal {
            None => match self.hand_in(hand_ins).await {
                Ok(adopted) => {
                    self.heard.send_replace(true);
                    (adopted, None)
                }
                Err(error) => (Vec::new(), Some((ledger_code(&error), error.to_string()))),
            },
            Some(reason) => (Vec::new(), Some((text_code::BUSY, reason))),
        };
        let incarnation = self.identity.incarnation;
        let epoch = self.worker.progress().borrow().floor;
        let arrival = Arrival { id, socket, peer, credits, incarnation, info: self.info(epoch), epoch, adopted };
        match refusal {
            None => self.outbox.post(Note::Attach(Box::new(arrival))),
            Some((code, reason)) => {
                self.consumers.lock().remove(&id);
                arrival.refuse(code, &reason);
            }
        }
    }

    /// Makes sure that whoever left before this moment does not count any more: the ring's thread looks at all its
    /// sockets between two notes.
    async fn see_who_left(&self) {
        for _ in 0..2 {
            self.ring_status().await;
        }
    }

    /// Whether no trainer is there, by now.
    pub async fn is_left(&self) -> bool {
        self.see_who_left().await;
        self.is_idle()
    }

    /// Whether no trainer was there when the ring's thread last said so.
    pub fn is_idle(&self) -> bool {
        self.consumers.lock().is_empty()
    }

    /// Notes a trainer, or says why it cannot come in.
    fn enter(&self, id: ConsumerId, pid: u32) -> Option<String> {
        let mut consumers = self.consumers.lock();
        // A process of another PID namespace has no number here that tells it from others.
        if pid != 0 && consumers.values().any(|other| *other == pid) {
            return Some(format!(
                "process {pid} has a trainer on stream \"{}\" already; two of one process would wait for each other. \
                 Use one Loader, or close the first",
                self.identity.stream
            ));
        }
        if let (Some(shard), Some(other)) = (&self.identity.shard, consumers.values().next()) {
            return Some(format!(
                "shard {} of stream \"{}\" has its trainer, process {other}; each shard_id may be used once",
                shard.shard_id, self.identity.stream
            ));
        }
        consumers.insert(id, pid);
        None
    }

    /// The run's state, with these receipts counted as consumed (semantics rule 22).
    ///
    /// # Errors
    /// The ledger cannot be asked.
    pub async fn snapshot(&self, in_hand: Vec<AckItem>) -> Result<Snapshot, CallError> {
        self.flush().await;
        self.worker.snapshot(in_hand).await
    }

    /// Waits until all that was handed in is durable.
    async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.fates.send(Fate::Flush(done)).is_ok() {
            // Answered, or the ledger's task has ended: then there is nothing to wait for.
            let _flushed = flushed.await;
        }
    }

    /// Stops the pipeline, changes the ledger, and goes on where the ledger then stands. The change is `fenced` if it ends
    /// every lease.
    async fn anew<T, F: Future<Output = Result<T, CallError>>>(
        self: &Arc<Self>,
        fenced: bool,
        change: impl FnOnce() -> F,
    ) -> Result<T, CallError> {
        let mut pipeline = self.pipeline.lock().await;
        let next = match pipeline.take() {
            Some(running) => running.stop().await,
            None => 0,
        };
        self.flush().await;
        let changed = change().await;
        if changed.is_ok() {
            let progress = *self.worker.progress().borrow();
            self.ask(|done| Note::DropReady { progress, fenced, done }).await;
            self.flush().await;
        }
        match self.start(next) {
            Ok(started) => *pipeline = Some(started),
            Err(error) => {
                // Nothing would ever come: trainers are told, until a restore or a reset has more luck.
                let error = format!("The stream cannot go on: {error}.");
                self.outbox.post(Note::Failed(error.clone()));
                return Err(CallError::Invalid(error));
            }
        }
        changed
    }

    /// Ends the stream, while the daemon goes on: nobody reads it any more, or it is to begin anew.
    pub async fn close(&self) {
        self.ask(Note::Drain).await;
        if let Some(running) = self.pipeline.lock().await.take() {
            running.stop().await;
        }
        self.end().await;
    }

    /// Ends the stream with the daemon: no new batches, trainers finish what they hold, the rest is given back (semantics rule 21).
    pub async fn leave(&self, drain: Duration) {
        self.ask(Note::Drain).await;
        if let Some(running) = self.pipeline.lock().await.take() {
            running.leave().await;
        }
        let deadline = Instant::now() + drain;
        while Instant::now() < deadline && self.ring_status().await.is_some_and(|ring| ring.unfinished > 0) {
            tokio::time::sleep(DRAIN_STEP).await;
        }
        self.end().await;
    }

    async fn end(&self) {
        self.ask(Note::Close).await;
        self.flush().await;
        tracing::info!(stream = %self.identity, "the stream is closed");
    }

    /// Leaves a note that the ring's thread answers.
    async fn ask(&self, note: impl FnOnce(oneshot::Sender<()>) -> Note) {
        let (done, answered) = oneshot::channel();
        self.outbox.post(note(done));
        // Answered, or the ring's thread has ended, and the stream with it.
        let _answered = answered.await;
    }

    fn batching(&self) -> Batching {
        batching(&self.settings)
    }
}

fn batching(settings: &StreamSettings) -> Batching {
    let pad_last_batch = match settings.sharding {
        Sharding::Static { pad_last_batch, .. } => pad_last_batch,
        Sharding::Dynamic => false,
    };
    Batching { batch_size: settings.batch_size.into(), policy: settings.last_batch_policy, pad_last_batch }
}
