//! What the stages hand over to the delivery of their batches, and what they get back for it.
//!
//! A finished batch comes with its slot and its claims. From then on, the delivery answers for both. The stages get back
//! slots to fill, and the numbers of batches that gave way. The delivery reports everything else to the ledger.

use crossbeam_channel as channel;
use forebay_proto::Turn;
use forebay_proto::v1::BadRecord;
use forebay_ring::{Claim, SlotMut};

use crate::clock;

/// A batch that trainers may read. It owns its slot and its claims. Code that drops it unread must give both back.
#[derive(Debug)]
pub struct FinishedBatch {
    /// The slot, no longer written.
    pub slot: SlotMut,
    /// For each place, whether its pixels are in memory of a GPU already.
    pub in_gpu: Vec<bool>,
    /// Number of the batch.
    pub seq: u64,
    /// Epoch of its records.
    pub epoch: u64,
    /// Places that the user sees.
    pub shown: u32,
    /// Places that are the epoch's own records.
    pub valid: u32,
    /// What it answers for.
    pub claims: Vec<Claim>,
    /// Bad records that it is delivered without.
    pub bad: Vec<BadRecord>,
    /// `CLOCK_MONOTONIC` nanosecond at which it was ready.
    pub time: u64,
}

impl FinishedBatch {
    /// It is ready now.
    pub fn stamp(&mut self) {
        self.time = clock::monotonic();
    }
}

/// What the stages hand over, in its order.
#[derive(Debug)]
pub enum Handover {
    /// A batch for the trainers.
    Ready(FinishedBatch),
    /// A batch that no trainer can get. The stream fails because of it, for this reason in words.
    Lost(FinishedBatch, String),
    /// A slot that was not needed.
    Unused(SlotMut),
    /// A position of this epoch needs a slot, and none is free: a batch of a later epoch is to give way.
    NeedsSlot {
        /// The epoch.
        epoch: u64,
    },
    /// What the batch stage waits for by now.
    Waits(StageWait),
    /// The storage gives nothing, in words for trainers.
    Stalled {
        /// How long, which file, and why.
        words: String,
        /// It has lasted for longer than they wait.
        expired: bool,
    },
    /// The storage gives files again.
    Resumed,
    /// The stream has failed, with the reason in words.
    Failed(String),
    /// A record is bad. The stream continues without it, unless it has failed.
    Bad {
        /// The epoch.
        epoch: u64,
        /// The record's turn there: it may be told several times of it.
        turn: Turn,
        /// Which record, its file, and why.
        reason: String,
        /// What its place shows.
        place: BadPlace,
    },
}

/// What the place of a bad record shows (semantics rule 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadPlace {
    /// The next record.
    #[default]
    Next,
    /// A copy of another picture, with the mask False.
    Copy,
    /// A copy, or the next record where its batch has no good one.
    CopyOrNext,
}

/// What the batch stage waits for before it can make a batch of the current epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StageWait {
    /// It has nothing of the epoch.
    #[default]
    Nothing,
    /// A free slot.
    Slot,
    /// Records that are being read.
    Reading,
    /// Pictures that are being decoded or mixed.
    Decoding,
}

/// The way back, to the batch stage.
#[derive(Clone, Debug)]
pub(crate) struct Vacancies {
    /// Rights to slots that may be filled.
    pub free: channel::Sender<SlotMut>,
    /// Numbers of batches that have given way. Each is told before its slot.
    pub gave_way: channel::Sender<u64>,
}
