//! A coordinator in another process, which is here a server on a socket of this one: calls, outages, and a coordinator
//! that comes back.

use std::path::Path;
use std::time::Duration;

use forebay_coordinator::{Coordinator, CoordinatorSettings, LedgerService, monotonic_clock, suite::SharedStore};
use forebay_ledger_client::{Address, CallError, Handle, Remote};
use forebay_proto::v1::{
    AcquireRequest, HeartbeatRequest, OpenRequest, WorkerProcess, acquire_reply::Answer, ledger_server::LedgerServer,
};
use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;

use crate::scene::{Daemon, Scene, spec};

/// A server whose connections end when it is dropped.
pub(crate) struct Served(Option<tokio::runtime::Runtime>);

impl Served {
    pub(crate) fn begin(handle: Handle, socket: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        std::fs::remove_file(socket).ok();
        let listener = {
            let _on_it = runtime.enter();
            UnixListener::bind(socket).unwrap()
        };
        let server = Server::builder().add_service(LedgerServer::new(LedgerService(handle)));
        runtime.spawn(server.serve_with_incoming(UnixListenerStream::new(listener)));
        Self(Some(runtime))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

pub(crate) fn remote(sockets: &[&Path]) -> Handle {
    let addresses = sockets.iter().map(|socket| Address::Socket(socket.to_path_buf())).collect();
    Remote::at(addresses).connect().unwrap()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn a_handle_on_a_remote_coordinator_is_used_as_one_on_a_local_one() {
    let (scene, folder) = (Scene::new(spec(20), 10, 1), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    let _served = Served::begin(scene.handle(), &socket);
    let handle = remote(&[&socket]);
    assert!(handle.is_remote() && !scene.handle().is_remote());
    let opened = handle.wait(scene.open_request("far", 1)).unwrap();
    let mut daemon = Daemon::of(forebay_proto::v1::Caller {
        ledger: opened.ledger,
        worker: "far".into(),
        incarnation: 1,
        ..Default::default()
    });
    let reply =
        handle.wait(AcquireRequest { caller: Some(daemon.next()), leases: 2, ..AcquireRequest::default() }).unwrap();
    assert_eq!((reply.answer(), reply.leases.len()), (Answer::Granted, 2));
    for lease in &reply.leases {
        daemon.ack(&scene, scene.delivered(lease));
    }
    let last =
        block_on(handle.call(AcquireRequest { caller: Some(daemon.next()), leases: 2, ..AcquireRequest::default() }))
            .unwrap();
    assert_eq!(last.answer(), Answer::DatasetDone);
    let stranger = forebay_proto::v1::Caller { incarnation: 9, ..daemon.caller() };
    let fenced = handle.wait(HeartbeatRequest { caller: Some(stranger), ..HeartbeatRequest::default() }).unwrap_err();
    assert!(matches!(fenced, CallError::Fenced(_)), "{fenced:?}");
    assert_eq!(*handle.outage().borrow(), None, "a refusal is no outage");
}

#[test]
fn rule_34_an_outage_is_told_and_ends_when_the_coordinator_is_back() {
    let (scene, folder) = (Scene::new(spec(20), 10, 1), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    let handle = remote(&[&socket]);
    let refused = handle.wait(scene.open_request("far", 1)).unwrap_err();
    assert!(matches!(refused, CallError::Unavailable(_)), "{refused:?}");
    let outage = handle.outage().borrow().clone().unwrap();
    assert!(outage.cause.contains("the coordinator at unix:/"), "{}", outage.cause);
    {
        let _served = Served::begin(scene.handle(), &socket);
        handle.wait(scene.open_request("far", 1)).unwrap();
        assert_eq!(*handle.outage().borrow(), None);
    }
    assert!(handle.wait(scene.open_request("far", 1)).is_err());
    let _served = Served::begin(scene.handle(), &socket);
    block_on(handle.open(scene.open_request("far", 1))).unwrap();
}

#[test]
fn rule_34_the_next_address_is_asked_when_one_does_not_answer() {
    let (scene, folder) = (Scene::new(spec(20), 10, 1), tempfile::tempdir().unwrap());
    let (gone, there) = (folder.path().join("a.sock"), folder.path().join("b.sock"));
    let _served = Served::begin(scene.handle(), &there);
    let handle = remote(&[&gone, &there]);
    assert!(handle.wait(scene.open_request("far", 1)).is_err());
    handle.wait(scene.open_request("far", 1)).unwrap();
}

#[test]
fn rule_34_a_coordinator_that_does_not_lead_names_the_leader_which_is_asked_at_once() {
    let (scene, folder) = (Scene::new(spec(20), 10, 1), tempfile::tempdir().unwrap());
    let sockets = ["a", "b", "c"].map(|name| folder.path().join(name));
    let address = |number: usize| Address::Socket(sockets[number].clone()).to_string();
    let store = SharedStore::default();
    // The second one leads, and the first one knows it.
    store.name_replicas([address(0), address(1)]);
    store.elect(1);
    let replica = |number| {
        let store = store.replica(number);
        Coordinator::start(store, monotonic_clock(), CoordinatorSettings::default()).unwrap()
    };
    let (follower, leader) = (replica(0), replica(1));
    let _served = [Served::begin(follower.clone(), &sockets[0]), Served::begin(leader, &sockets[1])];
    let handle = remote(&[&sockets[0], &sockets[2], &sockets[1]]);
    handle.wait(scene.open_request("far", 1)).unwrap();
    assert_eq!(*handle.outage().borrow(), None, "it was never out of reach");
    let known = follower.outage().borrow().clone().unwrap();
    assert!(known.follows && known.cause.contains("another process leads"), "{known:?}");

    // The leader is another one now. Daemons that know only the former one are told so.
    store.elect(0);
    handle.wait(scene.open_request("far", 1)).unwrap();
    let alone = remote(&[&sockets[1]]);
    let refused = alone.wait(scene.open_request("far", 1)).unwrap_err();
    let CallError::Unavailable(why) = &refused else { panic!("{refused:?}") };
    let missing = format!("It names {}, which is not among the addresses", address(0));
    assert!(why.contains("another process leads") && why.contains(&missing), "{why}");
}

#[test]
fn rule_34_a_coordinator_that_is_silent_is_given_up_at_the_deadline() {
    let (scene, folder) = (Scene::new(spec(20), 10, 1), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    // It accepts nothing, and so says nothing.
    let _silent = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let addresses = vec![Address::Socket(socket)];
    let deadline = Duration::from_millis(100);
    let handle = Remote { deadline, ..Remote::at(addresses) }.connect().unwrap();
    let refused = handle.wait(scene.open_request("far", 1)).unwrap_err();
    let CallError::Unavailable(text) = refused else { panic!("{refused:?}") };
    assert!(text.contains("no answer within 0.1 s"), "{text}");
}

#[test]
fn rule_33_a_name_in_use_is_no_outage_and_is_waited_for() {
    let (scene, folder) = (Scene::new(spec(20), 10, 1), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    let _served = Served::begin(scene.handle(), &socket);
    let handle = remote(&[&socket]);
    let request = |incarnation, boot: &str| OpenRequest {
        replaces: Some(incarnation - 1),
        process: Some(WorkerProcess { host: "train-1".into(), pid: 7, boot: boot.into() }),
        ..scene.open_request("far", incarnation)
    };
    handle.wait(request(1, "one")).unwrap();
    let refused = handle.wait(request(2, "two")).unwrap_err();
    assert!(matches!(&refused, CallError::NameTaken(why) if why.contains("host \"train-1\"")), "{refused:?}");
    assert_eq!(*handle.outage().borrow(), None);
    std::thread::scope(|threads| {
        let opening = threads.spawn(|| block_on(handle.open(request(2, "two"))));
        scene.pass(10_000);
        assert_eq!(opening.join().unwrap().unwrap().incumbent, 0);
    });
}

#[test]
fn rule_33_a_worker_that_is_started_again_takes_the_place_of_its_earlier_incarnation() {
    let (scene, folder) = (Scene::new(spec(20), 10, 1), tempfile::tempdir().unwrap());
    let socket = folder.path().join("coordinator.sock");
    let _served = Served::begin(scene.handle(), &socket);
    let handle = remote(&[&socket]);
    let request = |incarnation| OpenRequest { replaces: Some(0), ..scene.open_request("far", incarnation) };
    block_on(async {
        handle.open(request(1)).await.unwrap();
        let reply = handle.open(request(2)).await.unwrap();
        assert_eq!((reply.ledger.as_str(), reply.incumbent), ("run/train/all", 0));
    });
}
