//! Calls of workers that have no ids: a reply that is lost or doubled loses no shard, and what may be repeated is counted.

use forebay_proto::v1::ListLedgersRequest;
use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::report_task_reply::Outcome;

use super::{answer, ask, audit, dataset, done, register, report, rest, scene, span, task};

#[test]
fn a_lost_reply_is_given_again_under_its_id_and_its_report_counts_once() {
    let mut scene = scene();
    register(&scene, &dataset(20, 5, 1, 1));
    let first = task(&scene, "worker-0");
    done(&scene, &first);
    let lost = task(&scene, "worker-0");
    let again = task(&scene, "worker-0");
    assert_eq!((again.id, span(&again)), (lost.id, span(&lost)));
    done(&scene, &again);
    assert_eq!(report(&scene, &lost, ""), Outcome::Late, "a doubled report");
    // So it is after a restart of the coordinator.
    let lost = task(&scene, "worker-0");
    scene.restart();
    let again = task(&scene, "worker-0");
    assert_eq!(again.id, lost.id);
    done(&scene, &again);
    assert_eq!(rest(&scene, "worker-0").len(), 1);
    assert_eq!(answer(&scene, "worker-0"), Answer::End);
    let line = "epoch 0: 20 of 20 records accounted for (20 delivered), checksum equal; possibly repeated: 10";
    assert!(audit(&scene)[0].starts_with(line), "{:?}", audit(&scene));
}

#[test]
fn a_worker_that_reads_ahead_gets_each_further_shard_once() {
    let scene = scene();
    register(&scene, &dataset(50, 5, 1, 1));
    // It asks for the next shard before it reports the one that it has.
    let (mut hand, mut spans) = (vec![task(&scene, "worker-0")], Vec::new());
    while let Some(next) = ask(&scene, "worker-0").task {
        let used = std::mem::replace(&mut hand, vec![next]).remove(0);
        spans.push(span(&used));
        report(&scene, &used, "");
    }
    report(&scene, &hand[0], "");
    spans.push(span(&hand[0]));
    assert_eq!(
        spans.len(),
        10 + 2,
        "the first was repeated until its reports said how far the worker reads ahead, and the last"
    );
    spans.dedup();
    assert_eq!(spans, (0..10).map(|shard| (0, shard * 5, shard * 5 + 5)).collect::<Vec<_>>());
    assert!(audit(&scene)[0].contains("50 of 50 records accounted for (50 delivered), checksum equal"));
}

#[test]
fn the_end_with_an_open_shard_is_shown_and_does_not_add_up() {
    let mut scene = scene();
    register(&scene, &dataset(10, 5, 1, 1));
    let (mine, lost) = (task(&scene, "worker-0"), task(&scene, "worker-1"));
    // Both of its replies are lost, and then it asks no more, or waits.
    assert_eq!(task(&scene, "worker-1").id, lost.id);
    assert_eq!(answer(&scene, "worker-1"), Answer::Wait);
    done(&scene, &mine);
    let open = |scene: &crate::scene::Scene| {
        let ledgers = scene.call(ListLedgersRequest::default()).unwrap().ledgers;
        ledgers.iter().map(|ledger| ledger.open_at_end).sum::<u64>()
    };
    assert_eq!(open(&scene), 0);
    assert_eq!(answer(&scene, "worker-0"), Answer::End);
    for _ in 0..2 {
        assert!(
            audit(&scene)[0].contains("5 of 10 records accounted for (5 delivered), DOES NOT ADD UP"),
            "{:?}",
            audit(&scene)
        );
        assert_eq!(open(&scene), 5);
        scene.restart();
    }
    done(&scene, &lost);
    assert!(audit(&scene)[0].contains("10 of 10 records accounted for (10 delivered), checksum equal"));
    assert_eq!(open(&scene), 0);
}
