//! Decoding on the CPU: one [`CpuDecoder`] per thread turns a file's bytes into the pixels of a place.

mod canvas;
mod cmyk;
pub(crate) mod jpeg;
mod memory;
pub(crate) mod other;
mod resize;
mod sized;
mod turn;
mod upright;
mod views;

use std::time::Instant;

use forebay_jpeg::SeekPoints;

use crate::decoded::{Decoded, DecodedBy};
use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::format::Format;
use crate::orientation::Orientation;
use crate::origin::Origin;
use crate::picture::Picture;
use crate::pipeline::{Input, Pipeline};
use crate::plan::stage::{Grid, Stage};
use crate::plan::{Plan, Rect};
use crate::recipe::Recipe;
use crate::scale::Scale;
use canvas::{Canvas, PlanInput};
use jpeg::choice::JpegChoice;
use jpeg::head::JpegHead;
use jpeg::{JpegDecoders, JpegTask};
use other::OpenOther;
pub use sized::Transformed;
pub use upright::Form;
use views::PlannedView;

/// Decodes pictures, one after the other; made once per thread. Its buffers grow to the largest picture so far and are
/// used again.
#[derive(Debug)]
pub struct CpuDecoder {
    jpeg: JpegDecoders,
    canvas: Canvas,
    plan: Plan,
    stages: Vec<Stage>,
    views: Vec<PlannedView>,
}

/// A file to decode, and its seek points if there are any.
struct PictureFile<'a> {
    bytes: &'a [u8],
    points: Option<&'a mut SeekPoints>,
}

/// A picture that is about to be decoded.
#[derive(Clone, Copy)]
struct Stored {
    /// Width and height as stored.
    size: (u32, u32),
    orientation: Orientation,
    /// What the picture is made of that a recipe is carried out on.
    origin: Origin,
}

/// What of a picture is decoded, in the pixels of the picture as seen and scaled.
struct Wanted {
    scale: Scale,
    part: Rect,
}

/// The pixels in the canvas: `held` is their place in the picture as seen and scaled.
struct Loaded {
    decoded: Decoded,
    held: Rect,
    /// When the work on the picture began.
    begun: Instant,
}

impl Default for CpuDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuDecoder {
    /// A decoder with empty buffers.
    pub fn new() -> Self {
        Self::with_jpeg(JpegChoice::default())
    }

    /// One whose JPEGs go where the choice says.
    pub fn with_jpeg(choice: JpegChoice) -> Self {
        let jpeg = JpegDecoders::new(choice);
        Self { jpeg, canvas: Canvas::default(), plan: Plan::default(), stages: Vec::new(), views: Vec::new() }
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
        self.decode_file(PictureFile { bytes, points: None }, recipe, draw, limits, out)
    }

    /// Like [`decode`](Self::decode), with the seek points of the file. The caller loads them before, and the call may
    /// change them. Only our own JPEG decoder uses them. The pixels are the same.
    ///
    /// # Errors
    /// The picture's [`Fault`]. The place may hold anything then.
    ///
    /// # Panics
    /// If `out` has another length than [`Recipe::place_len`].
    pub fn decode_seeking(
        &mut self,
        (bytes, points): (&[u8], &mut SeekPoints),
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        self.decode_file(PictureFile { bytes, points: Some(points) }, recipe, draw, limits, out)
    }

    fn decode_file(
        &mut self,
        file: PictureFile<'_>,
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        assert_eq!(out.len(), recipe.place_len(), "a place has the recipe's place length");
        let pipeline = recipe.pipeline();
        let loaded = self.load_for(file, pipeline, draw, limits);
        let outcome = loaded.and_then(|loaded| self.carry_out(&loaded, pipeline, limits, out));
        self.canvas.trim();
        outcome
    }

    /// Loads what a pipeline needs of a picture, and makes plan and stages.
    fn load_for(
        &mut self,
        file: PictureFile<'_>,
        pipeline: &Pipeline,
        draw: Draw,
        limits: &Limits,
    ) -> Result<Loaded, Fault> {
        let Self { jpeg, canvas, plan, stages, .. } = self;
        let wanted = |stored: &Stored, scales| Wanted::of(pipeline, draw, stored, scales, limits, plan, stages);
        load(jpeg, canvas, file, pipeline.input(), pipeline.output().background, limits, wanted)
    }

    /// Carries the plan out on what was loaded for it.
    fn carry_out(
        &mut self,
        loaded: &Loaded,
        pipeline: &Pipeline,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        let look = || limits.check_time(loaded.begun);
        let plan = (&self.plan, &*self.stages);
        self.canvas.carry_out(PlanInput::canvas(loaded.held), plan, pipeline, out, look)?;
        limits.check_time(loaded.begun)?;
        Ok(loaded.decoded)
    }

    /// Decodes a whole picture, turned as it is seen, alpha over black.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn whole(&mut self, bytes: &[u8], limits: &Limits) -> Result<Picture, Fault> {
        let all = |stored: &Stored, _| Ok(Wanted::all(stored));
        let file = PictureFile { bytes, points: None };
        let loaded = load(&mut self.jpeg, &mut self.canvas, file, Input::default(), [0; 3], limits, all);
        let picture = loaded.map(|Loaded { decoded: Decoded { format, width, height, .. }, .. }| Picture {
            format,
            width,
            height,
            rgb: self.canvas.rgb().to_vec(),
        });
        self.canvas.trim();
        picture
    }
}

impl Wanted {
    /// All of a picture.
    fn all(stored: &Stored) -> Self {
        let (width, height) = stored.seen();
        Self { scale: Scale::Full, part: Rect::whole(width, height) }
    }

    /// What a pipeline needs of a picture, which `scales` while it is decoded or not; plan and stages are made on the way.
    ///
    /// # Errors
    /// [`Fault::TooLarge`] if a step would make more pixels than the limits allow, and [`Fault::WrongSize`] if a transform
    /// expects another size, before any work on them.
    fn of(
        pipeline: &Pipeline,
        draw: Draw,
        stored: &Stored,
        scales: bool,
        limits: &Limits,
        plan: &mut Plan,
        stages: &mut Vec<Stage>,
    ) -> Result<Self, Fault> {
        pipeline.plan_into(&stored.origin, draw, plan);
        plan.check(limits)?;
        let gap = pipeline.input().reducing_gap.filter(|_| scales);
        let scale = gap.map_or(Scale::Full, |gap| plan.scale(stored.seen(), gap));
        plan.stages_into(&stored.grid(scale), stages);
        Ok(Self { scale, part: stages[0].need })
    }
}

impl Stored {
    /// A picture of a file, with this orientation there.
    fn of_file(size: (u32, u32), in_file: Orientation, input: Input) -> Self {
        let orientation = in_file.adjusted(input.adjust_orientation);
        Self { size, orientation, origin: Origin::of_file(size, in_file, orientation) }
    }

    /// A picture that was turned before, and has these pixels.
    fn turned(origin: Origin) -> Self {
        Self { size: origin.size, orientation: Orientation::AsStored, origin }
    }

    /// Width and height as seen.
    fn seen(&self) -> (u32, u32) {
        self.orientation.seen(self.size.0, self.size.1)
    }

    /// The pixels in which it is seen if it is decoded at this scale.
    fn grid(&self, scale: Scale) -> Grid {
        let (width, height) = (scale.side(self.size.0), scale.side(self.size.1));
        let all = Rect::whole(self.size.0, self.size.1);
        let (full_width, full_height) = (width * scale.denominator(), height * scale.denominator());
        let picture = self.orientation.seen_part(all, full_width, full_height);
        Grid { picture, scale }
    }
}

/// Decodes a picture into the canvas and turns it. `wanted` gets the picture's facts, and whether it can be scaled while
/// decoding. It returns which part is wanted. The canvas then has at least that part.
fn load(
    jpeg: &mut JpegDecoders,
    canvas: &mut Canvas,
    file: PictureFile<'_>,
    input: Input,
    background: [u8; 3],
    limits: &Limits,
    wanted: impl FnOnce(&Stored, bool) -> Result<Wanted, Fault>,
) -> Result<Loaded, Fault> {
    let PictureFile { bytes, points } = file;
    let begun = Instant::now();
    limits.check_bytes(bytes.len())?;
    let format = Format::of(bytes)?;
    let (stored, scale, region, by) = if format == Format::Jpeg {
        let head = JpegHead::read(bytes)?;
        limits.check_picture(head.width, head.height)?;
        let stored = Stored::of_file((head.width, head.height), head.orientation, input);
        let Wanted { scale, part } = wanted(&stored, head.scales())?;
        let (width, height) = (scale.side(head.width), scale.side(head.height));
        let part =
            if head.parts() { stored.orientation.stored_part(part, width, height) } else { Rect::whole(width, height) };
        let (region, by) = jpeg.decode(&JpegTask { bytes, head: &head, scale, part, limits, begun }, points, canvas)?;
        (stored, scale, region, by)
    } else {
        let open = OpenOther::open(bytes, format, limits)?;
        let size @ (width, height) = open.size();
        limits.check_picture(width, height)?;
        limits.check_memory(size, open.own_form())?;
        let stored = Stored::of_file(size, open.orientation(), input);
        let (rgb, spare) = canvas.begin(width, height, limits)?;
        // These decoders give whole pictures only, but the plan still depends on the size.
        let Wanted { scale, .. } = wanted(&stored, false)?;
        open.read(background, spare, rgb)?;
        (stored, scale, Rect::whole(width, height), DecodedBy::Image)
    };
    let orientation = stored.orientation;
    if orientation != Orientation::AsStored {
        turn_canvas(canvas, orientation, region);
    }
    let held = orientation.seen_part(region, scale.side(stored.size.0), scale.side(stored.size.1));
    let (width, height) = stored.seen();
    let decoded = Decoded { format, width, height, origin: stored.origin, by: Some(by) };
    Ok(Loaded { decoded, held, begun })
}

/// Turns the canvas, which holds this part of the stored picture, to be seen.
fn turn_canvas(canvas: &mut Canvas, orientation: Orientation, stored: Rect) {
    let (width, height) = orientation.seen(stored.width, stored.height);
    canvas.remake(width, height, |from, to| turn::turn(orientation, stored.width, stored.height, from, to));
}
