//! Many workers whose calls have no ids, behind a proxy that loses and doubles calls and replies: no shard is lost, and each
//! repetition is counted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use forebay_coordinator::suite::Random;
use forebay_ledger::task_ledger;
use forebay_plan::Verdict;
use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::{NextTaskReply, Task};

use super::{TIMEOUT, ask, dataset, register, report, rest, scene, span};
use crate::scene::Scene;

const EPOCHS: u64 = 2;
const SHARDS: u64 = 40;
/// Records of a shard.
const SHARD: u64 = 5;

/// Turns of workers after which all are at the end, unless one waits for a task that no worker reports.
const ENOUGH: u64 = 20_000;

/// What is between the workers and the coordinator.
struct Proxy {
    random: Random,
    /// One reply of so many is lost, and as many calls are carried out twice.
    one_in: u64,
    /// A task is given twice at most. This says whether both replies with it may be lost.
    loses_both: bool,
    lost_tasks: BTreeSet<i32>,
    lost: u64,
    doubled: u64,
}

impl Proxy {
    /// A worker asks for a task. Gives the replies that arrive.
    fn ask(&mut self, scene: &Scene, worker: &str) -> Vec<NextTaskReply> {
        let mut replies = vec![ask(scene, worker)];
        if self.random.once_in(self.one_in) {
            self.doubled += 1;
            replies.push(ask(scene, worker));
            // The worker waits for one reply, and it may be either of them.
            self.lose(&mut replies);
        }
        if self.random.once_in(self.one_in) {
            self.lose(&mut replies);
        }
        replies
    }

    /// One of the replies is lost, unless it is the second one with its task.
    fn lose(&mut self, replies: &mut Vec<NextTaskReply>) {
        let index = usize::try_from(self.random.below(replies.len() as u64)).unwrap();
        let task = replies[index].task.as_ref().map(|task| task.id);
        if task.is_none_or(|task| self.lost_tasks.insert(task) || self.loses_both) {
            self.lost += 1;
            replies.remove(index);
        }
    }

    /// A worker reports a task. It repeats the report if the reply is lost.
    fn report(&mut self, scene: &Scene, task: &Task) {
        report(scene, task, "");
        if self.random.once_in(self.one_in) {
            self.doubled += 1;
            report(scene, task, "");
        }
    }
}

/// A worker that reads ahead by so many tasks.
struct Worker {
    name: String,
    ahead: usize,
    hand: VecDeque<Task>,
    has_ended: bool,
}

impl Worker {
    fn is_done(&self) -> bool {
        self.has_ended && self.hand.is_empty()
    }
}

/// A run of some workers.
struct Site {
    scene: Scene,
    proxy: Proxy,
    workers: Vec<Worker>,
    /// How often each shard was used.
    used: BTreeMap<(u64, u64, u64), u64>,
}

impl Site {
    fn new(seed: u64, one_in: u64, loses_both: bool) -> Self {
        let scene = scene();
        register(&scene, &dataset(SHARDS * SHARD, SHARD, 1, EPOCHS));
        let mut random = Random::new(seed);
        let worker = |number| Worker {
            name: format!("worker-{number}"),
            ahead: usize::try_from(random.below(4)).unwrap(),
            hand: VecDeque::new(),
            has_ended: false,
        };
        let workers = (0..=seed % 8).map(worker).collect();
        let proxy = Proxy { random, one_in, loses_both, lost_tasks: BTreeSet::new(), lost: 0, doubled: 0 };
        Self { scene, proxy, workers, used: BTreeMap::new() }
    }

    /// One of the workers asks if it has room, and uses its oldest task or not.
    fn turn(&mut self) {
        let index = usize::try_from(self.proxy.random.below(self.workers.len() as u64)).unwrap();
        let worker = &mut self.workers[index];
        if !worker.has_ended && worker.hand.len() <= worker.ahead {
            for reply in self.proxy.ask(&self.scene, &worker.name) {
                worker.has_ended |= reply.answer() == Answer::End;
                worker.hand.extend(reply.task);
            }
        }
        if !self.proxy.random.once_in(3)
            && let Some(task) = worker.hand.pop_front()
        {
            *self.used.entry(span(&task)).or_default() += 1;
            self.proxy.report(&self.scene, &task);
        }
    }

    /// So many turns.
    fn turns(&mut self, count: u64) {
        for _ in 0..count {
            if !self.is_over() {
                self.turn();
            }
        }
    }

    fn is_over(&self) -> bool {
        self.workers.iter().all(Worker::is_done)
    }

    /// The shards that were used more than once, each as often as it was used again.
    fn repeated(&self) -> u64 {
        self.used.values().map(|times| times - 1).sum()
    }

    /// How many records the audit names as possibly repeated, and whether each epoch adds up.
    fn audit(&self) -> (u64, bool) {
        let epochs = self.scene.audit_of(&task_ledger("mnist"));
        let named = epochs.iter().flat_map(|epoch| epoch.repeats.named()).map(|(_, _, records)| records).sum();
        (named, epochs.iter().all(|epoch| epoch.verdict == Verdict::AddsUp))
    }

    /// The audit names each repetition. Without faults, only what shows how far a worker reads ahead is repeated, and what is open
    /// when the others are at the end.
    fn check(&self, seed: u64) {
        let (repeated, (named, _)) = (self.repeated(), self.audit());
        assert!(
            named >= repeated * SHARD,
            "seed {seed}: {repeated} shards were repeated, and {named} records are named"
        );
        let deepest = self.workers.iter().map(|worker| worker.ahead as u64).max().unwrap_or(0);
        let calm =
            self.workers.iter().map(|worker| worker.ahead as u64).map(|ahead| 2 * ahead * (ahead + 1) + ahead + 1);
        let most = (self.proxy.lost + self.proxy.doubled) * (deepest + 1) + calm.sum::<u64>();
        assert!(named <= most * SHARD, "seed {seed}: {named} records are named, with {most} shards at most");
    }
}

#[test]
fn no_reply_that_a_proxy_loses_or_doubles_loses_a_shard_of_many_workers() {
    let (mut lost, mut doubled, mut repeated) = (0, 0, 0);
    for seed in 0..64 {
        let mut site = Site::new(seed, 3 + seed % 20, false);
        site.turns(ENOUGH);
        assert!(site.is_over(), "seed {seed}: the workers are not given the end");
        assert_eq!(site.used.len() as u64, SHARDS * EPOCHS, "seed {seed}: each shard of each epoch was used");
        assert!(site.audit().1, "seed {seed}");
        site.check(seed);
        lost += site.proxy.lost;
        doubled += site.proxy.doubled;
        repeated += site.repeated();
    }
    println!("{lost} replies were lost, {doubled} calls were doubled, and {repeated} shards were repeated");
    assert!(lost > 0 && doubled > 0);
}

#[test]
fn no_reply_that_a_proxy_loses_loses_a_shard_if_the_coordinator_restarts_meanwhile() {
    for seed in 0..64 {
        let mut site = Site::new(seed, 3 + seed % 20, false);
        for _ in 0..=seed % 4 {
            site.turns(20);
            site.scene.restart();
        }
        site.turns(ENOUGH);
        // A task of before the restart has its whole time, unless it is clear that its reply was lost.
        if !site.is_over() {
            site.scene.pass(TIMEOUT);
            site.turns(ENOUGH);
        }
        assert!(site.is_over(), "seed {seed}: the workers are not given the end");
        assert_eq!(site.used.len() as u64, SHARDS * EPOCHS, "seed {seed}: each shard of each epoch was used");
        let (named, adds_up) = site.audit();
        assert!(adds_up && named >= site.repeated() * SHARD, "seed {seed}");
    }
}

#[test]
fn a_shard_both_of_whose_replies_are_lost_is_open_at_the_end_and_is_given_after_its_time() {
    let mut open_at_end = 0;
    for seed in 0..64 {
        let mut site = Site::new(seed, 2 + seed % 4, true);
        site.turns(ENOUGH);
        assert!(site.is_over(), "seed {seed}: the workers are not given the end");
        let open = SHARDS * EPOCHS - site.used.len() as u64;
        assert_eq!(site.audit().1, open == 0, "seed {seed}: {open} shards are open");
        site.check(seed);
        open_at_end += open;
        site.scene.pass(TIMEOUT);
        for task in rest(&site.scene, "worker-0") {
            *site.used.entry(span(&task)).or_default() += 1;
        }
        assert_eq!(site.used.len() as u64, SHARDS * EPOCHS, "seed {seed}");
        assert!(site.audit().1, "seed {seed}");
    }
    println!("{open_at_end} shards were open at the end");
    assert!(open_at_end > 0);
}
