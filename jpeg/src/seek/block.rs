//! The bytes that are kept of a picture's seek points:
//!
//! ```text
//!   8 bytes   XXH3 of all that follows, with XXH3 of the file as its seed: a block is refused if a byte of it or of the
//!             file has changed
//!   1         version of this format
//!   2 + 2     MCUs between points, and points of a row
//!   the points, row after row, each as numbers of 7 bits per byte, the lowest first:
//!     bits of the file between this point and the one before
//!     for each component, its DC value less that of the point above, as 0, -1, 1, -2 ...
//! ```
//!
//! The first point counts from the beginning of the scan's data. Those of the first row have no point above, and take the
//! one before. A block may end after any point.

use twox_hash::XxHash3_64;

use super::Point;
use super::grid::{Grid, HEAD};

const VERSION: u8 = 1;
const TAG: usize = 8;

/// The file that a block is of.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct FileOfBlock {
    /// XXH3 of its bytes.
    pub(super) hash: u64,
    /// The bits of it among which points are: from the beginning of the scan's data to its end.
    pub(super) data: (u64, u64),
    /// Components of the picture, 1 or 3.
    pub(super) components: usize,
}

/// XXH3 of a file.
pub(super) fn hash(file: &[u8]) -> u64 {
    XxHash3_64::oneshot(file)
}

/// Writes the points into `block`, in place of what is there.
pub(super) fn write(block: &mut Vec<u8>, grid: &Grid, file: &FileOfBlock, points: &[Point]) {
    block.clear();
    block.extend([0; TAG]);
    block.push(VERSION);
    block.extend(shape(grid));
    let mut before = file.data.0;
    for (number, point) in points.iter().enumerate() {
        put(block, point.at - before);
        before = point.at;
        let above = above(points, grid, number);
        for (dc, above) in point.dc.iter().zip(above).take(file.components) {
            let difference = dc.wrapping_sub(above);
            put(block, u64::from(((difference << 1) ^ (difference >> 31)).cast_unsigned()));
        }
    }
    seal(block, file.hash);
}

/// Reads the points of a block of this file into `points`, in place of what is there. `None` if it is not this file's, is
/// damaged, or has points that this picture cannot have; `points` may hold anything then.
pub(super) fn read(block: &[u8], grid: &Grid, file: &FileOfBlock, points: &mut Vec<Point>) -> Option<()> {
    points.clear();
    let tag = block.first_chunk().map(|tag| u64::from_le_bytes(*tag))?;
    let is_whole = tag == XxHash3_64::oneshot_with_seed(file.hash, &block[TAG..]);
    let (head, mut rest) = block.split_at_checked(HEAD)?;
    if !is_whole || head[TAG] != VERSION || head[TAG + 1..] != shape(grid) {
        return None;
    }
    let mut at = file.data.0;
    while !rest.is_empty() {
        if points.len() == grid.count() {
            return None;
        }
        at = at.checked_add(take(&mut rest)?).filter(|at| *at < file.data.1)?;
        let mut dc = above(points, grid, points.len());
        for dc in dc.iter_mut().take(file.components) {
            let folded = u32::try_from(take(&mut rest)?).ok()?;
            *dc = dc.wrapping_add((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed());
        }
        points.push(Point { at, dc });
    }
    Some(())
}

/// Makes the tag of a block say that it is whole and of this file.
pub(super) fn seal(block: &mut [u8], hash_of_file: u64) {
    if let Some((tag, rest)) = block.split_first_chunk_mut::<TAG>() {
        *tag = XxHash3_64::oneshot_with_seed(hash_of_file, rest).to_le_bytes();
    }
}

fn shape(grid: &Grid) -> [u8; 4] {
    // A row has at most 8,192 MCUs, and points are no farther apart.
    let [[a, b], [c, d]] = [grid.every, grid.per_row].map(|n| u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes());
    [a, b, c, d]
}

/// The DC values that those of a point are compared with. The points before it are there.
fn above(points: &[Point], grid: &Grid, number: usize) -> [i32; 3] {
    let back = if number < grid.per_row as usize { 1 } else { grid.per_row as usize };
    number.checked_sub(back).map_or([0; 3], |above| points[above].dc)
}

fn put(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    block.push(number.to_le_bytes()[0]);
}

/// The number that `bytes` begin with, if it has at most 35 bits.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..5 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << (7 * place);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
