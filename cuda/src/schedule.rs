//! Which lane decodes which picture: one queue over all lanes, decided without I/O, threads or a clock.
//!
//! A picture goes to the lane that will finish it first, estimated from the cost of its earlier pictures ([`Cost`]). An idle
//! lane takes a picture from the tail of another lane's line, if it would finish it before that lane gets there. Lines are
//! served from their heads, so old pictures come first, and no lane waits for another at the end of a batch.

mod cost;
mod lane_set;
mod line;
pub mod simulate;

use std::collections::HashMap;

pub use cost::{Cost, Sample, Work};
pub use lane_set::{LaneId, LaneSet};
use line::Line;
pub use line::{LaneSpec, Queued};

/// Numbers a group of pictures that one worker took together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TakenId(u64);

/// The pictures that wait and the groups that are under way.
#[derive(Debug)]
pub struct Schedule<T> {
    lanes: Vec<Lane<T>>,
    closed: LaneSet,
    under_way: HashMap<TakenId, GroupUnderWay>,
    next: u64,
}

#[derive(Debug)]
struct Lane<T> {
    line: Line<T>,
    stolen: u64,
}

/// A group that is under way.
#[derive(Debug)]
struct GroupUnderWay {
    lane: LaneId,
    seconds: f64,
}

/// How a lane has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneTally {
    /// Pictures in its line.
    pub waiting: usize,
    /// Pictures that its workers took from another lane's line.
    pub stolen: u64,
}

impl<T> Schedule<T> {
    /// A schedule over these lanes, which are numbered in this order; at most [`LaneSet::MOST`].
    ///
    /// # Panics
    /// If there are more.
    pub fn new(lanes: impl IntoIterator<Item = LaneSpec>) -> Self {
        let lane = |spec| Lane { line: Line::new(spec), stolen: 0 };
        let lanes: Vec<_> = lanes.into_iter().map(lane).collect();
        assert!(lanes.len() <= LaneSet::MOST, "a set of lanes has 64 places");
        Self { lanes, closed: LaneSet::default(), under_way: HashMap::new(), next: 0 }
    }

    /// Puts a picture at the end of the line of the lane that will be done with it first.
    ///
    /// # Panics
    /// If no open lane of the schedule may decode it.
    pub fn push(&mut self, picture: Queued<T>) -> LaneId {
        let (lane, seconds) = self.assign(&picture);
        self.line(lane).push_back(picture, seconds);
        lane
    }

    /// Puts a picture that a lane has given up at the head of another one's line: it is older than those that wait.
    ///
    /// # Panics
    /// If no open lane of the schedule may decode it.
    pub fn push_again(&mut self, picture: Queued<T>) -> LaneId {
        let (lane, seconds) = self.assign(&picture);
        self.line(lane).push_front(picture, seconds);
        lane
    }

    /// Gives a worker of a lane up to `most` pictures: those at the head of its own line, else what is worth taking from
    /// the tail of another one's. Nothing if there is nothing for it.
    pub fn take(&mut self, lane: LaneId, most: usize) -> Option<(TakenId, Vec<Queued<T>>)> {
        if self.closed.has(lane) {
            return None;
        }
        let mut seconds = 0.0;
        let mut pictures = Vec::new();
        let own = self.line(lane);
        while pictures.len() < most
            && let Some(picture) = own.pop()
        {
            seconds += own.cost().seconds(picture.work);
            pictures.push(picture);
        }
        if pictures.is_empty() {
            while pictures.len() < most
                && let Some(picture) = self.steal(lane, seconds)
            {
                seconds += self.line(lane).cost().seconds(picture.work);
                pictures.push(picture);
            }
            self.lanes[lane.0].stolen += pictures.len() as u64;
        }
        if pictures.is_empty() {
            return None;
        }
        self.line(lane).begin(seconds);
        let number = TakenId(self.next);
        self.next += 1;
        self.under_way.insert(number, GroupUnderWay { lane, seconds });
        Some((number, pictures))
    }

    /// A worker is done with what it took. What it decoded of that, and how long it took, tells how fast the lane is; a sample
    /// without pictures tells nothing.
    pub fn done(&mut self, number: TakenId, sample: &Sample) {
        if let Some(GroupUnderWay { lane, seconds }) = self.under_way.remove(&number) {
            self.line(lane).end(seconds, sample);
        }
    }

    /// Gives a lane up for good. It takes nothing any more; the pictures in its line go to the others that may decode them, or,
    /// where there is no such lane, to `last`.
    ///
    /// # Panics
    /// If `last` is closed and has to take a picture.
    pub fn close(&mut self, lane: LaneId, last: LaneId) {
        self.closed = self.closed.with(lane);
        // They are older than what waits elsewhere, and come to the heads in their order.
        for mut picture in self.line(lane).drain().rev() {
            picture.may = self.open(picture.may, last);
            self.push_again(picture);
        }
    }

    /// Those of these lanes that are open, or `last` where none is.
    pub fn open(&self, may: LaneSet, last: LaneId) -> LaneSet {
        let open = may.minus(self.closed);
        if open.is_empty() { LaneSet::only(last) } else { open }
    }

    /// The lanes that were given up.
    pub fn closed(&self) -> LaneSet {
        self.closed
    }

    /// Whether a lane was given up.
    pub fn is_closed(&self, lane: LaneId) -> bool {
        self.closed.has(lane)
    }

    /// Pictures in all lines.
    pub fn waiting(&self) -> usize {
        self.lanes.iter().map(|lane| lane.line.len()).sum()
    }

    /// How a lane has done.
    pub fn tally(&self, lane: LaneId) -> LaneTally {
        let Lane { line, stolen } = &self.lanes[lane.0];
        LaneTally { waiting: line.len(), stolen: *stolen }
    }

    /// What a picture costs a lane's worker, as measured so far.
    pub fn cost(&self, lane: LaneId) -> &Cost {
        self.lanes[lane.0].line.cost()
    }

    fn line(&mut self, lane: LaneId) -> &mut Line<T> {
        &mut self.lanes[lane.0].line
    }

    /// The lane that will be done with a picture first, and the seconds that it takes one of its workers.
    fn assign(&mut self, picture: &Queued<T>) -> (LaneId, f64) {
        let may = picture.may.minus(self.closed);
        let lines = || {
            let lines = self.lanes.iter().enumerate();
            lines.filter(|(number, _)| may.has(LaneId(*number)) && self.is_worth(*number, may, picture.work))
        };
        let ends = lines().map(|(number, Lane { line, .. })| {
            let seconds = line.cost().seconds(picture.work);
            (line.ends_after(seconds), number, seconds)
        });
        let (_, first, seconds) =
            ends.min_by(|a, b| a.0.total_cmp(&b.0)).expect("the schedule has an open lane that may decode the picture");
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            if number != first && may.has(LaneId(number)) {
                lane.line.pass_over();
            }
        }
        (LaneId(first), seconds)
    }

    /// Whether a lane has no rival among these, or beats it.
    fn is_worth(&self, lane: usize, may: LaneSet, work: Work) -> bool {
        let line = &self.lanes[lane].line;
        line.rival().is_none_or(|rival| !may.has(rival) || line.beats(self.cost(rival), work))
    }

    /// Takes a picture from the tail of the longest line, if the thief, with `already` seconds of work, would finish it
    /// before its own lane does.
    fn steal(&mut self, thief: LaneId, already: f64) -> Option<Queued<T>> {
        let cost = self.lanes[thief.0].line.cost();
        let worth = |(number, Lane { line, .. }): (usize, &Lane<T>)| {
            let end = line.ends_after(0.0);
            let wants = |picture: &Queued<T>| {
                let may = picture.may.minus(self.closed);
                already + cost.seconds(picture.work) < end && self.is_worth(thief.0, may, picture.work)
            };
            let place = line.last_for(thief, wants)?;
            (number != thief.0).then_some((end, number, place))
        };
        let longest = self.lanes.iter().enumerate().filter_map(worth).max_by(|a, b| a.0.total_cmp(&b.0));
        let (_, victim, place) = longest?;
        self.lanes[victim].line.remove(place)
    }
}
