//! A session whose batches are awaited, by a runtime and by a waker of the test's own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Wake, Waker};

use forebay_client::{AsyncSession, AttachError, Next, NextError, Options, Patient, Target};
use parking_lot::Mutex;

use crate::daemon::Plan;
use crate::{World, batch, next};

/// Says in a channel that it was woken.
struct Bell(Mutex<Sender<()>>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.lock().send(()).ok();
    }
}

fn bell() -> (Waker, Receiver<()>) {
    let (rings, heard) = channel();
    (Waker::from(Arc::new(Bell(Mutex::new(rings)))), heard)
}

/// Polls only when woken.
fn awaited<F: Future>(future: F) -> F::Output {
    let (waker, heard) = bell();
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        heard.recv().unwrap();
    }
}

async fn attach(world: &World) -> Result<AsyncSession, AttachError> {
    let target = Target::Stream { socket: Some(world.socket()), name: "train".to_owned(), settings: None };
    AsyncSession::attach(target, Options::default(), Patient).await
}

/// Records of all batches up to the end of the epoch.
async fn epoch(session: &mut AsyncSession) -> Result<Vec<i64>, NextError> {
    let mut records = Vec::new();
    while let Next::Batch(batch) = session.next().await? {
        records.extend_from_slice(batch.records());
    }
    Ok(records)
}

#[test]
fn epochs_are_awaited_and_every_record_is_acknowledged() {
    let world = World::new();
    let daemon = world.start(Plan::new(12, 4, 2));
    awaited(async {
        let mut session = attach(&world).await.unwrap();
        for _ in 0..2 {
            assert_eq!(epoch(&mut session).await.unwrap(), (0..12).collect::<Vec<i64>>());
        }
        assert!(matches!(session.next().await, Ok(Next::Done)));
        session.close().await;
    });
    daemon.stop();
    let log = world.log.lock();
    assert_eq!(log.delivered.values().cloned().collect::<Vec<_>>(), [(0..12).collect::<Vec<u64>>(), (0..12).collect()]);
    assert_eq!(log.byes, 1);
}

#[test]
fn a_call_of_next_that_is_dropped_loses_no_batch() {
    let world = World::new();
    let _daemon = world.start(Plan::new(40, 4, 1));
    let mut session = awaited(attach(&world)).unwrap();
    let mut records = Vec::new();
    loop {
        // Each batch is asked for once by a future that is dropped, whether it was ready or not.
        let (waker, _heard) = bell();
        let dropped = pin!(session.next()).poll(&mut Context::from_waker(&waker));
        let next = match dropped {
            Poll::Ready(next) => next.unwrap(),
            Poll::Pending => awaited(session.next()).unwrap(),
        };
        let Next::Batch(batch) = next else { break };
        records.extend_from_slice(batch.records());
    }
    assert_eq!(records, (0..40).collect::<Vec<i64>>());
    awaited(session.close());
    assert_eq!(world.log.lock().delivered[&0].len(), 40);
}

#[test]
fn calls_are_made_in_the_thread_and_a_batch_in_hand_counts_in_a_state() {
    let world = World::new();
    let _daemon = world.start(Plan::new(8, 4, 1));
    awaited(async {
        let mut session = attach(&world).await.unwrap();
        let Next::Batch(batch) = session.next().await.unwrap() else { panic!("there are batches") };
        session.call(|session, watch| session.state(watch)).await.unwrap();
        assert_eq!(world.log.lock().state_calls[0].in_hand, [batch.seq()]);
    });
}

#[test]
fn a_session_may_be_closed_while_its_thread_waits() {
    let world = World::new();
    let daemon = world.start(Plan::new(4, 4, 1));
    let mut other = world.attach();
    let only = batch(next(&mut other));
    let mut session = awaited(attach(&world)).unwrap();
    // The epoch does not end as long as its only batch is in somebody's hands.
    let (waker, _heard) = bell();
    assert!(pin!(session.next()).poll(&mut Context::from_waker(&waker)).is_pending());
    awaited(session.close());
    drop((only, other));
    daemon.stop();
    assert_eq!(world.log.lock().byes, 2);
}

#[test]
fn a_daemon_that_is_not_there_is_an_error_and_no_hang() {
    let world = World::new();
    let target = Target::Stream { socket: Some(world.socket()), name: "train".to_owned(), settings: None };
    let options = Options { attach_timeout: std::time::Duration::ZERO, ..Options::default() };
    awaited(AsyncSession::attach(target, options, Patient)).unwrap_err();
}

#[test]
#[should_panic(expected = "the session's thread has panicked")]
fn a_call_that_panics_is_not_waited_for() {
    let world = World::new();
    let _daemon = world.start(Plan::new(4, 4, 1));
    let mut session = awaited(attach(&world)).unwrap();
    awaited(session.call(|_, _| panic!("it is meant to")));
}
