//! Opens a stream's dataset. This scans the dataset's folder, which may take long or never return.

use std::sync::Arc;

use forebay_road::threads;
use forebay_sources::{Options, Source};

use super::OpenError;
use crate::config::StreamSection;

/// Opens the dataset that the settings name, or the list of files that came with them. A file with more than
/// `byte_limit` bytes is refused when it is read.
///
/// # Errors
/// There is no such dataset, or it cannot be read.
pub(super) async fn dataset(
    section: &StreamSection,
    files: Option<Arc<Vec<u8>>>,
    byte_limit: u64,
) -> Result<Arc<dyn Source>, OpenError> {
    let name = section.source.clone().unwrap_or_default();
    let options = Options { byte_limit, ..section.options() };
    // A thread of its own: a file system that does not answer keeps it, and nothing else.
    let open = move || match files {
        Some(list) => forebay_formats::open_list(&list, &options),
        None => forebay_formats::open(&name, &options),
    };
    let opened = threads::beside("forebay-open", open).await?;
    Ok(Arc::from(opened?))
}
