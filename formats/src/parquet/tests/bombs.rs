//! Pages that claim more memory than there is in them.

use std::io::Write as _;

use flate2::Compression as Level;
use flate2::write::GzEncoder;

use super::*;

/// A file with one page of one picture, and where the content of the page is.
fn sample(path: &Path, picture: &[u8], compression: Compression) -> std::ops::Range<usize> {
    write(path, &[batch(vec![("image", binary(&[Some(picture)]))])], plain().set_compression(compression).build());
    let whole = fs::read(path).unwrap();
    let start = whole.windows(3).position(|window| window == b"\x1f\x8b\x08").unwrap();
    // The footer's first field follows the page: its index.
    let mut rest = &whole[start..];
    let mut decoder = flate2::bufread::GzDecoder::new(&mut rest);
    std::io::copy(&mut decoder, &mut std::io::sink()).unwrap();
    start..whole.len() - rest.len()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_page_of_gzip_that_holds_more_than_its_header_says_is_damaged_and_takes_no_more_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    // Random bytes, which stay as many: the bomb takes their place.
    let mut dice = hostile::Dice(5);
    let picture: Vec<u8> = (0..70_000).map(|_| u8::try_from(dice.below(256)).unwrap()).collect();
    let place = sample(&path, &picture, Compression::GZIP(GzipLevel::default()));
    let whole = fs::read(&path).unwrap();
    let open_with = |content: &[u8]| {
        let mut bytes = whole.clone();
        bytes[place.clone()].fill(0);
        bytes[place.start..place.start + content.len()].copy_from_slice(content);
        fs::write(&path, bytes).unwrap();
        let source = open(&Address::file(&path), &Options::default()).unwrap();
        source.read(0, u64::MAX, &mut Vec::new()).unwrap_err()
    };
    let bomb = gzip(&vec![0; 64 << 20]);
    assert!(bomb.len() < place.len());
    let error = open_with(&bomb);
    assert!(
        error.kind == ReadErrorKind::Damaged && error.to_string().contains("the size that its header says"),
        "{error}"
    );
    let error = open_with(&gzip(b"short"));
    assert!(error.kind == ReadErrorKind::Damaged, "{error}");
    let error = open_with(b"\x11 no stream of gzip");
    assert!(error.to_string().contains("cannot be decompressed"), "{error}");
}

#[test]
fn no_damage_of_a_file_of_brotli_and_deltas_makes_a_reader_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let whole = include_bytes!("brotli.parquet");
    let mut dice = hostile::Dice(6);
    let (mut good, mut bad, mut refused) = (0, 0, 0);
    for _ in 0..2000 {
        let mut bytes = whole.to_vec();
        let at = dice.below(whole.len());
        match dice.below(3) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
            _ => bytes[at..whole.len().min(at + 4)].fill(0xff),
        }
        fs::write(&path, &bytes).unwrap();
        let Ok(source) = open(&Address::file(&path), &mapped(&[("text", "text")])) else {
            refused += 1;
            continue;
        };
        for record in 0..source.len() {
            if read(&source, record).is_ok() {
                good += 1;
            } else {
                bad += 1;
            }
        }
    }
    assert!(good > 1000 && bad > 100 && refused > 100, "{good} good, {bad} bad, {refused} refused");
}
