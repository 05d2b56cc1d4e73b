//! Shards as tasks: what workers that read the data themselves are given, and what becomes of it.

mod beats;
mod proxy;
mod received;
mod shapes;
mod states;

use forebay_ledger::task_ledger;
use forebay_ledger_client::CallError;
use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{
    Caller, ListLedgersRequest, ListQuarantineRequest, NextTaskReply, NextTaskRequest, RegisterTasksReply,
    RegisterTasksRequest, ReportTaskRequest, Task,
};

use crate::scene::{Scene, spec};

/// How long a task may take, in milliseconds, if none has taken long.
const TIMEOUT: u64 = 300_000;

/// Its own dataset is not used.
fn scene() -> Scene {
    Scene::new(spec(1), 1, 1)
}

fn dataset(records: u64, batch_size: u64, batches_per_shard: u64, epochs: u64) -> RegisterTasksRequest {
    let dataset = "mnist".to_owned();
    RegisterTasksRequest {
        dataset,
        records,
        batch_size,
        batches_per_shard,
        epochs,
        kind: 1,
        origin: 77,
        ..Default::default()
    }
}

fn register(scene: &Scene, request: &RegisterTasksRequest) -> RegisterTasksReply {
    scene.call(request.clone()).unwrap()
}

fn caller(worker: &str) -> Caller {
    Caller { ledger: task_ledger("mnist"), worker: worker.to_owned(), ..Caller::default() }
}

fn ask(scene: &Scene, worker: &str) -> NextTaskReply {
    scene.call(NextTaskRequest { caller: Some(caller(worker)) }).unwrap()
}

fn answer(scene: &Scene, worker: &str) -> Answer {
    ask(scene, worker).answer()
}

fn task(scene: &Scene, worker: &str) -> Task {
    ask(scene, worker).task.unwrap_or_else(|| panic!("{worker} got no task"))
}

fn report(scene: &Scene, task: &Task, error: &str) -> Outcome {
    let request =
        ReportTaskRequest { caller: Some(caller("")), task: task.id, error: error.to_owned(), ..Default::default() };
    scene.call(request).unwrap().outcome()
}

fn done(scene: &Scene, task: &Task) {
    assert_eq!(report(scene, task, ""), Outcome::Counted, "{task:?}");
}

fn span(task: &Task) -> (u64, u64, u64) {
    (task.epoch, task.start, task.end)
}

/// Takes and reports tasks until there are none.
fn rest(scene: &Scene, worker: &str) -> Vec<Task> {
    let mut all = Vec::new();
    while let Some(task) = ask(scene, worker).task {
        done(scene, &task);
        all.push(task);
    }
    all
}

fn audit(scene: &Scene) -> Vec<String> {
    scene.audit_of(&task_ledger("mnist")).iter().map(ToString::to_string).collect()
}

#[test]
fn two_workers_share_the_shards_of_each_epoch_and_the_audit_adds_up() {
    let scene = scene();
    assert_eq!(register(&scene, &dataset(25, 5, 2, 2)).task_size, 10);
    let (one, two) = (task(&scene, "worker-0"), task(&scene, "worker-1"));
    assert_eq!([span(&one), span(&two)], [(0, 0, 10), (0, 10, 20)]);
    assert_eq!((one.dataset.as_str(), one.kind, one.records.len()), ("mnist", 1, 0));
    done(&scene, &two);
    done(&scene, &one);
    let spans: Vec<_> = rest(&scene, "worker-1").iter().map(span).collect();
    assert_eq!(spans, [(0, 20, 25), (1, 0, 10), (1, 10, 20), (1, 20, 25)]);
    assert_eq!(answer(&scene, "worker-0"), Answer::End);
    let line = |epoch| format!("epoch {epoch}: 25 of 25 records accounted for (25 delivered), checksum equal");
    assert_eq!(audit(&scene), [line(0), line(1)]);
}

#[test]
fn a_worker_waits_for_a_dataset_that_nobody_has_registered_yet() {
    let scene = scene();
    assert_eq!(answer(&scene, "worker-0"), Answer::Wait);
    register(&scene, &dataset(25, 5, 2, 1));
    assert_eq!(span(&task(&scene, "worker-0")), (0, 0, 10));
}

#[test]
fn ids_of_tasks_are_never_used_twice_not_even_for_the_same_shard() {
    let mut scene = scene();
    register(&scene, &dataset(20, 5, 2, 1));
    let first = task(&scene, "worker-0");
    assert_eq!(first.id, 78, "the origin, and the first lease");
    assert_eq!(report(&scene, &first, "the disk is gone"), Outcome::Returned);
    scene.restart();
    let second = task(&scene, "worker-0");
    assert_eq!((span(&second), second.id), (span(&first), 79));
    assert_eq!(report(&scene, &first, ""), Outcome::Late);
    done(&scene, &second);
}

#[test]
fn a_failed_shard_is_given_again_and_the_third_failure_quarantines_it() {
    let mut scene = scene();
    register(&scene, &dataset(15, 5, 1, 1));
    for (worker, outcome) in
        [("worker-0", Outcome::Returned), ("worker-1", Outcome::Returned), ("worker-0", Outcome::Quarantined)]
    {
        let task = task(&scene, worker);
        assert_eq!(span(&task), (0, 0, 5));
        assert_eq!(report(&scene, &task, "bad zip"), outcome);
        // The count of failures survives.
        scene.restart();
    }
    assert_eq!(rest(&scene, "worker-1").len(), 2);
    let quarantine = scene.call(ListQuarantineRequest { ledger: task_ledger("mnist"), after: None }).unwrap();
    let listed: Vec<_> = quarantine.records.iter().map(|bad| (bad.record, bad.reason.as_str())).collect();
    assert_eq!(listed[0], (0, "3 workers could not use its shard: bad zip"));
    assert_eq!(listed.len(), 5);
    let line = "epoch 0: 15 of 15 records accounted for (10 delivered, 5 quarantined), complete but for 5 bad; possibly repeated: 10";
    assert!(audit(&scene)[0].starts_with(line), "{:?}", audit(&scene));
}

#[test]
fn failures_of_a_shard_are_forgotten_when_a_worker_could_use_it() {
    let scene = scene();
    register(&scene, &dataset(5, 5, 1, 2));
    for _ in 0..2 {
        for _ in 0..2 {
            assert_eq!(report(&scene, &task(&scene, "worker-0"), "try again"), Outcome::Returned);
        }
        done(&scene, &task(&scene, "worker-0"));
    }
    assert_eq!(answer(&scene, "worker-0"), Answer::End);
    // Nothing of it is left in the store either.
    let stored = scene.store.documents();
    assert!(!stored.iter().any(|(key, _)| key.contains("task-error")), "{stored:?}");
}

#[test]
fn a_task_that_nobody_reports_goes_to_another_worker_and_a_late_report_is_answered() {
    let scene = scene();
    register(&scene, &dataset(10, 5, 1, 1));
    let (lost, other) = (task(&scene, "worker-0"), task(&scene, "worker-1"));
    done(&scene, &other);
    scene.pass(TIMEOUT - 1000);
    assert_eq!(answer(&scene, "worker-1"), Answer::Wait, "worker-0 may still work");
    scene.pass(1500);
    let again = task(&scene, "worker-1");
    assert_eq!(span(&again), span(&lost));
    assert_eq!(report(&scene, &lost, ""), Outcome::Late);
    assert_eq!(report(&scene, &lost, "and an error"), Outcome::Late);
    done(&scene, &again);
    assert_eq!(answer(&scene, "worker-1"), Answer::End);
    assert!(audit(&scene)[0].contains("10 of 10 records accounted for (10 delivered), checksum equal"));
    let ledgers = scene.call(ListLedgersRequest::default()).unwrap().ledgers;
    assert_eq!(ledgers.iter().map(|ledger| ledger.late_reports).sum::<u64>(), 2);
}

#[test]
fn a_late_report_counts_as_long_as_nobody_else_has_got_the_shard() {
    let scene = scene();
    register(&scene, &dataset(5, 5, 1, 1));
    let slow = task(&scene, "worker-0");
    scene.pass(TIMEOUT + 500);
    assert_eq!(report(&scene, &slow, ""), Outcome::Counted);
    assert_eq!(answer(&scene, "worker-1"), Answer::End);
}

#[test]
fn a_report_of_a_task_that_was_taken_away_changes_no_time() {
    let scene = scene();
    // The coordinator has served for much longer than a worker may be silent.
    scene.pass(20 * TIMEOUT);
    register(&scene, &dataset(10, 5, 1, 1));
    let slow = task(&scene, "worker-0");
    scene.pass(TIMEOUT + 500);
    assert_eq!(report(&scene, &slow, ""), Outcome::Counted);
    let lost = task(&scene, "worker-1");
    scene.pass(TIMEOUT + 500);
    assert_eq!(span(&task(&scene, "worker-2")), span(&lost), "a worker that dies delays no other worker");
}

#[test]
fn a_worker_cannot_end_the_job_of_others_with_fewer_epochs() {
    let scene = scene();
    register(&scene, &dataset(5, 5, 1, 3));
    register(&scene, &dataset(5, 5, 1, 1));
    assert_eq!(rest(&scene, "worker-0").len(), 3);
    register(&scene, &dataset(5, 5, 1, 4));
    assert_eq!(rest(&scene, "worker-0").len(), 1);
}

#[test]
fn slow_shards_have_three_times_as_long_as_the_slowest_also_after_a_restart() {
    let mut scene = scene();
    register(&scene, &dataset(10, 5, 1, 1));
    let slow = task(&scene, "worker-0");
    scene.pass(200_000);
    done(&scene, &slow);
    scene.restart();
    let next = task(&scene, "worker-0");
    scene.pass(500_000);
    assert_eq!(answer(&scene, "worker-1"), Answer::Wait);
    scene.pass(101_000);
    assert_eq!(span(&task(&scene, "worker-1")), span(&next));
}

#[test]
fn the_end_is_told_when_all_who_have_the_last_shards_wait_themselves() {
    let scene = scene();
    register(&scene, &dataset(10, 5, 1, 1));
    let (first, second) = (task(&scene, "worker-0"), task(&scene, "worker-1"));
    assert_eq!(answer(&scene, "worker-2"), Answer::Wait);
    assert_eq!(task(&scene, "worker-0").id, first.id, "it may not have received it");
    assert_eq!(answer(&scene, "worker-0"), Answer::Wait, "worker-1 still works");
    assert_eq!(task(&scene, "worker-1").id, second.id);
    let mut stirs = scene.handle().task_stirs();
    stirs.borrow_and_update();
    assert_eq!(answer(&scene, "worker-1"), Answer::End);
    assert!(stirs.has_changed().unwrap(), "the others ask again");
    assert_eq!(answer(&scene, "worker-0"), Answer::End);
    assert!(audit(&scene)[0].contains("0 of 10 records"), "nothing was reported: {:?}", audit(&scene));
    done(&scene, &first);
    done(&scene, &second);
    assert!(audit(&scene)[0].contains("10 of 10 records"));
}

#[test]
fn the_end_is_not_told_while_a_worker_that_waited_may_be_gone_or_an_epoch_is_to_come() {
    let mut scene = scene();
    register(&scene, &dataset(5, 5, 1, 3));
    let (first, second) = (task(&scene, "worker-0"), task(&scene, "worker-1"));
    assert_eq!([first.epoch, second.epoch], [0, 1]);
    assert_eq!(answer(&scene, "worker-2"), Answer::Wait, "a third epoch follows");
    done(&scene, &first);
    let third = task(&scene, "worker-0");
    done(&scene, &second);
    // Its worker may not have received it: the coordinator died.
    scene.restart();
    assert_eq!(answer(&scene, "worker-1"), Answer::Wait);
    assert_eq!(task(&scene, "worker-0").id, third.id);
    // It waits, and then says nothing for long.
    assert_eq!(answer(&scene, "worker-0"), Answer::End);
    scene.pass(11_000);
    assert_eq!(answer(&scene, "worker-1"), Answer::Wait);
}

#[test]
fn those_who_wait_are_stirred_when_there_is_something_for_them() {
    let scene = scene();
    register(&scene, &dataset(10, 5, 1, 1));
    let (first, second) = (task(&scene, "worker-0"), task(&scene, "worker-2"));
    assert_eq!(answer(&scene, "worker-1"), Answer::Wait);
    let mut stirs = scene.handle().task_stirs();
    stirs.borrow_and_update();
    done(&scene, &first);
    assert!(!stirs.has_changed().unwrap(), "there is still nothing for it");
    report(&scene, &second, "no");
    assert!(stirs.has_changed().unwrap());
    done(&scene, &task(&scene, "worker-1"));
}

#[test]
fn a_task_that_nobody_received_is_no_failure_of_its_shard() {
    let scene = scene();
    register(&scene, &dataset(5, 5, 1, 1));
    for _ in 0..4 {
        let task = task(&scene, "worker-0");
        scene
            .call(ReportTaskRequest { caller: Some(caller("")), task: task.id, unheard: true, ..Default::default() })
            .unwrap();
    }
    done(&scene, &task(&scene, "worker-1"));
    assert_eq!(audit(&scene), ["epoch 0: 5 of 5 records accounted for (5 delivered), checksum equal"]);
}

#[test]
fn a_worker_that_numbers_its_commands_gets_the_same_shard_for_the_same_number() {
    let mut scene = scene();
    let joins = RegisterTasksRequest { worker: "worker-0".to_owned(), incarnation: 5, ..dataset(20, 5, 2, 1) };
    register(&scene, &joins);
    let numbered = |sequence| Some(Caller { incarnation: 5, sequence, ..caller("worker-0") });
    let ask = |scene: &Scene, sequence| {
        scene.call(NextTaskRequest { caller: numbered(sequence) }).unwrap().task.map(|task| (task.id, task.start))
    };
    let first = ask(&scene, 1);
    assert_eq!(ask(&scene, 1), first);
    scene.restart();
    assert_eq!(ask(&scene, 1), first);
    let second = ask(&scene, 2);
    assert_ne!(second, first);
    let report = |task: Option<(i32, u64)>, sequence| {
        let (task, _) = task.unwrap();
        let request = ReportTaskRequest { caller: numbered(sequence), task, ..ReportTaskRequest::default() };
        scene.call(request).unwrap().outcome()
    };
    assert_eq!(
        [report(first, 3), report(first, 3), report(first, 4)],
        [Outcome::Counted, Outcome::Counted, Outcome::Late]
    );
    // Started again under its name, it gets back what it had.
    register(&scene, &RegisterTasksRequest { incarnation: 6, ..joins });
    let refused = scene.call(NextTaskRequest { caller: numbered(5) }).unwrap_err();
    assert!(matches!(refused, CallError::Fenced(_)), "{refused:?}");
}
