//! Bounded queues between the stages of the road, timed at both ends.
//!
//! How long the writers waited for a place and how long the readers waited for an item are the two numbers that name
//! the bottleneck: a stage whose input queue keeps its writer waiting is too slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use thiserror::Error;

/// Makes a queue of `capacity` items. It closes for the readers when the last [`Sender`] is dropped (what is queued
/// can still be taken), and for the writers when the last [`Receiver`] is.
///
/// ```
/// let (sender, receiver, meter) = forebay::queue::bounded("decode", 2);
/// sender.send(7).unwrap();
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok(7));
/// assert!(receiver.recv().is_err());
/// assert_eq!(meter.waits().items, 1);
/// ```
pub fn bounded<T>(name: &'static str, capacity: usize) -> (Sender<T>, Receiver<T>, Arc<Meter>) {
    let (sender, receiver) = channel::bounded(capacity);
    let meter = Arc::new(Meter::new(name));
    (
        Sender { channel: sender, meter: Arc::clone(&meter) },
        Receiver { channel: receiver, meter: Arc::clone(&meter) },
        meter,
    )
}

/// The writing end of a queue; clones write to the same queue.
#[derive(Debug)]
pub struct Sender<T> {
    channel: channel::Sender<T>,
    meter: Arc<Meter>,
}

/// The reading end of a queue; clones share the items.
#[derive(Debug)]
pub struct Receiver<T> {
    channel: channel::Receiver<T>,
    meter: Arc<Meter>,
}

/// A wait that lasts is counted in parts of this length, so that a reading in the middle of it is not far behind.
pub const SLICE: Duration = Duration::from_millis(250);

/// What was measured at a queue since it was made. A stage whose queue is no channel keeps one itself.
///
/// The numbers are read for display only: no ordering with the items is needed, so all atomics are relaxed.
#[derive(Debug)]
pub struct Meter {
    name: &'static str,
    items: AtomicU64,
    writer_nanos: AtomicU64,
    reader_nanos: AtomicU64,
}

/// A reading of a [`Meter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Items that were put into the queue.
    pub items: u64,
    /// How long all writers together waited for a free place.
    pub writer: Duration,
    /// How long all readers together waited for an item.
    pub reader: Duration,
}

/// The queue has no reader any more; the item comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the queue is closed: its last reader is gone")]
pub struct SendError<T>(pub T);

/// The item could not be queued at once; it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TrySendError<T> {
    /// Every place is taken.
    #[error("the queue is full")]
    Full(T),
    /// The last reader is gone.
    #[error("the queue is closed: its last reader is gone")]
    Closed(T),
}

/// The queue is empty and has no writer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the queue is empty and closed: its last writer is gone")]
pub struct RecvError;

/// Nothing could be taken in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecvDeadlineError {
    /// No item came before the deadline.
    #[error("no item came before the deadline")]
    Timeout,
    /// The queue is empty and the last writer is gone.
    #[error("the queue is empty and closed: its last writer is gone")]
    Closed,
}

impl<T> Sender<T> {
    /// Queues an item, waiting for a free place.
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        let item = match self.try_send(item) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(item)) => return Err(SendError(item)),
            Err(TrySendError::Full(item)) => item,
        };
        let start = Instant::now();
        let sent = self.channel.send(item);
        self.meter.writer_waited(start.elapsed());
        sent.map_err(|channel::SendError(item)| SendError(item))?;
        self.meter.item();
        Ok(())
    }

    /// Queues an item if there is a free place at this moment.
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(item).map_err(|error| match error {
            channel::TrySendError::Full(item) => TrySendError::Full(item),
            channel::TrySendError::Disconnected(item) => TrySendError::Closed(item),
        })?;
        self.meter.item();
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Takes the oldest item, waiting for one.
    pub fn recv(&self) -> Result<T, RecvError> {
        match self.channel.try_recv() {
            Ok(item) => Ok(item),
            Err(channel::TryRecvError::Disconnected) => Err(RecvError),
            Err(channel::TryRecvError::Empty) => {
                let start = Instant::now();
                let received = self.channel.recv();
                self.meter.reader_waited(start.elapsed());
                received.map_err(|channel::RecvError| RecvError)
            }
        }
    }

    /// Takes the oldest item, waiting for one until `deadline`; one that has passed takes only what is queued.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvDeadlineError> {
        match self.channel.try_recv() {
            Ok(item) => Ok(item),
            Err(channel::TryRecvError::Disconnected) => Err(RecvDeadlineError::Closed),
            Err(channel::TryRecvError::Empty) => {
                let start = Instant::now();
                let received = self.channel.recv_deadline(deadline);
                self.meter.reader_waited(start.elapsed());
                received.map_err(|error| match error {
                    channel::RecvTimeoutError::Timeout => RecvDeadlineError::Timeout,
                    channel::RecvTimeoutError::Disconnected => RecvDeadlineError::Closed,
                })
            }
        }
    }

    /// Takes the oldest item, waiting for one for at most `timeout`.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvDeadlineError> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.recv_deadline(deadline),
            None => self.recv().map_err(|RecvError| RecvDeadlineError::Closed),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { channel: self.channel.clone(), meter: Arc::clone(&self.meter) }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self { channel: self.channel.clone(), meter: Arc::clone(&self.meter) }
    }
}

impl Meter {
    /// A meter that has measured nothing. The name is that of the stage that reads from the queue.
    pub fn new(name: &'static str) -> Self {
        Self { name, items: AtomicU64::new(0), writer_nanos: AtomicU64::new(0), reader_nanos: AtomicU64::new(0) }
    }

    /// The name of the stage that reads from the queue.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What was measured so far. A wait that lasts is counted when it ends.
    pub fn waits(&self) -> Waits {
        Waits {
            items: self.items.load(Ordering::Relaxed),
            writer: Duration::from_nanos(self.writer_nanos.load(Ordering::Relaxed)),
            reader: Duration::from_nanos(self.reader_nanos.load(Ordering::Relaxed)),
        }
    }

    /// One more item was queued.
    pub fn item(&self) {
        self.items.fetch_add(1, Ordering::Relaxed);
    }

    /// A writer has waited for a place.
    pub fn writer_waited(&self, time: Duration) {
        self.writer_nanos.fetch_add(nanos(time), Ordering::Relaxed);
    }

    /// A reader has waited for an item.
    pub fn reader_waited(&self, time: Duration) {
        self.reader_nanos.fetch_add(nanos(time), Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_in_order_and_closing_lets_the_queue_run_empty() {
        let (sender, receiver, meter) = bounded("batch", 3);
        for item in 0..3 {
            sender.send(item).unwrap();
        }
        drop(sender);
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(1));
        assert_eq!(receiver.recv_deadline(Instant::now()), Ok(2));
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvDeadlineError::Closed));
        assert_eq!((meter.name(), meter.waits().items), ("batch", 3));
    }

    #[test]
    fn a_full_queue_and_a_closed_one_give_the_item_back() {
        let (sender, receiver, meter) = bounded("batch", 1);
        sender.send("first").unwrap();
        assert_eq!(sender.try_send("second"), Err(TrySendError::Full("second")));
        drop(receiver);
        assert_eq!(sender.try_send("third"), Err(TrySendError::Closed("third")));
        assert_eq!(sender.send("fourth"), Err(SendError("fourth")));
        assert_eq!(meter.waits().items, 1);
    }

    #[test]
    fn an_empty_queue_is_given_up_at_the_deadline_and_the_wait_is_the_readers() {
        let (sender, receiver, meter) = bounded::<u8>("decode", 1);
        assert_eq!(receiver.recv_timeout(Duration::from_millis(2)), Err(RecvDeadlineError::Timeout));
        assert!(meter.waits().reader >= Duration::from_millis(2));
        assert_eq!(meter.waits().writer, Duration::ZERO);
        drop(sender);
    }

    #[test]
    fn who_finds_the_queue_ready_has_not_waited() {
        let (sender, receiver, meter) = bounded("decode", 1);
        for item in 0..100 {
            sender.send(item).unwrap();
            receiver.recv().unwrap();
        }
        assert_eq!(meter.waits(), Waits { items: 100, writer: Duration::ZERO, reader: Duration::ZERO });
    }

    #[test]
    fn a_writer_that_found_no_place_goes_on_when_one_is_free() {
        let (sender, receiver, meter) = bounded("publish", 1);
        sender.send(0).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| sender.send(1).unwrap());
            // The second item can only arrive after the first was taken, whether its writer had to wait or not.
            assert_eq!(receiver.recv(), Ok(0));
            assert_eq!(receiver.recv(), Ok(1));
        });
        assert_eq!(meter.waits().items, 2);
    }
}
