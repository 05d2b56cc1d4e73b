//! Opening a stream whose dataset is open: the ledger, the ring; then its threads, last of all.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use crossbeam_channel as channel;
use forebay_coordinator::{Handle, Outage, PERMUTATION, Plan, Policy};
use forebay_pixels::{Dtype, Layout};
use forebay_proto::v1::{LedgerSpec, OpenRequest, StaticShard};
use forebay_ring::{Dtype as RingDtype, Geometry, Layout as RingLayout, Shape};
use forebay_sources::Source;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::ack::{self, Fate, ReceiptCounts};
use crate::cache::{Cache, Caches, Key};
use crate::consumers::{self, Counters, Note, Outbox, RingThread, inbox};
use crate::decode::Pool;
use crate::gpu_ring::{Gpus, StreamRing};
use crate::incarnation;
use crate::meter::Meter;
use crate::placement::Credentials;
use crate::settings::Sharding;
use crate::settings::{PrefetchSettings, StreamSettings};
use crate::stream::dataset::Dataset;
use crate::stream::rings::{Rings, Site};
use crate::stream::{RingMemory, Stream, StreamError};
use crate::threads;
use crate::worker::Worker;

/// Who a stream is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name of the run.
    pub run: String,
    /// Name of the stream.
    pub stream: String,
    /// Shard of a static stream.
    pub shard: Option<StaticShard>,
    /// The daemon's incarnation.
    pub incarnation: u64,
}

/// What opening a stream needs.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Who it is.
    pub identity: Identity,
    /// What the user wants.
    pub settings: StreamSettings,
    /// What the user calls the dataset.
    pub dataset: String,
    /// The dataset.
    pub source: Arc<dyn Source>,
    /// How files are read ahead.
    pub prefetch: PrefetchSettings,
    /// The ledger.
    pub coordinator: Handle,
    /// Threads that decode.
    pub pool: Arc<Pool>,
    /// Where the ring's memory is taken from.
    pub memory: Arc<RingMemory>,
    /// The caches of this process.
    pub caches: Arc<Caches>,
    /// The GPUs that rings may stand in.
    pub gpus: Arc<Gpus>,
    /// The trainer for which it is opened, if there is one yet.
    pub trainer: Option<Credentials>,
}

/// Told when a consumer has left, with how many are left.
pub type Surplus = Box<dyn Fn(usize) + Send>;

impl Opening {
    /// Opens the stream and starts it.
    ///
    /// # Errors
    /// No lane is on the GPU that is to decode, the ledger is about something else, or there is too little memory.
    pub async fn open(self, surplus: Surplus) -> Result<Arc<Stream>, StreamError> {
        self.decodes()?;
        let spec = self.spec();
        let plan = Plan::new(&spec)?;
        self.some_epoch_has_a_batch()?;
        let geometry = Geometry::try_new(shape(&self.settings), self.settings.slots())?;
        let dataset = Dataset::new(self.dataset.clone(), Arc::clone(&self.source), plan, self.cache()?);
        let (rings, first) = self.rings(geometry).await?;
        let (gpu, taken) = (rings.gpu(), rings.taken());
        let (worker, opened) =
            Worker::open(self.coordinator.clone(), self.request(spec, incarnation::fresh()?)).await?;
        let worker = Arc::new(worker);
        let (outbox, inbox) = inbox()?;
        let (fates, receipts) = mpsc::unbounded_channel();
        let (free_sender, free) = channel::unbounded();
        let counts = Arc::new(ReceiptCounts::default());
        let counters = Arc::new(Counters::default());
        let attached = Arc::new(Mutex::default());
        let epoch = worker.progress().borrow().floor;
        let uid = self.gpus.uid();
        let Self { identity, settings, prefetch, pool, .. } = self;
        let recipe = Arc::new(settings.recipe.clone());
        let stream = Arc::new(Stream {
            dataset,
            recipe,
            spec_hash: opened.spec_hash,
            fates: fates.clone(),
            counts: Arc::clone(&counts),
            outbox: outbox.clone(),
            free,
            pool,
            gpu,
            taken,
            uid,
            prefetch,
            pipeline: tokio::sync::Mutex::new(None),
            batch_meter: Arc::new(Meter::new("batch")),
            counters: Arc::clone(&counters),
            consumers: Arc::clone(&attached),
            next_consumer: AtomicU64::new(1),
            restored: tokio::sync::Mutex::new(None),
            heard: watch::Sender::new(identity.shard.is_none()),
            counted: Mutex::default(),
            worker: Arc::clone(&worker),
            identity,
            settings,
        });
        let parts = consumers::RingParts {
            stream: stream.identity.to_string(),
            further: Arc::new(move |ring| rings.make(ring).map_err(|error| error.to_string())),
            free: free_sender,
            fates,
            suspects: worker.suspects(),
            calls: calls(&stream),
            left: Box::new(move |consumer, left| {
                attached.lock().remove(&consumer);
                surplus(left);
            }),
            epoch,
            epochs: stream.settings.epochs,
            epoch_end_timeout: stream.settings.epoch_end_timeout,
            counters,
        };
        RingThread::start(parts, first, inbox, &outbox)?;
        follow(&worker, outbox.clone());
        tell_of_outages(&worker, outbox.clone());
        forward(worker, receipts, counts, outbox);
        stream.begin().await?;
        Ok(stream)
    }

    /// What makes the stream's rings, where their pixels are to stand, and the first of them.
    async fn rings(&self, geometry: Geometry) -> Result<(Rings, StreamRing), StreamError> {
        let (gpus, wanted, trainer) = (Arc::clone(&self.gpus), self.settings.placement, self.trainer.clone());
        let decodes = self.decodes()?;
        let (memory, incarnation) = (Arc::clone(&self.memory), self.identity.incarnation);
        let pin_memory = self.settings.pin_memory;
        // The driver may take its time to start, and the kernel to give memory.
        let made = threads::beside("forebay-open", move || {
            let site = Site::find(gpus, wanted, trainer.as_ref(), decodes, &geometry)?;
            let rings = Rings::new(site, memory, geometry, incarnation, pin_memory);
            let first = rings.make(0)?;
            Ok((rings, first))
        });
        made.await?
    }

    /// A GPU that decodes the stream's pictures: the one that is asked for, else the first.
    fn decodes(&self) -> Result<Option<i32>, StreamError> {
        let gpus: Vec<_> = self.pool.decoding_gpus().into_iter().collect();
        match self.settings.decode_gpu {
            Some(asked) if !gpus.contains(&asked) => {
                let there = match &gpus[..] {
                    [] => "this daemon decodes on no GPU".into(),
                    [only] => format!("this daemon decodes on GPU {only} alone"),
                    _ => format!("this daemon decodes on the GPUs {gpus:?}"),
                };
                Err(StreamError::DecodeGpu { asked, there })
            }
            asked => Ok(asked.or_else(|| gpus.first().copied())),
        }
    }

    fn cache(&self) -> Result<Option<Arc<Cache>>, StreamError> {
        let Some(wanted) = &self.settings.cache else { return Ok(None) };
        let keep = wanted.keep(&self.settings.recipe);
        Ok(Some(self.caches.open(Key::new(self.source.as_ref(), keep, wanted.memory))?))
    }

    fn spec(&self) -> LedgerSpec {
        LedgerSpec {
            fingerprint: self.source.fingerprint().to_vec(),
            records: self.source.len(),
            shuffle: self.settings.shuffle,
            seed: self.settings.seed,
            permutation: PERMUTATION,
            shard: self.identity.shard,
        }
    }

    /// An epoch without a batch is over at once. Without an end to the epochs, nothing would ever stop for a trainer.
    fn some_epoch_has_a_batch(&self) -> Result<(), StreamError> {
        let Self { settings, identity, source, .. } = self;
        let records = source.len();
        let shards = identity.shard.map_or(1, |shard| u64::from(shard.num_shards.max(1)));
        let drops = settings.last_batch_policy == Policy::Drop && settings.epochs.is_none();
        if drops && records / shards < u64::from(settings.batch_size) {
            return Err(StreamError::NoBatch { records, shards, batch_size: settings.batch_size });
        }
        Ok(())
    }

    /// The ledger has to tell each opening from the one before, whose leases are returned and whose commands have
    /// numbers of their own; the daemon's incarnation may open it more than once.
    fn request(&self, spec: LedgerSpec, incarnation: u64) -> OpenRequest {
        OpenRequest {
            run: self.identity.run.clone(),
            stream: self.identity.stream.clone(),
            spec: Some(spec),
            shard_size: self.settings.shard_size(),
            shard_size_required: self.settings.wanted_shard_size.is_some(),
            worker: "local".into(),
            incarnation,
            epochs: self.settings.epochs.unwrap_or(0),
        }
    }
}

/// A task that tells the ring's thread what the coordinator says.
fn follow(worker: &Worker, outbox: Outbox) {
    let mut progress = worker.progress();
    tokio::spawn(async move {
        loop {
            let now = *progress.borrow_and_update();
            outbox.post(Note::Progress(now));
            if progress.changed().await.is_err() {
                return;
            }
        }
    });
}

/// A task that carries what became of records to the ledger.
fn forward(worker: Arc<Worker>, fates: mpsc::UnboundedReceiver<Fate>, counts: Arc<ReceiptCounts>, outbox: Outbox) {
    let (lost, noted) = (outbox.clone(), outbox.clone());
    let lost = move |leases| lost.post(Note::Lost(leases));
    let forward = ack::forward(worker, fates, counts, lost, move |batch| noted.post(Note::Noted(batch)));
    tokio::spawn(async move {
        if let Err(error) = forward.await {
            outbox.post(Note::Failed(error.to_string()));
        }
    });
}

/// A task that tells trainers why they wait while the ledger cannot be written.
fn tell_of_outages(worker: &Worker, outbox: Outbox) {
    let (outage, mut progress) = (worker.outage(), worker.progress());
    tokio::spawn(async move {
        tokio::select! {
            () = tell_of_each(outage, outbox) => {}
            // The ledgers go on, the stream does not.
            _gone = progress.wait_for(|_| false) => {}
        }
    });
}

async fn tell_of_each(mut outage: watch::Receiver<Option<Outage>>, outbox: Outbox) {
    while let Ok(Some(begun)) = outage.wait_for(Option::is_some).await.map(|begun| begun.clone()) {
        let words = format!(
            "the daemon cannot write its ledger, so that no further batch comes: {}; nothing is lost, and it goes on when \
             the cause is gone",
            begun.cause
        );
        outbox.post(Note::Tell { words, lasting: true });
        if outage.wait_for(Option::is_none).await.is_err() {
            return;
        }
        let words = format!("the daemon writes its ledger again, after {} s", begun.lasts().as_secs());
        outbox.post(Note::Tell { words, lasting: false });
    }
}

/// Calls of a stream that are too long for a packet and are in memory at one time; further ones wait.
const LONG_CALLS: usize = 2;

type Calls = Box<dyn Fn(forebay_ring::ConsumerId, u64, consumers::Asked) + Send>;

fn calls(stream: &Arc<Stream>) -> Calls {
    let (stream, runtime): (Weak<Stream>, _) = (Arc::downgrade(stream), tokio::runtime::Handle::current());
    let long = Arc::new(Semaphore::new(LONG_CALLS));
    Box::new(move |consumer, id, asked| {
        if let Some(stream) = stream.upgrade() {
            let long = Arc::clone(&long);
            runtime.spawn(async move {
                // Until it is answered: its memory is taken as long.
                let _turn = if asked.is_beside() { long.acquire().await.ok() } else { None };
                match threads::beside("forebay-call", || asked.read()).await {
                    Ok(Ok(request)) => stream.answer(consumer, id, request).await,
                    Ok(Err(reason)) => stream.outbox.post(Note::Evict { consumer, reason }),
                    Err(error) => stream.cannot_answer(consumer, id, &error),
                }
            });
        }
    })
}

fn shape(settings: &StreamSettings) -> Shape {
    let (height, width, channels) = settings.recipe.shape();
    let output = settings.recipe.output();
    Shape {
        batch: settings.batch_size,
        height,
        width,
        channels,
        dtype: match output.dtype {
            Dtype::Uint8 => RingDtype::U8,
            Dtype::Float16 => RingDtype::F16,
            Dtype::Bfloat16 => RingDtype::Bf16,
            Dtype::Float32 => RingDtype::F32,
        },
        layout: match output.layout {
            Layout::Nhwc => RingLayout::Nhwc,
            Layout::Nchw => RingLayout::Nchw,
        },
    }
}

impl Identity {
    /// The identity of one shard of this stream.
    #[must_use]
    pub fn of_shard(&self, sharding: Sharding, shard: Option<u32>) -> Self {
        let shard = match sharding {
            Sharding::Dynamic => None,
            Sharding::Static { shard_id, num_shards, stick_to_shard, .. } => {
                let shard_id = shard.or(shard_id).unwrap_or(0);
                Some(StaticShard { shard_id, num_shards, stick_to_shard })
            }
        };
        Self { shard, ..self.clone() }
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.shard {
            None => f.write_str(&self.stream),
            Some(shard) => write!(f, "{} (shard {} of {})", self.stream, shard.shard_id, shard.num_shards),
        }
    }
}
