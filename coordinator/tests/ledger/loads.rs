//! States that several ranks load together, and what only the sole reader of a stream may do.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AbandonRequest, AttendRequest, HeartbeatRequest, OpenRequest, RestoreReply, RestoreRequest, Snapshot,
    WorkerProcess, attend_request::Attendance,
};

use crate::lockstep::{EPOCHS, Job, Rank};
use crate::scene::{Daemon, Scene, TTL, span, spec};
use crate::segments::{RUN, lines};

fn open(scene: &Scene, node: &str, incarnation: u64) -> Daemon {
    let process = Some(WorkerProcess { host: format!("host-{node}"), pid: 7, boot: "boot".into() });
    scene.call(OpenRequest { process, ..scene.open_request(node, incarnation) }).unwrap();
    scene.known(node, incarnation)
}

fn load(scene: &Scene, daemon: &mut Daemon, snapshot: &Snapshot, id: &str) -> Result<RestoreReply, CallError> {
    let snapshot = Some(snapshot.clone());
    let load_id = id.to_owned();
    scene.call(RestoreRequest { caller: Some(daemon.next()), snapshot, load_id, ..RestoreRequest::default() })
}

fn attend(scene: &Scene, daemon: &mut Daemon, attendance: Attendance) {
    let attendance = attendance.into();
    scene.call(AttendRequest { caller: Some(daemon.next()), attendance, ..AttendRequest::default() }).unwrap();
}

fn refused<T: std::fmt::Debug>(answer: Result<T, CallError>) -> String {
    match answer {
        Err(CallError::Invalid(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rule_38_a_load_of_several_ranks_is_applied_once_and_another_one_of_the_same_state_again() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let mut nodes = ["one", "two"].map(|node| open(&scene, node, 1));
    for node in &mut nodes {
        attend(&scene, node, Attendance::Attended);
    }
    let [mut one, mut two] = nodes;
    let start = scene.snapshot(vec![]);
    one.lease(&scene);
    assert!(!load(&scene, &mut one, &start, "first").unwrap().repeated);
    let lease = one.lease(&scene);
    assert_eq!(span(&lease), (0, 0, 10), "it is read again");
    scene.restart();
    let reply = load(&scene, &mut two, &start, "first").unwrap();
    assert!(reply.repeated, "a rank of the other node, and a coordinator that has died since");
    assert_eq!(reply.progress.unwrap().generation, 2);
    assert_eq!(one.ack(&scene, scene.delivered(&lease)), forebay_proto::v1::Verdict::Accepted);
    assert!(!load(&scene, &mut two, &start, "second").unwrap().repeated);
    assert_eq!(span(&two.lease(&scene)), (0, 0, 10), "the same state, loaded once more");
    assert!(load(&scene, &mut one, &start, "first").unwrap().repeated, "late");
}

#[test]
fn rule_38_a_load_id_is_for_one_state() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut one = open(&scene, "one", 1);
    let start = scene.snapshot(vec![]);
    let lease = one.lease(&scene);
    one.ack(&scene, scene.delivered(&lease));
    let later = scene.snapshot(vec![]);
    load(&scene, &mut one, &start, "id").unwrap();
    let said = refused(load(&scene, &mut one, &later, "id"));
    assert!(said.contains("\"id\" was used for another state"), "{said}");
    assert_eq!(span(&one.lease(&scene)), (0, 0, 10), "nothing has changed");
    for id in ["x".repeat(201), "a\nb".to_owned()] {
        refused(load(&scene, &mut one, &start, &id));
    }
    // A load that failed may be tried again under its id.
    let other = Snapshot { spec_hash: vec![0; 32], ..start.clone() };
    assert!(matches!(load(&scene, &mut one, &other, "new"), Err(CallError::SpecMismatch(_))));
    assert!(!load(&scene, &mut one, &start, "new").unwrap().repeated);
}

#[test]
fn rule_38_the_last_sixteen_loads_are_remembered() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let mut one = open(&scene, "one", 1);
    let start = scene.snapshot(vec![]);
    for number in 0..17 {
        assert!(!load(&scene, &mut one, &start, &format!("load {number}")).unwrap().repeated);
    }
    scene.restart();
    for number in 1..17 {
        assert!(load(&scene, &mut one, &start, &format!("load {number}")).unwrap().repeated, "load {number}");
    }
    assert!(!load(&scene, &mut one, &start, "load 0").unwrap().repeated);
}

#[test]
fn rule_38_reset_and_a_load_without_an_id_are_for_the_only_node_with_trainers() {
    let mut scene = Scene::new(spec(40), 10, 3);
    let mut one = open(&scene, "one", 1);
    let mut two = open(&scene, "two", 1);
    let start = scene.snapshot(vec![]);
    attend(&scene, &mut one, Attendance::Attended);
    attend(&scene, &mut two, Attendance::Attended);
    scene.restart();
    let reset = |scene: &Scene, one: &mut Daemon| {
        scene.call(AbandonRequest { caller: Some(one.next()), epoch: 0, ..AbandonRequest::default() })
    };
    let said = refused(reset(&scene, &mut one));
    assert!(said.contains("ends epoch 0") && said.contains("node \"two\" (process 7 on host \"host-two\")"), "{said}");
    let said = refused(load(&scene, &mut one, &start, ""));
    assert!(said.contains("node \"two\"") && said.contains("load_id"), "{said}");
    assert_eq!(span(&one.lease(&scene)), (0, 0, 10), "nothing was abandoned");
    attend(&scene, &mut two, Attendance::Empty);
    assert!(!load(&scene, &mut one, &start, "").unwrap().repeated);
    assert_eq!(reset(&scene, &mut one).unwrap().abandoned, 40);
}

#[test]
fn rule_38_trainers_of_a_node_that_died_count_as_long_as_its_leases_last() {
    let scene = Scene::new(spec(40), 10, 3);
    let mut one = open(&scene, "one", 1);
    let mut dead = open(&scene, "dead", 1);
    attend(&scene, &mut dead, Attendance::Attended);
    scene.pass(TTL / 2);
    one.heartbeat(&scene);
    scene.call(AbandonRequest { caller: Some(one.next()), epoch: 0, ..AbandonRequest::default() }).unwrap_err();
    scene.pass(TTL / 2);
    scene.call(AbandonRequest { caller: Some(one.next()), epoch: 0, ..AbandonRequest::default() }).unwrap();
    // One that is started again has no trainers yet.
    attend(&scene, &mut dead, Attendance::Attended);
    scene.call(AbandonRequest { caller: Some(one.next()), epoch: 1, ..AbandonRequest::default() }).unwrap_err();
    open(&scene, "dead", 2);
    scene.call(AbandonRequest { caller: Some(one.next()), epoch: 1, ..AbandonRequest::default() }).unwrap();
}

#[test]
fn rule_38_a_worker_that_has_closed_the_stream_is_forgotten_with_all_that_it_had() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let mut one = open(&scene, "one", 1);
    let mut two = open(&scene, "two", 1);
    let lease = one.lease(&scene);
    attend(&scene, &mut one, Attendance::Attended);
    attend(&scene, &mut one, Attendance::Closed);
    let beat = scene.call(HeartbeatRequest { caller: Some(one.caller.clone()), ..HeartbeatRequest::default() });
    assert!(matches!(beat, Err(CallError::Fenced(_))), "{beat:?}");
    assert!(scene.store.documents().iter().all(|(key, _)| !key.ends_with("worker/one")));
    assert_eq!(span(&two.lease(&scene)), span(&lease), "nobody waits for it");
    // Others need not agree with it.
    scene.epochs = 2;
    attend(&scene, &mut two, Attendance::Closed);
    open(&scene, "three", 1);
}

#[test]
fn rule_38_a_request_that_says_nothing_is_refused() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut one = open(&scene, "one", 1);
    refused(scene.call(AttendRequest { caller: Some(one.next()), ..AttendRequest::default() }));
}

#[test]
fn rule_38_a_reset_that_a_load_has_overtaken_ends_nothing() {
    let scene = Scene::new(spec(40), 10, 3);
    let mut one = open(&scene, "one", 1);
    let leases = one.acquire(&scene, 5).leases;
    assert_eq!(leases[4].epoch, 1, "the next epoch has begun as well");
    let state = scene.snapshot(vec![]);
    for lease in &leases[..4] {
        one.ack(&scene, scene.delivered(lease));
    }
    let generation = load(&scene, &mut one, &state, "").unwrap().progress.unwrap().generation;
    let mut reset = |epoch, generation| scene.call(AbandonRequest { caller: Some(one.next()), epoch, generation });
    let said = refused(reset(1, generation - 1));
    assert!(said.contains("a state was loaded"), "{said}");
    assert_eq!(reset(0, generation).unwrap().abandoned, 40);
    assert_eq!(reset(0, generation - 1).unwrap().abandoned, 0, "it is over anyway");
}

#[test]
fn rule_38_a_reset_of_one_rank_leaves_a_rank_where_it_is_that_has_loaded_a_state_meanwhile() {
    let scene = Scene::new(spec(512), 64, EPOCHS);
    let mut job = Job::start(&scene, RUN, 512, 2);
    job.step();
    let state = job.state();
    while job.step().unwrap().0 == 0 {}
    let reset = |rank: &mut Rank, epoch| {
        scene.call(AbandonRequest { caller: Some(rank.next()), epoch, ..AbandonRequest::default() }).unwrap()
    };
    job.ranks[0].leased.clear();
    job.ranks[0].restore(&scene, &state).unwrap();
    assert!(reset(&mut job.ranks[1], 1).abandoned > 0);
    job.ranks[1].leased.clear();
    job.ranks[1].restore(&scene, &state).unwrap();
    assert_eq!(job.step().unwrap().0, 0, "both are behind the state");
    // Both have loaded it: a reset of one is one of both.
    assert!(reset(&mut job.ranks[1], 0).abandoned > 0);
    job.ranks.iter_mut().for_each(|rank| rank.leased.clear());
    assert_eq!(job.step().unwrap().0, 1);
    while job.step().is_some() {}
    assert!(lines(&job).iter().all(|line| line.contains("checksum equal")), "{:?}", lines(&job));
}
