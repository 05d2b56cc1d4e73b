//! `[sources]`: what the datasets of streams may be.

use std::path::PathBuf;

use forebay_sources::{ObjectRoots, ReaderFolders};
use serde_json::Value;

use super::table::Table;

pub(super) const EXAMPLE: &str = r#"[sources]
# Folders of custom readers. A stream may have the source "python:FILE" only if FILE is below one of these folders. The
# daemon runs the code in FILE as its own user, so make sure that only this user and root can write there.
python = []

# URLs of object stores. A stream may have a source in a store only if its URL is one of these or below one of them, such as
# "s3://pictures/train". The daemon reads objects with its own credentials, so list only what all its users may read.
objects = []
"#;

/// `[sources]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Folders of custom readers (semantics rule 55).
    pub python: Vec<PathBuf>,
    /// URLs of object stores (semantics rule 54).
    pub objects: Vec<String>,
}

/// What a daemon may do for those who name a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceRights {
    /// Which custom readers it may run.
    pub readers: ReaderFolders,
    /// Which objects it may read.
    pub objects: ObjectRoots,
}

impl Sources {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        Self {
            python: table.take_or("python", Vec::new(), folders),
            objects: table.take_or("objects", Vec::new(), urls),
        }
    }

    /// What a daemon with this section may do. Without the section, it may do nothing of the kind.
    pub(crate) fn rights(&self) -> SourceRights {
        let readers = ReaderFolders::Below(self.python.clone());
        SourceRights { readers, objects: ObjectRoots::Below(self.objects.clone()) }
    }
}

/// The store that a source's name leads into: `s3://bucket` of `tar:s3://bucket/train/{0..9}.tar`, and the dataset with its
/// revision of the Hugging Face Hub, `hf://datasets/owner/name@revision`. None if it leads to files.
/// Whoever starts a daemon for one source allows it to read that store.
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

/// Absolute: the folder where the daemon was started is nobody's choice.
fn folders(value: &Value) -> Result<Vec<PathBuf>, String> {
    let folder = |value: &Value| value.as_str().map(PathBuf::from).filter(|path| path.is_absolute());
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
            assert_eq!(super::store_of(source), store);
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
}
