//! Epochs that end early with more records than a ledger adds up at once: the audit adds them up (semantics rules 10 and 24).

use forebay_plan::{Plan, Verdict as Judgement};
use forebay_proto::v1::{
    AbandonRequest, AckRequest, AuditRequest, Lease, RestoreRequest, Snapshot, SourceTally, UnsummedRange, Verdict,
    acquire_reply::Answer,
};

use crate::grains::{grained, mixed_by_grains};
use crate::lockstep::{GLOBAL_BATCH, Job};
use crate::mixtures::of;
use crate::scene::{Daemon, Scene, spec, static_spec};
use crate::segments::{RUN, lines};

/// More than a ledger adds up at once.
const RECORDS: u64 = 3 << 16;

fn abandon(scene: &Scene, daemon: &mut Daemon, epoch: u64) -> u64 {
    scene.call(AbandonRequest { caller: Some(daemon.next()), epoch, ..AbandonRequest::default() }).unwrap().abandoned
}

/// What a ledger has left to the audit of its first epoch: how many ranges.
fn unsummed(scene: &Scene, ledger: &str) -> usize {
    let request = AuditRequest { ledger: ledger.to_owned(), from_epoch: 0 };
    scene.call(request).unwrap().epochs[0].unsummed.len()
}

#[test]
fn rule_10_an_epoch_of_a_trillion_records_ends_at_once() {
    const TRILLION: u64 = 1 << 40;
    let scene = Scene::new(spec(TRILLION), 1024, 2);
    let mut daemon = scene.daemon("node", 1);
    let first = daemon.lease(&scene);
    daemon.ack(&scene, scene.delivered(&first));
    daemon.lease(&scene);
    // To add these up would take days.
    assert_eq!(abandon(&scene, &mut daemon, 0), TRILLION - 1024);
    assert_eq!(daemon.lease(&scene).epoch, 1);
    // What was leased and what was not follow each other.
    assert_eq!(unsummed(&scene, "run/train/all"), 1);
}

#[test]
fn rule_10_after_the_last_epoch_there_is_nothing_to_end() {
    let scene = Scene::new(spec(4), 4, 2);
    let mut daemon = scene.daemon("node", 1);
    for _ in 0..2 {
        let lease = daemon.lease(&scene);
        daemon.ack(&scene, scene.delivered(&lease));
    }
    let before = scene.audit_lines();
    assert_eq!(abandon(&scene, &mut daemon, 2), 0);
    assert_eq!(scene.audit_lines(), before);
    let beyond = AbandonRequest { caller: Some(daemon.next()), epoch: 3, ..AbandonRequest::default() };
    scene.call(beyond).unwrap_err();
}

#[test]
fn rule_24_many_abandoned_records_are_added_up_by_the_audit_in_any_order_and_from_any_source() {
    let sources = [(100_000, 100_000), (RECORDS - 100_000, RECORDS - 100_000)];
    let drawn = [(5_000, 90_000), (RECORDS - 5_000, 120_000)];
    let plans = [
        Plan::new(&spec(RECORDS)).unwrap(),
        Plan::new(&of(spec(RECORDS), &sources)).unwrap(),
        Plan::new(&of(spec(RECORDS), &drawn)).unwrap(),
        // One position of this shard has no record.
        Plan::new(&static_spec(2 * RECORDS - 1, 0, 2, true)).unwrap(),
        grained(spec(RECORDS), 3),
        mixed_by_grains(spec(RECORDS), &drawn, 2),
    ];
    for plan in plans {
        let mut scene = Scene::of(plan, 1000, 2);
        let mut daemon = scene.daemon("node", 1);
        let leases = daemon.acquire(&scene, 3).leases;
        for item in scene.receipts(&leases[0], 0, 1000) {
            assert_eq!(daemon.ack(&scene, item), Verdict::Accepted);
        }
        daemon.give_back(&scene, &leases[1], 300, 700);
        let records = scene.plan.epoch_records(0);
        assert_eq!(abandon(&scene, &mut daemon, 0), records - 1000);
        assert_eq!(abandon(&scene, &mut daemon, 0), 0, "nothing is left of it");
        scene.restart();
        let audit = &scene.audit()[0];
        assert_eq!((audit.verdict, audit.sums.abandoned.count), (Judgement::AddsUp, records - 1000), "{audit}");
        let abandoned: u64 = audit.sources.iter().map(|source| source.abandoned).sum();
        assert!(audit.sources.is_empty() || abandoned == records - 1000, "{:?}", audit.sources);
    }
}

#[test]
fn rule_24_a_record_too_much_among_many_abandoned_ones_does_not_add_up() {
    let scene = Scene::new(spec(RECORDS), 64, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    // The receipt is about other records than the lease.
    let others = scene.delivered(&Lease { start: lease.start + 64, end: lease.end + 64, ..lease });
    let request = AckRequest { caller: Some(daemon.next()), items: vec![others], ..AckRequest::default() };
    assert_eq!(scene.call(request).unwrap().verdicts().next(), Some(Verdict::Accepted));
    abandon(&scene, &mut daemon, 0);
    assert_eq!(scene.audit()[0].verdict, Judgement::DoesNotAddUp);
}

#[test]
fn rule_22_a_state_after_a_large_reset_says_what_was_abandoned() {
    let scene = Scene::new(of(spec(RECORDS), &[(RECORDS, RECORDS)]), RECORDS / 2, 2);
    let mut daemon = scene.daemon("node", 1);
    let leases = daemon.acquire(&scene, 3).leases;
    daemon.ack(&scene, scene.delivered(&leases[0]));
    // The second epoch ends before the first one, of which the second lease is still out.
    assert_eq!(abandon(&scene, &mut daemon, 1), RECORDS);
    let state = scene.snapshot(Vec::new());
    assert_eq!(state.tallies.iter().map(|tally| tally.unsummed.len()).collect::<Vec<_>>(), [0, 1]);
    let restore = |state: Snapshot| {
        let scene = Scene::new(scene.spec.clone(), RECORDS / 2, 2);
        let mut daemon = scene.daemon("other", 1);
        let request =
            RestoreRequest { caller: Some(daemon.next()), snapshot: Some(state), ..RestoreRequest::default() };
        scene.call(request).unwrap();
        assert_eq!(scene.deliver_all(&mut daemon), Answer::DatasetDone);
        scene
    };
    let other = restore(state.clone());
    let told = other.audit_lines();
    assert!(told[0].contains(&format!("({RECORDS} delivered), checksum equal")), "{told:?}");
    assert!(told[1].contains(&format!("(0 delivered, {RECORDS} abandoned), checksum equal")), "{told:?}");
    // Ranges that no ledger of this kind leaves are not taken in.
    let mut forged = state;
    let real = forged.tallies[1].unsummed[0];
    forged.tallies[1].unsummed.extend([
        UnsummedRange { end: RECORDS + 1, ..real },
        UnsummedRange { start: real.end, ..real },
        UnsummedRange { world_size: 2, ..real },
        UnsummedRange { abandoned: false, ..real },
    ]);
    assert_eq!(restore(forged).audit_lines(), told);
}

#[test]
fn rule_40_a_receipt_on_its_way_counts_also_when_another_rank_ends_many_records() {
    let scene = Scene::new(spec(RECORDS), 64, 2);
    let mut job = Job::start(&scene, RUN, RECORDS, 2);
    job.step();
    // A state leaves a mark in the middle of the epoch.
    job.state();
    job.step();
    let (_, _, receipt) = job.ranks[1].take(&scene, GLOBAL_BATCH / 2).unwrap();
    let caller = Some(job.ranks[0].next());
    let ended = scene.call(AbandonRequest { caller, epoch: 0, ..AbandonRequest::default() }).unwrap();
    assert_eq!(ended.abandoned, RECORDS / 2 - GLOBAL_BATCH);
    let ledger = job.ranks[1].caller.ledger.clone();
    assert_eq!(unsummed(&scene, &ledger), 1);
    let counted = |ledger: &str| scene.audit_of(ledger)[0].to_string();
    let told = |delivered: u64| {
        let (all, abandoned) = (RECORDS / 2, RECORDS / 2 - delivered);
        format!(
            "epoch 0: {all} of {all} records accounted for ({delivered} delivered, {abandoned} abandoned), checksum equal"
        )
    };
    assert_eq!(counted(&ledger), told(GLOBAL_BATCH));
    job.ranks[1].acknowledge(&scene, receipt);
    assert_eq!(counted(&ledger), told(GLOBAL_BATCH * 3 / 2));
    for rank in &mut job.ranks {
        rank.leased.clear();
    }
    assert_eq!(job.step().unwrap().0, 1);
    let (delivered, abandoned) = (GLOBAL_BATCH * 5 / 2, RECORDS - GLOBAL_BATCH * 5 / 2);
    let whole = format!("({delivered} delivered, {abandoned} abandoned), checksum equal");
    assert!(lines(&job)[0].contains(&whole), "{:?}", lines(&job));
}

#[test]
fn the_sources_of_abandoned_records_are_left_to_the_audit_as_well() {
    let scene = Scene::new(of(spec(RECORDS), &[(RECORDS - 7, RECORDS - 7), (7, 7)]), 64, 1);
    let mut daemon = scene.daemon("node", 1);
    daemon.lease(&scene);
    abandon(&scene, &mut daemon, 0);
    let request = AuditRequest { ledger: "run/train/all".to_owned(), from_epoch: 0 };
    let stored = scene.call(request).unwrap().epochs[0].sources.clone();
    assert!(stored.iter().all(|source| *source == SourceTally::default()), "{stored:?}");
    let sources = &scene.audit()[0].sources;
    assert_eq!([sources[0].abandoned, sources[1].abandoned], [RECORDS - 7, 7]);
}
