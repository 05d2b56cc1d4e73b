//! The texts of a dataset: which there are, which picture each belongs to, and which belong to none.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::layout::label_path;
use crate::beside::{Beside, BesideKind};
use crate::containers::is_named;
use crate::paths::Paths;

/// The files of a dataset that are no pictures.
#[derive(Debug)]
pub(super) struct Texts {
    /// Sorted by their bytes.
    others: Paths,
    /// Those that some picture has.
    used: Vec<AtomicBool>,
    /// Of texts whose extension is not `txt` to the letter, such as `TXT`: what their paths would be, and their places.
    odd: HashMap<Vec<u8>, usize>,
}

/// Files that tools write into the folder of the texts, and that are no texts of pictures.
const OF_TOOLS: [&[u8]; 2] = [b"classes.txt", b"predefined_classes.txt"];

impl Texts {
    /// Those among these files.
    pub(super) fn new(others: Paths) -> Self {
        let mut odd = HashMap::new();
        for (place, path) in others.iter().enumerate() {
            if is_text(path) && !path.ends_with(b".txt") {
                let stem = path.len() - b"txt".len();
                odd.entry([&path[..stem], b"txt"].concat()).or_insert(place);
            }
        }
        let used = (0..others.len()).map(|_| AtomicBool::new(false)).collect();
        Self { others, used, odd }
    }

    /// The text of a picture, if there is one.
    pub(super) fn of(&self, picture: &[u8]) -> Option<&[u8]> {
        let path = label_path(picture);
        let place = self.place(&path).or_else(|| self.odd.get(&path).copied())?;
        self.used[place].store(true, Ordering::Relaxed);
        Some(self.others.bytes(place))
    }

    fn place(&self, path: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.others.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.others.bytes(middle) < path { low = middle + 1 } else { high = middle }
        }
        (low < self.others.len() && self.others.bytes(low) == path).then_some(low)
    }

    /// How many belong to a picture.
    pub(super) fn used(&self) -> usize {
        self.used.iter().filter(|used| used.load(Ordering::Relaxed)).count()
    }

    /// The files that belong to no picture.
    pub(super) fn beside(&self) -> Beside {
        let mut beside = Beside::default();
        for (path, used) in self.others.iter().zip(&self.used) {
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            if used.load(Ordering::Relaxed) || OF_TOOLS.contains(&name) {
                continue;
            }
            // A text beside its picture, or in a folder of another name, is told by what it is there.
            let is_below_labels = path.split(|&byte| byte == b'/').rev().skip(1).any(|part| part == b"labels");
            if is_below_labels && is_text(path) {
                beside.see_as(BesideKind::TextsAlone, path);
            } else {
                beside.see(path);
            }
        }
        beside
    }
}

fn is_text(path: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    is_named(std::path::Path::new(std::ffi::OsStr::from_bytes(path)), &["txt"])
}

#[cfg(test)]
mod tests {
    use forebay_sources::Labels;

    use super::*;

    #[test]
    fn a_text_belongs_to_its_picture_whatever_the_case_of_its_extension_is() {
        let mut others = Paths::default();
        for path in
            ["images/c.txt", "labels/a.TXT", "labels/b.txt", "labels/classes.txt", "labels/d.txt", "labelTxt/a.txt"]
        {
            others.push(path.as_bytes());
        }
        let texts = Texts::new(others.order().map_or_else(|| others.clone(), |order| others.permuted(&order)));
        assert_eq!(texts.of(b"images/a.jpg"), Some(&b"labels/a.TXT"[..]));
        assert_eq!(texts.of(b"images/b.png"), Some(&b"labels/b.txt"[..]));
        assert_eq!([texts.of(b"images/c.jpg"), texts.of(b"images/e.jpg")], [None, None]);
        assert_eq!(texts.used(), 2);
        let found = texts.beside().oversights(Labels::Auto, &[]);
        let examples: Vec<String> = found.iter().flat_map(|found| found.examples.clone()).collect();
        assert_eq!(examples, ["labelTxt/a.txt", "images/c.txt", "labels/d.txt"]);
    }
}
