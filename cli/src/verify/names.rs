//! How a report names a record and a label.

use std::path::{Path, PathBuf};

use forebay_proto::printable;
use forebay_sources::Source;

/// The names in a dataset.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    /// As the user named it.
    pub dataset: &'a str,
    pub source: &'a dyn Source,
}

impl Names<'_> {
    /// The record for people: below the dataset's folder, and without characters that command a terminal.
    pub(super) fn shown(&self, record: u64) -> String {
        let name = PathBuf::from(self.source.locator(record).name());
        self.shown_path(&name)
    }

    /// The same of a path.
    pub(super) fn shown_path(&self, path: &Path) -> String {
        printable(path.strip_prefix(self.dataset).unwrap_or(path)).to_string()
    }

    /// The record for programs: its name as it is.
    pub(super) fn raw(&self, record: u64) -> String {
        self.source.locator(record).name().to_string_lossy().into_owned()
    }

    /// The class of a label, as it is; none if the label is a plain number.
    pub(super) fn class(&self, label: i64) -> Option<&str> {
        usize::try_from(label).ok().and_then(|label| self.source.classes().get(label)).map(String::as_str)
    }

    /// A label for people.
    pub(super) fn shown_label(&self, label: i64) -> String {
        match (self.class(label), label) {
            (Some(class), _) => printable(class).to_string(),
            (None, -1) => "no label".to_owned(),
            (None, number) => number.to_string(),
        }
    }
}
