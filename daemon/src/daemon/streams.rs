//! The streams of the process by name. A stream is opened for the configuration or for a trainer. When a stream ends,
//! no trainer is being admitted to it.

use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::Handle;
use forebay_proto::v1::NewRunRequest;
use forebay_road::settings::{Placement, Sharding, StreamSettings};
use forebay_road::{Credentials, Identity, Opening, PixelPlace, Stream, Surplus, threads};
use forebay_sources::Source;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::{Instant, sleep_until};

use super::attempt::{Attempt, Outcome};
use super::configuration::Configuration;
use super::dataset::dataset;
use super::gates::{Gates, Shut, StreamKey};
use super::ledgers::{LedgerFiles, Ledgers};
use super::served::Served;
use super::shared::Shared;
use super::wanted::Wanted;
use super::{DaemonError, NewRunError, OpenError};
use crate::config::Change;
use crate::group;

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

/// A stream that runs, and that nobody ends before this is dropped.
pub(super) type Entered = (Arc<Served>, OwnedRwLockReadGuard<()>);

/// How long the daemon waits for further streams when one is open, before it says that it is ready.
const FURTHER: Duration = Duration::from_secs(10);

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

    // How they are opened.

    /// Opens the configured streams, all at once: whole where no trainer has to say which shard it wants, else their
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
            let dataset = self.dataset(&Arc::new(wanted)).await;
            let log = |reason: &Arc<OpenError>| tracing::error!(stream = name, %reason, "the stream cannot be opened");
            dataset.inspect_err(log).map(drop)
        };
        (name.into(), prepared)
    }

    /// Waits until a stream is open. Opens it unless somebody else does already.
    pub(super) async fn enter(self: &Arc<Self>, wanted: Wanted) -> Outcome<Entered> {
        loop {
            let Wanted { key, .. } = self.configuration.by_now(&wanted)?;
            let turn = self.gates.lock().turn(&key);
            let stays = Arc::clone(&turn).read_owned().await;
            // A reload may have had the turn before this one. One that comes later calls off what is begun now.
            let wanted = Arc::new(self.configuration.by_now(&wanted)?);
            let Wanted { key, shard, .. } = &*wanted;
            let begin = || Attempt::begin(Arc::clone(self).open(Arc::clone(&wanted)));
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

    /// Opens a stream. Runs in a task of its own.
    async fn open(self: Arc<Self>, wanted: Arc<Wanted>) -> Outcome<Arc<Served>> {
        let identity = self.identify(&wanted);
        let name = identity.to_string();
        tracing::info!(stream = name, source = wanted.section.source, "opening the stream");
        let opened = async {
            let source = self.dataset(&wanted).await?;
            let Wanted { key, shard, section, trainer, ledgers, .. } = &*wanted;
            let opening = Opening {
                identity,
                pool: self.shared.pool(section.settings.num_threads).map_err(OpenError::from)?,
                settings: section.settings.clone(),
                dataset: section.dataset(),
                source,
                prefetch: self.configuration.now().prefetch.clone(),
                coordinator: self.coordinator(ledgers).await?,
                memory: Arc::clone(self.shared.ring_memory()),
                caches: Arc::clone(self.shared.caches()),
                gpus: Arc::clone(self.shared.gpus()),
                trainer: trainer.clone(),
            };
            let opened = Box::pin(opening.open(self.surplus(key.clone(), *shard))).await;
            let stream = opened.map_err(OpenError::from)?;
            Ok(Arc::new(Served { section: section.clone(), stream }))
        }
        .await;
        match &opened {
            Ok(served) => tracing::info!(stream = name, records = served.stream.records(), "the stream is open"),
            Err(reason) => tracing::error!(stream = name, %reason, "the stream cannot be opened"),
        }
        opened
    }

    /// The dataset of a stream. The shards of a configured one share it.
    async fn dataset(&self, wanted: &Arc<Wanted>) -> Outcome<Arc<dyn Source>> {
        let opening = {
            let (wanted, limit) = (Arc::clone(wanted), self.configuration.now().decode.byte_limit.0);
            async move {
                let Wanted { section, files, .. } = &*wanted;
                if let Some(group) = section.group.as_ref().filter(|group| group::number(group).is_none()) {
                    return Err(Arc::new(OpenError::Group(group.clone())));
                }
                dataset(section, files.clone(), limit).await.map_err(Arc::new)
            }
        };
        if self.configuration.is_private() {
            // Loaders of one run name their settings themselves, each its own.
            return opening.await;
        }
        let attempt = self.gates.lock().dataset(&wanted.key, || Attempt::begin(opening));
        let opened = match attempt {
            Some(attempt) => attempt.outcome().await,
            None => None,
        };
        opened.unwrap_or_else(|| Err(Arc::new(OpenError::Ending)))
    }

    fn identify(&self, wanted: &Wanted) -> Identity {
        let StreamKey { run, stream } = wanted.key.clone();
        let identity = Identity { run, stream, shard: None, incarnation: self.incarnation };
        identity.of_shard(wanted.section.settings.sharding, wanted.shard)
    }

    /// The ledgers at a place.
    pub(super) async fn coordinator(&self, place: &Ledgers) -> Result<Handle, OpenError> {
        Ok(self.ledgers.at(place).await?)
    }

    /// A private stream that failed is its Loader's to tell of; a service's is shown until it is open.
    fn forget_private(&self, key: &StreamKey) {
        if self.configuration.is_private() {
            self.gates.lock().remove_unused(key);
        }
    }

    // How they end.

    /// A private stream ends with its Loader.
    pub(super) fn surplus(self: &Arc<Self>, key: StreamKey, shard: Option<u32>) -> Surplus {
        let private = self.configuration.is_private();
        let (streams, runtime) = (Arc::downgrade(self), tokio::runtime::Handle::current());
        Box::new(move |left| {
            if let Some(streams) = streams.upgrade().filter(|_| private && left == 0) {
                let key = key.clone();
                runtime.spawn(async move { streams.end_private(&key, shard).await });
            }
        })
    }

    /// Ends a private stream whose Loader has left, unless another one has come for it. A ledger that no run keeps
    /// goes with it.
    async fn end_private(&self, key: &StreamKey, shard: Option<u32>) {
        let turn = self.gates.lock().turn(key);
        let _alone = turn.write().await;
        let taken = self.gates.lock().take(key, shard, Stream::is_idle);
        let Some(served) = taken else {
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
            self.gates.lock().take(key, *shard, |_| true);
            stream.close().await;
        }
    }

    async fn unfit(&self, Wanted { key, shard, section, trainer, .. }: &Wanted) -> Option<Arc<Stream>> {
        let served = self.gates.lock().running(key, *shard)?;
        // Those of a service are its configuration's.
        if self.configuration.is_private() && served.section != *section {
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
        let gpus = Arc::clone(self.shared.gpus());
        // The driver may take its time.
        let machine = threads::beside("forebay-gpus", move || gpus.machine()).await.ok()?;
        let (place, _) = PixelPlace::decide(Placement::Auto, &machine, Some(trainer)).ok()?;
        (place != stream.place() && stream.is_left().await).then_some(stream)
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
        // In a task of its own: whoever asked may hang up in the middle.
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

    /// Ends all that is open at a gate, or about to be. Nobody is let in there meanwhile.
    pub(super) async fn end_all(&self, key: &StreamKey) {
        let gate = self.gates.lock().empty(key);
        for served in gate.call_off().await {
            served.stream.close().await;
        }
    }

    /// Ends every stream, as the daemon ends. Nothing is opened any more; what is about to be is not waited for.
    pub(super) async fn close(&self, drain: Duration) {
        self.shared.leave();
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

    /// Goes on with the changed configuration.
    pub(super) async fn replace(&self, change: &Change) {
        self.shared.ring_memory().limit_to(change.config.ring.memory.map(|size| size.0));
        let replaced = change.replaced.iter().filter_map(|name| self.configuration.wanted(name, None, None));
        let keys: Vec<_> = replaced.map(|wanted| wanted.key).collect();
        // First of all: who waits for an opening that is called off begins another one at once.
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

/// Whether a stream can be opened before there is a trainer: one of shards, or with a place that depends on what the
/// trainer sees, cannot.
fn opens_alone(settings: &StreamSettings) -> bool {
    settings.sharding == Sharding::Dynamic && settings.placement != Placement::Auto
}

#[cfg(test)]
mod tests;
