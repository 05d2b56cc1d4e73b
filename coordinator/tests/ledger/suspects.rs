//! Deaths in a row make suspects, and no number of them puts a record in quarantine (semantics rule 9).

use std::collections::BTreeSet;

use forebay_plan::Verdict as Judgement;
use forebay_proto::v1::{
    AckItem, AttendRequest, Cause, Lease, Range, RestoreRequest, Verdict, ack_item::Kind, acquire_reply::Answer,
    attend_request::Attendance,
};
use proptest::prelude::*;

use crate::scene::{Daemon, GRACE, Scene, TTL, spec, static_spec};

/// The next incarnation, once what the former one had may be granted.
fn reborn(scene: &Scene, worker: &str, incarnation: u64) -> Daemon {
    let daemon = scene.daemon(worker, incarnation);
    scene.pass(GRACE);
    daemon
}

fn all(daemon: &mut Daemon, scene: &Scene) -> Vec<Lease> {
    daemon.acquire(scene, 64).leases
}

#[test]
fn rule_9_no_number_of_deaths_quarantines_a_record_or_splits_a_lease() {
    for spec in [spec(37), static_spec(74, 1, 2, false)] {
        let mut scene = Scene::new(spec, 5, 1);
        for incarnation in 1..=20 {
            let leases = all(&mut reborn(&scene, "node", incarnation), &scene);
            let sizes: Vec<u64> = leases.iter().map(|lease| lease.end - lease.start).collect();
            assert_eq!(sizes, [5, 5, 5, 5, 5, 5, 5, 2], "incarnation {incarnation}");
            assert!(leases.iter().all(|lease| u64::from(lease.deaths) == incarnation - 1), "{leases:?}");
            assert!(leases.iter().all(|lease| lease.suspect == (incarnation > 2)), "{leases:?}");
            assert_eq!(scene.quarantine(), []);
            scene.restart();
        }
        let mut last = reborn(&scene, "node", 21);
        assert_eq!(scene.deliver_all(&mut last), Answer::DatasetDone);
        assert_eq!(scene.audit()[0].sums.delivered.count, 37);
    }
}

#[test]
fn rule_9_deaths_count_on_whatever_node_and_expired_leases_do_not() {
    let scene = Scene::new(spec(8), 8, 1);
    let lease = scene.daemon("a", 1).lease(&scene);
    assert_eq!((lease.deaths, lease.suspect), (0, false));
    for round in 0..9 {
        // Cut off: nothing says that it died.
        scene.pass(TTL);
        let lease = scene.daemon(&format!("cut off {round}"), 1).lease(&scene);
        assert_eq!((lease.deaths, lease.suspect), (0, false), "round {round}");
    }
    scene.pass(TTL);
    let mut first = scene.daemon("b", 1);
    first.lease(&scene);
    reborn(&scene, "b", 2);
    let lease = scene.daemon("c", 1).lease(&scene);
    assert_eq!((lease.deaths, lease.suspect), (1, false));
    reborn(&scene, "c", 2);
    let mut other = scene.daemon("d", 1);
    let lease = other.lease(&scene);
    assert_eq!((lease.deaths, lease.suspect), (2, true));
    assert_eq!(other.ack(&scene, scene.delivered(&lease)), Verdict::Accepted);
    assert_eq!(other.acquire(&scene, 1).answer(), Answer::DatasetDone);
}

#[test]
fn rule_9_a_daemon_that_starts_again_after_its_leases_have_expired_had_died_with_them() {
    let mut scene = Scene::new(spec(8), 4, 1);
    for incarnation in 1..=3 {
        let leases = all(&mut reborn(&scene, "node", incarnation), &scene);
        assert!(leases.iter().all(|lease| u64::from(lease.deaths) == incarnation - 1), "{leases:?}");
        assert!(leases.iter().all(|lease| lease.suspect == (incarnation == 3)), "{leases:?}");
        scene.pass(TTL);
        scene.restart();
    }
    // It is heard again, so it was only cut off.
    let scene = Scene::new(spec(8), 4, 1);
    let mut alive = scene.daemon("node", 1);
    all(&mut alive, &scene);
    scene.pass(TTL);
    alive.heartbeat(&scene);
    let leases = all(&mut reborn(&scene, "node", 2), &scene);
    assert!(leases.iter().all(|lease| lease.deaths == 0), "{leases:?}");
    // What was loaded since then has nothing to do with it.
    scene.pass(TTL);
    let mut other = scene.daemon("other", 1);
    let (caller, snapshot) = (Some(other.next()), Some(scene.snapshot(Vec::new())));
    scene.call(RestoreRequest { caller, snapshot, ..RestoreRequest::default() }).unwrap();
    let leases = all(&mut reborn(&scene, "node", 3), &scene);
    assert!(leases.iter().all(|lease| lease.deaths == 0), "{leases:?}");
}

#[test]
fn rule_9_a_late_death_is_counted_for_what_others_have_by_then_and_not_for_what_is_complete() {
    let mut scene = Scene::new(spec(8), 4, 1);
    all(&mut scene.daemon("a", 1), &scene);
    scene.pass(TTL);
    let mut other = scene.daemon("b", 1);
    let leases = all(&mut other, &scene);
    assert_eq!(
        leases.iter().map(|lease| (lease.start, lease.end, lease.deaths)).collect::<Vec<_>>(),
        [(0, 4, 0), (4, 8, 0)]
    );
    assert_eq!(other.ack(&scene, scene.delivered(&leases[0])), Verdict::Accepted);
    assert_eq!(other.give_back(&scene, &leases[1], 2, 4), Verdict::Accepted);
    scene.restart();
    reborn(&scene, "a", 2);
    let leases = all(&mut reborn(&scene, "b", 2), &scene);
    let mut parts: Vec<_> = leases.iter().map(|lease| (lease.start, lease.end, lease.deaths, lease.suspect)).collect();
    parts.sort_unstable();
    assert_eq!(parts, [(4, 6, 2, true), (6, 8, 1, false)], "both have died with the first two of these");
}

#[test]
fn rule_9_a_stop_in_order_is_no_death() {
    let scene = Scene::new(spec(8), 8, 1);
    for incarnation in 1..=6 {
        let mut daemon = reborn(&scene, "node", incarnation);
        let lease = daemon.lease(&scene);
        assert_eq!((lease.deaths, lease.suspect), (0, false), "incarnation {incarnation}");
        assert_eq!(daemon.give_back_seen(&scene, &lease, 0, 8, Cause::DaemonStopped), Verdict::Accepted);
    }
}

#[test]
fn rule_9_a_daemon_that_says_that_it_ends_itself_has_died_of_no_record() {
    let mut scene = Scene::new(spec(8), 8, 1);
    for incarnation in 1..=6 {
        let mut daemon = reborn(&scene, "node", incarnation);
        let lease = daemon.lease(&scene);
        assert_eq!((lease.deaths, lease.suspect), (0, false), "incarnation {incarnation}");
        let attendance = Attendance::Ending.into();
        scene.call(AttendRequest { caller: Some(daemon.next()), attendance, ..AttendRequest::default() }).unwrap();
        scene.restart();
    }
}

#[test]
fn rule_9_only_what_was_in_no_finished_batch_counts_a_death() {
    let mut scene = Scene::new(spec(12), 12, 1);
    reborn(&scene, "node", 1).lease(&scene);
    let mut second = reborn(&scene, "node", 2);
    let lease = second.lease(&scene);
    assert_eq!(lease.deaths, 1);
    for range in [(2, 5), (4, 7), (9, 10)] {
        let told = second.ack(&scene, scene.receipt(&lease, range.0, range.1, Kind::Finished));
        assert_eq!(told, Verdict::Accepted);
    }
    scene.restart();
    assert_eq!(second.ack(&scene, scene.receipt(&lease, 0, 1, Kind::Delivered)), Verdict::Accepted);
    assert_eq!(second.give_back(&scene, &lease, 11, 12), Verdict::Accepted);
    let mut third = reborn(&scene, "node", 3);
    let parts: Vec<_> =
        all(&mut third, &scene).iter().map(|lease| (lease.start, lease.end, lease.deaths, lease.suspect)).collect();
    // What was given back, nothing happened to.
    let expected =
        [(11, 12, 1, false), (1, 2, 2, true), (2, 7, 0, false), (7, 9, 2, true), (9, 10, 0, false), (10, 11, 2, true)];
    assert_eq!(parts, expected);
    assert_eq!(scene.quarantine(), []);
}

#[test]
fn rule_9_a_record_that_a_consumer_holds_is_not_suspect_at_any_number_of_deaths() {
    let scene = Scene::new(spec(1), 1, 1);
    let lease = scene.daemon("node", 1).lease(&scene);
    let mut daemon = scene.daemon("node", 2);
    for incarnation in 3..12 {
        assert_eq!(daemon.reclaim(&scene, &lease, 0, 1), Verdict::Accepted);
        daemon = scene.daemon("node", incarnation);
    }
    assert_eq!(daemon.resume(&scene, scene.delivered(&lease)), Verdict::Accepted);
    assert_eq!(
        scene.audit_lines(),
        ["epoch 0: 1 of 1 records accounted for (1 delivered), checksum equal"],
        "nor is it a repetition"
    );
}

#[test]
fn rule_9_a_record_in_a_finished_batch_is_not_suspect_though_nobody_has_it_yet() {
    let mut scene = Scene::new(spec(1), 1, 1);
    for incarnation in 1..12 {
        let mut daemon = scene.daemon("node", incarnation);
        scene.pass(GRACE);
        let lease = daemon.lease(&scene);
        assert!(lease.deaths < 2 && !lease.suspect, "at most the death before: {lease:?}");
        assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 0, 1, Kind::Finished)), Verdict::Accepted);
        scene.restart();
    }
    assert_eq!(scene.audit()[0].accounted().count, 0, "finished is not delivered, nor quarantined");
    let mut daemon = scene.daemon("node", 12);
    scene.pass(GRACE);
    let lease = daemon.lease(&scene);
    for wrong in [
        AckItem { range: Some(Range { start: u64::MAX, end: 0 }), ..scene.receipt(&lease, 0, 1, Kind::Finished) },
        AckItem { range: None, ..scene.receipt(&lease, 0, 1, Kind::Finished) },
    ] {
        assert_eq!(daemon.ack(&scene, wrong), Verdict::Invalid);
    }
    assert_eq!(daemon.ack(&scene, scene.delivered(&lease)), Verdict::Accepted);
    assert_eq!(daemon.ack(&scene, scene.receipt(&lease, 0, 1, Kind::Finished)), Verdict::Lost);
}

/// What happens next in a history, to one of the workers.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It leases, and makes so many records.
    Work(u64),
    /// It makes so many records, and no trainer takes them.
    Make(u64),
    Killed,
    /// It is killed, and starts again with its next step: its leases have expired by then.
    KilledForLong,
    CutOff,
    Stopped,
    CoordinatorRestarts,
}

/// Daemons whose records may end them, as far as the ledger knows them.
struct History {
    scene: Scene,
    killers: BTreeSet<u64>,
    bad: BTreeSet<u64>,
    workers: Vec<(Daemon, Vec<(Lease, u64)>)>,
    ended_by_killers: usize,
    /// A daemon that a record ends starts again only after its leases have expired.
    is_late: bool,
    /// The workers that have not started again yet.
    down: BTreeSet<usize>,
}

impl History {
    fn new(killers: BTreeSet<u64>, bad: BTreeSet<u64>, is_late: bool) -> Self {
        let scene = Scene::new(spec(RECORDS), 7, 1);
        let workers = (0..WORKERS).map(|worker| (scene.daemon(&format!("w{worker}"), 1), Vec::new())).collect();
        Self { scene, killers, bad, workers, ended_by_killers: 0, is_late, down: BTreeSet::new() }
    }

    fn step(&mut self, worker: usize, step: Step) {
        self.starts(worker);
        match step {
            Step::Work(count) => self.work(worker, count, Kind::Delivered),
            Step::Make(count) => self.work(worker, count, Kind::Finished),
            Step::Killed => self.dies(worker),
            Step::KilledForLong => self.goes_down(worker),
            Step::CutOff => self.is_silent(worker),
            Step::Stopped => {
                let (daemon, leases) = &mut self.workers[worker];
                for (lease, made) in std::mem::take(leases) {
                    daemon.give_back(&self.scene, &lease, made, lease.end - lease.start);
                }
            }
            Step::CoordinatorRestarts => self.scene.restart(),
        }
    }

    /// Its leases expire.
    fn is_silent(&mut self, worker: usize) {
        self.workers[worker].1.clear();
        for _ in 0..2 {
            self.beat(|other| other != worker);
            self.scene.pass(TTL / 2);
        }
    }

    fn goes_down(&mut self, worker: usize) {
        self.down.insert(worker);
        self.is_silent(worker);
    }

    fn starts(&mut self, worker: usize) {
        if self.down.contains(&worker) {
            self.dies(worker);
        }
    }

    /// Those that live say that they do.
    fn beat(&self, is_meant: impl Fn(usize) -> bool) {
        let live = (0..WORKERS).filter(|worker| is_meant(*worker) && !self.down.contains(worker));
        live.for_each(|worker| drop(self.workers[worker].0.heartbeat(&self.scene)));
    }

    /// It is started again at once.
    fn dies(&mut self, worker: usize) {
        self.down.remove(&worker);
        let incarnation = self.workers[worker].0.caller.incarnation + 1;
        self.workers[worker] = (self.scene.daemon(&format!("w{worker}"), incarnation), Vec::new());
        self.scene.pass(GRACE);
        self.beat(|_| true);
    }

    /// What a receipt says of a record that was made, `kind` says; a record that ends its daemon ends it.
    fn work(&mut self, worker: usize, count: u64, kind: Kind) {
        let (daemon, leases) = &mut self.workers[worker];
        if leases.is_empty() {
            leases.extend(daemon.acquire(&self.scene, 2).leases.into_iter().map(|lease| (lease, 0)));
        }
        for _ in 0..count {
            let (daemon, leases) = &mut self.workers[worker];
            leases.retain(|(lease, made)| *made < lease.end - lease.start);
            let Some((lease, made)) = leases.first_mut() else { return };
            let record = self.scene.plan.record(lease.epoch, lease.start + *made);
            if self.killers.contains(&record) && !lease.suspect {
                self.ended_by_killers += 1;
                return if self.is_late { self.goes_down(worker) } else { self.dies(worker) };
            }
            // A lease that expired is another's: what is said of it changes nothing.
            if self.killers.contains(&record) || self.bad.contains(&record) {
                daemon.nack(&self.scene, lease, *made);
            } else {
                daemon.ack(&self.scene, self.scene.receipt(lease, *made, *made + 1, kind));
            }
            *made += 1;
        }
    }

    /// All that is left is made and consumed.
    fn ends(mut self) {
        for worker in 0..WORKERS {
            // What no trainer took goes with its daemon.
            self.dies(worker);
        }
        let mut turns = 0;
        while self.scene.audit().first().is_none_or(|audit| audit.accounted().count < RECORDS) {
            turns += 1;
            assert!(turns < 1000, "the epoch does not end");
            self.starts(turns % WORKERS);
            self.work(turns % WORKERS, 9, Kind::Delivered);
        }
        let listed: BTreeSet<u64> = self.scene.quarantine().iter().map(|bad| bad.record).collect();
        assert_eq!(listed, &self.killers | &self.bad, "these, and no healthy record");
        let audit = &self.scene.audit()[0];
        assert_eq!((audit.verdict, audit.sums.delivered.count), (Judgement::AddsUp, RECORDS - listed.len() as u64));
        let (ended, killers) = (self.ended_by_killers, self.killers.len());
        // No ledger knows yet that a daemon has died that is down.
        let most = if self.is_late { WORKERS + 1 } else { 2 };
        assert!(ended <= most * killers, "{killers} records have ended {ended} daemons");
    }
}

const RECORDS: u64 = 40;
const WORKERS: usize = 3;

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1_u64..9).prop_map(Step::Work),
        4 => (1_u64..9).prop_map(Step::Make),
        3 => Just(Step::Killed),
        1 => Just(Step::KilledForLong),
        2 => Just(Step::CutOff),
        1 => Just(Step::Stopped),
        1 => Just(Step::CoordinatorRestarts),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn rule_9_in_any_history_only_what_ends_processes_or_is_bad_is_in_quarantine_and_each_ends_few_daemons(
        killers in proptest::collection::btree_set(0..RECORDS, 0..5),
        bad in proptest::collection::btree_set(0..RECORDS, 0..3),
        steps in proptest::collection::vec((0..WORKERS, any_step()), 0..60),
        is_late in any::<bool>(),
    ) {
        let mut history = History::new(killers, bad, is_late);
        for (worker, step) in steps {
            history.step(worker, step);
        }
        history.ends();
    }
}
