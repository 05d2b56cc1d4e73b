//! Runs whose order permutes grains: the ledger keeps the table, and everything else is as in other runs.

use std::sync::Arc;

use forebay_ledger_client::CallError;
use forebay_plan::{GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainTable, Plan, Verdict as Judgement};
use forebay_proto::v1::{
    GrainLengths, LedgerSpec, NewRunRequest, OpenRequest, RestoreRequest, Verdict, acquire_reply::Answer,
};
use prost::Message;

use crate::mixtures::of;
use crate::scene::{Scene, bare, spec, static_spec};

/// Grains of 1 to 7 records.
fn table(records: u64) -> Arc<GrainTable> {
    let starts: Vec<u64> = (0..records).filter(|record| record % 7 == 0 || record % 11 == 3).collect();
    Arc::new(GrainTable::new(&starts, records).unwrap())
}

/// A plan that permutes grains.
pub(crate) fn grained(spec: LedgerSpec, window: u32) -> Plan {
    let table = table(spec.records);
    let spec = LedgerSpec { permutation: GRAIN_PERMUTATION, grains: Some(table.order(window)), ..spec };
    Plan::with_grains(&spec, Some(table)).unwrap()
}

/// A plan over sources with so many records and positions, each permuted by grains of its own.
pub(crate) fn mixed_by_grains(spec: LedgerSpec, sources: &[(u64, u64)], window: u32) -> Plan {
    let mut starts: Vec<u64> = (0..spec.records).filter(|record| record % 5 == 0).collect();
    starts.extend(sources.iter().scan(0, |end, (records, _)| {
        *end += records;
        (*end < spec.records).then_some(*end)
    }));
    starts.sort_unstable();
    starts.dedup();
    let table = Arc::new(GrainTable::new(&starts, spec.records).unwrap());
    let spec = of(spec, sources);
    let spec = LedgerSpec { permutation: GRAIN_MIXTURE_PERMUTATION, grains: Some(table.order(window)), ..spec };
    Plan::with_grains(&spec, Some(table)).unwrap()
}

#[test]
fn rule_56_and_58_a_mixture_by_grains_adds_up_over_bad_records_restarts_and_states() {
    for spec in [spec(100), static_spec(100, 1, 3, false)] {
        let plan = mixed_by_grains(spec, &[(64, 130), (36, 41)], 3);
        let mut scene = Scene::of(plan.clone(), 10, 3);
        let mut daemon = scene.daemon("node", 1);
        let lease = daemon.lease(&scene);
        assert_eq!(daemon.ack(&scene, scene.receipts(&lease, 0, 4)[0]), Verdict::Accepted);
        let bad = match scene.spec.shard {
            Some(_) => daemon.ack(&scene, bare(&lease, 4, 5)),
            None => daemon.nack(&scene, &lease, 4),
        };
        assert_eq!(bad, Verdict::Accepted);
        assert_eq!(scene.quarantine()[0].record, plan.record(0, lease.start + 4));
        let snapshot = scene.snapshot(scene.receipts(&lease, 5, 7));
        assert_eq!(daemon.ack(&scene, scene.receipts(&lease, 5, 10)[0]), Verdict::Accepted);
        scene.restart();
        let adds_up = |scene: &Scene| {
            let audit = scene.audit();
            assert_eq!(audit.len(), 3);
            for epoch in &audit {
                assert_eq!(epoch.verdict, Judgement::AddsUp, "{epoch}");
            }
            if scene.spec.shard.is_none() {
                assert_eq!(audit[2].sources.iter().map(|it| it.delivered).collect::<Vec<_>>(), [130, 41]);
            }
            assert_eq!((audit[0].sums.quarantined.count, audit[1].sums.quarantined.count), (1, 0));
        };
        assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
        adds_up(&scene);
        // A run elsewhere goes on from the state, and has the same records.
        let other = Scene::of(plan, 64, 3);
        let mut daemon = other.daemon("other", 1);
        let snapshot = Some(snapshot);
        other.call(RestoreRequest { caller: Some(daemon.next()), snapshot, ..RestoreRequest::default() }).unwrap();
        assert_eq!(other.deliver_all(&mut daemon), Answer::DatasetDone);
        adds_up(&other);
    }
}

#[test]
fn rule_56_epochs_of_grains_add_up_over_bad_records_and_restarts() {
    for spec in [spec(100), static_spec(100, 1, 3, false)] {
        let mut scene = Scene::of(grained(spec, 3), 10, 3);
        let mut daemon = scene.daemon("node", 1);
        let lease = daemon.lease(&scene);
        if scene.spec.shard.is_none() {
            assert_eq!(daemon.nack(&scene, &lease, 4), Verdict::Accepted, "the ledger knows the record there");
            assert_eq!(daemon.ack(&scene, scene.receipts(&lease, 0, 4)[0]), Verdict::Accepted);
        } else {
            assert_eq!(daemon.ack(&scene, scene.receipts(&lease, 0, 4)[0]), Verdict::Accepted);
            assert_eq!(daemon.ack(&scene, bare(&lease, 4, 5)), Verdict::Accepted);
        }
        assert_eq!(scene.quarantine()[0].record, scene.plan.record(0, lease.start + 4));
        assert_eq!(daemon.ack(&scene, scene.receipts(&lease, 5, 10)[0]), Verdict::Accepted);
        scene.restart();
        assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
        let audit = scene.audit();
        assert_eq!(audit.len(), 3);
        assert!(audit.iter().all(|epoch| epoch.verdict == Judgement::AddsUp), "{audit:?}");
        assert_eq!((audit[0].sums.quarantined.count, audit[1].sums.quarantined.count), (1, 0));
    }
}

#[test]
fn rule_22_and_56_a_state_does_not_have_the_table_and_is_loaded_into_another_run() {
    let scene = Scene::of(grained(spec(10_000), 5), 10, 2);
    let mut daemon = scene.daemon("node", 1);
    let leases = daemon.acquire(&scene, 3).leases;
    assert_eq!(daemon.ack(&scene, scene.delivered(&leases[1])), Verdict::Accepted);
    let snapshot = scene.snapshot(vec![]);
    assert!(snapshot.encoded_len() < 500, "{} bytes", snapshot.encoded_len());
    let other = Scene::of(grained(spec(10_000), 5), 64, 1);
    let mut daemon = other.daemon("other", 1);
    let request =
        RestoreRequest { caller: Some(daemon.next()), snapshot: Some(snapshot.clone()), ..RestoreRequest::default() };
    other.call(request).unwrap();
    assert_eq!(other.deliver_all(&mut daemon), Answer::DatasetDone);
    assert_eq!(other.audit()[0].verdict, Judgement::AddsUp);
    let narrow = Scene::of(grained(spec(10_000), 4), 64, 1);
    let mut daemon = narrow.daemon("other", 1);
    match narrow.call(RestoreRequest {
        caller: Some(daemon.next()),
        snapshot: Some(snapshot),
        ..RestoreRequest::default()
    }) {
        Err(CallError::SpecMismatch(text)) => assert!(text.contains("shuffle_window was 5 and is now 4"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rule_1_and_56_a_run_keeps_its_grains_and_its_window() {
    let mut scene = Scene::of(grained(spec(500), 16), 32, 1);
    scene.open("node", 1);
    let kept: Vec<_> = scene.store.documents().into_iter().filter(|(key, _)| key.ends_with("/grains")).collect();
    assert_eq!(GrainLengths::decode(&*kept[0].1).unwrap(), table(500).lengths());
    let other_table = Arc::new(GrainTable::new(&[0, 250], 500).unwrap());
    let other_spec = LedgerSpec { grains: Some(other_table.order(16)), ..scene.spec.clone() };
    for (spec, table, words) in [
        (other_spec, Some(other_table), "the table of grains was"),
        (grained(spec(500), 8).spec().clone(), Some(table(500)), "shuffle_window was 16 and is now 8"),
        (spec(500), None, "shuffle was \"grains\" and is now true"),
    ] {
        let grains = table.map(|table| table.lengths());
        let request = OpenRequest { spec: Some(spec), grains, ..scene.open_request("node", 2) };
        match scene.call(request) {
            Err(CallError::SpecMismatch(text)) => assert!(text.contains(words), "{text}"),
            other => panic!("{other:?}"),
        }
    }
    // It needs no table again, and a run that is forgotten leaves none behind.
    scene.restart();
    assert!(scene.call(OpenRequest { grains: None, ..scene.open_request("node", 3) }).unwrap().resumed);
    scene.call(NewRunRequest { run: "run".to_owned(), stream: "train".to_owned() }).unwrap();
    assert_eq!(scene.store.documents(), []);
}

#[test]
fn rule_56_a_ledger_without_the_table_that_its_spec_is_about_is_neither_made_nor_read() {
    let scene = Scene::of(grained(spec(500), 16), 32, 1);
    let other = GrainTable::new(&[0, 250], 500).unwrap().lengths();
    let cases = [
        (None, "is missing"),
        (Some(other), "is not the one"),
        (Some(GrainLengths { lengths: vec![7, 0, u64::MAX] }), "more than 16777216 grains"),
        (Some(GrainLengths { lengths: vec![1] }), "is broken"),
    ];
    for (grains, words) in cases {
        match scene.call(OpenRequest { grains, ..scene.open_request("node", 1) }) {
            Err(CallError::Invalid(text)) => assert!(text.contains(words), "{text}"),
            other => panic!("{other:?}"),
        }
    }
    scene.open("node", 1);
    let documents = scene.store.documents();
    let without: Vec<_> = documents.iter().filter(|(key, _)| !key.ends_with("/grains")).cloned().collect();
    scene.store.set(&without);
    let refused = scene.try_restart().unwrap_err();
    assert!(refused.contains("\"run/train/all\" is damaged") && refused.contains("is missing"), "{refused}");
    let mut longer = documents;
    longer.iter_mut().find(|(key, _)| key.ends_with("/grains")).unwrap().1 =
        GrainLengths { lengths: vec![501] }.encode_to_vec();
    scene.store.set(&longer);
    assert!(scene.try_restart().unwrap_err().contains("is broken"));
}

#[test]
fn a_ledger_without_grains_has_no_document_of_them() {
    let scene = Scene::new(spec(500), 32, 1);
    scene.open("node", 1);
    assert!(scene.store.documents().iter().all(|(key, _)| !key.ends_with("/grains")));
    let mut documents = scene.store.documents();
    documents.push(("ledger/run/train/all/grains".to_owned(), table(500).lengths().encode_to_vec()));
    scene.store.set(&documents);
    assert!(scene.try_restart().unwrap_err().contains("a ledger has no document"));
}
