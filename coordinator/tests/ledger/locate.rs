//! Where a record is, as the ledger knows it.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{LocateRequest, RecordPlace, record_place::State};

use crate::scene::{Scene, spec, static_spec};

fn locate(scene: &Scene, ledger: &str, record: u64) -> Vec<RecordPlace> {
    scene.call(LocateRequest { ledger: format!("run/train/{ledger}"), record }).unwrap().places
}

#[test]
fn a_record_is_followed_from_its_lease_to_the_next_epoch() {
    let scene = Scene::new(spec(20), 10, 2);
    let mut daemon = scene.daemon("node", 1);
    let record = scene.plan.record(0, 3);
    let state = |state: State| {
        let places = locate(&scene, "all", record);
        assert_eq!((places[0].epoch, places[0].position, places[0].state()), (0, 3, state), "{places:?}");
        places
    };
    assert_eq!(state(State::Waiting).len(), 1, "the next epoch has not begun");
    let first = daemon.lease(&scene);
    let place = &state(State::Leased)[0];
    assert_eq!((place.lease, &*place.worker), (first.id, "node"));
    daemon.give_back(&scene, &first, 0, 10);
    state(State::Returned);
    let again = daemon.lease(&scene);
    assert_eq!(daemon.nack(&scene, &again, 3), forebay_proto::v1::Verdict::Accepted);
    assert_eq!(state(State::Bad)[0].reason, "no end marker");
    let other = scene.plan.record(0, 4);
    let receipt = scene.receipt(&again, 4, 10, forebay_proto::v1::ack_item::Kind::Delivered);
    daemon.ack(&scene, receipt);
    assert_eq!(locate(&scene, "all", other)[0].state(), State::Delivered);
    // All of the epoch is leased: what is leased next is of the next one.
    daemon.lease(&scene);
    daemon.lease(&scene);
    let places = locate(&scene, "all", other);
    assert_eq!(places.iter().map(|place| place.epoch).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(places[1].position, scene.plan.positions_of(1, other)[0]);
    let request = LocateRequest { ledger: "run/train/all".to_owned(), record: 20 };
    assert!(matches!(scene.call(request), Err(CallError::Invalid(_))));
}

#[test]
fn rule_13_a_shard_has_only_its_own_records_and_a_run_that_is_done_those_of_its_last_epoch() {
    let scene = Scene::new(static_spec(20, 1, 2, false), 10, 2);
    let mut daemon = scene.daemon("node", 1);
    let own = |epoch| scene.plan.record(epoch, 0);
    let of = |record| locate(&scene, "shard-1", record).iter().map(|p| (p.epoch, p.state())).collect::<Vec<_>>();
    let foreign = (0..20).find(|record| scene.plan.positions_of(0, *record).is_empty()).unwrap();
    assert_eq!((of(own(0)), of(foreign)), (vec![(0, State::Waiting)], vec![]));
    scene.deliver_all(&mut daemon);
    assert_eq!(of(own(1)), [(1, State::Delivered)]);
}
