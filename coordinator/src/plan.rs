//! Which record stands at which position of an epoch: a pure function of the spec, and of the table of grains if the
//! spec is about one. It is the same on every node.
//!
//! Dynamic assignment has positions 0..N. Static assignment has the positions of one shard, by DALI's bounds and
//! rotation; with shuffle the bounds are taken in the epoch's permuted order (semantics rule 13). Lockstep assignment
//! has the positions of one rank (rule 40). N is the number of
//! records, or of all turns of an epoch that has records more than once (rules 57 and 58). Shards that have one
//! record less than others have a last position without a record instead, so that all of them have as many positions:
//! what an epoch owes a shard, batches of copies included, is positions and nothing else.

mod counts;
mod extent;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use forebay_proto::Turn;
use forebay_proto::v1::{LedgerSpec, SourceShare, StaticShard};

use self::extent::Extent;
use crate::{
    grain_passes::{GrainPass, GrainPasses},
    grains::{GrainProblem, GrainTable},
    mixture::{MixedEpoch, Mixture, shares::is_mixture},
    part::EpochPart,
    permutation::Permutation,
    spec,
    spec::SpecError,
};

/// The order of every epoch.
///
/// ```
/// use forebay_coordinator::Plan;
/// use forebay_proto::v1::{LedgerSpec, StaticShard};
/// let shard = StaticShard { shard_id: 0, num_shards: 3, stick_to_shard: false };
/// let spec = LedgerSpec { fingerprint: vec![0; 32], records: 10, permutation: 1, shard: Some(shard), ..Default::default() };
/// let plan = Plan::new(&spec)?;
/// assert_eq!(plan.epoch_records(0), 3); // records 0, 1, 2
/// assert_eq!(plan.epoch_len(0), 4); // the third shard has four
/// assert_eq!(plan.record(2, 0), 6); // the third epoch reads the third shard
/// # Ok::<(), forebay_coordinator::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    spec: LedgerSpec,
    orders: Orders,
}

/// What the orders of all epochs are made from.
#[derive(Clone, Debug)]
enum Orders {
    Records,
    Grains(Arc<GrainPasses>),
    Mixture(Arc<Mixture>),
}

/// One epoch of a [`Plan`], for many questions in a row: the keys are made once.
#[derive(Clone, Debug)]
pub struct EpochOrder {
    /// Positions of the epoch in the whole dataset's order.
    all: u64,
    extent: Extent,
    places: Places,
}

/// Which turn of a record of the whole dataset has which place of an epoch.
#[derive(Clone, Debug)]
enum Places {
    AsTheyAre,
    Permuted(Permutation),
    ByGrains(Arc<GrainPass>),
    Mixed(MixedEpoch),
}

impl Plan {
    /// The plan of a spec that is not about grains.
    pub fn new(spec: &LedgerSpec) -> Result<Self, SpecError> {
        Self::with_grains(spec, None)
    }

    /// The plan of a spec, with the table of grains if the spec has the digest of one.
    pub fn with_grains(spec: &LedgerSpec, table: Option<Arc<GrainTable>>) -> Result<Self, SpecError> {
        spec::check(spec)?;
        let table = match (&spec.grains, table) {
            (None, _) => None,
            (Some(_), None) => return Err(GrainProblem::Missing.into()),
            (Some(order), Some(table)) if order.digest == table.digest() && table.records() == spec.records => {
                Some(table)
            }
            (Some(_), Some(_)) => return Err(GrainProblem::Other.into()),
        };
        let orders = match (&table, &spec.grains) {
            _ if is_mixture(spec.permutation) => Orders::Mixture(Arc::new(Mixture::new(spec, table.as_ref())?)),
            (Some(table), Some(order)) => {
                Orders::Grains(Arc::new(GrainPasses::new(Arc::clone(table), 0..table.count(), order.window)))
            }
            _ => Orders::Records,
        };
        let plan = Self { spec: spec.clone(), orders };
        match spec.shard {
            Some(StaticShard { shard_id, num_shards, stick_to_shard: true }) if plan.epoch_records(0) == 0 => {
                Err(SpecError::EmptyShard { shard_id, num_shards, records: spec.records })
            }
            _ => Ok(plan),
        }
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
            Orders::Records => None,
            Orders::Grains(passes) => Some(passes.table()),
            Orders::Mixture(mixture) => mixture.grains(),
        }
    }

    /// The sources that the dataset is made of; none if it is a single one that is not repeated.
    pub fn sources(&self) -> &[SourceShare] {
        &self.spec.sources
    }

    /// The place of a record's source among [`sources`](Self::sources), if there are any.
    pub fn source(&self, record: u64) -> Option<usize> {
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
        }
    }

    /// Whether an epoch has each of its records once.
    pub const fn is_plain(&self) -> bool {
        !matches!(self.orders, Orders::Mixture(_))
    }

    /// How many turns of records an epoch has; 0 for a static shard that is empty in this epoch.
    pub fn epoch_records(&self, epoch: u64) -> u64 {
        self.extent(epoch).records()
    }

    /// How many positions an epoch has: one for each record, and as many as in the other shards or ranks. A static shard
    /// that is empty in this epoch has none.
    pub fn epoch_len(&self, epoch: u64) -> u64 {
        self.extent(epoch).len()
    }

    /// The record at a position. Positions beyond the epoch's length go on in the epoch's order and wrap at the
    /// dataset's end. Those of a rank of lockstep repeat its last record.
    pub fn record(&self, epoch: u64, position: u64) -> u64 {
        self.epoch(epoch).record(position)
    }

    /// The positions of a record, one for each turn that the epoch has of it.
    pub fn positions_of(&self, epoch: u64, record: u64) -> Vec<u64> {
        self.epoch(epoch).positions_of(record).collect()
    }

    /// The places and the records of the grain at a place, if grains are permuted one by one.
    pub(crate) fn grain_at(&self, epoch: u64, place: u64) -> Option<(Range<u64>, Range<u64>)> {
        match &self.orders {
            Orders::Grains(passes) => passes.epoch(&self.spec, epoch).grain_at(place),
            Orders::Records | Orders::Mixture(_) => None,
        }
    }

    /// The order of one epoch.
    pub fn epoch(&self, epoch: u64) -> EpochOrder {
        let spec = &self.spec;
        let places = match &self.orders {
            Orders::Grains(passes) => Places::ByGrains(passes.epoch(spec, epoch)),
            Orders::Mixture(mixture) => Places::Mixed(MixedEpoch::new(Arc::clone(mixture), spec, epoch)),
            Orders::Records if spec.shuffle => {
                Places::Permuted(Permutation::new(spec.records, spec.seed, epoch, &spec.fingerprint, "records"))
            }
            Orders::Records => Places::AsTheyAre,
        };
        EpochOrder { all: self.positions(), extent: self.extent(epoch), places }
    }

    /// Which places of the whole dataset's order of that epoch are this plan's.
    fn extent(&self, epoch: u64) -> Extent {
        Extent::of(&self.spec, self.positions(), epoch)
    }
}

impl EpochOrder {
    /// How many records the epoch has.
    pub fn records(&self) -> u64 {
        self.extent.records()
    }

    /// See [`Plan::epoch_len`].
    pub fn len(&self) -> u64 {
        self.extent.len()
    }

    /// True for an epoch without positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// See [`Plan::record`].
    pub fn record(&self, position: u64) -> u64 {
        self.turn(position).record()
    }

    /// The turn of a record at a position; see [`Plan::record`].
    pub fn turn(&self, position: u64) -> Turn {
        let place = self.extent.place(position);
        match &self.places {
            Places::AsTheyAre => Turn::first(place),
            Places::Permuted(permutation) => Turn::first(permutation.forward(place)),
            Places::ByGrains(grains) => Turn::first(grains.record(place)),
            Places::Mixed(mixed) => mixed.turn(place),
        }
    }

    /// The turn that the epoch has at a position; none at a position without a record.
    pub fn own(&self, position: u64) -> Option<Turn> {
        (position < self.records()).then(|| self.turn(position))
    }

    /// See [`Plan::positions_of`].
    pub fn positions_of(&self, record: u64) -> impl Iterator<Item = u64> {
        let single = match &self.places {
            Places::Mixed(_) => None,
            _ if record >= self.all => None,
            Places::AsTheyAre => Some(record),
            Places::Permuted(permutation) => Some(permutation.inverse(record)),
            Places::ByGrains(grains) => Some(grains.place(record)),
        };
        let mixed = match &self.places {
            Places::Mixed(mixed) => Some(mixed.positions(record)),
            _ => None,
        };
        let places = single.into_iter().chain(mixed.into_iter().flatten());
        places.filter_map(|place| self.extent.position(place))
    }

    /// Calls `visit` with each of these records and each of its positions, in whatever order is the cheapest.
    pub(crate) fn visit_positions(&self, records: &BTreeSet<u64>, mut visit: impl FnMut(u64, u64)) {
        if let Places::Mixed(mixed) = &self.places {
            mixed.visit_positions(records, |record, place| {
                if let Some(position) = self.extent.position(place) {
                    visit(record, position);
                }
            });
            return;
        }
        for &record in records {
            self.positions_of(record).for_each(|position| visit(record, position));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{grains::GRAIN_PERMUTATION, spec::PERMUTATION};

    fn plan(records: u64, shuffle: bool, shard: Option<(u32, u32, bool)>) -> Plan {
        let shard =
            shard.map(|(shard_id, num_shards, stick_to_shard)| StaticShard { shard_id, num_shards, stick_to_shard });
        let spec = LedgerSpec {
            fingerprint: vec![3; 32],
            records,
            shuffle,
            seed: 5,
            permutation: PERMUTATION,
            shard,
            ..LedgerSpec::default()
        };
        Plan::new(&spec).unwrap()
    }

    fn records(plan: &Plan, epoch: u64) -> Vec<u64> {
        let order = plan.epoch(epoch);
        (0..order.len()).filter_map(|position| order.own(position)).map(Turn::record).collect()
    }

    #[test]
    fn rule_3_unshuffled_positions_are_record_numbers() {
        assert_eq!(records(&plan(5, false, None), 7), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn rule_3_shuffled_epochs_have_every_record_in_another_order() {
        let plan = plan(500, true, None);
        assert_ne!(records(&plan, 0), records(&plan, 1));
        for epoch in 0..3 {
            assert_eq!(records(&plan, epoch).into_iter().collect::<BTreeSet<_>>().len(), 500);
        }
    }

    #[test]
    fn rule_13_shards_of_one_epoch_share_the_dataset_out_and_rotate() {
        for (n, num_shards) in [(10, 3), (11, 3), (100, 7), (2, 5), (1, 1)] {
            for (shuffle, epoch) in [(false, 0), (false, 4), (true, 0), (true, 9)] {
                let whole: Vec<u64> = (0..num_shards)
                    .flat_map(|shard_id| records(&plan(n, shuffle, Some((shard_id, num_shards, false))), epoch))
                    .collect();
                assert_eq!(whole.len() as u64, n);
                assert_eq!(whole.into_iter().collect::<BTreeSet<_>>(), (0..n).collect());
            }
        }
        let rotating = plan(10, false, Some((2, 3, false)));
        assert_eq!([records(&rotating, 0), records(&rotating, 1)], [vec![6, 7, 8, 9], vec![0, 1, 2]]);
        let sticking = plan(10, false, Some((2, 3, true)));
        assert_eq!(records(&sticking, 1), [6, 7, 8, 9]);
    }

    #[test]
    fn rule_13_and_56_shards_of_an_epoch_of_grains_share_the_dataset_out_and_go_on_in_its_order() {
        let table = Arc::new(GrainTable::new(&[0, 3, 4, 9, 17, 18, 30], 31).unwrap());
        let spec = LedgerSpec { permutation: GRAIN_PERMUTATION, ..plan(31, true, None).spec().clone() };
        let spec = LedgerSpec { grains: Some(table.order(2)), ..spec };
        let of = |shard_id: Option<u32>| {
            let shard = shard_id.map(|shard_id| StaticShard { shard_id, num_shards: 4, stick_to_shard: false });
            Plan::with_grains(&LedgerSpec { shard, ..spec.clone() }, Some(Arc::clone(&table))).unwrap()
        };
        for epoch in 0..5 {
            let whole = records(&of(None), epoch);
            assert_eq!(whole.iter().copied().collect::<BTreeSet<_>>(), (0..31).collect());
            // The shards take turns.
            let shards = (0..4).map(|shard| (shard + 4 - u32::try_from(epoch % 4).unwrap()) % 4);
            let parts: Vec<u64> = shards.flat_map(|shard| records(&of(Some(shard)), epoch)).collect();
            assert_eq!(parts, whole);
            let last = of(Some((3 + 4 - u32::try_from(epoch % 4).unwrap()) % 4));
            let end = last.epoch_records(epoch);
            assert_eq!(last.record(epoch, end), whole[0], "beyond the end, the order wraps");
            assert_eq!(last.positions_of(epoch, whole[30]), [end - 1]);
            assert_eq!(last.positions_of(epoch, whole[0]), [0; 0]);
        }
    }

    #[test]
    fn rule_56_a_plan_needs_the_table_that_its_spec_is_about() {
        let table = |starts: &[u64]| Arc::new(GrainTable::new(starts, 10).unwrap());
        let spec = LedgerSpec { permutation: GRAIN_PERMUTATION, ..plan(10, true, None).spec().clone() };
        let spec = LedgerSpec { grains: Some(table(&[0, 4]).order(16)), ..spec };
        assert_eq!(Plan::new(&spec).unwrap_err(), GrainProblem::Missing.into());
        assert_eq!(Plan::with_grains(&spec, Some(table(&[0, 5]))).unwrap_err(), GrainProblem::Other.into());
        Plan::with_grains(&spec, Some(table(&[0, 4]))).unwrap();
        let longer = LedgerSpec { records: 11, ..spec };
        assert_eq!(Plan::with_grains(&longer, Some(table(&[0, 4]))).unwrap_err(), GrainProblem::Other.into());
    }

    #[test]
    fn rule_13_all_shards_that_have_a_record_have_as_many_positions() {
        for (n, num_shards) in [(10, 3), (11, 3), (12, 3), (100, 7), (2, 5), (1, 1)] {
            for (shard_id, epoch) in (0..num_shards).flat_map(|shard_id| [(shard_id, 0), (shard_id, 3)]) {
                let plan = plan(n, true, Some((shard_id, num_shards, false)));
                let (records, positions) = (plan.epoch_records(epoch), plan.epoch_len(epoch));
                let most = n.div_ceil(u64::from(num_shards));
                assert_eq!(positions, if records == 0 { 0 } else { most });
                assert!(records + 1 >= most, "one position at most is without a record");
                assert_eq!(plan.epoch(epoch).own(records), None);
            }
        }
        assert_eq!(plan(10, false, None).epoch_len(0), 10);
    }

    #[test]
    fn positions_lead_back_from_records_of_the_epoch_and_from_no_other() {
        let plan = plan(11, true, Some((1, 3, false)));
        for epoch in 0..4 {
            let own = records(&plan, epoch);
            for record in 0..12 {
                let places = (0..).zip(&own).filter(|(_, own)| **own == record).map(|(place, _)| place);
                assert_eq!(plan.positions_of(epoch, record), places.collect::<Vec<u64>>());
            }
        }
    }

    #[test]
    fn positions_beyond_the_end_go_on_in_the_order_and_wrap() {
        let plan = plan(10, false, Some((2, 3, true)));
        assert_eq!([plan.record(0, 3), plan.record(0, 4), plan.record(0, 5)], [9, 0, 1]);
    }

    #[test]
    fn six_billion_records_cost_nothing() {
        let plan = plan(6_000_000_000, true, Some((6, 7, false)));
        assert_eq!(plan.epoch_len(0), 857_142_858);
        let record = plan.record(0, 857_142_857);
        assert_eq!(plan.positions_of(0, record), [857_142_857]);
    }
}
