//! Seek points: places of a picture's scan at which a later decode can begin. The first decode leaves them as it passes.
//!
//! To enter a Huffman-coded scan, a decoder must know where an MCU begins and from which DC values its differences start.
//! [`SeekPoints`] has both for some MCUs of every row. A decode of a region enters each row at the last point before the
//! region, and leaves it behind the region if it knows where the next row begins.
//!
//! The points are those of a prefix of the scan that was parsed without a fault. A decode that gets further adds to them.
//! Points that a decode passes are compared with what it parsed. If one differs, or if anything at all is irregular in a
//! decode that has entered at a point, the decode fails with [`Fault::Misled`]. Then a decode from the scan's start decides.

mod block;
mod grid;
#[cfg(test)]
mod tests;

use crate::fault::Fault;
use crate::frame::Frame;
use crate::header::Header;
use block::FileOfBlock;
use grid::Grid;
pub use grid::Spacing;

/// What has to be known to enter a scan before an MCU.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Point {
    /// Bits of the file before it.
    pub(crate) at: u64,
    /// By component: the DC value of the block before.
    pub(crate) dc: [i32; 3],
}

/// The MCU before which a point is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) point: Point,
}

/// The seek points of one picture after the other, in memory that is used again. A picture's points are kept as a block of
/// bytes.
///
/// A block is accepted as this crate's own if it has the right checksum, which covers the file. The checksum is not a
/// signature. A forged block can cause wrong pixels, but no panic and no read outside of the file.
///
/// ```no_run
/// use forebay_jpeg::{Decoder, Fault, Header, Region, Scale, SeekPoints};
///
/// # let (mut kept, file, region) = (Vec::new(), std::fs::read("a.jpg")?, Region { left: 0, top: 0, width: 1, height: 1 });
/// let mut rgb = vec![0; region.width as usize * region.height as usize * 3];
/// let header = Header::read(&file)?;
/// let (mut decoder, mut points) = (Decoder::default(), SeekPoints::default());
/// points.load(&kept);
/// loop {
///     match decoder.begin_seeking(&header, &file, Scale::Full, region, &mut points).read(&mut rgb) {
///         Err(Fault::Misled) => {} // The points were wrong and are gone.
///         decoded => break decoded?,
///     }
/// };
/// if let Some(block) = points.changed() {
///     kept = block.to_vec();
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct SeekPoints {
    spacing: Spacing,
    grid: Grid,
    file: FileOfBlock,
    points: Vec<Point>,
    /// How many of them are in the block.
    in_block: usize,
    /// The block as it was loaded, or made.
    block: Vec<u8>,
    /// The loaded block must not be kept.
    is_refused: bool,
}

impl SeekPoints {
    /// None yet. Those that are recorded are this close together, and blocks with another spacing are refused.
    pub fn new(spacing: Spacing) -> Self {
        Self { spacing, ..Self::default() }
    }

    /// Takes what is kept of the picture that is decoded next; empty if nothing is.
    pub fn load(&mut self, block: &[u8]) {
        self.load_with(|own| own.extend_from_slice(block));
    }

    /// The same, where `fill` appends the block to an empty vector.
    pub fn load_with<T>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.points.clear();
        self.in_block = 0;
        self.is_refused = false;
        self.block.clear();
        fill(&mut self.block)
    }

    /// The block to keep instead of the loaded one; empty to keep none. `None` if nothing has changed.
    pub fn changed(&mut self) -> Option<&[u8]> {
        if !self.is_refused && self.points.len() == self.in_block {
            return None;
        }
        if self.points.is_empty() {
            self.block.clear();
        } else {
            block::write(&mut self.block, &self.grid, &self.file, &self.points);
        }
        self.in_block = self.points.len();
        self.is_refused = false;
        Some(&self.block)
    }

    /// Whether the points reach as far as the picture has any.
    pub fn is_complete(&self) -> bool {
        self.points.len() == self.grid.count()
    }

    /// Gives a block the checksum of a good one of this file, whatever it holds. For tests.
    #[doc(hidden)]
    pub fn seal(block: &mut [u8], file: &[u8]) {
        block::seal(block, block::hash(file));
    }

    /// Begins a picture: reads the loaded block, if it is this file's.
    pub(crate) fn open(&mut self, header: &Header, frame: &Frame, file: &[u8]) {
        // The scans of a progressive picture begin at different places for each MCU.
        self.grid = if header.progressive { Grid::default() } else { Grid::new(self.spacing, frame.mcus, file.len()) };
        self.points.clear();
        self.in_block = 0;
        if self.grid.count() == 0 {
            self.is_refused |= !self.block.is_empty();
            self.block.clear();
            return;
        }
        let data = (header.data_start as u64 * 8, file.len() as u64 * 8);
        self.file = FileOfBlock { hash: block::hash(file), data, components: frame.count };
        if self.block.is_empty() {
            return;
        }
        match block::read(&self.block, &self.grid, &self.file, &mut self.points) {
            Some(()) => self.in_block = self.points.len(),
            None => self.forget(),
        }
    }

    /// Forgets all points, also those of the loaded block.
    pub(crate) fn forget(&mut self) {
        self.points.clear();
        self.in_block = 0;
        self.is_refused |= !self.block.is_empty();
        self.block.clear();
    }

    /// The last point at or before an MCU, in this row or an earlier one.
    pub(crate) fn entry(&self, row: u32, column: u32) -> Option<Entry> {
        let last = self.points.len().checked_sub(1)?;
        let number = last.min(self.grid.last_before(row, column));
        let (row, column) = self.grid.place(number);
        Some(Entry { row, column, point: self.points[number] })
    }

    /// Whether it is known where a row begins.
    pub(crate) fn know_row(&self, row: u32) -> bool {
        self.grid.per_row > 0 && self.grid.first_of(row) < self.points.len()
    }

    /// The byte of the file before which the MCUs in front of this one end; the largest number if that is not known.
    pub(crate) fn end(&self, row: u32, column: u32) -> usize {
        let behind = self.points.get(self.grid.first_behind(row, column));
        behind.and_then(|point| usize::try_from(point.at / 8 + 1).ok()).unwrap_or(usize::MAX)
    }

    /// The first column that has a point, from this one on; the largest number if none has.
    pub(crate) fn next_column(&self, column: u32) -> u32 {
        let next = (self.grid.per_row > 0).then(|| self.grid.next_column(column)).flatten();
        next.unwrap_or(u32::MAX)
    }

    /// A decode has come to a column that has a point: it is compared, or added if it is the next one.
    ///
    /// # Errors
    /// [`Fault::Misled`] if the scan is elsewhere than the points say.
    pub(crate) fn pass(&mut self, row: u32, column: u32, point: Point) -> Result<(), Fault> {
        let number = self.grid.last_before(row, column);
        match self.points.get(number) {
            Some(known) if *known == point => {}
            Some(_) => return Err(Fault::Misled),
            // A decode leaves no gap.
            None if number == self.points.len() => self.points.push(point),
            None => {}
        }
        Ok(())
    }
}
