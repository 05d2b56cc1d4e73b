//! Trainers that are slow, or that are not there.

use forebay_client::{Next, Patient};

use super::{benched, limited_by, top};
use crate::daemon::{Home, PATIENCE};
use crate::trainer::{Event, Puppet, Trainer};

#[test]
fn a_slow_trainer_of_a_measurement_is_named() {
    let home = Home::with_pictures(400);
    home.configure(&home.train(""));
    let said = benched(&home, &["--step", "200ms"]);
    assert!(said.starts_with("The bottleneck is the trainer: batches were ready while it was busy."), "{said}");
    assert!(!benched(&home, &[]).contains("trainer"), "a trainer that does nothing is not slow");
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
fn the_slowest_of_two_groups_is_named() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("groups = \"each\"");
    let mut slow = Puppet::with_one_credit(&home);
    slow.next().batch();
    let mut fast = Puppet::attach(&home);
    fast.run();
    let verdict = limited_by(&home, "trainer");
    assert!(verdict.contains(&format!("The slowest is the group of process {}", slow.pid())), "{verdict}");
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
