//! The result of a comparison for one dataset.

use std::collections::BTreeMap;

use forebay_printable::printable;

use super::difference::{Difference, Tally};
use super::pillow::Opened;

/// Every difference, by what was done and by what the pictures are.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The dataset, as the user named it.
    pub path: String,
    /// By task, in the tasks' order.
    pub tasks: Vec<(&'static str, Tally)>,
    /// Whole decodes of pictures with an EXIF orientation.
    pub turned: Tally,
    /// Whole decodes of gray, CMYK, palette, transparent and 16-bit pictures.
    pub coloured: Tally,
    /// Whole decodes by format and sampling.
    pub kinds: BTreeMap<String, Tally>,
    /// Picture and reason.
    pub refused_by_us: Vec<(String, String)>,
    /// Picture and reason.
    pub refused_by_pillow: Vec<(String, String)>,
    pub refused_by_both: u64,
    /// Pictures for which Pillow's result has another size.
    pub other_size: Vec<String>,
    /// Picture and reason.
    pub unreadable: Vec<(String, String)>,
}

impl Report {
    pub(super) fn new(path: &str, tasks: impl Iterator<Item = &'static str>) -> Self {
        let tasks = tasks.map(|name| (name, Tally::default())).collect();
        Self { path: printable(path).to_string(), tasks, ..Self::default() }
    }

    /// Counts a picture for a task; says whether it is the task's worst so far.
    pub(super) fn add(&mut self, task: &str, picture: &str, difference: &Difference) -> bool {
        let (_, tally) = self.tasks.iter_mut().find(|(name, _)| *name == task).expect("a task that was announced");
        tally.add(picture, difference)
    }

    /// Counts a whole decode by what the picture is.
    pub(super) fn add_whole(&mut self, picture: &str, about: &Opened, difference: &Difference) {
        self.kinds.entry(about.kind.clone()).or_default().add(picture, difference);
        if about.turned {
            self.turned.add(picture, difference);
        }
        if about.coloured {
            self.coloured.add(picture, difference);
        }
    }
}
