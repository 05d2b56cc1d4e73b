//! A lane's line: the pictures that wait for it, and how long it will have to do with them.

use std::collections::VecDeque;

use super::cost::{Cost, Sample, Work};
use super::lane_set::{LaneId, LaneSet};

/// A lane, as the schedule has to know it.
#[derive(Clone, Debug)]
pub struct LaneSpec {
    /// Threads that take pictures of it at the same time.
    pub workers: u32,
    /// What a picture costs one of them, before any was measured.
    pub prior: Cost,
    /// The lane whose threads could do the same work on the same cores. Of pictures that both may decode, this lane gets those that
    /// cost it less, and a few more by which it is measured.
    pub rival: Option<LaneId>,
}

/// A picture with what the schedule has to know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued<T> {
    /// The picture.
    pub item: T,
    /// What of it makes work.
    pub work: Work,
    /// The lanes that may decode it.
    pub may: LaneSet,
}

/// A lane with its line.
#[derive(Debug)]
pub(super) struct Line<T> {
    spec: LaneSpec,
    cost: Cost,
    /// Each with the seconds that it was added to `waiting` with.
    pictures: VecDeque<(Queued<T>, f64)>,
    /// Seconds of one worker that the pictures in the line are expected to take.
    waiting: f64,
    /// The same for those under way.
    busy: f64,
    /// Groups that are under way.
    groups: u32,
    /// Pictures that it might have had and others got, since it last had any.
    passed_over: u32,
    /// Groups by which it has yet to be measured.
    trials: u32,
    /// Pictures that others got since it was measured last.
    unmeasured: u32,
}

/// How many pictures at a line's tail a thief considers: it may be barred from the last ones.
const LOOK_BACK: usize = 8;
/// After this many pictures that went to other lanes while a lane had none, its measurements count less.
const PATIENCE: u32 = 256;
/// By as many groups, a lane with a rival is measured at first.
const TRIALS: u32 = 8;
/// After this many pictures that went to other lanes, it is measured by one more group. By then, nothing is left of older figures.
const UNMEASURED: u32 = 16 * PATIENCE;

impl<T> Line<T> {
    pub(super) fn new(spec: LaneSpec) -> Self {
        let cost = spec.prior.clone();
        Self {
            spec,
            cost,
            pictures: VecDeque::new(),
            waiting: 0.0,
            busy: 0.0,
            groups: 0,
            passed_over: 0,
            trials: TRIALS,
            unmeasured: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pictures.len()
    }

    pub(super) fn cost(&self) -> &Cost {
        &self.cost
    }

    /// Whether it decodes a picture with less work than its rival, or is to be measured.
    pub(super) fn beats(&self, rival: &Cost, work: Work) -> bool {
        self.trials > 0 || self.cost.seconds(work) < rival.seconds(work)
    }

    pub(super) fn rival(&self) -> Option<LaneId> {
        self.spec.rival
    }

    /// When a picture of this cost in seconds would be done at the end of the line.
    pub(super) fn ends_after(&self, seconds: f64) -> f64 {
        // A picture is decoded by one worker, however many there are.
        ((self.waiting + self.busy + seconds) / f64::from(self.spec.workers.max(1))).max(seconds)
    }

    /// Puts a picture at its end.
    pub(super) fn push_back(&mut self, picture: Queued<T>, seconds: f64) {
        self.waiting += seconds;
        self.pictures.push_back((picture, seconds));
    }

    /// Puts a picture at its head.
    pub(super) fn push_front(&mut self, picture: Queued<T>, seconds: f64) {
        self.waiting += seconds;
        self.pictures.push_front((picture, seconds));
    }

    /// Takes the picture at its head.
    pub(super) fn pop(&mut self) -> Option<Queued<T>> {
        self.remove(0)
    }

    /// Takes the picture at this place.
    pub(super) fn remove(&mut self, place: usize) -> Option<Queued<T>> {
        let (picture, seconds) = self.pictures.remove(place)?;
        self.waiting = if self.pictures.is_empty() { 0.0 } else { (self.waiting - seconds).max(0.0) };
        Some(picture)
    }

    /// The place of the youngest picture that this lane may take and wants, among the last few.
    pub(super) fn last_for(&self, lane: LaneId, mut wants: impl FnMut(&Queued<T>) -> bool) -> Option<usize> {
        let last = self.pictures.iter().enumerate().rev().take(LOOK_BACK);
        last.filter(|(_, (picture, _))| picture.may.has(lane)).find(|(_, (picture, _))| wants(picture)).map(|at| at.0)
    }

    /// All that wait, the oldest first.
    pub(super) fn drain(&mut self) -> impl DoubleEndedIterator<Item = Queued<T>> + use<T> {
        self.waiting = 0.0;
        std::mem::take(&mut self.pictures).into_iter().map(|(picture, _)| picture)
    }

    /// A worker has begun work of this cost in seconds.
    pub(super) fn begin(&mut self, seconds: f64) {
        self.busy += seconds;
        self.groups += 1;
        self.passed_over = 0;
    }

    /// A worker is done with that, and tells what of it says how fast the lane is.
    pub(super) fn end(&mut self, seconds: f64, sample: &Sample) {
        self.groups = self.groups.saturating_sub(1);
        self.busy = if self.groups == 0 { 0.0 } else { (self.busy - seconds).max(0.0) };
        self.cost.observe(sample);
        if sample.pictures > 0 {
            self.trials = self.trials.saturating_sub(1);
            self.unmeasured = 0;
        }
    }

    /// A picture that it might have had went to another lane. A lane that is believed dear gets none and is not measured any
    /// more, so that belief has to fade.
    pub(super) fn pass_over(&mut self) {
        if self.groups > 0 || !self.pictures.is_empty() {
            // It will be measured.
            return;
        }
        self.passed_over += 1;
        self.unmeasured += 1;
        if self.unmeasured == UNMEASURED {
            self.unmeasured = 0;
            self.trials = self.trials.max(1);
        }
        if self.passed_over == PATIENCE {
            self.passed_over = 0;
            self.cost.fade();
        }
    }
}
