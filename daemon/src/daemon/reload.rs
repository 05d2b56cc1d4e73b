//! Reading the configuration again while streams run, and trying once more to open what is not open.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forebay_proto::printable;
use forebay_proto::v1::ReloadReply;
use forebay_road::threads;
use thiserror::Error;
use tokio::task::JoinError;

use super::{Daemon, DaemonKind};
use crate::config::{Change, Config, Mistakes, UnreadableConfig};

/// How long a reload waits for streams that take long to open.
const PATIENCE: Duration = Duration::from_secs(10);

/// A configuration that was not taken up: nothing has changed.
#[derive(Debug, Error)]
pub enum ReloadError {
    /// Its file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableConfig),
    /// It has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// The system has no room for a thread.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The daemon has ended meanwhile.
    #[error(transparent)]
    Ended(#[from] JoinError),
}

impl Daemon {
    /// Takes up what the configuration says by now, as far as that is possible, and opens what is not open. Without a
    /// file of its own it does the latter alone.
    ///
    /// # Errors
    /// The configuration cannot be read, or has mistakes: nothing has changed then.
    pub async fn reload(self: &Arc<Self>) -> Result<ReloadReply, ReloadError> {
        let daemon = Arc::clone(self);
        // In a task of its own: whoever asked may hang up in the middle.
        tokio::spawn(async move { daemon.reload_alone().await }).await?
    }

    async fn reload_alone(self: Arc<Self>) -> Result<ReloadReply, ReloadError> {
        let _alone = self.reloading.lock().await;
        let mut reply = ReloadReply::default();
        if let DaemonKind::Service { configuration: Some(file), .. } = &self.kind {
            let file = file.clone();
            let next = threads::beside("forebay-reload", move || read(&file)).await??;
            let change = self.config().change(&next, |name| self.is_open(name));
            self.replace(&change).await;
            (reply.taken, reply.refused) = (change.taken, change.refused);
        }
        let config = self.config();
        let opening = config.streams.keys().map(|name| self.prepare(name));
        // What takes longer is shown as it is by then.
        let _all = tokio::time::timeout(PATIENCE, futures_util::future::join_all(opening)).await;
        reply.closed = self.closed();
        for key in &reply.taken {
            tracing::info!(key, "reload: applied");
        }
        for key in &reply.refused {
            tracing::warn!(key, "reload: refused");
        }
        Ok(reply)
    }

    /// Goes on with the changed configuration.
    async fn replace(&self, change: &Change) {
        self.ring_memory.limit_to(change.config.ring.memory.map(|size| size.0));
        let replaced = change.replaced.iter().filter_map(|name| self.configured(name, None, None));
        let keys: Vec<_> = replaced.map(|wanted| wanted.key).collect();
        // First of all: who waits for an opening that is called off begins another one at once.
        *self.config.lock() = Arc::new(change.config.clone());
        for key in keys {
            let turn = self.gates.lock().turn(&key);
            let _alone = turn.write().await;
            self.end_all(&key).await;
        }
    }

    fn is_open(&self, name: &str) -> bool {
        self.configured(name, None, None).is_some_and(|wanted| self.gates.lock().has_open(&wanted.key))
    }
}

fn read(file: &Path) -> Result<Config, ReloadError> {
    let text = Config::text_of(file)?;
    Ok(Config::parse(&text, &printable(file).to_string())?)
}
