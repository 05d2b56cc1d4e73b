//! The result of a measurement: the figures and the bottleneck that they show, as text and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use forebay_proto::v1::{StatusReply, StreamStatus};
use serde_json::json;

use crate::bad::BadPictures;
use crate::verdict::{Shares, Verdict};

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

/// Figures of a measurement; its JSON is documented in docs/operating.md.
#[derive(Debug)]
pub(super) struct Figures<'a> {
    pub(super) measured: Measured,
    pub(super) before: &'a StatusReply,
    pub(super) after: &'a StatusReply,
    pub(super) bad: &'a BadPictures,
    /// What differs from the stream of a running daemon.
    pub(super) notes: &'a [String],
}

impl Measured {
    /// Pictures per second.
    pub(super) fn rate(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a count of pictures, far below 2^53")]
        let pictures = self.pictures as f64;
        pictures / self.time.as_secs_f64().max(f64::EPSILON)
    }

    /// Pictures per second of its steps alone, as if it never waited.
    fn rate_of_steps(&self) -> Option<f64> {
        let busy = Self { time: self.time.saturating_sub(self.waited), ..*self };
        self.step.map(|_| busy.rate())
    }
}

impl Figures<'_> {
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let (measured, stream) = (&self.measured, self.stream());
        let StreamStatus { records, readers, decode_threads, .. } = &stream;
        for (name, pictures) in self.lanes() {
            writeln!(out, "{name}: {pictures} pictures")?;
        }
        for gpu in &self.after.gpus {
            writeln!(out, "GPU {}: {} MiB taken for decoding at most", gpu.gpu, gpu.memory_peak >> 20)?;
        }
        let shares = self.shares();
        let percent = |share: f64| format!("{:>3.0} %", share * 100.0);
        let seconds = measured.time.as_secs_f64();
        writeln!(out, "{:.0} pictures/s ({} in {seconds:.1} s)", measured.rate(), measured.pictures)?;
        match self.requests() {
            Some(most) => {
                writeln!(out, "  {} of the time up to {most} requests were under way", percent(shares.reading))?;
            }
            None => {
                writeln!(out, "  {} of the time {readers} reader threads were at work", percent(shares.reading))?;
            }
        }
        writeln!(out, "  {} of the time {decode_threads} decode threads were at work", percent(shares.decoding))?;
        writeln!(out, "  {} of the time no slot was free for a batch", percent(shares.no_slot))?;
        writeln!(out, "  {} of the time the trainer waited for a batch", percent(self.waiting()))?;
        if let (Some(step), Some(rate)) = (measured.step, measured.rate_of_steps()) {
            writeln!(out, "  steps of {step:?} take {rate:.0} pictures/s if they never wait")?;
        }
        let used = measured.processor.as_secs_f64();
        writeln!(out, "processor: {used:.2} s, {:.2} cores", used / seconds)?;
        if self.bad.count() > 0 {
            writeln!(out, "{} of {} records were left out, {}", self.bad.count(), records, self.bad)?;
        }
        for note in self.notes {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "{}", self.verdict().sentence)
    }

    /// How many requests may be under way, if the source is read by requests.
    fn requests(&self) -> Option<u64> {
        self.after.streams.first()?.requests.map(|requests| requests.most)
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let (measured, stream) = (&self.measured, self.stream());
        let (shares, verdict) = (self.shares(), self.verdict());
        let lanes: Vec<_> =
            self.lanes().map(|(name, pictures)| json!({ "name": name, "pictures": pictures })).collect();
        let gpus = self.after.gpus.iter();
        let gpus: Vec<_> =
            gpus.map(|gpu| json!({ "gpu": gpu.gpu, "decoding_memory_peak_bytes": gpu.memory_peak })).collect();
        json!({
            "pictures_per_second": measured.rate(),
            "pictures": measured.pictures,
            "seconds": measured.time.as_secs_f64(),
            "processor_seconds": measured.processor.as_secs_f64(),
            "threads": { "decode": stream.decode_threads, "read": stream.readers },
            "requests": self.requests(),
            "shares": {
                "reading": shares.reading,
                "decoding": shares.decoding,
                "no_free_slot": shares.no_slot,
                "trainer_waiting": self.waiting(),
            },
            "step": measured.step.map(|step| json!({
                "seconds": step.as_secs_f64(),
                "pictures_per_second": measured.rate_of_steps(),
            })),
            "bottleneck": verdict.limit,
            "verdict": verdict.sentence,
            "stream": stream.name,
            "notes": self.notes,
            "records": stream.records,
            "bad_records": self.bad.count(),
            "bad": self.bad.iter().collect::<Vec<_>>(),
            "lanes": lanes,
            "gpus": gpus,
        })
    }

    /// What each lane has decoded meanwhile.
    fn lanes(&self) -> impl Iterator<Item = (&str, u64)> {
        let both = self.before.lanes.iter().zip(&self.after.lanes);
        both.map(|(before, after)| (after.name.as_str(), after.pictures.saturating_sub(before.pictures)))
    }

    /// The stream that is measured.
    fn stream(&self) -> StreamStatus {
        self.after.streams.first().cloned().unwrap_or_default()
    }

    fn shares(&self) -> Shares {
        let before = self.before.streams.first().cloned().unwrap_or_default();
        Shares::between(&before, &self.stream(), self.measured.time)
    }

    /// The share of the time in which the trainer waited for a batch.
    fn waiting(&self) -> f64 {
        (self.measured.waited.as_secs_f64() / self.measured.time.as_secs_f64().max(f64::EPSILON)).min(1.0)
    }

    fn verdict(&self) -> Verdict {
        Verdict::of((self.before, self.after), &self.stream(), Some(self.shares()), Some(self.waiting()))
    }
}
