//! What the rest of the machine sees of a daemon: numbers, health, and nothing in places that are not its own.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::Signal;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::daemon::{Daemon, Home, PATIENCE, runtime};
use crate::trainer::Trainer;

/// The answer of the metrics' socket.
pub(crate) fn get(home: &Home, path: &str) -> String {
    let mut socket = UnixStream::connect(home.path("sockets").join("metrics.sock")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: forebay\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

/// What Prometheus gets.
pub(crate) fn scrape(home: &Home) -> String {
    let text = get(home, "/metrics");
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    text
}

#[test]
fn metrics_over_the_socket_count_what_trainers_consumed() {
    let home = Home::with_pictures(10);
    let _daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    trainer.epoch();
    let until = Instant::now() + PATIENCE;
    let wanted = [
        "forebay_records_delivered_total{stream=\"train\"} 10",
        "forebay_batches_total{stream=\"train\"} 3",
        "forebay_consumers{stream=\"train\"} 1",
        "forebay_ring_slots{state=\"free\",stream=\"train\"} ",
        "forebay_stage_reader_wait_seconds_total{stage=\"batch\",stream=\"train\"} ",
        "forebay_ledger_writable 1",
        "forebay_stream_limit{limit=\"complete\",stream=\"train\"} 1",
        "forebay_stream_limit{limit=\"decoding\",stream=\"train\"} 0",
        "process_open_fds ",
        "forebay_build_info{version=",
    ];
    loop {
        let text = scrape(&home);
        if wanted.iter().all(|line| text.contains(line)) {
            break;
        }
        assert!(Instant::now() < until, "{wanted:?} are not in:\n{text}");
        // Numbers are brought up to date once a second; nobody unparks this thread.
        thread::park_timeout(Duration::from_millis(50));
    }
}

#[test]
fn a_daemon_is_ready_while_commands_reach_it() {
    let home = Home::with_pictures(10);
    let _daemon = home.serve("epochs = 1");
    for (path, word) in [("/healthz", "ok"), ("/readyz", "ready")] {
        let answer = get(&home, path);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(&format!("\r\n\r\n{word}\n")), "{answer}");
    }
    fs::remove_file(home.path("sockets").join("control.sock")).unwrap();
    let answer = get(&home, "/readyz");
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("nothing answers at the control socket"), "{answer}");
    assert!(get(&home, "/healthz").starts_with("HTTP/1.1 200"), "its streams go on");
}

#[test]
fn a_ready_daemon_is_healthy_and_tells_its_status() {
    let home = Home::with_pictures(10);
    let daemon = home.serve("epochs = 1");
    let health = runtime().block_on(async {
        let mut client = HealthClient::new(home.channel().await);
        let request = HealthCheckRequest { service: "forebay.v1.Control".into() };
        client.check(request).await.unwrap().into_inner().status()
    });
    assert_eq!(health, ServingStatus::Serving);
    let mut trainer = Trainer::attach(&home);
    trainer.next().batch();
    let output = home.command(&["status"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (pid, trainer) = (daemon.pid(), std::process::id());
    for words in [format!("process {pid}"), "stream train (run default)".into(), format!("process {trainer} of user")] {
        assert!(text.contains(&words), "{words:?} is not in: {text}");
    }
}

#[test]
fn nothing_of_a_daemon_stands_in_dev_shm_or_outside_of_its_folders() {
    let home = Home::with_pictures(10);
    let daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    trainer.next().batch();
    for process in [daemon.pid(), std::process::id()] {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
        assert!(!maps.contains(" /dev/shm"), "{maps}");
    }
    let own = home.path(".").canonicalize().unwrap();
    let files = fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap();
    for file in files.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()) {
        let unnamed = ["/memfd:", "/dev/null"].iter().any(|start| file.to_string_lossy().starts_with(start));
        let named = file.is_absolute() && !unnamed;
        assert!(!named || file.starts_with(&own), "{} is open", file.display());
    }
}

#[test]
fn the_log_tells_who_comes_and_goes_and_what_begins_and_ends() {
    let home = Home::with_pictures(8);
    home.configure(&home.train("epochs = 2"));
    let mut daemon = Daemon::spawn(home.serve_command());
    daemon.hears("the stream is open");
    daemon.hears("ready");
    let mut trainer = Trainer::attach(&home);
    let pid = std::process::id();
    daemon.hears(&format!("a trainer attached stream=\"train\" consumer=1 pid={pid}"));
    trainer.epoch();
    daemon.hears("the epoch is complete stream=\"train\" epoch=0");
    drop(trainer);
    daemon.hears(&format!("a trainer left stream=\"train\" consumer=1 pid={pid}"));
    daemon.signal(Signal::TERM);
    daemon.hears("cause=\"SIGTERM\"");
    daemon.hears("the stream is closed stream=train");
    let (status, said) = daemon.ends();
    assert!(status.success(), "{said}");
}
