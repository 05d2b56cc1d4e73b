//! Tests of zips that are cut, changed or made to deceive.

use super::*;

fn plain() -> ZipWriter {
    let mut zip = ZipWriter::default();
    zip.stored("a.jpg", b"first content").deflated("b.jpg", &b"second ".repeat(20));
    zip
}

#[test]
fn a_zip_that_is_cut_is_refused() {
    let zip = plain().end();
    for len in 0..zip.len() {
        refusal(&zip[..len], &[["is empty", "not a zip file", "may be cut"][len.min(2)]]);
    }
    refusal(b"GIF89a, and no zip", &["byte 0", "not a zip file"]);
    refusal(&[&zip[..], b"x"].concat(), &["may be cut"]);
}

#[test]
fn a_directory_that_lies_is_refused_where_it_is() {
    let zip = plain().end();
    let end = zip.len() - 22;
    for (place, value, word) in [
        (end + 4, 1, "one of several parts"),
        (end + 10, 3, "has 2 members, but its end says 3"),
        (end + 12, 7, "is damaged here"),
        (end + 13, 1, "not where its end says"),
        (end + 16, 7, "not where its end says"),
        (end - 5 - 46, b'Q', "is damaged here"),
        (end - 5 - 46 + 28, 200, "is damaged here"),
    ] {
        let mut wrong = zip.clone();
        wrong[place] = value;
        refusal(&wrong, &["x.zip, byte", word]);
    }
}

#[test]
fn what_is_wrong_with_one_member_is_an_error_of_its_read() {
    let mut zip = plain();
    zip.changed("encrypted.jpg", b"x", 0, |said| said.flags = 1);
    zip.changed("method.jpg", b"x", 12, |_| ());
    zip.changed("link.jpg", b"x", 0, |said| said.attributes = 0o120_777 << 16);
    zip.changed("sizes.jpg", b"x", 0, |said| said.len = 2);
    zip.changed("bomb.jpg", &[0; 1000], 8, |said| said.len = 0x7fff_ffff);
    zip.changed("shorter.jpg", &[7; 1000], 8, |said| said.len = 999);
    zip.changed("longer.jpg", &[7; 1000], 8, |said| said.len = 1001);
    zip.changed("elsewhere.jpg", b"x", 0, |said| said.header = 0);
    zip.changed("beyond.jpg", b"x", 0, |said| said.header = 0x7fff_ffff);
    zip.changed("large.jpg", b"x", 0, |said| (said.len, said.stored) = (1 << 20, 1 << 20));
    zip.changed("deflated.jpg", b"x", 0, |said| said.method = 8);
    zip.stored("c.jpg", b"fine");
    let found = contents(&*opened(&zip.end(), &Options::default()).1.unwrap());
    let words = [
        "",
        "",
        "encrypted",
        "another method",
        "symbolic link",
        "two different sizes",
        "two sizes",
        "999 bytes",
        "1001 bytes",
        "own header",
        "own header",
        "own header",
        "own header",
        "",
    ];
    assert_eq!(found.len(), words.len());
    for (found, word) in found.iter().zip(words) {
        match found {
            Ok(content) => assert!(word.is_empty() && !content.is_empty(), "{word}"),
            Err(error) => assert!(!word.is_empty() && error.contains(word), "{word:?} is not in: {error}"),
        }
    }
}

#[test]
fn more_members_than_16_bits_count_are_read_without_zip64() {
    let mut zip = ZipWriter::default();
    for number in 0..3 {
        zip.stored(&format!("{number}.jpg"), b"x");
    }
    let mut bytes = zip.end();
    let end = bytes.len() - 22;
    // As if there were 65,536 more.
    bytes[end + 10] = 3;
    assert_eq!(opened(&bytes, &Options::default()).1.unwrap().len(), 3);
}

#[test]
fn whatever_the_bytes_nothing_panics_and_what_is_read_was_written() {
    let zip = plain();
    let genuine = zip.end();
    let written = [b"first content".to_vec(), b"second ".repeat(20)];
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.zip");
    let mut state = 11_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut opened_ones, mut damaged) = (0, 0);
    for _ in 0..2000 {
        let mut bytes = genuine.clone();
        match next(4) {
            0 => {
                let (from, to) = (next(genuine.len() - 40), next(genuine.len() - 40));
                bytes.copy_within(from..from + next(40), to);
            }
            1 => bytes.truncate(next(genuine.len())),
            _ => (0..=next(3)).for_each(|_| bytes[next(genuine.len())] ^= 1 << next(8)),
        }
        fs::write(&file, &bytes).unwrap();
        let Ok(source) = open(&format!("zip:{}", file.display()), &Options::default()) else { continue };
        opened_ones += 1;
        for content in contents(&*source) {
            match content {
                Ok(content) => assert!(written.contains(&content)),
                Err(_) => damaged += 1,
            }
        }
    }
    assert!(opened_ones > 200 && damaged > 50, "{opened_ones} {damaged}");
}
