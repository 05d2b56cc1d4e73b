//! A limit in words: what limits the stream, then what would help.

use forebay_pipeline::cores;
use forebay_printable::printable;
use forebay_proto::v1::{ConsumerStatus, DecoderStatus, FunctionStatus, StatusReply, StreamStatus};

use super::{BUSY, Limit, StageShares, earlier};
use crate::group::{in_batches, members, process};

/// Decoders that read whole pictures whatever is kept of them.
const WHOLE: &str = "image";

/// The share of pictures that were decoded whole because no decoder for parts takes them.
fn images((before, after): (&StatusReply, &StatusReply)) -> f64 {
    let count = |decoders: &[DecoderStatus], is_counted: fn(&str) -> bool| -> u64 {
        decoders.iter().filter(|decoder| is_counted(&decoder.name)).map(|decoder| decoder.pictures).sum()
    };
    let since = |is_counted| count(&after.decoders, is_counted).saturating_sub(count(&before.decoders, is_counted));
    #[allow(clippy::cast_precision_loss, reason = "counts of pictures, far below 2^53")]
    let share = since(|name| name == WHOLE) as f64 / since(|_| true).max(1) as f64;
    share
}

/// A trainer that holds batches and has taken no further one between the readings.
fn idle<'a>(before: &StatusReply, stream: &'a StreamStatus) -> Option<&'a ConsumerStatus> {
    let was = earlier(before, stream);
    let consumed = |id| was?.consumers.iter().find(|was| was.id == id).map(|was| was.delivered);
    stream.consumers.iter().find(|trainer| trainer.held > 0 && consumed(trainer.id) == Some(trainer.delivered))
}

/// The trainer that holds the others up, if it is known.
fn slowest(stream: &StreamStatus, idle: Option<&ConsumerStatus>) -> String {
    let behind = stream.groups.iter().max_by_key(|group| group.behind).filter(|_| stream.groups.len() > 1);
    match (behind, idle) {
        (Some(group), _) => {
            format!(
                " The slowest is the group {}, {} behind.",
                members(&group.name, &group.pids),
                in_batches(group.behind)
            )
        }
        (None, Some(trainer)) => {
            format!(" {} holds {} and has not taken another one.", begins(trainer), in_batches(trainer.held))
        }
        (None, None) => String::new(),
    }
}

/// A trainer's process, at the beginning of a sentence.
fn begins(trainer: &ConsumerStatus) -> String {
    process(trainer.pid, trainer.foreign).replacen('p', "P", 1)
}

/// The trainer that keeps the slots of the ring.
fn kept(StreamStatus { slots_held, slots_quarantined, consumers, .. }: &StreamStatus) -> String {
    let keeper = consumers.iter().max_by_key(|trainer| trainer.held).filter(|trainer| trainer.held > 0);
    let keeper = keeper.map(|keeper| format!(" {} holds {}.", begins(keeper), in_batches(keeper.held)));
    format!(
        "No slot is free, and no batch is ready: trainers hold {slots_held} slots, and trainers that were evicted may still \
         read {slots_quarantined}.{} Keep batch.copy() instead of arrays of earlier batches.",
        keeper.unwrap_or_default()
    )
}

/// Functions in Python limit the stream: which one takes most of the time, and what would help.
fn functions(before: &StatusReply, stream: &StreamStatus, shares: StageShares, cores: usize) -> String {
    let was = earlier(before, stream).map(|was| was.functions.as_slice()).unwrap_or_default();
    let busy =
        |place: usize, now: &FunctionStatus| now.busy_us.saturating_sub(was.get(place).map_or(0, |was| was.busy_us));
    let all = stream.functions.iter().enumerate().map(|(place, now)| (busy(place, now), now));
    let whole = all.clone().map(|(busy, _)| busy).sum::<u64>().max(1);
    let (most, function) = all.max_by_key(|(busy, _)| *busy).map_or((0, ""), |(busy, now)| (busy, &now.function));
    #[allow(clippy::cast_precision_loss, reason = "microseconds of a time that was watched, far below 2^53")]
    let percent = most as f64 / whole as f64 * 100.0 * shares.functions;
    let workers = stream.python_workers;
    // As many as decoding could have work for, as far as there are cores.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is limited by the number of cores")]
    let wanted = (f64::from(workers) * (1.0 / shares.decoding.max(f64::EPSILON) - 1.0)).ceil().max(1.0) as usize;
    let help = match wanted.min(cores.saturating_sub(usize::try_from(workers).unwrap_or(usize::MAX))) {
        0 => format!("more cores ({cores})"),
        more => format!("{more} more python_workers ({workers}, with {cores} cores)"),
    };
    format!(
        "The bottleneck is Python: the Python step {} takes {percent:.0} % of the time of its processes: {help}, a faster function \
         or a built-in transform in its place would help. Decoding could take {} as many pictures.",
        printable(function),
        times(shares.decoding)
    )
}

/// Decode threads limit the stream.
fn decoding(readings: (&StatusReply, &StatusReply), threads: u32, shares: StageShares) -> String {
    let (images, cores) = (images(readings), cores::usable());
    let help = match () {
        () if images > 0.5 => format!(
            "{:.0} % of the pictures are not JPEG, and such pictures are decoded whole: JPEG, smaller pictures or \
             cache = \"decoded\" would help",
            images * 100.0
        ),
        () if usize::try_from(threads).is_ok_and(|threads| threads < cores) => {
            format!("More decode.threads would help: there are {threads}, and {cores} cores")
        }
        () => "More cores or smaller pictures would help".to_owned(),
    };
    format!(
        "The bottleneck is decoding: its threads hardly ever waited. {help}. Reading could give {} as many pictures.",
        times(shares.reading)
    )
}

/// What limits the stream, then what would help; from the same two readings as the limit.
pub(super) fn sentence(
    limit: Limit,
    readings: (&StatusReply, &StatusReply),
    stream: &StreamStatus,
    shares: StageShares,
) -> String {
    let StreamStatus { decode_threads, readers, .. } = stream;
    match limit {
        Limit::Failed => format!("The stream has failed: {}.", printable(&stream.failure)),
        Limit::Ledger => match &readings.1.ledger_outage {
            Some(outage) => format!(
                "The ledger cannot be reached or written: {}. Trainers wait, and nothing is lost.",
                printable(&outage.cause)
            ),
            None => format!(
                "The bottleneck is the ledger: readers waited for leases. A faster disk for the ledger, a nearer coordinator, \
                 more prefetch.leases_ahead or a larger lease_size would help. Reading and decoding could take {} as many \
                 pictures.",
                times(shares.reading.max(shares.decoding))
            ),
        },
        Limit::Storage => format!(
            "The storage does not answer: {}. Reads are retried, and nothing is lost.",
            printable(&stream.storage)
        ),
        Limit::NoTrainer => "No trainer is attached.".to_owned(),
        Limit::Complete => "The last epoch is complete.".to_owned(),
        Limit::Measuring => "What limits the stream is known after a second.".to_owned(),
        Limit::Trainer => format!(
            "The bottleneck is the trainer: batches were ready while it was busy. A faster loader would not help: Forebay could \
             make {} as many batches.{}",
            times(shares.decoding.max(shares.reading)),
            slowest(stream, idle(readings.0, stream))
        ),
        Limit::Slots => kept(stream),
        Limit::Functions => functions(readings.0, stream, shares, cores::usable()),
        Limit::Decoding => decoding(readings, *decode_threads, shares),
        Limit::Reading if shares.reading <= BUSY => format!(
            "The bottleneck is reading: few files fit into prefetch.budget, and decoders waited for the next ones. A larger \
             prefetch.budget would help. Decoding could take {} as many pictures.",
            times(shares.decoding)
        ),
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
            // What a GPU could do, the shares of the threads do not say.
            let gain = if readings.1.lanes.len() > 1 {
                String::new()
            } else {
                let times = times(shares.reading.max(shares.decoding));
                format!(
                    " Without such work, or with a larger batch_size, Forebay could make up to {times} as many pictures."
                )
            };
            format!(
                "Nothing is busy all the time: other work takes this machine's cores, or batches are too small to keep it \
                 going.{gain}"
            )
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
    use super::*;

    #[test]
    fn more_python_workers_are_advised_as_far_as_decoding_and_the_cores_go() {
        let function = |function: &str, busy_us| FunctionStatus { function: function.into(), calls: 9, busy_us };
        let mut stream = StreamStatus { python_workers: 2, ..StreamStatus::default() };
        stream.functions = vec![function("steps:quick", 100), function("steps:slow", 300)];
        let said = |decoding: f64, cores: usize| {
            functions(
                &StatusReply::default(),
                &stream,
                StageShares { decoding, functions: 1.0, ..StageShares::default() },
                cores,
            )
        };
        for (decoding, cores, help) in [
            (0.25, 64, "6 more python_workers (2, with 64 cores)"),
            (0.9, 64, "1 more python_workers (2, with 64 cores)"),
            (0.0, 4, "2 more python_workers (2, with 4 cores)"),
            (0.25, 2, "more cores (2)"),
        ] {
            let said = said(decoding, cores);
            let first =
                "The bottleneck is Python: the Python step steps:slow takes 75 % of the time of its processes: ";
            assert!(said.starts_with(&format!("{first}{help}, a faster function or a built-in transform")), "{said}");
        }
        // What was before the first reading does not count.
        let before =
            StreamStatus { functions: vec![function("steps:quick", 0), function("steps:slow", 300)], ..stream.clone() };
        let before = StatusReply { streams: vec![before], ..StatusReply::default() };
        let shares = StageShares { decoding: 0.5, functions: 0.9, ..StageShares::default() };
        let said = functions(&before, &stream, shares, 8);
        assert!(said.contains("the Python step steps:quick takes 90 % of the time"), "{said}");
    }
}
