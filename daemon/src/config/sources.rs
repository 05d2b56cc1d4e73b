//! `[sources]`: what the datasets of streams may be.

use std::path::PathBuf;

use forebay_pipeline::ByteSize;
use forebay_printable::printable;
use forebay_sources::{DiskCache, ObjectRoots, ReaderFolders};
use serde_json::Value;
use thiserror::Error;

use super::Environment;
use super::table::Table;

pub(super) const EXAMPLE: &str = r#"[sources]
# Folders of custom readers. A stream may have the source "python:FILE" only if FILE is below one of these folders. The
# daemon runs the code in FILE as its own user, so make sure that only this user and root can write there.
python = []

# URLs of object stores. A stream may have a source in a store only if its URL is one of these or below one of them, such as
# "s3://pictures/train". The daemon reads objects with its own credentials, so list only what all its users may read.
objects = []

# Size of the cache on a local disk, such as "100gb". It keeps what is read from object stores, and what compressed files hold,
# so that later epochs do not ask the store again. All streams share it. Left out: FOREBAY_CACHE_SIZE or, without it, 0, which
# is no cache.
# cache_size = "100gb"
# Folder of that cache, on a fast disk of this machine. It must belong to the daemon's user. Left out: FOREBAY_CACHE or, without
# it, ~/.cache/forebay/objects, or /var/cache/forebay/objects for a service and for root.
# cache = "/var/cache/forebay/objects"
"#;

/// `[sources]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Folders of custom readers (semantics rule 55).
    pub python: Vec<PathBuf>,
    /// URLs of object stores (semantics rule 54).
    pub objects: Vec<String>,
    /// Size of the cache on a local disk; 0 is none.
    pub cache_size: Option<ByteSize>,
    /// Its folder.
    pub cache: Option<PathBuf>,
}

/// What a daemon may do for those who name a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceRights {
    /// Which custom readers it may run.
    pub readers: ReaderFolders,
    /// Which objects it may read.
    pub objects: ObjectRoots,
}

/// The cache on a local disk, if the configuration and the environment do not say enough.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CacheSettingError {
    /// `FOREBAY_CACHE_SIZE` has another value than a size.
    #[error("FOREBAY_CACHE_SIZE is \"{text}\". Give {SIZES}.", text = printable(.0))]
    Size(String),
    /// `FOREBAY_CACHE` is a relative path.
    #[error("FOREBAY_CACHE is \"{path}\". Give an absolute path.", path = printable(.0))]
    Folder(PathBuf),
    /// There is no home folder.
    #[error(
        "The cache on a local disk has no folder, because there is no home folder. Set cache in [sources], or FOREBAY_CACHE."
    )]
    NoFolder,
}

/// What the size of a cache may be.
const SIZES: &str = "0, or a size of at least 64mib, such as \"100gb\"";

impl Sources {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        Self {
            python: table.take_or("python", Vec::new(), folders),
            objects: table.take_or("objects", Vec::new(), urls),
            cache_size: table.take("cache_size", cache_size),
            cache: table.take("cache", |value| folder(value).ok_or_else(|| "an absolute path".to_owned())),
        }
    }

    /// The cache on a local disk, if one is wanted: by this section or else by the environment.
    ///
    /// # Errors
    /// A variable has a value that it cannot have, or there is no folder.
    pub fn disk_cache(&self, environment: &Environment) -> Result<Option<DiskCache>, CacheSettingError> {
        let of_variable = |text: &String| of_text(text).ok_or_else(|| CacheSettingError::Size(text.clone()));
        let size = match self.cache_size {
            Some(size) => size,
            None => environment.cache_size.as_ref().map_or(Ok(ByteSize(0)), of_variable)?,
        };
        if size.0 == 0 {
            return Ok(None);
        }
        let folder = self.cache.clone().or_else(|| environment.object_cache_dir());
        let folder = folder.ok_or(CacheSettingError::NoFolder)?;
        if folder.is_relative() {
            return Err(CacheSettingError::Folder(folder));
        }
        Ok(Some(DiskCache { folder, size: size.0 }))
    }

    /// Where a daemon with this section may run custom readers, and functions in Python.
    pub fn readers(&self) -> ReaderFolders {
        ReaderFolders::Below(self.python.clone())
    }

    /// What a daemon with this section may do. Without the section, it may do nothing of the kind.
    pub(crate) fn rights(&self) -> SourceRights {
        SourceRights { readers: self.readers(), objects: ObjectRoots::Below(self.objects.clone()) }
    }
}

/// The store that a source's name leads into: `s3://bucket` of `tar:s3://bucket/train/{0..9}.tar`, and the dataset with its
/// revision of the Hugging Face Hub, `hf://datasets/owner/name@revision`. None if it leads to files. A user who starts a
/// daemon for one source allows it to read that store.
pub fn store_of(source: &str) -> Option<&str> {
    let (before, rest) = source.split_once("://")?;
    let start = before.rfind(':').map_or(0, |colon| colon + 1);
    rest.split('/').next().filter(|host| !host.is_empty())?;
    let parts = if source[start..before.len()].eq_ignore_ascii_case("hf") { DATASET_PARTS } else { 1 };
    let root = rest.split(['?', '{', '*']).next().unwrap_or(rest);
    let len = root.match_indices('/').nth(parts - 1).map_or(root.len(), |(slash, _)| slash);
    Some(&source[start..before.len() + 3 + len])
}

/// Parts of the name of a dataset of the hub: `datasets`, its owner and its name.
const DATASET_PARTS: usize = 3;

/// The size of a cache: none, or enough to be of use.
fn of_text(text: &str) -> Option<ByteSize> {
    text.trim().parse().ok().filter(|size: &ByteSize| size.0 == 0 || size.0 >= DiskCache::LEAST)
}

fn cache_size(value: &Value) -> Result<ByteSize, String> {
    let size = match value {
        Value::String(text) => of_text(text),
        value => value.as_u64().and_then(|bytes| of_text(&bytes.to_string())),
    };
    size.ok_or_else(|| SIZES.to_owned())
}

/// Absolute: the user does not choose the folder where the daemon is started.
fn folder(value: &Value) -> Option<PathBuf> {
    value.as_str().filter(|path| !path.contains('\0')).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn folders(value: &Value) -> Result<Vec<PathBuf>, String> {
    let all = value.as_array().and_then(|values| values.iter().map(folder).collect());
    all.ok_or_else(|| "a list of absolute paths, such as [\"/opt/readers\"]".to_owned())
}

/// Each has a scheme and, behind it, at least the name of a bucket or host.
fn urls(value: &Value) -> Result<Vec<String>, String> {
    let named = |url: &str| {
        url.split_once("://").is_some_and(|(scheme, rest)| {
            !scheme.is_empty() && !rest.starts_with('/') && !rest.is_empty() && !rest.contains(['?', '*', '{'])
        })
    };
    let url = |value: &Value| value.as_str().filter(|url| named(url)).map(str::to_owned);
    let all = value.as_array().and_then(|values| values.iter().map(url).collect());
    all.ok_or_else(|| "a list of URLs without patterns, such as [\"s3://pictures/train\"]".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn rule_55_folders_of_readers_are_absolute_and_there_are_none_by_default() {
        let parse = |python: &str| Config::parse(&format!("[sources]\npython = {python}"), "a.toml");
        assert_eq!(Config::default().sources.python.len(), 0);
        assert_eq!(parse("[\"/opt/readers\"]").unwrap().sources.python, [std::path::Path::new("/opt/readers")]);
        for wrong in ["\"/opt\"", "[\"readers\"]", "[1]", "[\"\"]"] {
            let words = parse(wrong).unwrap_err().to_string();
            assert!(words.contains("line 2: sources.python: is ") && words.contains("absolute"), "{words}");
        }
    }

    #[test]
    fn rule_54_a_daemon_that_is_started_for_a_url_may_read_its_store() {
        for (source, store) in [
            ("s3://b/train", Some("s3://b")),
            ("tar:s3://b/{0..9}.tar?region=x", Some("s3://b")),
            ("https://host:8/a", Some("https://host:8")),
            ("hf://datasets/o/n", Some("hf://datasets/o/n")),
            ("parquet:hf://datasets/o/n@v1/data/*.parquet", Some("hf://datasets/o/n@v1")),
            ("hf://datasets/o/n?labels=none", Some("hf://datasets/o/n")),
            ("/data/train", None),
            ("folder:///data/train", None),
        ] {
            assert_eq!(store_of(source), store);
        }
        let rights = Config::for_paths(&["s3://b/train".to_owned()]).unwrap().sources.rights();
        assert!(rights.objects.has("s3://b/train/0.tar") && !rights.objects.has("s3://c/0.tar"));
    }

    #[test]
    fn rule_54_a_service_reads_no_objects_unless_its_configuration_names_them() {
        let parse = |objects: &str| Config::parse(&format!("[sources]\nobjects = {objects}"), "a.toml");
        let has = |objects: &str, url: &str| parse(objects).unwrap().sources.rights().objects.has(url);
        assert!(!Config::default().sources.rights().objects.has("s3://pictures/train/0.tar"));
        assert!(has("[\"s3://pictures/train\"]", "s3://pictures/train/0.tar"));
        assert!(!has("[\"s3://pictures/train\"]", "s3://pictures/other.tar"));
        for wrong in ["\"s3://a\"", "[\"pictures\"]", "[\"s3://\"]", "[1]", "[\"s3://a/*.tar\"]"] {
            let words = parse(wrong).unwrap_err().to_string();
            assert!(words.contains("line 2: sources.objects: is ") && words.contains("URLs"), "{words}");
        }
    }

    #[test]
    fn rule_54_a_cache_is_off_unless_the_configuration_or_the_environment_gives_its_size() {
        let environment = |size: Option<&str>, folder: Option<&str>| Environment {
            user_cache: Some("/home/ada/.cache".into()),
            cache_size: size.map(str::to_owned),
            cache_folder: folder.map(Into::into),
            uid: 1000,
            ..Environment::default()
        };
        let sources = |keys: &str| Config::parse(&format!("[sources]\n{keys}"), "a.toml").unwrap().sources;
        let cache = |folder: &str, size| Ok(Some(DiskCache { folder: folder.into(), size }));
        let of = |keys: &str, size, folder| sources(keys).disk_cache(&environment(size, folder));
        assert_eq!([of("", None, None), of("", Some("0"), Some("/x"))], [Ok(None), Ok(None)]);
        assert_eq!(of("cache_size = 0", Some("1gb"), None), Ok(None), "the configuration decides");
        assert_eq!(of("", Some("1gb"), None), cache("/home/ada/.cache/forebay/objects", 1_000_000_000));
        assert_eq!(of("", Some("1gb"), Some("/scratch")), cache("/scratch", 1_000_000_000));
        let keys = "cache_size = \"64mib\"\ncache = \"/fast\"";
        assert_eq!(of(keys, Some("1gb"), Some("/scratch")), cache("/fast", 64 << 20));
        assert_eq!(of("", Some("much"), None), Err(CacheSettingError::Size("much".into())));
        assert_eq!(of("", Some("1gb"), Some("here")), Err(CacheSettingError::Folder("here".into())));
        let homeless = Environment { cache_size: Some("1gb".into()), uid: 1000, ..Environment::default() };
        assert_eq!(sources("").disk_cache(&homeless), Err(CacheSettingError::NoFolder));
        for wrong in ["cache_size = \"1mb\"", "cache_size = -1", "cache_size = true", "cache = \"here\"", "cache = 1"] {
            let words = Config::parse(&format!("[sources]\n{wrong}"), "a.toml").unwrap_err().to_string();
            let key = wrong.split(' ').next().unwrap();
            assert!(words.contains(&format!("line 2: sources.{key}: is ")), "{words}");
        }
    }
}
