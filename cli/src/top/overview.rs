//! What happened to a daemon's streams between two readings of its status: rates, shares of the time, and verdicts.

use std::time::Duration;

use forebay_proto::v1::{ConsumerStatus, LaneStatus, StatusReply, StreamStatus};
use serde::Serialize;

use crate::fill::FillRates;
use crate::json::Seconds;
use crate::status::remote_report::RemoteReport;
use crate::status::report::{
    ClosedReport, GroupReport, LaneReport, OffReport, OutageReport, RequestsReport, SlotsReport, TrainerReport,
};
use crate::verdict::{StageShares, Verdict, earlier};

/// All streams.
#[derive(Debug, Serialize)]
pub(super) struct Overview<'a> {
    pub(super) version: &'a str,
    pub(super) pid: u32,
    #[serde(skip)]
    pub(super) uptime: Duration,
    pub(super) ledger_outage: Option<OutageReport<'a>>,
    pub(super) streams: Vec<StreamRates<'a>>,
    pub(super) closed: Vec<ClosedReport<'a>>,
    lanes: Vec<LaneReport<'a>>,
    pub(super) switched_off: Vec<OffReport<'a>>,
    /// Each lane's share of the pictures that were decoded, from 0 to 1; nothing if none was.
    #[serde(skip)]
    pub(super) lane_shares: Vec<(&'a str, f64)>,
}

/// One stream.
#[derive(Debug, Serialize)]
pub(super) struct StreamRates<'a> {
    pub(super) name: &'a str,
    pub(super) source: &'a str,
    pub(super) records: u64,
    #[serde(rename = "pictures_per_second")]
    pub(super) pictures: f64,
    /// Made.
    #[serde(rename = "batches_per_second")]
    pub(super) batches: f64,
    #[serde(flatten)]
    pub(super) fill: FillRates,
    pub(super) epoch: u64,
    pub(super) epochs: u64,
    /// How much of the epoch is complete, from 0 to 1.
    #[serde(rename = "epoch_done")]
    pub(super) done: f64,
    /// Until the epoch is complete; nothing if that cannot be foreseen.
    #[serde(rename = "seconds_left")]
    pub(super) left: Option<Seconds>,
    pub(super) bad: u64,
    pub(super) slots: SlotsReport,
    pub(super) readers: u32,
    pub(super) decode_threads: u32,
    pub(super) requests: Option<RequestsReport>,
    pub(super) remote: Vec<RemoteReport<'a>>,
    /// Nothing if the readings are too close to each other.
    pub(super) shares: Option<StageShares>,
    pub(super) trainers: Vec<TrainerReport<'a, ConsumedRate>>,
    pub(super) groups: Vec<GroupReport<'a>>,
    #[serde(flatten)]
    pub(super) verdict: Verdict,
}

/// What a trainer consumes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ConsumedRate {
    #[serde(rename = "batches_per_second")]
    pub(super) batches: f64,
}

/// A longer time is not foreseen.
const YEAR: f64 = 365.0 * 24.0 * 3600.0;

impl<'a> Overview<'a> {
    /// Of two readings with this time in between.
    pub(super) fn of(before: &StatusReply, after: &'a StatusReply, time: Duration) -> Self {
        Self {
            version: &after.version,
            pid: after.pid,
            uptime: Duration::from_millis(after.uptime_ms),
            ledger_outage: OutageReport::of(after),
            streams: after.streams.iter().map(|stream| StreamRates::of(before, after, stream, time)).collect(),
            closed: ClosedReport::all(after),
            lanes: LaneReport::all(after),
            switched_off: OffReport::all(after),
            lane_shares: lane_shares(before, after),
        }
    }
}

impl<'a> StreamRates<'a> {
    fn of(before: &StatusReply, after: &StatusReply, stream: &'a StreamStatus, time: Duration) -> Self {
        let nothing = StreamStatus::default();
        // A stream that was opened meanwhile counts from its beginning.
        let was = earlier(before, stream).unwrap_or(&nothing);
        let pictures = rate(was.delivered, stream.delivered, time);
        let trainer = |trainer: &'a ConsumerStatus| {
            let earlier = was.consumers.iter().find(|was| was.id == trainer.id).map_or(0, |was| was.delivered);
            TrainerReport::new(trainer, ConsumedRate { batches: rate(earlier, trainer.delivered, time) })
        };
        let shares = StageShares::measured(was, stream, time);
        let (done, all) = (stream.epoch_done.min(stream.epoch_len), stream.epoch_len);
        Self {
            name: &stream.name,
            source: &stream.source,
            records: stream.records,
            pictures,
            batches: rate(was.batches, stream.batches, time),
            fill: FillRates::between(was.fill.as_ref(), stream.fill.as_ref(), time),
            epoch: stream.epoch,
            epochs: stream.epochs,
            done: float(done) / float(all.max(1)),
            left: left(all - done, pictures),
            bad: stream.bad,
            slots: SlotsReport::of(stream),
            readers: stream.readers,
            decode_threads: stream.decode_threads,
            requests: stream.requests.map(RequestsReport::new),
            remote: stream.remote.iter().map(RemoteReport::new).collect(),
            shares,
            trainers: stream.consumers.iter().map(trainer).collect(),
            groups: stream.groups.iter().map(|group| GroupReport::new(group, None)).collect(),
            verdict: Verdict::of((before, after), stream, shares, None),
        }
    }
}

fn lane_shares<'a>(before: &StatusReply, after: &'a StatusReply) -> Vec<(&'a str, f64)> {
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

fn left(records: u64, rate: f64) -> Option<Seconds> {
    let seconds = float(records) / rate;
    (seconds < YEAR).then(|| Seconds(Duration::from_secs_f64(seconds)))
}

#[allow(clippy::cast_precision_loss, reason = "counts of records, far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
