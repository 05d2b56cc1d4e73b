//! Pipelines carried out on one picture, of a file or of a caller's memory. The result has the size that the pipeline gives it.

use std::time::Instant;

use crate::cpu::canvas::PlanInput;
use crate::cpu::{CpuDecoder, PictureFile, Stored, Wanted};
use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::origin::Origin;
use crate::pipeline::Pipeline;
use crate::plan::Rect;

/// What a pipeline has made of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transformed {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Its values, in the pipeline's [`Output`](crate::Output). Floats are little-endian.
    pub bytes: Vec<u8>,
}

impl CpuDecoder {
    /// Decodes a file's bytes and carries a pipeline out. A [`Recipe`](crate::Recipe) of the same transforms makes the same of
    /// them, byte for byte. Only what the result shows is decoded, if the format allows it.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn decode_sized(
        &mut self,
        bytes: &[u8],
        pipeline: &Pipeline,
        draw: Draw,
        limits: &Limits,
    ) -> Result<Transformed, Fault> {
        let loaded = self.load_for(PictureFile { bytes, points: None }, pipeline, draw, limits);
        let outcome = loaded.and_then(|loaded| {
            let mut made = self.room(pipeline);
            self.carry_out(&loaded, pipeline, limits, &mut made.bytes).map(|_| made)
        });
        self.canvas.trim();
        outcome
    }

    /// Carries a pipeline out on pixels, packed RGB of `size` (width, height).
    ///
    /// # Errors
    /// The picture, or what a step would make, has more pixels than the limits allow.
    ///
    /// # Panics
    /// If `rgb` has another length than such a picture, or a side is 0.
    pub fn transform_sized(
        &mut self,
        rgb: &[u8],
        size: (u32, u32),
        pipeline: &Pipeline,
        draw: Draw,
        limits: &Limits,
    ) -> Result<Transformed, Fault> {
        let begun = Instant::now();
        limits.check_picture(size.0, size.1)?;
        let stored = Stored::turned(Origin::plain(size));
        Wanted::of(pipeline, draw, &stored, false, limits, &mut self.plan, &mut self.stages)?;
        let (picture, _) = self.canvas.begin(size.0, size.1, limits)?;
        picture.copy_from_slice(rgb);
        let mut made = self.room(pipeline);
        let input = PlanInput::canvas(Rect::whole(size.0, size.1));
        let look = || limits.check_time(begun);
        let outcome = self.canvas.carry_out(input, (&self.plan, &self.stages), pipeline, &mut made.bytes, look);
        self.canvas.trim();
        outcome.and_then(|()| look()).map(|()| made)
    }

    /// A result of the plan's size, without its values.
    fn room(&self, pipeline: &Pipeline) -> Transformed {
        let (width, height) = (self.plan.width, self.plan.height);
        let len = Rect::whole(width, height).area() * 3 * pipeline.output().dtype.len();
        Transformed { width, height, bytes: vec![0; len] }
    }
}
