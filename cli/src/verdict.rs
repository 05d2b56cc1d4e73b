//! What limits a stream, and what would help, in words: for `bench`, `status` and `top`.

mod sentence;
#[cfg(test)]
mod tests;

use forebay_daemon::verdict::BUSY;
pub(crate) use forebay_daemon::verdict::{Limit, StageShares, earlier};
use forebay_proto::v1::{StatusReply, StreamStatus};
use serde::Serialize;

use sentence::sentence;

/// A limit, and sentences about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) limit: Limit,
    #[serde(rename = "verdict")]
    pub(crate) sentence: String,
}

impl Verdict {
    /// About a stream, from two readings of it and of its daemon. `waiting` is the share of the time in which a trainer waited for
    /// a batch, where that was measured.
    pub(crate) fn of(
        readings: (&StatusReply, &StatusReply),
        stream: &StreamStatus,
        shares: Option<StageShares>,
        waiting: Option<f64>,
    ) -> Self {
        let limit = Limit::of(readings.1, stream, shares, waiting);
        let sentence = sentence(limit, readings, stream, shares.unwrap_or_default());
        Self { limit, sentence }
    }
}
