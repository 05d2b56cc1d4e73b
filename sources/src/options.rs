//! How a dataset is opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{DiskCache, ObjectRoots, SourceError};

/// How to open a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What becomes a label.
    pub labels: Labels,
    /// Which parts of a record become which columns. Empty: what the format has by itself.
    pub columns: ColumnMap,
    /// Names of columns of masks, and where the masks are: a folder, or a column with their paths.
    pub masks: ColumnMap,
    /// A record with more bytes is refused without reading it.
    pub byte_limit: u64,
    /// What belongs to one scheme alone. The table of schemes checks the keys.
    pub own: OwnOptions,
    /// Where the code of custom readers may be.
    pub readers: ReaderFolders,
    /// Which objects of stores may be read.
    pub objects: ObjectRoots,
    /// Keeps what is read from stores, and what compressed files hold. None reads from the store each time.
    pub cache: Option<DiskCache>,
    /// The index that a dataset is opened from.
    pub index: IndexChoice,
    /// The file with the numbers of the records that are read (semantics rule 66): an array of `NumPy`, or a table, behind which
    /// `?column=NAME` may name the column. None: all records.
    pub select: Option<String>,
    /// The [condition](crate::Condition) of the records that are read. If there is a list as well, both must hold.
    pub condition: Option<String>,
}

/// The index that a dataset is opened from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexChoice {
    /// None: the dataset is scanned.
    #[default]
    Never,
    /// The one in this folder, if it fits. Otherwise the dataset is scanned. If that takes long, an index is written there.
    Folder(PathBuf),
    /// This file, which must fit.
    File(PathBuf),
}

/// Where the files of custom readers may be, whose code is run by this process's user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReaderFolders {
    /// Anywhere: the user who names the file is the one whose process runs it.
    #[default]
    Anywhere,
    /// Below one of these folders.
    Below(Vec<PathBuf>),
}

impl ReaderFolders {
    /// Whether code may be there. Links are resolved first.
    pub fn has(&self, path: &Path) -> bool {
        let Self::Below(folders) = self else { return true };
        let is_below =
            |path: &Path, folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder));
        path.canonicalize().is_ok_and(|path| folders.iter().any(|folder| is_below(&path, folder)))
    }

    /// A program that may be started, by this name. The program itself may be a link to outside of the folders, as in a virtual
    /// environment, because a user who may write in the folder chose it.
    pub fn program(&self, named: &Path) -> Option<PathBuf> {
        if matches!(self, Self::Anywhere) {
            return Some(named.to_owned());
        }
        let folder = named.parent().filter(|folder| named.is_absolute() && self.has(folder))?;
        Some(folder.canonicalize().ok()?.join(named.file_name()?))
    }
}

/// What becomes a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Class folders, or a CSV's second column. Its values decide whether labels are numbers or text.
    #[default]
    Auto,
    /// As `Auto`, but a CSV's labels are text even if they look like numbers.
    Text,
    /// No labels: all are -1.
    None,
}

/// Names of columns, and the part of a record that becomes each: members of an archive, features, table columns.
///
/// A part may have alternatives: `jpg;png` is the first of the two that a record has.
///
/// ```
/// use forebay_sources::ColumnMap;
///
/// let map = ColumnMap::from_iter([("images", "jpg;png"), ("caption", "txt")]);
/// assert_eq!(map.parts("images"), Some(vec!["jpg", "png"]));
/// assert_eq!(map.parts("labels"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ColumnMap {
    /// In the order that the user gave, which is that of the columns.
    parts: Vec<(String, String)>,
}

/// Options of one scheme, by name: `root` of a CSV.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnOptions {
    values: BTreeMap<String, String>,
}

/// Largest record that is read unless the options say otherwise.
const BYTE_LIMIT: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Self {
            labels: Labels::Auto,
            columns: ColumnMap::default(),
            masks: ColumnMap::default(),
            byte_limit: BYTE_LIMIT,
            own: OwnOptions::default(),
            readers: ReaderFolders::default(),
            objects: ObjectRoots::default(),
            cache: None,
            index: IndexChoice::default(),
            select: None,
            condition: None,
        }
    }
}

impl ColumnMap {
    /// Whether the user named none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What becomes this column, the first alternative first.
    pub fn parts(&self, column: &str) -> Option<Vec<&str>> {
        self.parts.iter().find(|(name, _)| name == column).map(|(_, parts)| split(parts))
    }

    /// All columns but pictures and labels, with their parts.
    pub fn targets(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let targets = self.parts.iter().filter(|(name, _)| !["images", "labels"].contains(&name.as_str()));
        targets.map(|(name, parts)| (name.as_str(), split(parts)))
    }
}

/// The order decides which column is first, and no more: maps that differ in nothing else are the same.
impl PartialEq for ColumnMap {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |map: &Self| BTreeMap::from_iter(map.parts.clone());
        sorted(self) == sorted(other)
    }
}

impl Eq for ColumnMap {}

fn split(parts: &str) -> Vec<&str> {
    parts.split(';').map(str::trim).filter(|part| !part.is_empty()).collect()
}

impl<N: Into<String>, P: Into<String>> FromIterator<(N, P)> for ColumnMap {
    fn from_iter<I: IntoIterator<Item = (N, P)>>(parts: I) -> Self {
        Self { parts: parts.into_iter().map(|(name, part)| (name.into(), part.into())).collect() }
    }
}

impl OwnOptions {
    /// Sets an option, in place of an earlier value.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.values.insert(key.into(), value.into());
    }

    /// The keys that are set.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// All but this one.
    #[must_use]
    pub fn without(&self, key: &str) -> Self {
        let mut values = self.values.clone();
        values.remove(key);
        Self { values }
    }

    /// The value of an option.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// An option that is a path.
    pub fn path(&self, key: &str) -> Option<PathBuf> {
        self.get(key).map(|path| Path::new(path).to_owned())
    }

    /// An option that is "true" or "false".
    ///
    /// # Errors
    /// It is something else.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool, SourceError> {
        match self.get(key) {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(SourceError::bad_option(key, other, "\"true\" or \"false\"")),
        }
    }

    /// An option that is one of these words; the first is the default.
    ///
    /// # Errors
    /// It is something else.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, SourceError> {
        let found = match self.get(key) {
            None => choices.first(),
            Some(word) => choices.iter().find(|(name, _)| *name == word),
        };
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            SourceError::bad_option(key, self.get(key).unwrap_or_default(), &format!("one of {}", names.join(", ")))
        })
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for OwnOptions {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        Self { values: values.into_iter().map(|(key, value)| (key.into(), value.into())).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_the_same_in_any_order_and_keep_theirs() {
        let map = ColumnMap::from_iter([("b", "x;y"), ("a", "z")]);
        assert_eq!(map, ColumnMap::from_iter([("a", "z"), ("b", "x;y")]));
        assert_ne!(map, ColumnMap::from_iter([("a", "z"), ("b", "y;x")]));
        assert_eq!(map.targets().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "a"]);
    }

    #[test]
    fn an_option_with_another_value_than_its_own_is_refused_by_name() {
        let own = OwnOptions::from_iter([("check", "perhaps"), ("payload", "x")]);
        let words = |error: SourceError| error.to_string();
        assert_eq!(words(own.flag("check", true).unwrap_err()), "check = \"perhaps\" must be \"true\" or \"false\".");
        let choices = [("picture", 1), ("example", 2)];
        let error = own.choice("payload", &choices).unwrap_err();
        assert_eq!(words(error), "payload = \"x\" must be one of \"picture\", \"example\".");
        assert_eq!(OwnOptions::default().choice("payload", &choices).unwrap(), 1);
        assert!(OwnOptions::default().flag("check", true).unwrap());
    }
}
