//! What a processor with many threads needs to decode regions: entropy-coded segments that begin at seek points and at restart
//! markers, without their stuffing, with tables and places for the blocks. No part of the product reads it (decision 92).
//!
//! A segment is within a row of MCUs if it begins at a point. Its end is known where the next point is, or a marker. Beyond
//! its data are zeros.

mod added;

use added::Added;

use crate::Scale;
use crate::fault::Fault;
use crate::frame::Frame;
use crate::header::{Component, Header};
use crate::huffman::Code;
use crate::idct::ZIGZAG;
use crate::region::{Cut, Region};
use crate::seek::SeekPoints;

/// Bits of a code that are looked up at once.
const LOOK: u32 = 10;
/// Bytes of the looks of a code.
const LOOKS: usize = 2 << LOOK;
/// Bytes of the places and factors of coefficients, with some that runs beyond a block's end reach.
const ORDER: usize = 4 * 80;
/// Bytes of the tables of a code, as `benches/gpu/gate/segments.cu` has them.
const TABLE: usize = LOOKS + ORDER + LONG_CODES;
/// Bytes of the codes that are longer than a look: limits and offsets of six lengths and two spare ones, and the symbols.
const LONG_CODES: usize = 8 * 4 + 8 * 4 + 256;
/// In an entry of a look: the block ends.
const END: u16 = 1 << 15;

/// An entropy-coded segment, as the kernel takes it.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Segment {
    /// Where its words begin, and how many these are.
    pub word: u32,
    /// The last one is zero.
    pub words: u32,
    /// Bits of the first word before it.
    pub bit: u32,
    /// Bytes of tables before those of its picture.
    pub tables: u32,
    /// For each block of an MCU, 5 bits: 1, the number of its tables, and its component.
    pub slots: u32,
    /// Blocks that are decoded.
    pub blocks: u32,
    /// The number of the first of them, among the blocks of the launch.
    pub first: u32,
    /// The number of its picture.
    pub picture: u32,
    /// By component: the DC value before.
    pub dc: [i32; 3],
    /// Bits up to its end, those before it included: at least, and at most.
    pub least: u32,
    /// At most.
    pub most: u32,
    /// Whether the DC values at its end are known.
    pub known: u32,
    /// These.
    pub end_dc: [i32; 3],
}

/// Blocks that are beside each other in a picture, as the kernel takes them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The number of the first one.
    pub first: u32,
    /// Blocks from MCU to MCU.
    pub per_mcu: u32,
    /// The binary logarithm of the blocks of an MCU that are in the line.
    pub shift: u32,
    /// How many.
    pub blocks: u32,
    /// Where the samples of the first one go.
    pub at: u32,
    /// From a row of samples to the next.
    pub pitch: u32,
}

/// The planes of a whole picture, of which those samples are made that the region needs.
#[derive(Clone, Copy, Default, Debug)]
pub struct Planes {
    /// Where each begins, and bytes of a row.
    pub at: [u32; 3],
    /// Bytes of a row.
    pub pitches: [u32; 3],
    /// Pixels per chroma sample, across and down.
    pub factors: (u32, u32),
    /// Samples of a chroma plane that are real.
    pub chroma: (u32, u32),
    /// 1 or 3.
    pub count: usize,
}

/// What is launched together, in memory that is used again.
#[derive(Clone, Default, Debug)]
pub struct Launch {
    /// As long as it ever was.
    data: Vec<u8>,
    used: usize,
    /// The tables of all pictures.
    pub tables: Vec<u8>,
    /// In no order that matters.
    pub segments: Vec<Segment>,
    /// Those that the regions need.
    pub lines: Vec<Line>,
    /// Blocks for which there has to be room.
    pub blocks: u32,
    /// Bytes of all planes.
    pub samples: u32,
    pictures: u32,
}

/// Why a picture cannot be decoded so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// It is progressive, or it is not known where the rows begin.
    NoEntry,
    /// The data are irregular, or not where the points say.
    Irregular,
}

impl From<Fault> for Unfit {
    fn from(_: Fault) -> Self {
        Self::Irregular
    }
}

impl Launch {
    /// The data of all segments, each from a word on.
    pub fn data(&self) -> &[u8] {
        &self.data[..self.used]
    }

    /// Forgets all pictures.
    pub fn clear(&mut self) {
        self.used = 0;
        self.tables.clear();
        self.segments.clear();
        self.lines.clear();
        (self.blocks, self.samples, self.pictures) = (0, 0, 0);
    }

    /// Adds a region of a picture, with the points that are loaded.
    ///
    /// # Errors
    /// The picture is for another decoder. What was added of it is gone.
    pub fn add(
        &mut self,
        header: &Header,
        file: &[u8],
        region: Region,
        points: &mut SeekPoints,
    ) -> Result<Planes, Unfit> {
        let before = (self.used, self.tables.len(), self.segments.len(), self.lines.len(), self.blocks, self.samples);
        let added = self.added(header, file, region, points);
        if added.is_err() {
            self.used = before.0;
            self.tables.truncate(before.1);
            self.segments.truncate(before.2);
            self.lines.truncate(before.3);
            (self.blocks, self.samples) = (before.4, before.5);
        } else {
            self.pictures += 1;
        }
        added
    }

    fn added(
        &mut self,
        header: &Header,
        file: &[u8],
        region: Region,
        points: &mut SeekPoints,
    ) -> Result<Planes, Unfit> {
        if header.progressive {
            return Err(Unfit::NoEntry);
        }
        let frame = Frame::new(header, Scale::Full);
        let cut = Cut::new(&frame, region);
        points.open(header, &frame, file);
        let per_mcu = frame.layouts().iter().map(|layout| layout.blocks.0 * layout.blocks.1).sum();
        let like = Segment {
            tables: u32_of(self.tables.len())?,
            slots: self.add_tables(header, &frame),
            picture: self.pictures,
            ..Segment::default()
        };
        let columns = frame.mcus.0;
        let wanted = cut.rows.start * columns + cut.columns.start..(cut.rows.end - 1) * columns + cut.columns.end;
        let (block, base) = (self.blocks, cut.rows.start * columns);
        let restart_interval = header.restart_interval;
        let mut picture = Added { launch: self, file, restart_interval, like, per_mcu, block, base };
        if cut.rows.clone().all(|row| points.know_row(row)) {
            for row in cut.rows.clone() {
                picture.row(points, row, columns, &cut.columns)?;
            }
        } else if let Some(past) = wanted.start.checked_div(restart_interval) {
            picture.base = past * restart_interval;
            picture.restarts(header.data_start, columns, &cut, &wanted)?;
        } else {
            return Err(Unfit::NoEntry);
        }
        let base = picture.base;
        self.blocks = wanted
            .end
            .checked_sub(base)
            .and_then(|mcus| mcus.checked_mul(per_mcu))
            .and_then(|blocks| blocks.checked_add(block))
            .ok_or(Unfit::NoEntry)?;
        self.place(&frame, &cut, block, base, per_mcu)
    }

    /// The lines of a region, and where the planes are.
    fn place(&mut self, frame: &Frame, cut: &Cut, block: u32, base: u32, per_mcu: u32) -> Result<Planes, Unfit> {
        let last = frame.layouts[frame.count - 1];
        let mut planes = Planes {
            factors: last.factors,
            chroma: (last.width, last.height),
            count: frame.count,
            ..Planes::default()
        };
        let mut slot = 0;
        for (component, layout) in frame.layouts().iter().enumerate() {
            let (across, down) = layout.blocks;
            let pitch = frame.mcus.0 * across * 8;
            let rows = frame.mcus.1 * down * 8;
            let at = self.samples;
            (planes.at[component], planes.pitches[component]) = (at, pitch);
            self.samples = pitch.checked_mul(rows).and_then(|size| size.checked_add(at)).ok_or(Unfit::NoEntry)?;
            let wanted = if component == 0 { &cut.luma_rows } else { &cut.rows };
            for row in wanted.clone() {
                let mcu = row * frame.mcus.0 + cut.columns.start - base;
                for line in 0..down {
                    self.lines.push(Line {
                        first: block + mcu * per_mcu + slot + line * across,
                        per_mcu,
                        shift: across.trailing_zeros(),
                        blocks: u32_of(cut.columns.len())? * across,
                        at: at + (row * down + line) * 8 * pitch + cut.columns.start * across * 8,
                        pitch,
                    });
                }
            }
            slot += across * down;
        }
        Ok(planes)
    }

    /// Adds the tables of a picture, and gives what its blocks take of them.
    fn add_tables(&mut self, header: &Header, frame: &Frame) -> u32 {
        let components = &header.components[..frame.count];
        let (mut slots, mut sets, mut shift) = (0, 0, 0);
        let mut numbers = [0; 3];
        for (number, (component, layout)) in components.iter().zip(frame.layouts()).enumerate() {
            let same =
                |other: &Component| (other.dc, other.ac, other.quant) == (component.dc, component.ac, component.quant);
            let first = components.iter().position(same).unwrap_or(number);
            if first == number {
                numbers[number] = sets;
                sets += 1;
                let (dc, ac) = (&header.dc_codes[component.dc], &header.ac_codes[component.ac]);
                let quant = &header.quants[component.quant];
                self.add_table(dc, quant, u16::from);
                self.add_table(ac, quant, |symbol| {
                    if symbol.trailing_zeros() >= 4 && symbol != 0xF0 { END } else { symbol.into() }
                });
            }
            for _ in 0..layout.blocks.0 * layout.blocks.1 {
                let component = u32::try_from(number).expect("there are three");
                slots |= (1 | (numbers[first] << 1) | (component << 3)) << shift;
                shift += 5;
            }
        }
        slots
    }

    /// Adds the tables of a code, with the factors of the coefficients that it is for.
    fn add_table(&mut self, code: &Code, quant: &[u16; 64], meaning: impl Fn(u8) -> u16) {
        let begin = self.tables.len();
        self.tables.resize(begin + TABLE, 0);
        let (looks, rest) = self.tables[begin..].split_at_mut(LOOKS);
        let looks = looks.as_chunks_mut::<2>().0;
        for (first, length, symbol) in code.short_codes(LOOK) {
            let entry = (meaning(symbol) | (u16::from(length) << 8)).to_le_bytes();
            looks[first..first + (1 << (LOOK - u32::from(length)))].fill(entry);
        }
        let (order, long_codes) = rest.split_at_mut(ORDER);
        for (goes, (place, quant)) in order.as_chunks_mut::<4>().0.iter_mut().zip(ZIGZAG.iter().zip(quant)) {
            *goes = ((u32::from(*place) * 2) | (u32::from(*quant) << 16)).to_le_bytes();
        }
        code.long_codes(LOOK, long_codes);
    }
}

fn u32_of(number: usize) -> Result<u32, Unfit> {
    u32::try_from(number).map_err(|_| Unfit::NoEntry)
}
