//! Tests of mixtures against a plain model, which draws the records of each source one after the other.

mod changing;
mod grained;

use std::collections::BTreeMap;

use forebay_proto::v1::SourceShare;
use proptest::prelude::*;

use super::problem::MixtureProblem;
use super::shares::{MIXTURE_PERMUTATION, shares};
use super::*;

fn spec(sources: &[(u64, u64)], shuffle: bool, seed: u64) -> LedgerSpec {
    let share = |&(records, positions): &(u64, u64)| SourceShare { records, positions, ..SourceShare::default() };
    let sources: Vec<SourceShare> = sources.iter().map(share).collect();
    let records = sources.iter().map(|source| source.records).sum();
    let fingerprint = vec![7; 32];
    LedgerSpec {
        fingerprint,
        records,
        shuffle,
        seed,
        permutation: MIXTURE_PERMUTATION,
        sources,
        ..LedgerSpec::default()
    }
}

fn epochs(spec: &LedgerSpec) -> impl Iterator<Item = MixedEpoch> {
    epochs_of(spec, None)
}

fn epochs_of<'a>(spec: &'a LedgerSpec, table: Option<&Arc<GrainTable>>) -> impl Iterator<Item = MixedEpoch> + use<'a> {
    let mixture = Arc::new(Mixture::new(spec, table).unwrap());
    (0..).map(move |epoch| MixedEpoch::new(Arc::clone(&mixture), spec, epoch))
}

fn turns(epoch: &MixedEpoch) -> Vec<Turn> {
    (0..epoch.mixture.positions()).map(|position| epoch.turn(position)).collect()
}

/// The order of a source's records in a cycle, as somebody would write it who has room for them.
fn cycle(spec: &LedgerSpec, number: u64, source: &SourceShare, cycle: u64) -> Vec<u64> {
    let base = Permutation::new(source.records, spec.seed, number, &spec.fingerprint, "source");
    let order = base.part(cycle, source.records);
    (0..source.records).map(|place| if spec.shuffle { order.forward(place) } else { place }).collect()
}

/// The records of each source in one epoch after the other, with the orders of its cycles.
fn model(
    spec: &LedgerSpec,
    count: u64,
    order: impl Fn(&LedgerSpec, u64, &SourceShare, u64) -> Vec<u64>,
) -> Vec<Vec<Turn>> {
    let mut bags: Vec<(u64, Vec<u64>)> = spec.sources.iter().map(|_| (0, Vec::new())).collect();
    let epoch = |epoch| {
        let (mut first, mut all) = (0, Vec::new());
        for (number, source) in (0..).zip(&spec.sources) {
            let (cycle, bag) = &mut bags[usize::try_from(number).unwrap()];
            let mut seen = BTreeMap::<u64, u16>::new();
            for _ in 0..positions(spec, epoch, number) {
                if bag.is_empty() {
                    *bag = order(spec, number, source, *cycle);
                    bag.reverse();
                    *cycle += 1;
                }
                let record = first + bag.pop().unwrap();
                let repeat = seen.entry(record).or_default();
                all.push(Turn::new(record, *repeat));
                *repeat += 1;
            }
            first += source.records;
        }
        all
    };
    (0..count).map(epoch).collect()
}

/// How many positions a source has in an epoch, counted by going through all changes.
fn positions(spec: &LedgerSpec, epoch: u64, number: u64) -> u64 {
    let number = usize::try_from(number).unwrap();
    let mut now = spec.sources[number].positions;
    for change in spec.share_changes.iter().filter(|change| change.epoch <= epoch) {
        now = change.positions[number];
    }
    now
}

fn any_sources() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((1_u64..12, 1_u64..40), 1..5)
}

/// Each record has the positions of its turns, by rising repeat.
fn leads_back(spec: &LedgerSpec, epoch: &MixedEpoch) -> Result<(), TestCaseError> {
    let all = turns(epoch);
    for record in 0..=spec.records {
        let expected = (0..).zip(&all).filter(|(_, turn)| turn.record() == record);
        let mut expected: Vec<(u16, u64)> = expected.map(|(place, turn)| (turn.repeat(), place)).collect();
        expected.sort_unstable();
        let expected: Vec<u64> = expected.into_iter().map(|(_, place)| place).collect();
        prop_assert_eq!(epoch.positions(record).collect::<Vec<_>>(), expected);
    }
    // Every other record, and one that the dataset does not have.
    let some: BTreeSet<u64> = (0..=spec.records).step_by(2).collect();
    let one_by_one = some.iter().flat_map(|&record| epoch.positions(record).map(move |position| (record, position)));
    let (mut all, mut expected) = (Vec::new(), one_by_one.collect::<Vec<_>>());
    epoch.visit_positions(&some, |record, position| all.push((record, position)));
    all.sort_unstable();
    expected.sort_unstable();
    prop_assert_eq!(all, expected);
    Ok(())
}

proptest! {
    #[test]
    fn rule_58_an_epoch_has_what_the_sources_draw_next_and_its_order_is_a_permutation_of_that(
        sources in any_sources(), seed: u64
    ) {
        for shuffle in [false, true] {
            let spec = spec(&sources, shuffle, seed);
            for (epoch, expected) in epochs(&spec).zip(model(&spec, 6, cycle)) {
                let got = turns(&epoch);
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
    fn rule_58_over_any_epochs_the_records_of_a_source_have_equally_many_turns_but_for_one(
        sources in any_sources(), seed: u64, count in 1_usize..9
    ) {
        let spec = spec(&sources, true, seed);
        let mut counts = vec![0_u64; usize::try_from(spec.records).unwrap()];
        for epoch in epochs(&spec).take(count) {
            for turn in turns(&epoch) {
                counts[usize::try_from(turn.record()).unwrap()] += 1;
            }
        }
        let mut first = 0;
        for (records, positions) in sources {
            let own = &counts[first..first + usize::try_from(records).unwrap()];
            let all = positions * count as u64;
            prop_assert!(own.iter().all(|&turns| turns == all / records || turns == all.div_ceil(records)), "{:?}", own);
            first += own.len();
        }
    }

    #[test]
    fn rule_57_positions_lead_back_from_a_record_to_each_of_its_turns(sources in any_sources(), seed: u64) {
        for shuffle in [false, true] {
            let spec = spec(&sources, shuffle, seed);
            for epoch in epochs(&spec).take(3) {
                leads_back(&spec, &epoch)?;
            }
        }
    }

    #[test]
    fn rule_58_shares_are_those_of_the_weights_rounded_and_add_up_to_the_epoch(
        records in prop::collection::vec(1_u64..1_000_000, 1..6), weights in prop::collection::vec(0.01_f64..100.0, 6),
        repeats in 1_u32..4
    ) {
        let weights = &weights[..records.len()];
        let all = records.iter().sum::<u64>() * u64::from(repeats);
        let Ok((shares, _)) = shares(&records, Some(&EpochWeights::constant(weights.to_vec())), repeats) else {
            prop_assert!(all < 100_000, "only a small epoch leaves a source nothing");
            return Ok(());
        };
        prop_assert_eq!(shares.iter().sum::<u64>(), all);
        let sum: f64 = weights.iter().sum();
        for (share, weight) in shares.iter().zip(weights) {
            let exact = weight / sum * f64::from(u32::try_from(all).unwrap());
            prop_assert!((exact - f64::from(u32::try_from(*share).unwrap())).abs() < 1.01, "{} for {}", share, exact);
        }
    }
}

#[test]
fn rule_57_and_58_the_order_is_pinned() {
    // Ledgers on disk depend on these numbers: another order is another permutation version.
    let pinned = |sources: &[(u64, u64)], shuffle, seed, epoch| {
        let spec = spec(sources, shuffle, seed);
        let order = epochs(&spec).nth(epoch).unwrap();
        (0..order.mixture.positions().min(12)).map(|position| order.turn(position).key()).collect::<Vec<_>>()
    };
    let repeat = 1 << 48;
    assert_eq!(pinned(&[(3, 4), (4, 3)], false, 0, 1), [1, 2, 0, repeat + 1, 6, 3, 4]);
    let shuffled = [
        pinned(&[(3, 4), (4, 3)], true, 0, 0),
        pinned(&[(4, 12)], true, 42, 3),
        pinned(&[(1_281_167, 896_817), (50_000, 434_350)], true, 42, 3),
    ];
    assert_eq!(shuffled, PINNED);
}

const PINNED: [&[u64]; 3] = [
    &[0, 2, 1, 3, 281_474_976_710_656, 6, 4],
    &[
        562_949_953_421_315,
        281_474_976_710_658,
        562_949_953_421_313,
        281_474_976_710_656,
        281_474_976_710_657,
        281_474_976_710_659,
        562_949_953_421_314,
        1,
        0,
        3,
        562_949_953_421_312,
        2,
    ],
    &[
        923_263,
        281_474_978_017_478,
        498_095,
        844_424_931_426_961,
        397_472,
        1_147_983,
        281_474_978_023_992,
        346_176,
        124_699,
        1_036_786,
        845_406,
        210_154,
    ],
];

#[test]
fn rule_58_another_seed_or_epoch_is_another_order_and_sources_are_permuted_apart() {
    let all = |seed, epoch| turns(&epochs(&spec(&[(50, 80), (50, 80)], true, seed)).nth(epoch).unwrap());
    assert_ne!(all(1, 0), all(2, 0));
    assert_ne!(all(1, 0), all(1, 1));
    let own = |range: Range<u64>| {
        let turns = all(1, 0).into_iter().filter(|turn| range.contains(&turn.record()));
        turns.map(|turn| (turn.record() - range.start, turn.repeat())).collect::<BTreeSet<_>>()
    };
    assert_ne!(own(0..50), own(50..100), "which records have a second turn");
}

#[test]
fn rule_58_six_billion_records_cost_nothing() {
    let spec = spec(&[(6_000_000_000, 1_000_000_000), (5_000_000, 5_005_000_000)], true, 3);
    let epoch = epochs(&spec).nth(1000).unwrap();
    let turn = epoch.turn(6_004_999_999);
    assert!(epoch.positions(turn.record()).any(|position| position == 6_004_999_999));
    let far = MixedEpoch::new(Arc::clone(&epoch.mixture), &spec, u64::MAX);
    assert!(far.turn(0).record() < spec.records, "an epoch that no ledger has is no reason to panic");
}

#[test]
fn rule_58_weights_that_say_nothing_are_refused_with_the_source() {
    let constant = |weights: &[f64]| EpochWeights::constant(weights.to_vec());
    let refused = |weights: &[f64]| shares(&[10, 10], Some(&constant(weights)), 1).unwrap_err();
    let shared =
        |records: &[u64], weights: &[f64], repeats| shares(records, Some(&constant(weights)), repeats).unwrap();
    assert_eq!(refused(&[1.0]), MixtureProblem::Weights { weights: 1, sources: 2 });
    assert_eq!(refused(&[1.0, 0.0]), MixtureProblem::Weight { number: 1, weight: 0.0 });
    assert!(matches!(refused(&[f64::NAN, 1.0]), MixtureProblem::Weight { number: 0, .. }));
    assert!(matches!(refused(&[f64::INFINITY, 1.0]), MixtureProblem::Weight { number: 0, .. }));
    assert_eq!(refused(&[1.0, 1e-9]), MixtureProblem::Nothing { number: 1, epoch: 0, positions: 20 });
    assert_eq!(shares(&[u64::MAX, 1], None, 1), Err(MixtureProblem::TooLong));
    assert_eq!(shares(&[1 << 40], None, u32::MAX), Err(MixtureProblem::TooLong));
    assert_eq!(shared(&[10, 30], &[3.0, 3.0], 2).0, [40, 40]);
    assert_eq!(shared(&[1, 1, 1], &[1.0, 1.0, 1.0], 1).0, [1, 1, 1]);
    assert_eq!(shared(&[5, 5], &[2.0, 1.0], 1), (vec![7, 3], Vec::new()));
}
