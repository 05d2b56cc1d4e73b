//! Tests of when an index fits, of what hostile ones do, and of scans that go on.

mod stores;

use std::fs::{self, File};
use std::time::SystemTime;

use forebay_sources::{Labels, OwnOptions, ReadErrorKind, Retry};
use tempfile::TempDir;

use super::*;
use crate::index_blocks::IndexBlocks;
use crate::mutations::each;
use crate::scene::{contents, folder, labels, says};
use crate::tar::writer::TarWriter;
use crate::zip::tests::writer::ZipWriter;
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
    let remade = make_index(name(&dir), &options, None, false).unwrap();
    assert!(remade.is_new && remade.records == 3 && remade.fingerprint != made.fingerprint);
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

/// A record's locator, label, size and content.
type RecordContent = (String, i64, u64, Result<Vec<u8>, ReadErrorKind>);

/// What the dataset says of each record, unless it is known by now that this may be wrong.
fn said(source: &dyn Source) -> Option<Vec<RecordContent>> {
    let of = |record| {
        let mut content = Vec::new();
        let read = source.read(record, 1 << 20, &mut content);
        assert!(read.is_ok() || content.is_empty());
        let read = read.map(|()| content).map_err(|error| error.kind);
        (source.locator(record).to_string(), source.label(record), source.size(record), read)
    };
    let records = (0..source.len()).map(of).collect::<Vec<_>>();
    let failure = source.failure();
    if let Some(failure) = &failure {
        says(failure, &["x.arrow", "forebay index SOURCE --rebuild"]);
        let mut content = vec![1];
        let refused = source.read(0, 1 << 20, &mut content).unwrap_err();
        assert_eq!((refused.kind, refused.retry(), content.len()), (ReadErrorKind::Index, Retry::Never, 0));
    }
    failure.is_none().then_some(records)
}

fn reseal(path: &Path) -> io::Result<()> {
    crate::seal_index(&File::options().read(true).write(true).open(path).unwrap())
}

/// Datasets of files and of ranges, with the classes of the folders.
fn kinds() -> Vec<(String, TempDir)> {
    let zips = tempfile::tempdir().unwrap();
    let mut zip = ZipWriter::default();
    zip.deflated("cat/1.jpg", b"first").stored("dog/2.jpg", b"second");
    fs::write(zips.path().join("0.zip"), zip.end()).unwrap();
    let kinds = [(classes().0, ""), (tars(2), ""), (zips, "/0.zip")].into_iter();
    kinds.map(|(dir, file)| (format!("{}{file}", name(&dir)), dir)).collect()
}

#[test]
fn rule_53_an_index_with_any_bit_flipped_or_cut_anywhere_is_refused_or_says_the_very_same_of_each_record() {
    for (dataset, _dir) in kinds() {
        let indexes = tempfile::tempdir().unwrap();
        let path = indexes.path().join("x.arrow");
        make_index(&dataset, &Options::default(), Some(&path), false).unwrap();
        let open = || open(&dataset, &from(&path));
        let good = fs::read(&path).unwrap();
        let kept = open().unwrap();
        let expected = said(&*kept).unwrap();
        let mut found_late = 0;
        for at in 0..good.len() {
            let mut flipped = good.clone();
            flipped[at] ^= 1 << (at % 8);
            for damaged in [&flipped[..], &good[..at]] {
                // A new opening, with nothing in memory.
                fs::write(&path, damaged).unwrap();
                IndexBlocks::forget_all();
                let opened = open().ok().and_then(|source| said(&*source));
                assert!(opened.is_none_or(|records| records == expected), "byte {at}");
            }
            if at % 7 == 0 {
                // In place, while the dataset is open: blocks are in memory, or are read again.
                fs::write(&path, &good).unwrap();
                let source = open().unwrap();
                fs::write(&path, if at % 2 == 0 { &flipped[..] } else { &good[..at] }).unwrap();
                let records = said(&*source);
                assert!(records.is_none_or(|records| records == expected), "byte {at}");
                IndexBlocks::forget_all();
                let records = said(&*source);
                found_late += usize::from(records.is_none());
                assert!(records.is_none_or(|records| records == expected), "byte {at}");
            }
        }
        assert!(found_late > good.len() / 14, "{found_late} of {} were found while it was open", good.len());
    }
}

#[test]
fn rule_53_an_index_that_is_wrong_with_right_checksums_gives_records_or_errors() {
    for (dataset, _dir) in kinds() {
        let indexes = tempfile::tempdir().unwrap();
        let path = indexes.path().join("x.arrow");
        make_index(&dataset, &Options::default(), Some(&path), false).unwrap();
        let bytes = fs::read(&path).unwrap();
        let (mut opened, mut failed) = (0, 0);
        each(&bytes, 1500, |damaged| {
            fs::write(&path, damaged).unwrap();
            if reseal(&path).is_err() {
                return;
            }
            let Ok(source) = open(&dataset, &from(&path)) else { return };
            opened += 1;
            failed += usize::from(said(&*source).is_none());
        });
        assert!(opened > 0 && failed > 0, "{opened} were opened, and {failed} failed");
    }
}

#[test]
fn rule_53_an_index_of_an_earlier_version_is_made_again() {
    let (dir, indexes) = classes();
    let options = Options { index: IndexChoice::Folder(indexes.path().to_owned()), ..Options::default() };
    let made = make_index(name(&dir), &options, None, false).unwrap();
    let bytes = fs::read(&made.path).unwrap();
    // Such an index has the footer behind the columns.
    let place = bytes.windows(8).position(|bytes| bytes == b"FBSUMS1\0").unwrap();
    let columns = usize::try_from(u64::from_le_bytes(bytes[place - 24..place - 16].try_into().unwrap())).unwrap();
    let earlier = [&bytes[..columns], &bytes[place + 8..]].concat();
    fs::write(&made.path, &earlier).unwrap();
    says(&refusal(name(&dir), &from(&made.path)), &["earlier version", "forebay index SOURCE --output FILE"]);
    assert_eq!(open(name(&dir), &options).unwrap().fingerprint(), made.fingerprint);
    assert_eq!(fs::read(&made.path).unwrap(), bytes, "it was made again by that");
    fs::write(&made.path, &earlier).unwrap();
    assert!(make_index(name(&dir), &options, None, false).unwrap().is_new);
    assert!(!make_index(name(&dir), &options, None, false).unwrap().is_new);
}

#[test]
fn rule_53_a_dataset_of_several_fails_with_the_index_of_one() {
    let (one, other, indexes) = (classes().0, classes().0, tempfile::tempdir().unwrap());
    let options = Options { index: IndexChoice::Folder(indexes.path().to_owned()), ..Options::default() };
    let names = [name(&one).to_owned(), name(&other).to_owned()];
    let made = names.each_ref().map(|dataset| make_index(dataset, &options, None, false).unwrap().path);
    let limited = Options { own: OwnOptions::from_iter([("limit", "7")]), ..options };
    let source = crate::open_all(&names, &limited).unwrap();
    assert_eq!((source.label(4), source.failure()), (0, None));
    File::options().write(true).open(&made[1]).unwrap().set_len(100).unwrap();
    IndexBlocks::forget_all();
    assert_eq!((source.label(0), source.failure()), (0, None));
    let _wrong = source.label(6);
    says(&source.failure().unwrap(), &[made[1].to_str().unwrap()]);
}
