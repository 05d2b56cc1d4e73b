//! Masks in columns of Arrow files, compressed or not.

use forebay_columns::ElementType;
use forebay_sources::{RecordParts, Source};

use super::*;

/// A writer of a file.
type Write = fn(&Path, &[RecordBatch]);

/// The picture and the mask of a record.
fn parts(source: &dyn Source, record: u64) -> (Vec<u8>, Option<Vec<u8>>) {
    let bytes = read(source, record).unwrap();
    assert_eq!(bytes.len() as u64, source.size(record));
    let parts = RecordParts::of(&bytes, 1);
    (parts.picture().to_vec(), parts.mask(0).map(<[u8]>::to_vec))
}

#[test]
fn rule_45_a_column_of_png_files_becomes_masks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let png = crate::masks::tests::png;
    let masks = [None, Some(png(8, 3, "one")), Some(png(8, 3, "two")), None];
    let rows: Vec<Option<&[u8]>> = masks.iter().map(Option::as_deref).collect();
    let of_structures: Vec<_> = rows.iter().map(|row| (*row, None)).collect();
    let pictures = binary(&[Some(b"a"), Some(b"bc"), Some(b"def"), Some(b"g")]);
    let options = Options { masks: [("seg", "x;annotation")].into_iter().collect(), ..Options::default() };
    let options = Options { columns: mapped(&[("images", "image")]).columns, ..options };
    for column in [binary(&rows), images(&of_structures)] {
        for write in [stream as Write, file, zstd] {
            let table = batch(vec![("annotation", ArrayRef::clone(&column)), ("image", ArrayRef::clone(&pictures))]);
            write(&path, &[table.slice(0, 2), table.slice(2, 2)]);
            let source = crate::open(path.to_str().unwrap(), &options).unwrap();
            assert_eq!((source.masks()[0].name.as_str(), source.masks()[0].element), ("seg", ElementType::U8));
            let found: Vec<_> = (0..4).map(|record| parts(&*source, record)).collect();
            let pictures = [&b"a"[..], b"bc", b"def", b"g"].map(<[u8]>::to_vec);
            assert!(found.into_iter().eq(pictures.into_iter().zip(masks.clone())));
            let plain = crate::open(path.to_str().unwrap(), &Options { masks: mapped(&[]).columns, ..options.clone() });
            assert_ne!(plain.unwrap().fingerprint(), source.fingerprint());
        }
    }
}

#[test]
fn masks_that_cannot_be_are_refused_by_name_and_an_empty_one_is_a_bad_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let png = crate::masks::tests::png(16, 0, "");
    let labels: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let write = |write: Write, masks: &[Option<&[u8]>]| {
        let pictures = binary(&[Some(b"one"), Some(b"two")]);
        write(&path, &[batch(vec![("image", pictures), ("seg", binary(masks)), ("n", ArrayRef::clone(&labels))])]);
    };
    let open = |masks: &str| {
        let options = Options { masks: [("seg", masks)].into_iter().collect(), ..Options::default() };
        crate::open(path.to_str().unwrap(), &options)
    };
    for way in [stream as Write, zstd] {
        write(way, &[Some(&png), Some(b"")]);
        let source = open("seg").unwrap();
        assert_eq!((read(&*source, 0).is_ok(), read(&*source, 1)), (true, Err(ReadErrorKind::Damaged)));
        for (masks, words) in [("n", "masks.seg = \"n\""), ("absent", "\"image\" (Binary)")] {
            assert!(open(masks).unwrap_err().to_string().contains(words), "{masks}");
        }
        write(way, &[None, None]);
        assert!(open("seg").unwrap_err().to_string().contains("at least one record"));
        write(way, &[Some(b"no PNG"), None]);
        assert!(open("seg").unwrap_err().to_string().contains("row 0"), "{}", open("seg").unwrap_err());
    }
}
