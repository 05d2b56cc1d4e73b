//! Workers that number their commands and send heartbeats: when their tasks go to others, and what they hear at the end.

use forebay_ledger_client::CallError;
use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{
    Caller, HeartbeatRequest, ListLedgersRequest, NextTaskReply, NextTaskRequest, RegisterTasksRequest,
    ReportTaskRequest, RestoreTasksRequest, ShowTasksRequest, Task, WorkerProcess,
};

use super::{TIMEOUT, answer, audit, caller, dataset, done, register, scene, span, task};
use crate::scene::{Scene, TTL};

/// A worker with numbers and heartbeats.
struct Numbered {
    name: &'static str,
    incarnation: u64,
    sequence: u64,
}

impl Numbered {
    fn join(scene: &Scene, name: &'static str, incarnation: u64, shards: RegisterTasksRequest) -> Self {
        let worker = name.to_owned();
        let reply = register(scene, &RegisterTasksRequest { worker, incarnation, ..shards });
        assert_eq!(reply.lease_ttl_ms, TTL);
        Self { name, incarnation, sequence: 0 }
    }

    fn next(&mut self) -> Caller {
        self.sequence += 1;
        self.at(self.sequence)
    }

    fn at(&self, sequence: u64) -> Caller {
        Caller { incarnation: self.incarnation, sequence, ..caller(self.name) }
    }

    fn ask(&mut self, scene: &Scene) -> NextTaskReply {
        scene.call(NextTaskRequest { caller: Some(self.next()) }).unwrap()
    }

    fn task(&mut self, scene: &Scene) -> Task {
        self.ask(scene).task.unwrap_or_else(|| panic!("{} got no task", self.name))
    }

    fn report(&mut self, scene: &Scene, report: ReportTaskRequest) -> Outcome {
        scene.call(ReportTaskRequest { caller: Some(self.next()), ..report }).unwrap().outcome()
    }

    /// Gives the leases that are still its own.
    fn beat(&self, scene: &Scene, leases: &[u64]) -> Vec<u64> {
        let leases = leases.to_vec();
        let reply = scene.call(HeartbeatRequest { caller: Some(self.at(0)), leases, waits: false }).unwrap();
        assert_eq!(reply.lease_ttl_ms, TTL);
        reply.leases
    }
}

fn used(task: &Task) -> ReportTaskRequest {
    ReportTaskRequest { task: task.id, ..ReportTaskRequest::default() }
}

#[test]
fn a_silent_worker_s_task_goes_to_another_one_after_a_lease_s_time_and_a_living_one_keeps_its_own() {
    let scene = scene();
    let mut living = Numbered::join(&scene, "living", 5, dataset(15, 5, 1, 1));
    let mut silent = Numbered::join(&scene, "silent", 6, dataset(15, 5, 1, 1));
    let (kept, lost) = (living.task(&scene), silent.task(&scene));
    // A worker of ElasticDL sends no heartbeats, and has minutes.
    let other = task(&scene, "worker-0");
    scene.pass(TTL - 2_000);
    assert_eq!(living.beat(&scene, &[kept.lease]), [kept.lease]);
    scene.pass(3_000);
    let again = living.task(&scene);
    assert_eq!(span(&again), span(&lost));
    assert_eq!(silent.beat(&scene, &[lost.lease]), [0; 0], "it hears that the task is not its own any more");
    assert_eq!(silent.report(&scene, used(&lost)), Outcome::Late);
    for task in [&kept, &again] {
        assert_eq!(living.report(&scene, used(task)), Outcome::Counted);
    }
    done(&scene, &other);
    let lines = audit(&scene);
    assert!(
        lines[0].starts_with("epoch 0: 15 of 15 records accounted for (15 delivered), checksum equal"),
        "{lines:?}"
    );
    assert!(lines[0].contains("possibly repeated: 5"), "{lines:?}");
}

#[test]
fn a_heartbeat_names_what_it_keeps_and_nothing_of_others() {
    let scene = scene();
    let mut one = Numbered::join(&scene, "one", 5, dataset(15, 5, 1, 1));
    let mut two = Numbered::join(&scene, "two", 6, dataset(15, 5, 1, 1));
    let (named, forgotten, others) = (one.task(&scene), one.task(&scene), two.task(&scene));
    scene.pass(TTL - 2_000);
    // Of the second one it has never heard: the reply was lost, and it was started again.
    assert_eq!(one.beat(&scene, &[named.lease, others.lease]), [named.lease, forgotten.lease]);
    scene.pass(3_000);
    assert_eq!(one.beat(&scene, &[named.lease]), [named.lease]);
    assert_eq!(two.beat(&scene, &[others.lease]), [0; 0], "nobody else can keep it");
}

#[test]
fn after_a_restart_of_the_coordinator_each_worker_has_its_time_again() {
    let mut scene = scene();
    let mut worker = Numbered::join(&scene, "one", 5, dataset(10, 5, 1, 1));
    let first = worker.task(&scene);
    scene.pass(TTL - 2_000);
    scene.restart();
    scene.pass(TTL - 2_000);
    assert_eq!(worker.beat(&scene, &[first.lease]), [first.lease]);
    scene.pass(TTL + 1_000);
    assert_eq!(span(&task(&scene, "worker-0")), span(&first));
}

#[test]
fn a_task_that_takes_too_long_goes_to_another_worker_although_its_own_lives() {
    let scene = scene();
    let mut hung = Numbered::join(&scene, "hung", 5, dataset(5, 5, 1, 1));
    let first = hung.task(&scene);
    for _ in 0..31 {
        scene.pass(10_000);
        hung.beat(&scene, &[first.lease]);
    }
    assert_eq!(span(&task(&scene, "worker-0")), span(&first));
}

#[test]
fn what_a_worker_gives_back_is_given_again_and_is_no_failure_of_the_shard() {
    let scene = scene();
    let mut worker = Numbered::join(&scene, "one", 5, dataset(5, 5, 1, 1));
    for _ in 0..4 {
        let given_back = ReportTaskRequest { given_back: true, ..used(&worker.task(&scene)) };
        assert_eq!(worker.report(&scene, given_back), Outcome::Returned);
    }
    let last = worker.task(&scene);
    assert_eq!(worker.report(&scene, used(&last)), Outcome::Counted);
    assert_eq!(worker.ask(&scene).answer(), Answer::End);
    let lines = audit(&scene);
    assert!(lines[0].contains("(5 delivered), checksum equal; possibly repeated: 20"), "{lines:?}");
}

#[test]
fn a_worker_without_the_last_shards_is_not_told_the_end_before_they_are_reported() {
    let scene = scene();
    let mut holder = Numbered::join(&scene, "holder", 5, dataset(5, 5, 1, 1));
    let mut idle = Numbered::join(&scene, "idle", 6, dataset(5, 5, 1, 1));
    let last = holder.task(&scene);
    assert_eq!(idle.ask(&scene).answer(), Answer::Wait);
    assert_eq!(holder.ask(&scene).answer(), Answer::End, "it may have to use the shard up before it reports it");
    assert_eq!(idle.ask(&scene).answer(), Answer::Wait, "if the holder dies, it gets the shard");
    assert_eq!(answer(&scene, "worker-0"), Answer::End, "a worker of ElasticDL would wait for itself");
    assert_eq!(holder.report(&scene, used(&last)), Outcome::Counted);
    assert_eq!(idle.ask(&scene).answer(), Answer::End);
}

#[test]
fn a_checkpoint_that_several_workers_load_together_is_loaded_once() {
    let scene = scene();
    let mut worker = Numbered::join(&scene, "one", 5, dataset(10, 5, 1, 1));
    let first = worker.task(&scene);
    worker.report(&scene, used(&first));
    let checkpoint = scene.call(ShowTasksRequest { dataset: "mnist".to_owned() }).unwrap().checkpoint;
    let load = |checkpoint: &str, load_id: &str| {
        let (dataset, checkpoint, load_id) = ("mnist".to_owned(), checkpoint.to_owned(), load_id.to_owned());
        scene.call(RestoreTasksRequest { dataset, checkpoint, load_id })
    };
    load(&checkpoint, "a").unwrap();
    let second = worker.task(&scene);
    assert_eq!(span(&second), (0, 5, 10));
    load(&checkpoint, "a").unwrap();
    assert_eq!(worker.beat(&scene, &[second.lease]), [second.lease], "nothing has changed");
    let refused = load("", "a").unwrap_err();
    assert!(matches!(&refused, CallError::Invalid(text) if text.contains("used for another state")), "{refused:?}");
    load(&checkpoint, "b").unwrap();
    assert_eq!(worker.beat(&scene, &[second.lease]), [0; 0], "tasks that were out are nobody's");
}

#[test]
fn a_worker_is_known_with_its_process_and_one_that_cannot_be_told_from_others_is_refused() {
    let scene = scene();
    let process = Some(WorkerProcess { host: "train-1".to_owned(), pid: 7, boot: String::new() });
    Numbered::join(&scene, "one", 5, RegisterTasksRequest { process, ..dataset(10, 5, 1, 1) });
    task(&scene, "worker-0");
    let ledgers = scene.call(ListLedgersRequest::default()).unwrap().ledgers;
    let workers: Vec<_> = ledgers.iter().flat_map(|ledger| &ledger.workers).collect();
    assert_eq!(workers[0].process.as_ref().map(|process| (&*process.host, process.pid)), Some(("train-1", 7)));
    // Of one that sends no heartbeats, nobody hears while it works on a shard.
    assert_eq!([workers[0].gone_after_ms, workers[1].gone_after_ms], [TTL, TIMEOUT]);
    let long = Some(WorkerProcess { host: "x".repeat(257), ..WorkerProcess::default() });
    for (incarnation, process, words) in [(1, None, "incarnation must be above 1"), (5, long, "at most 256 bytes")] {
        let worker = "two".to_owned();
        let refused = scene.call(RegisterTasksRequest { worker, incarnation, process, ..dataset(10, 5, 1, 1) });
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
