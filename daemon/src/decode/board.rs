//! The one queue between streams and lanes: which thread gets which picture next. Decided by [`Schedule`]; this is the lock
//! around it and the waiting.

use std::fmt;
use std::time::Duration;

use forebay_cuda::Frame;
use forebay_cuda::lane::worker::{Made, Order};
use forebay_cuda::lane::{LaneKind, Refusal};
use forebay_cuda::schedule::{Cost, Grip, LaneId, LaneSet, LaneSpec, Schedule, Work};
use forebay_pixels::{Format, JpegHead, Limits};
use parking_lot::{Condvar, Mutex};

use crate::cache::Keep;
use crate::decode::{Job, SwitchedOff};
use crate::record::Input;

/// The CPU lane, which every board has.
pub(super) const CPU: LaneId = LaneId(0);

/// A lane, as the status shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneReport {
    /// `cpu`, `hardware on GPU 0`.
    pub name: String,
    /// Pictures that it has decoded.
    pub pictures: u64,
    /// Pictures that it took from another lane's line.
    pub stolen: u64,
    /// Pictures that it left to the next lane, by reason.
    pub refused: Vec<(Refusal, u64)>,
}

/// A GPU's lane on the board.
#[derive(Clone, Debug)]
pub(super) struct GpuLane {
    pub(super) kind: LaneKind,
    pub(super) ordinal: i32,
    pub(super) workers: u32,
}

/// How a picture gets its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// By the record's number, not by the load.
    pub(super) fixed: bool,
    /// Whether the CPU lane decodes what a GPU lane would take.
    pub(super) cpu: bool,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Board {
    lanes: Vec<GpuLane>,
    choice: Choice,
    limits: Limits,
    state: Mutex<State>,
    /// For threads of the pool, and for each GPU lane's.
    for_pool: Condvar,
    for_lanes: Vec<Condvar>,
}

#[derive(Debug)]
struct State {
    schedule: Schedule<Waiting>,
    counts: Vec<Counts>,
    /// Pictures in GPU lanes' hands, which may come back to the pool.
    away: usize,
    closed: bool,
    /// Lanes that were given up, and why.
    off: LaneSet,
    reasons: Vec<SwitchedOff>,
}

#[derive(Debug)]
struct Waiting {
    job: Job,
    work: Work,
    may: LaneSet,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    pictures: u64,
    refused: [u64; Refusal::ALL.len()],
}

/// A picture that a GPU lane has in hand.
#[derive(Debug)]
pub(super) struct InHand {
    pub(super) job: Job,
    work: Work,
    may: LaneSet,
}

impl InHand {
    /// What a worker of this GPU is told of it.
    pub(super) fn order<'a>(&'a mut self, limits: &'a Limits, gpu: i32) -> Order<'a> {
        let Job { content, recipe, draw, place, .. } = &mut self.job;
        let bytes = match content.input() {
            Input::File(bytes) => bytes,
            // Only files are given to GPU lanes.
            Input::Picture(_) => &[],
        };
        Order { bytes, made: Made::By(recipe, *draw, limits), out: place.target(gpu) }
    }
}

impl fmt::Display for GpuLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on GPU {}", self.kind, self.ordinal)
    }
}

impl State {
    /// Those of these lanes that decode, else the CPU's.
    fn usable(&self, may: LaneSet) -> LaneSet {
        let usable = may.minus(self.off);
        if usable.is_empty() { LaneSet::only(CPU) } else { usable }
    }
}

impl Board {
    /// A board for so many threads of the pool and these lanes of GPUs.
    pub(super) fn new(threads: usize, lanes: Vec<GpuLane>, choice: Choice, limits: Limits) -> Self {
        let cpu = LaneSpec { workers: u32::try_from(threads).unwrap_or(u32::MAX), prior: prior(LaneKind::Cpu) };
        let gpu = lanes.iter().map(|lane| LaneSpec { workers: lane.workers, prior: prior(lane.kind) });
        let state = State {
            schedule: Schedule::new([cpu].into_iter().chain(gpu)),
            counts: vec![Counts::default(); lanes.len() + 1],
            away: 0,
            closed: false,
            off: LaneSet::default(),
            reasons: Vec::new(),
        };
        Self {
            for_lanes: lanes.iter().map(|_| Condvar::new()).collect(),
            lanes,
            choice,
            limits,
            state: Mutex::new(state),
            for_pool: Condvar::new(),
        }
    }

    /// Queues a picture.
    pub(super) fn push(&self, job: Job) {
        let (work, may, refusal) = self.admit(&job);
        let mut state = self.state.lock();
        if let Some(refusal) = refusal {
            // It is the first GPU lane's kind that does not take it; the others do not either.
            state.counts[1].refused[refusal as usize] += 1;
        }
        let may = state.usable(may);
        state.schedule.push(Waiting { job, work, may }, work, may);
        drop(state);
        self.wake();
    }

    /// What there is for a thread of the pool, within `wait`.
    ///
    /// # Errors
    /// [`Closed`] once the board is closed and nothing will come any more.
    pub(super) fn task(&self, wait: Duration) -> Result<Option<(Job, Grip)>, Closed> {
        let mut state = self.state.lock();
        let mut waited = false;
        loop {
            if let Some((grip, mut taken)) = state.schedule.take(CPU, 1)
                && let Some(Waiting { job, .. }) = taken.pop()
            {
                return Ok(Some((job, grip)));
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
    /// cannot be.
    pub(super) fn done(&self, grip: Grip, took: Duration, decoded: bool) {
        let mut state = self.state.lock();
        state.counts[CPU.0].pictures += u64::from(decoded);
        state.schedule.done(grip, took);
    }

    /// Up to `most` pictures for a thread of a GPU lane, once there are any.
    ///
    /// # Errors
    /// [`Closed`] once the board is closed and its line empty.
    pub(super) fn group(&self, lane: LaneId, most: usize) -> Result<(Grip, Vec<InHand>), Closed> {
        let mut state = self.state.lock();
        loop {
            if let Some((grip, taken)) = state.schedule.take(lane, most) {
                state.away += taken.len();
                let taken = taken.into_iter().map(|Waiting { job, work, may }| InHand { job, work, may });
                return Ok((grip, taken.collect()));
            }
            if state.closed {
                return Err(Closed);
            }
            self.for_lanes[lane.0 - 1].wait(&mut state);
        }
    }

    /// A thread of a GPU lane is done with its group.
    pub(super) fn group_done(&self, grip: Grip, took: Duration) {
        self.state.lock().schedule.done(grip, took);
    }

    /// What became of pictures of its group: their places are written, or another lane takes them on.
    pub(super) fn came_back(&self, lane: LaneId, outcomes: impl IntoIterator<Item = (InHand, Result<(), Refusal>)>) {
        let mut made = Vec::new();
        let mut state = self.state.lock();
        for (InHand { job, work, may }, outcome) in outcomes {
            state.away -= 1;
            match outcome {
                Ok(()) => {
                    state.counts[lane.0].pictures += 1;
                    made.push(job);
                }
                Err(refusal) => {
                    state.counts[lane.0].refused[refusal as usize] += 1;
                    // Threads of other GPU lanes may have ended already.
                    let may = if state.closed { LaneSet::only(CPU) } else { state.usable(self.next(may, lane)) };
                    state.schedule.push_again(Waiting { job, work, may }, work, may);
                    self.wake();
                }
            }
        }
        drop(state);
        self.for_pool.notify_all();
        for job in made {
            job.end(Ok(()));
        }
    }

    /// Gives a lane up: it gets no further pictures, and its threads give those in its line to others.
    pub(super) fn switch_off(&self, lane: LaneId, reason: String) {
        let mut state = self.state.lock();
        if !state.off.has(lane) {
            state.off = state.off.with(lane);
            state.reasons.push(SwitchedOff { name: self.lanes[lane.0 - 1].to_string(), reason });
        }
    }

    /// Whether a lane was given up.
    pub(super) fn is_off(&self, lane: LaneId) -> bool {
        self.state.lock().off.has(lane)
    }

    /// Lanes that were given up, and why.
    pub(super) fn switched_off(&self) -> Vec<SwitchedOff> {
        self.state.lock().reasons.clone()
    }

    /// The GPU of a lane.
    pub(super) fn gpu(&self, lane: LaneId) -> i32 {
        self.lanes[lane.0 - 1].ordinal
    }

    /// What a picture may cost.
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Nothing more will be queued; threads end when all that was is done.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.for_pool.notify_all();
        for lane in &self.for_lanes {
            lane.notify_all();
        }
    }

    /// How the lanes have done.
    pub(super) fn report(&self) -> Vec<LaneReport> {
        let state = self.state.lock();
        let report = |(number, counts): (usize, &Counts)| LaneReport {
            name: match number.checked_sub(1).map(|gpu| &self.lanes[gpu]) {
                Some(lane) => lane.to_string(),
                None => LaneKind::Cpu.to_string(),
            },
            pictures: counts.pictures,
            stolen: state.schedule.tally(LaneId(number)).stolen,
            refused: Refusal::ALL.into_iter().zip(counts.refused).filter(|(_, count)| *count > 0).collect(),
        };
        state.counts.iter().enumerate().map(report).collect()
    }

    /// The work that a picture makes, and the lanes that may do it. Whether a picture is truncated, or larger than it may be, is
    /// told here for all lanes alike (semantics rule 29): such a picture is the CPU lane's, whose fault says it.
    fn admit(&self, job: &Job) -> (Work, LaneSet, Option<Refusal>) {
        let cpu = LaneSet::only(CPU);
        let Input::File(bytes) = job.content.input() else { return (Work::default(), cpu, None) };
        if self.lanes.is_empty() {
            return (Work::default(), cpu, None);
        }
        // Headers of other formats are for the CPU lane to read: this thread is the stream's own.
        if Format::of(bytes) != Ok(Format::Jpeg) {
            return (Work::of(0, bytes.len() as u64), cpu, Some(Refusal::NotJpeg));
        }
        let decoded_is_kept = job.cache.as_ref().is_some_and(|cache| matches!(cache.keep(), Keep::Decoded(_)));
        let Ok(head) = JpegHead::read(bytes) else { return (Work::default(), cpu, None) };
        let pixels = u64::from(head.width) * u64::from(head.height);
        let work = Work::of(pixels, bytes.len() as u64);
        let within = pixels <= self.limits.pixels && bytes.len() as u64 <= self.limits.bytes;
        // Decoding at a part of the size is the CPU lane's; pictures that have to be kept decoded are so as well.
        let scaled = job.recipe.input().reducing_gap.is_some();
        if !within || decoded_is_kept || scaled {
            return (work, cpu, None);
        }
        match Frame::of(&head) {
            Ok(frame) if frame.baseline => (work, self.lanes_for(job.draw.record, job.place.gpu()), None),
            Ok(_) => (work, cpu, Some(Refusal::Kind)),
            Err(refusal) => (work, cpu, Some(refusal)),
        }
    }

    /// The lanes of a good baseline JPEG. Of one whose place is in a GPU with lanes, other GPUs' are left out: what they make would
    /// go through the host.
    fn lanes_for(&self, record: u64, gpu: Option<i32>) -> LaneSet {
        let own = gpu.filter(|gpu| self.lanes.iter().any(|lane| lane.ordinal == *gpu));
        let may = |lane: &GpuLane| own.is_none_or(|own| own == lane.ordinal);
        let gpus = (1..).zip(&self.lanes).filter_map(|(number, lane)| may(lane).then_some(LaneId(number)));
        let gpus = gpus.fold(LaneSet::default(), LaneSet::with);
        match self.choice {
            // A quarter of all records, whatever their order has to do with their numbers.
            Choice { fixed: true, cpu: true } if record.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 3 => {
                LaneSet::only(CPU)
            }
            Choice { fixed: false, cpu: true } => gpus.with(CPU),
            Choice { .. } => gpus,
        }
    }

    /// The lanes after one has given a picture up: other kinds of GPU lanes that come later, else the CPU.
    fn next(&self, may: LaneSet, lane: LaneId) -> LaneSet {
        let gave_up = self.lanes[lane.0 - 1].kind;
        let later = |(number, lane): (usize, &GpuLane)| {
            (lane.kind > gave_up && may.has(LaneId(number + 1))).then_some(LaneId(number + 1))
        };
        let set = self.lanes.iter().enumerate().filter_map(later).fold(LaneSet::default(), LaneSet::with);
        if set.is_empty() { LaneSet::only(CPU) } else { set }
    }

    /// A picture has come: it is one lane's, and any other that is idle may take it.
    fn wake(&self) {
        for lane in &self.for_lanes {
            lane.notify_one();
        }
        self.for_pool.notify_one();
    }
}

/// What a picture costs a worker before anything was measured, by guesses that the first hundred pictures mend: a CPU decodes a
/// photograph of 0.2 megapixels in two milliseconds, an engine in 0.4.
fn prior(kind: LaneKind) -> Cost {
    match kind {
        LaneKind::Cpu => Cost::new(0.2e-3, 2e-3, 1e-5),
        LaneKind::Hardware | LaneKind::GpuHuffman => Cost::new(0.15e-3, 0.3e-3, 0.0),
        LaneKind::HardwareSingle => Cost::new(0.3e-3, 0.6e-3, 0.0),
        LaneKind::Hybrid => Cost::new(0.2e-3, 0.5e-3, 6e-6),
    }
}

/// The board is closed and empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;
