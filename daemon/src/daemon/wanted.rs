//! A request for an open stream: which stream, with which settings, and for whom.

use std::sync::Arc;

use forebay_pipeline::Credentials;
use forebay_pipeline::settings::AskedPart;

use super::gates::StreamKey;
use super::ledgers::Ledgers;
use crate::config::StreamSection;

/// A stream to open.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) key: StreamKey,
    pub(super) shard: Option<AskedPart>,
    pub(super) section: StreamSection,
    /// A list of files.
    pub(super) files: Option<Arc<Vec<u8>>>,
    /// The trainer's credentials; `None` for a stream that is opened before there is a trainer.
    pub(super) trainer: Option<Credentials>,
    pub(super) ledgers: Ledgers,
}
