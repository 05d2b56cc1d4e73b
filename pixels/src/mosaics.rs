//! The mosaics of a recipe: which records are in them, and how the result is put together of four ordinary ones.

use crate::draw::Draw;
use crate::origin::Origin;
use crate::output::Layout;
use crate::plan::{Plan, Rect};
use crate::recipe::Recipe;
use crate::transform::{PARTNERS, Transform};

/// A recipe that begins with a [`Mosaic`](crate::Mosaic), for each of the four pictures. All of them take the draw of the
/// record whose place it is, and each gives a result of the whole size. Each owns a part of the result. These parts do not
/// overlap, and leave nothing out.
#[derive(Clone, Debug)]
pub struct Mosaics {
    quarters: [Recipe; 1 + PARTNERS],
}

impl Mosaics {
    /// Those of a recipe, if it has a mosaic.
    pub fn of(recipe: &Recipe) -> Option<Self> {
        matches!(recipe.transforms().first(), Some(Transform::Mosaic(_)))
            .then(|| Self { quarters: std::array::from_fn(|quarter| recipe.clone().with_quarter(quarter)) })
    }

    /// The records whose pictures are beside the one of this draw, drawn from the dataset's `records` with repetition.
    /// `None` if the picture is alone.
    pub fn partners(&self, draw: Draw, records: u64) -> Option<[u64; PARTNERS]> {
        match self.quarters[0].transforms().first() {
            Some(Transform::Mosaic(mosaic)) => mosaic.partners(draw, records),
            _ => None,
        }
    }

    /// What becomes of one of the pictures; number 0 is the record's own.
    ///
    /// # Panics
    /// There are four.
    pub fn quarter(&self, quarter: usize) -> &Recipe {
        &self.quarters[quarter]
    }

    /// The part of the result that is one picture's. None if the result does not reach as far. `plan` is for work, and its memory is
    /// used again.
    pub fn tile(&self, quarter: usize, draw: Draw, plan: &mut Plan) -> Option<Rect> {
        // It does not depend on the picture.
        self.quarters[quarter].plan_into(&Origin::plain((1, 1)), draw, plan);
        plan.tile
    }

    /// Copies one picture's part of a result to the same part of another one.
    ///
    /// # Panics
    /// Both have the place length of the recipe.
    pub fn lay(&self, tile: Rect, from: &[u8], to: &mut [u8]) {
        let (height, width, channels) = self.quarters[0].shape();
        let output = self.quarters[0].output();
        let (planes, values) = match output.layout {
            Layout::Nhwc => (1, channels),
            Layout::Nchw => (channels, 1),
        };
        let bytes = values as usize * output.dtype.len();
        let plane = width as usize * height as usize * bytes;
        assert!(from.len() == plane * planes as usize && from.len() == to.len(), "places of one recipe");
        for (from, to) in from.chunks_exact(plane).zip(to.chunks_exact_mut(plane)) {
            tile.copy(width, bytes, from, to);
        }
    }
}
