//! A ledger that cannot be written for a while: trainers wait and are told why, nothing is lost, and the daemon can
//! still be asked and ended. The disk is full by the limit of a file's size, which also stands for its own signal.

use forebay_client::{Next, Notice, Watch};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use crate::daemon::{Daemon, Home, stderr};
use crate::environment::get;
use crate::trainer::{Event, Trainer, records};

/// No file of the daemon may be written, or any may be.
pub(crate) fn fill(daemon: &Daemon, full: bool) {
    let pid = Pid::from_raw(daemon.pid().cast_signed());
    let maximum = prlimit(pid, Resource::Fsize, Rlimit { current: full.then_some(0), maximum: None }).unwrap().maximum;
    assert_eq!(maximum, None, "this test needs files of any size to be allowed to it");
}

/// Waits until it has heard these words.
struct Hears {
    words: &'static str,
    heard: Vec<String>,
}

impl Watch for Hears {
    fn keep_waiting(&mut self) -> bool {
        !self.heard.iter().any(|heard| heard.contains(self.words))
    }

    fn notice(&mut self, notice: &Notice) {
        self.heard.push(notice.to_string());
    }
}

/// Consumes batches until the daemon tells why no further one comes.
pub(crate) fn consume_until_told(trainer: &mut Trainer, own: &mut Vec<u64>) -> Vec<String> {
    let mut hears = Hears { words: "cannot write its ledger", heard: Vec::new() };
    while let Ok(next) = trainer.session.next(None, &mut hears) {
        let Next::Batch(batch) = next else { panic!("an epoch cannot end while its receipts wait") };
        own.extend(batch.records().iter().map(|record| u64::try_from(*record).unwrap()));
    }
    hears.heard
}

#[test]
fn a_trainer_is_told_why_nothing_comes_and_continues_when_the_disk_has_room_again() {
    let home = Home::with_pictures(80);
    let mut daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    let mut seen = trainer.next().batch().own;
    home.wait_for("the status has something to remember", |status| status.epoch == 0);
    fill(&daemon, true);
    let heard = consume_until_told(&mut trainer, &mut seen);
    assert!(heard.iter().any(|words| words.contains("ledger.redb") && words.contains("too large")), "{heard:?}");
    daemon.hears("the ledger cannot be reached or written");

    let status = String::from_utf8(home.command(&["status"]).stdout).unwrap();
    assert!(
        status.contains("LEDGER  could not be reached or written for") && status.contains("ledger.redb"),
        "{status}"
    );
    let unready = get(&home, "/readyz");
    assert!(unready.starts_with("HTTP/1.1 503") && unready.contains("ledger.redb"), "{unready}");
    assert!(get(&home, "/healthz").starts_with("HTTP/1.1 200"), "a restart would make no room");
    let audit = home.command(&["audit"]);
    assert_eq!(audit.status.code(), Some(1));
    assert!(stderr(&audit).contains("the ledger could not be reached or written for"), "{}", stderr(&audit));

    fill(&daemon, false);
    daemon.hears("the ledger is written again");
    let mut rest = Vec::new();
    loop {
        match trainer.next() {
            Event::Batch(batch) => rest.extend(batch.own),
            Event::EpochEnd(_) => break,
            other => panic!("{other:?} came in the middle of an epoch"),
        }
    }
    seen.extend(rest);
    seen.sort_unstable();
    assert_eq!(seen, (0..80).collect::<Vec<_>>(), "each once");
    assert_eq!(home.audit()[1], "epoch 0: 80 of 80 records accounted for (80 delivered), checksum equal");
    daemon.stop();
}

#[test]
fn rule_21_a_daemon_whose_ledger_cannot_be_written_ends_at_the_second_signal_and_loses_nothing() {
    let home = Home::with_pictures(40);
    let mut daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    fill(&daemon, true);
    consume_until_told(&mut trainer, &mut Vec::new());
    daemon.signal(Signal::TERM);
    daemon.hears("draining");
    daemon.signal(Signal::TERM);
    let (status, said) = daemon.ends();
    assert_eq!(status.code(), Some(1), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.contains("the ledger could not be reached or written for")
            && last.contains("Nothing that was acknowledged"),
        "{said}"
    );

    let _daemon = home.start();
    trainer.epoch();
    let audit = home.audit();
    assert!(audit[1].starts_with("epoch 0: 40 of 40 records accounted for"), "{audit:?}");
}

#[test]
fn rule_21_a_ledger_that_cannot_be_written_holds_up_the_end_no_longer_than_a_drain() {
    let home = Home::with_pictures(40);
    home.configure(&home.train("epochs = 1"));
    let text = std::fs::read_to_string(home.path("forebay.toml")).unwrap();
    std::fs::write(home.path("forebay.toml"), text.replace("drain_timeout = \"1h\"", "drain_timeout = \"10ms\""))
        .unwrap();
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    fill(&daemon, true);
    consume_until_told(&mut trainer, &mut Vec::new());
    daemon.signal(Signal::INT);
    let (status, said) = daemon.ends();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("cause=\"SIGINT\""), "{said}");
}

#[test]
fn a_command_gives_up_on_a_daemon_that_does_not_answer() {
    let home = Home::with_pictures(4);
    let daemon = home.serve("");
    daemon.signal(Signal::STOP);
    let sheet = home.path("sheet.png").display().to_string();
    let commands = [
        &["status"][..],
        &["audit"],
        &["run", "new", "train"],
        &["status", "--quarantine"],
        &["reload"],
        &["preview", "--stream", "train", "-o", &sheet],
    ];
    for command in commands {
        let output = home.command(&[command, &["--timeout", "100ms"]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(stderr(&output).contains("has not answered for 0.1 s"), "{command:?}: {}", stderr(&output));
    }
    daemon.signal(Signal::CONT);
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..4).collect::<Vec<_>>());
}
