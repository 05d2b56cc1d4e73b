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
    /// Where each of the others is after the steps so far, as the latest transform that asked has found it.
    located: Vec<[f64; 4]>,
}

impl PlanObjects {
    /// Begins with a picture of this width and height, and no objects. The memory is used again.
    pub(super) fn begin(&mut self, size: (u32, u32)) {
        self.size = size;
        self.boxes.clear();
        self.located.clear();
        self.dropped.clear();
    }

    /// Adds an object. A box with a corner that is no finite number has no place in the picture.
    pub(crate) fn push(&mut self, corners: [f64; 4]) {
        let is_finite = corners.iter().all(|at| at.is_finite());
        self.boxes.push(if is_finite { corners } else { [f64::NAN; 4] });
        self.dropped.push(false);
    }

    /// Finds where the boxes are that no transform has dropped. `shown` says where a box is after the steps so far.
    pub(crate) fn locate(&mut self, mut shown: impl FnMut([f64; 4]) -> [f64; 4]) {
        let left = self.boxes.iter().zip(&self.dropped).filter(|(_, is_dropped)| !**is_dropped);
        self.located.clear();
        self.located.extend(left.map(|(corners, _)| shown(*corners)));
    }

    /// Where they were [found](Self::locate).
    pub(crate) fn located(&self) -> &[[f64; 4]] {
        &self.located
    }

    /// Drops the objects for which `drops` is true, by where they were [found](Self::locate).
    pub(crate) fn drop_some(&mut self, mut drops: impl FnMut([f64; 4]) -> bool) {
        let left = self.dropped.iter_mut().filter(|is_dropped| !**is_dropped);
        for (is_dropped, corners) in left.zip(&self.located) {
            *is_dropped = drops(*corners);
        }
    }

    /// Whether an object was dropped, for each in the order in which they were added.
    pub(super) fn dropped(&self) -> &[bool] {
        &self.dropped
    }
}
