//! Decoding on the CPU: one [`CpuDecoder`] per thread turns a file's bytes into the pixels of a place.

mod canvas;
mod cmyk;
pub(crate) mod finish;
mod jpeg;
pub(crate) mod jpeg_head;
mod other;
mod turn;

use std::time::Instant;

use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::picture::{Decoded, Picture};
use crate::plan::Plan;
use crate::probe::{Format, Orientation};
use crate::recipe::Recipe;
use canvas::Canvas;
use jpeg::JpegReader;
use jpeg_head::JpegHead;
use other::OpenOther;

/// Decodes pictures, one after the other; made once per thread. Its buffers grow to the largest picture so far and are
/// used again.
#[derive(Debug, Default)]
pub struct CpuDecoder {
    jpeg: JpegReader,
    canvas: Canvas,
    plan: Plan,
}

impl CpuDecoder {
    /// A decoder with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a file's bytes and carries the recipe out, into a place of [`Recipe::place_len`] bytes. Floats are
    /// little-endian; the place needs no alignment.
    ///
    /// # Errors
    /// The picture's [`Fault`]. The place may hold anything then.
    ///
    /// # Panics
    /// If `out` has another length than [`Recipe::place_len`].
    pub fn decode(
        &mut self,
        bytes: &[u8],
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        assert_eq!(out.len(), recipe.place_len(), "a place has the recipe's place length");
        let begun = Instant::now();
        let format = self.load(bytes, recipe.output().background, limits)?;
        let (width, height) = self.canvas.size();
        check_time(begun, limits)?;
        recipe.plan_into(width, height, draw, &mut self.plan);
        self.canvas.carry_out(&self.plan, recipe, limits, out)?;
        self.canvas.trim();
        check_time(begun, limits)?;
        Ok(Decoded { format, width, height })
    }

    /// Decodes a whole picture, turned as it is seen, alpha over black.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn whole(&mut self, bytes: &[u8], limits: &Limits) -> Result<Picture, Fault> {
        let format = self.load(bytes, [0; 3], limits)?;
        let (width, height) = self.canvas.size();
        let rgb = self.canvas.rgb().to_vec();
        self.canvas.trim();
        Ok(Picture { format, width, height, rgb })
    }

    /// Decodes the whole picture into the canvas and turns it.
    fn load(&mut self, bytes: &[u8], background: [u8; 3], limits: &Limits) -> Result<Format, Fault> {
        limits.check_bytes(bytes.len())?;
        let format = Format::of(bytes)?;
        let orientation = match format {
            Format::Jpeg => self.load_jpeg(bytes, limits)?,
            _ => self.load_other(bytes, format, background, limits)?,
        };
        if orientation != Orientation::AsStored {
            let (width, height) = self.canvas.size();
            let (seen_width, seen_height) = orientation.seen(width, height);
            self.canvas.remake(seen_width, seen_height, |from, to| turn::turn(orientation, width, height, from, to));
        }
        Ok(format)
    }

    fn load_jpeg(&mut self, bytes: &[u8], limits: &Limits) -> Result<Orientation, Fault> {
        let head = JpegHead::read(bytes)?;
        limits.check_pixels(head.width, head.height)?;
        let open = self.jpeg.open(bytes, limits)?;
        let (width, height) = open.size();
        let (rgb, spare) = self.canvas.begin(width, height, limits)?;
        if open.channels() == 3 {
            open.read(height, rgb)?;
        } else {
            spare.resize(rgb.len() / 3 * open.channels(), 0);
            open.read(height, spare)?;
            cmyk::to_rgb(spare, rgb);
        }
        Ok(head.orientation)
    }

    fn load_other(
        &mut self,
        bytes: &[u8],
        format: Format,
        background: [u8; 3],
        limits: &Limits,
    ) -> Result<Orientation, Fault> {
        let open = OpenOther::open(bytes, format, limits)?;
        let (width, height) = open.size();
        let orientation = open.orientation();
        let (rgb, spare) = self.canvas.begin(width, height, limits)?;
        open.read(background, spare, rgb)?;
        Ok(orientation)
    }
}

fn check_time(begun: Instant, limits: &Limits) -> Result<(), Fault> {
    match limits.time {
        Some(limit) if begun.elapsed() > limit => Err(Fault::TooSlow { limit }),
        _ => Ok(()),
    }
}
