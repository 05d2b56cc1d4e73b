//! Where the points of a picture are in what a recipe makes of it.

use crate::draw::Draw;
use crate::orientation::Orientation;
use crate::origin::{Annotated, Origin};
use crate::plan::stage::Frame;
use crate::plan::{Plan, Step};
use crate::point_map::{Line, PointMap, Straight};
use crate::recipe::Recipe;

impl Origin {
    /// A picture with this size and orientation in its file, as a lane of a GPU decodes it for a recipe.
    pub fn of_recipe(stored: (u32, u32), orientation: Orientation, recipe: &Recipe) -> Self {
        Self::of_file(stored, orientation, orientation.adjusted(recipe.input().adjust_orientation))
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
    /// // 512 pixels become 256, and the 224 in the middle are kept.
    /// assert_eq!(map.point([256.0, 256.0]), [112.0, 112.0]);
    /// # Ok::<(), forebay_pixels::RecipeError>(())
    /// ```
    pub fn map(&self, recipe: &Recipe, draw: Draw, annotated: Annotated, plan: &mut Plan) -> PointMap {
        let mut map = PointMap::default();
        self.map_into(recipe, draw, annotated, plan, &mut map);
        map
    }

    /// [`Origin::map`] into an old map, whose memory is used again.
    pub fn map_into(&self, recipe: &Recipe, draw: Draw, annotated: Annotated, plan: &mut Plan, map: &mut PointMap) {
        recipe.plan_into(self, draw, plan);
        map.start(self.before_the_plan(annotated));
        plan.add_to(map, self.size, false);
    }

    /// As [`Origin::map_into`], for keypoints, which flips may take elsewhere than other points
    /// ([`KeypointFlip`](crate::KeypointFlip)). The plan is that of the picture.
    pub fn keypoint_map_into(&self, plan: &Plan, annotated: Annotated, map: &mut PointMap) {
        map.start(self.before_the_plan(annotated));
        plan.add_to(map, self.size, true);
    }
}

impl Plan {
    /// Adds to a map where the points of a picture of this size, the plan's own, are in the result. It follows the frames that
    /// the steps work on, which decide what is decoded, cut and resized too.
    pub(crate) fn add_to(&self, map: &mut PointMap, (width, height): (u32, u32), is_of_keypoints: bool) {
        let (mut frame, mut denominator) = (Frame::whole(width, height), 1);
        for (number, step) in self.steps.iter().enumerate() {
            match *step {
                // It makes the frame smaller; the next step begins at the frame.
                Step::Cut(_) => {}
                Step::Resize { width, height, interpolation } => map.add(frame.resized(width, height, interpolation)),
                Step::Canvas { left, top, .. } => map.add(frame.laid(left, top)),
                Step::Mirror => {
                    map.add(frame.laid(0, 0));
                    map.add(Straight::of_columns(Line::mirrored(frame.pixels().width)));
                }
                Step::Flip => {
                    map.add(frame.laid(0, 0));
                    map.add(Straight::of_rows(Line::mirrored(frame.pixels().height)));
                }
                Step::Operate(_) | Step::Turn { .. } => {
                    map.add(frame.laid(0, 0));
                    let shift = self.shifts.iter().find(|(before, _)| is_of_keypoints && *before == number);
                    if let Some((_, shift)) = shift {
                        map.shift(*shift);
                    }
                }
            }
            let pixels = frame.pixels();
            if let Some(geometry) = step.geometry((pixels.width, pixels.height)) {
                map.bend(geometry.forward(), geometry.to);
            }
            (frame, denominator) = frame.after(step, denominator);
        }
        map.add(frame.laid(0, 0));
        let columns = if self.mirrored { Line::mirrored(self.width) } else { Line::IDENTITY };
        map.add(Straight::of_columns(columns));
        if self.flipped {
            map.add(Straight::of_rows(Line::mirrored(self.height)));
        }
        if is_of_keypoints {
            map.shift(self.shift);
        }
    }

    /// Whether keypoints go elsewhere than other points.
    pub fn shifts_keypoints(&self) -> bool {
        self.shift.iter().any(|by| *by != 0.0) || !self.shifts.is_empty()
    }
}
