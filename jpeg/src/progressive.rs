//! Progressive pictures: scan after scan into the coefficients of a region, which are kept until all scans are decoded.
//!
//! Each scan has some bits of some coefficients of all blocks. What is outside of the region is parsed, but only a mask of it
//! is kept: which of a block's coefficients are not zero decides how later scans are read. What is below the region is not
//! read. The order of the scans was checked with the header.
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

mod bands;
mod coefficients;
mod deposit;
pub(crate) mod script;
mod symbols;

use crate::blocks::BlockSource;
use crate::entropy::{Bits, DcTables};
use crate::fault::Fault;
use crate::frame::Frame;
use crate::header::Header;
use crate::idct::{Block, Size};
use crate::path::Path;
use crate::region::Cut;
use crate::restarts::Restarts;
use crate::window::{Reading, Window};
use coefficients::Coefficients;
use deposit::{Deposit, Plain};
use script::{ScanCodes, ScanHeader, Script};
use symbols::Symbols;

/// Rows of blocks that are decoded in one step.
const ROWS: u32 = 16;

/// The state between two steps.
#[derive(Debug, Default)]
pub(crate) struct Progressive {
    script: Script,
    codes: ScanCodes,
    scan: Option<CurrentScan>,
    entropy: Entropy,
    coefficients: Coefficients,
}

/// The scan that is being decoded.
#[derive(Clone, Copy, Debug)]
struct CurrentScan {
    header: ScanHeader,
    /// Columns of its MCUs, and the rows that are needed of them.
    columns: u32,
    rows: u32,
    /// The next row.
    row: u32,
}

/// What is read of a scan's data.
#[derive(Debug, Default)]
struct Entropy {
    window: Window,
    bits: Bits,
    restarts: Restarts,
    /// For each component of the scan: its DC code, and the DC value of the block before.
    dc_tables: [DcTables; 3],
    dc: [i32; 3],
    symbols: Symbols,
    /// Blocks that have ended before they are reached.
    ended: u32,
}

const NO_CODE: Fault = Fault::Irregular("there is no such Huffman code, or a block with too many coefficients");

impl Progressive {
    /// Begins before the first scan. Makes room for the region's coefficients.
    pub(crate) fn begin(&mut self, header: &Header, frame: &Frame, cut: &Cut) {
        self.script = Script::new(header, frame.count);
        self.codes.dc.clone_from(&header.dc_codes);
        self.codes.ac.clone_from(&header.ac_codes);
        self.scan = None;
        self.coefficients.begin(frame, cut);
    }

    /// Gives memory back beyond so many bytes of each kind.
    pub(crate) fn trim(&mut self, bytes: usize) {
        self.coefficients.trim(bytes);
    }

    /// Decodes some rows of a scan. Gives false once there is no more.
    pub(crate) fn step(&mut self, path: Path, file: &[u8], frame: &Frame, cut: &Cut) -> Result<bool, Fault> {
        let Some(scan) = &mut self.scan else {
            let next = self.script.next(file, Some(&mut self.codes))?;
            let Some(next) = next else { return Ok(false) };
            self.open(file, next, frame, cut)?;
            return Ok(true);
        };
        let rows = scan.row..scan.rows.min(scan.row + ROWS);
        scan.row = rows.end;
        let scan = *scan;
        for row in rows {
            self.entropy.row(path, file, &scan, frame, row, &mut self.coefficients)?;
        }
        if scan.row == scan.rows {
            self.scan = None;
            self.script.leave(file, self.entropy.window.at())?;
        }
        Ok(true)
    }

    /// Begins a scan, or leaves it at once if nothing of it is wanted.
    fn open(&mut self, file: &[u8], header: ScanHeader, frame: &Frame, cut: &Cut) -> Result<(), Fault> {
        let first = header.components()[0];
        if !header.is_dc() && frame.layouts[first].size == Size::One {
            return self.script.leave(file, header.data_start);
        }
        let Self { codes, entropy, .. } = self;
        let (columns, all_rows) = header.mcus(frame);
        let rows =
            if header.components().len() == 1 { cut.rows.end * frame.layouts[first].blocks.1 } else { cut.rows.end };
        if header.is_dc() && !header.refines() {
            for (i, tables) in entropy.dc_tables[..header.components().len()].iter_mut().enumerate() {
                let code = &codes.dc[header.dc[i]];
                if !code.is_for_dc() {
                    return Err(Fault::Irregular("a DC code with a symbol above 15"));
                }
                tables.make(code);
            }
        } else if !header.is_dc() {
            // A value of more bits does not fit 16, and in a scan that refines it has one.
            let most_size = if header.refines() { 1 } else { 15 - header.low };
            entropy.symbols.make(&codes.ac[header.ac], most_size);
        }
        entropy.window.begin(file, header.data_start, Reading::default());
        entropy.restarts = Restarts::first(self.script.restart_interval);
        entropy.restart_state();
        self.scan = Some(CurrentScan { header, columns, rows: rows.min(all_rows), row: 0 });
        Ok(())
    }

    /// The blocks of an MCU row, once all scans are decoded.
    pub(crate) fn mcu_row(&mut self, number: u32) -> FinishedRow<'_> {
        FinishedRow { coefficients: &mut self.coefficients, number }
    }
}

/// The blocks of an MCU row.
#[derive(Debug)]
pub(crate) struct FinishedRow<'a> {
    coefficients: &'a mut Coefficients,
    number: u32,
}

impl BlockSource for FinishedRow<'_> {
    fn row(&mut self, component: usize, row: usize) -> (&[Block], &[u8]) {
        self.coefficients.finished(component, self.number, row)
    }
}

impl Entropy {
    /// At the first bit behind a restart marker, or of a scan.
    fn restart_state(&mut self) {
        self.bits = Bits::first(self.window.bytes());
        (self.dc, self.ended) = ([0; 3], 0);
    }

    /// Decodes a row of MCUs.
    fn row(
        &mut self,
        path: Path,
        file: &[u8],
        scan: &CurrentScan,
        frame: &Frame,
        row: u32,
        to: &mut Coefficients,
    ) -> Result<(), Fault> {
        match path {
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => bmi::row(self, file, scan, frame, row, to),
            _ => self.row_with(Plain, file, scan, frame, row, to),
        }
    }

    #[inline(always)]
    fn row_with(
        &mut self,
        deposit: impl Deposit,
        file: &[u8],
        scan: &CurrentScan,
        frame: &Frame,
        row: u32,
        to: &mut Coefficients,
    ) -> Result<(), Fault> {
        let header = &scan.header;
        match (header.is_dc(), header.refines()) {
            (true, refines) => self.dc_row(file, scan, refines, frame, row, to),
            (false, false) => self.new_row(file, scan, row, to),
            (false, true) => self.refined_row(deposit, file, scan, row, to),
        }
    }

    /// Before an MCU: reads on in the file, and passes a restart marker.
    #[inline(always)]
    fn before_mcu(&mut self, file: &[u8]) -> Result<(), Fault> {
        if !self.window.has_mcu(self.bits.used()) {
            let used = self.bits.droppable();
            self.window.fill(file, used);
            self.bits.shift_back(used);
        }
        if self.restarts.interval > 0 {
            if self.restarts.due_in == 0 {
                self.restart(file)?;
            }
            self.restarts.due_in -= 1;
        }
        Ok(())
    }

    #[cold]
    fn restart(&mut self, file: &[u8]) -> Result<(), Fault> {
        self.window.restart(file, self.bits.used(), self.restarts.number)?;
        self.restart_state();
        self.restarts = self.restarts.passed();
        Ok(())
    }

    /// Behind an MCU: whether its bits were there.
    #[inline(always)]
    fn after_mcu(&self) -> Result<(), Fault> {
        if self.bits.used() > self.window.len() { Err(Fault::Truncated) } else { Ok(()) }
    }

    /// DC values of a row of MCUs: all of their bits but the lowest, or one more of these.
    #[inline(always)]
    fn dc_row(
        &mut self,
        file: &[u8],
        scan: &CurrentScan,
        refines: bool,
        frame: &Frame,
        row: u32,
        to: &mut Coefficients,
    ) -> Result<(), Fault> {
        let components = scan.header.components();
        for column in 0..scan.columns {
            self.before_mcu(file)?;
            for (i, &component) in components.iter().enumerate() {
                let (across, down) = if components.len() == 1 { (1, 1) } else { frame.layouts[component].blocks };
                for y in row * down..(row + 1) * down {
                    let mut blocks = to.row(component, y as usize);
                    for x in column * across..(column + 1) * across {
                        let block = blocks.block(x as usize);
                        if refines {
                            let bit = i16::from(self.bits.take(1) == 1);
                            self.bits.refill(self.window.bytes());
                            if let Some(block) = block {
                                block[0] |= bit << scan.header.low;
                            }
                        } else {
                            let tables = &self.dc_tables[i];
                            let (bits, difference) =
                                tables.difference(self.bits, self.window.bytes()).ok_or(NO_CODE)?;
                            self.bits = bits;
                            self.bits.refill(self.window.bytes());
                            let dc = &mut self.dc[i];
                            *dc = dc.wrapping_add(i32::from(difference));
                            let value = i16::try_from(dc.wrapping_shl(scan.header.low.into()))
                                .map_err(|_| Fault::Irregular("DC values that grow without end"))?;
                            if let Some(block) = block {
                                block[0] = value;
                            }
                        }
                    }
                }
            }
            self.after_mcu()?;
        }
        Ok(())
    }

    /// New AC coefficients of a row of blocks.
    #[inline(always)]
    fn new_row(&mut self, file: &[u8], scan: &CurrentScan, row: u32, to: &mut Coefficients) -> Result<(), Fault> {
        let band = scan.header.band();
        let mut blocks = to.row(scan.header.components()[0], row as usize);
        // What is outside of the region is written here.
        let mut outside = [0; 64];
        let mut column = 0;
        while column < scan.columns {
            if self.ended > 0 && self.restarts.interval == 0 {
                let passed = self.ended.min(scan.columns - column);
                self.ended -= passed;
                column += passed;
                continue;
            }
            self.before_mcu(file)?;
            if self.ended > 0 {
                self.ended -= 1;
                column += 1;
                continue;
            }
            let mut mask = blocks.masks[column as usize];
            let block = blocks.block(column as usize).unwrap_or(&mut outside);
            let bits = (self.bits, self.window.bytes());
            let (bits, ended) = band.begin(&self.symbols, bits, block, &mut mask).ok_or(NO_CODE)?;
            blocks.masks[column as usize] = mask;
            (self.bits, self.ended) = (bits, ended.saturating_sub(1));
            self.after_mcu()?;
            column += 1;
        }
        Ok(())
    }

    /// One more bit of the AC coefficients of a row of blocks.
    #[inline(always)]
    fn refined_row(
        &mut self,
        deposit: impl Deposit,
        file: &[u8],
        scan: &CurrentScan,
        row: u32,
        to: &mut Coefficients,
    ) -> Result<(), Fault> {
        let band = scan.header.band();
        let mut blocks = to.row(scan.header.components()[0], row as usize);
        for column in 0..scan.columns as usize {
            self.before_mcu(file)?;
            let mut mask = blocks.masks[column];
            let block = blocks.block(column);
            let bits = (self.bits, self.window.bytes());
            if self.ended > 0 {
                self.ended -= 1;
                self.bits = band.refine_ended(deposit, bits, block, mask);
            } else {
                let (bits, ended) = band.refine(&self.symbols, deposit, bits, block, &mut mask).ok_or(NO_CODE)?;
                blocks.masks[column] = mask;
                (self.bits, self.ended) = (bits, ended.saturating_sub(1));
            }
            self.after_mcu()?;
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
mod bmi {
    //! The same code, compiled with the instructions of BMI, and with PDEP where that is fast.
    #![allow(unsafe_code, reason = "calls functions that are compiled for more instructions")]

    use super::deposit::bmi::{Pdep, is_fast};
    use super::{Coefficients, CurrentScan, Entropy, Fault, Frame, Path, Plain};

    pub(super) fn row(
        entropy: &mut Entropy,
        file: &[u8],
        scan: &CurrentScan,
        frame: &Frame,
        row: u32,
        to: &mut Coefficients,
    ) -> Result<(), Fault> {
        assert!(Path::Avx2.is_available(), "the path is chosen among the processor's");
        if is_fast() {
            // SAFETY: the processor has the instructions, as was just looked.
            unsafe { with_pdep(entropy, file, scan, frame, row, to) }
        } else {
            // SAFETY: as above.
            unsafe { without_pdep(entropy, file, scan, frame, row, to) }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn with_pdep(
        entropy: &mut Entropy,
        file: &[u8],
        scan: &CurrentScan,
        frame: &Frame,
        row: u32,
        to: &mut Coefficients,
    ) -> Result<(), Fault> {
        entropy.row_with(Pdep::new(), file, scan, frame, row, to)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn without_pdep(
        entropy: &mut Entropy,
        file: &[u8],
        scan: &CurrentScan,
        frame: &Frame,
        row: u32,
        to: &mut Coefficients,
    ) -> Result<(), Fault> {
        entropy.row_with(Plain, file, scan, frame, row, to)
    }
}
