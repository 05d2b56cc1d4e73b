//! What the ring's thread looks at once a second: the end of an epoch that waits, batches that others wait for, groups without
//! a trainer, and a ring whose slots are stuck.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use forebay_proto::v1::LastHolder;
use forebay_ring::{ConsumerId, GroupState, Held, MessageKind, packet};

use super::RingThread;
use super::condition::notice;
use super::deliveries::{Doing, Holding, Overdue};
use super::readers::number;
use crate::ack::Fate;
use crate::clock::{monotonic, nanos};

impl RingThread {
    /// What time brings: an epoch that waits for a holder, batches that others wait for, a ring whose slots are stuck.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        // A failure has its own words.
        let is_silent = self.condition.is_outage() || self.condition.failure().is_some();
        if let Some(overdue) = self.deliveries.overdue(self.readers.open(), is_silent, now) {
            self.tell_of(overdue);
        }
        let delivers = !self.draining && self.condition.failure().is_none();
        self.waiting.store(delivers && self.deliveries.is_idle(now, self.untaken / 2), Ordering::Relaxed);
        let age = nanos(self.untaken);
        for (id, seq) in self.deliveries.recall(monotonic().saturating_sub(age)) {
            self.readers.send(id, &number(MessageKind::Void, seq), &mut self.deliveries);
        }
        for group in self.deliveries.end_absent(now) {
            let (name, batches) = (group.name.unwrap_or_default(), group.behind);
            self.tell(Fate::GroupEnded(name.clone()));
            let words = "a group has had no trainer for group_timeout, so its batches are no longer kept";
            tracing::warn!(stream = self.stream, group = name, batches, "{words}");
        }
        if let Some((group, waiting)) = self.deliveries.lagging(now) {
            self.tell_of_lag(&group, waiting);
        }
        if let Some((group, waited)) = self.deliveries.overstaying(now).filter(|_| delivers) {
            self.evict_group(&group, waited);
        }
        self.rings.look(&self.deliveries);
    }

    /// Tells the log, and the trainers that wait, which group the ring is full of batches for.
    fn tell_of_lag(&mut self, group: &GroupState, waiting: Vec<ConsumerId>) {
        let (name, behind, pids) = self.who(group);
        tracing::warn!(
            stream = self.stream,
            group = name,
            behind,
            pids,
            "the ring is full of batches for a slow group"
        );
        let words = format!(
            "waiting for a slower group of trainers: group {name:?} ({pids}) is {behind} batches behind, and the ring is \
             full"
        );
        self.tell_waiting(waiting, &words);
    }

    /// Ends a group that made others wait for so long. Its trainers get an error that names it.
    fn evict_group(&mut self, group: &GroupState, waited: Duration) {
        let (name, behind, pids) = self.who(group);
        let seconds = waited.as_secs();
        tracing::warn!(stream = self.stream, group = name, behind, pids, seconds, "a slow group is ended");
        let words = format!(
            "group {name:?} ({pids}) was ended, because it made other groups wait for {seconds} s without consuming a batch \
             (slow = \"evict\", evict_after)"
        );
        for id in &group.members {
            self.readers.evict(*id, &words, &mut self.deliveries);
        }
        self.deliveries.end_group(group);
        if let Some(name) = &group.name {
            self.tell(Fate::GroupEnded(name.clone()));
        }
    }

    /// A group's name, how many batches it is behind, and its processes.
    fn who<'a>(&self, group: &'a GroupState) -> (&'a str, u32, String) {
        let pids: Vec<String> = group.members.iter().map(|id| self.readers.pid(*id).to_string()).collect();
        let pids =
            if pids.is_empty() { "without a trainer".to_owned() } else { format!("process {}", pids.join(", ")) };
        (group.name.as_deref().unwrap_or_default(), group.behind, pids)
    }

    fn tell_waiting(&mut self, waiting: Vec<ConsumerId>, words: &str) {
        for id in waiting {
            self.readers.send(id, &notice(words), &mut self.deliveries);
        }
    }

    /// Tells the log, and the trainers that wait, what they wait for.
    fn tell_of(&mut self, Overdue { epoch, holding, for_how_long, expired, waiting }: Overdue) {
        let seconds = for_how_long.as_secs();
        let (pid, seq, place) = match holding {
            Holding::Slot { keeper } => {
                let slots = self.deliveries.exchange().in_service();
                let words = "trainers wait, and no slot is free for their next batch";
                let (pid, held, seq) =
                    keeper.map_or((0, 0, 0), |(state, seq)| (self.readers.pid(state.id), state.held, seq));
                tracing::warn!(stream = self.stream, epoch, pid, held, slots, seconds, "{words}");
                if !expired || pid == 0 {
                    let words = format!(
                        "epoch {epoch} has waited {seconds} s for a free slot: process {pid} keeps {held} of {slots}. Keep \
                         batch.copy() instead of arrays of earlier batches"
                    );
                    return self.tell_waiting(waiting, &words);
                }
                (pid, seq, String::new())
            }
            Holding::Daemon(doing) => {
                tracing::warn!(stream = self.stream, epoch, seconds, "trainers wait for a batch: {}", in_words(doing));
                if !expired {
                    let words = format!("waiting for a batch of epoch {epoch} for {seconds} s: {}", in_words(doing));
                    return self.tell_waiting(waiting, &words);
                }
                let LastHolder { worker, process } = &self.node;
                let host = process.as_ref().map_or("localhost", |process| &process.host);
                (std::process::id(), 0, format!("{worker}\0{host}"))
            }
            Holding::Here { holder, batch } => {
                let pid = self.readers.pid(holder);
                let words = "the end of the epoch waits for a batch that a trainer holds";
                tracing::warn!(stream = self.stream, epoch, pid, batch, seconds, "{words}");
                (pid, batch, String::new())
            }
            Holding::Group(group) => {
                let (name, behind, pids) = self.who(&group);
                let words = "the end of the epoch waits for a group that has not taken its batches";
                tracing::warn!(stream = self.stream, epoch, group = name, behind, pids, seconds, "{words}");
                let words = format!(
                    "the end of the epoch waits for another group of trainers: group {name:?} ({pids}) is {behind} batches \
                     behind"
                );
                return self.tell_waiting(waiting, &words);
            }
            Holding::Elsewhere(holders) => {
                let nodes: Vec<String> = holders.iter().map(whereabouts).collect();
                let words = "the end of the epoch waits for records that other nodes have";
                tracing::warn!(stream = self.stream, epoch, nodes = nodes.join("; "), seconds, "{words}");
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
            self.readers.send(id, &packet(&held, place.as_bytes()), &mut self.deliveries);
        }
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
