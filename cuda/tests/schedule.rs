//! The schedule: nothing is lost, nothing is done twice, and lanes together are nearly as fast as the
//! sum of each.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::time::Duration;

use forebay_cuda::schedule::simulate::{Engines, Slots, Stall, TrueLane, efficiency, simulate};
use forebay_cuda::schedule::{Cost, LaneId, LaneSet, LaneSpec, Queued, Sample, Schedule, TakenId, Work};
use proptest::prelude::*;

const FIRST: usize = 0b01;
const BOTH: usize = 0b11;
/// As many as a ring has for one trainer beside those that it holds.
const SLOTS: Slots = Slots { open: 4, batch: 256 };

fn set(bits: usize) -> LaneSet {
    (0..2).filter(|lane| bits >> lane & 1 == 1).map(LaneId).collect()
}

fn spec(seconds: f64) -> LaneSpec {
    LaneSpec { workers: 1, prior: Cost::new(seconds, 0.0, 0.0), rival: None }
}

fn photograph() -> Work {
    Work::of(187_500, 110_000)
}

/// A photograph for some of two lanes.
fn queued(item: usize, lanes: usize) -> Queued<usize> {
    Queued { item, work: photograph(), may: set(lanes) }
}

/// What a worker of this lane gets.
fn taken(schedule: &mut Schedule<usize>, lane: usize, most: usize) -> (Option<TakenId>, Vec<usize>) {
    schedule.take(LaneId(lane), most).map_or((None, Vec::new()), |(number, group)| {
        (Some(number), group.into_iter().map(|picture| picture.item).collect())
    })
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
    let hardware = TrueLane { group: 28, ..lane(3, Cost::new(0.13e-3, 0.24e-3, 0.0), prior.clone(), 0.1) };
    vec![hardware, lane(cpu_workers, Cost::new(0.2e-3, 2e-3, 9e-6), prior, 0.2)]
}

/// A lane whose workers decode a picture at a time.
fn lane(workers: u32, cost: Cost, prior: Cost, noise: f64) -> TrueLane {
    TrueLane { workers, group: 1, cost, engines: None, prior, rival: None, noise, stalls: Vec::new() }
}

/// The same machine with its engines told from the threads that wait for them, and what the daemon believes at first.
fn engines(cpu_workers: u32) -> Vec<TrueLane> {
    let cost = Cost::new(0.417e-3, 0.0, 0.0);
    let engines = Some(Engines { count: 7, call: 0.6e-3, of: None });
    let hardware = TrueLane { group: 28, engines, ..lane(3, cost, Cost::new(0.15e-3, 0.3e-3, 0.0), 0.0) };
    vec![hardware, lane(cpu_workers, Cost::new(1.56e-3, 0.0, 0.0), Cost::new(0.2e-3, 2e-3, 1e-5), 0.0)]
}

#[test]
fn a_picture_goes_to_the_lane_that_is_done_with_it_first() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.33)]);
    let chosen: Vec<_> = (0..8).map(|item| schedule.push(queued(item, BOTH)).0).collect();
    // The slower one gets its first picture when the faster one has three.
    assert_eq!(chosen, [0, 0, 0, 1, 0, 0, 0, 1]);
}

#[test]
fn an_idle_lane_takes_from_the_tail_of_another_ones_line_only_what_it_would_be_done_with_sooner() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.35)]);
    for item in 0..3 {
        schedule.push(queued(item, BOTH));
    }
    assert!(schedule.take(LaneId(1), 1).is_none(), "the fast lane is through with three before the slow one with one");
    for item in 3..11 {
        schedule.push(queued(item, FIRST));
    }
    assert!(schedule.take(LaneId(1), 1).is_none(), "the last ones are for the fast lane alone");
    for item in 11..14 {
        schedule.push_again(queued(item, FIRST));
    }
    let mut order = Vec::new();
    while let (Some(number), items) = taken(&mut schedule, 0, 2) {
        order.extend(items);
        schedule.done(number, &Sample::default());
    }
    assert_eq!(order, [13, 12, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "what another lane gave up comes first");
}

#[test]
fn a_thief_is_counted_and_takes_the_youngest() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.1)]);
    for item in 0..10 {
        schedule.push(queued(item, BOTH));
    }
    let mut second = Vec::new();
    while let (Some(_), items) = taken(&mut schedule, 1, 1) {
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

/// The engines' share of pictures that come long after the stalls, on a machine with 15 CPU threads.
fn late_share(slots: Slots, hardware: &[Stall], cpu: &[Stall]) -> f64 {
    let mut lanes = engines(15);
    lanes[0].stalls = hardware.to_vec();
    lanes[1].stalls = cpu.to_vec();
    let count = 80_000;
    simulate(&lanes, &vec![photograph(); count], slots, |_| set(BOTH)).share(LaneId(0), count / 2)
}

#[test]
fn a_lane_that_a_pause_held_up_gets_its_share_again() {
    for (open, batch) in [(4, 64), (2, 32)] {
        let slots = Slots { open, batch };
        let share = late_share(slots, &[], &[]);
        let first = |count| (0..count).map(|group| Stall { group, seconds: 3.0 }).collect::<Vec<_>>();
        let late = Stall { group: 200, seconds: 10.0 };
        for (story, hardware, cpu) in [
            ("its first group waits for a second", &[Stall { group: 0, seconds: 1.0 }][..], &[][..]),
            ("its first group waits", &first(1), &[]),
            ("the first groups of all of its threads wait", &first(3), &[]),
            ("a later one waits for longer", &[late], &[]),
            ("all threads of the machine wait", &first(3), &first(15)),
        ] {
            let stalled = late_share(slots, hardware, cpu);
            println!(
                "{open} slots of {batch}, {story}: {stalled:.3} of the pictures are the engines', else {share:.3}"
            );
            assert!((stalled / share - 1.0).abs() < 0.1, "{story}: {stalled}, else {share}");
        }
    }
}

/// The share of the later pictures that a lane of two threads gets beside four threads of its rival, in which a picture takes 1 ms.
fn share_beside_a_rival(milliseconds: f64, stalls: &[Stall]) -> (f64, usize) {
    let cost = |milliseconds: f64| Cost::new(milliseconds * 1e-3, 0.0, 0.0);
    let rival = lane(4, cost(1.0), cost(1.7), 0.1);
    let stalls = stalls.to_vec();
    // It is believed to be slower at first, as the lane `hybrid` is.
    let other = TrueLane { rival: Some(LaneId(0)), group: 4, stalls, ..lane(2, cost(milliseconds), cost(1.5), 0.1) };
    let count = 40_000;
    let outcome = simulate(&[rival, other], &vec![photograph(); count], SLOTS, |_| set(BOTH));
    let tried = outcome.decoded.iter().flatten().filter(|lane| **lane == LaneId(1)).count();
    (outcome.share(LaneId(1), count / 2), tried)
}

#[test]
fn a_lane_on_the_cores_of_another_one_gets_pictures_only_once_it_was_measured_to_be_faster() {
    let (share, tried) = share_beside_a_rival(0.5, &[]);
    assert!((0.47..0.53).contains(&share), "{share}: as many as four threads that are half as fast");
    assert!(tried > 15_000, "{tried}");
    for slower in [1.3, 3.0] {
        let (share, tried) = share_beside_a_rival(slower, &[]);
        assert!(share < 0.005 && (8..500).contains(&tried), "{slower}: {share}, {tried}");
    }
}

#[test]
fn a_lane_that_was_slow_while_it_was_measured_is_measured_again() {
    let first: Vec<_> = (0..16).map(|group| Stall { group, seconds: 0.1 }).collect();
    let (share, _) = share_beside_a_rival(0.5, &first);
    assert!((0.47..0.53).contains(&share), "{share}");
}

#[test]
fn a_picture_that_a_rival_may_not_decode_goes_to_the_lane_whatever_it_costs() {
    let beside = LaneSpec { rival: Some(LaneId(0)), ..spec(9.0) };
    let mut schedule = Schedule::new([spec(0.1), beside]);
    // It is measured, and slow.
    for item in 0..8 {
        schedule.push(queued(item, 0b10));
        let (number, _) = schedule.take(LaneId(1), 1).unwrap();
        schedule.done(number, &Sample { pictures: 1, work: photograph(), took: Duration::from_secs(9) });
    }
    assert_eq!(schedule.push(queued(8, BOTH)), LaneId(0));
    for item in 0..100 {
        assert_eq!(schedule.push(queued(item, 0b10)), LaneId(1));
    }
}

/// Nothing of what is known of a lane is forgotten while it works, however many others there are.
#[test]
fn only_a_lane_without_work_is_forgotten() {
    let mut schedule = Schedule::new([spec(0.1), spec(1.0), spec(1.0)]);
    let all: LaneSet = (0..3).map(LaneId).collect();
    let push = |schedule: &mut Schedule<usize>| schedule.push(Queued { item: 0, work: photograph(), may: all });
    let measure = |schedule: &mut Schedule<usize>, lane| {
        schedule.push(Queued { item: 0, work: photograph(), may: LaneSet::only(LaneId(lane)) });
        let number = taken(schedule, lane, 1).0.unwrap();
        let mut sample = Sample { took: Duration::from_secs(3), ..Sample::default() };
        sample.add(photograph());
        schedule.done(number, &sample);
    };
    (0..40).for_each(|_| [1, 2].into_iter().for_each(|lane| measure(&mut schedule, lane)));
    let believed = |schedule: &Schedule<usize>| [1, 2].map(|lane| schedule.cost(LaneId(lane)).seconds(photograph()));
    let before = believed(&schedule);
    schedule.push(Queued { item: 0, work: photograph(), may: LaneSet::only(LaneId(1)) });
    let under_way = taken(&mut schedule, 1, 1).0.unwrap();
    for _ in 0..10_000 {
        assert_eq!(push(&mut schedule), LaneId(0));
        let number = taken(&mut schedule, 0, 1).0.unwrap();
        schedule.done(number, &Sample::default());
    }
    let after = believed(&schedule);
    assert!(after[0] > before[0] * 0.99 && after[1] < before[1] / 2.0, "{before:?}, then {after:?}");
    schedule.done(under_way, &Sample::default());
}

#[test]
fn a_lane_that_is_far_too_slow_is_tried_now_and_then() {
    let mut lanes = engines(15);
    lanes[0].prior = Cost::new(0.1e-3, 0.0, 0.0);
    lanes[0].cost = Cost::new(0.2, 0.0, 0.0);
    let slots = Slots { open: 4, batch: 64 };
    let pictures = vec![photograph(); 40_000];
    let share = simulate(&lanes, &pictures, slots, |_| set(BOTH)).share(LaneId(0), 1000);
    println!("{share:.5} of the pictures try a lane that is 2000 times as slow as was thought");
    assert!(share > 0.0 && share < 0.003, "{share}");
}

/// What the engines are waited for by the other lane is in each one's measured cost; added to that once more, it made lanes slower.
#[test]
fn two_lanes_of_the_same_engines_are_as_fast_as_the_better_one_of_them() {
    let groups = engines(15).swap_remove(0);
    let shared = Engines { count: 7, call: 0.3e-3, of: Some(LaneId(0)) };
    let prior = Cost::new(0.3e-3, 0.6e-3, 0.0);
    let single = TrueLane { engines: Some(shared), ..lane(7, groups.cost.clone(), prior, 0.0) };
    let pictures = vec![photograph(); 20_000];
    for (open, batch) in [(4, 256), (4, 64), (2, 32)] {
        let slots = Slots { open, batch };
        let alone = simulate(std::slice::from_ref(&groups), &pictures, slots, |_| set(FIRST)).seconds;
        let both = simulate(&[groups.clone(), single.clone()], &pictures, slots, |_| set(BOTH));
        let (part, share) = (alone / both.seconds, both.share(LaneId(1), 0));
        println!(
            "{open} slots of {batch}: {part:.3} of the speed of groups alone, {share:.2} of the pictures picture by picture"
        );
        assert!(part > 0.95, "{part}");
    }
}

#[test]
fn a_thief_passes_over_what_it_may_not_take_at_the_tail_of_a_line() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.1)]);
    for item in 0..10 {
        schedule.push(queued(item, FIRST | if item < 8 { BOTH } else { FIRST }));
    }
    let of_its_own = taken(&mut schedule, 1, 10).1;
    assert_eq!(of_its_own, [1, 3, 5, 7]);
    assert_eq!(taken(&mut schedule, 1, 1).1, [6], "the last two of the other line are for the other lane alone");
}

#[test]
fn the_line_of_a_lane_that_is_given_up_goes_to_the_others_in_its_order() {
    let mut schedule = Schedule::new([spec(0.1), spec(0.1), spec(0.1)]);
    let [first, second, third] = [0, 1, 2].map(LaneId);
    for item in 0..3 {
        schedule.push(Queued { item, work: photograph(), may: LaneSet::only(second) });
    }
    for item in 3..6 {
        schedule.push(Queued { item, work: photograph(), may: [second, third].into_iter().collect() });
    }
    assert_eq!((schedule.tally(second).waiting, schedule.tally(third).waiting), (3, 3));
    let under_way = taken(&mut schedule, 1, 1).0.unwrap();
    schedule.push(queued(6, FIRST));
    schedule.close(second, first);
    assert!(schedule.is_closed(second));
    assert_eq!(taken(&mut schedule, 1, 10), (None, vec![]), "it neither has a line nor steals");
    schedule.done(under_way, &Sample::default());
    assert_eq!(
        taken(&mut schedule, 0, 10).1,
        [1, 2, 6],
        "what no other lane may decode goes to the one that takes all"
    );
    assert_eq!(taken(&mut schedule, 2, 10).1, [3, 4, 5]);
    schedule.push(Queued { item: 7, work: photograph(), may: [second, third].into_iter().collect() });
    assert_eq!(taken(&mut schedule, 2, 1).1, [7]);
    assert_eq!(schedule.open(LaneSet::only(second), first), LaneSet::only(first));
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
        let lane = |number: usize, group| {
            let cost = Cost::new(speeds[number], speeds[number + 2], 0.0);
            TrueLane { group, ..lane(workers[number], cost, Cost::new(1e-3, 1e-3, 0.0), noise) }
        };
        let slots = Slots { open, batch: places };
        let outcome = simulate(&[lane(0, group), lane(1, 1)], &pictures, slots, |picture| set(may[picture]));
        for (by, may) in outcome.decoded.iter().zip(may) {
            prop_assert!(by.len() == 1 && set(may).has(by[0]));
        }
    }
}
