//! Verdicts of statuses that are made by hand: each fault in numbers.

use std::time::Duration;

use forebay_proto::v1::{
    ConsumerStatus, DecoderStatus, FunctionStatus, GroupStatus, LaneStatus, LedgerOutage, SourceRequests, StageStatus,
};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// A stream with one trainer and one thread each for reading and decoding, of which nothing ever waits.
fn stream(change: impl FnOnce(&mut StreamStatus)) -> StreamStatus {
    let consumers = vec![ConsumerStatus::default()];
    let mut stream = StreamStatus { slots_free: 8, readers: 1, decode_threads: 1, consumers, ..Default::default() };
    change(&mut stream);
    stream
}

/// Milliseconds of a second that a stage waited: for room, and for input.
fn stage(name: &str, room: u64, input: u64) -> StageStatus {
    StageStatus { name: name.into(), items: 0, writer_wait_us: room * 1000, reader_wait_us: input * 1000 }
}

fn judge(reply: &StatusReply, stream: &StreamStatus) -> Verdict {
    let shares = StageShares::measured(&StreamStatus::default(), stream, SECOND);
    Verdict::of((&StatusReply::default(), reply), stream, shares, None)
}

#[test]
fn each_limit_is_named() {
    let busy = |prefetch: [u64; 2], decode: u64, no_slot: u64| {
        vec![stage("prefetch", prefetch[0], prefetch[1]), stage("decode", 0, decode), stage("batch", no_slot, 0)]
    };
    let full = |stages| stream(|s| (s.slots_ready, s.stages) = (6, stages));
    let no = StatusReply::default();
    let outage = LedgerOutage { cause: "no space left".into(), for_ms: 1 };
    let full_disk = StatusReply { ledger_outage: Some(outage), ..Default::default() };
    let gpu = StatusReply { lanes: vec![LaneStatus::default(); 2], ..Default::default() };
    let pngs = vec![DecoderStatus { name: "image".into(), pictures: 9 }];
    let pngs = StatusReply { decoders: pngs, ..Default::default() };
    let cases = [
        ("a slow disk", &no, stream(|s| s.stages = busy([20, 0], 800, 0)), Limit::Reading, "prefetch.threads (1)"),
        (
            "a slow network",
            &no,
            stream(|s| {
                s.stages = busy([20, 0], 800, 0);
                s.requests = Some(SourceRequests { in_flight: 64, most: 64, given_up: 0 });
            }),
            Limit::Reading,
            "prefetch.requests (64)",
        ),
        (
            "a small budget for files",
            &no,
            stream(|s| s.stages = busy([900, 0], 700, 0)),
            Limit::Reading,
            "A larger prefetch.budget would help",
        ),
        ("a busy GPU", &gpu, stream(|s| s.stages = busy([900, 0], 700, 0)), Limit::Elsewhere, "other work"),
        ("a slow trainer", &no, full(busy([900, 0], 900, 950)), Limit::Trainer, "over 10 times as many"),
        ("too few decode threads", &no, stream(|s| s.stages = busy([800, 0], 5, 950)), Limit::Decoding, "decode"),
        (
            "huge PNGs",
            &pngs,
            stream(|s| s.stages = busy([800, 0], 5, 0)),
            Limit::Decoding,
            "100 % of the pictures are not JPEG",
        ),
        (
            "a slow disk of the ledger",
            &no,
            stream(|s| s.stages = busy([0, 800], 900, 0)),
            Limit::Ledger,
            "Reading and decoding could take 5.0 times as many pictures.",
        ),
        ("a full disk of the ledger", &full_disk, stream(|_| ()), Limit::Ledger, "no space left"),
        ("a dataset that is gone", &no, stream(|s| s.storage = "it is gone".into()), Limit::Storage, "it is gone"),
        ("a bad record", &no, stream(|s| s.failure = "7.jpg is bad".into()), Limit::Failed, "7.jpg is bad"),
        (
            "the end of the run",
            &no,
            stream(|s| {
                (s.epoch, s.epochs, s.epoch_len, s.epoch_done) = (1, 2, 40, 40);
                s.stages = busy([0, 1000], 1000, 0);
            }),
            Limit::Complete,
            "The last epoch is complete.",
        ),
        ("a run that is over", &no, stream(|s| (s.epoch, s.epochs) = (2, 2)), Limit::Complete, "complete"),
        ("no trainer", &no, stream(|s| s.consumers.clear()), Limit::NoTrainer, "No trainer"),
        (
            "other programs",
            &no,
            stream(|s| s.stages = busy([300, 0], 400, 0)),
            Limit::Elsewhere,
            "Forebay could make up to 1.4 times as many pictures.",
        ),
    ];
    for (fault, reply, stream, limit, words) in cases {
        let verdict = judge(reply, &stream);
        assert_eq!(verdict.limit, limit, "{fault}: {verdict:?}");
        assert!(verdict.sentence.contains(words), "{fault}: {verdict:?}");
    }
}

#[test]
fn functions_in_python_limit_a_stream_if_they_are_busier_than_decoding() {
    let stages = |decode| vec![stage("prefetch", 800, 0), stage("decode", 0, decode), stage("batch", 500, 0)];
    let function = |function: &str, busy_us| FunctionStatus { function: function.into(), calls: 9, busy_us };
    let limited = |decode, workers, busy_us: u64| {
        let stream = stream(|s| {
            (s.stages, s.python_workers) = (stages(decode), workers);
            s.functions = vec![function("steps:quick", busy_us / 5), function("steps:slow", busy_us / 5 * 4)];
        });
        judge(&StatusReply::default(), &stream)
    };
    let verdict = limited(500, 1, 950_000);
    assert_eq!(verdict.limit, Limit::Functions);
    assert!(verdict.sentence.contains("the Python step steps:slow takes 76 % of the time"), "{verdict:?}");
    assert_eq!(limited(500, 2, 1_900_000).limit, Limit::Functions);
    assert_ne!(limited(500, 2, 950_000).limit, Limit::Functions, "half of the processes wait");
    assert_eq!(limited(10, 1, 950_000).limit, Limit::Decoding, "it is busier");
}

#[test]
fn a_trainer_that_keeps_its_batches_is_named() {
    let trainer = |held, delivered| vec![ConsumerStatus { id: 3, pid: 42, held, delivered, ..Default::default() }];
    let before = stream(|s| s.consumers = trainer(2, 9));
    let before = StatusReply { streams: vec![before], ..Default::default() };
    let stages = vec![stage("decode", 0, 900), stage("batch", 950, 0), stage("prefetch", 900, 0)];
    for (consumers, is_named) in [(trainer(2, 9), true), (trainer(2, 10), false), (trainer(0, 9), false)] {
        let stream = stream(|s| (s.consumers, s.stages, s.slots_ready) = (consumers, stages.clone(), 4));
        let shares = StageShares::measured(&before.streams[0], &stream, SECOND);
        let verdict = Verdict::of((&before, &StatusReply::default()), &stream, shares, None);
        assert_eq!(verdict.limit, Limit::Trainer, "{verdict:?}");
        assert_eq!(verdict.sentence.contains("Process 42 holds 2 batches"), is_named, "{verdict:?}");
    }
}

#[test]
fn rule_11_trainers_that_wait_for_a_slot_are_not_slow() {
    let stages = vec![stage("decode", 0, 900), stage("batch", 950, 0), stage("prefetch", 900, 0)];
    let of = |ready, held, watched| {
        let consumers = vec![
            ConsumerStatus { pid: 41, held: 1, ..Default::default() },
            ConsumerStatus { pid: 42, held, ..Default::default() },
        ];
        stream(|s| {
            (s.slots_free, s.slots_ready, s.slots_held, s.slots_quarantined) = (0, ready, held + 1, watched);
            (s.consumers, s.stages) = (consumers, stages.clone());
        })
    };
    let verdict = judge(&StatusReply::default(), &of(0, 3, 2));
    assert_eq!(verdict.limit, Limit::Slots, "{verdict:?}");
    let words = "trainers hold 4 slots, and trainers that were evicted may still read 2. Process 42 holds 3 batches.";
    assert!(verdict.sentence.contains(words), "{verdict:?}");
    assert_eq!(judge(&StatusReply::default(), &of(1, 3, 1)).limit, Limit::Trainer, "a batch is ready");
}

#[test]
fn the_slowest_group_is_named() {
    let group = |pid, behind| GroupStatus { pids: vec![pid], behind, ..Default::default() };
    let groups = vec![group(8, 1), group(9, 6)];
    let stages = vec![stage("decode", 0, 900), stage("batch", 950, 0), stage("prefetch", 900, 0)];
    let stream = stream(|s| (s.groups, s.stages, s.slots_ready) = (groups, stages, 6));
    let verdict = judge(&StatusReply::default(), &stream);
    assert!(verdict.sentence.ends_with("The slowest is the group of process 9, 6 batches behind."), "{verdict:?}");
}

#[test]
fn where_a_trainer_was_watched_its_own_waits_decide() {
    let shares = |decoding| StageShares { decoding, ..StageShares::default() };
    let of = |shares, waiting| Limit::of(&StatusReply::default(), &stream(|_| ()), Some(shares), Some(waiting));
    assert_eq!(of(shares(0.99), 0.05), Limit::Trainer);
    // Both are busy, and the trainer has to wait.
    assert_eq!(of(shares(0.99), 0.3), Limit::Decoding);
    assert_eq!(of(shares(0.5), 0.3), Limit::Trainer);
    assert_eq!(of(shares(0.5), 0.9), Limit::Elsewhere);
}

#[test]
fn readings_of_one_moment_say_only_what_needs_no_time() {
    let of = |change: fn(&mut StreamStatus)| {
        let stream = stream(change);
        let shares = StageShares::measured(&stream, &stream, Duration::from_millis(5));
        assert_eq!(shares, None);
        Verdict::of((&StatusReply::default(), &StatusReply::default()), &stream, shares, None).limit
    };
    assert_eq!(of(|_| ()), Limit::Measuring);
    assert_eq!(of(|s| s.consumers.clear()), Limit::NoTrainer);
    assert_eq!(of(|s| s.storage = "it is gone".into()), Limit::Storage);
    assert_eq!(of(|s| s.failure = "7.jpg is bad".into()), Limit::Failed);
}

#[test]
fn the_waits_of_several_threads_are_shares_of_all_their_time() {
    let before = stream(|s| s.stages = vec![stage("prefetch", 1000, 1000)]);
    let after = stream(|s| (s.readers, s.stages) = (4, vec![stage("prefetch", 2000, 3000)]));
    let shares = StageShares::between(&before, &after, SECOND);
    assert_eq!((shares.reading, shares.no_lease), (0.25, 0.5));
}
