//! The streams of the process by name, with what they share. How a stream is opened and how it ends have files of their own.

mod ending;
mod opening;

use std::sync::Arc;

use forebay_ledger_client::Handle;
use forebay_proto::v1::NewRunRequest;
use parking_lot::Mutex;
use tokio::sync::OwnedRwLockReadGuard;

use super::configuration::Configuration;
use super::gates::Gates;
use super::ledgers::{LedgerFiles, Ledgers};
use super::served::Served;
use super::shared::Shared;
use super::wanted::Wanted;
use super::{NewRunError, OpenError};
use crate::config::Change;

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
        self.end_all(key).await;
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
            self.end_all(&key).await;
        }
    }

    pub(super) fn is_open(&self, name: &str) -> bool {
        self.configuration.wanted(name, None, None).is_some_and(|wanted| self.gates.lock().has_open(&wanted.key))
    }
}

#[cfg(test)]
mod tests;
