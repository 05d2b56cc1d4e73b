//! The status and the metric of configured streams that are not open.

use forebay_pipeline::settings::AskedPart;
use forebay_pipeline::{Metric, Samples};
use forebay_proto::v1::ClosedStream;
use parking_lot::Mutex;

use super::configuration::Configuration;
use super::gates::{Closed, Gates, StreamKey};
use super::wanted::Wanted;

/// The configured streams, and shards of them, that are not open, for the status.
pub(super) fn closed(configuration: &Configuration, gates: &Mutex<Gates>) -> Vec<ClosedStream> {
    let config = configuration.now();
    let wanted = config.streams.keys().filter_map(|name| configuration.wanted(name, None, None));
    wanted.flat_map(|wanted| closed_of(&wanted, gates)).collect()
}

/// Brings the metric of streams that are open, or wait for their first trainer, up to date.
pub(super) fn show(configuration: &Configuration, gates: &Mutex<Gates>, samples: &mut Samples) {
    for name in configuration.now().streams.keys() {
        let Some(wanted) = configuration.wanted(name, None, None) else { continue };
        let closed = closed_of(&wanted, gates);
        let up = closed.iter().all(|stream| !stream.opening && stream.failure.is_empty());
        samples.level(Metric::StreamUp, &[("stream", name)], up.into());
    }
}

fn closed_of(wanted: &Wanted, gates: &Mutex<Gates>) -> Vec<ClosedStream> {
    let StreamKey { run, stream } = &wanted.key;
    let shards = gates.lock().not_open(&wanted.key);
    let sharding = wanted.section.settings.sharding;
    let part = |asked| sharding.epoch_part(Some(asked));
    let shown = |(asked, closed): (Option<AskedPart>, Closed)| ClosedStream {
        name: asked.and_then(part).map_or_else(|| stream.clone(), |part| format!("{stream} ({part})")),
        run: run.clone(),
        source: wanted.section.dataset.source.as_ref().map(|sources| sources.join(", ")).unwrap_or_default(),
        opening: matches!(closed, Closed::Opening { .. }),
        dataset_open: matches!(closed, Closed::Opening { dataset_open: true }),
        failure: match closed {
            Closed::Failed(reason) => reason.to_string(),
            Closed::Opening { .. } | Closed::Waiting => String::new(),
        },
    };
    shards.into_iter().map(shown).collect()
}
