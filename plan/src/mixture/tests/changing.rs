//! Tests of shares that change between epochs, against the model of mixtures.

use forebay_proto::v1::{ShareChange, StaticShard};

use super::*;
use crate::grains::CHANGING_GRAIN_PERMUTATION;
use crate::mixture::shares::CHANGING_MIXTURE_PERMUTATION;
use crate::plan::Plan;
use crate::spec::{SpecError, differences, spec_hash};

/// Numbers of records of sources, and their positions by epoch, each of which has as many.
fn any_changing() -> impl Strategy<Value = LedgerSpec> {
    let cuts = |sources| prop::collection::vec(prop::collection::vec(0_u64..=20, sources - 1), 2..5);
    let any = prop::collection::vec(1_u64..12, 1..5).prop_flat_map(move |records| {
        let len = records.len();
        (Just(records), cuts(len), prop::collection::vec(1_u64..4, 4), any::<u64>())
    });
    any.prop_map(|(records, cuts, gaps, seed)| {
        let mut phases = cuts.into_iter().map(|mut cuts| {
            cuts.extend([0, 20]);
            cuts.sort_unstable();
            cuts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
        });
        let first = phases.next().unwrap();
        let mut epoch = 0;
        let changes = phases.zip(gaps).map(|(positions, gap)| {
            epoch += gap;
            ShareChange { epoch, positions }
        });
        let share_changes = changes.collect();
        let sources: Vec<(u64, u64)> = records.into_iter().zip(first).collect();
        LedgerSpec { permutation: CHANGING_MIXTURE_PERMUTATION, share_changes, ..spec(&sources, false, seed) }
    })
}

proptest! {
    #[test]
    fn rule_67_a_source_draws_on_where_it_was_whatever_its_share_becomes(spec in any_changing()) {
        for shuffle in [false, true] {
            let spec = LedgerSpec { shuffle, ..spec.clone() };
            Plan::new(&spec).unwrap();
            for (epoch, expected) in epochs(&spec).zip(model(&spec, 10, cycle)) {
                let got = turns(&epoch);
                leads_back(&spec, &epoch)?;
                if shuffle {
                    prop_assert_eq!(got.iter().collect::<BTreeSet<_>>(), expected.iter().collect::<BTreeSet<_>>());
                    prop_assert_eq!(got.len(), expected.len());
                } else {
                    prop_assert_eq!(got, expected);
                }
            }
        }
    }

    #[test]
    fn rule_67_each_source_is_counted_with_the_shares_of_the_epoch(spec in any_changing(), ends in (0_u64..25, 0_u64..25)) {
        let range = ends.0.min(ends.1)..ends.0.max(ends.1);
        for (shuffle, shard) in [(false, None), (true, None), (true, Some((1, 3)))] {
            let shard = shard.map(|(shard_id, num_shards)| StaticShard { shard_id, num_shards, stick_to_shard: false });
            let plan = Plan::new(&LedgerSpec { shuffle, shard, ..spec.clone() }).unwrap();
            for epoch in 0..10 {
                let (order, mut counts) = (plan.epoch(epoch), vec![0; plan.sources().len()]);
                let records = range.clone().filter_map(|position| order.own(position)).map(Turn::record);
                records.for_each(|record| counts[plan.source(record).unwrap()] += 1);
                prop_assert_eq!(order.count_sources(plan.sources(), &range), counts);
            }
        }
    }
}

#[test]
fn rule_67_grains_are_mixed_in_blocks_of_the_shares_that_the_epoch_has() {
    let table = Arc::new(GrainTable::new(&[0, 3, 7, 8, 20], 38).unwrap());
    let plain = spec(&[(7, 21), (1, 0), (30, 17)], true, 5);
    let spec = LedgerSpec {
        permutation: CHANGING_GRAIN_PERMUTATION,
        grains: Some(table.order(2)),
        share_changes: vec![
            ShareChange { epoch: 2, positions: vec![0, 3, 35] },
            ShareChange { epoch: 3, positions: vec![10, 9, 19] },
        ],
        ..plain
    };
    Plan::with_grains(&spec, Some(Arc::clone(&table))).unwrap();
    for (number, epoch) in (0..6).zip(epochs_of(&spec, Some(&table))) {
        let mut counts = [0; 3];
        for turn in turns(&epoch) {
            counts[usize::from(turn.record() >= 7) + usize::from(turn.record() >= 8)] += 1;
        }
        assert_eq!(counts, [0, 1, 2].map(|source| positions(&spec, number, source)), "epoch {number}");
        leads_back(&spec, &epoch).unwrap();
    }
}

#[test]
fn rule_67_a_billion_epochs_are_a_sum_over_the_changes() {
    let spec = LedgerSpec {
        permutation: CHANGING_MIXTURE_PERMUTATION,
        share_changes: vec![
            ShareChange { epoch: 1 << 30, positions: vec![10, 0] },
            ShareChange { epoch: 1 << 40, positions: vec![0, 10] },
        ],
        ..spec(&[(6, 5), (4, 5)], false, 1)
    };
    let plan = Plan::new(&spec).unwrap();
    // 5 draws an epoch, then 10: the first draw of epoch 2^30 + 1 is 5 * 2^30 + 10.
    let first = 5_u64 * (1 << 30) + 10;
    assert_eq!(plan.record((1 << 30) + 1, 0), first % 6);
    // The second source has drawn nothing since epoch 2^30, and then was at a multiple of its 4 records.
    assert_eq!(plan.record(1 << 40, 0), 6);
}

#[test]
fn rule_67_shares_that_change_belong_to_the_run_and_others_are_refused() {
    let change = |epoch, positions: &[u64]| ShareChange { epoch, positions: positions.to_vec() };
    let of = |changes: &[ShareChange]| LedgerSpec {
        permutation: CHANGING_MIXTURE_PERMUTATION,
        share_changes: changes.to_vec(),
        ..spec(&[(3, 4), (4, 3)], true, 1)
    };
    let kept = of(&[change(2, &[0, 7])]);
    Plan::new(&kept).unwrap();
    let asked = of(&[change(3, &[0, 7])]);
    assert_ne!(spec_hash(&kept), spec_hash(&asked));
    let said = "the positions of each source was 4 + 3, from epoch 2 on 0 + 7 and is now 4 + 3, from epoch 3 on 0 + 7";
    assert_eq!(differences(&kept, &asked), said);
    for wrong in [
        vec![],
        vec![change(0, &[3, 4])],
        vec![change(2, &[0, 7]), change(2, &[1, 6])],
        vec![change(2, &[0, 8])],
        vec![change(2, &[7])],
        vec![change(2, &[u64::MAX, 8])],
    ] {
        let refused = Plan::new(&of(&wrong)).unwrap_err();
        assert!(matches!(refused, SpecError::Mixture(MixtureProblem::Spec { .. })), "{wrong:?}: {refused}");
    }
    let often = LedgerSpec { share_changes: vec![change(1, &[0, 1 << 40])], ..of(&[]) };
    let often = LedgerSpec {
        sources: vec![
            SourceShare { records: 1 << 39, positions: 1 << 40, ..SourceShare::default() },
            SourceShare { records: 4, positions: 0, ..SourceShare::default() },
        ],
        records: (1 << 39) + 4,
        ..often
    };
    assert!(matches!(Plan::new(&often), Err(SpecError::Mixture(MixtureProblem::Repeats { number: 1, .. }))));
    let constant = LedgerSpec { permutation: MIXTURE_PERMUTATION, ..kept };
    assert!(Plan::new(&constant).is_err(), "a version of constant shares has no changes");
}

#[test]
fn rule_67_weights_that_do_not_change_anything_are_no_change() {
    let from = |epoch, weights: [f64; 2]| EpochWeights { epoch, weights: weights.to_vec() };
    let shared = |weights: &[EpochWeights]| shares(&[10, 10], Some(weights), 1);
    let constant = shared(&[from(0, [1.0, 3.0]), from(5, [2.0, 6.0])]).unwrap();
    assert_eq!(constant, (vec![5, 15], Vec::new()));
    let (first, changes) = shared(&[from(0, [0.0, 3.0]), from(5, [0.0, 2.0]), from(6, [1.0, 0.0])]).unwrap();
    assert_eq!((first, changes), (vec![0, 20], vec![ShareChange { epoch: 6, positions: vec![20, 0] }]));
    let nothing = shared(&[from(0, [1.0, 1.0]), from(5, [1.0, 1e-9])]);
    assert_eq!(nothing, Err(MixtureProblem::Nothing { number: 1, epoch: 5, positions: 20 }));
}
