//! Steps whose lengths take turns, compared with lists.

use forebay_proto::v1::{LedgerSpec, LockstepRank};

use super::*;
use crate::plan::{OrderTable, Plan};

/// What a plan is made from.
#[derive(Clone, Debug)]
struct Schedule {
    records: u64,
    repeats: u16,
    places: Vec<u64>,
    shuffled: bool,
}

/// An epoch of the model: the length of each step, and its places.
type ScheduledSteps = Vec<(usize, Vec<Option<Turn>>)>;

impl Schedule {
    fn table(&self) -> ClassTable {
        let classes = vec![0; usize::try_from(self.records).unwrap()];
        ClassTable::new(classes, 1, &[(self.records, self.repeats)]).unwrap()
    }

    fn plan(&self) -> ClassPlan {
        ClassPlan::of_lengths(Arc::new(self.table()), &self.places, self.shuffled.then_some(KEYS))
    }

    /// An epoch, by lists alone.
    fn model(&self, epoch: u64) -> ScheduledSteps {
        let all = self.records * u64::from(self.repeats);
        let order = |of: &str, n| Permutation::new(n, KEYS.0, epoch, &KEYS.1, of);
        let turn = |turn: u64| {
            let turn = if self.shuffled { order("classes", all).part(0, all).forward(turn) } else { turn };
            Turn::new(turn % self.records, u16::try_from(turn / self.records).unwrap())
        };
        let mut waiting: VecDeque<Turn> = (0..all).map(turn).collect();
        let (block_places, lengths) = (self.places.iter().sum::<u64>(), self.places.len() as u64);
        let whole = all / block_places;
        // The steps of an epoch are known before their order is.
        let mut rest = all % block_places;
        let behind = self.places.iter().take_while(|places| {
            let is_needed = rest > 0;
            rest = rest.saturating_sub(**places);
            is_needed
        });
        let steps = whole * lengths + behind.count() as u64;
        let mut blocks = ScheduledSteps::new();
        for block in 0..=whole {
            let mut own: ScheduledSteps = Vec::new();
            for (length, places) in self.places.iter().enumerate() {
                own.push((length, (0..*places).map(|_| waiting.pop_front()).collect()));
            }
            if block < whole && self.shuffled {
                let order = order("class steps", steps).part(block, lengths);
                let moved = (0..lengths).map(|place| own[usize::try_from(order.forward(place)).unwrap()].clone());
                own = moved.collect();
            }
            blocks.extend(own.into_iter().filter(|(_, places)| places[0].is_some()));
        }
        blocks
    }
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let places = prop::collection::vec(1..9_u64, 1..6);
    (1..120_u64, 1..3_u16, places, any::<bool>()).prop_map(|(records, repeats, places, shuffled)| Schedule {
        records,
        repeats,
        places,
        shuffled,
    })
}

proptest! {
    #[test]
    fn rule_65_each_block_has_a_step_of_each_length_and_each_turn_has_one_place(
        schedule in schedules(),
        epoch in 0..5_u64,
    ) {
        let (plan, model) = (schedule.plan(), schedule.model(epoch));
        let (order, most) = (plan.epoch(epoch), plan.layout().places());
        prop_assert_eq!(plan.layout().steps(), model.len() as u64);
        prop_assert_eq!(most, *schedule.places.iter().max().unwrap());
        let mut positions = BTreeMap::<u64, Vec<u64>>::new();
        for (step, (length, places)) in (0..).zip(&model) {
            prop_assert_eq!(order.class(step), Some(*length));
            let turns = places.iter().flatten().count() as u64;
            prop_assert_eq!(order.size(step), Some(ClassSize { turns, places: schedule.places[*length] }));
            for place in 0..most {
                let expected = places.get(usize::try_from(place).unwrap()).copied().flatten();
                let position = step * most + place;
                prop_assert_eq!(order.turn(position), expected, "step {} place {}", step, place);
                if let Some(turn) = expected {
                    positions.entry(turn.record()).or_default().push(position);
                }
            }
        }
        let beyond = model.len() as u64;
        prop_assert_eq!((order.class(beyond), order.size(beyond), order.turn(beyond * most)), (None, None, None));
        for record in 0..schedule.records {
            let mut found: Vec<u64> = order.positions_of(record).collect();
            found.sort_unstable();
            prop_assert_eq!(Some(found), positions.remove(&record));
        }
        prop_assert_eq!(order.positions_of(schedule.records).count(), 0);
    }

    #[test]
    fn rule_65_all_epochs_have_as_many_steps_of_each_length_and_ranks_share_each_of_them(
        schedule in schedules(),
        epoch in 1..5_u64,
        ranks in 1..5_u32,
    ) {
        let places: Vec<u64> = schedule.places.iter().map(|places| places * u64::from(ranks)).collect();
        let schedule = Schedule { places, ..schedule };
        let plan = schedule.plan();
        let lengths = |epoch: u64| {
            let order = plan.epoch(epoch);
            let mut lengths: Vec<_> = (0..plan.layout().steps()).map(|step| order.class(step)).collect();
            lengths.sort_unstable();
            lengths
        };
        prop_assert_eq!(lengths(0), lengths(epoch));
        let whole = Plan::with_table(&spec(&schedule), table(&schedule)).unwrap();
        let (mut all, mut seen) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let lockstep = LockstepRank { global_batch: plan.layout().places(), rank, world_size: ranks };
            let own = whole.of_rank(Some(lockstep)).unwrap();
            let order = own.epoch(epoch);
            let step = own.positions_of_step().unwrap();
            let mut classes = Vec::new();
            for position in 0..own.epoch_len(epoch) {
                let of_step = order.step_class(position / step).unwrap();
                classes.push((of_step.class, of_step.turns));
                seen.extend(order.own(position));
            }
            all.push(classes);
            let records: Vec<u64> = order.turns_of_step(0).map(Turn::record).collect();
            prop_assert_eq!(records.len() as u64, order.step_class(0).unwrap().turns, "of all ranks");
        }
        prop_assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
        seen.sort_unstable_by_key(|turn: &Turn| (turn.record(), turn.repeat()));
        let every = (0..schedule.records).flat_map(|record| (0..schedule.repeats).map(move |repeat| (record, repeat)));
        let seen: Vec<_> = seen.into_iter().map(|turn| (turn.record(), turn.repeat())).collect();
        prop_assert_eq!(seen, every.collect::<Vec<_>>());
    }
}

fn spec(schedule: &Schedule) -> LedgerSpec {
    let places: Vec<u32> = schedule.places.iter().map(|places| u32::try_from(*places).unwrap()).collect();
    let order = schedule.table().order(&places, Leftovers::Repeat, &[schedule.repeats.into()], "");
    LedgerSpec {
        fingerprint: KEYS.1.to_vec(),
        records: schedule.records,
        shuffle: schedule.shuffled,
        seed: KEYS.0,
        permutation: CLASS_PERMUTATION,
        sources: vec![forebay_proto::v1::SourceShare {
            records: schedule.records,
            positions: schedule.records * u64::from(schedule.repeats),
            ..Default::default()
        }],
        classes: Some(forebay_proto::v1::ClassOrder { lengths: (16..).take(places.len()).collect(), ..order }),
        ..LedgerSpec::default()
    }
}

fn table(schedule: &Schedule) -> Option<OrderTable> {
    OrderTable::read(&spec(schedule), None, Some(&schedule.table().numbers())).unwrap()
}

#[test]
fn rule_65_lengths_of_a_spec_have_places_each_and_no_other_leftovers() {
    let schedule = Schedule { records: 10, repeats: 1, places: vec![4, 2], shuffled: true };
    let whole = spec(&schedule);
    let change = |change: fn(&mut forebay_proto::v1::ClassOrder)| {
        let mut spec = whole.clone();
        change(spec.classes.as_mut().unwrap());
        Plan::with_table(&spec, table(&schedule)).map(|plan| plan.positions()).map_err(|error| error.to_string())
    };
    assert_eq!(change(|_| ()), Ok(12), "three steps: a block, and one more of the first length");
    assert!(change(|order| order.lengths.truncate(1)).unwrap_err().contains("1 lengths and the places of 2"));
    assert!(change(|order| order.leftovers = 1).unwrap_err().contains("leftovers"));
    assert!(
        change(|order| order.lengths.clear()).unwrap_err().contains("not the one"),
        "two classes, and a table of one"
    );
    let other = |lengths: Vec<u32>| {
        let mut spec = whole.clone();
        spec.classes.as_mut().unwrap().lengths = lengths;
        crate::spec_hash(&spec)
    };
    assert_ne!(other(vec![16, 17]), other(vec![16, 18]), "another length is another run");
}
