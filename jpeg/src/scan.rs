//! The MCUs of a scan, a row at a time: coefficients of the wanted blocks, and the DC values that carry over the others.
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

use std::ops::Range;

use crate::blocks::{BLOCK, Blocks};
use crate::entropy::{Bits, Order, PaddedBlock, Tables};
use crate::fault::Fault;
use crate::frame::Frame;
use crate::header::{Component, Header};
use crate::idct::Size;
use crate::path::Path;
use crate::region::Cut;
use crate::restarts::Restarts;
use crate::seek::{Point, SeekPoints};
use crate::window::{Reading, Window};

/// What is wanted of a component's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// Only what the next blocks need to know.
    Nothing,
    /// The DC value.
    Dc,
    /// All of it.
    All,
}

/// The state between two MCU rows, with the coefficients of one.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    window: Window,
    bits: Bits,
    codes: Codes,
    /// By component: the DC value of the block before.
    dc: [i32; 3],
    restarts: Restarts,
    blocks: Blocks,
}

/// The Huffman codes of a scan.
#[derive(Debug, Default)]
struct Codes {
    tables: [Box<Tables>; 3],
    /// By component: which of the tables it uses.
    table_of: [usize; 3],
}

/// An MCU row to be parsed.
#[derive(Clone, Debug)]
pub(crate) struct McuRow {
    /// Its number in the picture.
    pub(crate) number: u32,
    /// MCUs that are parsed.
    pub(crate) mcus: Range<u32>,
    /// Those of them that are in the cut.
    pub(crate) columns: Range<u32>,
    /// By component: what is wanted in the cut.
    pub(crate) wanted: [Wanted; 3],
}

impl Codes {
    /// The tables of the header's codes.
    fn make(&mut self, header: &Header, frame: &Frame, cut: &Cut) {
        let dc_only = frame.layouts().iter().any(|layout| layout.size == Size::One);
        let whole = cut.rows.start == 0 && cut.columns == (0..frame.mcus.0) && cut.rows == cut.luma_rows;
        let components = &header.components[..frame.count];
        for (i, component) in components.iter().enumerate() {
            let same = |other: &Component| (other.dc, other.ac) == (component.dc, component.ac);
            let table = components.iter().position(same).unwrap_or(i);
            self.table_of[i] = table;
            if table == i {
                let (dc, ac) = (&header.dc_codes[component.dc], &header.ac_codes[component.ac]);
                self.tables[i].make(dc, ac, dc_only || !whole);
            }
        }
    }
}

impl Scan {
    /// Begins at a scan's first MCU.
    pub(crate) fn begin(&mut self, header: &Header, file: &[u8], frame: &Frame, cut: &Cut, reading: Reading) {
        self.codes.make(header, frame, cut);
        self.window.begin(file, header.data_start, reading);
        self.bits = Bits::first(self.window.bytes());
        self.dc = [0; 3];
        self.restarts = Restarts::first(header.restart_interval);
        self.blocks.place(frame.layouts(), cut.columns.len());
    }

    /// Continues at a point, before the MCU with this number. The file is not needed from byte `until` on.
    pub(crate) fn enter(&mut self, file: &[u8], point: &Point, mcu: u32, until: usize) {
        let byte = usize::try_from(point.at / 8).unwrap_or(usize::MAX).min(file.len());
        self.window.begin(file, byte, Reading { until, placed: true });
        self.bits = Bits::within_byte(self.window.bytes(), (point.at % 8) as u32);
        self.dc = point.dc;
        self.restarts = Restarts::at(self.restarts.interval, mcu);
    }

    /// The coefficients of the row that was parsed last.
    pub(crate) fn blocks(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    /// Parses the next MCU row, and compares the points that it passes or adds them.
    pub(crate) fn next_row(
        &mut self,
        path: Path,
        file: &[u8],
        order: &Order,
        row: &McuRow,
        points: Option<&mut SeekPoints>,
    ) -> Result<(), Fault> {
        match path {
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => bmi::parse(self, file, order, row, points),
            _ => self.parse(file, order, row, points),
        }
    }

    #[inline(always)]
    fn parse(
        &mut self,
        file: &[u8],
        order: &Order,
        row: &McuRow,
        mut points: Option<&mut SeekPoints>,
    ) -> Result<(), Fault> {
        let mut next_point = points.as_deref().map_or(u32::MAX, |points| points.next_column(row.mcus.start));
        for mcu in row.mcus.clone() {
            if !self.window.has_mcu(self.bits.used()) {
                let used = self.bits.droppable();
                self.window.fill(file, used);
                self.bits.shift_back(used);
            }
            if mcu == next_point
                && let Some(points) = points.as_deref_mut()
            {
                next_point = self.pass_point(row.number, mcu, points)?;
            }
            if self.restarts.interval > 0 {
                if self.restarts.due_in == 0 {
                    self.restart(file)?;
                }
                self.restarts.due_in -= 1;
            }
            let good = if row.columns.contains(&mcu) {
                self.parse_mcu(order, (mcu - row.columns.start) as usize, row.wanted)
            } else {
                self.skip_mcu()
            };
            good.ok_or(Fault::Irregular("there is no such Huffman code, or a block with too many coefficients"))?;
            if self.bits.used() > self.window.len() {
                return Err(Fault::Truncated);
            }
        }
        // No picture has DC values that need more than 16 bits.
        let wild = |dc: &i32| i16::try_from(*dc).is_err();
        if self.dc.iter().any(wild) { Err(Fault::Irregular("DC values that grow without end")) } else { Ok(()) }
    }

    /// Compares or adds the point before an MCU, and gives the column of the row's next point. It is called so rarely that the
    /// loop over the MCUs should have nothing of it.
    #[inline(never)]
    fn pass_point(&mut self, row: u32, column: u32, points: &mut SeekPoints) -> Result<u32, Fault> {
        let used = self.bits.used_bits();
        let byte = self.window.place(used / 8) as u64;
        points.pass(row, column, Point { at: byte * 8 + (used % 8) as u64, dc: self.dc })?;
        Ok(points.next_column(column + 1))
    }

    #[inline(always)]
    fn parse_mcu(&mut self, order: &Order, mcu: usize, wanted: [Wanted; 3]) -> Option<()> {
        let Self { window, codes: Codes { tables, table_of }, dc, blocks, .. } = self;
        let Blocks { places, place_count, coefficients, lasts, .. } = blocks;
        let mut bits = self.bits;
        let table_of = table_of.map(|table| &*tables[table]);
        for place in &places[..*place_count] {
            let tables = table_of[place.component];
            let number = place.first + mcu * place.step;
            let block: &mut PaddedBlock = coefficients.get_mut(number * BLOCK..)?.first_chunk_mut()?;
            let last = lasts.get_mut(number)?;
            let dc = &mut dc[place.component];
            let difference;
            (bits, difference) = if wanted[place.component] == Wanted::All {
                block[..BLOCK].fill(0);
                let (bits, decoded) = tables.block(bits, window.bytes(), order, block)?;
                *last = decoded.last;
                (bits, decoded.dc_difference)
            } else {
                tables.skip_block(bits, window.bytes())?
            };
            *dc = dc.wrapping_add(i32::from(difference));
            #[expect(clippy::cast_possible_truncation, reason = "checked once per row")]
            let value = *dc as i16;
            block[0] = value;
        }
        self.bits = bits;
        Some(())
    }

    #[inline(always)]
    fn skip_mcu(&mut self) -> Option<()> {
        let Self { window, codes: Codes { tables, table_of }, dc, blocks, .. } = self;
        let mut bits = self.bits;
        for place in &blocks.places[..blocks.place_count] {
            let difference;
            (bits, difference) = tables[table_of[place.component]].skip_block(bits, window.bytes())?;
            let dc = &mut dc[place.component];
            *dc = dc.wrapping_add(i32::from(difference));
        }
        self.bits = bits;
        Some(())
    }

    #[cold]
    fn restart(&mut self, file: &[u8]) -> Result<(), Fault> {
        self.window.restart(file, self.bits.used(), self.restarts.number)?;
        self.bits = Bits::first(self.window.bytes());
        self.dc = [0; 3];
        self.restarts = self.restarts.passed();
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
mod bmi {
    //! The same code, compiled with the shifts of BMI2, which leave the flags alone.
    #![allow(unsafe_code, reason = "calls a function that is compiled for more instructions")]

    use super::{Fault, McuRow, Order, Path, Scan, SeekPoints};

    pub(super) fn parse(
        scan: &mut Scan,
        file: &[u8],
        order: &Order,
        row: &McuRow,
        points: Option<&mut SeekPoints>,
    ) -> Result<(), Fault> {
        assert!(Path::Avx2.is_available(), "the path is chosen among the processor's");
        // SAFETY: the processor has the instructions, as was just looked.
        unsafe { compiled(scan, file, order, row, points) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn compiled(
        scan: &mut Scan,
        file: &[u8],
        order: &Order,
        row: &McuRow,
        points: Option<&mut SeekPoints>,
    ) -> Result<(), Fault> {
        scan.parse(file, order, row, points)
    }
}
