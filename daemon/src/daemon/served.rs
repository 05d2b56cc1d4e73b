//! A running stream, with the settings that it was opened with.

use std::sync::Arc;

use forebay_road::Stream;

use crate::config::StreamSection;

/// A stream that runs.
#[derive(Debug)]
pub(super) struct Served {
    /// As it was written: its dataset, its run, and what the road took of it.
    pub(super) section: StreamSection,
    pub(super) stream: Arc<Stream>,
}
