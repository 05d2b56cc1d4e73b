//! Connections without end, and a daemon with few descriptors: nobody is kept out by those who say nothing.

use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use forebay_ring::{Sent, Socket, packet, text_code};

use crate::daemon::{Daemon, Home, PATIENCE, stderr};
use crate::environment::scrape;
use crate::openings::{answer, refusal, silent_stream};
use crate::speaker::attach;
use crate::trainer::{Trainer, records};

/// Descriptors that the daemon may have.
const DESCRIPTORS: usize = 160;

/// The command that serves the configuration with so few descriptors.
fn with_few_descriptors(home: &Home) -> Command {
    let serve = home.serve_command();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {DESCRIPTORS}; exec \"$@\""), "sh"]);
    command.arg(serve.get_program()).args(serve.get_args());
    command
}

fn descriptors(daemon: &Daemon) -> usize {
    fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap().count()
}

/// Connections to the socket of the daemon's trainers that the daemon has not closed.
fn connections(home: &Home) -> usize {
    let sockets = fs::read_to_string("/proc/net/unix").unwrap();
    let path = home.socket();
    let named = sockets.lines().filter(|line| line.ends_with(path.to_str().unwrap())).count();
    named.checked_sub(1).expect("the socket that listens is there")
}

#[test]
fn silent_connections_to_any_socket_keep_nobody_out() {
    let home = Home::with_pictures(8);
    home.configure(&home.train("epochs = 1"));
    let mut daemon = Daemon::spawn(with_few_descriptors(&home));
    daemon.hears("ready");
    let socket = |name: &str| home.path("sockets").join(name);
    let connect = |name| (0..2 * DESCRIPTORS).map(|_| UnixStream::connect(socket(name)).unwrap()).collect();
    let silent: [Vec<UnixStream>; 2] = ["control.sock", "metrics.sock"].map(connect);
    let askers: Vec<Socket> = (0..2 * DESCRIPTORS).map(|_| Socket::connect(&home.socket()).unwrap()).collect();
    let status = home.command(&["status"]);
    assert!(status.status.success(), "{}", stderr(&status));
    assert!(scrape(&home).contains("forebay_stream_up"));
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>());
    assert!(descriptors(&daemon) < DESCRIPTORS, "none was ever missing");
    drop((silent, askers));
    daemon.stop();
}

#[test]
fn trainers_that_hang_up_while_their_stream_is_being_opened_are_let_go() {
    let home = Home::with_pictures(8);
    home.configure(&silent_stream(&home, "train", "epochs = 1"));
    let mut daemon = Daemon::spawn(with_few_descriptors(&home));
    daemon.hears("opening the stream");
    for _ in 0..2 * DESCRIPTORS {
        let trainer = Socket::connect(&home.socket()).unwrap();
        assert_eq!(trainer.send(&packet(&attach(), &[]), &[]).unwrap(), Sent::Done);
    }
    // Connections are taken in their order: when this one is answered, the others were heard.
    assert_eq!(refusal(&home, "nowhere", None).code, text_code::NOT_FOUND);
    let until = Instant::now() + PATIENCE;
    while connections(&home) > 0 {
        assert!(Instant::now() < until, "{} connections are kept", connections(&home));
        thread::park_timeout(Duration::from_millis(10));
    }
    answer(&home);
    assert_eq!(records(&Trainer::attach(&home).epoch()), [0, 1, 2, 3]);
    daemon.stop();
}
