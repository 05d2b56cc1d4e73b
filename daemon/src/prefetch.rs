//! Reads the records of leases ahead, with many threads, and hands them on in the order of their positions.
//!
//! [`readahead`] decides what is read next and what may be taken; this file has the threads and the waiting. No lock
//! is held while a file is read. A read that does not come back in time is an outcome of its record: the reader's
//! thread is given up and another one started.

pub mod readahead;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use crate::queue::Meter;
use crate::source::Source;
use crate::thread_class;
use readahead::{Job, ReadAhead, Span, Taken};

/// How reading ahead is done.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Reader threads.
    pub threads: usize,
    /// Bytes that may lie ready or be in decoding.
    pub budget: u64,
    /// A read that takes longer is an outcome of its record.
    pub read_timeout: Duration,
}

/// What was read of one record: its bytes, or in words why not.
pub type Read = Result<Buffer, String>;

/// The bytes of one file. Dropping it gives its room in the budget back and its memory to the next read.
#[derive(Debug)]
pub struct Buffer {
    bytes: Vec<u8>,
    reserved: u64,
    shared: Arc<Shared>,
}

/// The reading end, for the batch thread; the writing end is [`Prefetch::lease`].
#[derive(Debug)]
pub struct Prefetch {
    shared: Arc<Shared>,
    source: Arc<dyn Source>,
    settings: Settings,
    ready: channel::Receiver<()>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// A job may be had.
    work: Condvar,
    /// Something may be taken; one token is enough, whoever gets it looks at everything.
    ready: channel::Sender<()>,
    /// Leases are wanted.
    hungry: Notify,
    meter: Arc<Meter>,
    replaced: AtomicU64,
    bytes_read: AtomicU64,
}

#[derive(Debug)]
struct State {
    ahead: ReadAhead<Read>,
    spare: Vec<Vec<u8>>,
    closed: bool,
}

/// Buffers that are kept for the next reads; more are freed.
const SPARE_BUFFERS: usize = 256;

// === impl Prefetch ===

impl Prefetch {
    /// Starts the reader threads; epochs below `first` are over.
    pub fn start(source: Arc<dyn Source>, settings: Settings, first: u64) -> Arc<Self> {
        let (ready_sender, ready) = channel::bounded(1);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                ahead: ReadAhead::new(settings.budget, first),
                spare: Vec::new(),
                closed: false,
            }),
            work: Condvar::new(),
            ready: ready_sender,
            hungry: Notify::new(),
            meter: Arc::new(Meter::new("prefetch")),
            replaced: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
        });
        let prefetch = Arc::new(Self { shared, source, settings, ready });
        for _ in 0..settings.threads.max(1) {
            prefetch.spawn_reader();
        }
        prefetch
    }

    /// Adds a lease. `record` gives the record number of each of its positions.
    pub fn lease(&self, span: Span) {
        self.change(|state| state.ahead.lease(span));
    }

    /// Says that no position of the epochs below `epoch` is left to lease at this moment.
    pub fn drained(&self, epoch: u64) {
        self.change(|state| state.ahead.drained(epoch));
    }

    /// Forgets what completed epochs left behind.
    pub fn completed(&self, floor: u64) {
        self.change(|state| state.ahead.completed(floor));
    }

    /// Reads one record out of turn, for a place that repeats it; `tag` comes back with it.
    pub fn fetch(&self, tag: (u64, u32), epoch: u64, record: u64) {
        self.change(|state| state.ahead.fetch(tag, epoch, record));
    }

    /// Takes what comes next of the epochs up to `epoch`, without waiting.
    ///
    /// Without a limit, only what [`Prefetch::fetch`] asked for.
    pub fn take(&self, epoch: Option<u64>) -> Taken<Read> {
        let mut state = self.shared.state.lock();
        let taken = state.ahead.take(epoch);
        drop(state);
        if matches!(taken, Taken::Record(..) | Taken::Fetched { .. }) {
            self.shared.meter.item();
            self.shared.work.notify_one();
            self.shared.hungry.notify_one();
        }
        taken
    }

    /// Gets a token whenever something new may be taken.
    pub fn ready(&self) -> &channel::Receiver<()> {
        &self.ready
    }

    /// Looks for reads that have taken too long; to be called now and then by the batch thread.
    pub fn expire(&self, now: Instant) {
        let late = self.shared.state.lock().ahead.expire(now, self.settings.read_timeout, |job| {
            Err(format!(
                "reading it took longer than read_timeout ({} s): {}",
                self.settings.read_timeout.as_secs(),
                self.source.path(job).display()
            ))
        });
        for _ in 0..late {
            self.shared.replaced.fetch_add(1, Ordering::Relaxed);
            self.spawn_reader();
        }
        if late > 0 {
            tracing::warn!(late, "reads took longer than read_timeout; their threads were replaced");
            self.shared.announce();
        }
    }

    /// Leases of `epoch` whose records are not all being read yet.
    pub fn leases_ahead(&self, epoch: u64) -> usize {
        self.shared.state.lock().ahead.leases_ahead(epoch)
    }

    /// Waits until a lease may be wanted.
    pub async fn hungry(&self) {
        self.shared.hungry.notified().await;
    }

    /// Takes back every position that the batch thread has not taken: (lease, first offset, end).
    pub fn close(&self) -> Vec<(u64, u64, u64)> {
        let mut state = self.shared.state.lock();
        state.closed = true;
        let (rest, unread) = state.ahead.close();
        drop(state);
        // What was read is dropped outside the lock: a buffer takes the lock when it goes.
        drop(unread);
        self.shared.work.notify_all();
        rest
    }

    /// How long readers and the batch thread waited for each other.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.shared.meter
    }

    /// Bytes that were read.
    pub fn bytes_read(&self) -> u64 {
        self.shared.bytes_read.load(Ordering::Relaxed)
    }

    /// Leases that are not read to their end.
    pub fn leases(&self) -> usize {
        self.shared.state.lock().ahead.leases()
    }

    /// Reader threads that were given up.
    pub fn replaced(&self) -> u64 {
        self.shared.replaced.load(Ordering::Relaxed)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.shared.state.lock());
        self.shared.work.notify_all();
        self.shared.announce();
    }

    fn spawn_reader(&self) {
        let shared = Arc::clone(&self.shared);
        let source = Arc::clone(&self.source);
        let spawned = thread::Builder::new().name("forebay-read".into()).spawn(move || {
            thread_class::background();
            shared.read_until_closed(source.as_ref());
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "no further reader thread could be started");
        }
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.work.notify_all();
    }
}

// === impl Shared ===

impl Shared {
    fn read_until_closed(self: &Arc<Self>, source: &dyn Source) {
        while let Some((job, mut bytes)) = self.next_job(source) {
            bytes.clear();
            let read = match source.read(job.record, &mut bytes) {
                Ok(()) => {
                    self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                    Ok(Buffer { bytes, reserved: job.reserved, shared: Arc::clone(self) })
                }
                Err(error) => {
                    self.give_back(job.reserved, Vec::new());
                    Err(error.to_string())
                }
            };
            let mut state = self.state.lock();
            let refused = state.ahead.done(&job, read);
            drop(state);
            if refused.is_some() {
                // This read was given up, and this thread with it: another one has its place.
                return;
            }
            self.announce();
        }
    }

    fn next_job(&self, source: &dyn Source) -> Option<(Job, Vec<u8>)> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.ahead.next_job(Instant::now(), |record| source.size(record)) {
                let spare = state.spare.pop().unwrap_or_default();
                drop(state);
                self.hungry.notify_one();
                return Some((job, spare));
            }
            let waited = Instant::now();
            self.work.wait(&mut state);
            self.meter.writer_waited(waited.elapsed());
        }
    }

    fn announce(&self) {
        // A full channel already holds the token that wakes the batch thread.
        let _token = self.ready.try_send(());
    }

    fn give_back(&self, reserved: u64, bytes: Vec<u8>) {
        let mut state = self.state.lock();
        state.ahead.release(reserved);
        if state.spare.len() < SPARE_BUFFERS && bytes.capacity() > 0 {
            state.spare.push(bytes);
        }
        drop(state);
        self.work.notify_one();
    }
}

// === impl Buffer ===

impl std::ops::Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.shared.give_back(self.reserved, std::mem::take(&mut self.bytes));
    }
}
