//! A machine of lanes with given speeds, on which a schedule is tried out: time is a number here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::{Cost, LaneId, LaneSet, LaneSpec, Queued, Sample, Schedule, TakenId, Work};

/// A lane as it truly is.
#[derive(Clone, Debug)]
pub struct TrueLane {
    /// Workers at the same time.
    pub workers: u32,
    /// Pictures that a worker takes together.
    pub group: usize,
    /// Seconds of a worker for a picture; with engines, of an engine.
    pub cost: Cost,
    /// What decodes, if that is not the workers themselves.
    pub engines: Option<Engines>,
    /// What the schedule believes at first.
    pub prior: Cost,
    /// As the schedule is told.
    pub rival: Option<LaneId>,
    /// Each time is off by up to this part of it, either way.
    pub noise: f64,
    /// Groups that take longer than they should.
    pub stalls: Vec<Stall>,
}

/// Engines that serve the workers of a lane in the order of their requests; one engine decodes a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Engines {
    /// How many.
    pub count: usize,
    /// Seconds of a worker for each group, half of them before and half of them after the engines'.
    pub call: f64,
    /// The number of another lane that has the same engines, if there is one.
    pub of: Option<LaneId>,
}

/// A group that something holds up: a start, or a pause of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// Which of the lane's groups, from 0.
    pub group: u64,
    /// For how many seconds.
    pub seconds: f64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Seconds until the last picture was done.
    pub seconds: f64,
    /// The lanes that decoded each picture: one.
    pub decoded: Vec<Vec<LaneId>>,
}

/// The slots that are filled: a slot takes the next batch when the last picture of its own is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Slots that are open at the same time.
    pub open: usize,
    /// Pictures of a batch.
    pub batch: usize,
}

impl Outcome {
    /// The part of the pictures from this one on that a lane decoded.
    #[expect(clippy::cast_precision_loss, reason = "numbers of pictures are far below 2^53")]
    pub fn share(&self, lane: LaneId, from: usize) -> f64 {
        let by = self.decoded[from..].iter().flatten().filter(|by| **by == lane).count();
        by as f64 / (self.decoded.len() - from) as f64
    }
}

/// Runs pictures of these sizes through lanes. `may` says which lanes take which.
pub fn simulate(lanes: &[TrueLane], pictures: &[Work], slots: Slots, may: impl Fn(usize) -> LaneSet) -> Outcome {
    let mut machine = Machine::new(lanes, pictures);
    let mut decoded = vec![Vec::new(); pictures.len()];
    let mut left: Vec<_> = pictures.chunks(slots.batch).map(<[Work]>::len).collect();
    let (mut next, mut open) = (0, 0);
    loop {
        while next < pictures.len() && open < slots.open {
            let end = pictures.len().min(next + slots.batch);
            for (picture, work) in (next..).zip(&pictures[next..end]) {
                machine.schedule.push(Queued { item: picture, work: *work, may: may(picture) });
            }
            next = end;
            open += 1;
        }
        machine.set_to_work();
        let Some(Reverse(end)) = machine.running.pop() else { break };
        for picture in machine.end(&end) {
            decoded[picture].push(LaneId(end.lane));
            let left = &mut left[picture / slots.batch];
            *left = left.saturating_sub(1);
            open -= usize::from(*left == 0);
        }
    }
    Outcome { seconds: machine.seconds(), decoded }
}

/// The part of the sum of the lanes' own speeds that they reach together.
pub fn efficiency(lanes: &[TrueLane], pictures: &[Work], slots: Slots) -> f64 {
    let all: LaneSet = (0..lanes.len()).map(LaneId).collect();
    let together = simulate(lanes, pictures, slots, |_| all).seconds;
    let alone = |lane: &TrueLane| {
        let first = LaneSet::only(LaneId(0));
        1.0 / simulate(std::slice::from_ref(lane), pictures, slots, |_| first).seconds
    };
    1.0 / together / lanes.iter().map(alone).sum::<f64>()
}

struct Machine<'a> {
    lanes: &'a [TrueLane],
    pictures: &'a [Work],
    schedule: Schedule<usize>,
    /// By lane: workers without work, groups that were begun, and when each engine is free.
    idle: Vec<u32>,
    begun: Vec<u64>,
    engines: Vec<Vec<f64>>,
    running: BinaryHeap<Reverse<End>>,
    /// In nanoseconds, which have an order.
    now: u64,
    chance: u64,
}

/// The end of a worker's group; the earliest is the smallest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: u64,
    number: u64,
    lane: usize,
    began: u64,
    pictures: Vec<usize>,
}

impl<'a> Machine<'a> {
    fn new(lanes: &'a [TrueLane], pictures: &'a [Work]) -> Self {
        let spec = |lane: &TrueLane| LaneSpec { workers: lane.workers, prior: lane.prior.clone(), rival: lane.rival };
        let specs = lanes.iter().map(spec);
        Self {
            lanes,
            pictures,
            schedule: Schedule::new(specs),
            idle: lanes.iter().map(|lane| lane.workers).collect(),
            begun: vec![0; lanes.len()],
            engines: lanes.iter().map(|lane| vec![0.0; lane.engines.map_or(0, |engines| engines.count)]).collect(),
            running: BinaryHeap::new(),
            now: 0,
            chance: 1,
        }
    }

    fn seconds(&self) -> f64 {
        Duration::from_nanos(self.now).as_secs_f64()
    }

    fn set_to_work(&mut self) {
        for lane in 0..self.lanes.len() {
            while self.idle[lane] > 0
                && let Some((TakenId(number), group)) = self.schedule.take(LaneId(lane), self.lanes[lane].group)
            {
                let pictures: Vec<_> = group.into_iter().map(|picture| picture.item).collect();
                let stall = self.lanes[lane].stalls.iter().find(|stall| stall.group == self.begun[lane]);
                let end = self.work(lane, &pictures) + stall.map_or(0.0, |stall| stall.seconds);
                let at = u64::try_from(Duration::from_secs_f64(end).as_nanos()).unwrap_or(u64::MAX);
                self.idle[lane] -= 1;
                self.begun[lane] += 1;
                self.running.push(Reverse(End { at, number, lane, began: self.now, pictures }));
            }
        }
    }

    /// When a worker of a lane that begins now is done with these pictures.
    fn work(&mut self, lane: usize, pictures: &[usize]) -> f64 {
        let now = self.seconds();
        let TrueLane { cost, noise, engines, .. } = &self.lanes[lane];
        let each: Vec<_> = pictures.iter().map(|picture| cost.seconds(self.pictures[*picture])).collect();
        let noise = 1.0 + noise * (2.0 * self.chance() - 1.0);
        let Some(Engines { call, of, .. }) = engines else { return now + each.iter().sum::<f64>() * noise };
        let engines = &mut self.engines[of.map_or(lane, |of| of.0)];
        let begin = now + call / 2.0;
        let serve = |last: f64, seconds: f64| {
            let first = engines.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("a lane with engines has one");
            *first = first.max(begin) + seconds * noise;
            last.max(*first)
        };
        each.into_iter().fold(begin, serve) + call / 2.0
    }

    /// A group is done.
    fn end(&mut self, end: &End) -> Vec<usize> {
        self.now = end.at;
        self.idle[end.lane] += 1;
        let mut sample = Sample { took: Duration::from_nanos(end.at - end.began), ..Sample::default() };
        for picture in &end.pictures {
            sample.add(self.pictures[*picture]);
        }
        self.schedule.done(TakenId(end.number), &sample);
        end.pictures.clone()
    }

    /// A number in [0, 1), the same in every run.
    fn chance(&mut self) -> f64 {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.chance >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
    }
}
