//! Stores millions of paths in one allocation: the bytes of all paths, and where each path ends.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use forebay_objects::{is_object_url, shown};
use forebay_printable::printable;
use forebay_sources::LineProblem;

use crate::index_blocks::BadIndex;
use crate::values::{MemoryValues, StoredNumbers};

/// A list of paths, about as large in memory as their bytes and 8 more for each.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    pub(super) bytes: MemoryValues<u8>,
    /// Where each path begins, and the last one ends.
    pub(super) offsets: MemoryValues<i64>,
}

/// The paths of the records of a dataset.
#[derive(Clone, Debug)]
pub(super) enum RecordPaths {
    /// Of a dataset that was scanned.
    Memory(Paths),
    /// Of a dataset that was opened from an index.
    Stored {
        bytes: StoredNumbers,
        /// Where each path begins, and the last one ends.
        offsets: StoredNumbers,
    },
}

/// The longest path of an index.
const LONGEST: usize = 1 << 16;

impl Default for Paths {
    fn default() -> Self {
        Self { bytes: MemoryValues::default(), offsets: vec![0].into() }
    }
}

impl Default for RecordPaths {
    fn default() -> Self {
        Self::Memory(Paths::default())
    }
}

impl From<Paths> for RecordPaths {
    fn from(paths: Paths) -> Self {
        Self::Memory(paths)
    }
}

impl RecordPaths {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Memory(paths) => paths.len(),
            Self::Stored { offsets, .. } => offsets.len.saturating_sub(1),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A path's bytes. If an index has none that can be a path, it is empty, and the index has failed.
    pub(super) fn bytes(&self, index: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Memory(paths) => Cow::Borrowed(paths.bytes(index)),
            Self::Stored { bytes, offsets } => Cow::Owned(stored_path(bytes, offsets, index).unwrap_or_else(|| {
                bytes.blocks.fail(&BadIndex(format!("the path of record {index} cannot be one")));
                Vec::new()
            })),
        }
    }

    pub(super) fn get(&self, index: usize) -> Cow<'_, Path> {
        match self.bytes(index) {
            Cow::Borrowed(bytes) => Cow::Borrowed(Path::new(OsStr::from_bytes(bytes))),
            Cow::Owned(bytes) => Cow::Owned(PathBuf::from(OsString::from_vec(bytes))),
        }
    }

    /// The paths in memory. Those of an index become a copy first.
    pub(super) fn memory(&mut self) -> &mut Paths {
        if let Self::Stored { .. } = self {
            let mut copy = Paths::default();
            (0..self.len()).for_each(|index| copy.push(&self.bytes(index)));
            *self = Self::Memory(copy);
        }
        match self {
            Self::Memory(paths) => paths,
            Self::Stored { .. } => unreachable!("it was made a copy above"),
        }
    }
}

/// A path of an index, if its bytes can be one.
fn stored_path(bytes: &StoredNumbers, offsets: &StoredNumbers, index: usize) -> Option<Vec<u8>> {
    let bounds = offsets.range::<i64>(index..index.checked_add(2)?)?;
    let [start, end] = <[i64; 2]>::try_from(bounds).ok()?;
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    let path = (end.checked_sub(start)? <= LONGEST).then(|| bytes.range::<u8>(start..end))??;
    (!path.contains(&0)).then_some(path)
}

impl Paths {
    pub(super) fn push(&mut self, path: &[u8]) {
        self.push_parts(&[path]);
    }

    /// Adds the path that these parts are together.
    pub(super) fn push_parts(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.offsets.push(i64::try_from(self.bytes.len()).expect("what is in memory can be counted"));
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A path's bytes.
    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        let place = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX);
        self.bytes.get(place(self.offsets[index])..place(self.offsets[index + 1])).unwrap_or_default()
    }

    pub(super) fn get(&self, index: usize) -> &Path {
        Path::new(OsStr::from_bytes(self.bytes(index)))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.bytes(index))
    }

    /// No path, and room for some.
    pub(super) fn with_capacity(paths: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(paths + 1);
        offsets.push(0);
        Self { bytes: Vec::with_capacity(bytes).into(), offsets: offsets.into() }
    }

    /// The order of the paths by their raw bytes. Nothing if they are in this order already.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        if (1..self.len()).all(|index| self.bytes(index - 1) <= self.bytes(index)) {
            return None;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        // This sort uses the parts that are in order.
        order.sort_by(|&a, &b| self.bytes(a).cmp(self.bytes(b)));
        Some(order)
    }

    /// The same paths in another order.
    pub(super) fn permuted(&self, order: &[usize]) -> Self {
        let mut permuted = Self::with_capacity(self.len(), self.bytes.len());
        for &index in order {
            permuted.push(self.bytes(index));
        }
        permuted
    }
}

/// Whether a part of a name begins with a dot.
pub(super) fn is_hidden(name: &[u8]) -> bool {
    name.split(|&byte| byte == b'/').any(|part| part.starts_with(b"."))
}

/// A path as a table has it, or what follows the root in a URL that is below it. Nothing for any other URL.
pub(super) fn below_root<'a>(path: &'a [u8], given_root: Option<&Path>) -> Option<&'a [u8]> {
    let Some(url) = str::from_utf8(path).ok().filter(|path| is_object_url(path)) else { return Some(path) };
    let root = given_root?.to_str().filter(|root| is_object_url(root))?;
    url.strip_prefix(root)?.strip_prefix('/').map(str::as_bytes)
}

/// What is wrong with a URL that is not below the root.
pub(super) fn foreign_url(url: &[u8], root: &Path) -> LineProblem {
    // What signs a URL, and a password in it, belong into no log.
    let url = shown(&String::from_utf8_lossy(url));
    let store = url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    LineProblem::ForeignUrl { store, root: shown(&printable(root).to_string()), url }
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
        let sorted = paths.permuted(&paths.order().unwrap());
        assert_eq!(sorted.iter().collect::<Vec<_>>(), [b"".as_slice(), b"a-b/x", b"a/x", b"b", b"\xff"]);
        assert_eq!(sorted.order(), None);
        assert_eq!(paths.get(1), Path::new("a/x"));
        assert_eq!(paths.len(), 5);
    }

    #[test]
    fn a_url_is_a_path_below_the_root_that_is_its_beginning() {
        let below = |path: &'static str, root: Option<&str>| {
            below_root(path.as_bytes(), root.map(Path::new)).map(|path| str::from_utf8(path).unwrap())
        };
        let bucket = Some("s3://bucket/a");
        assert_eq!(below("s3://bucket/a/x/1.jpg", bucket), Some("x/1.jpg"));
        assert_eq!(below("x/1.jpg", bucket), Some("x/1.jpg"));
        assert_eq!([below("odd:name.jpg", None), below("/x/1.jpg", None)], [Some("odd:name.jpg"), Some("/x/1.jpg")]);
        for (url, root) in [
            ("s3://bucket/ab/1.jpg", bucket),
            ("s3://bucket/a", bucket),
            ("gs://bucket/a/1.jpg", bucket),
            ("https://host/1.jpg", Some("/data")),
            ("s3://bucket/a/1.jpg", None),
        ] {
            assert_eq!(below(url, root), None, "{url}");
        }
    }
}
