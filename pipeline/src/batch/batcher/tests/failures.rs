//! Tests of how many bad records a stream may have.

use super::*;

#[test]
fn rule_7_max_failures_counts_records_not_how_often_they_failed() {
    let rules = Rules {
        batch_size: 4,
        on_error: OnError::Skip,
        max_failures: Some(1),
        dynamic: Some(LastBatchPolicy::Partial),
    };
    let mut batcher = Batcher::new(rules);
    for _epoch in 0..3 {
        bad(&mut batcher, 5);
    }
    assert_eq!(actions(&mut batcher), [nack(5), nack(5), nack(5)]);
    bad(&mut batcher, 6);
    let actions = actions(&mut batcher);
    let Action::Fail(text) = &actions[0] else { panic!("{actions:?}") };
    assert!(text.starts_with("2 bad records are more than max_failures (1); the last: record 106"), "{text}");
}

#[test]
fn rule_59_max_failures_does_not_count_what_a_function_left_out() {
    let rules = Rules {
        batch_size: 4,
        on_error: OnError::Skip,
        max_failures: Some(1),
        dynamic: Some(LastBatchPolicy::Partial),
    };
    let mut batcher = Batcher::new(rules);
    bad(&mut batcher, 5);
    for index in 6..20 {
        let at = place(&mut batcher, index);
        let (locator, _) = wrong();
        batcher.outcome(at, Err((locator, Reason::Skipped { words: "too dark".into() })));
    }
    assert_eq!(actions(&mut batcher).iter().filter(|action| matches!(action, Action::Fail(_))).count(), 0);
    bad(&mut batcher, 20);
    let actions = actions(&mut batcher);
    let failed = actions.iter().find_map(|action| if let Action::Fail(text) = action { Some(text) } else { None });
    assert!(failed.is_some_and(|text| text.starts_with("2 bad records are more than max_failures (1)")), "{actions:?}");
}
