//! The only queue between streams and lanes. It determines which thread gets which picture next. [`Schedule`] decides;
//! this file adds the lock and the waiting.

mod counts;
mod group;
#[cfg(test)]
mod jobs;
mod routes;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use forebay_cuda::lane::{LaneKind, Refusal};
use forebay_cuda::schedule::{LaneId, LaneSet, Queued, Sample, Schedule, Work};
use forebay_pixels::Limits;
use parking_lot::{Condvar, Mutex};

use crate::decode::job::DecodeJob;
use crate::decode::mixing::MixJob;
use crate::decode::switched_off::SwitchedOff;
use counts::LaneCounts;
pub use counts::LaneReport;
pub(super) use group::{Group, PoolTicket};
use routes::{CPU, Errand, Routes};
pub(super) use routes::{GpuLane, LaneChoice};

/// The queue.
#[derive(Debug)]
pub(super) struct WorkQueue {
    routes: Routes,
    state: Mutex<WorkQueueState>,
    /// For threads of the pool, and for each GPU lane's.
    for_pool: Condvar,
    for_lanes: Vec<Condvar>,
}

#[derive(Debug)]
struct WorkQueueState {
    schedule: Schedule<DecodeJob>,
    /// Batches to be mixed, the oldest first.
    mixes: VecDeque<MixJob>,
    counts: Vec<LaneCounts>,
    /// Pictures in GPU lanes' hands, which may come back to the pool.
    away: usize,
    closed: bool,
    /// Lanes that were given up, and why.
    off: Vec<SwitchedOff>,
}

impl WorkQueueState {
    fn take(&mut self, lane: LaneId, most: usize) -> Option<Group> {
        let (number, pictures) = self.schedule.take(lane, most)?;
        self.away += pictures.len();
        Some(Group::new(lane, number, pictures))
    }

    /// Puts a picture that a lane has given up at the head of another one's line.
    fn push_again(&mut self, mut picture: Queued<DecodeJob>) {
        // The threads of GPU lanes may have ended already.
        picture.may =
            if self.closed || picture.item.is_made { LaneSet::only(CPU) } else { self.schedule.open(picture.may, CPU) };
        self.schedule.push_again(picture);
    }
}

impl WorkQueue {
    /// A work queue for so many threads of the pool and these lanes of GPUs.
    pub(super) fn new(threads: usize, lanes: Vec<GpuLane>, choice: LaneChoice, limits: Limits) -> Self {
        let routes = Routes::new(lanes, choice, limits);
        let state = WorkQueueState {
            schedule: Schedule::new(routes.specs(threads)),
            mixes: VecDeque::new(),
            counts: vec![LaneCounts::default(); routes.gpu_lanes().len() + 1],
            away: 0,
            closed: false,
            off: Vec::new(),
        };
        Self {
            for_lanes: routes.gpu_lanes().iter().map(|_| Condvar::new()).collect(),
            routes,
            state: Mutex::new(state),
            for_pool: Condvar::new(),
        }
    }

    /// Queues a picture.
    pub(super) fn push(&self, mut job: DecodeJob) {
        let admission = self.routes.admit(&job);
        job.origin = admission.origin;
        let mut state = self.state.lock();
        if let Some(refusal) = admission.refusal {
            state.counts[CPU.0 + 1].refused(refusal);
        }
        let may = self.routes.lanes(admission.takers, Errand::of(&job), state.schedule.closed());
        let may = state.schedule.open(may, CPU);
        state.schedule.push(Queued { item: job, work: admission.work, may });
        drop(state);
        self.wake();
    }

    /// Queues what a function in Python has given of a picture, before the pictures that are not decoded yet.
    pub(super) fn push_behind(&self, job: DecodeJob) {
        self.state.lock().schedule.push_again(Queued { item: job, work: Work::default(), may: LaneSet::only(CPU) });
        self.for_pool.notify_one();
    }

    /// Queues a batch to be mixed.
    pub(super) fn push_mix(&self, job: MixJob) {
        self.state.lock().mixes.push_back(job);
        self.for_pool.notify_one();
    }

    /// The next batch to be mixed.
    pub(super) fn mix(&self) -> Option<MixJob> {
        self.state.lock().mixes.pop_front()
    }

    /// What there is for a thread of the pool, within `wait`. Nothing while there is a batch to be mixed.
    ///
    /// # Errors
    /// [`Closed`] once the work queue is closed and nothing will come any more.
    pub(super) fn task(&self, wait: Duration) -> Result<Option<(DecodeJob, PoolTicket)>, Closed> {
        let mut state = self.state.lock();
        let mut waited = false;
        loop {
            if !state.mixes.is_empty() {
                return Ok(None);
            }
            if let Some((number, mut taken)) = state.schedule.take(CPU, 1)
                && let Some(Queued { item, work, .. }) = taken.pop()
            {
                return Ok(Some((item, PoolTicket { number, work })));
            }
            if state.closed && state.away == 0 && state.schedule.waiting() == 0 {
                return Err(Closed);
            }
            if waited {
                return Ok(None);
            }
            waited = self.for_pool.wait_for(&mut state, wait).timed_out();
        }
    }

    /// A thread of the pool is done with a picture. It counts if the thread has `decoded` it: others were kept decoded, or
    /// cannot be. What it took tells of the lane's speed if it was a JPEG, as those are that other lanes might have had.
    pub(super) fn done(&self, ticket: PoolTicket, took: Duration, decoded: bool) {
        let mut state = self.state.lock();
        let mut sample = Sample { took, ..Sample::default() };
        if decoded {
            state.counts[CPU.0].decoded();
            if ticket.work.megapixels > 0.0 {
                sample.add(ticket.work);
            }
        }
        state.schedule.done(ticket.number, &sample);
    }

    /// Up to `most` pictures for a thread of a GPU lane, once there are any.
    ///
    /// # Errors
    /// [`Closed`] once the lane was given up, or the work queue is closed and has nothing for it.
    pub(super) fn group(&self, lane: LaneId, most: usize) -> Result<Group, Closed> {
        let mut state = self.state.lock();
        loop {
            if let Some(group) = state.take(lane, most) {
                return Ok(group);
            }
            if state.closed || state.schedule.is_closed(lane) {
                return Err(Closed);
            }
            self.for_lanes[lane.0 - 1].wait(&mut state);
        }
    }

    /// What became of the first pictures of a group: their places are written, or another lane takes them on.
    pub(super) fn came_back(&self, group: &mut Group, outcomes: Vec<Result<(), Refusal>>) {
        let mut made = Vec::new();
        let mut state = self.state.lock();
        let count = outcomes.len();
        // Each goes to the head of a line, so that the last one has to come first.
        for (mut picture, outcome) in group.pictures.drain(..count).zip(outcomes).rev() {
            state.away -= 1;
            match outcome {
                Ok(()) => {
                    state.counts[group.lane.0].decoded();
                    group.sample.add(picture.work);
                    if picture.item.pictures.masks.is_empty() {
                        made.push(picture.item);
                    } else {
                        // Masks are decoded by the pool.
                        picture.item.is_made = true;
                        state.push_again(picture);
                    }
                }
                Err(refusal) => {
                    state.counts[group.lane.0].refused(refusal);
                    picture.may = self.routes.next(picture.may, group.lane);
                    state.push_again(picture);
                    self.wake();
                }
            }
        }
        drop(state);
        self.for_pool.notify_all();
        for job in made.into_iter().rev() {
            let origin = job.made_by_gpu();
            job.end(Ok(origin));
        }
    }

    /// A thread of a GPU lane is done with its group, after this time. What is left of it was not looked at, and goes to any
    /// lane that may have it.
    pub(super) fn group_done(&self, group: Group, took: Duration) {
        let Group { number, pictures, sample, .. } = group;
        let mut state = self.state.lock();
        state.schedule.done(number, &Sample { took, ..sample });
        state.away -= pictures.len();
        for picture in pictures.into_iter().rev() {
            state.push_again(picture);
            self.wake();
        }
        drop(state);
        self.for_pool.notify_all();
    }

    /// Gives a lane up: its line goes to others, its threads end when they are done with what they have in hand.
    pub(super) fn switch_off(&self, lane: LaneId, reason: String) {
        let mut state = self.state.lock();
        if state.schedule.is_closed(lane) {
            return;
        }
        if state.closed {
            // The threads of other GPU lanes may have ended already, and would leave its line in theirs.
            (1..=self.for_lanes.len()).for_each(|lane| state.schedule.close(LaneId(lane), CPU));
        }
        state.schedule.close(lane, CPU);
        state.off.push(SwitchedOff { name: self.routes.lane(lane).to_string(), reason });
        drop(state);
        self.wake_all();
    }

    /// Whether a lane was given up.
    pub(super) fn is_off(&self, lane: LaneId) -> bool {
        self.state.lock().schedule.is_closed(lane)
    }

    /// Lanes that were given up, and why.
    pub(super) fn switched_off(&self) -> Vec<SwitchedOff> {
        self.state.lock().off.clone()
    }

    /// Whether a picture's lane is chosen by its record's number.
    pub(super) fn is_fixed(&self) -> bool {
        self.routes.is_fixed()
    }

    /// A lane of a GPU, in words.
    pub(super) fn name(&self, lane: LaneId) -> String {
        self.routes.lane(lane).to_string()
    }

    /// GPUs that have a lane, or had one when the work queue was made: each once, by their numbers.
    pub(super) fn gpus(&self) -> BTreeSet<i32> {
        self.routes.gpu_lanes().iter().map(|lane| lane.ordinal).collect()
    }

    /// The GPU of a lane.
    pub(super) fn gpu(&self, lane: LaneId) -> i32 {
        self.routes.lane(lane).ordinal
    }

    /// What a picture may cost.
    pub(super) fn limits(&self) -> &Limits {
        self.routes.limits()
    }

    /// Nothing more will be queued; threads end when all that was is done.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.wake_all();
    }

    /// How the lanes have done.
    pub(super) fn report(&self) -> Vec<LaneReport> {
        let state = self.state.lock();
        let names =
            [LaneKind::Cpu.to_string()].into_iter().chain(self.routes.gpu_lanes().iter().map(ToString::to_string));
        let lanes = (0..).map(LaneId).zip(&state.counts).zip(names);
        lanes.map(|((lane, counts), name)| counts.report(name, state.schedule.tally(lane).stolen)).collect()
    }

    /// A picture has come: it is one lane's, and any other that is idle may take it.
    fn wake(&self) {
        for lane in &self.for_lanes {
            lane.notify_one();
        }
        self.for_pool.notify_one();
    }

    fn wake_all(&self) {
        for lane in &self.for_lanes {
            lane.notify_all();
        }
        self.for_pool.notify_all();
    }
}

/// The lane has nothing to do any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;
