//! How many positions of a lease each source of the dataset has. The ledger counts them with each receipt, on its own
//! thread. So a range is counted as a whole if the order allows it; otherwise it computes only each position's source.

use std::ops::Range;

use forebay_proto::Turn;
use forebay_proto::v1::SourceShare;

use super::Places;

/// How many of these places of the whole order, which follow each other, each of the sources has. Where steps have classes, they are
/// positions.
pub(super) fn count(order: &Places, sources: &[SourceShare], places: Range<u64>) -> Vec<u64> {
    let by_records = || ends(sources);
    match order {
        Places::OfClasses(part) => {
            of_each(&by_records(), places.filter_map(|position| part.own(position)).map(Turn::record))
        }
        _ if sources.len() == 1 => vec![places.end - places.start],
        Places::AsTheyAre => of_range(&by_records(), &places),
        Places::Permuted(order) => of_each(&by_records(), places.map(|place| order.forward(place))),
        Places::ByGrains(order) => of_each(&by_records(), places.map(|place| order.record(place))),
        Places::Mixed(order) if order.is_shuffled() => {
            of_each(&order.ends().collect::<Vec<_>>(), places.map(|place| order.draw(place)))
        }
        Places::Mixed(order) => of_range(&order.ends().collect::<Vec<_>>(), &places),
    }
}

/// Where the records of each source end, which follow each other.
fn ends(sources: &[SourceShare]) -> Vec<u64> {
    let end = |before: &mut u64, source: &SourceShare| {
        *before = before.saturating_add(source.records);
        Some(*before)
    };
    sources.iter().scan(0, end).collect()
}

fn of_range(ends: &[u64], range: &Range<u64>) -> Vec<u64> {
    let starts = [0].iter().chain(ends);
    let part = |(start, end): (&u64, &u64)| (*end).min(range.end).saturating_sub((*start).max(range.start));
    starts.zip(ends).map(part).collect()
}

fn of_each(ends: &[u64], numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut counts = vec![0; ends.len()];
    for number in numbers {
        if let Some(count) = counts.get_mut(ends.partition_point(|end| *end <= number)) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forebay_proto::v1::{LedgerSpec, LockstepRank, StaticShard};

    use super::*;
    use crate::grains::{GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainTable};
    use crate::mixture::shares::MIXTURE_PERMUTATION;
    use crate::plan::Plan;
    use crate::spec::PERMUTATION;

    fn spec(sources: &[(u64, u64)], permutation: u32) -> LedgerSpec {
        let share = |&(records, positions): &(u64, u64)| SourceShare { records, positions, ..SourceShare::default() };
        let sources: Vec<SourceShare> = sources.iter().map(share).collect();
        let records = sources.iter().map(|source| source.records).sum();
        LedgerSpec { fingerprint: vec![5; 32], records, seed: 3, permutation, sources, ..LedgerSpec::default() }
    }

    /// Counts one position after the other.
    fn one_by_one(plan: &Plan, epoch: u64, positions: &Range<u64>) -> Vec<u64> {
        let (order, mut counts) = (plan.epoch(epoch), vec![0; plan.sources().len()]);
        let records = positions.clone().filter_map(|position| order.own(position)).map(Turn::record);
        records.for_each(|record| counts[plan.source(record).unwrap()] += 1);
        counts
    }

    #[test]
    fn rule_58_sources_are_counted_by_range_as_they_are_one_by_one() {
        let plain = spec(&[(7, 7), (1, 1), (30, 30)], PERMUTATION);
        let mixed = spec(&[(7, 20), (1, 3), (30, 11)], MIXTURE_PERMUTATION);
        let table = Arc::new(GrainTable::new(&[0, 3, 7, 8, 20], 38).unwrap());
        let by_grains =
            LedgerSpec { permutation: GRAIN_PERMUTATION, shuffle: true, grains: Some(table.order(2)), ..plain.clone() };
        let mixed_by_grains =
            LedgerSpec { permutation: GRAIN_MIXTURE_PERMUTATION, sources: mixed.sources.clone(), ..by_grains.clone() };
        let mut plans = vec![
            Plan::with_grains(&by_grains, Some(Arc::clone(&table))).unwrap(),
            Plan::with_grains(&mixed_by_grains, Some(table)).unwrap(),
            Plan::new(&spec(&[(5, 15)], MIXTURE_PERMUTATION)).unwrap(),
        ];
        for (spec, shuffle) in [(&plain, false), (&plain, true), (&mixed, false), (&mixed, true)] {
            let shards = [None, Some(0), Some(1), Some(3)].map(|shard_id| {
                shard_id.map(|shard_id| StaticShard { shard_id, num_shards: 4, stick_to_shard: false })
            });
            plans.extend(shards.map(|shard| Plan::new(&LedgerSpec { shuffle, shard, ..spec.clone() }).unwrap()));
            let ranks = [0, 2].map(|rank| Some(LockstepRank { global_batch: 9, rank, world_size: 3 }));
            plans.extend(ranks.map(|lockstep| Plan::new(&LedgerSpec { shuffle, lockstep, ..spec.clone() }).unwrap()));
        }
        for plan in &plans {
            for epoch in [0, 1, 6] {
                let (order, len) = (plan.epoch(epoch), plan.epoch_len(epoch));
                for start in 0..=len {
                    for end in [start, start + 1, start + 5, len, len + 3].into_iter().filter(|end| *end >= start) {
                        let counted = order.count_sources(plan.sources(), &(start..end));
                        assert_eq!(counted, one_by_one(plan, epoch, &(start..end)), "{:?} {start}..{end}", plan.spec());
                    }
                }
            }
        }
    }

    #[test]
    fn rule_58_a_lease_of_a_trillion_positions_in_order_is_counted_at_once() {
        const MANY: u64 = 1 << 40;
        for spec in [
            spec(&[(MANY, MANY), (MANY, MANY)], PERMUTATION),
            spec(&[(MANY, MANY / 2), (MANY, MANY / 2 * 3)], MIXTURE_PERMUTATION),
        ] {
            let plan = Plan::new(&spec).unwrap();
            let counted = plan.epoch(0).count_sources(plan.sources(), &(1..2 * MANY));
            assert_eq!(counted, [plan.sources()[0].positions - 1, plan.sources()[1].positions]);
        }
    }
}
