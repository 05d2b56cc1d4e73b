//! Large pictures in plain pages, which are read from their places in the file.

use super::*;
use crate::grain_cache::Grain;

/// Pictures of 20 kB and more.
fn large(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| vec![u8::try_from(number).unwrap(); 20_000 + number]).collect()
}

/// The grain of the first row group, if it has places and no pictures.
fn places_of(path: &Path) -> Option<Grain> {
    let files = [ContainerFile::look(&Address::file(path)).unwrap()];
    let file = OpenFiles::new(1).get(0, &files[0]).unwrap();
    let table = file::TableFile::open(0, &files[0], Arc::clone(&file), &Options::default()).unwrap();
    let group = table.groups(0).unwrap().0.remove(0);
    let chunks = FileRanges::new(file, files[0].stamp.len);
    super::super::places::places(&chunks, &group.picture, &(0..group.rows), super::super::places::LEAST)
}

#[test]
fn large_pictures_in_plain_pages_are_read_from_their_places() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    // Of the levels of nine values, eight are one group of bits, and fewer or more are runs.
    for (rows, page) in [(30, 1 << 20), (9, 1 << 20), (3, 1 << 20), (30, 30_000)] {
        let expected = large(rows);
        let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
        let structures: Vec<_> = rows.iter().map(|row| (*row, Some("x.jpg"))).collect();
        for column in [binary(&rows), images(&structures)] {
            let properties = plain().set_data_page_size_limit(page).set_write_batch_size(1).build();
            write(&path, &[batch(vec![("image", column)])], properties);
            let places = places_of(&path).expect("they are plain");
            assert!(places.bytes.len() < 32 * expected.len(), "no picture is kept");
            let source = open(&Address::file(&path), &Options::default()).unwrap();
            let mut buf = b"left over".to_vec();
            for (record, picture) in (0..).zip(&expected) {
                source.read(record, u64::MAX, &mut buf).unwrap();
                assert!(buf == *picture, "record {record}");
                let error = source.read(record, 20, &mut buf).unwrap_err();
                assert_eq!((error.kind, buf.len()), (ReadErrorKind::Larger { size: picture.len() as u64 }, 0));
            }
            fs::write(&path, "another file").unwrap();
            assert_eq!(read(&source, 0), Err(ReadErrorKind::Changed));
        }
    }
}

#[test]
fn other_pages_are_decoded_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let expected = large(20);
    let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
    let mut with_null = rows.clone();
    with_null[7] = None;
    let small: Vec<Option<&[u8]>> = rows.iter().map(|row| row.map(|row| &row[..100])).collect();
    for (rows, properties) in [
        (&rows, plain().set_compression(Compression::SNAPPY)),
        (&rows, WriterProperties::builder()),
        (&rows, plain().set_encoding(Encoding::DELTA_LENGTH_BYTE_ARRAY)),
        (&rows, plain().set_writer_version(WriterVersion::PARQUET_2_0)),
        (&with_null, plain()),
        (&small, plain()),
    ] {
        write(&path, &[batch(vec![("image", binary(rows))])], properties.build());
        assert!(places_of(&path).is_none());
        let source = open(&Address::file(&path), &Options::default()).unwrap();
        for (record, row) in (0..).zip(rows) {
            assert_eq!(read(&source, record).ok().as_deref(), *row);
        }
    }
}

#[test]
fn a_page_whose_lengths_do_not_fit_is_damaged_and_no_byte_beyond_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let expected = large(3);
    let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
    write(&path, &[batch(vec![("image", binary(&rows))])], plain().build());
    let bytes = fs::read(&path).unwrap();
    let len = 20_001_u32.to_le_bytes();
    let at = bytes.windows(5).position(|window| window[..4] == len && window[4] == 1).unwrap();
    for wrong in [20_000_u32, 20_002, u32::MAX] {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        assert!(places_of(&path).is_none(), "{wrong}");
        let source = open(&Address::file(&path), &Options::default()).unwrap();
        assert_eq!(read(&source, 2), Err(ReadErrorKind::Damaged));
    }
}
