//! The opening of a stream, for the configuration or for a trainer. All callers that wait for a stream share one attempt to
//! open it.

use std::sync::Arc;
use std::time::Duration;

use forebay_road::settings::{Placement, Sharding, StreamSettings};
use forebay_road::{Identity, LedgerAccess, OpenDataset, Opening, TOLD};
use forebay_sources::Source;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use super::{Entered, Streams};
use crate::daemon::attempt::{Attempt, Outcome};
use crate::daemon::dataset::{DatasetTerms, dataset};
use crate::daemon::gates::{Shut, StreamKey};
use crate::daemon::served::Served;
use crate::daemon::wanted::Wanted;
use crate::daemon::{DaemonError, OpenError};
use crate::group;

/// How long the daemon waits for further streams when one is open, before it says that it is ready.
const FURTHER: Duration = Duration::from_secs(10);

impl Streams {
    /// Opens the configured streams, all at once: whole where no trainer has to say which shard or rank it wants, else their
    /// datasets alone. Returns when each is open or has failed. One that takes long is not waited for, where another
    /// is open.
    ///
    /// # Errors
    /// There are streams, and none of them can be opened.
    pub(in crate::daemon) async fn open_all(self: &Arc<Self>) -> Result<(), DaemonError> {
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
    pub(in crate::daemon) async fn prepare(self: &Arc<Self>, name: &str) -> (String, Outcome<()>) {
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
            let log = |reason: &Arc<OpenError>| tracing::error!(target: TOLD, stream = name, %reason, "the stream cannot be opened");
            dataset.inspect_err(log).map(drop)
        };
        (name.into(), prepared)
    }

    /// Waits until a stream is open. Opens it unless another caller does already.
    pub(in crate::daemon) async fn enter(self: &Arc<Self>, wanted: Wanted) -> Outcome<Entered> {
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
        tracing::info!(stream = name, source = wanted.section.dataset.name(), "opening the stream");
        let opened = async {
            let source = self.dataset(&wanted).await?;
            let Wanted { key, shard, section, trainer, ledgers, .. } = &*wanted;
            let opening = Opening {
                identity,
                settings: section.settings.of_part(*shard),
                document: section.document(),
                dataset: OpenDataset { name: section.dataset.name(), source },
                prefetch: self.configuration.now().prefetch.clone(),
                ledger: LedgerAccess {
                    coordinator: self.coordinator(ledgers).await?,
                    node: self.configuration.node(ledgers),
                },
                shared: self.shared.resources(section.settings.num_threads).map_err(OpenError::from)?,
                trainer: trainer.clone(),
            };
            let opened = Box::pin(opening.open(self.surplus(key.clone(), *shard))).await;
            let stream = opened.map_err(OpenError::from)?;
            Ok(Arc::new(Served { section: section.clone(), stream }))
        }
        .await;
        match &opened {
            Ok(served) => tracing::info!(stream = name, records = served.stream.records(), "the stream is open"),
            Err(reason) => tracing::error!(target: TOLD, stream = name, %reason, "the stream cannot be opened"),
        }
        opened
    }

    /// The dataset of a stream. The shards of a configured one share it.
    async fn dataset(&self, wanted: &Arc<Wanted>) -> Outcome<Arc<dyn Source>> {
        let opening = {
            let (wanted, limit) = (Arc::clone(wanted), self.configuration.now().decode.limits.bytes);
            let (rights, cache) = (self.configuration.rights(), self.configuration.cache());
            async move {
                let Wanted { section, files, .. } = &*wanted;
                if let Some(group) = section.unix_group.as_ref().filter(|group| group::number(group).is_none()) {
                    return Err(Arc::new(OpenError::Group(group.clone())));
                }
                let cache = cache.map_err(OpenError::from)?;
                let terms = DatasetTerms { byte_limit: limit, rights, cache };
                dataset(section, files.clone(), terms).await.map_err(Arc::new)
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
        let identity = Identity { run, stream, part: None, incarnation: self.incarnation };
        identity.of_part(wanted.section.settings.sharding, wanted.shard)
    }

    /// The Loader of a private stream that failed reports it. A failed stream of a service is shown until it is open.
    fn forget_private(&self, key: &StreamKey) {
        if self.configuration.is_private() {
            self.gates.lock().remove_unused(key);
        }
    }
}

/// Whether a stream can be opened before there is a trainer: one of shards or ranks, or with a place that depends on what the
/// trainer sees, cannot.
fn opens_alone(settings: &StreamSettings) -> bool {
    settings.sharding == Sharding::Dynamic && settings.placement != Placement::Auto
}
