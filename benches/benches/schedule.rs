//! How near lanes come together to the sum of their speeds, by the schedule alone: a simulation, which no load disturbs. And
//! what a decision costs.
//!
//! `cargo bench -p forebay-benches --bench schedule`. The lanes' speeds come from a model of an H200, not from measurements.
//! The schedule's first guess is wrong by a factor of up to four.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::time::{Duration, Instant};

use forebay_cuda::schedule::simulate::{Slots, TrueLane, efficiency};
use forebay_cuda::schedule::{Cost, LaneId, LaneSet, LaneSpec, Queued, Sample, Schedule, Work};

const PICTURES: usize = 40_000;
const BATCH: usize = 256;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return;
    }
    println!("lanes together, as a part of the sum of each alone; {PICTURES} pictures");
    println!("{:>24} {:>14} {:>14} {:>14}", "slots open", "1", "2", "4");
    for threads in [1, 2, 4, 8, 16] {
        for (name, pictures) in [("photographs", alike()), ("20 KB to 12 MP", mixed())] {
            let reached = [1, 2, 4].map(|open| efficiency(&lanes(threads), &pictures, Slots { open, batch: BATCH }));
            let [one, two, four] = reached.map(|part| format!("{part:.3}"));
            println!("{threads:>2} threads, {name:<14} {one:>12} {two:>14} {four:>14}");
        }
    }
    println!("a decision (push, take and done of a picture): {:.0} ns, the least of 5 rounds", decision());
}

fn lanes(threads: u32) -> [TrueLane; 2] {
    let prior = Cost::new(0.5e-3, 1e-3, 1e-6);
    let lane = |workers, group, cost, noise| {
        let prior = prior.clone();
        TrueLane { workers, group, cost, engines: None, prior, rival: None, noise, stalls: Vec::new() }
    };
    [lane(3, 28, Cost::new(0.13e-3, 0.24e-3, 0.0), 0.1), lane(threads, 1, Cost::new(0.2e-3, 2e-3, 9e-6), 0.2)]
}

fn alike() -> Vec<Work> {
    vec![Work::of(187_500, 110_000); PICTURES]
}

fn mixed() -> Vec<Work> {
    let sizes = [(187_500, 110), (187_500, 90), (120_000, 60), (307_200, 160), (50_000, 20), (2_073_600, 450)];
    let size = |number: usize| if number.is_multiple_of(37) { (12_000_000, 3500) } else { sizes[number * 7 % 6] };
    (0..PICTURES).map(size).map(|(pixels, kilobytes)| Work::of(pixels, kilobytes * 1000)).collect()
}

/// Nanoseconds for a picture on its way through two lanes with a thousand others before it.
fn decision() -> f64 {
    const ROUND: u32 = 100_000;
    let spec = |fixed| LaneSpec { workers: 4, prior: Cost::new(fixed, 1e-3, 0.0), rival: None };
    let both = LaneSet::only(LaneId(0)).with(LaneId(1));
    let photograph = |item| Queued { item, work: Work::of(187_500, 110_000), may: both };
    let rounds = (0..5).map(|_| {
        let mut schedule = Schedule::new([spec(0.2e-3), spec(0.4e-3)]);
        for item in 0..1000 {
            schedule.push(photograph(item));
        }
        let begun = Instant::now();
        for item in 0..ROUND {
            schedule.push(photograph(item));
            let lane = LaneId(item as usize % 2);
            if let Some((number, group)) = schedule.take(lane, 1) {
                let mut sample = Sample { took: Duration::from_micros(300), ..Sample::default() };
                sample.add(group[0].work);
                schedule.done(number, &sample);
            }
        }
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND)
    });
    rounds.fold(f64::INFINITY, f64::min)
}
