//! Where a dataset in YOLO's form has its pictures, texts and class names.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use forebay_proto::printable;
use forebay_sources::{Options, SourceError};

use super::{SET, names};
use crate::containers::{has, is_named};
use crate::folder::pictures_below;
use crate::paths::Paths;
use crate::regular_file::open_regular;

/// The folders of a dataset.
#[derive(Debug)]
pub(super) struct YoloLayout {
    pub folder: PathBuf,
    /// The file with the names of the classes.
    names: Option<PathBuf>,
}

const NAME_FILES: [&str; 4] = ["data.yaml", "data.yml", "dataset.yaml", "dataset.yml"];
/// More bytes than the names of the classes have.
const MOST_BYTES: u64 = 1 << 20;
/// A folder with a folder for each set is recognised by one of these.
const USUAL_SETS: [&str; 4] = ["train", "val", "valid", "test"];
const YAML: [&str; 2] = ["yaml", "yml"];

impl YoloLayout {
    /// Whether the path is a folder with texts in `labels`, or a YAML beside one.
    pub(super) fn is_one(path: &Path) -> bool {
        if path.is_file() {
            return is_named(path, &YAML) && path.parent().is_some_and(Self::is_one);
        }
        // Other folders are opened by this function too, and may be large: only what these names lead to is looked at.
        let has_labels = |folder: &Path| folder.join("images").is_dir() && has(&folder.join("labels"), &["txt"]);
        let in_labels =
            |set: &String| path.join("images").join(set).is_dir() && has(&path.join("labels").join(set), &["txt"]);
        has_labels(path)
            || folders(&path.join("labels")).iter().any(in_labels)
            || USUAL_SETS.iter().any(|set| has_labels(&path.join(set)))
    }

    pub(super) fn find(path: &Path) -> Result<Self, SourceError> {
        let metadata = path.metadata().map_err(|error| SourceError::of_path(path, error))?;
        if metadata.is_dir() {
            let names = NAME_FILES.iter().map(|name| path.join(name)).find(|file| file.is_file());
            return Ok(Self { folder: path.to_owned(), names });
        }
        let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
        Ok(Self { folder, names: Some(path.to_owned()) })
    }

    /// The names of the classes; none if no file has them.
    pub(super) fn class_names(&self) -> Result<Vec<String>, SourceError> {
        let Some(file) = &self.names else { return Ok(Vec::new()) };
        let mut text = Vec::new();
        let read = open_regular(file).and_then(|(file, _)| file.take(MOST_BYTES + 1).read_to_end(&mut text));
        read.map_err(|error| SourceError::of_path(file, error))?;
        let named = match str::from_utf8(&text) {
            _ if text.len() as u64 > MOST_BYTES => Err(format!("the file has more than {MOST_BYTES} bytes")),
            Ok(text) => names::parse(text),
            Err(_) => Err("the file is not in UTF-8".to_owned()),
        };
        named.map(Option::unwrap_or_default).map_err(|problem| {
            let problem = format!("{problem}. Write the names as a list, or give classes=.");
            SourceError::malformed_at(file, 0, problem)
        })
    }

    /// The pictures of the set that the user chose, by their bytes.
    ///
    /// # Errors
    /// There are sets and the user chose none, or there is no such set.
    pub(super) fn pictures(&self, options: &Options) -> Result<Paths, SourceError> {
        let known = sets(&self.folder);
        let chosen = options.own.get(SET.name);
        let start = match chosen {
            Some(set) if known.iter().any(|known| known == set) => {
                let inside = Path::new("images").join(set);
                if self.folder.join(&inside).is_dir() { inside } else { Path::new(set).join("images") }
            }
            Some("all") => PathBuf::new(),
            None if known.is_empty() => PathBuf::from("images"),
            _ => {
                let named: Vec<String> = known.iter().map(|set| format!("\"{set}\"")).collect();
                let named = if named.is_empty() { "there is none".to_owned() } else { named.join(", ") };
                let folder = printable(&self.folder).to_string();
                let expected = format!("a set in \"{folder}\" ({named}), or \"all\" for the pictures of all sets");
                return Err(SourceError::bad_option(SET.name, chosen.unwrap_or_default(), &expected));
            }
        };
        let mut paths = Paths::default();
        for path in pictures_below(&self.folder.join(&start))?.iter() {
            let whole = start.join(OsStr::from_bytes(path));
            if whole.components().any(|component| component.as_os_str() == "images") {
                paths.push(whole.as_os_str().as_bytes());
            }
        }
        Ok(paths)
    }

    pub(super) fn shard_name(&self, options: &Options) -> String {
        let folder = self.folder.file_name().unwrap_or(self.folder.as_os_str()).to_string_lossy();
        options.own.get(SET.name).map_or_else(|| folder.clone().into_owned(), |set| format!("{folder}/{set}"))
    }
}

/// The names of the folders in a folder, without hidden ones.
fn folders(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let is_folder = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
        Ok(kind) => kind.is_dir(),
        Err(_) => false,
    };
    let names = entries.flatten().filter(is_folder).filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// The sets of a dataset, sorted: `images/train` with `labels/train`, or `train/images`.
fn sets(folder: &Path) -> Vec<String> {
    let inside = folders(&folder.join("images")).into_iter().filter(|set| folder.join("labels").join(set).is_dir());
    let outside = folders(folder).into_iter().filter(|set| folder.join(set).join("images").is_dir());
    let mut sets: Vec<String> = inside.chain(outside).collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// The text of a picture: the last `images` in its path is `labels`, and the extension is `txt`.
pub(super) fn label_path(picture: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = picture.split(|&byte| byte == b'/').collect();
    if let Some(last) = parts.iter().rposition(|part| *part == b"images") {
        parts[last] = b"labels";
    }
    let mut path = parts.join(&b'/');
    let name = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let end =
        path[name..].iter().rposition(|&byte| byte == b'.').filter(|dot| *dot > 0).map_or(path.len(), |dot| name + dot);
    path.truncate(end);
    path.extend_from_slice(b".txt");
    path
}
