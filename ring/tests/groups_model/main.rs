//! Groups against a naive model (semantics rules 42 to 44): under random events, and in every run of small scenes. Trainers may
//! die at any point.
#![allow(clippy::unwrap_used, reason = "a test's own steps")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "how much was looked at, and what led to a failure")]

mod event;
mod every_run;
mod model;

use event::event;
use model::Model;
use proptest::prelude::*;

const SLOTS: u32 = 6;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rule_44_each_batch_goes_once_to_each_group_and_no_group_is_passed_over(
        events in prop::collection::vec(event(), 0..150),
        late in any::<bool>(),
    ) {
        let mut model = Model::new(SLOTS);
        for event in events {
            model.apply(event);
        }
        model.finish(late);
    }
}
