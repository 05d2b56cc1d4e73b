//! Tests of the batcher in its model, with random leases, bad records, orders of outcomes and late records.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;

use super::model::{EPOCHS, Setting, World};
use super::tests::wrong;
use super::*;
use crate::batch::form::Form;
use crate::batch_metadata::BatchMetadata;
use crate::decode::ORIGIN;
use crate::settings::OnError;

prop_compose! {
    fn settings(fixed: bool)(
        batch_size in 1_u32..6,
        on_error in prop_oneof![Just(OnError::Skip), Just(OnError::Replace), Just(OnError::Fail)],
        max_failures in prop_oneof![4 => Just(None), 1 => (0_u64..4).prop_map(Some)],
        policy in prop_oneof![Just(LastBatchPolicy::Fill), Just(LastBatchPolicy::Drop), Just(LastBatchPolicy::Partial)],
        leases in prop::collection::vec(1_u64..9, 1..5),
        unreadable in prop::collection::hash_set(0_u64..32, 0..6),
        undecodable in prop::collection::hash_set(0_u64..32, 0..12),
        flaky in any::<bool>(),
        late in 0_u64..3,
        bare in any::<bool>(),
        complete in prop_oneof![1 => Just(HashSet::new()), 1 => prop::collection::hash_set(0_u64..32, 0..20)],
        stop in prop_oneof![3 => Just(None), 1 => (0_usize..60).prop_map(Some)],
        seed in any::<u64>(),
    ) -> Setting {
        let (unreadable, undecodable) = match on_error {
            // Else nearly every run would end at its first record.
            OnError::Fail => (HashSet::new(), undecodable.into_iter().take(1).collect()),
            _ => (unreadable, undecodable),
        };
        let dynamic = (!fixed).then_some(policy);
        let rules = Rules { batch_size, on_error, max_failures, dynamic };
        Setting { rules, leases, unreadable, undecodable, flaky, late, policy, bare, complete, stop, seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn rule_12_every_position_of_a_dynamic_epoch_is_settled_once_and_only_the_last_batch_is_short(
        setting in settings(false),
    ) {
        let mut world = World::new(setting);
        world.run();
        let Setting { rules, late, policy, .. } = world.setting;
        for epoch in 0..EPOCHS {
            let all_metadata = world.published.iter().filter(|metadata| metadata.epoch == epoch);
            let short: Vec<&BatchMetadata> = all_metadata.filter(|metadata| metadata.shown < rules.batch_size).collect();
            if policy == LastBatchPolicy::Partial {
                prop_assert!(short.len() as u64 <= 1 + late, "one short batch per end of the epoch");
            } else {
                prop_assert_eq!(short.len(), 0);
            }
            let copies = world.published.iter().filter(|metadata| metadata.epoch == epoch && metadata.places.mask.contains(&0));
            if rules.on_error != OnError::Replace {
                let most = if policy == LastBatchPolicy::Fill { 1 + late } else { 0 };
                prop_assert!(copies.count() as u64 <= most, "only the last batch is filled up");
            }
        }
    }

    #[test]
    fn rule_13_places_of_a_static_epoch_never_shift_and_every_position_is_settled_once(setting in settings(true)) {
        World::new(setting).run();
    }

    #[test]
    fn rule_13_a_shard_has_each_of_its_batches_once_however_often_its_daemon_dies(
        records in 1_u64..30,
        bare in 0_u64..2,
        batch_size in 1_u32..6,
        bad in prop::collection::hash_set(0_u64..30, 0..12),
        acked in prop::collection::vec(0_usize..4, 0..8),
    ) {
        let rules = Rules { batch_size, on_error: OnError::Skip, max_failures: None, dynamic: None };
        let size = u64::from(batch_size);
        let mut open: BTreeSet<u64> = (0..records + bare).collect();
        let mut told = Vec::new();
        // The last daemon lives to the epoch's end.
        for count in acked.into_iter().chain([usize::MAX]) {
            for metadata in shard(rules, records, bare, &open, &bad).into_iter().take(count) {
                let positions: Vec<u64> = metadata.claims.iter().flat_map(|claim| claim.start..claim.end()).collect();
                let batch = positions[0] / size;
                for position in positions {
                    prop_assert_eq!(position / size, batch);
                    prop_assert!(open.remove(&position), "{} is delivered twice", position);
                    let place = usize::try_from(position % size).unwrap();
                    let shown = metadata.places.mask.get(place).filter(|mask| **mask == 1).map(|_| metadata.places.records[place]);
                    let good = position < records && !bad.contains(&position);
                    prop_assert_eq!(shown, good.then(|| i64::try_from(position).unwrap()));
                }
                told.push(batch);
            }
        }
        prop_assert_eq!(told, (0..(records + bare).div_ceil(size)).collect::<Vec<_>>());
        prop_assert!(open.is_empty());
    }
}

/// The batches that a daemon makes of the open positions of a shard's epoch.
fn shard(rules: Rules, records: u64, bare: u64, open: &BTreeSet<u64>, bad: &HashSet<u64>) -> Vec<BatchMetadata> {
    let (mut batcher, size) = (Batcher::new(rules), u64::from(rules.batch_size));
    for &index in open {
        let position = Position {
            epoch: 0,
            lease: 1,
            offset: index,
            lease_end: records,
            index,
            record: index,
            repeat: 0,
            suspect: false,
        };
        if batcher.needs_slot(&position) {
            let first = index / size * size;
            let count = |end: u64| u32::try_from(end.saturating_sub(first).min(size)).unwrap();
            let form = Form { positions: count(records + bare), own: count(records), copies: Vec::new(), empty: None };
            batcher.begin_fixed(&position, &form);
        }
        if index == records {
            batcher.bare(position);
        } else {
            let at = batcher.place(position, 0);
            let outcome = if bad.contains(&index) { Err(wrong()) } else { Ok(ORIGIN) };
            batcher.outcome(at, outcome);
        }
    }
    batcher.end(0);
    let actions = std::iter::from_fn(|| batcher.action());
    actions.filter_map(|action| if let Action::Publish(metadata) = action { Some(metadata) } else { None }).collect()
}
