//! The result of a measurement: the figures and the bottleneck that they show, as text and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use forebay_proto::v1::{GpuStatus, LaneStatus, StatusReply, StreamStatus};
use serde::Serialize;

use crate::bad::{BadPicture, BadPictures};
use crate::fill::FillRates;
use crate::json::Seconds;
use crate::verdict::{Limit, StageShares, Verdict};

/// What was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) pictures: u64,
    pub(super) time: Duration,
    /// Time that the trainer's side waited for a batch.
    pub(super) waited: Duration,
    /// Processor time of all threads, the trainer's among them.
    pub(super) processor: Duration,
    /// How long the trainer rests with each batch, if it does.
    pub(super) step: Option<Duration>,
}

/// Figures of a measurement.
#[derive(Debug, Serialize)]
pub(super) struct Figures<'a> {
    #[serde(rename = "pictures_per_second")]
    rate: f64,
    pictures: u64,
    #[serde(flatten)]
    fill: FillRates,
    #[serde(rename = "seconds")]
    time: Seconds,
    #[serde(rename = "processor_seconds")]
    processor: Seconds,
    threads: BenchThreads,
    /// How many may be under way, if the source is read by requests.
    requests: Option<u64>,
    shares: BenchShares,
    step: Option<StepFigures>,
    bottleneck: Limit,
    verdict: String,
    stream: &'a str,
    /// What differs from the stream of a running daemon.
    notes: &'a [String],
    records: u64,
    bad_records: usize,
    bad: Vec<&'a BadPicture>,
    lanes: Vec<LaneFigures<'a>>,
    gpus: Vec<GpuFigures>,
    #[serde(skip)]
    bad_pictures: &'a BadPictures,
}

#[derive(Debug, Serialize)]
struct BenchThreads {
    decode: u32,
    read: u32,
}

/// Shares of the time, from 0 to 1.
#[derive(Debug, Serialize)]
struct BenchShares {
    reading: f64,
    decoding: f64,
    no_free_slot: f64,
    trainer_waiting: f64,
}

/// The steps of the trainer, as if it never waited.
#[derive(Debug, Serialize)]
struct StepFigures {
    #[serde(rename = "seconds")]
    time: Seconds,
    #[serde(rename = "pictures_per_second")]
    rate: f64,
}

/// What a lane has decoded meanwhile.
#[derive(Debug, Serialize)]
struct LaneFigures<'a> {
    name: &'a str,
    pictures: u64,
}

#[derive(Debug, Serialize)]
struct GpuFigures {
    gpu: i32,
    #[serde(rename = "decoding_memory_peak_bytes")]
    memory_peak: u64,
}

impl Measured {
    /// Pictures per second.
    pub(super) fn rate(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a count of pictures, far below 2^53")]
        let pictures = self.pictures as f64;
        pictures / self.time.as_secs_f64().max(f64::EPSILON)
    }

    /// Of its steps alone.
    fn steps(&self) -> Option<StepFigures> {
        let busy = Self { time: self.time.saturating_sub(self.waited), ..*self };
        self.step.map(|step| StepFigures { time: Seconds(step), rate: busy.rate() })
    }

    /// The share of the time in which the trainer waited for a batch.
    fn waiting(&self) -> f64 {
        (self.waited.as_secs_f64() / self.time.as_secs_f64().max(f64::EPSILON)).min(1.0)
    }
}

impl<'a> Figures<'a> {
    /// Of two readings of the daemon's status, which has one stream: the one that is measured.
    pub(super) fn new(
        measured: &Measured,
        (before, after): (&StatusReply, &'a StatusReply),
        bad: &'a BadPictures,
        notes: &'a [String],
    ) -> Self {
        let (nothing, new) = (StreamStatus::default(), StreamStatus::default());
        let stream = after.streams.first();
        let (was, is) = (before.streams.first().unwrap_or(&nothing), stream.unwrap_or(&new));
        let (shares, waiting) = (StageShares::between(was, is, measured.time), measured.waiting());
        let Verdict { limit, sentence } = Verdict::of((before, after), is, Some(shares), Some(waiting));
        let lane = |(before, after): (&LaneStatus, &'a LaneStatus)| LaneFigures {
            name: &after.name,
            pictures: after.pictures.saturating_sub(before.pictures),
        };
        let gpu = |gpu: &GpuStatus| GpuFigures { gpu: gpu.gpu, memory_peak: gpu.memory_peak };
        Self {
            rate: measured.rate(),
            pictures: measured.pictures,
            fill: FillRates::between(was.fill.as_ref(), is.fill.as_ref(), measured.time),
            time: Seconds(measured.time),
            processor: Seconds(measured.processor),
            threads: BenchThreads { decode: is.decode_threads, read: is.readers },
            requests: is.requests.map(|requests| requests.most),
            shares: BenchShares {
                reading: shares.reading,
                decoding: shares.decoding,
                no_free_slot: shares.no_slot,
                trainer_waiting: waiting,
            },
            step: measured.steps(),
            bottleneck: limit,
            verdict: sentence,
            stream: stream.map_or("", |stream| &stream.name),
            notes,
            records: is.records,
            bad_records: bad.count(),
            bad: bad.iter().collect(),
            lanes: before.lanes.iter().zip(&after.lanes).map(lane).collect(),
            gpus: after.gpus.iter().map(gpu).collect(),
            bad_pictures: bad,
        }
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { rate, pictures, threads, shares, records, .. } = self;
        for LaneFigures { name, pictures } in &self.lanes {
            writeln!(out, "{name}: {pictures} pictures")?;
        }
        for GpuFigures { gpu, memory_peak } in &self.gpus {
            writeln!(out, "GPU {gpu}: {} MiB taken for decoding at most", memory_peak >> 20)?;
        }
        let percent = |share: f64| format!("{:>3.0} %", share * 100.0);
        let seconds = self.time.0.as_secs_f64();
        writeln!(out, "{rate:.0} pictures/s ({pictures} in {seconds:.1} s){}", self.fill.text())?;
        let reading = percent(shares.reading);
        match self.requests {
            Some(most) => writeln!(out, "  {reading} of the time up to {most} requests were under way")?,
            None => writeln!(out, "  {reading} of the time {} reader threads were at work", threads.read)?,
        }
        writeln!(out, "  {} of the time {} decode threads were at work", percent(shares.decoding), threads.decode)?;
        writeln!(out, "  {} of the time no slot was free for a batch", percent(shares.no_free_slot))?;
        writeln!(out, "  {} of the time the trainer waited for a batch", percent(shares.trainer_waiting))?;
        if let Some(StepFigures { time, rate }) = &self.step {
            writeln!(out, "  steps of {:?} take {rate:.0} pictures/s if they never wait", time.0)?;
        }
        let used = self.processor.0.as_secs_f64();
        writeln!(out, "processor: {used:.2} s, {:.2} cores", used / seconds)?;
        if self.bad_records > 0 {
            writeln!(out, "{} of {records} records were left out, {}", self.bad_records, self.bad_pictures)?;
        }
        for note in self.notes {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "{}", self.verdict)
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{SourceRequests, StageStatus};

    use super::*;
    use crate::json;

    /// A measurement of two seconds in which a trainer with steps of 5 ms was slower than the loader.
    #[test]
    fn the_text_and_the_json_have_the_same_figures() {
        let stage = |name: &str, room, input| StageStatus {
            name: name.into(),
            items: 0,
            writer_wait_us: room,
            reader_wait_us: input,
        };
        let lane = |pictures| LaneStatus { name: "cpu".into(), pictures, ..LaneStatus::default() };
        let before =
            StatusReply { streams: vec![StreamStatus::default()], lanes: vec![lane(100)], ..StatusReply::default() };
        let stream = StreamStatus {
            name: "bench".into(),
            records: 50,
            readers: 2,
            decode_threads: 1,
            requests: Some(SourceRequests { in_flight: 1, most: 64, given_up: 0 }),
            stages: vec![
                stage("prefetch", 1_000_000, 2_000_000),
                stage("decode", 0, 1_500_000),
                stage("batch", 1_800_000, 0),
            ],
            ..StreamStatus::default()
        };
        let gpus = vec![GpuStatus { memory_peak: 3 << 20, ..GpuStatus::default() }];
        let after = StatusReply { streams: vec![stream], lanes: vec![lane(900)], gpus, ..StatusReply::default() };
        let mut bad = BadPictures::default();
        bad.add(7, "b\u{1b}.jpg".to_owned(), "it is truncated".to_owned());
        let measured = Measured {
            pictures: 800,
            time: Duration::from_secs(2),
            waited: Duration::from_millis(100),
            processor: Duration::from_millis(1500),
            step: Some(Duration::from_millis(5)),
        };
        let notes = ["The cache is off.".to_owned()];
        let figures = Figures::new(&measured, (&before, &after), &bad, &notes);
        let (mut text, mut as_json) = (Vec::new(), Vec::new());
        figures.text(&mut text).unwrap();
        json::print(&mut as_json, &figures).unwrap();
        insta::assert_snapshot!("bench_text", String::from_utf8(text).unwrap());
        insta::assert_snapshot!("bench_json", String::from_utf8(as_json).unwrap());
    }
}
