//! Tests of the positions of epochs, shards and ranks.

use std::collections::BTreeSet;

use forebay_proto::Turn;

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
fn rule_13_and_56_shards_of_an_epoch_of_grains_share_the_dataset_out_and_continue_in_its_order() {
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
fn positions_beyond_the_end_continue_in_the_order_and_wrap() {
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
