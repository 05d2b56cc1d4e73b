//! The identity of a stream: the run and the name under which its ledger is known, and the part that it reads.

use std::fmt;

use forebay_plan::EpochPart;

use crate::settings::{AskedPart, Sharding};

/// The identity of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name of the run.
    pub run: String,
    /// Name of the stream.
    pub stream: String,
    /// Shard of a static stream, or rank of one in lockstep.
    pub part: Option<EpochPart>,
    /// The daemon's incarnation.
    pub incarnation: u64,
}

impl Identity {
    /// The identity of one shard or rank of this stream.
    #[must_use]
    pub fn of_part(&self, sharding: Sharding, asked: Option<AskedPart>) -> Self {
        Self { part: sharding.epoch_part(asked), ..self.clone() }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            None => f.write_str(&self.stream),
            Some(part) => write!(f, "{} ({part})", self.stream),
        }
    }
}
