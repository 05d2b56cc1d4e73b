//! The one thread that owns the ledgers and their store.
//!
//! It drains its queue, applies every command, commits all changes at once, and only then replies (group commit).

mod settings;

use std::{sync::Arc, thread, time::Duration};

use forebay_ledger::{LedgerError, Ledgers, PREFIX, Times};
use forebay_ledger_client::{Call, CallError, CallQueue, Handle, Outages, QUEUE, UpdateChannels};
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};

use crate::{
    served::{Served, TICK},
    store::{Store, StoreError, StoreFault},
};

pub use settings::CoordinatorSettings;

/// How long it waits for commands while no lease is out.
const IDLE: Duration = Duration::from_secs(60);
/// How often a store that cannot be written is tried while no command does so.
const PROBE: Duration = Duration::from_secs(1);

/// How often it looks whether it leads, where others may lead.
const LOOK: Duration = Duration::from_millis(200);

/// Milliseconds that never go back. Tests bring their own.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Why a coordinator did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The stored ledgers cannot be read.
    #[error(transparent)]
    Ledgers(#[from] CallError),
    /// No thread, or no timer for it.
    #[error("The coordinator's thread could not be started: {0}.")]
    Thread(#[from] std::io::Error),
}

/// Starts the thread of a coordinator.
#[derive(Debug)]
pub struct Coordinator;

struct Keeper<S> {
    store: S,
    clock: Clock,
    served: Served,
    times: Times,
    /// The newest version of ledgers that it reads.
    ledger_version: u32,
    /// The term in which this process led when the ledgers were read.
    term: Option<u64>,
    /// `None` after a failed commit, until the store can be read again, and in another term.
    ledgers: Option<Ledgers>,
    updates: UpdateChannels,
    end: Arc<Notify>,
    /// Declared after the store, so it is dropped later: when its other end is closed, the store is closed already.
    outages: Outages,
}

impl Coordinator {
    /// Loads the ledgers of `store` and serves them until every [`Handle`] is dropped.
    ///
    /// ```
    /// # use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
    /// # use forebay_proto::v1::{LedgerSpec, OpenRequest};
    /// let handle = Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default())?;
    /// let spec = LedgerSpec { fingerprint: vec![0; 32], records: 500, permutation: 1, ..Default::default() };
    /// let opened = handle.wait(OpenRequest {
    ///     run: "first".into(),
    ///     stream: "train".into(),
    ///     spec: Some(spec),
    ///     lease_size: 32,
    ///     worker: "node-1".into(),
    ///     incarnation: 1,
    ///     ..Default::default()
    /// })?;
    /// assert_eq!(opened.ledger, "first/train/all");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(store: impl Store, clock: Clock, settings: CoordinatorSettings) -> Result<Handle, StartError> {
        let (times, ledger_version) = (settings.times(), settings.ledger_version);
        let (handle, CallQueue { calls, outages, updates, end }) = Handle::new(false);
        let served = Served::new(clock());
        let mut keeper =
            Keeper { store, clock, served, times, ledger_version, term: None, ledgers: None, updates, end, outages };
        // It waits until it leads.
        if let Ok(term) = keeper.leads() {
            match keeper.load(term, served.time()) {
                Ok(_) | Err(CallError::NotLeader { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        thread::Builder::new()
            .name("forebay-ledger".to_owned())
            .spawn(move || runtime.block_on(keeper.serve(calls)))?;
        Ok(handle)
    }
}

impl<S: Store> Keeper<S> {
    async fn serve(mut self, mut calls: mpsc::Receiver<Box<dyn Call>>) {
        loop {
            let first = tokio::select! {
                call = timeout(self.until_deadline(), calls.recv()) => match call {
                    Ok(Some(call)) => Some(call),
                    Ok(None) => return,
                    Err(_) => None,
                },
                () = self.end.notified() => {
                    calls.close();
                    continue;
                }
            };
            let mut group: Vec<_> = first.into_iter().collect();
            while group.len() < self.at_once()
                && let Ok(call) = calls.try_recv()
            {
                group.push(call);
            }
            self.answer(group);
        }
    }

    /// Most commands of a group.
    fn at_once(&self) -> usize {
        self.store.commands_at_once().clamp(1, QUEUE)
    }

    /// Carries out a group of calls, lets leases expire, commits once, and replies. Like commands, reads and heartbeats are
    /// answered only if no other process has led since the ledgers were read.
    fn answer(&mut self, mut group: Vec<Box<dyn Call>>) {
        let durable = self.apply(&mut group).and_then(|()| self.commit()).and_then(|()| self.still_leads());
        if let Some(ledgers) = self.ledgers.as_mut().filter(|_| durable.is_ok()) {
            self.updates.tell(ledgers);
        }
        for call in group {
            call.answer(durable.clone());
        }
    }

    fn apply(&mut self, group: &mut [Box<dyn Call>]) -> Result<(), CallError> {
        let term = self.leads()?;
        let now = self.served.turn((self.clock)());
        let more_may_wait = group.len() == self.at_once();
        let ledgers = self.load(term, now)?;
        for call in group {
            call.apply(ledgers, now);
        }
        // Not before all that waited was heard: a heartbeat may have come in time and waited for a slow commit.
        if !more_may_wait {
            ledgers.expire(now);
        }
        Ok(())
    }

    /// The term, if this process is sure to lead. If not, it serves no worker: the time up to now counts against none of
    /// them, and workers that follow its updates must follow the leader's instead.
    fn leads(&mut self) -> Result<u64, CallError> {
        self.store.term().map_err(|error| {
            self.served.pause((self.clock)());
            self.updates.clear();
            self.failed(&error)
        })
    }

    /// The store has failed: the error for the callers.
    fn failed(&self, error: &StoreError) -> CallError {
        let cause = error.to_string();
        match error.fault() {
            StoreFault::NotLeader { leader } => self.outages.follows(leader.clone(), &cause),
            StoreFault::Failed | StoreFault::Unknown => self.outages.continues(&cause),
        }
    }

    /// The ledgers; they are read from the store after a failed commit, and in another term.
    fn load(&mut self, term: u64, now: u64) -> Result<&mut Ledgers, CallError> {
        let same = self.term.replace(term) == Some(term);
        let ledgers = if let Some(ledgers) = self.ledgers.take().filter(|_| same) {
            ledgers
        } else {
            let documents = self.store.load(PREFIX).map_err(|error| self.failed(&error))?;
            Ledgers::load_up_to(self.ledger_version, &documents, self.times, now).inspect_err(|error| {
                if let LedgerError::Newer(why) = error {
                    self.store.stand_back(why);
                }
            })?
        };
        let ledgers = self.ledgers.insert(ledgers);
        ledgers.replicas_read(self.store.read_by_replicas());
        Ok(ledgers)
    }

    /// Whether this process is in the same term as when the ledgers were read. If not, another process may have changed them
    /// since.
    fn still_leads(&mut self) -> Result<(), CallError> {
        let term = self.leads()?;
        if self.term == Some(term) {
            return Ok(());
        }
        Err(CallError::Unavailable("Another coordinator has led meanwhile.".to_owned()))
    }

    /// Makes everything durable. If that fails, the state in memory may be ahead of the store and is discarded. While the
    /// store cannot be written, each group of commands tries it, so that the end of the outage is noticed.
    fn commit(&mut self) -> Result<(), CallError> {
        let changes = self.ledgers.as_mut().map(Ledgers::take_changes).unwrap_or_default();
        if changes.is_empty() && !self.outages.is_one() {
            return Ok(());
        }
        match self.store.commit(&changes) {
            Ok(()) => {
                self.outages.is_over();
                Ok(())
            }
            Err(error) => {
                // The store may also be ahead of the state in memory.
                self.ledgers = None;
                let refusal = self.failed(&error);
                // Nothing but the attempt has failed: the replies tell what the store holds.
                if changes.is_empty() { Ok(()) } else { Err(refusal) }
            }
        }
    }

    fn until_deadline(&self) -> Duration {
        let deadline = self.ledgers.as_ref().and_then(Ledgers::next_deadline);
        let until = match deadline {
            // No lease expires meanwhile.
            _ if self.outages.is_one() => PROBE,
            // Not below the clock's grain, so that a deadline that is almost there makes no busy loop.
            Some(deadline) => Duration::from_millis(deadline.saturating_sub(self.served.time()).max(10)).min(TICK),
            None => IDLE,
        };
        // A term may begin and end at any time.
        if self.term.is_none_or(|term| term > 0) { until.min(LOOK) } else { until }
    }
}

/// Milliseconds since the process first asked, from the monotonic clock.
pub fn monotonic_clock() -> Clock {
    let start = std::time::Instant::now();
    Arc::new(move || millis(start.elapsed()))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
