//! Marks of states in lockstep: where they are stored, and what going on from a place without one costs (semantics rule 40).

use forebay_proto::v1::{AuditRequest, LedgerSpec, Snapshot, SourceShare, StoredHead, StoredMark};
use prost::Message as _;

use crate::lockstep::{GLOBAL_BATCH, Job, in_lockstep, open};
use crate::scene::{Scene, spec};
use crate::segments::{RUN, lines};

/// The stored documents whose keys have this in them.
fn documents(scene: &Scene, what: &str) -> Vec<(String, Vec<u8>)> {
    let all = scene.store.documents().into_iter();
    all.filter(|(key, _)| key.contains(what)).collect()
}

fn head(scene: &Scene) -> StoredHead {
    StoredHead::decode(&*documents(scene, "/head")[0].1).unwrap()
}

#[test]
fn rule_40_receipts_write_no_marks_however_many_states_were_taken() {
    let records = 80 * GLOBAL_BATCH;
    let scene = Scene::new(spec(records), GLOBAL_BATCH, 1);
    let mut one = Job::start(&scene, RUN, records, 1);
    one.step();
    let before = head(&scene).encoded_len();
    for _ in 0..70 {
        one.state();
        one.step();
    }
    let kept = documents(&scene, "");
    assert_eq!(documents(&scene, "/mark/").len(), 64);
    assert!(head(&scene).encoded_len() < before + 8, "{:?}", head(&scene));
    one.step();
    let after = documents(&scene, "").into_iter();
    let changed: Vec<String> = after.filter(|document| !kept.contains(document)).map(|(key, _)| key).collect();
    let own = |name| format!("ledger/run/train/rank-0-of-1/{name}");
    assert_eq!(changed, [own("epoch/0000000000000000"), own("head"), own("worker/node")]);
}

#[test]
fn rule_40_marks_that_the_build_before_left_in_the_head_are_gone_back_to() {
    let mut scene = Scene::new(spec(300), 64, 1);
    let mut one = Job::start(&scene, RUN, 300, 1);
    one.step();
    let state = one.state();
    one.step();
    let ranks = one.ranks;
    // As that build wrote it.
    let mut documents_then = documents(&scene, "");
    let marks = documents_then.extract_if(.., |(key, _)| key.contains("/mark/"));
    let marks: Vec<StoredMark> = marks.map(|(_, value)| StoredMark::decode(&*value).unwrap()).collect();
    assert_eq!(marks.len(), 1);
    let of_head = documents_then.iter_mut().find(|(key, _)| key.ends_with("/head")).unwrap();
    of_head.1 = StoredHead { version: 3, marks, ..head(&scene) }.encode_to_vec();
    scene.store.set(&documents_then);
    scene.restart();
    let mut one = Job { scene: &scene, ranks };
    one.restore(&state);
    assert_eq!(lines(&one), ["epoch 0: 64 of 300 records accounted for (64 delivered), not complete"]);
    assert_eq!((documents(&scene, "/mark/").len(), head(&scene).marks.len(), head(&scene).version), (1, 0, 4));
}

#[test]
fn rule_40_many_records_below_a_state_without_a_mark_are_added_up_by_the_audit() {
    const RECORDS: u64 = 3 << 16;
    const STEPS: u64 = RECORDS / GLOBAL_BATCH;
    let mut scene = Scene::new(spec(RECORDS), 64, 1);
    let share = |records| SourceShare { records, positions: records, name: format!("/data/{records}") };
    let sources = vec![share(100_000), share(RECORDS - 100_000)];
    let rank = |rank| {
        let spec = LedgerSpec { sources: sources.clone(), ..in_lockstep(RECORDS, rank, 2) };
        open(&scene, RUN, &spec).unwrap()
    };
    let mut two = Job { scene: &scene, ranks: vec![rank(0), rank(1)] };
    two.step();
    // A state of the same job near the end of the epoch, of which the ledgers know nothing: they were recovered from before.
    let state = Snapshot { cursor: (STEPS - 2) * GLOBAL_BATCH, ..two.state() };
    two.restore(&state);
    let ranks = two.ranks;
    scene.restart();
    let mut two = Job { scene: &scene, ranks };
    two.step();
    two.step();
    let told = |records: u64, delivered: u64| {
        let by_state = records - delivered;
        format!(
            "epoch 0: {records} of {records} records accounted for ({delivered} delivered, {by_state} delivered by the state \
             that was loaded), checksum equal"
        )
    };
    assert_eq!(lines(&two), [told(RECORDS, 3 * GLOBAL_BATCH)]);
    for rank in &two.ranks {
        let line = scene.audit_of(&rank.caller.ledger)[0].to_string();
        assert_eq!(line, told(RECORDS / 2, 3 * GLOBAL_BATCH / 2));
    }
    // Back to a place inside of what was never counted one by one.
    let state = Snapshot { cursor: (STEPS - 1) * GLOBAL_BATCH, ..state };
    two.restore(&state);
    two.step();
    assert_eq!(lines(&two), [told(RECORDS, GLOBAL_BATCH)]);
}

#[test]
fn rule_40_a_state_half_a_trillion_records_ahead_is_gone_to_at_once() {
    const RECORDS: u64 = 1 << 40;
    let scene = Scene::new(spec(RECORDS), 64, 1);
    let mut one = Job::start(&scene, RUN, RECORDS, 1);
    one.step();
    // To add these up would take most of a day.
    let state = Snapshot { cursor: RECORDS / 2, ..one.state() };
    one.restore(&state);
    one.step();
    let reply = scene.call(AuditRequest { ledger: one.ranks[0].caller.ledger.clone(), from_epoch: 0 }).unwrap();
    let counted = |tally: Option<forebay_proto::v1::Tally>| tally.unwrap_or_default().count;
    let epoch = &reply.epochs[0];
    assert_eq!((counted(epoch.delivered), counted(epoch.by_state)), (2 * GLOBAL_BATCH, RECORDS / 2 - GLOBAL_BATCH));
}
