//! The fixture for custom readers: a folder of files, and a Python class that reads them.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use forebay_sources::{Options, ReadErrorKind};
use tempfile::TempDir;

use super::Fixture;

const CONTENTS: [&str; 5] = ["one", "second", "3", "the fourth", "five"];

/// Two shards. What it says of itself changes with the sizes of its files.
const READER: &str = r#"
import os


class CustomDataReader:
    def __init__(self, folder):
        self.folder = folder

    def path(self, number):
        return os.path.join(self.folder, str(number))

    def version(self):
        return [os.path.getsize(self.path(number)) for number in range(5)]

    def create_shards(self):
        return {"a": (0, 3), "b": (3, 2)}

    def labels(self):
        return ["x", "y", "x", "y", "z"]

    def read_records(self, task):
        for number in range(task.shard.start, task.shard.end):
            with open(self.path(number), "rb") as file:
                yield file.read()
"#;

/// Files by their numbers, beside the reader.
pub(super) struct Readers {
    dir: TempDir,
    /// Records of a task.
    per_task: u64,
}

impl Readers {
    pub(super) fn of_tasks(per_task: u64) -> Box<dyn Fixture> {
        let readers = Self { dir: tempfile::tempdir().unwrap(), per_task };
        fs::write(readers.dir.path().join("reader.py"), READER).unwrap();
        readers.mend();
        Box::new(readers)
    }

    fn file(&self, record: u64) -> PathBuf {
        self.dir.path().join(record.to_string())
    }
}

impl Fixture for Readers {
    fn files(&self) -> (PathBuf, String) {
        (self.dir.path().to_owned(), "reader.py".into())
    }

    fn dataset(&self, options: &Options) -> (String, Options) {
        let folder = self.dir.path().to_str().unwrap();
        let name = format!("python://{folder}/reader.py?folder={folder}&workers=2&records_per_task={}", self.per_task);
        (name, options.clone())
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        CONTENTS.iter().map(|content| content.as_bytes().to_vec()).collect()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        fs::remove_file(self.file(record)).unwrap();
        ReadErrorKind::Reader
    }

    fn grow(&self, record: u64) {
        fs::write(self.file(record), "more than it was").unwrap();
    }

    fn touch(&self, record: u64) {
        fs::File::open(self.file(record)).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    fn mend(&self) {
        for (record, content) in (0..).zip(CONTENTS) {
            fs::write(self.file(record), content).unwrap();
        }
    }
}
