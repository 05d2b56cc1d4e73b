//! For which shares of a time the stages of a stream were at work, from the waits at their queues.

use std::time::Duration;

use forebay_proto::v1::{StageStatus, StatusReply, StreamStatus};
use serde::Serialize;

use super::earlier;

/// Shares of the time between two readings, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StageShares {
    /// Readers had something to read, and room for it.
    pub reading: f64,
    /// Readers had nothing to read: no lease.
    pub no_lease: f64,
    /// Readers had something to read, and no room for it.
    #[serde(skip)]
    pub no_room: f64,
    /// Decode threads had pictures.
    pub decoding: f64,
    /// Processes called functions in Python.
    #[serde(skip)]
    pub functions: f64,
    /// No slot of the ring was free for the next batch.
    #[serde(rename = "no_free_slot")]
    pub no_slot: f64,
}

/// Waits are counted in parts of 250 ms, so in a shorter time than this a thread that waits may seem to be busy. It is a bit less
/// than the second of `forebay top`, whose wait may end early.
const MEASURABLE: Duration = Duration::from_millis(900);

impl StageShares {
    /// Since this reading of the daemon, or since the stream was opened if that was later. None if that is too short.
    pub fn since(before: &StatusReply, stream: &StreamStatus) -> Option<Self> {
        let nothing = StreamStatus::default();
        let was = earlier(before, stream).unwrap_or(&nothing);
        Self::measured(was, stream, Duration::from_millis(stream.open_ms.saturating_sub(was.open_ms)))
    }

    /// As [`between`](Self::between), or none if the time is too short.
    pub fn measured(before: &StreamStatus, after: &StreamStatus, time: Duration) -> Option<Self> {
        (time >= MEASURABLE).then(|| Self::between(before, after, time))
    }

    /// Of two readings of a stream with this time in between.
    pub fn between(before: &StreamStatus, after: &StreamStatus, time: Duration) -> Self {
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
            functions: calling(before, after, time),
            decoding: 1.0 - waited("decode", |stage| stage.reader_wait_us, decoders),
            no_slot: waited("batch", |stage| stage.writer_wait_us, 1),
        }
    }
}

/// For which share of a time the processes that call functions in Python did so.
fn calling(before: &StreamStatus, after: &StreamStatus, time: Duration) -> f64 {
    let busy = |stream: &StreamStatus| stream.functions.iter().map(|function| function.busy_us).sum::<u64>();
    let busy = Duration::from_micros(busy(after).saturating_sub(busy(before)));
    let whole = time.as_secs_f64().max(f64::EPSILON) * f64::from(after.python_workers);
    if whole > 0.0 { (busy.as_secs_f64() / whole).min(1.0) } else { 0.0 }
}
