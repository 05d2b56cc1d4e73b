//! For which shares of a time the stages of a stream were at work, from the waits at their queues.

use std::time::Duration;

use forebay_proto::v1::{StageStatus, StreamStatus};
use serde::Serialize;

/// Shares of the time between two readings, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Shares {
    /// Readers had something to read, and room for it.
    pub(crate) reading: f64,
    /// Readers had nothing to read: no lease.
    pub(crate) no_lease: f64,
    /// Readers had something to read, and no room for it.
    #[serde(skip)]
    pub(crate) no_room: f64,
    /// Decode threads had pictures.
    pub(crate) decoding: f64,
    /// No slot of the ring was free for the next batch.
    #[serde(rename = "no_free_slot")]
    pub(crate) no_slot: f64,
}

/// Waits are counted in parts of 250 ms, so in a shorter time than this a thread that waits may seem to be busy. It is a bit less
/// than the second of `forebay top`, whose wait may end early.
const MEASURABLE: Duration = Duration::from_millis(900);

impl Shares {
    /// As [`between`](Self::between), or none if the time is too short.
    pub(crate) fn measured(before: &StreamStatus, after: &StreamStatus, time: Duration) -> Option<Self> {
        (time >= MEASURABLE).then(|| Self::between(before, after, time))
    }

    /// Of two readings of a stream with this time in between.
    pub(crate) fn between(before: &StreamStatus, after: &StreamStatus, time: Duration) -> Self {
        let waited = |name: &str, end: fn(&StageStatus) -> u64, threads: u32| {
            let micros = |stream: &StreamStatus| stream.stages.iter().find(|stage| stage.name == name).map_or(0, end);
            let waited = Duration::from_micros(micros(after).saturating_sub(micros(before)));
            let whole = time.as_secs_f64().max(f64::EPSILON) * f64::from(threads.max(1));
            (waited.as_secs_f64() / whole).min(1.0)
        };
        let (readers, decoders) = (after.readers, after.decode_threads);
        let no_lease = waited("prefetch", |stage| stage.reader_wait_us, readers);
        let no_room = waited("prefetch", |stage| stage.writer_wait_us, readers);
        Self {
            reading: (1.0 - no_lease - no_room).max(0.0),
            no_lease,
            no_room,
            decoding: 1.0 - waited("decode", |stage| stage.reader_wait_us, decoders),
            no_slot: waited("batch", |stage| stage.writer_wait_us, 1),
        }
    }
}
