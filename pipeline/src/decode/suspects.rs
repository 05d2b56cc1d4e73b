//! Suspects: records that two daemons in a row died with. Each is made alone in a child process, so a child's end says whose
//! fault it is (semantics rule 9).
//!
//! Each child has a thread that starts it, asks it and ends it. So the thread lives as long as its child: Linux ends the child with
//! the thread that started it. Threads and children are started when they are needed.

mod child;
mod ending;
mod exchange;
mod message;
mod station;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{self as channel, RecvTimeoutError};
use forebay_pixels::{Limits, PARTNERS};
use forebay_proto::v1::ChildReply;
use parking_lot::{Mutex, RwLock};

use crate::decode::job::DecodeJob;
use crate::decode::suspect_order::SuspectOrder;
use crate::reason::Reason;
use crate::settings::JpegDecoder;
use crate::threads;
use child::{Heard, SuspectChild};
use ending::Ending;
pub use station::make_suspects;

/// How long a child waits for another record.
const IDLE: Duration = Duration::from_secs(10);
/// How long after a child was ended, and the record is not to blame, it is made again.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it is looked meanwhile whether the stream has stopped.
const LOOK: Duration = Duration::from_millis(100);
/// What a child may take beside the memory for decoding: the record, what is made of it, and the program itself.
const ALLOWANCE: u64 = 1 << 30;

/// What children keep to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChildLimits {
    /// The limits of a picture.
    pub limits: Limits,
    /// Memory for decoding.
    pub memory: u64,
    /// What decodes JPEGs.
    pub jpeg: JpegDecoder,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct SuspectLane {
    shared: Arc<LaneShared>,
    queue: channel::Sender<DecodeJob>,
    threads: Mutex<usize>,
    most: usize,
}

#[derive(Debug)]
struct LaneShared {
    jobs: channel::Receiver<DecodeJob>,
    limits: ChildLimits,
    /// Threads that wait for a job.
    idle: AtomicUsize,
    /// Children that make a record.
    busy: AtomicUsize,
    /// Answers of all children so far.
    answers: AtomicU64,
    /// Held for writing by the one that is to be the only one.
    alone: RwLock<()>,
}

impl SuspectLane {
    /// At most so many children.
    pub(crate) fn new(limits: ChildLimits, most: usize) -> Self {
        let (queue, jobs) = channel::unbounded();
        let shared = LaneShared {
            jobs,
            limits,
            idle: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            answers: AtomicU64::new(0),
            alone: RwLock::new(()),
        };
        Self { shared: Arc::new(shared), queue, threads: Mutex::new(0), most }
    }

    /// Queues a suspect.
    pub(crate) fn push(&self, job: DecodeJob) {
        // The lane itself has the other end.
        let _sent = self.queue.send(job);
        self.mind();
    }

    /// Starts a thread if jobs wait for one.
    pub(crate) fn mind(&self) {
        let mut threads = self.threads.lock();
        if *threads < self.most && self.shared.jobs.len() > self.shared.idle.load(Ordering::SeqCst) {
            let shared = Arc::clone(&self.shared);
            match threads::start(&format!("forebay-suspect-{threads}"), move || work(&shared)) {
                Ok(_thread) => *threads += 1,
                Err(error) => tracing::warn!(%error, "suspects wait for a thread"),
            }
        }
    }
}

fn work(shared: &LaneShared) {
    let mut child = None;
    loop {
        shared.idle.fetch_add(1, Ordering::SeqCst);
        let job = match &child {
            Some(_) => shared.jobs.recv_timeout(IDLE),
            None => shared.jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        shared.idle.fetch_sub(1, Ordering::SeqCst);
        match job {
            Ok(job) => make(shared, &mut child, job),
            Err(RecvTimeoutError::Timeout) => child = None,
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Makes one record, and tells what became of it.
fn make(shared: &LaneShared, child: &mut Option<SuspectChild>, mut job: DecodeJob) {
    let order = Arc::clone(job.suspect.as_ref().expect("only suspects are queued here"));
    shared.busy.fetch_add(1, Ordering::SeqCst);
    let outcome = Trial { shared, order: &order, child, shown: [true; PARTNERS] }.run(&mut job);
    shared.busy.fetch_sub(1, Ordering::SeqCst);
    match outcome {
        Some(Ok(reply)) => match exchange::made_of(&reply) {
            Some((origin, partners)) => match job.pictures.steps.clone() {
                Some(steps) => steps.call_first(job, origin),
                None => job.end_beside(Ok(origin), partners),
            },
            None => job.end(Err(Reason::Told { words: reply.fault.into(), may_pass: reply.may_pass })),
        },
        Some(Err(ending)) => {
            tracing::warn!(record = job.record, ending, "making a record's picture ended two child processes");
            job.end(Err(Reason::Poison { ending: ending.into() }));
        }
        // Nothing waits for the outcome: only the place returns.
        None => job.end(Err(Reason::Late { timeout: order.read_timeout })),
    }
}

/// The partners whose pictures are in a mosaic, by their numbers in it, with their records.
fn partners(job: &DecodeJob) -> Vec<(usize, u64)> {
    let partners = job.content.mosaic().and_then(|content| content.partners()).into_iter().flatten().enumerate();
    partners.filter_map(|(number, partner)| partner.bytes.is_some().then_some((number, partner.record))).collect()
}

/// One record's way to its picture.
struct Trial<'a> {
    shared: &'a LaneShared,
    order: &'a Arc<SuspectOrder>,
    child: &'a mut Option<SuspectChild>,
    /// The partners that a mosaic is made of. The own picture takes the place of the others.
    shown: [bool; PARTNERS],
}

impl Trial<'_> {
    /// A child's answer, which is in the place; or how the second of two ended that the record is to blame for. Nothing if the
    /// stream has stopped.
    ///
    /// A mosaic has the pictures of other records too. If it ends two children, each of its pictures is tried without the others:
    /// a record is to blame for its own picture, and a partner's is left out, as that of any bad partner is.
    fn run(&mut self, job: &mut DecodeJob) -> Option<Result<ChildReply, String>> {
        let together = self.proven(job)?;
        let partners = partners(job);
        if together.is_ok() || partners.is_empty() {
            return Some(together);
        }
        self.shown = [false; PARTNERS];
        let alone = self.proven(job)?;
        if alone.as_ref().map_or(true, |reply| reply.origin.is_none()) {
            return Some(alone);
        }
        let mut good = self.shown;
        for (number, record) in &partners {
            self.shown = [false; PARTNERS];
            self.shown[*number] = true;
            match self.proven(job)? {
                Ok(_) => good[*number] = true,
                Err(ending) => {
                    tracing::warn!(
                        record,
                        ending,
                        mosaic = job.record,
                        "a picture is left out of a mosaic: it ended two child processes"
                    );
                }
            }
        }
        if partners.iter().all(|(number, _)| good[*number]) {
            return Some(together);
        }
        self.shown = good;
        self.proven(job)
    }

    /// A child's answer; or how the second of two ended that what is made is to blame for. Nothing if the stream has stopped.
    fn proven(&mut self, job: &mut DecodeJob) -> Option<Result<ChildReply, String>> {
        let (mut has_ended_one, mut is_alone) = (false, false);
        loop {
            // A stream that stops may have many suspects in the queue.
            if self.order.is_withdrawn() {
                return None;
            }
            let ending = match self.attempt(job, is_alone) {
                Ok(reply) => {
                    self.order.end_wait();
                    return Some(Ok(reply));
                }
                Err(ending) => ending,
            };
            // Each record has another one after an end.
            *self.child = None;
            match ending {
                Ending::Fault(how) if has_ended_one => return Some(Err(how)),
                Ending::Fault(how) => {
                    tracing::info!(record = job.record, how, "a child process ended; its record is made once more");
                    has_ended_one = true;
                }
                Ending::Unclear => is_alone = true,
                Ending::Blameless(why) => {
                    tracing::debug!(record = job.record, why, "a child process was ended; its record is made again");
                    self.order.begin_wait(Instant::now(), why);
                    self.pause();
                }
            }
        }
    }

    /// Asks a child once. Without others, silence is the record's fault, and not the machine's.
    fn attempt(&mut self, job: &mut DecodeJob, is_alone: bool) -> Result<ChildReply, Ending> {
        let _only = is_alone.then(|| self.shared.alone.write());
        let _among_others = (!is_alone).then(|| self.shared.alone.read());
        let blameless = |error: std::io::Error| Ending::Blameless(format!("its process cannot be started: {error}"));
        let is_new = !self.child.as_ref().is_some_and(|child| child.is_of(self.order));
        if is_new {
            *self.child = Some(SuspectChild::start(self.order, self.memory()).map_err(blameless)?);
        }
        let child = self.child.as_mut().expect("it was started just now");
        let setup = is_new.then(|| exchange::setup(job, self.order, &self.shared.limits));
        let answers = self.shared.answers.load(Ordering::SeqCst);
        match child.ask(&exchange::request(job, setup, self.shown)) {
            Heard::Reply(reply) => {
                self.shared.answers.fetch_add(1, Ordering::SeqCst);
                if !reply.panic.is_empty() {
                    return Err(Ending::Fault(format!("a panic ({})", reply.panic)));
                }
                let is_whole = exchange::write(&reply, job);
                if is_whole { Ok(*reply) } else { Err(Ending::Fault("an answer that is none".to_owned())) }
            }
            Heard::Garbage => Err(Ending::Fault("an answer that is none".to_owned())),
            Heard::TooMuch => Err(Ending::Blameless("the daemon has no memory for its answer".to_owned())),
            Heard::Ended(status) => Err(Ending::of(status, self.memory())),
            Heard::Nothing => {
                let others_answer = self.shared.answers.load(Ordering::SeqCst) != answers;
                let is_only = is_alone || self.shared.busy.load(Ordering::SeqCst) == 1;
                let timeout = self.order.read_timeout;
                Err(if is_only || others_answer { Ending::silence(timeout) } else { Ending::Unclear })
            }
        }
    }

    /// Bytes of memory of a child.
    fn memory(&self) -> u64 {
        self.shared.limits.memory.saturating_add(ALLOWANCE)
    }

    /// Waits before the next try, unless the stream stops.
    fn pause(&self) {
        let until = Instant::now() + PAUSE;
        let never = channel::never::<()>();
        while Instant::now() < until && !self.order.is_withdrawn() {
            let _timeout = never.recv_timeout(LOOK);
        }
    }
}
