//! Tests of `RecordIO`: three dialects, their codecs, and what is damaged; and a writer of them.

mod masks;

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use forebay_sources::{Labels, OwnOptions};
use tempfile::TempDir;

use super::chunk::ChunkCodec;
use super::spoiled::SpoiledChunks;
use super::*;
use crate::example::tests::{Values, example};
use crate::tfrecord::tests::spoiled::Dice;

/// Records in the dialect of Go, each in a chunk of its own.
pub(crate) fn write(records: &[&[u8]]) -> Vec<u8> {
    records.iter().flat_map(|record| chunk(Dialect::Go, ChunkCodec::None, &[record])).collect()
}

/// Records in the dialect of Go, several in each chunk.
pub(crate) fn write_chunks(chunks: &[&[&[u8]]]) -> Vec<u8> {
    chunks.iter().flat_map(|records| chunk(Dialect::Go, ChunkCodec::None, records)).collect()
}

fn payload(records: &[&[u8]]) -> Vec<u8> {
    let one = |record: &&[u8]| [&u32::try_from(record.len()).unwrap().to_le_bytes()[..], record].concat();
    records.iter().flat_map(one).collect()
}

fn compressed(codec: ChunkCodec, bytes: &[u8]) -> Vec<u8> {
    let block = |bytes: &[u8]| snap::raw::Encoder::new().compress_vec(bytes).unwrap();
    match codec {
        ChunkCodec::None => bytes.to_vec(),
        ChunkCodec::SnappyBlock => block(bytes),
        ChunkCodec::SnappyFrames => {
            let mut encoder = snap::write::FrameEncoder::new(Vec::new());
            encoder.write_all(bytes).unwrap();
            encoder.into_inner().unwrap()
        }
        ChunkCodec::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        ChunkCodec::SnappyStream => {
            let mut stream = b"snappy\0".to_vec();
            for (number, part) in bytes.chunks(32_768).enumerate() {
                let stored = number % 2 == 1;
                let data = if stored { part.to_vec() } else { block(part) };
                stream.push(u8::from(!stored));
                stream.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
                stream.extend([9; 4]);
                stream.extend(data);
            }
            stream
        }
    }
}

/// A chunk with this payload, which need not be one.
fn framed(dialect: Dialect, codec: ChunkCodec, records: u32, payload: &[u8]) -> Vec<u8> {
    let number = match codec {
        ChunkCodec::None => 0,
        ChunkCodec::SnappyFrames | ChunkCodec::SnappyBlock | ChunkCodec::SnappyStream => 1,
        ChunkCodec::Gzip => 2,
    };
    let size = u32::try_from(payload.len()).unwrap();
    let words = match dialect {
        Dialect::Go => [crc32fast::hash(payload), number, size, records],
        Dialect::Paddle => [records, crc32fast::hash(payload), number, size],
        Dialect::Python => [records, crc32c::crc32c(payload), number + 1, size],
    };
    [&[4, 3, 2, 1], &words.map(u32::to_le_bytes).concat()[..], payload].concat()
}

fn chunk(dialect: Dialect, codec: ChunkCodec, records: &[&[u8]]) -> Vec<u8> {
    framed(dialect, codec, u32::try_from(records.len()).unwrap(), &compressed(codec, &payload(records)))
}

struct Folder {
    dir: TempDir,
}

impl Folder {
    fn new(bytes: &[u8]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.recordio"), bytes).unwrap();
        Self { dir }
    }

    fn open(&self, options: &Options) -> Result<RecordIo, SourceError> {
        open(&Address::file(self.dir.path().join("x.recordio")), options)
    }

    fn refused(&self, options: &Options, words: &[&str]) {
        let message = self.open(options).unwrap_err().to_string();
        for word in words {
            assert!(message.contains(word), "{word:?} is not in: {message}");
        }
    }
}

fn own(key: &str, value: &str) -> Options {
    Options { own: [(key, value)].into_iter().collect::<OwnOptions>(), ..Options::default() }
}

fn read(source: &dyn Source, record: u64) -> Result<Vec<u8>, ReadError> {
    let mut buf = Vec::new();
    source.read(record, u64::MAX, &mut buf).map(|()| buf)
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|record| source.label(record)).collect()
}

/// A record's damage.
fn damage(source: &dyn Source, record: u64) -> String {
    let error = read(source, record).unwrap_err();
    assert_eq!((error.kind, &error.locator), (ReadErrorKind::Damaged, &source.locator(record)), "{error}");
    error.to_string()
}

const ALL: [(Dialect, ChunkCodec); 8] = [
    (Dialect::Go, ChunkCodec::None),
    (Dialect::Go, ChunkCodec::SnappyFrames),
    (Dialect::Go, ChunkCodec::Gzip),
    (Dialect::Python, ChunkCodec::None),
    (Dialect::Python, ChunkCodec::SnappyBlock),
    (Dialect::Python, ChunkCodec::Gzip),
    (Dialect::Paddle, ChunkCodec::None),
    (Dialect::Paddle, ChunkCodec::SnappyStream),
];

#[test]
fn every_dialect_and_codec_gives_its_records_and_grains() {
    let long: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
    for (dialect, codec) in ALL {
        let empty = framed(dialect, codec, 0, &[]);
        let file = [chunk(dialect, codec, &[b"one", &long]), empty, chunk(dialect, codec, &[b"", b"two", b"three"])];
        let folder = Folder::new(&file.concat());
        assert!((SCHEME.recognises)(&Address::file(folder.dir.path())), "{dialect:?} {codec:?}");
        let source = folder.open(&Options::default()).unwrap();
        assert_eq!((source.len(), source.grains()), (5, Grains::Starts(&[0, 2])), "{dialect:?} {codec:?}");
        for (record, content) in [(0, &b"one"[..]), (1, &long), (3, b"two"), (4, b"three"), (0, b"one")] {
            assert_eq!(read(&source, record).unwrap(), content, "{dialect:?} {codec:?} {record}");
        }
        assert_eq!(read(&source, 2).unwrap_err().kind, ReadErrorKind::Empty);
        let error = source.read(1, 10, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::Larger { size: 400_000 });
        assert!(source.locator(4).to_string().contains("record 2 of the chunk at byte "));
        assert_eq!(labels(&source), [-1; 5]);
    }
}

#[test]
fn a_wrong_checksum_damages_the_records_of_its_chunk_and_no_others() {
    for (dialect, codec) in ALL {
        let chunks = [chunk(dialect, codec, &[b"first", b"second"]), chunk(dialect, codec, &[b"third", b"fourth"])];
        for (wrong, bad, good) in [(0, [0, 1], [2, 3]), (1, [2, 3], [0, 1])] {
            let mut chunks = chunks.clone();
            *chunks[wrong].last_mut().unwrap() ^= 1;
            let source = Folder::new(&chunks.concat());
            let opened = source.open(&Options::default()).unwrap();
            for record in bad {
                assert!(damage(&opened, record).contains("checksum of its chunk"), "{dialect:?} {codec:?}");
            }
            for record in good {
                read(&opened, record).unwrap();
            }
        }
    }
}

#[test]
fn cut_files_and_wrong_headers_are_errors_of_opening_with_their_place() {
    for (dialect, codec) in ALL {
        let first = chunk(dialect, codec, &[b"first", b"second"]);
        let file = [first.clone(), chunk(dialect, codec, &[b"third", b"fourth"])].concat();
        let at = format!("x.recordio, byte {}", first.len());
        for end in [file.len() - 1, first.len() + 20, first.len() + 10, first.len() + 1] {
            let truncate = format!("truncate -s {}", first.len());
            Folder::new(&file[..end]).refused(&Options::default(), &[&at, "ends inside a chunk", &truncate]);
        }
        Folder::new(&file[..first.len() - 1]).refused(&Options::default(), &["byte 0", "ends inside its first chunk"]);
        let mut wrong = file.clone();
        wrong[first.len()] ^= 1;
        Folder::new(&wrong).refused(&Options::default(), &[&at, "no chunk begins here"]);
        let trailing = [&file[..], &[0; 24]].concat();
        Folder::new(&trailing).refused(&Options::default(), &[&format!("byte {}", file.len()), "no chunk begins here"]);
    }
    let mut damaged = chunk(Dialect::Python, ChunkCodec::None, &[b"first"]);
    *damaged.last_mut().unwrap() ^= 1;
    Folder::new(&damaged).refused(&Options::default(), &["byte 0", "right checksum"]);
    Folder::new(&[0x0a, 0x23, 0xd7, 0xce, 0, 0, 0, 0].repeat(3)).refused(&Options::default(), &["mxnet:"]);
    Folder::new(b"something else that is longer").refused(&Options::default(), &["not a RecordIO file"]);
    for empty in [Vec::new(), framed(Dialect::Paddle, ChunkCodec::None, 0, &[])] {
        Folder::new(&empty).refused(&Options::default(), &["holds no record"]);
    }
    let many = framed(Dialect::Go, ChunkCodec::Gzip, u32::MAX, &[0; 50]);
    Folder::new(&many).refused(&Options::default(), &["byte 0"]);
}

#[test]
fn a_payload_that_is_not_what_its_header_says_is_damaged() {
    for (dialect, codec) in ALL {
        let good = chunk(dialect, codec, &[b"good"]);
        let of = |records, bytes: &[u8]| framed(dialect, codec, records, &compressed(codec, bytes));
        for (bad, words) in [
            (of(2, &payload(&[b"only one of them"])), "does not have the 2 records"),
            (of(1, &payload(&[b"one", b"two"])), "does not have the 1 records"),
            (of(1, b"\xff\xff\xff\x7fshort"), "longer than the chunk"),
            (of(1, &[&payload(&[b"one"])[..], b"xx"].concat()), "longer than the chunk"),
        ] {
            let folder = Folder::new(&[good.clone(), bad].concat());
            let source = folder.open(&Options::default()).unwrap();
            assert_eq!(read(&source, 0).unwrap(), b"good");
            let found = damage(&source, 1);
            assert!(found.contains(words), "{dialect:?} {codec:?}: {found}");
        }
        if codec != ChunkCodec::None {
            let folder = Folder::new(&[good, framed(dialect, codec, 1, b"no codec made this")].concat());
            let source = folder.open(&Options::default()).unwrap();
            assert!(damage(&source, 1).contains("cannot be decompressed"), "{dialect:?} {codec:?}");
        }
    }
}

#[test]
fn a_chunk_that_grows_beyond_the_limit_is_damaged_and_the_message_names_the_option() {
    let zeros = vec![0; 1 << 20];
    for (dialect, codec) in ALL.into_iter().filter(|(_, codec)| *codec != ChunkCodec::None) {
        let folder = Folder::new(&[chunk(dialect, codec, &[b"good"]), chunk(dialect, codec, &[&zeros])].concat());
        let source = folder.open(&own("chunk_limit", "600000")).unwrap();
        assert_eq!(read(&source, 0).unwrap(), b"good");
        let found = damage(&source, 1);
        assert!(found.contains("more than 600000 bytes") && found.contains("chunk_limit"), "{found}");
        assert_eq!(read(&folder.open(&Options::default()).unwrap(), 1).unwrap(), zeros);
    }
    // A length of Snappy that no block of this size can have.
    let bomb = [0xff, 0xff, 0xff, 0x7f, 0];
    let file = [
        chunk(Dialect::Python, ChunkCodec::SnappyBlock, &[b"good"]),
        framed(Dialect::Python, ChunkCodec::SnappyBlock, 1, &bomb),
    ];
    let folder = Folder::new(&file.concat());
    let source = folder.open(&own("chunk_limit", "100000000000")).unwrap();
    assert!(damage(&source, 1).contains("more bytes than Snappy makes"));
    let stored =
        [chunk(Dialect::Go, ChunkCodec::None, &[b"good"]), chunk(Dialect::Go, ChunkCodec::None, &[&zeros])].concat();
    Folder::new(&stored).refused(&own("chunk_limit", "1000"), &["byte 28", "chunk_limit=1048580"]);
    Folder::new(&stored).refused(&own("chunk_limit", "many"), &["chunk_limit", "a number of bytes"]);
}

#[test]
fn records_may_be_examples_or_have_a_label_in_front() {
    let one = |label, picture: &[u8]| {
        example(&[("image/encoded", Values::Bytes(&[picture])), ("image/class/label", Values::Integers(&[label]))])
    };
    let (a, b) = (one(3, b"a"), one(4, b"bb"));
    let mut lost = chunk(Dialect::Go, ChunkCodec::SnappyFrames, &[&a, &b]);
    *lost.last_mut().unwrap() ^= 1;
    let good = chunk(Dialect::Go, ChunkCodec::SnappyFrames, &[&a, b"\x0a\x05abc", &b]);
    let folder = Folder::new(&[lost, good].concat());
    let source = folder.open(&own("payload", "example")).unwrap();
    assert_eq!(labels(&source), [-1, -1, 3, -1, 4]);
    assert!(damage(&source, 0).contains("checksum") && damage(&source, 3).contains("not a tf.train.Example"));
    assert_eq!((read(&source, 2).unwrap(), read(&source, 4).unwrap()), (b"a".to_vec(), b"bb".to_vec()));

    let labelled =
        chunk(Dialect::Python, ChunkCodec::Gzip, &[b"\x07\0\0\0jpegfile", b"\xff\xff\xff\xff", b"ab", b"\x08\0\0\0p"]);
    let folder = Folder::new(&labelled);
    let source = folder.open(&own("payload", "i32+picture")).unwrap();
    assert_eq!(labels(&source), [7, -1, -1, 8]);
    assert_eq!(read(&source, 0).unwrap(), b"jpegfile");
    assert_eq!(read(&source, 1).unwrap_err().kind, ReadErrorKind::Empty);
    assert!(damage(&source, 2).contains("it has 2 bytes, and its label has 4"));
    let text = Options { labels: Labels::Text, ..own("payload", "i32+picture") };
    let source = folder.open(&text).unwrap();
    assert_eq!((labels(&source), source.classes()), (vec![1, 0, -1, 2], &["-1", "7", "8"].map(String::from)[..]));
    let none = Options { labels: Labels::None, ..own("payload", "i64+picture") };
    let source = folder.open(&none).unwrap();
    assert_eq!((labels(&source), read(&source, 0).unwrap()), (vec![-1; 4], b"file".to_vec()));
    folder.refused(&own("payload", "label"), &["\"i32+picture\""]);
    folder.refused(&own("payload", "example"), &["no record can be used", "payload=\"picture\""]);
}

#[test]
fn a_file_that_changes_is_no_fault_of_the_format() {
    let chunk = |records: &[&[u8]]| chunk(Dialect::Go, ChunkCodec::SnappyFrames, records);
    let folder = Folder::new(&[chunk(&[b"one", b"two"]), chunk(&[b"alone"])].concat());
    let source = folder.open(&Options::default()).unwrap();
    assert_eq!((read(&source, 0).unwrap(), read(&source, 2).unwrap()), (b"one".to_vec(), b"alone".to_vec()));
    fs::write(folder.dir.path().join("x.recordio"), write(&[b"longer", b"two"])).unwrap();
    assert_eq!(read(&source, 2).unwrap_err().kind, ReadErrorKind::Changed, "a chunk of one record is not kept");
    assert_eq!(read(&source, 1).unwrap(), b"two", "its chunk is kept");
}

#[test]
fn spoiled_files_never_panic_and_what_is_read_was_written() {
    let records = [&b"a first record"[..], b"second", b"3", b"the fourth one"];
    let mut dice = Dice(0xc0de);
    let (mut opened, mut refused) = (0, 0);
    for round in 0..4000 {
        let (dialect, codec) = ALL[round % ALL.len()];
        let mut bytes = [chunk(dialect, codec, &records[..2]), chunk(dialect, codec, &records[2..])].concat();
        dice.spoil(&mut bytes);
        let payload = ["picture", "i32+picture", "example"][round % 3];
        let folder = Folder::new(&bytes);
        let Ok(source) = folder.open(&own("payload", payload)) else {
            refused += 1;
            continue;
        };
        opened += 1;
        for record in 0..source.len() {
            match read(&source, record) {
                Ok(picture) if payload == "picture" => assert!(records.contains(&&picture[..]), "{picture:?}"),
                Ok(picture) => assert!(records.iter().any(|record| record.ends_with(&picture)), "{picture:?}"),
                Err(error) => assert!(matches!(error.kind, ReadErrorKind::Damaged | ReadErrorKind::Empty), "{error}"),
            }
        }
    }
    assert!(opened > 300 && refused > 300, "{opened} {refused}");
}

#[test]
fn other_pictures_of_the_same_records_are_another_dataset() {
    let pictures = example(&[("left", Values::Bytes(&[b"a"])), ("right", Values::Bytes(&[b"b"]))]);
    let folder = Folder::new(&write(&[&pictures]));
    let mut prints = Vec::new();
    for (payload, image) in [
        ("picture", None),
        ("i32+picture", None),
        ("i64+picture", None),
        ("example", Some("left")),
        ("example", Some("right")),
    ] {
        let columns = image.map(|name| ("images", name)).into_iter().collect();
        let options = Options { columns, labels: Labels::None, ..own("payload", payload) };
        let print = || folder.open(&options).unwrap().fingerprint();
        assert_eq!(print(), print());
        assert!(!prints.contains(&print()), "{payload} {image:?}");
        prints.push(print());
    }
}

#[test]
fn chunks_that_cannot_be_read_cost_no_memory_for_all_the_records_that_they_claim() {
    let bad = || framed(Dialect::Go, ChunkCodec::Gzip, 40_000, &[7; 200]);
    let picture = example(&[("image/encoded", Values::Bytes(&[b"a"]))]);
    let good = chunk(Dialect::Go, ChunkCodec::Gzip, &[&picture]);
    let second = format!("byte {}", good.len() + bad().len());
    let (one, two) = ([good.clone(), bad()].concat(), [good.clone(), bad(), bad()].concat());
    let empty = [good, chunk(Dialect::Go, ChunkCodec::Gzip, &vec![&b""[..]; 70_000])].concat();
    for payload in ["example", "i32+picture"] {
        assert_eq!(Folder::new(&one).open(&own("payload", payload)).unwrap().len(), 40_001);
        Folder::new(&two).refused(&own("payload", payload), &["x.recordio", &second, "more than 65536", "payload"]);
        Folder::new(&empty)
            .refused(&own("payload", payload), &["x.recordio", "more than 65536", "some of its records"]);
    }
    assert_eq!(Folder::new(&two).open(&Options::default()).unwrap().len(), 80_001, "pictures cost nothing");
}

#[test]
fn a_damaged_chunk_is_read_once_while_its_file_stays_as_it_was() {
    let mut lost = chunk(Dialect::Go, ChunkCodec::Gzip, &[b"one", b"two"]);
    *lost.last_mut().unwrap() ^= 1;
    let folder = Folder::new(&[write(&[b"good"]), lost].concat());
    let path = folder.dir.path().join("x.recordio");
    let mut source = folder.open(&Options::default()).unwrap();
    for (settled, is_kept) in [(Duration::MAX, false), (Duration::ZERO, true)] {
        source.reader.spoiled = SpoiledChunks::new(&source.found.parts.files, settled);
        assert!(damage(&source, 1).contains("checksum"));
        assert_eq!(source.reader.spoiled.cause(1, 0, &Address::file(&path)).is_some(), is_kept, "{settled:?}");
        source.reader.spoiled.keep(1, 0, "it is known");
        assert_eq!(damage(&source, 2).contains("it is known"), is_kept, "{settled:?}");
    }
    assert_eq!(read(&source, 0).unwrap(), b"good");
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    assert_eq!(read(&source, 1).unwrap_err().kind, ReadErrorKind::Changed);
}

#[test]
fn a_record_that_was_found_damaged_is_refused_without_a_read() {
    let folder = Folder::new(&write(&[b"\x07\0\0\0picture", b"ab"]));
    let source = folder.open(&own("payload", "i32+picture")).unwrap();
    fs::remove_file(folder.dir.path().join("x.recordio")).unwrap();
    assert!(damage(&source, 1).contains("it has 2 bytes"));
    assert_eq!(read(&source, 0).unwrap_err().kind, ReadErrorKind::Gone);
}
