//! Decoding on the CPU: one [`CpuDecoder`] per thread turns a file's bytes into the pixels of a place.

mod canvas;
mod cmyk;
pub(crate) mod finish;
pub(crate) mod jpeg;
mod other;
mod turn;
mod upright;

use std::time::Instant;

use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::picture::{Decoded, Picture};
use crate::plan::{Plan, Rect};
use crate::probe::{Format, Orientation};
use crate::recipe::Recipe;
use canvas::Canvas;
use jpeg::head::JpegHead;
use jpeg::{JpegDecoders, JpegTask, Scale};
use other::OpenOther;
pub use upright::Form;

/// Decodes pictures, one after the other; made once per thread. Its buffers grow to the largest picture so far and are
/// used again.
#[derive(Debug, Default)]
pub struct CpuDecoder {
    jpeg: JpegDecoders,
    canvas: Canvas,
    plan: Plan,
}

/// What stands in the canvas, in the stored picture's pixels.
struct Stored {
    size: (u32, u32),
    region: Rect,
    orientation: Orientation,
}

/// What stands in the canvas, in the pixels of the picture as seen.
struct Loaded {
    decoded: Decoded,
    region: Rect,
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
        let outcome = self.decode_and_keep(bytes, recipe, draw, limits, out);
        self.canvas.trim();
        outcome
    }

    fn decode_and_keep(
        &mut self,
        bytes: &[u8],
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        let begun = Instant::now();
        let Self { jpeg, canvas, plan } = self;
        let planned = |width, height| {
            recipe.plan_into(width, height, draw, plan);
            plan.part()
        };
        let loaded = load(jpeg, canvas, bytes, recipe.output().background, limits, planned)?;
        check_time(begun, limits)?;
        canvas.carry_out(loaded.region, plan, recipe, limits, out)?;
        check_time(begun, limits)?;
        Ok(loaded.decoded)
    }

    /// Decodes a whole picture, turned as it is seen, alpha over black.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn whole(&mut self, bytes: &[u8], limits: &Limits) -> Result<Picture, Fault> {
        let loaded = load(&mut self.jpeg, &mut self.canvas, bytes, [0; 3], limits, |_, _| None);
        let picture = loaded.map(|Loaded { decoded: Decoded { format, width, height }, .. }| Picture {
            format,
            width,
            height,
            rgb: self.canvas.rgb().to_vec(),
        });
        self.canvas.trim();
        picture
    }
}

/// Decodes a picture into the canvas and turns it. `part` is told the picture's size as seen and says what of it is
/// wanted; the canvas then holds at least that.
fn load(
    jpeg: &mut JpegDecoders,
    canvas: &mut Canvas,
    bytes: &[u8],
    background: [u8; 3],
    limits: &Limits,
    part: impl FnOnce(u32, u32) -> Option<Rect>,
) -> Result<Loaded, Fault> {
    limits.check_bytes(bytes.len())?;
    let format = Format::of(bytes)?;
    let stored = match format {
        Format::Jpeg => load_jpeg(jpeg, canvas, bytes, limits, part)?,
        _ => load_other(canvas, bytes, format, background, limits, part)?,
    };
    let Stored { size: (width, height), region, orientation } = stored;
    if orientation != Orientation::AsStored {
        let (seen_width, seen_height) = orientation.seen(region.width, region.height);
        let turn = |from: &[u8], to: &mut [u8]| turn::turn(orientation, region.width, region.height, from, to);
        canvas.remake(seen_width, seen_height, turn);
    }
    let region = orientation.seen_part(region, width, height);
    let (width, height) = orientation.seen(width, height);
    Ok(Loaded { decoded: Decoded { format, width, height }, region })
}

fn load_jpeg(
    jpeg: &mut JpegDecoders,
    canvas: &mut Canvas,
    bytes: &[u8],
    limits: &Limits,
    part: impl FnOnce(u32, u32) -> Option<Rect>,
) -> Result<Stored, Fault> {
    let head = JpegHead::read(bytes)?;
    limits.check_pixels(head.width, head.height)?;
    let size @ (width, height) = (head.width, head.height);
    let (seen_width, seen_height) = head.orientation.seen(width, height);
    let part = part(seen_width, seen_height).filter(|_| head.parts);
    let stored = |part| head.orientation.stored_part(part, width, height);
    let part = part.map_or_else(|| Rect::whole(width, height), stored);
    let task = JpegTask { bytes, head: &head, scale: Scale::Full, part, limits };
    let region = jpeg.decode(&task, canvas)?;
    Ok(Stored { size, region, orientation: head.orientation })
}

fn load_other(
    canvas: &mut Canvas,
    bytes: &[u8],
    format: Format,
    background: [u8; 3],
    limits: &Limits,
    part: impl FnOnce(u32, u32) -> Option<Rect>,
) -> Result<Stored, Fault> {
    let open = OpenOther::open(bytes, format, limits)?;
    let size @ (width, height) = open.size();
    let orientation = open.orientation();
    let (rgb, spare) = canvas.begin(width, height, limits)?;
    let (seen_width, seen_height) = orientation.seen(width, height);
    // These decoders give whole pictures only, but whoever plans wants to know the size.
    part(seen_width, seen_height);
    open.read(background, spare, rgb)?;
    Ok(Stored { size, region: Rect::whole(width, height), orientation })
}

fn check_time(begun: Instant, limits: &Limits) -> Result<(), Fault> {
    match limits.time {
        Some(limit) if begun.elapsed() > limit => Err(Fault::TooSlow { limit }),
        _ => Ok(()),
    }
}
