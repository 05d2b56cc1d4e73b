//! The terms of a ledger: what its workers agreed on when they opened it. The plan, the size of a shard and the times are fixed.
//! Epochs, policies and the summary of the dataset may be agreed on later.

use forebay_plan::{Batching, LastBatchPolicy, OrderTable, Plan, RankPositions, spec_hash};
use forebay_proto::v1::{DatasetSummary, EpochPosition, OpenRequest, Policies, StoredHead, policies::LastBatch};

use super::documents::{DocumentWriter, Revision};
use super::policies;
use super::times::Times;

/// The key of the table of grains, in a ledger whose spec is about one.
pub(super) const GRAINS: &str = "grains";
/// The key of the table of classes, in a ledger whose spec is about one.
pub(super) const CLASSES: &str = "classes";
/// The key of the selected records, in a ledger whose spec is about some.
pub(super) const SELECTED: &str = "selected";
/// The key of the dataset in short.
pub(super) const SUMMARY: &str = "outline";

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    plan: Plan,
    spec_hash: [u8; 32],
    lease_size: u64,
    times: Times,
    /// Total number of epochs; 0 is without end.
    epochs: u64,
    /// What its workers have in common, if they have said so.
    policies: Option<Policies>,
    /// Its dataset in short, for nodes that have another one.
    summary: Option<DatasetSummary>,
    /// Its leases are tasks, and end where grains end. Not stored: its tasks say so.
    whole_grains: bool,
    dirty: DirtyTerms,
    pub(super) revision: Revision,
}

/// Which documents changed since the last commit.
#[derive(Clone, Copy, Debug, Default)]
struct DirtyTerms {
    /// Written once: a run keeps the table of its order.
    table: bool,
    summary: bool,
}

impl Terms {
    /// Those of a fresh ledger.
    pub(super) fn new(plan: Plan, lease_size: u64, epochs: u64, times: Times) -> Self {
        let mut terms = Self::of(plan, lease_size, epochs, times);
        terms.dirty.table = terms.plan.table().is_some() || terms.plan.selection().is_some();
        terms.revision.rise();
        terms
    }

    fn of(plan: Plan, lease_size: u64, epochs: u64, times: Times) -> Self {
        Self {
            spec_hash: spec_hash(plan.spec()),
            plan,
            lease_size,
            times,
            epochs,
            policies: None,
            summary: None,
            whole_grains: false,
            dirty: DirtyTerms::default(),
            revision: Revision::default(),
        }
    }

    /// From the head of a stored ledger.
    pub(super) fn load(plan: Plan, head: &StoredHead, times: Times) -> Self {
        Self { policies: head.policies.clone(), ..Self::of(plan, head.lease_size, head.epochs, times) }
    }

    /// Takes in the summary that was stored.
    pub(super) fn load_summary(&mut self, summary: DatasetSummary) {
        self.summary = Some(summary);
    }

    pub(super) fn fill_head(&self, head: &mut StoredHead) {
        head.spec = Some(self.plan.spec().clone());
        (head.lease_size, head.epochs, head.policies) = (self.lease_size, self.epochs, self.policies.clone());
    }

    pub(super) fn write_changes(&mut self, documents: &mut DocumentWriter<'_>) {
        let dirty = std::mem::take(&mut self.dirty);
        self.write(dirty, documents);
    }

    pub(super) fn write_all(&self, documents: &mut DocumentWriter<'_>) {
        self.write(DirtyTerms { table: true, summary: self.summary.is_some() }, documents);
    }

    fn write(&self, dirty: DirtyTerms, documents: &mut DocumentWriter<'_>) {
        match self.plan.table().filter(|_| dirty.table) {
            Some(OrderTable::Grains(table)) => documents.put(GRAINS, Some(&table.lengths())),
            Some(OrderTable::Classes(table)) => documents.put(CLASSES, Some(&table.numbers())),
            None => {}
        }
        if let Some(selection) = self.plan.selection().filter(|_| dirty.table) {
            documents.put(SELECTED, Some(&selection.selected()));
        }
        if dirty.summary {
            documents.put(SUMMARY, self.summary.as_ref());
        }
    }

    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) const fn spec_hash(&self) -> &[u8; 32] {
        &self.spec_hash
    }

    /// Positions per lease.
    pub(super) const fn lease_size(&self) -> u64 {
        self.lease_size
    }

    pub(super) const fn times(&self) -> Times {
        self.times
    }

    /// Total number of epochs; 0 is without end.
    pub(super) const fn epochs(&self) -> u64 {
        self.epochs
    }

    pub(super) const fn policies(&self) -> Option<&Policies> {
        self.policies.as_ref()
    }

    pub(super) const fn summary(&self) -> Option<&DatasetSummary> {
        self.summary.as_ref()
    }

    /// Whether all workers read the same epochs together: the ledger is not one of a shard or a rank.
    pub(super) fn is_shared(&self) -> bool {
        self.plan.part().is_none()
    }

    /// Whether each fresh lease is a whole grain.
    pub(super) const fn leases_whole_grains(&self) -> bool {
        self.whole_grains
    }

    /// From now on, each fresh lease is a whole grain.
    pub(super) const fn lease_whole_grains(&mut self) {
        self.whole_grains = true;
    }

    /// Takes a summary of the dataset, unless there is one.
    pub(super) fn describe(&mut self, summary: DatasetSummary) {
        if self.summary.is_none() {
            self.summary = Some(summary);
            self.dirty.summary = true;
            self.revision.rise();
        }
    }

    /// Takes other epochs and policies. Answers whether they differ from those that were.
    pub(super) fn agree_on(&mut self, epochs: u64, policies: Option<Policies>) -> bool {
        let differ = (self.epochs, &self.policies) != (epochs, &policies);
        if differ {
            (self.epochs, self.policies) = (epochs, policies);
            self.revision.rise();
        }
        differ
    }

    /// What the request asks for, and what there is instead.
    pub(super) fn differences(&self, request: &OpenRequest) -> Vec<(String, String)> {
        let mut all = vec![(policies::epochs(request.epochs), policies::epochs(self.epochs))];
        if let (Some(asked), Some(kept)) = (&request.policies, &self.policies) {
            all.extend(policies::compared(asked, kept));
        }
        all.retain(|(asked, kept)| asked != kept);
        all
    }

    /// The rank's first position of a step.
    pub(super) fn place_of_step(&self, epoch: u64, step: u64) -> Option<EpochPosition> {
        let rank = RankPositions::new(self.plan.spec().lockstep?, self.plan.positions());
        Some(EpochPosition { epoch, position: rank.before_step(step) })
    }

    /// Where the positions of an epoch end that can be leased. Positions behind it are in no batch. An epoch that has no batch at
    /// all is leased: such epochs would follow each other without a lease, so their daemon takes them one by one.
    pub(super) fn leasable(&self, epoch: u64) -> u64 {
        let len = self.plan.epoch_len(epoch);
        if let Some(end) = self.plan.positions_in_steps() {
            return end;
        }
        match self.batching_that_drops().map(|batching| batching.positions_in_whole_batches(&self.plan)) {
            None | Some(0) => len,
            Some(end) => end.min(len),
        }
    }

    /// Whether the plan says which positions of an epoch are in no batch.
    pub(super) fn drops_by_plan(&self) -> bool {
        let drops_steps = self.plan.positions_in_steps().is_some_and(|end| end < self.plan.epoch_len(0));
        drops_steps || self.batching_that_drops().is_some()
    }

    /// How a shard or a rank makes batches, if it drops what fills none. Steps of classes are not made so.
    fn batching_that_drops(&self) -> Option<Batching> {
        self.plan.part().filter(|_| self.plan.classes().is_none())?;
        let policies = self.policies.as_ref().filter(|_| self.drops())?;
        let of_rank = self.plan.spec().lockstep.map(|rank| RankPositions::new(rank, self.plan.positions()).batch());
        let batch_size = of_rank.unwrap_or(policies.batch_size);
        let batching = Batching { batch_size, policy: LastBatchPolicy::Drop, pad_last_batch: false };
        (batch_size > 0).then_some(batching)
    }

    /// The places of a batch of a dynamic stream that drops what fills none: all its daemons have agreed on them. Steps of classes
    /// are whole batches.
    pub(super) fn smallest_batch(&self) -> Option<u64> {
        let is_cut = self.drops() && self.is_shared() && self.plan.classes().is_none();
        let policies = self.policies.as_ref().filter(|_| is_cut)?;
        Some(policies.batch_size).filter(|batch| *batch > 0)
    }

    /// Whether what fills no batch at the end of an epoch is dropped.
    pub(super) fn drops(&self) -> bool {
        self.policies.as_ref().is_some_and(|policies| policies.last_batch() == LastBatch::Drop)
    }
}
