//! Time in which the coordinator did not serve: a slow store, a stopped process, a suspended machine, an etcd
//! that cannot be asked.

use forebay_proto::v1::{Repeats, Verdict, acquire_reply::Answer};

use crate::scene::{Scene, TTL, span, spec};

#[test]
fn rule_4_time_in_which_the_coordinator_did_not_serve_does_not_count_against_workers() {
    let scene = Scene::new(spec(20), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, second) = (one.lease(&scene), two.lease(&scene));
    for _ in 0..3 {
        // A sync of the store that takes longer than a lease lasts, or a coordinator that was stopped.
        scene.stall(TTL + 4_000);
        assert_eq!(one.acquire(&scene, 1).answer(), Answer::EpochEnd, "two's lease is out");
        assert_eq!(two.acquire(&scene, 1).answer(), Answer::EpochEnd, "one's lease is out");
    }
    scene.pass(TTL / 2);
    two.heartbeat(&scene);
    scene.stall(TTL);
    scene.pass(TTL / 2);
    assert_eq!(span(&two.lease(&scene)), span(&first), "while it serves, a silent worker is missed");
    assert_eq!(two.ack(&scene, scene.delivered(&second)), Verdict::Accepted);
}

#[test]
fn rule_4_ten_hours_of_suspend_expire_no_lease_even_by_a_clock_that_counts_them() {
    const SUSPENDED: u64 = 10 * 3_600_000;
    let scene = Scene::new(spec(20), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, second) = (one.lease(&scene), two.lease(&scene));
    for _ in 0..2 {
        scene.stall(SUSPENDED);
        one.heartbeat(&scene);
        assert_eq!(two.acquire(&scene, 1).answer(), Answer::EpochEnd, "one's lease is out, and two's");
    }
    assert_eq!(one.ack(&scene, scene.delivered(&first)), Verdict::Accepted);
    assert_eq!(two.ack(&scene, scene.delivered(&second)), Verdict::Accepted);
    assert_eq!(one.acquire(&scene, 1).answer(), Answer::DatasetDone);
    assert_eq!(scene.audit()[0].repeats, Repeats::default(), "nothing was granted twice");
}

#[test]
fn rule_4_time_in_which_the_coordinator_was_not_sure_to_lead_does_not_count_against_workers() {
    let scene = Scene::new(spec(20), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, second) = (one.lease(&scene), two.lease(&scene));
    for _ in 0..2 {
        // It leads in the same term before and after. Meanwhile it refuses heartbeats as they come.
        scene.store.make_unsure(true);
        scene.pass(2 * TTL);
        scene.store.make_unsure(false);
        scene.pass(TTL / 4);
        assert_eq!(two.acquire(&scene, 1).answer(), Answer::EpochEnd, "one's lease is out, and two's");
    }
    assert_eq!(one.ack(&scene, scene.delivered(&first)), Verdict::Accepted);
    scene.pass(TTL / 2 + 1_000);
    assert_eq!(span(&one.lease(&scene)), span(&second), "while it serves, a silent worker is missed");
}
