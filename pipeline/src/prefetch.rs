//! Reads the records of leases ahead, and passes them on in the order of their positions.
//!
//! [`readahead`] decides which record is read next and which may be taken. [`threads`](reader) read, or one thread makes
//! [requests](requester), as the source says. [`shared`] has what they share, and the waiting. No lock is held while a
//! record is read. A read that does not return in time is given up. A read that fails through no fault of its record is
//! retried. Records in the dataset's cache are not read.

mod buffer;
mod decoders;
mod loaded;
#[cfg(test)]
pub(crate) mod memory_source;
mod patience;
pub(crate) mod readahead;
mod reader;
mod requester;
mod shared;
#[cfg(test)]
mod tests;
mod under_way;

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_sources::{ReadError, ReadErrorKind, Reading, Source, Withdrawal};
use parking_lot::Mutex;

use crate::cache::Cache;
use crate::meter::Meter;
use crate::mosaic::MosaicReads;
use crate::reason::Reason;
use crate::record::{EpochTurn, Position};
use crate::remote::share::RemoteShare;
use crate::{thread_class, threads};
pub(crate) use buffer::Buffer;
pub(crate) use patience::{Patience, StorageNotice};
use readahead::{LoadedRead, Silence, Span, Stall, TakenRead};
use shared::{PrefetchShared, PrefetchState};

/// How reading ahead is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAheadSettings {
    /// Reader threads, if the source is read by threads.
    pub threads: usize,
    /// Requests that may be under way, if the source is read by requests.
    pub requests: usize,
    /// Bytes that may be ready or in decoding.
    pub budget: u64,
    /// A read that takes longer makes its record bad, unless the storage is at fault.
    pub read_timeout: Duration,
}

/// A read that takes longer counts as a wait for the storage.
const SLOW: Duration = Duration::from_secs(10);

/// What was read of one record: its content, or why not.
pub(crate) type Read = Result<Buffer, Reason>;

/// Why the next record has not been read for a while.
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
    /// The most requests under way; none if threads read.
    requests: Option<usize>,
    ready: channel::Receiver<()>,
    /// Reads that took longer than `read_timeout`, and were given up.
    given_up: AtomicU64,
    /// Reader threads that will be started as soon as the system has room for them.
    missing: AtomicU64,
    /// Epochs whose last batch need not be full.
    last: Mutex<BTreeSet<u64>>,
}

/// Requests to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestFigures {
    /// How many are under way.
    pub in_flight: u64,
    /// How many may be under way.
    pub most: u64,
    /// How many were given up because no answer came in time.
    pub given_up: u64,
}

impl Prefetch {
    /// Starts the threads that read. Epochs below `first` are over. With `mosaics`, records are read with their partners,
    /// and there is no cache.
    ///
    /// # Errors
    /// The system has no room for a thread. Threads that were started end.
    pub(crate) fn start(
        source: Arc<dyn Source>,
        cache: Option<Arc<Cache>>,
        mosaics: Option<MosaicReads>,
        remote: Option<Arc<RemoteShare>>,
        settings: ReadAheadSettings,
        first: u64,
    ) -> io::Result<Arc<Self>> {
        let (ready_sender, ready) = channel::bounded(1);
        let shared = PrefetchShared::new(settings.budget, first, source.members(), ready_sender, mosaics, remote);
        let shared = Arc::new(shared);
        let requests = match source.reading() {
            Reading::Threads => None,
            // A thread reads the parts of a mosaic one after the other.
            Reading::Requests { .. } if shared.mosaics.is_some() => None,
            Reading::Requests { most } => Some(most.min(settings.requests).max(1)),
        };
        let (given_up, missing) = (AtomicU64::new(0), AtomicU64::new(0));
        let last = Mutex::default();
        let prefetch = Arc::new(Self { shared, source, cache, settings, requests, ready, given_up, missing, last });
        match requests {
            Some(most) => prefetch.spawn_requester(most)?,
            None => (0..settings.threads.max(1)).try_for_each(|_| prefetch.spawn_reader())?,
        }
        Ok(prefetch)
    }

    /// Notes that this daemon has the rest of an epoch, and no other daemon has a part of it. So its last batch need not
    /// be full.
    pub(crate) fn has_the_last_of(&self, epoch: u64) {
        self.last.lock().insert(epoch);
    }

    /// Whether this daemon has the rest of the epoch.
    pub(crate) fn is_the_last_of(&self, epoch: u64) -> bool {
        self.last.lock().contains(&epoch)
    }

    /// Adds a lease.
    pub(crate) fn lease(&self, span: Span) {
        self.change(|state| state.ahead.lease(span));
    }

    /// Says that no position of the epochs below `epoch` is left to lease at this moment.
    pub(crate) fn drained(&self, epoch: u64) {
        self.change_if(|state| state.ahead.drained(epoch));
    }

    /// Forgets what completed epochs left behind.
    pub(crate) fn completed(&self, floor: u64) {
        self.last.lock().retain(|epoch| *epoch >= floor);
        self.change_if(|state| state.ahead.completed(floor));
    }

    /// Reads one record out of turn, for a place that repeats it. `tag` is returned with it.
    pub(crate) fn fetch(&self, tag: (u64, u32), of: EpochTurn) {
        self.change(|state| state.ahead.fetch(tag, of));
    }

    /// Takes what comes next of the epochs up to `limit`, without waiting: what [`Prefetch::fetch`] asked for, or the
    /// next position, if `room` says that there is room for it.
    pub(crate) fn take(&self, limit: u64, room: impl Fn(&Position) -> bool) -> TakenRead<Read> {
        let taken = self.shared.state.lock().ahead.take(limit, room);
        match &taken {
            TakenRead::Record(_, read) | TakenRead::Fetched { read, .. } => {
                self.shared.meter.item();
                self.shared.wake_decoders();
                if read.is_err() {
                    // Nothing will be decoded, so no dropped buffer tells the readers that another record goes first now.
                    self.shared.work.notify_one();
                }
            }
            TakenRead::Bare(_) | TakenRead::Drained(_) | TakenRead::NoRoom(_) | TakenRead::Wait => {}
        }
        taken.map(|read| {
            read.map(|LoadedRead { bytes, reserved }| Buffer::new(bytes, reserved, Arc::clone(&self.shared)))
        })
    }

    /// Takes the rest of an epoch up to `limit`, read or not, if it is no more than `most` allows.
    pub(crate) fn leave_rest(&self, limit: u64, most: impl Fn(u64) -> u64) -> Vec<Position> {
        let mut state = self.shared.state.lock();
        let left_out = state.ahead.leave_rest(limit, most);
        let unwanted = if left_out.is_empty() { Vec::new() } else { state.unwanted() };
        drop(state);
        unwanted.iter().for_each(Withdrawal::withdraw);
        if !left_out.is_empty() {
            // There may be room for other reads.
            self.shared.work.notify_one();
        }
        left_out
    }

    /// Gets a token whenever something new may be taken.
    pub(crate) fn ready(&self) -> &channel::Receiver<()> {
        &self.ready
    }

    /// Looks for reads that take too long. The batch thread calls this now and then.
    pub(crate) fn expire(&self, now: Instant) {
        let timeout = self.settings.read_timeout;
        let outage = |record| ReadError {
            kind: ReadErrorKind::Storage,
            locator: self.source.locator(record),
            cause: format!("no answer within read_timeout ({timeout:?})"),
        };
        let silence = if self.requests.is_some() { Silence::Request(&outage) } else { Silence::Thread };
        let (late, unwanted, wants_probe) = {
            let mut state = self.shared.state.lock();
            (state.ahead.expire(now, timeout, silence), state.unwanted(), state.ahead.wants_probe())
        };
        unwanted.iter().for_each(Withdrawal::withdraw);
        self.given_up.fetch_add(late as u64, Ordering::Relaxed);
        if self.requests.is_some() {
            if late > 0 {
                tracing::warn!(late, "requests were not answered within read_timeout; they are made again");
                self.shared.work.notify_one();
            }
        } else {
            self.replace_readers(late);
        }
        if wants_probe {
            self.shared.work.notify_one();
        }
        // A record may have been judged.
        self.shared.announce();
    }

    fn replace_readers(&self, late: usize) {
        if late > 0 {
            tracing::warn!(late, "reads took longer than read_timeout; their threads are replaced");
            self.missing.fetch_add(late as u64, Ordering::Relaxed);
        }
        for _ in 0..self.missing.swap(0, Ordering::Relaxed) {
            if let Err(error) = self.spawn_reader() {
                tracing::warn!(%error, "a reader thread cannot be replaced now; the daemon retries");
                self.missing.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// What keeps the storage from giving what comes next, if anything does.
    pub(crate) fn storage_wait(&self, now: Instant) -> Option<StorageWait> {
        if let Some((since, reason)) = self.shared.remote.as_ref().and_then(|remote| remote.outage()) {
            return Some(StorageWait { since, reason });
        }
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

    /// Whether positions of `epoch` are leased and were not taken.
    pub(crate) fn has(&self, epoch: u64) -> bool {
        self.shared.state.lock().ahead.has(epoch)
    }

    /// Waits until a lease may be wanted.
    pub(crate) async fn hungry(&self) {
        self.shared.hungry.notified().await;
    }

    /// Takes back every position that the batch thread has not taken: (lease, first offset, end). Requests are withdrawn.
    pub(crate) fn close(&self) -> Vec<(u64, u64, u64)> {
        let mut state = self.shared.state.lock();
        state.closed = true;
        let rest = state.ahead.close();
        state.spare.clear();
        let unwanted = state.unwanted();
        drop(state);
        unwanted.iter().for_each(Withdrawal::withdraw);
        self.shared.work.notify_all();
        self.shared.wake_decoders();
        rest
    }

    /// How long the readers waited for room while there was something to read.
    pub(crate) fn meter(&self) -> &Meter {
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
        if self.requests.is_some() { 0 } else { self.given_up.load(Ordering::Relaxed) }
    }

    /// The requests to the source; nothing if threads read it.
    pub(crate) fn requests(&self) -> Option<RequestFigures> {
        let most = self.requests? as u64;
        let in_flight = self.shared.state.lock().ahead.in_flight().reads as u64;
        Some(RequestFigures { in_flight, most, given_up: self.given_up.load(Ordering::Relaxed) })
    }

    fn change(&self, change: impl FnOnce(&mut PrefetchState)) {
        self.change_if(|state| {
            change(state);
            true
        });
    }

    /// Makes a change that may turn out to change nothing. In that case, no thread is woken.
    fn change_if(&self, change: impl FnOnce(&mut PrefetchState) -> bool) {
        let is_changed = change(&mut self.shared.state.lock());
        if is_changed {
            self.shared.wake_decoders();
            self.shared.work.notify_all();
            self.shared.announce();
        }
    }

    fn spawn_reader(&self) -> io::Result<()> {
        self.spawn("forebay-read", reader::read_until_closed)
    }

    fn spawn_requester(&self, most: usize) -> io::Result<()> {
        self.spawn("forebay-request", move |shared, source, cache| {
            requester::request_until_closed(shared, source, cache, most);
        })
    }

    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce(&Arc<PrefetchShared>, &dyn Source, &Weak<Cache>) + Send + 'static,
    ) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let source = Arc::clone(&self.source);
        // A read may hang forever, and must not keep the cache alive.
        let cache = self.cache.as_ref().map_or_else(Weak::new, Arc::downgrade);
        threads::start(name, move || {
            thread_class::background();
            work(&shared, source.as_ref(), &cache);
        })?;
        Ok(())
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        // The stream is gone, so the positions that are left need not be returned.
        let _rest = self.close();
    }
}
