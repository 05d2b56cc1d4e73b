//! The names of all metrics that the daemon shows to Prometheus. A metric is a line of the table, and its
//! value is set where `ARCHITECTURE.md` says. Names follow Prometheus' conventions: base units, and `_total` for counters.

/// Makes [`Metric`] of the table below, with its list and its rows.
macro_rules! metrics {
    ($($name:ident: $type:ident, $shown:literal, $help:literal;)*) => {
        /// A number that is shown.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Metric {
            $(#[doc = $help] $name,)*
        }

        impl Metric {
            /// All of them, in the order in which they are shown.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name, the type and what it counts.
            pub fn row(self) -> (&'static str, MetricType, &'static str) {
                match self {
                    $(Self::$name => ($shown, MetricType::$type, $help),)*
                }
            }
        }
    };
}

metrics! {
    RecordsDelivered: Counter, "forebay_records_delivered_total",
        "Records whose batch a trainer has consumed.";
    RecordsBad: Counter, "forebay_records_bad_total", "Records that could not be read or decoded.";
    BytesRead: Counter, "forebay_read_bytes_total", "Bytes read from the source.";
    Batches: Counter, "forebay_batches_total", "Batches published in the ring.";
    StepFilled: Counter, "forebay_step_filled_total",
        "What records take of the room of published batches, where pictures have different sizes: places of buckets, pictures \
         of ragged batches, or patches (tokens).";
    StepRoom: Counter, "forebay_step_room_total",
        "The room of published batches, in the same unit. What is not filled is padding, copies of other records, or empty.";
    BatchesRedelivered: Counter, "forebay_batches_redelivered_total",
        "Batches offered again after a death or a return.";
    StageItems: Counter, "forebay_stage_items_total", "Items of the stream that went through the stage's queue.";
    StageWriterWait: Counter, "forebay_stage_writer_wait_seconds_total",
        "Time that writers waited for a place in the stage's queue: the stage is too slow.";
    StageReaderWait: Counter, "forebay_stage_reader_wait_seconds_total",
        "Time that the stage waited for an item of its queue: what comes before it is too slow. Of the stage decode: time that \
         the decode threads, which streams share, waited for pictures of any stream.";
    RingSlots: Gauge, "forebay_ring_slots", "Slots of the stream's rings, by state.";
    RingBytes: Gauge, "forebay_ring_bytes", "Memory of the host that the stream's rings are in.";
    TrainerWait: Counter, "forebay_trainer_wait_seconds_total",
        "Time that the stream's trainers waited for a batch, all of them together.";
    Leases: Gauge, "forebay_leases", "Leases in the daemon's hands.";
    LedgerWritable: Gauge, "forebay_ledger_writable",
        "1, or 0 while the ledgers cannot be written and everything waits. 1 also while another coordinator leads.";
    LedgerWorkers: Gauge, "forebay_ledger_workers",
        "Workers that the coordinator knows, by ledger: daemons, or workers of shards. A silent one counts for an hour or more, \
         until it is forgotten.";
    LedgerLeased: Gauge, "forebay_ledger_leased_positions",
        "Positions of the ledger that daemons have leased, and that are not complete.";
    LedgerReturned: Gauge, "forebay_ledger_returned_positions",
        "Positions of the ledger that were leased, are not complete, and belong to no daemon.";
    LedgerDelivered: Counter, "forebay_ledger_delivered_total", "Records that the ledger counts as delivered.";
    LedgerQuarantined: Counter, "forebay_ledger_quarantined_total", "Records that the ledger has in quarantine.";
    LedgerLateReports: Counter, "forebay_ledger_late_reports_total",
        "Reports of tasks that came after the shard had gone to another worker.";
    StreamUp: Gauge, "forebay_stream_up",
        "1 while a configured stream is open, or waits for its first trainer.";
    StreamLimit: Gauge, "forebay_stream_limit",
        "1 for what limits the stream, as `forebay top` says, and 0 for all else.";
    Consumers: Gauge, "forebay_consumers", "Attached trainers.";
    Epoch: Gauge, "forebay_epoch", "The epoch that is offered.";
    ReadersReplaced: Counter, "forebay_readers_replaced_total",
        "Reader threads given up because a read did not come back.";
    Requests: Gauge, "forebay_requests", "Requests to the source that are under way.";
    RequestsGivenUp: Counter, "forebay_requests_given_up_total",
        "Requests to the source given up because no answer came in time. They were made again.";
    StorageWait: Gauge, "forebay_storage_wait_seconds",
        "For how long the storage has failed to give a file, or not answered; 0 while it gives them.";
    LanePictures: Counter, "forebay_lane_pictures_total", "Pictures that the lane has decoded.";
    LaneRefused: Counter, "forebay_lane_refused_total",
        "Pictures that the lane has left to the next one, by reason.";
    GpuMemory: Gauge, "forebay_gpu_memory_bytes", "Memory of the GPU that decoding takes.";
    PageLocked: Gauge, "forebay_page_locked_bytes",
        "Memory of the host that is page-locked for the GPU's lanes.";
    SwitchedOff: Gauge, "forebay_switched_off",
        "1 for a GPU, or a lane of one, that does not decode, with the reason.";
    RemoteUp: Gauge, "forebay_remote_up", "1 for a decoder on another machine that the stream asks, and else 0.";
    RemoteUnderWay: Gauge, "forebay_remote_under_way",
        "Records that the decoder was asked for and has not answered.";
    RemotePictures: Counter, "forebay_remote_pictures_total", "Pictures that the decoder has made for the stream.";
    RemoteTakenBack: Counter, "forebay_remote_taken_back_total",
        "Records that the decoder was asked for, and that were made elsewhere.";
    PicturesDecoded: Counter, "forebay_pictures_decoded_total", "Pictures that the decoder has made.";
    ContentLeftOut: Counter, "forebay_content_left_out_total",
        "Files that the CPU lane has decoded, and that have content which is not in the pixels, by format and content: alpha, \
         16 bits, further pages, frames, pictures or bands, or an ICC profile other than sRGB.";
    CacheHits: Counter, "forebay_cache_hits_total", "Records that the cache had.";
    CacheMisses: Counter, "forebay_cache_misses_total",
        "Records that were read since the cache did not have them.";
    CacheRecords: Gauge, "forebay_cache_records", "Records that the cache holds.";
    CacheBytes: Gauge, "forebay_cache_bytes", "Bytes that the cache takes.";
    CacheBudget: Gauge, "forebay_cache_budget_bytes", "The most that the cache may take.";
    SeekPictures: Gauge, "forebay_seek_pictures", "Pictures whose seek points are kept.";
    SeekBytes: Gauge, "forebay_seek_bytes", "Bytes that the seek points take.";
    SeekBudget: Gauge, "forebay_seek_budget_bytes", "The most that the seek points may take.";
    RingGpu: Gauge, "forebay_ring_gpu_bytes", "Memory of a GPU that the stream's pixels are in.";
    RingPageLocked: Gauge, "forebay_ring_page_locked_bytes",
        "Memory of the stream's slots that is page-locked, since a GPU copies from it or to it.";
    CertificateEnd: Gauge, "forebay_certificate_end_time_seconds",
        "When the certificates of a file end, in Unix time: the first of a chain that is shown, the last of authorities.";
    BuildInfo: Gauge, "forebay_build_info", "1, with the version of the daemon.";
    ProcessCpu: Counter, "process_cpu_seconds_total",
        "Processor time of the process, user and system together.";
    ProcessStart: Gauge, "process_start_time_seconds", "When the process started, in Unix time.";
    ProcessResident: Gauge, "process_resident_memory_bytes", "Memory of the process that is in RAM.";
    ProcessVirtual: Gauge, "process_virtual_memory_bytes", "Address space of the process.";
    ProcessOpenFds: Gauge, "process_open_fds", "Open descriptors of the process.";
    ProcessMaxFds: Gauge, "process_max_fds", "The most descriptors that the process may have open.";
}

/// The Prometheus type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// It only rises.
    Counter,
    /// It rises and falls.
    Gauge,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metrics_of_alerts_and_of_the_page_about_them_are_in_the_table() {
        let files =
            [include_str!("../../deploy/prometheus/forebay.rules.yml"), include_str!("../../docs/operating.md")];
        for file in files {
            let words = file.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
            let is_metric = |word: &&str| {
                ["_total", "_bytes", "_seconds", "_up", "_consumers", "_writable"].iter().any(|end| word.ends_with(end))
            };
            let named: Vec<_> = words.filter(|word| word.starts_with("forebay_")).filter(is_metric).collect();
            assert!(named.len() >= 5);
            for name in named {
                assert!(Metric::ALL.iter().any(|metric| metric.row().0 == name), "{name}");
            }
        }
    }

    #[test]
    fn names_are_distinct_and_say_by_their_end_what_they_are() {
        for (place, metric) in Metric::ALL.iter().enumerate() {
            let (name, kind, help) = metric.row();
            // Those of the process have the names that every Prometheus client gives them.
            assert!(name.starts_with("forebay_") || name.starts_with("process_"), "{name}");
            assert!(!name.contains("micro") && !name.contains("milli"), "{name}: seconds and bytes are the units");
            assert_eq!(name.ends_with("_total"), kind == MetricType::Counter, "{name}");
            assert!(help.ends_with('.'), "{name}");
            assert!(Metric::ALL[..place].iter().all(|other| other.row().0 != name), "{name} stands there twice");
        }
    }
}
