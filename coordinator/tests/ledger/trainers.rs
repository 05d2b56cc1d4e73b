//! Trainers that a daemon names to the ledger, and what they may have seen of it when it ends (semantics rules 15 and 23).

use forebay_plan::Verdict as Judgement;
use forebay_proto::v1::{
    AttendRequest, Cause, Lease, OpenReply, OpenRequest, Repeats, RestoreReply, RestoreRequest, Snapshot, Verdict,
    ack_item::Kind, acquire_reply::Answer, attend_request::Attendance,
};

use crate::scene::{Daemon, GRACE, Scene, TTL, span, spec, static_spec};

/// How long trainers are waited for after a death, in milliseconds.
const TIME: u64 = 800;

fn open(scene: &Scene, node: &str, incarnation: u64) -> (Daemon, OpenReply) {
    let reply = scene.call(OpenRequest { names_trainers: true, ..scene.open_request(node, incarnation) }).unwrap();
    (scene.known(node, incarnation), reply)
}

fn daemon(scene: &Scene, incarnation: u64, trainers: &[u64]) -> Daemon {
    let mut daemon = open(scene, "node", incarnation).0;
    attend(scene, &mut daemon, trainers);
    daemon
}

/// These trainers are attached now.
fn attend(scene: &Scene, daemon: &mut Daemon, trainers: &[u64]) {
    let attendance = if trainers.is_empty() { Attendance::Empty } else { Attendance::Attended };
    say(scene, daemon, attendance, trainers);
}

fn say(scene: &Scene, daemon: &mut Daemon, attendance: Attendance, trainers: &[u64]) {
    let (caller, attendance, trainers) = (Some(daemon.next()), attendance.into(), trainers.to_vec());
    scene.call(AttendRequest { caller, attendance, trainers }).unwrap();
}

/// A load without an id: of the trainer with this number, its first one, or a later one.
fn load(scene: &Scene, daemon: &mut Daemon, state: &Snapshot, trainer: u64, load_number: u64) -> RestoreReply {
    load_with(scene, daemon, state, trainer, load_number, "")
}

fn load_with(
    scene: &Scene,
    daemon: &mut Daemon,
    state: &Snapshot,
    trainer: u64,
    number: u64,
    id: &str,
) -> RestoreReply {
    let (caller, snapshot, load_id) = (Some(daemon.next()), Some(state.clone()), id.to_owned());
    scene.call(RestoreRequest { caller, snapshot, load_id, trainer, load_number: number }).unwrap()
}

fn repeats(scene: &Scene) -> Repeats {
    let mut sum = Repeats::default();
    scene.audit().iter().for_each(|audit| sum.add_all(audit.repeats));
    sum
}

fn after_death(count: u64) -> Repeats {
    Repeats { daemon_died: count, ..Repeats::default() }
}

fn finish(scene: &Scene, daemon: &mut Daemon) {
    scene.pass(GRACE);
    assert_eq!(scene.deliver_all(daemon), Answer::DatasetDone);
    assert!(scene.audit().iter().all(|audit| audit.verdict == Judgement::AddsUp), "{:?}", scene.audit_lines());
}

fn spans(leases: &[Lease]) -> Vec<(u64, u64, u64)> {
    leases.iter().map(span).collect()
}

#[test]
fn rule_15_if_all_trainers_come_back_after_a_death_nothing_but_what_they_resumed_and_hold_was_seen() {
    let mut scene = Scene::new(spec(400), 40, 1);
    let leases = daemon(&scene, 1, &[7, 9]).acquire(&scene, 10).leases;
    assert_eq!(leases.len(), 10, "all 400 records are leased");
    let (mut next, reply) = open(&scene, "node", 2);
    assert!(reply.awaits_trainers);
    assert_eq!(next.resume(&scene, scene.receipt(&leases[0], 0, 4, Kind::Delivered)), Verdict::Accepted);
    attend(&scene, &mut next, &[7]);
    assert_eq!(next.acquire(&scene, 10).answer(), Answer::Wait, "the other one may come");
    scene.restart();
    assert_eq!(next.reclaim(&scene, &leases[1], 0, 4), Verdict::Accepted);
    attend(&scene, &mut next, &[7, 9]);
    // The wait is over with the last one, not with its time.
    let granted = next.acquire(&scene, 64).leases;
    assert_eq!(granted.iter().map(|lease| lease.end - lease.start).sum::<u64>(), 392);
    for lease in &granted {
        assert_eq!(next.ack(&scene, scene.delivered(lease)), Verdict::Accepted);
    }
    assert_eq!(next.ack(&scene, scene.receipt(&leases[1], 0, 4, Kind::Delivered)), Verdict::Accepted);
    finish(&scene, &mut next);
    assert_eq!(repeats(&scene), Repeats::default(), "{:?}", scene.audit_lines());
}

#[test]
fn rule_15_if_one_trainer_is_missing_all_that_the_daemon_had_leased_of_a_begun_epoch_may_have_been_seen() {
    let mut scene = Scene::new(spec(40), 10, 2);
    let mut first = daemon(&scene, 1, &[7, 9]);
    let leases = first.acquire(&scene, 6).leases;
    assert_eq!(spans(&leases)[3..], [(0, 30, 40), (1, 0, 10), (1, 10, 20)], "two of the next epoch");
    first.ack(&scene, scene.receipt(&leases[0], 0, 5, Kind::Delivered));
    let mut next = open(&scene, "node", 2).0;
    assert_eq!(next.resume(&scene, scene.receipt(&leases[0], 5, 10, Kind::Delivered)), Verdict::Accepted);
    attend(&scene, &mut next, &[9]);
    scene.restart();
    finish(&scene, &mut next);
    assert_eq!(repeats(&scene), after_death(30), "{:?}", scene.audit_lines());
}

#[test]
fn rule_15_a_trainer_that_comes_late_still_tells_what_was_not_leased_again_by_then() {
    let scene = Scene::new(static_spec(40, 0, 2, false), 10, 1);
    let lease = daemon(&scene, 1, &[7]).lease(&scene);
    let mut next = open(&scene, "node", 2).0;
    // The daemon of a shard leases nothing before.
    scene.pass(10 * GRACE);
    assert_eq!(next.reclaim(&scene, &lease, 0, 4), Verdict::Accepted);
    attend(&scene, &mut next, &[7]);
    assert_eq!(next.ack(&scene, scene.receipt(&lease, 0, 4, Kind::Delivered)), Verdict::Accepted);
    finish(&scene, &mut next);
    assert_eq!(repeats(&scene), Repeats::default());
}

#[test]
fn rule_15_a_trainer_that_is_missing_since_an_earlier_death_is_missing_after_the_next_one_too() {
    let mut scene = Scene::new(spec(20), 10, 1);
    daemon(&scene, 1, &[7, 9]).lease(&scene);
    // It comes back alone, gets the rest, and its daemon dies again.
    let second = daemon(&scene, 2, &[9]).lease(&scene);
    assert_eq!(span(&second), (0, 10, 20));
    scene.restart();
    let mut third = daemon(&scene, 3, &[9]);
    assert_eq!(third.acquire(&scene, 1).answer(), Answer::Wait);
    finish(&scene, &mut third);
    assert_eq!(repeats(&scene), after_death(20));
}

#[test]
fn rule_15_a_trainer_that_left_is_not_waited_for_and_without_trainers_nothing_was_seen() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut first = daemon(&scene, 1, &[7, 9]);
    first.lease(&scene);
    attend(&scene, &mut first, &[9]);
    attend(&scene, &mut first, &[]);
    let (mut next, reply) = open(&scene, "node", 2);
    assert!(!reply.awaits_trainers);
    assert_eq!(next.acquire(&scene, 2).leases.len(), 2, "nothing is waited for");
    drop(next);
    // The same for leases that expire, and for a shard that moves.
    scene.pass(TTL);
    finish(&scene, &mut daemon(&scene, 3, &[]));
    assert_eq!(repeats(&scene), Repeats::default());

    let scene = Scene::new(static_spec(20, 0, 2, false), 10, 1);
    daemon(&scene, 1, &[]).lease(&scene);
    finish(&scene, &mut open(&scene, "elsewhere", 1).0);
    assert_eq!(repeats(&scene), Repeats::default());
}

#[test]
fn rule_15_of_leases_that_expire_or_move_only_those_of_begun_epochs_may_have_been_seen() {
    let scene = Scene::new(spec(20), 10, 2);
    assert_eq!(daemon(&scene, 1, &[7]).acquire(&scene, 3).leases.len(), 3);
    scene.pass(TTL);
    finish(&scene, &mut open(&scene, "other", 1).0);
    assert_eq!(repeats(&scene), Repeats { lease_expired: 20, ..Repeats::default() });

    let scene = Scene::new(static_spec(20, 0, 2, false), 5, 2);
    assert_eq!(daemon(&scene, 1, &[7]).acquire(&scene, 3).leases.len(), 3);
    finish(&scene, &mut open(&scene, "other", 1).0);
    assert_eq!(repeats(&scene), after_death(10));
}

#[test]
fn rule_15_trainers_without_numbers_may_have_seen_all_that_their_daemon_had() {
    let scene = Scene::new(spec(20), 10, 2);
    let mut old = scene.daemon("node", 1);
    say(&scene, &mut old, Attendance::Attended, &[]);
    old.acquire(&scene, 3);
    let mut next = daemon(&scene, 2, &[7]);
    assert_eq!(next.acquire(&scene, 1).answer(), Answer::Wait);
    finish(&scene, &mut next);
    assert_eq!(repeats(&scene), after_death(20));
}

#[test]
fn rule_15_a_stop_in_order_leaves_to_its_trainers_what_they_hold() {
    let scene = Scene::new(spec(20), 10, 1);
    let mut first = daemon(&scene, 1, &[7, 9]);
    let lease = first.lease(&scene);
    assert_eq!(first.give_back_seen(&scene, &lease, 0, 4, Cause::DaemonStopped), Verdict::Accepted);
    assert_eq!(first.give_back(&scene, &lease, 4, 10), Verdict::Accepted);
    say(&scene, &mut first, Attendance::Closed, &[]);
    let mut next = open(&scene, "node", 2).0;
    assert_eq!(next.resume(&scene, scene.receipt(&lease, 0, 2, Kind::Delivered)), Verdict::Accepted);
    finish(&scene, &mut next);
    assert_eq!(repeats(&scene), Repeats { daemon_stopped: 2, ..Repeats::default() });
}

#[test]
fn rule_23_the_daemon_dies_between_the_loads_of_two_ranks_and_the_state_is_loaded_once() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let mut first = daemon(&scene, 1, &[7, 9]);
    let start = scene.snapshot(vec![]);
    first.lease(&scene);
    assert!(!load(&scene, &mut first, &start, 7, 1).repeated);
    let lease = first.lease(&scene);
    assert_eq!(first.ack(&scene, scene.delivered(&lease)), Verdict::Accepted);
    scene.restart();
    let mut next = daemon(&scene, 2, &[9]);
    let early = load(&scene, &mut next, &start, 9, 1);
    assert!(early.awaits_trainers && !early.repeated, "the one that has loaded it may come");
    attend(&scene, &mut next, &[9, 7]);
    scene.restart();
    assert!(load(&scene, &mut next, &start, 9, 1).repeated);
    assert!(load(&scene, &mut next, &start, 7, 1).repeated, "it never heard that it was applied");
    finish(&scene, &mut next);
    assert_eq!(scene.audit()[0].sums.delivered.count, 40);
    // Both have loaded it, so a rank that attaches later does not take the run back either.
    attend(&scene, &mut next, &[9, 11]);
    assert!(load(&scene, &mut next, &start, 11, 1).repeated);
    // A further load by a trainer is one more.
    assert!(!load(&scene, &mut next, &start, 9, 2).repeated);
    assert!(load(&scene, &mut next, &start, 11, 2).repeated);
}

#[test]
fn rule_23_a_trainer_that_has_not_come_back_in_time_does_not_count_until_it_comes() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let mut first = daemon(&scene, 1, &[7, 9]);
    let start = scene.snapshot(vec![]);
    assert!(!load(&scene, &mut first, &start, 7, 1).repeated);
    let mut next = daemon(&scene, 2, &[9]);
    scene.pass(TIME - 1);
    assert!(load(&scene, &mut next, &start, 9, 1).awaits_trainers);
    scene.pass(1);
    assert!(!load(&scene, &mut next, &start, 9, 1).repeated);
    // One that comes late has loaded it again, if no other load was applied by then.
    attend(&scene, &mut next, &[9, 7]);
    assert!(load(&scene, &mut next, &start, 7, 1).repeated);
    let mut third = daemon(&scene, 3, &[11]);
    scene.pass(TIME);
    scene.restart();
    attend(&scene, &mut third, &[11, 7]);
    assert!(load(&scene, &mut third, &start, 11, 1).repeated);
}

#[test]
fn rule_23_a_trainer_that_left_has_not_loaded_the_state_and_one_of_a_stopped_daemon_has() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut first = daemon(&scene, 1, &[7, 9]);
    let start = scene.snapshot(vec![]);
    assert!(!load(&scene, &mut first, &start, 7, 1).repeated);
    attend(&scene, &mut first, &[9]);
    assert!(!load(&scene, &mut first, &start, 9, 1).repeated);
    say(&scene, &mut first, Attendance::Closed, &[]);
    scene.pass(100 * GRACE);
    let mut next = daemon(&scene, 2, &[11]);
    assert!(load(&scene, &mut next, &start, 11, 1).awaits_trainers);
    attend(&scene, &mut next, &[11, 9]);
    assert!(load(&scene, &mut next, &start, 11, 1).repeated);
}

#[test]
fn rule_23_another_state_is_another_load() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut daemon = daemon(&scene, 1, &[7, 9]);
    let start = scene.snapshot(vec![]);
    let lease = daemon.lease(&scene);
    daemon.ack(&scene, scene.delivered(&lease));
    let later = scene.snapshot(vec![]);
    assert!(!load(&scene, &mut daemon, &start, 7, 1).repeated);
    assert!(!load(&scene, &mut daemon, &later, 9, 1).repeated);
    assert!(!load(&scene, &mut daemon, &start, 9, 2).repeated, "no trainer has loaded it since the other one");
    assert!(!load(&scene, &mut daemon, &start, 0, 0).repeated, "a trainer without a number");
    assert!(!load(&scene, &mut daemon, &start, 7, 2).repeated);
}

#[test]
fn rule_38_loads_with_an_id_and_without_one_leave_each_other_s_memory() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let mut daemon = daemon(&scene, 1, &[7, 9, 11]);
    let start = scene.snapshot(vec![]);
    // A rank without torch.distributed beside others with it.
    assert!(!load_with(&scene, &mut daemon, &start, 7, 1, "one").repeated);
    assert!(load(&scene, &mut daemon, &start, 9, 1).repeated, "a trainer has loaded it, with an id");
    scene.restart();
    assert!(load_with(&scene, &mut daemon, &start, 11, 1, "one").repeated);
    // A new id is a new load, and the trainers that had loaded the state without one still have.
    assert!(!load_with(&scene, &mut daemon, &start, 11, 2, "two").repeated);
    attend(&scene, &mut daemon, &[9, 13]);
    assert!(load(&scene, &mut daemon, &start, 13, 1).repeated);
    assert!(load_with(&scene, &mut daemon, &start, 13, 2, "one").repeated, "late");
}
