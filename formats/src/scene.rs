//! What the tests of several formats make, and how they look at a dataset.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use forebay_columns::Element;
use forebay_sources::{ReadErrorKind, Source};
use tempfile::TempDir;

/// A folder with these files. Those without a text hold their own names, as pictures do here.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, if text.is_empty() { file } else { text }).unwrap();
    }
    dir
}

/// Sets the time at which a file was written last, in seconds since 1970.
pub(crate) fn date(file: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::options().append(true).open(file).unwrap().set_modified(time).unwrap();
}

/// An error says all of this.
pub(crate) fn says(message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

/// The contents of all records, or what is wrong with their bytes.
pub(crate) fn contents(source: &dyn Source) -> Vec<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    let read = |record| match source.read(record, u64::MAX, &mut bytes) {
        Ok(()) => Ok(bytes.clone()),
        Err(error) => {
            assert!(matches!(error.kind, ReadErrorKind::Damaged | ReadErrorKind::Empty), "{error}");
            Err(error.to_string())
        }
    };
    (0..source.len()).map(read).collect()
}

/// What a record has in a column.
pub(crate) fn values<T: Element>(source: &dyn Source, column: &str, record: usize) -> Vec<T> {
    let table = source.targets();
    let place = table.schema().find(column).unwrap();
    table.value(place, record).numbers(table.columns()[place].column_type()).unwrap()
}

/// The names of the records' files.
pub(crate) fn names(source: &dyn Source) -> Vec<String> {
    let name = |record| PathBuf::from(source.locator(record).name()).file_name().unwrap().to_str().unwrap().to_owned();
    (0..source.len()).map(name).collect()
}

/// The labels of all records.
pub(crate) fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|record| source.label(record)).collect()
}
