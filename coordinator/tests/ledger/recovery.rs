//! A store that is lost, and recovered from an older snapshot of it.

use forebay_coordinator::{RecoveredStore, StoreSnapshot};
use forebay_plan::{RecoveryAudit, Verdict as Judgement};
use forebay_proto::v1::{AuditRequest, Verdict, acquire_reply::Answer};

use crate::scene::{Scene, span, spec};

/// The store is lost, and made anew from this snapshot.
fn recover(scene: &mut Scene, documents: &[(String, Vec<u8>)], origin: &[u8]) {
    let snapshot = StoreSnapshot { taken: 1_795_426_201, documents: documents.to_vec() };
    let recovered = RecoveredStore::of(&snapshot, origin).unwrap();
    scene.store.set(&StoreSnapshot::now(recovered.documents).documents);
    scene.restart();
}

fn recoveries(scene: &Scene) -> Vec<RecoveryAudit> {
    let audit = scene.call(AuditRequest { ledger: "run/train/all".to_owned(), from_epoch: 0 }).unwrap();
    audit.recoveries.iter().map(RecoveryAudit::from).collect()
}

#[test]
fn rule_18_what_was_committed_after_the_snapshot_is_delivered_again_and_counted_once() {
    let mut scene = Scene::new(spec(60), 10, 2);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let kept = one.lease(&scene);
    one.ack(&scene, scene.delivered(&kept));
    let held = one.lease(&scene);
    let back = two.lease(&scene);
    two.give_back(&scene, &back, 4, 10);
    let snapshot = scene.store.documents();

    // All this is lost.
    let late = two.lease(&scene);
    assert_eq!(two.ack(&scene, scene.delivered(&late)), Verdict::Accepted);
    assert_eq!(one.ack(&scene, scene.delivered(&held)), Verdict::Accepted);
    recover(&mut scene, &snapshot, b"first");

    assert_eq!(
        two.ack(&scene, scene.receipt(&back, 0, 4, forebay_proto::v1::ack_item::Kind::Delivered)),
        Verdict::Lost
    );
    assert_eq!(one.ack(&scene, scene.delivered(&held)), Verdict::Lost, "it is unknown that it was delivered");
    let again = one.acquire(&scene, 4).leases;
    let spans: Vec<_> = again.iter().map(span).collect();
    assert!(spans.contains(&span(&held)), "what was out is granted first: {spans:?}");
    assert!(again.iter().all(|lease| ![kept.id, held.id, back.id, late.id].contains(&lease.id)), "no id comes twice");
    for lease in &again {
        assert_eq!(one.ack(&scene, scene.delivered(lease)), Verdict::Accepted);
    }
    assert_eq!(scene.deliver_all(&mut two), Answer::DatasetDone);
    let audit = scene.audit();
    assert!(audit.len() == 2 && audit.iter().all(|epoch| epoch.verdict == Judgement::AddsUp), "{audit:?}");
    let [recovery] = <[_; 1]>::try_from(recoveries(&scene)).unwrap();
    assert_eq!((recovery.generation, recovery.time().as_str()), (65_536, "2026-11-23 09:30:01 UTC"));
    assert_eq!(scene.snapshot(vec![]).generation, 65_536);
}

#[test]
fn rule_18_two_recoveries_from_one_snapshot_give_no_lease_id_twice() {
    let mut scene = Scene::new(spec(60), 10, 1);
    scene.daemon("one", 1);
    let snapshot = scene.store.documents();
    let mut ids = Vec::new();
    for origin in [b"first", b"other"] {
        recover(&mut scene, &snapshot, origin);
        let mut daemon = scene.daemon("one", 2);
        ids.extend(daemon.acquire(&scene, 6).leases.iter().map(|lease| lease.id));
        assert_eq!(recoveries(&scene).len(), 1, "the first one was lost as well");
    }
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (12, 12), "{ids:?}");
}

#[test]
fn a_ledger_that_is_recovered_again_and_again_names_the_last_sixteen_times() {
    let mut scene = Scene::new(spec(60), 10, 1);
    scene.daemon("one", 1);
    for number in 0..20_u8 {
        let documents = scene.store.documents();
        recover(&mut scene, &documents, &[number]);
    }
    let generations: Vec<u64> = recoveries(&scene).iter().map(|recovery| recovery.generation).collect();
    assert_eq!(generations, (5..=20).map(|number| number << 16).collect::<Vec<_>>());
}

#[test]
fn documents_that_are_no_ledgers_are_not_recovered() {
    let snapshot = StoreSnapshot { taken: 0, documents: vec![("ledger/run/train/all/head".to_owned(), vec![1])] };
    let refused = RecoveredStore::of(&snapshot, b"x").unwrap_err().to_string();
    assert!(refused.contains("\"run/train/all\" is damaged"), "{refused}");
}
