//! Takes states of a run, restores them, and ends epochs early: for the trainers of one worker, or for all ranks of a
//! lockstep run (semantics rules 10, 22, 23, 38 and 40).

use std::collections::BTreeSet;

use forebay_plan::MAX_EPOCH;
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, EpochPosition, RestoreReply, RestoreRequest, Snapshot, TakeSnapshotReply,
    TakeSnapshotRequest, TrainerLoad,
};
use prost::Message;

use super::account::order;
use super::loads::{Load, LoadDecision};
use super::snapshot::{SnapshotDraft, check_origin, check_ranges};
use super::step;
use super::steps::NamedPlaces;
use super::{Ledger, by_plan};
use crate::error::LedgerError;

impl Ledger {
    /// The run's state in O(outstanding), in which what the request has counts as consumed. The ledger stays as it is.
    pub(crate) fn take_snapshot(&mut self, request: &TakeSnapshotRequest) -> Result<TakeSnapshotReply, LedgerError> {
        let floor = self.progress().floor;
        let mut draft = SnapshotDraft::of(&self.leases, self.account.tallies());
        let named = NamedPlaces::of(&request.bad, &request.bare);
        for item in &request.consumed {
            draft.consume(self.plan(), item, &named)?;
        }
        let (epoch, cursor) = self.leases.cursor();
        let mut snapshot = Snapshot {
            spec_hash: self.spec_hash().to_vec(),
            spec: Some(self.plan().spec().clone()),
            lease_size: self.lease_size(),
            epoch,
            cursor,
            generation: self.generation(),
            ack_sequence: self.account.acks(),
            ..draft.finish(floor)
        };
        by_plan::settle_state(&self.terms, &mut snapshot);
        let snapshot = match self.plan().spec().lockstep {
            Some(rank) => step::of_run(self.plan(), rank, snapshot),
            None => snapshot,
        };
        Ok(TakeSnapshotReply { snapshot: Some(snapshot) })
    }

    /// Goes to a snapshot, unless that was done before for this load, or for another rank. `continues`: see
    /// [`restore`](Self::restore).
    pub(crate) fn load_state(
        &mut self,
        worker: &str,
        request: &RestoreRequest,
        continues: bool,
        now: u64,
    ) -> Result<RestoreReply, LedgerError> {
        let RestoreRequest { snapshot, load_id, trainer, load_number, .. } = request;
        let snapshot =
            snapshot.as_ref().ok_or_else(|| LedgerError::Invalid("The request holds no snapshot.".to_owned()))?;
        let load = Load::of(load_id, &snapshot.encode_to_vec())?;
        let of_trainer = TrainerLoad { trainer: *trainer, number: *load_number };
        let loads = self.lineage.loads();
        let decision = if load.has_id() {
            if loads.has_loaded(&load)? { LoadDecision::Repeated } else { LoadDecision::Applied }
        } else {
            let instead = "Let all ranks load the state with the same load_id, which is new for each load.";
            self.sole_reader(worker, now, "A state without load_id is for a single reader", instead)?;
            let is_attached = |trainer| self.workers.is_attached(worker, trainer);
            let is_awaited = |trainer| self.workers.is_awaited(worker, trainer, now);
            loads.decide(&load, of_trainer, is_attached, is_awaited)
        };
        let is_last = loads.is_last(&load);
        match decision {
            LoadDecision::Applied => {
                let reply = self.restore(snapshot, continues)?;
                self.note_load(load, of_trainer);
                return Ok(reply);
            }
            LoadDecision::Repeated if is_last => self.lineage.loads_mut().join(of_trainer),
            LoadDecision::Repeated | LoadDecision::Awaits => {}
        }
        let repeated = decision == LoadDecision::Repeated;
        Ok(RestoreReply { repeated, awaits_trainers: !repeated, ..self.restored() })
    }

    /// The run was taken to a state.
    fn note_load(&mut self, load: Load, of_trainer: TrainerLoad) {
        // A load with an id is always a new load. If it has the state of the last load, the trainers that have loaded
        // that without an id stay known.
        let loads = self.lineage.loads_mut();
        let joins = load.has_id() && loads.is_last(&load);
        if joins {
            loads.join(of_trainer);
        } else {
            loads.begin(&load, of_trainer);
            self.forget_missing();
        }
        if load.has_id() {
            self.remember(load);
        }
    }

    /// Notes a load under an id, after its restore.
    pub(crate) fn remember(&mut self, load: Load) {
        self.lineage.loads_mut().remember(load);
    }

    /// The run was taken to the state of the last load in this round.
    pub(crate) fn begin_round(&mut self, round: u64) {
        if self.loaded_state().is_some_and(|(_, known)| known != round) {
            self.lineage.loads_mut().begin_round(round);
        }
    }

    /// Goes back, or ahead, to a snapshot. Its outstanding positions are leased again, and all older leases are fenced.
    /// In lockstep, the ledger's account continues there if `continues` is set. Otherwise it begins there.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot, continues: bool) -> Result<RestoreReply, LedgerError> {
        check_origin(&self.terms, snapshot)?;
        let of_rank = self.plan().spec().lockstep.map(|rank| step::of_rank(self.plan(), rank, snapshot)).transpose()?;
        let mut snapshot = of_rank.clone().unwrap_or_else(|| snapshot.clone());
        // The next stored state must be possible too, or no coordinator could read it.
        let is_possible = self.generation().max(snapshot.generation) < MAX_EPOCH;
        check_ranges(&self.terms, &snapshot, is_possible)?;
        by_plan::settle_state(&self.terms, &mut snapshot);
        let first = snapshot.open.first().map_or(snapshot.epoch, |open| open.epoch.min(snapshot.epoch));
        let at = EpochPosition { epoch: snapshot.epoch, position: snapshot.cursor };
        match &of_rank {
            Some(_) if continues => self.cut(at),
            Some(_) => self.account.begin_again(at),
            None => {
                // If the snapshot had more of an epoch than this run, the run's sums of that epoch are void. If only the
                // snapshot had seen the end of an epoch, the epoch has no tally.
                let is_stale = |epoch| epoch >= first || !self.leases.is_complete(&self.terms, epoch);
                self.account.take_state(self.terms.plan(), &snapshot.tallies, is_stale);
            }
        }
        self.drop_positions();
        self.shares.forget();
        self.leases.take_state(&snapshot.open, at);
        if snapshot.version == 1 {
            self.leases.owe_padding(&self.terms);
        }
        self.lineage.advance_behind(snapshot.generation);
        self.account.set_acks(snapshot.ack_sequence);
        self.forget_quarantine_of_open(first);
        self.quarantine.continue_after_failure();
        Ok(self.restored())
    }

    /// The reply to a load.
    fn restored(&mut self) -> RestoreReply {
        let (progress, failure) = (Some(self.progress()), Some(self.quarantine.failure().clone()));
        RestoreReply { progress, failure, ..RestoreReply::default() }
    }

    /// Drops all positions: no worker has one any more, and the ledger awaits no receipt.
    fn drop_positions(&mut self) {
        self.leases.drop_all();
        self.workers.forget_expired();
    }

    /// Records that will be read again are no longer listed as bad.
    fn forget_quarantine_of_open(&mut self, first: u64) {
        let mut forgotten = Vec::new();
        for (epoch, records) in self.quarantine.listed_from(first) {
            let open = |position: u64| {
                (epoch, position) >= self.leases.cursor()
                    || self.leases.unleased().any(|b| b.epoch == epoch && (b.start..b.end).contains(&position))
            };
            // A record that was read, and will be read again, is listed again at that time.
            let (mut read, mut again) = (BTreeSet::new(), BTreeSet::new());
            self.plan().epoch(epoch).visit_positions(&records, |record, position| {
                read.insert(record);
                if open(position) {
                    again.insert(record);
                }
            });
            let is_over = |record: &u64| !read.contains(record) || again.contains(record);
            forgotten.extend(records.into_iter().filter(is_over).map(|record| (epoch, record)));
        }
        self.quarantine.forget(&forgotten);
    }

    /// Continues from a snapshot that was taken at this second since 1970, after the store was lost. The ledger does not
    /// know what was committed since then. No worker has a lease any more. No new lease gets an id that a lease may have
    /// had since the snapshot, because `origin` is new with each recovery.
    ///
    /// Workers stay, so a living daemon continues without the leases that it had.
    pub(crate) fn recover(&mut self, taken: u64, origin: &[u8]) {
        self.leases.recover(origin);
        // Other trainers may have come since the snapshot.
        self.workers.forget_trainers();
        self.shares.forget();
        self.lineage.recover(taken);
        self.settle();
    }

    /// If a state of the run is after the last delivered step of an epoch, moves it to the first step of the next epoch.
    pub(crate) fn behind_dropped_step(&self, state: &mut Snapshot) {
        by_plan::behind_dropped_step(&self.terms, state);
    }

    /// Notes that a state of the run was taken before this step. A rank that has passed this step keeps no sums for it.
    pub(crate) fn mark(&mut self, epoch: u64, step: u64) {
        let Some(at) = self.terms.place_of_step(epoch, step) else { return };
        if self.account.has_mark(at) || self.leases.has_counted_behind(&self.terms, at) {
            return;
        }
        let mut below = self.account.get(at.epoch).cloned().unwrap_or_default();
        if self.leases.is_leased_out(&self.terms, at.epoch) {
            by_plan::take_dropped_end(&self.terms, at.epoch, &mut below);
        }
        self.account.mark(at, below);
    }

    /// Makes the ledger one of a segment. Its account begins before this step, whatever it had counted.
    pub(crate) fn begin_at(&mut self, segment: u64, epoch: u64, step: u64) {
        self.lineage.begin_segment(segment);
        if let Some(at) = self.terms.place_of_step(epoch, step).filter(|at| *at != self.account.newest_begins()) {
            self.drop_positions();
            self.account.begin_again(at);
            self.leases.set_cursor(at);
            self.lineage.advance_behind(0);
        }
    }

    /// Ends the account before this step, where the run continues with another number of ranks. No worker has the ledger
    /// any more.
    pub(crate) fn close(&mut self, epoch: u64, step: u64) {
        let Some(wanted) = self.terms.place_of_step(epoch, step) else { return };
        if self.account.ends().is_none_or(|ends| order(ends) > order(wanted)) {
            self.end(wanted);
        }
    }

    /// Ends the account where it begins, because its run continued from an earlier state. Nothing in it counts.
    pub(crate) fn void(&mut self) {
        if !self.has_ended() || !self.account.tallies().is_empty() {
            self.end(self.account.newest_begins());
            self.account.forget_epochs();
        }
    }

    fn end(&mut self, at: EpochPosition) {
        self.cut(at);
        self.leases.set_cursor(at);
        self.account.end(at);
        self.workers.remove_all();
        self.lineage.advance_behind(0);
    }

    /// Cuts the account at this place. Counts after it are void, and so are all leases. Positions before it that have no
    /// receipt count as delivered by the state.
    fn cut(&mut self, at: EpochPosition) {
        let has_counted_behind = self.leases.has_counted_behind(&self.terms, at);
        if self.account.get(at.epoch).is_some() && self.leases.is_leased_out(&self.terms, at.epoch) {
            by_plan::take_dropped_end(&self.terms, at.epoch, self.account.tally(at.epoch));
        }
        let (cursor_epoch, cursor) = self.leases.cursor();
        let mut open: Vec<_> = self.leases.open().collect();
        open.push((cursor_epoch, cursor..self.plan().epoch_len(cursor_epoch)));
        open.push((cursor_epoch + 1, 0..at.position));
        self.drop_positions();
        if let Some(unsummed) = self.account.cut(at, has_counted_behind) {
            open.retain(|(epoch, _)| *epoch != at.epoch);
            open.push((at.epoch, unsummed));
        }
        let mut by_state = Vec::new();
        for (epoch, positions) in open.into_iter().filter(|(epoch, _)| *epoch <= at.epoch) {
            let end = if epoch == at.epoch { positions.end.min(at.position) } else { positions.end };
            // The plan never meant to deliver the positions that it leaves out.
            let dropped = self.terms.leasable(epoch).clamp(positions.start, end.max(positions.start))..end;
            if epoch < at.epoch && !dropped.is_empty() {
                self.account.count_dropped(self.terms.plan(), epoch, &dropped);
            }
            let delivered = positions.start..dropped.start.min(end);
            by_state.extend((!delivered.is_empty()).then_some((epoch, delivered)));
        }
        self.account.count_by_state(self.terms.plan(), by_state);
    }

    /// Ends an epoch: all its incomplete positions count as abandoned, and its leases are fenced.
    pub(crate) fn abandon(
        &mut self,
        worker: &str,
        request: &AbandonRequest,
        now: u64,
    ) -> Result<AbandonReply, LedgerError> {
        let &AbandonRequest { epoch, generation, .. } = request;
        let instead = "End those first, or let each node read a shard of its own.";
        self.sole_reader(worker, now, &format!("reset() ends epoch {epoch} for a sole reader"), instead)?;
        self.settle();
        if !self.leases.has_begun(&self.terms, epoch) {
            // A trainer may ask before it has been told that the run is over: there is no epoch to end.
            if self.leases.is_exhausted(&self.terms) && epoch == self.terms.epochs() {
                let failure = Some(self.quarantine.failure().clone());
                return Ok(AbandonReply { abandoned: 0, progress: Some(self.progress()), failure });
            }
            let (cursor_epoch, _) = self.leases.cursor();
            return Err(LedgerError::Invalid(format!(
                "Epoch {epoch} has not begun; the ledger leases epoch {cursor_epoch} at most."
            )));
        }
        if generation != 0 && generation != self.generation() && self.progress().floor <= epoch {
            return Err(LedgerError::Invalid(format!(
                "Epoch {epoch} is not ended: a state was loaded while reset() was under way. Call reset() again if the epoch \
                 that the stream is in now is to end as well."
            )));
        }
        self.quarantine.continue_after_failure();
        self.shares.abandon(epoch);
        let ended = self.leases.end_epoch(&self.terms, epoch);
        let abandoned = self.account.count_abandoned(self.terms.plan(), epoch, &ended.positions);
        let failure = Some(self.quarantine.failure().clone());
        Ok(AbandonReply { abandoned, progress: Some(self.progress()), failure })
    }

    /// Ends all that is left of the epochs up to this one, because another rank of the run has ended them (semantics rule
    /// 40). The rank's trainers do not know that yet. So receipts still count as long as the leases would have lasted.
    pub(crate) fn end_epochs(&mut self, last: u64, now: u64) {
        let first = self.progress().floor;
        if first > last {
            return;
        }
        let mut leased = Vec::new();
        for epoch in first..=last {
            if self.leases.has_begun(&self.terms, epoch) {
                let ended = self.leases.end_epoch(&self.terms, epoch);
                self.account.count_abandoned(self.terms.plan(), epoch, &ended.positions);
                leased.extend(ended.leased);
                self.settle();
            }
        }
        let until = now.saturating_add(self.terms.times().lease_ttl);
        self.leases.keep_abandoned(leased, last, until);
        // The rank's daemon starts again after these epochs.
        self.lineage.advance_behind(0);
    }
}
