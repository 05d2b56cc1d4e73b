//! What errors say of a file that is not what it should be, whatever the format: it is cut, or something else altogether.

use std::io::{self, Read as _};
use std::path::Path;

use forebay_sources::{Container, Locator, SourceError};

use crate::regular_file::open_regular;

/// The message for a pointer of Git LFS: a small text in place of a large file in a Git repository.
pub(crate) const LFS_POINTER: &str = "this is a Git LFS pointer, not the file itself. Fetch the file (git lfs pull).";
const EMPTY: &str = "the file is empty. Copy or download it again.";
const WEB_PAGE: &str = "this is a web page, and not the file itself. Download the file again. The page may say why the server \
                        did not send it.";
const FOLDER: &str = "this is a folder. Give the path of a file.";

/// The error of a file that ends inside a unit (a record, a chunk) that begins at this place.
pub(crate) fn cut(path: &Path, at: u64, unit: &str) -> SourceError {
    let problem = if at == 0 {
        format!("the file ends inside its first {unit}, so it is not complete. Copy it again.")
    } else {
        format!(
            "the file ends inside a {unit}, so it is not complete. Copy it again; or to keep the {unit}s before this one, cut it \
             here (truncate -s {at})."
        )
    };
    SourceError::malformed_at(path, at, problem)
}

/// The error of a format. If the file that it blames is of no format, the error says what the file is instead.
pub(crate) fn explained(error: SourceError) -> SourceError {
    let (path, problem) = match &error {
        SourceError::Malformed { locator: Locator { container: Container::File(path), .. }, .. }
        | SourceError::Line { file: path, .. }
        | SourceError::NoneExists { list: path, .. } => (path, what_else(path)),
        SourceError::Io { path, source } if source.kind() == io::ErrorKind::IsADirectory => (path, Some(FOLDER)),
        _ => return error,
    };
    match problem {
        Some(problem) => SourceError::Malformed { locator: Locator::file(path), problem: problem.into() },
        None => error,
    }
}

/// What a file is that no format reads.
fn what_else(path: &Path) -> Option<&'static str> {
    let (file, _) = open_regular(path).ok()?;
    let mut head = Vec::new();
    file.take(64).read_to_end(&mut head).ok()?;
    let text = head.trim_ascii_start().to_ascii_lowercase();
    let begins = |word: &str| text.starts_with(word.as_bytes());
    if head.is_empty() {
        Some(EMPTY)
    } else if begins("version https://git-lfs") {
        Some(LFS_POINTER)
    } else {
        (begins("<!doctype html") || begins("<html")).then_some(WEB_PAGE)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use forebay_sources::Options;

    #[test]
    fn a_file_of_no_format_is_called_what_it_is_whatever_the_scheme() {
        let dir = tempfile::tempdir().unwrap();
        let cases = [
            ("", "the file is empty"),
            ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", "git lfs pull"),
            ("\n<!DOCTYPE HTML><title>404</title>", "this is a web page"),
            ("<html><body>Please log in</body></html>", "this is a web page"),
        ];
        for (scheme, file) in
            [("zip", "a.zip"), ("tar", "a.tar"), ("parquet", "a.parquet"), ("arrow", "a.arrow"), ("coco", "a.json")]
        {
            let path = dir.path().join(file);
            for (content, words) in cases {
                fs::write(&path, content).unwrap();
                let said =
                    crate::open(&format!("{scheme}:{}", path.display()), &Options::default()).unwrap_err().to_string();
                assert!(said.contains(words) && said.contains(file), "{scheme}: {said}");
            }
        }
        for (scheme, file) in [("csv", "a.csv"), ("coco", "b.json")] {
            let path = dir.path().join(file);
            fs::create_dir(&path).unwrap();
            let said =
                crate::open(&format!("{scheme}:{}", path.display()), &Options::default()).unwrap_err().to_string();
            assert!(said.contains("this is a folder. Give the path of a file") && said.contains(file), "{said}");
        }
    }

    #[test]
    fn a_file_that_ends_in_its_first_record_is_not_to_be_cut_to_nothing() {
        let said = |at| super::cut("a.rec".as_ref(), at, "record").to_string();
        assert!(said(36).contains("keep the records before this one, cut it here (truncate -s 36)"), "{}", said(36));
        assert!(said(0).contains("inside its first record") && !said(0).contains("truncate"), "{}", said(0));
    }
}
