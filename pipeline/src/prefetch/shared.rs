//! What the threads of a prefetch share: what was read ahead, which thread waits for what, and how long they waited.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel as channel;
use forebay_sources::{Member, Pulse, Source, Withdrawal};
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use super::loaded::Loaded;
use super::readahead::{ReadAhead, ReadJob};
use super::under_way::UnderWay;
use crate::cache::Cache;
use crate::meter::{Meter, SLICE};
use crate::mosaic::MosaicReads;
use crate::record::{EpochTurn, FailedRead};
use crate::remote::share::RemoteShare;
use crate::spare::Spare;

/// How often the progress of a read is noted at most. Reads are given up only after much longer.
const PULSE: Duration = Duration::from_millis(500);

/// What the threads share.
#[derive(Debug)]
pub(super) struct PrefetchShared {
    pub state: Mutex<PrefetchState>,
    /// A job may be available.
    pub work: Condvar,
    /// Something may be taken. One token is enough, because the batch thread looks at everything when it gets one.
    ready: channel::Sender<()>,
    /// Leases are wanted.
    pub hungry: Notify,
    pub meter: Meter,
    pub bytes_read: AtomicU64,
    /// What reads records with their partners, if there are mosaics.
    pub mosaics: Option<MosaicReads>,
    /// What the task shares that asks decoders on other machines, if there are some.
    pub remote: Option<Arc<RemoteShare>>,
}

/// What was read ahead.
#[derive(Debug)]
pub(super) struct PrefetchState {
    pub ahead: ReadAhead<Loaded>,
    pub spare: Spare,
    pub under_way: UnderWay,
    pub closed: bool,
}

/// What keeps a thread from reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// There is no room, because the consumer of the records is too slow.
    Room,
    /// There is nothing to read.
    Lease,
    /// As many requests are under way as allowed, because the storage is too slow. This thread waits in its place.
    Storage,
}

impl PrefetchState {
    /// Takes out the requests whose answers change nothing any more: another request gave the record, the record is bad,
    /// or the prefetch is closed. Withdraw them after the lock is released.
    pub(super) fn unwanted(&mut self) -> Vec<Withdrawal> {
        // Every read that was not given up is wanted.
        if self.under_way.len() == self.ahead.in_flight().reads {
            return Vec::new();
        }
        let Self { ahead, under_way, .. } = self;
        under_way.unwanted(|job| ahead.wants(job))
    }
}

impl PrefetchShared {
    /// Nothing read; `ready` gets a token whenever something may be taken.
    pub(super) fn new(
        budget: u64,
        first: u64,
        members: &[Member],
        ready: channel::Sender<()>,
        mosaics: Option<MosaicReads>,
        remote: Option<Arc<RemoteShare>>,
    ) -> Self {
        let (ahead, spare) = (ReadAhead::new(budget, first).of(members), Spare::beside(budget));
        let leaves = remote.as_ref().is_some_and(|remote| !remote.makes_here());
        let ahead = if leaves { ahead.leaving_to_decoders() } else { ahead };
        Self {
            state: Mutex::new(PrefetchState { ahead, spare, under_way: UnderWay::default(), closed: false }),
            work: Condvar::new(),
            ready,
            hungry: Notify::new(),
            meter: Meter::new("prefetch"),
            bytes_read: AtomicU64::new(0),
            mosaics,
            remote,
        }
    }

    /// Waits for a record to read, and returns it with a buffer. Returns nothing once the prefetch is closed. At most
    /// `most` requests may be under way. A thread that reads each record itself needs no such limit.
    pub(super) fn next_job(
        &self,
        source: &dyn Source,
        cache: Option<&Cache>,
        most: Option<usize>,
    ) -> Option<(ReadJob, Vec<u8>)> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(cache) = cache {
                self.pass(&mut state, cache);
            }
            let PrefetchState { ahead, spare, .. } = &mut *state;
            let full = most.is_some_and(|most| ahead.in_flight().reads >= most);
            let known = |of: EpochTurn| match &self.mosaics {
                Some(mosaics) => mosaics.size(source, of),
                None => source.size(of.turn.record()),
            };
            let size = |of, bytes| spare.needed(known(of).max(bytes));
            let now = Instant::now();
            let alone = |record, bytes| spare.needed(source.size(record).max(bytes));
            let job = || ahead.next_job(now, size).or_else(|| ahead.next_probe(now, alone));
            if let Some(job) = (!full).then(job).flatten() {
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
            let wait = match most {
                Some(_) if full => Wait::Storage,
                // The reads under way are all that the leases have.
                Some(_) if !ahead.wants_room() && ahead.in_flight().reads > 0 => Wait::Storage,
                _ if !ahead.wants_room() => Wait::Lease,
                // The reads under way fill the budget.
                Some(_) if ahead.waits_for_storage() => Wait::Storage,
                _ => Wait::Room,
            };
            if matches!(wait, Wait::Lease) && !state.ahead.wants_probe() {
                // There is nothing to read, now or after a pause. A new lease will wake this thread. So threads of an
                // idle stream never wake for nothing.
                let _waits = self.meter.reader_waits();
                self.work.wait(&mut state);
                continue;
            }
            let waited = Instant::now();
            self.work.wait_for(&mut state, SLICE);
            // A daemon that leaves its pictures to decoders has threads that wait for what those leave.
            let leaves = self.remote.as_ref().is_some_and(|remote| !remote.makes_here());
            if matches!(wait, Wait::Room) && !leaves {
                self.meter.writer_waited(waited.elapsed());
            }
        }
    }

    /// Reads a record. Its partners are read too if there are mosaics and this is no probe. Only the source blocks.
    pub(super) fn read(&self, source: &dyn Source, job: &ReadJob, mut buf: Vec<u8>) -> Result<Loaded, FailedRead> {
        let Some(mosaics) = self.mosaics.as_ref().filter(|_| !job.probe) else {
            let record = job.record();
            let read = source.read(record, job.reserved, &mut buf).map(|()| Loaded::Read(buf));
            return read.map_err(|error| FailedRead::at(record, error));
        };
        let turns_to = |partner| self.state.lock().ahead.turns_to(job, partner, Instant::now());
        mosaics.read(source, job.of, job.reserved, buf, turns_to).map(|content| Loaded::Mosaic(Box::new(content)))
    }

    /// Counts what a read gave, and keeps a copy of it if there is a cache with room for it.
    pub(super) fn count(&self, job: &ReadJob, loaded: &Loaded, cache: &Weak<Cache>) {
        let bytes = match loaded {
            Loaded::Read(bytes) => {
                if let Some(cache) = cache.upgrade() {
                    cache.offer(job.record(), bytes);
                }
                bytes.len() as u64
            }
            Loaded::Mosaic(content) => content.len(),
            Loaded::Kept(_) | Loaded::Made(_) => 0,
        };
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes the progress of a read. Beats that follow each other quickly are noted as one.
    pub(super) fn pulse(self: &Arc<Self>, job: ReadJob) -> Pulse {
        let (shared, noted) = (Arc::downgrade(self), Mutex::new(job.began));
        Pulse::new(move || {
            let now = Instant::now();
            {
                let mut noted = noted.lock();
                if now.saturating_duration_since(*noted) < PULSE {
                    return;
                }
                *noted = now;
            }
            if let Some(shared) = shared.upgrade() {
                shared.state.lock().ahead.continues(&job, now);
            }
        })
    }

    /// Wakes the task that asks decoders: there may be a position for them.
    pub(super) fn wake_decoders(&self) {
        if let Some(remote) = &self.remote {
            remote.wake();
        }
    }

    /// Wakes the batch thread, which takes records.
    pub(super) fn announce(&self) {
        // A full channel already holds the token that wakes the batch thread.
        let _token = self.ready.try_send(());
    }

    /// Takes back what was taken: its room, and its memory for later reads.
    pub(super) fn give_back(&self, reserved: u64, loaded: Loaded) {
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
}
