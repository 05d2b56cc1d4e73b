//! Tests of batches that a function in Python gets before they are handed on. The test plays the children.

use super::*;
use crate::decode::steps::batch_call::BatchCall;
use crate::worked_batch::Called;

/// Gives calls to the test.
#[derive(Debug)]
struct ToTest(channel::Sender<BatchCall>);

impl BatchCalls for ToTest {
    fn call_batch(&self, call: BatchCall) {
        self.0.send(call).unwrap();
    }
}

/// A stage whose batches a function gets, and its calls.
fn bench(mixing: Option<Mixing>) -> (Bench, channel::Receiver<BatchCall>) {
    let (sender, calls) = channel::unbounded();
    let mut setup = Setup::new(MemorySource::new(40));
    setup.calls = Some(Arc::new(ToTest(sender)));
    setup.mixing = mixing;
    (setup.start(), calls)
}

#[test]
fn rule_59_batches_that_a_function_gets_are_whole_and_are_handed_on_in_their_order() {
    for mixing in [None, Some(mixes::mixing())] {
        let (mut bench, calls) = bench(mixing);
        bench.lease(0, 0, 12);
        let mut held: Vec<BatchCall> = calls.iter().take(3).collect();
        for (number, call) in (0..).zip(&mut held) {
            assert_eq!(call.batch.metadata.batch, 100 + number);
            let own: Vec<i64> = (4 * number.cast_signed()..).take(4).collect();
            assert_eq!(call.batch.slot.frame().records(), own);
            call.batch.slot.images_mut().fill(0xA0 + u8::try_from(number).unwrap());
        }
        assert!(bench.output.is_empty(), "none is made before its call is over");
        while let Some(last) = held.pop() {
            last.end(Called::Done);
        }
        for number in 0..3_u8 {
            let ready = bench.ready();
            assert_eq!(ready.seq, 100 + u64::from(number));
            assert_eq!(bench.consume(ready).0, [0xA0 + number; 4], "what the function has made of it");
        }
    }
}

#[test]
fn rule_59_a_stream_fails_if_a_function_has_failed_with_a_batch() {
    let (mut bench, calls) = bench(None);
    bench.lease(0, 0, 4);
    calls.recv().unwrap().end(Called::Failed("It raised.".to_owned()));
    match bench.output.recv().unwrap() {
        Handover::Lost(batch, reason) => assert_eq!((batch.seq, &*reason), (100, "It raised.")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rule_5_stopping_gives_claims_and_slots_back_of_batches_whose_call_is_not_over_and_of_those_behind_them() {
    let (mut bench, calls) = bench(None);
    bench.lease(0, 0, 12);
    let mut held: Vec<BatchCall> = calls.iter().take(3).collect();
    let (last, middle, first) = (held.remove(2), held.remove(1), held.remove(0));
    first.end(Called::Done);
    assert_eq!(bench.ready().seq, 100);
    last.end(Called::Done);
    let ends = thread::spawn(move || {
        while !middle.order.is_withdrawn() {
            thread::yield_now();
        }
        middle.end(Called::Withdrawn);
    });
    let (next, outputs, outcomes) = bench.stop();
    ends.join().unwrap();
    assert_eq!(next, 103);
    assert_eq!(outputs.iter().filter(|output| matches!(output, Handover::Unused(_))).count(), 2);
    assert!(!outputs.iter().any(|output| matches!(output, Handover::Ready(_))), "{outputs:?}");
    let [DeliveryOutcome::Returned(ranges)] = &outcomes[..] else { panic!("{outcomes:?}") };
    let ranges: Vec<_> = ranges.iter().map(|range| (range.lease, range.range.unwrap())).collect();
    assert_eq!(ranges, [(1, Range { start: 4, end: 12 })]);
}
