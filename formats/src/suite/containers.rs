//! The fixture for files that hold records: one file for each record, so that each can be changed alone.

use std::fs;
use std::path::PathBuf;

use forebay_sources::{DiskCache, Options, ReadErrorKind};
use tempfile::TempDir;

use super::Fixture;
use crate::scene::date;
use crate::tar::writer::TarWriter;
use crate::tfrecord;
use crate::unpacked::Compression;

const CONTENTS: [&str; 4] = ["one", "second", "3", "the fourth"];

/// A folder with four files, and where they are compressed, the cache that they are unpacked into.
pub(super) struct Containers {
    dir: TempDir,
    extension: &'static str,
    compression: Option<Compression>,
    /// Writes a file with this record.
    write: fn(u64, &str) -> Vec<u8>,
}

impl Containers {
    /// Tars of samples with labels.
    pub(super) fn tars_of_samples() -> Box<dyn Fixture> {
        Self::boxed("tar", None, sample)
    }

    /// Tars of pictures in class folders.
    pub(super) fn tars_of_files() -> Box<dyn Fixture> {
        Self::boxed("tar", None, |record, content| {
            let name = format!("class {}/{record}.jpg", record % 2);
            TarWriter::of(&[("readme.txt", b"text"), (&name, content.as_bytes())])
        })
    }

    /// Tars of samples that are compressed as a whole.
    pub(super) fn compressed_tars(compression: Compression, extension: &'static str) -> Box<dyn Fixture> {
        Self::boxed(extension, Some(compression), sample)
    }

    /// Files of `TFRecord` that are compressed as a whole.
    pub(super) fn compressed_tfrecords(compression: Compression, extension: &'static str) -> Box<dyn Fixture> {
        let write = |_, content: &str| tfrecord::tests::write_examples(&[content.as_bytes()]);
        Self::boxed(extension, Some(compression), write)
    }

    fn boxed(
        extension: &'static str,
        compression: Option<Compression>,
        write: fn(u64, &str) -> Vec<u8>,
    ) -> Box<dyn Fixture> {
        let containers = Self { dir: tempfile::tempdir().unwrap(), extension, compression, write };
        fs::create_dir(containers.folder()).unwrap();
        containers.mend();
        Box::new(containers)
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    fn file(&self, record: u64) -> PathBuf {
        self.folder().join(format!("{record}.{}", self.extension))
    }

    fn write(&self, record: u64, content: &str) {
        let bytes = (self.write)(record, content);
        let bytes = match self.compression {
            Some(compression) => compression.compressed(&bytes),
            None => bytes,
        };
        fs::write(self.file(record), bytes).unwrap();
        date(&self.file(record), 1);
    }
}

fn sample(record: u64, content: &str) -> Vec<u8> {
    let label = (record % 2).to_string();
    TarWriter::of(&[("x.cls", label.as_bytes()), ("x.jpg", content.as_bytes())])
}

impl Fixture for Containers {
    fn files(&self) -> (PathBuf, String) {
        (self.folder(), String::new())
    }

    fn own(&self, options: &Options) -> Options {
        let cache = DiskCache { folder: self.dir.path().join("cache"), size: DiskCache::LEAST };
        Options { cache: self.compression.map(|_| cache), ..options.clone() }
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        CONTENTS.map(|content| content.as_bytes().to_vec()).to_vec()
    }

    fn spoil(&self, record: u64) -> ReadErrorKind {
        date(&self.file(record), 2);
        ReadErrorKind::Changed
    }

    fn grow(&self, record: u64) {
        self.write(record, "content with more bytes than it had");
    }

    fn touch(&self, record: u64) {
        date(&self.file(record), 3);
    }

    fn mend(&self) {
        for (record, content) in (0..).zip(CONTENTS) {
            self.write(record, content);
        }
    }
}
