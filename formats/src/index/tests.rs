//! Tests of when an index fits, of what hostile ones do, and of scans that go on.

mod stores;

use std::fs::{self, File};
use std::time::SystemTime;

use forebay_sources::{Labels, OwnOptions, ReadErrorKind};
use tempfile::TempDir;

use super::*;
use crate::mutations::each;
use crate::scene::{contents, folder, labels, says};
use crate::tar::writer::TarWriter;
use crate::{make_index, open};

/// Class folders with four pictures, and a folder for indexes.
fn classes() -> (TempDir, TempDir) {
    (
        folder(&[("cat/1.jpg", ""), ("cat/2.jpg", ""), ("dog/1.jpg", ""), ("dog/3.png", "")]),
        tempfile::tempdir().unwrap(),
    )
}

fn name(dir: &TempDir) -> &str {
    dir.path().to_str().unwrap()
}

fn from(index: &Path) -> Options {
    Options { index: IndexChoice::File(index.to_owned()), ..Options::default() }
}

/// What opening the dataset from an index says.
fn refusal(dataset: &str, options: &Options) -> String {
    open(dataset, options).unwrap_err().to_string()
}

#[test]
fn rule_53_an_index_in_the_folder_is_used_as_long_as_the_folders_keep_their_times() {
    let (dir, indexes) = classes();
    let options = Options { index: IndexChoice::Folder(indexes.path().join("made")), ..Options::default() };
    let made = make_index(name(&dir), &options, None, false).unwrap();
    assert!(made.is_new && made.records == 4 && made.path.starts_with(indexes.path().join("made")));
    assert_eq!(make_index(name(&dir), &options, None, false).unwrap(), IndexReport { is_new: false, ..made.clone() });
    let source = open(name(&dir), &options).unwrap();
    assert_eq!(
        (source.len(), source.classes(), labels(&*source)),
        (4, &["cat".into(), "dog".into()][..], vec![0, 0, 1, 1])
    );
    // A picture that is deleted is known by its folder's time.
    fs::remove_file(dir.path().join("dog/3.png")).unwrap();
    says(&refusal(name(&dir), &from(&made.path)), &["dog", "has changed", "--output FILE"]);
    assert_eq!(open(name(&dir), &options).unwrap().len(), 3, "it is scanned");
    let anew = make_index(name(&dir), &options, None, false).unwrap();
    assert!(anew.is_new && anew.records == 3 && anew.fingerprint != made.fingerprint);
}

#[test]
fn rule_53_a_file_that_changed_is_a_bad_record_that_says_so() {
    let (dir, indexes) = classes();
    let index = indexes.path().join("x.arrow");
    make_index(name(&dir), &Options::default(), Some(&index), false).unwrap();
    let source = open(name(&dir), &from(&index)).unwrap();
    let grown = dir.path().join("cat/2.jpg");
    fs::write(&grown, "other content").unwrap();
    let mut bytes = Vec::new();
    let error = source.read(1, u64::MAX, &mut bytes).unwrap_err();
    assert_eq!((error.kind, bytes.len()), (ReadErrorKind::Changed, 0));
    says(&error.to_string(), &["forebay index SOURCE --rebuild"]);
    fs::write(&grown, "cat/2.jpg").unwrap();
    File::options().append(true).open(&grown).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(source.read(1, u64::MAX, &mut bytes).unwrap_err().kind, ReadErrorKind::Changed, "another time");
    source.read(0, u64::MAX, &mut bytes).unwrap();
    assert_eq!(bytes, b"cat/1.jpg");
}

#[test]
fn rule_53_an_index_of_another_dataset_or_other_options_is_refused() {
    let (dir, indexes) = classes();
    let index = indexes.path().join("x.arrow");
    says(&refusal(name(&dir), &from(&index)), &["x.arrow", "does not exist"]);
    make_index(name(&dir), &Options::default(), Some(&index), false).unwrap();
    let unlabelled = Options { labels: Labels::None, ..from(&index) };
    says(&refusal(name(&dir), &unlabelled), &["its choice of labels"]);
    let list = dir.path().join("list.txt");
    fs::write(&list, "cat/1.jpg").unwrap();
    says(&refusal(list.to_str().unwrap(), &from(&index)), &["its scheme is not"]);
    let (other, _indexes) = classes();
    says(&refusal(name(&other), &from(&index)), &["has changed"]);
    fs::write(&index, "no Arrow file").unwrap();
    says(&refusal(name(&dir), &from(&index)), &["not a complete Arrow file"]);
    let table = dir.path().join("x.parquet");
    fs::write(&table, "PAR1").unwrap();
    let none = make_index(&format!("parquet:{}", table.display()), &Options::default(), Some(&index), false);
    says(&none.unwrap_err().to_string(), &["parquet", "cannot have an index", "of their own"]);
}

#[test]
fn rule_53_an_index_moves_with_its_dataset() {
    let (dir, indexes) = classes();
    let index = indexes.path().join("x.arrow");
    let (here, there) = (dir.path().join("cat"), dir.path().join("moved"));
    let made = make_index(here.to_str().unwrap(), &Options::default(), Some(&index), false).unwrap();
    fs::rename(&here, &there).unwrap();
    let source = open(there.to_str().unwrap(), &from(&index)).unwrap();
    assert_eq!((source.fingerprint(), source.locator(0).name()), (made.fingerprint, there.join("1.jpg").into()));
    assert_eq!(contents(&*source), [Ok(b"cat/1.jpg".to_vec()), Ok(b"cat/2.jpg".to_vec())]);
}

/// A folder with tars of two pictures each.
fn tars(count: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..count {
        let names = ["cat", "dog"].map(|class| format!("{class}/{number}.jpg"));
        let files = names.each_ref().map(|name| (name.as_str(), name.as_bytes()));
        fs::write(dir.path().join(format!("{number}.tar")), TarWriter::of(&files)).unwrap();
    }
    dir
}

#[test]
fn rule_53_a_scan_that_was_killed_does_not_read_what_it_has_scanned() {
    let (dir, indexes) = (tars(3), tempfile::tempdir().unwrap());
    let index = indexes.path().join("x.arrow");
    let expected = open(name(&dir), &Options::default()).unwrap();
    // The scan ends at the last tar, which is cut, as a kill would end it.
    let last = dir.path().join("2.tar");
    let whole = fs::read(&last).unwrap();
    fs::write(&last, &whole[..700]).unwrap();
    make_index(name(&dir), &Options::default(), Some(&index), false).unwrap_err();
    assert!(!index.exists());
    // The other tars now have other bytes, with the size and time that they had. Nobody looks at them.
    for number in [0, 1] {
        let tar = dir.path().join(format!("{number}.tar"));
        let metadata = tar.metadata().unwrap();
        fs::write(&tar, vec![b'x'; usize::try_from(metadata.len()).unwrap()]).unwrap();
        File::options().append(true).open(&tar).unwrap().set_modified(metadata.modified().unwrap()).unwrap();
    }
    fs::write(&last, &whole).unwrap();
    let made = make_index(name(&dir), &Options::default(), Some(&index), false).unwrap();
    assert_eq!((made.records, made.fingerprint), (6, expected.fingerprint()));
    let left: Vec<_> = fs::read_dir(indexes.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["x.arrow"], "the notes of the scan are gone");
    // A rebuild reads all of them.
    make_index(name(&dir), &Options::default(), Some(&index), true).unwrap_err();
}

#[test]
fn rule_53_other_tars_in_the_folder_or_in_the_pattern_are_another_dataset() {
    let (dir, indexes) = (tars(2), tempfile::tempdir().unwrap());
    let index = indexes.path().join("x.arrow");
    make_index(name(&dir), &Options::default(), Some(&index), false).unwrap();
    let pattern = format!("{}/*.tar", name(&dir));
    let of_pattern = indexes.path().join("y.arrow");
    make_index(&pattern, &Options::default(), Some(&of_pattern), false).unwrap();
    assert_eq!(open(&pattern, &from(&of_pattern)).unwrap().len(), 4);
    fs::copy(dir.path().join("0.tar"), dir.path().join("9.tar")).unwrap();
    says(&refusal(name(&dir), &from(&index)), &["has changed since the index was made"]);
    says(&refusal(&pattern, &from(&of_pattern)), &["other files"]);
}

#[test]
fn rule_53_paths_that_are_no_utf_8_and_files_that_are_not_there_are_kept() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = folder(&[("a.jpg", "")]);
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"\xff.jpg")), "odd").unwrap();
    fs::write(dir.path().join("list.txt"), b"a.jpg\n\xff.jpg\nnone.jpg\n").unwrap();
    let list = dir.path().join("list.txt").to_str().unwrap().to_owned();
    let index = dir.path().join("x.arrow");
    make_index(&list, &Options::default(), Some(&index), false).unwrap();
    let source = open(&list, &from(&index)).unwrap();
    let read = |record| source.read(record, u64::MAX, &mut Vec::new()).map_err(|error| error.kind);
    assert_eq!([read(0), read(1), read(2)], [Ok(()), Ok(()), Err(ReadErrorKind::Missing)]);
    assert_eq!((source.size(1), source.size(2)), (3, 0));
    assert_eq!(source.fingerprint(), open(&list, &Options::default()).unwrap().fingerprint());
}

#[test]
fn rule_53_the_option_root_says_where_files_are_and_is_no_part_of_the_index() {
    let (dir, indexes) = classes();
    let (table, index) = (indexes.path().join("t.csv"), indexes.path().join("x.arrow"));
    fs::write(&table, "path,label\ncat/1.jpg,a\ndog/1.jpg,b\n").unwrap();
    let rooted = |root: &Path| OwnOptions::from_iter([("root", root.to_str().unwrap())]);
    let options = Options { own: rooted(dir.path()), ..Options::default() };
    make_index(table.to_str().unwrap(), &options, Some(&index), false).unwrap();
    let away = indexes.path().join("away");
    fs::rename(dir.path(), &away).unwrap();
    let source = open(table.to_str().unwrap(), &Options { own: rooted(&away), ..from(&index) }).unwrap();
    assert_eq!(contents(&*source)[1], Ok(b"dog/1.jpg".to_vec()));
    says(&refusal(table.to_str().unwrap(), &from(&index)), &["root"]);
    fs::rename(&away, dir.path()).unwrap();
}

#[test]
fn rule_53_an_index_with_any_damage_is_refused_or_gives_records_or_their_errors() {
    let datasets = [classes().0, tars(2)];
    for dir in &datasets {
        let index = tempfile::tempdir().unwrap();
        let path = index.path().join("x.arrow");
        make_index(name(dir), &Options::default(), Some(&path), false).unwrap();
        let bytes = fs::read(&path).unwrap();
        let mut opened = 0;
        each(&bytes, 1500, |damaged| {
            fs::write(&path, damaged).unwrap();
            let Ok(source) = open(name(dir), &from(&path)) else { return };
            opened += 1;
            for record in 0..source.len() {
                let mut content = Vec::new();
                let read = source.read(record, 1 << 20, &mut content);
                assert!(read.is_ok() || content.is_empty());
                let _shown = (source.locator(record).to_string(), source.label(record), source.size(record));
            }
        });
        assert!(opened > 0, "some damage is not seen, and does no harm");
    }
}
