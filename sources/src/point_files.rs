//! The seek points of a dataset's pictures, in a file beside its index (semantics rule 53).
//!
//! ```text
//!   8 bytes      "FBSEEK", and two bytes 0
//!   u32, u32     version of this form; 0
//!   32           fingerprint of the dataset
//!   u64, u64     records of the dataset; how many of them have points
//!   u64          for each record, and once more: where its block begins in the file, which is where the one before ends
//!   the blocks, one behind the other, in the order of the records; a record without points has none
//! ```
//!
//! Numbers are little-endian. What is in a block is for `forebay-jpeg` to say: a block has a checksum over itself and its
//! picture. So a wrong number here leads to a block that is refused, and to no wrong pixel.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"FBSEEK\0\0";
const VERSION: u32 = 1;
/// Bytes before the table of blocks.
const HEAD: usize = 64;
const NUMBER: usize = size_of::<u64>();
/// The longest block of a picture is below this.
const MOST_BLOCK: u64 = 2 << 20;
/// Numbers of the table that are read at once.
const AT_ONCE: usize = 512;

/// What a file of seek points says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointsAbout {
    /// The dataset's fingerprint.
    pub fingerprint: [u8; 32],
    /// Records of the dataset.
    pub records: u64,
    /// How many of them have points.
    pub pictures: u64,
}

/// An open file of seek points.
#[derive(Debug)]
struct PointFile {
    file: File,
    about: PointsAbout,
}

/// The files of seek points of a dataset: one, or those of the datasets that it is made of.
#[derive(Clone, Debug, Default)]
pub struct PointFiles {
    parts: Vec<PointPart>,
}

/// A file's records within a dataset.
#[derive(Clone, Debug)]
struct PointPart {
    /// The number of its first record.
    first: u64,
    /// How many of its records the dataset has.
    records: u64,
    file: Arc<PointFile>,
}

impl PointsAbout {
    /// Where the first block begins. Nothing if a file cannot be so large.
    pub fn blocks(&self) -> Option<u64> {
        self.records.checked_add(1)?.checked_mul(NUMBER as u64)?.checked_add(HEAD as u64)
    }

    /// What is at the beginning of the file.
    pub fn to_bytes(&self) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[16..48].copy_from_slice(&self.fingerprint);
        head[48..56].copy_from_slice(&self.records.to_le_bytes());
        head[56..].copy_from_slice(&self.pictures.to_le_bytes());
        head
    }

    fn of_bytes(head: &[u8; HEAD]) -> Result<Self, &'static str> {
        let number = |at: usize| u64::from_le_bytes(head[at..at + NUMBER].try_into().expect("8 bytes are 8 bytes"));
        if head[..8] != MAGIC {
            return Err("it is no file of seek points");
        }
        if head[8..16] != u64::from(VERSION).to_le_bytes() {
            return Err("it is of another version of Forebay");
        }
        let fingerprint = head[16..48].try_into().expect("32 bytes are 32 bytes");
        Ok(Self { fingerprint, records: number(48), pictures: number(56) })
    }
}

impl PointFile {
    /// The numbers of the table from this one on, as far as they are read at once: where blocks begin.
    fn bounds(&self, from: u64) -> io::Result<Vec<u64>> {
        let left = usize::try_from(self.about.records + 1 - from).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(AT_ONCE) * NUMBER];
        self.file.read_exact_at(&mut bytes, HEAD as u64 + from * NUMBER as u64)?;
        Ok(bytes.as_chunks::<NUMBER>().0.iter().map(|bound| u64::from_le_bytes(*bound)).collect())
    }

    /// As far as to this record.
    fn each(&self, end: u64, each: &mut impl FnMut(u64, &[u8]) -> ControlFlow<()>) -> io::Result<ControlFlow<()>> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "its table of blocks is damaged");
        let (mut record, mut block) = (0, Vec::new());
        while record < end {
            for two in self.bounds(record)?.windows(2).take(usize::try_from(end - record).unwrap_or(usize::MAX)) {
                let len = two[1].checked_sub(two[0]).filter(|len| *len <= MOST_BLOCK).ok_or_else(damaged)?;
                if len > 0 {
                    block.resize(usize::try_from(len).map_err(|_| damaged())?, 0);
                    self.file.read_exact_at(&mut block, two[0])?;
                    if each(record, &block).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                record += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl PointFiles {
    /// Opens a file of the seek points of a dataset with this fingerprint and number of records.
    ///
    /// # Errors
    /// The file is of another dataset, of another version, or not whole. The text says which.
    pub fn open(file: File, fingerprint: [u8; 32], records: u64) -> Result<Self, String> {
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => "it is no file of seek points".to_owned(),
            _ => error.to_string(),
        })?;
        let about = PointsAbout::of_bytes(&head)?;
        if (about.fingerprint, about.records) != (fingerprint, records) {
            return Err("it is of another dataset, or of what this one was before".to_owned());
        }
        let len = file.metadata().map_err(|error| error.to_string())?.len();
        let blocks = about.blocks().ok_or("it is damaged")?;
        let file = PointFile { file, about };
        let is_whole = || {
            let (first, last) = (file.bounds(0)?.first().copied(), file.bounds(records)?.first().copied());
            Ok::<_, io::Error>((first, last) == (Some(blocks), Some(len)))
        };
        if len < blocks || !is_whole().is_ok_and(|whole| whole) {
            return Err("it is cut or damaged".to_owned());
        }
        Ok(Self { parts: vec![PointPart { first: 0, records, file: Arc::new(file) }] })
    }

    /// Those of several datasets as one. Each comes with the number of its first record, in order.
    pub fn join(parts: impl IntoIterator<Item = (u64, Self)>) -> Self {
        let shifted = |(before, files): (u64, Self)| {
            files.parts.into_iter().map(move |part| PointPart { first: before + part.first, ..part })
        };
        Self { parts: parts.into_iter().flat_map(shifted).collect() }
    }

    /// The seek points of the first `records` records.
    #[must_use]
    pub fn first(mut self, records: u64) -> Self {
        self.parts.retain(|part| part.first < records);
        for part in &mut self.parts {
            part.records = part.records.min(records - part.first);
        }
        self
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// At most how many pictures have points, as the files say.
    pub fn pictures(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.file.about.pictures.min(part.records)))
    }

    /// Reads all files from the beginning to the end, and calls `each` with the record and the block of each picture that has
    /// points, in order, until it breaks.
    ///
    /// # Errors
    /// A file cannot be read further, or is damaged.
    pub fn each(&self, mut each: impl FnMut(u64, &[u8]) -> ControlFlow<()>) -> io::Result<()> {
        for PointPart { first, records, file } in &self.parts {
            if file.each(*records, &mut |record, block| each(first + record, block))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    const FINGERPRINT: [u8; 32] = [3; 32];

    /// A file of these blocks.
    fn bytes(blocks: &[&[u8]]) -> Vec<u8> {
        let pictures = blocks.iter().filter(|block| !block.is_empty()).count() as u64;
        let about = PointsAbout { fingerprint: FINGERPRINT, records: blocks.len() as u64, pictures };
        let mut bytes = about.to_bytes().to_vec();
        let mut end = about.blocks().unwrap();
        bytes.extend(end.to_le_bytes());
        for block in blocks {
            end += block.len() as u64;
            bytes.extend(end.to_le_bytes());
        }
        bytes.extend(blocks.concat());
        bytes
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    fn open(bytes: &[u8], records: u64) -> Result<PointFiles, String> {
        PointFiles::open(file(bytes), FINGERPRINT, records)
    }

    /// The points read from the files, and the error that ended the read.
    fn read(files: &PointFiles) -> (Vec<(u64, Vec<u8>)>, io::Result<()>) {
        let mut blocks = Vec::new();
        let end = files.each(|record, block| {
            blocks.push((record, block.to_vec()));
            ControlFlow::Continue(())
        });
        (blocks, end)
    }

    #[test]
    fn rule_53_each_record_has_the_block_that_was_written_for_it() {
        let files = open(&bytes(&[b"one", b"", b"three"]), 3).unwrap();
        assert_eq!((files.pictures(), files.is_empty()), (2, false));
        assert_eq!(read(&files).0, [(0, b"one".to_vec()), (2, b"three".to_vec())]);
        let mut first = None;
        let stopped = files.each(|record, _| {
            assert_eq!(first.replace(record), None, "it was told to stop");
            ControlFlow::Break(())
        });
        assert!(stopped.is_ok() && first == Some(0));
        assert!(PointFiles::default().is_empty() && read(&PointFiles::default()).0.is_empty());
    }

    #[test]
    fn rule_53_a_file_may_have_more_records_than_are_read_at_once() {
        let numbers: Vec<_> = (0..3 * AT_ONCE as u64).map(u64::to_le_bytes).collect();
        let blocks: Vec<&[u8]> = numbers.iter().map(|number| &number[..]).collect();
        for records in [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE] {
            let (read, end) = read(&open(&bytes(&blocks[..records]), records as u64).unwrap());
            assert!(end.is_ok() && read.len() == records);
            assert!(read.iter().all(|(record, block)| *block == record.to_le_bytes()));
        }
    }

    #[test]
    fn rule_53_the_points_of_several_datasets_follow_each_other() {
        let [first, last] = [&[&b"a"[..], b"b"][..], &[b"y", b"z"]].map(|blocks| open(&bytes(blocks), 2).unwrap());
        // The dataset between them has three records, and no points.
        let files = PointFiles::join([(0, first), (2, PointFiles::default()), (5, last)]);
        let blocks = [(0, b"a"), (1, b"b"), (5, b"y"), (6, b"z")].map(|(record, block)| (record, block.to_vec()));
        assert_eq!(read(&files).0, blocks);
        assert_eq!(files.pictures(), 4);
        let first = files.clone().first(6);
        assert_eq!(
            (read(&first).0, first.pictures()),
            (blocks[..3].to_vec(), 3),
            "the last file has one record of these"
        );
        let joined = PointFiles::join([(0, files.clone().first(1)), (1, files)]);
        assert_eq!(read(&joined).0[1], (1, b"a".to_vec()), "the record behind a cut dataset is of the next one");
        assert_eq!(read(&joined).0.len(), 5);
    }

    #[test]
    fn rule_53_a_file_that_is_not_this_datasets_or_not_whole_is_refused_with_the_reason() {
        let good = bytes(&[b"one", b"two"]);
        let refusal = |change: fn(&mut Vec<u8>)| {
            let mut changed = good.clone();
            change(&mut changed);
            open(&changed, 2).unwrap_err()
        };
        for (why, change) in [
            ("no file of seek points", (|bytes| bytes[0] = 0) as fn(&mut Vec<u8>)),
            ("no file of seek points", |bytes| bytes.truncate(30)),
            ("another version", |bytes| bytes[8] = 2),
            ("another dataset", |bytes| bytes[16] = 0),
            ("another dataset", |bytes| bytes[48] = 3),
            ("cut or damaged", |bytes| bytes.truncate(70)),
            ("cut or damaged", |bytes| bytes.truncate(bytes.len() - 1)),
            ("cut or damaged", |bytes| bytes.push(0)),
            ("cut or damaged", |bytes| bytes[64] = 0),
        ] {
            let refused = refusal(change);
            assert!(refused.contains(why), "{refused} is not {why}");
        }
        assert!(open(&good, 3).unwrap_err().contains("another dataset"));
    }

    #[test]
    fn rule_53_a_damaged_table_ends_the_reading_and_takes_no_more_memory_than_a_block() {
        for bound in [0, 1, 1 << 40, u64::MAX] {
            let mut damaged = bytes(&[b"one", b"two", b"three"]);
            damaged[80..88].copy_from_slice(&u64::to_le_bytes(bound));
            let (blocks, end) = read(&open(&damaged, 3).unwrap());
            assert_eq!(blocks, [(0, b"one".to_vec())], "{bound}");
            assert!(end.unwrap_err().to_string().contains("damaged"));
        }
        // This one has bounds that a file could have. The blocks are wrong, which their checksums tell.
        let mut shifted = bytes(&[b"one", b"two", b"three"]);
        shifted[80] -= 1;
        let (blocks, end) = read(&open(&shifted, 3).unwrap());
        assert!(end.is_ok() && blocks[1].1 == b"tw" && blocks[2].1 == b"othree");
    }
}
