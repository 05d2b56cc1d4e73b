//! A daemon's status as JSON. docs/operating.md describes the fields. They keep their names and meanings, and new
//! fields may be added.

use forebay_proto::v1::{
    CacheStatus, ClosedStream, ConsumerStatus, GroupStatus, RingPlace, SeekStatus, SourceRequests, StageStatus,
    StatusReply, StreamStatus,
};
use serde_json::{Value, json};

use super::Told;
use crate::group::name_of;

/// All daemons that were asked. Those of a user's Loaders are below `private`, beside what is said of the service, if one runs.
/// If one daemon was asked for, it alone is there.
pub(crate) fn all(told: &[Told], is_one: bool, of: impl Fn(&StatusReply) -> Value) -> Value {
    let one = |Told { loader, reply }: &Told| {
        let mut value = match reply {
            Ok(reply) => of(reply),
            Err(why) => json!({ "unanswered": why }),
        };
        if let Some(loader) = loader {
            value["loader_pid"] = json!(loader);
        }
        value
    };
    if is_one && let [only] = told {
        return one(only);
    }
    let (private, services): (Vec<_>, Vec<_>) = told.iter().partition(|told| told.loader.is_some());
    let mut value = services.first().map_or_else(|| json!({}), |service| one(service));
    value["private"] = list(private.into_iter().map(one));
    value
}

pub(super) fn status(reply: &StatusReply) -> Value {
    let gpus = reply.gpus.iter().map(|gpu| {
        json!({
            "gpu": gpu.gpu,
            "decoding_memory_bytes": gpu.memory_used,
            "decoding_memory_peak_bytes": gpu.memory_peak,
            "decoding_memory_limit_bytes": gpu.memory_limit,
            "page_locked_bytes": gpu.page_locked,
        })
    });
    json!({
        "version": reply.version,
        "pid": reply.pid,
        "uptime_seconds": seconds(reply.uptime_ms * 1000),
        "socket": Some(&reply.socket).filter(|socket| !socket.is_empty()),
        "ready": reply.ready,
        "ledger_outage": outage(reply),
        "streams": list(reply.streams.iter().map(|each| stream(reply, each))),
        "closed": closed(reply),
        "decoders": list(reply.decoders.iter().map(|each| json!({ "name": each.name, "pictures": each.pictures }))),
        "lanes": lanes(reply),
        "gpus": list(gpus),
        "switched_off": switched_off(reply),
    })
}

/// Since when the ledgers cannot be reached, and why; null while they can.
pub(crate) fn outage(reply: &StatusReply) -> Value {
    let outage = reply.ledger_outage.as_ref();
    outage.map_or(Value::Null, |outage| json!({ "cause": outage.cause, "seconds": seconds(outage.for_ms * 1000) }))
}

/// Each way to decode.
pub(crate) fn lanes(reply: &StatusReply) -> Value {
    list(reply.lanes.iter().map(|lane| {
        let refused = lane.refused.iter().map(|each| json!({ "reason": each.reason, "pictures": each.pictures }));
        json!({ "name": lane.name, "pictures": lane.pictures, "stolen": lane.stolen, "refused": list(refused) })
    }))
}

/// What does not decode, and why.
pub(crate) fn switched_off(reply: &StatusReply) -> Value {
    list(reply.switched_off.iter().map(|off| json!({ "name": off.name, "reason": off.reason })))
}

/// The streams that are not open.
pub(crate) fn closed(reply: &StatusReply) -> Value {
    list(reply.closed.iter().map(|ClosedStream { name, run, source, opening, failure }| {
        let failure = Some(failure).filter(|failure| !failure.is_empty());
        json!({ "name": name, "run": run, "source": source, "opening": opening, "failure": failure })
    }))
}

/// A stream's slots by their state.
pub(crate) fn slots(stream: &StreamStatus) -> Value {
    json!({
        "free": stream.slots_free,
        "filling": stream.slots_filling,
        "ready": stream.slots_ready,
        "held": stream.slots_held,
        "quarantined": stream.slots_quarantined,
    })
}

fn stream(reply: &StatusReply, stream: &StreamStatus) -> Value {
    let verdict = super::verdict(reply, stream);
    let failure = Some(&stream.failure).filter(|failure| !failure.is_empty());
    let storage = Some(&stream.storage).filter(|reason| !reason.is_empty());
    json!({
        "name": stream.name,
        "run": stream.run,
        "source": stream.source,
        "failure": failure,
        "records": stream.records,
        "epoch": stream.epoch,
        "epochs": stream.epochs,
        "epoch_len": stream.epoch_len,
        "epoch_done": stream.epoch_done,
        "delivered": stream.delivered,
        "batches": stream.batches,
        "bad": stream.bad,
        "slots": slots(stream),
        "ring": stream.ring.as_ref().map(ring),
        "cache": stream.cache.as_ref().map(cache),
        "seek": stream.seek.as_ref().map(seek),
        "requests": stream.requests.as_ref().map(requests),
        "storage_wait": storage.map(|reason| json!({ "reason": reason, "seconds": seconds(stream.storage_wait_ms * 1000) })),
        "trainers": list(stream.consumers.iter().map(trainer)),
        "groups": list(stream.groups.iter().map(group)),
        "stages": list(stream.stages.iter().map(stage)),
        "open_seconds": seconds(stream.open_ms * 1000),
        "limit": verdict.limit,
        "verdict": verdict.sentence,
    })
}

fn ring(RingPlace { placement, gpu_bytes, page_locked, copied }: &RingPlace) -> Value {
    json!({
        "placement": placement,
        "gpu_bytes": gpu_bytes,
        "page_locked_bytes": page_locked,
        "copied_bytes": copied,
    })
}

fn cache(CacheStatus { keep, records, bytes, budget, hits, misses }: &CacheStatus) -> Value {
    json!({
        "keep": keep,
        "records": records,
        "bytes": bytes,
        "budget_bytes": budget,
        "hits": hits,
        "misses": misses,
    })
}

fn seek(SeekStatus { pictures, bytes, budget }: &SeekStatus) -> Value {
    json!({ "pictures": pictures, "bytes": bytes, "budget_bytes": budget })
}

/// The requests of a stream's source.
pub(crate) fn requests(SourceRequests { in_flight, most, given_up }: &SourceRequests) -> Value {
    json!({ "in_flight": in_flight, "most": most, "given_up": given_up })
}

fn trainer(ConsumerStatus { id, pid, uid, held, delivered, group, foreign }: &ConsumerStatus) -> Value {
    json!({
        "id": id,
        "pid": pid,
        "foreign": foreign,
        "user": uid,
        "group": name_of(group),
        "held": held,
        "batches": delivered,
    })
}

fn group(GroupStatus { name, pids, delivered, behind }: &GroupStatus) -> Value {
    json!({ "name": name_of(name), "pids": pids, "behind": behind, "batches": delivered })
}

fn stage(StageStatus { name, items, writer_wait_us, reader_wait_us }: &StageStatus) -> Value {
    json!({
        "name": name,
        "items": items,
        "waited_for_room_seconds": seconds(*writer_wait_us),
        "waited_for_input_seconds": seconds(*reader_wait_us),
    })
}

fn list(items: impl Iterator<Item = Value>) -> Value {
    items.collect()
}

/// Of microseconds.
#[expect(clippy::cast_precision_loss, reason = "exact to 285 years")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
