//! Which record is at which position of an epoch: a pure function of the spec, and of the table of grains or classes if the spec
//! needs one. It is the same on every node.
//!
//! Dynamic assignment has positions 0..N. Static assignment has the positions of one shard, by DALI's bounds and rotation;
//! with shuffle the bounds are taken in the epoch's permuted order (semantics rule 13). Lockstep assignment has the
//! positions of one rank (rule 40). N is the number of records, or of all turns of an epoch that has records more than once
//! (rules 57 and 58). A shard with one record less than others gets a last position without a record, so that all shards
//! have the same number of positions. So an epoch owes a shard only positions, even for batches of copies. Where steps have
//! classes (rule 62), any step may have positions without a record at its end.

mod bare;
mod counts;
mod epoch_order;
mod extent;
mod table;
#[cfg(test)]
mod tests;

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use forebay_proto::v1::{LedgerSpec, LockstepRank, SourceShare, StaticShard};

use self::extent::Extent;
pub use self::table::OrderTable;
use crate::{
    classes::{ClassPart, ClassPlan, ClassProblem, step_positions},
    grain_passes::{GrainPass, GrainPasses},
    grains::{GrainProblem, GrainTable},
    mixture::{MixedEpoch, Mixture, shares::is_mixture},
    part::EpochPart,
    permutation::Permutation,
    selection::{self, SelectionProblem, SelectionTable},
    spec,
    spec::SpecError,
};

/// The order of every epoch.
///
/// ```
/// use forebay_plan::Plan;
/// use forebay_proto::v1::{LedgerSpec, StaticShard};
/// let shard = StaticShard { shard_id: 0, num_shards: 3, stick_to_shard: false };
/// let spec = LedgerSpec { fingerprint: vec![0; 32], records: 10, permutation: 1, shard: Some(shard), ..Default::default() };
/// let plan = Plan::new(&spec)?;
/// assert_eq!(plan.epoch_records(0), 3); // records 0, 1, 2
/// assert_eq!(plan.epoch_len(0), 4); // the third shard has four
/// assert_eq!(plan.record(2, 0), 6); // the third epoch reads the third shard
/// # Ok::<(), forebay_plan::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    spec: LedgerSpec,
    orders: Orders,
    /// What the orders count are the places of records among these. Nothing if all records are read.
    selection: Option<Arc<SelectionTable>>,
}

/// What the orders of all epochs are made from.
#[derive(Clone, Debug)]
enum Orders {
    Records,
    Grains(Arc<GrainPasses>),
    Mixture(Arc<Mixture>),
    Classes(ClassPlan),
}

/// One epoch of a [`Plan`], for many questions in a row: the keys are made once.
#[derive(Clone, Debug)]
pub struct EpochOrder {
    /// Positions of the epoch in the whole dataset's order.
    all: u64,
    extent: Extent,
    places: Places,
    /// See [`Plan`].
    selection: Option<Arc<SelectionTable>>,
}

/// Which turn of a record of the whole dataset has which place of an epoch. If records are selected, it is a turn of its place
/// among these.
#[derive(Clone, Debug)]
enum Places {
    AsTheyAre,
    Permuted(Permutation),
    ByGrains(Arc<GrainPass>),
    Mixed(MixedEpoch),
    OfClasses(ClassPart),
}

impl Plan {
    /// The plan of a spec that needs no table.
    pub fn new(spec: &LedgerSpec) -> Result<Self, SpecError> {
        Self::with_table(spec, None)
    }

    /// The plan of a spec, with the table of grains if the spec has the digest of one.
    pub fn with_grains(spec: &LedgerSpec, table: Option<Arc<GrainTable>>) -> Result<Self, SpecError> {
        Self::with_table(spec, table.map(OrderTable::Grains))
    }

    /// The plan of a spec, with the table whose digest the spec has.
    pub fn with_table(spec: &LedgerSpec, table: Option<OrderTable>) -> Result<Self, SpecError> {
        Self::with_selection(spec, table, None)
    }

    /// The same, with the selected records whose digest the spec has.
    pub fn with_selection(
        spec: &LedgerSpec,
        table: Option<OrderTable>,
        selection: Option<Arc<SelectionTable>>,
    ) -> Result<Self, SpecError> {
        spec::check(spec)?;
        let selection = match (&spec.selection, selection) {
            (None, _) => None,
            (Some(_), None) => return Err(SelectionProblem::Missing.into()),
            (Some(order), Some(selection)) if *order == selection.order() && selection.count() == spec.records => {
                Some(selection)
            }
            (Some(_), Some(_)) => return Err(SelectionProblem::Other.into()),
        };
        let orders = Self::orders(&selection::unselected(spec)?, table)?;
        let plan = Self { spec: spec.clone(), orders, selection };
        match spec.shard {
            Some(StaticShard { shard_id, num_shards, stick_to_shard: true }) if plan.epoch_records(0) == 0 => {
                Err(SpecError::EmptyShard { shard_id, num_shards, records: spec.records })
            }
            _ => Ok(plan),
        }
    }

    /// What the orders of a spec without a selection are made from.
    fn orders(spec: &LedgerSpec, table: Option<OrderTable>) -> Result<Orders, SpecError> {
        let table = match (&spec.grains, table) {
            (None, Some(OrderTable::Classes(table))) if spec.classes.is_some() => {
                return Ok(Orders::Classes(ClassPlan::of_spec(spec, table)?));
            }
            (None, _) if spec.classes.is_some() => return Err(ClassProblem::Missing.into()),
            (None, _) => None,
            (Some(order), Some(OrderTable::Grains(table)))
                if order.digest == table.digest() && table.records() == spec.records =>
            {
                Some(table)
            }
            (Some(_), Some(OrderTable::Grains(_))) => return Err(GrainProblem::Other.into()),
            (Some(_), _) => return Err(GrainProblem::Missing.into()),
        };
        Ok(match (&table, &spec.grains) {
            _ if is_mixture(spec.permutation) => Orders::Mixture(Arc::new(Mixture::new(spec, table.as_ref())?)),
            (Some(table), Some(order)) => {
                Orders::Grains(Arc::new(GrainPasses::new(Arc::clone(table), 0..table.count(), order.window)))
            }
            _ => Orders::Records,
        })
    }

    /// The spec.
    pub const fn spec(&self) -> &LedgerSpec {
        &self.spec
    }

    /// The part of an epoch that it is about; none for the whole one.
    pub fn part(&self) -> Option<EpochPart> {
        EpochPart::of(&self.spec)
    }

    /// The table of grains that the spec is about.
    pub fn grains(&self) -> Option<&Arc<GrainTable>> {
        match &self.orders {
            Orders::Records | Orders::Classes(_) => None,
            Orders::Grains(passes) => Some(passes.table()),
            Orders::Mixture(mixture) => mixture.grains(),
        }
    }

    /// The records that are selected; nothing if all are read.
    pub const fn selection(&self) -> Option<&Arc<SelectionTable>> {
        self.selection.as_ref()
    }

    /// How many records the dataset has, selected or not.
    pub fn dataset_records(&self) -> u64 {
        selection::dataset_records(&self.spec)
    }

    /// The classes that its steps have, if they have some.
    pub const fn classes(&self) -> Option<&ClassPlan> {
        match &self.orders {
            Orders::Classes(classes) => Some(classes),
            Orders::Records | Orders::Grains(_) | Orders::Mixture(_) => None,
        }
    }

    /// The table that it was made with.
    pub fn table(&self) -> Option<OrderTable> {
        let of_classes = self.classes().map(|classes| OrderTable::Classes(Arc::clone(classes.table())));
        of_classes.or_else(|| self.grains().cloned().map(OrderTable::Grains))
    }

    /// The same orders for a rank of lockstep, or for the whole epoch.
    ///
    /// # Errors
    /// There is no such rank, or ranks cannot share its steps.
    pub fn of_rank(&self, rank: Option<LockstepRank>) -> Result<Self, SpecError> {
        let spec = LedgerSpec { lockstep: rank, ..self.spec.clone() };
        spec::check(&spec)?;
        Ok(Self { spec, orders: self.orders.clone(), selection: self.selection.clone() })
    }

    /// The sources that the dataset is made of; none if it is a single one that is not repeated.
    pub fn sources(&self) -> &[SourceShare] {
        &self.spec.sources
    }

    /// The place of a record's source among [`sources`](Self::sources), if there are any.
    pub fn source(&self, record: u64) -> Option<usize> {
        let record = placed(self.selection.as_ref(), record);
        let mut end = 0_u64;
        self.spec.sources.iter().position(|source| {
            end = end.saturating_add(source.records);
            record < end
        })
    }

    /// How many positions an epoch of the whole dataset has: its records, or more if it repeats some.
    pub fn positions(&self) -> u64 {
        match &self.orders {
            Orders::Records | Orders::Grains(_) => self.spec.records,
            Orders::Mixture(mixture) => mixture.positions(),
            Orders::Classes(classes) => classes.layout().positions(),
        }
    }

    /// How many positions of this plan are in steps of classes that are delivered. What its `drop` leaves out is behind them. Nothing
    /// if steps have no classes.
    pub fn positions_in_steps(&self) -> Option<u64> {
        let layout = self.classes()?.layout();
        Some(layout.steps() * self.positions_of_step()?)
    }

    /// How many positions each step of classes has, a rank's part if it is the plan of one. Nothing if steps have no classes.
    pub fn positions_of_step(&self) -> Option<u64> {
        step_positions(&self.spec).map(NonZeroU64::get)
    }

    /// Whether positions are whole steps of classes. They always are if steps have no classes.
    pub fn is_of_whole_steps(&self, positions: &Range<u64>) -> bool {
        let ends = [positions.start, positions.end];
        self.positions_of_step().is_none_or(|step| ends.iter().all(|end| end.is_multiple_of(step)))
    }

    /// Whether each record of the dataset has one place in the order of an epoch, and each place a record.
    pub const fn is_plain(&self) -> bool {
        !matches!(self.orders, Orders::Mixture(_) | Orders::Classes(_))
    }

    /// Whether all epochs have the same turns, in some order.
    pub fn has_equal_epochs(&self) -> bool {
        self.part().is_none() && !matches!(self.orders, Orders::Mixture(_))
    }

    /// How many turns of records an epoch has; 0 for a static shard that is empty in this epoch.
    pub fn epoch_records(&self, epoch: u64) -> u64 {
        match &self.orders {
            Orders::Classes(classes) => ClassPart::turns(classes.layout(), self.spec.lockstep.as_ref()),
            Orders::Records | Orders::Grains(_) | Orders::Mixture(_) => self.extent(epoch).records(),
        }
    }

    /// How many of these positions have a record.
    pub fn records_in(&self, epoch: u64, positions: &Range<u64>) -> u64 {
        if self.classes().is_some() {
            return self.epoch(epoch).records_in(positions);
        }
        let end = positions.end.min(self.epoch_records(epoch));
        end.saturating_sub(positions.start)
    }

    /// These positions without those behind the last one that may have a record.
    pub fn clip(&self, epoch: u64, positions: &Range<u64>) -> Range<u64> {
        let end = if self.classes().is_some() { self.epoch_len(epoch) } else { self.epoch_records(epoch) };
        positions.start.min(end)..positions.end.min(end)
    }

    /// How many positions an epoch has: one for each record, and as many as in the other shards or ranks. A static shard
    /// that is empty in this epoch has none.
    pub fn epoch_len(&self, epoch: u64) -> u64 {
        match &self.orders {
            Orders::Classes(classes) => ClassPart::positions(classes.layout(), self.spec.lockstep.as_ref()),
            Orders::Records | Orders::Grains(_) | Orders::Mixture(_) => self.extent(epoch).len(),
        }
    }

    /// The record at a position. Positions beyond the epoch's length go on in the epoch's order and wrap at the
    /// dataset's end. Those of a rank of lockstep repeat its last record. Where steps have classes, a position without a record
    /// repeats one of its step.
    pub fn record(&self, epoch: u64, position: u64) -> u64 {
        self.epoch(epoch).record(position)
    }

    /// The positions of a record, one for each turn that the epoch has of it.
    pub fn positions_of(&self, epoch: u64, record: u64) -> Vec<u64> {
        self.epoch(epoch).positions_of(record).collect()
    }

    /// The places and the records of the grain at a place, if grains are permuted one by one and have all of their records.
    pub fn grain_at(&self, epoch: u64, place: u64) -> Option<(Range<u64>, Range<u64>)> {
        match &self.orders {
            _ if self.selection.is_some() => None,
            Orders::Grains(passes) => passes.epoch(&self.spec, epoch).grain_at(place),
            Orders::Records | Orders::Mixture(_) | Orders::Classes(_) => None,
        }
    }

    /// The order of one epoch.
    pub fn epoch(&self, epoch: u64) -> EpochOrder {
        let spec = &self.spec;
        let places = match &self.orders {
            Orders::Grains(passes) => Places::ByGrains(passes.epoch(spec, epoch)),
            Orders::Mixture(mixture) => Places::Mixed(MixedEpoch::new(Arc::clone(mixture), spec, epoch)),
            Orders::Classes(classes) => Places::OfClasses(ClassPart::new(classes.epoch(epoch), spec.lockstep.as_ref())),
            Orders::Records if spec.shuffle => {
                Places::Permuted(Permutation::new(spec.records, spec.seed, epoch, &spec.fingerprint, "records"))
            }
            Orders::Records => Places::AsTheyAre,
        };
        EpochOrder { all: self.positions(), extent: self.extent(epoch), places, selection: self.selection.clone() }
    }

    /// Which places of the whole dataset's order of that epoch are this plan's.
    fn extent(&self, epoch: u64) -> Extent {
        Extent::of(&self.spec, self.positions(), epoch)
    }
}

/// What orders count for a record: its place among the selected ones. No order has the number of a record that is not selected.
fn placed(selection: Option<&Arc<SelectionTable>>, record: u64) -> u64 {
    selection.map_or(record, |selection| selection.place(record).unwrap_or(u64::MAX))
}
