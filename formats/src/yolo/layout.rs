//! Where a dataset in YOLO's form has its pictures, texts and class names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use super::{SET, names};
use crate::address::{Address, Sight, of_dataset};
use crate::containers::{has, is_named};
use crate::folder::files_below;
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
/// Where DOTA has its texts of oriented boxes.
const ORIENTED: &str = "labelTxt";

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

    /// The text of the file that describes the dataset, or why it cannot be read; nothing without such a file.
    ///
    /// # Errors
    /// The storage fails.
    pub(super) fn yaml(&self) -> Result<Option<Result<String, String>>, SourceError> {
        let Some(file) = &self.names else { return Ok(None) };
        let text = file.small(MOST_BYTES).map_err(|error| of_dataset(file, error))?;
        Ok(Some(match text.map(String::from_utf8) {
            None => Err(format!("the file has more than {MOST_BYTES} bytes")),
            Some(Ok(text)) => Ok(text),
            Some(Err(_)) => Err("the file is not in UTF-8".to_owned()),
        }))
    }

    /// The error about something in that file. The option replaces what it says.
    pub(super) fn wrong_yaml(&self, problem: &str, remedy: &str) -> SourceError {
        let path = self.names.as_ref().map_or_else(|| self.folder.path(), Address::path);
        SourceError::malformed_at(path, 0, format!("{problem}. {remedy}"))
    }

    /// The names of the classes; none if no file has them.
    pub(super) fn class_names(&self, yaml: Option<&Result<String, String>>) -> Result<Vec<String>, SourceError> {
        let named = match yaml {
            None => Ok(Vec::new()),
            Some(Ok(text)) => names::parse(text),
            Some(Err(problem)) => Err(problem.clone()),
        };
        let remedy = "Write the names of the classes as a list \"names\", or give classes=.";
        named.map_err(|problem| self.wrong_yaml(&problem, remedy))
    }

    /// The pictures of the set that the user chose, and the other files beside them and in the folder of their labels, by
    /// their bytes.
    ///
    /// # Errors
    /// There are sets and the user chose none, or there is no such set.
    pub(super) fn files(&self, options: &Options) -> Result<(Paths, Paths), SourceError> {
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
        let is_below = |path: &Path, names: &[&str]| {
            path.parent().is_some_and(|above| above.iter().any(|part| names.iter().any(|name| part == *name)))
        };
        let (mut pictures, mut others) = (Paths::default(), Paths::default());
        let of_labels = ["labels", ORIENTED].into_iter().filter_map(|name| renamed(&start, name));
        let of_labels = of_labels.filter(|folder| self.folder.join(folder).is_folder());
        for (is_first, start) in [(true, start.clone())].into_iter().chain(of_labels.map(|folder| (false, folder))) {
            let (found, found_others) = files_below(&self.folder.join(&start))?;
            for path in found.iter().filter(|_| is_first).map(|path| start.join(OsStr::from_bytes(path))) {
                if is_below(&path, &["images"]) {
                    pictures.push(path.as_os_str().as_bytes());
                }
            }
            for path in found_others.iter().map(|path| start.join(OsStr::from_bytes(path))) {
                if is_below(&path, &["images", "labels", ORIENTED]) {
                    others.push(path.as_os_str().as_bytes());
                }
            }
        }
        let others = others.order().map_or_else(|| others.clone(), |order| others.permuted(&order));
        Ok((pictures, others))
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

/// The folder whose last `images` has another name; nothing for the folder of all sets, which has the others below it.
fn renamed(folder: &Path, name: &str) -> Option<PathBuf> {
    let parts: Vec<&OsStr> = folder.iter().collect();
    let last = parts.iter().rposition(|part| *part == "images")?;
    let rename = |(place, part): (usize, &&'_ OsStr)| if place == last { name.into() } else { (*part).to_owned() };
    Some(parts.iter().enumerate().map(rename).collect())
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
