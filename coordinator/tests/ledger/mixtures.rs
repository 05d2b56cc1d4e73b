//! Runs over several sources with shares of their own, and over a source that is repeated: each turn of a record is
//! accounted for by itself, and each source has a line in the audit.

use forebay_plan::{
    EpochWeights, MIXTURE_PERMUTATION, PERMUTATION, Plan, SourceAudit, Verdict as Judgement, shares, spec_hash,
};
use forebay_proto::RecordSum;
use forebay_proto::v1::{
    AbandonRequest, AuditRequest, Cause, LedgerSpec, RestoreRequest, SourceShare, Verdict, ack_item::Kind,
    acquire_reply::Answer,
};

use crate::scene::{GRACE, Scene, bare, spec, static_spec};

/// A plan over sources with so many records and positions.
pub(crate) fn mixed(spec: LedgerSpec, sources: &[(u64, u64)]) -> Plan {
    Plan::new(&of(spec, sources)).unwrap()
}

/// The spec over sources with so many records and positions.
pub(crate) fn of(spec: LedgerSpec, sources: &[(u64, u64)]) -> LedgerSpec {
    let is_plain = sources.iter().all(|(records, positions)| records == positions);
    let share = |(number, &(records, positions)): (u32, &(u64, u64))| {
        let name = format!("/data/{number}");
        SourceShare { records, positions, name }
    };
    LedgerSpec {
        sources: (0..).zip(sources).map(share).collect(),
        permutation: if is_plain { PERMUTATION } else { MIXTURE_PERMUTATION },
        ..spec
    }
}

/// Of each source, what it has, what was delivered and what was quarantined.
fn counts(sources: &[SourceAudit]) -> Vec<(u64, u64, u64)> {
    sources.iter().map(|source| (source.positions, source.delivered, source.quarantined)).collect()
}

#[test]
fn rule_57_each_turn_of_a_repeated_record_is_counted_over_restarts() {
    for spec in [spec(20), LedgerSpec { shuffle: false, ..spec(20) }, static_spec(20, 1, 3, false)] {
        let mut scene = Scene::of(mixed(spec, &[(20, 60)]), 7, 2);
        let mut daemon = scene.daemon("node", 1);
        daemon.lease(&scene);
        scene.restart();
        let mut daemon = scene.daemon("node", 2);
        scene.pass(GRACE);
        assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
        let audits = scene.audit();
        assert_eq!(audits.len(), 2);
        for audit in audits {
            assert_eq!(audit.verdict, Judgement::AddsUp, "{audit}");
            assert_eq!(audit.sums.delivered.count, if scene.spec.shard.is_none() { 60 } else { 20 });
        }
    }
}

#[test]
fn rule_57_one_turn_of_a_record_in_place_of_another_does_not_add_up() {
    let scene = Scene::of(mixed(spec(5), &[(5, 10)]), 10, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let mut item = scene.receipt(&lease, 0, 10, Kind::Delivered);
    // As a trainer would add it up that is told records, and not their repeats.
    let order = scene.plan.epoch(0);
    let sum: RecordSum = (0..10).map(|position| order.record(position)).collect();
    (item.sum_high, item.sum_low) = sum.halves();
    assert_eq!(daemon.ack(&scene, item), Verdict::Accepted);
    assert_eq!(scene.audit()[0].verdict, Judgement::DoesNotAddUp);
}

#[test]
fn rule_58_the_audit_has_a_line_for_each_source() {
    let mut scene = Scene::of(mixed(spec(30), &[(10, 21), (20, 9)]), 5, 1);
    let mut daemon = scene.daemon("node", 1);
    let order = scene.plan.epoch(0);
    let source_of = |position| usize::from(order.record(position) >= 10);
    let first = daemon.lease(&scene);
    let bad = source_of(first.start);
    assert_eq!(daemon.nack(&scene, &first, 0), Verdict::Accepted);
    assert_eq!(daemon.tell_seen(&scene, &first, 1, 5), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.receipt(&first, 1, 3, Kind::Dropped)), Verdict::Accepted);
    assert_eq!(daemon.give_back_seen(&scene, &first, 3, 5, Cause::TrainerEnded), Verdict::Accepted);
    scene.restart();
    let mut daemon = scene.daemon("node", 2);
    scene.pass(GRACE);
    assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
    let audit = &scene.audit()[0];
    assert_eq!(audit.verdict, Judgement::AddsUp, "{audit}");
    let names: Vec<_> = audit.sources.iter().map(|source| (source.name.as_str(), source.records)).collect();
    assert_eq!(names, [("/data/0", 10), ("/data/1", 20)]);
    for (number, source) in audit.sources.iter().enumerate() {
        let positions = [21, 9][number];
        assert_eq!((source.positions, source.accounted()), (positions, positions), "{source}");
        assert_eq!(source.quarantined, u64::from(bad == number));
        let dropped = (1..3).filter(|position| source_of(*position) == number).count() as u64;
        assert_eq!(source.dropped, dropped);
    }
    assert_eq!(audit.sources[0].repeats, 11, "21 turns of 10 records: each once, and 11 times more");
    assert_eq!(audit.sources[1].repeats, 0);
    let line = audit.sources[1].to_string();
    assert!(line.starts_with("/data/1: 20 records, 9 of 9 positions accounted for ("), "{line}");
    let seen: u64 = audit.sources.iter().map(|source| source.possibly_repeated).sum();
    assert!((4..=6).contains(&seen), "{:?}", audit.sources);
}

#[test]
fn rule_58_sources_one_behind_the_other_are_counted_without_another_order() {
    let plain = Scene::of(mixed(spec(30), &[(10, 10), (20, 20)]), 5, 1);
    let single = Plan::new(&spec(30)).unwrap();
    let order = |plan: &Plan| (0..30).map(|position| plan.record(0, position)).collect::<Vec<_>>();
    assert_eq!(order(&plain.plan), order(&single));
    let mut daemon = plain.daemon("node", 1);
    assert_eq!(plain.deliver_all(&mut daemon), Answer::DatasetDone);
    assert_eq!(counts(&plain.audit()[0].sources), [(10, 10, 0), (20, 20, 0)]);
}

#[test]
fn rule_57_a_state_is_taken_back_with_the_counts_of_its_sources_and_its_quarantine() {
    let scene = Scene::of(mixed(spec(4), &[(4, 12)]), 6, 1);
    let mut daemon = scene.daemon("node", 1);
    let first = daemon.lease(&scene);
    assert_eq!(daemon.nack(&scene, &first, 0), Verdict::Accepted);
    let snapshot = scene.snapshot(vec![scene.receipt(&first, 1, 4, Kind::Delivered)]);
    assert_eq!(snapshot.tallies[0].sources[0].delivered, 3);
    assert_eq!(scene.deliver_all(&mut daemon), Answer::EpochEnd);
    let request = RestoreRequest { caller: Some(daemon.next()), snapshot: Some(snapshot), ..RestoreRequest::default() };
    scene.call(request).unwrap();
    assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
    let audit = &scene.audit()[0];
    assert_eq!(audit.verdict, Judgement::AddsUp, "{audit}");
    assert_eq!(counts(&audit.sources), [(12, 11, 1)]);
}

#[test]
fn rule_13_and_58_the_last_position_of_a_shard_may_have_no_record_and_an_epoch_may_end_early() {
    let scene = Scene::of(mixed(static_spec(10, 0, 3, true), &[(4, 8), (6, 3)]), 4, 1);
    let mut daemon = scene.daemon("node", 1);
    // 11 positions over three shards: 3, 4 and 4.
    let lease = daemon.lease(&scene);
    assert_eq!((lease.end, scene.plan.epoch_records(0)), (4, 3));
    assert_eq!(daemon.ack(&scene, bare(&lease, 3, 4)), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, bare(&lease, 0, 1)), Verdict::Accepted);
    scene.call(AbandonRequest { caller: Some(daemon.next()), epoch: 0, ..AbandonRequest::default() }).unwrap();
    let audit = &scene.audit()[0];
    assert_eq!(audit.verdict, Judgement::AddsUp, "{audit}");
    let sum = |of: fn(&SourceAudit) -> u64| audit.sources.iter().map(of).sum::<u64>();
    assert_eq!((sum(|it| it.quarantined), sum(|it| it.abandoned), sum(|it| it.positions)), (1, 2, 3));
}

#[test]
fn rule_01_and_58_shares_are_part_of_the_spec_and_names_of_sources_are_not() {
    let scene = Scene::of(mixed(spec(30), &[(10, 21), (20, 9)]), 5, 1);
    scene.daemon("node", 1);
    let mut request = scene.open_request("other", 1);
    let asked = request.spec.get_or_insert_default();
    asked.sources[0].name = "/mnt/elsewhere".into();
    assert_eq!(spec_hash(asked), spec_hash(&scene.spec));
    scene.call(request.clone()).unwrap();
    let asked = request.spec.get_or_insert_default();
    (asked.sources[0].positions, asked.sources[1].positions) = (20, 10);
    assert_ne!(spec_hash(asked), spec_hash(&scene.spec));
    let refused = scene.call(request).unwrap_err().to_string();
    assert!(refused.contains("the positions of each source was 21 + 9 and is now 20 + 10"), "{refused}");
    let reply = scene.call(AuditRequest { ledger: "run/train/all".into(), from_epoch: 0 }).unwrap();
    assert_eq!(reply.spec.unwrap().sources[0].name, "/data/0");
}

#[test]
fn rule_58_a_spec_whose_sources_do_not_fit_is_refused() {
    let words = |spec: LedgerSpec| Plan::new(&spec).unwrap_err().to_string();
    assert!(words(of(spec(31), &[(10, 21), (20, 9)])).contains("do not fit its 31 records"));
    assert!(words(of(spec(30), &[(10, 21), (20, 0)])).contains("do not fit"));
    assert!(words(of(spec(1), &[(1, 1 << 15)])).contains("more than 32768 times"));
    assert!(
        words(LedgerSpec { permutation: PERMUTATION, ..of(spec(30), &[(10, 21), (20, 9)]) }).contains("do not fit")
    );
    assert!(words(LedgerSpec { permutation: MIXTURE_PERMUTATION, ..spec(30) }).contains("do not fit"));
    let large = of(spec(1 << 48), &[(1 << 48, 1 << 49)]);
    assert!(words(large).contains("weights or repeats has fewer than"));
    assert_eq!(
        shares(&[1, 1], Some(&EpochWeights::constant(vec![1.0])), 1).unwrap_err().to_string(),
        "There are 1 weights for 2 sources; give each source one."
    );
}
