//! Compressed files through the cache: unpacked once, never without a limit, and again if the cache forgets them.

use std::fs;
use std::path::{Path, PathBuf};

use forebay_sources::{DiskCache, Reading, Retry};
use tempfile::TempDir;

use super::*;
use crate::scene::{contents, says};
use crate::tar::writer::TarWriter;
use crate::tests::loopback::{Changes, Loopback};
use crate::{Opened, open, tfrecord};

/// A folder for files, and a cache of the least size beside it.
struct Scene {
    dir: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn options(&self) -> Options {
        let cache = DiskCache { folder: self.cache(), size: DiskCache::LEAST };
        Options { cache: Some(cache), ..Options::default() }
    }

    fn open(&self, path: &Path) -> Opened {
        open(path.to_str().unwrap(), &self.options())
    }

    /// The entries of the cache.
    fn entries(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.cache()).unwrap().map(|entry| entry.unwrap().path());
        let folders = folders.filter(|path| path.file_name().unwrap().len() == 2);
        folders.flat_map(|path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())).collect()
    }
}

/// Bytes that hardly compress.
fn noise(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    blake3::Hasher::new().update(b"noise").finalize_xof().fill(&mut bytes);
    bytes
}

/// A tar of pictures in two classes.
fn tar(pictures: usize, len: usize) -> Vec<u8> {
    let names: Vec<String> = (0..pictures).map(|number| format!("{}/{number}.jpg", number % 2)).collect();
    let content = noise(len);
    TarWriter::of(&names.iter().map(|name| (&**name, &content[name.len()..])).collect::<Vec<_>>())
}

fn refused(opened: Opened, words: &[&str]) {
    says(&opened.unwrap_err().to_string(), words);
}

#[test]
fn a_compressed_tar_is_the_same_dataset_as_the_plain_one_and_is_unpacked_once() {
    let scene = Scene::new();
    let plain = tar(9, 1_500_000);
    let path = scene.write("plain/a.tar", &plain);
    let expected = open(path.to_str().unwrap(), &Options::default()).unwrap();
    for (compression, name) in [
        (Compression::Gzip, "gz/a.tar.gz"),
        (Compression::Zstd, "zst/a.tar.zst"),
        (Compression::Bzip2, "bz2/a.tar.bz2"),
    ] {
        let path = scene.write(name, &compression.compressed(&plain));
        let before = if scene.cache().exists() { scene.entries().len() } else { 0 };
        let source = scene.open(&path).unwrap();
        assert_eq!((source.classes(), source.reading()), (expected.classes(), Reading::Threads));
        assert_eq!(contents(&*source), contents(&*expected));
        assert!(source.locator(3).to_string().ends_with("member 1/3.jpg"), "{}", source.locator(3));
        let entries = scene.entries();
        assert_eq!(entries.len() - before, plain.len().div_ceil(4 << 20) + 1, "the pieces, and the length");
        drop(source);
        let times = |entries: &[PathBuf]| -> Vec<_> {
            entries.iter().map(|path| path.metadata().unwrap().modified().unwrap()).collect()
        };
        let written = times(&entries);
        let again = scene.open(path.parent().unwrap()).unwrap();
        assert_eq!(again.len(), 9);
        assert_eq!(times(&entries), written, "nothing is unpacked again");
    }
}

#[test]
fn without_a_cache_the_setting_and_the_command_are_named() {
    let scene = Scene::new();
    for (name, bytes, command) in [
        ("a.tgz", Compression::Gzip.compressed(&tar(2, 10)), "gunzip"),
        ("a.tar.zst", Compression::Zstd.compressed(&tar(2, 10)), "unzstd"),
        ("a.tbz2", Compression::Bzip2.compressed(&tar(2, 10)), "bunzip2"),
        ("a.tfrecord", Compression::Zlib.compressed(b"xyz"), "pigz -d -z"),
    ] {
        let path = scene.write(name, &bytes);
        let opened = open(path.to_str().unwrap(), &Options::default());
        refused(opened, &[name, "compressed", "cache_size in [sources]", "FOREBAY_CACHE_SIZE", command]);
    }
    let xz = scene.write("a.tar.xz", b"\xfd7zXZ\0....");
    refused(scene.open(&xz), &["a.tar.xz", "compressed", "unxz"]);
}

#[test]
fn a_piece_that_the_cache_lost_is_unpacked_again_by_one_of_many_readers() {
    let scene = Scene::new();
    let path = scene.write("a.tar.gz", &Compression::Gzip.compressed(&tar(8, 1_000_000)));
    let source = scene.open(&path).unwrap();
    let expected = contents(&*source);
    for entry in scene.entries() {
        fs::remove_file(entry).unwrap();
    }
    let source = &*source;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(contents(source) == expected));
        }
    });
    for entry in scene.entries() {
        let mut bytes = fs::read(&entry).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&entry, bytes).unwrap();
    }
    assert!(contents(source) == expected, "a changed byte is noticed");
    scene.entries().iter().for_each(|entry| fs::remove_file(entry).unwrap());
    fs::write(&path, Compression::Gzip.compressed(&tar(8, 999_999))).unwrap();
    let error = source.read(0, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Changed, Retry::Never), "{error}");
}

#[test]
fn what_does_not_fit_into_the_cache_is_refused_by_name_alone_or_together() {
    let scene = Scene::new();
    let members: Vec<Vec<u8>> =
        (0..3_u8).map(|number| noise(20 << 20).iter().map(|byte| byte ^ number).collect()).collect();
    let names: Vec<PathBuf> = (0..)
        .zip(&members)
        .map(|(number, member)| {
            let tar = TarWriter::of(&[("a/1.jpg", member)]);
            scene.write(&format!("{number}.tar.zst"), &Compression::Zstd.compressed(&tar))
        })
        .collect();
    let (first, second) = (scene.open(&names[0]).unwrap(), scene.open(&names[1]).unwrap());
    let words = ["2.tar.zst", "does not fit into the cache", "50331648", "larger cache_size", "unzstd"];
    refused(scene.open(&names[2]), &words);
    drop(first);
    assert_eq!(scene.open(&names[2]).unwrap().len(), 1, "what another dataset does not use any more makes room");
    assert!(contents(&*second) == [Ok(members[1].clone())]);
}

#[test]
fn a_bomb_is_refused_by_name_before_the_cache_is_full() {
    let scene = Scene::new();
    let cache = DiskCache { folder: scene.cache(), size: 8 << 30 };
    let options = Options { cache: Some(cache), ..Options::default() };
    let mut zeros = TarWriter::of(&[("a/1.jpg", b"x")]);
    zeros.resize(usize::try_from(SUSPECT).unwrap() + (64 << 20), 0);
    let path = scene.write("a.tar.zst", &Compression::Zstd.compressed(&zeros));
    let opened = open(path.to_str().unwrap(), &options);
    refused(opened, &["a.tar.zst", "more than 250 times its own bytes", "unzstd"]);
    // Streams of bzip2 one behind the other, each with a mebibyte of zeros.
    let streams = Compression::Bzip2.compressed(&vec![0; 1 << 20]).repeat(320);
    let path = scene.write("a.tar.bz2", &streams);
    let opened = open(path.to_str().unwrap(), &options);
    refused(opened, &["a.tar.bz2", "more than 250 times its own bytes", "bunzip2"]);
}

#[test]
fn a_file_that_is_cut_or_damaged_is_refused_and_leaves_nothing_that_counts() {
    let scene = Scene::new();
    let whole = Compression::Gzip.compressed(&tar(4, 100_000));
    let path = scene.write("a.tar.gz", &whole[..whole.len() / 2]);
    refused(scene.open(&path), &["a.tar.gz", "ends inside its compressed bytes (gzip)", "Copy it again"]);
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..][..64].fill(0);
    scene.write("a.tar.gz", &damaged);
    refused(scene.open(&path), &["a.tar.gz", "cannot be unpacked", "Copy the file again"]);
    scene.write("a.tar.gz", &whole);
    assert_eq!(scene.open(&path).unwrap().len(), 4);
}

#[test]
fn many_tfrecords_and_members_of_gzip_are_read() {
    let scene = Scene::new();
    let pictures: Vec<Vec<u8>> = (0..40_u8).map(|number| vec![number; 200_000]).collect();
    let of = |range: std::ops::Range<usize>| {
        tfrecord::tests::write_examples(&pictures[range].iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let members = [Compression::Gzip.compressed(&of(0..20)), Compression::Gzip.compressed(&of(20..40))].concat();
    scene.write("data/1.tfrecord.gz", &members);
    let source = scene.open(&scene.dir.path().join("data")).unwrap();
    assert!(contents(&*source) == pictures.into_iter().map(Ok).collect::<Vec<_>>());
}

#[test]
fn rule_54_a_compressed_object_is_read_once_and_by_its_version() {
    let scene = Scene::new();
    let folder = scene.dir.path().join("bucket");
    let plain = tar(6, 300_000);
    scene.write("bucket/a.tar.zst", &Compression::Zstd.compressed(&plain));
    let store = Loopback::of(&folder, Changes::Tagged);
    let open = |name: &str| open(name, &store.options(&scene.options()));
    let source = open("s3://data/a.tar.zst").unwrap();
    assert_eq!(source.reading(), Reading::Threads, "its records are on the disk");
    let path = scene.write("a.tar", &plain);
    let expected = contents(&*crate::open(path.to_str().unwrap(), &Options::default()).unwrap());
    let asked = store.requests();
    assert!(contents(&*source) == expected);
    assert_eq!(store.requests(), asked);
    scene.write("bucket/a.tar.zst", &Compression::Zstd.compressed(&tar(5, 300_000)));
    assert!(contents(&*source) == expected, "what was unpacked is of the version that was opened");
    assert_eq!(open("s3://data/a.tar.zst").unwrap().len(), 5);
    let untagged = Loopback::of(&folder, Changes::Untagged);
    let refused = crate::open("s3://data/a.tar.zst", &untagged.options(&scene.options())).unwrap_err().to_string();
    says(&refused, &["nothing tells whether it changes", "unzstd"]);
}
