//! A ledger as documents of its store, there and back. What comes back is checked as input from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forebay_plan::{GrainTable, MAX_EPOCH, Plan, SpecError, outline, spec_hash};
use forebay_proto::v1::{Cause, DatasetOutline, EpochTally, QuarantinedRecord, StoredHead, StoredReturned};
use prost::Message;

use super::damage::Damage;
use super::{
    BadRecords, Dirty, EpochTallies, Ledger, Loads, Missing, ReturnedPositions, Shares, Tallies, Times, Worker,
    WorkerIndex, marks,
};
use crate::change::Change;

/// Layout of the documents. Older versions are read as well. The builds that write versions 1 and 2 do not know tails, and would
/// count these positions as delivered. Version 3 has marks in the head.
const VERSION: u32 = 4;
/// The table of grains, in a ledger whose spec is about one.
const GRAINS: &str = "grains";
/// The dataset in short.
const OUTLINE: &str = "outline";
/// What some groups of trainers have consumed and others have not.
const SHARES: &str = "shares";

impl Ledger {
    /// The documents that changed since the last call, with keys that start with `prefix`.
    pub(crate) fn take_changes(&mut self, prefix: &str, changes: &mut Vec<Change>) {
        let dirty = std::mem::take(&mut self.dirty);
        self.write(dirty, prefix, changes);
    }

    /// All of its documents, as they are.
    pub(crate) fn documents(&self, prefix: &str, documents: &mut Vec<Change>) {
        let everything = Dirty {
            head: true,
            grains: self.plan.grains().is_some(),
            outline: self.outline.is_some(),
            shares: self.shares.stored().is_some(),
            workers: self.workers.keys().cloned().collect(),
            epochs: self.tallies.keys().copied().collect(),
            marks: self.marks.keys().copied().collect(),
            quarantine: self.quarantine.keys().copied().collect(),
            bad: self.bad.unlisted().collect(),
        };
        self.write(everything, prefix, documents);
    }

    fn write(&self, dirty: Dirty, prefix: &str, changes: &mut Vec<Change>) {
        let mut put = |key: String, value: Option<Vec<u8>>| {
            let key = format!("{prefix}{key}");
            changes.push(match value {
                Some(value) => Change::Put { key, value },
                None => Change::Delete { key },
            });
        };
        for (epoch, record) in dirty.quarantine {
            let entry = self.quarantine.get(&(epoch, record));
            put(quarantine_key(epoch, record), entry.map(Message::encode_to_vec));
        }
        for block in dirty.bad {
            put(bad_key(block), self.bad.stored(block).map(|stored| stored.encode_to_vec()));
        }
        for epoch in dirty.epochs {
            let tallies = self.tallies.get(epoch);
            put(epoch_key(epoch), tallies.map(|tallies| tallies.message(epoch).encode_to_vec()));
        }
        for place in dirty.marks {
            let below = self.marks.get(&place);
            put(mark_key(place), below.map(|below| marks::stored(place, below).encode_to_vec()));
        }
        for name in dirty.workers {
            let worker = self.workers.get(&name);
            put(format!("worker/{name}"), worker.map(|worker| worker.stored().encode_to_vec()));
        }
        if dirty.grains {
            put(GRAINS.to_owned(), self.plan.grains().map(|table| table.lengths().encode_to_vec()));
        }
        if dirty.outline {
            put(OUTLINE.to_owned(), self.outline.as_ref().map(Message::encode_to_vec));
        }
        if dirty.shares {
            put(SHARES.to_owned(), self.shares.stored().as_ref().map(Message::encode_to_vec));
        }
        if dirty.head {
            put("head".to_owned(), Some(self.head().encode_to_vec()));
        }
    }

    /// The keys of all its documents, without prefix.
    pub(crate) fn keys(&self) -> Vec<String> {
        let epochs = self.tallies.keys().map(|&epoch| epoch_key(epoch));
        let quarantine = self.quarantine.keys().map(|&(epoch, record)| quarantine_key(epoch, record));
        let bad = self.bad.unlisted().map(bad_key);
        let workers = self.workers.keys().map(|name| format!("worker/{name}"));
        let marks = self.marks.keys().map(|&place| mark_key(place));
        let grains = self.plan.grains().map(|_| GRAINS.to_owned());
        let outline = self.outline.as_ref().map(|_| OUTLINE.to_owned());
        let shares = self.shares.stored().map(|_| SHARES.to_owned());
        epochs
            .chain(quarantine)
            .chain(bad)
            .chain(workers)
            .chain(marks)
            .chain(grains)
            .chain(outline)
            .chain(shares)
            .chain(["head".to_owned()])
            .collect()
    }

    /// A ledger from all of its documents, keys without prefix.
    pub(crate) fn load(documents: &[(&str, &[u8])], times: Times, now: u64) -> Result<Self, Damage> {
        let find = documents.iter().find(|(key, _)| *key == "head");
        let head: StoredHead = decode("head", find.ok_or(Damage::NoHead)?.1)?;
        if head.version == 0 {
            return Err(Damage::Number);
        }
        if head.version > VERSION {
            return Err(Damage::Version { found: head.version, newest: VERSION });
        }
        let spec = head.spec.as_ref().ok_or(Damage::NoSpec)?;
        let table = match documents.iter().find(|(key, _)| *key == GRAINS) {
            Some((key, bytes)) => {
                let table = GrainTable::from_lengths(&decode(key, bytes)?, spec.records).map_err(SpecError::from)?;
                Some(Arc::new(table))
            }
            None => None,
        };
        let mut ledger = Self {
            plan: Plan::with_grains(spec, table)?,
            spec_hash: spec_hash(spec),
            shard_size: head.shard_size,
            epochs: head.epochs,
            policies: head.policies,
            times,
            generation: head.generation,
            next_lease: head.next_lease,
            cursor_epoch: head.cursor_epoch,
            cursor: head.cursor,
            acks: head.acks,
            returned: head.returned.iter().map(|stored| returned(stored, head.version, now, times)).collect(),
            tails: head.tails.iter().map(|stored| returned(stored, head.version, now, times)).collect(),
            workers: BTreeMap::new(),
            index: WorkerIndex::default(),
            tallies: EpochTallies::default(),
            quarantine: BTreeMap::new(),
            bad: BadRecords::default(),
            failure: head.failure.clone().unwrap_or_default(),
            loads: Loads { with_ids: head.loads, last: head.loaded },
            missing: Missing::of(head.missing, now.saturating_add(times.grace)),
            quarantined: head.quarantined,
            begins: head.begins,
            marks: BTreeMap::new(),
            abandoned: (
                head.abandoned.iter().map(|stored| returned(stored, head.version, now, times)).collect(),
                now.saturating_add(times.lease_ttl),
            ),
            ends: head.ends,
            segment: head.segment,
            recoveries: head.recoveries,
            whole_grains: false,
            revision: 1,
            outline: None,
            shares: Shares::default(),
            dirty: Dirty::default(),
        };
        for mark in &head.marks {
            // The next commit makes it a document of its own.
            let place = ledger.put_mark(mark);
            ledger.dirty.marks.insert(place);
            ledger.dirty.head = true;
        }
        for (key, bytes) in documents.iter().filter(|(key, _)| !matches!(*key, "head" | GRAINS)) {
            ledger.take_document(key, bytes, now)?;
        }
        ledger.index = WorkerIndex::of(&ledger.workers);
        if documents.iter().any(|(key, _)| *key == GRAINS) && ledger.plan.grains().is_none() {
            return Err(Damage::Unknown(GRAINS.to_owned()));
        }
        ledger.returned.sort_by_key(|back| (back.epoch, back.start));
        ledger.tails.sort_by_key(|tail| (tail.epoch, tail.start));
        ledger.check_exclusive()?;
        if !ledger.shares.are_possible(ledger.cursor_epoch) {
            return Err(Damage::Shares);
        }
        if head.version == 1 {
            ledger.owe_padding();
        }
        ledger.settle();
        Ok(ledger)
    }

    /// Takes in a document that is neither the head nor the table of grains.
    fn take_document(&mut self, key: &str, bytes: &[u8], now: u64) -> Result<(), Damage> {
        if let Some(name) = key.strip_prefix("worker/") {
            let worker =
                Worker::load(decode(key, bytes)?, now, self.times).ok_or_else(|| Damage::Leases(key.to_owned()))?;
            self.workers.insert(name.to_owned(), worker);
        } else if key.starts_with("epoch/") {
            let tally: EpochTally = decode(key, bytes)?;
            self.tallies.insert(tally.epoch, Tallies::from_message(&tally));
        } else if key.starts_with("mark/") {
            self.put_mark(&decode(key, bytes)?);
        } else if key.starts_with("quarantine/") {
            let entry: QuarantinedRecord = decode(key, bytes)?;
            self.bad.list(entry.record);
            self.quarantine.insert((entry.epoch, entry.record), entry);
        } else if key.starts_with("bad/") {
            if !self.bad.load(&decode(key, bytes)?) {
                return Err(Damage::Number);
            }
        } else if key == OUTLINE {
            let outline: DatasetOutline = decode(key, bytes)?;
            if !outline::is_of(&outline, self.plan.spec().records) {
                return Err(Damage::Outline);
            }
            self.outline = Some(outline);
        } else if key == SHARES {
            self.shares = Shares::of(decode(key, bytes)?);
        } else {
            return Err(Damage::Unknown(key.to_owned()));
        }
        Ok(())
    }

    fn head(&self) -> StoredHead {
        let stored = |back: &ReturnedPositions| StoredReturned {
            epoch: back.epoch,
            start: back.start,
            end: back.end,
            deaths: back.deaths,
            lease: back.lease,
            lease_start: back.lease_start,
            worker: back.worker.clone(),
            cause: back.cause.into(),
            kept_for_consumers: back.kept_for_consumers,
        };
        StoredHead {
            version: VERSION,
            spec: Some(self.plan.spec().clone()),
            shard_size: self.shard_size,
            epochs: self.epochs,
            generation: self.generation,
            next_lease: self.next_lease,
            cursor_epoch: self.cursor_epoch,
            cursor: self.cursor,
            acks: self.acks,
            returned: self.returned.iter().map(stored).collect(),
            tails: self.tails.iter().map(stored).collect(),
            quarantined: self.quarantined,
            recoveries: self.recoveries.clone(),
            policies: self.policies,
            begins: self.begins.clone(),
            ends: self.ends,
            segment: self.segment,
            failure: Some(self.failure.clone()),
            loads: self.loads.with_ids.clone(),
            loaded: self.loads.last.clone(),
            missing: self.missing.stored(),
            abandoned: self.abandoned.0.iter().map(stored).collect(),
            marks: Vec::new(),
        }
    }

    /// No position is in two leases, or in a lease and returned, or beyond the cursor; no lease id is to come again.
    fn check_exclusive(&self) -> Result<(), Damage> {
        let possible = self.shard_size > 0
            && self.cursor_epoch <= MAX_EPOCH
            && self.cursor <= self.plan.epoch_len(self.cursor_epoch)
            && self.epochs <= MAX_EPOCH
            && self.generation <= MAX_EPOCH
            && self.next_lease < 1 << 63;
        if !possible {
            return Err(Damage::Number);
        }
        let leases = || self.workers.values().flat_map(|worker| worker.leases.values());
        let ids: BTreeSet<u64> = leases().map(|held| held.lease.id).collect();
        if ids.len() != leases().count() || ids.last().is_some_and(|last| *last >= self.next_lease) {
            return Err(Damage::LeaseIds);
        }
        let held = leases().flat_map(|held| held.open.iter().map(|span| (held.lease.epoch, span.start, span.end)));
        let mut ranges: Vec<_> = held.chain(self.unleased().map(|b| (b.epoch, b.start, b.end))).collect();
        ranges.sort_unstable();
        let inside = |&(epoch, start, end): &(u64, u64, u64)| {
            let len = if epoch == self.cursor_epoch { self.cursor } else { self.plan.epoch_len(epoch) };
            start < end && end <= len && epoch <= self.cursor_epoch
        };
        if !ranges.iter().all(inside) {
            return Err(Damage::Outside);
        }
        if !ranges.is_sorted_by(|a, b| a.0 < b.0 || a.2 <= b.1) {
            return Err(Damage::Twice);
        }
        Ok(())
    }
}

fn returned(stored: &StoredReturned, version: u32, now: u64, times: Times) -> ReturnedPositions {
    // Version 1 counted whatever had been through a death.
    let died = version == 1 && stored.deaths > 0;
    ReturnedPositions {
        epoch: stored.epoch,
        start: stored.start,
        end: stored.end,
        deaths: stored.deaths,
        lease: stored.lease,
        lease_start: stored.lease_start,
        worker: stored.worker.clone(),
        cause: if died { Cause::DaemonDied } else { stored.cause() },
        kept_for_consumers: stored.kept_for_consumers,
        not_before: if stored.kept_for_consumers { now.saturating_add(times.grace) } else { 0 },
    }
}

fn decode<M: Message + Default>(key: &str, bytes: &[u8]) -> Result<M, Damage> {
    M::decode(bytes).map_err(|error| Damage::Undecodable { key: key.to_owned(), error })
}

fn epoch_key(epoch: u64) -> String {
    format!("epoch/{epoch:016x}")
}

fn mark_key((epoch, position): (u64, u64)) -> String {
    format!("mark/{epoch:016x}-{position:016x}")
}

fn bad_key(block: u64) -> String {
    format!("bad/{block:016x}")
}

fn quarantine_key(epoch: u64, record: u64) -> String {
    format!("quarantine/{epoch:016x}-{record:016x}")
}
