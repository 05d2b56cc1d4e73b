//! The fixture for sources whose records are files: a folder of pictures, a list of them, or annotations.

use std::fs;
use std::path::PathBuf;

use forebay_sources::ReadErrorKind;
use tempfile::TempDir;

use super::Fixture;
use crate::scene::date;

/// What the pictures hold, which is enough for a source.
const CONTENTS: [(&str, &str); 4] =
    [("a/1.jpg", "one"), ("a/2.png", "second"), ("b/3.jpg", "3"), ("b/4.JPG", "the fourth")];

/// A folder with four pictures, and a dataset of them.
pub(super) struct Pictures {
    dir: TempDir,
    /// What the dataset is opened by, below the folder.
    dataset: &'static str,
    /// The records' files with what they hold, in their order.
    files: [(&'static str, &'static str); 4],
}

impl Pictures {
    /// The folder itself, of which the source has the records in this order.
    pub(super) fn folder(order: [&'static str; 4]) -> Box<dyn Fixture> {
        Self::named(order, "", &[])
    }

    /// A file that names the pictures, each in a line that begins with its path.
    pub(super) fn list(name: &'static str, lines: [&'static str; 4]) -> Box<dyn Fixture> {
        let order = lines.map(|line| line.split_once(',').map_or(line, |(path, _)| path));
        Self::named(order, name, &[(name, &lines.join("\n"))])
    }

    /// Pictures with files that describe them. `dataset` is what is opened.
    pub(super) fn described(
        order: [&'static str; 4],
        dataset: &'static str,
        descriptions: &[(&str, &str)],
    ) -> Box<dyn Fixture> {
        let mut contents = CONTENTS.iter().map(|(_, content)| *content);
        Self::build(order.map(|file| (file, contents.next().unwrap())), dataset, descriptions)
    }

    fn named(order: [&'static str; 4], dataset: &'static str, descriptions: &[(&str, &str)]) -> Box<dyn Fixture> {
        let of = |file| *CONTENTS.iter().find(|(name, _)| *name == file).unwrap();
        Self::build(order.map(of), dataset, descriptions)
    }

    fn build(
        files: [(&'static str, &'static str); 4],
        dataset: &'static str,
        descriptions: &[(&str, &str)],
    ) -> Box<dyn Fixture> {
        let pictures = Self { dir: tempfile::tempdir().unwrap(), dataset, files };
        for (file, text) in descriptions {
            pictures.write(file, text);
        }
        pictures.mend();
        Box::new(pictures)
    }

    fn write(&self, file: &str, content: &str) {
        let path = self.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        // What is mended is what it was, with its time.
        date(&path, 1);
    }

    fn file(&self, record: u64) -> PathBuf {
        self.dir.path().join(self.files[usize::try_from(record).unwrap()].0)
    }
}

impl Fixture for Pictures {
    fn files(&self) -> (PathBuf, String) {
        (self.dir.path().to_owned(), self.dataset.to_owned())
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        self.files.iter().map(|(_, content)| content.as_bytes().to_vec()).collect()
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
        date(&self.file(record), 0);
    }

    fn mend(&self) {
        for (file, content) in self.files {
            self.write(file, content);
        }
    }
}
