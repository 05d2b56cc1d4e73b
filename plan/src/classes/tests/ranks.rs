//! Plans of classes from specs: what each rank has of each step, compared with the lists of the model.

use std::ops::Range;

use forebay_proto::v1::{ClassNumbers, ClassOrder, LedgerSpec, LockstepRank, SourceShare, StaticShard};

use super::*;
use crate::batches::{Batching, LastBatchPolicy};
use crate::plan::{OrderTable, Plan};
use crate::spec::SpecError;

impl Case {
    /// The same case with sources that are the whole dataset, as a spec needs them.
    fn whole(mut self) -> Self {
        let (records, mut start) = (self.classes.len() as u64, 0);
        if !self.sources.is_empty() {
            self.sources.push((records, 1));
        }
        for (len, _) in &mut self.sources {
            *len = (*len).min(records - start);
            start += *len;
        }
        self.sources.retain(|(len, _)| *len > 0);
        self
    }

    fn table(&self) -> ClassTable {
        ClassTable::new(self.classes.clone(), u16::try_from(self.places.len()).unwrap(), &self.sources).unwrap()
    }

    fn spec(&self) -> LedgerSpec {
        let table = self.table();
        let positions = table.turns_by_source();
        let share = |((records, _), positions): (&(u64, u16), u64)| SourceShare {
            records: *records,
            positions,
            ..SourceShare::default()
        };
        let repeats: Vec<u32> = self.sources.iter().map(|(_, repeats)| u32::from(*repeats)).collect();
        let places: Vec<u32> = self.places.iter().map(|places| u32::try_from(*places).unwrap()).collect();
        LedgerSpec {
            fingerprint: KEYS.1.to_vec(),
            records: self.classes.len() as u64,
            shuffle: self.shuffled,
            seed: KEYS.0,
            permutation: CLASS_PERMUTATION,
            sources: self.sources.iter().zip(positions).map(share).collect(),
            classes: Some(ClassOrder {
                accumulate: u32::try_from(self.group).unwrap(),
                ..table.order(&places, self.leftovers, &repeats, "")
            }),
            ..LedgerSpec::default()
        }
    }

    fn rank(&self, rank: u32, world_size: u32) -> LockstepRank {
        LockstepRank { global_batch: self.places.iter().copied().max().unwrap(), rank, world_size }
    }

    fn planned(&self, lockstep: Option<LockstepRank>) -> Result<Plan, SpecError> {
        let spec = LedgerSpec { lockstep, ..self.spec() };
        Plan::with_table(&spec, OrderTable::read(&spec, None, Some(&self.table().numbers()))?)
    }
}

/// What a rank has at each of its positions, from the model's lists.
fn model_of(case: &Case, epoch: u64, rank: u32, world_size: u32) -> Vec<(Option<Turn>, Turn)> {
    let (rank, ranks) = (rank as usize, world_size as usize);
    let own = usize::try_from(case.places.iter().copied().max().unwrap()).unwrap() / ranks;
    let turn = |(record, repeat): (u64, u16)| Turn::new(record, repeat);
    let mut positions = Vec::new();
    for step in case.model(epoch) {
        let part = step.len() / ranks;
        let places = &step[rank * part..(rank + 1) * part];
        let first = step[0].map(turn).expect("each step has a turn");
        let mut shown = None;
        for place in 0..own {
            let has = places.get(place).copied().flatten().map(turn);
            shown = has.or(shown);
            positions.push((has, shown.unwrap_or(first)));
        }
    }
    positions
}

fn check_rank(case: &Case, epoch: u64, rank: u32, world_size: u32, parts: &[Range<u64>]) -> Result<(), TestCaseError> {
    let lockstep = (world_size > 1).then(|| case.rank(rank, world_size));
    let plan = match case.planned(lockstep) {
        Ok(plan) => plan,
        Err(problem) => {
            let has_none = case.plan().layout().steps() == 0;
            prop_assert!(has_none && problem == ClassProblem::NoStep.into(), "{}", problem);
            return Ok(());
        }
    };
    let (order, model) = (plan.epoch(epoch), model_of(case, epoch, rank, world_size));
    let len = model.len() as u64;
    prop_assert_eq!((order.len(), plan.epoch_len(epoch)), (len, len));
    let records = model.iter().filter(|(own, _)| own.is_some()).count() as u64;
    prop_assert_eq!((order.records(), plan.epoch_records(epoch)), (records, records));
    for (position, (own, shown)) in (0..).zip(&model) {
        prop_assert_eq!((order.own(position), order.turn(position)), (*own, *shown), "position {}", position);
        if let Some(own) = own {
            prop_assert!(order.positions_of(own.record()).any(|found| found == position));
        }
    }
    prop_assert_eq!((order.own(len), order.own(u64::MAX / 2)), (None, None));
    let found: usize = (0..case.classes.len() as u64 + 2).map(|record| order.positions_of(record).count()).sum();
    prop_assert_eq!(found as u64, records);
    for part in parts {
        let part = part.start.min(len)..part.end.min(len + 3);
        let inside =
            || (0..).zip(&model).filter(|(position, _)| part.contains(position)).filter_map(|(_, (own, _))| *own);
        prop_assert_eq!(plan.records_in(epoch, &part), inside().count() as u64, "{:?}", part);
        let bare = order.bare_in(&part);
        prop_assert!(bare.windows(2).all(|pair| pair[0].end < pair[1].start) && !bare.iter().any(Range::is_empty));
        let none =
            |position: &u64| model.get(usize::try_from(*position).unwrap()).is_some_and(|(own, _)| own.is_none());
        prop_assert!(bare.into_iter().flatten().eq(part.clone().filter(none)), "{:?}", part);
        let mut by_source = vec![0; plan.sources().len()];
        inside().filter_map(|turn| plan.source(turn.record())).for_each(|source| by_source[source] += 1);
        prop_assert_eq!(order.count_sources(plan.sources(), &part), by_source);
    }
    Ok(())
}

/// A batch is a rank's part of a step, whatever the policy for the last batches of other orders says.
fn check_batches(case: &Case, epoch: u64, rank: u32, world_size: u32) -> Result<(), TestCaseError> {
    let Ok(plan) = case.planned((world_size > 1).then(|| case.rank(rank, world_size))) else { return Ok(()) };
    let (model, size) = (model_of(case, epoch, rank, world_size), plan.positions_of_step().unwrap());
    let steps = plan.positions_in_steps().unwrap() / size;
    for policy in [LastBatchPolicy::Fill, LastBatchPolicy::Drop, LastBatchPolicy::Partial] {
        let batching = Batching { batch_size: size, policy, pad_last_batch: false };
        let batches = batching.epoch(&plan, epoch);
        prop_assert_eq!((batches.batches, batching.batches_per_epoch(&plan, epoch)), (steps, steps));
        let mut delivered = 0;
        for index in 0..steps {
            let (batch, first) = (batches.batch(index), usize::try_from(index * size).unwrap());
            let of_step = &model[first..first + usize::try_from(size).unwrap()];
            let valid = of_step.iter().take_while(|(own, _)| own.is_some()).count() as u64;
            prop_assert_eq!((batch.start, batch.positions, batch.valid), (index * size, size, valid));
            prop_assert!(batch.shown >= valid && case.places.iter().any(|p| *p == batch.shown * u64::from(world_size)));
            let shown = of_step[..usize::try_from(batch.shown).unwrap()].iter().map(|(_, shown)| *shown);
            prop_assert!((0..batch.shown).map(|place| batches.turn(index, place)).eq(shown), "step {}", index);
            prop_assert_eq!((batches.index_of(batch.start), batches.index_of(batch.start + size)), (index, index + 1));
            delivered += valid;
        }
        prop_assert_eq!(batches.delivered, delivered);
    }
    Ok(())
}

proptest! {
    #[test]
    fn rule_62_each_rank_has_its_part_of_each_step_as_in_a_model_of_lists(
        case in cases(),
        epoch in 0_u64..5,
        parts in prop::collection::vec((0_u64..200, 0_u64..90).prop_map(|(start, len)| start..start + len), 6),
    ) {
        prop_assume!(!case.classes.is_empty());
        let case = Case { places: case.places.iter().map(|places| places * 4).collect(), ..case }.whole();
        for world_size in [1, 2, 4] {
            for rank in 0..world_size {
                check_rank(&case, epoch, rank, world_size, &parts)?;
                check_batches(&case, epoch, rank, world_size)?;
            }
        }
    }
}

fn small() -> Case {
    let classes = vec![0, 1, 1, ClassTable::NONE, 0, 1, 2, 1];
    Case { classes, places: vec![4, 8, 4], sources: vec![], leftovers: Leftovers::Repeat, group: 1, shuffled: true }
}

fn refused(spec: &LedgerSpec, table: Option<&ClassNumbers>) -> String {
    let read = OrderTable::read(spec, None, table);
    read.and_then(|table| Plan::with_table(spec, table)).unwrap_err().to_string()
}

#[test]
fn rule_62_a_plan_needs_the_table_that_its_spec_is_about() {
    let (spec, table) = (small().spec(), small().table().numbers());
    assert!(small().planned(None).is_ok());
    assert!(refused(&spec, None).contains("is missing"));
    let other = Case { classes: vec![0, 1, 1, 2, 0, 1, 2, 1], ..small() }.table().numbers();
    assert!(refused(&spec, Some(&other)).contains("is not the one"));
    for broken in [
        ClassNumbers { numbers: table.numbers[1..].to_vec(), ..table.clone() },
        ClassNumbers { classes: 2, ..table.clone() },
        ClassNumbers { classes: 1 << 16, ..table.clone() },
        ClassNumbers { classes: 300, ..table.clone() },
        ClassNumbers::default(),
    ] {
        assert!(refused(&spec, Some(&broken)).contains("is broken"), "{broken:?}");
    }
}

#[test]
fn rule_62_orders_that_no_epoch_can_have_are_refused_by_name() {
    let (spec, table) = (small().spec(), small().table().numbers());
    let with = |change: &dyn Fn(&mut ClassOrder)| {
        let mut changed = spec.clone();
        change(changed.classes.as_mut().unwrap());
        refused(&changed, Some(&table))
    };
    assert!(with(&|classes| classes.places[1] = 0).contains("3 classes, with 0 to 4 places"));
    assert!(with(&|classes| classes.places[1] = u32::MAX).contains("places of a step"));
    assert!(with(&|classes| classes.places.clear()).contains("0 classes"));
    assert!(with(&|classes| classes.digest.clear()).contains("permutation version 5"));
    assert!(with(&|classes| classes.leftovers = 9).contains("permutation version 5"));
    assert!(with(&|classes| classes.repeats = vec![2]).contains("sources do not fit"));
    assert!(with(&|classes| classes.leftovers = 3).contains("No class has a whole step"));
    let shard = Some(StaticShard { shard_id: 0, num_shards: 2, stick_to_shard: false });
    assert!(refused(&LedgerSpec { shard, ..spec.clone() }, Some(&table)).contains("assignment = \"lockstep\""));
    let rank = |global_batch, world_size| {
        let lockstep = Some(LockstepRank { global_batch, rank: 0, world_size });
        refused(&LedgerSpec { lockstep, ..spec.clone() }, Some(&table))
    };
    assert_eq!(
        rank(8, 3),
        "world_size 3 does not divide the places of each class's steps, which are 4, 8. World sizes that fit: 1, 2, 4."
    );
    assert!(rank(8, 8).contains("which are 4, 8"), "it divides the largest step alone");
    assert!(rank(4, 2).contains("has 8 places. Make it 8."));
    let none = refused(&LedgerSpec { classes: None, ..spec.clone() }, Some(&table));
    assert!(none.contains("permutation version 5, which does not go with no classes"), "{none}");
    let without = refused(&LedgerSpec { permutation: 1, ..spec }, Some(&table));
    assert!(without.contains("permutation version 1, which does not go with classes"), "{without}");
}

#[test]
fn rule_62_the_digest_is_pinned_and_a_table_is_read_back_as_it_was() {
    let table = small().table();
    // Ledgers on disk depend on it.
    assert_eq!(blake3::Hash::from(table.digest()).to_hex().as_str(), PINNED);
    for (classes, count, bytes) in [(small().classes, 3, 1), (vec![0, 255, ClassTable::NONE, 299], 300, 2)] {
        let table = ClassTable::new(classes.clone(), count, &[]).unwrap();
        let numbers = table.numbers();
        assert_eq!(numbers.numbers.len(), classes.len() * bytes);
        let read = ClassTable::from_numbers(&numbers, classes.len() as u64, &[]).unwrap();
        assert_eq!((read.digest(), read.numbers()), (table.digest(), numbers));
    }
}

const PINNED: &str = "f79bc0a88a1d09a1f6d4b58c9ea14f85c062c6696a6d5977f83c48fbbd1de2b9";

#[test]
fn rule_62_the_order_is_pinned() {
    // States and ledgers on disk depend on it.
    let classes: Vec<u16> = (0..300_u32).map(|record| u16::try_from(record * record % 7 % 3).unwrap()).collect();
    let sources = vec![(100, 2), (200, 1)];
    let case =
        Case { classes, places: vec![8, 12, 4], sources, leftovers: Leftovers::Neighbour, group: 1, shuffled: true };
    let order = case.planned(Some(case.rank(1, 2))).unwrap().epoch(5);
    let mut hasher = blake3::Hasher::new();
    for position in 0..order.len() {
        let turn = order.own(position);
        hasher.update(&turn.map_or(u64::MAX, |turn| turn.record() + u64::from(turn.repeat()) * 1000).to_le_bytes());
    }
    assert_eq!(hasher.finalize().to_hex().as_str(), PINNED_ORDER);
}

const PINNED_ORDER: &str = "78d4306b5035cb1c51c3c5ee8471581aacceaaf0c49007ad1733e44f536299c5";
