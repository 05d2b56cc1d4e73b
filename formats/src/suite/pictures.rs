//! The fixture for sources whose records are files: a folder of pictures, or a list of them.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use forebay_sources::{Options, ReadErrorKind};
use tempfile::TempDir;

use super::Fixture;
use crate::{Opened, open};

/// What the pictures hold, which is enough for a source.
const CONTENTS: [(&str, &str); 4] =
    [("a/1.jpg", "one"), ("a/2.png", "second"), ("b/3.jpg", "3"), ("b/4.JPG", "the fourth")];

/// A folder with four pictures, and a dataset of them.
pub(super) struct Pictures {
    dir: TempDir,
    /// What the dataset is opened by, below the folder.
    dataset: &'static str,
    /// The records' files, in their order.
    order: [&'static str; 4],
}

impl Pictures {
    /// The folder itself, of which the source has the records in this order.
    pub(super) fn folder(order: [&'static str; 4]) -> Box<dyn Fixture> {
        let pictures = Self { dir: tempfile::tempdir().unwrap(), dataset: "", order };
        pictures.mend();
        Box::new(pictures)
    }

    /// A file that names the pictures, each in a line that begins with its path.
    pub(super) fn list(name: &'static str, lines: [&'static str; 4]) -> Box<dyn Fixture> {
        let order = lines.map(|line| line.split_once(',').map_or(line, |(path, _)| path));
        let pictures = Self { dir: tempfile::tempdir().unwrap(), dataset: name, order };
        fs::write(pictures.dir.path().join(name), lines.join("\n")).unwrap();
        pictures.mend();
        Box::new(pictures)
    }

    fn file(&self, record: u64) -> PathBuf {
        self.dir.path().join(self.order[usize::try_from(record).unwrap()])
    }
}

impl Fixture for Pictures {
    fn open(&self, options: &Options) -> Opened {
        open(self.dir.path().join(self.dataset).to_str().unwrap(), options)
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        let content = |file| CONTENTS.iter().find(|(name, _)| *name == file).unwrap().1;
        self.order.iter().map(|&file| content(file).as_bytes().to_vec()).collect()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        fs::remove_file(self.file(record)).unwrap();
        ReadErrorKind::Missing
    }

    fn grow(&self, record: u64) {
        let mut content = fs::read(self.file(record)).unwrap();
        content.extend(b"more");
        fs::write(self.file(record), content).unwrap();
    }

    fn touch(&self, record: u64) {
        fs::File::open(self.file(record)).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    fn mend(&self) {
        for (file, content) in CONTENTS {
            let path = self.dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
}
