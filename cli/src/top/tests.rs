//! What `forebay top` makes of two readings of a status that are made by hand: numbers, lines and JSON.

use std::time::Duration;

use forebay_proto::v1::{
    ClosedStream, ConsumerStatus, GroupStatus, LaneStatus, LedgerOutage, SourceRequests, StageStatus, StatusReply,
    StepFill, StreamStatus, SwitchedOff,
};
use serde_json::{Value, json};

use super::overview::Overview;
use super::page;
use crate::json;

const TIME: Duration = Duration::from_secs(5);
/// A user whom no machine knows by a name.
const NO_USER: u32 = 4_000_000_001;

fn trainer(id: u32, group: &str, delivered: u64) -> ConsumerStatus {
    let (pid, group, foreign) = (5200 + id, group.into(), id == 2);
    ConsumerStatus { id: id.into(), pid, uid: NO_USER, held: 2, delivered, group, foreign }
}

fn stage(name: &str, room: u64, input: u64) -> StageStatus {
    StageStatus { name: name.into(), items: 0, writer_wait_us: room, reader_wait_us: input }
}

/// A stream that has read 1,000 records of 10,000.
fn before() -> StatusReply {
    let stream = StreamStatus {
        name: "train".into(),
        source: "/data/train".into(),
        records: 10_000,
        epoch: 3,
        epochs: 90,
        epoch_len: 10_000,
        epoch_done: 1_000,
        delivered: 31_000,
        batches: 100,
        readers: 4,
        decode_threads: 2,
        consumers: vec![trainer(1, "", 40)],
        ..StreamStatus::default()
    };
    StatusReply { version: "0.1.0".into(), pid: 77, streams: vec![stream], ..StatusReply::default() }
}

/// Five seconds later: 2,000 records and 20 batches more, and a further trainer.
fn after() -> StatusReply {
    let mut reply = before();
    let stream = &mut reply.streams[0];
    stream.epoch_done += 2_000;
    stream.delivered += 2_000;
    stream.batches += 20;
    stream.fill = Some(StepFill { unit: "patches".into(), filled: 450_000, room: 500_000 });
    stream.bad = 2;
    (stream.slots_held, stream.slots_ready, stream.slots_filling, stream.slots_free) = (2, 3, 1, 2);
    stream.consumers = vec![trainer(1, "", 50), trainer(2, "small", 5)];
    stream.groups = vec![
        GroupStatus { name: String::new(), pids: vec![5201], delivered: 50, behind: 0 },
        GroupStatus { name: "small".into(), pids: vec![5202], delivered: 5, behind: 3 },
    ];
    stream.requests = Some(SourceRequests { in_flight: 7, most: 64, given_up: 0 });
    stream.stages = vec![stage("prefetch", 0, 0), stage("decode", 0, 5_000_000), stage("batch", 1_000_000, 0)];
    let lane = |name: &str, pictures| LaneStatus { name: name.into(), pictures, ..LaneStatus::default() };
    reply.lanes = vec![lane("hardware", 300), lane("cpu", 100)];
    reply.switched_off = vec![SwitchedOff { name: "gpu 1".into(), reason: "it hangs".into() }];
    let closed = |name: &str, opening, failure: &str| ClosedStream {
        name: name.into(),
        run: "default".into(),
        source: "/gone".into(),
        opening,
        failure: failure.into(),
        dataset_open: false,
    };
    reply.closed = vec![closed("val", false, "no such folder"), closed("test", true, ""), closed("late", false, "")];
    reply
}

fn shown(before: &StatusReply, after: &StatusReply) -> String {
    let overview = Overview::of(before, after, TIME);
    let mut text = Vec::new();
    page::text(&mut text, &page::lines(None, &overview)).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_page_has_rates_shares_slots_trainers_groups_and_the_verdict_last() {
    insta::assert_snapshot!(shown(&before(), &after()));
}

#[test]
fn the_json_has_the_values_of_the_page() {
    let (before, after) = (before(), after());
    let mut out = Vec::new();
    json::print(&mut out, &Overview::of(&before, &after, TIME)).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn without_progress_no_time_is_left_and_no_lane_has_a_share() {
    let after = after();
    let text = shown(&after, &after);
    assert!(text.contains(" 30 % of epoch 3 of 90\n") && !text.contains("lanes:"), "{text}");
    let told = serde_json::to_value(Overview::of(&after, &after, TIME)).unwrap();
    assert_eq!(told["streams"][0]["seconds_left"], Value::Null, "at this rate it never ends");
}

#[test]
fn the_last_epoch_is_whole() {
    let mut over = after();
    (over.streams[0].epoch, over.streams[0].epoch_done) = (90, 0);
    assert!(shown(&after(), &over).contains("  ████████████████████ 100 % of the last epoch\n"));
}

#[test]
fn an_outage_of_the_ledger_is_above_all_and_limits_every_stream() {
    let mut late = after();
    late.ledger_outage = Some(LedgerOutage { cause: "no space left".into(), for_ms: 1500 });
    let text = shown(&before(), &late);
    assert_eq!(text.lines().nth(1), Some("LEDGER  not reached for 1 s: no space left"));
    let told = serde_json::to_value(Overview::of(&before(), &late, TIME)).unwrap();
    assert_eq!(told["ledger_outage"], json!({ "cause": "no space left", "seconds": 1.5 }));
    assert_eq!(told["streams"][0]["limit"], json!("ledger"));
}
