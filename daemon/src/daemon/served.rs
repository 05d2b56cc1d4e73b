//! A running stream, with the settings that it was opened with.

use std::sync::Arc;

use forebay_pipeline::Stream;

use crate::config::StreamSection;

/// A stream that runs.
#[derive(Debug)]
pub(super) struct Served {
    /// As it was written: its dataset, its run, and what the pipeline took of it.
    pub(super) section: StreamSection,
    pub(super) stream: Arc<Stream>,
}
