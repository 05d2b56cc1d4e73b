//! Measurements at a stage's queue, at both of its ends.
//!
//! Two numbers identify the bottleneck: how long the writers waited for room, and how long the readers waited for an
//! item. If the writers of a stage's input queue wait, that stage is too slow.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// A wait that lasts is counted in parts of this length, so that a reading in the middle of it is not far behind. Threads of one
/// stream are many, and wake for no such part: they keep an [`OpenWait`].
pub(crate) const SLICE: Duration = Duration::from_millis(250);

/// The measurements at a queue since it was made. The stage that reads from the queue owns them.
///
/// The numbers are read for display only: no ordering with the items is needed, so all atomics are relaxed.
#[derive(Debug)]
pub(crate) struct Meter {
    name: &'static str,
    items: AtomicU64,
    writer_nanos: AtomicU64,
    reader_nanos: AtomicU64,
    open: Mutex<OpenReaders>,
}

/// The readers that wait at this moment.
#[derive(Debug)]
struct OpenReaders {
    /// When the meter was made.
    base: Instant,
    count: u32,
    /// When they began, counted from `base` and added up.
    begun: Duration,
}

impl OpenReaders {
    /// How long all of them have waited.
    fn waited(&self, now: Instant) -> Duration {
        (now.saturating_duration_since(self.base) * self.count).saturating_sub(self.begun)
    }
}

/// The wait of a reader, from when it is made until it is dropped. Readings in between count it.
#[derive(Debug)]
pub(crate) struct OpenWait<'a> {
    meter: &'a Meter,
    begun: Instant,
}

impl Drop for OpenWait<'_> {
    fn drop(&mut self) {
        let mut open = self.meter.open.lock();
        open.count -= 1;
        open.begun = open.begun.saturating_sub(self.begun.saturating_duration_since(open.base));
        // Under the lock, so that a reading counts the wait once.
        self.meter.reader_waited(self.begun.elapsed());
    }
}

/// A reading of a [`Meter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    /// Items that were put into the queue.
    pub items: u64,
    /// How long all writers together waited for a free place.
    pub writer: Duration,
    /// How long all readers together waited for an item.
    pub reader: Duration,
}

impl Meter {
    /// Makes a meter without measurements. The name is that of the stage that reads from the queue.
    pub(crate) fn new(name: &'static str) -> Self {
        let open = Mutex::new(OpenReaders { base: Instant::now(), count: 0, begun: Duration::ZERO });
        Self { name, items: AtomicU64::new(0), writer_nanos: AtomicU64::new(0), reader_nanos: AtomicU64::new(0), open }
    }

    /// The name of the stage that reads from the queue.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// What was measured so far. A wait that lasts is counted when it ends, or while it lasts if it is an [`OpenWait`].
    pub(crate) fn waits(&self) -> Waits {
        let open = self.open.lock();
        Waits {
            items: self.items.load(Ordering::Relaxed),
            writer: Duration::from_nanos(self.writer_nanos.load(Ordering::Relaxed)),
            reader: Duration::from_nanos(self.reader_nanos.load(Ordering::Relaxed)) + open.waited(Instant::now()),
        }
    }

    /// A reader begins to wait for an item.
    pub(crate) fn reader_waits(&self) -> OpenWait<'_> {
        let mut open = self.open.lock();
        let begun = Instant::now();
        let since_base = begun.saturating_duration_since(open.base);
        open.count += 1;
        open.begun += since_base;
        OpenWait { meter: self, begun }
    }

    /// One more item was queued.
    pub(crate) fn item(&self) {
        self.items.fetch_add(1, Ordering::Relaxed);
    }

    /// A writer has waited for a place.
    pub(crate) fn writer_waited(&self, time: Duration) {
        self.writer_nanos.fetch_add(nanos(time), Ordering::Relaxed);
    }

    /// A reader has waited for an item.
    pub(crate) fn reader_waited(&self, time: Duration) {
        self.reader_nanos.fetch_add(nanos(time), Ordering::Relaxed);
    }
}

/// A time in nanoseconds.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_both_ends_add_up_and_a_reading_ends_nothing() {
        let meter = Meter::new("decode");
        assert_eq!(meter.waits(), Waits { items: 0, writer: Duration::ZERO, reader: Duration::ZERO });
        meter.item();
        meter.writer_waited(Duration::from_millis(2));
        meter.reader_waited(Duration::from_millis(3));
        meter.reader_waited(Duration::from_millis(4));
        let waits = Waits { items: 1, writer: Duration::from_millis(2), reader: Duration::from_millis(7) };
        assert_eq!((meter.waits(), meter.waits(), meter.name()), (waits, waits, "decode"));
    }
    #[test]
    fn an_open_wait_counts_while_it_lasts_and_once_when_it_is_over() {
        let meter = Meter::new("read");
        let (first, second) = (meter.reader_waits(), meter.reader_waits());
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        let open = meter.waits().reader;
        assert!(open >= Duration::from_millis(4), "two waits of 2 ms or more: {open:?}");
        drop(first);
        let half = meter.waits().reader;
        drop(second);
        let (over, later) = (meter.waits().reader, meter.waits().reader);
        assert!(half >= open && over >= half && later == over, "{open:?}, {half:?}, {over:?}, {later:?}");
    }
}
