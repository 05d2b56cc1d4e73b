//! Epochs: their order, their ends, and how large a ledger is.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{AbandonRequest, AcquireReply, OpenRequest, Verdict, acquire_reply::Answer};

use crate::scene::{Scene, TTL, span, spec, static_spec};

fn progress(reply: &AcquireReply) -> (u64, u64) {
    let progress = reply.progress.unwrap();
    (progress.floor, progress.drained)
}

#[test]
fn rule_3_leases_are_aligned_spans_of_the_epochs_order() {
    let scene = Scene::new(spec(25), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let spans: Vec<_> = daemon.acquire(&scene, 64).leases.iter().map(span).collect();
    assert_eq!(spans, [(0, 0, 10), (0, 10, 20), (0, 20, 25)]);
}

#[test]
fn rule_11_one_epoch_may_be_leased_ahead_and_no_second() {
    let scene = Scene::new(spec(20), 10, 0);
    let mut daemon = scene.daemon("node", 1);
    let first = daemon.lease(&scene);
    let rest = daemon.acquire(&scene, 64);
    assert_eq!(rest.leases.iter().map(span).collect::<Vec<_>>(), [(0, 10, 20), (1, 0, 10), (1, 10, 20)]);
    assert_eq!(progress(&rest), (0, 2));
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::Wait);
    for lease in &rest.leases {
        daemon.ack(&scene, scene.delivered(lease));
    }
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::Wait, "epoch 0 is still held");
    daemon.ack(&scene, scene.delivered(&first));
    let next = daemon.acquire(&scene, 1);
    assert_eq!((span(&next.leases[0]), progress(&next)), ((2, 0, 10), (2, 2)));
}

#[test]
fn rule_11_what_came_back_of_an_epoch_is_leased_before_the_next_epochs() {
    let scene = Scene::new(spec(20), 10, 0);
    let mut daemon = scene.daemon("node", 1);
    let leases = daemon.acquire(&scene, 3).leases;
    assert_eq!(leases[2].epoch, 1);
    daemon.give_back(&scene, &leases[1], 0, 10);
    let next = daemon.acquire(&scene, 2);
    assert_eq!(next.leases.iter().map(span).collect::<Vec<_>>(), [(0, 10, 20), (1, 10, 20)]);
}

#[test]
fn rule_11_what_all_workers_of_a_cluster_had_is_granted_in_order_when_they_are_lost_at_once() {
    let scene = Scene::new(spec(4000), 5, 1);
    let mut daemons: Vec<_> = (0..200).map(|number| scene.daemon(&format!("node-{number}"), 1)).collect();
    for _ in 0..4 {
        // Each has leases from all over the epoch.
        for daemon in &mut daemons {
            daemon.lease(&scene);
        }
    }
    scene.pass(TTL);
    let mut last = scene.daemon("last", 1);
    let granted: Vec<_> = (0..13).flat_map(|_| last.acquire(&scene, 64).leases).collect();
    assert!(granted.iter().map(|lease| lease.start).eq((0..4000).step_by(5)), "{granted:?}");
    for lease in &granted {
        assert_eq!(last.ack(&scene, scene.delivered(lease)), Verdict::Accepted);
    }
    let told = scene.audit_lines();
    assert!(told[0].contains("4000 of 4000 records accounted for (4000 delivered), checksum equal"), "{told:?}");
    assert!(told[0].contains("possibly repeated: 4000"), "{told:?}");
}

#[test]
fn rule_12_drained_says_when_no_more_of_an_epoch_will_come() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    assert_eq!(progress(&daemon.acquire(&scene, 1)), (0, 0));
    let second = daemon.acquire(&scene, 1);
    assert_eq!(progress(&second), (0, 1), "the last batch of epoch 0 may be made");
    daemon.give_back(&scene, &second.leases[0], 0, 5);
    let other = scene.open("other", 1).1.progress.unwrap();
    assert_eq!((other.floor, other.drained), (0, 0), "a return brings some back");
}

#[test]
fn waiting_the_end_of_an_epoch_and_the_end_of_all_are_different_answers() {
    let scene = Scene::new(spec(10), 10, 2);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let held = one.lease(&scene);
    let ahead = two.lease(&scene);
    assert_eq!(two.acquire(&scene, 1).answer(), Answer::EpochEnd, "all is leased");
    two.ack(&scene, scene.delivered(&ahead));
    one.ack(&scene, scene.delivered(&held));
    assert_eq!(two.acquire(&scene, 1).answer(), Answer::DatasetDone);
    assert_eq!(one.acquire(&scene, 1).answer(), Answer::DatasetDone);
}

#[test]
fn rule_10_abandoning_ends_an_epoch_but_no_other() {
    let scene = Scene::new(spec(20), 10, 2);
    let mut daemon = scene.daemon("node", 1);
    let leases = daemon.acquire(&scene, 3).leases;
    daemon.ack(&scene, scene.delivered(&leases[0]));
    let reply =
        scene.call(AbandonRequest { caller: Some(daemon.next()), epoch: 0, ..AbandonRequest::default() }).unwrap();
    assert_eq!((reply.abandoned, reply.progress.unwrap().floor), (10, 1));
    assert_eq!(daemon.ack(&scene, scene.delivered(&leases[1])), Verdict::Lost);
    assert_eq!(daemon.ack(&scene, scene.delivered(&leases[2])), Verdict::Accepted, "epoch 1 goes on");
    let again =
        scene.call(AbandonRequest { caller: Some(daemon.next()), epoch: 0, ..AbandonRequest::default() }).unwrap();
    assert_eq!(again.abandoned, 0, "nothing is left of it");
    let early = AbandonRequest { caller: Some(daemon.next()), epoch: 2, ..AbandonRequest::default() };
    assert!(matches!(scene.call(early), Err(CallError::Invalid(_))));
    let rest = AbandonRequest { caller: Some(daemon.next()), epoch: 1, ..AbandonRequest::default() };
    assert_eq!(scene.call(rest).unwrap().abandoned, 10);
    assert_eq!(daemon.acquire(&scene, 1).answer(), Answer::DatasetDone);
    assert!(scene.audit_lines().iter().all(|line| line.ends_with("checksum equal")));
}

#[test]
fn rule_13_static_epochs_have_the_length_that_the_rotation_gives() {
    for (n, num_shards, epochs) in [(10, 3, 4), (2, 5, 12), (1, 1, 2)] {
        let mut seen = 0;
        for shard_id in 0..num_shards {
            let scene = Scene::new(static_spec(n, shard_id, num_shards, false), 2, epochs);
            let mut daemon = scene.daemon("node", 1);
            assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
            assert_eq!(daemon.acquire(&scene, 1).progress.unwrap().floor, epochs);
            for audit in scene.audit() {
                assert!(audit.to_string().ends_with("checksum equal"), "{audit}");
                seen += audit.sums.delivered.count;
            }
        }
        assert_eq!(seen, n * epochs, "all shards together read every record in every epoch");
    }
}

#[test]
fn rule_13_a_shard_without_any_record_is_refused_with_the_numbers() {
    let scene = Scene::new(spec(2), 2, 0);
    let request = OpenRequest { spec: Some(static_spec(2, 0, 5, true)), ..scene.open_request("node", 1) };
    let refused = scene.call(request).unwrap_err().to_string();
    assert!(refused.contains("Shard 0 of 5 has no record in any epoch: the dataset has 2 records"), "{refused}");
    // Rotating, it has its turns.
    Scene::new(static_spec(2, 0, 5, false), 2, 0).daemon("node", 1);
}

#[test]
fn six_billion_records_and_a_thousand_leases_are_a_small_ledger() {
    let scene = Scene::new(spec(6_000_000_000), 4096, 0);
    for worker in 0..100 {
        let mut daemon = scene.daemon(&format!("node-{worker}"), 1);
        for lease in daemon.acquire(&scene, 10).leases {
            daemon.ack(&scene, scene.receipt(&lease, 100, 200, forebay_proto::v1::ack_item::Kind::Delivered));
        }
    }
    let size: usize = scene.store.documents().iter().map(|(key, value)| key.len() + value.len()).sum();
    assert!(size < 300_000, "{size} bytes");
}
