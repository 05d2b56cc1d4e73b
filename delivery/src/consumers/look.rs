//! What trainers that wait are told, and the log: the end of an epoch that waits, and groups that are in the way.

use std::time::Duration;

use forebay_proto::v1::LastHolder;
use forebay_ring::{ConsumerId, GroupState, Held, MessageKind, packet};

use super::condition::notice;
use super::deliveries::{Deliveries, Doing, Holding, Overdue};
use super::readers::Readers;

/// Tells the log, and the trainers that wait, which group the ring is full of batches for.
pub(super) fn tell_of_lag(
    group: &GroupState,
    waiting: Vec<ConsumerId>,
    readers: &mut Readers,
    deliveries: &mut Deliveries,
) {
    let (name, behind, pids) = who(group, readers);
    tracing::warn!(
        stream = readers.stream(),
        group = name,
        behind,
        pids,
        "the ring is full of batches for a slow group"
    );
    let words = format!(
        "waiting for a slower group of trainers: group {name:?} ({pids}) is {behind} batches behind, and the ring is \
         full"
    );
    tell_waiting(waiting, &words, readers, deliveries);
}

/// Ends a group that made others wait for so long. Its trainers get an error that names it.
pub(super) fn evict_group(group: &GroupState, waited: Duration, readers: &mut Readers, deliveries: &mut Deliveries) {
    let (name, behind, pids) = who(group, readers);
    let seconds = waited.as_secs();
    tracing::warn!(stream = readers.stream(), group = name, behind, pids, seconds, "a slow group is ended");
    let words = format!(
        "group {name:?} ({pids}) was ended, because it made other groups wait for {seconds} s without consuming a batch \
         (slow = \"evict\", evict_after)"
    );
    for id in &group.members {
        readers.evict(*id, &words, deliveries);
    }
    deliveries.end_group(group);
}

/// Tells the log, and the trainers that wait, what they wait for. `node` is this daemon.
pub(super) fn tell_of(overdue: Overdue, node: &LastHolder, readers: &mut Readers, deliveries: &mut Deliveries) {
    let Overdue { epoch, holding, for_how_long, expired, waiting } = overdue;
    let (stream, seconds) = (readers.stream().to_owned(), for_how_long.as_secs());
    let (pid, seq, place) = match holding {
        Holding::Slot { keeper } => {
            let slots = deliveries.exchange().in_service();
            let words = "trainers wait, and no slot is free for their next batch";
            let (pid, held, seq) = keeper.map_or((0, 0, 0), |(state, seq)| (readers.pid(state.id), state.held, seq));
            tracing::warn!(stream, epoch, pid, held, slots, seconds, "{words}");
            if !expired || pid == 0 {
                let words = format!(
                    "epoch {epoch} has waited {seconds} s for a free slot: process {pid} keeps {held} of {slots}. Keep \
                     batch.copy() instead of arrays of earlier batches"
                );
                return tell_waiting(waiting, &words, readers, deliveries);
            }
            (pid, seq, String::new())
        }
        Holding::Daemon(doing) => {
            tracing::warn!(stream, epoch, seconds, "trainers wait for a batch: {}", in_words(doing));
            if !expired {
                let words = format!("waiting for a batch of epoch {epoch} for {seconds} s: {}", in_words(doing));
                return tell_waiting(waiting, &words, readers, deliveries);
            }
            let LastHolder { worker, process } = node;
            let host = process.as_ref().map_or("localhost", |process| &process.host);
            (std::process::id(), 0, format!("{worker}\0{host}"))
        }
        Holding::Here { holder, batch } => {
            let pid = readers.pid(holder);
            let words = "the end of the epoch waits for a batch that a trainer holds";
            tracing::warn!(stream, epoch, pid, batch, seconds, "{words}");
            (pid, batch, String::new())
        }
        Holding::Group(group) => {
            let (name, behind, pids) = who(&group, readers);
            let words = "the end of the epoch waits for a group that has not taken its batches";
            tracing::warn!(stream, epoch, group = name, behind, pids, seconds, "{words}");
            let words = format!(
                "the end of the epoch waits for another group of trainers: group {name:?} ({pids}) is {behind} batches \
                 behind"
            );
            return tell_waiting(waiting, &words, readers, deliveries);
        }
        Holding::Elsewhere(holders) => {
            let nodes: Vec<String> = holders.iter().map(whereabouts).collect();
            let words = "the end of the epoch waits for records that other nodes have";
            tracing::warn!(stream, epoch, nodes = nodes.join("; "), seconds, "{words}");
            let first = holders.into_iter().next().unwrap_or_default();
            let process = first.process.unwrap_or_default();
            (process.pid, 0, format!("{}\0{}", first.worker, process.host))
        }
    };
    let held = Held {
        kind: MessageKind::Held as u32,
        pid,
        epoch,
        seq,
        for_ms: u64::try_from(for_how_long.as_millis()).unwrap_or(u64::MAX),
        expired: u32::from(expired),
        len: u32::try_from(place.len()).unwrap_or_default(),
    };
    for id in waiting {
        readers.send(id, &packet(&held, place.as_bytes()), deliveries);
    }
}

/// A group's name, how many batches it is behind, and its processes.
fn who<'a>(group: &'a GroupState, readers: &Readers) -> (&'a str, u32, String) {
    let pids: Vec<String> = group.members.iter().map(|id| readers.pid(*id).to_string()).collect();
    let pids = if pids.is_empty() { "without a trainer".to_owned() } else { format!("process {}", pids.join(", ")) };
    (group.name.as_deref().unwrap_or_default(), group.behind, pids)
}

fn tell_waiting(waiting: Vec<ConsumerId>, words: &str, readers: &mut Readers, deliveries: &mut Deliveries) {
    for id in waiting {
        readers.send(id, &notice(words), deliveries);
    }
}

/// What a daemon does while its trainers wait.
fn in_words(doing: Doing) -> &'static str {
    match doing {
        Doing::Reading => "the daemon is reading its records",
        Doing::Decoding => "the daemon is decoding its pictures",
        Doing::Leasing => "the ledger has no records for this daemon at this moment",
        Doing::Completing => "every record here is done, and the ledger has not said that the epoch is complete",
    }
}

/// A node and its daemon, in words.
fn whereabouts(holder: &LastHolder) -> String {
    match &holder.process {
        Some(process) => format!("{:?} (process {} on host {:?})", holder.worker, process.pid, process.host),
        None => format!("{:?}", holder.worker),
    }
}
