//! Reads the records of leases ahead, with many threads, and passes them on in the order of their positions.
//!
//! [`readahead`] decides which record is read next and which may be taken. This file has the threads and the waiting.
//! No lock is held while a file is read. If a read does not return in time, its thread is given up and another one is
//! started. A read that fails through no fault of its record is retried. Records in the dataset's cache are not read.

mod patience;
pub(crate) mod readahead;
#[cfg(test)]
pub(crate) mod shelf;
mod spare;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_sources::Source;
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use crate::cache::Cache;
use crate::meter::{Meter, SLICE};
use crate::reason::Reason;
use crate::record::{Content, Input, Position};
use crate::{thread_class, threads};
pub(crate) use patience::{Patience, StorageNotice};
use readahead::{LoadedRead, Noted, ReadAhead, ReadJob, Span, Stall, TakenRead};
use spare::Spare;

/// How reading ahead is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAheadSettings {
    /// Reader threads.
    pub threads: usize,
    /// Bytes that may lie ready or be in decoding.
    pub budget: u64,
    /// A read that takes longer is an outcome of its record.
    pub read_timeout: Duration,
}

/// A read that takes longer is worth a word.
const SLOW: Duration = Duration::from_secs(10);

/// What was read of one record: its content, or why not.
pub(crate) type Read = Result<Buffer, Reason>;

/// The content of one record. Dropping it gives its room in the budget back and its memory to the next read.
#[derive(Debug)]
pub(crate) struct Buffer {
    loaded: Loaded,
    reserved: u64,
    shared: Arc<PrefetchShared>,
}

/// Where a record's content came from.
#[derive(Debug)]
enum Loaded {
    /// From the source, into a buffer that is used again.
    Read(Vec<u8>),
    /// From the cache.
    Kept(Content),
}

/// Why what comes next has not been read for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StorageWait {
    /// When the oldest read that fails or hangs began.
    pub since: Instant,
    /// Which file, and what is wrong, in words.
    pub reason: String,
}

/// The reading end, for the batch thread; the writing end is [`Prefetch::lease`].
#[derive(Debug)]
pub(crate) struct Prefetch {
    shared: Arc<PrefetchShared>,
    source: Arc<dyn Source>,
    cache: Option<Arc<Cache>>,
    settings: ReadAheadSettings,
    ready: channel::Receiver<()>,
}

#[derive(Debug)]
struct PrefetchShared {
    state: Mutex<PrefetchState>,
    /// A job may be had.
    work: Condvar,
    /// Something may be taken; one token is enough, whoever gets it looks at everything.
    ready: channel::Sender<()>,
    /// Leases are wanted.
    hungry: Notify,
    meter: Arc<Meter>,
    replaced: AtomicU64,
    /// Reader threads that are to be started, as soon as the system has room for them.
    missing: AtomicU64,
    bytes_read: AtomicU64,
}

#[derive(Debug)]
struct PrefetchState {
    ahead: ReadAhead<Loaded>,
    spare: Spare,
    closed: bool,
}

// === impl Prefetch ===

impl Prefetch {
    /// Starts the reader threads; epochs below `first` are over.
    ///
    /// # Errors
    /// The system has no room for a thread; those that were started end.
    pub(crate) fn start(
        source: Arc<dyn Source>,
        cache: Option<Arc<Cache>>,
        settings: ReadAheadSettings,
        first: u64,
    ) -> io::Result<Arc<Self>> {
        let (ready_sender, ready) = channel::bounded(1);
        let shared = Arc::new(PrefetchShared {
            state: Mutex::new(PrefetchState {
                ahead: ReadAhead::new(settings.budget, first),
                spare: Spare::beside(settings.budget),
                closed: false,
            }),
            work: Condvar::new(),
            ready: ready_sender,
            hungry: Notify::new(),
            meter: Arc::new(Meter::new("prefetch")),
            replaced: AtomicU64::new(0),
            missing: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
        });
        let prefetch = Arc::new(Self { shared, source, cache, settings, ready });
        for _ in 0..settings.threads.max(1) {
            prefetch.spawn_reader()?;
        }
        Ok(prefetch)
    }

    /// Adds a lease.
    pub(crate) fn lease(&self, span: Span) {
        self.change(|state| state.ahead.lease(span));
    }

    /// Says that no position of the epochs below `epoch` is left to lease at this moment.
    pub(crate) fn drained(&self, epoch: u64) {
        self.change(|state| state.ahead.drained(epoch));
    }

    /// Forgets what completed epochs left behind.
    pub(crate) fn completed(&self, floor: u64) {
        self.change(|state| state.ahead.completed(floor));
    }

    /// Reads one record out of turn, for a place that repeats it; `tag` comes back with it.
    pub(crate) fn fetch(&self, tag: (u64, u32), record: u64) {
        self.change(|state| state.ahead.fetch(tag, record));
    }

    /// Takes what comes next of the epochs up to `limit`, without waiting: what [`Prefetch::fetch`] asked for, or the
    /// next position, if `room` says that there is room for it.
    pub(crate) fn take(&self, limit: u64, room: impl Fn(&Position) -> bool) -> TakenRead<Read> {
        let taken = self.shared.state.lock().ahead.take(limit, room);
        match &taken {
            TakenRead::Record(_, read) | TakenRead::Fetched { read, .. } => {
                self.shared.meter.item();
                if read.is_err() {
                    // Nothing will be decoded, so no buffer's end tells the readers that another record goes first.
                    self.shared.work.notify_one();
                }
            }
            TakenRead::Bare(_) | TakenRead::Drained(_) | TakenRead::NoRoom(_) | TakenRead::Wait => {}
        }
        taken.map(|read| {
            read.map(|LoadedRead { bytes, reserved }| Buffer {
                loaded: bytes,
                reserved,
                shared: Arc::clone(&self.shared),
            })
        })
    }

    /// Gets a token whenever something new may be taken.
    pub(crate) fn ready(&self) -> &channel::Receiver<()> {
        &self.ready
    }

    /// Looks for reads that have taken too long; to be called now and then by the batch thread.
    pub(crate) fn expire(&self, now: Instant) {
        let timeout = self.settings.read_timeout;
        let late = self.shared.state.lock().ahead.expire(now, timeout);
        if late > 0 {
            tracing::warn!(late, "reads took longer than read_timeout; their threads are replaced");
            self.shared.replaced.fetch_add(late as u64, Ordering::Relaxed);
            self.shared.missing.fetch_add(late as u64, Ordering::Relaxed);
        }
        for _ in 0..self.shared.missing.swap(0, Ordering::Relaxed) {
            if let Err(error) = self.spawn_reader() {
                tracing::warn!(%error, "a reader thread cannot be replaced now; the daemon retries");
                self.shared.missing.fetch_add(1, Ordering::Relaxed);
            }
        }
        // A record may have been judged.
        self.shared.announce();
    }

    /// What keeps the storage from giving what comes next, if anything does.
    pub(crate) fn storage_wait(&self, now: Instant) -> Option<StorageWait> {
        let Stall { since, record, outage } = self.shared.state.lock().ahead.stall(now, SLOW)?;
        let reason = match outage {
            Some(outage) => format!("{}: {outage}", outage.locator),
            None => format!("{}: the read does not come back", self.source.locator(record)),
        };
        Some(StorageWait { since, reason })
    }

    /// Leases of `epoch` whose records are not all being read yet.
    pub(crate) fn leases_ahead(&self, epoch: u64) -> usize {
        self.shared.state.lock().ahead.leases_ahead(epoch)
    }

    /// Waits until a lease may be wanted.
    pub(crate) async fn hungry(&self) {
        self.shared.hungry.notified().await;
    }

    /// Takes back every position that the batch thread has not taken: (lease, first offset, end).
    pub(crate) fn close(&self) -> Vec<(u64, u64, u64)> {
        let mut state = self.shared.state.lock();
        state.closed = true;
        let rest = state.ahead.close();
        state.spare.clear();
        drop(state);
        self.shared.work.notify_all();
        rest
    }

    /// How long the readers waited for room, where there was something to read.
    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.shared.meter
    }

    /// Bytes that were read.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.shared.bytes_read.load(Ordering::Relaxed)
    }

    /// Leases that are not read to their end.
    pub(crate) fn leases(&self) -> usize {
        self.shared.state.lock().ahead.leases()
    }

    /// Reader threads that were given up.
    pub(crate) fn replaced(&self) -> u64 {
        self.shared.replaced.load(Ordering::Relaxed)
    }

    fn change(&self, change: impl FnOnce(&mut PrefetchState)) {
        change(&mut self.shared.state.lock());
        self.shared.work.notify_all();
        self.shared.announce();
    }

    fn spawn_reader(&self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let source = Arc::clone(&self.source);
        // A read may hang for ever; the cache must not stay for it.
        let cache = self.cache.as_ref().map_or_else(Weak::new, Arc::downgrade);
        threads::start("forebay-read", move || {
            thread_class::background();
            shared.read_until_closed(source.as_ref(), &cache);
        })?;
        Ok(())
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        // What is left belongs to a stream that is gone: nobody wants it back.
        let _rest = self.close();
    }
}

// === impl Shared ===

impl PrefetchShared {
    fn read_until_closed(&self, source: &dyn Source, cache: &Weak<Cache>) {
        loop {
            let Some((job, mut bytes)) = self.next_job(source, cache.upgrade().as_deref()) else { return };
            let read = source.read(job.record, job.reserved, &mut bytes);
            self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            if let (Some(cache), Ok(())) = (cache.upgrade(), &read) {
                cache.offer(job.record, &bytes);
            }
            let noted = self.state.lock().ahead.done(&job, read.map(|()| Loaded::Read(bytes)), Instant::now());
            match noted {
                Noted::Next => self.announce(),
                Noted::Behind => {}
                // This thread was given up, and another one has its place.
                Noted::Late => return self.announce(),
            }
        }
    }

    fn next_job(&self, source: &dyn Source, cache: Option<&Cache>) -> Option<(ReadJob, Vec<u8>)> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(cache) = cache {
                self.pass(&mut state, cache);
            }
            let PrefetchState { ahead, spare, .. } = &mut *state;
            if let Some(job) =
                ahead.next_job(Instant::now(), |record, bytes| spare.needed(source.size(record).max(bytes)))
            {
                let buffer = spare.take(job.reserved);
                let more = state.ahead.wants_readers();
                drop(state);
                if more {
                    self.work.notify_one();
                }
                if job.last {
                    self.hungry.notify_one();
                }
                return Some((job, buffer));
            }
            let (waited, room) = (Instant::now(), state.ahead.wants_room());
            self.work.wait_for(&mut state, SLICE);
            if room {
                self.meter.writer_waited(waited.elapsed());
            } else {
                self.meter.reader_waited(waited.elapsed());
            }
        }
    }

    /// Takes what comes next from the cache, up to the first record that it does not have.
    fn pass(&self, state: &mut PrefetchState, cache: &Cache) {
        let passed = state.ahead.pass(Instant::now(), |record| cache.find(record).map(Loaded::Kept));
        if passed.next {
            self.announce();
        }
        if passed.last {
            self.hungry.notify_one();
        }
    }

    fn announce(&self) {
        // A full channel already holds the token that wakes the batch thread.
        let _token = self.ready.try_send(());
    }

    fn give_back(&self, reserved: u64, loaded: Loaded) {
        let mut state = self.state.lock();
        state.ahead.release(reserved);
        if let Loaded::Read(bytes) = loaded {
            state.spare.keep(bytes);
        }
        let wanted = state.ahead.wants_readers();
        drop(state);
        if wanted {
            self.work.notify_one();
        }
    }
}

// === impl Buffer ===

impl Buffer {
    /// As a decoder takes it.
    pub(crate) fn input(&self) -> Input<'_> {
        match &self.loaded {
            Loaded::Read(bytes) => Input::File(bytes),
            Loaded::Kept(content) => content.input(),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let nothing = Loaded::Read(Vec::new());
        self.shared.give_back(self.reserved, std::mem::replace(&mut self.loaded, nothing));
    }
}
