//! The checksums of an index. They are between the last batch and the footer of the Arrow file, where other programs do not
//! look. The footer is not one of the blocks, so that it can say the same as that of any Arrow file.
//!
//! ```text
//!   u64          for each block of 64 KiB before this table: its checksum. The last block may be shorter
//!   u64          bytes of all blocks
//!   u64          checksum of the footer, with its length and the magic number behind it
//!   u64          checksum of the table and of the two numbers before
//!   8 bytes      "FBSUMS1", and a byte 0
//!   the footer of the Arrow file, its length (4 bytes) and "ARROW1"
//! ```
//!
//! Numbers are little-endian. The checksum is CRC-64/NVME: the library for it is used for other checksums already, computes it
//! faster than memory is read, and one bit, two bits or 64 neighbouring bits that change are always found.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crc_fast::{CrcAlgorithm, checksum};

/// Bytes of a block.
pub(super) const BLOCK: u64 = 64 << 10;
/// How an Arrow file ends.
const END: &[u8; 6] = b"ARROW1";
/// What is behind the footer: its length, and [`END`].
const BEHIND: usize = 4 + END.len();
const MAGIC: [u8; 8] = *b"FBSUMS1\0";
/// What is between the table and the footer.
const TAIL: usize = 32;
/// The longest footer: it names each of the dataset's packed files.
const MOST_FOOTER: u64 = 1 << 30;

/// The footer of an Arrow file, and where it begins.
#[derive(Debug)]
pub(super) struct Footer {
    pub start: u64,
    pub bytes: Vec<u8>,
}

/// The checksums of the blocks of an index.
#[derive(Debug)]
pub(super) struct Sums {
    len: u64,
    blocks: Vec<u64>,
}

/// The checksum of these bytes.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    checksum(CrcAlgorithm::Crc64Nvme, bytes)
}

fn not_complete() -> io::Error {
    io::Error::other("it is not a complete Arrow file")
}

fn damaged() -> io::Error {
    io::Error::other("its checksums or its footer are not what was written")
}

fn read(file: &File, start: u64, len: u64) -> io::Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| not_complete())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

/// What is behind the footer.
fn behind(footer: &[u8]) -> [u8; BEHIND] {
    let mut behind = [0; BEHIND];
    // `Footer::read` refuses longer ones.
    let len = u32::try_from(footer.len()).unwrap_or(u32::MAX);
    behind[..4].copy_from_slice(&len.to_le_bytes());
    behind[4..].copy_from_slice(END);
    behind
}

fn footer_sum(footer: &[u8]) -> u64 {
    sum(&[footer, &behind(footer)].concat())
}

impl Footer {
    /// Reads the footer of an Arrow file of so many bytes.
    ///
    /// # Errors
    /// It is no Arrow file, or it is cut.
    pub(super) fn read(file: &File, file_len: u64) -> io::Result<Self> {
        let behind_start = file_len.checked_sub(BEHIND as u64).ok_or_else(not_complete)?;
        let mut behind = [0; BEHIND];
        file.read_exact_at(&mut behind, behind_start)?;
        let (len, end) = behind.split_at(4);
        let len = len.first_chunk().map_or(0, |len| u64::from(u32::from_le_bytes(*len)));
        let start = behind_start.checked_sub(len).filter(|_| end == END && len <= MOST_FOOTER);
        let start = start.ok_or_else(not_complete)?;
        Ok(Self { start, bytes: read(file, start, len)? })
    }
}

impl Sums {
    /// Reads the checksums of an index whose footer begins here. Nothing if it has none.
    ///
    /// # Errors
    /// The checksums or the footer are not what was written.
    pub(super) fn read(file: &File, footer_start: u64, footer: &[u8]) -> io::Result<Option<Self>> {
        let Some(tail_start) = footer_start.checked_sub(TAIL as u64) else { return Ok(None) };
        let mut tail = [0; TAIL];
        file.read_exact_at(&mut tail, tail_start)?;
        let (numbers, magic) = tail.as_chunks::<8>().0.split_at(3);
        if magic != [MAGIC] {
            return Ok(None);
        }
        let [len, of_footer, of_table] = [0, 1, 2].map(|place: usize| u64::from_le_bytes(numbers[place]));
        let table_len = len.div_ceil(BLOCK) * size_of::<u64>() as u64;
        if len.checked_add(table_len) != Some(tail_start) || footer_sum(footer) != of_footer {
            return Err(damaged());
        }
        let mut table = read(file, len, table_len)?;
        let blocks = table.as_chunks::<8>().0.iter().map(|sum| u64::from_le_bytes(*sum)).collect();
        table.extend_from_slice(&tail[..16]);
        if sum(&table) == of_table { Ok(Some(Self { len, blocks })) } else { Err(damaged()) }
    }

    /// Bytes of all blocks.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes of a block, and its checksum.
    pub(super) fn of(&self, block: u64) -> Option<(usize, u64)> {
        let expected = *self.blocks.get(usize::try_from(block).ok()?)?;
        let len = self.len.checked_sub(block.checked_mul(BLOCK)?)?.min(BLOCK);
        Some((usize::try_from(len).ok()?, expected))
    }
}

/// Puts the checksums of an Arrow file into it. Fuzz targets do so with files that they have changed.
///
/// # Errors
/// It is no Arrow file, or the disk is full.
pub fn seal(file: &File) -> io::Result<()> {
    let Footer { start, bytes: footer } = Footer::read(file, file.metadata()?.len())?;
    let mut table = Vec::new();
    let mut block = vec![0; usize::try_from(BLOCK.min(start)).unwrap_or(0)];
    for at in (0..start).step_by(block.len().max(1)) {
        let len = usize::try_from((start - at).min(BLOCK)).unwrap_or(0);
        file.read_exact_at(&mut block[..len], at)?;
        table.extend_from_slice(&sum(&block[..len]).to_le_bytes());
    }
    for number in [start, footer_sum(&footer)] {
        table.extend_from_slice(&number.to_le_bytes());
    }
    table.extend_from_slice(&sum(&table).to_le_bytes());
    table.extend_from_slice(&MAGIC);
    let behind = behind(&footer);
    file.write_all_at(&table, start)?;
    file.write_all_at(&[&footer[..], &behind].concat(), start + table.len() as u64)
}
