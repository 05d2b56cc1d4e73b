//! Makes the stages of a stream, connects them and starts them. This is the only place that knows all of them.

mod remote;
mod running;
mod told;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crossbeam_channel as channel;
use forebay_delivery::Delivery;
use forebay_ledger_client::CallError;
use forebay_pixels::{Mosaics, PlaceForm, Recipe};
use forebay_plan::Batching;
use tokio::sync::{MutexGuard, oneshot};

use crate::batch::batcher::{Batcher, Rules};
use crate::batch::finish::Finish;
use crate::batch::order::RecordOrder;
use crate::batch::outlet::Outlet;
use crate::batch::slots::Slots;
use crate::batch::stage_slots::StageSlots;
use crate::batch::{BatchParts, BatchStage};
use crate::decode::job::stepping::StepCalls;
use crate::decode::job::stream_pictures::StreamPictures;
use crate::decode::masks::Masks;
use crate::decode::mixing::{MixSettings, Mixer};
use crate::decode::steps::Steps;
use crate::decode::steps::batch_call::BatchCalls;
use crate::decode::suspect_order::SuspectOrder;
use crate::decode::{Decoding, Pool};
use crate::fill::FillMeter;
use crate::follow::FollowSettings;
use crate::latest_batch::LatestBatch;
use crate::lease::{self, LeaseSettings};
use crate::meter::Meter;
use crate::mosaic::MosaicReads;
use crate::prefetch::{Patience, Prefetch, ReadAheadSettings};
use crate::remote::roster::DecoderRoster;
use crate::settings::{PrefetchSettings, StreamSettings};
use crate::stream::dataset::Dataset;
use crate::stream::decoders::Decoders;
use crate::stream::rings::Site;
use crate::stream::{Identity, batching, policies};
use crate::targets::TargetWriter;
use crate::threads;
use crate::upload;
use running::Running;

const BATCH_THREAD: &str = "forebay-batch";

#[cfg(test)]
thread_local! {
    /// Set by a test: the system refuses the thread of a batch stage that this thread starts.
    pub(super) static NO_ROOM: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A stream's stages: what they are made of, and those that run.
#[derive(Debug)]
pub(super) struct Stages {
    identity: Identity,
    settings: Arc<StreamSettings>,
    prefetch: PrefetchSettings,
    dataset: Arc<Dataset>,
    delivery: Arc<Delivery>,
    site: Arc<Site>,
    pool: Arc<Pool>,
    /// The children that call functions in Python, if the recipe has some.
    steps: Option<Arc<Steps>>,
    /// The decoders on other machines that make its pictures too, if there are some.
    decoders: Option<Arc<Decoders>>,
    /// The settings as they were written, in JSON, for the processes that make suspects.
    document: String,
    meters: StageMeters,
    state: tokio::sync::Mutex<StagesState>,
}

/// What is counted of the stages, whether they run or not.
#[derive(Debug)]
struct StageMeters {
    batch: Arc<Meter>,
    /// Pictures of this stream that went to the pool.
    decoded: Arc<AtomicU64>,
    latest: Arc<LatestBatch>,
    fill: Arc<FillMeter>,
    roster: Arc<DecoderRoster>,
}

/// The stages if they run, and what outlives them.
#[derive(Debug, Default)]
struct StagesState {
    running: Option<Running>,
    /// The number of the first batch at the next start. A failed start does not change it. Trainers may still hold
    /// batches with earlier numbers, and no number is used twice.
    next: u64,
}

/// Stages that do not run. No other task can start them meanwhile.
pub(super) struct Stopped<'a> {
    pipeline: &'a Stages,
    state: MutexGuard<'a, StagesState>,
}

impl Stages {
    /// The stages of a stream. None of them runs yet. `pool` decodes, and `prefetch` says how files are read ahead.
    pub(super) fn new(
        identity: Identity,
        (settings, document): (Arc<StreamSettings>, String),
        prefetch: PrefetchSettings,
        (pool, steps, decoders): (Arc<Pool>, Option<Arc<Steps>>, Option<Arc<Decoders>>),
        dataset: Arc<Dataset>,
        delivery: Arc<Delivery>,
        site: Arc<Site>,
    ) -> Self {
        Self {
            identity,
            settings,
            prefetch,
            dataset,
            delivery,
            site,
            pool,
            steps,
            decoders,
            document,
            meters: StageMeters {
                batch: Arc::new(Meter::new("batch")),
                decoded: Arc::default(),
                latest: Arc::default(),
                fill: Arc::default(),
                roster: Arc::default(),
            },
            state: tokio::sync::Mutex::default(),
        }
    }

    /// Starts the stages for the first time.
    ///
    /// # Errors
    /// Those of [`Stopped::start_again`].
    pub(super) async fn begin(&self) -> io::Result<()> {
        let running = self.start(0)?;
        self.state.lock().await.running = Some(running);
        Ok(())
    }

    /// Stops the stages, and gives back what was not handed on.
    pub(super) async fn stop(&self) -> Stopped<'_> {
        self.stop_if(|| true).await.expect("it is needed")
    }

    /// Waits until no other task has the stages stopped, and stops them if that is still needed.
    pub(super) async fn stop_if(&self, needed: impl FnOnce() -> bool) -> Option<Stopped<'_>> {
        let mut state = self.state.lock().await;
        if !needed() {
            return None;
        }
        if let Some(running) = state.running.take() {
            state.next = running.stop().await;
        }
        Some(Stopped { pipeline: self, state })
    }

    /// Stops the stages as [`stop`](Self::stop) does. It waits for a GPU no longer than the daemon's end may take.
    pub(super) async fn leave(&self) {
        let mut state = self.state.lock().await;
        if let Some(running) = state.running.take() {
            state.next = running.leave().await;
        }
    }

    /// The masks that are decoded with the pictures.
    fn masks(&self) -> Arc<Masks> {
        let StreamSettings { annotated, mask_fill: fill, .. } = *self.settings;
        Arc::new(Masks { annotated, fill, ..self.dataset.targets().masks().clone() })
    }

    /// What reads records with their partners, if the recipe has mosaics.
    fn mosaics(&self) -> Option<MosaicReads> {
        let mosaics = Mosaics::of(self.dataset.recipe())?;
        let reads = MosaicReads::new(Arc::new(mosaics), self.settings.seed, &**self.dataset.source());
        Some(reads.expect("the stream's order was made of the same selection"))
    }

    /// How boxes and points follow their pictures.
    fn follows(&self) -> FollowSettings {
        let StreamSettings { seed, annotated, min_visible, .. } = *self.settings;
        FollowSettings { recipe: Arc::clone(self.dataset.recipe()), seed, annotated, min_visible }
    }

    /// What mixes the pictures of settled batches, if the stream does that.
    fn mixer(&self) -> Option<Mixer> {
        let StreamSettings { recipe, mixing, mixing_per_batch: per_batch, seed, .. } = &*self.settings;
        let (height, width, _) = recipe.shape();
        let form = PlaceForm { output: recipe.output(), height, width };
        let mixing = mixing.clone()?;
        Some(Mixer::new(Arc::clone(&self.pool), MixSettings { mixing, per_batch: *per_batch, seed: *seed, form }))
    }

    /// The rules of batches.
    fn rules(&self, is_dynamic: bool) -> Rules {
        let settings = &*self.settings;
        let most_failures = |limit| policies::most_failures(limit, self.dataset.selected());
        Rules {
            batch_size: settings.batch_size,
            on_error: settings.on_error,
            max_failures: settings.max_failures.map(most_failures),
            dynamic: is_dynamic.then_some(settings.last_batch_policy),
        }
    }

    /// Which record is where, and in batches of which shape if places are fixed.
    fn order(&self, fixed: Option<Batching>) -> RecordOrder {
        let (source, plan) = (Arc::clone(self.dataset.source()), Arc::clone(self.dataset.plan()));
        RecordOrder::new(source, plan, fixed).with_classes(self.dataset.classes().cloned())
    }

    /// What writes the columns of batches.
    fn writer(&self) -> TargetWriter {
        let Self { dataset, settings, .. } = self;
        let writer = dataset.targets().writer(self.follows());
        writer.with_classes(dataset.classes().cloned(), dataset.plan(), settings.seed)
    }

    /// How leases are kept.
    fn leases(&self, shares_tails: bool) -> LeaseSettings {
        let batch = if shares_tails { self.settings.batch_size.into() } else { 0 };
        LeaseSettings { ahead: self.prefetch.leases_ahead, batch, ..LeaseSettings::default() }
    }

    /// How records are read.
    fn reading(&self) -> ReadAheadSettings {
        ReadAheadSettings {
            threads: self.prefetch.threads,
            requests: self.prefetch.requests,
            budget: self.read_budget(),
            read_timeout: self.settings.read_timeout,
        }
    }

    /// How pictures are made: those of each class, if there are classes.
    fn pictures(&self) -> Vec<StreamPictures> {
        let of = |recipe: &Arc<Recipe>| self.pictures_of(recipe);
        match self.dataset.classes() {
            Some(classes) => classes.recipes().map(of).collect(),
            None => vec![of(self.dataset.recipe())],
        }
    }

    fn pictures_of(&self, recipe: &Arc<Recipe>) -> StreamPictures {
        let Self { settings, dataset, .. } = self;
        StreamPictures {
            views: dataset.targets().views(),
            steps: self.steps.clone().filter(|steps| steps.has_pictures()).map(|steps| steps as Arc<dyn StepCalls>),
            masks: self.masks(),
            cache: dataset.cache().cloned(),
            seek: dataset.seek().cloned(),
            gpu: settings.decode_gpu,
            ..StreamPictures::of(Arc::clone(recipe))
        }
    }

    /// Starts the stages; batches are numbered from `next`.
    ///
    /// # Errors
    /// The system has no room for a thread, or the GPU has none for copies. Nothing that was started remains.
    fn start(&self, next: u64) -> io::Result<Running> {
        let Self { settings, dataset, delivery, site, .. } = self;
        let ledger = delivery.ledger();
        let first = ledger.progress().floor;
        let prefetch = Prefetch::start(
            Arc::clone(dataset.source()),
            dataset.cache().cloned(),
            self.mosaics(),
            self.remote(),
            self.reading(),
            first,
        )?;
        let inlet = delivery.inlet();
        let sink = upload::direct(inlet.clone());
        let (output, upload) = match site.gpu() {
            None => (sink, None),
            Some(rings) => {
                let (output, upload) = upload::start(rings, sink).map_err(|error| {
                    io::Error::new(error.kind(), format!("copies to the GPU cannot be started: {error}"))
                })?;
                (upload::overtaking(inlet, output), Some(upload))
            }
        };
        let (is_part, step) = (self.identity.part.is_some(), dataset.plan().positions_of_step());
        let fixed = (is_part || step.is_some()).then(|| batching(settings));
        let shares_tails = fixed.is_none() && ledger.has_others();
        let mixer = self.mixer();
        // Pictures are mixed in the host, and then copied to the GPU.
        let gpu = site.gpu().filter(|_| mixer.is_none());
        // The batch thread gives the upload its work, and so ends before it.
        let watched = upload.as_ref().map(|upload| upload.watched(BATCH_THREAD));
        let slots = Slots::new((delivery.free(), delivery.gave_way()), gpu, watched);
        let rules = self.rules(fixed.is_none());
        let order = Arc::new(SuspectOrder::new(self.document.clone(), settings.read_timeout));
        let calls = self.steps.clone().filter(|steps| steps.has_batches()).map(|steps| steps as Arc<dyn BatchCalls>);
        let parts = BatchParts {
            order: self.order(fixed),
            prefetch: Arc::clone(&prefetch),
            patience: Patience::new(settings.storage_timeout),
            shares_tails,
            slots: StageSlots::new(slots, is_part),
            decoding: Decoding::new(Arc::clone(&self.pool), self.pictures(), settings.seed, Arc::clone(&order))
                .counted_in(Arc::clone(&self.meters.decoded)),
            finish: Finish::new(self.writer(), Arc::clone(&self.meters.batch))
                .with_mixer(mixer)
                .with_calls(calls, order)
                .noted_in(Arc::clone(&self.meters.latest), Arc::clone(&self.meters.fill)),
            progress: ledger.updates().progress(),
            outlet: Outlet::new(self.identity.to_string(), output, delivery.outcomes(), step)
                .with_bad_place(rules.bad_place()),
        };
        let (stop, stopped) = channel::bounded(0);
        let batcher = Batcher::new(rules).numbered_from(next).failing_without_one_of(Arc::clone(dataset.plan()));
        let stage = BatchStage::new(parts, batcher);
        let (ended, batch) = oneshot::channel();
        let run = move || {
            // `Running::stop` waits for this, unless the daemon ends at once.
            let _gone = ended.send(stage.run(&stopped));
        };
        start_batch_thread(run)?;
        let inlet = delivery.inlet();
        let ahead = self.leases(shares_tails);
        let (stop_leases, stopped_leases) = oneshot::channel();
        let leases = lease::keep(
            Arc::clone(ledger),
            Arc::clone(&prefetch),
            Arc::clone(dataset.plan()),
            Arc::clone(dataset.source()),
            ahead,
            stopped_leases,
        );
        let lease = tokio::spawn(async move {
            match leases.await {
                // The stream ends in an outage.
                Ok(()) | Err(CallError::Unavailable(_)) => {}
                Err(error) => inlet.fail(error.to_string()),
            }
        });
        self.ask_decoders(&prefetch);
        Ok(Running { stop, stop_leases, batch, upload, lease, prefetch })
    }
}

fn start_batch_thread(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    #[cfg(test)]
    if NO_ROOM.get() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    threads::start(BATCH_THREAD, run).map(drop)
}

impl Stopped<'_> {
    /// Starts the stages again, from the ledger's current state.
    ///
    /// # Errors
    /// The system has no room for a thread, or the GPU has none for copies. Then no stage runs.
    pub(super) fn start_again(mut self) -> io::Result<()> {
        self.state.running = Some(self.pipeline.start(self.state.next)?);
        Ok(())
    }
}
