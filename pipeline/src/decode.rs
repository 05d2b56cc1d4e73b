//! Decoding: the lanes, and the pool of threads that all streams share.
//!
//! The unit of work is a whole picture. A job waits for nothing except the memory of a large picture. The number of
//! jobs is bounded by the places of the open slots, so the queue needs no bound of its own (semantics rule 28).

pub(crate) mod budget;
pub(crate) mod cpu;
mod decoding;
pub(crate) mod job;
mod lane_thread;
mod lane_workers;
pub(crate) mod lanes;
pub(crate) mod left_out;
pub(crate) mod maker;
pub(crate) mod masks;
pub(crate) mod mixing;
pub(crate) mod mosaic;
mod outcomes;
pub(crate) mod panic;
mod pools;
pub(crate) mod steps;
#[cfg(test)]
mod suite;
pub(crate) mod suspect_order;
pub(crate) mod suspects;
mod switched_off;
pub(crate) mod tally;
pub(crate) mod views;
mod work_queue;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use forebay_cuda::lane::gpu::Gpu;
use forebay_pixels::{Draw, Fault, Limits, Origin, Recipe};

use crate::cache::Cache;
use crate::cores::{self, Pins};
use crate::gpu_threads::GpuThreads;
use crate::meter::{Meter, SLICE};
use crate::record::Input;
use crate::seek::SeekStore;
use crate::{thread_class, threads};
use budget::Budget;
pub(crate) use decoding::Decoding;
use job::DecodeJob;
use job::stream_pictures::StreamPictures;
pub(crate) use lanes::GpuLanes;
use maker::{PictureMaker, PictureOrder, origin_before};
use mixing::MixJob;
pub(crate) use outcomes::Done;
#[cfg(test)]
pub(crate) use outcomes::ORIGIN;
use panic::caught;
pub use pools::{Pools, PoolsError};
use suspects::{ChildLimits, SuspectLane};
pub use switched_off::SwitchedOff;
use views::FurtherViews;
pub use work_queue::LaneReport;
use work_queue::{Closed, WorkQueue};

/// One picture to decode: what, how, and where to.
#[derive(Debug)]
pub struct Picture<'a> {
    /// The file's bytes, or what a cache has of them.
    pub input: Input<'a>,
    /// What was read behind it, which is kept with the decoded picture.
    pub behind: &'a [u8],
    /// The cache that keeps the decoded picture for other epochs.
    pub cache: Option<&'a Cache>,
    /// Where the picture's seek points are kept.
    pub(crate) seek: Option<&'a SeekStore>,
    /// What becomes of the picture.
    pub recipe: &'a Recipe,
    /// Number of its record, under which a cache has it.
    pub record: u64,
    /// What its random choices follow: the record, and its repeat.
    pub draw: Draw,
    /// The place's bytes; all of them are written where decoding succeeds.
    pub out: &'a mut [u8],
    /// Its further views. All of their bytes are written too if decoding succeeds.
    pub(crate) further: FurtherViews<'a>,
}

/// Decodes a picture into its place on a thread of the pool. It returns what the picture was made of, or what is wrong
/// with it. After an error, the place may hold anything. Each thread makes one and keeps its state and memory. Every lane
/// has the same contract, which `decode/suite.rs` checks.
pub(crate) type Decode = Box<dyn FnMut(Picture<'_>) -> Result<Origin, Fault> + Send>;

/// How the names of decode threads begin. Their panics are caught; those of other threads end the process.
pub const DECODE_THREAD: &str = "forebay-decode-";

/// Makes it for one thread.
pub(crate) type MakeDecode = Arc<dyn Fn() -> Decode + Send + Sync>;

/// The threads of all lanes. Dropping the pool lets them end after the queued jobs. It waits for the threads of the GPUs'
/// lanes, so that they free what they allocated while the process still runs. If one of them never returns, the process
/// ends.
#[derive(Debug)]
pub struct Pool {
    work_queue: Arc<WorkQueue>,
    meter: Arc<Meter>,
    threads: usize,
    /// Bytes of memory for decoding.
    budget: u64,
    /// Those of the GPUs' lanes, which end before their GPUs do.
    of_gpus: GpuThreads,
    gpus: Vec<Gpu>,
    off: Vec<SwitchedOff>,
    /// What makes suspects. Nothing in tests that have no program for it.
    suspects: Option<SuspectLane>,
}

impl Pool {
    /// Starts the threads, each with a decoder of its own, and the threads of the GPUs' lanes. With `pins`, each decode
    /// thread is bound to the core of the next number. Large masks take their memory from the budget, as pictures do.
    pub fn start(
        threads: usize,
        pins: Option<&Pins>,
        make: &MakeDecode,
        (limits, memory): (Limits, &Arc<Budget>),
        lanes: GpuLanes,
    ) -> std::io::Result<Self> {
        Self::start_in(GpuThreads::default(), threads, pins, make, (limits, memory), lanes)
    }

    fn start_in(
        of_gpus: GpuThreads,
        threads: usize,
        pins: Option<&Pins>,
        make: &MakeDecode,
        (limits, memory): (Limits, &Arc<Budget>),
        mut lanes: GpuLanes,
    ) -> std::io::Result<Self> {
        let threads = threads.max(1);
        let (gpu_lanes, choice) = lanes.for_work_queue();
        let work_queue = Arc::new(WorkQueue::new(threads, gpu_lanes, choice, limits));
        let meter = Arc::new(Meter::new("decode"));
        // The pool exists before its first thread. So if a later thread cannot be started, dropping the pool ends the
        // earlier ones.
        let (gpus, off) = (lanes.take_gpus(), lanes.off().to_vec());
        let budget = memory.total();
        let mut pool = Self { work_queue, meter, threads, budget, of_gpus, gpus, off, suspects: None };
        for number in 0..threads {
            let (work_queue, make, meter) = (Arc::clone(&pool.work_queue), Arc::clone(make), Arc::clone(&pool.meter));
            let memory = Arc::clone(memory);
            let pin = pins.map(Pins::next);
            threads::start(&format!("{DECODE_THREAD}{number}"), move || {
                thread_class::background();
                if let Some(number) = pin {
                    cores::pin(number);
                }
                work(&work_queue, &make, &memory, &meter);
            })?;
        }
        lanes.start(&pool.work_queue, &mut pool.of_gpus)?;
        Ok(pool)
    }

    /// What a picture may have and take.
    pub(crate) fn limits(&self) -> &Limits {
        self.work_queue.limits()
    }

    /// The same, with children for suspects that keep to these limits.
    #[must_use]
    pub(crate) fn with_children(mut self, limits: ChildLimits) -> Self {
        self.suspects = Some(SuspectLane::new(limits, self.threads));
        self
    }

    /// Queues a picture. A kept picture is no suspect: this process has decoded it before and survived.
    fn decode(&self, job: DecodeJob) {
        match &self.suspects {
            Some(suspects) if job.suspect.is_some() && matches!(job.input(), Input::File(_)) => suspects.push(job),
            _ => {
                let steps = job.pictures.steps.clone();
                let admitted = if let Some(steps) = steps { steps.admit(job) } else { Some(job) };
                if let Some(job) = admitted {
                    self.work_queue.push(job);
                }
            }
        }
    }

    /// Starts a thread for suspects that wait, if the system had none before.
    fn mind_suspects(&self) {
        self.suspects.as_ref().inspect(|suspects| suspects.mind());
    }

    /// Queues a batch to be mixed.
    fn mix(&self, job: MixJob) {
        self.work_queue.push_mix(job);
    }

    /// How the lanes have done.
    pub fn lanes(&self) -> Vec<LaneReport> {
        self.work_queue.report()
    }

    /// The numbers of the GPUs that decode: those that had a lane at the start, whatever became of it.
    pub(crate) fn decoding_gpus(&self) -> BTreeSet<i32> {
        self.work_queue.gpus()
    }

    /// The GPUs that were opened, for what their memory is taken for.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    /// What of the GPUs is asked for and does not decode.
    pub fn switched_off(&self) -> Vec<SwitchedOff> {
        [self.off.clone(), self.work_queue.switched_off()].concat()
    }

    /// How long the threads waited for pictures.
    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// How many threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Prepares for the daemon's end. From now on, a hung GPU is waited for no longer than that end may take.
    pub fn leave(&self) {
        self.of_gpus.leave();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Pools that have GPUs live as long as the daemon.
        self.leave();
        self.work_queue.close();
    }
}

fn work(work_queue: &WorkQueue, make: &MakeDecode, memory: &Arc<Budget>, meter: &Meter) {
    let mut maker = PictureMaker::new(make, *work_queue.limits(), memory);
    let mut spare = Vec::new();
    loop {
        // A batch that only has to be mixed goes before the pictures of later batches.
        while let Some(job) = work_queue.mix() {
            job.run(&mut spare, memory);
        }
        let waited = Instant::now();
        let task = work_queue.task(SLICE);
        meter.reader_waited(waited.elapsed());
        let (mut job, ticket) = match task {
            Ok(Some(task)) => task,
            Ok(None) => continue,
            Err(Closed) => return,
        };
        let began = Instant::now();
        if let Some(steps) = job.pictures.steps.clone()
            && job.is_behind_a_step()
        {
            match caught(|| steps.carry_on(&mut maker, &mut job)) {
                Ok(carried) => {
                    work_queue.done(ticket, began.elapsed(), false);
                    steps.carried(job, carried);
                }
                Err(panic) => {
                    maker = PictureMaker::new(make, *work_queue.limits(), memory);
                    work_queue.done(ticket, began.elapsed(), false);
                    job.end(Err(panic));
                }
            }
            continue;
        }
        let made = job.is_made.then(|| job.made_by_gpu());
        let DecodeJob { content, place, pictures, record, draw, stepping, .. } = &mut job;
        let StreamPictures { recipe, views, mosaics, masks, cache, seek, .. } = &**pictures;
        let order = PictureOrder {
            content: content.input(),
            mosaic: mosaics.as_ref().zip(content.mosaic()),
            masks,
            views,
            cache: cache.as_deref(),
            seek: seek.as_deref(),
            recipe,
            record: *record,
            draw: *draw,
            made,
        };
        let is_decoded_here = matches!(order.content, Input::File(_)) && made.is_none();
        // Without an outcome, a place would hold its batch and the epoch forever. So a decoder's panic is an outcome too.
        // The decoder is then made again, so that no broken state is reused.
        let steps = pictures.steps.as_ref().zip(stepping.as_mut());
        let origin = || origin_before(masks.picture(order.content), (recipe, order.cache), work_queue.limits());
        let outcome = caught(|| {
            let beginning = steps.map(|(steps, stepping)| steps.begin(stepping, *draw, &origin));
            maker.make(order, beginning.transpose()?, place)
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(panic) => {
                maker = PictureMaker::new(make, *work_queue.limits(), memory);
                Err(panic)
            }
        };
        work_queue.done(ticket, began.elapsed(), is_decoded_here && outcome.is_ok());
        let steps = job.pictures.steps.clone();
        match outcome {
            Ok((origin, partners)) => match steps {
                Some(steps) => steps.call_first(job, origin),
                None => job.end_beside(Ok(origin), partners),
            },
            Err(reason) => job.end(Err(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel as channel;
    use forebay_cuda::NvjpegPlaces;
    use forebay_cuda::survey::Places;
    use forebay_fake_gpu::{Count, Fake};

    use super::*;
    use crate::cores::tests::allowed;
    use crate::decode::cpu::{CpuLane, CpuShared};
    use crate::memory::Promises;
    use crate::settings::{DecodeSettings, JpegDecoder, Lanes};

    fn lanes_of(fake: &Fake) -> GpuLanes {
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let config = DecodeSettings { lanes: Lanes::Auto, ..DecodeSettings::default() };
        let places = Places { driver: Some(fake.path()), nvjpeg };
        GpuLanes::open(&config, &places, &Promises::default()).unwrap()
    }

    fn cpu() -> CpuShared {
        CpuShared::new(Limits::default(), Arc::new(Budget::new(1)), JpegDecoder::Auto)
    }

    #[test]
    fn a_pool_that_ends_has_given_back_all_that_it_had_of_the_gpus() {
        let fake = Fake::new();
        let (lanes, lane) = (lanes_of(&fake), CpuLane::maker(cpu()));
        let pool = Pool::start(1, None, &lane, (Limits::default(), &Arc::new(Budget::new(1))), lanes).unwrap();
        assert!(!pool.gpus().is_empty() && fake.count(Count::Objects) > 0);
        drop(pool);
        for count in [Count::Objects, Count::Streams, Count::HostPieces, Count::DeviceBytes, Count::Contexts] {
            assert_eq!(fake.count(count), 0, "{count:?}");
        }
    }

    /// Three threads and the watch: the third has no room, or the watch.
    #[test]
    fn a_pool_that_the_system_has_too_few_threads_for_is_an_error_and_ends_those_that_it_has() {
        for room in [2, 3] {
            let fake = Fake::new();
            let (lanes, lane) = (lanes_of(&fake), CpuLane::maker(cpu()));
            let threads = GpuThreads::with_room_for(room);
            assert!(
                Pool::start_in(threads, 1, None, &lane, (Limits::default(), &Arc::new(Budget::new(1))), lanes).is_err(),
                "room for {room}"
            );
            assert_eq!((fake.count(Count::Streams), fake.count(Count::Contexts)), (0, 0), "room for {room}");
        }
    }

    #[test]
    fn rule_4_pools_have_the_threads_asked_for_and_pinned_ones_of_all_pools_have_a_core_each() {
        let all = allowed();
        for pin in [false, true] {
            let (tell, told) = channel::unbounded();
            let lane = CpuLane::maker(cpu());
            // Decoders are made by the threads that use them.
            let make: MakeDecode = Arc::new(move || {
                tell.send(allowed()).unwrap();
                lane()
            });
            let pins = Pins::default();
            // One for all cores, and one for each.
            let sizes = std::iter::once(all.len()).chain(all.iter().map(|_| 1));
            let start = |threads| {
                let pins = pin.then_some(&pins);
                Pool::start(threads, pins, &make, (Limits::default(), &Arc::new(Budget::new(1))), GpuLanes::default())
                    .unwrap()
            };
            let pools: Vec<Pool> = sizes.map(start).collect();
            let threads = pools.iter().map(Pool::threads).sum();
            let mut cores: Vec<Vec<usize>> = told.iter().take(threads).collect();
            cores.sort();
            let two_each = all.iter().chain(&all).map(|core| vec![*core]);
            let mut expected = if pin { two_each.collect() } else { vec![all.clone(); 2 * all.len()] };
            expected.sort();
            assert_eq!(cores, expected, "pin = {pin}");
        }
    }
}
