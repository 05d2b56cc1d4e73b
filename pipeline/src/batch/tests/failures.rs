//! Tests of a dataset that fails as a whole.

use super::*;

#[test]
fn rule_53_an_index_that_fails_fails_the_stream_and_no_record_is_bad_or_has_a_wrong_label() {
    for on_error in [OnError::Skip, OnError::Replace, OnError::Fail] {
        let mut setup = Setup::new(MemorySource::new(100).failing_at_label(6));
        setup.on_error = on_error;
        let mut bench = setup.start();
        bench.lease(0, 0, 12);
        let all_metadata = std::iter::from_fn(|| match bench.output.recv().unwrap() {
            Handover::Ready(ready) => Some(ready),
            Handover::Failed(text) => {
                assert_eq!(text, "The index is cut.");
                None
            }
            other => panic!("{other:?}"),
        });
        assert!(all_metadata.count() <= 1);
        let (_, outputs, outcomes) = bench.stop();
        assert!(outputs.iter().all(|output| matches!(output, Handover::Unused(_) | Handover::Ready(_))), "{outputs:?}");
        let ready = outputs.iter().filter(|output| matches!(output, Handover::Ready(_))).count();
        assert!(ready <= 1, "the first batch may be whole, and no other can be");
        match &outcomes[..] {
            [DeliveryOutcome::Returned(items)] => {
                let end = items.last().and_then(|item| item.range).map(|range| range.end);
                assert_eq!(end, Some(12), "{items:?}");
                assert!(items.iter().all(|item| item.range.as_ref().is_some_and(|range| range.start <= 6)));
            }
            other => panic!("{other:?}"),
        }
    }
}
