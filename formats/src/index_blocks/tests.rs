//! Tests of indexes of several blocks: what is read, and what becomes of an index that changes while it is open.

use std::fs;

use super::*;

/// A file of three blocks and a part of one, with the bytes that are in them.
fn index() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.arrow");
    let byte = |at: u64| (at % 251).to_le_bytes()[0] ^ (at >> 13).to_le_bytes()[0];
    let content: Vec<u8> = (0..3 * BLOCK + 1000).map(byte).collect();
    let footer = [9; 40];
    let arrow = [&content[..], &footer, &40_u32.to_le_bytes(), b"ARROW1"].concat();
    fs::write(&path, arrow).unwrap();
    seal(&File::options().read(true).write(true).open(&path).unwrap()).unwrap();
    (dir, path, content)
}

fn read(blocks: &IndexBlocks, start: u64, len: usize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![1; len];
    blocks.read(start, &mut bytes).map_err(|BadIndex(problem)| problem)?;
    Ok(bytes)
}

#[test]
fn rule_53_any_bytes_of_an_index_are_read_within_a_block_and_across_blocks_and_none_beyond_the_end() {
    let (_dir, path, content) = index();
    let (blocks, footer) = IndexBlocks::open(&path).unwrap();
    assert_eq!((footer, blocks.len()), (vec![9; 40], content.len() as u64));
    for (start, len) in [(0, 8), (65_532, 8), (65_536, 65_536), (5, 150_000), (197_600, 8), (0, content.len())] {
        assert_eq!(read(&blocks, start as u64, len).unwrap(), content[start..start + len], "{start}, {len}");
    }
    for (start, len) in [(content.len() as u64, 1), (content.len() as u64 - 7, 8), (u64::MAX - 3, 2), (1 << 40, 8)] {
        read(&blocks, start, len).unwrap_err();
    }
    assert_eq!(blocks.failure(), None, "the caller has the error");
}

#[test]
fn rule_53_a_block_that_changes_while_the_index_is_open_is_refused_and_the_others_are_not() {
    let (_dir, path, content) = index();
    let (blocks, _) = IndexBlocks::open(&path).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    for bit in [0, 7, 77_777 * 8 + 3, 131_071 * 8, 131_072 * 8 + 5, content.len() * 8 - 1] {
        let (at, changed) = (bit / 8, content[bit / 8] ^ (1 << (bit % 8)));
        file.write_all_at(&[changed], at as u64).unwrap();
        IndexBlocks::forget_all();
        assert!(read(&blocks, at as u64, 1).unwrap_err().contains("not what was written"));
        let other = (at as u64 / BLOCK + 1) % 3 * BLOCK;
        assert_eq!(read(&blocks, other, 10).unwrap(), content[usize::try_from(other).unwrap()..][..10]);
        file.write_all_at(&content[at..=at], at as u64).unwrap();
        assert_eq!(read(&blocks, at as u64, 1).unwrap(), content[at..=at], "a block that was refused is not kept");
    }
    for len in [200_000, BLOCK * 2 + 1, BLOCK, 1, 0] {
        file.set_len(len).unwrap();
        IndexBlocks::forget_all();
        assert!(read(&blocks, content.len() as u64 - 1, 1).is_err() == (len < content.len() as u64), "{len}");
        assert_eq!(read(&blocks, 0, 1).ok(), (len >= BLOCK).then(|| content[..1].to_vec()), "{len}");
    }
    let mut bytes = [7; 4];
    blocks.read_or_fail(3, &mut bytes);
    assert_eq!(bytes, [0; 4]);
    let failure = blocks.failure().unwrap();
    assert!(failure.contains("x.arrow") && failure.contains("--rebuild"), "{failure}");
}

#[test]
fn rule_53_a_file_that_replaces_an_open_index_changes_nothing() {
    let (dir, path, content) = index();
    let (blocks, _) = IndexBlocks::open(&path).unwrap();
    fs::write(dir.path().join("new"), "other").unwrap();
    fs::rename(dir.path().join("new"), &path).unwrap();
    IndexBlocks::forget_all();
    assert_eq!(read(&blocks, 0, content.len()).unwrap(), content);
}

#[test]
fn a_file_that_is_no_index_takes_no_memory_of_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.arrow");
    let file = File::create(&path).unwrap();
    for len in [0, 3, 10, 1 << 40] {
        file.set_len(len).unwrap();
        assert!(matches!(IndexBlocks::open(&path), Err(NoBlocks::Bad(_))), "{len}");
    }
    for footer in [u32::MAX, 1 << 30, 0] {
        let behind = [&footer.to_le_bytes()[..], b"ARROW1"].concat();
        file.write_all_at(&behind, (1 << 40) - behind.len() as u64).unwrap();
        assert!(IndexBlocks::open(&path).is_err(), "{footer}");
    }
}
