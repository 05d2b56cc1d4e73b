//! The streams of the process by name, with what they share. All callers that wait for a stream share one attempt to open it.
//! What opens a stream and how it ends have files of their own.

mod ending;
mod opening;

use std::sync::Arc;
use std::time::Duration;

use forebay_ledger_client::Handle;
use forebay_pipeline::TOLD;
use forebay_proto::v1::NewRunRequest;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::{Instant, sleep_until};

use super::attempt::{Attempt, Outcome};
use super::configuration::Configuration;
use super::gates::{Gates, Shut, StreamKey};
use super::ledgers::{LedgerFiles, Ledgers};
use super::served::Served;
use super::shared::Shared;
use super::wanted::Wanted;
use super::{DaemonError, NewRunError, OpenError};
use crate::config::Change;
pub(super) use ending::{close, leave_unfit};
use opening::opens_alone;

/// How long the daemon waits for further streams when one is open, before it says that it is ready.
const FURTHER: Duration = Duration::from_secs(10);

/// The streams, with what they need of the process.
#[derive(Debug)]
pub(super) struct Streams {
    incarnation: u64,
    /// The daemon's user.
    uid: u32,
    configuration: Configuration,
    shared: Shared,
    ledgers: LedgerFiles,
    gates: Mutex<Gates>,
}

/// A stream that runs, and does not end before this is dropped.
pub(super) type Entered = (Arc<Served>, OwnedRwLockReadGuard<()>);

impl Streams {
    /// None is open yet.
    pub(super) fn new(incarnation: u64, uid: u32, configuration: Configuration, shared: Shared) -> Self {
        let (ledgers, gates) = (LedgerFiles::default(), Mutex::default());
        Self { incarnation, uid, configuration, shared, ledgers, gates }
    }

    /// The incarnation of the daemon.
    pub(super) fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// The daemon's user.
    pub(super) fn uid(&self) -> u32 {
        self.uid
    }

    pub(super) fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn ledgers(&self) -> &LedgerFiles {
        &self.ledgers
    }

    pub(super) fn gates(&self) -> &Mutex<Gates> {
        &self.gates
    }

    /// The ledgers at a place.
    pub(super) async fn coordinator(&self, place: &Ledgers) -> Result<Handle, OpenError> {
        Ok(self.ledgers.at(place).await?)
    }

    /// Begins a new run of a configured stream: its ledgers are forgotten, its trainers reconnect.
    ///
    /// # Errors
    /// There is no such stream, or the ledgers cannot be changed.
    pub(super) async fn new_run(self: &Arc<Self>, name: &str) -> Result<String, NewRunError> {
        let Some(wanted) = self.configuration.wanted(name, None, None) else {
            return Err(NewRunError::NoStream(self.configuration.no_stream(name)));
        };
        let (streams, run) = (Arc::clone(self), wanted.key.run.clone());
        // In a task of its own: the caller may hang up in the middle.
        let renewed = tokio::spawn(async move { streams.renew(wanted).await });
        renewed.await?.map(|()| run)
    }

    async fn renew(self: Arc<Self>, wanted: Wanted) -> Result<(), NewRunError> {
        let key = &wanted.key;
        let turn = self.gates.lock().turn(key);
        // Trainers reconnect at once: none may open the stream before its old ledgers are forgotten.
        let alone = turn.write().await;
        ending::end_all(&self, key).await;
        let handle = self.coordinator(&wanted.ledgers).await.map_err(Arc::new)?;
        let request = NewRunRequest { run: key.run.clone(), stream: key.stream.clone() };
        handle.call(request).await?;
        drop(alone);
        Ok(self.prepare(&key.stream).await.1?)
    }

    /// Continues with the changed configuration.
    pub(super) async fn replace(&self, change: &Change) {
        self.shared.ring_memory().change(change.config.ring.memory_settings());
        let replaced = change.replaced.iter().filter_map(|name| self.configuration.wanted(name, None, None));
        let keys: Vec<_> = replaced.map(|wanted| wanted.key).collect();
        // This comes first: a caller whose opening is called off begins another one at once.
        self.configuration.replace(change.config.clone());
        for key in keys {
            let turn = self.gates.lock().turn(&key);
            let _alone = turn.write().await;
            ending::end_all(self, &key).await;
        }
    }

    /// Opens the configured streams, all at once: whole where no trainer has to say which shard or rank it wants, else their
    /// datasets alone. Returns when each is open or has failed. One that takes long is not waited for, where another
    /// is open.
    ///
    /// # Errors
    /// There are streams, and none of them can be opened.
    pub(super) async fn open_all(self: &Arc<Self>) -> Result<(), DaemonError> {
        let config = self.configuration.now();
        let mut opening: FuturesUnordered<_> = config.streams.keys().map(|name| self.prepare(name)).collect();
        let (mut open, mut failed) = (false, Vec::new());
        let mut waits_until = None;
        loop {
            let long = async { sleep_until(waits_until.unwrap_or_else(Instant::now)).await };
            tokio::select! {
                prepared = opening.next() => match prepared {
                    None => break,
                    Some((_, Ok(()))) => {
                        open = true;
                        waits_until.get_or_insert_with(|| Instant::now() + FURTHER);
                    }
                    Some((name, Err(error))) => failed.push((name, error)),
                },
                () = long, if waits_until.is_some() => break,
            }
        }
        if open || failed.is_empty() { Ok(()) } else { Err(DaemonError::NoStream(failed)) }
    }

    /// Opens as much of a configured stream as can be without a trainer.
    pub(super) async fn prepare(self: &Arc<Self>, name: &str) -> (String, Outcome<()>) {
        let Some(wanted) = self.configuration.wanted(name, None, None) else { return (name.into(), Ok(())) };
        let prepared = if opens_alone(&wanted.section.settings) {
            match self.enter(wanted).await {
                // The reload that has changed it prepares it itself.
                Err(reason) if matches!(*reason, OpenError::Removed | OpenError::Resharded) => Ok(()),
                entered => entered.map(drop),
            }
        } else {
            let turn = self.gates.lock().turn(&wanted.key);
            // Not while the stream ends.
            drop(turn.read().await);
            if let Ok(gate) = self.gates.lock().gate(&wanted.key, &turn) {
                gate.forget_failed();
            }
            let dataset = opening::opened_dataset(self, &Arc::new(wanted)).await;
            let log = |reason: &Arc<OpenError>| tracing::error!(target: TOLD, stream = name, %reason, "the stream cannot be opened");
            dataset.inspect_err(log).map(drop)
        };
        (name.into(), prepared)
    }

    /// Waits until a stream is open. Opens it unless another caller does already.
    pub(super) async fn enter(self: &Arc<Self>, wanted: Wanted) -> Outcome<Entered> {
        loop {
            let Wanted { key, .. } = self.configuration.by_now(&wanted)?;
            let turn = self.gates.lock().turn(&key);
            let stays = Arc::clone(&turn).read_owned().await;
            // A reload may have had the turn before this one. One that comes later calls off what is begun now.
            let wanted = Arc::new(self.configuration.by_now(&wanted)?);
            let Wanted { key, shard, .. } = &*wanted;
            let begin = || Attempt::begin(opening::open(Arc::clone(self), Arc::clone(&wanted)));
            let attempt = match self.gates.lock().gate(key, &turn) {
                Ok(gate) => gate.stream(*shard, begin),
                Err(Shut::Replaced) => continue,
                Err(Shut::Ending) => return Err(Arc::new(OpenError::Ending)),
            };
            // It may take for ever, which is no reason to keep those out who would end it.
            drop(stays);
            let Some(opened) = attempt.outcome().await else { continue };
            let served = opened.inspect_err(|_| self.forget_private(key))?;
            let stays = turn.read_owned().await;
            // It may have ended before the turn came.
            if self.gates.lock().running(key, *shard).is_some_and(|running| Arc::ptr_eq(&running, &served)) {
                return Ok((served, stays));
            }
        }
    }

    /// The Loader of a private stream that failed reports it. A failed stream of a service is shown until it is open.
    fn forget_private(&self, key: &StreamKey) {
        if self.configuration.is_private() {
            self.gates.lock().remove_unused(key);
        }
    }

    pub(super) fn is_open(&self, name: &str) -> bool {
        self.configuration.wanted(name, None, None).is_some_and(|wanted| self.gates.lock().has_open(&wanted.key))
    }
}

#[cfg(test)]
mod tests;
