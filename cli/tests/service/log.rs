//! A log that takes no lines, and a service manager that reads no messages: neither ends a stream or holds it up. And a log of
//! JSON.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};

use rustix::io::{Errno, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};

use crate::daemon::{Daemon, Home};
use crate::trainer::{Trainer, records};

/// A pipe that is full, with the end that is not read.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap();
    while write(&writer, &[0; 4096]).is_ok() {}
    assert_eq!(write(&writer, b"x"), Err(Errno::AGAIN));
    // A daemon's log is a pipe whose writers wait.
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::empty()).unwrap();
    (reader, writer)
}

/// Starts the daemon with this log, and waits until it tells its service manager that it is ready.
fn start(home: &Home, log: impl Into<Stdio>) -> Child {
    let manager = UnixDatagram::bind(home.path("manager")).unwrap();
    let mut command: Command = home.serve_command();
    command.env("NOTIFY_SOCKET", home.path("manager")).env("FOREBAY_LOG", "debug");
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let mut message = [0; 64];
    let len = manager.recv(&mut message).unwrap();
    assert_eq!(&message[..len], b"READY=1\n");
    child
}

fn reads_all_and_ends(home: &Home, mut daemon: Child) {
    assert_eq!(records(&Trainer::attach(home).epoch()), (0..40).collect::<Vec<_>>());
    assert_eq!(home.audit()[1], "epoch 0: 40 of 40 records accounted for (40 delivered), checksum equal");
    kill_process(Pid::from_child(&daemon), Signal::TERM).unwrap();
    assert!(daemon.wait().unwrap().success());
}

#[test]
fn a_log_that_cannot_be_written_ends_no_stream() {
    let (reader, closed) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    drop(reader);
    let (_reader, full) = full_pipe();
    let disk = OwnedFd::from(File::options().write(true).open("/dev/full").unwrap());
    for log in [closed, full, disk] {
        let home = Home::with_pictures(40);
        home.configure(&home.train("epochs = 1"));
        let daemon = start(&home, log);
        reads_all_and_ends(&home, daemon);
    }
}

#[test]
fn a_log_in_json_has_an_object_in_each_line() {
    let home = Home::with_pictures(4);
    home.configure(&home.train("epochs = 1"));
    let mut command = home.serve_command();
    command.env("FOREBAY_LOG_FORMAT", "json");
    let mut daemon = Daemon::spawn(command);
    daemon.hears("\"message\":\"ready\"");
    let mut lines = daemon.said().lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect(line));
    let ready = lines.rfind(|line| line["message"] == "ready").unwrap();
    assert_eq!((ready["level"].as_str(), ready["streams"].as_u64()), (Some("INFO"), Some(1)), "{ready}");
    assert!(ready["timestamp"].is_string(), "{ready}");
    daemon.stop();

    let mut command = home.serve_command();
    command.env("FOREBAY_LOG_FORMAT", "xml");
    let (_, said) = Daemon::spawn(command).fails();
    assert!(said.contains("FOREBAY_LOG_FORMAT is \"xml\", which is no format: give text or json"), "{said}");
}

#[test]
fn a_service_manager_that_reads_nothing_holds_up_no_stream() {
    let home = Home::with_pictures(40);
    home.configure(&home.train("epochs = 1"));
    let manager = UnixDatagram::bind(home.path("manager")).unwrap();
    let earlier = UnixDatagram::unbound().unwrap();
    earlier.set_nonblocking(true).unwrap();
    while earlier.send_to(b"STATUS=\n", home.path("manager")).is_ok() {}
    let mut command = home.serve_command();
    command.env("NOTIFY_SOCKET", home.path("manager")).env("WATCHDOG_USEC", "10000");
    let mut daemon = Daemon::spawn(command);
    daemon.hears("ready");
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..40).collect::<Vec<_>>());
    daemon.stop();
    drop(manager);
}
