//! The batcher in its model: random leases, bad records, orders of outcomes and late records.

use std::collections::HashSet;

use proptest::prelude::*;

use super::model::{EPOCHS, Setting, World};
use super::*;

prop_compose! {
    fn settings(fixed: bool)(
        batch_size in 1_u32..6,
        on_error in prop_oneof![Just(OnError::Skip), Just(OnError::Replace), Just(OnError::Fail)],
        max_failures in prop_oneof![4 => Just(None), 1 => (0_u64..4).prop_map(Some)],
        policy in prop_oneof![Just(Policy::Fill), Just(Policy::Drop), Just(Policy::Partial)],
        leases in prop::collection::vec(1_u64..9, 1..5),
        unreadable in prop::collection::hash_set(0_u64..32, 0..6),
        undecodable in prop::collection::hash_set(0_u64..32, 0..12),
        flaky in any::<bool>(),
        late in 0_u64..3,
        extra in 0_usize..3,
        delivered in 0_u64..40,
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
        Setting { rules, leases, unreadable, undecodable, flaky, late, policy, extra, delivered, stop, seed }
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
            let sheets = world.published.iter().filter(|sheet| sheet.epoch == epoch);
            let short: Vec<&Sheet> = sheets.filter(|sheet| sheet.shown < rules.batch_size).collect();
            if policy == Policy::Partial {
                prop_assert!(short.len() as u64 <= 1 + late, "one short batch per end of the epoch");
            } else {
                prop_assert_eq!(short.len(), 0);
            }
            let copies = world.published.iter().filter(|sheet| sheet.epoch == epoch && sheet.mask.contains(&0));
            if rules.on_error != OnError::Replace {
                let most = if policy == Policy::Fill { 1 + late } else { 0 };
                prop_assert!(copies.count() as u64 <= most, "only the last batch is filled up");
            }
        }
    }

    #[test]
    fn rule_13_places_of_a_static_epoch_never_shift_and_every_position_is_settled_once(setting in settings(true)) {
        World::new(setting).run();
    }
}
