//! Datasets in a store: how they are named, what is refused, and what an error says.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use forebay_sources::{ObjectRoots, ReadError, ReadErrorKind, Reading, Request, Source};
use tempfile::TempDir;

use super::{at, folder, names_of};
use crate::scene::{contents, says};
use crate::tar::writer::TarWriter;
use crate::tests::loopback::{Changes, Loopback};
use crate::{Opened, Options, SourceError, check, open, tfrecord};

/// A store with these files, each of which holds its own name.
fn store(files: &[&str]) -> (TempDir, Loopback) {
    let dir = folder(files);
    let store = Loopback::of(dir.path(), Changes::Tagged);
    (dir, store)
}

fn opened(store: &Loopback, name: &str) -> Opened {
    open(name, &store.options(&Options::default()))
}

fn refused(opened: Opened, words: &[&str]) {
    says(&opened.unwrap_err().to_string(), words);
}

/// A tar of pictures in class folders, each of so many bytes.
fn tar(pictures: usize, len: usize) -> Vec<u8> {
    let names: Vec<String> = (0..pictures).map(|number| format!("{}/{number}.jpg", number % 2)).collect();
    let content = vec![7; len];
    TarWriter::of(&names.iter().map(|name| (&**name, &*content)).collect::<Vec<_>>())
}

#[test]
fn rule_2_class_folders_in_a_store_are_those_of_a_disk() {
    let files = [
        "cat/2.jpg",
        "cat/1 + %20.jpg",
        "cat-big/deep/er/3.png",
        "dog/9.jpeg",
        "Ant/x.jpg",
        "dog/.hidden.jpg",
        "dog/a.txt",
    ];
    let (dir, store) = store(&files);
    let (remote, local) = (opened(&store, "s3://data/").unwrap(), open(at(&dir), &Options::default()).unwrap());
    assert_eq!(remote.fingerprint(), local.fingerprint());
    assert_eq!((remote.classes(), remote.len()), (local.classes(), 5));
    assert_eq!(contents(&*remote), contents(&*local));
    assert!(matches!(remote.reading(), Reading::Requests { .. }));
    assert_eq!(remote.shard_name(0), "data");
    let below = opened(&store, "s3://data/cat").unwrap();
    assert_eq!(names_of(&*below), ["1 + %20.jpg", "2.jpg"].map(|name| format!("s3://data/cat/{name}")));
    refused(opened(&store, "s3://data/bird"), &["\"s3://data/bird\" does not exist"]);
    check("s3://data/cat", &store.options(&Options::default())).unwrap();
    check("s3://data/bird", &store.options(&Options::default())).unwrap_err();
}

#[test]
fn patterns_name_objects_in_the_order_of_files() {
    let (dir, store) = store(&[]);
    for name in ["shards/a/1.tar", "shards/a-b/1.tar", "shards/2.tar", "shards/10.tar"] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, tar(2, 10)).unwrap();
    }
    for name in ["shards/*.tar", "shards/{2,10}.tar", "shards/a*/1.tar", "shards/a/1.ta?", "shards", "shards/2.tar"] {
        let remote = opened(&store, &format!("tar:s3://data/{name}")).unwrap();
        let local = open(&format!("tar:{}/{name}", at(&dir)), &Options::default()).unwrap();
        let below = |name: String, root: &str| name.strip_prefix(root).unwrap().split(" (").next().unwrap().to_owned();
        let files = |source: &dyn Source, root: &str| -> Vec<String> {
            let container =
                |record| forebay_sources::Locator { part: forebay_sources::Part::Whole, ..source.locator(record) };
            (0..source.len()).map(|record| below(container(record).to_string(), root)).collect()
        };
        assert_eq!(files(&*remote, "s3://data/"), files(&*local, &format!("{}/", at(&dir))), "{name}");
        assert_eq!(remote.len(), local.len(), "{name}");
    }
    assert_eq!(opened(&store, "s3://data/shards/{2,10}.tar").unwrap().len(), 4, "recognised by its first file");
    refused(opened(&store, "tar:s3://data/shards/{2,3}.tar"), &["s3://data/shards/3.tar", "does not exist"]);
    refused(opened(&store, "tar:s3://data/shards/x*.tar"), &["it names no object"]);
}

#[test]
fn a_plain_server_gives_files_by_their_names_and_lists_nothing() {
    let (dir, store) = store(&[]);
    for number in 0..3 {
        fs::write(dir.path().join(format!("{number}.tar")), tar(2, 10)).unwrap();
    }
    let open = |name: &str| open(name, &Options::default());
    assert_eq!(open(&store.web("{0..2}.tar")).unwrap().len(), 6);
    assert_eq!(open(&store.web("1.tar")).unwrap().len(), 2);
    refused(open(&store.web("*.tar")), &["cannot list"]);
    refused(open(&store.web("{0..3}.tar")), &["/data/3.tar", "does not exist"]);
}

#[test]
fn what_is_wrong_is_named_with_its_url_and_version() {
    let (dir, store) = store(&[]);
    let whole = tar(3, 1000);
    fs::write(dir.path().join("cut.tar"), &whole[..2000]).unwrap();
    refused(opened(&store, "tar:s3://data/cut.tar"), &["s3://data/cut.tar (version ", "byte ", "Copy it again"]);
    fs::write(dir.path().join("a.tar"), &whole).unwrap();
    let source = opened(&store, "tar:s3://data/a.tar").unwrap();
    says(&source.locator(1).to_string(), &["s3://data/a.tar (version ", "), member 1/1.jpg"]);
    fs::write(dir.path().join("a.tar"), tar(3, 1001)).unwrap();
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, &error.locator), (ReadErrorKind::Changed, &source.locator(1)));
}

#[test]
fn rule_54_an_outage_is_never_taken_for_an_answer() {
    let (_dir, store) = store(&["a/1.jpg", "b/2.jpg"]);
    let options = store.options(&Options::default());
    store.set_out(true);
    let error = open("s3://data", &options).unwrap_err();
    assert!(matches!(error, SourceError::Outage(_)), "{error}");
    check("folder:s3://data", &options).unwrap();
    store.set_out(false);
    assert_eq!(open("s3://data", &options).unwrap().len(), 2);
}

#[test]
fn no_list_in_a_store_names_what_is_outside() {
    let (dir, store) = store(&["in/a.jpg", "b.jpg"]);
    for path in ["../b.jpg", "/etc/passwd", "x/../../b.jpg"] {
        for (name, text) in
            [("in/list.txt", format!("a.jpg\n{path}\n")), ("in/list.csv", format!("a.jpg,1\n{path},2\n"))]
        {
            fs::write(dir.path().join(name), text).unwrap();
            refused(opened(&store, &format!("s3://data/{name}")), &["line 2", path, "s3://data/in"]);
        }
    }
    fs::write(dir.path().join("in/list.csv"), "in/a.jpg,1\nb.jpg,2\n").unwrap();
    let options = |root: &str| {
        let mut options = store.options(&Options::default());
        options.own.set("root", root);
        options
    };
    let source = open("s3://data/in/list.csv", &options("s3://data")).unwrap();
    assert_eq!(names_of(&*source), ["s3://data/in/a.jpg", "s3://data/b.jpg"]);
    let local = open(dir.path().join("in/list.csv").to_str().unwrap(), &options("s3://data")).unwrap();
    assert_eq!(names_of(&*local), names_of(&*source));
    assert_eq!(contents(&*local), contents(&*source));
}

#[test]
fn rule_54_no_path_in_a_table_leads_a_client_upwards_on_a_plain_server() {
    let (dir, store) = store(&["public/a.jpg", "private.jpg"]);
    let hostile = "a.jpg,1\n..\\private.jpg,1\n%2e%2e/private.jpg,1\n.%2E/private.jpg,1\n..?/private.jpg,1\n";
    fs::write(dir.path().join("public/list.csv"), hostile).unwrap();
    let root = store.web("public");
    for objects in [ObjectRoots::Anywhere, ObjectRoots::Below(vec![root.clone()])] {
        let options = Options { objects, ..Options::default() };
        let source = open(&format!("csv:{root}/list.csv"), &options).unwrap();
        source.read(0, u64::MAX, &mut Vec::new()).unwrap();
        for record in 1..source.len() {
            let error = source.read(record, u64::MAX, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind, ReadErrorKind::Missing, "{}", error.locator);
        }
        refused(open(&format!("csv:{root}\\..\\public/list.csv"), &options), &["backslashes"]);
    }
}

#[test]
fn rule_54_a_folder_where_the_process_was_started_stands_for_no_url() {
    let planted = Path::new("gcs:");
    fs::create_dir(planted).unwrap();
    let dir = tempfile::tempdir_in(planted).unwrap();
    let name = format!("gcs://{}", dir.path().file_name().unwrap().to_str().unwrap());
    let options = Options { objects: ObjectRoots::Below(Vec::new()), ..Options::default() };
    let (whole, schemed) = (check(&name, &options), check(&format!("folder:{name}"), &options));
    drop(dir);
    fs::remove_dir(planted).unwrap();
    for checked in [whole, schemed] {
        says(&checked.unwrap_err().to_string(), &["only URLs that its configuration allows"]);
    }
}

#[test]
fn rule_54_a_tar_that_went_is_an_outage_and_no_fault_of_its_records() {
    let (dir, store) = store(&[]);
    fs::write(dir.path().join("a.tar"), tar(3, 1000)).unwrap();
    let source = opened(&store, "tar:s3://data/a.tar").unwrap();
    source.read(0, u64::MAX, &mut Vec::new()).unwrap();
    fs::remove_file(dir.path().join("a.tar")).unwrap();
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Gone, "{error}");
}

/// What all requests of a dataset give at once.
fn requested(source: &dyn Source) -> Vec<Result<(), ReadErrorKind>> {
    let (sender, answers) = mpsc::channel();
    for record in 0..source.len() {
        let sender = sender.clone();
        let done =
            move |_, read: Result<(), ReadError>| sender.send((record, read.map_err(|error| error.kind))).unwrap();
        source.request(Request::new(record, u64::MAX, Vec::new(), source.locator(record), done));
    }
    drop(sender);
    let mut answered: Vec<_> = answers.iter().collect();
    answered.sort_unstable_by_key(|(record, _)| *record);
    answered.into_iter().map(|(_, read)| read).collect()
}

#[test]
fn rule_54_requests_of_a_dataset_that_is_gone_are_an_outage_and_a_file_that_went_alone_is_a_bad_record() {
    let files = ["a/1.jpg", "a/2.jpg", "a/3.jpg", "b/4.jpg", "b/5.jpg", "b/6.jpg", "b/7.jpg"];
    for count in [1, 2, 7] {
        let (dir, store) = store(&files[..count]);
        let source = opened(&store, "s3://data").unwrap();
        assert_eq!(requested(&*source), vec![Ok(()); count]);
        if count > 1 {
            fs::remove_file(dir.path().join(files[1])).unwrap();
            let mut expected = vec![Ok(()); count];
            expected[1] = Err(ReadErrorKind::Missing);
            assert_eq!(requested(&*source), expected);
        }
        files[..count].iter().for_each(|file| drop(fs::remove_file(dir.path().join(file))));
        // Nothing tells a bucket without its only object from one that is gone.
        let gone = if count == 1 { ReadErrorKind::Missing } else { ReadErrorKind::Gone };
        assert_eq!(requested(&*source), vec![Err(gone); count]);
        let error = source.read(0, u64::MAX, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind, gone, "a read says the same");
    }
    let (_dir, store) = store(&files);
    let source = opened(&store, "s3://data").unwrap();
    requested(&*source);
    store.set_closed(true);
    assert_eq!(requested(&*source), [Err(ReadErrorKind::Gone); 7], "nobody may read any of them any more");
    store.set_closed(false);
    assert_eq!(requested(&*source), [Ok(()); 7]);
}

#[test]
fn checksums_and_decompression_are_not_the_work_of_the_store_s_threads() {
    let (dir, store) = store(&[]);
    fs::write(dir.path().join("a.tfrecord"), tfrecord::tests::write_examples(&[b"one"])).unwrap();
    fs::write(dir.path().join("a.tar"), tar(1, 10)).unwrap();
    for (name, thread) in [("a.tfrecord", "forebay-finish"), ("a.tar", "objects")] {
        let source = opened(&store, &format!("s3://data/{name}")).unwrap();
        let (sender, answers) = mpsc::channel();
        let done = move |_, read: Result<(), ReadError>| {
            sender.send((thread::current().name().map(str::to_owned), read)).unwrap();
        };
        source.request(Request::new(0, u64::MAX, Vec::new(), source.locator(0), done));
        assert_eq!(answers.recv().unwrap(), (Some(thread.to_owned()), Ok(())), "{name}");
    }
}

#[test]
fn rule_54_no_locator_has_the_query_of_a_signed_url() {
    let (dir, store) = store(&["a.jpg"]);
    fs::write(dir.path().join("list.csv"), "a.jpg?sig=hunter2,1\nb.jpg?sig=hunter2,1\n").unwrap();
    let source = open(&format!("csv:{}", store.web("list.csv")), &Options::default()).unwrap();
    source.read(0, u64::MAX, &mut Vec::new()).unwrap();
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    for text in [source.locator(0).to_string(), source.locator(1).to_string(), format!("{error:?}")] {
        assert!(text.contains(".jpg") && !text.contains("hunter"), "{text}");
    }
}

#[test]
fn rule_54_no_error_has_the_query_of_a_signed_url() {
    let (dir, store) = store(&[]);
    let query = "?sig=hunter2";
    let foreign = format!("https://elsewhere/a.jpg{query}");
    for (name, line, words) in [
        ("gone", format!("gone.jpg{query}"), ["None of the 1 files", "/gone.jpg"]),
        ("above", format!("../../x.jpg{query}"), ["../../x.jpg", "leads out of"]),
        ("foreign", foreign.clone(), ["https://elsewhere/a.jpg", "is a URL"]),
    ] {
        fs::write(dir.path().join(format!("{name}.txt")), &line).unwrap();
        fs::write(dir.path().join(format!("{name}.csv")), format!("{line},1\n")).unwrap();
        for list in [
            format!("files:{}", store.web(&format!("{name}.txt"))),
            format!("csv:{}", store.web(&format!("{name}.csv"))),
        ] {
            let error = open(&list, &Options::default()).unwrap_err().to_string();
            says(&error, &words);
            assert!(!error.contains("hunter"), "{error}");
        }
    }
    fs::write(dir.path().join("local.txt"), &foreign).unwrap();
    let local = format!("files:{}", dir.path().join("local.txt").display());
    let mut signed_root = Options::default();
    signed_root.own.set("root", format!("https://elsewhere/data{query}"));
    for options in [Options::default(), signed_root] {
        let error = open(&local, &options).unwrap_err().to_string();
        assert!(error.contains("https://elsewhere/") && !error.contains("hunter"), "{error}");
    }
}

#[test]
fn a_text_has_a_limit_and_a_sparse_file_is_no_text() {
    let dir = folder(&[]);
    let path = dir.path().join("a.txt");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = crate::address::Address::file(&path).text(1 << 20).unwrap_err().to_string();
    says(&error, &["a.txt", "more than 1048576 bytes"]);
    fs::write(&path, "abc").unwrap();
    assert_eq!(crate::address::Address::file(&path).text(3).unwrap(), b"abc");
}

#[test]
fn rule_54_a_daemon_that_serves_others_reads_only_what_it_is_allowed_to() {
    let (_dir, store) = store(&["in/1.jpg", "out/1.jpg"]);
    let limited = |roots: &[&str]| Options {
        objects: ObjectRoots::Below(roots.iter().map(|root| (*root).to_owned()).collect()),
        ..Options::default()
    };
    refused(open("s3://data/in", &limited(&[])), &["s3://data/in", "[sources]", "objects"]);
    refused(
        open("tar:s3://data/out/{0..1}.tar", &limited(&["s3://data/in"])),
        &["only URLs that its configuration allows"],
    );
    refused(open("s3://data/in/../out", &limited(&["s3://data/in"])), &["only URLs that its configuration allows"]);
    let options = store.options(&limited(&["s3://data/in"]));
    refused(open("s3://data/in", &options), &["endpoint", "AWS_ENDPOINT_URL"]);
    let web = store.web("in");
    let above = store.web("");
    refused(open(&format!("{above}out/1.jpg"), &limited(&[&web])), &["only URLs that its configuration allows"]);
    refused(open("python:s3://data/reader.py", &Options::default()), &["custom reader"]);
    refused(open("folder:/data?endpoint=http://x", &Options::default()), &["endpoint"]);
}

#[test]
fn a_scan_of_small_members_costs_few_requests_and_many_tars_are_read_at_once() {
    let (dir, store) = store(&[]);
    fs::write(dir.path().join("a.tar"), tar(300, 100_000)).unwrap();
    let source = opened(&store, "tar:s3://data/a.tar").unwrap();
    assert_eq!(source.len(), 300);
    assert!(store.requests() < 20, "{} requests for 300 members", store.requests());
}

#[test]
fn the_examples_of_the_page_open() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/sources.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Object stores\n")).unwrap();
    let examples = section.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let (dir, store) = store(&["flowers/rose/1.jpg", "flowers/lily/2.jpg", "val/1.jpg"]);
    fs::create_dir_all(dir.path().join("shards")).unwrap();
    fs::create_dir_all(dir.path().join("annotations")).unwrap();
    for number in ["000", "001"] {
        fs::write(dir.path().join(format!("shards/train-{number}.tar")), tar(2, 10)).unwrap();
    }
    fs::write(dir.path().join("flowers.csv"), "flowers/rose/1.jpg,rose\nflowers/lily/2.jpg,lily\n").unwrap();
    let coco = r#"{"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [], "categories": []}"#;
    fs::write(dir.path().join("annotations/instances_val.json"), coco).unwrap();
    let mut opened_of = 0;
    for example in examples.lines() {
        let source = opened(&store, &example.replace("s3://bucket/", "s3://data/"));
        let source = source.unwrap_or_else(|error| panic!("{example}: {error}"));
        source.read(0, u64::MAX, &mut Vec::new()).unwrap();
        opened_of += 1;
    }
    assert!(opened_of >= 5);
    for option in &crate::stores::OPTIONS {
        assert!(section.contains(&format!("| `{}` |", option.name)), "{}", option.name);
    }
}

/// Genuine files, if the folder with them is named.
#[test]
fn rule_46_genuine_files_in_a_store_are_the_same_dataset() {
    let Some(data) = std::env::var_os("FOREBAY_TEST_DATA") else {
        println!("skipped: FOREBAY_TEST_DATA names no folder");
        return;
    };
    let data = Path::new(&data);
    let store = Loopback::of(data, Changes::Tagged);
    let mut compared = 0;
    for entry in fs::read_dir(data).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().into_string().unwrap();
        let Ok(local) = open(entry.path().to_str().unwrap(), &Options::default()) else { continue };
        let remote = opened(&store, &format!("s3://data/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((remote.len(), remote.fingerprint()), (local.len(), local.fingerprint()), "{name}");
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for record in [0, local.len() / 2, local.len() - 1] {
            let read = local.read(record, u64::MAX, &mut here).map_err(|error| error.kind);
            assert_eq!(remote.read(record, u64::MAX, &mut there).map_err(|error| error.kind), read, "{name}: {record}");
            assert_eq!(there, here, "{name}: {record}");
        }
        compared += 1;
    }
    println!("compared {compared} datasets");
}
