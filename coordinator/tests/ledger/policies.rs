//! What all workers of a ledger have in common: epochs, and how an epoch's end and bad records are treated.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AckRequest, FunctionFile, LedgerSpec, LockstepRank, OpenRequest, PictureLimits, Policies,
    acquire_reply::Answer,
    policies::{LastBatch, OnError},
};

use crate::scene::{Daemon, Scene, spec, static_spec};

/// Longer than anybody is waited for who differs.
const SILENCE: u64 = 11_000;

fn policies(last_batch: LastBatch, on_error: OnError, max_failures: Option<u64>) -> Policies {
    Policies { last_batch: last_batch.into(), on_error: on_error.into(), max_failures, ..Policies::default() }
}

fn open(scene: &Scene, worker: &str, incarnation: u64, epochs: u64, policies: Policies) -> Result<Daemon, String> {
    let request = OpenRequest { epochs, policies: Some(policies), ..scene.open_request(worker, incarnation) };
    match scene.call(request) {
        Ok(_) => Ok(scene.known(worker, incarnation)),
        Err(CallError::SpecMismatch(text)) => Err(text),
        Err(other) => panic!("{other:?}"),
    }
}

const PLAIN: (LastBatch, OnError, Option<u64>) = (LastBatch::Partial, OnError::Skip, Some(3));

fn plain() -> Policies {
    policies(PLAIN.0, PLAIN.1, PLAIN.2)
}

#[test]
fn rule_41_a_worker_that_differs_from_one_that_lives_is_refused_with_both_values() {
    let mut scene = Scene::new(spec(40), 10, 2);
    open(&scene, "one", 1, 2, plain()).unwrap();
    scene.restart();
    open(&scene, "two", 1, 2, plain()).unwrap();
    let others = [
        (3, plain(), "epochs = 2", "epochs = 3"),
        (0, plain(), "epochs = 2", "no limit of epochs"),
        (
            2,
            policies(LastBatch::Drop, PLAIN.1, PLAIN.2),
            "last_batch_policy = \"partial\"",
            "last_batch_policy = \"drop\"",
        ),
        (2, policies(PLAIN.0, OnError::Fail, PLAIN.2), "on_error = \"skip\"", "on_error = \"fail\""),
        (2, policies(PLAIN.0, PLAIN.1, Some(4)), "max_failures = 3", "max_failures = 4"),
        (2, policies(PLAIN.0, PLAIN.1, None), "max_failures = 3", "no max_failures"),
    ];
    for (epochs, policies, kept, asked) in others {
        let said = open(&scene, "three", 1, epochs, policies).unwrap_err();
        // Of those that live, the one that was heard last is named.
        let words = format!("has {kept} on node \"two\", and node \"three\" asks for {asked}.");
        assert!(said.contains(&words), "{said}");
    }
    let both = open(&scene, "three", 1, 1, policies(PLAIN.0, OnError::Replace, PLAIN.2)).unwrap_err();
    assert!(both.contains("epochs = 2 and on_error = \"skip\"") && both.contains("epochs = 1 and on_error"), "{both}");
}

#[test]
fn rule_41_nodes_agree_on_batch_size_and_on_each_limit_that_decides_whether_a_picture_is_good() {
    let limits = PictureLimits { pixels: 100, bytes: 200, scans: 3, decode_ms: 400, read_ms: 500 };
    let with = |batch_size, limits| Policies { batch_size, limits, ..plain() };
    let scene = Scene::new(spec(40), 10, 2);
    open(&scene, "one", 1, 2, with(8, Some(limits))).unwrap();
    let others = [
        (with(9, Some(limits)), "batch_size = 8", "batch_size = 9"),
        (with(8, Some(PictureLimits { pixels: 101, ..limits })), "pixel_limit = 100", "pixel_limit = 101"),
        (with(8, Some(PictureLimits { bytes: 1, ..limits })), "byte_limit = 200", "byte_limit = 1"),
        (with(8, Some(PictureLimits { scans: 4, ..limits })), "scan_limit = 3", "scan_limit = 4"),
        (with(8, Some(PictureLimits { decode_ms: 0, ..limits })), "time_limit = \"400ms\"", "no time_limit"),
        (
            with(8, Some(PictureLimits { read_ms: 501, ..limits })),
            "read_timeout = \"500ms\"",
            "read_timeout = \"501ms\"",
        ),
    ];
    for (policies, kept, asked) in others {
        let said = open(&scene, "two", 1, 2, policies).unwrap_err();
        let words = format!("has {kept} on node \"one\", and node \"two\" asks for {asked}.");
        assert!(said.contains(&words), "{said}");
    }
    open(&scene, "two", 1, 2, with(8, Some(limits))).unwrap();
    // A daemon of an older version says nothing of them.
    open(&scene, "three", 1, 2, plain()).unwrap();
}

#[test]
fn rule_59_nodes_with_other_files_of_a_function_are_refused_by_its_name_also_after_a_restart() {
    let file = |function: &str, sum: &str| FunctionFile { function: function.to_owned(), sha256: sum.repeat(64) };
    let with = |functions: &[FunctionFile]| Policies { functions: functions.to_vec(), ..plain() };
    let mut scene = Scene::new(spec(40), 10, 2);
    open(&scene, "one", 1, 2, with(&[file("a:b", "1")])).unwrap();
    let refused = |scene: &Scene| {
        let said = open(scene, "two", 1, 2, with(&[file("c:d", "3"), file("a:b", "2")])).unwrap_err();
        assert!(said.contains("a:b in a file with the SHA-256 sum \"111111111111\" on node \"one\""), "{said}");
        assert!(said.contains("asks for the function a:b in a file with the SHA-256 sum \"222222222222\"."), "{said}");
    };
    refused(&scene);
    // Other transforms may differ, and what one node said is remembered while another one speaks.
    open(&scene, "three", 1, 2, with(&[file("c:d", "4")])).unwrap();
    open(&scene, "four", 1, 2, plain()).unwrap();
    let said = open(&scene, "two", 1, 2, with(&[file("a:b", "1"), file("c:d", "3")])).unwrap_err();
    assert!(said.contains("c:d") && !said.contains("a:b"), "{said}");
    scene.restart();
    let said = open(&scene, "two", 1, 2, with(&[file("a:b", "2")])).unwrap_err();
    assert!(said.contains("a:b"), "{said}");
}

#[test]
fn rule_59_nodes_of_other_shards_or_ranks_with_other_files_of_a_function_are_refused_by_its_name() {
    let file = |function: &str, sum: &str| FunctionFile { function: function.to_owned(), sha256: sum.repeat(64) };
    let with = |functions: &[FunctionFile]| Policies { functions: functions.to_vec(), ..plain() };
    let lockstep =
        |rank| LedgerSpec { lockstep: Some(LockstepRank { global_batch: 4, rank, world_size: 2 }), ..spec(20) };
    let specs = [[0, 1].map(|shard| static_spec(20, shard, 2, false)), [0, 1].map(lockstep)];
    for [first, second] in specs {
        let mut scene = Scene::new(first, 10, 1);
        open(&scene, "one", 1, 1, with(&[file("a:b", "1")])).unwrap();
        scene.spec = second;
        for _ in 0..2 {
            let said = open(&scene, "two", 1, 1, with(&[file("c:d", "3"), file("a:b", "2")])).unwrap_err();
            assert!(
                said.contains("has the function a:b in a file with the SHA-256 sum \"111111111111\" on node \"one\""),
                "{said}"
            );
            assert!(
                said.contains("node \"two\" has the function a:b in a file with the SHA-256 sum \"222222222222\"."),
                "{said}"
            );
            scene.restart();
        }
        // Other functions may be there, and a node has its own files, whatever it had before.
        open(&scene, "two", 1, 1, with(&[file("a:b", "1"), file("e:f", "4")])).unwrap();
        open(&scene, "two", 2, 1, with(&[file("a:b", "1"), file("e:f", "5")])).unwrap();
        // One that is silent is gone.
        scene.pass(SILENCE);
        open(&scene, "two", 3, 1, with(&[file("a:b", "2")])).unwrap();
    }
}

#[test]
fn rule_41_what_was_refused_has_changed_nothing() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut one = open(&scene, "one", 1, 1, plain()).unwrap();
    open(&scene, "two", 1, 2, plain()).unwrap_err();
    assert_eq!(scene.deliver_all(&mut one), Answer::DatasetDone, "the run has one epoch");
    // A daemon that asks again and agrees by now is let in.
    open(&scene, "two", 2, 1, plain()).unwrap();
}

#[test]
fn rule_41_the_only_worker_that_lives_may_change_them_and_one_that_was_cut_off_is_fenced() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut gone = open(&scene, "gone", 1, 1, plain()).unwrap();
    let lease = gone.lease(&scene);
    open(&scene, "same", 1, 1, plain()).unwrap();
    scene.pass(SILENCE);
    let changed = policies(LastBatch::Fill, OnError::Fail, None);
    // The name of the worker that asks is its own, however often it is started.
    let mut same = open(&scene, "same", 2, 2, changed).unwrap();
    assert_eq!(scene.deliver_all(&mut same), Answer::DatasetDone, "with what the other one had, and two epochs");
    let items = vec![scene.delivered(&lease)];
    let late = scene.call(AckRequest { caller: Some(gone.next()), items, ..AckRequest::default() });
    assert!(matches!(late, Err(CallError::Fenced(_))), "{late:?}");
    assert!(open(&scene, "gone", 2, 1, plain()).unwrap_err().contains("on node \"same\""));
    assert_eq!(scene.audit().len(), 2);
}

#[test]
fn rule_41_the_workers_of_different_shards_need_not_agree() {
    let mut scene = Scene::new(static_spec(20, 0, 2, false), 10, 1);
    open(&scene, "one", 1, 1, plain()).unwrap();
    scene.spec = static_spec(20, 1, 2, false);
    open(&scene, "two", 1, 1, policies(LastBatch::Fill, OnError::Fail, None)).unwrap();
}

#[test]
fn rule_41_a_worker_of_an_older_version_says_nothing_of_policies() {
    let scene = Scene::new(spec(20), 10, 1);
    scene.open("old", 1);
    open(&scene, "one", 1, 1, plain()).unwrap();
    scene.open("older", 1);
    open(&scene, "two", 1, 1, policies(LastBatch::Drop, PLAIN.1, PLAIN.2)).unwrap_err();
}
