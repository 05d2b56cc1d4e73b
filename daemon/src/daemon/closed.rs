//! What the daemon tells of configured streams that are not open.

use forebay_proto::v1::ClosedStream;
use forebay_road::{Metric, Samples};

use super::Daemon;
use super::gates::{Closed, StreamKey};
use super::openings::Wanted;

impl Daemon {
    /// The configured streams, and shards of them, that are not open, for the status.
    pub fn closed(&self) -> Vec<ClosedStream> {
        let config = self.config();
        let names = config.streams.keys();
        names.filter_map(|name| self.configured(name, None, None)).flat_map(|wanted| self.closed_of(&wanted)).collect()
    }

    fn closed_of(&self, wanted: &Wanted) -> Vec<ClosedStream> {
        let StreamKey { run, stream } = &wanted.key;
        let shards = self.gates.lock().not_open(&wanted.key);
        let shown = |(shard, closed): (Option<u32>, Closed)| ClosedStream {
            name: shard.map_or_else(|| stream.clone(), |shard| format!("{stream} (shard {shard})")),
            run: run.clone(),
            source: wanted.section.source.clone().unwrap_or_default(),
            opening: matches!(closed, Closed::Opening),
            failure: match closed {
                Closed::Failed(reason) => reason.to_string(),
                Closed::Opening | Closed::Waiting => String::new(),
            },
        };
        shards.into_iter().map(shown).collect()
    }

    /// Brings the metric of streams that are open, or wait for their first trainer, up to date.
    pub fn show_streams(&self, samples: &mut Samples) {
        for name in self.config().streams.keys() {
            let Some(wanted) = self.configured(name, None, None) else { continue };
            let closed = self.closed_of(&wanted);
            let up = closed.iter().all(|stream| !stream.opening && stream.failure.is_empty());
            samples.level(Metric::StreamUp, &[("stream", name)], up.into());
        }
    }
}
