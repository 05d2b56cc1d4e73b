//! What limits a stream, and what would help: a judgement of two readings of its status, for `bench`, `status` and `top`.
//!
//! A stage that hardly ever waits holds up the others. How much a stage waits stands in the meters of the queues.

use std::time::Duration;

use forebay_proto::printable;
use forebay_proto::v1::{ConsumerStatus, DecoderStatus, StageStatus, StatusReply, StreamStatus};
use forebay_road::cores;
use serde::Serialize;

use crate::group::members;

/// Shares of the time between two readings, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    /// Readers had something to read, and room for it.
    pub(crate) reading: f64,
    /// Readers had nothing to read: no lease.
    pub(crate) no_lease: f64,
    /// Decode threads had pictures.
    pub(crate) decoding: f64,
    /// No slot of the ring was free for the next batch.
    pub(crate) no_slot: f64,
}

/// What holds the stream up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Limit {
    /// The stream has failed.
    Failed,
    /// Leases come too slowly, or the ledger cannot be written.
    Ledger,
    /// The storage gives nothing.
    Storage,
    /// Nobody is attached.
    Nobody,
    /// The last epoch is complete: readers wait, and nothing is slow.
    Complete,
    /// The readings are too close to each other to tell.
    Measuring,
    /// Trainers take batches more slowly than they are made.
    Trainer,
    Decoding,
    Reading,
    Elsewhere,
}

/// A limit, and sentences about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) limit: Limit,
    pub(crate) sentence: String,
}

/// A share above which a stage counts as always busy.
const BUSY: f64 = 0.85;
/// Waits are counted in parts of 250 ms, so in a shorter time than this a thread that waits may seem to be busy. It is a bit less
/// than the second of `forebay top`, whose wait may end early.
const MEASURABLE: Duration = Duration::from_millis(900);
/// Decoders that read whole pictures whatever is kept of them.
const WHOLE: &str = "image";

impl Shares {
    /// As [`between`](Self::between), or none if the time is too short.
    pub(crate) fn measured(before: &StreamStatus, after: &StreamStatus, time: Duration) -> Option<Self> {
        (time >= MEASURABLE).then(|| Self::between(before, after, time))
    }

    /// Of two readings of a stream with this time in between.
    pub(crate) fn between(before: &StreamStatus, after: &StreamStatus, time: Duration) -> Self {
        let waited = |name: &str, end: fn(&StageStatus) -> u64, threads: u32| {
            let micros = |stream: &StreamStatus| stream.stages.iter().find(|stage| stage.name == name).map_or(0, end);
            let waited = Duration::from_micros(micros(after).saturating_sub(micros(before)));
            let whole = time.as_secs_f64().max(f64::EPSILON) * f64::from(threads.max(1));
            (waited.as_secs_f64() / whole).min(1.0)
        };
        let (readers, decoders) = (after.readers, after.decode_threads);
        let no_lease = waited("prefetch", |stage| stage.reader_wait_us, readers);
        let no_room = waited("prefetch", |stage| stage.writer_wait_us, readers);
        Self {
            reading: (1.0 - no_lease - no_room).max(0.0),
            no_lease,
            decoding: 1.0 - waited("decode", |stage| stage.reader_wait_us, decoders),
            no_slot: waited("batch", |stage| stage.writer_wait_us, 1),
        }
    }
}

impl Verdict {
    /// About a stream, from two readings of it and of its daemon. `waiting` is the share of the time in which a trainer waited for
    /// a batch, where that was measured.
    pub(crate) fn of(
        (before, after): (&StatusReply, &StatusReply),
        stream: &StreamStatus,
        shares: Option<Shares>,
        waiting: Option<f64>,
    ) -> Self {
        let limit = match &after.ledger_outage {
            Some(_) if stream.failure.is_empty() => Limit::Ledger,
            _ => limit(stream, shares, waiting),
        };
        let decoders = (&*before.decoders, &*after.decoders);
        let sentence = match (limit, &after.ledger_outage) {
            (Limit::Ledger, Some(outage)) => format!(
                "The ledger cannot be reached or written: {}. Trainers wait, and nothing is lost.",
                printable(&outage.cause)
            ),
            _ => sentence(
                limit,
                stream,
                shares.unwrap_or_default(),
                images(decoders),
                idle(before, stream),
                cores::usable(),
            ),
        };
        Self { limit, sentence }
    }
}

fn limit(stream: &StreamStatus, shares: Option<Shares>, waiting: Option<f64>) -> Limit {
    match shares {
        _ if !stream.failure.is_empty() => Limit::Failed,
        _ if !stream.storage.is_empty() => Limit::Storage,
        _ if waiting.is_none() && is_complete(stream) => Limit::Complete,
        _ if waiting.is_none() && stream.consumers.is_empty() => Limit::Nobody,
        None => Limit::Measuring,
        Some(shares) => bottleneck(stream, shares, waiting),
    }
}

fn is_complete(StreamStatus { epoch, epochs, epoch_len, epoch_done, .. }: &StreamStatus) -> bool {
    let is_last = epoch.checked_add(1) == Some(*epochs) && *epoch_len > 0;
    // The epoch behind the last one begins when all is delivered.
    *epochs > 0 && (epoch >= epochs || is_last && epoch_done >= epoch_len)
}

fn bottleneck(stream: &StreamStatus, shares: Shares, waiting: Option<f64>) -> Limit {
    // Slots that are being filled are not free either: then decoding may be what is slow.
    let is_full = shares.no_slot > 0.5 && stream.slots_ready > stream.slots_filling;
    match () {
        () if waiting.map_or(is_full, |share| share < 0.5) => Limit::Trainer,
        () if shares.decoding > BUSY => Limit::Decoding,
        () if shares.reading > BUSY => Limit::Reading,
        () if shares.no_lease > 0.5 => Limit::Ledger,
        () => Limit::Elsewhere,
    }
}

/// The share of pictures that were decoded whole because no decoder for parts takes them.
fn images((before, after): (&[DecoderStatus], &[DecoderStatus])) -> f64 {
    let count = |decoders: &[DecoderStatus], is_counted: fn(&str) -> bool| -> u64 {
        decoders.iter().filter(|decoder| is_counted(&decoder.name)).map(|decoder| decoder.pictures).sum()
    };
    let since = |is_counted| count(after, is_counted).saturating_sub(count(before, is_counted));
    #[allow(clippy::cast_precision_loss, reason = "counts of pictures, far below 2^53")]
    let share = since(|name| name == WHOLE) as f64 / since(|_| true).max(1) as f64;
    share
}

/// A trainer that holds batches and has taken no further one between the readings.
fn idle<'a>(before: &StatusReply, stream: &'a StreamStatus) -> Option<&'a ConsumerStatus> {
    let was = before.streams.iter().find(|was| was.name == stream.name);
    let consumed = |id| was?.consumers.iter().find(|was| was.id == id).map(|was| was.delivered);
    stream.consumers.iter().find(|trainer| trainer.held > 0 && consumed(trainer.id) == Some(trainer.delivered))
}

/// Who holds the others up, if that can be told.
fn slowest(stream: &StreamStatus, idle: Option<&ConsumerStatus>) -> String {
    let behind = stream.groups.iter().max_by_key(|group| group.behind).filter(|_| stream.groups.len() > 1);
    match (behind, idle) {
        (Some(group), _) => format!(" The slowest is the group {}, {} batches behind.", members(group), group.behind),
        (None, Some(trainer)) => {
            format!(" Process {} holds {} batches and has not taken another one.", trainer.pid, trainer.held)
        }
        (None, None) => String::new(),
    }
}

/// What limits the stream, then what would help.
fn sentence(
    limit: Limit,
    stream: &StreamStatus,
    shares: Shares,
    images: f64,
    idle: Option<&ConsumerStatus>,
    cores: usize,
) -> String {
    let StreamStatus { decode_threads, readers, .. } = stream;
    match limit {
        Limit::Failed => format!("The stream has failed: {}.", printable(&stream.failure)),
        Limit::Ledger => {
            "The bottleneck is the ledger: readers waited for leases. A faster disk for the ledger, a nearer \
                          coordinator or more prefetch.leases_ahead would help."
                .to_owned()
        }
        Limit::Storage => format!(
            "The storage does not answer: {}. Reads are retried, and nothing is lost.",
            printable(&stream.storage)
        ),
        Limit::Nobody => "No trainer is attached.".to_owned(),
        Limit::Complete => "The last epoch is complete.".to_owned(),
        Limit::Measuring => "What limits the stream is known after a second.".to_owned(),
        Limit::Trainer => format!(
            "The bottleneck is the trainer: batches were ready while it was busy. A faster loader would not help: Forebay could \
             make about {} as many batches.{}",
            times(shares.decoding.max(shares.reading)),
            slowest(stream, idle)
        ),
        Limit::Decoding => {
            let help = match () {
                () if images > 0.5 => format!(
                    "{:.0} % of the pictures are not JPEG, and such pictures are decoded whole: JPEG, smaller pictures or \
                     cache = \"decoded\" would help",
                    images * 100.0
                ),
                () if usize::try_from(*decode_threads).is_ok_and(|threads| threads < cores) => {
                    format!("More decode.threads would help: there are {decode_threads}, and {cores} cores")
                }
                () => "More cores or smaller pictures would help".to_owned(),
            };
            format!(
                "The bottleneck is decoding: its threads hardly ever waited. {help}. Reading could give {} as many pictures.",
                times(shares.reading)
            )
        }
        Limit::Reading => {
            let (what, help) = match stream.requests {
                Some(requests) => {
                    ("records", format!("A faster network or more prefetch.requests ({})", requests.most))
                }
                None => ("files", format!("A faster disk or more prefetch.threads ({readers})")),
            };
            format!(
                "The bottleneck is reading: decoders waited for {what}. {help} would help. Decoding could take {} as many \
                 pictures.",
                times(shares.decoding)
            )
        }
        Limit::Elsewhere => {
            "Nothing is busy all the time: other work takes this machine's cores, or batches are too small to \
                             keep it going."
                .to_owned()
        }
    }
}

/// How many times as much a stage could do that is busy for this share of the time.
fn times(busy: f64) -> String {
    let factor = 1.0 / busy.max(f64::EPSILON);
    if factor > 10.0 { "over 10 times".to_owned() } else { format!("{factor:.1} times") }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{GroupStatus, LedgerOutage, SourceRequests};

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
        let shares = Shares::measured(&StreamStatus::default(), stream, SECOND);
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
                stream(|s| s.stages = busy([0, 900], 900, 0)),
                Limit::Ledger,
                "waited for leases",
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
            ("no trainer", &no, stream(|s| s.consumers.clear()), Limit::Nobody, "No trainer"),
            ("other programs", &no, stream(|s| s.stages = busy([300, 0], 400, 0)), Limit::Elsewhere, "other work"),
        ];
        for (fault, reply, stream, limit, words) in cases {
            let verdict = judge(reply, &stream);
            assert_eq!(verdict.limit, limit, "{fault}: {verdict:?}");
            assert!(verdict.sentence.contains(words), "{fault}: {verdict:?}");
        }
    }

    #[test]
    fn a_trainer_that_keeps_its_batches_is_named() {
        let trainer = |held, delivered| vec![ConsumerStatus { id: 3, pid: 42, held, delivered, ..Default::default() }];
        let before = stream(|s| s.consumers = trainer(2, 9));
        let before = StatusReply { streams: vec![before], ..Default::default() };
        let stages = vec![stage("decode", 0, 900), stage("batch", 950, 0), stage("prefetch", 900, 0)];
        for (consumers, is_named) in [(trainer(2, 9), true), (trainer(2, 10), false), (trainer(0, 9), false)] {
            let stream = stream(|s| (s.consumers, s.stages, s.slots_ready) = (consumers, stages.clone(), 4));
            let shares = Shares::measured(&before.streams[0], &stream, SECOND);
            let verdict = Verdict::of((&before, &StatusReply::default()), &stream, shares, None);
            assert_eq!(verdict.limit, Limit::Trainer, "{verdict:?}");
            assert_eq!(verdict.sentence.contains("Process 42 holds 2 batches"), is_named, "{verdict:?}");
        }
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
        let shares = |decoding| Shares { decoding, ..Shares::default() };
        let of = |shares, waiting| limit(&stream(|_| ()), Some(shares), Some(waiting));
        assert_eq!(of(shares(0.99), 0.1), Limit::Trainer);
        assert_eq!(of(shares(0.99), 0.9), Limit::Decoding);
        assert_eq!(of(shares(0.5), 0.9), Limit::Elsewhere);
    }

    #[test]
    fn readings_of_one_moment_say_only_what_needs_no_time() {
        let of = |change: fn(&mut StreamStatus)| {
            let stream = stream(change);
            let shares = Shares::measured(&stream, &stream, Duration::from_millis(5));
            assert_eq!(shares, None);
            Verdict::of((&StatusReply::default(), &StatusReply::default()), &stream, shares, None).limit
        };
        assert_eq!(of(|_| ()), Limit::Measuring);
        assert_eq!(of(|s| s.consumers.clear()), Limit::Nobody);
        assert_eq!(of(|s| s.storage = "it is gone".into()), Limit::Storage);
        assert_eq!(of(|s| s.failure = "7.jpg is bad".into()), Limit::Failed);
    }

    #[test]
    fn the_waits_of_several_threads_are_shares_of_all_their_time() {
        let before = stream(|s| s.stages = vec![stage("prefetch", 1000, 1000)]);
        let after = stream(|s| (s.readers, s.stages) = (4, vec![stage("prefetch", 2000, 3000)]));
        let shares = Shares::between(&before, &after, SECOND);
        assert_eq!((shares.reading, shares.no_lease), (0.25, 0.5));
    }
}
