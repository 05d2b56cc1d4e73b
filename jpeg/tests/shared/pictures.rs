//! The shared pictures, and regions of them.
#![allow(dead_code, reason = "each test takes a part of it")]
#![allow(clippy::print_stdout, reason = "says what was skipped")]

use std::path::PathBuf;

use forebay_jpeg::Region;

/// A folder of the shared pictures; none where they are not there.
pub(crate) fn pictures(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let data = std::env::var_os("FOREBAY_TEST_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")), PathBuf::from);
    let folder = data.join(folder);
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return Vec::new();
    }
    let mut left = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        bytes.starts_with(&[0xFF, 0xD8]).then_some((path, bytes))
    };
    files.into_iter().filter_map(read).collect()
}

/// Numbers that look random, the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(end)) >> 32) as u32
    }

    pub(crate) fn region(&mut self, width: u32, height: u32) -> Region {
        let (left, top) = (self.below(width), self.below(height));
        Region { left, top, width: 1 + self.below(width - left), height: 1 + self.below(height - top) }
    }
}
