//! Records that fail a stream.

use std::fs;

use super::{failure, limited_by};
use crate::bench::measure;
use crate::daemon::{Daemon, Home};
use crate::trainer::{Event, Trainer};

/// The stream fails with these words for `bench`, `top` and `status`.
fn fails(home: &Home, words: &str) -> Daemon {
    let said = failure(&mut measure(home));
    assert!(said.contains("The stream has failed: ") && said.contains(words), "{said}");
    let daemon = home.start();
    let mut trainer = Trainer::attach(home);
    while matches!(trainer.next(), Event::Batch(_) | Event::EpochEnd(_)) {}
    let verdict = limited_by(home, "failed");
    assert!(verdict.starts_with("The stream has failed: ") && verdict.contains(words), "{verdict}");
    daemon
}

#[test]
fn a_bad_record_is_named() {
    let home = Home::with_pictures(8);
    fs::write(home.picture(0), "no picture").unwrap();
    home.configure(&home.train("on_error = \"fail\""));
    let daemon = fails(&home, "0000.jpg");
    let status = String::from_utf8(home.command(&["status"]).stdout).unwrap();
    assert!(status.contains("verdict  The stream has failed"), "{status}");
    drop(daemon);
}

#[test]
fn more_bad_records_than_may_be_are_named() {
    let home = Home::with_pictures(8);
    for number in 0..3 {
        fs::write(home.picture(number), "no picture").unwrap();
    }
    home.configure(&home.train("on_error = \"skip\"\nmax_failures = 1"));
    fails(&home, "2 bad records are more than max_failures (1)");
}

#[test]
fn pictures_that_are_larger_than_may_be_are_named() {
    let home = Home::with_pictures(8);
    home.configure(&(home.train("") + "[decode]\npixel_limit = 431\n"));
    fails(&home, "432 pixels");
}
