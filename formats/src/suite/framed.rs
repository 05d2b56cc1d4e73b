//! The fixture for sources that keep their records in one file, each in a frame of its own.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::SystemTime;

use forebay_sources::{Options, ReadErrorKind};
use tempfile::TempDir;

use super::Fixture;

/// Writes records as the format does.
type Write = fn(&[&[u8]]) -> Vec<u8>;

const CONTENTS: [&str; 4] = ["one", "second", "3", "the fourth"];

/// A file with four records.
pub(super) struct Framed {
    dir: TempDir,
    name: &'static str,
    own: &'static [(&'static str, &'static str)],
    write: Write,
    /// Bytes from what is spoiled to the record's content.
    before: usize,
}

impl Framed {
    /// The file, opened with these options. To spoil a record, the byte so far before its content is changed: 0 where a
    /// checksum covers the content, and otherwise the place of the record's head.
    pub(super) fn of(
        name: &'static str,
        own: &'static [(&'static str, &'static str)],
        write: Write,
        before: usize,
    ) -> Box<dyn Fixture> {
        let framed = Self { dir: tempfile::tempdir().unwrap(), name, own, write, before };
        framed.mend();
        Box::new(framed)
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(self.name)
    }

    fn write(&self, records: &[&str]) {
        let records: Vec<&[u8]> = records.iter().map(|record| record.as_bytes()).collect();
        let bytes = (self.write)(&records);
        // In place and with the time that it had, so that sources that are open do not take it for another file.
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(self.path()).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        keep_time(&file);
    }
}

fn keep_time(file: &File) {
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

impl Fixture for Framed {
    fn files(&self) -> (PathBuf, String) {
        (self.dir.path().to_owned(), self.name.to_owned())
    }

    fn own(&self, options: &Options) -> Options {
        let mut options = options.clone();
        self.own.iter().for_each(|(key, value)| options.own.set(*key, *value));
        options
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        CONTENTS.map(|content| content.as_bytes().to_vec()).to_vec()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        let content = CONTENTS[usize::try_from(record).unwrap()].as_bytes();
        let bytes = fs::read(self.path()).unwrap();
        let place = bytes.windows(content.len()).position(|window| window == content).unwrap() - self.before;
        let file = OpenOptions::new().write(true).open(self.path()).unwrap();
        file.write_all_at(&[bytes[place] ^ 1], place as u64).unwrap();
        keep_time(&file);
        ReadErrorKind::Damaged
    }

    fn grow(&self, record: u64) {
        let mut contents = CONTENTS.map(str::to_owned);
        contents[usize::try_from(record).unwrap()].push_str("more");
        self.write(&contents.each_ref().map(String::as_str));
    }

    fn touch(&self, _record: u64) {
        File::open(self.path()).unwrap().set_modified(SystemTime::now()).unwrap();
    }

    fn mend(&self) {
        self.write(&CONTENTS);
    }
}
