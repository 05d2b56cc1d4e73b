//! What an index says about its dataset beside the columns. It is JSON in the metadata of the Arrow file's schema.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use forebay_sources::{Labels, Options};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use serde::{Deserialize, Serialize};

use crate::ROOT;
use crate::address::Address;
use crate::basis::Basis;
use crate::index_columns::BadIndex;
use crate::packed::ContainerFile;
use crate::scheme::Scheme;
use crate::stamp::Stamp;

/// The form of the file. A change of the columns or of this text gets a new number.
pub(super) const VERSION: u32 = 1;
/// The key of the text in the metadata.
pub(super) const KEY: &str = "forebay";
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// What is told about a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    pub version: u32,
    pub scheme: String,
    pub choices: Choices,
    /// The dataset's fingerprint, as hexadecimal digits.
    pub fingerprint: String,
    pub classes: Vec<String>,
    /// What decided which records there are.
    pub bases: Vec<Dated>,
    #[serde(flatten)]
    pub kind: AboutRecords,
}

/// What is told about the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "records", rename_all = "lowercase")]
pub(crate) enum AboutRecords {
    Files {
        /// Where their paths start; nothing if the option `root` says that.
        root: Option<String>,
        shard_name: String,
    },
    Ranges {
        /// The files that they are ranges of.
        files: Vec<Dated>,
    },
}

/// The options that decide what a scan finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choices {
    pub labels: String,
    /// In the order of the columns.
    pub columns: Vec<(String, Vec<String>)>,
    pub own: BTreeMap<String, String>,
}

/// A file or folder, and what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dated {
    /// From the dataset's folder on, in percent encoding.
    pub path: String,
    /// Nothing if there was no such file.
    pub bytes: Option<u64>,
    /// Nanoseconds since 1970.
    pub modified: Option<i64>,
}

impl Choices {
    /// Without the option `root`: it says where the dataset is, and not what is in it. What is no option of the scheme is
    /// left out too, because it may be a secret.
    pub(super) fn of(scheme: &Scheme, options: &Options) -> Self {
        let labels = match options.labels {
            Labels::Auto => "auto",
            Labels::Text => "text",
            Labels::None => "none",
        };
        let columns = ["images", "labels"]
            .into_iter()
            .filter_map(|name| Some((name, options.columns.parts(name)?)))
            .chain(options.columns.targets())
            .map(|(name, parts)| (name.to_owned(), parts.into_iter().map(str::to_owned).collect()));
        let own = scheme.options.iter().map(|option| option.name).filter(|key| *key != ROOT.name);
        let own = own.filter_map(|key| Some((key.to_owned(), options.own.get(key)?.to_owned())));
        Self { labels: labels.to_owned(), columns: columns.collect(), own: own.collect() }
    }
}

/// The folder from which an index tells paths: the dataset's, or the one that a dataset's file is in.
pub(super) fn folder_of(name: &Address) -> Address {
    if name.is_folder() { name.clone() } else { name.parent() }
}

/// A path from the folder on, if it is below it. Otherwise the path itself.
pub(crate) fn told(address: &Address, folder: &Address) -> String {
    let below = address.path().strip_prefix(folder.path()).unwrap_or_else(|_| address.path());
    percent_encode(below.as_os_str().as_bytes(), ENCODED).to_string()
}

/// The path that was told. Beside a leading ".." it stays below the folder, or is one of those that are known.
pub(super) fn address(told: &str, folder: &Address, known: impl Fn(&Path) -> bool) -> Result<Address, BadIndex> {
    let bytes: Vec<u8> = percent_decode_str(told).collect();
    let path = Path::new(OsStr::from_bytes(&bytes));
    let below = path.strip_prefix("..").unwrap_or(path);
    let stays = below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if bytes.contains(&0) || !(stays || known(path)) {
        return Err(BadIndex(format!("its path \"{told}\" leads out of the dataset")));
    }
    // Joining nothing would add a slash.
    Ok(if bytes.is_empty() { folder.clone() } else { folder.join(path) })
}

impl Dated {
    pub(crate) fn of_file(file: &ContainerFile, folder: &Address) -> Self {
        Self::new(&file.address, Some(file.stamp), folder)
    }

    pub(super) fn of_basis(basis: &Basis, folder: &Address) -> Self {
        Self::new(&basis.address, basis.stamp, folder)
    }

    fn new(address: &Address, stamp: Option<Stamp>, folder: &Address) -> Self {
        let modified = stamp.and_then(|stamp| stamp.nanoseconds());
        Self { path: told(address, folder), bytes: stamp.map(|stamp| stamp.len), modified }
    }

    pub(super) fn stamp(&self) -> Option<Stamp> {
        Some(Stamp::of_nanoseconds(self.bytes?, self.modified))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_53_paths_of_an_index_stay_in_the_dataset() {
        let folder = Address::file("/data/x");
        let of = |told: &str| address(told, &folder, |known| known == Path::new("/other/1.tar")).ok();
        let odd = folder.join(OsStr::from_bytes(b"a/\xffb%"));
        assert_eq!((told(&odd, &folder), of("a/%FFb%25")), ("a/%FFb%25".into(), Some(odd)));
        assert_eq!([of(""), of("../train")], [Some(folder.clone()), Some(Address::file("/data/x/../train"))]);
        assert_eq!(of("/other/1.tar"), Some(Address::file("/other/1.tar")));
        for wrong in ["/etc/passwd", "../../a", "a/../../b", "a%00b"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
