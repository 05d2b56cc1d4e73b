//! Tests of batches whose pictures are mixed.

use forebay_pixels::{Draw, MixUp, PlaceForm};

use super::*;
use crate::decode::mixing::{MixSettings, Mixer};

/// Mixes pictures of 1 x 2 pixels, with seed 0.
pub(super) fn mixer(pool: Arc<Pool>, mixing: Mixing) -> Mixer {
    let form = PlaceForm { output: forebay_pixels::Output::default(), height: 1, width: 2 };
    Mixer::new(pool, MixSettings { mixing, per_batch: false, seed: 0, form })
}

pub(super) fn mixing() -> Mixing {
    Mixing::MixUp(MixUp { alpha: 1.0 })
}

fn bench(records: u64, slots: u32) -> Bench {
    let mut setup = Setup::new(MemorySource::new(records));
    (setup.policy, setup.slots, setup.mixing) = (LastBatchPolicy::Fill, slots, Some(mixing()));
    setup.start()
}

/// What a trainer sees of a mixed batch: pixels, the other labels, weights.
fn mixed(bench: &Bench, ready: FinishedBatch) -> (Vec<u8>, Vec<i64>, Vec<f32>) {
    let view = View::map(bench.region.fd(), 1, 0).unwrap();
    let (labels, weights) = (view.column(ready.slot.index(), 1), view.column(ready.slot.index(), 2));
    let labels = labels.values().as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
    let weights = weights.values().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    (bench.consume(ready).0, labels, weights)
}

/// The weight of a record in epoch 0.
fn weight(record: u64) -> f32 {
    mixing().draw(Draw { seed: 0, epoch: 0, record }.mixing(), 1, 2).weight()
}

#[test]
fn rule_50_each_place_is_mixed_with_the_unmixed_one_before_it_and_copies_stay_as_they_are() {
    let mut bench = bench(230, 3);
    // Records 0 and 225 to 229, in two batches.
    bench.lease(0, 0, 1);
    bench.lease(0, 225, 5);
    bench.prefetch.drained(1);
    let mean = |own: u8, other: u8| {
        let weight = f64::from(weight(own.into()));
        (f64::from(own) * weight + f64::from(other) * (1.0 - weight)).round()
    };
    let first = bench.ready();
    assert_eq!((first.seq, first.valid), (100, 4));
    let (pixels, labels, weights) = mixed(&bench, first);
    let expected = [(0, 227), (225, 0), (226, 225), (227, 226)].map(|(own, other)| mean(own, other));
    assert!(pixels.iter().zip(expected).all(|(pixel, mean)| (f64::from(*pixel) - mean).abs() <= 1.0), "{pixels:?}");
    assert_eq!(labels, [227, 0, 225, 226].map(|record| MemorySource::new(230).label(record)));
    assert_eq!(weights, [0, 225, 226, 227].map(weight));

    let last = bench.ready();
    assert_eq!((last.seq, last.valid, last.shown), (101, 2, 4));
    let (pixels, labels, weights) = mixed(&bench, last);
    assert_eq!(pixels[2..], [229, 229], "the copies show their record as it is");
    assert_eq!(labels, [229, 228, 229, 229].map(|record| MemorySource::new(230).label(record)));
    assert_eq!(weights, [weight(228), weight(229), 1.0, 1.0]);
}

#[test]
fn rule_50_mixed_batches_come_in_their_order_and_none_is_lost_at_the_end() {
    let mut bench = bench(200, 20);
    bench.lease(0, 0, 60);
    let first = bench.ready();
    assert_eq!(first.seq, 100);
    let (next, outputs, outcomes) = bench.stop();
    let ready: Vec<_> = outputs
        .iter()
        .filter_map(|made| match made {
            Handover::Ready(ready) => Some(ready.seq),
            _ => None,
        })
        .collect();
    assert!(ready.iter().copied().eq(101..101 + ready.len() as u64), "{ready:?}");
    let rest: u64 = outcomes
        .iter()
        .map(|outcome| match outcome {
            DeliveryOutcome::Returned(ranges) => {
                ranges.iter().filter_map(|range| range.range).map(|range| range.end - range.start).sum::<u64>()
            }
            other => panic!("{other:?}"),
        })
        .sum();
    assert_eq!(4 * (1 + ready.len() as u64) + rest, 60);
    assert!(next > 100);
}
