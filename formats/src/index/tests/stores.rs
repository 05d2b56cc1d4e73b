//! Tests of indexes of datasets in stores: what they pin, what opening from one costs, and when one does not fit.

use std::fs;

use forebay_sources::{OwnOptions, Reading};

use super::*;
use crate::scene::names;
use crate::tests::loopback::{Changes, Loopback};

/// A store with class folders of two pictures each, and a folder for indexes.
fn pictures(classes: usize) -> (TempDir, Loopback, TempDir) {
    let names: Vec<String> = (0..2 * classes).map(|number| format!("train/{}/{number}.jpg", number / 2)).collect();
    let dir = folder(&names.iter().map(|name| (&**name, "")).collect::<Vec<_>>());
    let store = Loopback::of(dir.path(), Changes::Tagged);
    (dir, store, tempfile::tempdir().unwrap())
}

/// How the store's datasets are opened from this index.
fn with(store: &Loopback, index: &Path) -> Options {
    Options { index: IndexChoice::File(index.to_owned()), ..store.options(&Options::default()) }
}

/// What a request of a record gives.
fn requested(source: &dyn Source, record: u64) -> Result<Vec<u8>, forebay_sources::ReadError> {
    let (sender, answers) = std::sync::mpsc::channel();
    let done = move |buf, read: Result<(), _>| sender.send(read.map(|()| buf)).unwrap();
    source.request(forebay_sources::Request::new(record, u64::MAX, Vec::new(), source.locator(record), done));
    answers.recv().unwrap()
}

#[test]
fn rule_54_an_index_of_a_folder_pins_the_version_of_each_object_and_opening_costs_one_list() {
    let (dir, store, indexes) = pictures(40);
    let index = indexes.path().join("x.arrow");
    let made = make_index("s3://data/train", &store.options(&Options::default()), Some(&index), false).unwrap();
    let before = store.requests();
    let source = open("folder:s3://data/train", &with(&store, &index)).unwrap();
    let listed = store.requests() - before;
    assert!(listed < 60, "{listed} requests for 80 objects: no look at each of them");
    let expected = open(dir.path().join("train").to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!((source.len(), source.fingerprint()), (80, expected.fingerprint()));
    assert_eq!((made.fingerprint, labels(&*source)), (source.fingerprint(), labels(&*expected)));
    assert!(matches!(source.reading(), Reading::Requests { .. }));
    let before = store.requests();
    let locators: Vec<String> = (0..80).map(|record| source.locator(record).to_string()).collect();
    assert!(locators.iter().all(|locator| locator.contains("(version ")), "{}", locators[0]);
    assert_eq!(store.requests(), before, "the index has all versions");
    assert_eq!((requested(&*source, 3).unwrap(), names(&*source).len()), (b"train/1/3.jpg".to_vec(), 80));

    // Before and behind the opening: an object that changed is a bad record that says so.
    fs::write(dir.path().join("train/0/0.jpg"), "TRAIN/0/0.JPG").unwrap();
    let again = open("folder:s3://data/train", &with(&store, &index)).unwrap();
    for (source, way) in [(&source, "opened before"), (&again, "opened behind")] {
        for error in [source.read(0, u64::MAX, &mut Vec::new()).unwrap_err(), requested(&**source, 0).unwrap_err()] {
            assert_eq!((error.kind, &error.locator), (ReadErrorKind::Changed, &source.locator(0)), "{way}");
            says(&error.to_string(), &["its version is not what the index has", "forebay index SOURCE --rebuild"]);
        }
        assert_eq!(requested(&**source, 1).unwrap(), b"train/0/1.jpg");
    }
    fs::remove_file(dir.path().join("train/0/1.jpg")).unwrap();
    let error = again.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Missing, Retry::Never));
}

#[test]
fn rule_53_objects_that_were_added_or_removed_are_another_dataset_and_hidden_ones_are_not() {
    let (dir, store, indexes) = pictures(2);
    let folder = IndexChoice::Folder(indexes.path().join("made"));
    let options = Options { index: folder, ..store.options(&Options::default()) };
    let made = make_index("s3://data/train", &options, None, false).unwrap();
    assert!(!make_index("s3://data/train", &options, None, false).unwrap().is_new, "it fits");
    fs::write(dir.path().join("train/.progress"), "1").unwrap();
    assert!(!make_index("s3://data/train", &options, None, false).unwrap().is_new, "nobody reads what is hidden");
    fs::write(dir.path().join("train/1/9.jpg"), "new").unwrap();
    says(&refusal("s3://data/train", &with(&store, &made.path)), &["s3://data/train", "has changed", "--output FILE"]);
    assert_eq!(open("s3://data/train", &options).unwrap().len(), 5, "it is scanned");
    let remade = make_index("s3://data/train", &options, None, false).unwrap();
    assert!(remade.is_new && remade.records == 5 && remade.path == made.path);
}

#[test]
fn rule_53_a_table_in_a_store_costs_one_request_and_its_files_none_until_they_are_read() {
    let (dir, store, indexes) = pictures(30);
    let lines: String = (0..60)
        .rev()
        .fold(String::new(), |text, number| format!("{text}../train/{}/{number}.jpg,{number}\n", number / 2));
    fs::create_dir(dir.path().join("tables")).unwrap();
    let table = dir.path().join("tables/t.csv");
    let index = indexes.path().join("x.arrow");
    for (text, root) in
        [(lines.replace("../", "s3://data/"), Some("s3://data")), (lines.replace("../", ""), Some(".."))]
    {
        fs::write(&table, &text).unwrap();
        let own = root.map(|root| ("root", root)).into_iter().collect::<OwnOptions>();
        let options = store.options(&Options { own, ..Options::default() });
        make_index("s3://data/tables/t.csv", &options, Some(&index), true).unwrap();
        let before = store.requests();
        let from_index = Options { index: IndexChoice::File(index.clone()), ..options };
        let source = open("csv:s3://data/tables/t.csv", &from_index).unwrap();
        assert_eq!((store.requests() - before, source.len(), source.label(0)), (1, 60, 59));
        assert_eq!(requested(&*source, 1).unwrap(), b"train/29/58.jpg");
        fs::write(&table, format!("{text}train/0/0.jpg,7\n")).unwrap();
        says(&refusal("csv:s3://data/tables/t.csv", &from_index), &["t.csv", "has changed since the index was made"]);
    }
    // A table of this machine, whose files are in the store.
    let local = indexes.path().join("t.csv");
    fs::write(&local, lines.replace("../", "")).unwrap();
    let own = OwnOptions::from_iter([("root", "s3://data")]);
    let options = store.options(&Options { own, ..Options::default() });
    make_index(local.to_str().unwrap(), &options, Some(&index), true).unwrap();
    let before = store.requests();
    let source = open(local.to_str().unwrap(), &Options { index: IndexChoice::File(index), ..options }).unwrap();
    assert_eq!((store.requests(), source.len()), (before, 60));
    assert_eq!(requested(&*source, 59).unwrap(), b"train/0/0.jpg");
}

/// A store with tars of two pictures each.
fn tars_in_store(count: usize) -> (TempDir, Loopback, TempDir) {
    let dir = tars(count);
    let store = Loopback::of(dir.path(), Changes::Tagged);
    (dir, store, tempfile::tempdir().unwrap())
}

#[test]
fn rule_54_an_index_of_tars_fits_as_long_as_their_versions_do_and_reads_no_header() {
    let (dir, store, indexes) = tars_in_store(40);
    let index = indexes.path().join("x.arrow");
    let web = store.web("{0..39}.tar");
    for name in ["tar:s3://data", "tar:s3://data/{0..39}.tar", "tar:s3://data/*.tar", &format!("tar:{web}")] {
        let plain = if name.contains("http") { Options::default() } else { store.options(&Options::default()) };
        make_index(name, &plain, Some(&index), true).unwrap();
        let before = store.requests();
        let from_index = Options { index: IndexChoice::File(index.clone()), ..plain.clone() };
        let source = open(name, &from_index).unwrap();
        let asked = store.requests() - before;
        // Pages of a list have three keys here, and a server of files is asked for each tar.
        assert!(asked <= 40 + 2, "{name}: {asked} requests");
        let expected = open(name, &plain).unwrap();
        assert_eq!((source.len(), source.fingerprint()), (80, expected.fingerprint()), "{name}");
        let content = requested(&*source, 3).unwrap();
        assert_eq!(content, requested(&*expected, 3).unwrap());
        let tar = dir.path().join("3.tar");
        let bytes = fs::read(&tar).unwrap();
        let mut other = bytes.clone();
        other[600] ^= 1;
        fs::write(&tar, other).unwrap();
        says(&refusal(name, &from_index), &["3.tar", "has changed since the index was made"]);
        fs::write(&tar, bytes).unwrap();
        assert_eq!(open(name, &from_index).unwrap().len(), 80);
    }
    fs::copy(dir.path().join("0.tar"), dir.path().join("40.tar")).unwrap();
    let options = store.options(&Options::default());
    for name in ["tar:s3://data", "tar:s3://data/*.tar"] {
        make_index(name, &options, Some(&index), true).unwrap();
        let copy = dir.path().join("41.tar");
        fs::copy(dir.path().join("0.tar"), &copy).unwrap();
        let said = refusal(name, &with(&store, &index));
        assert!(said.contains("has changed since the index was made") || said.contains("other files"), "{said}");
        fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn rule_54_an_outage_says_nothing_about_an_index() {
    let (_dir, store, indexes) = pictures(2);
    let options =
        Options { index: IndexChoice::Folder(indexes.path().to_owned()), ..store.options(&Options::default()) };
    let made = make_index("s3://data/train", &options, None, false).unwrap();
    store.set_out(true);
    for choice in [options.index.clone(), IndexChoice::File(made.path.clone())] {
        let error = open("folder:s3://data/train", &Options { index: choice, ..options.clone() }).unwrap_err();
        assert!(matches!(error, SourceError::Outage(_)), "{error}");
    }
    let error = make_index("folder:s3://data/train", &options, None, false).unwrap_err();
    assert!(matches!(error, SourceError::Outage(_)), "{error}");
    store.set_out(false);
    assert!(!make_index("s3://data/train", &options, None, false).unwrap().is_new);
}

#[test]
fn rule_53_a_scan_in_a_store_that_was_killed_continues_where_it_was() {
    let (dir, store, indexes) = tars_in_store(30);
    let options = store.options(&Options::default());
    let at = |name: &str| indexes.path().join(name);
    let before = store.requests();
    let whole = make_index("tar:s3://data", &options, Some(&at("x.arrow")), false).unwrap();
    let all = store.requests() - before;
    let last = dir.path().join("9.tar");
    let bytes = fs::read(&last).unwrap();
    fs::write(&last, &bytes[..700]).unwrap();
    make_index("tar:s3://data", &options, Some(&at("y.arrow")), false).unwrap_err();
    fs::write(&last, &bytes).unwrap();
    let before = store.requests();
    let made = make_index("tar:s3://data", &options, Some(&at("y.arrow")), false).unwrap();
    let rest = store.requests() - before;
    assert_eq!(made.fingerprint, whole.fingerprint);
    assert!(rest + 10 < all, "{rest} requests, and {all} for all of it");
}

#[test]
fn rule_53_buckets_of_two_servers_with_one_name_have_different_indexes() {
    let ((_one, first, indexes), (_other, second, _)) = (pictures(1), pictures(1));
    let made = |store: &Loopback| {
        let index = IndexChoice::Folder(indexes.path().to_owned());
        make_index("s3://data/train", &Options { index, ..store.options(&Options::default()) }, None, false).unwrap()
    };
    assert_ne!(made(&first).path, made(&second).path);
    assert!(!made(&first).is_new);
}

#[test]
fn rule_54_an_index_keeps_no_query_of_a_signed_url() {
    let (dir, store, indexes) = pictures(1);
    fs::write(dir.path().join("list.csv"), "train/0/0.jpg?sig=hunter2,1\n").unwrap();
    let index = indexes.path().join("x.arrow");
    let name = format!("csv:{}", store.web("list.csv"));
    let refused = make_index(&name, &Options::default(), Some(&index), false).unwrap_err().to_string();
    says(&refused, &["query", "must not be kept"]);
    assert!(!index.exists() && !refused.contains("hunter"), "{refused}");
}
