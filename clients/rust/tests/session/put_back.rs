//! What the caller never had, because it was interrupted between the hand-out and the moment at which it had the batch.

use forebay_client::{Next, Patient};

use crate::daemon::Plan;
use crate::{World, batch, epoch, next};

#[test]
fn a_batch_that_was_put_back_comes_next_and_every_record_is_delivered_once() {
    let world = World::new();
    let daemon = world.start(Plan::new(12, 4, 1));
    let mut session = world.attach();
    let mut seen = Vec::new();
    while let Next::Batch(batch) = next(&mut session).unwrap() {
        session.put_back(&batch).unwrap();
        // What an interrupted caller leaves behind may still have views of it.
        let again = crate::batch(next(&mut session));
        assert_eq!((again.seq(), again.records()), (batch.seq(), batch.records()));
        drop(batch);
        seen.extend(again.records().to_vec());
    }
    assert_eq!(seen, (0..12).collect::<Vec<i64>>());
    drop(session);
    daemon.stop();
    assert_eq!(world.delivered(0), (0..12).collect::<Vec<u64>>());
    assert_eq!(world.log.lock().releases.iter().filter(|(_, returned)| *returned).count(), 0);
}

#[test]
fn rule_22_a_state_does_not_count_what_was_put_back() {
    let world = World::new();
    let _daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    let first = batch(next(&mut session));
    session.put_back(&first).unwrap();
    session.state(&mut Patient).unwrap();
    let again = batch(next(&mut session));
    session.state(&mut Patient).unwrap();
    let calls = std::mem::take(&mut world.log.lock().state_calls);
    assert_eq!(calls.iter().map(|call| call.in_hand.clone()).collect::<Vec<_>>(), [vec![], vec![again.seq()]]);
}

#[test]
fn a_batch_that_was_put_back_is_given_back_by_a_restore_and_at_the_end() {
    let world = World::new();
    let daemon = world.start(Plan::new(12, 4, 1));
    let mut session = world.attach();
    let start = session.state(&mut Patient).unwrap();
    let first = batch(next(&mut session));
    session.put_back(&first).unwrap();
    session.restore(&start, &mut Patient).unwrap();
    assert_eq!(first.records(), [0, 1, 2, 3], "its views stay");
    drop(first);
    let second = batch(next(&mut session));
    session.put_back(&second).unwrap();
    drop(second);
    session.close().unwrap();
    let mut other = world.attach();
    let mut seen = epoch(&mut other);
    seen.sort_unstable();
    assert_eq!(seen, (0..12).collect::<Vec<i64>>());
    drop(other);
    daemon.stop();
    assert_eq!(world.log.lock().byes, 2);
}

#[test]
fn rule_16_a_batch_that_was_put_back_is_void_when_its_daemon_dies() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    let first = batch(next(&mut session));
    session.put_back(&first).unwrap();
    daemon.die();
    let daemon = world.start(Plan::new(8, 4, 1));
    assert_eq!(epoch(&mut session), (0..8).collect::<Vec<i64>>(), "the next daemon offers it anew");
    assert!(world.log.lock().resumed.is_empty(), "it is not handed in as held");
    drop(session);
    daemon.stop();
    assert_eq!(world.delivered(0), (0..8).collect::<Vec<u64>>());
}

#[test]
fn an_epochs_end_that_was_put_back_is_told_again() {
    let world = World::new();
    let _daemon = world.start(Plan::new(4, 4, 2));
    let mut session = world.attach();
    drop(batch(next(&mut session)));
    for _ in 0..2 {
        assert!(matches!(next(&mut session), Ok(Next::EpochEnd(0))));
        session.put_back_end(0).unwrap();
    }
    assert!(epoch(&mut session).is_empty());
    assert_eq!(epoch(&mut session), [0, 1, 2, 3]);
}
