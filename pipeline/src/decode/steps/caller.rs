//! The thread of one child: it takes pictures, has the functions called, and decides whose fault it is if there is no answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_children::{Patience, Silence};

use super::call::{Call, CallAnswer};
use super::child::{NotStarted, STARTING, StepChild};
use super::mishap::Mishap;
use super::{StepsShared, Work, stepping};
use crate::decode::job::DecodeJob;
use crate::decode::suspect_order::SuspectOrder;
use crate::reason::Reason;

/// How long after a child was ended, and the picture is not to blame, its function is called again.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it is looked meanwhile whether the stream has stopped.
const LOOK: Duration = Duration::from_millis(100);

/// See the module.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) shared: Arc<StepsShared>,
    pub(super) child: Option<StepChild>,
    /// It starts no child any more, and others have one.
    pub(super) has_retired: bool,
    /// Memory for the next result.
    spare: Vec<u8>,
}

impl Caller {
    /// With a child, or without one yet.
    pub(super) fn new(shared: Arc<StepsShared>, child: Option<StepChild>) -> Self {
        if child.is_some() {
            shared.counts.children.fetch_add(1, Ordering::SeqCst);
        }
        Self { shared, child, has_retired: false, spare: Vec::new() }
    }

    /// Works until no more pictures and batches will come.
    pub(super) fn run(mut self) {
        while !self.has_retired
            && let Some(work) = self.shared.take()
        {
            let jobs = match work {
                Work::Pictures(jobs) => jobs,
                Work::Batch(call) => {
                    if let Some(call) = self.batch(call) {
                        self.shared.put_batch_back(call);
                    }
                    continue;
                }
            };
            let mut left = if jobs.len() > 1 { self.together(jobs) } else { jobs };
            while let Some(job) = left.pop_front() {
                self.alone(job);
                if self.has_retired {
                    self.shared.put_back(left.drain(..));
                }
            }
        }
        self.drop_child();
    }

    /// Has the functions called for several pictures. Those without an outcome come back: each is to be called alone.
    fn together(&mut self, mut jobs: VecDeque<DecodeJob>) -> VecDeque<DecodeJob> {
        let Some(order) = jobs.front_mut().map(|job| Arc::clone(&stepping(job).order)) else { return jobs };
        if order.is_withdrawn() || self.start_child(&order).is_err() {
            return jobs;
        }
        let shared = Arc::clone(&self.shared);
        let _among_others = shared.alone.read();
        let _busy = Busy::new(&shared);
        let mut again = VecDeque::new();
        let answered = self.ask(jobs.make_contiguous(), &order).and_then(|()| {
            for place in 0.. {
                let Some(mut job) = jobs.pop_front() else { break };
                match self.answer(&mut job, place, &order) {
                    Ok(CallAnswer::Lack(_) | CallAnswer::NoMemory | CallAnswer::Again) => again.push_back(job),
                    Ok(answer) => settle(&shared, job, answer),
                    Err(silence) => {
                        jobs.push_front(job);
                        return Err(silence);
                    }
                }
            }
            self.finish(&order)
        });
        if answered.is_err() {
            self.drop_child();
        } else {
            order.end_wait();
        }
        again.append(&mut jobs);
        again
    }

    /// Has a function called for one picture, as often as it takes.
    fn alone(&mut self, mut job: DecodeJob) {
        let order = Arc::clone(&stepping(&mut job).order);
        let (mut has_ended_one, mut is_alone, mut is_again) = (false, false, false);
        loop {
            if order.is_withdrawn() {
                return job.end(Err(Reason::Late { timeout: self.shared.plan.timeout }));
            }
            let answer = self.attempt(&order, is_alone, |caller| {
                caller.ask(std::slice::from_mut(&mut job), &order)?;
                caller.answer(&mut job, 0, &order)
            });
            let mishap = match answer {
                Ok(CallAnswer::Again) if !is_again => {
                    is_again = true;
                    continue;
                }
                Ok(CallAnswer::Again) => garbage(),
                Ok(answer) => {
                    order.end_wait();
                    return settle(&self.shared, job, answer);
                }
                Err(mishap) => mishap,
            };
            self.drop_child();
            match mishap {
                Mishap::Fault(how) if has_ended_one => {
                    let function = function(&self.shared, &mut job);
                    tracing::warn!(record = job.record, function, how, "a call ended two child processes");
                    let words = format!(
                        "The function {function} ended each of two processes that had nothing else, the second one by {how}."
                    );
                    return job.end(Err(Reason::Step { words: words.into() }));
                }
                Mishap::Fault(how) => {
                    tracing::info!(record = job.record, how, "a child process ended; its function is called once more");
                    has_ended_one = true;
                }
                Mishap::Unclear => is_alone = true,
                Mishap::Blameless(why) => {
                    tracing::debug!(record = job.record, why, "a function is called again");
                    order.begin_wait(Instant::now(), why);
                    pause(&order);
                }
                Mishap::Changed(_) if self.others_have_children() => {
                    self.has_retired = true;
                    return self.shared.put_back([job].into_iter());
                }
                Mishap::Changed(words) => return job.end(Err(Reason::Stream { words: words.into() })),
            }
        }
    }

    /// Asks a child once. Without others, silence is the function's fault, and not the machine's.
    pub(super) fn attempt(
        &mut self,
        order: &SuspectOrder,
        is_alone: bool,
        ask: impl FnOnce(&mut Self) -> Result<CallAnswer, Silence>,
    ) -> Result<CallAnswer, Mishap> {
        let shared = Arc::clone(&self.shared);
        let _only = is_alone.then(|| shared.alone.write());
        let _among_others = (!is_alone).then(|| shared.alone.read());
        self.start_child(order)?;
        let answers = shared.counts.answers.load(Ordering::SeqCst);
        let busy = Busy::new(&shared);
        let timeout = self.timeout();
        let answered = ask(self);
        // The result has taken the picture's place: it counts, even if the child ends before it has said that this is all.
        if answered.is_ok() && self.finish(order).is_err() {
            self.drop_child();
        }
        match answered {
            Ok(CallAnswer::NoMemory) => Err(Mishap::no_memory(shared.plan.memory)),
            Ok(CallAnswer::Lack(words)) => Err(Mishap::Blameless(format!("its function lacks something: {words}"))),
            Ok(answer) => Ok(answer),
            // It continues with its program, which may have let go of the stream.
            Err(_) if shared.plan.code.loader().is_some() => {
                Err(Mishap::Blameless("the Loader's process, which calls its function, has hung up".to_owned()))
            }
            Err(Silence::Ended) => {
                Err(self.child.as_ref().and_then(StepChild::ending).map_or_else(garbage, Mishap::of))
            }
            Err(Silence::Garbage) => Err(garbage()),
            Err(Silence::Memory) => {
                Err(Mishap::Blameless("the system lacks memory for what its function gets".to_owned()))
            }
            Err(Silence::Late) => {
                let others_answer = shared.counts.answers.load(Ordering::SeqCst) != answers;
                let is_only = is_alone || busy.is_only();
                Err(if is_only || others_answer { Mishap::silence(timeout) } else { Mishap::Unclear })
            }
        }
    }

    /// Starts a child if there is none.
    fn start_child(&mut self, order: &SuspectOrder) -> Result<(), Mishap> {
        if self.child.is_some() {
            return Ok(());
        }
        let plan = &self.shared.plan;
        let is_withdrawn = || order.is_withdrawn();
        // A Loader answers when its program asks for a batch.
        let most = if plan.code.loader().is_some() { Duration::MAX } else { STARTING };
        let patience = Patience::lasting(most).unless(&is_withdrawn);
        let (child, files) = StepChild::start(plan, &patience).map_err(|failure| match failure {
            NotStarted::System(words) => {
                Mishap::Blameless(format!("the process for its function cannot be started: {words}"))
            }
            NotStarted::Import(words) => {
                Mishap::Blameless(format!("its function cannot be imported any more: {words}"))
            }
        })?;
        if let Some((function, _)) =
            files.iter().find(|(function, hash)| self.shared.files.get(*function) != Some(*hash))
        {
            return Err(Mishap::Changed(format!(
                "The file of the function {function} has changed since the stream was opened. To use the new one, start the daemon \
                 or the Loader again; to continue as before, restore the file."
            )));
        }
        self.child = Some(child);
        self.shared.counts.children.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// Whether another thread has a child. This one has none.
    pub(super) fn others_have_children(&self) -> bool {
        self.shared.counts.children.load(Ordering::SeqCst) > 0
    }

    pub(super) fn drop_child(&mut self) {
        if self.child.take().is_some() {
            self.shared.counts.children.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn ask(&mut self, jobs: &mut [DecodeJob], order: &SuspectOrder) -> Result<(), Silence> {
        let child = self.child.as_mut().expect("it was started");
        let plan = &self.shared.plan;
        let calls = jobs.iter().map(|job| {
            let stepping = job.stepping.as_ref().expect("its stream has functions in Python");
            plan.call(stepping, (job.record, job.draw))
        });
        let calls: Vec<Call<'_>> = calls.collect();
        let is_withdrawn = || order.is_withdrawn();
        child.ask(&calls, plan.room, &plan.patience(&is_withdrawn))
    }

    /// The answer to a call. A result is copied out of the arena, and takes the picture's place.
    fn answer(&mut self, job: &mut DecodeJob, place: u64, order: &SuspectOrder) -> Result<CallAnswer, Silence> {
        let answer = self.hear(self.shared.plan.number(stepping(job)), order)?;
        let Self { child, shared, spare, .. } = self;
        let (child, plan) = (child.as_mut().expect("it was started"), &shared.plan);
        let first = place * plan.room.whole;
        plan.take(stepping(job), answer, |at, into| child.result(first + at, into), spare)
    }

    /// The answer to a call of the function of this number.
    pub(super) fn hear(&mut self, function: usize, order: &SuspectOrder) -> Result<CallAnswer, Silence> {
        let timeout = self.timeout();
        let Self { child, shared, .. } = self;
        let child = child.as_mut().expect("it was started");
        let is_withdrawn = || order.is_withdrawn();
        let (is_first, began, calls) = (!child.has_answered, shared.now(), &shared.counts.functions[function]);
        calls.begin(began);
        let answer = child.answer(&Patience::lasting(timeout).unless(&is_withdrawn));
        let ended = shared.now();
        calls.end(began, ended, answer.is_ok());
        let answer = answer?;
        shared.counts.answers.fetch_add(1, Ordering::SeqCst);
        if is_first {
            let micros = u64::try_from(ended.saturating_sub(began).as_micros()).unwrap_or(u64::MAX);
            shared.counts.slowest_first.fetch_max(micros.max(1), Ordering::SeqCst);
        }
        Ok(answer)
    }

    fn finish(&mut self, order: &SuspectOrder) -> Result<(), Silence> {
        let is_withdrawn = || order.is_withdrawn();
        let patience = self.shared.plan.patience(&is_withdrawn);
        self.child.as_mut().expect("it was started").finish(&patience)
    }

    /// How long the next answer may take. Before the first one, libraries may have much to do: how much is known from the first
    /// answers of other children.
    fn timeout(&self) -> Duration {
        let timeout = self.shared.plan.timeout;
        if self.child.as_ref().is_some_and(|child| child.has_answered) {
            return timeout;
        }
        let most = timeout.max(STARTING);
        match self.shared.counts.slowest_first.load(Ordering::SeqCst) {
            0 => most,
            micros => timeout.saturating_add(Duration::from_micros(micros).saturating_mul(2)).min(most),
        }
    }
}

/// Tells what became of a call, or passes its result on.
fn settle(shared: &StepsShared, mut job: DecodeJob, answer: CallAnswer) {
    let is_skipped = matches!(answer, CallAnswer::Skipped(_));
    let trouble = answer.trouble(&function(shared, &mut job));
    if trouble.is_none() || is_skipped {
        shared.one_is_good();
    }
    let reason = match trouble {
        None => {
            stepping(&mut job).next += 1;
            return shared.queue.push_behind(job);
        }
        Some(words) if is_skipped => Reason::Skipped { words: words.into() },
        Some(words) if shared.all_fail() => {
            let words = format!("None of the first {} calls has given a picture. {words}", super::FIRST_CALLS);
            Reason::Stream { words: words.into() }
        }
        Some(words) => Reason::Step { words: words.into() },
    };
    job.end(Err(reason));
}

/// The name of the function that a picture is at.
fn function(shared: &StepsShared, job: &mut DecodeJob) -> String {
    shared.plan.function(stepping(job)).to_owned()
}

fn garbage() -> Mishap {
    Mishap::Fault("an answer that is none".to_owned())
}

/// Waits before the next try, unless the stream stops.
pub(super) fn pause(order: &SuspectOrder) {
    let until = Instant::now() + PAUSE;
    let never = channel::never::<()>();
    while Instant::now() < until && !order.is_withdrawn() {
        let _timeout = never.recv_timeout(LOOK);
    }
}

/// Counts a child that calls functions.
struct Busy<'a>(&'a StepsShared);

impl<'a> Busy<'a> {
    fn new(shared: &'a StepsShared) -> Self {
        shared.counts.busy.fetch_add(1, Ordering::SeqCst);
        Self(shared)
    }

    /// Whether no other child calls one.
    fn is_only(&self) -> bool {
        self.0.counts.busy.load(Ordering::SeqCst) == 1
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.counts.busy.fetch_sub(1, Ordering::SeqCst);
    }
}
