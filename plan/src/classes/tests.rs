//! Plans of classes, compared with an independent model that makes lists of turns.

mod lengths;
mod ranks;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use forebay_proto::Turn;
use proptest::prelude::*;

use super::*;
use crate::permutation::Permutation;

const KEYS: (u64, [u8; 32]) = (7, [3; 32]);

/// An epoch of the model: each step as its places, and behind them the steps of dropped turns.
type ModelSteps = Vec<Vec<Option<(u64, u16)>>>;

/// What a plan is made from.
#[derive(Clone, Debug)]
struct Case {
    classes: Vec<u16>,
    places: Vec<u64>,
    sources: Vec<(u64, u16)>,
    leftovers: Leftovers,
    group: u64,
    shuffled: bool,
}

impl Case {
    fn plan(&self) -> ClassPlan {
        let count = u16::try_from(self.places.len()).unwrap();
        let table = ClassTable::new(self.classes.clone(), count, &self.sources).unwrap();
        ClassPlan::new(Arc::new(table), &self.places, self.leftovers, self.group, self.shuffled.then_some(KEYS))
    }

    fn repeats(&self, record: usize) -> u16 {
        let mut end = 0;
        for (len, repeats) in &self.sources {
            end += usize::try_from(*len).unwrap();
            if record < end {
                return *repeats;
            }
        }
        1
    }

    /// The turns of a class as they are in the dataset: source by source, pass by pass.
    fn turns(&self, class: usize) -> Vec<(u64, u16)> {
        let mut bounds: Vec<usize> = vec![0];
        for (len, _) in &self.sources {
            bounds.push((bounds.last().unwrap() + usize::try_from(*len).unwrap()).min(self.classes.len()));
        }
        bounds.push(self.classes.len());
        let mut turns = Vec::new();
        for source in bounds.windows(2) {
            let most = (source[0]..source[1]).map(|record| self.repeats(record)).max().unwrap_or(0);
            for repeat in 0..most {
                let own = (source[0]..source[1]).filter(|record| usize::from(self.classes[*record]) == class);
                turns.extend(own.map(|record| (record as u64, repeat)));
            }
        }
        turns
    }

    /// An epoch, by lists alone.
    fn model(&self, epoch: u64) -> ModelSteps {
        let all: u64 = (0..self.places.len()).map(|class| self.turns(class).len() as u64).sum();
        let last = (0..self.places.len()).rfind(|class| !self.turns(*class).is_empty());
        let (mut waiting, mut steps, mut dropped) = (VecDeque::new(), ModelSteps::new(), ModelSteps::new());
        for (class, places) in self.places.iter().enumerate() {
            let turns = self.turns(class);
            let keys = Permutation::new(all, KEYS.0, epoch, &KEYS.1, "classes").part(class as u64, turns.len() as u64);
            let shuffled = |place: u64| if self.shuffled { keys.forward(place) } else { place };
            let place = |place: usize| usize::try_from(shuffled(place as u64)).unwrap();
            waiting.extend((0..turns.len()).map(|own| turns[place(own)]));
            let places = usize::try_from(*places).unwrap();
            let group = places * usize::try_from(self.group).unwrap();
            while waiting.len() >= group {
                steps.extend((0..self.group).map(|_| waiting.drain(..places).map(Some).collect::<Vec<_>>()));
            }
            let is_passed_on = self.leftovers == Leftovers::Neighbour && Some(class) != last;
            while !is_passed_on && !waiting.is_empty() {
                let mut rest: Vec<_> = waiting.drain(..waiting.len().min(places)).map(Some).collect();
                rest.resize(places, None);
                if self.leftovers == Leftovers::Drop { dropped.push(rest) } else { steps.push(rest) }
            }
        }
        if self.shuffled {
            let mut groups: Vec<ModelSteps> =
                steps.chunks(usize::try_from(self.group).unwrap()).map(<[_]>::to_vec).collect();
            let whole = steps.len() / usize::try_from(self.group).unwrap();
            let behind = groups.split_off(whole);
            let order = Permutation::new(whole as u64, KEYS.0, epoch, &KEYS.1, "class steps");
            let laid = (0..whole as u64).map(|group| groups[usize::try_from(order.forward(group)).unwrap()].clone());
            steps = laid.chain(behind).flatten().collect();
        }
        steps.extend(dropped);
        steps
    }
}

/// Compares all positions of an epoch with the model, and the positions of all records with those.
fn check(case: &Case, epoch: u64) -> Result<(), TestCaseError> {
    let plan = case.plan();
    let (order, model) = (plan.epoch(epoch), case.model(epoch));
    let places = case.places.iter().copied().max().unwrap();
    prop_assert_eq!(order.positions(), model.len() as u64 * places);
    let mut positions: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (step, expected) in (0..).zip(&model) {
        for place in 0..places {
            let position = step * places + place;
            let turn = expected.get(usize::try_from(place).unwrap()).copied().flatten();
            prop_assert_eq!(
                order.turn(position),
                turn.map(|(record, repeat)| Turn::new(record, repeat)),
                "{}",
                position
            );
            if let Some((record, _)) = turn {
                positions.entry(record).or_default().push(position);
            }
        }
    }
    for record in 0..case.classes.len() as u64 + 2 {
        let mut found: Vec<u64> = order.positions_of(record).collect();
        found.sort_unstable();
        let turns = positions.get(&record).cloned().unwrap_or_default();
        let class = case.classes.get(usize::try_from(record).unwrap()).filter(|class| **class != ClassTable::NONE);
        prop_assert_eq!(turns.len(), class.map_or(0, |_| case.repeats(usize::try_from(record).unwrap()).into()));
        prop_assert_eq!(found, turns, "record {}", record);
    }
    check_shares(case, &plan, &model)
}

/// What the layout says of each class is what the model's steps have.
fn check_shares(case: &Case, plan: &ClassPlan, model: &ModelSteps) -> Result<(), TestCaseError> {
    let layout = plan.layout();
    let turns: u64 = (0..case.places.len()).map(|class| case.turns(class).len() as u64).sum();
    prop_assert_eq!(layout.turns(), turns);
    let sum = |of: fn(&ClassShare) -> u64| layout.shares().iter().map(of).sum::<u64>();
    prop_assert_eq!(sum(|share| share.steps * share.places - share.copies + share.dropped), turns);
    let steps = &model[..usize::try_from(layout.steps()).unwrap()];
    let bare = steps.iter().flatten().filter(|place| place.is_none()).count() as u64;
    prop_assert_eq!(sum(|share| share.copies), bare);
    let dropped = model[steps.len()..].iter().flatten().flatten().count() as u64;
    prop_assert_eq!(sum(|share| share.dropped), dropped);
    let order = plan.epoch(1);
    let (mut moved, mut by_class) = (0, vec![0; case.places.len()]);
    for step in 0..layout.steps() {
        let class = order.class(step).unwrap();
        by_class[class] += 1;
        for place in 0..layout.places() {
            let turn = order.turn(step * layout.places() + place);
            let is_moved = |turn: Turn| usize::from(case.classes[usize::try_from(turn.record()).unwrap()]) != class;
            moved += u64::from(turn.is_some_and(is_moved));
        }
    }
    prop_assert_eq!(sum(|share| share.moved), moved);
    prop_assert_eq!(layout.shares().iter().map(|share| share.steps).collect::<Vec<_>>(), by_class);
    Ok(())
}

fn cases() -> impl Strategy<Value = Case> {
    let class = prop_oneof![3 => 0_u16..5, 1 => Just(2_u16), 1 => Just(ClassTable::NONE)];
    let leftovers = prop::sample::select(&[
        (Leftovers::Neighbour, 1),
        (Leftovers::Neighbour, 2),
        (Leftovers::Neighbour, 5),
        (Leftovers::Repeat, 1),
        (Leftovers::Drop, 1),
        (Leftovers::Drop, 3),
    ]);
    let sources = prop::collection::vec((0_u64..40, 1_u16..4), 0..3);
    (prop::collection::vec(class, 0..90), prop::collection::vec(1_u64..12, 5), sources, leftovers, any::<bool>())
        .prop_map(|(classes, places, sources, (leftovers, group), shuffled)| Case {
            classes,
            places,
            sources,
            leftovers,
            group,
            shuffled,
        })
}

proptest! {
    #[test]
    fn rule_62_every_turn_has_one_position_as_in_a_model_of_lists(case in cases(), epoch in 0_u64..5) {
        check(&case, epoch)?;
    }
}

#[test]
fn rule_62_empty_classes_and_classes_of_one_record_are_as_the_model_has_them() {
    for leftovers in [Leftovers::Neighbour, Leftovers::Repeat, Leftovers::Drop] {
        for classes in
            [vec![], vec![ClassTable::NONE; 3], vec![1], vec![4, 0], vec![0, 1, 2, 3, 4], vec![2; 12], vec![3; 5]]
        {
            let places = vec![4, 4, 8, 4, 2];
            for group in if leftovers == Leftovers::Repeat { 1..2 } else { 1..4 } {
                let (classes, places) = (classes.clone(), places.clone());
                check(&Case { classes, places, sources: vec![], leftovers, group, shuffled: true }, 1).unwrap();
            }
        }
    }
}

#[test]
fn rule_62_with_neighbours_an_epoch_has_fewer_copies_than_a_step_has_places_and_they_are_in_the_last_class() {
    let turns = [1000, 3, 0, 517, 64, 1, 2000];
    let sizes = turns.map(|turns| ClassSize { turns, places: 64 });
    let layout = ClassLayout::new(&sizes, Leftovers::Neighbour, 1);
    let copies: Vec<u64> = layout.shares().iter().map(|share| share.copies).collect();
    assert_eq!(copies[..6], [0; 6]);
    assert_eq!((layout.steps(), copies[6]), (57, 57 * 64 - 3585));
    let moved: u64 = layout.shares().iter().map(|share| share.moved).sum();
    assert!(moved <= 6 * 63, "{moved}");
    let repeated = ClassLayout::new(&sizes, Leftovers::Repeat, 1);
    assert_eq!(repeated.shares().iter().map(|share| share.moved).sum::<u64>(), 0);
    assert_eq!(repeated.steps(), 16 + 1 + 9 + 1 + 1 + 32);
    let dropped = ClassLayout::new(&sizes, Leftovers::Drop, 1);
    assert_eq!(dropped.shares().iter().map(|share| (share.copies, share.dropped)).max(), Some((0, 40)));
    assert_eq!((dropped.steps(), dropped.positions()), (15 + 8 + 1 + 31, (55 + 5) * 64));
}

#[test]
fn rule_62_steps_whose_gradients_are_accumulated_have_one_class_also_behind_a_shuffle() {
    let turns = [100, 3, 0, 517, 64, 1, 200];
    let classes = (0..).zip(turns).flat_map(|(class, turns)| vec![class; turns]).collect();
    let case = Case {
        classes,
        places: vec![8; 7],
        sources: vec![],
        leftovers: Leftovers::Neighbour,
        group: 4,
        shuffled: true,
    };
    let plan = case.plan();
    assert_eq!(plan.layout().steps(), 885_u64.div_ceil(8), "as many steps as without groups");
    for epoch in 0..20 {
        let order = plan.epoch(epoch);
        let classes: Vec<_> = (0..plan.layout().steps()).map(|step| order.class(step).unwrap()).collect();
        assert!(classes.chunks(4).all(|group| group.iter().all(|class| *class == group[0])), "{classes:?}");
        assert!(classes[..8].iter().any(|class| *class != classes[0]) || epoch > 0);
    }
    let dropped = Case { leftovers: Leftovers::Drop, ..case }.plan();
    let shares = dropped.layout().shares();
    assert_eq!(shares.iter().map(|share| share.steps).collect::<Vec<_>>(), [12, 0, 0, 64, 8, 0, 24]);
    assert_eq!(shares.iter().map(|share| share.dropped).collect::<Vec<_>>(), [4, 3, 0, 5, 0, 1, 8]);
    assert_eq!(dropped.layout().positions(), (108 + 5) * 8);
}

#[test]
fn rule_62_two_epochs_differ_in_their_order_and_not_in_their_steps() {
    let classes: Vec<u16> = (0..500).map(|record| record % 3).collect();
    let case = Case {
        classes,
        places: vec![16; 3],
        sources: vec![],
        leftovers: Leftovers::Neighbour,
        group: 1,
        shuffled: true,
    };
    let plan = case.plan();
    let turns =
        |epoch| (0..plan.layout().positions()).map(|position| plan.epoch(epoch).turn(position)).collect::<Vec<_>>();
    let classes =
        |epoch| (0..plan.layout().steps()).map(|step| plan.epoch(epoch).class(step).unwrap()).collect::<Vec<_>>();
    assert_ne!(turns(0), turns(1));
    assert_ne!(classes(0), classes(1));
    let sorted = |mut classes: Vec<usize>| {
        classes.sort_unstable();
        classes
    };
    assert_eq!(sorted(classes(0)), sorted(classes(1)));
}

/// Run it by hand: it takes 6 GB. It prints the memory and the time of a position.
#[test]
#[ignore = "takes 6 GB of memory"]
fn rule_62_a_billion_records_take_six_bytes_each_and_sampled_positions_are_found_again() {
    let records = 1_000_000_000_u64;
    let start = std::time::Instant::now();
    let classes = (0..records).map(|record| u16::try_from(record.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58).unwrap());
    let table = ClassTable::new(classes.collect(), 64, &[]).unwrap();
    println!("{} bytes, {:?}", table.bytes(), start.elapsed());
    assert!(table.bytes() as u64 <= 6 * records + (1 << 20));
    let plan = ClassPlan::new(Arc::new(table), &[256; 64], Leftovers::Neighbour, 1, Some(KEYS));
    let order = plan.epoch(3);
    let (samples, start) = (1_000_000, std::time::Instant::now());
    let positions = (0..samples).map(|sample| sample * (order.positions() / samples));
    let turns: Vec<_> = positions.map(|position| (position, order.turn(position))).collect();
    println!("{:?} for each of {samples} positions", start.elapsed() / u32::try_from(samples).unwrap());
    for (position, turn) in turns.into_iter().step_by(100) {
        assert!(turn.is_none_or(|turn| order.positions_of(turn.record()).eq([position])), "{position}");
    }
}
