//! Tests of members that are stored without their holes: each way to write their map, and what is wrong with one.

use std::os::unix::fs::FileExt as _;
use std::process::Command;

use forebay_sources::IndexChoice;

use super::*;

/// A file of `PIECE`, a hole, and `PIECE` again, and what is stored of it.
fn holed() -> (Vec<u8>, Vec<u8>) {
    let piece: Vec<u8> = (0..512_u32).map(|byte| u8::try_from(byte % 251).unwrap()).collect();
    ([&piece[..], &[0; 1024], &piece, &[7; 3], &[0; 97]].concat(), [&piece[..], &piece, &[7; 3]].concat())
}

const PIECES: [(u64, u64); 2] = [(0, 512), (1536, 515)];
const LEN: usize = 2148;

/// Bytes of a field of the old format.
fn octal(number: u64) -> Vec<u8> {
    format!("{number:011o}\0").into_bytes()
}

/// A header of the old format with these pieces.
fn old(tar: &mut TarWriter, name: &str, stored: &[u8], pieces: &[(u64, u64)]) {
    tar.changed(b'S', name, stored, |header| {
        header[257..265].copy_from_slice(b"ustar  \0");
        for (place, (offset, len)) in pieces.iter().take(4).enumerate() {
            header[386 + 24 * place..410 + 24 * place].copy_from_slice(&[octal(*offset), octal(*len)].concat());
        }
        header[482] = u8::from(pieces.len() > 4);
        header[483..495].copy_from_slice(&octal(LEN as u64));
    });
}

/// The samples of one file in each format, behind a plain one.
fn every_format(stored: &[u8]) -> Vec<u8> {
    let mut tar = TarWriter::default();
    tar.entry(b'0', "a/0.jpg", b"plain");
    old(&mut tar, "a/1.jpg", stored, &PIECES);
    tar.pax("GNU.sparse.size", "2148").pax("GNU.sparse.numblocks", "2");
    for (offset, len) in PIECES {
        tar.pax("GNU.sparse.offset", &offset.to_string()).pax("GNU.sparse.numbytes", &len.to_string());
    }
    tar.entry(b'0', "a/2.jpg", stored);
    tar.pax("GNU.sparse.name", "a/3.jpg").pax("path", "a/GNUSparseFile.9/3.jpg").pax("GNU.sparse.size", "2148");
    tar.pax("GNU.sparse.map", "0,512,1536,515").entry(b'0', "cut", stored);
    tar.pax("GNU.sparse.major", "1").pax("GNU.sparse.minor", "0").pax("GNU.sparse.name", "a/4.jpg");
    let mut lines = b"2\n0\n512\n1536\n515\n".to_vec();
    lines.resize(512, 0);
    tar.pax("GNU.sparse.realsize", "2148").entry(b'0', "a/GNUSparseFile.9/4.jpg", &[&lines[..], stored].concat());
    tar.end()
}

#[test]
fn every_way_to_write_a_sparse_file_gives_the_file_with_its_holes() {
    let (whole, stored) = holed();
    assert_eq!(whole.len(), LEN);
    let (dir, source) = opened(every_format(&stored), &Options::default());
    let source = source.unwrap();
    let found = read(&*source, &dir);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a/0.jpg", "a/1.jpg", "a/2.jpg", "a/3.jpg", "a/4.jpg"]);
    assert_eq!(found[0].1, Ok(b"plain".to_vec()));
    for (name, content) in &found[1..] {
        assert!(content.as_ref() == Ok(&whole), "{name}");
    }
    assert_eq!([0, 1, 2, 3, 4].map(|record| source.size(record)), [5, 2148, 2148, 2148, 2148]);
    // The limit is for the file, and not for what is stored of it.
    let small = Options { byte_limit: 2147, ..Options::default() };
    let source = opened(every_format(&stored), &small).1.unwrap();
    let kind = |record| source.read(record, u64::MAX, &mut Vec::new()).unwrap_err().kind;
    assert!([1, 2, 3, 4].iter().all(|record| matches!(kind(*record), ReadErrorKind::TooLarge { .. })));
}

#[test]
fn more_than_four_pieces_of_the_old_format_are_in_blocks_of_their_own() {
    let pieces: Vec<(u64, u64)> = (0..50).map(|piece| (piece * 1024, 512)).collect();
    let stored: Vec<u8> = (0..50).flat_map(|piece| [piece + 1; 512]).collect();
    let mut tar = TarWriter::default();
    let start = tar.0.len();
    old(&mut tar, "1.jpg", &stored, &pieces);
    let mut header = tar.0[start..start + 512].to_vec();
    header[483..495].copy_from_slice(&octal(50 * 1024));
    let mut blocks = Vec::new();
    for part in pieces[4..].chunks(21) {
        let mut block: Vec<u8> = part.iter().flat_map(|(offset, len)| [octal(*offset), octal(*len)].concat()).collect();
        block.resize(512, 0);
        blocks.push(block);
    }
    let last = blocks.len() - 1;
    blocks[..last].iter_mut().for_each(|block| block[504] = 1);
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut tar = TarWriter([header, blocks.concat(), stored].concat());
    tar.entry(b'0', "2.jpg", b"next");
    let found = contents(opened(tar.end(), &Options::default()));
    let whole: Vec<u8> = (0..50_u8).flat_map(|piece| [[piece + 1; 512], [0; 512]].concat()).collect();
    assert_eq!((found[0].1.len(), found[1].1.as_slice()), (whole.len(), &b"next"[..]));
    assert!(found[0].1 == whole);
}

#[test]
fn what_is_wrong_with_a_map_is_wrong_with_its_member_alone() {
    let (_, stored) = holed();
    let mut tar = TarWriter::default();
    tar.entry(b'0', "0.jpg", b"fine");
    old(&mut tar, "1.jpg", &stored, &[(0, 512), (100, 515)]);
    tar.pax("GNU.sparse.size", "2000").pax("GNU.sparse.map", "0,512,1536,515").entry(b'0', "2.jpg", &stored);
    tar.pax("GNU.sparse.size", "2148").pax("GNU.sparse.map", "0,512").entry(b'0', "3.jpg", &stored);
    tar.pax("GNU.sparse.map", "0,512,1536,515").entry(b'0', "4.jpg", &stored);
    tar.pax("GNU.sparse.size", "-1").pax("GNU.sparse.map", "0,x").entry(b'0', "5.jpg", &stored);
    tar.pax("GNU.sparse.major", "1").pax("GNU.sparse.realsize", "9").entry(b'0', "6.jpg", b"9999\n0\n");
    tar.pax("GNU.sparse.major", "2").pax("GNU.sparse.size", "5").entry(b'0', "7.jpg", b"three");
    tar.entry(b'0', "8.jpg", b"fine");
    let (dir, source) = opened(tar.end(), &Options::default());
    let found = read(&*source.unwrap(), &dir);
    let words = [
        "",
        "overlap",
        "within the file",
        "other bytes",
        "how large",
        "not a number",
        "does not end",
        "not a number",
        "",
    ];
    assert_eq!(found.len(), words.len());
    for ((name, content), word) in found.iter().zip(words) {
        match content {
            Ok(content) => assert!(word.is_empty() && content == b"fine", "{name}"),
            Err(error) => assert!(!word.is_empty() && error.contains(word), "{name}: {error}"),
        }
    }
}

#[test]
fn a_label_or_a_text_may_have_holes_and_a_tar_in_a_tar_may_not() {
    let mut tar = TarWriter::default();
    tar.entry(b'0', "1.jpg", b"one");
    tar.pax("GNU.sparse.size", "515").pax("GNU.sparse.map", "514,1").entry(b'0', "1.txt", b"x");
    let columns = Options { columns: [("text", "txt")].into_iter().collect(), ..Options::default() };
    let source = opened(tar.end(), &columns).1.unwrap();
    assert_eq!(crate::scene::values::<u8>(&*source, "text", 0), [&[0; 514][..], b"x"].concat());
    // The limit of what is kept in memory is for the file too.
    let mut tar = TarWriter::default();
    tar.entry(b'0', "1.jpg", b"one").entry(b'0', "1.cls", b"1");
    tar.pax("GNU.sparse.size", "9000000000000").pax("GNU.sparse.map", "0,1").entry(b'0', "1.txt", b"x");
    tar.entry(b'0', "2.jpg", b"two").entry(b'0', "2.txt", b"fine");
    let (dir, source) = opened(tar.end(), &columns);
    let found = read(&*source.unwrap(), &dir);
    assert!(found[0].1.as_ref().unwrap_err().contains("9000000000000 bytes"), "{found:?}");
    // A tar of a few bytes cannot become gigabytes of labels.
    let mut tar = TarWriter::default();
    tar.entry(b'0', "1.jpg", b"one");
    tar.pax("GNU.sparse.size", "8208").pax("GNU.sparse.map", "0,1").entry(b'0', "1.txt", b"x");
    tar.entry(b'0', "2.jpg", b"two");
    tar.pax("GNU.sparse.size", "8209").pax("GNU.sparse.map", "0,1").entry(b'0', "2.txt", b"x");
    let (dir, source) = opened(tar.end(), &columns);
    let found = read(&*source.unwrap(), &dir);
    assert_eq!(found[0].1.as_deref(), Ok(&b"one"[..]), "{found:?}");
    assert!(found[1].1.as_ref().unwrap_err().contains("8209 bytes, and the limit is 8208"), "{found:?}");
    let inner = TarWriter::of(&[("1.jpg", b"one")]);
    let mut tar = TarWriter::default();
    let (len, map) = (inner.len().to_string(), format!("0,{}", inner.len()));
    tar.pax("GNU.sparse.size", &len).pax("GNU.sparse.map", &map).entry(b'0', "n01.tar", &inner);
    refusal(opened(tar.end(), &Options::default()), &["the tar inside this tar", "--sparse"]);
}

#[test]
fn rule_53_an_index_has_the_holes_of_its_records() {
    let (whole, stored) = holed();
    let (dir, indexes) = (folder(&[("x.tar", every_format(&stored))]), tempfile::tempdir().unwrap());
    let (tar, index) = (dir.path().join("x.tar"), indexes.path().join("x.arrow"));
    let name = tar.to_str().unwrap();
    let scanned = open(name, &Options::default()).unwrap();
    crate::make_index(name, &Options::default(), Some(&index), false).unwrap();
    let indexed = open(name, &Options { index: IndexChoice::File(index), ..Options::default() }).unwrap();
    assert_eq!((indexed.fingerprint(), indexed.size(3)), (scanned.fingerprint(), 2148));
    let found = read(&*indexed, &dir);
    assert!(found[1..].iter().all(|(_, content)| content.as_ref() == Ok(&whole)));
}

#[test]
fn sparse_files_that_the_system_s_program_wrote_are_read_in_each_of_its_formats() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("cat")).unwrap();
    let file = fs::File::create(dir.path().join("cat/1.jpg")).unwrap();
    // More pieces than a header of the old format has room for, and a hole at the end.
    for piece in 0..9_u64 {
        file.write_all_at(&[u8::try_from(piece).unwrap() + 1; 5000], piece << 17).unwrap();
    }
    file.set_len((9 << 17) + 12_345).unwrap();
    let expected = fs::read(dir.path().join("cat/1.jpg")).unwrap();
    for format in [
        &["--format=gnu"][..],
        &["--format=oldgnu"],
        &["--format=pax", "--sparse-version=0.0"],
        &["--format=pax", "--sparse-version=0.1"],
        &["--format=pax", "--sparse-version=1.0"],
    ] {
        let path = dir.path().join("x.tar");
        let mut tar = Command::new("tar");
        tar.args(format).args(["--sparse", "-cf"]).arg(&path).arg("cat");
        let Ok(status) = tar.current_dir(dir.path()).status() else {
            println!("skipped: the program tar is absent");
            return;
        };
        assert!(status.success(), "{format:?}");
        let stored = fs::metadata(&path).unwrap().len();
        let source = open(path.to_str().unwrap(), &Options::default()).unwrap();
        let found = read(&*source, &dir);
        assert_eq!((found[0].0.as_str(), source.size(0)), ("cat/1.jpg", expected.len() as u64), "{format:?}");
        assert!(found[0].1.as_ref() == Ok(&expected), "{format:?}");
        assert!(stored < expected.len() as u64 / 4, "{format:?}: its {stored} bytes have the holes");
    }
}
