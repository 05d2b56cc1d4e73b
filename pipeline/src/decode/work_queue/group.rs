//! What a thread has taken from the work queue: one picture for a thread of the pool, or a group for a thread of a GPU lane.

use forebay_cuda::lane::order::{Made, Order};
use forebay_cuda::schedule::{LaneId, Queued, Sample, TakenId, Work};
use forebay_pixels::Limits;

use crate::decode::job::DecodeJob;
use crate::record::Input;

/// What tells the work queue which picture a thread of the pool is done with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PoolTicket {
    pub(super) number: TakenId,
    pub(super) work: Work,
}

/// Pictures that a thread of a GPU lane has in hand, those first that are not decoded yet.
#[derive(Debug)]
pub(crate) struct Group {
    pub(super) lane: LaneId,
    pub(super) number: TakenId,
    pub(super) pictures: Vec<Queued<DecodeJob>>,
    /// What was decoded of it.
    pub(super) sample: Sample,
}

impl Group {
    pub(super) fn new(lane: LaneId, number: TakenId, pictures: Vec<Queued<DecodeJob>>) -> Self {
        Self { lane, number, pictures, sample: Sample::default() }
    }

    /// Whether it has no picture left.
    pub(crate) fn is_empty(&self) -> bool {
        self.pictures.is_empty()
    }

    /// Pictures that are left.
    pub(crate) fn len(&self) -> usize {
        self.pictures.len()
    }

    /// The record of one of them.
    pub(crate) fn record(&self, number: usize) -> u64 {
        self.pictures[number].item.record
    }

    /// What a worker of this GPU is told of the pictures that are left.
    pub(crate) fn orders<'a>(&'a mut self, limits: &'a Limits, gpu: i32) -> Vec<Order<'a>> {
        let order = |picture: &'a mut Queued<DecodeJob>| {
            let DecodeJob { content, pictures, draw, place, .. } = &mut picture.item;
            let bytes = match pictures.masks.picture(content.input()) {
                Input::File(bytes) => bytes,
                // Only files are given to GPU lanes.
                Input::Picture(_) => &[],
            };
            Order { bytes, made: Made::By(&pictures.recipe, *draw, limits), out: place.target(gpu) }
        };
        self.pictures.iter_mut().map(order).collect()
    }
}
