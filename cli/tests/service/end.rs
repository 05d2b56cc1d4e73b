//! SIGTERM: trainers finish what they hold, the rest is returned, and nothing is left behind.

use forebay_client::{Next, Options, Patient};
use rustix::process::Signal;

use crate::daemon::{Home, names};
use crate::trainer::{Puppet, Trainer, options, records};

#[test]
fn rule_21_a_batch_in_hand_can_be_finished_and_no_new_one_comes() {
    let home = Home::with_pictures(40);
    let mut daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::with(&home, Options { credits: 1, ..options() }).unwrap();
    let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
    let records_in_hand: Vec<i64> = batch.records().to_vec();
    home.wait_for("further batches stand ready", |status| status.slots_ready > 0);
    daemon.signal(Signal::TERM);
    daemon.hears("draining");
    home.wait_for("what nobody holds is dropped", |status| status.slots_ready == 0);
    // Long after the daemon was told to end, the trainer is done with it.
    batch.ack().unwrap();
    drop(batch);
    let (status, said) = daemon.ends();
    assert!(status.success(), "{status}:\n{said}");
    assert_eq!(records_in_hand, [0, 1, 2, 3]);

    let _daemon = home.start();
    assert_eq!(home.status().delivered, 4, "its receipt was taken");
    assert_eq!(records(&trainer.epoch()), (4..40).collect::<Vec<_>>());
    let audit = trainer.session.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].delivered, audit[0].adds_up), (40, Some(true)));
}

#[test]
fn rule_21_a_second_signal_ends_it_at_once_and_what_is_held_is_returned() {
    let home = Home::with_pictures(20);
    let mut daemon = home.serve("epochs = 1");
    // With one credit, so that it was offered this batch alone.
    let mut holder = Puppet::with_one_credit(&home);
    let held = holder.next().batch();
    daemon.signal(Signal::TERM);
    daemon.hears("draining");
    daemon.signal(Signal::TERM);
    let (status, said) = daemon.ends();
    assert!(status.success() && said.contains("a second signal"), "{status}:\n{said}");
    holder.kill();
    let _daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let all = trainer.epoch();
    assert_eq!(records(&all), (0..20).collect::<Vec<_>>());
    assert!(all.iter().any(|seen| seen.records == held.records));
    let audit = trainer.session.audit(&mut Patient).unwrap();
    let repeats = audit[0].repeats;
    assert_eq!((repeats.daemon_stopped, repeats.total()), (4, 4), "an orderly end is no death: {repeats:?}");
}

#[test]
fn rule_21_a_trainer_that_is_not_done_when_its_daemon_stops_keeps_its_batch_for_the_next_one() {
    let home = Home::with_pictures(200);
    let mut daemon = home.serve_little_ahead("epochs = 1");
    // With one credit, so that nothing else was offered that it might have seen.
    let mut trainer = Trainer::with(&home, Options { credits: 1, ..options() }).unwrap();
    let Next::Batch(held) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("a batch") };
    let held_records: Vec<i64> = held.records().to_vec();
    daemon.signal(Signal::TERM);
    daemon.hears("draining");
    daemon.signal(Signal::TERM);
    let (status, said) = daemon.ends();
    assert!(status.success(), "{status}:\n{said}");
    let _daemon = home.start();
    drop(held);
    // It acks the batch by asking for the next.
    assert_eq!((held_records, records(&trainer.epoch())), (vec![0, 1, 2, 3], (4..200).collect()));
    let audit = trainer.session.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].delivered, audit[0].repeats.total(), audit[0].adds_up), (200, 0, Some(true)));
}

#[test]
fn rule_15_a_restart_that_nobody_noticed_is_no_repetition_in_the_audit() {
    let home = Home::with_pictures(40);
    let daemon = home.serve("epochs = 1");
    home.wait_for("batches stand ready", |status| status.slots_ready > 1);
    daemon.stop();
    for _ in 0..2 {
        let daemon = home.start();
        home.wait_for("batches stand ready", |status| status.slots_ready > 1);
        daemon.stop();
    }
    let _daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    assert_eq!(records(&trainer.epoch()), (0..40).collect::<Vec<_>>());
    assert_eq!(trainer.session.audit(&mut Patient).unwrap()[0].repeats.total(), 0);
}

#[test]
fn rule_21_an_idle_daemon_ends_at_once_and_leaves_nothing_but_its_ledger() {
    let home = Home::with_pictures(8);
    let daemon = home.serve("");
    assert_eq!(names(&home.path("sockets")), ["control.sock", "forebay.sock", "forebay.sock.lock", "metrics.sock"]);
    daemon.stop();
    assert_eq!(names(&home.path("sockets")), [""; 0]);
    assert_eq!(names(&home.path("state")), ["ledger.redb"]);
    let daemon = home.start();
    daemon.signal(Signal::INT);
    let (status, said) = daemon.ends();
    assert!(status.success(), "{said}");
}

#[test]
fn a_daemon_that_was_killed_leaves_nothing_that_keeps_the_next_one_from_starting() {
    let home = Home::with_pictures(8);
    home.serve("").kill();
    home.start().stop();
    assert_eq!(names(&home.path("sockets")), [""; 0]);
}
