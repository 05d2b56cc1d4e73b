//! How streams are opened: those of the configuration as the daemon starts, others when a trainer asks for them.

use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::Handle;
use forebay_road::settings::{Placement, Sharding, StreamSettings};
use forebay_road::{Credentials, Identity, Opening};
use forebay_sources::Source;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::{Instant, sleep_until};

use super::attempt::{Attempt, Outcome};
use super::dataset::dataset;
use super::gates::{Shut, StreamKey};
use super::ledgers::Ledgers;
use super::served::Served;
use super::{DEFAULT_RUN, Daemon, DaemonError, DaemonKind, OpenError};
use crate::config::StreamSection;
use crate::group;

/// A stream that runs, and that nobody ends before this is dropped.
pub(super) type Entered = (Arc<Served>, OwnedRwLockReadGuard<()>);

/// A stream that somebody wants to be open.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) key: StreamKey,
    pub(super) shard: Option<u32>,
    pub(super) section: StreamSection,
    /// A list of files.
    pub(super) files: Option<Arc<Vec<u8>>>,
    /// What the trainer says of itself; nothing for a stream that is opened before there is a trainer.
    pub(super) trainer: Option<Credentials>,
    pub(super) ledgers: Ledgers,
}

/// How long the daemon waits for further streams when one is open, before it says that it is ready.
const FURTHER: Duration = Duration::from_secs(10);

impl Daemon {
    /// Opens the configured streams, all at once: whole where no trainer has to say which shard it wants, else their
    /// datasets alone. Returns when each is open or has failed. One that takes long is not waited for, where another
    /// is open.
    ///
    /// # Errors
    /// There are streams, and none of them can be opened.
    pub async fn open_streams(self: &Arc<Self>) -> Result<(), DaemonError> {
        let config = self.config();
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
        let Some(wanted) = self.configured(name, None, None) else { return (name.into(), Ok(())) };
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

    /// What a configured stream needs.
    pub(super) fn configured(&self, name: &str, shard: Option<u32>, trainer: Option<Credentials>) -> Option<Wanted> {
        let section = self.config().streams.get(name)?.clone();
        let run = section.run.clone().unwrap_or_else(|| DEFAULT_RUN.into());
        let key = StreamKey { run, stream: name.into() };
        Some(Wanted { key, shard, section, files: None, trainer, ledgers: self.service_ledgers() })
    }

    /// Waits until a stream is open. Opens it unless somebody else does already.
    pub(super) async fn enter(self: &Arc<Self>, wanted: Wanted) -> Outcome<Entered> {
        loop {
            let Wanted { key, .. } = self.by_now(&wanted)?;
            let turn = self.gates.lock().turn(&key);
            let stays = Arc::clone(&turn).read_owned().await;
            // A reload may have had the turn before this one. One that comes later calls off what is begun now.
            let wanted = Arc::new(self.by_now(&wanted)?);
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

    /// The same by the configuration as it is now: a reload calls off an opening whose settings it changes.
    fn by_now(&self, wanted: &Wanted) -> Outcome<Wanted> {
        let Wanted { key, shard, section, trainer, .. } = wanted;
        if matches!(self.kind, DaemonKind::Private { .. }) {
            return Ok(wanted.clone());
        }
        let configured = self.configured(&key.stream, *shard, trainer.clone()).ok_or(OpenError::Removed)?;
        // Which shard is wanted was said for the old ones.
        if shards(configured.section.settings.sharding) == shards(section.settings.sharding) {
            Ok(configured)
        } else {
            Err(Arc::new(OpenError::Resharded))
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
                pool: self.pools.with(section.settings.num_threads).map_err(OpenError::from)?,
                settings: section.settings.clone(),
                dataset: section.dataset(),
                source,
                prefetch: self.config().prefetch.clone(),
                coordinator: self.coordinator(ledgers).await?,
                memory: Arc::clone(&self.ring_memory),
                caches: Arc::clone(&self.caches),
                gpus: Arc::clone(&self.gpus),
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
            let (wanted, limit) = (Arc::clone(wanted), self.config().decode.byte_limit.0);
            async move {
                let Wanted { section, files, .. } = &*wanted;
                if let Some(group) = section.group.as_ref().filter(|group| group::number(group).is_none()) {
                    return Err(Arc::new(OpenError::Group(group.clone())));
                }
                dataset(section, files.clone(), limit).await.map_err(Arc::new)
            }
        };
        if matches!(self.kind, DaemonKind::Private { .. }) {
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

    pub(super) fn service_ledgers(&self) -> Ledgers {
        match &self.kind {
            DaemonKind::Service { ledgers, .. } => Ledgers::File(ledgers.clone()),
            DaemonKind::Private { .. } => Ledgers::Kept,
        }
    }

    /// A private stream that failed is its Loader's to tell of; a service's is shown until it is open.
    fn forget_private(&self, key: &StreamKey) {
        if matches!(self.kind, DaemonKind::Private { .. }) {
            self.gates.lock().remove_unused(key);
        }
    }
}

/// How many shards a stream has, if it has any.
fn shards(sharding: Sharding) -> Option<u32> {
    match sharding {
        Sharding::Dynamic => None,
        Sharding::Static { num_shards, .. } => Some(num_shards),
    }
}

/// Whether a stream can be opened before there is a trainer: one of shards, or with a place that depends on what the
/// trainer sees, cannot.
fn opens_alone(settings: &StreamSettings) -> bool {
    settings.sharding == Sharding::Dynamic && settings.placement != Placement::Auto
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Surroundings};

    fn config(settings: &str) -> Config {
        let text = format!("[streams.train]\nsource = \"/a\"\nsize = 16\n{settings}");
        Config::parse(&text, "a.toml").unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_stream_that_is_waited_for_is_what_a_reload_makes_of_it_or_is_refused() {
        let kind = DaemonKind::Service { ledgers: "ledgers.redb".into(), configuration: None };
        let daemon = Daemon::new(config("batch_size = 4\n"), kind, &Surroundings::default()).unwrap();
        let wanted = daemon.configured("train", None, None).unwrap();
        let reload = |config| *daemon.config.lock() = Arc::new(config);
        reload(config("batch_size = 8\n"));
        assert_eq!(daemon.by_now(&wanted).unwrap().section.settings.batch_size, 8);
        reload(config("batch_size = 8\nnum_shards = 2\n"));
        assert!(matches!(*daemon.by_now(&wanted).unwrap_err(), OpenError::Resharded));
        reload(Config::default());
        assert!(matches!(*daemon.by_now(&wanted).unwrap_err(), OpenError::Removed));
        assert!(matches!(*daemon.enter(wanted).await.unwrap_err(), OpenError::Removed));
    }
}
