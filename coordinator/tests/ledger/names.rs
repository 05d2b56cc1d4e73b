//! Workers that run in different places: whose name it is, who takes over, and what a delayed message may still do.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AcquireRequest, Caller, ListLedgersRequest, OpenReply, OpenRequest, WorkerProcess, acquire_reply::Answer,
};

use crate::scene::{Daemon, GRACE, Scene, TTL, spec};

const HOUR: u64 = 3_600_000;

fn request(scene: &Scene, incarnation: u64, replaces: u64, boot: &str) -> OpenRequest {
    let process = WorkerProcess { host: "train-1".into(), pid: 7, boot: boot.into() };
    OpenRequest { replaces: Some(replaces), process: Some(process), ..scene.open_request("node", incarnation) }
}

fn open(scene: &Scene, incarnation: u64, replaces: u64, boot: &str) -> Result<OpenReply, CallError> {
    scene.call(request(scene, incarnation, replaces, boot))
}

fn daemon(opened: &OpenReply, incarnation: u64) -> Daemon {
    let caller = Caller { ledger: opened.ledger.clone(), worker: "node".into(), incarnation, sequence: 0, unseen: 0 };
    Daemon::of(caller)
}

#[test]
fn rule_33_a_new_incarnation_names_the_one_that_it_replaces_and_a_delayed_open_fences_nobody() {
    let scene = Scene::new(spec(40), 10, 1);
    let opened = open(&scene, 1, 0, "boot").unwrap();
    assert_eq!(opened.incumbent, 0);
    let mut first = daemon(&opened, 1);
    first.lease(&scene);
    let told = open(&scene, 2, 0, "boot").unwrap();
    assert_eq!((told.incumbent, told.ledger.as_str()), (1, ""), "nothing was opened");
    first.heartbeat(&scene);
    assert_eq!(open(&scene, 2, 1, "boot").unwrap().incumbent, 0);
    // A copy of the first one's request that was on its way all the time.
    assert_eq!(open(&scene, 1, 0, "boot").unwrap().incumbent, 2);
    daemon(&opened, 2).heartbeat(&scene);
    assert_eq!(open(&scene, 2, 1, "boot").unwrap().incumbent, 0, "a repetition is answered as before");
}

#[test]
fn rule_33_a_fenced_daemon_is_told_where_the_newer_one_is_and_what_to_do() {
    let scene = Scene::new(spec(40), 10, 1);
    let opened = open(&scene, 1, 0, "boot").unwrap();
    let mut fenced = daemon(&opened, 1);
    open(&scene, 2, 1, "boot").unwrap();
    let refused =
        scene.call(AcquireRequest { caller: Some(fenced.next()), leases: 1, ..AcquireRequest::default() }).unwrap_err();
    let CallError::Fenced(text) = refused else { panic!("{refused:?}") };
    assert!(text.contains("process 7 on host \"train-1\"") && text.contains("node in [coordinator]"), "{text}");
}

#[test]
fn rule_33_a_name_goes_to_another_boot_only_after_ten_seconds_of_silence() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let opened = open(&scene, 1, 0, "boot").unwrap();
    let mut first = daemon(&opened, 1);
    let lease = first.lease(&scene);
    scene.pass(9_000);
    let refused = open(&scene, 2, 1, "other").unwrap_err();
    let CallError::NameTaken(text) = refused else { panic!("{refused:?}") };
    assert!(text.contains("heard 9 s ago") && text.contains("process 7 on host \"train-1\""), "{text}");
    scene.restart();
    assert!(
        open(&scene, 2, 1, "other").is_err(),
        "a coordinator that was restarted does not know how long it was silent"
    );
    scene.pass(10_000);
    let mut next = daemon(&open(&scene, 2, 1, "other").unwrap(), 2);
    scene.pass(GRACE);
    let mut spans = Vec::new();
    while let Answer::Granted = {
        let reply = next.acquire(&scene, 1);
        spans.extend(reply.leases.iter().map(|lease| lease.start));
        reply.answer()
    } {}
    assert!(spans.contains(&lease.start), "what the first one had came back: {spans:?}");
}

#[test]
fn rule_33_workers_without_leases_are_forgotten_after_an_hour() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let (mut one, _two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    one.lease(&scene);
    let names = |scene: &Scene| {
        let listed = scene.call(ListLedgersRequest::default()).unwrap();
        listed.ledgers[0].workers.iter().map(|worker| worker.name.clone()).collect::<Vec<_>>()
    };
    for _ in 0..HOUR / TTL + 3 {
        scene.pass(TTL / 2);
        one.heartbeat(&scene);
        scene.pass(TTL / 2);
    }
    assert_eq!(names(&scene), ["one"]);
    scene.restart();
    assert_eq!(names(&scene), ["one"], "its document is gone as well");
}

#[test]
fn rule_19_a_heartbeat_tells_which_leases_are_still_the_workers() {
    let scene = Scene::new(spec(40), 10, 1);
    let (mut one, mut two) = (scene.daemon("one", 1), scene.daemon("two", 1));
    let (first, second) = (one.lease(&scene), one.lease(&scene));
    let held = |daemon: &Daemon| daemon.heartbeat(&scene);
    assert_eq!(held(&one), [first.id, second.id]);
    one.ack(&scene, scene.delivered(&first));
    assert_eq!(held(&one), [second.id], "the other is complete");
    scene.pass(TTL);
    two.lease(&scene);
    assert_eq!(held(&one), [0; 0], "it said nothing for a lease's time");
}

#[test]
fn the_ledgers_are_listed_with_their_workers_page_by_page() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut one = scene.daemon("one", 1);
    let lease = one.lease(&scene);
    one.ack(&scene, scene.receipt(&lease, 0, 4, forebay_proto::v1::ack_item::Kind::Delivered));
    let request = OpenRequest { run: "second".into(), ..request(&scene, 3, 0, "boot") };
    scene.call(request).unwrap();
    let all = scene.call(ListLedgersRequest::default()).unwrap();
    assert!(!all.more);
    let [first, second] = &all.ledgers[..] else { panic!("{all:?}") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("run/train/all", "second/train/all"));
    assert_eq!((first.delivered, first.returned, first.epochs, first.lease_size), (4, 0, 1, 10));
    let worker = &first.workers[0];
    assert_eq!((worker.name.as_str(), worker.leases, worker.positions, worker.silent_ms), ("one", 1, 6, 0));
    assert_eq!(second.workers[0].process.as_ref().unwrap().pid, 7);
    let rest = scene.call(ListLedgersRequest { after: first.name.clone(), ..ListLedgersRequest::default() }).unwrap();
    assert_eq!(rest.ledgers, std::slice::from_ref(second));
    let counted = scene.call(ListLedgersRequest { without_workers: true, ..ListLedgersRequest::default() }).unwrap();
    let counts: Vec<_> = counted.ledgers.iter().map(|of| (of.workers.len(), of.worker_count, of.leased)).collect();
    assert_eq!(counts, [(0, 1, 6), (0, 1, 0)]);
    assert_eq!((first.worker_count, first.leased), (1, 6));
}
