//! Batches whose buffers are compressed: every kind of picture, labels, and files that are not what they say.

use forebay_sources::Source;

use super::*;
use crate::parquet::tests::hostile::Dice;

const CODECS: [CompressionType; 2] = [CompressionType::LZ4_FRAME, CompressionType::ZSTD];

fn open(path: &Path, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    crate::open(&format!("arrow:{}", path.display()), options)
}

/// Pictures of which some buffers are stored as they are, because they would not become smaller.
fn table(expected: &[Vec<u8>], column: ArrayRef) -> RecordBatch {
    let mut table = others(expected.len());
    table.push(("picture", column));
    let labels = (0..expected.len()).map(|row| Some(i64::try_from(row % 3).unwrap()));
    table.push(("label", Arc::new(labels.collect::<Int64Array>())));
    batch(table)
}

#[test]
fn rule_56_every_kind_of_picture_of_a_compressed_batch_is_read_and_a_batch_is_a_grain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.feather");
    let expected = pictures(50);
    let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
    let structures: Vec<_> = rows.iter().map(|row| (*row, Some("x.jpg"))).collect();
    let large: LargeBinaryArray = rows.iter().copied().collect();
    let views: BinaryViewArray = rows.iter().copied().collect();
    let columns: [ArrayRef; 4] = [binary(&rows), images(&structures), Arc::new(large), Arc::new(views)];
    for (column, codec) in columns.into_iter().flat_map(|column| CODECS.map(|codec| (ArrayRef::clone(&column), codec)))
    {
        let table = table(&expected, column);
        compressed(&path, &[table.slice(0, 20), table.slice(20, 0), table.slice(20, 30)], codec);
        let source = open(&path, &mapped(&[("lists", "lists"), ("text", "structure.a"), ("views", "views")])).unwrap();
        assert_eq!((source.len(), source.grains()), (50, Grains::Starts(&[0, 20])));
        for (record, picture) in (0..50_u64).rev().zip(expected.iter().rev()) {
            assert_eq!(read(&*source, record).as_deref(), Ok(&picture[..]), "{codec:?} {record}");
            assert_eq!((source.size(record), source.label(record)), (picture.len() as u64, record.cast_signed() % 3));
        }
        assert!(source.locator(33).to_string().ends_with("a.feather, row 33"), "{}", source.locator(33));
        assert_eq!(source.targets().value(0, 41).items(), 41 % 3);
        assert_eq!(source.targets().value(1, 41).bytes(), b"a text that is longer than a view 41");
        let small = Options { byte_limit: 100, ..Options::default() };
        let error = open(&path, &small).unwrap().read(49, u64::MAX, &mut Vec::new()).unwrap_err();
        assert!(matches!(error.kind, ReadErrorKind::TooLarge { .. }), "{error}");
    }
}

#[test]
fn a_picture_that_is_null_or_elsewhere_is_a_bad_record_of_its_batch_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let rows = images(&[(Some(b"one"), None), (None, None), (None, Some("/x/2.jpg")), (Some(b""), None)]);
    compressed(&path, &[batch(vec![("image", rows)])], CompressionType::ZSTD);
    let source = open(&path, &Options::default()).unwrap();
    assert_eq!(read(&*source, 0), Ok(b"one".to_vec()));
    let words = |record| source.read(record, u64::MAX, &mut Vec::new()).unwrap_err().to_string();
    assert!(words(1).contains("the picture is null") && words(2).contains("only the path \"/x/2.jpg\""));
    assert_eq!(read(&*source, 3), Err(ReadErrorKind::Empty));
}

#[test]
fn files_with_and_without_compression_are_one_dataset() {
    let dir = tempfile::tempdir().unwrap();
    write_pictures(&dir.path().join("a.arrow"), &[b"one", b"two"]);
    write_compressed(&dir.path().join("b.arrow"), &[b"three"]);
    let source = open(dir.path(), &Options::default()).unwrap();
    let found: Vec<_> = (0..3).map(|record| read(&*source, record).unwrap()).collect();
    assert_eq!(found, [&b"one"[..], b"two", b"three"]);
    assert_eq!((source.grains(), source.shard_name(2)), (Grains::Starts(&[0, 2]), "b.arrow"));
}

#[test]
fn no_damage_of_a_compressed_file_makes_a_reader_panic_or_gives_a_picture_of_another_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let mut dice = Dice(3);
    for codec in CODECS {
        let expected = pictures(30);
        let rows: Vec<Option<&[u8]>> = expected.iter().map(|picture| Some(&picture[..])).collect();
        let table = table(&expected, binary(&rows));
        compressed(&path, &[table.slice(0, 20), table.slice(20, 10)], codec);
        let whole = fs::read(&path).unwrap();
        let (mut good, mut bad, mut refused) = (0, 0, 0);
        for _ in 0..800 {
            let mut bytes = whole.clone();
            let at = dice.below(whole.len());
            match dice.below(3) {
                0 => bytes[at] ^= 1 << dice.below(8),
                1 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
                _ => bytes[at..whole.len().min(at + 8)].fill(0xff),
            }
            fs::write(&path, &bytes).unwrap();
            let Ok(source) = open(&path, &mapped(&[("same", "label")])) else {
                refused += 1;
                continue;
            };
            for record in 0..source.len() {
                match read(&*source, record) {
                    Ok(picture) => {
                        assert_eq!(picture.len() as u64, source.size(record));
                        good += 1;
                    }
                    Err(kind) => {
                        assert!(matches!(kind, ReadErrorKind::Damaged | ReadErrorKind::Empty), "{kind:?}");
                        bad += 1;
                    }
                }
            }
        }
        assert!(good > 1000 && bad > 100 && refused > 50, "{codec:?}: {good} good, {bad} bad, {refused} refused");
    }
}

#[test]
fn a_batch_whose_views_repeat_a_picture_until_no_memory_is_left_is_a_bad_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let picture = vec![0; 1 << 20];
    let repeated = |rows: usize| {
        let mut views = BinaryViewBuilder::new();
        let block = views.append_block(picture.clone().into());
        (0..rows).for_each(|_| views.try_append_view(block, 0, 1 << 20).unwrap());
        // A batch has at least as many bytes as rows.
        let numbers: Int64Array = (1..=i64::try_from(rows).unwrap()).map(|row| Some(row.wrapping_pow(30))).collect();
        batch(vec![("image", Arc::new(views.finish())), ("number", Arc::new(numbers))])
    };
    // Of 512 MiB beyond the 1 MiB that is there.
    compressed(&path, &[repeated(2), repeated(520)], CompressionType::ZSTD);
    let source = open(&path, &Options::default()).unwrap();
    assert_eq!(read(&*source, 1), Ok(picture.clone()));
    let error = source.read(2, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Damaged);
    assert!(error.to_string().contains("repeats its pictures too often"), "{error}");
}
