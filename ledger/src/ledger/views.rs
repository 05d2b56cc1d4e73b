//! What a ledger shows to workers that open or follow it, to `forebay status`, to the audit and to its tasks. None of
//! this changes the stored state.

use std::collections::BTreeMap;
use std::ops::Range;

use forebay_plan::Plan;
use forebay_proto::page;
use forebay_proto::v1::{
    self, AuditReply, DatasetSummary, LastHolder, Lease, LedgerStatus, LedgerUpdate, ListQuarantineReply, LocateReply,
    QuarantineKey, RecordPlace, Snapshot, WorkerStatus, record_place::State,
};

use super::Ledger;
use super::account::{Tallies, order};
use super::leases::{LeaseOut, ReturnedPositions};
use super::loads::Load;
use super::workers::Worker;
use crate::error::LedgerError;

/// Most holders that one update names. There may be many more, and every worker gets each change.
const NAMED: usize = 8;

/// Positions that were leased and are not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldPositions {
    /// Who has them, or had them last.
    pub(crate) worker: String,
    pub(crate) epoch: u64,
    pub(crate) positions: Range<u64>,
    /// The same, counted from where the lease began.
    pub(crate) range: v1::Range,
    /// A worker has them. Otherwise they were returned, and no worker has got them since.
    pub(crate) is_out: bool,
}

impl Ledger {
    /// Positions per lease.
    pub(crate) const fn lease_size(&self) -> u64 {
        self.terms.lease_size()
    }

    /// Rises with every restore and recovery.
    pub(crate) const fn generation(&self) -> u64 {
        self.lineage.generation()
    }

    pub(crate) const fn spec_hash(&self) -> &[u8; 32] {
        self.terms.spec_hash()
    }

    /// Its dataset in short, if a worker has left that here.
    pub(crate) const fn summary(&self) -> Option<&DatasetSummary> {
        self.terms.summary()
    }

    /// Total number of epochs; 0 is without end.
    pub(crate) const fn epochs(&self) -> u64 {
        self.terms.epochs()
    }

    /// Epochs of which a position was leased.
    pub(crate) const fn begun(&self) -> u64 {
        let (epoch, cursor) = self.leases.cursor();
        epoch + (cursor > 0) as u64
    }

    /// Id of the next lease.
    pub(crate) const fn next_lease(&self) -> u64 {
        self.leases.next_id()
    }

    /// All leases that are out, with their workers.
    pub(crate) fn leases(&self) -> impl Iterator<Item = (&str, &Lease)> {
        self.leases.iter().map(|held| (&*held.holder, &held.lease))
    }

    /// The leases of a worker.
    pub(crate) fn leases_of(&self, worker: &str) -> impl Iterator<Item = &Lease> {
        self.leases.of(worker)
    }

    /// Whether a worker has a lease.
    pub(crate) fn has_leases(&self, worker: &str) -> bool {
        self.leases.has(worker)
    }

    /// The positions of a lease that is out, or those of an ended lease that no other lease has got since.
    pub(crate) fn held(&self, lease: u64) -> Option<HeldPositions> {
        let out = |held: &LeaseOut| HeldPositions {
            worker: held.holder.to_string(),
            epoch: held.lease.epoch,
            positions: held.lease.start..held.lease.end,
            range: v1::Range { start: 0, end: held.lease.end - held.lease.start },
            is_out: true,
        };
        let back = |back: &ReturnedPositions| HeldPositions {
            worker: back.worker.clone(),
            epoch: back.epoch,
            positions: back.start..back.end,
            range: v1::Range {
                start: back.start.saturating_sub(back.lease_start),
                end: back.end.saturating_sub(back.lease_start),
            },
            is_out: false,
        };
        self.leases.get(lease).map(out).or_else(|| self.leases.returned_of(lease).map(back))
    }

    /// Whether a worker that asks now gets a lease, or hears that there will be none.
    pub(crate) fn has_answer(&mut self) -> bool {
        self.settle();
        self.leases.has_answer(&self.terms)
    }

    /// The incarnation of a worker; 0 for one that is not known.
    pub(crate) fn incarnation(&self, worker: &str) -> u64 {
        self.workers.get(worker).map_or(0, |known| known.incarnation)
    }

    /// Whether a trainer of a worker's former incarnations has not come back.
    pub(crate) fn awaits_trainers(&self, worker: &str) -> bool {
        self.workers.awaits_trainers(worker)
    }

    /// The groups that were there when the last incarnation ended.
    pub(crate) fn former_groups(&self) -> Vec<String> {
        self.shares.former().iter().cloned().collect()
    }

    /// The state that the run was taken to last, as a hash, and the round of this load.
    pub(crate) fn loaded_state(&self) -> Option<(&[u8], u64)> {
        self.lineage.loads().last()
    }

    /// The round in which the run was taken to this state. None if it was taken to another one last.
    pub(crate) fn round_of(&self, state: &Snapshot) -> Option<u64> {
        self.lineage.loads().round_of(state)
    }

    /// Whether a state was loaded under this id.
    ///
    /// # Errors
    /// The id was used for another state.
    pub(crate) fn has_loaded(&self, load: &Load) -> Result<bool, LedgerError> {
        self.lineage.loads().has_loaded(load)
    }

    /// The generation of its segment.
    pub(crate) fn segment(&self) -> u64 {
        self.lineage.segment()
    }

    /// Whether its run has continued with another number of ranks.
    pub(crate) const fn has_ended(&self) -> bool {
        self.account.ends().is_some()
    }

    /// Whether its account can continue in this epoch: it has reached this epoch, or the one before.
    pub(crate) const fn is_near(&self, epoch: u64) -> bool {
        let (cursor_epoch, _) = self.leases.cursor();
        epoch <= cursor_epoch.saturating_add(1)
    }

    /// Whether a state of the run was taken before this step, and the sums up to there are kept.
    pub(crate) fn has_mark(&self, epoch: u64, step: u64) -> bool {
        self.terms.place_of_step(epoch, step).is_some_and(|at| self.account.has_mark(at))
    }

    /// Whether the newest part of its account begins before this step.
    pub(crate) fn begins_at(&self, epoch: u64, step: u64) -> bool {
        self.terms.place_of_step(epoch, step) == Some(self.account.newest_begins())
    }

    /// Whether a position of this step or a later one is complete.
    pub(crate) fn has_counted_from(&self, epoch: u64, step: u64) -> bool {
        let at = self.terms.place_of_step(epoch, step);
        at.is_some_and(|at| self.leases.has_counted_behind(&self.terms, at))
    }

    /// Adds what it has counted of the epochs from one on to the sums of several ledgers.
    pub(crate) fn add_tallies(&self, from_epoch: u64, sums: &mut BTreeMap<u64, Tallies>) {
        self.account.add_to(from_epoch, sums);
    }

    /// A page of the tallies.
    pub fn audit(&mut self, from_epoch: u64) -> AuditReply {
        let progress = Some(self.progress());
        let (account, plan) = (&self.account, self.terms.plan());
        let (epochs, more) =
            page(account.tallies().range(from_epoch..).map(|(&epoch, tallies)| tallies.message(epoch)));
        let is_first = from_epoch == 0;
        AuditReply {
            spec: Some(plan.spec().clone()),
            epochs,
            progress,
            more,
            grains: is_first.then(|| self.audited_grains()).flatten(),
            classes: plan.classes().filter(|_| is_first).map(|classes| classes.table().numbers()),
            selected: plan.selection().filter(|_| is_first).map(|selection| selection.selected()),
            recoveries: if is_first { self.lineage.recoveries().to_vec() } else { Vec::new() },
            begins: if is_first { account.begins().to_vec() } else { Vec::new() },
            total_epochs: self.terms.epochs(),
            ends: account.ends(),
            run: None,
            has_ended: false,
        }
    }

    /// The table of grains, where the audit depends on it. The sum over the whole dataset is the same in any order: only the records
    /// of a part or of a mixture depend on the table.
    fn audited_grains(&self) -> Option<v1::GrainLengths> {
        let plan: &Plan = self.terms.plan();
        let is_unsummed = || self.account.tallies().values().any(Tallies::is_unsummed);
        let depends = plan.part().is_some() || !plan.is_plain() || is_unsummed();
        plan.grains().filter(|_| depends).map(|table| table.lengths())
    }

    /// A page of the quarantine's list.
    pub fn list_quarantine(&self, after: Option<QuarantineKey>) -> ListQuarantineReply {
        let (records, more) = page(self.quarantine.list(after).cloned());
        ListQuarantineReply { records, more, quarantined: self.quarantined() }
    }

    /// Records that count as quarantined, over all epochs.
    fn quarantined(&self) -> u64 {
        self.account.tallies().values().map(|tallies| tallies.quarantined.count).sum()
    }

    /// What it tells all workers that have it open: how far its epochs are, who has the last positions of one, whether others wait
    /// for them, and whether the run has failed (semantics rules 34, 35 and 41).
    pub(crate) fn latest_update(&mut self) -> LedgerUpdate {
        let progress = self.progress();
        let epoch = progress.floor;
        // First those that have had them for longest.
        let named = if progress.drained > epoch { NAMED } else { 0 };
        let holders = self.leases.holders_of(epoch).take(named).map(|name| LastHolder {
            worker: name.to_string(),
            process: self.workers.get(name).and_then(|worker| worker.process.clone()),
        });
        // Set even while positions of the epoch can be leased again: those are for the workers that wait.
        let is_recalled = self.workers.roster().is_one_waiting();
        LedgerUpdate {
            progress: Some(progress),
            holders: holders.collect(),
            recalled: if is_recalled { epoch + 1 } else { 0 },
            failure: Some(self.quarantine.failure().clone()),
            tails: self.leases.epoch_of_tails(&self.terms).map_or(0, |epoch| epoch + 1),
        }
    }

    /// How it is, under its name, with its workers or without.
    pub(crate) fn status(&mut self, name: &str, with_workers: bool, now: u64) -> LedgerStatus {
        let progress = self.progress();
        // While the epoch has positions left to lease, no worker has to wait for another.
        let last = (progress.drained > progress.floor).then_some(progress.floor);
        let listed = self.workers.roster().iter().take_while(|_| with_workers);
        let workers = listed.map(|(name, worker)| self.worker_status(name, worker, last, now)).collect();
        LedgerStatus {
            name: name.to_owned(),
            spec: Some(self.plan().spec().clone()),
            lease_size: self.lease_size(),
            epochs: self.epochs(),
            returned: self.leases.unleased().map(|back| back.end - back.start).sum(),
            delivered: self.account.tallies().values().map(|tallies| tallies.delivered.count).sum(),
            quarantined: self.quarantined(),
            workers,
            progress: Some(progress),
            lease_ttl_ms: self.terms.times().lease_ttl,
            // Only a dataset of tasks has these two.
            late_reports: 0,
            open_at_end: 0,
            worker_count: self.workers.roster().len() as u64,
            leased: self.leases.leased(),
        }
    }

    /// `last` is an epoch of which nothing is left to lease.
    fn worker_status(&self, name: &str, worker: &Worker, last: Option<u64>, now: u64) -> WorkerStatus {
        WorkerStatus {
            name: name.to_owned(),
            process: worker.process.clone(),
            incarnation: worker.incarnation,
            leases: self.leases.of(name).count() as u64,
            positions: self.leases.positions_of(name),
            silent_ms: worker.silent(now),
            waits: worker.waits,
            has_last: last.is_some_and(|epoch| self.leases.of(name).any(|lease| lease.epoch == epoch)),
            // Only a dataset of tasks has this.
            gone_after_ms: 0,
        }
    }

    /// The record's positions in the first epoch that is not complete, and in the next one if it has begun, and what has become of
    /// each. Of a run that is done, those of its last epoch. A ledger of a shard or of a rank has a record in some epochs only.
    pub fn places_of(&mut self, record: u64) -> Result<LocateReply, LedgerError> {
        let records = self.plan().dataset_records();
        if record >= records {
            let last = records.saturating_sub(1);
            return Err(LedgerError::Invalid(format!(
                "The dataset has records 0 to {last}; there is no record {record}."
            )));
        }
        let (progress, epochs) = (self.progress(), self.epochs());
        let done = epochs > 0 && progress.floor >= epochs;
        let first = if done { epochs - 1 } else { progress.floor };
        // There is no epoch after the last one, although the cursor moves there.
        let end = if epochs > 0 { epochs - 1 } else { u64::MAX };
        let (cursor_epoch, _) = self.leases.cursor();
        let last = cursor_epoch.clamp(first, end);
        let positions =
            |epoch| self.plan().positions_of(epoch, record).into_iter().map(move |position| (epoch, position));
        // Positions after the end of the account are those of other ranks.
        let is_own = |place: &(u64, u64)| self.account.ends().is_none_or(|ends| *place < order(ends));
        let places: Vec<(u64, u64)> = (first..=last).flat_map(positions).filter(is_own).collect();
        let place = |&(epoch, position): &(u64, u64)| self.place(epoch, position, record);
        Ok(LocateReply { places: places.iter().map(place).collect() })
    }

    /// What has become of one position.
    fn place(&self, epoch: u64, position: u64, record: u64) -> RecordPlace {
        let place = RecordPlace { epoch, position, ..RecordPlace::default() };
        if (epoch, position) >= self.leases.cursor() {
            return RecordPlace { state: State::Waiting.into(), ..place };
        }
        let has = |held: &&LeaseOut| {
            held.lease.epoch == epoch && held.open.iter().any(|span| (span.start..span.end).contains(&position))
        };
        if let Some(held) = self.leases.iter().find(has) {
            return RecordPlace {
                state: State::Leased.into(),
                lease: held.lease.id,
                worker: held.holder.to_string(),
                process: self.workers.get(&held.holder).and_then(|worker| worker.process.clone()),
                ..place
            };
        }
        let back = |back: &&ReturnedPositions| back.epoch == epoch && (back.start..back.end).contains(&position);
        if let Some(returned) = self.leases.unleased().find(back) {
            let worker = returned.worker.clone();
            return RecordPlace { state: State::Returned.into(), lease: returned.lease, worker, ..place };
        }
        if let Some(bad) = self.quarantine.get(epoch, record) {
            return RecordPlace { state: State::Bad.into(), reason: bad.reason.clone(), ..place };
        }
        let others = |tallies: &Tallies| tallies.dropped.count + tallies.abandoned.count > 0;
        let state = if self.account.get(epoch).is_some_and(others) { State::Complete } else { State::Delivered };
        RecordPlace { state: state.into(), ..place }
    }
}
