//! The boxes of a dataset's records, for the transforms that draw by them.

use std::fmt;
use std::sync::Arc;

use crate::origin::{Annotated, Origin};
use crate::plan::Plan;
use crate::point_map::Straight;

/// Gives the boxes of the record that a [`Draw`](crate::Draw) has: left, top, right and below of each object, in their order.
type Give = dyn Fn(u64, &mut dyn FnMut([f32; 4])) + Send + Sync;

/// The boxes of a dataset's records. A recipe is bound to them by [`Recipe::with_boxes`](crate::Recipe::with_boxes): its plans
/// are then a function of the draw and of the record's boxes.
#[derive(Clone)]
pub struct RecordBoxes {
    give: Arc<Give>,
    in_fractions: bool,
    annotated: Annotated,
}

impl RecordBoxes {
    /// Boxes in pixels of the annotated picture, or in fractions of its width and height. `give` gets
    /// [`Draw::record`](crate::Draw::record), and must return the same boxes each time.
    pub fn new(
        annotated: Annotated,
        in_fractions: bool,
        give: impl Fn(u64, &mut dyn FnMut([f32; 4])) + Send + Sync + 'static,
    ) -> Self {
        Self { give: Arc::new(give), in_fractions, annotated }
    }

    /// The boxes of the record that a [`Draw`](crate::Draw) has.
    pub fn each(&self, record: u64, give: &mut dyn FnMut([f32; 4])) {
        (self.give)(record, give);
    }

    /// Whether they are in fractions of the picture's width and height.
    pub fn in_fractions(&self) -> bool {
        self.in_fractions
    }

    /// Gives a plan that begins with this picture the boxes of a record.
    pub(crate) fn place(&self, record: u64, origin: &Origin, plan: &mut Plan) {
        let mut map = origin.before_the_plan(self.annotated);
        if self.in_fractions {
            map = Straight::of_fractions(origin.annotated(self.annotated)).then(map);
        }
        (self.give)(record, &mut |corners| plan.objects.push(map.bounds(corners.map(f64::from))));
    }
}

/// Two are equal if they are the same one.
impl PartialEq for RecordBoxes {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.give, &other.give)
    }
}

impl fmt::Debug for RecordBoxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordBoxes").field("annotated", &self.annotated).finish_non_exhaustive()
    }
}
