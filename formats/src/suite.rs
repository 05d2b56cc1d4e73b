//! The conformance suite of [`Source`]. It checks the trait's contract on every implementation.
//!
//! To add a source, add one line in [`FIXTURES`]. A source that does not store its records as files, such as an archive
//! or an object store, needs its own [`Fixture`].

mod containers;
mod framed;
mod indexes;
mod joined;
mod pictures;
mod readers;
mod remote;
mod requested;
mod shards;
mod shortened;
mod tables;
mod zips;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use forebay_sources::{Options, ReadErrorKind, Request, Retry, Source};

use crate::unpacked::Compression;
use crate::{Opened, arrow, mxnet, open, parquet, recordio, tfrecord};
use containers::Containers;
use framed::Framed;
use indexes::Indexes;
use joined::Joined;
use pictures::Pictures;
use readers::Readers;
use remote::Remote;
use requested::Requested;
use shards::Shards;
use shortened::Shortened;
use tables::Tables;
use zips::Zips;

/// A dataset that the suite may break and change: it knows how the source keeps its records.
trait Fixture {
    /// The folder with its files, and the name of the dataset in it.
    fn files(&self) -> (PathBuf, String);

    /// These options, with those that its scheme needs.
    fn own(&self, options: &Options) -> Options {
        options.clone()
    }

    /// The dataset's name, and how it is opened with these options.
    fn dataset(&self, options: &Options) -> (String, Options) {
        let (folder, name) = self.files();
        (folder.join(name).to_str().unwrap().to_owned(), self.own(options))
    }

    /// Opens the dataset as it is now.
    fn open(&self, options: &Options) -> Opened {
        let (name, options) = self.dataset(options);
        open(&name, &options)
    }

    /// The contents of its records, in order. There are at least four, with different lengths, the shortest one byte.
    fn contents(&self) -> Vec<Vec<u8>>;

    /// Makes one record unreadable, and no other. Returns the error that its read must give.
    fn spoil(&self, record: u64) -> ReadErrorKind;

    /// Gives one record more bytes.
    fn grow(&self, record: u64);

    /// Changes something about a record that is no part of the dataset, such as its modification time.
    fn touch(&self, record: u64);

    /// Undoes the changes of [`spoil`](Self::spoil) and [`grow`](Self::grow).
    fn mend(&self);
}

/// Builds a fixture.
type Build = fn() -> Box<dyn Fixture>;

const FIXTURES: &[(&str, Build)] = &[
    ("folder", || Pictures::folder(["a/1.jpg", "a/2.png", "b/3.jpg", "b/4.JPG"])),
    ("coco", || {
        let order = ["images/x/1.jpg", "images/x/3.jpg", "images/x/2.jpg", "images/x/4.jpg"];
        Pictures::described(order, "annotations/instances_x.json", &[("annotations/instances_x.json", COCO)])
    }),
    ("voc", || {
        let order = ["JPEGImages/1.jpg", "JPEGImages/2.PNG", "JPEGImages/3.jpg", "JPEGImages/4.jpeg"];
        let xmls = ["1", "2", "3", "4"].map(|name| format!("Annotations/{name}.xml"));
        let objects = ["owl", "cat", "", "owl"].map(voc);
        let described: Vec<(&str, &str)> = xmls.iter().zip(&objects).map(|(xml, text)| (&**xml, &**text)).collect();
        Pictures::described(order, "", &described)
    }),
    ("yolo", || {
        let order = ["images/1.jpg", "images/2.PNG", "images/3.jpg", "images/4.jpeg"];
        let described = [("labels/1.txt", "0 0.5 0.5 0.5 0.5"), ("labels/3.txt", ""), ("data.yaml", "names: [owl]")];
        Pictures::described(order, "", &described)
    }),
    ("csv", || Pictures::list("list.csv", ["b/4.JPG,x", "a/1.jpg,y", "a/2.png,x", "b/3.jpg,x"])),
    ("files", || Pictures::list("list.txt", ["b/3.jpg", "a/1.jpg", "a/2.png", "b/4.JPG"])),
    ("tar samples", Containers::tars_of_samples),
    ("tar files", Containers::tars_of_files),
    ("compressed tar, gzip", || Containers::compressed_tars(Compression::Gzip, "tar.gz")),
    ("compressed tar, zstd", || Containers::compressed_tars(Compression::Zstd, "tzst")),
    ("compressed tar, bzip2", || Containers::compressed_tars(Compression::Bzip2, "tar.bz2")),
    ("compressed tfrecord, gzip", || Containers::compressed_tfrecords(Compression::Gzip, "tfrecord.gz")),
    ("compressed tfrecord, zlib", || Containers::compressed_tfrecords(Compression::Zlib, "tfrecord")),
    ("zip", Zips::boxed),
    ("mds", Shards::boxed),
    ("tfrecord", || Framed::of("train.tfrecord", &[], tfrecord::tests::write_examples, 0)),
    ("tfrecord of pictures", || Framed::of("train.tfrecord", &[("payload", "picture")], tfrecord::tests::write, 0)),
    ("mxnet", || Framed::of("train.rec", &[], mxnet::tests::write_images, 32)),
    ("mxnet of pictures", || Framed::of("train.rec", &[("payload", "picture")], mxnet::tests::write, 8)),
    ("recordio", || Framed::of("train.recordio", &[], recordio::tests::write, 0)),
    ("arrow", || Tables::of("arrow", arrow::tests::write_pictures)),
    ("arrow, compressed", || Tables::of("arrow", arrow::tests::write_compressed)),
    ("parquet", || Tables::of("parquet", parquet::tests::write_pictures)),
    ("folder in a store", || Remote::of(Pictures::folder(["a/1.jpg", "a/2.png", "b/3.jpg", "b/4.JPG"]))),
    ("csv in a store", || Remote::of(Pictures::list("list.csv", ["b/4.JPG,x", "a/1.jpg,y", "a/2.png,x", "b/3.jpg,x"]))),
    ("files in a store", || Remote::of(Pictures::list("list.txt", ["b/3.jpg", "a/1.jpg", "a/2.png", "b/4.JPG"]))),
    ("coco in a store", || {
        let order = ["images/x/1.jpg", "images/x/3.jpg", "images/x/2.jpg", "images/x/4.jpg"];
        let name = "annotations/instances_x.json";
        Remote::of(Pictures::described(order, name, &[(name, COCO)]))
    }),
    ("voc in a store", || {
        let order = ["JPEGImages/1.jpg", "JPEGImages/2.PNG", "JPEGImages/3.jpg", "JPEGImages/4.jpeg"];
        let xml = voc("owl");
        let described = ["1", "2", "3", "4"].map(|name| format!("Annotations/{name}.xml"));
        let described: Vec<(&str, &str)> = described.iter().map(|name| (&**name, &*xml)).collect();
        Remote::of(Pictures::described(order, "", &described))
    }),
    ("yolo in a store", || {
        let order = ["images/1.jpg", "images/2.PNG", "images/3.jpg", "images/4.jpeg"];
        let described = [("labels/1.txt", "0 0.5 0.5 0.5 0.5"), ("labels/3.txt", ""), ("data.yaml", "names: [owl]")];
        Remote::of(Pictures::described(order, "", &described))
    }),
    ("tar samples in a store", || Remote::of(Containers::tars_of_samples())),
    ("tar files in a store", || Remote::of(Containers::tars_of_files())),
    ("zip in a store", || Remote::untagged(Zips::boxed())),
    ("mds in a store", || Remote::of(Shards::boxed())),
    ("tfrecord in a store", || Remote::untagged(Framed::of("train.tfrecord", &[], tfrecord::tests::write_examples, 0))),
    ("mxnet in a store", || Remote::untagged(Framed::of("train.rec", &[], mxnet::tests::write_images, 32))),
    ("recordio in a store", || Remote::untagged(Framed::of("train.recordio", &[], recordio::tests::write, 0))),
    ("arrow in a store", || Remote::of(Tables::of("arrow", arrow::tests::write_pictures))),
    ("parquet in a store", || Remote::of(Tables::of("parquet", parquet::tests::write_pictures))),
    ("python, tasks of two records", || Readers::of_tasks(2)),
    ("python, tasks of one record", || Readers::of_tasks(1)),
    ("several, with classes", || {
        let csv = Pictures::list("list.csv", ["b/4.JPG,x", "a/1.jpg,y", "a/2.png,x", "b/3.jpg,b"]);
        Joined::boxed(Pictures::folder(["a/1.jpg", "a/2.png", "b/3.jpg", "b/4.JPG"]), csv)
    }),
    ("several, with grains", || {
        let recordio = Framed::of("train.recordio", &[], recordio::tests::write, 0);
        Joined::boxed(Pictures::list("list.txt", ["b/3.jpg", "a/1.jpg", "a/2.png", "b/4.JPG"]), recordio)
    }),
    ("several, with a limit", || {
        let recordio = Framed::of("train.recordio", &[], recordio::tests::write, 0);
        Shortened::boxed(Joined::boxed(Pictures::folder(["a/1.jpg", "a/2.png", "b/3.jpg", "b/4.JPG"]), recordio))
    }),
    ("several in stores, with a limit", || {
        let order = ["b/3.jpg", "a/1.jpg", "a/2.png", "b/4.JPG"];
        let files = Remote::of(Pictures::list("list.txt", order));
        Shortened::boxed(Joined::boxed(files, Remote::of(Containers::tars_of_samples())))
    }),
];

/// Four pictures of which the ids are in another order than the names; one has no object.
const COCO: &str = r#"{
    "annotations": [
        {"id": 1, "image_id": 9, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 10.5, "iscrowd": 0},
        {"id": 2, "image_id": 2, "category_id": 3, "bbox": [0, 0, 5, 5], "area": 25, "iscrowd": 1},
        {"id": 3, "image_id": 7, "category_id": 3, "bbox": [0.5, 0, 5, 5], "area": 25, "iscrowd": 0}
    ],
    "images": [
        {"id": 9, "file_name": "4.jpg"}, {"id": 2, "file_name": "1.jpg"},
        {"id": 7, "file_name": "2.jpg"}, {"id": 5, "file_name": "3.jpg"}
    ],
    "categories": [{"id": 7, "name": "owl"}, {"id": 3, "name": "cat"}]
}"#;

/// An annotation of Pascal VOC with an object of this class, if it has a name.
fn voc(class: &str) -> String {
    let corners = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>";
    let object =
        if class.is_empty() { String::new() } else { format!("<object><name>{class}</name>{corners}</object>") };
    format!("<annotation>{object}</annotation>")
}

#[test]
fn every_source_keeps_the_contract() {
    for (name, build) in FIXTURES {
        println!("{name}");
        keeps_the_contract(&*build());
    }
}

#[test]
fn rule_46_a_dataset_in_a_store_is_that_of_the_same_files() {
    let remote = FIXTURES.iter().filter(|(name, _)| name.ends_with(" in a store"));
    for (kind, build) in remote {
        let fixture = build();
        let (folder, name) = fixture.files();
        let of_files = open(folder.join(name).to_str().unwrap(), &Options::default()).unwrap();
        let of_objects = opened(&*fixture);
        assert_eq!(of_objects.fingerprint(), of_files.fingerprint(), "{kind}");
        assert_eq!((of_objects.len(), of_objects.classes()), (of_files.len(), of_files.classes()), "{kind}");
        let locator = of_objects.locator(0).to_string();
        assert!(locator.starts_with("s3://data/"), "{locator}");
    }
}

#[test]
fn rule_53_a_dataset_from_an_index_keeps_the_contract_and_has_the_fingerprint_of_the_scanned_one() {
    let mut indexed = Vec::new();
    // Several sources have an index each, and none together.
    for (name, build) in FIXTURES.iter().filter(|(name, _)| !name.starts_with("several")) {
        let Some(fixture) = Indexes::of(build()) else { continue };
        println!("{name}");
        indexed.push(*name);
        assert_eq!(opened(&fixture).fingerprint(), opened(fixture.scanned()).fingerprint());
        keeps_the_contract(&fixture);
    }
    assert!(["folder", "coco", "csv", "files", "zip"].iter().all(|name| indexed.contains(name)), "{indexed:?}");
    assert!(indexed.iter().filter(|name| name.starts_with("tar") || name.starts_with("mxnet")).count() == 7);
    for name in ["folder", "csv", "files", "coco", "tar files", "zip", "tfrecord", "mxnet"] {
        assert!(indexed.contains(&&*format!("{name} in a store")), "{name}: {indexed:?}");
    }
}

fn keeps_the_contract(fixture: &dyn Fixture) {
    for fixture in [fixture, &Requested(fixture)] {
        records_are_numbered_labelled_and_readable(fixture);
        a_record_that_cannot_be_read_spoils_no_other(fixture);
        a_record_without_room_takes_no_memory(fixture);
    }
    its_columns_can_be_taken(fixture);
    many_threads_may_read_at_once(fixture);
    many_requests_may_be_under_way(fixture);
    limits_hold(fixture);
    rule_2_the_fingerprint_knows_sizes_but_not_times(fixture);
}

fn opened(fixture: &dyn Fixture) -> Box<dyn Source> {
    fixture.open(&Options::default()).unwrap()
}

fn records_are_numbered_labelled_and_readable(fixture: &dyn Fixture) {
    let (source, contents) = (opened(fixture), fixture.contents());
    assert_eq!(source.len(), contents.len() as u64);
    assert!(!source.is_empty());
    for (record, content) in (0..).zip(&contents) {
        let longer = [content.as_slice(), b"left over"].concat();
        for mut buf in [Vec::with_capacity(2 * content.len()), b"?".to_vec(), longer] {
            source.read(record, u64::MAX, &mut buf).unwrap();
            assert_eq!(&buf, content);
            source.read_head(record, 3, &mut buf).unwrap();
            assert!(
                buf.len() >= content.len().min(3) && content.starts_with(&buf),
                "its first bytes are those of its head"
            );
        }
        // What frames a record within a larger file may count too.
        assert!(source.size(record) >= content.len() as u64);
        let label = source.label(record);
        match usize::try_from(label) {
            Ok(place) => assert!(source.classes().is_empty() || place < source.classes().len()),
            Err(_) => assert_eq!(label, -1),
        }
        assert!(!source.shard_name(record).is_empty());
    }
    let shown: HashSet<String> = (0..source.len()).map(|record| source.locator(record).to_string()).collect();
    assert_eq!(shown.len(), contents.len(), "a person can tell the records apart: {shown:?}");
}

fn its_columns_can_be_taken(fixture: &dyn Fixture) {
    let mut source = opened(fixture);
    let (expected, fingerprint) = (source.targets().clone(), source.fingerprint());
    assert_eq!(source.take_targets(), expected);
    assert!(source.targets().schema().is_empty(), "they are kept once");
    assert_eq!(source.fingerprint(), fingerprint);
}

fn many_threads_may_read_at_once(fixture: &dyn Fixture) {
    let (source, contents) = (&*opened(fixture), &fixture.contents());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut buf = Vec::new();
                for (record, content) in (0..).zip(contents).cycle().take(100) {
                    source.read(record, u64::MAX, &mut buf).unwrap();
                    assert_eq!(&buf, content);
                }
            });
        }
    });
}

fn many_requests_may_be_under_way(fixture: &dyn Fixture) {
    let (source, contents) = (opened(fixture), fixture.contents());
    let (sender, answers) = mpsc::channel();
    for number in 0..100 {
        let (record, sender) = (number % source.len(), sender.clone());
        let (buf, locator) = (b"left over".to_vec(), source.locator(record));
        let done = move |buf, read| sender.send((record, buf, read)).unwrap();
        source.request(Request::new(record, u64::MAX, buf, locator, done));
    }
    drop(sender);
    // It ends when every request was answered.
    let answered: Vec<_> = answers.iter().collect();
    assert_eq!(answered.len(), 100);
    for (record, content) in (0..).zip(&contents) {
        let mut of_record = answered.iter().filter(|(answered, ..)| *answered == record);
        assert!(of_record.all(|(_, buf, read)| (buf, read) == (content, &Ok(()))), "record {record}");
    }
}

fn a_record_that_cannot_be_read_spoils_no_other(fixture: &dyn Fixture) {
    let (source, contents) = (opened(fixture), fixture.contents());
    let kind = fixture.spoil(1);
    let mut buf = b"left over".to_vec();
    let error = source.read(1, u64::MAX, &mut buf).unwrap_err();
    assert_eq!((error.kind, &error.locator), (kind, &source.locator(1)), "{error}");
    assert_eq!(error.retry(), Retry::Never, "it is the record's own fault");
    assert!(buf.is_empty());
    source.read(2, u64::MAX, &mut buf).unwrap();
    assert_eq!(buf, contents[2]);
    assert_eq!(source.len(), contents.len() as u64);
    fixture.mend();
    source.read(1, u64::MAX, &mut buf).unwrap();
    assert_eq!(buf, contents[1]);
}

fn a_record_without_room_takes_no_memory(fixture: &dyn Fixture) {
    let source = opened(fixture);
    for (record, content) in (0..).zip(fixture.contents()) {
        let (mut buf, size) = (Vec::new(), content.len() as u64);
        let error = source.read(record, size - 1, &mut buf).unwrap_err();
        let Retry::WithRoom(room) = error.retry() else { panic!("{error}") };
        assert!((size..=source.size(record)).contains(&room), "{error}");
        assert_eq!(buf.capacity(), 0);
        source.read(record, room, &mut buf).unwrap();
    }
}

fn rule_2_the_fingerprint_knows_sizes_but_not_times(fixture: &dyn Fixture) {
    let print = || opened(fixture).fingerprint();
    let first = print();
    fixture.touch(0);
    assert_eq!(print(), first, "another time, the same dataset");
    fixture.grow(0);
    assert_ne!(print(), first, "another size, another dataset");
    fixture.mend();
    assert_eq!(print(), first);
}

fn limits_hold(fixture: &dyn Fixture) {
    let mean = |sizes: Vec<u64>| sizes.iter().sum::<u64>() / sizes.len() as u64;
    let (source, contents) = (opened(fixture), fixture.contents());
    // What a source judges by is a record's size as it is stored, or its content. Some are beyond one of these limits.
    let limits = [
        mean((0..source.len()).map(|record| source.size(record)).collect()),
        mean(contents.iter().map(|content| content.len() as u64).collect()),
    ];
    let (mut within, mut beyond) = (0, 0);
    for limit in limits {
        let source = fixture.open(&Options { byte_limit: limit, ..Options::default() }).unwrap();
        for (record, content) in (0..).zip(&contents) {
            let size = content.len() as u64;
            match source.read(record, u64::MAX, &mut Vec::new()).map_err(|error| error.kind) {
                Ok(()) => {
                    assert!(size <= limit);
                    within += 1;
                }
                Err(ReadErrorKind::TooLarge { size: found, limit: told }) => {
                    let most = source.size(record).max(size);
                    assert!(told == limit && found > limit && (size..=most).contains(&found));
                    beyond += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(within > 0 && beyond > 0);
}
