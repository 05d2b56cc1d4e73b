//! Which dataset of the Hugging Face Hub a URL names, and in which revision. Pure.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// A dataset of the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// `OWNER/NAME`.
    pub(crate) name: String,
    /// A branch, a tag or a commit, with nothing encoded.
    pub(crate) revision: String,
}

/// What such a URL must be, for an error.
const EXPECTED: &str = "hf://datasets/OWNER/NAME/PATH or hf://datasets/OWNER/NAME@REVISION/PATH, where a slash in the \
                        revision is written as %2F";
/// The branch of a URL that names no revision.
const MAIN: &str = "main";
/// Characters of an owner's or a dataset's name, and of a revision.
const NAME_LIMIT: usize = 96;
const REVISION_LIMIT: usize = 255;
/// Digits of a commit.
const COMMIT_DIGITS: usize = 40;
/// What is encoded in a part of a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl Repository {
    /// Takes apart what follows `hf://`. What follows the dataset is the key. The error says what was expected.
    pub(crate) fn split(rest: &str) -> Result<(Self, &str), &'static str> {
        let rest = rest.strip_prefix("datasets/").ok_or(EXPECTED)?;
        let (owner, rest) = rest.split_once('/').ok_or(EXPECTED)?;
        let (name, mut key) = rest.split_once('/').unwrap_or((rest, ""));
        let (name, revision) = name.split_once('@').unwrap_or((name, MAIN));
        let mut revision = percent_decode_str(revision).decode_utf8().map_err(|_| EXPECTED)?;
        if revision == "refs" {
            // The hub's own branches, which its tools write with slashes: `refs/convert/parquet`, `refs/pr/1`.
            let (kind, after) = key.split_once('/').ok_or(EXPECTED)?;
            let (branch, after) = after.split_once('/').unwrap_or((after, ""));
            revision = Cow::Owned(format!("refs/{kind}/{branch}"));
            key = after;
        }
        if !is_name(owner) || !is_name(name) || !is_revision(&revision) {
            return Err(EXPECTED);
        }
        Ok((Self { name: format!("{owner}/{name}"), revision: revision.into_owned() }, key))
    }

    /// The path of the call that tells the commit of the revision.
    pub(crate) fn revision_path(&self) -> String {
        format!("/api/datasets/{}/revision/{}", self.name, encoded(&self.revision))
    }

    /// The path of the call that lists a folder, which has no slash at its end. Nothing for a key that no file can have.
    pub(crate) fn tree_path(&self, commit: &str, folder: &str) -> Option<String> {
        let of_all = format!("/api/datasets/{}/tree/{commit}", self.name);
        if folder.is_empty() { Some(of_all) } else { Some(format!("{of_all}/{}", encoded_key(folder)?)) }
    }

    /// The path of a file. Nothing for a key that no file can have.
    pub(crate) fn file_path(&self, commit: &str, key: &str) -> Option<String> {
        Some(format!("/datasets/{}/resolve/{commit}/{}", self.name, encoded_key(key)?))
    }

    /// The path of the page where people see the dataset.
    pub(crate) fn page_path(&self) -> String {
        format!("/datasets/{}", self.name)
    }
}

/// Whether this is the whole name of a commit, which always means the same.
pub(crate) fn is_commit(text: &str) -> bool {
    text.len() == COMMIT_DIGITS && is_digest(text)
}

/// Whether this is the name that git or its large files have for some bytes.
pub(crate) fn is_digest(text: &str) -> bool {
    matches!(text.len(), COMMIT_DIGITS | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=NAME_LIMIT).contains(&text.len()) && text.bytes().all(plain) && text != "." && text != ".."
}

fn is_revision(text: &str) -> bool {
    let odd = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    let fine = (1..=REVISION_LIMIT).contains(&text.len()) && !text.contains(odd) && !text.contains("..");
    fine && text.split('/').all(|part| !part.is_empty() && part != ".")
}

/// The key with all its parts encoded. Nothing if a server would follow one of them elsewhere.
fn encoded_key(key: &str) -> Option<String> {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    key.split('/').all(plain).then(|| key.split('/').map(encoded).collect::<Vec<_>>().join("/"))
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(rest: &str) -> (String, String, String) {
        let (repository, key) = Repository::split(rest).unwrap();
        (repository.name, repository.revision, key.to_owned())
    }

    #[test]
    fn a_url_names_a_dataset_a_revision_and_a_key() {
        for (rest, name, revision, key) in [
            ("datasets/o/n", "o/n", "main", ""),
            ("datasets/o/n/a/b.tar", "o/n", "main", "a/b.tar"),
            ("datasets/o-1/n.v_2@v1.0/a", "o-1/n.v_2", "v1.0", "a"),
            ("datasets/o/n@feature%2Fnew/a@b", "o/n", "feature/new", "a@b"),
            ("datasets/o/n@refs%2Fpr%2F1/a", "o/n", "refs/pr/1", "a"),
            ("datasets/o/n@refs/convert/parquet/default/train", "o/n", "refs/convert/parquet", "default/train"),
            ("datasets/o/n@refs/pr/12", "o/n", "refs/pr/12", ""),
        ] {
            assert_eq!(parts(rest), (name.to_owned(), revision.to_owned(), key.to_owned()), "{rest}");
        }
    }

    #[test]
    fn what_names_no_dataset_is_refused() {
        for rest in [
            "",
            "datasets",
            "datasets/n",
            "datasets//n",
            "datasets/o/",
            "datasets/../n/a",
            "datasets/o/..",
            "datasets/o/n?x=1",
            "datasets/o/n@/a",
            "datasets/o/n@refs/convert",
            "datasets/o/n@a%2F..%2Fb/x",
            "datasets/o/n@%2e/x",
            "datasets/o/n@a%00/x",
            "datasets/o/n@%ff/x",
            "datasets/o o/n",
            "models/o/n/a",
            "spaces/o/n/a",
            "o/n/a",
        ] {
            assert_eq!(Repository::split(rest), Err(EXPECTED), "{rest}");
        }
        assert!(Repository::split(&format!("datasets/o/{}", "n".repeat(97))).is_err());
    }

    #[test]
    fn all_parts_of_a_path_are_encoded_and_none_leads_upwards() {
        let (repository, _) = Repository::split("datasets/o/n@a%2Fb").unwrap();
        assert_eq!(repository.revision_path(), "/api/datasets/o/n/revision/a%2Fb");
        assert_eq!(repository.tree_path("c", "").unwrap(), "/api/datasets/o/n/tree/c");
        assert_eq!(repository.tree_path("c", "a b/+#").unwrap(), "/api/datasets/o/n/tree/c/a%20b/%2B%23");
        assert_eq!(repository.file_path("c", "%20/\u{e9}?").unwrap(), "/datasets/o/n/resolve/c/%2520/%C3%A9%3F");
        for key in ["", "a//b", "../x", "a/./b", "a/"] {
            assert_eq!(repository.file_path("c", key), None, "{key}");
        }
    }

    #[test]
    fn a_commit_has_all_its_digits() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert!(is_commit(commit) && is_digest(commit) && is_digest(&"a".repeat(64)));
        assert!(!is_commit(&commit[1..]) && !is_commit(&commit.to_uppercase()) && !is_commit(&"a".repeat(64)));
    }
}
