//! What a daemon says about itself, as `status` prints it. `forebay top` has parts of it too.

use forebay_proto::v1::{
    CacheStatus, ClosedStream, ConsumerStatus, DecoderStatus, GpuStatus, GroupStatus, LaneRefusal, LaneStatus,
    LedgerOutage, RingPlace, SeekStatus, SourceRequests, StageStatus, StatusReply, StepFill, StreamStatus, SwitchedOff,
};
use serde::Serialize;

use crate::json::{Seconds, unless_empty};
use crate::status::remote_report::RemoteReport;
use crate::verdict::Verdict;

/// A daemon.
#[derive(Debug, Serialize)]
pub(super) struct DaemonReport<'a> {
    pub(super) version: &'a str,
    pub(super) pid: u32,
    #[serde(rename = "uptime_seconds")]
    pub(super) uptime: Seconds,
    pub(super) socket: Option<&'a str>,
    ready: bool,
    pub(super) ledger_outage: Option<OutageReport<'a>>,
    pub(super) streams: Vec<StreamReport<'a>>,
    pub(super) closed: Vec<ClosedReport<'a>>,
    pub(super) decoders: Vec<DecoderReport<'a>>,
    pub(super) lanes: Vec<LaneReport<'a>>,
    pub(super) gpus: Vec<GpuReport>,
    pub(super) switched_off: Vec<OffReport<'a>>,
}

/// A time in which the ledgers cannot be reached.
#[derive(Debug, Serialize)]
pub(crate) struct OutageReport<'a> {
    pub(crate) cause: &'a str,
    #[serde(rename = "seconds")]
    pub(crate) time: Seconds,
}

/// An open stream.
#[derive(Debug, Serialize)]
pub(crate) struct StreamReport<'a> {
    pub(crate) name: &'a str,
    pub(crate) run: &'a str,
    pub(crate) source: &'a str,
    pub(crate) failure: Option<&'a str>,
    pub(crate) records: u64,
    pub(crate) epoch: u64,
    pub(crate) epochs: u64,
    pub(crate) epoch_len: u64,
    pub(crate) epoch_done: u64,
    pub(crate) delivered: u64,
    pub(crate) batches: u64,
    pub(crate) fill: Option<FillReport<'a>>,
    pub(crate) remote: Vec<RemoteReport<'a>>,
    pub(crate) bad: u64,
    pub(crate) slots: SlotsReport,
    pub(crate) ring: Option<RingReport<'a>>,
    pub(crate) cache: Option<CacheReport<'a>>,
    pub(crate) seek: Option<SeekReport>,
    pub(crate) requests: Option<RequestsReport>,
    pub(crate) storage_wait: Option<StorageWait<'a>>,
    pub(crate) trainers: Vec<TrainerReport<'a, Consumed>>,
    pub(crate) groups: Vec<GroupReport<'a>>,
    pub(crate) stages: Vec<StageReport<'a>>,
    pub(crate) open_seconds: Seconds,
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
}

/// How far records fill their batches, in this unit, if pictures have different sizes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct FillReport<'a> {
    pub(crate) unit: &'a str,
    pub(crate) filled: u64,
    pub(crate) room: u64,
}

/// A stream that is not open.
#[derive(Debug, Serialize)]
pub(crate) struct ClosedReport<'a> {
    pub(crate) name: &'a str,
    pub(crate) run: &'a str,
    pub(crate) source: &'a str,
    pub(crate) opening: bool,
    pub(crate) dataset_open: bool,
    pub(crate) failure: Option<&'a str>,
}

/// A stream's slots by their state.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct SlotsReport {
    pub(crate) free: u32,
    pub(crate) filling: u32,
    pub(crate) ready: u32,
    pub(crate) held: u32,
    pub(crate) quarantined: u32,
}

/// Where a ring's pixels are.
#[derive(Debug, Serialize)]
pub(crate) struct RingReport<'a> {
    pub(crate) placement: &'a str,
    pub(crate) gpu_bytes: u64,
    pub(crate) page_locked_bytes: u64,
    pub(crate) copied_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct CacheReport<'a> {
    pub(crate) keep: &'a str,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) budget_bytes: u64,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// The seek points of a stream's pictures.
#[derive(Debug, Serialize)]
pub(crate) struct SeekReport {
    pub(crate) pictures: u64,
    pub(crate) bytes: u64,
    pub(crate) budget_bytes: u64,
}

/// The requests of a stream's source.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct RequestsReport {
    pub(crate) in_flight: u64,
    pub(crate) most: u64,
    pub(crate) given_up: u64,
}

/// A time in which the storage gives nothing.
#[derive(Debug, Serialize)]
pub(crate) struct StorageWait<'a> {
    pub(crate) reason: &'a str,
    #[serde(rename = "seconds")]
    pub(crate) time: Seconds,
}

/// An attached trainer, with what it has consumed.
#[derive(Debug, Serialize)]
pub(crate) struct TrainerReport<'a, C> {
    id: u64,
    pub(crate) pid: u32,
    pub(crate) foreign: bool,
    pub(crate) user: u32,
    group: Option<&'a str>,
    pub(crate) held: u32,
    #[serde(flatten)]
    pub(crate) consumed: C,
}

/// A group of trainers.
#[derive(Debug, Serialize)]
pub(crate) struct GroupReport<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) pids: &'a [u32],
    pub(crate) behind: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) batches: Option<u64>,
}

/// What a trainer has consumed since it is attached.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Consumed {
    pub(crate) batches: u64,
}

/// A stage, with the waits at its queue.
#[derive(Debug, Serialize)]
pub(crate) struct StageReport<'a> {
    pub(crate) name: &'a str,
    pub(crate) items: u64,
    #[serde(rename = "waited_for_room_seconds")]
    pub(crate) for_room: Seconds,
    #[serde(rename = "waited_for_input_seconds")]
    pub(crate) for_input: Seconds,
}

#[derive(Debug, Serialize)]
pub(super) struct DecoderReport<'a> {
    pub(super) name: &'a str,
    pub(super) pictures: u64,
}

/// A way to decode.
#[derive(Debug, Serialize)]
pub(crate) struct LaneReport<'a> {
    pub(crate) name: &'a str,
    pub(crate) pictures: u64,
    pub(crate) stolen: u64,
    pub(crate) refused: Vec<RefusedPictures<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RefusedPictures<'a> {
    pub(crate) reason: &'a str,
    pub(crate) pictures: u64,
}

/// The memory of a GPU that decodes.
#[derive(Debug, Serialize)]
pub(super) struct GpuReport {
    pub(super) gpu: i32,
    pub(super) decoding_memory_bytes: u64,
    pub(super) decoding_memory_peak_bytes: u64,
    pub(super) decoding_memory_limit_bytes: u64,
    pub(super) page_locked_bytes: u64,
}

/// What does not decode, and why.
#[derive(Debug, Serialize)]
pub(crate) struct OffReport<'a> {
    pub(crate) name: &'a str,
    pub(crate) reason: &'a str,
}

impl<'a> DaemonReport<'a> {
    pub(super) fn new(reply: &'a StatusReply) -> Self {
        let decoder = |DecoderStatus { name, pictures }: &'a DecoderStatus| DecoderReport { name, pictures: *pictures };
        Self {
            version: &reply.version,
            pid: reply.pid,
            uptime: Seconds::of_millis(reply.uptime_ms),
            socket: unless_empty(&reply.socket),
            ready: reply.ready,
            ledger_outage: OutageReport::of(reply),
            streams: reply.streams.iter().map(|stream| StreamReport::new(reply, stream)).collect(),
            closed: ClosedReport::all(reply),
            decoders: reply.decoders.iter().map(decoder).collect(),
            lanes: LaneReport::all(reply),
            gpus: reply.gpus.iter().map(GpuReport::new).collect(),
            switched_off: OffReport::all(reply),
        }
    }
}

impl<'a> OutageReport<'a> {
    pub(crate) fn of(reply: &'a StatusReply) -> Option<Self> {
        let outage = reply.ledger_outage.as_ref();
        outage.map(|LedgerOutage { cause, for_ms }| Self { cause, time: Seconds::of_millis(*for_ms) })
    }
}

impl<'a> StreamReport<'a> {
    pub(crate) fn new(reply: &StatusReply, stream: &'a StreamStatus) -> Self {
        let waited = Seconds::of_millis(stream.storage_wait_ms);
        let trainer =
            |trainer: &'a ConsumerStatus| TrainerReport::new(trainer, Consumed { batches: trainer.delivered });
        Self {
            name: &stream.name,
            run: &stream.run,
            source: &stream.source,
            failure: unless_empty(&stream.failure),
            records: stream.records,
            epoch: stream.epoch,
            epochs: stream.epochs,
            epoch_len: stream.epoch_len,
            epoch_done: stream.epoch_done,
            delivered: stream.delivered,
            batches: stream.batches,
            fill: stream.fill.as_ref().map(FillReport::new),
            remote: stream.remote.iter().map(RemoteReport::new).collect(),
            bad: stream.bad,
            slots: SlotsReport::of(stream),
            ring: stream.ring.as_ref().map(RingReport::new),
            cache: stream.cache.as_ref().map(CacheReport::new),
            seek: stream.seek.map(SeekReport::new),
            requests: stream.requests.map(RequestsReport::new),
            storage_wait: unless_empty(&stream.storage).map(|reason| StorageWait { reason, time: waited }),
            trainers: stream.consumers.iter().map(trainer).collect(),
            groups: stream.groups.iter().map(|group| GroupReport::new(group, Some(group.delivered))).collect(),
            stages: stream.stages.iter().map(StageReport::new).collect(),
            open_seconds: Seconds::of_millis(stream.open_ms),
            verdict: super::verdict(reply, stream),
        }
    }
}

impl<'a> ClosedReport<'a> {
    pub(crate) fn all(reply: &'a StatusReply) -> Vec<Self> {
        let one = |ClosedStream { name, run, source, opening, failure, dataset_open }: &'a ClosedStream| Self {
            name,
            run,
            source,
            opening: *opening,
            dataset_open: *dataset_open,
            failure: unless_empty(failure),
        };
        reply.closed.iter().map(one).collect()
    }
}

impl SlotsReport {
    pub(crate) fn of(stream: &StreamStatus) -> Self {
        Self {
            free: stream.slots_free,
            filling: stream.slots_filling,
            ready: stream.slots_ready,
            held: stream.slots_held,
            quarantined: stream.slots_quarantined,
        }
    }
}

impl<'a> RingReport<'a> {
    fn new(RingPlace { placement, gpu_bytes, page_locked, copied }: &'a RingPlace) -> Self {
        Self { placement, gpu_bytes: *gpu_bytes, page_locked_bytes: *page_locked, copied_bytes: *copied }
    }
}

impl<'a> CacheReport<'a> {
    fn new(CacheStatus { keep, records, bytes, budget, hits, misses }: &'a CacheStatus) -> Self {
        let [records, bytes, budget_bytes, hits, misses] = [records, bytes, budget, hits, misses].map(|count| *count);
        Self { keep, records, bytes, budget_bytes, hits, misses }
    }
}

impl<'a> FillReport<'a> {
    fn new(StepFill { unit, filled, room }: &'a StepFill) -> Self {
        Self { unit, filled: *filled, room: *room }
    }
}

impl SeekReport {
    fn new(SeekStatus { pictures, bytes, budget }: SeekStatus) -> Self {
        Self { pictures, bytes, budget_bytes: budget }
    }
}

impl RequestsReport {
    pub(crate) fn new(SourceRequests { in_flight, most, given_up }: SourceRequests) -> Self {
        Self { in_flight, most, given_up }
    }
}

impl<'a, C> TrainerReport<'a, C> {
    pub(crate) fn new(trainer: &'a ConsumerStatus, consumed: C) -> Self {
        let ConsumerStatus { id, pid, uid, held, group, foreign, delivered: _ } = trainer;
        Self { id: *id, pid: *pid, foreign: *foreign, user: *uid, group: unless_empty(group), held: *held, consumed }
    }
}

impl<'a> GroupReport<'a> {
    pub(crate) fn new(GroupStatus { name, pids, behind, .. }: &'a GroupStatus, batches: Option<u64>) -> Self {
        Self { name: unless_empty(name), pids, behind: *behind, batches }
    }
}

impl<'a> StageReport<'a> {
    fn new(StageStatus { name, items, writer_wait_us, reader_wait_us }: &'a StageStatus) -> Self {
        let [for_room, for_input] = [*writer_wait_us, *reader_wait_us].map(Seconds::of_micros);
        Self { name, items: *items, for_room, for_input }
    }
}

impl<'a> LaneReport<'a> {
    pub(crate) fn all(reply: &'a StatusReply) -> Vec<Self> {
        let refused =
            |LaneRefusal { reason, pictures }: &'a LaneRefusal| RefusedPictures { reason, pictures: *pictures };
        let one = |LaneStatus { name, pictures, stolen, refused: reasons }: &'a LaneStatus| Self {
            name,
            pictures: *pictures,
            stolen: *stolen,
            refused: reasons.iter().map(refused).collect(),
        };
        reply.lanes.iter().map(one).collect()
    }
}

impl GpuReport {
    fn new(gpu: &GpuStatus) -> Self {
        Self {
            gpu: gpu.gpu,
            decoding_memory_bytes: gpu.memory_used,
            decoding_memory_peak_bytes: gpu.memory_peak,
            decoding_memory_limit_bytes: gpu.memory_limit,
            page_locked_bytes: gpu.page_locked,
        }
    }
}

impl<'a> OffReport<'a> {
    pub(crate) fn all(reply: &'a StatusReply) -> Vec<Self> {
        reply.switched_off.iter().map(|SwitchedOff { name, reason }| Self { name, reason }).collect()
    }
}
