//! Which records tasks have: shuffled or not, in whole batches or not, and datasets that cannot be.

use forebay_ledger::task_ledger;
use forebay_ledger_client::CallError;
use forebay_proto::v1::register_tasks_request::Remainder;
use forebay_proto::v1::{ListQuarantineRequest, OpenRequest, RegisterTasksRequest};

use super::{audit, dataset, register, report, rest, scene, span, task};

#[test]
fn shuffled_shards_are_whole_and_in_another_order_in_each_epoch() {
    let scene = scene();
    register(&scene, &RegisterTasksRequest { shuffle_shards: true, ..dataset(93, 5, 2, 2) });
    let mut orders = Vec::new();
    let all = rest(&scene, "worker-0");
    for epoch in 0..2 {
        let own = all.iter().filter(|task| task.epoch == epoch);
        let mut shards: Vec<_> = own.map(|task| (task.start, task.end)).collect();
        orders.push(shards.clone());
        shards.sort_unstable();
        assert_eq!(shards, (0..10).map(|shard| (shard * 10, (shard * 10 + 10).min(93))).collect::<Vec<_>>());
    }
    assert_ne!(orders[0], orders[1]);
    assert_ne!(orders[0].last(), Some(&(90, 93)), "the short one is not always the last");
    assert!(audit(&scene).iter().all(|line| line.ends_with("(93 delivered), checksum equal")), "{:?}", audit(&scene));
}

#[test]
fn a_quarantined_shard_of_a_shuffled_order_lists_its_own_records() {
    let scene = scene();
    register(&scene, &RegisterTasksRequest { shuffle_shards: true, ..dataset(93, 5, 2, 1) });
    let bad = task(&scene, "worker-0");
    report(&scene, &bad, "no");
    for _ in 0..2 {
        let again = task(&scene, "worker-0");
        assert_eq!(span(&again), span(&bad));
        report(&scene, &again, "no");
    }
    let listed = scene.call(ListQuarantineRequest { ledger: task_ledger("mnist"), after: None }).unwrap().records;
    assert_eq!(listed.iter().map(|entry| entry.record).collect::<Vec<_>>(), (bad.start..bad.end).collect::<Vec<_>>());
    rest(&scene, "worker-0");
    assert!(audit(&scene)[0].contains("10 quarantined), complete but for 10 bad"), "{:?}", audit(&scene));
}

#[test]
fn shuffled_records_are_listed_and_each_epoch_has_all_of_them() {
    let scene = scene();
    register(&scene, &RegisterTasksRequest { shuffle: true, ..dataset(23, 5, 2, 2) });
    let all = rest(&scene, "worker-0");
    let records = |epoch| -> Vec<u64> {
        all.iter().filter(|task| task.epoch == epoch).flat_map(|task| task.records.clone()).collect()
    };
    assert_ne!(records(0), records(1));
    for epoch in 0..2 {
        let mut sorted = records(epoch);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..23).collect::<Vec<_>>());
    }
    assert!(all.iter().all(|task| task.records.len() as u64 == task.end - task.start));
    assert!(audit(&scene).iter().all(|line| line.ends_with("(23 delivered), checksum equal")));
}

#[test]
fn the_last_batch_is_filled_or_left_out_if_that_is_wanted() {
    for (shuffle, shuffle_shards) in [(false, false), (false, true), (true, false)] {
        let of = |remainder: Remainder| {
            let scene = scene();
            let remainder = remainder.into();
            register(&scene, &RegisterTasksRequest { shuffle, shuffle_shards, remainder, ..dataset(23, 5, 2, 1) });
            let mut lens: Vec<u64> = rest(&scene, "worker-0").iter().map(|task| task.end - task.start).collect();
            lens.sort_unstable();
            (lens, audit(&scene).remove(0))
        };
        assert_eq!(of(Remainder::Keep).0, [3, 10, 10]);
        let (lens, line) = of(Remainder::Fill);
        assert_eq!((lens, line.contains("23 of 23 records")), (vec![5, 10, 10], true), "{line}");
        let (lens, line) = of(Remainder::Drop);
        assert_eq!((lens, line.contains("20 of 20 records")), (vec![10, 10], true), "{line}");
    }
}

#[test]
fn the_coordinator_chooses_a_task_size_if_it_is_asked_to() {
    for (records, task_size) in [(10, 10), (5 * 64, 10), (5 * 10_000, 50)] {
        let reply = register(&scene(), &dataset(records, 5, 0, 1));
        assert_eq!(reply.task_size, if records == 10 { 5 } else { task_size }, "{records} records");
    }
}

#[test]
fn what_is_said_of_a_dataset_later_must_agree_with_what_was_said_first() {
    let scene = scene();
    register(&scene, &dataset(25, 5, 2, 1));
    assert_eq!(register(&scene, &dataset(25, 6, 3, 2)).task_size, 10, "it keeps its shards");
    assert_eq!(rest(&scene, "worker-0").last().map(|task| task.epoch), Some(1), "epochs may be added");
    let refused = scene.call(dataset(26, 5, 2, 1)).unwrap_err();
    assert!(matches!(refused, CallError::SpecMismatch(_)), "{refused:?}");
    assert!(refused.to_string().contains("records was 25 and is now 26"), "{refused}");
}

#[test]
fn a_dataset_cannot_have_the_ledger_of_a_stream() {
    let scene = scene();
    let (run, stream) = ("default".to_owned(), "mnist".to_owned());
    scene.call(OpenRequest { run, stream, ..scene.open_request("node", 1) }).unwrap();
    for request in [dataset(25, 5, 2, 1), dataset(0, 5, 2, 1)] {
        let refused = scene.call(request).unwrap_err();
        let text =
            "The ledger \"default/mnist/all\" belongs to a stream of daemons. Choose another name for the dataset.";
        assert_eq!(refused, CallError::SpecMismatch(text.to_owned()));
    }
}

#[test]
fn impossible_datasets_are_refused_by_name() {
    let scene = scene();
    for (request, words) in [
        (RegisterTasksRequest { dataset: String::new(), ..dataset(25, 5, 2, 1) }, "name"),
        (RegisterTasksRequest { dataset: "x".repeat(201), ..dataset(25, 5, 2, 1) }, "name"),
        (dataset(25, 0, 2, 1), "batch_size"),
        (dataset(25, 5, 2, 0), "epochs"),
        (dataset(u64::MAX, 5, 2, 1), "records"),
        (dataset(1 << 40, 1 << 20, u64::MAX, 1), "num_minibatches_per_shard"),
        (RegisterTasksRequest { shuffle: true, ..dataset(1 << 30, 1 << 10, 1 << 10, 1) }, "num_minibatches_per_shard"),
        (RegisterTasksRequest { shuffle_shards: true, ..dataset(1 << 50, 1, 1, 1) }, "num_minibatches_per_shard"),
        (RegisterTasksRequest { remainder: Remainder::Drop.into(), ..dataset(4, 5, 1, 1) }, "smaller batches"),
    ] {
        let refused = scene.call(request).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
