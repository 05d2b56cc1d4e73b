//! `forebay top` and `status` say what limits a stream, where a fault is known: each fault is made, and looked for by its name.

use std::fs;
use std::time::Instant;

use forebay_client::{Next, Patient};
use serde_json::Value;

use crate::daemon::{Home, PATIENCE, stderr};
use crate::trainer::{Event, Trainer};

/// What `forebay top` shows of the only stream.
fn top(home: &Home) -> Value {
    let output = home.command(&["top", "--once", "--json", "--every", "1s"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    shown["streams"][0].clone()
}

/// Looks until the limit is this one, and answers the verdict.
fn limited_by(home: &Home, limit: &str) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let shown = top(home);
        if shown["limit"] == limit {
            return shown["verdict"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < until, "it is never said that {limit} limits it: {shown}");
    }
}

#[test]
fn a_stream_without_a_trainer_and_one_with_a_slow_one_are_told_apart() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("");
    assert_eq!(limited_by(&home, "nobody"), "No trainer is attached.");
    let mut trainer = Trainer::attach(&home);
    trainer.next().batch();
    // It takes nothing more. The ring fills, and then no slot is free.
    let verdict = limited_by(&home, "trainer");
    assert!(verdict.starts_with("The bottleneck is the trainer"), "{verdict}");
    let shown = top(&home);
    assert_eq!(
        (&shown["trainers"][0]["pid"], &shown["pictures_per_second"]),
        (&std::process::id().into(), &0.0.into())
    );
    let page = home.command(&["top", "--once", "--every", "1s"]);
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("stream train: ") && page.contains("40 records") && page.contains(&verdict[..30]), "{page}");
    drop(daemon);
}

#[test]
fn a_trainer_that_keeps_its_batches_is_named() {
    let home = Home::with_pictures(400);
    let daemon = home.serve("");
    let mut trainer = Trainer::attach(&home);
    let mut kept = Vec::new();
    // It is refused more batches than it may hold.
    while let Ok(Next::Batch(batch)) = trainer.session.next(Some(PATIENCE), &mut Patient) {
        kept.push(batch);
    }
    let verdict = limited_by(&home, "trainer");
    let named = format!("Process {} holds {} batches", std::process::id(), kept.len());
    assert!(verdict.contains(&named), "{verdict}");
    drop(daemon);
}

#[test]
fn pictures_that_take_long_to_decode_are_named() {
    let home = Home::with_pictures(0);
    for number in 0..8 {
        let noise = |x: u32, y: u32| image::Rgb([x, y, x * y + number].map(|value| value.to_le_bytes()[0]));
        let picture = image::RgbImage::from_fn(900, 700, noise);
        picture.save(home.path("pictures").join(format!("{number}.png"))).unwrap();
    }
    home.configure(&(home.train("") + "[decode]\nthreads = 1\n"));
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let looking = std::thread::spawn(move || (limited_by(&home, "decoding"), home));
    while !looking.is_finished() {
        assert!(matches!(trainer.next(), Event::Batch(_) | Event::EpochEnd(_)));
    }
    let (verdict, _home) = looking.join().unwrap();
    assert!(verdict.contains("100 % of the pictures are not JPEG"), "{verdict}");
    drop(daemon);
}

#[test]
fn the_end_of_a_run_is_no_bottleneck() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    while !matches!(trainer.next(), Event::Done) {}
    // It stays attached, as for a last evaluation.
    assert_eq!(limited_by(&home, "complete"), "The last epoch is complete.");
    drop(daemon);
}

#[test]
fn a_bad_record_is_named() {
    let home = Home::with_pictures(8);
    fs::write(home.picture(0), "no picture").unwrap();
    let daemon = home.serve("on_error = \"fail\"");
    let mut trainer = Trainer::attach(&home);
    assert!(matches!(trainer.next(), Event::Failed(_)));
    let verdict = limited_by(&home, "failed");
    assert!(verdict.contains("0000.jpg"), "{verdict}");
    let status = home.command(&["status"]);
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("verdict  The stream has failed"), "{status}");
    drop(daemon);
}

#[test]
fn a_view_needs_a_terminal_and_a_daemon() {
    let home = Home::with_pictures(1);
    let nobody = home.command(&["top", "--once"]);
    assert!(stderr(&nobody).contains("No daemon answers"), "{}", stderr(&nobody));
    let _daemon = home.serve("");
    let no_terminal = home.command(&["top"]);
    assert_eq!(no_terminal.status.code(), Some(2));
    assert!(stderr(&no_terminal).contains("--once"), "{}", stderr(&no_terminal));
}
