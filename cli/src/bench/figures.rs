//! The result of a measurement: the figures and the bottleneck that they show, as text and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use forebay_proto::v1::{StageStatus, StatusReply, StreamStatus};
use serde::Serialize;
use serde_json::json;

use crate::bad::BadPictures;

/// What was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) pictures: u64,
    pub(super) time: Duration,
    /// Time that the trainer's side waited for a batch.
    pub(super) waited: Duration,
    /// Processor time of all threads, the trainer's among them.
    pub(super) processor: Duration,
}

/// Figures of a measurement; its JSON is documented in docs/operating.md.
#[derive(Debug)]
pub(super) struct Figures<'a> {
    pub(super) measured: Measured,
    pub(super) before: &'a StatusReply,
    pub(super) after: &'a StatusReply,
    pub(super) bad: &'a BadPictures,
    pub(super) records: u64,
    pub(super) decode_threads: usize,
    pub(super) reader_threads: usize,
}

/// How long each stage waited while it was measured.
struct Stages {
    /// Readers waited for work or room.
    readers_idle: Duration,
    /// Decode threads waited for pictures.
    decoders_idle: Duration,
    /// The batch thread waited for a free slot.
    no_slot: Duration,
}

/// Shares of the time, from 0 to 1.
struct Shares {
    reading: f64,
    decoding: f64,
    no_slot: f64,
    waiting: f64,
}

/// The stage that holds the others up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Bottleneck {
    Trainer,
    Decoding,
    Reading,
    Elsewhere,
}

impl Measured {
    /// Pictures per second.
    pub(super) fn rate(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a count of pictures, far below 2^53")]
        let pictures = self.pictures as f64;
        pictures / self.time.as_secs_f64().max(f64::EPSILON)
    }
}

impl Figures<'_> {
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { measured, decode_threads, reader_threads, .. } = self;
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
                writeln!(
                    out,
                    "  {} of the time {reader_threads} reader threads were at work",
                    percent(shares.reading)
                )?;
            }
        }
        writeln!(out, "  {} of the time {decode_threads} decode threads were at work", percent(shares.decoding))?;
        writeln!(out, "  {} of the time no slot was free for a batch", percent(shares.no_slot))?;
        writeln!(out, "  {} of the time the trainer waited for a batch", percent(shares.waiting))?;
        let used = measured.processor.as_secs_f64();
        writeln!(out, "processor: {used:.2} s, {:.2} cores", used / seconds)?;
        if self.bad.count() > 0 {
            writeln!(out, "{} of {} records were left out, {}", self.bad.count(), self.records, self.bad)?;
        }
        writeln!(out, "{}", shares.bottleneck().sentence(self.requests().is_some()))
    }

    /// How many requests may be under way, if the source is read by requests.
    fn requests(&self) -> Option<u64> {
        self.after.streams.first()?.requests.map(|requests| requests.most)
    }

    /// Threads that read, or that make requests.
    fn readers(&self) -> usize {
        if self.requests().is_some() { 1 } else { self.reader_threads }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let Self { measured, decode_threads, .. } = self;
        let shares = self.shares();
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
            "threads": { "decode": decode_threads, "read": self.readers() },
            "requests": self.requests(),
            "shares": {
                "reading": shares.reading,
                "decoding": shares.decoding,
                "no_free_slot": shares.no_slot,
                "trainer_waiting": shares.waiting,
            },
            "bottleneck": shares.bottleneck(),
            "records": self.records,
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

    fn shares(&self) -> Shares {
        let only = |reply: &StatusReply| reply.streams.first().cloned().unwrap_or_default();
        let stages = Stages::between(&only(self.before), &only(self.after));
        let seconds = self.measured.time.as_secs_f64().max(f64::EPSILON);
        let share = |time: Duration, of: usize| {
            (time.as_secs_f64() / (seconds * f64::from(u32::try_from(of.max(1)).unwrap_or(u32::MAX)))).min(1.0)
        };
        Shares {
            reading: 1.0 - share(stages.readers_idle, self.readers()),
            decoding: 1.0 - share(stages.decoders_idle, self.decode_threads),
            no_slot: share(stages.no_slot, 1),
            waiting: share(self.measured.waited, 1),
        }
    }
}

impl Stages {
    fn between(before: &StreamStatus, after: &StreamStatus) -> Self {
        let find = |status: &StreamStatus, name: &str| -> StageStatus {
            status.stages.iter().find(|stage| stage.name == name).cloned().unwrap_or_default()
        };
        let waited = |name: &str, end: fn(&StageStatus) -> u64| {
            Duration::from_micros(end(&find(after, name)).saturating_sub(end(&find(before, name))))
        };
        Self {
            readers_idle: waited("prefetch", |stage| stage.writer_wait_us + stage.reader_wait_us),
            decoders_idle: waited("decode", |stage| stage.reader_wait_us),
            no_slot: waited("batch", |stage| stage.writer_wait_us),
        }
    }
}

impl Shares {
    const fn bottleneck(&self) -> Bottleneck {
        match () {
            () if self.waiting < 0.5 => Bottleneck::Trainer,
            () if self.decoding > 0.85 => Bottleneck::Decoding,
            () if self.reading > 0.85 => Bottleneck::Reading,
            () => Bottleneck::Elsewhere,
        }
    }
}

impl Bottleneck {
    /// What to change.
    const fn sentence(self, by_requests: bool) -> &'static str {
        match self {
            Self::Trainer => {
                "The bottleneck is the trainer: batches were ready while it was busy. A faster loader would not help."
            }
            Self::Decoding => {
                "The bottleneck is decoding: its threads hardly ever waited. More cores or smaller pictures would help."
            }
            Self::Reading if by_requests => {
                "The bottleneck is reading: decoders waited for records. A faster network or more prefetch.requests would \
                 help."
            }
            Self::Reading => {
                "The bottleneck is reading: decoders waited for files. A faster disk or more prefetch.threads would help."
            }
            Self::Elsewhere => {
                "Nothing is busy all the time: other work takes this machine's cores, or batches are too small to keep it \
                 going."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottleneck_is_the_stage_that_never_waits() {
        let shares = |reading, decoding, waiting| Shares { reading, decoding, no_slot: 0.0, waiting };
        assert_eq!(shares(0.1, 0.99, 0.9).bottleneck(), Bottleneck::Decoding);
        assert_eq!(shares(0.95, 0.2, 0.9).bottleneck(), Bottleneck::Reading);
        assert_eq!(shares(0.5, 0.5, 0.1).bottleneck(), Bottleneck::Trainer);
        assert_eq!(shares(0.5, 0.5, 0.9).bottleneck(), Bottleneck::Elsewhere);
    }
}
