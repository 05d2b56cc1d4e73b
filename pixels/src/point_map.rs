//! Where the points and boxes of a picture are in what was made of it.

mod straight;

use crate::projective::Projective;
pub(crate) use straight::{Line, Straight};

/// Takes points of a picture to points of a result.
///
/// Points count pixels from the picture's corner: pixel 0 reaches from 0 to 1, and its middle is at 0.5. The map is exact
/// for cuts, borders, mirroring and orientations. Everything is calculated in double precision.
#[derive(Clone, Debug, PartialEq)]
pub struct PointMap {
    first: Straight,
    /// What follows, if something turned or sheared the picture.
    bends: Vec<Bend>,
}

/// A rotation, a shear or a perspective, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bend {
    by: Projective,
    then: Straight,
}

/// A box in a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MappedBox {
    /// Left, top, right and below of what the result shows of it. A box that it does not show has no area.
    pub clipped: [f32; 4],
    /// How much of its area the result shows, from 0 to 1. A box without area has 0. Where a picture is turned or sheared, the
    /// box becomes the one around its four corners, and that box's area counts.
    pub visible: f64,
}

impl Default for PointMap {
    /// Every point stays where it is, and nothing is hidden.
    fn default() -> Self {
        Self { first: Straight::IDENTITY, bends: Vec::new() }
    }
}

impl PointMap {
    /// Starts again, with this map. The memory is used again.
    pub(crate) fn start(&mut self, first: Straight) {
        self.first = first;
        self.bends.clear();
    }

    /// Adds another map behind.
    pub(crate) fn add(&mut self, next: Straight) {
        let last = self.bends.last_mut().map_or(&mut self.first, |bend| &mut bend.then);
        *last = last.then(next);
    }

    /// Moves points to the right and down, but not what the result shows.
    pub(crate) fn shift(&mut self, by: [f64; 2]) {
        self.bends.last_mut().map_or(&mut self.first, |bend| &mut bend.then).shift(by);
    }

    /// Adds a move behind, whose result has this width and height.
    pub(crate) fn bend(&mut self, by: Projective, size: (u32, u32)) {
        self.bends.push(Bend { by, then: Straight::whole(size) });
    }

    /// Makes this the map `of` for points that count in fractions of a picture of this width and height. The memory is used
    /// again.
    pub fn set_to_fractions(&mut self, of: &Self, size: (u32, u32)) {
        self.first = Straight::of_fractions(size).then(of.first);
        self.bends.clone_from(&of.bends);
    }

    /// Whether the result is a mirror image of the picture: mirrored in one direction, and not in both, whatever else was done.
    pub fn is_mirrored(&self) -> bool {
        self.bends
            .iter()
            .fold(self.first.is_mirrored(), |mirrored, bend| mirrored ^ bend.by.is_mirrored() ^ bend.then.is_mirrored())
    }

    /// Where a point is, which may be outside of the result. Polygons are mapped point by point, and are not clipped.
    #[expect(clippy::cast_possible_truncation, reason = "what is written has single precision")]
    pub fn point(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let first = self.first.at([x.into(), y.into()]);
        self.bends.iter().fold(first, |at, bend| bend.then.at(bend.by.at(at))).map(|at| at as f32)
    }

    /// Where a keypoint of x, y and visibility is. One that is not labelled (visibility 0) stays as it is. One that the
    /// result does not show gets the visibility 0.
    pub fn keypoint(&self, [x, y, visibility]: [f32; 3]) -> [f32; 3] {
        if visibility == 0.0 {
            return [x, y, visibility];
        }
        let is_shown = self.shows([x.into(), y.into()]);
        let [x, y] = self.point([x, y]);
        [x, y, if is_shown { visibility } else { 0.0 }]
    }

    /// Where a box of left, top, right and below is, and how much of it the result shows. The right and the lower end are
    /// not part of the box.
    #[expect(clippy::cast_possible_truncation, reason = "what is written has single precision")]
    pub fn xyxy(&self, corners: [f32; 4]) -> MappedBox {
        let (clipped, visible) = self.shown(corners.map(f64::from));
        MappedBox { clipped: clipped.map(|at| at as f32), visible }
    }

    /// What the result shows of a box, and how much of its area that is.
    pub(crate) fn shown(&self, corners: [f64; 4]) -> ([f64; 4], f64) {
        self.bends.iter().fold(self.first.shown(corners), |(clipped, visible), bend| {
            let (clipped, share) = bend.then.shown(around(bend.by, clipped));
            (clipped, visible * share)
        })
    }

    /// Whether a point is in the result, and was in every picture on the way there.
    fn shows(&self, point: [f64; 2]) -> bool {
        let mut at = self.first.at(point);
        let mut is_shown = self.first.shows(at);
        for bend in &self.bends {
            let Some(moved) = bend.by.at_in_front(at) else { return false };
            at = bend.then.at(moved);
            is_shown &= bend.then.shows(at);
        }
        is_shown
    }
}

/// The box around a box whose corners were moved. It has no numbers if a corner is behind the horizon.
fn around(by: Projective, [left, top, right, below]: [f64; 4]) -> [f64; 4] {
    let corners = [[left, top], [right, top], [right, below], [left, below]];
    let moved = corners.map(|corner| by.at_in_front(corner).unwrap_or([f64::NAN; 2]));
    if moved.as_flattened().iter().any(|at| at.is_nan()) {
        return [f64::NAN; 4];
    }
    let ends = |axis: usize, end: fn(f64, f64) -> f64| moved.iter().map(|at| at[axis]).reduce(end).unwrap_or(f64::NAN);
    [ends(0, f64::min), ends(1, f64::min), ends(0, f64::max), ends(1, f64::max)]
}
