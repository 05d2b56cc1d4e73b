//! A dataset as its readers get it.

use forebay_sources::{Source, SourceError};

/// A dataset, or why it cannot be opened.
pub type Opened = Result<Box<dyn Source>, SourceError>;
