//! What a ledger of steps of classes refuses, and what it keeps.

use std::collections::BTreeSet;

use forebay_ledger::{Ledger, LedgerError};
use forebay_plan::Leftovers;
use forebay_proto::v1::{
    AckItem, BadRecord, ClassNumbers, Lease, LeasedRange, NackRequest, OpenReply, OpenRequest, QuarantinedRecord,
    Range, RestoreRequest, SettleRequest, TakeSnapshotRequest, Verdict, ack_item::Kind,
};
use prost::Message;

use crate::scene::{Case, Daemon, Scene, receipt, unseen};

const NAME: &str = "run/train/all";

/// Two classes: steps of 8 and of 4 places, of which the last ones have copies.
fn case() -> Case {
    let classes = (0..30).map(|record| u16::from(record % 3 == 0)).collect();
    Case { classes, places: vec![8, 4], leftovers: Leftovers::Repeat, repeats: None, shuffle: true }
}

fn scene() -> (Scene, Daemon, Lease) {
    let mut scene = Scene::new(case().plan().unwrap(), 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.acquire(&mut scene).leases[0];
    (scene, daemon, lease)
}

fn refused(result: Result<(Daemon, OpenReply), LedgerError>) -> String {
    result.map(|(_, reply)| reply).unwrap_err().to_string()
}

#[test]
fn rule_62_daemons_with_other_classes_steps_or_leftovers_are_refused_with_both_values() {
    let (mut scene, _, _) = scene();
    let (mut moved, mut classes) = (case(), case().classes);
    classes.swap(0, 1);
    moved.classes = classes;
    for (other, words) in [
        (moved, "the table of classes was"),
        (Case { places: vec![8, 8], ..case() }, "was 8, 4 and is now 8, 8"),
        (Case { leftovers: Leftovers::Neighbour, ..case() }, "leftovers was repeat and is now neighbour"),
    ] {
        let (spec, classes) = (Some(other.spec()), Some(other.table().numbers()));
        let request = OpenRequest { spec, classes, ..scene.open_request("other", 2) };
        let said = refused(scene.open(&request));
        assert!(said.contains(words), "{said}");
    }
    // The words for its rule are for people.
    let mut spec = case().spec();
    spec.classes.as_mut().unwrap().rule = "the same in other words".to_owned();
    let request = OpenRequest { spec: Some(spec), classes: None, ..scene.open_request("other", 2) };
    assert!(scene.open(&request).unwrap().1.resumed, "the ledger has the table");
}

#[test]
fn rule_62_leases_of_parts_of_steps_are_refused_when_the_run_is_made() {
    let mut scene = Scene::new(case().plan().unwrap(), 1);
    let request = OpenRequest { lease_size: 12, ..scene.open_request("node", 1) };
    let said = refused(scene.open(&request));
    assert!(said.contains("lease_size is 12") && said.contains("a multiple of 8"), "{said}");
}

#[test]
fn rule_62_a_ledger_without_its_table_is_neither_made_nor_read() {
    let mut scene = Scene::new(case().plan().unwrap(), 1);
    for (classes, words) in [
        (None, "is missing"),
        (Some(ClassNumbers::default()), "is broken"),
        (Some(ClassNumbers { classes: 2, numbers: vec![0; 30] }), "is not the one"),
    ] {
        let request = OpenRequest { classes, ..scene.open_request("node", 1) };
        let said = refused(scene.open(&request));
        assert!(said.contains(words), "{said}");
    }
    scene.daemon("node", 1);
    let kept = scene.documents["ledger/run/train/all/classes"].clone();
    assert_eq!(ClassNumbers::decode(&*kept).unwrap(), case().table().numbers());
    scene.restart();
    scene.documents.remove("ledger/run/train/all/classes");
    let said = scene.try_restart().unwrap_err().to_string();
    assert!(said.contains("is damaged") && said.contains("is missing"), "{said}");
}

#[test]
fn rule_62_a_receipt_whose_records_are_not_all_delivered_or_named_as_bad_is_refused() {
    let (mut scene, mut daemon, lease) = scene();
    let plan = scene.plan.clone();
    let positions = lease.start..lease.start + 8;
    let order = plan.epoch(0);
    let first = order.own(positions.start).unwrap().record();
    let (whole, _) = receipt(&plan, &lease, positions.clone(), |_| false);
    let (lacks, bad) = receipt(&plan, &lease, positions.clone(), |record| record == first);
    let (none, all) = receipt(&plan, &lease, positions, |_| true);
    let bare = AckItem { kind: Kind::Bare.into(), ..none };
    let elsewhere = BadRecord { position: 1, ..bad[0].clone() };
    let of_other = BadRecord { lease: lease.id + 1, ..bad[0].clone() };
    for (item, bad) in [
        (AckItem { count: whole.count + 1, ..whole }, vec![]),
        (AckItem { count: u64::MAX, ..whole }, bad.clone()),
        (lacks, vec![]),
        (lacks, vec![elsewhere]),
        (lacks, vec![of_other]),
        (whole, bad.clone()),
        (bare, vec![]),
        (bare, bad.clone()),
        (AckItem { kind: Kind::Dropped.into(), ..whole }, vec![]),
        (AckItem { range: Some(Range { start: 0, end: 1 << 40 }), ..whole }, vec![]),
    ] {
        assert_eq!(daemon.ack(&mut scene, item, bad.clone()), Verdict::Invalid, "{item:?} {bad:?}");
    }
    assert_eq!(scene.audit(NAME).len(), 0, "nothing was counted");
    assert_eq!(daemon.ack(&mut scene, bare, all.clone()), Verdict::Accepted, "a step without a good record");
    assert_eq!(scene.audit(NAME)[0].sums.quarantined.count, all.len() as u64);
}

#[test]
fn rule_62_a_trainer_that_outlived_its_daemon_names_places_and_the_plan_says_which_records_they_have() {
    let (mut scene, mut daemon, lease) = scene();
    let plan = scene.plan.clone();
    // A full step, and one with copies.
    let steps = (lease.start..lease.end).step_by(8).map(|start| start..start + 8);
    for positions in steps {
        let first = plan.epoch(0).own(positions.start).unwrap().record();
        let (lacks, bad) = receipt(&plan, &lease, positions.clone(), |record| record == first);
        let places = unseen(&plan, &lease, &lacks, &bad);
        let of_other: Vec<_> = places.iter().map(|place| LeasedRange { lease: lease.id + 1, ..*place }).collect();
        let range = Some(Range { start: lacks.range.unwrap().start, end: u64::MAX });
        let all = vec![LeasedRange { lease: lease.id, range }];
        let backwards = vec![LeasedRange { lease: lease.id, range: Some(Range { start: u64::MAX, end: 0 }) }];
        for bare in [vec![], of_other, all, backwards] {
            assert_eq!(daemon.ack_unnamed(&mut scene, lacks, bare.clone()), Verdict::Invalid, "{bare:?}");
        }
        assert_eq!(daemon.ack_unnamed(&mut scene, lacks, places), Verdict::Accepted);
    }
    let stored = scene.documents.iter().filter(|(key, _)| key.contains("/quarantine/"));
    let listed: Vec<_> = stored.map(|(_, value)| QuarantinedRecord::decode(&**value).unwrap()).collect();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|bad| bad.reason == "its batch was delivered without it"), "{listed:?}");
    let firsts: BTreeSet<_> = [0, 8].map(|place| plan.record(0, lease.start + place)).into();
    assert_eq!(listed.iter().map(|bad| bad.record).collect::<BTreeSet<_>>(), firsts);
}

#[test]
fn rule_62_bad_records_are_named_with_their_step_and_there_are_no_tails() {
    let (mut scene, mut daemon, lease) = scene();
    let record = scene.plan.record(0, lease.start);
    let bad = BadRecord { lease: lease.id, position: 0, record, ..BadRecord::default() };
    let request = NackRequest { caller: Some(daemon.next()), records: vec![bad] };
    let act = |ledger: &mut Ledger, worker: &str| Ok(ledger.nack(worker, &request.records));
    let reply = scene.ledgers.command(3, request.caller.as_ref(), scene.now, act).unwrap();
    assert_eq!(reply.verdicts().collect::<Vec<_>>(), [Verdict::Invalid]);
    let (lease, range) = (lease.id, Some(Range { start: 0, end: 8 }));
    let tail = vec![LeasedRange { lease, range }];
    let request = SettleRequest { caller: Some(daemon.next()), tail, ..SettleRequest::default() };
    let act = |ledger: &mut Ledger, worker: &str| ledger.settle_epoch(worker, &request);
    let said = scene.ledgers.command(10, request.caller.as_ref(), scene.now, act).unwrap_err().to_string();
    assert!(said.contains("have no tails"), "{said}");
}

#[test]
fn rule_62_a_state_of_other_classes_or_of_a_part_of_a_step_is_refused() {
    let (scene, _, _) = scene();
    let mut ledgers = scene.ledgers;
    let request = TakeSnapshotRequest { ledger: NAME.to_owned(), ..TakeSnapshotRequest::default() };
    let state = ledgers.take_snapshot(&request).unwrap().snapshot.unwrap();
    let mut other = Scene::new(Case { places: vec![8, 8], ..case() }.plan().unwrap(), 1);
    let mut same = Scene::new(case().plan().unwrap(), 1);
    let mut incarnation = 0;
    let mut load = |scene: &mut Scene, snapshot| {
        incarnation += 1;
        let mut daemon = scene.daemon("node", incarnation);
        let request =
            RestoreRequest { caller: Some(daemon.next()), snapshot: Some(snapshot), ..RestoreRequest::default() };
        scene.ledgers.restore(&request, scene.now).map(drop).map_err(|error| error.to_string())
    };
    let said = load(&mut other, state.clone()).unwrap_err();
    assert!(said.contains("was 8, 4 and is now 8, 8"), "{said}");
    let mut part = state.clone();
    part.cursor -= 1;
    part.open.clear();
    let said = load(&mut same, part).unwrap_err();
    assert!(said.contains("is outside of the dataset"), "{said}");
    let mut part = state.clone();
    part.open[0].end -= 1;
    assert!(load(&mut same, part).unwrap_err().contains("does not fit"));
    assert_eq!(load(&mut same, state), Ok(()));
}
