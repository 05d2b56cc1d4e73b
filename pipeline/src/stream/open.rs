//! Opens a stream whose dataset is already open: first the ledger, then the ring, and its threads last.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use forebay_delivery::{Delivery, DeliveryError, DeliveryTerms, NoRing, RingStart, StreamRing};
use forebay_ledger_client::{CallError, Handle};
use forebay_pixels::{Dtype, Layout, Mosaics, Recipe, View};
use forebay_plan::{LastBatchPolicy, OrderTable};
use forebay_proto::LEDGER_VERSION;
use forebay_proto::v1::{FunctionFile, LastHolder, OpenRequest, WorkerProcess};
use forebay_ring::{Dtype as RingDtype, Geometry, Layout as RingLayout, Shape};
use forebay_sources::{ReaderFolders, Source};

use crate::box_column::NoBoxes;
use crate::classes::{ClassError, StreamClasses};
use crate::declared_columns::with_declared;
use crate::decode::masks::Masks;
use crate::decode::steps::batch_form::BatchForm;
use crate::decode::steps::{StepError, Steps};
use crate::follow::FollowSettings;
use crate::placement::Credentials;
use crate::settings::{GroupPolicy, Placement, PrefetchSettings, StreamSettings};
use crate::step_lists::StepLists;
use crate::stream::calls::Calls;
use crate::stream::dataset::Dataset;
use crate::stream::decoders::Decoders;
use crate::stream::elsewhere::ToldOfFailure;
use crate::stream::order::StreamOrder;
use crate::stream::resources::SharedResources;
use crate::stream::rings::{Rings, Site};
use crate::stream::stages::Stages;
use crate::stream::{Identity, Stream, StreamError, elsewhere, idle, policies, summary};
use crate::targets::Targets;
use crate::{box_column, follow, incarnation, last_resort, selected, threads};

/// The daemon, as the ledger knows it (semantics rule 33).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name of the worker. It stays the same when the daemon is started again.
    pub name: String,
    /// Where it runs, if other daemons may have the same ledger.
    pub process: Option<WorkerProcess>,
}

/// A ledger, and who uses it.
#[derive(Clone, Debug)]
pub struct LedgerAccess {
    /// The coordinator that has it.
    pub coordinator: Handle,
    /// The daemon that uses it.
    pub node: Node,
}

/// A dataset that is open.
#[derive(Clone, Debug)]
pub struct OpenDataset {
    /// What the user calls it.
    pub name: String,
    /// Its records.
    pub source: Arc<dyn Source>,
}

/// What opening a stream needs.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Its identity.
    pub identity: Identity,
    /// The user's settings.
    pub settings: StreamSettings,
    /// The stream's settings as they were written, in JSON.
    pub document: String,
    /// What it reads.
    pub dataset: OpenDataset,
    /// How files are read ahead.
    pub prefetch: PrefetchSettings,
    /// Where it tells what became of records.
    pub ledger: LedgerAccess,
    /// What it shares with other streams.
    pub shared: SharedResources,
    /// Where the functions in Python of its recipe may be.
    pub readers: ReaderFolders,
    /// The trainer for which it is opened, if there is one yet.
    pub trainer: Option<Credentials>,
}

/// Called when a consumer has left, with the number of consumers that remain.
pub type Surplus = Box<dyn Fn(usize) + Send>;

impl Opening {
    /// Opens the stream and starts it.
    ///
    /// # Errors
    /// No lane is on the GPU that is to decode, the ledger is about something else, or there is too little memory.
    pub async fn open(self, surplus: Surplus) -> Result<Arc<Stream>, StreamError> {
        self.shared.decoding_gpu(self.settings.decode_gpu)?;
        self.is_alone()?;
        let OpenDataset { name, source } = &self.dataset;
        let classes = self.classes().await?;
        let order = StreamOrder::new(source.as_ref(), &self.settings, self.identity.part, classes.as_ref())?;
        let plan = order.plan()?;
        if let Some((classes, plan)) = classes.as_ref().zip(plan.classes()) {
            classes.report(&self.identity.stream, plan.layout());
        }
        self.some_epoch_has_a_batch(plan.positions())?;
        let (height, width, _) = self.settings.recipe.shape();
        let targets = Targets::new(Arc::clone(source), self.settings.dataset_columns().as_deref(), (height, width))?;
        follow::can_follow(targets.schema(), &self.settings.recipe)?;
        let targets = with_declared(targets, &self.settings.recipe)?;
        let recipe = box_column::bound(&self.settings.recipe, source, self.settings.annotated)?;
        let targets = if self.has_mosaics()? { targets.with_mosaics() } else { targets };
        let targets = targets.with_views(&self.views()?)?;
        let targets = if self.settings.mixing.is_none() { targets } else { mixed(targets)? };
        let classes = classes.map(|classes| classes.with_recipes(&recipe)).transpose()?.map(Arc::new);
        let targets = match &classes {
            Some(classes) => of_steps(targets, classes)?,
            None => targets,
        };
        let targets = if self.settings.draw { targets.with_draw()? } else { targets };
        let repeats = if classes.is_some() { self.settings.repeats.get() > 1 } else { !plan.is_plain() };
        let targets = if repeats { targets.with_repeats()? } else { targets };
        let (shape, slots) = (self.shape(classes.as_deref()), self.settings.slots());
        let geometry = Geometry::with_columns(shape, slots, targets.schema().clone(), &targets.rooms())?;
        let cache = self.shared.cache(source.as_ref(), &self.settings)?;
        let decoders = self.shared.decoders(source.as_ref(), (&self.settings, &self.document))?;
        let batches = BatchForm::new(&recipe, self.settings.seed, &geometry);
        let (rings, first) = self.rings(geometry).await?;
        let steps = self.steps(&recipe, &targets, batches, rings.site().gpu().is_some()).await?;
        // Seek points may use what the cache and the ring have left.
        let seek = self.shared.seek(source.as_ref(), &self.settings);
        let dataset = Dataset::new(name.clone(), Arc::clone(source), plan, (cache, seek), (recipe, targets), classes);
        let functions = steps.as_ref().map(|steps| steps.files()).unwrap_or_default();
        let request = self.request(order, incarnation::fresh()?, functions);
        let LedgerAccess { coordinator, node } = self.ledger.clone();
        let opened = Delivery::open(coordinator.clone(), request.clone(), self.terms()).await;
        let (delivery, ends) = match opened {
            Err(DeliveryError::Ledger(CallError::SpecMismatch(why))) if coordinator.is_remote() => {
                let difference = summary::difference(&coordinator, &request, source).await;
                return Err(CallError::SpecMismatch(why + &difference).into());
            }
            opened => opened?,
        };
        last_resort::watch(Arc::downgrade(delivery.ledger()), tokio::runtime::Handle::current());
        let Node { name: worker, process } = node;
        let stream = self.stream(dataset, delivery, rings.site(), (steps, decoders));
        stream.delivery.start(ends, around(&stream, LastHolder { worker, process }, first, rings, surplus))?;
        if let Err(error) = stream.pipeline.begin().await {
            // The ring, its threads and its descriptors go, as if the stream had never been opened.
            stream.close().await;
            return Err(error.into());
        }
        idle::watch(&stream);
        elsewhere::watch(&stream);
        stream.delivery.watch_trainers();
        if stream.delivery.ledger().opened().wants_summary {
            summary::describe(&stream);
        }
        Ok(stream)
    }

    /// The classes of its steps, if they have some. Finding them reads the headers of some.
    async fn classes(&self) -> Result<Option<StreamClasses>, StreamError> {
        if self.settings.form.is_none() {
            return Ok(None);
        }
        let (source, settings) = (Arc::clone(&self.dataset.source), self.settings.clone());
        Ok(threads::beside("forebay-open", move || StreamClasses::new(source.as_ref(), &settings)).await??)
    }

    /// The shape of a batch in the ring. With classes, it has room for a step of each, whose pictures have sizes of their own.
    fn shape(&self, classes: Option<&StreamClasses>) -> Shape {
        let shape = shape(&self.settings);
        let Some(classes) = classes else { return shape };
        let ranks = self.identity.part.map_or(1, |part| part.count());
        let (height, width) = classes.room(shape.batch, ranks);
        Shape { height, width, ..shape }
    }

    /// What the stream's trainers are promised.
    fn terms(&self) -> DeliveryTerms {
        let Self { identity, settings, .. } = self;
        DeliveryTerms {
            stream: identity.stream.clone(),
            run: identity.run.clone(),
            part: identity.part,
            incarnation: identity.incarnation,
            credits: settings.credits,
            settings: settings.delivery,
            epochs: settings.epochs,
            epoch_end_timeout: settings.epoch_end_timeout,
        }
    }

    /// The stream. Nothing of it runs yet.
    fn stream(
        self,
        dataset: Dataset,
        delivery: Delivery,
        site: Arc<Site>,
        (steps, decoders): (Option<Arc<Steps>>, Option<Arc<Decoders>>),
    ) -> Arc<Stream> {
        let Self { identity, settings, document, prefetch, shared, .. } = self;
        let (settings, dataset, delivery) = (Arc::new(settings), Arc::new(dataset), Arc::new(delivery));
        let pipeline = Stages::new(
            identity.clone(),
            (Arc::clone(&settings), document),
            prefetch,
            (shared.pool, steps, decoders),
            Arc::clone(&dataset),
            Arc::clone(&delivery),
            Arc::clone(&site),
        );
        let told_of_failure = ToldOfFailure::default();
        let generation = AtomicU64::new(delivery.ledger().progress().generation);
        Arc::new(Stream {
            identity,
            settings,
            dataset,
            delivery,
            site,
            pipeline,
            told_of_failure,
            generation,
            opened: Instant::now(),
        })
    }

    /// The children that call the recipe's functions in Python. Importing them may take its time.
    async fn steps(
        &self,
        recipe: &Recipe,
        targets: &Targets,
        batches: Option<BatchForm>,
        is_in_gpu: bool,
    ) -> Result<Option<Arc<Steps>>, StreamError> {
        let lists = StepLists::new(recipe, &targets.views().views);
        let of_batches = recipe.batch_function().map(|function| &function.python);
        let first = lists.steps().map(|step| &step.python).chain(of_batches).next();
        let Some(function) = first.map(|python| python.function.clone()) else { return Ok(None) };
        if is_in_gpu {
            return Err(StepError::Gpu { function }.into());
        }
        let StreamSettings { seed, annotated, min_visible, mask_fill: fill, .. } = self.settings;
        let masks = Masks { annotated, fill, ..targets.masks().clone() };
        let recipe = Arc::new(recipe.clone());
        let columns = targets.of_steps(FollowSettings { recipe, seed, annotated, min_visible }, &lists);
        let (settings, readers) = (self.settings.steps.clone(), self.readers.clone());
        let pool = Arc::clone(&self.shared.pool);
        let open = move || Steps::open(lists, (columns, masks), batches, (&settings, &readers), &pool);
        Ok(threads::beside("forebay-open", open).await??)
    }

    /// Makes the stream's first ring, and the maker of later rings. The maker knows where their pixels will be.
    async fn rings(&self, geometry: Geometry) -> Result<(Rings, StreamRing), StreamError> {
        // Pictures of steps with classes are made in the host.
        let wanted = if self.settings.form.is_some() { Placement::Host } else { self.settings.placement };
        let (gpus, trainer) = (Arc::clone(&self.shared.gpus), self.trainer.clone());
        let decodes = self.shared.decoding_gpu(self.settings.decode_gpu)?;
        let (memory, incarnation) = (Arc::clone(&self.shared.memory), self.identity.incarnation);
        let pin_memory = self.settings.pin_memory;
        // The driver may take its time to start, and the kernel to give memory.
        let made = threads::beside("forebay-open", move || {
            let site = Site::find(gpus, wanted, trainer.as_ref(), decodes, &geometry)?;
            let rings = Rings::new(Arc::new(site), memory, geometry, incarnation, pin_memory);
            let first = rings.make(0)?;
            Ok((rings, first))
        });
        made.await?
    }

    /// The further views, each with the boxes of the dataset if it draws by them.
    fn views(&self) -> Result<Vec<View>, NoBoxes> {
        let bound = |view: &View| {
            let recipe = box_column::bound(&view.recipe, &self.dataset.source, self.settings.annotated)?;
            Ok(View { name: view.name.clone(), recipe })
        };
        self.settings.views.iter().map(bound).collect()
    }

    /// Whether pictures are in mosaics.
    fn has_mosaics(&self) -> Result<bool, StreamError> {
        let settings = &self.settings;
        let is_mosaic = Mosaics::of(&settings.recipe).is_some();
        let of_view = settings.views.iter().any(|view| Mosaics::of(&view.recipe).is_some());
        let unfit = [
            ("views", of_view || is_mosaic && !settings.views.is_empty()),
            ("mixing", is_mosaic && settings.mixing.is_some()),
            ("cache", is_mosaic && settings.cache.is_some()),
        ];
        match unfit.into_iter().find(|(_, is_unfit)| *is_unfit) {
            Some((key, _)) => Err(StreamError::NoMosaic { key }),
            None => Ok(is_mosaic),
        }
    }

    /// In `each` the ledger's one worker says that every group here has a batch. Another node's groups would be passed over.
    fn is_alone(&self) -> Result<(), StreamError> {
        let is_shared = self.settings.delivery.groups == GroupPolicy::Each && self.ledger.coordinator.is_remote();
        if is_shared { Err(StreamError::Shared { stream: self.identity.stream.clone() }) } else { Ok(()) }
    }

    /// An epoch without a batch is over at once. Without an end to the epochs, nothing would ever stop for a trainer.
    fn some_epoch_has_a_batch(&self, positions: u64) -> Result<(), StreamError> {
        let Self { settings, identity, .. } = self;
        let shards = identity.part.map_or(1, |part| u64::from(part.count()));
        let drops = settings.last_batch_policy == LastBatchPolicy::Drop && settings.epochs.is_none();
        if drops && positions / shards < u64::from(settings.batch_size) {
            return Err(StreamError::NoBatch { records: positions, shards, batch_size: settings.batch_size });
        }
        Ok(())
    }

    /// The ledger must distinguish each opening from the one before. The leases of the earlier opening are returned, and
    /// its commands have numbers of their own. One incarnation of the daemon may open the ledger more than once.
    fn request(&self, order: StreamOrder, incarnation: u64, functions: Vec<FunctionFile>) -> OpenRequest {
        let limits = self.shared.pool.limits();
        let (grains, classes) = match order.table {
            Some(OrderTable::Grains(table)) => (Some(table.lengths()), None),
            Some(OrderTable::Classes(table)) => (None, Some(table.numbers())),
            None => (None, None),
        };
        OpenRequest {
            run: self.identity.run.clone(),
            stream: self.identity.stream.clone(),
            grains,
            classes,
            selected: order.selection.map(|selection| selection.selected()),
            spec: Some(order.spec),
            lease_size: self.settings.lease_size(),
            lease_size_required: self.settings.wanted_lease_size.is_some(),
            worker: self.ledger.node.name.clone(),
            incarnation,
            epochs: self.settings.epochs.unwrap_or(0),
            replaces: Some(0),
            process: self.ledger.node.process.clone(),
            policies: Some(policies::of(
                &self.settings,
                selected::count(self.dataset.source.as_ref()),
                limits,
                functions,
            )),
            names_trainers: true,
            ledger_version: LEDGER_VERSION,
        }
    }
}

/// Adds the columns of mixing.
fn mixed(targets: Targets) -> Result<Targets, StreamError> {
    match targets.first_in_the_picture() {
        Some(column) => Err(StreamError::NotMixed { column: column.to_owned() }),
        None => Ok(targets.with_mixing()?),
    }
}

/// Adds the columns of buckets or patches.
fn of_steps(targets: Targets, classes: &StreamClasses) -> Result<Targets, StreamError> {
    let form = classes.form();
    match targets.masks().targets.first() {
        Some(mask) => Err(ClassError::Masks { form: form.key(), column: mask.name.clone() }.into()),
        None => Ok(targets.with_steps(form)?),
    }
}

/// What the ring's thread needs of a stream.
fn around(stream: &Arc<Stream>, node: LastHolder, first: StreamRing, rings: Rings, surplus: Surplus) -> RingStart {
    let calls = Calls::to(stream);
    RingStart {
        node,
        first,
        further: Arc::new(move |ring| rings.make(ring).map_err(NoRing::from)),
        calls: Box::new(move |consumer, id, asked| calls.take(consumer, id, asked)),
        surplus,
    }
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
