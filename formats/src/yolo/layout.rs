//! Where a dataset in YOLO's form has its pictures, texts and class names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use super::{SET, names};
use crate::address::{Address, Sight, of_dataset};
use crate::containers::{has, is_named};
use crate::folder::pictures_below;
use crate::paths::Paths;

/// The folders of a dataset.
#[derive(Debug)]
pub(super) struct YoloLayout {
    pub folder: Address,
    /// The file with the names of the classes.
    names: Option<Address>,
}

const NAME_FILES: [&str; 4] = ["data.yaml", "data.yml", "dataset.yaml", "dataset.yml"];
/// More bytes than the names of the classes have.
const MOST_BYTES: u64 = 1 << 20;
/// A folder with a folder for each set is recognised by one of these.
const USUAL_SETS: [&str; 4] = ["train", "val", "valid", "test"];
const YAML: [&str; 2] = ["yaml", "yml"];

impl YoloLayout {
    /// Whether the path is a folder with texts in `labels`, or a YAML beside one.
    pub(super) fn is_one(path: &Address) -> bool {
        if !path.is_folder() {
            return is_named(path.path(), &YAML) && Self::is_one(&path.parent());
        }
        // Other folders are opened by this function too, and may be large: only what these names lead to is looked at.
        let has_labels = |folder: &Address| folder.join("images").is_folder() && has(&folder.join("labels"), &["txt"]);
        let in_labels =
            |set: &String| path.join("images").join(set).is_folder() && has(&path.join("labels").join(set), &["txt"]);
        has_labels(path)
            || folders(&path.join("labels")).iter().any(in_labels)
            || USUAL_SETS.iter().any(|set| has_labels(&path.join(set)))
    }

    pub(super) fn find(address: &Address) -> Result<Self, SourceError> {
        if address.look()? == Sight::Folder {
            let names = NAME_FILES.iter().map(|name| address.join(name)).find(Address::is_file);
            return Ok(Self { folder: address.clone(), names });
        }
        Ok(Self { folder: address.parent(), names: Some(address.clone()) })
    }

    /// The names of the classes; none if no file has them.
    pub(super) fn class_names(&self) -> Result<Vec<String>, SourceError> {
        let Some(file) = &self.names else { return Ok(Vec::new()) };
        let text = file.small(MOST_BYTES).map_err(|error| of_dataset(file, error))?;
        let named = match text.as_deref().map(str::from_utf8) {
            None => Err(format!("the file has more than {MOST_BYTES} bytes")),
            Some(Ok(text)) => names::parse(text),
            Some(Err(_)) => Err("the file is not in UTF-8".to_owned()),
        };
        named.map_err(|problem| {
            let problem = format!("{problem}. Write the names of the classes as a list \"names\", or give classes=.");
            SourceError::malformed_at(file.path(), 0, problem)
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
                if self.folder.join(&inside).is_folder() { inside } else { Path::new(set).join("images") }
            }
            Some("all") => PathBuf::new(),
            None if known.is_empty() => PathBuf::from("images"),
            _ => {
                let named: Vec<String> = known.iter().map(|set| format!("\"{set}\"")).collect();
                let named = if named.is_empty() { "there is none".to_owned() } else { named.join(", ") };
                let folder = printable(&self.folder.shown()).to_string();
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
        let folder = self.folder.last_name();
        options.own.get(SET.name).map_or_else(|| folder.clone(), |set| format!("{folder}/{set}"))
    }
}

/// The names of the folders in a folder, without hidden ones.
fn folders(folder: &Address) -> Vec<String> {
    let folders = folder.entries().unwrap_or_default().into_iter().filter(|entry| entry.is_folder);
    folders.filter_map(|entry| entry.name.into_string().ok()).collect()
}

/// The sets of a dataset, sorted: `images/train` with `labels/train`, or `train/images`.
fn sets(folder: &Address) -> Vec<String> {
    let inside = folders(&folder.join("images")).into_iter().filter(|set| folder.join("labels").join(set).is_folder());
    let outside = folders(folder).into_iter().filter(|set| folder.join(set).join("images").is_folder());
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
