//! What an index says about its dataset beside the columns. It is JSON in the metadata of the Arrow file's schema.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};
use std::sync::Arc;

use forebay_sources::{Labels, Options, Oversight, OversightKind};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::basis::Basis;
use crate::containers;
use crate::index_columns::BadIndex;
use crate::root::ROOT;
use crate::scheme::{Indexing, Scheme};
use crate::stamp::Stamp;
use crate::stores;

/// The form of the file. A change of the columns or of this text gets a new number.
pub(super) const VERSION: u32 = 2;
/// The key of the text in the metadata.
pub(super) const KEY: &str = "forebay";
/// Schemes whose earlier versions kept other values: boxes in pixels, no boxes, or lists as one class. An index from such a
/// version does not fit.
const READ_AGAIN: [&str; 4] = ["tfrecord", "mxnet", "csv", "mds"];
/// No scheme has an option of this name.
const READING: &str = "reading";
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// What an index says about a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct About {
    pub version: u32,
    pub scheme: String,
    pub choices: Choices,
    /// The dataset's fingerprint, as hexadecimal digits.
    pub fingerprint: String,
    pub classes: Vec<String>,
    /// What decided which records there are.
    pub bases: Vec<Dated>,
    /// What is beside the records and is not used. Earlier versions did not look for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oversights: Vec<AboutOversight>,
    #[serde(flatten)]
    pub kind: AboutRecords,
}

/// What an index says about the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "records", rename_all = "lowercase")]
pub(crate) enum AboutRecords {
    Files {
        /// Where their paths start. Nothing if the option `root` says that.
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
#[cfg_attr(test, derive(Default))]
pub(crate) struct Choices {
    pub labels: String,
    /// In the order of the columns.
    pub columns: Vec<(String, Vec<String>)>,
    /// Only where the masks are in the same files as the pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<(String, Vec<String>)>,
    pub own: BTreeMap<String, String>,
}

/// What is beside the records and is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AboutOversight {
    pub kind: String,
    pub what: String,
    pub count: u64,
    pub examples: Vec<String>,
    pub remedy: String,
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
    /// By what a change in a store is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

#[cfg(test)]
impl Default for AboutRecords {
    fn default() -> Self {
        Self::Ranges { files: Vec::new() }
    }
}

impl Choices {
    /// Without the option `root`: it says where the dataset is, and not what is in it. Options that the scheme does not
    /// have are left out too, because they may be secrets.
    pub(super) fn of(scheme: &Scheme, options: &Options) -> Self {
        let labels = match options.labels {
            Labels::Auto => "auto",
            Labels::Text => "text",
            Labels::None => "none",
        };
        let told = |(name, parts): (&str, Vec<&str>)| (name.to_owned(), parts.into_iter().map(str::to_owned).collect());
        let columns = ["images", "labels"]
            .into_iter()
            .filter_map(|name| Some((name, options.columns.parts(name)?)))
            .chain(options.columns.targets())
            .map(told);
        let has_masks = matches!(scheme.indexing, Indexing::Ranges(_));
        let masks = options.masks.targets().filter(|_| has_masks).map(told);
        let own = scheme.options.iter().map(|option| option.name).filter(|key| *key != ROOT.name);
        let own = own.filter_map(|key| Some((key.to_owned(), options.own.get(key)?.to_owned())));
        let mut own: BTreeMap<String, String> = own.collect();
        // A folder with columns is read as a table.
        let is_table = scheme.name == "folder" && !options.columns.is_empty();
        if is_table || READ_AGAIN.contains(&scheme.name) {
            own.insert(READING.to_owned(), "2".to_owned());
        }
        Self { labels: labels.to_owned(), columns: columns.collect(), masks: masks.collect(), own }
    }
}

impl AboutOversight {
    pub(super) fn of(oversight: &Oversight) -> Self {
        let Oversight { kind, what, count, examples, remedy } = oversight.clone();
        Self { kind: kind.name().to_owned(), what, count, examples, remedy }
    }

    /// Nothing if a later version wrote it, of a kind that this one does not know.
    pub(super) fn oversight(self) -> Option<Oversight> {
        let Self { kind, what, count, examples, remedy } = self;
        Some(Oversight { kind: OversightKind::named(&kind)?, what, count, examples, remedy })
    }
}

/// Whether the dataset is a folder.
pub(super) fn is_folder(name: &Address) -> bool {
    !containers::is_pattern(name) && name.is_folder()
}

/// The folder where the paths of an index start: the dataset's folder, or the folder that has the dataset's file.
pub(super) fn folder_of(name: &Address) -> Address {
    if is_folder(name) { name.clone() } else { name.parent() }
}

/// A path relative to the folder, if it is below it. In a store, being below the parent folder is enough. Otherwise the
/// path itself.
pub(crate) fn told(address: &Address, folder: &Address) -> String {
    let (path, above) = (address.path(), folder.path().parent().filter(|_| folder.tree().is_some()));
    let from_above = || Some(Path::new("..").join(path.strip_prefix(above?).ok()?));
    let below = path.strip_prefix(folder.path()).ok().map(Path::to_owned).or_else(from_above);
    let below = below.unwrap_or_else(|| path.to_owned());
    percent_encode(below.as_os_str().as_bytes(), ENCODED).to_string()
}

/// The address of a path in an index. Apart from a leading "..", the path must stay below the folder, or be known.
pub(super) fn address(told: &str, folder: &Address, known: impl Fn(&Path) -> bool) -> Result<Address, BadIndex> {
    let bytes: Vec<u8> = percent_decode_str(told).collect();
    let path = Path::new(OsStr::from_bytes(&bytes));
    if let Some(tree) = folder.tree()
        && let Some(url) = path.to_str().filter(|path| stores::is_url(path))
    {
        let leads = || BadIndex(format!("its path \"{told}\" leads out of the dataset"));
        return if known(path) { Ok(Address::object(url, Arc::clone(tree))) } else { Err(leads()) };
    }
    let below = path.strip_prefix("..").unwrap_or(path);
    let stays = below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if bytes.contains(&0) || !(stays || known(path)) {
        return Err(BadIndex(format!("its path \"{told}\" leads out of the dataset")));
    }
    // Joining nothing would add a slash.
    Ok(if bytes.is_empty() { folder.clone() } else { folder.join(path) })
}

impl Dated {
    pub(super) fn of(basis: &Basis, folder: &Address) -> Self {
        let Basis { address, stamp, version } = basis;
        let modified = stamp.and_then(|stamp| stamp.nanoseconds());
        let (path, version) = (told(address, folder), version.clone());
        Self { path, bytes: stamp.map(|stamp| stamp.len), modified, version }
    }

    /// What must be at this address, which is that of the path.
    pub(super) fn basis(&self, address: Address) -> Basis {
        let stamp = self.bytes.map(|bytes| Stamp::of_nanoseconds(bytes, self.modified));
        Basis { address, stamp, version: self.version.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_54_paths_of_an_index_stay_in_the_store_and_only_known_urls_are_others() {
        let objects = forebay_sources::ObjectRoots::Below(vec!["s3://bucket/a".into(), "s3://bucket/x".into()]);
        let options = Options { objects, ..Options::default() };
        let folder = stores::open("s3://bucket/a/b", &options).unwrap();
        let of = |told: &str| {
            let known = |path: &Path| path == Path::new("s3://bucket/x/1.tar") || path == Path::new("s3://other/1.tar");
            address(told, &folder, known).ok()
        };
        let url = |told: &str| of(told).map(|address| address.path().to_str().unwrap().to_owned());
        for (told_as, leads_to) in
            [("1.tar", "s3://bucket/a/b/1.tar"), ("", "s3://bucket/a/b"), ("../c/1.jpg", "s3://bucket/a/c/1.jpg")]
        {
            assert_eq!(url(told_as).as_deref(), Some(leads_to));
            assert_eq!(told(&of(told_as).unwrap(), &folder), told_as);
        }
        let known = of("s3://bucket/x/1.tar").unwrap();
        assert_eq!(
            (told(&known, &folder), known.key().unwrap().1),
            ("s3://bucket/x/1.tar".into(), Some("x/1.tar".into()))
        );
        for wrong in ["s3://bucket/x/2.tar", "/etc/passwd", "../../a", "a/../../b"] {
            assert_eq!(url(wrong), None, "{wrong}");
        }
        // An address that may not be read, or that is in another store, has no key.
        for outside in ["s3://other/1.tar", "../../.."] {
            assert!(of(outside).is_none_or(|address| address.key().unwrap().1.is_none()), "{outside}");
        }
        assert_eq!(of("../secret").unwrap().key().unwrap().1, Some("a/secret".into()));
    }

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
