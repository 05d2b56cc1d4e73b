//! A dataset that cannot be read for a while, by no fault of its records: nothing is lost, and everybody hears why they wait.

use std::fs;
use std::process::Command;
use std::time::Duration;

use forebay_client::{Next, Patient};

use crate::daemon::{Daemon, Home};
use crate::trainer::{Event, Seen, Trainer, records};

/// Files are read one by one, as trainers take batches.
const ONE_BY_ONE: &str = "[prefetch]\nthreads = 1\nbudget = \"1kb\"\n";

/// Forty records, and a daemon that serves them once.
fn serve(settings: &str) -> (Home, Daemon) {
    let home = Home::with_pictures(40);
    home.configure(&(home.train(&format!("epochs = 1\n{settings}")) + ONE_BY_ONE));
    let daemon = home.start();
    (home, daemon)
}

fn limit_descriptors(daemon: &Daemon, limit: u32) {
    let mut command = Command::new("prlimit");
    command.arg(format!("--pid={}", daemon.pid())).arg(format!("--nofile={limit}:"));
    assert!(command.status().unwrap().success());
}

/// Every record came once, and none is in quarantine.
fn assert_whole(home: &Home, seen: &[Seen]) {
    assert_eq!(records(seen), (0..40).collect::<Vec<_>>());
    // It succeeds where every epoch adds up.
    home.audit();
    assert_eq!((home.status().bad, home.status().delivered), (0, 40));
}

#[test]
fn a_daemon_without_descriptors_for_a_while_quarantines_nothing() {
    for on_error in ["skip", "replace", "fail"] {
        let (home, mut daemon) = serve(&format!("on_error = {on_error:?}"));
        let mut trainer = Trainer::attach(&home);
        let mut seen = vec![trainer.next().batch()];
        limit_descriptors(&daemon, 3);
        // What was read before is delivered; then the log says why nothing follows.
        while let Ok(Next::Batch(batch)) = trainer.session.next(Some(Duration::from_secs(1)), &mut Patient) {
            seen.push(Seen::of(&batch));
        }
        daemon.hears("the system lacks the resources for a read: Too many open files");
        limit_descriptors(&daemon, 1024);
        seen.extend(trainer.epoch());
        assert_whole(&home, &seen);
        daemon.stop();
    }
}

#[test]
fn a_dataset_that_vanishes_is_waited_for_and_trainers_are_told() {
    let (home, mut daemon) = serve("on_error = \"skip\"\nstorage_timeout = \"1s\"");
    let mut trainer = Trainer::attach(&home);
    let mut seen = vec![trainer.next().batch()];
    fs::rename(home.path("pictures"), home.path("away")).unwrap();
    let stalled = loop {
        match trainer.next() {
            Event::Batch(batch) => seen.push(batch),
            Event::Failed(text) => break text,
            other => panic!("{other:?}"),
        }
    };
    assert!(stalled.contains("the dataset is gone, not only this file"), "{stalled}");
    daemon.hears("the dataset is gone");
    let status = home.status();
    assert!(status.storage.contains("the dataset is gone") && status.storage_wait_ms >= 1000, "{status:?}");
    fs::rename(home.path("away"), home.path("pictures")).unwrap();
    loop {
        match trainer.next() {
            Event::Batch(batch) => seen.push(batch),
            Event::EpochEnd(_) => break,
            // It was said once more before the folder was back.
            Event::Failed(text) if text.contains("the dataset is gone") => {}
            other => panic!("{other:?}"),
        }
    }
    daemon.hears("the storage gives all files again");
    assert_eq!(home.status().storage, "");
    assert_whole(&home, &seen);
}

#[test]
fn a_dataset_without_one_good_record_fails_with_the_reason_and_does_not_run_through_its_epochs() {
    let home = Home::with_pictures(12);
    for number in 0..12 {
        fs::write(home.picture(number), "this is no picture").unwrap();
    }
    for settings in ["on_error = \"skip\"", "on_error = \"replace\""] {
        let daemon = home.serve(settings);
        let mut trainer = Trainer::attach(&home);
        let Event::Failed(reason) = trainer.next() else { panic!("it goes on") };
        // Pictures are decoded ahead: where a thread rests over one of epoch 0, all of epoch 1 are known first.
        let told = [0, 1].map(|epoch| format!("Every record of epoch {epoch} is bad, 12 in all; the last: record "));
        assert!(told.iter().any(|told| reason.contains(told)), "{reason}");
        // Nothing of the epochs behind these is decoded.
        home.wait_for("all are listed", |status| status.bad >= 12 && status.epoch <= 1);
        daemon.kill();
        fs::remove_dir_all(home.path("state")).unwrap();
    }
}
