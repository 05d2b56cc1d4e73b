//! The end of a stream: its Loader has left, it does not suit the next trainer, or the daemon ends. While a stream ends, no
//! trainer is being admitted to it.

use std::sync::Arc;
use std::time::Duration;

use forebay_pipeline::settings::{AskedPart, Placement};
use forebay_pipeline::{Credentials, PixelPlace, Stream, Surplus, threads};
use forebay_proto::v1::NewRunRequest;

use super::Streams;
use crate::daemon::gates::StreamKey;
use crate::daemon::wanted::Wanted;

/// A private stream ends with its Loader.
pub(super) fn surplus(streams: &Arc<Streams>, key: StreamKey, shard: Option<AskedPart>) -> Surplus {
    let private = streams.configuration.is_private();
    let (streams, runtime) = (Arc::downgrade(streams), tokio::runtime::Handle::current());
    Box::new(move |left| {
        if let Some(streams) = streams.upgrade().filter(|_| private && left == 0) {
            let key = key.clone();
            runtime.spawn(async move { end_private(&streams, &key, shard).await });
        }
    })
}

/// Ends a private stream whose Loader has left, unless another one has come for it. A ledger that no run keeps
/// goes with it.
pub(super) async fn end_private(streams: &Streams, key: &StreamKey, shard: Option<AskedPart>) {
    let turn = streams.gates.lock().turn(key);
    let _alone = turn.write().await;
    let taken = streams.gates.lock().take(key, shard, Stream::is_idle);
    let Some(served) = taken else {
        // The gate may have been made by asking for its turn.
        streams.gates.lock().remove_unused(key);
        return;
    };
    served.stream.close().await;
    let kept = streams.ledgers.kept().filter(|_| served.section.run.is_none());
    if let Some(ledgers) = kept {
        let request = NewRunRequest { run: key.run.clone(), stream: key.stream.clone() };
        if let Err(error) = ledgers.call(request).await {
            tracing::debug!(%error, "the ledger of a stream whose trainers are gone stays");
        }
    }
    streams.gates.lock().remove_unused(key);
}

/// Ends a stream that no trainer reads any more and that does not suit this trainer: an earlier Loader had other
/// settings, its GPU is elsewhere, or its shard has moved to another node. The next trainer to open it decides, and
/// continues from its ledger.
pub(in crate::daemon) async fn leave_unfit(streams: &Streams, wanted: &Wanted) {
    if unfit(streams, wanted).await.is_none() {
        return;
    }
    let Wanted { key, shard, .. } = wanted;
    let turn = streams.gates.lock().turn(key);
    let _alone = turn.write().await;
    // Another trainer may have attached before this task got its turn.
    if let Some(stream) = unfit(streams, wanted).await {
        tracing::info!(stream = key.stream, "the stream has no trainers: it is opened again as this trainer needs it");
        streams.gates.lock().take(key, *shard, |_| true);
        stream.close().await;
    }
}

async fn unfit(streams: &Streams, Wanted { key, shard, section, trainer, .. }: &Wanted) -> Option<Arc<Stream>> {
    let served = streams.gates.lock().running(key, *shard)?;
    if served.stream.has_moved().await {
        return served.stream.is_left().await.then(|| Arc::clone(&served.stream));
    }
    // Those of a service are its configuration's.
    if streams.configuration.is_private() && served.section != *section {
        return served.stream.is_left().await.then(|| Arc::clone(&served.stream));
    }
    misplaced(streams, key, *shard, trainer.as_ref()?).await
}

async fn misplaced(
    streams: &Streams,
    key: &StreamKey,
    shard: Option<AskedPart>,
    trainer: &Credentials,
) -> Option<Arc<Stream>> {
    let stream = Arc::clone(&streams.gates.lock().running(key, shard)?.stream);
    // One who will be refused moves nothing.
    let pins = stream.settings().pin_memory && trainer.may_pin(streams.uid).is_err();
    if stream.settings().placement != Placement::Auto || pins {
        return None;
    }
    let gpus = Arc::clone(streams.shared.gpus());
    // The driver may take its time.
    let machine = threads::beside("forebay-gpus", move || gpus.machine()).await.ok()?;
    let (place, _) = PixelPlace::decide(Placement::Auto, &machine, Some(trainer)).ok()?;
    (place != stream.place() && stream.is_left().await).then_some(stream)
}

/// Ends all streams that are open at a gate, or about to be. No trainer is admitted there meanwhile.
pub(super) async fn end_all(streams: &Streams, key: &StreamKey) {
    let gate = streams.gates.lock().empty(key);
    for served in gate.call_off().await {
        served.stream.close().await;
    }
}

/// Ends every stream, as the daemon ends. No stream is opened any more, and openings under way are not waited for.
pub(in crate::daemon) async fn close(streams: &Streams, drain: Duration) {
    streams.shared.leave();
    let gates = streams.gates.lock().close();
    let closing = gates.into_iter().map(|(key, gate)| async move {
        if gate.is_opening() {
            tracing::warn!(
                stream = key.stream,
                "the stream is still being opened: the daemon ends without waiting for its dataset"
            );
        }
        let leaving = gate.call_off().await.into_iter().map(|served| async move { served.stream.leave(drain).await });
        futures_util::future::join_all(leaving).await;
    });
    futures_util::future::join_all(closing).await;
}
