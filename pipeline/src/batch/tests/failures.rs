//! Tests of pictures, reads and datasets that fail.

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

#[test]
fn rule_7_a_decoder_that_panics_is_an_outcome_of_the_picture_and_its_thread_lives_on() {
    let mut bench = Setup::new(MemorySource::new(100).without(&[97])).start();
    bench.lease(0, 96, 4);
    bench.lease(0, BAD.into(), 4);
    bench.prefetch.drained(1);
    let (first, last) = (bench.ready(), bench.ready());
    let (pixels, records, mask) = bench.consume(first);
    assert_eq!(pixels, records.iter().map(|record| u8::try_from(*record).unwrap()).collect::<Vec<_>>());
    assert_eq!(mask, [1; 4]);
    assert_eq!((last.shown, last.valid), (1, 1));
    let (pixels, _, mask) = bench.consume(last);
    assert_eq!((&pixels[1..], mask), (&[0; 3][..], vec![1, 0, 0, 0]), "nobody sees what was in the slot before");
    let (_, _, outcomes) = bench.stop();
    let mut bad: Vec<(u64, String, String)> = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            DeliveryOutcome::Bad(bad) => (bad.record, bad.file, bad.reason),
            other => panic!("{other:?}"),
        })
        .collect();
    bad.sort();
    assert_eq!(bad.iter().map(|(record, ..)| *record).collect::<Vec<_>>(), [66, 97, 99]);
    assert_eq!(bad[0].2, Fault::Truncated.to_string());
    assert_eq!((bad[1].1.as_str(), bad[1].2.as_str()), ("97.jpg", "the file does not exist"));
    assert!(bad[2].1 == "99.jpg" && bad[2].2.contains("no decoder for it"), "{:?}", bad[2]);
}

#[test]
fn rule_7_fail_tells_record_file_and_reason_and_nothing_further_is_published() {
    let mut setup = Setup::new(MemorySource::new(100));
    setup.on_error = OnError::Fail;
    let mut bench = setup.start();
    bench.lease(0, BAD.into(), 8);
    match bench.output.recv().unwrap() {
        Handover::Failed(text) => assert!(text.starts_with("record 66 (66.jpg): The picture is truncated"), "{text}"),
        other => panic!("{other:?}"),
    }
    let (_, outputs, outcomes) = bench.stop();
    assert!(outputs.iter().all(|output| matches!(output, Handover::Unused(_))), "{outputs:?}");
    assert!(matches!(&outcomes[0], DeliveryOutcome::Bad(bad) if bad.record == 66), "{outcomes:?}");
    assert!(matches!(&outcomes[1], DeliveryOutcome::Returned(items) if *items == [returned(1, 1, 8)]), "{outcomes:?}");
}

#[test]
fn rule_28_a_read_that_hangs_costs_its_record_alone() {
    let memory_source = MemorySource::new(5);
    let hangs = memory_source.shut(1);
    let mut setup = Setup::new(memory_source);
    // The test waits for so long; a thread that has nothing to wait for is never held up for as long.
    setup.read_timeout = Duration::from_secs(3);
    let mut bench = setup.start();
    bench.lease(0, 0, 5);
    let ready = bench.ready();
    assert_eq!(bench.consume(ready).1, [0, 2, 3, 4], "the storage has given the records behind it");
    drop(hangs);
    let (_, _, outcomes) = bench.stop();
    assert!(
        matches!(&outcomes[..], [DeliveryOutcome::Bad(bad)] if bad.record == 1 && bad.reason.contains("read_timeout")),
        "{outcomes:?}"
    );
}
