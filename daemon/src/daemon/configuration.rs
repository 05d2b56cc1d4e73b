//! The daemon's current configuration, and the settings that it gives a requested stream.

use std::path::Path;
use std::sync::Arc;

use forebay_pipeline::settings::{AskedPart, Sharding};
use forebay_pipeline::{Credentials, Node, threads};
use forebay_printable::printable;
use forebay_sources::DiskCache;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::MutexGuard;
use tokio::task::JoinError;

use super::attempt::Outcome;
use super::gates::StreamKey;
use super::ledgers::Ledgers;
use super::node;
use super::wanted::Wanted;
use super::{DEFAULT_RUN, DaemonKind, OpenError};
use crate::config::{CacheSettingError, Config, Environment, Mistakes, SourceRights, UnreadableConfig};

/// Why a configuration was not adopted. Nothing has changed.
#[derive(Debug, Error)]
pub(crate) enum ReloadError {
    /// Its file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableConfig),
    /// It has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// The system has no room for a thread.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The daemon ended meanwhile.
    #[error(transparent)]
    Ended(#[from] JoinError),
}

/// What the daemon is for, and the configuration that it goes by.
#[derive(Debug)]
pub(super) struct Configuration {
    kind: DaemonKind,
    current: Mutex<Arc<Config>>,
    /// Held by the task that reads it again.
    reloading: tokio::sync::Mutex<()>,
}

impl Configuration {
    pub(super) fn new(config: Config, kind: DaemonKind) -> Self {
        Self { kind, current: Mutex::new(Arc::new(config)), reloading: tokio::sync::Mutex::default() }
    }

    /// The current configuration.
    pub(super) fn now(&self) -> Arc<Config> {
        Arc::clone(&self.current.lock())
    }

    /// Replaces it.
    pub(super) fn replace(&self, config: Config) {
        *self.current.lock() = Arc::new(config);
    }

    /// The right to read it again, which only one task has at a time.
    pub(super) async fn alone(&self) -> MutexGuard<'_, ()> {
        self.reloading.lock().await
    }

    /// The current content of its file; `None` without a file.
    ///
    /// # Errors
    /// It cannot be read, or has mistakes.
    pub(super) async fn read_again(&self) -> Result<Option<Config>, ReloadError> {
        let DaemonKind::Service { configuration: Some(file), .. } = &self.kind else { return Ok(None) };
        let file = file.clone();
        Ok(Some(threads::beside("forebay-reload", move || read(&file)).await??))
    }

    /// Whether the daemon serves the Loaders of the process that started it.
    pub(super) fn is_private(&self) -> bool {
        matches!(self.kind, DaemonKind::Private { .. })
    }

    /// Which custom readers may be run, and which objects may be read. The Loaders of a private daemon are its own user's
    /// (semantics rules 54 and 55).
    pub(super) fn rights(&self) -> SourceRights {
        match &self.kind {
            DaemonKind::Private { .. } => SourceRights::default(),
            DaemonKind::Service { .. } => self.now().sources.rights(),
        }
    }

    /// The current settings of the cache on a local disk.
    ///
    /// # Errors
    /// The environment has a value that it cannot have.
    pub(super) fn cache(&self) -> Result<Option<DiskCache>, CacheSettingError> {
        self.now().sources.disk_cache(&Environment::of_process())
    }

    /// The folder for the ledgers of a private daemon's named runs, if there is one.
    pub(super) fn runs(&self) -> Option<&Path> {
        match &self.kind {
            DaemonKind::Private { runs } => runs.as_deref(),
            DaemonKind::Service { .. } => None,
        }
    }

    /// The text for a caller that asks for a stream that is not configured.
    pub(super) fn no_stream(&self, name: &str) -> String {
        let config = self.now();
        let known: Vec<&str> = config.streams.keys().map(String::as_str).collect();
        format!("there is no stream \"{name}\"; this daemon has {}", known.join(", "))
    }

    /// What a configured stream needs.
    pub(super) fn wanted(&self, name: &str, shard: Option<AskedPart>, trainer: Option<Credentials>) -> Option<Wanted> {
        let section = self.now().streams.get(name)?.clone();
        let run = section.run.clone().unwrap_or_else(|| DEFAULT_RUN.into());
        let key = StreamKey { run, stream: name.into() };
        Some(Wanted { key, shard, section, files: None, trainer, ledgers: self.service_ledgers() })
    }

    /// The same by the current configuration: a reload calls off an opening whose settings it changes.
    pub(super) fn by_now(&self, wanted: &Wanted) -> Outcome<Wanted> {
        let Wanted { key, shard, section, trainer, .. } = wanted;
        if self.is_private() {
            return Ok(wanted.clone());
        }
        let configured = self.wanted(&key.stream, *shard, trainer.clone()).ok_or(OpenError::Removed)?;
        // Which shard or rank is wanted was said for the old ones.
        if assignment(configured.section.settings.sharding) == assignment(section.settings.sharding) {
            Ok(configured)
        } else {
            Err(Arc::new(OpenError::Resharded))
        }
    }

    /// The node as which this daemon asks for these ledgers.
    pub(super) fn node(&self, ledgers: &Ledgers) -> Node {
        match ledgers {
            // The environment was looked at when the daemon started.
            Ledgers::Remote(_) => node::remote(self.now().coordinator.name(&Environment::of_process()).ok().flatten()),
            Ledgers::Kept | Ledgers::File(_) => node::local(),
        }
    }

    fn service_ledgers(&self) -> Ledgers {
        match &self.kind {
            DaemonKind::Service { ledgers, .. } => ledgers.clone(),
            DaemonKind::Private { .. } => Ledgers::Kept,
        }
    }
}

fn read(file: &Path) -> Result<Config, ReloadError> {
    let text = Config::text_of(file)?;
    Ok(Config::parse(&text, &printable(file).to_string())?)
}

/// The settings that must stay the same for a shard or a rank to keep its meaning: the kind of assignment, and its number.
fn assignment(sharding: Sharding) -> (u8, u32) {
    match sharding {
        Sharding::Dynamic => (0, 0),
        Sharding::Static { num_shards, .. } => (1, num_shards),
        Sharding::Lockstep { global_batch, .. } => (2, global_batch),
    }
}
