//! What streams have done in the last hour: their rates, one value every ten seconds. It is pure, and time is an argument.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use forebay_proto::v1::StreamStatus;

/// The rates of streams, by their daemon and name.
#[derive(Debug, Default)]
pub(super) struct RateHistory {
    streams: BTreeMap<(u32, String), WatchedStream>,
}

/// A stream, from the first look at it on.
#[derive(Debug)]
struct WatchedStream {
    at: Duration,
    counted: StreamCounts,
    points: VecDeque<RatePoint>,
}

/// What a stream counts.
#[derive(Clone, Copy, Debug, Default)]
struct StreamCounts {
    delivered: u64,
    batches: u64,
    open_ms: u64,
}

/// Rates of the time before `at`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RatePoint {
    pub(super) at: Duration,
    /// Records that were delivered, in a second.
    pub(super) pictures: f32,
    /// Made, in a second.
    pub(super) batches: f32,
}

/// How far points are apart.
pub(super) const STEP: Duration = Duration::from_secs(10);
/// How far back they go.
pub(super) const HOUR: Duration = Duration::from_secs(3600);
/// Streams that are remembered. If there are more, those that were seen first are.
const STREAMS: usize = 1000;

impl RateHistory {
    /// Notes what all streams have counted by now. Call it every [`STEP`].
    pub(super) fn note<'a>(&mut self, now: Duration, streams: impl Iterator<Item = (u32, &'a StreamStatus)>) {
        for (daemon, stream) in streams {
            let counted =
                StreamCounts { delivered: stream.delivered, batches: stream.batches, open_ms: stream.open_ms };
            let key = (daemon, stream.name.clone());
            if let Some(known) = self.streams.get_mut(&key) {
                known.note(now, counted);
            } else if self.streams.len() < STREAMS {
                self.streams.insert(key, WatchedStream { at: now, counted, points: VecDeque::new() });
            }
        }
        self.streams.retain(|_, stream| now.saturating_sub(stream.at) <= HOUR);
    }

    /// The points of a stream, from the earliest on.
    pub(super) fn of(&self, daemon: u32, name: &str) -> Vec<RatePoint> {
        let stream = self.streams.get(&(daemon, name.to_owned()));
        stream.map(|stream| stream.points.iter().copied().collect()).unwrap_or_default()
    }
}

impl WatchedStream {
    fn note(&mut self, now: Duration, counted: StreamCounts) {
        let (time, was) = (now.saturating_sub(self.at).as_secs_f64(), self.counted);
        if time <= 0.0 {
            return;
        }
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "rates are shown, and far below 2^23"
        )]
        let rate = |before: u64, after: u64| (after.saturating_sub(before) as f64 / time) as f32;
        // One that was opened again counts from its beginning.
        if counted.open_ms >= was.open_ms {
            let (pictures, batches) = (rate(was.delivered, counted.delivered), rate(was.batches, counted.batches));
            self.points.push_back(RatePoint { at: now, pictures, batches });
        }
        (self.at, self.counted) = (now, counted);
        while self.points.front().is_some_and(|first| now.saturating_sub(first.at) >= HOUR) {
            self.points.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(name: &str, delivered: u64, open_ms: u64) -> StreamStatus {
        StreamStatus { name: name.into(), delivered, batches: delivered / 10, open_ms, ..Default::default() }
    }

    fn at(steps: u32) -> Duration {
        STEP * steps
    }

    #[test]
    fn rates_are_those_between_two_looks_and_an_hour_of_them_is_kept() {
        let mut history = RateHistory::default();
        for step in 0..1000 {
            let now = stream("a", u64::from(step) * 500, u64::from(step) * 10_000);
            history.note(at(step), [(1, &now)].into_iter());
        }
        let points = history.of(1, "a");
        assert_eq!(points.len(), 360);
        assert!(points.iter().all(|point| *point == RatePoint { at: point.at, pictures: 50.0, batches: 5.0 }));
        assert_eq!((points[0].at, points[359].at), (at(640), at(999)));
        assert_eq!(history.of(2, "a"), [], "another daemon's");
    }

    #[test]
    fn a_stream_that_was_opened_again_and_a_look_that_was_missed_make_no_false_rate() {
        let mut history = RateHistory::default();
        let mut note =
            |step, delivered, open_ms| history.note(at(step), [(1, &stream("a", delivered, open_ms))].into_iter());
        note(0, 1000, 50_000);
        note(1, 40, 4_000);
        note(2, 140, 14_000);
        // The daemon did not answer in between.
        note(6, 540, 54_000);
        note(6, 540, 54_000);
        let points: Vec<_> = history.of(1, "a").into_iter().map(|point| (point.at, point.pictures)).collect();
        assert_eq!(points, [(at(2), 10.0), (at(6), 10.0)]);
    }

    #[test]
    fn so_many_streams_are_remembered_and_one_that_is_gone_for_an_hour_is_not() {
        let mut history = RateHistory::default();
        let all: Vec<_> = (0..10_000).map(|number| stream(&format!("{number:05}"), 1, 1)).collect();
        history.note(at(0), all.iter().map(|stream| (1, stream)));
        history.note(at(1), all.iter().map(|stream| (1, stream)));
        assert_eq!(history.streams.len(), STREAMS);
        assert_eq!((history.of(1, "00999").len(), history.of(1, "01000").len()), (1, 0));
        history.note(at(400), [(1, &all[5000])].into_iter());
        assert!(history.streams.is_empty());
        history.note(at(401), [(1, &all[5000])].into_iter());
        assert_eq!(history.streams.len(), 1);
    }
}
