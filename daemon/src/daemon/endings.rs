//! How streams end: a private one whose Loader has left, one that nobody reads and that is to stand elsewhere, one that
//! begins a new run, and all of them with the daemon. Each ends alone: nobody is being let in meanwhile.

use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::CallError;
use forebay_proto::v1::NewRunRequest;
use forebay_road::settings::Placement;
use forebay_road::{Credentials, PixelPlace, Stream, Surplus, threads};
use thiserror::Error;
use tokio::task::JoinError;

use super::gates::{Gate, StreamKey};
use super::openings::Wanted;
use super::served::Served;
use super::{Daemon, DaemonKind, OpenError};

/// A new run that was not begun, or whose stream is not open.
#[derive(Debug, Error)]
pub enum NewRunError {
    /// The configuration has no such stream.
    #[error("{0}")]
    NoStream(String),
    /// The ledgers cannot be changed.
    #[error(transparent)]
    Ledgers(#[from] CallError),
    /// The ledgers, or the stream in its new run, cannot be opened.
    #[error(transparent)]
    Open(#[from] Arc<OpenError>),
    /// The daemon has ended meanwhile.
    #[error(transparent)]
    Ended(#[from] JoinError),
}

impl Daemon {
    /// A private stream ends with its Loader.
    pub(super) fn surplus(self: &Arc<Self>, key: StreamKey, shard: Option<u32>) -> Surplus {
        let private = matches!(self.kind, DaemonKind::Private { .. });
        let (daemon, runtime) = (Arc::downgrade(self), tokio::runtime::Handle::current());
        Box::new(move |left| {
            if let Some(daemon) = daemon.upgrade().filter(|_| private && left == 0) {
                let key = key.clone();
                runtime.spawn(async move { daemon.end_private(&key, shard).await });
            }
        })
    }

    /// Ends a private stream whose Loader has left, unless another one has come for it. A ledger that no run keeps
    /// goes with it.
    async fn end_private(&self, key: &StreamKey, shard: Option<u32>) {
        let turn = self.gates.lock().turn(key);
        let _alone = turn.write().await;
        let Some(served) = self.take(key, shard, Stream::is_idle) else {
            // The gate may have been made by asking for its turn.
            self.gates.lock().remove_unused(key);
            return;
        };
        served.stream.close().await;
        let kept = self.ledgers.kept().filter(|_| served.section.run.is_none());
        if let Some(ledgers) = kept {
            let request = NewRunRequest { run: key.run.clone(), stream: key.stream.clone() };
            if let Err(error) = ledgers.call(request).await {
                tracing::debug!(%error, "the ledger of a closed Loader stays");
            }
        }
        self.gates.lock().remove_unused(key);
    }

    /// Ends a stream that nobody reads any more and that does not suit this trainer: a Loader before it had other
    /// settings, or its GPU is elsewhere. Whoever opens it next decides, and goes on from its ledger.
    pub(super) async fn leave_unfit(&self, wanted: &Wanted) {
        if self.unfit(wanted).await.is_none() {
            return;
        }
        let Wanted { key, shard, .. } = wanted;
        let turn = self.gates.lock().turn(key);
        let _alone = turn.write().await;
        // Somebody may have come before the turn did.
        if let Some(stream) = self.unfit(wanted).await {
            tracing::info!(
                stream = key.stream,
                "the stream has no trainers: it is opened again as this trainer needs it"
            );
            self.take(key, *shard, |_| true);
            stream.close().await;
        }
    }

    async fn unfit(&self, Wanted { key, shard, section, trainer, .. }: &Wanted) -> Option<Arc<Stream>> {
        let served = self.gates.lock().running(key, *shard)?;
        // Those of a service are its configuration's.
        if matches!(self.kind, DaemonKind::Private { .. }) && served.section != *section {
            return served.stream.is_left().await.then(|| Arc::clone(&served.stream));
        }
        self.misplaced(key, *shard, trainer.as_ref()?).await
    }

    async fn misplaced(&self, key: &StreamKey, shard: Option<u32>, trainer: &Credentials) -> Option<Arc<Stream>> {
        let stream = Arc::clone(&self.gates.lock().running(key, shard)?.stream);
        // One who will be refused moves nothing.
        let pins = stream.settings().pin_memory && trainer.may_pin(self.uid).is_err();
        if stream.settings().placement != Placement::Auto || pins {
            return None;
        }
        let gpus = Arc::clone(&self.gpus);
        // The driver may take its time.
        let machine = threads::beside("forebay-gpus", move || gpus.machine()).await.ok()?;
        let (place, _) = PixelPlace::decide(Placement::Auto, &machine, Some(trainer)).ok()?;
        (place != stream.place() && stream.is_left().await).then_some(stream)
    }

    /// Takes a stream that runs away from its gate.
    fn take(&self, key: &StreamKey, shard: Option<u32>, condition: impl Fn(&Stream) -> bool) -> Option<Arc<Served>> {
        let mut gates = self.gates.lock();
        let served = gates.running(key, shard).filter(|served| condition(&served.stream))?;
        gates.forget(key, shard);
        Some(served)
    }

    /// Begins a new run of a configured stream: its ledgers are forgotten, its trainers reconnect.
    ///
    /// # Errors
    /// There is no such stream, or the ledgers cannot be changed.
    pub async fn new_run(self: &Arc<Self>, name: &str) -> Result<String, NewRunError> {
        let Some(wanted) = self.configured(name, None, None) else {
            return Err(NewRunError::NoStream(self.no_stream(name)));
        };
        let (daemon, run) = (Arc::clone(self), wanted.key.run.clone());
        // In a task of its own: whoever asked may hang up in the middle.
        let renewed = tokio::spawn(async move { daemon.renew(wanted).await });
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

    /// Ends all that is open at a gate, or about to be. Nobody is let in there meanwhile.
    pub(super) async fn end_all(&self, key: &StreamKey) {
        let gate = self.gates.lock().empty(key);
        for served in gate.call_off().await {
            served.stream.close().await;
        }
    }

    /// Ends every stream, as the daemon ends. Nothing is opened any more; what is about to be is not waited for.
    pub async fn close(&self, drain: Duration) {
        self.pools.shared().leave();
        let gates = self.gates.lock().close();
        let closing = gates.into_iter().map(|(key, gate)| async move {
            if gate.is_opening() {
                tracing::warn!(
                    stream = key.stream,
                    "the stream is still being opened: the daemon ends without waiting for its dataset"
                );
            }
            let leaving =
                gate.call_off().await.into_iter().map(|served| async move { served.stream.leave(drain).await });
            futures_util::future::join_all(leaving).await;
        });
        futures_util::future::join_all(closing).await;
    }
}

impl Gate {
    /// Ends all that is about to be opened, and gives what is open.
    async fn call_off(&self) -> Vec<Arc<Served>> {
        let mut open = Vec::new();
        for attempt in self.shards.values() {
            open.extend(attempt.call_off().await);
        }
        if let Some(dataset) = &self.dataset {
            dataset.call_off().await;
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Surroundings};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_private_stream_that_has_ended_already_leaves_no_gate() {
        let daemon =
            Daemon::new(Config::default(), DaemonKind::Private { runs: None }, &Surroundings::default()).unwrap();
        daemon.end_private(&StreamKey { run: "r".into(), stream: "s".into() }, None).await;
        assert_eq!(daemon.gates.lock().close().len(), 0);
    }
}
