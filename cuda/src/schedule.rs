//! Which lane decodes which picture: one queue over all lanes, decided without I/O, threads or a clock.
//!
//! A picture goes to the lane that will be done with it first, by what its pictures have cost so far ([`Cost`]). A lane that
//! has nothing to do takes from the tail of another one's line, where it would be done before that one gets there. Lines
//! are served from their heads, so old pictures come first, and no lane waits for another at the end of a batch.

mod cost;
pub mod simulate;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

pub use cost::{Cost, Work};

/// A lane's number in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(pub usize);

/// Lanes that may decode a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSet(u64);

/// A lane, as the schedule has to know it.
#[derive(Clone, Debug)]
pub struct LaneSpec {
    /// Threads that take pictures of it at the same time.
    pub workers: u32,
    /// What a picture costs one of them, before any was measured.
    pub prior: Cost,
}

/// Numbers a group of pictures that one worker took together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grip(u64);

/// The pictures that wait and the groups that are under way.
#[derive(Debug)]
pub struct Schedule<T> {
    lanes: Vec<Lane<T>>,
    grips: HashMap<Grip, Taken>,
    next: u64,
}

#[derive(Debug)]
struct Lane<T> {
    spec: LaneSpec,
    cost: Cost,
    line: VecDeque<Waiting<T>>,
    /// Seconds of one worker that the pictures in the line are expected to take.
    waiting: f64,
    /// The same for those under way.
    busy: f64,
    taken: u64,
    stolen: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    item: T,
    work: Work,
    may: LaneSet,
    /// As it was added to `waiting`.
    seconds: f64,
}

#[derive(Debug)]
struct Taken {
    lane: LaneId,
    pictures: u32,
    work: Work,
    seconds: f64,
}

/// How a lane has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneTally {
    /// Pictures in its line.
    pub waiting: usize,
    /// Pictures that its workers took, from its own line or another's.
    pub taken: u64,
    /// Those of them from another's.
    pub stolen: u64,
}

impl LaneSet {
    /// Lanes that it has places for.
    pub const MOST: usize = 64;

    /// Just this lane.
    pub fn only(lane: LaneId) -> Self {
        Self(1 << lane.0)
    }

    /// With this lane.
    #[must_use]
    pub fn with(self, lane: LaneId) -> Self {
        Self(self.0 | 1 << lane.0)
    }

    /// Without this lane.
    #[must_use]
    pub fn without(self, lane: LaneId) -> Self {
        Self(self.0 & !(1 << lane.0))
    }

    /// Without these lanes.
    #[must_use]
    pub fn minus(self, lanes: Self) -> Self {
        Self(self.0 & !lanes.0)
    }

    /// Whether this lane is in it.
    pub fn has(self, lane: LaneId) -> bool {
        self.0 >> lane.0 & 1 == 1
    }

    /// Whether no lane is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl<T> Schedule<T> {
    /// A schedule over these lanes, which are numbered in this order; at most [`LaneSet::MOST`].
    ///
    /// # Panics
    /// If there are more.
    pub fn new(lanes: impl IntoIterator<Item = LaneSpec>) -> Self {
        let lane = |spec: LaneSpec| Lane {
            cost: spec.prior.clone(),
            spec,
            line: VecDeque::new(),
            waiting: 0.0,
            busy: 0.0,
            taken: 0,
            stolen: 0,
        };
        let lanes: Vec<_> = lanes.into_iter().map(lane).collect();
        assert!(lanes.len() <= LaneSet::MOST, "a set of lanes has 64 places");
        Self { lanes, grips: HashMap::new(), next: 0 }
    }

    /// Puts a picture at the end of the line of the lane that will be done with it first.
    ///
    /// # Panics
    /// If no lane of the schedule may decode it.
    pub fn push(&mut self, item: T, work: Work, may: LaneSet) -> LaneId {
        let (lane, waiting) = self.assign(item, work, may);
        self.lane(lane).line.push_back(waiting);
        lane
    }

    /// Puts a picture that a lane has given up at the head of another one's line: it is older than those that wait.
    ///
    /// # Panics
    /// If no lane of the schedule may decode it.
    pub fn push_again(&mut self, item: T, work: Work, may: LaneSet) -> LaneId {
        let (lane, waiting) = self.assign(item, work, may);
        self.lane(lane).line.push_front(waiting);
        lane
    }

    /// Gives a worker of a lane up to `most` pictures: those at the head of its own line, else what is worth taking from
    /// the tail of another one's. Nothing if there is nothing for it.
    pub fn take(&mut self, lane: LaneId, most: usize) -> Option<(Grip, Vec<T>)> {
        let mut items = Vec::new();
        let mut taken = Taken { lane, pictures: 0, work: Work::default(), seconds: 0.0 };
        let own = self.lane(lane);
        while items.len() < most
            && let Some(waiting) = own.line.pop_front()
        {
            own.waiting = own.less(waiting.seconds);
            taken.add(waiting.work, own.cost.seconds(waiting.work));
            items.push(waiting.item);
        }
        if items.is_empty() {
            while items.len() < most
                && let Some((item, work, seconds)) = self.steal(lane, taken.seconds)
            {
                taken.add(work, seconds);
                items.push(item);
            }
            self.lane(lane).stolen += items.len() as u64;
        }
        if items.is_empty() {
            return None;
        }
        let own = self.lane(lane);
        own.taken += items.len() as u64;
        own.busy += taken.seconds;
        let grip = Grip(self.next);
        self.next += 1;
        self.grips.insert(grip, taken);
        Some((grip, items))
    }

    /// A worker is done with what it took, after this time. What has failed is done as well.
    pub fn done(&mut self, grip: Grip, took: Duration) {
        let Some(taken) = self.grips.remove(&grip) else { return };
        let lane = self.lane(taken.lane);
        lane.busy = (lane.busy - taken.seconds).max(0.0);
        lane.cost.observe(taken.pictures, taken.work, took);
    }

    /// Pictures in all lines.
    pub fn waiting(&self) -> usize {
        self.lanes.iter().map(|lane| lane.line.len()).sum()
    }

    /// How a lane has done.
    pub fn tally(&self, lane: LaneId) -> LaneTally {
        let Lane { line, taken, stolen, .. } = &self.lanes[lane.0];
        LaneTally { waiting: line.len(), taken: *taken, stolen: *stolen }
    }

    /// What a picture costs a lane's worker, as measured so far.
    pub fn cost(&self, lane: LaneId) -> &Cost {
        &self.lanes[lane.0].cost
    }

    fn lane(&mut self, lane: LaneId) -> &mut Lane<T> {
        &mut self.lanes[lane.0]
    }

    fn assign(&mut self, item: T, work: Work, may: LaneSet) -> (LaneId, Waiting<T>) {
        let end = |(number, lane): (usize, &Lane<T>)| {
            let seconds = lane.cost.seconds(work);
            may.has(LaneId(number)).then(|| (lane.ends_after(seconds), number, seconds))
        };
        let ends = self.lanes.iter().enumerate().filter_map(end);
        let (_, lane, seconds) =
            ends.min_by(|a, b| a.0.total_cmp(&b.0)).expect("the schedule has a lane that may decode the picture");
        self.lanes[lane].waiting += seconds;
        (LaneId(lane), Waiting { item, work, may, seconds })
    }

    /// Takes the last picture of the longest line, if the thief, who has `already` so much in hand, would be done with it
    /// before its own lane is.
    fn steal(&mut self, thief: LaneId, already: f64) -> Option<(T, Work, f64)> {
        let worth = |(number, lane): (usize, &Lane<T>)| {
            let last = lane.line.back().filter(|last| number != thief.0 && last.may.has(thief))?;
            let seconds = self.lanes[thief.0].cost.seconds(last.work);
            let end = lane.ends_after(0.0);
            (already + seconds < end).then_some((end, number, seconds))
        };
        let (_, victim, seconds) =
            self.lanes.iter().enumerate().filter_map(worth).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let victim = &mut self.lanes[victim];
        let waiting = victim.line.pop_back()?;
        victim.waiting = victim.less(waiting.seconds);
        Some((waiting.item, waiting.work, seconds))
    }
}

impl<T> Lane<T> {
    /// When a picture of so many seconds would be done, if it came to the end of the line.
    fn ends_after(&self, seconds: f64) -> f64 {
        // A picture is decoded by one worker, however many there are.
        ((self.waiting + self.busy + seconds) / f64::from(self.spec.workers.max(1))).max(seconds)
    }

    fn less(&self, seconds: f64) -> f64 {
        if self.line.is_empty() { 0.0 } else { (self.waiting - seconds).max(0.0) }
    }
}

impl Taken {
    fn add(&mut self, work: Work, seconds: f64) {
        self.pictures += 1;
        self.work += work;
        self.seconds += seconds;
    }
}
