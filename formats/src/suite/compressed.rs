//! The fixture for files that are compressed as a whole: one file for each record, so that each can be changed alone.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use forebay_sources::{DiskCache, Options, ReadErrorKind};
use tempfile::TempDir;

use super::Fixture;
use crate::tar::writer::TarWriter;
use crate::tfrecord;
use crate::unpacked::Compression;

const CONTENTS: [&str; 4] = ["one", "second", "3", "the fourth"];

/// A folder with four compressed files, and the cache that they are unpacked into.
pub(super) struct Compressed {
    dir: TempDir,
    compression: Compression,
    extension: &'static str,
    /// Writes a file with this record.
    write: fn(u64, &str) -> Vec<u8>,
}

impl Compressed {
    /// Tars of samples.
    pub(super) fn tars(compression: Compression, extension: &'static str) -> Box<dyn Fixture> {
        Self::boxed(compression, extension, |record, content| {
            let label = (record % 2).to_string();
            TarWriter::of(&[("x.cls", label.as_bytes()), ("x.jpg", content.as_bytes())])
        })
    }

    /// Files of `TFRecord`.
    pub(super) fn tfrecords(compression: Compression, extension: &'static str) -> Box<dyn Fixture> {
        Self::boxed(compression, extension, |_, content| tfrecord::tests::write_examples(&[content.as_bytes()]))
    }

    fn boxed(compression: Compression, extension: &'static str, write: fn(u64, &str) -> Vec<u8>) -> Box<dyn Fixture> {
        let compressed = Self { dir: tempfile::tempdir().unwrap(), compression, extension, write };
        compressed.mend();
        Box::new(compressed)
    }

    fn file(&self, record: u64) -> PathBuf {
        self.dir.path().join("files").join(format!("{record}.{}", self.extension))
    }

    fn write(&self, record: u64, content: &str) {
        fs::create_dir_all(self.dir.path().join("files")).unwrap();
        let bytes = (self.write)(record, content);
        fs::write(self.file(record), self.compression.compressed(&bytes)).unwrap();
        self.date(record, 1);
    }

    /// Sets the file's time.
    fn date(&self, record: u64, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().append(true).open(self.file(record)).unwrap().set_modified(time).unwrap();
    }
}

impl Fixture for Compressed {
    fn files(&self) -> (PathBuf, String) {
        (self.dir.path().join("files"), String::new())
    }

    fn own(&self, options: &Options) -> Options {
        let cache = DiskCache { folder: self.dir.path().join("cache"), size: DiskCache::LEAST };
        Options { cache: Some(cache), ..options.clone() }
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        CONTENTS.map(|content| content.as_bytes().to_vec()).to_vec()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        self.date(record, 2);
        ReadErrorKind::Changed
    }

    fn grow(&self, record: u64) {
        self.write(record, "content with more bytes than it had");
    }

    fn touch(&self, record: u64) {
        self.date(record, 3);
    }

    fn mend(&self) {
        for (record, content) in (0..).zip(CONTENTS) {
            self.write(record, content);
        }
    }
}
