//! A worker that reads the data itself, through its thread: what it fetches, loses, gives back and restores.

use std::time::Duration;

use forebay_ledger::task_ledger;
use forebay_ledger_client::{CallError, GivenTask, Pending, TaskWorker};
use forebay_proto::v1::RegisterTasksRequest;
use forebay_proto::v1::report_task_reply::Outcome;

use crate::scene::{Scene, spec};

/// More than any answer takes.
const LONG: Duration = Duration::from_secs(30);

fn scene() -> Scene {
    Scene::new(spec(1), 1, 1)
}

fn dataset(records: u64) -> RegisterTasksRequest {
    RegisterTasksRequest {
        dataset: "mnist".to_owned(),
        records,
        batch_size: 5,
        batches_per_shard: 1,
        epochs: 1,
        ..RegisterTasksRequest::default()
    }
}

fn join(scene: &Scene, name: &str, dataset: RegisterTasksRequest) -> TaskWorker {
    let request = RegisterTasksRequest { worker: name.to_owned(), ..dataset };
    let (worker, joined) = TaskWorker::start(scene.handle(), request).unwrap();
    assert_eq!(answered(&joined), 5);
    worker
}

fn answered<T>(pending: &Pending<T>) -> T {
    pending.wait(LONG).expect("an answer comes").unwrap_or_else(|refused| panic!("{refused}"))
}

fn fetch(worker: &TaskWorker) -> GivenTask {
    assert!(answered(&worker.fetch()), "there is more");
    worker.take().expect("nobody else takes it")
}

fn report(worker: &TaskWorker, given: &GivenTask) -> Outcome {
    answered(&worker.report(given.task.id, String::new()))
}

fn audit(scene: &Scene) -> Vec<String> {
    scene.audit_of(&task_ledger("mnist")).iter().map(ToString::to_string).collect()
}

#[test]
fn a_worker_fetches_and_reports_all_shards_and_then_hears_the_end() {
    let scene = scene();
    let worker = join(&scene, "one", dataset(12));
    let mut spans = Vec::new();
    while answered(&worker.fetch()) {
        let given = worker.take().unwrap();
        spans.push((given.task.start, given.task.end));
        assert_eq!(report(&worker, &given), Outcome::Counted);
    }
    assert_eq!(spans, [(0, 5), (5, 10), (10, 12)]);
    assert_eq!(audit(&scene), ["epoch 0: 12 of 12 records accounted for (12 delivered), checksum equal"]);
}

#[test]
fn a_caller_that_gives_up_loses_no_shard() {
    let scene = scene();
    let (one, two) = (join(&scene, "one", dataset(10)), join(&scene, "two", dataset(10)));
    let (first, second) = (fetch(&one), fetch(&two));
    // There is nothing for it at the moment. It gives up, and the shard comes back meanwhile.
    let given_up = one.fetch();
    assert!(given_up.wait(Duration::from_millis(10)).is_none());
    answered(&two.report(second.task.id, "no".to_owned()));
    while given_up.wait(Duration::from_millis(1)).is_none() {}
    drop(given_up);
    let again = fetch(&one);
    assert_eq!(again.task.start, second.task.start);
    for given in [&first, &again] {
        assert_eq!(report(&one, given), Outcome::Counted);
    }
    assert!(!answered(&one.fetch()));
}

#[test]
fn callers_that_gave_up_in_an_outage_take_no_shards_and_the_one_behind_them_hears_no_end() {
    let scene = scene();
    let (one, two) = (join(&scene, "one", dataset(10)), join(&scene, "two", dataset(10)));
    scene.store.fill(true);
    // The first one has asked, and the others wait for its answer.
    let given_up = [one.fetch(), one.fetch(), one.fetch()];
    let waits = one.fetch();
    assert!(waits.wait(Duration::from_millis(200)).is_none());
    drop(given_up);
    scene.store.fill(false);
    assert!(answered(&waits), "an outage is not the end of the data");
    let first = one.take().unwrap();
    assert!(one.take().is_none(), "only one shard was wanted");
    let second = fetch(&two);
    assert_eq!([first.task.start, second.task.start], [0, 5]);
    assert_eq!([report(&one, &first), report(&two, &second)], [Outcome::Counted; 2]);
}

#[test]
fn a_worker_that_is_closed_gives_back_what_it_has_at_once() {
    let scene = scene();
    let (one, two) = (join(&scene, "one", dataset(10)), join(&scene, "two", dataset(10)));
    let (first, second) = (fetch(&one), fetch(&one));
    assert_eq!(report(&one, &first), Outcome::Counted);
    let waits = one.fetch();
    answered(&one.close());
    let refused = waits.wait(LONG).unwrap();
    // Alone with the last shard, it may have heard the end before.
    assert!(matches!(refused, Ok(false) | Err(CallError::Unavailable(_))), "{refused:?}");
    let again = fetch(&two);
    assert_eq!((again.task.start, again.task.id != second.task.id), (second.task.start, true));
    assert_eq!(report(&two, &again), Outcome::Counted);
    assert!(audit(&scene)[0].contains("10 of 10 records accounted for (10 delivered), checksum equal"));
}

#[test]
fn a_restore_makes_all_tasks_nobody_s_and_later_ones_are_told_apart() {
    let scene = scene();
    let worker = join(&scene, "one", dataset(10));
    let state = answered(&worker.checkpoint());
    let old = fetch(&worker);
    answered(&worker.restore(state, "load".to_owned()));
    assert_ne!(old.restores, worker.restores());
    assert_eq!(report(&worker, &old), Outcome::Late);
    let new = fetch(&worker);
    assert_eq!((new.task.start, new.restores), (old.task.start, worker.restores()));
    assert_eq!(report(&worker, &new), Outcome::Counted);
}

#[test]
fn rule_38_a_second_worker_that_loads_a_state_gives_back_what_it_already_has_of_it() {
    let scene = scene();
    let (one, two) = (join(&scene, "one", dataset(15)), join(&scene, "two", dataset(15)));
    let old = fetch(&two);
    let state = answered(&one.checkpoint());
    answered(&one.restore(state.clone(), "load".to_owned()));
    // The second one asks before it loads the same state: one shard is taken, another one is only fetched.
    let taken = fetch(&two);
    assert!(answered(&two.fetch()));
    answered(&two.restore(state, "load".to_owned()));
    assert!(two.take().is_none() && taken.restores != two.restores());
    // No time passes, and the first one gets all shards.
    let given = [fetch(&one), fetch(&one), fetch(&one)];
    assert_eq!(given.each_ref().map(|given| given.task.start), [0, 5, 10]);
    assert_eq!(given.each_ref().map(|given| report(&one, given)), [Outcome::Counted; 3]);
    assert_eq!([report(&two, &old), report(&two, &taken)], [Outcome::Late; 2]);
    // Only what was taken may have been seen.
    let audit = audit(&scene);
    assert!(audit[0].contains("15 of 15 records accounted for (15 delivered), checksum equal"), "{audit:?}");
    assert!(audit[0].ends_with("possibly repeated: 5 after a trainer ended"), "{audit:?}");
}

#[test]
fn a_worker_waits_for_a_dataset_that_another_one_describes() {
    let scene = scene();
    let request = RegisterTasksRequest { worker: "early".to_owned(), ..dataset(0) };
    let (early, joined) = TaskWorker::start(scene.handle(), request).unwrap();
    assert!(joined.wait(Duration::from_millis(100)).is_none());
    join(&scene, "late", dataset(10));
    assert_eq!(answered(&joined), 5);
    assert_eq!(fetch(&early).task.start, 0);
}

#[test]
fn rule_33_a_worker_whose_name_was_taken_is_told_so() {
    let scene = scene();
    let first = join(&scene, "one", dataset(10));
    fetch(&first);
    let second = join(&scene, "one", dataset(10));
    let refused = first.fetch().wait(LONG).unwrap().unwrap_err();
    assert!(matches!(refused, CallError::Fenced(_)), "{refused:?}");
    // What the first one had waits a moment for its reports, and comes back.
    scene.pass(10_000);
    let starts = [fetch(&second), fetch(&second)].map(|given| given.task.start);
    assert_eq!(starts, [5, 0]);
}

#[test]
fn a_dataset_that_is_known_as_another_one_is_refused() {
    let scene = scene();
    join(&scene, "one", dataset(10));
    let request = RegisterTasksRequest { worker: "two".to_owned(), ..dataset(11) };
    let (_worker, joined) = TaskWorker::start(scene.handle(), request).unwrap();
    let refused = joined.wait(LONG).unwrap().unwrap_err();
    assert!(matches!(refused, CallError::SpecMismatch(_)), "{refused:?}");
}
