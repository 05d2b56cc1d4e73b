//! `forebay bench --config`: it measures a stream beside the daemon that serves it, and takes no part in its run.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use forebay_proto::v1::StatusRequest;
use forebay_proto::v1::control_client::ControlClient;
use rustix::process::Signal;

use crate::daemon::{Daemon, Home, channel, names, runtime, stderr, until};
use crate::trainer::Trainer;

/// The command that measures the configured stream.
pub(crate) fn measure(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["bench", "--config"]).arg(home.path("forebay.toml")).stdin(Stdio::null());
    command
}

/// A measurement for an hour.
pub(crate) struct Measured {
    pub(crate) process: Daemon,
}

impl Measured {
    /// Measures the configured stream, and returns when batches were delivered. Its sockets are in the folder `temporary`.
    pub(crate) fn begin(home: &Home) -> Self {
        let temporary = home.path("temporary");
        fs::create_dir(&temporary).unwrap();
        let mut command = measure(home);
        command.args(["--seconds", "3600"]).env("TMPDIR", &temporary);
        let process = Daemon::spawn(command);
        let socket = || -> Option<PathBuf> {
            let folder = fs::read_dir(&temporary).unwrap().next()?.unwrap().path();
            Some(folder.join("control.sock")).filter(|socket| UnixStream::connect(socket).is_ok())
        };
        let socket = until("a measurement has its sockets", socket);
        let delivered = async || {
            let mut client = ControlClient::new(channel(socket.clone()).await);
            let status = client.status(StatusRequest {}).await.ok()?.into_inner();
            status.streams.first().filter(|stream| stream.delivered > 0).map(drop)
        };
        until("batches are measured", || runtime().block_on(delivered()));
        Self { process }
    }

    /// What it says as it fails.
    pub(crate) fn fails(self) -> String {
        let (code, said) = self.process.fails();
        assert_eq!(code, Some(1), "{said}");
        said
    }
}

/// The text of a measurement that succeeds.
fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_measurement_takes_no_part_in_the_run_of_its_stream() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    let mut seen = vec![trainer.next().batch()];
    let state = || names(&home.path("state"));
    let there = state();
    let said = text(&measure(&home).args(["--seconds", "1"]).output().unwrap());
    // One epoch has 40 pictures, and a measurement has no last epoch.
    let pictures: u64 = said.split_once(" pictures/s (").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    assert!(pictures > 40, "{said}");
    assert_eq!(state(), there, "a ledger is left");
    assert_eq!(home.status().consumers.len(), 1);
    seen.extend(trainer.epoch());
    assert_eq!(crate::trainer::records(&seen), (0..40).collect::<Vec<_>>());
    home.audit();
    drop(daemon);
}

#[test]
fn signals_remove_the_ledger_of_a_measurement() {
    for signals in [1, 2] {
        let home = Home::with_pictures(40);
        fs::create_dir(home.path("state")).unwrap();
        home.configure(&home.train(""));
        let bench = Measured::begin(&home);
        let ledger = home.path("state").join(&names(&home.path("state"))[0]).join("ledger.redb");
        assert!(ledger.exists(), "it is on the disk of the stream's ledgers");
        for _ in 0..signals {
            bench.process.signal(Signal::INT);
        }
        let (status, said) = bench.process.ends();
        assert_eq!(status.code(), Some(130), "{said}");
        for folder in ["state", "temporary"] {
            assert_eq!(names(&home.path(folder)), [""; 0], "{signals} signals");
        }
    }
}

#[test]
fn a_coordinator_elsewhere_is_not_asked_and_this_is_said() {
    let home = Home::with_pictures(40);
    let nowhere = format!("unix:{}", home.path("nowhere.sock").display());
    let head = format!("[coordinator]\nendpoint = \"{nowhere}\"\n");
    fs::write(home.path("forebay.toml"), head + &home.train("num_shards = 2")).unwrap();
    let said = text(&measure(&home).args(["--seconds", "1"]).output().unwrap());
    for words in
        [&*format!("The coordinator {nowhere} is not asked and not measured"), "One trainer reads all 2 shards."]
    {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn options_of_the_command_line_come_before_those_of_the_configuration() {
    let home = Home::with_pictures(40);
    home.configure(&(home.train("num_threads = 3") + "[decode]\nthreads = 3\n"));
    let figures = |args: &[&str]| {
        let said = text(&measure(&home).args(["--seconds", "1", "--json"]).args(args).output().unwrap());
        let figures: serde_json::Value = serde_json::from_str(&said).unwrap();
        figures
    };
    let [as_written, changed] = [&[][..], &["--threads", "2", "--step", "20ms"]].map(figures);
    assert_eq!((&as_written["stream"], &as_written["threads"]["decode"]), (&"train".into(), &3.into()));
    assert_eq!((&as_written["step"], &as_written["notes"]), (&serde_json::Value::Null, &Vec::<String>::new().into()));
    assert_eq!((&changed["threads"]["decode"], &changed["step"]["seconds"]), (&2.into(), &0.02.into()));
    // Steps of 4 pictures and at least 20 ms.
    let of_steps = changed["step"]["pictures_per_second"].as_f64().unwrap();
    assert!(of_steps <= 200.0 && of_steps >= changed["pictures_per_second"].as_f64().unwrap(), "{changed}");
    for (args, words) in [
        (&["--size", "8"][..], "cannot be used with"),
        (&["--stream", "eval"], "no stream \"eval\". It has: train."),
        (&["--batch-size", "0"], "0 is not in"),
    ] {
        let output = measure(&home).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}
