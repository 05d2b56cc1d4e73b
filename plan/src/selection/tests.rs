//! Tests of orders of selected records, beside the same orders of a dataset that has these alone.

use std::collections::BTreeSet;

use forebay_proto::RecordSum;
use forebay_proto::v1::{LockstepRank, SourceShare, StaticShard};
use proptest::prelude::*;

use super::*;
use crate::audit::expected;
use crate::classes::{CLASS_PERMUTATION, ClassTable, Leftovers};
use crate::grains::{GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainTable};
use crate::mixture::shares::MIXTURE_PERMUTATION;
use crate::plan::{OrderTable, Plan};
use crate::spec::{PERMUTATION, SpecError, differences, spec_hash};

fn table(selected: &[u64], records: u64) -> SelectionTable {
    let mut words = vec![0; usize::try_from(records.div_ceil(64)).unwrap()];
    for record in selected {
        words[usize::try_from(record / 64).unwrap()] |= 1 << (record % 64);
    }
    SelectionTable::new(words.into(), records).unwrap()
}

/// The spec of the same order, of the records of a selection.
fn of(selection: &SelectionTable, dense: &LedgerSpec) -> LedgerSpec {
    LedgerSpec { permutation: dense.permutation + SELECTED, selection: Some(selection.order()), ..dense.clone() }
}

proptest! {
    #[test]
    fn rule_66_places_and_records_are_those_of_a_list(
        bits in prop::collection::vec(prop_oneof![Just(false), Just(true), any::<bool>()], 1..700)
    ) {
        let records = bits.len() as u64;
        let selected: Vec<u64> = (0..).zip(&bits).filter(|(_, bit)| **bit).map(|(record, _)| record).collect();
        let of_list = table(&selected, records);
        prop_assert_eq!((of_list.count(), of_list.records()), (selected.len() as u64, records));
        for (place, record) in (0..).zip(&selected) {
            prop_assert_eq!((of_list.record(place), of_list.place(*record)), (*record, Some(place)));
        }
        for record in 0..records + 3 {
            let below = selected.partition_point(|other| *other < record) as u64;
            prop_assert_eq!(of_list.below(record), below);
            prop_assert_eq!(of_list.place(record).is_some(), selected.binary_search(&record).is_ok());
        }
        let stored = of_list.selected();
        prop_assert_eq!(stored.bits.len() as u64, records.div_ceil(8));
        prop_assert_eq!(&SelectionTable::read(&stored, records).unwrap(), &of_list);
    }

    #[test]
    fn whatever_bits_are_read_they_are_of_so_many_records_or_refused(
        bits in prop::collection::vec(any::<u8>(), 0..40), records in 0_u64..400
    ) {
        match SelectionTable::read(&SelectedRecords { bits: bits.clone() }, records) {
            Ok(read) => prop_assert_eq!(read.selected().bits, bits),
            Err(problem) => prop_assert_eq!(problem, SelectionProblem::Broken),
        }
    }
}

#[test]
fn rule_66_the_digest_is_pinned() {
    // Ledgers on disk depend on it.
    let digest =
        |selected: &[u64], records| blake3::Hash::from_slice(&table(selected, records).order().digest).unwrap();
    assert_eq!(digest(&[0, 3, 7], 10).to_hex().as_str(), PINNED);
    assert_ne!(digest(&[0, 3, 8], 10), digest(&[0, 3, 7], 10));
    assert_ne!(digest(&[0, 3, 7], 11), digest(&[0, 3, 7], 10));
}

const PINNED: &str = "27feb15b000d49a792758446bb7df417ee4dcbc8ed0b4e328230654895cf1d7f";

/// Every kind of order of 90 records, which are 30 and 60 of two sources where an order has sources.
fn orders() -> Vec<(LedgerSpec, Option<OrderTable>)> {
    let share = |records, positions| SourceShare { records, positions, ..SourceShare::default() };
    let plain = LedgerSpec {
        fingerprint: vec![5; 32],
        records: 90,
        seed: 3,
        permutation: PERMUTATION,
        ..LedgerSpec::default()
    };
    let shuffled = LedgerSpec { shuffle: true, ..plain.clone() };
    let mixed = |positions: [u64; 2]| vec![share(30, positions[0]), share(60, positions[1])];
    let grains = Arc::new(GrainTable::new(&[0, 7, 8, 20, 30, 44, 80], 90).unwrap());
    let by_grains = LedgerSpec { permutation: GRAIN_PERMUTATION, grains: Some(grains.order(3)), ..shuffled.clone() };
    let grained = || Some(OrderTable::Grains(Arc::clone(&grains)));
    let classes = (0..90).map(|record| if record % 11 == 5 { ClassTable::NONE } else { record % 3 }).collect();
    let classes = Arc::new(ClassTable::new(classes, 3, &[]).unwrap());
    let of_classes = LedgerSpec {
        permutation: CLASS_PERMUTATION,
        classes: Some(classes.order(&[4, 8, 4], Leftovers::Neighbour, &[], "a rule")),
        ..shuffled.clone()
    };
    let mixture =
        |positions| LedgerSpec { permutation: MIXTURE_PERMUTATION, sources: mixed(positions), ..shuffled.clone() };
    let grain_mixture =
        LedgerSpec { permutation: GRAIN_MIXTURE_PERMUTATION, sources: mixed([60, 120]), ..by_grains.clone() };
    let shard = Some(StaticShard { shard_id: 1, num_shards: 4, stick_to_shard: false });
    let lockstep = |global_batch| Some(LockstepRank { global_batch, rank: 1, world_size: 2 });
    vec![
        (plain.clone(), None),
        (LedgerSpec { sources: mixed([30, 60]), ..plain.clone() }, None),
        (LedgerSpec { shard, ..shuffled.clone() }, None),
        (LedgerSpec { lockstep: lockstep(8), ..shuffled.clone() }, None),
        (shuffled.clone(), None),
        (mixture([60, 120]), None),
        (mixture([75, 15]), None),
        (LedgerSpec { shuffle: false, ..mixture([75, 15]) }, None),
        (LedgerSpec { lockstep: lockstep(8), ..mixture([75, 15]) }, None),
        (by_grains, grained()),
        (grain_mixture, grained()),
        (of_classes.clone(), Some(OrderTable::Classes(Arc::clone(&classes)))),
        (LedgerSpec { lockstep: lockstep(8), ..of_classes }, Some(OrderTable::Classes(classes))),
    ]
}

#[test]
fn rule_66_every_order_of_selected_records_is_that_of_a_dataset_of_these_with_their_own_numbers() {
    // 90 of 700 records, with gaps of every length up to 14.
    let gaps = |next: &mut u64, step: u64| {
        let own = *next;
        *next += 1 + step % 15;
        Some(own)
    };
    let selected: Vec<u64> = (0..90).scan(3, gaps).collect();
    let selection = Arc::new(table(&selected, 750));
    let own = |place: u64| selected[usize::try_from(place).unwrap()];
    let turn = |turn: Turn| Turn::new(own(turn.record()), turn.repeat());
    for (dense_spec, order) in orders() {
        let spec = of(&selection, &dense_spec);
        let dense = Plan::with_table(&dense_spec, order.clone()).unwrap();
        let plan = Plan::with_selection(&spec, order.clone(), Some(Arc::clone(&selection))).unwrap();
        assert_eq!((plan.positions(), plan.dataset_records()), (dense.positions(), 750));
        assert_eq!((plan.is_plain(), plan.has_equal_epochs()), (dense.is_plain(), dense.has_equal_epochs()));
        for epoch in [0, 1, 5] {
            let (ours, theirs) = (plan.epoch(epoch), dense.epoch(epoch));
            assert_eq!((ours.len(), ours.records()), (theirs.len(), theirs.records()));
            for position in 0..ours.len() + 3 {
                assert_eq!(ours.turn(position), turn(theirs.turn(position)));
                assert_eq!(ours.own(position), theirs.own(position).map(turn));
            }
            for (place, record) in (0..).zip(&selected) {
                let positions: Vec<u64> = ours.positions_of(*record).collect();
                assert_eq!(positions, theirs.positions_of(place).collect::<Vec<_>>());
                assert_eq!(plan.source(*record), dense.source(place));
            }
            for other in (0..800).filter(|record| selected.binary_search(record).is_err()) {
                assert!(ours.positions_of(other).next().is_none() && plan.source(other).is_none(), "{other}");
            }
            let of_some: BTreeSet<u64> = (0..700).filter(|record| record % 3 == 0).collect();
            let mut visited = BTreeSet::new();
            ours.visit_positions(&of_some, |record, position| assert!(visited.insert((record, position))));
            let positions =
                |record: &u64| ours.positions_of(*record).map(|position| (*record, position)).collect::<Vec<_>>();
            assert_eq!(visited, of_some.iter().flat_map(positions).collect());
            let span = 2..ours.len().saturating_sub(1);
            assert_eq!(ours.count_sources(plan.sources(), &span), theirs.count_sources(dense.sources(), &span));
            let sums = expected(&plan, epoch, 0..u64::MAX, |_| {});
            let turns = (0..theirs.len()).filter_map(|position| theirs.own(position)).map(|own| turn(own).key());
            assert_eq!(sums.sum, turns.collect::<RecordSum>());
            assert_eq!(sums.sources, expected(&dense, epoch, 0..u64::MAX, |_| {}).sources);
        }
        if plan.part().is_none() && plan.is_plain() {
            let all = expected(&plan, 4, 0..u64::MAX, |_| {}).sum;
            assert_eq!(all, selected.iter().copied().collect::<RecordSum>(), "each once");
        }
    }
}

#[test]
fn rule_66_a_spec_and_its_selection_belong_together() {
    let (one, other) = (Arc::new(table(&[1, 2, 5], 9)), Arc::new(table(&[1, 2, 6], 9)));
    let dense = LedgerSpec { fingerprint: vec![5; 32], records: 3, permutation: PERMUTATION, ..LedgerSpec::default() };
    let (spec, of_other) = (of(&one, &dense), of(&other, &dense));
    let refused = |spec: &LedgerSpec, selection: Option<&Arc<SelectionTable>>| {
        Plan::with_selection(spec, None, selection.cloned()).unwrap_err()
    };
    assert!(Plan::with_selection(&spec, None, Some(Arc::clone(&one))).is_ok());
    assert_eq!(refused(&spec, Some(&other)), SpecError::Selection(SelectionProblem::Other));
    assert_eq!(refused(&spec, None), SpecError::Selection(SelectionProblem::Missing));
    for wrong in [
        LedgerSpec { permutation: PERMUTATION, ..spec.clone() },
        LedgerSpec { selection: None, ..spec.clone() },
        LedgerSpec { records: 10, ..spec.clone() },
        LedgerSpec { selection: Some(RecordSelection { digest: vec![1; 31], records: 9 }), ..spec.clone() },
    ] {
        let words = refused(&wrong, Some(&one)).to_string();
        assert!(words.contains("digest of 32 bytes over the selected records"), "{words}");
    }
    let unknown = LedgerSpec { permutation: SELECTED + 77, ..spec.clone() };
    assert_eq!(refused(&unknown, Some(&one)), SpecError::Permutation(77));
    assert_ne!(spec_hash(&spec), spec_hash(&of_other));
    let words = differences(&spec, &of_other);
    assert!(words.starts_with("the selection was ") && words.contains("(3 of 9 records) and is now "), "{words}");
    let words = differences(&dense, &spec);
    assert!(words.contains("the selection was none and is now "), "{words}");
}
