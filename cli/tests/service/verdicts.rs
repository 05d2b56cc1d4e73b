//! `forebay top`, `status` and `bench` say what limits a stream. Each fault is made here, and looked for by its name.
//!
//! | fault | top and status | bench |
//! |---|---|---|
//! | a slow disk | reading, `prefetch.threads` | the same |
//! | a slow network | reading, `prefetch.requests` | the same |
//! | a small budget for files that are read ahead | reading, `prefetch.budget` | the same |
//! | a dataset that is gone | storage, and why | the same |
//! | too few decode threads | decoding | the same |
//! | huge PNGs | decoding, not JPEG | the same |
//! | a slow trainer, and so a full ring | trainer | the same, with `--step` |
//! | a bad record with `on_error = "fail"` | failed, the record | the same |
//! | more bad records than `max_failures` | failed, both numbers | the same |
//! | pictures above `decode.pixel_limit` | failed, both numbers | the same |
//! | a full disk of the ledger | ledger, the file | the same |
//! | leases of one record | ledger, `lease_size` | the same |
//! | a slow disk of the ledger | ledger, leases | the same |
//! | a slow coordinator elsewhere | ledger, leases | no: it does not ask the coordinator |
//!
//! That is 14 of 14 for `top` and `status`, and 13 of 14 for `bench`. What only a running daemon can meet is not among them:
//! nobody is attached, a trainer keeps its batches, one of several groups is slow, the run is over.

mod ledgers;
mod pictures;
mod reading;
mod records;
mod trainers;

use std::collections::VecDeque;
use std::process::{Command, Output};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::bench::measure;
use crate::daemon::{Home, PATIENCE, stderr};
use crate::trainer::{Event, Trainer};

/// What a command shows of the only stream.
fn shown(home: &Home, command: &[&str]) -> Value {
    let output = home.command(command);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    shown["streams"][0].clone()
}

fn top(home: &Home) -> Value {
    top_every(home, "1s")
}

fn top_every(home: &Home, every: &str) -> Value {
    shown(home, &["top", "--once", "--json", "--every", every])
}

/// So many of the last [`LAST`] answers name the limit: what comes in bursts is not in each of them.
const RIGHT: usize = 3;
const LAST: usize = 4;

/// Looks until `top` and `status` name this limit and go on naming it. Answers the verdict of `top`.
fn limited_by(home: &Home, limit: &str) -> String {
    limited_every(home, "1s", limit)
}

/// As [`limited_by`], where `top` looks for this long each time.
fn limited_every(home: &Home, every: &str, limit: &str) -> String {
    let until = Instant::now() + 2 * PATIENCE;
    let mut answers = VecDeque::new();
    loop {
        answers.push_front([top_every(home, every), shown(home, &["status", "--json"])]);
        answers.truncate(LAST);
        let mut right = answers.iter().filter(|both| both.iter().all(|stream| stream["limit"] == limit));
        if right.clone().count() >= RIGHT {
            return right.next().unwrap()[0]["verdict"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < until, "it is not said again and again that {limit} limits it: {answers:?}");
    }
}

/// As [`limited_by`], while the trainer takes all that comes.
fn limited_while_reading(home: &Home, trainer: &mut Trainer, limit: &str) -> String {
    limited_while_reading_every(home, trainer, "1s", limit)
}

/// As [`limited_every`], while the trainer takes all that comes.
fn limited_while_reading_every(home: &Home, trainer: &mut Trainer, every: &str, limit: &str) -> String {
    thread::scope(|scope| {
        let looking = scope.spawn(|| limited_every(home, every, limit));
        while !looking.is_finished() {
            let event = trainer.next();
            assert!(matches!(event, Event::Batch(_) | Event::EpochEnd(_)), "{event:?}");
        }
        looking.join().unwrap()
    })
}

/// What `forebay bench` says last of the configured stream.
fn benched(home: &Home, args: &[&str]) -> String {
    let output = measure(home).args(["--seconds", "1"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned()
}

/// Why `forebay bench` fails.
fn failure(bench: &mut Command) -> String {
    let output: Output = bench.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(output.stdout, b"", "it has figures");
    stderr(&output)
}

#[test]
fn a_view_needs_a_terminal_and_a_daemon() {
    let home = Home::with_pictures(1);
    let no_daemon = home.command(&["top", "--once"]);
    assert!(stderr(&no_daemon).contains("No daemon answers"), "{}", stderr(&no_daemon));
    let _daemon = home.serve("");
    let no_terminal = home.command(&["top"]);
    assert_eq!(no_terminal.status.code(), Some(2));
    assert!(stderr(&no_terminal).contains("--once"), "{}", stderr(&no_terminal));
}
