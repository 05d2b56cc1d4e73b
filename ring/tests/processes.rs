//! Daemon and trainers as real processes: handing over, SIGKILL, forked workers, other users.
//!
//! A child is this test binary again, with the role and the socket's path in its environment.

use std::{
    fs::Permissions,
    io::Read,
    os::{
        fd::AsFd,
        unix::{fs::PermissionsExt, process::CommandExt},
    },
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use forebay_ring::{
    Ack, Bulk, Dtype, Events, Geometry, Layout, Listener, Message, MessageKind, Number, Offer, PACKET_LEN, PROTOCOL,
    Peer, Pixels, Received, Region, Release, Sent, Shape, Socket, View, Welcome, inherited, packet,
};
use rustix::event::{PollFd, PollFlags};

const INCARNATION: u64 = 77;
const ROLE: &str = "FOREBAY_RING_TEST_ROLE";
const SOCKET: &str = "FOREBAY_RING_TEST_SOCKET";

fn number(kind: MessageKind, value: u64) -> Vec<u8> {
    packet(&Number { kind: kind as u32, reserved: 0, value }, &[])
}

fn send(socket: &Socket, bytes: &[u8]) {
    assert_eq!(socket.send(bytes, &[]).expect("a working socket"), Sent::Done);
}

/// Waits for the next packet and gives it to `take`; `None` at the hang-up.
fn receive<T>(socket: &Socket, take: impl FnOnce(Message<'_>) -> T) -> Option<T> {
    let mut buffer = vec![0; PACKET_LEN];
    loop {
        socket.wait(None).expect("poll");
        match socket.recv(&mut buffer).expect("a working socket") {
            Received::Packet { len, fds } => {
                return Some(take(Message::parse(&buffer[..len], fds).expect("a message")));
            }
            Received::WouldBlock => {}
            Received::Closed => return None,
        }
    }
}

fn spawn(program: &Path, role: &str, socket: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "child", "--ignored", "--nocapture"]).env(ROLE, role).env(SOCKET, socket);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// A daemon's socket and a trainer process that has connected to it.
fn connected(role: &str) -> (Socket, Child) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("forebay.sock");
    let listener = Listener::bind(&path, 0o600).expect("a free path");
    let child = spawn(&std::env::current_exe().expect("this test"), role, &path).spawn().expect("a child");
    (accept(&listener), child)
}

fn accept(listener: &Listener) -> Socket {
    loop {
        let mut polled = [PollFd::new(listener, PollFlags::IN)];
        rustix::event::poll(&mut polled, None).expect("poll");
        if let Some(socket) = listener.accept().expect("accept") {
            return socket;
        }
    }
}

#[test]
fn a_batch_crosses_to_a_trainer_and_its_receipts_come_back() {
    let (socket, mut child) = connected("trainer");
    let shape = Shape { batch: 2, height: 8, width: 8, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    let region = Region::create(Geometry::try_new(shape, 2).unwrap(), INCARNATION, 0).unwrap();
    region.populate(1).unwrap();
    let mut slot = region.slot(1).unwrap();
    slot.place_mut(0).fill(11);
    slot.place_mut(1).fill(22);
    slot.frame().records().copy_from_slice(&[500, 501]);
    drop(slot);

    let info = Bulk::write(b"stream info").unwrap();
    let (kind, protocol) = (MessageKind::Welcome as u32, PROTOCOL);
    let welcome =
        Welcome { kind, protocol, incarnation: INCARNATION, consumer: 1, credits: 2, ring: 0, pixels: Pixels::HOST };
    assert_eq!(socket.send(&packet(&welcome, &[]), &[region.fd(), info.as_fd()]).unwrap(), Sent::Done);
    let offer = Offer {
        kind: MessageKind::Offer as u32,
        ring: 0,
        seq: 9,
        generation: 3,
        epoch: 0,
        slot: 1,
        shown: 2,
        valid: 2,
        claims: 0,
        redelivered: 0,
        height: 0,
        width: 0,
        deadline: u64::MAX,
        ready: 0,
    };
    send(&socket, &packet(&offer, &[]));
    let ack = receive(&socket, |message| match message {
        Message::Ack { head, .. } => (head.seq, head.generation, head.slot),
        other => panic!("{other:?}"),
    });
    assert_eq!(ack, Some((9, 3, 1)));
    let released = receive(&socket, |message| matches!(message, Message::Release(release) if release.seq == 9));
    assert_eq!(released, Some(true));
    assert_eq!(receive(&socket, |message| matches!(message, Message::Bye)), Some(true));
    assert!(receive(&socket, |_| ()).is_none());
    assert!(child.wait().unwrap().success(), "the trainer saw what the daemon wrote");
}

#[test]
fn rule_25_a_killed_trainer_is_seen_through_its_pidfd_while_a_forked_worker_holds_its_socket() {
    let (socket, mut child) = connected("trainer with a worker");
    let peer = Peer::of(&socket).unwrap();
    assert_eq!(peer.pid(), child.id());
    assert_eq!(receive(&socket, |message| matches!(message, Message::Credit(1))), Some(true), "the worker runs");
    assert!(!peer.exited());

    child.kill().unwrap();
    rustix::event::poll(&mut [PollFd::from_borrowed_fd(peer.pidfd(), PollFlags::IN)], None).unwrap();
    assert!(peer.exited(), "before anybody waits for the process");
    let events = socket.wait(Some(Duration::ZERO)).unwrap();
    assert_eq!(events, Events { readable: false, hung_up: false }, "the worker keeps the socket open");
    assert!(Peer::of(&socket).is_err(), "a dead peer is not taken for a living one");

    drop(socket);
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(output.contains("worker saw the hang-up"), "{output}");
    assert!(!child.wait().unwrap().success());
}

#[test]
fn receipts_sent_before_a_sigkill_are_still_there() {
    let (socket, mut child) = connected("trainer that waits");
    let peer = Peer::of(&socket).unwrap();
    rustix::event::poll(&mut [PollFd::new(&socket, PollFlags::IN)], None).unwrap();
    child.kill().unwrap();
    rustix::event::poll(&mut [PollFd::from_borrowed_fd(peer.pidfd(), PollFlags::IN)], None).unwrap();
    assert_eq!(receive(&socket, |message| matches!(message, Message::Credit(3))), Some(true));
    assert!(receive(&socket, |_| ()).is_none());
    child.wait().unwrap();
}

#[test]
fn rule_25_another_user_cannot_connect_to_a_socket_of_mode_600() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: dropping to another user needs root");
        return;
    }
    if std::env::var_os("QEMU_LD_PREFIX").is_some() {
        println!("skipped: QEMU runs in a namespace of users that has no other one");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("test");
    // Written by another process: a child that another test starts meanwhile would keep our descriptor until it runs
    // its program, and a file that somebody writes cannot be run ("text file busy").
    let mut install = Command::new("install");
    let copied = install.args(["-m", "755"]).arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success(), "{copied}");
    let path = folder.path().join("forebay.sock");
    let listener = Listener::bind(&path, 0o600).unwrap();
    let run = |uid| spawn(&program, "stranger", &path).uid(uid).gid(uid).current_dir("/").output().unwrap();
    let refused = String::from_utf8(run(65534).stdout).unwrap();
    assert!(refused.contains("refused: PermissionDenied"), "{refused}");
    let admitted = String::from_utf8(run(0).stdout).unwrap();
    assert!(admitted.contains("connected"), "{admitted}");
    drop(listener);
}

#[test]
fn a_killed_daemons_socket_is_taken_over_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forebay.sock");
    let mut daemon = spawn(&std::env::current_exe().unwrap(), "daemon", &path).stdin(Stdio::piped()).spawn().unwrap();
    let mut output = daemon.stdout.take().unwrap();
    let mut said = String::new();
    while !said.contains("listening") {
        let mut byte = [0];
        assert_eq!(output.read(&mut byte).unwrap(), 1, "{said}");
        said.push(char::from(byte[0]));
    }
    let in_use = Listener::bind(&path, 0o600).unwrap_err().to_string();
    assert!(in_use.contains(&format!("process {}", daemon.id())), "{in_use}");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(path.exists(), "a killed daemon cleans nothing up");
    let _listener = Listener::bind(&path, 0o600).unwrap();
    assert!(Socket::connect(&path).is_ok());
}

/// What the children do. Not a test: it returns at once unless another test started it.
#[test]
#[ignore = "a role that other tests start as a process"]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let path = std::env::var_os(SOCKET).unwrap();
    let connect = || Socket::connect(path.as_ref());
    match role.as_str() {
        "trainer" => trainer(&connect().unwrap()),
        "trainer that waits" => {
            let socket = connect().unwrap();
            send(&socket, &number(MessageKind::Credit, 3));
            receive(&socket, |_| ());
        }
        "trainer with a worker" => {
            let socket = connect().unwrap();
            let own_end = socket.as_fd().try_clone_to_owned().unwrap();
            let mut worker = spawn(&std::env::current_exe().unwrap(), "worker", path.as_ref());
            let mut worker = worker.stdin(own_end).stdout(Stdio::inherit()).spawn().unwrap();
            worker.wait().unwrap();
        }
        "worker" => {
            let socket = Socket::from_fd(inherited(0).unwrap()).unwrap();
            send(&socket, &number(MessageKind::Credit, 1));
            assert!(receive(&socket, |_| ()).is_none());
            println!("worker saw the hang-up");
        }
        "stranger" => match connect() {
            Ok(_) => println!("connected"),
            Err(forebay_ring::SocketError::Io(error)) => println!("refused: {:?}", error.kind()),
            Err(error) => println!("failed: {error}"),
        },
        "daemon" => {
            let _listener = Listener::bind(path.as_ref(), 0o600).unwrap();
            println!("listening");
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        }
        other => panic!("no role {other}"),
    }
}

fn trainer(socket: &Socket) {
    let view = receive(socket, |message| match message {
        Message::Welcome { head, ring, info, .. } => {
            assert_eq!(Bulk::accept(info).expect("sealed").read(100).expect("short"), b"stream info");
            View::map(ring, head.incarnation, head.ring).expect("a good ring")
        }
        other => panic!("{other:?}"),
    });
    let view = view.expect("a WELCOME");
    let offer = receive(socket, |message| match message {
        Message::Offer(offer) => offer,
        other => panic!("{other:?}"),
    });
    let Offer { seq, generation, slot, ring, .. } = offer.expect("an OFFER");
    let (first, second) = view.images(slot).split_at(view.geometry().place_len());
    assert!(first.iter().all(|byte| *byte == 11) && second.iter().all(|byte| *byte == 22));
    assert_eq!(view.records(slot), [500, 501]);
    let ack = Ack {
        kind: MessageKind::Ack as u32,
        slot,
        seq,
        generation,
        first: 0,
        count: 0,
        last: 1,
        ring,
        freed: 0,
        more: 0,
    };
    send(socket, &packet(&ack, &[]));
    let release = Release { kind: MessageKind::Release as u32, slot, seq, generation, returned: 0, ring };
    send(socket, &packet(&release, &[]));
    send(socket, &number(MessageKind::Bye, 0));
}
