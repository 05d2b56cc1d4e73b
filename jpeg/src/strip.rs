//! The samples of an MCU row, and what it takes to make pixels of them.

use crate::blocks::BlockSource;
use crate::colour;
use crate::frame::{Frame, Layout};
use crate::header::Header;
use crate::idct::{self, Quant, Size};
use crate::path::Path;
use crate::region::Cut;
use crate::scan::Wanted;
use crate::upsample::{RowPair, Upsampling};

/// The samples of the components.
#[derive(Debug, Default)]
pub(crate) struct Strips {
    of: [Strip; 3],
    /// The MCU row that was transformed last.
    mcu_row: u32,
    /// The first pixel across that there are samples for.
    left: u32,
    gray: bool,
}

/// A component's samples: the last row of the MCU row before, then those of this one.
#[derive(Debug)]
struct Strip {
    samples: Vec<u8>,
    stride: usize,
    /// Of those in a row, how many are in the picture.
    width: usize,
    /// Rows of an MCU.
    rows: usize,
    /// Rows of the whole component.
    height: u32,
    /// Pixels per sample downwards.
    down: u32,
    size: Size,
    upsampling: Upsampling,
    quant: Quant,
}

impl Default for Strip {
    fn default() -> Self {
        Self {
            samples: Vec::new(),
            stride: 0,
            width: 0,
            rows: 0,
            height: 0,
            down: 1,
            size: Size::Eight,
            upsampling: Upsampling::Repeat(1),
            quant: Quant::new(&[1; 64]),
        }
    }
}

impl Strips {
    pub(crate) fn begin(&mut self, header: &Header, frame: &Frame, cut: &Cut) {
        self.left = cut.columns.start * frame.mcu.0;
        self.mcu_row = cut.rows.start;
        self.gray = frame.count == 1;
        for ((strip, layout), component) in self.of.iter_mut().zip(frame.layouts()).zip(&header.components) {
            strip.begin(layout, cut, &header.quants[component.quant]);
        }
    }

    /// Makes samples from the coefficients of an MCU row, for the components whose samples are wanted.
    pub(crate) fn transform(&mut self, path: Path, blocks: &mut impl BlockSource, mcu_row: u32, wanted: &[Wanted]) {
        self.mcu_row = mcu_row;
        for (component, (strip, &wanted)) in self.of.iter_mut().zip(wanted).enumerate() {
            strip.carry();
            if wanted != Wanted::Nothing {
                strip.transform(path, blocks, component);
            }
        }
    }

    /// Writes a row of the region, RGB. It is in the MCU row that was transformed last, or is the last of the one before.
    pub(crate) fn write_row(&self, path: Path, cut: &Cut, row: u32, out: &mut [u8]) {
        let from = (cut.region.left - self.left) as usize;
        let [luma, cb, cr] = &self.of;
        let luma = &luma.row(self.mcu_row, row)[from..from + cut.region.width as usize];
        if self.gray {
            colour::gray(path, luma, out);
        } else {
            colour::row(
                path,
                luma,
                cb.upsampling,
                cb.rows_of(self.mcu_row, row),
                cr.rows_of(self.mcu_row, row),
                from,
                out,
            );
        }
    }
}

impl Strip {
    fn begin(&mut self, layout: &Layout, cut: &Cut, quant: &[u16; 64]) {
        let mcu = layout.mcu();
        self.stride = cut.columns.len() * mcu.0 as usize;
        self.width = self.stride.min((layout.width - cut.columns.start * mcu.0) as usize);
        self.rows = mcu.1 as usize;
        self.height = layout.height;
        self.down = layout.factors.1;
        self.size = layout.size;
        self.upsampling = layout.upsampling;
        self.quant = Quant::new(quant);
        self.samples.resize((self.rows + 1) * self.stride, 0);
    }

    fn transform(&mut self, path: Path, source: &mut impl BlockSource, component: usize) {
        let samples = self.size.samples();
        for row in 0..self.rows / samples {
            let (blocks, lasts) = source.row(component, row);
            let out = &mut self.samples[(1 + row * samples) * self.stride..];
            idct::row(path, self.size, &self.quant, blocks, lasts, out, self.stride);
        }
    }

    /// Keeps the last row, before the next MCU row comes.
    fn carry(&mut self) {
        self.samples.copy_within(self.rows * self.stride.., 0);
    }

    /// A row of samples of the whole component.
    fn row(&self, mcu_row: u32, row: u32) -> &[u8] {
        let start = (row as usize + 1 - mcu_row as usize * self.rows) * self.stride;
        &self.samples[start..start + self.width]
    }

    /// The rows of samples that a row of pixels is made of.
    fn rows_of(&self, mcu_row: u32, pixels: u32) -> RowPair<'_> {
        let row = pixels / self.down;
        let near = self.row(mcu_row, row);
        let below = !pixels.is_multiple_of(self.down);
        let far = if !self.upsampling.needs_far() {
            near
        } else if below {
            self.row(mcu_row, (row + 1).min(self.height - 1))
        } else {
            self.row(mcu_row, row.saturating_sub(1))
        };
        RowPair { near, far, below }
    }
}
