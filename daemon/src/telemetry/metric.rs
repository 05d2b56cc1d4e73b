//! Every number that the daemon shows to Prometheus, by name. A new metric is one variant and its row.

use std::fmt;

use metrics::{Counter, Gauge, Key, KeyName, Label, Level, Metadata, Recorder as _, SharedString};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use crate::queue::Meter;

/// A number that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// Records whose batch a trainer has consumed.
    RecordsDelivered,
    /// Records in the quarantine of the run.
    RecordsBad,
    /// Bytes read from the source.
    BytesRead,
    /// Batches published.
    Batches,
    /// Batches offered again after a trainer died or gave them back.
    BatchesRedelivered,
    /// Items that went through a stage's queue.
    StageItems,
    /// Time that the writers of a stage's queue waited for a place.
    StageWriterWait,
    /// Time that the stage waited for an item of its queue.
    StageReaderWait,
    /// Slots of a stream's rings, by state.
    RingSlots,
    /// Leases in the daemon's hands.
    Leases,
    /// Whether the ledgers can be written.
    LedgerWritable,
    /// Attached trainers.
    Consumers,
    /// The epoch that is offered.
    Epoch,
    /// Reader threads that were replaced because a read did not come back.
    ReadersReplaced,
    /// Pictures that a lane has decoded.
    LanePictures,
    /// Pictures that a lane has left to the next one.
    LaneRefused,
    /// Memory of a GPU that decoding takes.
    GpuMemory,
    /// Memory of the host that is page-locked for a GPU's lanes.
    PageLocked,
    /// What of decoding on GPUs is switched off.
    SwitchedOff,
    /// Pictures that a decoder has made.
    PicturesDecoded,
    /// Records that the cache had.
    CacheHits,
    /// Records that were read since the cache did not have them.
    CacheMisses,
    /// Records that the cache holds.
    CacheRecords,
    /// Bytes that the cache takes.
    CacheBytes,
    /// The most that the cache may take.
    CacheBudget,
    /// Memory of a GPU in which the stream's pixels stand.
    RingGpu,
    /// Memory of the stream's slots that is page-locked.
    RingPageLocked,
}

/// How Prometheus takes a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// It only rises.
    Counter,
    /// It rises and falls.
    Gauge,
}

/// The daemon's metrics. Handles are cheap to use; the registry itself is asked once for each.
pub struct Registry {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

const METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, None);

impl Metric {
    /// All of them.
    pub const ALL: [Self; 27] = [
        Self::RecordsDelivered,
        Self::RecordsBad,
        Self::BytesRead,
        Self::Batches,
        Self::BatchesRedelivered,
        Self::StageItems,
        Self::StageWriterWait,
        Self::StageReaderWait,
        Self::RingSlots,
        Self::Leases,
        Self::LedgerWritable,
        Self::Consumers,
        Self::Epoch,
        Self::ReadersReplaced,
        Self::LanePictures,
        Self::LaneRefused,
        Self::GpuMemory,
        Self::PageLocked,
        Self::SwitchedOff,
        Self::PicturesDecoded,
        Self::CacheHits,
        Self::CacheMisses,
        Self::CacheRecords,
        Self::CacheBytes,
        Self::CacheBudget,
        Self::RingGpu,
        Self::RingPageLocked,
    ];

    /// The name, the type and what it counts.
    pub fn row(self) -> (&'static str, Type, &'static str) {
        use Type::{Counter, Gauge};
        match self {
            Self::RecordsDelivered => {
                ("forebay_records_delivered_total", Counter, "Records whose batch a trainer has consumed.")
            }
            Self::RecordsBad => ("forebay_records_bad_total", Counter, "Records that could not be read or decoded."),
            Self::BytesRead => ("forebay_read_bytes_total", Counter, "Bytes read from the source."),
            Self::Batches => ("forebay_batches_total", Counter, "Batches published in the ring."),
            Self::BatchesRedelivered => {
                ("forebay_batches_redelivered_total", Counter, "Batches offered again after a death or a return.")
            }
            Self::StageItems => ("forebay_stage_items_total", Counter, "Items that went through the stage's queue."),
            Self::StageWriterWait => (
                "forebay_stage_writer_wait_microseconds_total",
                Counter,
                "Time that writers waited for a place in the stage's queue: the stage is too slow.",
            ),
            Self::StageReaderWait => (
                "forebay_stage_reader_wait_microseconds_total",
                Counter,
                "Time that the stage waited for an item of its queue: what comes before it is too slow.",
            ),
            Self::RingSlots => ("forebay_ring_slots", Gauge, "Slots of the stream's rings, by state."),
            Self::Leases => ("forebay_leases", Gauge, "Leases in the daemon's hands."),
            Self::LedgerWritable => {
                ("forebay_ledger_writable", Gauge, "1, or 0 while the ledgers cannot be written and everything waits.")
            }
            Self::Consumers => ("forebay_consumers", Gauge, "Attached trainers."),
            Self::Epoch => ("forebay_epoch", Gauge, "The epoch that is offered."),
            Self::ReadersReplaced => {
                ("forebay_readers_replaced_total", Counter, "Reader threads given up because a read did not come back.")
            }
            Self::LanePictures => ("forebay_lane_pictures_total", Counter, "Pictures that the lane has decoded."),
            Self::LaneRefused => {
                ("forebay_lane_refused_total", Counter, "Pictures that the lane has left to the next one, by reason.")
            }
            Self::GpuMemory => ("forebay_gpu_memory_bytes", Gauge, "Memory of the GPU that decoding takes."),
            Self::PageLocked => {
                ("forebay_page_locked_bytes", Gauge, "Memory of the host that is page-locked for the GPU's lanes.")
            }
            Self::SwitchedOff => {
                ("forebay_switched_off", Gauge, "1 for a GPU, or a lane of one, that does not decode, with the reason.")
            }
            Self::PicturesDecoded => ("forebay_pictures_decoded_total", Counter, "Pictures that the decoder has made."),
            Self::CacheHits => ("forebay_cache_hits_total", Counter, "Records that the cache had."),
            Self::CacheMisses => {
                ("forebay_cache_misses_total", Counter, "Records that were read since the cache did not have them.")
            }
            Self::CacheRecords => ("forebay_cache_records", Gauge, "Records that the cache holds."),
            Self::CacheBytes => ("forebay_cache_bytes", Gauge, "Bytes that the cache takes."),
            Self::CacheBudget => ("forebay_cache_budget_bytes", Gauge, "The most that the cache may take."),
            Self::RingGpu => ("forebay_ring_gpu_bytes", Gauge, "Memory of a GPU in which the stream's pixels stand."),
            Self::RingPageLocked => (
                "forebay_ring_page_locked_bytes",
                Gauge,
                "Memory of the stream's slots that is page-locked, since a GPU copies from it or to it.",
            ),
        }
    }
}

impl Registry {
    /// A registry that knows what every metric means, and has no value yet.
    pub fn new() -> Self {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        for metric in Metric::ALL {
            let (name, kind, help) = metric.row();
            let (name, help) = (KeyName::from_const_str(name), SharedString::const_str(help));
            match kind {
                Type::Counter => recorder.describe_counter(name, None, help),
                Type::Gauge => recorder.describe_gauge(name, None, help),
            }
        }
        Self { recorder, handle }
    }

    /// The handle of a counter with these labels, such as `[("stream", "train")]`.
    pub fn counter(&self, metric: Metric, labels: &[(&'static str, &str)]) -> Counter {
        self.recorder.register_counter(&key(metric, Type::Counter, labels), &METADATA)
    }

    /// The handle of a gauge with these labels.
    pub fn gauge(&self, metric: Metric, labels: &[(&'static str, &str)]) -> Gauge {
        self.recorder.register_gauge(&key(metric, Type::Gauge, labels), &METADATA)
    }

    /// Shows what a stage's queue has measured so far.
    pub fn show_stage(&self, stream: &str, meter: &Meter) {
        let waits = meter.waits();
        let labels = [("stream", stream), ("stage", meter.name())];
        let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.counter(Metric::StageItems, &labels).absolute(waits.items);
        self.counter(Metric::StageWriterWait, &labels).absolute(micros(waits.writer));
        self.counter(Metric::StageReaderWait, &labels).absolute(micros(waits.reader));
    }

    /// All values in Prometheus' text format.
    pub fn render(&self) -> String {
        self.handle.render()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

fn key(metric: Metric, kind: Type, labels: &[(&'static str, &str)]) -> Key {
    let (name, declared, _) = metric.row();
    debug_assert_eq!(declared, kind, "{name} is asked for as what it is");
    let labels: Vec<Label> = labels.iter().map(|&(name, value)| Label::new(name, value.to_owned())).collect();
    Key::from_parts(name, labels)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_are_distinct_and_say_by_their_end_what_they_are() {
        for (place, metric) in Metric::ALL.iter().enumerate() {
            let (name, kind, help) = metric.row();
            assert!(name.starts_with("forebay_"), "{name}");
            assert_eq!(name.ends_with("_total"), kind == Type::Counter, "{name}");
            assert!(help.ends_with('.'), "{name}");
            assert!(Metric::ALL[..place].iter().all(|other| other.row().0 != name), "{name} stands there twice");
        }
    }

    #[test]
    fn values_are_rendered_with_their_labels_and_meaning() {
        let registry = Registry::new();
        let records = registry.counter(Metric::RecordsDelivered, &[("stream", "train")]);
        records.increment(3);
        records.increment(4);
        registry.gauge(Metric::RingSlots, &[("stream", "train"), ("state", "free")]).set(6.0);
        let meter = Meter::new("decode");
        meter.item();
        meter.writer_waited(Duration::from_millis(2));
        registry.show_stage("train", &meter);
        registry.show_stage("train", &meter);
        let text = registry.render();
        for line in [
            "# HELP forebay_records_delivered_total Records whose batch a trainer has consumed.",
            "# TYPE forebay_records_delivered_total counter",
            "forebay_records_delivered_total{stream=\"train\"} 7",
            "forebay_ring_slots{stream=\"train\",state=\"free\"} 6",
            "forebay_stage_items_total{stream=\"train\",stage=\"decode\"} 1",
            "forebay_stage_writer_wait_microseconds_total{stream=\"train\",stage=\"decode\"} 2000",
        ] {
            assert!(text.lines().any(|found| found == line), "{line:?} is not in:\n{text}");
        }
    }
}
