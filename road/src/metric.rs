//! Every number that the daemon shows to Prometheus, by name. A new metric is one variant and its row. Names follow
//! Prometheus' conventions: base units, and `_total` for what only rises.

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
    /// Whether a configured stream is open, or waits for its first trainer.
    StreamUp,
    /// Attached trainers.
    Consumers,
    /// The epoch that is offered.
    Epoch,
    /// Reader threads that were replaced because a read did not come back.
    ReadersReplaced,
    /// For how long the storage has given nothing.
    StorageWait,
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
    /// The version of the daemon.
    BuildInfo,
    /// Processor time of the process.
    ProcessCpu,
    /// When the process started.
    ProcessStart,
    /// Memory of the process that is in RAM, what it shares with others included.
    ProcessResident,
    /// Address space of the process.
    ProcessVirtual,
    /// Open descriptors of the process.
    ProcessOpenFds,
    /// The most descriptors that the process may have open.
    ProcessMaxFds,
}

/// How Prometheus takes a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// It only rises.
    Counter,
    /// It rises and falls.
    Gauge,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 36] = [
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
        Self::StreamUp,
        Self::Consumers,
        Self::Epoch,
        Self::ReadersReplaced,
        Self::StorageWait,
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
        Self::BuildInfo,
        Self::ProcessCpu,
        Self::ProcessStart,
        Self::ProcessResident,
        Self::ProcessVirtual,
        Self::ProcessOpenFds,
        Self::ProcessMaxFds,
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
                "forebay_stage_writer_wait_seconds_total",
                Counter,
                "Time that writers waited for a place in the stage's queue: the stage is too slow.",
            ),
            Self::StageReaderWait => (
                "forebay_stage_reader_wait_seconds_total",
                Counter,
                "Time that the stage waited for an item of its queue: what comes before it is too slow.",
            ),
            Self::RingSlots => ("forebay_ring_slots", Gauge, "Slots of the stream's rings, by state."),
            Self::Leases => ("forebay_leases", Gauge, "Leases in the daemon's hands."),
            Self::LedgerWritable => {
                ("forebay_ledger_writable", Gauge, "1, or 0 while the ledgers cannot be written and everything waits.")
            }
            Self::StreamUp => {
                ("forebay_stream_up", Gauge, "1 while a configured stream is open, or waits for its first trainer.")
            }
            Self::Consumers => ("forebay_consumers", Gauge, "Attached trainers."),
            Self::Epoch => ("forebay_epoch", Gauge, "The epoch that is offered."),
            Self::ReadersReplaced => {
                ("forebay_readers_replaced_total", Counter, "Reader threads given up because a read did not come back.")
            }
            Self::StorageWait => (
                "forebay_storage_wait_seconds",
                Gauge,
                "For how long the storage has failed to give a file, or not answered; 0 while it gives them.",
            ),
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
            Self::BuildInfo => ("forebay_build_info", Gauge, "1, with the version of the daemon."),
            Self::ProcessCpu => {
                ("process_cpu_seconds_total", Counter, "Processor time of the process, user and system together.")
            }
            Self::ProcessStart => ("process_start_time_seconds", Gauge, "When the process started, in Unix time."),
            Self::ProcessResident => ("process_resident_memory_bytes", Gauge, "Memory of the process that is in RAM."),
            Self::ProcessVirtual => ("process_virtual_memory_bytes", Gauge, "Address space of the process."),
            Self::ProcessOpenFds => ("process_open_fds", Gauge, "Open descriptors of the process."),
            Self::ProcessMaxFds => ("process_max_fds", Gauge, "The most descriptors that the process may have open."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_say_by_their_end_what_they_are() {
        for (place, metric) in Metric::ALL.iter().enumerate() {
            let (name, kind, help) = metric.row();
            // Those of the process have the names that every Prometheus client gives them.
            assert!(name.starts_with("forebay_") || name.starts_with("process_"), "{name}");
            assert!(!name.contains("micro") && !name.contains("milli"), "{name}: seconds and bytes are the units");
            assert_eq!(name.ends_with("_total"), kind == Type::Counter, "{name}");
            assert!(help.ends_with('.'), "{name}");
            assert!(Metric::ALL[..place].iter().all(|other| other.row().0 != name), "{name} stands there twice");
        }
    }
}
