//! Files that are not what they say: cut, damaged, or made to harm.

use super::*;
use crate::parquet::tests::hostile::Dice;

fn sample(path: &Path, write: fn(&Path, &[RecordBatch])) -> Vec<Vec<u8>> {
    let expected = pictures(30);
    let rows: Vec<_> = expected.iter().map(|picture| (Some(&picture[..]), None)).collect();
    let labels: ArrayRef = Arc::new((0..30).map(|row| Some(row % 3)).collect::<Int64Array>());
    let table = batch(vec![("image", images(&rows)), ("label", labels)]);
    write(path, &[table.slice(0, 20), table.slice(20, 10)]);
    expected
}

#[test]
fn a_file_that_was_cut_is_never_taken_for_a_shorter_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    for write in [stream as fn(&Path, &[RecordBatch]), file] {
        sample(&path, write);
        let whole = fs::read(&path).unwrap();
        for len in (0..whole.len()).step_by(5) {
            fs::write(&path, &whole[..len]).unwrap();
            let words = open(&Address::file(&path), &Options::default()).unwrap_err().to_string();
            assert!(words.contains("a.arrow, byte "), "{len}: {words}");
        }
    }
    sample(&path, stream);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &whole].concat()).unwrap();
    let words = open(&Address::file(&path), &Options::default()).unwrap_err().to_string();
    assert!(words.contains("behind the end of the stream"), "{words}");
    fs::write(&path, b"this is a text, and no table at all").unwrap();
    assert!(
        open(&Address::file(&path), &Options::default()).unwrap_err().to_string().contains("This is not an Arrow file")
    );
}

#[test]
fn no_damage_makes_a_reader_panic_and_other_pictures_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.arrow");
    let mut dice = Dice(2);
    for write in [stream as fn(&Path, &[RecordBatch]), file] {
        let expected = sample(&path, write);
        let whole = fs::read(&path).unwrap();
        let source = open(&Address::file(&path), &Options::default()).unwrap();
        let place = |record: u64| {
            let picture = &expected[usize::try_from(record).unwrap()];
            let at = whole.windows(picture.len()).position(|window| window == picture);
            (picture.len() > 1).then_some(at).flatten().map(|at| at..at + picture.len())
        };
        let places: Vec<_> = (0..source.len()).filter_map(place).collect();
        let (mut opened, mut refused) = (0, 0);
        for case in 0..1200 {
            let mut bytes = whole.clone();
            // Every third case damages a picture, and the others what is around them.
            let at = if case % 3 == 0 {
                let picture = &places[dice.below(places.len())];
                picture.start + dice.below(picture.len())
            } else {
                dice.below(whole.len())
            };
            let len = 1 + dice.below(8).min(whole.len() - at - 1);
            match dice.below(4) {
                0 => bytes[at] ^= 1 << dice.below(8),
                1 => bytes[at..at + len].fill(0xff),
                2 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
                _ => {
                    let from = dice.below(whole.len() - len);
                    bytes.copy_within(from..from + len, at);
                }
            }
            fs::write(&path, &bytes).unwrap();
            let Ok(source) = open(&Address::file(&path), &mapped(&[("same", "label"), ("path", "image.path")])) else {
                refused += 1;
                continue;
            };
            opened += 1;
            let is_in_a_picture = places.iter().any(|place| place.contains(&at) && at + len <= place.end);
            for record in 0..source.len() {
                let read = read(&source, record);
                if is_in_a_picture && !place(record).is_none_or(|place| place.contains(&at)) {
                    assert_eq!(read.as_deref(), Ok(&expected[usize::try_from(record).unwrap()][..]), "{case} {record}");
                }
            }
        }
        assert!(opened > 400 && refused > 100, "{opened} opened, {refused} refused");
    }
}
