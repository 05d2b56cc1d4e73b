//! Stores millions of paths in one allocation: the bytes of all paths, and where each path ends.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

/// A list of paths, about as large in memory as their bytes and 8 more for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Paths {
    pub(super) fn push(&mut self, path: &[u8]) {
        self.bytes.extend_from_slice(path);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    pub(super) fn get(&self, index: usize) -> &Path {
        Path::new(OsStr::from_bytes(self.bytes(index)))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.bytes(index))
    }

    /// The same paths in the order of their raw bytes.
    pub(super) fn sorted(&self) -> Self {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by(|&a, &b| self.bytes(a).cmp(self.bytes(b)));
        let mut sorted =
            Self { bytes: Vec::with_capacity(self.bytes.len()), ends: Vec::with_capacity(self.ends.len()) };
        for index in order {
            sorted.push(self.bytes(index));
        }
        sorted
    }
}

/// Whether a path leads out of the folder that it starts from. Only its text is checked, because links inside the folder
/// are its owner's choice. An absolute path is accepted only below a root that the user gave.
pub(super) fn escapes(path: &[u8], given_root: Option<&Path>) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    let below = if path.is_absolute() { given_root.and_then(|root| path.strip_prefix(root).ok()) } else { Some(path) };
    let Some(below) = below else { return true };
    let mut depth = 0_i64;
    below.components().any(|component| {
        match component {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
        depth < 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_keep_their_bytes_and_sort_by_them() {
        let mut paths = Paths::default();
        for path in [b"b".as_slice(), b"a/x", b"a-b/x", b"", b"\xff"] {
            paths.push(path);
        }
        assert_eq!(paths.sorted().iter().collect::<Vec<_>>(), [b"".as_slice(), b"a-b/x", b"a/x", b"b", b"\xff"]);
        assert_eq!(paths.get(1), Path::new("a/x"));
        assert_eq!(paths.len(), 5);
    }
}
