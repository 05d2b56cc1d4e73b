//! Rare requests: state, restore, reset, path.

use std::path::PathBuf;

use forebay_client::{CallError, Next, Patient, State};
use forebay_ring::MessageKind;

use crate::daemon::Plan;
use crate::{World, batch, epoch, next};

#[test]
fn rule_22_a_state_counts_what_is_in_hand() {
    let world = World::new();
    let _daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    let first = batch(next(&mut session));
    let state = session.state(&mut Patient).unwrap();
    let calls = std::mem::take(&mut world.log.lock().state_calls);
    assert_eq!(calls[0].in_hand, [first.seq()]);
    assert_eq!((calls[0].receipts[0].count, calls[0].receipts[0].range.unwrap().end), (4, 4));
    assert_eq!(State::from_bytes(&state.to_bytes()).unwrap(), state);
}

#[test]
fn rule_23_after_a_restore_nothing_of_before_is_handed_out() {
    let world = World::new();
    let _daemon = world.start(Plan::new(12, 4, 1));
    let mut session = world.attach();
    let start = session.state(&mut Patient).unwrap();
    drop(batch(next(&mut session)));
    session.restore(&start, &mut Patient).unwrap();
    assert_eq!(epoch(&mut session), (0..12).collect::<Vec<i64>>());
}

#[test]
fn rule_23_when_another_trainer_restores_queued_offers_are_void_and_the_batch_in_hand_stays_readable() {
    let world = World::new();
    let daemon = world.start(Plan::new(12, 4, 1));
    let mut session = world.attach();
    let in_hand = batch(next(&mut session));
    daemon.number(MessageKind::Fenced, 0);
    let went_back = || world.log.lock().releases.iter().any(|(_, returned)| *returned);
    while !went_back() {
        session.path(0, &mut Patient).unwrap();
    }
    let keep = in_hand.keep();
    assert_eq!(epoch(&mut session), (4..12).collect::<Vec<i64>>(), "what went back unread comes again");
    assert_eq!(keep.records(), [0, 1, 2, 3]);
}

#[test]
fn reset_ends_the_epoch_and_does_nothing_between_two() {
    let world = World::new();
    let _daemon = world.start(Plan::new(12, 4, 2));
    let mut session = world.attach();
    drop(batch(next(&mut session)));
    session.reset(&mut Patient).unwrap();
    session.reset(&mut Patient).unwrap();
    assert_eq!(epoch(&mut session), (0..12).collect::<Vec<i64>>());
    assert!(matches!(next(&mut session), Ok(Next::Done)));
    assert_eq!(world.log.lock().resets, [0]);
}

#[test]
fn reset_names_the_epoch_that_the_caller_is_in_whatever_the_daemon_has_begun() {
    let world = World::new();
    let _daemon = world.start(Plan::new(8, 4, 3));
    let mut session = world.attach();
    session.reset(&mut Patient).unwrap();
    assert!(world.log.lock().resets.is_empty(), "before the first batch there is no epoch to end");
    for last in [0, 1] {
        let _first = batch(next(&mut session));
        let in_hand = batch(next(&mut session));
        in_hand.ack().unwrap();
        // By this answer the daemon has told the epoch's end and offered batches of the next one.
        session.path(0, &mut Patient).unwrap();
        session.reset(&mut Patient).unwrap();
        assert_eq!(world.log.lock().resets.last(), Some(&last));
    }
    assert_eq!(epoch(&mut session), (0..8).collect::<Vec<i64>>(), "epoch 2 is whole");
    assert!(matches!(next(&mut session), Ok(Next::Done)));
}

#[test]
fn calls_are_answered_in_the_packet_or_beside_it_or_refused() {
    let world = World::new();
    let _daemon = world.start(Plan::new(4, 4, 1));
    let mut session = world.attach();
    assert_eq!(session.path(0, &mut Patient).unwrap(), PathBuf::from("/data/0.jpg"));
    assert_eq!(session.path(1, &mut Patient).unwrap(), PathBuf::from("/data/1.jpg"));
    let error = session.path(99, &mut Patient).unwrap_err();
    assert!(matches!(&error, CallError::Failed(message) if message.contains("99")), "{error}");
    drop(batch(next(&mut session)));
}
