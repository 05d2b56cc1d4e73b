//! A machine of lanes with given speeds, on which a schedule is tried out: time is a number here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::{Cost, Grip, LaneId, LaneSet, LaneSpec, Schedule, Work};

/// A lane as it truly is.
#[derive(Clone, Debug)]
pub struct TrueLane {
    /// Workers at the same time.
    pub workers: u32,
    /// Pictures that a worker takes together.
    pub group: usize,
    /// Seconds of a worker for a picture.
    pub cost: Cost,
    /// What the schedule believes at first.
    pub prior: Cost,
    /// Each time is off by up to this part of it, either way.
    pub noise: f64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Seconds until the last picture was done.
    pub seconds: f64,
    /// How often each picture was decoded: once.
    pub decoded: Vec<u32>,
    /// Pictures by lane.
    pub shares: Vec<u64>,
}

/// The slots that are filled: a slot takes the next batch when the last picture of its own is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Slots that are open at the same time.
    pub open: usize,
    /// Pictures of a batch.
    pub batch: usize,
}

/// Runs pictures of these sizes through lanes. `may` says which lanes take which.
pub fn simulate(lanes: &[TrueLane], pictures: &[Work], slots: Slots, may: impl Fn(usize) -> LaneSet) -> Outcome {
    let specs = lanes.iter().map(|lane| LaneSpec { workers: lane.workers, prior: lane.prior.clone() });
    let mut machine = Machine {
        schedule: Schedule::new(specs),
        idle: lanes.iter().map(|lane| lane.workers).collect(),
        running: BinaryHeap::new(),
        now: 0,
        chance: 1,
    };
    let mut decoded = vec![0_u32; pictures.len()];
    let mut shares = vec![0_u64; lanes.len()];
    let mut left: Vec<_> = pictures.chunks(slots.batch).map(<[Work]>::len).collect();
    let (mut next, mut open) = (0, 0);
    loop {
        while next < pictures.len() && open < slots.open {
            let end = pictures.len().min(next + slots.batch);
            for (picture, work) in (next..).zip(&pictures[next..end]) {
                machine.schedule.push(picture, *work, may(picture));
            }
            next = end;
            open += 1;
        }
        machine.set_to_work(lanes, pictures);
        let Some(Reverse(end)) = machine.running.pop() else { break };
        machine.now = end.at;
        machine.idle[end.lane] += 1;
        machine.schedule.done(Grip(end.grip), Duration::from_nanos(end.took));
        shares[end.lane] += end.pictures.len() as u64;
        for picture in end.pictures {
            decoded[picture] += 1;
            let left = &mut left[picture / slots.batch];
            *left = left.saturating_sub(1);
            open -= usize::from(*left == 0);
        }
    }
    Outcome { seconds: Duration::from_nanos(machine.now).as_secs_f64(), decoded, shares }
}

/// The part of the sum of the lanes' own speeds that they reach together.
pub fn efficiency(lanes: &[TrueLane], pictures: &[Work], slots: Slots) -> f64 {
    let all = (0..lanes.len()).fold(LaneSet::default(), |set, lane| set.with(LaneId(lane)));
    let together = simulate(lanes, pictures, slots, |_| all).seconds;
    let alone = |lane: &TrueLane| {
        let first = LaneSet::only(LaneId(0));
        1.0 / simulate(std::slice::from_ref(lane), pictures, slots, |_| first).seconds
    };
    1.0 / together / lanes.iter().map(alone).sum::<f64>()
}

struct Machine {
    schedule: Schedule<usize>,
    idle: Vec<u32>,
    running: BinaryHeap<Reverse<End>>,
    now: u64,
    chance: u64,
}

/// The end of a worker's group; the earliest is the smallest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: u64,
    grip: u64,
    lane: usize,
    took: u64,
    pictures: Vec<usize>,
}

impl Machine {
    fn set_to_work(&mut self, lanes: &[TrueLane], pictures: &[Work]) {
        for (number, lane) in lanes.iter().enumerate() {
            while self.idle[number] > 0
                && let Some((Grip(grip), group)) = self.schedule.take(LaneId(number), lane.group)
            {
                let seconds: f64 = group.iter().map(|picture| lane.cost.seconds(pictures[*picture])).sum();
                let noise = 1.0 + lane.noise * (2.0 * self.chance() - 1.0);
                let took = u64::try_from(Duration::from_secs_f64(seconds * noise).as_nanos()).unwrap_or(u64::MAX);
                self.idle[number] -= 1;
                let end = End { at: self.now.saturating_add(took), grip, lane: number, took, pictures: group };
                self.running.push(Reverse(end));
            }
        }
    }

    /// A number in [0, 1), the same in every run.
    fn chance(&mut self) -> f64 {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.chance >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
    }
}
