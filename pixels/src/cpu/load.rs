//! The first part of all work on a picture of a file: as much of it as is wanted is decoded into the canvas, and turned to be seen.

use std::time::Instant;

use forebay_jpeg::SeekPoints;

use super::avif::OpenAvif;
use super::canvas::Canvas;
use super::jpeg::head::JpegHead;
use super::jpeg::{JpegDecoders, JpegTask};
use super::jxl::{Clock, OpenJxl};
use super::other::OpenOther;
use super::pixel_kind::PixelKind;
use super::turn;
use super::webp::OpenWebp;
use crate::decoded::{Decoded, DecodedBy};
use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::format::Format;
use crate::orientation::Orientation;
use crate::origin::Origin;
use crate::output::Output;
use crate::plan::stage::{self, Grid, Stage};
use crate::plan::{Plan, Rect};
use crate::scale::Scale;
use crate::transform_list::{Input, TransformList};

/// A file to decode, and its seek points if there are any.
pub(super) struct PictureFile<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) points: Option<&'a mut SeekPoints>,
}

/// A picture that is about to be decoded.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    /// Width and height as stored.
    pub(super) size: (u32, u32),
    pub(super) orientation: Orientation,
    /// What the picture is made of that a recipe is carried out on.
    pub(super) origin: Origin,
}

/// What of a picture is decoded, in the pixels of the picture as seen and scaled.
pub(super) struct Wanted {
    pub(super) scale: Scale,
    pub(super) part: Rect,
}

/// The pixels in the canvas: `held` is their place in the picture as seen and scaled.
pub(super) struct Loaded {
    pub(super) decoded: Decoded,
    pub(super) held: Rect,
    /// When the work on the picture began.
    pub(super) begun: Instant,
}

impl Wanted {
    /// All of a picture.
    pub(super) fn all(stored: &Stored) -> Self {
        let (width, height) = stored.seen();
        Self { scale: Scale::Full, part: Rect::whole(width, height) }
    }

    /// What a pipeline needs of a picture, which `scales` while it is decoded or not; plan and stages are made on the way.
    ///
    /// # Errors
    /// [`Fault::TooLarge`] if a step would make more pixels than the limits allow, and [`Fault::WrongSize`] if a transform
    /// expects another size, before any work on them.
    pub(super) fn of(
        list: &TransformList,
        draw: Draw,
        stored: &Stored,
        scales: bool,
        limits: &Limits,
        plan: &mut Plan,
        stages: &mut Vec<Stage>,
    ) -> Result<Self, Fault> {
        if let Some(python) = list.python() {
            return Err(Fault::Python { function: python.function.clone() });
        }
        list.plan_into(&stored.origin, draw, plan);
        plan.check(limits)?;
        let gap = list.input().reducing_gap.filter(|_| scales);
        let scale = gap.map_or(Scale::Full, |gap| stage::scale(plan, stored.seen(), gap));
        stage::stages_into(plan, &stored.grid(scale), stages);
        Ok(Self { scale, part: stages[0].need })
    }
}

impl Stored {
    /// A picture of a file, with this orientation there.
    pub(super) fn of_file(size: (u32, u32), in_file: Orientation, input: Input) -> Self {
        let orientation = in_file.adjusted(input.adjust_orientation);
        Self { size, orientation, origin: Origin::of_file(size, in_file, orientation) }
    }

    /// A picture that was turned before, and has these pixels.
    pub(super) fn turned(origin: Origin) -> Self {
        Self { size: origin.size, orientation: Orientation::AsStored, origin }
    }

    /// Width and height as seen.
    pub(super) fn seen(&self) -> (u32, u32) {
        self.orientation.seen(self.size.0, self.size.1)
    }

    /// The pixels in which it is seen if it is decoded at this scale.
    pub(super) fn grid(&self, scale: Scale) -> Grid {
        let (width, height) = (scale.side(self.size.0), scale.side(self.size.1));
        let all = Rect::whole(self.size.0, self.size.1);
        let (full_width, full_height) = (width * scale.denominator(), height * scale.denominator());
        let picture = self.orientation.seen_part(all, full_width, full_height);
        Grid { picture, scale }
    }
}

/// Decodes a picture into the canvas and turns it. `wanted` gets the picture's facts, and whether it can be scaled while
/// decoding. It returns which part is wanted. The canvas then has at least that part, in the output's mode.
pub(super) fn load(
    jpeg: &mut JpegDecoders,
    canvas: &mut Canvas,
    file: PictureFile<'_>,
    input: Input,
    output: Output,
    limits: &Limits,
    wanted: impl FnOnce(&Stored, bool) -> Result<Wanted, Fault>,
) -> Result<Loaded, Fault> {
    let (PictureFile { bytes, points }, kind) = (file, PixelKind::of(output));
    let begun = Instant::now();
    limits.check_bytes(bytes.len())?;
    let format = Format::of(bytes)?;
    if input.page > 0 && format != Format::Tiff {
        return Err(Fault::NoPage { page: input.page, pages: 1 });
    }
    let (stored, scale, region, by) = match format {
        Format::Jpeg => {
            let head = JpegHead::read(bytes)?;
            limits.check_picture(head.width, head.height)?;
            let stored = Stored::of_file((head.width, head.height), head.orientation, input);
            let Wanted { scale, part } = wanted(&stored, head.scales())?;
            let (width, height) = (scale.side(head.width), scale.side(head.height));
            let part = stored.orientation.stored_part(part, width, height);
            let task = JpegTask { bytes, head: &head, scale, part, limits, begun };
            let (region, by) = jpeg.decode(&task, points, canvas)?;
            (stored, scale, region, by)
        }
        Format::WebP => {
            let open = OpenWebp::open(bytes)?;
            let size @ (width, height) = open.size();
            limits.check_picture(width, height)?;
            limits.check_memory(size, open.own_form())?;
            let stored = Stored::of_file(size, open.orientation(), input);
            let Wanted { scale, part } = wanted(&stored, false)?;
            let part = stored.orientation.stored_part(part, width, height);
            (stored, scale, open.read(part, kind, limits, canvas)?, DecodedBy::Libwebp)
        }
        Format::Avif => {
            let open = OpenAvif::open(bytes)?;
            let size @ (width, height) = open.size();
            limits.check_picture(width, height)?;
            limits.check_memory(size, open.own_form())?;
            let stored = Stored::of_file(size, open.orientation(), input);
            let Wanted { scale, part } = wanted(&stored, false)?;
            let region = stored.orientation.stored_part(part, width, height);
            open.read(region, kind, limits, begun, canvas)?;
            (stored, scale, region, DecodedBy::Dav1d)
        }
        Format::Jxl => {
            let open = OpenJxl::open(bytes)?;
            let size @ (width, height) = open.size();
            limits.check_picture(width, height)?;
            limits.check_memory(size, open.own_form())?;
            let stored = Stored::of_file(size, open.orientation(), input);
            let len = if open.is_rgb() { 3 } else { kind.pixel_len() };
            let (pixels, spare) = canvas.begin_of(len, size, limits)?;
            // The plan depends on the size of the whole picture, which is decoded.
            let Wanted { scale, .. } = wanted(&stored, false)?;
            open.read(kind, Clock { limits, begun }, spare, pixels)?;
            (stored, scale, Rect::whole(width, height), DecodedBy::Jxl)
        }
        _ => {
            let open = OpenOther::open(bytes, format, input.page, limits)?;
            let size @ (width, height) = open.size();
            limits.check_picture(width, height)?;
            limits.check_memory(size, open.own_form())?;
            let stored = Stored::of_file(size, open.orientation(), input);
            let (pixels, spare) = canvas.begin_of(kind.pixel_len(), size, limits)?;
            // These decoders give whole pictures only, but the plan still depends on the size.
            let Wanted { scale, .. } = wanted(&stored, false)?;
            open.read(kind, spare, pixels)?;
            (stored, scale, Rect::whole(width, height), DecodedBy::Image)
        }
    };
    canvas.convert(output.mode);
    let orientation = stored.orientation;
    if orientation != Orientation::AsStored {
        turn_canvas(canvas, orientation, region, output.mode.pixel_len());
    }
    let held = orientation.seen_part(region, scale.side(stored.size.0), scale.side(stored.size.1));
    let (width, height) = stored.seen();
    let decoded = Decoded { format, width, height, origin: stored.origin, by: Some(by) };
    Ok(Loaded { decoded, held, begun })
}

/// Turns the canvas, which holds this part of the stored picture, to be seen.
fn turn_canvas(canvas: &mut Canvas, orientation: Orientation, stored: Rect, pixel: usize) {
    let (width, height) = orientation.seen(stored.width, stored.height);
    let size = (stored.width, stored.height);
    canvas.remake(width, height, |from, to| turn::turn(orientation, size, pixel, from, to));
}
