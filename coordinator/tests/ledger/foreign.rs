//! States of another run of the same dataset, which the ranks of a lockstep run load. Whether such a state continues what was
//! counted is decided once for all ranks, so that the sums of the run have all of it or nothing (semantics rule 40).

use forebay_plan::{RunAudit, Verdict as Judgement};
use forebay_proto::v1::Snapshot;

use crate::lockstep::{GLOBAL_BATCH, Job};
use crate::scene::Scene;
use crate::segments::{RECORDS, RUN, account, scene, segments};

/// A state of another run, before a step of an epoch.
fn state_of_another_run(scene: &Scene, epoch: u64, step: u64) -> Snapshot {
    let mut other = Job::start(scene, "another run", RECORDS, 1);
    for _ in 0..epoch * RECORDS.div_ceil(GLOBAL_BATCH) + step {
        other.step();
    }
    let state = other.state();
    assert_eq!((state.epoch, state.cursor), (epoch, step * GLOBAL_BATCH));
    state
}

fn check(account: &RunAudit) {
    let wrong: Vec<_> = account.epochs.iter().filter(|epoch| epoch.verdict == Judgement::DoesNotAddUp).collect();
    assert!(wrong.is_empty(), "{wrong:?} in {account:?}");
}

/// Some of the ranks read a batch. Then all ranks, or those of another number, load the state, each in its turn, and read to the
/// end. Gives the lines of the account.
fn load(
    scene: &Scene,
    state: &Snapshot,
    readers: &[usize],
    world_size: u32,
    order: &[usize],
) -> (Vec<String>, Vec<(u64, u64, u32)>) {
    let mut job = Job::start(scene, RUN, RECORDS, 4);
    for &reader in readers {
        job.ranks[reader].batch(scene, GLOBAL_BATCH / 4).unwrap();
    }
    if world_size != 4 {
        job = Job::start(scene, RUN, RECORDS, world_size);
    }
    for &rank in order {
        job.ranks[rank].leased.clear();
        job.ranks[rank].restore(scene, state).unwrap();
        check(&account(&job));
    }
    while job.step().is_some() {}
    let account = account(&job);
    check(&account);
    (account.epochs.iter().map(ToString::to_string).collect(), segments(&job))
}

const WHOLE: &str = "(300 delivered), checksum equal";

#[test]
fn rule_40_a_state_of_another_run_continues_the_account_of_all_ranks_if_one_has_read() {
    for (readers, delivered) in [(&[1][..], 16), (&[0, 2], 32)] {
        for (world_size, order) in [(4, &[0, 1, 2, 3][..]), (4, &[1, 3, 0, 2]), (2, &[0, 1])] {
            let scene = scene();
            let state = state_of_another_run(&scene, 0, 2);
            let (lines, segments) = load(&scene, &state, readers, world_size, order);
            // All that is not of receipts is named, also of ranks that have read nothing.
            let delivered = delivered + RECORDS - 2 * GLOBAL_BATCH;
            let by_state = RECORDS - delivered;
            let first =
                format!("({delivered} delivered, {by_state} delivered by the state that was loaded), checksum equal");
            assert!(lines[0].ends_with(&first), "{readers:?}, {order:?}: {lines:?}");
            assert!(lines[1..].iter().all(|line| line.ends_with(WHOLE)), "{lines:?}");
            let expected: &[(u64, u64, u32)] = if world_size == 4 { &[(0, 0, 4)] } else { &[(0, 0, 4), (0, 2, 2)] };
            assert_eq!(segments, expected);
        }
    }
}

#[test]
fn rule_40_the_account_of_a_run_that_has_read_nothing_begins_at_the_state() {
    for (world_size, order) in [(4, &[0, 1, 2, 3][..]), (4, &[2, 0, 3, 1]), (2, &[1, 0])] {
        let scene = scene();
        let state = state_of_another_run(&scene, 0, 2);
        let (lines, segments) = load(&scene, &state, &[], world_size, order);
        assert!(lines[0].contains("172 of 172 records accounted for (172 delivered), checksum equal"), "{lines:?}");
        assert!(lines[0].ends_with("from position 128 on, where a state was loaded"), "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.ends_with(WHOLE)), "{lines:?}");
        assert_eq!(segments, [(0, 2, world_size)]);
    }
}

#[test]
fn rule_40_a_state_further_ahead_than_receipts_are_late_begins_the_account_of_all_ranks() {
    for (world_size, order) in [(4, &[0, 1, 2, 3][..]), (4, &[3, 2, 1, 0]), (1, &[0])] {
        let scene = scene();
        let state = state_of_another_run(&scene, 2, 1);
        let (lines, segments) = load(&scene, &state, &[0, 1, 2], world_size, order);
        assert_eq!(lines.len(), 1, "of the epochs before, nothing is told: {lines:?}");
        assert!(lines[0].contains("236 of 236 records accounted for (236 delivered), checksum equal"), "{lines:?}");
        assert_eq!(segments, [(2, 1, world_size)]);
    }
}
