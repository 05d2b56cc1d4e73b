//! Decoding on the CPU: one [`CpuDecoder`] per thread turns a file's bytes into the pixels of a place.

pub(crate) mod avif;
mod canvas;
mod cmyk;
pub(crate) mod jpeg;
pub(crate) mod jxl;
mod load;
mod memory;
pub(crate) mod other;
mod pixel_kind;
pub(crate) mod probe;
mod resize;
pub(crate) mod seen_size;
mod sized;
mod turn;
mod upright;
mod views;
pub(crate) mod webp;

use std::time::Instant;

use forebay_jpeg::SeekPoints;

use crate::decoded::Decoded;
use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::origin::Origin;
use crate::output::Output;
use crate::picture::{KeptPicture, Picture};
use crate::plan::stage::Stage;
use crate::plan::{Plan, Rect};
use crate::recipe::Recipe;
use crate::transform_list::{Input, TransformList};
use crate::view::{ViewOrder, ViewPlaces};
use canvas::{Canvas, PlanInput};
use jpeg::JpegDecoders;
use jpeg::choice::JpegChoice;
use load::{Loaded, PictureFile, Stored, Wanted, load};
pub use memory::PictureMemory;
pub use sized::Transformed;
pub use upright::Form;
use views::PlannedViews;

/// Decodes pictures, one after the other; made once per thread. Its buffers grow to the largest picture so far and are
/// used again.
#[derive(Debug)]
pub struct CpuDecoder {
    jpeg: JpegDecoders,
    canvas: Canvas,
    plan: Plan,
    stages: Vec<Stage>,
    views: PlannedViews,
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
        Self {
            jpeg,
            canvas: Canvas::default(),
            plan: Plan::default(),
            stages: Vec::new(),
            views: PlannedViews::default(),
        }
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
        assert!(recipe.is_ragged() || out.len() == recipe.place_len(), "a place has the recipe's place length");
        let list = recipe.list();
        let loaded = self.load_for(file, list, draw, limits);
        let outcome = loaded.and_then(|loaded| {
            self.fills(list, out)?;
            self.carry_out(&loaded, list, limits, out)
        });
        self.canvas.trim();
        outcome
    }

    /// Refuses a ragged picture that does not take all of its place, or more.
    fn fills(&self, list: &TransformList, out: &[u8]) -> Result<(), Fault> {
        let (Plan { height, width, .. }, output) = (&self.plan, list.output());
        if !list.is_ragged() || output.bytes(*width, *height) == out.len() {
            return Ok(());
        }
        let pixels = (out.len() / output.bytes(1, 1).max(1)) as u64;
        Err(Fault::NotPlanned { height: *height, width: *width, pixels })
    }

    /// Loads what a pipeline needs of a picture, and makes plan and stages.
    fn load_for(
        &mut self,
        file: PictureFile<'_>,
        list: &TransformList,
        draw: Draw,
        limits: &Limits,
    ) -> Result<Loaded, Fault> {
        let Self { jpeg, canvas, plan, stages, .. } = self;
        let wanted = |stored: &Stored, scales| Wanted::of(list, draw, stored, scales, limits, plan, stages);
        load(jpeg, canvas, file, list.input(), list.output(), limits, wanted)
    }

    /// Carries the plan out on what was loaded for it.
    fn carry_out(
        &mut self,
        loaded: &Loaded,
        list: &TransformList,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        let look = || limits.check_time(loaded.begun);
        let plan = (&self.plan, &*self.stages);
        self.canvas.carry_out(PlanInput::canvas(loaded.held), plan, list, out, look)?;
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
        let loaded = load(&mut self.jpeg, &mut self.canvas, file, Input::default(), Output::default(), limits, all);
        let picture = loaded.map(|Loaded { decoded: Decoded { format, width, height, .. }, .. }| Picture {
            format,
            width,
            height,
            rgb: self.canvas.pixels().to_vec(),
        });
        self.canvas.trim();
        picture
    }

    // Pictures that are kept decoded, and a recipe carried out on one.

    /// Decodes a whole picture in this form, at its full size whatever a recipe says of `reducing_gap`.
    /// [`transform`](Self::transform) then gives the same bytes as [`decode`](Self::decode) of the file, unless the form has
    /// shrunk the picture. The second value is the one that `decode` returns.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn upright(&mut self, bytes: &[u8], form: Form, limits: &Limits) -> Result<(KeptPicture, Decoded), Fault> {
        let input = Input { adjust_orientation: form.adjust_orientation, page: form.page, ..Input::default() };
        let output = Output { background: form.background, mode: form.mode, ..Output::default() };
        let all = |stored: &Stored, _| Ok(Wanted::all(stored));
        let file = PictureFile { bytes, points: None };
        let loaded = load(&mut self.jpeg, &mut self.canvas, file, input, output, limits, all);
        let picture = loaded.map(|Loaded { decoded, .. }| {
            let (width, height) = form.size(decoded.width, decoded.height);
            self.canvas.shrink(width, height, form.mode);
            let size = (width, height);
            let pixels = (form.mode, self.canvas.pixels());
            (KeptPicture::new(decoded.format, size, decoded.origin, pixels), decoded)
        });
        self.canvas.trim();
        picture
    }

    /// Carries a recipe out on a kept picture, into a place of [`Recipe::place_len`] bytes. The recipe's background
    /// has no influence: what is transparent was blended when the picture was decoded.
    ///
    /// # Errors
    /// A step would make more pixels than the limits allow, or it takes more time. The place may hold anything then.
    ///
    /// # Panics
    /// If `out` has another length than [`Recipe::place_len`], or the picture has another mode than the recipe.
    pub fn transform(
        &mut self,
        picture: &KeptPicture,
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        let KeptPicture { format, width, height, origin, mode, .. } = *picture;
        assert_eq!(mode.pixel_len(), recipe.output().mode.pixel_len(), "a picture is kept in its recipe's mode");
        assert!(recipe.is_ragged() || out.len() == recipe.place_len(), "a place has the recipe's place length");
        let stored = Stored::turned(origin);
        let list = recipe.list();
        Wanted::of(list, draw, &stored, false, limits, &mut self.plan, &mut self.stages)?;
        self.fills(list, out)?;
        let begun = Instant::now();
        let look = || limits.check_time(begun);
        let made = self.canvas.carry_out(PlanInput::kept(picture), (&self.plan, &self.stages), list, out, look);
        self.canvas.trim();
        made?;
        Ok(Decoded { format, width, height, origin, by: None })
    }

    // Several views of one picture.

    /// As [`decode_seeking`](Self::decode_seeking), for all views of a record. A view has the bytes that `decode` gives for its
    /// recipe and its draws, if that recipe has no `reducing_gap`: with further views, pictures are decoded at their full size.
    ///
    /// # Errors
    /// The picture's [`Fault`]. The places may hold anything then.
    ///
    /// # Panics
    /// If there is not a place for each view, of the place length of its recipe.
    pub fn decode_views(
        &mut self,
        (bytes, points): (&[u8], Option<&mut SeekPoints>),
        order: ViewOrder<'_>,
        limits: &Limits,
        mut places: ViewPlaces<'_, '_>,
    ) -> Result<Decoded, Fault> {
        let file = PictureFile { bytes, points };
        if order.views.is_empty() {
            return self.decode_file(file, order.recipe, order.draw, limits, places.first);
        }
        views::check(order, &mut places);
        let outcome = self.views.decode((&mut self.jpeg, &mut self.canvas), file, order, limits, places);
        self.canvas.trim();
        outcome
    }

    /// As [`transform`](Self::transform), for all views of a record.
    ///
    /// # Errors
    /// A step would make more pixels than the limits allow. The places may hold anything then.
    ///
    /// # Panics
    /// If there is not a place for each view, of the place length of its recipe.
    pub fn transform_views(
        &mut self,
        picture: &KeptPicture,
        order: ViewOrder<'_>,
        limits: &Limits,
        mut places: ViewPlaces<'_, '_>,
    ) -> Result<Decoded, Fault> {
        views::check(order, &mut places);
        let mut decoded = None;
        for ((recipe, draw), out) in order.each().zip(places.each()) {
            decoded = Some(self.transform(picture, recipe, draw, limits, out)?);
        }
        Ok(decoded.expect("there is a first view"))
    }

    // Pipelines, whose results have the size that the pipeline gives them.

    /// Decodes a file's bytes and carries a pipeline out. A [`Recipe`](crate::Recipe) of the same transforms makes the same of
    /// them, byte for byte. Only what the result shows is decoded, if the format allows it.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn decode_sized(
        &mut self,
        bytes: &[u8],
        list: &TransformList,
        draw: Draw,
        limits: &Limits,
    ) -> Result<Transformed, Fault> {
        let loaded = self.load_for(PictureFile { bytes, points: None }, list, draw, limits);
        let outcome = loaded.and_then(|loaded| {
            let mut made = Transformed::room(self.plan.width, self.plan.height, list);
            self.carry_out(&loaded, list, limits, &mut made.bytes).map(|_| made)
        });
        self.canvas.trim();
        outcome
    }

    /// Carries a pipeline of the mode RGB out on pixels, packed RGB of `size` (width, height).
    ///
    /// # Errors
    /// The picture, or what a step would make, has more pixels than the limits allow.
    ///
    /// # Panics
    /// If `rgb` has another length than such a picture, a side is 0, or the pipeline has a mode with alpha.
    pub fn transform_sized(
        &mut self,
        rgb: &[u8],
        size: (u32, u32),
        list: &TransformList,
        draw: Draw,
        limits: &Limits,
    ) -> Result<Transformed, Fault> {
        let begun = Instant::now();
        assert_eq!(list.output().mode.pixel_len(), 3, "pixels are RGB");
        limits.check_picture(size.0, size.1)?;
        let stored = Stored::turned(Origin::plain(size));
        Wanted::of(list, draw, &stored, false, limits, &mut self.plan, &mut self.stages)?;
        let (picture, _) = self.canvas.begin(size.0, size.1, limits)?;
        picture.copy_from_slice(rgb);
        let mut made = Transformed::room(self.plan.width, self.plan.height, list);
        let input = PlanInput::canvas(Rect::whole(size.0, size.1));
        let look = || limits.check_time(begun);
        let outcome = self.canvas.carry_out(input, (&self.plan, &self.stages), list, &mut made.bytes, look);
        self.canvas.trim();
        outcome.and_then(|()| look()).map(|()| made)
    }

    /// What memory pictures take, before any of it is taken.
    pub fn memory(&mut self) -> PictureMemory<'_> {
        PictureMemory::new(&mut self.plan, &mut self.stages)
    }
}
