//! Where the points of a picture are in what a recipe makes of it.

use crate::draw::Draw;
use crate::orientation::Orientation;
use crate::origin::{Annotated, Origin};
use crate::plan::Plan;
use crate::plan::points::add_plan;
use crate::point_map::PointMap;
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
        add_plan(map, plan, self.size, false);
    }

    /// As [`Origin::map_into`], for keypoints, which flips may take elsewhere than other points
    /// ([`KeypointFlip`](crate::KeypointFlip)). The plan is that of the picture.
    pub fn keypoint_map_into(&self, plan: &Plan, annotated: Annotated, map: &mut PointMap) {
        map.start(self.before_the_plan(annotated));
        add_plan(map, plan, self.size, true);
    }
}
