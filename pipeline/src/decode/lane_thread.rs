//! One thread of a GPU lane. It takes groups from the work queue, lets its worker decode them, and judges failures.

use std::sync::Arc;
use std::time::Instant;

use forebay_cuda::CudaError;
use forebay_cuda::lane::Refusal;
use forebay_cuda::lane::self_test::self_test;
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::schedule::LaneId;

use crate::decode::work_queue::{Group, WorkQueue};
use crate::last_resort::{broken, unfixed};
use crate::watch::Watched;

/// A lane is switched off when so many groups of one of its threads have failed in a row on a GPU that is not broken.
const FAILURES: u32 = 3;

/// The thread's part in the lane.
#[derive(Debug)]
pub(super) struct LaneThread {
    work_queue: Arc<WorkQueue>,
    lane: LaneId,
    worker: Worker,
    watched: Watched,
    /// Groups that failed since one went well.
    in_a_row: u32,
    /// What the last of them failed with.
    failure: String,
}

/// What became of the first pictures of a group.
type GroupOutcomes = Vec<Result<(), Refusal>>;

impl LaneThread {
    pub(super) fn new(work_queue: Arc<WorkQueue>, lane: LaneId, worker: Worker, watched: Watched) -> Self {
        Self { work_queue, lane, worker, watched, in_a_row: 0, failure: String::new() }
    }

    /// Decodes until the work queue has nothing for the lane any more. What the worker has of the GPU is given back then.
    pub(super) fn run(mut self) {
        while let Ok(mut group) = self.work_queue.group(self.lane, self.worker.group()) {
            let began = Instant::now();
            while !group.is_empty() && !self.work_queue.is_off(self.lane) {
                let mut outcomes = self.decode(&mut group);
                if self.work_queue.is_fixed() {
                    self.insist(&mut group, &mut outcomes);
                } else if self.has_failed(&outcomes) {
                    break;
                }
                self.work_queue.came_back(&mut group, outcomes);
            }
            self.work_queue.group_done(group, began.elapsed());
        }
    }

    /// Decodes the first pictures of a group, as many as the worker takes.
    fn decode(&mut self, group: &mut Group) -> GroupOutcomes {
        self.attempt(group, None).unwrap_or_else(|error| {
            self.failure = error.to_string();
            vec![Err(Refusal::Failed); group.len()]
        })
    }

    /// Decodes the first pictures of a group, or one of them alone. An error is the GPU's, and none of them is at fault.
    fn attempt(&mut self, group: &mut Group, alone: Option<usize>) -> Result<GroupOutcomes, CudaError> {
        let mut orders = group.orders(self.work_queue.limits(), self.work_queue.gpu(self.lane));
        let orders = match alone {
            Some(number) => &mut orders[number..=number],
            None => &mut orders,
        };
        match self.watched.during(|| self.worker.decode(orders)) {
            Err(error) if error.is_fault() => broken(&error),
            decoded => {
                if let Some(error) = self.worker.failure() {
                    self.failure = error.to_string();
                } else if decoded.as_ref().is_ok_and(|outcomes| outcomes.contains(&Err(Refusal::NotWritten))) {
                    "nvJPEG reported success, and wrote no pixels".clone_into(&mut self.failure);
                }
                decoded
            }
        }
    }

    /// Whether the lane is given up: group after group fails, and not for what the pictures are.
    fn has_failed(&mut self, outcomes: &GroupOutcomes) -> bool {
        if outcomes.iter().any(Result::is_ok) {
            self.in_a_row = 0;
        }
        if outcomes.iter().any(Result::is_ok) || !outcomes.iter().copied().any(may_be_the_lanes_fault) {
            return false;
        }
        self.in_a_row += 1;
        let (lane, error) = (self.work_queue.name(self.lane), &self.failure);
        tracing::warn!(lane, error, "a group failed on the GPU, and goes to the next lane");
        if self.in_a_row < FAILURES {
            return false;
        }
        tracing::warn!(lane, error, "the lane is switched off");
        self.work_queue.switch_off(self.lane, format!("{FAILURES} groups in a row failed, the last with: {error}"));
        true
    }

    /// With `lanes = "fixed"` a picture leaves its lane for what its file is, and for nothing else. One that failed is tried again,
    /// alone. If nvJPEG fails again, and not on known pictures, its file is at fault; else the daemon ends, rather than give other
    /// pixels than the next run. What the driver fails with is never the file's, and may have passed before the known pictures come.
    fn insist(&mut self, group: &mut Group, outcomes: &mut GroupOutcomes) {
        for (number, outcome) in outcomes.iter_mut().enumerate() {
            if *outcome != Err(Refusal::Memory) && !may_be_the_lanes_fault(*outcome) {
                continue;
            }
            let by_the_file = match self.attempt(group, Some(number)) {
                Ok(mut again) => {
                    *outcome = again.pop().expect("a worker decodes at least one picture");
                    match outcome {
                        Err(Refusal::Memory) => false,
                        again if may_be_the_lanes_fault(*again) => self.is_well(),
                        _ => true,
                    }
                }
                Err(error) => {
                    self.failure = error.to_string();
                    false
                }
            };
            if !by_the_file {
                unfixed(group.record(number), &self.work_queue.name(self.lane), &self.failure);
            }
        }
    }

    fn is_well(&mut self) -> bool {
        self.watched.during(|| self_test(&mut self.worker)).is_ok()
    }
}

/// Whether nvJPEG has failed on a picture without a word on its file.
fn may_be_the_lanes_fault(outcome: Result<(), Refusal>) -> bool {
    matches!(outcome, Err(Refusal::Failed | Refusal::NotWritten))
}
