//! What `forebay top` makes of two readings of a status that are made by hand: numbers, lines and JSON.

use std::time::Duration;

use forebay_proto::v1::{
    ClosedStream, ConsumerStatus, GroupStatus, LaneStatus, LedgerOutage, SourceRequests, StageStatus, StatusReply,
    StreamStatus, SwitchedOff,
};
use serde_json::{Value, json};

use super::overview::Overview;
use super::{json as as_json, page};

const TIME: Duration = Duration::from_secs(5);
/// A user whom no machine knows by a name.
const NOBODY: u32 = 4_000_000_001;

fn trainer(id: u32, group: &str, delivered: u64) -> ConsumerStatus {
    let (pid, group, foreign) = (5200 + id, group.into(), id == 2);
    ConsumerStatus { id: id.into(), pid, uid: NOBODY, held: 2, delivered, group, foreign }
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
    };
    reply.closed = vec![closed("val", false, "no such folder"), closed("test", true, ""), closed("late", false, "")];
    reply
}

fn shown(before: &StatusReply, after: &StatusReply) -> (String, Value) {
    let overview = Overview::of(before, after, TIME);
    let mut text = Vec::new();
    page::text(&mut text, &page::lines(None, &overview)).unwrap();
    (String::from_utf8(text).unwrap(), as_json::overview(&overview))
}

#[test]
fn rates_and_the_time_that_is_left_are_those_between_two_readings() {
    let (text, told) = shown(&before(), &after());
    let stream = &told["streams"][0];
    assert_eq!((&stream["pictures_per_second"], &stream["batches_per_second"]), (&json!(400.0), &json!(4.0)));
    assert_eq!((&stream["epoch_done"], &stream["seconds_left"]), (&json!(0.3), &json!(17.5)));
    assert!(text.contains("  400 pictures/s, 4.0 batches/s, 2 bad records\n"), "{text}");
    assert!(text.contains("  ██████░░░░░░░░░░░░░░  30 % of epoch 3 of 90, 17 s left\n"), "{text}");
    let (still, told) = shown(&after(), &after());
    assert_eq!(told["streams"][0]["seconds_left"], Value::Null, "at this rate it never ends");
    assert!(still.contains("30 % of epoch 3 of 90\n"), "{still}");
    let mut over = after();
    (over.streams[0].epoch, over.streams[0].epoch_done) = (90, 0);
    assert!(shown(&after(), &over).0.contains("  ████████████████████ 100 % of the last epoch\n"));
}

#[test]
fn each_trainer_has_its_process_its_user_its_rate_and_what_it_holds() {
    let (text, told) = shown(&before(), &after());
    assert!(text.contains("trainer: process 5201 of user 4000000001, 2.0 batches/s, holds 2\n"), "{text}");
    let known = &told["streams"][0]["trainers"];
    let first = json!({
        "id": 1, "pid": 5201, "foreign": false, "user": NOBODY, "group": null, "held": 2, "batches_per_second": 2.0,
    });
    assert_eq!(known[0], first);
    assert!(text.contains("trainer: process 5202 in a container of its own of user 4000000001"), "{text}");
    assert_eq!((&known[1]["pid"], &known[1]["foreign"]), (&json!(5202), &json!(true)));
    let newcomer = (&known[1]["group"], &known[1]["batches_per_second"]);
    assert_eq!(newcomer, (&json!("small"), &json!(1.0)), "a new trainer counts from its beginning");
    let groups = json!([
        { "name": null, "pids": [5201], "behind": 0 },
        { "name": "small", "pids": [5202], "behind": 3 },
    ]);
    assert_eq!(told["streams"][0]["groups"], groups);
    assert!(text.contains("group small (1 trainer): 3 batches behind\n"), "{text}");
}

#[test]
fn the_ring_has_a_cell_for_each_slot() {
    let (text, told) = shown(&before(), &after());
    assert!(text.contains("  ring      HHRRRF.. 2 held, 3 ready, 1 filling, 2 free\n"), "{text}");
    let slots = json!({ "free": 2, "filling": 1, "ready": 3, "held": 2, "quarantined": 0 });
    assert_eq!(told["streams"][0]["slots"], slots);
}

#[test]
fn stages_have_the_share_of_the_time_in_which_they_worked() {
    let (text, told) = shown(&before(), &after());
    let shares = &told["streams"][0]["shares"];
    assert_eq!((&shares["reading"], &shares["decoding"]), (&json!(1.0), &json!(0.5)));
    assert_eq!(shares["no_free_slot"], json!(0.2));
    assert!(text.contains("  decoding  ██████████░░░░░░░░░░  50 % of 2 threads\n"), "{text}");
    assert!(
        text.contains("  no slot   ████░░░░░░░░░░░░░░░░  20 % of the time no slot was free for a batch\n"),
        "{text}"
    );
    assert!(text.contains("  7 of 64 requests under way\n"), "{text}");
    assert_eq!(told["streams"][0]["requests"]["in_flight"], json!(7));
}

#[test]
fn what_is_no_open_stream_is_on_the_page_and_in_the_json() {
    let mut late = after();
    late.ledger_outage = Some(LedgerOutage { cause: "no space left".into(), for_ms: 1500 });
    let (text, told) = shown(&before(), &late);
    for line in [
        "LEDGER  not reached for 1",
        "lanes: hardware 75 %, cpu 25 %\n",
        "OFF  gpu 1: it hangs\n",
        "stream val has failed: no such folder\n",
        "stream test is being opened\n",
        "stream late waits for its first trainer\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let (text, _) = shown(&after(), &after());
    assert!(!text.contains("lanes:"), "nothing was decoded between these readings: {text}");
    assert_eq!(told["lanes"][0], json!({ "name": "hardware", "pictures": 300, "stolen": 0, "refused": [] }));
    assert_eq!(told["switched_off"], json!([{ "name": "gpu 1", "reason": "it hangs" }]));
    let failures: Vec<&Value> = told["closed"].as_array().unwrap().iter().map(|closed| &closed["failure"]).collect();
    assert_eq!(failures, [&json!("no such folder"), &Value::Null, &Value::Null]);
    assert_eq!(told["ledger_outage"], json!({ "cause": "no space left", "seconds": 1.5 }));
    assert_eq!(told["streams"][0]["limit"], json!("ledger"));
}

#[test]
fn the_verdict_is_the_last_line_of_a_stream() {
    let (text, told) = shown(&before(), &after());
    let verdict = told["streams"][0]["verdict"].as_str().unwrap();
    assert!(!verdict.is_empty());
    let stream = text.split("\n\n").nth(1).unwrap();
    assert_eq!(stream.lines().last().map(str::trim), Some(verdict));
}
