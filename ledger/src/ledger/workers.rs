//! Workers: their incarnations, their deaths, and that each command is applied once (semantics rules 9, 16, 18).

use std::collections::{BTreeMap, BTreeSet};

use forebay_proto::v1::{Caller, Cause, HeartbeatReply, HeartbeatRequest, OpenRequest};
use prost::Message;

use super::{LeaseOut, Ledger, ReturnedPositions, Worker, worker_index::WorkerIndex};
use super::{missing::seen_by, returned::insert};
use crate::error::LedgerError;

/// How long a worker must be silent before it may be gone, in milliseconds: then its name may be taken under another boot,
/// and others need not agree with it. Two machines with the same name must not take the worker from each other in turns.
pub(super) const SILENCE: u64 = 10_000;
/// How long a worker without leases is remembered after its leases would have expired, in milliseconds.
const REMEMBERED: u64 = 3_600_000;

/// How many sequence numbers back a command may come.
pub(super) const WINDOW: u64 = 16;

/// The stored replies of a worker, by sequence: those of its last `WINDOW` numbers. A number in the window
/// without a reply was never applied, so that commands that overtake each other on the way are all applied, once.
#[derive(Clone, Debug, Default)]
pub(super) struct Replies(pub(super) BTreeMap<u64, (u32, Vec<u8>)>);

impl Replies {
    /// The reply that a repetition gets; `None` for a command that was not applied yet.
    fn find(&self, sequence: u64, command: u32) -> Result<Option<&[u8]>, LedgerError> {
        match self.0.get(&sequence) {
            Some((stored, reply)) if *stored == command => Ok(Some(reply)),
            Some(_) => Err(LedgerError::Invalid(format!(
                "Sequence number {sequence} was used for another command; each command needs a number of its own."
            ))),
            None if sequence == 0 => Err(LedgerError::Invalid("Sequence numbers start at 1.".to_owned())),
            None => match self.0.last_key_value() {
                Some((last, _)) if sequence.saturating_add(WINDOW) <= *last => {
                    Err(LedgerError::SequenceTooOld(format!(
                        "Sequence number {sequence} is too old: the worker is at {last}, and replies are kept for \
                         the last {WINDOW}. A command must be repeated before {WINDOW} others are sent."
                    )))
                }
                _ => Ok(None),
            },
        }
    }

    fn keep(&mut self, sequence: u64, command: u32, reply: Vec<u8>) {
        self.0.insert(sequence, (command, reply));
        let last = self.0.last_key_value().map_or(0, |(last, _)| *last);
        self.0.retain(|kept, _| kept.saturating_add(WINDOW) > last);
    }
}

impl Ledger {
    /// The incarnation that has the name of the worker that opens the ledger, and that the request does not replace
    /// (semantics rule 33).
    ///
    /// # Errors
    /// The name belongs to a process under another boot that spoke a moment ago.
    pub(crate) fn incumbent(&self, request: &OpenRequest, now: u64) -> Result<Option<u64>, LedgerError> {
        if let Some(holder) = self.holder_beside(&request.worker) {
            // Whoever opens a shard last has it, whatever its name; one that knew of another holder is told of this one.
            let known = request.replaces.is_none_or(|replaces| replaces == holder.incarnation);
            return Ok((!known).then_some(holder.incarnation));
        }
        let Some(known) = self.workers.get(&request.worker) else { return Ok(None) };
        let Some(replaces) = request.replaces.filter(|_| known.incarnation != request.incarnation) else {
            return Ok(None);
        };
        if replaces != known.incarnation {
            return Ok(Some(known.incarnation));
        }
        let boot = request.process.as_ref().map_or("", |process| &process.boot);
        let silent = known.silent(now);
        if known.process.as_ref().is_some_and(|process| process.boot != boot) && silent < SILENCE {
            return Err(LedgerError::NameTaken(format!(
                "Worker {:?} is {}, which was heard {} s ago. If that process still runs, give this daemon another name \
                 with node in [coordinator]. If not, the name is free {} s after its last sign of life.",
                request.worker,
                known.whereabouts(),
                silent / 1000,
                SILENCE / 1000
            )));
        }
        Ok(None)
    }

    /// Registers a worker's incarnation. What an older one had is returned, and kept a while for its consumers.
    pub(crate) fn register(&mut self, request: &OpenRequest, now: u64) {
        let (worker, incarnation) = (request.worker.as_str(), request.incarnation);
        let floor = self.progress().floor;
        let seen_until = self.seen_until(worker, floor);
        self.take_over(worker);
        if self.workers.get(worker).is_none_or(|known| known.incarnation != incarnation) {
            self.deliver_shares(worker, |_| true);
            self.groups_may_come_back();
        }
        let known = self.workers.entry(worker.to_owned()).or_default();
        known.heard = now;
        if known.incarnation == incarnation {
            self.note(worker);
            return;
        }
        let lost = std::mem::take(known);
        let (process, trainers) = (request.process.clone(), request.names_trainers.then(BTreeSet::new));
        *known = Worker { incarnation, heard: now, process, trainers, ..Worker::default() };
        self.note(worker);
        self.dirty.workers.insert(worker.to_owned());
        let kept_until = now.saturating_add(self.times.grace);
        // What an earlier one left for its consumers is kept for as long again: they come to this one.
        for back in self.returned.iter_mut().filter(|back| back.kept_for_consumers && back.worker == worker) {
            back.not_before = kept_until;
        }
        // 0 is no incarnation.
        let has_ended = lost.incarnation != 0;
        if has_ended {
            self.miss_trainers(worker, &lost);
        }
        let mut back = lose(worker, lost.leases, Cause::DaemonDied, u32::from(!lost.ends_itself), Some(kept_until));
        for lost in &mut back {
            lost.cause = seen_by(lost.cause, lost.epoch, seen_until);
        }
        self.insert_all_returned(back);
        if !lost.ends_itself {
            self.count_late_death(&lost.expired);
        }
        self.await_trainers(worker, has_ended, now);
        self.settle();
    }

    /// Returns the leases that no heartbeat has named for a whole time to live. Forgets workers that have had none for long.
    pub(crate) fn expire(&mut self, now: u64) {
        self.deliver_late_shares(now);
        for name in self.index.idle_for(self.remembered(), now) {
            self.workers.remove(&*name);
            self.note(&name);
            self.dirty.workers.insert(name.to_string());
        }
        for name in self.index.waiting_for(self.times.lease_ttl, now) {
            // Nothing is recalled for one that is gone.
            self.workers.get_mut(&*name).into_iter().for_each(|worker| worker.waits = false);
            self.note(&name);
        }
        self.stop_waiting_for_trainers(now);
        let mut back = Vec::new();
        let floor = self.progress().floor;
        for name in self.index.late(now) {
            let seen_until = self.seen_until(&name, floor);
            let Some(worker) = self.workers.get_mut(&*name) else { continue };
            let leases = std::mem::take(&mut worker.leases).into_iter();
            let (late, held): (BTreeMap<u64, LeaseOut>, _) = leases.partition(|(_, held)| held.deadline <= now);
            worker.leases = held;
            for lease in late.values() {
                worker.expired.note(lease);
            }
            let (leases, silent) = (late.len(), worker.silent(now) / 1000);
            tracing::warn!(
                worker = &*name,
                leases,
                silent,
                "leases were not extended for their time: they are returned"
            );
            self.note(&name);
            let lost = lose(&name, late, Cause::LeaseExpired, 0, None).into_iter();
            back.extend(
                lost.map(|back| ReturnedPositions { cause: seen_by(back.cause, back.epoch, seen_until), ..back }),
            );
            self.dirty.workers.insert(name.to_string());
        }
        self.insert_all_returned(back);
        if !self.abandoned.0.is_empty() && self.abandoned.1 <= now {
            self.abandoned.0.clear();
            self.touch();
        }
        self.settle();
        // So every history of the tests checks it. With many workers, it would take most of their time.
        debug_assert!(
            self.workers.len() > 64 || self.index == WorkerIndex::of(&self.workers),
            "a change was not noted"
        );
    }

    /// When the next lease expires.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.index.next_deadline()
    }

    /// When [`expire`](Self::expire) has something to do next, if no command changes anything before.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let abandoned = (!self.abandoned.0.is_empty()).then_some(self.abandoned.1);
        let idle = self.index.next_idle(self.remembered());
        let waiting = self.index.next_waiting(self.times.lease_ttl);
        [self.index.next_deadline(), idle, waiting, abandoned, self.missing.until()].into_iter().flatten().min()
    }

    /// How long a silent worker without leases is remembered.
    fn remembered(&self) -> u64 {
        // Leases of tasks have no end, but their workers have.
        self.times.lease_ttl.min(REMEMBERED) + REMEMBERED
    }

    /// Extends the leases that the caller names.
    pub(crate) fn heartbeat(&mut self, request: &HeartbeatRequest, now: u64) -> Result<HeartbeatReply, LedgerError> {
        let (caller, deadline) = (request.caller.as_ref(), now.saturating_add(self.times.lease_ttl));
        let worker = self.known(caller, now)?;
        worker.unseen = worker.unseen.max(caller.map_or(0, |caller| caller.unseen));
        worker.waits = request.waits;
        for named in &request.leases {
            if let Some(held) = worker.leases.get_mut(named) {
                held.deadline = deadline;
            }
        }
        let leases = worker.leases.keys().copied().collect();
        self.note(caller.map_or("", |caller| &caller.worker));
        let (news, lease_ttl_ms) = (self.news(), self.times.lease_ttl);
        Ok(HeartbeatReply { progress: news.progress, lease_ttl_ms, leases, news: Some(news) })
    }

    /// The worker behind a caller, if it is its current incarnation; it was heard.
    pub(super) fn known(&mut self, caller: Option<&Caller>, now: u64) -> Result<&mut Worker, LedgerError> {
        let caller = caller.ok_or_else(|| LedgerError::Invalid("The request names no caller.".to_owned()))?;
        if !self.workers.contains_key(&caller.worker) {
            return Err(LedgerError::Fenced(self.why_unknown(caller)));
        }
        let worker = self.workers.get_mut(&caller.worker).expect("it has just been looked up");
        if worker.incarnation != caller.incarnation {
            return Err(LedgerError::Fenced(format!(
                "Worker {:?} was started again as incarnation {:x}, which is {}; incarnation {:x} no longer counts. If both \
                 are to run, give each a name of its own with node in [coordinator].",
                caller.worker,
                worker.incarnation,
                worker.whereabouts(),
                caller.incarnation
            )));
        }
        worker.heard = now;
        if worker.expired.forget() {
            self.dirty.workers.insert(caller.worker.clone());
        }
        self.index.note(&caller.worker, Some(worker));
        Ok(worker)
    }

    /// Applies a command unless its reply is stored, in which case that is given again.
    ///
    /// `act` must not change anything when it gives an error. With the reply goes the worker's document, so that `act` need not
    /// note changes of the caller's own leases. The reply to a command that changed nothing is only remembered, so that a
    /// worker that waits costs no commit: a copy of the command that was delayed is not applied when there is something to
    /// grant.
    pub(crate) fn once<R: Message + Default>(
        &mut self,
        caller: Option<&Caller>,
        command: u32,
        now: u64,
        act: impl FnOnce(&mut Self, &str) -> Result<R, LedgerError>,
    ) -> Result<R, LedgerError> {
        let worker = self.known(caller, now)?;
        let caller = caller.expect("a known caller");
        if let Some(reply) = worker.replies.find(caller.sequence, command)? {
            return R::decode(reply).map_err(|error| {
                LedgerError::Corrupt(format!("A stored reply of worker {:?} cannot be read: {error}.", caller.worker))
            });
        }
        if caller.unseen > caller.sequence {
            return Err(LedgerError::Invalid(format!(
                "The command has number {}, and its caller waits only for the replies from {} on.",
                caller.sequence, caller.unseen
            )));
        }
        if caller.sequence < worker.unseen {
            return Err(LedgerError::SequenceTooOld(format!(
                "Command {} of worker {:?} came too late: the worker has gone on to {}.",
                caller.sequence, caller.worker, worker.unseen
            )));
        }
        worker.unseen = worker.unseen.max(caller.unseen);
        let before = self.revision;
        let reply = act(self, &caller.worker)?;
        if let Some(worker) = self.workers.get_mut(&caller.worker) {
            worker.replies.keep(caller.sequence, command, reply.encode_to_vec());
        }
        if self.revision != before {
            self.dirty.workers.insert(caller.worker.clone());
        }
        Ok(reply)
    }

    /// Puts many positions among the returned ones, in their order. To put them there one by one takes seconds if all workers
    /// of a large cluster are lost at once.
    pub(super) fn insert_all_returned(&mut self, back: Vec<ReturnedPositions>) {
        if !back.is_empty() {
            self.returned.extend(back);
            self.returned.sort_by_key(|back| (back.epoch, back.start));
            self.touch();
        }
    }

    /// Puts positions among the returned ones, in their order; nothing for an empty range.
    pub(super) fn insert_returned(&mut self, returned: ReturnedPositions) {
        if returned.start < returned.end {
            insert(&mut self.returned, returned);
            self.touch();
        }
    }
}

/// What comes back of the leases of a worker, or of its incarnation. Only a death is counted as one: a worker whose leases
/// expired may live, cut off or paused (semantics rule 9).
fn lose(
    worker: &str,
    leases: BTreeMap<u64, LeaseOut>,
    cause: Cause,
    died: u32,
    kept_until: Option<u64>,
) -> Vec<ReturnedPositions> {
    let mut back = Vec::new();
    for (id, held) in leases {
        back.extend(held.parts().map(|(range, deaths)| ReturnedPositions {
            epoch: held.lease.epoch,
            start: range.start,
            end: range.end,
            deaths: if held.is_made(&range) { 0 } else { deaths.saturating_add(died) },
            lease: id,
            lease_start: held.lease.start,
            worker: worker.to_owned(),
            cause,
            kept_for_consumers: kept_until.is_some(),
            not_before: kept_until.unwrap_or_default(),
        }));
    }
    back
}
