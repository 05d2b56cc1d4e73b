//! Tests of tars that are cut, joined, changed or made to deceive.

use super::*;

fn plain() -> Vec<u8> {
    TarWriter::of(&[("a.jpg", b"one"), ("b.jpg", b"two")])
}

#[test]
fn a_tar_that_is_cut_is_never_taken_for_a_shorter_one() {
    let tar = plain();
    for len in (0..tar.len()).filter(|len| *len <= 2048 || len % 512 < 2) {
        let error = opened(tar[..len].to_vec(), &Options::default()).1;
        // The first block of the mark is enough.
        assert_eq!(error.is_ok(), len >= 2048 + 512, "{len}");
    }
    refusal(opened(tar[..513].to_vec(), &Options::default()), &["x.tar, byte 0", "\"a.jpg\" has 3 bytes", "cut"]);
    refusal(opened(tar[..2048].to_vec(), &Options::default()), &["byte 2048", "mark of the end", "unfinished=true"]);
    let unfinished = own("unfinished", "true");
    assert_eq!(contents(opened(tar[..2048].to_vec(), &unfinished)).len(), 2);
    refusal(opened(tar[..1500].to_vec(), &unfinished), &["mark of the end"]);
    refusal(opened(tar[..1025].to_vec(), &unfinished), &["byte 1024"]);
}

#[test]
fn what_follows_the_end_is_not_lost_in_silence() {
    let joined = [plain(), plain()].concat();
    refusal(opened(joined, &Options::default()), &["byte 10240", "tar -xif"]);
}

#[test]
fn a_header_that_lies_is_refused_where_it_is() {
    for (field, value, word) in [
        (124..136, &b"77777777777\0"[..], "the file ends before"),
        (124..136, b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", "the file ends before"),
        (124..136, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "its size is not a number"),
        (124..136, b"-0000000001\0", "its size is not a number"),
    ] {
        let mut tar = TarWriter::default();
        tar.entry(b'0', "a.jpg", b"one").changed(b'0', "b.jpg", b"x", |header| header[field].copy_from_slice(value));
        refusal(opened(tar.end(), &Options::default()), &["x.tar, byte 1024", word]);
    }
    let mut flipped = plain();
    flipped[1024] ^= 0x20;
    refusal(opened(flipped, &Options::default()), &["byte 1024", "checksum"]);
}

#[test]
fn headers_that_say_more_are_bounded_and_checked() {
    let big = vec![b'x'; (1 << 20) + 1];
    let cases: [(u8, &str, &[u8], &str); 6] = [
        (b'x', "", &big, "1 MiB"),
        (b'L', "", &big, "1 MiB"),
        (b'x', "", b"99 path=x\n", "length that it says"),
        (b'g', "", b"9 size=3\n", "all members"),
        (b'2', "link.jpg", b"content", "link, but has contents"),
        (b'M', "part.jpg", b"content", "volumes"),
    ];
    for (kind, name, content, word) in cases {
        let mut tar = TarWriter::default();
        tar.entry(kind, name, content).entry(b'0', "a.jpg", b"one");
        refusal(opened(tar.end(), &Options::default()), &["byte 0", word]);
    }
    let mut comment = TarWriter::default();
    comment.entry(b'g', "pax_global_header", pax_line("comment", "a commit").as_bytes());
    comment.entry(b'0', "a.jpg", b"one");
    assert_eq!(contents(opened(comment.end(), &Options::default())).len(), 1);
}

#[test]
fn links_and_files_whose_map_cannot_be_are_records_that_cannot_be_read() {
    let mut tar = TarWriter::default();
    tar.entry(b'0', "0.jpg", b"fine").entry(b'1', "1.jpg", b"").entry(b'2', "2.jpg", b"");
    tar.changed(b'S', "3.jpg", b"", |header| header[482] = 1);
    // Two more blocks of the map.
    let mut map = vec![0; 1024];
    map[504] = 1;
    tar.0.extend(map);
    tar.pax("GNU.sparse.name", "4.jpg").entry(b'0', "GNUSparseFile.1/4.jpg", b"map and data");
    tar.entry(b'0', "5.jpg", b"fine too");
    let (dir, source) = opened(tar.end(), &Options::default());
    let found = read(&*source.unwrap(), &dir);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["0.jpg", "1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"]);
    for (name, content) in &found {
        match content {
            Ok(content) => assert!(content.starts_with(b"fine"), "{name}"),
            Err(error) if ["1.jpg", "2.jpg"].contains(&name.as_str()) => assert!(error.contains("link"), "{error}"),
            Err(error) if *name == "3.jpg" => assert!(error.contains("empty"), "{error}"),
            Err(error) => assert!(error.contains("how large"), "{error}"),
        }
    }
    assert_eq!(found.iter().filter(|(_, content)| content.is_err()).count(), 4);
}

#[test]
fn compressed_tars_are_refused_with_the_program_that_helps() {
    for (name, bytes, word) in [
        ("x.tgz", &b"\x1f\x8b\x08"[..], "gunzip"),
        ("x.tar.bz2", b"BZh91AY&SY", "bunzip2"),
        ("x.tar.xz", b"\xfd7zXZ\0", "unxz"),
        ("x.tar.zst", b"\x28\xb5\x2f\xfd", "unzstd"),
    ] {
        let dir = folder(&[(name, bytes.to_vec())]);
        let error = open(dir.path().join(name).to_str().unwrap(), &Options::default()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn whatever_the_bytes_nothing_panics_and_what_is_read_was_written() {
    let mut tar = TarWriter::default();
    tar.pax("path", "a/1.jpg").entry(b'0', "cut", b"first content").entry(b'0', "a/1.cls", b"3");
    tar.entry(b'L', "", b"b/2.jpg\0").entry(b'0', "cut", b"second").entry(b'0', "b/2.cls", b"4");
    let genuine = tar.end();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.tar");
    // A generator of its own, so that each run is the same.
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut opened_ones = 0;
    for _ in 0..2000 {
        let mut bytes = genuine.clone();
        match next(3) {
            0 => (0..=next(3)).for_each(|_| bytes[next(5120)] ^= 1 << next(8)),
            1 => bytes.truncate(next(genuine.len())),
            _ => {
                let (from, to, len) = (next(4000), next(4000), next(1000));
                bytes.copy_within(from..from + len, to);
            }
        }
        fs::write(&file, &bytes).unwrap();
        let Ok(source) = open(&format!("tar:{}", file.display()), &Options::default()) else { continue };
        opened_ones += 1;
        let mut content = Vec::new();
        for record in 0..source.len() {
            match source.read(record, u64::MAX, &mut content) {
                // The contents have no checksum in a tar: they are what the file has, in one piece.
                Ok(()) => assert!(bytes.windows(content.len()).any(|window| window == content)),
                Err(error) => assert!(matches!(error.kind, ReadErrorKind::Damaged | ReadErrorKind::Empty), "{error}"),
            }
        }
    }
    assert!(opened_ones > 100, "{opened_ones}");
}
