//! Masks in columns of Parquet files.

use forebay_columns::ElementType;
use forebay_sources::RecordParts;

use super::*;

fn masked(masks: &[(&str, &str)]) -> Options {
    let columns = mapped(&[("images", "image")]).columns;
    Options { columns, masks: masks.iter().copied().collect::<ColumnMap>(), ..Options::default() }
}

/// The pictures, and a mask for every third one.
fn rows(count: usize) -> (Vec<Vec<u8>>, Vec<Option<Vec<u8>>>) {
    let mask = |number: usize| crate::masks::tests::png(16, 0, &format!("mask of {number}"));
    (pictures(count), (0..count).map(|number| (number % 3 == 1).then(|| mask(number))).collect())
}

#[test]
fn rule_45_a_column_of_png_files_becomes_masks_that_are_read_with_their_grain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let (expected, masks) = rows(60);
    let pictures: Vec<_> = expected.iter().map(|picture| Some(&picture[..])).collect();
    let of_masks: Vec<Option<&[u8]>> = masks.iter().map(Option::as_deref).collect();
    let structures: Vec<_> = of_masks.iter().map(|mask| (*mask, Some("x.png"))).collect();
    let properties = || {
        // The pages of both columns begin at different rows.
        plain().set_max_row_group_row_count(Some(35)).set_data_page_size_limit(300).set_write_batch_size(4)
    };
    for column in [binary(&of_masks), images(&structures)] {
        write(&path, &[batch(vec![("image", binary(&pictures)), ("seg", column)])], properties().build());
        let source = crate::open(path.to_str().unwrap(), &masked(&[("of_pixels", "none;seg")])).unwrap();
        let found = &source.masks()[0];
        assert_eq!((found.name.as_str(), found.element), ("of_pixels", ElementType::U16));
        for record in (0..60).rev() {
            let bytes = read(&*source, record).unwrap();
            let parts = RecordParts::of(&bytes, 1);
            let index = at_usize(record);
            assert_eq!((parts.picture(), parts.mask(0)), (&expected[index][..], masks[index].as_deref()), "{record}");
        }
        let sizes: u64 = (0..60).map(|record| source.size(record)).sum();
        let taken = expected.iter().chain(masks.iter().flatten()).map(Vec::len).sum::<usize>() + 60 * 8;
        assert!(sizes >= taken as u64 && sizes < 2 * taken as u64, "{sizes} of {taken}");
        let plain = crate::open(path.to_str().unwrap(), &masked(&[])).unwrap();
        assert_ne!(plain.fingerprint(), source.fingerprint());
    }
}

#[test]
fn masks_that_cannot_be_are_refused_by_name_and_what_is_wrong_with_one_is_its_record_s() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let png = crate::masks::tests::png(8, 2, "");
    let labels = || Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef;
    let write_masks = |masks: &[Option<&[u8]>]| {
        let pictures = images(&[(Some(b"one"), None), (None, None), (Some(b""), None)]);
        write(&path, &[batch(vec![("image", pictures), ("seg", binary(masks)), ("n", labels())])], plain().build());
    };
    let open = |masks: &str| crate::open(path.to_str().unwrap(), &masked(&[("seg", masks)]));
    write_masks(&[Some(&png), Some(&png), Some(&png)]);
    let source = open("seg").unwrap();
    let words = |record| source.read(record, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert!(read(&*source, 0).is_ok() && words(1).contains("is null") && words(2).contains("empty"));
    for masks in ["n", "absent"] {
        assert!(open(masks).unwrap_err().to_string().contains(&format!("masks.seg = \"{masks}\"")));
    }
    write_masks(&[None; 3]);
    assert!(open("seg").unwrap_err().to_string().contains("at least one record"));
    write_masks(&[Some(b""), Some(&png), None]);
    assert_eq!(read(&*open("seg").unwrap(), 0), Err(ReadErrorKind::Damaged));
    write_masks(&[Some(b"no PNG"), None, None]);
    assert!(open("seg").unwrap_err().to_string().contains("row 0"));
}

#[test]
fn rule_31_masks_that_a_dictionary_repeats_have_a_limit_of_memory() {
    const ROWS: usize = 20;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    // 8 MiB, stored once.
    let mut mask = crate::masks::tests::png(8, 2, "");
    mask.resize(8 << 20, 0);
    let columns = vec![("image", binary(&[Some(&b"picture"[..]); ROWS])), ("seg", binary(&[Some(&mask[..]); ROWS]))];
    let properties = WriterProperties::builder().set_dictionary_page_size_limit(16 << 20).build();
    write(&path, &[batch(columns)], properties);
    assert!(fs::metadata(&path).unwrap().len() < 2 * mask.len() as u64);
    let source = crate::open(path.to_str().unwrap(), &masked(&[("seg", "seg")])).unwrap();
    // What is stored, and 128 MiB more.
    for record in 0..ROWS as u64 {
        match source.read(record, u64::MAX, &mut Vec::new()) {
            Ok(()) => assert!(record < 16, "{record}"),
            Err(error) => assert!(record >= 16 && error.cause.contains("repeats masks"), "{record}: {error}"),
        }
    }
}
