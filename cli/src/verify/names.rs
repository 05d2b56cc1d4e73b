//! How a report names a record and a label.

use std::path::{Path, PathBuf};

use forebay_printable::printable;
use forebay_sources::Source;

/// The names in a dataset.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    /// As the user named them.
    pub datasets: &'a [String],
    pub source: &'a dyn Source,
}

/// The file or folder that a dataset's name leads to: what is behind its scheme and before its options.
pub(super) fn path_of(dataset: &str) -> &Path {
    let whole = Path::new(dataset);
    match dataset.split_once(':') {
        Some((_, rest)) if !whole.exists() => {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            let bare = path.rsplit_once('?').map_or(path, |(bare, _)| bare);
            Path::new(if Path::new(path).exists() { path } else { bare })
        }
        _ => whole,
    }
}

impl Names<'_> {
    /// The name of the dataset for people.
    pub(super) fn title(&self) -> String {
        printable(&self.datasets.join(", ")).to_string()
    }

    /// The record for people: below the dataset's folder if there is one dataset, and without characters that command a terminal.
    pub(super) fn shown(&self, record: u64) -> String {
        self.shown_path(&PathBuf::from(self.source.locator(record).name()))
    }

    /// The same of a path.
    pub(super) fn shown_path(&self, path: &Path) -> String {
        let below = match self.datasets {
            [dataset] => path.strip_prefix(path_of(dataset)).ok(),
            _ => None,
        };
        printable(below.unwrap_or(path)).to_string()
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
        shown_label(self.class(label), label)
    }
}

/// A label with its class, for people.
pub(super) fn shown_label(class: Option<&str>, label: i64) -> String {
    match (class, label) {
        (Some(class), _) => printable(class).to_string(),
        (None, -1) => "no label".to_owned(),
        (None, number) => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_is_found_behind_its_scheme_and_before_its_options() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().to_str().unwrap();
        for name in [plain.to_owned(), format!("folder:{plain}"), format!("folder://{plain}?root=/x")] {
            assert_eq!(path_of(&name), dir.path(), "{name}");
        }
        let odd = dir.path().join("csv:x?y");
        std::fs::create_dir(&odd).unwrap();
        assert_eq!(path_of(odd.to_str().unwrap()), odd);
    }
}
