//! Tests of mixtures whose sources are permuted by grains, against a plain model of each source.

use super::*;
use crate::grains::GRAIN_MIXTURE_PERMUTATION;

fn places(count: usize) -> Range<u64> {
    0..count as u64
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

/// The lengths of a source's grains, and its positions.
type GrainedSource = (Vec<u64>, u64);

fn any_grained() -> impl Strategy<Value = Vec<GrainedSource>> {
    prop::collection::vec((prop::collection::vec(1_u64..9, 1..8), 1_u64..60), 1..5)
}

/// A spec over these sources, and the table of their grains.
fn grained(sources: &[GrainedSource], window: u32, seed: u64) -> (LedgerSpec, Arc<GrainTable>) {
    let mut starts = Vec::new();
    let mut end = 0;
    for length in sources.iter().flat_map(|(lengths, _)| lengths) {
        starts.push(end);
        end += length;
    }
    let table = Arc::new(GrainTable::new(&starts, end).unwrap());
    let shares: Vec<_> = sources.iter().map(|(lengths, positions)| (lengths.iter().sum(), *positions)).collect();
    let spec = spec(&shares, true, seed);
    (LedgerSpec { permutation: GRAIN_MIXTURE_PERMUTATION, grains: Some(table.order(window)), ..spec }, table)
}

/// The order of a source's records in a cycle: its grains in an order of the cycle, and then the records of each few grains.
fn by_grains(sources: &[GrainedSource]) -> impl Fn(&LedgerSpec, u64, &SourceShare, u64) -> Vec<u64> {
    |spec, number, source, cycle| {
        let lengths = &sources[index(number)].0;
        let permutation = |n, domain| Permutation::new(n, spec.seed, number, &spec.fingerprint, domain).part(cycle, n);
        let (mut grains, mut end) = (Vec::new(), 0);
        for length in lengths {
            grains.push(end..end + length);
            end += length;
        }
        let order = permutation(lengths.len() as u64, "source grains");
        let grains: Vec<_> = places(lengths.len()).map(|place| &grains[index(order.forward(place))]).collect();
        let within = permutation(source.records, "source windows");
        let window = spec.grains.as_ref().unwrap().window;
        let windows = (0..).zip(grains.chunks(window as usize));
        let records = windows.flat_map(|(number, grains)| {
            let records: Vec<u64> = grains.iter().flat_map(|grain| (*grain).clone()).collect();
            let order = within.part(number, records.len() as u64);
            places(records.len()).map(|place| records[index(order.forward(place))]).collect::<Vec<_>>()
        });
        records.collect()
    }
}

/// The turns of each source, in the order that these have.
fn of_each(spec: &LedgerSpec, turns: &[Turn]) -> Vec<Vec<Turn>> {
    let mut end = 0;
    let own = |source: &SourceShare| {
        let start = end;
        end += source.records;
        turns.iter().filter(|turn| (start..end).contains(&turn.record())).copied().collect()
    };
    spec.sources.iter().map(own).collect()
}

proptest! {
    #[test]
    fn rule_56_and_58_each_source_is_drawn_by_its_grains_however_it_is_mixed_with_others(
        sources in any_grained(), window in 1_u32..5, seed: u64
    ) {
        let (spec, table) = grained(&sources, window, seed);
        for (epoch, expected) in epochs_of(&spec, Some(&table)).zip(model(&spec, 6, by_grains(&sources))) {
            let got = turns(&epoch);
            prop_assert_eq!(of_each(&spec, &got), of_each(&spec, &expected));
            prop_assert_eq!(got.len(), expected.len());
        }
    }

    #[test]
    fn rule_56_and_58_who_keeps_a_window_of_each_source_reads_each_grain_once_in_a_cycle(
        sources in any_grained(), window in 1_u32..5, seed: u64
    ) {
        let (spec, table) = grained(&sources, window, seed);
        let mut all = vec![Vec::new(); sources.len()];
        for epoch in epochs_of(&spec, Some(&table)).take(5) {
            let parts = of_each(&spec, &turns(&epoch));
            all.iter_mut().zip(parts).for_each(|(all, part)| all.extend(part));
        }
        for (turns, (lengths, positions)) in all.iter().zip(&sources) {
            for cycle in turns.chunks(index(lengths.iter().sum())) {
                let (mut kept, mut read) = (Vec::new(), BTreeSet::new());
                for grain in cycle.iter().map(|turn| table.grain_of(turn.record())) {
                    if !kept.contains(&grain) {
                        prop_assert!(read.insert(grain), "grain {} was read twice", grain);
                        kept.insert(0, grain);
                        kept.truncate(window as usize);
                    }
                }
                prop_assert!(read.len() <= lengths.len());
            }
            prop_assert_eq!(turns.len() as u64, positions * 5);
        }
    }

    #[test]
    fn rule_57_positions_lead_back_from_a_record_that_was_drawn_by_grains(
        sources in any_grained(), window in 1_u32..5, seed: u64
    ) {
        let (spec, table) = grained(&sources, window, seed);
        for epoch in epochs_of(&spec, Some(&table)).take(3) {
            leads_back(&spec, &epoch)?;
        }
    }
}

#[test]
fn rule_56_and_58_the_order_of_a_mixture_by_grains_is_pinned() {
    // Ledgers on disk depend on these numbers: another order is another permutation version.
    let pinned = |sources: &[GrainedSource], window, epoch, positions: &[u64]| {
        let (spec, table) = grained(sources, window, 42);
        let order = epochs_of(&spec, Some(&table)).nth(epoch).unwrap();
        positions.iter().map(|position| order.turn(*position).key()).collect::<Vec<_>>()
    };
    let all: Vec<u64> = (0..12).collect();
    let orders = [
        pinned(&[(vec![3, 2, 4], 7), (vec![1, 2, 2], 5)], 2, 0, &all),
        pinned(&[(vec![3, 1], 12)], 1, 3, &all),
        pinned(&[(vec![1251; 1024], 896_817), (vec![100; 500], 434_350)], 16, 3, &[0, 1, 2, 500_000, 1_331_166]),
    ];
    assert_eq!(orders, PINNED);
}

const PINNED: [&[u64]; 3] = [
    &[8, 5, 13, 6, 10, 3, 7, 11, 12, 9, 4, 0],
    &[
        2,
        1,
        0,
        3,
        281_474_976_710_659,
        281_474_976_710_658,
        281_474_976_710_657,
        281_474_976_710_656,
        562_949_953_421_314,
        562_949_953_421_313,
        562_949_953_421_312,
        562_949_953_421_315,
    ],
    &[1_272_076, 1_292_880, 1_169_372, 844_424_931_428_407, 2_251_799_814_973_961],
];

#[test]
fn rule_58_the_blocks_of_a_large_mixture_have_their_shares_and_epochs_are_not_alike() {
    let sources = [(vec![10; 2000], 30_000), (vec![25; 400], 5_000), (vec![1; 5000], 2)];
    let (spec, table) = grained(&sources, 4, 3);
    let epochs: Vec<Vec<Turn>> = epochs_of(&spec, Some(&table)).take(2).map(|epoch| turns(&epoch)).collect();
    let source = |turn: &Turn| usize::from(turn.record() >= 20_000) + usize::from(turn.record() >= 30_000);
    for epoch in &epochs {
        for end in (0..=epoch.len()).step_by(1000) {
            let mut counts = [0_usize; 3];
            epoch[..end].iter().for_each(|turn| counts[source(turn)] += 1);
            for (count, (_, positions)) in counts.into_iter().zip(&sources) {
                let share = index(*positions) * end / epoch.len();
                assert!(count.abs_diff(share) < 100, "{counts:?} of the first {end}");
            }
        }
    }
    let sequence = |epoch: &[Turn]| epoch.iter().map(source).collect::<Vec<_>>();
    assert_ne!(sequence(&epochs[0]), sequence(&epochs[1]));
}

#[test]
fn rule_58_a_grain_of_two_sources_is_refused() {
    let (spec, _) = grained(&[(vec![3, 3], 4), (vec![2, 2], 6)], 2, 0);
    let other = Arc::new(GrainTable::new(&[0, 3, 5, 8], 10).unwrap());
    let spec = LedgerSpec { grains: Some(other.order(2)), ..spec };
    assert_eq!(Mixture::new(&spec, Some(&other)).unwrap_err(), GrainProblem::Sources);
}
