//! An overview as JSON. docs/operating.md describes the fields. They keep their names and meanings, and new fields may be
//! added.

use forebay_proto::v1::GroupStatus;
use serde_json::{Value, json};

use super::overview::{Overview, StreamRates, TrainerRate};
use crate::group::name_of;
use crate::status::json::{closed, lanes, outage, requests, slots, switched_off};

pub(super) fn overview(overview: &Overview<'_>) -> Value {
    let reply = overview.reply;
    json!({
        "version": reply.version,
        "pid": reply.pid,
        "ledger_outage": outage(reply),
        "streams": overview.streams.iter().map(stream).collect::<Vec<_>>(),
        "closed": closed(reply),
        "lanes": lanes(reply),
        "switched_off": switched_off(reply),
    })
}

fn stream(rates: &StreamRates<'_>) -> Value {
    let StreamRates { stream, pictures, batches, left, shares, trainers, verdict } = rates;
    json!({
        "name": stream.name,
        "source": stream.source,
        "records": stream.records,
        "pictures_per_second": pictures,
        "batches_per_second": batches,
        "epoch": stream.epoch,
        "epochs": stream.epochs,
        "epoch_done": rates.done(),
        "seconds_left": left.map(|time| time.as_secs_f64()),
        "bad": stream.bad,
        "slots": slots(stream),
        "readers": stream.readers,
        "decode_threads": stream.decode_threads,
        "requests": stream.requests.as_ref().map(requests),
        "shares": shares.map(|shares| json!({
            "reading": shares.reading,
            "no_lease": shares.no_lease,
            "decoding": shares.decoding,
            "no_free_slot": shares.no_slot,
        })),
        "trainers": trainers.iter().map(trainer).collect::<Vec<_>>(),
        "groups": stream.groups.iter().map(group).collect::<Vec<_>>(),
        "limit": verdict.limit,
        "verdict": verdict.sentence,
    })
}

fn trainer(TrainerRate { trainer, batches }: &TrainerRate<'_>) -> Value {
    json!({
        "id": trainer.id,
        "pid": trainer.pid,
        "foreign": trainer.foreign,
        "user": trainer.uid,
        "group": name_of(&trainer.group),
        "held": trainer.held,
        "batches_per_second": batches,
    })
}

fn group(group: &GroupStatus) -> Value {
    json!({ "name": name_of(&group.name), "pids": group.pids, "behind": group.behind })
}
