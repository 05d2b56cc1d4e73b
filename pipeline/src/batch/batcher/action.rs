//! What the batcher tells its caller to do: the outputs of the state machine.

use forebay_proto::Turn;

use crate::batch_metadata::BatchMetadata;
use crate::place::At;
use crate::record::{BadRecord, Position};

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Read this record and decode it into the place; the outcome comes with [`Batcher::outcome`](super::Batcher::outcome).
    Fetch {
        /// Where to.
        at: At,
        /// Epoch of the batch.
        epoch: u64,
        /// The record, and the turn whose random choices it has.
        turn: Turn,
    },
    /// Copy a picture; neither place is in decoding.
    Copy {
        /// Where it is.
        from: At,
        /// Where to.
        to: At,
    },
    /// Make the place black: there is no picture for it.
    Clear {
        /// Which place.
        at: At,
    },
    /// Hand the batch on.
    Publish(BatchMetadata),
    /// Give the batch's slot back, nothing is in it.
    Discard {
        /// Number of the batch.
        batch: u64,
    },
    /// No batch of the epoch is in the making any more, and these fill none.
    Settled {
        /// The epoch.
        epoch: u64,
        /// They are given up.
        tail: Vec<Position>,
    },
    /// Ack these as dropped.
    Dropped(Vec<Position>),
    /// Quarantine this record.
    Nack(BadRecord),
    /// The stream has failed.
    Fail(String),
}
