//! Pictures that are files in archives. Folders inside the archives are classes, as they are for a folder of pictures.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use forebay_printable::printable;
use forebay_sources::{Labels, Locator, Options, Oversight, SourceError};

use crate::beside::Beside;
use crate::containers;
use crate::faults::Faults;
use crate::folder::EXTENSIONS;
use crate::option_key::OptionKey;
use crate::packed::{Span, Spans};
use crate::paths::{Paths, RecordPaths};

/// The option that says where in the archives the class folders are.
pub(crate) const FOLDER: OptionKey = OptionKey {
    name: "folder",
    help: "the folder inside the archive that holds the class folders; the rest is left out",
};

/// The column of an index with the names of members.
pub(crate) const MEMBER: &str = "member";

/// The pictures that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Archived {
    /// How a person finds each: its name in the archive.
    names: Paths,
    /// The names that decide the classes.
    paths: Paths,
    spans: Spans,
    faults: Faults,
    /// Only what is below this folder counts; it ends with a slash, or is empty.
    below: Vec<u8>,
    others: u64,
    beside: Beside,
}

/// All pictures, with their labels.
#[derive(Debug)]
pub(crate) struct ArchivedPictures {
    pub names: Paths,
    pub spans: Spans,
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    pub faults: Faults,
    pub oversights: Vec<Oversight>,
}

impl Archived {
    /// No picture yet.
    pub(crate) fn new(options: &Options) -> Self {
        let folder = options.own.get(FOLDER.name).unwrap_or_default();
        let mut below = plain(folder.as_bytes()).to_vec();
        while below.last() == Some(&b'/') {
            below.pop();
        }
        if !below.is_empty() {
            below.push(b'/');
        }
        Self { below, ..Self::default() }
    }

    /// Whether a member of this name is a picture of the dataset.
    pub(crate) fn takes(&self, name: &[u8]) -> bool {
        let path = plain(name);
        path.starts_with(&self.below)
            && containers::is_named(Path::new(OsStr::from_bytes(path)), &EXTENSIONS)
            && !path.split(|&byte| byte == b'/').any(|part| part.starts_with(b".") || part == b"__MACOSX")
    }

    /// Adds a picture. `path` decides its class, and `name` is how a person finds it. Its number is the result.
    pub(crate) fn add(&mut self, name: &[u8], path: &[u8], span: Span, fault: Option<&str>) -> u64 {
        let record = self.spans.len() as u64;
        self.names.push(name);
        let path = plain(path);
        self.paths.push(path.strip_prefix(self.below.as_slice()).unwrap_or(path));
        self.spans.push(span);
        if let Some(fault) = fault {
            self.faults.add(record, fault);
        }
        record
    }

    /// Counts a member that is no picture of the dataset.
    pub(crate) fn leave_out(&mut self, name: &[u8]) {
        self.others += 1;
        let path = plain(name);
        // What is not below the folder was left out on purpose.
        if path.starts_with(&self.below) && !path.split(|&byte| byte == b'/').any(|part| part.starts_with(b".")) {
            self.beside.see(path);
        }
    }

    /// Makes classes of the folders.
    ///
    /// # Errors
    /// There is no picture, or one is beside the class folders.
    pub(crate) fn finish(self, dataset: &Path, of_labels: Labels) -> Result<ArchivedPictures, SourceError> {
        if self.spans.is_empty() {
            let problem = format!(
                "no member is a picture, of {} that there are. Pictures are recognised by their extension: {}.{}{}",
                self.others,
                EXTENSIONS.join(", "),
                if self.below.is_empty() { "" } else { " Check the option \"folder\" too." },
                self.beside.told()
            );
            return Err(SourceError::Malformed { locator: Locator::file(dataset), problem });
        }
        if self.others > 0 {
            tracing::info!(dataset = %printable(dataset), others = self.others, "left out members that are not pictures");
        }
        let (labels, classes) = match of_labels {
            Labels::None => (Vec::new(), Vec::new()),
            Labels::Auto | Labels::Text => classes(dataset, &self.paths)?,
        };
        let Self { names, paths, spans, faults, mut beside, .. } = self;
        beside.see_masks(&paths, of_labels);
        let oversights = beside.oversights(of_labels, &classes);
        Ok(ArchivedPictures { names, spans, labels, classes, faults, oversights })
    }
}

/// How a person finds a member.
pub(crate) fn member_name(names: &RecordPaths, record: u64) -> OsString {
    let index = usize::try_from(record).expect("a list in memory is no longer than usize::MAX");
    OsString::from_vec(names.bytes(index).into_owned())
}

/// A name without what only says that it begins here.
fn plain(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./").or_else(|| name.strip_prefix(b"/")) {
        name = rest;
    }
    name
}

/// Labels and classes. Folders that all pictures share are no classes, as long as there are folders in them.
fn classes(dataset: &Path, paths: &Paths) -> Result<(Vec<i64>, Vec<String>), SourceError> {
    let shared = shared(paths);
    let class_of = |path: &[u8]| {
        let rest = path.get(shared..).unwrap_or_default();
        rest.iter().position(|&byte| byte == b'/').and_then(|end| rest.get(..end)).map(<[u8]>::to_vec)
    };
    let sorted: BTreeSet<Vec<u8>> = paths.iter().filter_map(class_of).collect();
    let Some(some_class) = sorted.first() else { return Ok((Vec::new(), Vec::new())) };
    let places: HashMap<&[u8], i64> = sorted.iter().map(Vec::as_slice).zip(0..).collect();
    let mut labels = Vec::with_capacity(paths.len());
    for path in paths.iter() {
        let label = class_of(path).and_then(|class| places.get(class.as_slice()).copied());
        let below = |path: &[u8]| dataset.join(OsStr::from_bytes(path));
        labels.push(label.ok_or_else(|| SourceError::MixedFolder { picture: below(path), class: below(some_class) })?);
    }
    Ok((labels, sorted.iter().map(|class| String::from_utf8_lossy(class).into_owned()).collect()))
}

/// Bytes of the folders that all paths begin with, and behind which all of them have another folder.
fn shared(paths: &Paths) -> usize {
    let Some(first) = paths.iter().next() else { return 0 };
    let mut shared = 0;
    while let Some(len) = first.get(shared..).and_then(|rest| rest.iter().position(|&byte| byte == b'/')) {
        let next = shared + len + 1;
        let continues = |path: &[u8]| path.get(next..).is_some_and(|rest| rest.contains(&b'/'));
        // What comes before is the same already.
        if !paths.iter().all(|path| path.get(shared..next) == first.get(shared..next) && continues(path)) {
            break;
        }
        shared = next;
    }
    shared
}

#[cfg(test)]
mod tests {
    use forebay_sources::OwnOptions;

    use super::*;

    fn gathered(folder: &str, names: &[&str]) -> Result<(Vec<i64>, Vec<String>), SourceError> {
        let own = OwnOptions::from_iter([("folder", folder)]);
        let mut archived = Archived::new(&Options { own, ..Options::default() });
        for name in names.iter().map(|name| name.as_bytes()) {
            if archived.takes(name) {
                archived.add(name, name, Span { file: 0, offset: 0, len: 1 }, None);
            } else {
                archived.leave_out(name);
            }
        }
        archived.finish(Path::new("x.tar"), Labels::Auto).map(|found| (found.labels, found.classes))
    }

    #[test]
    fn the_first_folder_in_which_pictures_differ_is_the_class() {
        let of = |names: &[&str]| gathered("", names).unwrap();
        let classes = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(of(&["./b/1.jpg", "a/2.PNG", "/b/x/3.jpg"]), (vec![1, 0, 1], classes(&["a", "b"])));
        assert_eq!(of(&["train/b/1.jpg", "train/a/2.png"]), (vec![1, 0], classes(&["a", "b"])));
        assert_eq!(of(&["a/b/c/d/1.jpg", "a/b/x/d/2.jpg", "a/b/c/d/3.jpg"]), (vec![0, 1, 0], classes(&["c", "x"])));
        assert_eq!(of(&["a/b/1.jpg", "x/b/2.jpg"]), (vec![0, 1], classes(&["a", "x"])));
        assert_eq!(of(&["cat/1.jpg", "cat/2.jpg"]), (vec![0, 0], classes(&["cat"])));
        assert_eq!(of(&["1.jpg", "2.jpg", "notes.txt", "__MACOSX/a/1.jpg", "a/.b.jpg"]), (vec![], vec![]));
        let found = gathered("train/", &["train/b/1.jpg", "val/a/2.png", "training/1.jpg"]).unwrap();
        assert_eq!(found, (vec![0], classes(&["b"])));
    }

    #[test]
    fn pictures_beside_class_folders_and_archives_without_one_are_refused() {
        assert!(matches!(gathered("", &["a/1.jpg", "2.jpg"]), Err(SourceError::MixedFolder { .. })));
        let error = gathered("nowhere", &["a/1.jpg", "2.txt"]).unwrap_err().to_string();
        assert!(error.contains("of 2 that there are") && error.contains("\"folder\""), "{error}");
    }
}
