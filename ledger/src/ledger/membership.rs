//! Workers come and go: their incarnations and deaths, what they agree on, which trainers they have, and that each of their commands
//! is applied once (semantics rules 9, 15, 16, 18, 33, 38, 39 and 41).

use std::collections::BTreeSet;

use forebay_plan::EpochPart;
use forebay_proto::v1::{AttendReply, AttendRequest, Caller, Cause, OpenRequest, Policies, attend_request::Attendance};
use prost::Message;

use super::Ledger;
use super::workers::Worker;
use super::{policies, version};
use crate::error::LedgerError;

/// How long a worker must be silent before it may be gone, in milliseconds: then its name may be taken under another boot,
/// and others need not agree with it. Two machines with the same name must not take the worker from each other in turns.
const SILENCE: u64 = 10_000;
/// Most trainers of a worker.
const TRAINERS: usize = 65_536;

impl Ledger {
    /// The incarnation that has the name of the worker that opens the ledger, and that the request does not replace
    /// (semantics rule 33).
    ///
    /// # Errors
    /// The name belongs to a process under another boot that spoke a moment ago.
    pub(crate) fn incumbent(&self, request: &OpenRequest, now: u64) -> Result<Option<u64>, LedgerError> {
        if let Some(holder) = self.holder_beside(&request.worker) {
            // The worker that opens a shard last has it, whatever its name. If the worker named another incarnation as
            // the holder, it learns the real one.
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

    /// The worker of another name that has the shard or rank, if the ledger is of one.
    fn holder_beside(&self, worker: &str) -> Option<&Worker> {
        self.plan().part()?;
        self.workers.roster().iter().find(|(name, _)| ***name != *worker).map(|(_, holder)| holder)
    }

    /// Refuses a worker that would read a run in another way than a worker that reads it now. A shard has only one
    /// worker, so there is no other to differ from.
    ///
    /// # Errors
    /// Epochs or policies differ from those of a worker that lives.
    pub(crate) fn agree(&self, request: &OpenRequest, now: u64) -> Result<(), LedgerError> {
        let differences = self.terms.differences(request);
        if differences.is_empty() || !self.terms.is_shared() {
            return Ok(());
        }
        let Some(other) = self.living_beside(&request.worker, now) else { return Ok(()) };
        let (asks, reads): (Vec<_>, Vec<_>) = differences.into_iter().unzip();
        Err(LedgerError::SpecMismatch(format!(
            "Stream {:?} has {} on node {other:?}, and node {:?} asks for {}. Give all nodes of a run the same epochs, \
             last_batch_policy, on_error, max_failures and batch_size, the same limits of pictures, and the same files of functions in \
             Python. To change them, end the stream on the other nodes first.",
            request.stream,
            reads.join(" and "),
            request.worker,
            asks.join(" and ")
        )))
    }

    /// Refuses a worker of another shard or rank of the run, if a function in Python has another file at the worker here (semantics
    /// rule 59).
    ///
    /// # Errors
    /// It has, and that worker lives.
    pub(crate) fn compare_functions(&self, request: &OpenRequest, now: u64) -> Result<(), LedgerError> {
        let (Some(asked), Some(kept)) = (&request.policies, self.terms.policies()) else { return Ok(()) };
        let differing = policies::files(asked, kept).into_iter().find(|(asked, kept)| asked != kept);
        let other = self.living_beside(&request.worker, now).filter(|_| !self.terms.is_shared());
        let (Some((asks, has)), Some(other)) = (differing, other) else { return Ok(()) };
        Err(LedgerError::SpecMismatch(format!(
            "Stream {:?} has {has} on node {other:?}, which reads another shard or rank, and node {:?} has {asks}. Give all nodes of a \
             run the same files of functions in Python. To change them, end the stream on the other nodes first.",
            request.stream, request.worker
        )))
    }

    /// Takes the epochs and policies of a worker. All living workers [agree](Self::agree) with them. Workers that were
    /// cut off may have other ones. They are fenced, because they would wait for other epochs. If no other worker reads
    /// the run, it continues after a failure, because its user has seen the reason.
    pub(crate) fn take_policies(&mut self, request: &OpenRequest, now: u64) {
        let is_alone = self.living_beside(&request.worker, now).is_none();
        if is_alone {
            self.quarantine.continue_after_failure();
        }
        if !self.terms.differences(request).is_empty() && self.terms.is_shared() {
            self.forget_others(&request.worker, Cause::LeaseExpired);
        }
        let is_alone = self.living_beside(&request.worker, now).is_none();
        let policies = match (&request.policies, self.terms.policies()) {
            (Some(asked), Some(kept)) if !is_alone => Some(policies::joined(asked, kept)),
            (asked, kept) => asked.as_ref().or(kept).cloned(),
        };
        self.set_terms(request.epochs, policies);
    }

    /// Changes the total number of epochs, which is no part of the spec.
    pub(crate) fn set_epochs(&mut self, epochs: u64) {
        self.set_terms(epochs, self.terms.policies().cloned());
    }

    fn set_terms(&mut self, epochs: u64, policies: Option<Policies>) {
        if self.terms.agree_on(epochs, policies) {
            self.settle();
        }
    }

    /// From now on, each fresh lease is a whole grain.
    pub(crate) const fn lease_whole_grains(&mut self) {
        self.terms.lease_whole_grains();
    }

    /// A worker that was heard a moment ago, and is not this one.
    fn living_beside(&self, worker: &str, now: u64) -> Option<&str> {
        let patience = SILENCE.min(self.terms.times().lease_ttl);
        let (other, heard) = self.workers.roster().heard_beside(worker)?;
        (now.saturating_sub(heard) < patience).then_some(other)
    }

    /// Refuses an action that only the sole reader of the stream may take, if another living worker has trainers. In the
    /// error, `what` names the action, and `instead` says what to do.
    pub(super) fn sole_reader(&self, worker: &str, now: u64, what: &str, instead: &str) -> Result<(), LedgerError> {
        let is_living = |(_, heard): &(&str, u64)| now.saturating_sub(*heard) < self.terms.times().lease_ttl;
        let attended = self.workers.roster().attended_beside(worker).filter(is_living);
        match attended.and_then(|(name, _)| Some((name, self.workers.get(name)?))) {
            None => Ok(()),
            Some((name, other)) => Err(LedgerError::Invalid(format!(
                "{what}, but node {name:?} ({}) has trainers of the stream as well. {instead}",
                other.whereabouts()
            ))),
        }
    }

    /// Refuses a worker that does not understand the ledger any more.
    ///
    /// # Errors
    /// The ledger has a newer version.
    pub(crate) fn check_version(&self, request: &OpenRequest) -> Result<(), LedgerError> {
        let (written, understood) = (self.version.written(), version::said(request.ledger_version));
        if written <= understood {
            return Ok(());
        }
        Err(LedgerError::SpecMismatch(format!(
            "The run's ledger has version {written}, since all who had it could read that. Worker {:?} understands versions up \
             to {understood}: upgrade Forebay on its node, or begin a new run.",
            request.worker
        )))
    }

    /// Lets the ledger rise to the newest version that its workers read, and all replicas of its coordinator.
    pub(crate) fn agree_on_version(&mut self, read_by_replicas: u32) {
        if read_by_replicas > self.version.written() {
            let read = self.workers.roster().iter().map(|(_, worker)| worker.reads).min();
            self.version.rise(read_by_replicas.min(read.unwrap_or(u32::MAX)));
        }
    }

    /// Registers a worker's incarnation. What an older one had is returned, and kept a while for its consumers.
    pub(crate) fn register(&mut self, request: &OpenRequest, now: u64) {
        let (worker, incarnation) = (request.worker.as_str(), request.incarnation);
        let floor = self.progress().floor;
        let seen_until = self.workers.seen_until(worker, floor);
        if !self.terms.is_shared() {
            // A shard or a rank belongs to the worker that opened it last, on whichever node that is.
            self.forget_others(worker, Cause::DaemonDied);
        }
        if self.workers.get(worker).is_some_and(|known| known.incarnation == incarnation) {
            self.workers.change(worker, |known| known.heard = now);
            return;
        }
        self.deliver_shares(worker, |_| true);
        let (floor, has_workers) = (self.progress().floor, self.workers.roster().len() > 0);
        self.shares.may_come_back(&mut self.account, floor, has_workers);
        let (process, trainers) = (request.process.clone(), request.names_trainers.then(BTreeSet::new));
        let reads = version::said(request.ledger_version);
        let mut known = Worker::new(incarnation, process, trainers, now);
        known.reads = reads;
        let before = self.workers.replace(worker, known);
        let kept_until = now.saturating_add(self.terms.times().grace);
        let died = before.as_ref().is_none_or(|before| !before.ends_itself);
        let lost = self.leases.take_all_of(worker);
        let lost = lost.iter().flat_map(|held| held.lost(Cause::DaemonDied, seen_until, died)).collect();
        self.leases.keep_for_consumers(worker, lost, kept_until);
        let Some(before) = before else {
            self.await_trainers(worker, false, kept_until);
            return self.settle();
        };
        self.workers.miss_trainers(worker, before.trainers.as_ref());
        if died {
            self.leases.count_late_death(before.expired());
        }
        self.await_trainers(worker, true, kept_until);
        self.settle();
    }

    /// A worker has a new incarnation. The positions of the former one wait for its missing trainers. If no trainer is
    /// missing, they need not wait.
    fn await_trainers(&mut self, worker: &str, has_ended: bool, until: u64) {
        if self.workers.awaits_trainers(worker) {
            self.workers.await_trainers(until);
        } else if has_ended {
            self.leases.keep_no_more(worker);
        }
    }

    /// Notes which trainers a worker has. One that has closed the stream is forgotten: no trainer waits for it, and others
    /// need not agree with it.
    pub fn attend(&mut self, worker: &str, request: &AttendRequest) -> Result<AttendReply, LedgerError> {
        let attended = match request.attendance() {
            Attendance::Unspecified => {
                return Err(LedgerError::Invalid("The request does not say whether trainers are there.".to_owned()));
            }
            Attendance::Closed => {
                // Its trainers come back when it is started again.
                if let Some(ended) = self.workers.get(worker) {
                    let trainers = ended.trainers.clone();
                    self.workers.miss_trainers(worker, trainers.as_ref());
                    self.forget_missing();
                }
                // It has given all back. What is left belongs to no worker.
                self.forget(worker, Cause::DaemonStopped);
                return Ok(AttendReply { progress: Some(self.progress()) });
            }
            Attendance::Ending => {
                self.workers.change(worker, |known| known.ends_itself = true);
                self.workers.write_with_next(worker);
                return Ok(AttendReply { progress: Some(self.progress()) });
            }
            Attendance::Empty => false,
            Attendance::Attended => true,
        };
        if request.trainers.len() > TRAINERS {
            return Err(LedgerError::Invalid(format!("A worker may have at most {TRAINERS} trainers.")));
        }
        let here: BTreeSet<u64> = request.trainers.iter().copied().filter(|trainer| *trainer != 0).collect();
        if let Some(known) = self.workers.get(worker) {
            let names = known.trainers.is_some() || !here.is_empty();
            let trainers = names.then(|| here.clone());
            if (known.attended, &known.trainers) != (attended, &trainers) {
                let before = self.workers.change(worker, |known| {
                    known.attended = attended;
                    std::mem::replace(&mut known.trainers, trainers)
                });
                let before = before.flatten().unwrap_or_default();
                let loads = self.lineage.loads_mut();
                loads.strike_off(|trainer| before.contains(&trainer) && !here.contains(&trainer));
                self.workers.write_with_next(worker);
            }
            if self.workers.came_back(worker, &here) {
                self.leases.keep_no_more(worker);
            }
        }
        Ok(AttendReply { progress: Some(self.progress()) })
    }

    /// Forgets missing trainers on whom nothing depends any more: nothing of what they may have seen is left to lease, and none
    /// has loaded the run's state.
    pub(super) fn forget_missing(&mut self) {
        let open: BTreeSet<&str> = self.leases.undecided().collect();
        let loads = self.lineage.loads();
        let has_loaded = |trainers: &BTreeSet<u64>| trainers.iter().any(|trainer| loads.has(*trainer));
        self.workers.forget_missing(|worker, trainers| open.contains(worker) || has_loaded(trainers));
    }

    /// Forgets all workers but one.
    fn forget_others(&mut self, stays: &str, cause: Cause) {
        let others: Vec<_> =
            self.workers.roster().iter().map(|(name, _)| name).filter(|name| ***name != *stays).cloned().collect();
        for name in others {
            self.forget(&name, cause);
        }
    }

    /// Forgets a worker that has not died. What it had may be granted at once, and none of its records is to blame.
    fn forget(&mut self, worker: &str, cause: Cause) {
        let floor = self.progress().floor;
        let seen_until = self.workers.seen_until(worker, floor);
        self.workers.remove(worker);
        let gone = self.leases.take_all_of(worker);
        self.leases.add_all_returned(gone.iter().flat_map(|held| held.given_up(cause, seen_until)).collect());
    }

    /// The caller, if it is its worker's current incarnation; it was heard.
    pub(super) fn known<'a>(&mut self, caller: Option<&'a Caller>, now: u64) -> Result<&'a Caller, LedgerError> {
        let caller = caller.ok_or_else(|| LedgerError::Invalid("The request names no caller.".to_owned()))?;
        let Some(worker) = self.workers.get(&caller.worker) else {
            return Err(LedgerError::Fenced(self.why_unknown(caller)));
        };
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
        self.workers.hear(&caller.worker, now);
        Ok(caller)
    }

    /// Why the ledger does not know a worker that speaks to it.
    fn why_unknown(&self, Caller { ledger, worker, .. }: &Caller) -> String {
        let Some((part, (name, holder))) = self.plan().part().zip(self.workers.roster().iter().next()) else {
            return format!("Worker {worker:?} has not opened ledger {ledger:?}.");
        };
        let (what, key) = match part {
            EpochPart::Shard(shard) => (format!("Shard {} of {}", shard.shard_id, shard.num_shards), "shard_id"),
            EpochPart::Rank(rank) => (format!("Rank {} of {}", rank.rank, rank.world_size), "rank"),
        };
        format!(
            "{what} was opened later by node {name:?}, {}, which has it now. Node {worker:?} gets no more of it. If both have a \
             trainer, give each trainer a {key} of its own.",
            holder.whereabouts()
        )
    }

    /// Applies a command unless its reply is stored, in which case that is given again.
    ///
    /// `act` must not change anything when it gives an error. The reply to a command that changed nothing is only remembered, so
    /// that a worker that waits costs no commit: a copy of the command that was delayed is not applied when there is something to
    /// grant.
    pub(crate) fn once<R: Message + Default>(
        &mut self,
        caller: Option<&Caller>,
        command: u32,
        now: u64,
        act: impl FnOnce(&mut Self, &str) -> Result<R, LedgerError>,
    ) -> Result<R, LedgerError> {
        let caller = self.known(caller, now)?;
        let name = &*caller.worker;
        let worker = self.workers.get(name).expect("a known caller");
        if let Some(reply) = worker.replies.find(caller.sequence, command)? {
            return R::decode(reply).map_err(|error| {
                LedgerError::Corrupt(format!("A stored reply of worker {name:?} cannot be read: {error}."))
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
                "Command {} of worker {name:?} came too late: the worker has gone on to {}.",
                caller.sequence, worker.unseen
            )));
        }
        self.workers.change(name, |worker| worker.unseen = worker.unseen.max(caller.unseen));
        let before = self.revision();
        let reply = act(self, name)?;
        self.workers.change(name, |worker| worker.replies.keep(caller.sequence, command, reply.encode_to_vec()));
        if self.revision() != before {
            self.workers.write_with_next(name);
        }
        Ok(reply)
    }
}
