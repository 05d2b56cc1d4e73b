//! Steps in Python: functions of a recipe, which child processes call (semantics rule 59).
//!
//! A picture is decoded up to the first function by the pool. It then waits here for a child, and no thread of the pool waits with it.
//! The pool continues with the function's result. Each child has a thread that starts it, asks it and ends it.
//!
//! Pictures that are decoded and wait here take memory. So only as many are on their way at once as keep the children busy. The
//! others are not decoded yet.

mod admission;
pub(crate) mod batch_call;
pub(crate) mod batch_form;
mod call;
mod call_times;
mod caller;
mod child;
mod code;
mod mishap;
mod plan;
pub(crate) mod replayed;
mod step_masks;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use forebay_children::Patience;
use forebay_pixels::{Draw, Fault, Origin};
use forebay_proto::v1::{FunctionFile, FunctionStatus};
use forebay_sources::ReaderFolders;
use parking_lot::{Condvar, Mutex, RwLock};

use crate::decode::Pool;
use crate::decode::job::DecodeJob;
use crate::decode::job::stepping::{StepCalls, Stepping};
use crate::decode::maker::{PictureMaker, origin_before};
use crate::decode::masks::Masks;
use crate::decode::work_queue::WorkQueue;
use crate::settings::StepSettings;
use crate::step_columns::StepColumns;
use crate::step_lists::{AwaitsStep, Beginning, StepLists};
use crate::threads;
use admission::StepAdmission;
use batch_call::{BatchCall, BatchCalls};
use batch_form::BatchForm;
use call_times::CallTimes;
use caller::Caller;
use child::{FileHashes, STARTING, StepChild};
pub use code::StepError;
use plan::StepPlan;

/// About the bytes that pictures on their way to children and back may have. Of pictures that have sizes of their own it is as many as
/// decoding may take, if that is more.
const UNDER_WAY_BYTES: u64 = 64 << 20;
/// If so many calls fail before the first one that does not, the function is at fault, and not the records.
const FIRST_CALLS: u32 = 32;

/// The children of one stream. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Steps {
    shared: Arc<StepsShared>,
}

#[derive(Debug)]
struct StepsShared {
    plan: StepPlan,
    /// Where pictures come from, and go to.
    queue: Arc<WorkQueue>,
    workers: usize,
    /// What the functions' files were when the stream was opened.
    files: FileHashes,
    state: Mutex<StepsState>,
    changed: Condvar,
    counts: StepCounts,
    /// From when on calls are timed.
    opened: Instant,
    /// Held for writing by the one that is to be the only one.
    alone: RwLock<()>,
}

#[derive(Debug)]
struct StepsState {
    admission: StepAdmission<DecodeJob>,
    /// Pictures that are ready for a child.
    ready: VecDeque<DecodeJob>,
    /// Finished batches that are ready for a child.
    batches: VecDeque<BatchCall>,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct StepCounts {
    children: AtomicUsize,
    /// Children that call a function.
    busy: AtomicUsize,
    /// Answers of all children so far.
    answers: AtomicU64,
    /// Microseconds of the slowest first answer of a child. 0 before there is one.
    slowest_first: AtomicU64,
    /// Calls that failed before the first one that did not; or all of them, once one did not.
    failed: AtomicU32,
    /// The calls of each function: those of pictures, and behind them that of batches.
    functions: Vec<CallTimes>,
}

/// What a child does next.
#[allow(clippy::large_enum_variant, reason = "it is moved once for each batch")]
enum Work {
    Pictures(VecDeque<DecodeJob>),
    Batch(BatchCall),
}

impl Steps {
    /// Starts a first child, so that the functions are known to be good, and the threads of all. If a Loader calls the functions
    /// itself, there is no child. Nothing if there are no functions.
    ///
    /// # Errors
    /// A function cannot be used, or the system lacks what that takes.
    pub(crate) fn open(
        lists: StepLists,
        (columns, masks): (StepColumns, Masks),
        batch: Option<BatchForm>,
        (settings, readers): (&StepSettings, &ReaderFolders),
        pool: &Pool,
    ) -> Result<Option<Arc<Self>>, StepError> {
        let (queue, threads) = (Arc::clone(&pool.work_queue), pool.threads);
        let plan = StepPlan::new(lists, (columns, masks), batch, (settings, readers), pool.limits())?;
        let Some(plan) = plan else { return Ok(None) };
        let workers = settings.workers.unwrap_or(threads / 2).max(1);
        let (child, files) = if plan.code.loader().is_some() {
            // It answers once the stream is open.
            (None, FileHashes::new())
        } else {
            let (child, files) = StepChild::start(&plan, &Patience::lasting(STARTING))?;
            (Some(child), files)
        };
        let (within, frame) = (plan.within(UNDER_WAY_BYTES), plan.frame);
        let least = 2 * (workers + threads);
        let most = within.clamp(least, least.max(2 * workers * frame + threads));
        let shared = Arc::new(StepsShared {
            counts: StepCounts {
                functions: plan.functions().map(|_| CallTimes::default()).collect(),
                ..StepCounts::default()
            },
            plan,
            queue,
            workers,
            files,
            state: Mutex::new(StepsState::new(StepAdmission::new(most, pool.budget.max(UNDER_WAY_BYTES)))),
            changed: Condvar::new(),
            opened: Instant::now(),
            alone: RwLock::new(()),
        });
        let steps = Self { shared };
        let mut first = child;
        for number in 0..workers {
            let caller = Caller::new(Arc::clone(&steps.shared), first.take());
            let started = threads::start(&format!("forebay-step-{number}"), move || caller.run());
            started.map_err(|error| StepError::Start(error.to_string()))?;
        }
        Ok(Some(Arc::new(steps)))
    }

    /// What nodes of a run compare: the files of the functions. None if a Loader calls them.
    pub(crate) fn files(&self) -> Vec<FunctionFile> {
        let file = |(function, sha256): (&String, &String)| FunctionFile {
            function: function.clone(),
            sha256: sha256.clone(),
        };
        self.shared.files.iter().map(file).collect()
    }

    /// What its functions have done, and how many processes call them.
    pub(crate) fn report(&self) -> (Vec<FunctionStatus>, usize) {
        let StepsShared { plan, counts, workers, .. } = &*self.shared;
        let now = self.shared.now();
        let functions = plan.functions().zip(&counts.functions).map(|(function, calls)| {
            let (calls, busy) = calls.until(now);
            let busy_us = u64::try_from(busy.as_micros()).unwrap_or(u64::MAX);
            FunctionStatus { function: function.to_owned(), calls, busy_us }
        });
        (functions.collect(), if plan.code.loader().is_some() { 0 } else { *workers })
    }
}

impl Steps {
    /// Whether pictures go through functions, and not batches alone.
    pub(crate) fn has_pictures(&self) -> bool {
        !self.shared.plan.lists.is_empty()
    }

    /// Whether batches go through a function.
    pub(crate) fn has_batches(&self) -> bool {
        self.shared.plan.batch.is_some()
    }
}

impl BatchCalls for Steps {
    fn call_batch(&self, call: BatchCall) {
        self.shared.state.lock().batches.push_back(call);
        self.shared.changed.notify_one();
    }
}

impl StepCalls for Steps {
    fn admit(&self, mut job: DecodeJob) -> Option<DecodeJob> {
        let bytes = self.shared.bytes(&job);
        // It is counted with these bytes once it is admitted, now or later.
        stepping(&mut job).counted = Some(bytes);
        self.shared.state.lock().admission.enter(job, bytes)
    }

    fn left(&self, bytes: u64) {
        let next = self.shared.state.lock().admission.leave(bytes);
        for (job, _) in next {
            self.shared.queue.push(job);
        }
    }

    fn begin<'a>(
        &'a self,
        stepping: &'a mut Stepping,
        draw: Draw,
        origin: &dyn Fn() -> Result<Origin, Fault>,
    ) -> Result<Beginning<'a>, Fault> {
        let StepPlan { lists, limits, .. } = &self.shared.plan;
        stepping.awaiting.extend(lists.each().map(|_| AwaitsStep::in_room(self.shared.plan.room())));
        lists.begin(draw, (origin, limits), &mut stepping.awaiting)
    }

    fn call_first(&self, mut job: DecodeJob, origin: Origin) {
        stepping(&mut job).origin = Some(origin);
        self.shared.call_or_end(job);
    }

    fn carry_on(&self, maker: &mut PictureMaker, job: &mut DecodeJob) -> Result<(), Fault> {
        let turn = (job.record, job.draw);
        let DecodeJob { stepping, place, pictures, .. } = job;
        let stepping = stepping.as_mut().expect("its stream has functions in Python");
        let (images, views) = place.with_views(&pictures.views.columns);
        let out = match self.shared.plan.lists.list(stepping.list).view {
            None => images,
            Some(view) => &mut *views[view],
        };
        let StepPlan { lists, masks, .. } = &self.shared.plan;
        let is_of_images = lists.list(stepping.list).view.is_none();
        let is_there = self.shared.plan.carry_on(stepping, turn, &mut maker.behind_step(), out)?;
        if is_there && is_of_images {
            masks.put(&stepping.masks, place);
        }
        Ok(())
    }

    fn carried(&self, job: DecodeJob, carried: Result<(), Fault>) {
        match carried {
            Err(fault) => job.end(Err(fault.into())),
            Ok(()) => self.shared.call_or_end(job),
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.shared.state.lock().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl StepsState {
    fn new(admission: StepAdmission<DecodeJob>) -> Self {
        Self { admission, ready: VecDeque::new(), batches: VecDeque::new(), is_closed: false }
    }
}

impl StepsShared {
    /// What a picture takes on its way, as its header says, if functions get it in a size of its own. What is wrong with it is found when
    /// it is decoded. Of a suspect, nothing is read in this process.
    fn bytes(&self, job: &DecodeJob) -> u64 {
        if !self.plan.lists.are_open() || job.suspect.is_some() {
            return 0;
        }
        let (recipe, cache) = (&*job.pictures.recipe, job.pictures.cache.as_deref());
        origin_before(job.input(), (recipe, cache), &self.plan.limits)
            .map_or(0, |origin| self.plan.bytes(&origin, job.draw))
    }

    /// Has the next function called, or ends the picture if there is none.
    fn call_or_end(&self, mut job: DecodeJob) {
        let (turn, stepping) = ((job.record, job.draw), stepping(&mut job));
        if !self.plan.prepare(stepping, turn) {
            let origin = stepping.origin.expect("it was decoded");
            return job.end(Ok(origin));
        }
        self.state.lock().ready.push_back(job);
        self.changed.notify_one();
    }

    /// Puts pictures back that another child is to have.
    fn put_back(&self, jobs: impl DoubleEndedIterator<Item = DecodeJob>) {
        let mut state = self.state.lock();
        jobs.rev().for_each(|job| state.ready.push_front(job));
        drop(state);
        self.changed.notify_all();
    }

    /// Puts a batch back that another child is to have.
    fn put_batch_back(&self, call: BatchCall) {
        self.state.lock().batches.push_front(call);
        self.changed.notify_all();
    }

    /// How long it is open.
    fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    /// The next batch, or a child's share of the pictures that are ready, once there are some. Nothing once no more will come. Batches
    /// go first: their slots are free sooner.
    fn take(&self) -> Option<Work> {
        let mut state = self.state.lock();
        loop {
            if let Some(batch) = state.batches.pop_front() {
                return Some(Work::Batch(batch));
            }
            let ready = state.ready.len();
            if ready > 0 {
                let share = ready.div_ceil(self.workers).min(self.plan.frame);
                return Some(Work::Pictures(state.ready.drain(..share).collect()));
            }
            if state.is_closed {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    /// Counts a call that has failed. True if all of the first ones have.
    fn all_fail(&self) -> bool {
        let count = |failed: u32| Some(failed.saturating_add(1));
        let failed = self.counts.failed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
        failed.is_ok_and(|before| before + 1 == FIRST_CALLS)
    }

    /// Counts a call that has not failed.
    fn one_is_good(&self) {
        self.counts.failed.store(u32::MAX / 2, Ordering::SeqCst);
    }
}

/// What a picture of a stream with functions has of its way through them.
fn stepping(job: &mut DecodeJob) -> &mut Stepping {
    job.stepping.as_mut().expect("its stream has functions in Python")
}
