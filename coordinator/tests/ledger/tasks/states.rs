//! Checkpoints of shards, our own and `DLRover`'s, and going back to them or to the beginning.

use std::fmt::Write as _;

use forebay_ledger_client::CallError;
use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{NewRunRequest, RegisterTasksRequest, RestoreTasksRequest, ShowTasksRequest, Snapshot};
use prost::Message as _;
use serde_json::{Value, json};

use super::{answer, audit, dataset, done, register, report, rest, scene, span, task};
use crate::scene::Scene;

fn checkpoint(scene: &Scene) -> String {
    scene.call(ShowTasksRequest { dataset: "mnist".to_owned() }).unwrap().checkpoint
}

fn restore(scene: &Scene, checkpoint: &str) -> Result<(), CallError> {
    let request = RestoreTasksRequest {
        dataset: "mnist".to_owned(),
        checkpoint: checkpoint.to_owned(),
        ..RestoreTasksRequest::default()
    };
    scene.call(request).map(|_| ())
}

#[test]
fn a_checkpoint_is_gone_back_to_and_tasks_that_were_out_are_nobodys_then() {
    for (shuffle, shuffle_shards) in [(false, false), (false, true), (true, false)] {
        let scene = scene();
        register(&scene, &RegisterTasksRequest { shuffle, shuffle_shards, ..dataset(45, 5, 2, 2) });
        done(&scene, &task(&scene, "worker-0"));
        let held = task(&scene, "worker-1");
        let kept = checkpoint(&scene);
        let first: Vec<_> = rest(&scene, "worker-0").iter().map(span).collect();
        restore(&scene, &kept).unwrap();
        assert_eq!(report(&scene, &held, ""), Outcome::Late);
        let mut second: Vec<_> = rest(&scene, "worker-0").iter().map(span).collect();
        assert_eq!(second.remove(0), span(&held), "it was not done");
        assert_eq!(first[..3], second[..3]);
        assert_eq!(second.len(), 8, "the rest of two epochs");
        let lines = audit(&scene);
        assert!(lines.iter().all(|line| line.contains("45 of 45 records accounted for")), "{lines:?}");
    }
}

#[test]
fn a_checkpoint_that_no_ledger_can_have_is_refused_and_the_next_start_reads_what_was_before() {
    let mut scene = scene();
    register(&scene, &dataset(45, 5, 2, 2));
    let mut state: Value = serde_json::from_str(&checkpoint(&scene)).unwrap();
    let bytes = state["ledger"].as_str().unwrap().as_bytes().chunks(2);
    let bytes: Vec<u8> = bytes.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect();
    for (epoch, generation) in [(0, 1 << 48), (1 << 48, 0)] {
        let mut snapshot = Snapshot::decode(&*bytes).unwrap();
        (snapshot.epoch, snapshot.generation) = (epoch, generation);
        let mut hex = String::new();
        snapshot.encode_to_vec().iter().for_each(|byte| write!(hex, "{byte:02x}").unwrap());
        state["ledger"] = json!(hex);
        assert!(matches!(restore(&scene, &state.to_string()), Err(CallError::Invalid(_))), "{epoch} {generation}");
    }
    scene.restart();
    assert_eq!(rest(&scene, "worker-0").len(), 10);
}

#[test]
fn a_checkpoint_lists_the_shards_under_the_names_that_users_know() {
    let scene = scene();
    register(&scene, &dataset(45, 5, 2, 2));
    let (_held, failed) = (task(&scene, "worker-0"), task(&scene, "worker-1"));
    report(&scene, &failed, "no");
    let state: Value = serde_json::from_str(&checkpoint(&scene)).unwrap();
    assert_eq!(state["dataset_name"], "mnist");
    assert_eq!(state["doing"], json!([[0, 10]]));
    assert_eq!(state["todo"], json!([[10, 20], [20, 30], [30, 40], [40, 45]]));
    assert_eq!((&state["epoch"], &state["num_epochs"], &state["batch_size"]), (&json!(1), &json!(2), &json!(5)));
}

#[test]
fn a_checkpoint_of_dlrover_is_gone_on_from() {
    let scene = scene();
    register(&scene, &dataset(40, 5, 2, 2));
    let theirs = json!({
        "dataset_name": "mnist", "todo": [[30, 40]], "doing": [[10, 20]], "epoch": 1, "splitter": "",
    });
    restore(&scene, &theirs.to_string()).unwrap();
    let spans: Vec<_> = rest(&scene, "worker-0").iter().map(span).collect();
    assert_eq!(spans[..2], [(0, 10, 20), (0, 30, 40)]);
    assert_eq!(spans.len(), 2 + 4);
    let lines = audit(&scene);
    assert!(lines.iter().all(|line| line.contains("(40 delivered), checksum equal")), "{lines:?}");
    assert!(lines[0].contains("possibly repeated: 10"), "what a worker had: {lines:?}");
}

#[test]
fn checkpoints_that_fit_nothing_are_refused_and_change_nothing() {
    let scene = scene();
    register(&scene, &dataset(40, 5, 2, 1));
    let held = task(&scene, "worker-0");
    let list = |todo: Value| json!({ "todo": todo, "doing": [], "epoch": 1 });
    for theirs in [
        json!("text"),
        json!({ "ledger": "zz" }),
        json!({ "ledger": 5 }),
        json!({ "ledger": "0a" }),
        json!({ "todo": [], "doing": [], "epoch": "one" }),
        json!({ "todo": [], "epoch": 1 }),
        json!({ "todo": [], "doing": [], "epoch": u64::MAX }),
        list(json!([[0, 10], [5, 15]])),
        list(json!([[10, 10]])),
        list(json!([[30, 41]])),
        list(json!([[u64::MAX - 1, u64::MAX]])),
        list(json!([[0, 10, [3, 4]]])),
        list(json!([[-1, 10]])),
        list(json!([7])),
    ] {
        let refused = restore(&scene, &theirs.to_string());
        assert!(matches!(refused, Err(CallError::Invalid(_))), "{theirs}: {refused:?}");
    }
    restore(&scene, "{").unwrap_err();
    done(&scene, &held);
    let shuffled = RegisterTasksRequest { dataset: "other".to_owned(), shuffle: true, ..dataset(40, 5, 2, 1) };
    register(&scene, &shuffled);
    let checkpoint = list(json!([[0, 10]])).to_string();
    let refused =
        scene.call(RestoreTasksRequest { dataset: "other".to_owned(), checkpoint, ..Default::default() }).unwrap_err();
    assert!(refused.to_string().contains("without shuffle"), "{refused}");
}

#[test]
fn a_reset_begins_with_the_first_epoch_and_a_new_run_forgets_the_dataset() {
    let scene = scene();
    register(&scene, &dataset(20, 5, 2, 1));
    let late = task(&scene, "worker-0");
    done(&scene, &task(&scene, "worker-0"));
    restore(&scene, "").unwrap();
    assert_eq!(report(&scene, &late, ""), Outcome::Late);
    assert_eq!(rest(&scene, "worker-0").len(), 2);
    assert_eq!(audit(&scene), ["epoch 0: 20 of 20 records accounted for (20 delivered), checksum equal"]);
    let (run, stream) = ("default".to_owned(), "mnist".to_owned());
    assert_eq!(scene.call(NewRunRequest { run, stream }).unwrap().forgotten, 1);
    assert_eq!(answer(&scene, "worker-0"), Answer::Wait);
    let left = scene.store.documents();
    assert!(!left.iter().any(|(key, _)| key.contains("mnist")), "{left:?}");
}
