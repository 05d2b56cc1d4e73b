//! Streams that end while the daemon goes on: a private one whose Loader has left, and one that nobody reads and that is
//! to stand elsewhere. Both end alone: nobody is being let in meanwhile.

use std::sync::Arc;

use forebay_proto::v1::NewRunRequest;

use crate::config::stream::Placement;
use crate::daemon::ledgers::Ledgers;
use crate::daemon::{Daemon, Key, Kind};
use crate::placement::{Claims, Place};
use crate::stream::{Stream, Surplus};

impl Daemon {
    /// A private stream ends with its Loader.
    pub(super) fn surplus(self: &Arc<Self>, key: Key) -> Surplus {
        let private = matches!(self.kind, Kind::Private { .. });
        let (daemon, runtime) = (Arc::downgrade(self), tokio::runtime::Handle::current());
        Box::new(move |left| {
            if let Some(daemon) = daemon.upgrade().filter(|_| private && left == 0) {
                let key = key.clone();
                runtime.spawn(async move { daemon.end_private(&key).await });
            }
        })
    }

    /// Ends a private stream whose Loader has left, unless another one has come for it. A ledger that no run keeps
    /// goes with it.
    async fn end_private(&self, key: &Key) {
        let _alone = self.renewing.write().await;
        let Some(stream) = self.running(key).filter(|stream| stream.is_idle()) else { return };
        self.streams.lock().remove(key);
        stream.close().await;
        let kept = self.ledgers.lock().await.get(&Ledgers::Kept).cloned();
        if let Some(ledgers) = kept.filter(|_| stream.settings().run.is_none()) {
            let request = NewRunRequest { run: key.run.clone(), stream: key.stream.clone() };
            if let Err(error) = ledgers.call(request).await {
                tracing::debug!(%error, "the ledger of a closed Loader stays");
            }
        }
    }

    /// Ends a stream that stands where an earlier trainer's GPU was, when nobody reads it any more and this trainer's is
    /// elsewhere. Whoever opens it next decides, and goes on from its ledger.
    pub(super) async fn leave_place(&self, key: &Key, trainer: &Claims) {
        if self.misplaced(key, trainer).await.is_none() {
            return;
        }
        let _alone = self.renewing.write().await;
        // Somebody may have come before the lock did.
        if let Some(stream) = self.misplaced(key, trainer).await {
            tracing::info!(
                stream = key.stream,
                "nobody reads the stream: it is opened anew where this trainer's GPU is"
            );
            self.streams.lock().remove(key);
            stream.close().await;
        }
    }

    async fn misplaced(&self, key: &Key, trainer: &Claims) -> Option<Arc<Stream>> {
        let stream = self.running(key).filter(|stream| stream.settings().placement == Placement::Auto)?;
        // One who will be refused moves nothing.
        if stream.settings().pin_memory && trainer.may_pin(self.uid).is_err() {
            return None;
        }
        let gpus = Arc::clone(&self.gpus);
        // The driver may take its time.
        let machine = tokio::task::spawn_blocking(move || gpus.machine()).await.ok()?;
        let (place, _) = Place::decide(Placement::Auto, &machine, Some(trainer)).ok()?;
        (place != stream.place() && stream.is_left().await).then_some(stream)
    }

    fn running(&self, key: &Key) -> Option<Arc<Stream>> {
        self.streams.lock().get(key).and_then(|cell| cell.get().cloned())
    }
}
