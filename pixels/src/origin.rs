//! What a result was made of: a picture's size in its file, and what happened to it before the recipe.

use crate::axis::Axis;
use crate::draw::Draw;
use crate::interpolation::Interpolation;
use crate::orientation::Orientation;
use crate::plan::stage::Frame;
use crate::plan::{Plan, Step};
use crate::point_map::{Line, PointMap};
use crate::recipe::Recipe;

/// What a result was made of. A decoder tells it, and [`PointMap`] is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Width and height as stored in the file.
    pub stored: (u32, u32),
    /// How the stored pixels are turned to be seen, as the file's EXIF orientation says.
    pub orientation: Orientation,
    /// How they were turned before the recipe: the orientation, or as stored.
    pub turned: Orientation,
    /// Width and height of the picture that the recipe was carried out on. It is smaller than the turned one if the picture
    /// was shrunk when it was kept.
    pub size: (u32, u32),
}

/// The picture whose pixels the numbers of a dataset count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Annotated {
    /// The picture as seen, after its EXIF orientation.
    #[default]
    AsSeen,
    /// The picture as stored, before its EXIF orientation.
    AsStored,
}

impl Origin {
    /// A picture of a file that was decoded for one recipe, turned in this way.
    pub(crate) fn of_file(stored: (u32, u32), orientation: Orientation, turned: Orientation) -> Self {
        Self { stored, orientation, turned, size: turned.seen(stored.0, stored.1) }
    }

    /// A picture with this size and orientation in its file, as a lane of a GPU decodes it for a recipe.
    pub fn of_recipe(stored: (u32, u32), orientation: Orientation, recipe: &Recipe) -> Self {
        Self::of_file(stored, orientation, orientation.adjusted(recipe.input().adjust_orientation))
    }

    /// Width and height of the picture whose pixels the numbers of a dataset count.
    pub fn annotated(&self, annotated: Annotated) -> (u32, u32) {
        match annotated {
            Annotated::AsStored => self.stored,
            Annotated::AsSeen => self.orientation.seen(self.stored.0, self.stored.1),
        }
    }

    /// Where the points of the picture are in what the recipe makes of it with this draw. `plan` is for work, and its memory
    /// is used again.
    ///
    /// ```
    /// use forebay_pixels::{Annotated, Draw, Orientation, Origin, Plan, Recipe};
    ///
    /// let recipe = Recipe::evaluation(224)?;
    /// let origin = Origin::of_recipe((512, 512), Orientation::AsStored, &recipe);
    /// let draw = Draw { seed: 0, epoch: 0, record: 0 };
    /// let map = origin.map(&recipe, draw, Annotated::AsSeen, &mut Plan::default());
    /// // 512 pixels become 256, of which the 224 in the middle are left.
    /// assert_eq!(map.point([256.0, 256.0]), [112.0, 112.0]);
    /// # Ok::<(), forebay_pixels::RecipeError>(())
    /// ```
    pub fn map(&self, recipe: &Recipe, draw: Draw, annotated: Annotated, plan: &mut Plan) -> PointMap {
        let from_stored = match annotated {
            Annotated::AsStored => PointMap::IDENTITY,
            Annotated::AsSeen => self.orientation.point_map(self.stored).inverse(),
        };
        let turned = self.turned.point_map(self.stored);
        let (wide, high) = self.turned.seen(self.stored.0, self.stored.1);
        let (width, height) = self.size;
        // A picture that was shrunk to be kept was resized as a whole.
        let shrunk = Frame::whole(wide, high).resized(width, height, Interpolation::Bilinear);
        recipe.plan_into(width, height, draw, plan);
        from_stored.then(turned).then(shrunk).then(plan.point_map(self.size))
    }
}

impl Orientation {
    /// Where the points of a picture that is stored as `width` x `height` are seen.
    fn point_map(self, (width, height): (u32, u32)) -> PointMap {
        // Where the first of two pixels on either side is seen tells whether a side is turned around.
        let first = self.seen_part(crate::plan::Rect::whole(1, 1), 2, 2);
        let (wide, high) = self.seen(width, height);
        let line = |turned_around: bool, len: u32| if turned_around { Line::mirrored(len) } else { Line::IDENTITY };
        let columns_and_rows = (line(first.left == 1, wide), line(first.top == 1, high));
        PointMap::new(self.swaps_sides(), columns_and_rows, [0.0, 0.0, wide.into(), high.into()])
    }
}

impl Plan {
    /// Where the points of a picture of this size, the plan's own, are in the result. It follows the frames that the steps
    /// work on, which decide what is decoded, cut and resized too.
    pub(crate) fn point_map(&self, (width, height): (u32, u32)) -> PointMap {
        let mut map = PointMap::IDENTITY;
        let (mut frame, mut denominator) = (Frame::whole(width, height), 1);
        for step in &self.steps {
            match *step {
                // It makes the frame smaller; the next step begins at the frame.
                Step::Cut(_) => {}
                Step::Resize { width, height, interpolation } => {
                    map = map.then(frame.resized(width, height, interpolation));
                }
                Step::Canvas { left, top, .. } => map = map.then(frame.laid(left, top)),
                Step::Mirror => {
                    let mirror = PointMap::of_columns(Line::mirrored(frame.pixels().width));
                    map = map.then(frame.laid(0, 0)).then(mirror);
                }
                Step::Operate(_) | Step::Turn { .. } => map = map.then(frame.laid(0, 0)),
            }
            (frame, denominator) = frame.after(step, denominator);
        }
        map = map.then(frame.laid(0, 0));
        let columns = if self.mirrored { Line::mirrored(self.width) } else { Line::IDENTITY };
        map.then(PointMap::of_columns(columns))
    }
}

impl Frame {
    /// Where the points of a picture are after this part of it was resized.
    fn resized(self, width: u32, height: u32, interpolation: Interpolation) -> PointMap {
        let ((left, columns), (top, rows)) = self.axes(width, height, interpolation);
        let line = |first: u32, axis: Axis| Line::of_axis(first, &axis);
        PointMap::new(false, (line(left, columns), line(top, rows)), [0.0, 0.0, width.into(), height.into()])
    }

    /// Where they are after this part was laid on a canvas at `left` and `top`.
    fn laid(self, left: u32, top: u32) -> PointMap {
        let (left, top) = (f64::from(left), f64::from(top));
        let [from_left, from_top, width, height] = self.parts();
        let lines = (Line::moved(left - from_left), Line::moved(top - from_top));
        PointMap::new(false, lines, [left, top, left + width, top + height])
    }
}
