//! Deaths after any instruction: a trainer is killed in `next` and in the release of a batch, and the daemon while it publishes.
//! Whoever is left is unharmed, and the audit adds up.
//!
//! `make single-step` kills 2,000 times in each call. The tests of `make test` kill fewer times, at instructions as far apart.

mod stepper;

use std::fs;
use std::io::{Write as _, stdin, stdout};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_client::{Batch, Next, Options, Patient, Session};
use forebay_proto::v1::StreamStatus;
use rustix::process::{Pid, getppid};
use rustix::thread::gettid;

use crate::daemon::{Daemon, Home, PATIENCE, lines};
use crate::part::MARK;
use crate::trainer::{Seen, Trainer, options, records, target};
use stepper::Stepper;

/// How often each call is cut short: from the environment, or this often.
const KILLS: &str = "FOREBAY_STEP_KILLS";
const KILLS_OF_TRAINERS: u64 = 30;
const KILLS_OF_DAEMONS: u64 = 4;
const PICTURES: u64 = 60;
const CALL: &str = "FOREBAY_TEST_CALL";
const SOCKET: &str = "FOREBAY_TEST_SOCKET";

/// A trainer in a process of its own, just before a call.
struct Stepped {
    child: Child,
    orders: ChildStdin,
    told: channel::Receiver<String>,
    /// The thread that makes the call.
    thread: Pid,
}

fn kills(unless_set: u64) -> u64 {
    std::env::var(KILLS).ok().map_or(unless_set, |kills| kills.parse().expect("a number of kills"))
}

impl Stepped {
    fn begin(home: &Home, call: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "single_step::play", "--ignored", "--nocapture"]).env(CALL, call);
        command.env(SOCKET, home.socket()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a child");
        let (told, orders) = (lines(child.stdout.take().unwrap()), child.stdin.take().unwrap());
        let thread = word(&told).parse().ok().and_then(Pid::from_raw).expect("the id of a thread");
        Self { child, orders, told, thread }
    }

    /// Stops it and lets it begin the call with the first step. None where that is not permitted.
    fn stop(&mut self) -> Option<Stepper> {
        let stepper = Stepper::stop(Pid::from_child(&self.child), self.thread)?;
        self.orders.write_all(b"!").unwrap();
        Some(stepper)
    }

    fn is_done(&self) -> bool {
        !self.told.is_empty()
    }
}

impl Drop for Stepped {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// What a child says next.
fn word(told: &channel::Receiver<String>) -> String {
    loop {
        let line = told.recv_timeout(PATIENCE).expect("a child that answers");
        // The harness writes its own words too.
        if let Some((_, word)) = line.split_once(MARK) {
            return word.to_owned();
        }
    }
}

#[test]
#[ignore = "the part of a child"]
fn play() {
    let (Ok(call), Some(socket)) = (std::env::var(CALL), std::env::var_os(SOCKET)) else { return };
    let options = Options { credits: 2, ..options() };
    let mut session = Session::attach(target(socket.as_ref(), "train", None), options, &mut Patient).unwrap();
    let first = taken(&mut session).expect("a batch");
    let tell = |word: &str| {
        let mut out = stdout().lock();
        writeln!(out, "{MARK}{word}").unwrap();
        out.flush().unwrap();
    };
    let parent = getppid();
    let mut byte = [0];
    // What is stepped begins with the end of this read.
    let mut wait = || rustix::io::read(stdin().as_fd(), &mut byte).expect("the parent lives");
    match &*call {
        "next" => {
            drop(first);
            tell(&gettid().as_raw_pid().to_string());
            wait();
            let _next = session.next(Some(PATIENCE), &mut Patient);
        }
        "release" => {
            first.ack().unwrap();
            tell(&gettid().as_raw_pid().to_string());
            wait();
            drop(first);
        }
        other => panic!("there is no call {other:?}"),
    }
    // In a few instructions, which are stepped too. Behind them it must never rest, because a step has no end then.
    rustix::io::write(stdout().as_fd(), b"done\n").expect("the parent lives");
    while getppid() == parent {}
}

fn taken(session: &mut Session) -> Option<Batch> {
    match session.next(Some(PATIENCE), &mut Patient) {
        Ok(Next::Batch(batch)) => Some(batch),
        Ok(Next::EpochEnd(_) | Next::Done) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The instructions of a call.
fn length(home: &Home, call: &str) -> Option<u64> {
    let mut trainer = Stepped::begin(home, call);
    let mut stepper = trainer.stop()?;
    let mut steps = 0;
    while !trainer.is_done() {
        stepper.step();
        steps += 1;
    }
    stepper.kill();
    Some(steps)
}

/// Shares kills out among threads, one for each processor. A thread that has stopped another one must step it itself.
fn shared_out(kills: u64, kill_each: impl Fn(Vec<u64>) + Sync) {
    let threads = thread::available_parallelism().unwrap().get();
    thread::scope(|scope| {
        for first in 0..threads {
            let kill_each = &kill_each;
            scope.spawn(move || kill_each((0..kills).skip(first).step_by(threads).collect()));
        }
    });
}

/// How many instructions are stepped before a kill: one before the first kill, all of them before the last one.
fn steps_before(kill: u64, kills: u64, steps: u64) -> u64 {
    1 + steps * kill / (kills - 1).max(1)
}

#[test]
fn a_trainer_that_is_killed_after_any_instruction_harms_nobody() {
    let kills = kills(KILLS_OF_TRAINERS);
    for call in ["next", "release"] {
        let home = Home::with_pictures(16);
        let daemon = home.serve("epochs = 1");
        let Some(steps) = length(&home, call) else { return };
        daemon.stop();
        println!("{call}: {steps} instructions, {kills} kills");
        shared_out(kills, |own| kill_trainers(call, &own, |kill| steps_before(kill, kills, steps)));
    }
}

/// Kills trainers of one daemon, and has another trainer read what they have left.
fn kill_trainers(call: &str, kills: &[u64], steps: impl Fn(u64) -> u64) {
    let pictures = (kills.len() as u64 + 10) * 4;
    let home = Home::with_pictures(pictures);
    let daemon = home.serve("epochs = 1");
    for &kill in kills {
        let mut trainer = Stepped::begin(&home, call);
        let mut stepper = trainer.stop().expect("it was permitted before");
        for _ in 0..steps(kill) {
            stepper.step();
        }
        stepper.kill();
        home.wait_for("nothing is left of the trainer", |status| {
            status.consumers.is_empty() && status.slots_held + status.slots_quarantined == 0
        });
    }
    let left = Trainer::attach(&home).epoch();
    assert!(!left.is_empty(), "a trainer gets what the killed ones have not consumed");
    let whole = format!("epoch 0: {pictures} of {pictures} records accounted for");
    assert!(home.audit()[1].starts_with(&whole), "{:?}", home.audit());
    daemon.stop();
}

/// The thread of a daemon that publishes.
fn batch_thread(daemon: &Daemon) -> Pid {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    let is_it = |task: &fs::DirEntry| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "forebay-batch")
    };
    let task = tasks.map(Result::unwrap).find(is_it).expect("a stream has a thread that publishes");
    task.file_name().to_str().and_then(|id| id.parse().ok()).and_then(Pid::from_raw).expect("an id")
}

fn is_full(status: &StreamStatus) -> bool {
    status.slots_free + status.slots_filling == 0
}

/// Stops the thread that publishes while it waits for a slot, and has a slot freed. Gives the batch that came meanwhile.
fn stop_before_publishing(home: &Home, daemon: &Daemon, trainer: &mut Trainer) -> Option<(Stepper, Batch)> {
    home.wait_for("the ring is full", is_full);
    let process = Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    let stepper = Stepper::stop(process, batch_thread(daemon))?;
    let batch = taken(&mut trainer.session).expect("the ring is full");
    home.wait_for("a slot is free", |status| !is_full(status));
    Some((stepper, batch))
}

/// For a daemon with one trainer: more batches than its ring has room for.
fn publishing() -> Home {
    let home = Home::with_pictures(PICTURES);
    home.configure(&home.train("epochs = 1\ntrainers = 1"));
    home
}

/// Instructions from a free slot to a published batch, which fills the ring again, and some that follow. Where other processes
/// take the processors, a step takes as long as a time slice: then only as many as there is patience for.
fn length_of_publishing() -> Option<u64> {
    let home = &publishing();
    let daemon = home.start();
    let mut trainer = Trainer::attach(home);
    trainer.next().batch();
    let (mut stepper, _batch) = stop_before_publishing(home, &daemon, &mut trainer)?;
    let steps = thread::scope(|scope| {
        let until = Instant::now() + PATIENCE / 2;
        let published = scope.spawn(move || {
            while !is_full(&home.status()) && Instant::now() < until {
                // Nobody unparks this thread.
                thread::park_timeout(Duration::from_millis(10));
            }
        });
        let mut steps = 0;
        while !published.is_finished() {
            stepper.step();
            steps += 1;
        }
        steps
    });
    stepper.kill();
    Some(steps)
}

#[test]
fn a_daemon_that_is_killed_after_any_instruction_of_publishing_harms_no_trainer() {
    let kills = kills(KILLS_OF_DAEMONS);
    let Some(steps) = length_of_publishing() else { return };
    println!("publishing: {steps} instructions, {kills} kills");
    shared_out(kills, |own| own.iter().for_each(|&kill| kill_daemon(steps_before(kill, kills, steps))));
}

/// Kills a daemon after so many instructions of publishing, and has its trainer go on with the next one.
fn kill_daemon(steps: u64) {
    // A ledger of its own: records that are in work at several deaths are taken for their cause (rule 9).
    let home = publishing();
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let mut seen = vec![trainer.next().batch()];
    let (mut stepper, batch) = stop_before_publishing(&home, &daemon, &mut trainer).expect("it was permitted before");
    let (pixels, labels) = (batch.images().to_vec(), batch.labels().to_vec());
    for _ in 0..steps {
        stepper.step();
    }
    stepper.kill();
    assert!((batch.images(), batch.labels()) == (&*pixels, &*labels), "what the trainer holds has changed");
    seen.push(Seen::of(&batch));
    drop((batch, daemon));
    let daemon = home.start();
    let before = records(&seen);
    seen.extend(trainer.epoch());
    // A trainer that finds the new daemon too late is given again what it had (rule 16), and nothing else.
    let mut all = records(&seen);
    all.dedup();
    assert_eq!(all, (0..PICTURES).collect::<Vec<_>>(), "each record");
    let twice: Vec<u64> = records(&seen).windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    assert!(twice.iter().all(|record| before.contains(record)), "{twice:?} again, after {before:?}");
    let whole = format!("epoch 0: {PICTURES} of {PICTURES} records accounted for");
    assert!(home.audit()[1].starts_with(&whole), "{:?}", home.audit());
    daemon.stop();
}
