//! Opening a stream's dataset: its folder is looked through, which may take long, or for ever.

use std::sync::Arc;

use crate::config;
use crate::source::{self, Source};
use crate::stream::StreamError;
use crate::threads;

/// Opens the dataset that the settings name, or the list of files that came with them. A file with more than
/// `byte_limit` bytes is refused when it is read.
///
/// # Errors
/// There is no such dataset, or it cannot be read.
pub async fn dataset(
    settings: &config::Stream,
    files: Option<Arc<Vec<u8>>>,
    byte_limit: u64,
) -> Result<Arc<dyn Source>, StreamError> {
    let name = settings.source.clone().unwrap_or_default();
    let options = source::Options { labels: settings.labels, root: settings.root.clone(), files, byte_limit };
    // A thread of its own: a file system that does not answer keeps it, and nothing else.
    let opened = threads::beside("forebay-open", move || source::open(&name, &options)).await?;
    Ok(Arc::from(opened?))
}
