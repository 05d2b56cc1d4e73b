//! The objects of a picture, in a plan whose transforms draw by their boxes.

/// The objects of the picture that a plan begins with. There are none if no transform asks for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlanObjects {
    /// Width and height of that picture.
    pub(crate) size: (u32, u32),
    /// Left, top, right and below of each.
    boxes: Vec<[f64; 4]>,
    /// Whether a transform has dropped it, for each.
    dropped: Vec<bool>,
}

impl PlanObjects {
    /// Begins with a picture of this width and height, and no objects. The memory is used again.
    pub(super) fn begin(&mut self, size: (u32, u32)) {
        self.size = size;
        self.boxes.clear();
        self.dropped.clear();
    }

    /// Adds an object. A box with a corner that is no finite number has no place in the picture.
    pub(crate) fn push(&mut self, corners: [f64; 4]) {
        let is_finite = corners.iter().all(|at| at.is_finite());
        self.boxes.push(if is_finite { corners } else { [f64::NAN; 4] });
        self.dropped.push(false);
    }

    /// The boxes of those that no transform has dropped.
    pub(crate) fn left(&self) -> impl Iterator<Item = [f64; 4]> {
        self.boxes.iter().zip(&self.dropped).filter(|(_, is_dropped)| !**is_dropped).map(|(corners, _)| *corners)
    }

    /// Drops those of which `drops` says so.
    pub(crate) fn drop_some(&mut self, mut drops: impl FnMut([f64; 4]) -> bool) {
        for (corners, is_dropped) in self.boxes.iter().zip(&mut self.dropped) {
            *is_dropped = *is_dropped || drops(*corners);
        }
    }

    /// Whether an object was dropped, for each in the order in which they were added.
    pub(super) fn dropped(&self) -> &[bool] {
        &self.dropped
    }
}
