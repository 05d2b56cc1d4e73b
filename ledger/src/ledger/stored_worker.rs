//! A worker as a document of its ledger's store, there and back.

use std::collections::BTreeMap;

use forebay_proto::v1::{Range, StoredLease, StoredReply, StoredWorker};

use super::{ExpiredPositions, LeaseOut, Spans, Times, Worker, workers::Replies};

impl Worker {
    /// Its document.
    pub(super) fn stored(&self) -> StoredWorker {
        let lease = |held: &LeaseOut| StoredLease {
            lease: Some(held.lease),
            open: ranges(&held.open),
            made: ranges(&held.made),
            settled: held.is_settled,
        };
        let reply = |(&sequence, (command, reply)): (&u64, &(u32, Vec<u8>))| StoredReply {
            sequence,
            command: *command,
            reply: reply.clone(),
        };
        StoredWorker {
            incarnation: self.incarnation,
            leases: self.leases.values().map(lease).collect(),
            replies: self.replies.0.iter().map(reply).collect(),
            process: self.process.clone(),
            unseen: self.unseen,
            attended: self.attended,
            ends_itself: self.ends_itself,
            expired: self.expired.stored(),
            names_trainers: self.trainers.is_some(),
            trainers: self.trainers.iter().flatten().copied().collect(),
        }
    }

    /// From its document. Nothing if its leases contradict themselves.
    pub(super) fn load(stored: StoredWorker, now: u64, times: Times) -> Option<Self> {
        let deadline = now.saturating_add(times.lease_ttl);
        let mut leases = BTreeMap::new();
        for StoredLease { lease, open, made, settled } in stored.leases {
            let lease = lease?;
            let (open, made) = (spans(&open)?, spans(&made)?);
            let bounded = open.iter().all(|span| lease.start <= span.start && span.end <= lease.end);
            if !bounded || open.is_empty() {
                return None;
            }
            let (id, out) = (lease.id, LeaseOut { lease, open, made, is_settled: settled, deadline });
            // An id is never used twice.
            if leases.insert(id, out).is_some() {
                return None;
            }
        }
        let replies = stored.replies.into_iter().map(|stored| (stored.sequence, (stored.command, stored.reply)));
        Some(Self {
            incarnation: stored.incarnation,
            leases,
            replies: Replies(replies.collect()),
            process: stored.process,
            unseen: stored.unseen,
            attended: stored.attended,
            ends_itself: stored.ends_itself,
            expired: ExpiredPositions::of(&stored.expired),
            trainers: stored.names_trainers.then(|| stored.trainers.into_iter().collect()),
            waits: false,
            heard: now,
        })
    }
}

fn ranges(spans: &Spans) -> Vec<Range> {
    spans.iter().map(|span| Range { start: span.start, end: span.end }).collect()
}

fn spans(ranges: &[Range]) -> Option<Spans> {
    Spans::try_new(ranges.iter().map(|range| range.start..range.end).collect())
}
