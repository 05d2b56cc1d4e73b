//! The schedule: nothing is lost, nothing is done twice, and lanes together are nearly as fast as the
//! sum of each.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::time::Duration;

use forebay_cuda::schedule::simulate::{Outcome, Slots, TrueLane, efficiency, simulate};
use forebay_cuda::schedule::{Cost, LaneId, LaneSet, LaneSpec, Schedule, Work};
use proptest::prelude::*;

const BOTH: usize = 0b11;
/// As many as a ring has for one trainer beside those that it holds.
const SLOTS: Slots = Slots { open: 4, batch: 256 };

fn set(bits: usize) -> LaneSet {
    (0..2).filter(|lane| bits >> lane & 1 == 1).fold(LaneSet::default(), |set, lane| set.with(LaneId(lane)))
}

fn spec(seconds: f64) -> LaneSpec {
    LaneSpec { workers: 1, prior: Cost::new(seconds, 0.0, 0.0) }
}

fn photograph() -> Work {
    Work::of(187_500, 110_000)
}

/// Sizes as a folder of photographs has them, from thumbnails to 12 megapixels.
fn mixed(count: usize) -> Vec<Work> {
    let sizes = [(187_500, 110), (187_500, 90), (120_000, 60), (307_200, 160), (50_000, 20), (2_073_600, 450)];
    let size = |number: usize| match number % 37 {
        0 => (12_000_000, 3500),
        _ => sizes[number * 7 % 6],
    };
    (0..count).map(size).map(|(pixels, kilobytes)| Work::of(pixels, kilobytes * 1000)).collect()
}

/// An H200 as the model of the notes has it: seven engines, and CPU threads at 0.6 thousand pictures a second.
fn lanes(cpu_workers: u32) -> Vec<TrueLane> {
    let prior = Cost::new(0.5e-3, 1e-3, 1e-6);
    vec![
        TrueLane { workers: 3, group: 28, cost: Cost::new(0.13e-3, 0.24e-3, 0.0), prior: prior.clone(), noise: 0.1 },
        TrueLane { workers: cpu_workers, group: 1, cost: Cost::new(0.2e-3, 2e-3, 9e-6), prior, noise: 0.2 },
    ]
}

#[test]
fn a_picture_goes_to_the_lane_that_is_done_with_it_first() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.33)]);
    let chosen: Vec<_> = (0..8).map(|item| schedule.push(item, photograph(), set(BOTH)).0).collect();
    // The slower one gets its first picture when the faster one has three.
    assert_eq!(chosen, [0, 0, 0, 1, 0, 0, 0, 1]);
}

#[test]
fn an_idle_lane_takes_from_the_tail_of_another_ones_line_only_what_it_would_be_done_with_sooner() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.35)]);
    for item in 0..3 {
        schedule.push(item, photograph(), LaneSet::only(LaneId(0)).with(LaneId(1)));
    }
    assert!(schedule.take(LaneId(1), 1).is_none(), "the fast lane is through with three before the slow one with one");
    for item in 3..6 {
        schedule.push(item, photograph(), LaneSet::only(LaneId(0)));
    }
    assert!(schedule.take(LaneId(1), 1).is_none(), "the last ones are for the fast lane alone");
    for item in 6..9 {
        schedule.push_again(item, photograph(), LaneSet::only(LaneId(0)));
    }
    let mut order = Vec::new();
    while let Some((grip, items)) = schedule.take(LaneId(0), 2) {
        order.extend(items);
        schedule.done(grip, Duration::from_millis(200));
    }
    assert_eq!(order, [8, 7, 6, 0, 1, 2, 3, 4, 5], "what another lane gave up comes first");
}

#[test]
fn a_thief_is_counted_and_takes_the_youngest() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.1)]);
    for item in 0..10 {
        schedule.push(item, photograph(), LaneSet::only(LaneId(0)).with(LaneId(1)));
    }
    let mut second = Vec::new();
    while let Some((_, items)) = schedule.take(LaneId(1), 1) {
        second.extend(items);
        if second.len() > 5 {
            break;
        }
    }
    assert_eq!(second, [1, 3, 5, 7, 9, 8], "its own line, then the tail of the other one's");
    assert_eq!(schedule.tally(LaneId(1)).stolen, 1);
}

#[test]
fn lanes_together_reach_nine_tenths_and_a_half_of_the_sum_of_their_speeds_on_mixed_sizes() {
    for cpu_workers in [1, 4, 8, 16] {
        for (name, pictures) in [("mixed", mixed(20_000)), ("all alike", vec![photograph(); 20_000])] {
            let reached = efficiency(&lanes(cpu_workers), &pictures, SLOTS);
            println!("{cpu_workers:>2} CPU threads, {name}: {reached:.3} of the sum of the lanes");
            assert!(reached >= 0.95, "{reached}");
        }
    }
}

#[test]
fn a_wrong_first_guess_of_what_lanes_cost_is_mended_by_what_is_measured() {
    let mut wrong = lanes(8);
    wrong[0].prior = Cost::new(20e-3, 0.0, 0.0);
    wrong[1].prior = Cost::new(0.01e-3, 0.0, 0.0);
    let reached = efficiency(&wrong, &mixed(20_000), SLOTS);
    println!("{reached:.3} of the sum of the lanes after a wrong first guess");
    assert!(reached >= 0.95, "{reached}");
}

proptest! {
    #[test]
    fn nothing_is_lost_nothing_is_done_twice_and_no_lane_gets_what_it_may_not_have(
        sizes in prop::collection::vec((1_u64..20_000_000, 100_u64..5_000_000), 1..400),
        may in prop::collection::vec(1_usize..4, 400),
        workers in prop::collection::vec(1_u32..6, 2),
        group in 1_usize..40,
        speeds in prop::collection::vec(1e-5_f64..1e-2, 4),
        open in 1_usize..5,
        places in 1_usize..100,
        noise in 0.0_f64..0.9,
    ) {
        let pictures: Vec<_> = sizes.iter().map(|(pixels, bytes)| Work::of(*pixels, *bytes)).collect();
        let lane = |number: usize, group| TrueLane {
            workers: workers[number],
            group,
            cost: Cost::new(speeds[number], speeds[number + 2], 0.0),
            prior: Cost::new(1e-3, 1e-3, 0.0),
            noise,
        };
        let Outcome { decoded, shares, .. } =
            simulate(&[lane(0, group), lane(1, 1)], &pictures, Slots { open, batch: places }, |picture| set(may[picture]));
        prop_assert!(decoded.iter().all(|times| *times == 1));
        prop_assert_eq!(shares.iter().sum::<u64>(), pictures.len() as u64);
        let only_first = (0..pictures.len()).filter(|picture| may[*picture] == 1).count() as u64;
        let only_second = (0..pictures.len()).filter(|picture| may[*picture] == 2).count() as u64;
        prop_assert!(shares[0] >= only_first && shares[1] >= only_second);
    }
}
