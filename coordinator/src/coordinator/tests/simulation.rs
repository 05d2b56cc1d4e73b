//! Clusters that run on one thread with a seed for all chances: daemons and two coordinators on one store, messages that are
//! lost, late or doubled, processes that are killed, stopped or started twice, and commits with unknown outcomes.
//!
//! The coordinators are the real ones, turn by turn. Each history is held against the invariants of every run, and each fault
//! of `faults.rs` must break one.

mod daemon;
mod faults;
mod network;
mod observer;
mod server;
mod setting;
mod stored;
mod trainer;
mod wire;
mod world;

use faults::Fault;
use setting::{Setting, Tale};
use world::World;

use crate::suite::{Invariant, Violation};

/// A cluster in a storm.
const STORM: Setting = Setting {
    records: 300,
    epochs: 3,
    workers: 4,
    lease_size: 8,
    portion: 3,
    storm: 40_000,
    calm: 300_000,
    only_kills: false,
    killers: 0,
    is_late: false,
    is_upgraded: false,
};
/// Two slow daemons with large leases, which die with them again and again.
const DEADLY: Setting =
    Setting { records: 120, epochs: 2, workers: 2, lease_size: 24, portion: 1, storm: 60_000, ..STORM };
/// Many short epochs, at whose ends daemons ask in vain.
const WAITING: Setting = Setting { records: 24, epochs: 40, lease_size: 4, ..STORM };
/// One daemon that reads a large dataset, and nothing happens.
const LARGE: Setting =
    Setting { records: 65_537, epochs: 1, workers: 1, lease_size: 8192, portion: 8192, storm: 0, ..STORM };
/// Daemons that are killed again and again while their trainers live.
const KILLS: Setting = Setting { records: 120, epochs: 2, storm: 20_000, only_kills: true, ..STORM };

/// A cluster that is upgraded half-way in a storm, and then as a whole.
const UPGRADE: Setting = Setting { is_upgraded: true, ..STORM };
/// Records that end daemons, in a storm.
const POISON: Setting = Setting { records: 120, epochs: 2, killers: 3, ..STORM };
/// The same while nothing else happens but kills, and all daemons start again only after their leases have expired.
const LATE: Setting = Setting { killers: 3, is_late: true, ..KILLS };

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, which is no number")))
}

/// The one seed that is to be repeated, or as many as are wanted.
fn seeds() -> std::ops::Range<u64> {
    match number("FOREBAY_SIMULATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("FOREBAY_SIMULATION_SEEDS").unwrap_or(24),
    }
}

fn run(seed: u64, setting: Setting, fault: Fault) -> Result<Tale, Violation> {
    World::new(seed, setting, fault).run()
}

#[test]
fn rule_15_whatever_happens_to_a_cluster_each_record_is_delivered_and_counted_once() {
    let (mut sum, mut runs) = (Tale::default(), 0);
    for seed in seeds() {
        let tale = run(seed, STORM, Fault::None)
            .unwrap_or_else(|violation| panic!("{violation}\nTo repeat it: FOREBAY_SIMULATION_SEED={seed}"));
        println!("seed {seed}: {tale:?}");
        sum.repeated += tale.repeated;
        sum.fenced += tale.fenced;
        sum.elections += tale.elections;
        sum.failed_commits += tale.failed_commits;
        runs += 1;
    }
    // A storm in which nothing happens shows nothing.
    if runs >= 24 {
        assert!(sum.repeated > 0 && sum.fenced > 0 && sum.elections > 0 && sum.failed_commits > 0, "{sum:?}");
    }
}

#[test]
fn rule_15_if_all_trainers_outlive_their_daemons_the_audit_names_at_most_one_batch_of_each_beyond_what_was_repeated() {
    let mut killed = 0;
    for seed in seeds() {
        let tale = run(seed, KILLS, Fault::None)
            .unwrap_or_else(|violation| panic!("{violation}\nTo repeat it: FOREBAY_SIMULATION_SEED={seed}"));
        // Each death may have caught each of its two trainers with a batch.
        let most = tale.repeated + tale.killed * 2 * KILLS.portion;
        assert!(tale.named <= most, "seed {seed}: {tale:?}");
        killed += tale.killed;
    }
    assert!(killed > 0, "nothing has died");
}

#[test]
fn rule_9_whatever_happens_to_a_cluster_only_what_ends_processes_is_in_quarantine_and_all_else_is_delivered() {
    for setting in [POISON, LATE] {
        let mut ended = 0;
        for seed in seeds() {
            let tale = run(seed, setting, Fault::None)
                .unwrap_or_else(|violation| panic!("{violation}\nTo repeat it: FOREBAY_SIMULATION_SEED={seed}"));
            println!("seed {seed}: {tale:?}");
            // The ledger knows of no death before the next daemon has come. One that was replaced, and does not know that yet, may
            // still make what another one has by then. And positions of the second epoch may be leased before a record of theirs
            // is found bad in the first.
            let most = (setting.workers as u64 + 2) * setting.killers + tale.fenced;
            assert!(!setting.only_kills || tale.ended <= most, "seed {seed}: {tale:?}");
            ended += tale.ended;
        }
        assert!(ended > 0, "no record has ended a daemon");
    }
}

#[test]
fn rule_18_whatever_happens_to_a_cluster_that_is_upgraded_half_way_the_build_before_may_lead_and_nothing_is_lost() {
    let mut elections = 0;
    for seed in seeds() {
        let tale = run(seed, UPGRADE, Fault::None)
            .unwrap_or_else(|violation| panic!("{violation}\nTo repeat it: FOREBAY_SIMULATION_SEED={seed}"));
        elections += tale.elections;
    }
    assert!(elections > 0, "one build leads all the time");
}

#[test]
fn a_version_that_a_replica_does_not_read_is_found() {
    assert_eq!(broken_by(Fault::WritesNewestVersion, UPGRADE), Invariant::Durable);
}

#[test]
fn a_seed_is_one_history() {
    let first = run(5, STORM, Fault::None);
    assert_eq!(first, run(5, STORM, Fault::None));
    assert_ne!(first, run(6, STORM, Fault::None));
}

/// The invariant that the first history with a fault breaks that breaks any. Without the fault, it breaks none.
fn broken_by(fault: Fault, setting: Setting) -> Invariant {
    let mut seeds = 0..40;
    let violation = seeds.find_map(|seed| run(seed, setting, fault).err().map(|violation| (seed, violation)));
    let (seed, violation) = violation.unwrap_or_else(|| panic!("no checker finds {fault:?}"));
    println!("{fault:?}, seed {seed}: {violation}");
    assert_eq!(run(seed, setting, Fault::None).err(), None);
    violation.invariant
}

#[test]
fn a_lease_id_that_is_used_again_is_found() {
    assert_eq!(broken_by(Fault::ReusedLeaseId, STORM), Invariant::Exclusive);
}

#[test]
fn a_reply_before_the_commit_is_found() {
    assert_eq!(broken_by(Fault::ReplyBeforeCommit, STORM), Invariant::Durable);
}

#[test]
fn a_range_that_is_dropped_after_three_failures_is_found() {
    assert_eq!(broken_by(Fault::DropAfterThreeFailures, DEADLY), Invariant::NothingLost);
}

#[test]
fn an_acquire_that_is_granted_twice_is_found() {
    assert_eq!(broken_by(Fault::UnnumberedAcquire, STORM), Invariant::Ends);
}

#[test]
fn a_delayed_copy_of_an_acquire_that_is_applied_is_found() {
    assert_eq!(broken_by(Fault::DelayedCopyApplied, WAITING), Invariant::Ends);
}

#[test]
fn an_order_from_blocks_that_are_too_short_is_found() {
    assert_eq!(run(0, LARGE, Fault::None).map(|tale| tale.repeated), Ok(0));
    let violation = run(0, LARGE, Fault::NarrowBlocks).unwrap_err();
    assert_eq!(violation.invariant, Invariant::NothingLost, "{violation}");
}

#[test]
fn deaths_that_are_forgotten_when_leases_expire_are_found() {
    // Once two deaths are known by chance, its record is bad in all later epochs: many records make that unlikely.
    assert_eq!(broken_by(Fault::ForgetsExpired, Setting { killers: 12, epochs: 1, ..LATE }), Invariant::Ends);
}
