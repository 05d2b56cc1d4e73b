//! A copy of the library for one test, with knobs and counts of its own.
#![allow(unsafe_code, reason = "opens the library to turn its knobs")]

use std::path::{Path, PathBuf};

use crate::dial::{Count, Knob};

/// The library's file name.
const FILE: &str = "libforebay_fake_gpu.so";

/// The fake. Each has its own globals, since each is a file of its own.
#[derive(Debug)]
pub struct Fake {
    folder: tempfile::TempDir,
    set: extern "C" fn(usize, i64),
    count: extern "C" fn(usize) -> i64,
}

impl Fake {
    /// Copies the library that cargo has built beside the running test and opens it.
    ///
    /// # Panics
    /// If it is not there, or cannot be opened.
    #[expect(clippy::new_without_default, reason = "it makes a file and opens a library")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(FILE);
        std::fs::copy(built(), &path).expect("the library can be copied");
        // SAFETY: the library is ours; nothing runs as it is loaded. It is never closed.
        let library = unsafe { libloading::Library::new(&path) }.expect("the library opens");
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the type is that of the function in `dial`.
        let set = *unsafe { library.get::<extern "C" fn(usize, i64)>(b"forebay_fake_set") }.expect("it is ours");
        // SAFETY: the type is that of the function in `dial`.
        let count = *unsafe { library.get::<extern "C" fn(usize) -> i64>(b"forebay_fake_count") }.expect("it is ours");
        Self { folder, set, count }
    }

    /// The file to load as both libcuda and libnvjpeg.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    /// Turns a knob.
    pub fn set(&self, knob: Knob, value: i64) {
        (self.set)(knob as usize, value);
    }

    /// Reads a count.
    pub fn count(&self, count: Count) -> i64 {
        (self.count)(count as usize)
    }
}

/// Tests run from cargo's folder of dependencies, where the library is, or from the one above it.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a file");
    let folders = test.ancestors().skip(1).take(2).flat_map(|folder| [folder.to_owned(), folder.join("deps")]);
    let mut files = folders.map(|folder: PathBuf| folder.join(FILE));
    files.find(|file: &PathBuf| Path::exists(file)).expect("cargo has built the fake library beside the test")
}
