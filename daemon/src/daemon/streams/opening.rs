//! What opens a stream: its dataset, its ledger and what it shares with the others. It runs in a task that all callers who
//! wait for the stream share.

use std::sync::Arc;

use forebay_pipeline::settings::{Placement, Sharding, StreamSettings};
use forebay_pipeline::{Identity, LedgerAccess, OpenDataset, Opening, TOLD};
use forebay_sources::Source;

use super::{Streams, ending};
use crate::daemon::OpenError;
use crate::daemon::attempt::{Attempt, Outcome};
use crate::daemon::dataset::{DatasetTerms, dataset};
use crate::daemon::gates::StreamKey;
use crate::daemon::served::Served;
use crate::daemon::wanted::Wanted;
use crate::group;

/// Opens a stream. Runs in a task of its own.
pub(super) async fn open(streams: Arc<Streams>, wanted: Arc<Wanted>) -> Outcome<Arc<Served>> {
    let identity = identify(&streams, &wanted);
    let name = identity.to_string();
    tracing::info!(stream = name, source = wanted.section.dataset.name(), "opening the stream");
    let opened = async {
        let source = opened_dataset(&streams, &wanted).await?;
        let Wanted { key, shard, section, trainer, ledgers, .. } = &*wanted;
        let opening = Opening {
            identity,
            settings: section.settings.of_part(*shard),
            document: section.document(),
            dataset: OpenDataset { name: section.dataset.name(), source },
            prefetch: streams.configuration.now().prefetch.clone(),
            ledger: LedgerAccess {
                coordinator: streams.coordinator(ledgers).await?,
                node: streams.configuration.node(ledgers),
            },
            shared: streams.shared.resources(section.settings.num_threads).map_err(OpenError::from)?,
            readers: streams.configuration.rights().readers,
            trainer: trainer.clone(),
        };
        let opened = Box::pin(opening.open(ending::surplus(&streams, key.clone(), *shard))).await;
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
pub(super) async fn opened_dataset(streams: &Streams, wanted: &Arc<Wanted>) -> Outcome<Arc<dyn Source>> {
    let opening = {
        let (wanted, limit) = (Arc::clone(wanted), streams.configuration.now().decode.limits.bytes);
        let (rights, cache) = (streams.configuration.rights(), streams.configuration.cache());
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
    if streams.configuration.is_private() {
        // Loaders of one run name their settings themselves, each its own.
        return opening.await;
    }
    let attempt = streams.gates.lock().dataset(&wanted.key, || Attempt::begin(opening));
    let opened = match attempt {
        Some(attempt) => attempt.outcome().await,
        None => None,
    };
    opened.unwrap_or_else(|| Err(Arc::new(OpenError::Ending)))
}

fn identify(streams: &Streams, wanted: &Wanted) -> Identity {
    let StreamKey { run, stream } = wanted.key.clone();
    let identity = Identity { run, stream, part: None, incarnation: streams.incarnation };
    identity.of_part(wanted.section.settings.sharding, wanted.shard)
}

/// Whether a stream can be opened before there is a trainer: one of shards or ranks, or with a place that depends on what the
/// trainer sees, cannot.
pub(super) fn opens_alone(settings: &StreamSettings) -> bool {
    settings.sharding == Sharding::Dynamic && settings.placement != Placement::Auto
}
