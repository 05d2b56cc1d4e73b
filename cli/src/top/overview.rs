//! What happened to a daemon's streams between two readings of its status: rates, shares of the time, and verdicts.

use std::time::Duration;

use forebay_proto::v1::{ConsumerStatus, LaneStatus, StatusReply, StreamStatus};

use crate::verdict::{Shares, Verdict, earlier};

/// All streams.
#[derive(Debug)]
pub(super) struct Overview<'a> {
    pub(super) reply: &'a StatusReply,
    /// Each lane's share of the pictures that were decoded, from 0 to 1; nothing if none was.
    pub(super) lanes: Vec<(&'a str, f64)>,
    pub(super) streams: Vec<StreamRates<'a>>,
}

/// One stream.
#[derive(Debug)]
pub(super) struct StreamRates<'a> {
    pub(super) stream: &'a StreamStatus,
    /// Per second.
    pub(super) pictures: f64,
    /// Made, per second.
    pub(super) batches: f64,
    /// Until the epoch is complete; nothing if that cannot be foreseen.
    pub(super) left: Option<Duration>,
    /// Nothing if the readings are too close to each other.
    pub(super) shares: Option<Shares>,
    pub(super) trainers: Vec<TrainerRate<'a>>,
    pub(super) verdict: Verdict,
}

/// One trainer.
#[derive(Debug)]
pub(super) struct TrainerRate<'a> {
    pub(super) trainer: &'a ConsumerStatus,
    /// Consumed, per second.
    pub(super) batches: f64,
}

/// A longer time is not foreseen.
const YEAR: f64 = 365.0 * 24.0 * 3600.0;

impl<'a> Overview<'a> {
    /// Of two readings with this time in between.
    pub(super) fn of(before: &StatusReply, after: &'a StatusReply, time: Duration) -> Self {
        let streams = after.streams.iter().map(|stream| StreamRates::of(before, after, stream, time));
        Self { reply: after, lanes: lanes(before, after), streams: streams.collect() }
    }
}

impl<'a> StreamRates<'a> {
    fn of(before: &StatusReply, after: &StatusReply, stream: &'a StreamStatus, time: Duration) -> Self {
        let nothing = StreamStatus::default();
        // A stream that was opened meanwhile counts from its beginning.
        let was = earlier(before, stream).unwrap_or(&nothing);
        let pictures = rate(was.delivered, stream.delivered, time);
        let trainers = stream.consumers.iter().map(|trainer| {
            let earlier = was.consumers.iter().find(|was| was.id == trainer.id).map_or(0, |was| was.delivered);
            TrainerRate { trainer, batches: rate(earlier, trainer.delivered, time) }
        });
        let shares = Shares::measured(was, stream, time);
        Self {
            stream,
            pictures,
            batches: rate(was.batches, stream.batches, time),
            left: left(stream.epoch_len.saturating_sub(stream.epoch_done), pictures),
            shares,
            trainers: trainers.collect(),
            verdict: Verdict::of((before, after), stream, shares, None),
        }
    }

    /// How much of the epoch is complete, from 0 to 1.
    pub(super) fn done(&self) -> f64 {
        let StreamStatus { epoch_len, epoch_done, .. } = self.stream;
        float(*epoch_done.min(epoch_len)) / float((*epoch_len).max(1))
    }
}

fn lanes<'a>(before: &StatusReply, after: &'a StatusReply) -> Vec<(&'a str, f64)> {
    let made = |lane: &LaneStatus| {
        let earlier = before.lanes.iter().find(|was| was.name == lane.name).map_or(0, |was| was.pictures);
        lane.pictures.saturating_sub(earlier)
    };
    let all: u64 = after.lanes.iter().map(made).sum();
    if all == 0 {
        return Vec::new();
    }
    after.lanes.iter().map(|lane| (lane.name.as_str(), float(made(lane)) / float(all))).collect()
}

fn rate(before: u64, after: u64, time: Duration) -> f64 {
    float(after.saturating_sub(before)) / time.as_secs_f64().max(f64::EPSILON)
}

fn left(records: u64, rate: f64) -> Option<Duration> {
    let seconds = float(records) / rate;
    (seconds < YEAR).then(|| Duration::from_secs_f64(seconds))
}

#[allow(clippy::cast_precision_loss, reason = "counts of records, far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
