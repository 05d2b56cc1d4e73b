//! Where torchvision looks for the pixels of a tensor: in single precision, from -1 to 1 over the picture. Where a place is
//! between two pixels, its rounding decides which of them is the nearest.

use super::{Affine2D, Mapping, Projection};
use crate::rounds::NearLines;

/// For each pixel of a result, where its middle comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::operation) enum TorchPlaces {
    Affine(AffinePlaces),
    Perspective(PerspectivePlaces),
}

/// Those of rotations and shears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::operation) struct AffinePlaces {
    column: [f32; 3],
    row: [f32; 3],
    /// Half the sides of the picture.
    half: [f32; 2],
    /// Half the sides of the result.
    to_half: [f32; 2],
}

/// Those of a perspective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::operation) struct PerspectivePlaces {
    from: Projection,
    /// The sides of the picture.
    sides: [f32; 2],
}

impl TorchPlaces {
    /// For a picture and a result with these widths and heights.
    #[expect(clippy::cast_precision_loss, reason = "as torch calculates")]
    pub(in crate::operation) fn new(from: Mapping, size: (usize, usize), to: (usize, usize)) -> Self {
        match from {
            Mapping::Affine(from) => Self::Affine(AffinePlaces::new(from, size, to)),
            Mapping::Perspective(from) => {
                let sides = [size.0, size.1].map(|side| side as f32);
                Self::Perspective(PerspectivePlaces { from, sides })
            }
        }
    }

    /// The pixel that the middle of a pixel comes from, with a fraction.
    pub(in crate::operation) fn at_pixel(&self, column: usize, row: usize) -> (f32, f32) {
        match self {
            Self::Affine(places) => places.at_pixel(column, row),
            Self::Perspective(places) => places.at_pixel(column, row),
        }
    }

    /// The numbers that places are calculated from.
    pub(super) fn lines(&self) -> NearLines {
        match self {
            Self::Affine(AffinePlaces { column, row, half, to_half }) => {
                NearLines { column: *column, row: *row, depth: [0.0; 2], half: *half, to_half: *to_half }
            }
            Self::Perspective(places) => places.lines(),
        }
    }

    /// The nearest pixel, which may be outside of the picture.
    #[expect(clippy::cast_possible_truncation, reason = "such casts saturate, which is meant")]
    pub(in crate::operation) fn nearest(&self, column: usize, row: usize) -> (i64, i64) {
        let (x, y) = self.at_pixel(column, row);
        (x.round_ties_even() as i64, y.round_ties_even() as i64)
    }
}

impl AffinePlaces {
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as torch calculates")]
    fn new(from: Affine2D, size: (usize, usize), to: (usize, usize)) -> Self {
        let half = [size.0 as f64 / 2.0, size.1 as f64 / 2.0];
        let to_half = [to.0 as f64 / 2.0, to.1 as f64 / 2.0];
        let (middle_x, middle_y) = from.at(to_half[0], to_half[1]);
        let scaled = |line: [f64; 3], middle: f64, half: f64| {
            [line[0], line[1], middle - half].map(|number| number as f32 / half as f32)
        };
        let (column, row) = (scaled(from.column, middle_x, half[0]), scaled(from.row, middle_y, half[1]));
        Self { column, row, half: half.map(|side| side as f32), to_half: to_half.map(|side| side as f32) }
    }

    #[expect(clippy::cast_precision_loss, reason = "as torch calculates")]
    fn at_pixel(&self, column: usize, row: usize) -> (f32, f32) {
        let x = column as f32 - (self.to_half[0] - 0.5);
        let y = row as f32 - (self.to_half[1] - 0.5);
        let place = |line: [f32; 3], half: f32| (x * line[0] + y * line[1] + line[2] + 1.0) * half - 0.5;
        (place(self.column, self.half[0]), place(self.row, self.half[1]))
    }
}

impl PerspectivePlaces {
    #[expect(clippy::cast_possible_truncation, reason = "as torch calculates")]
    fn lines(&self) -> NearLines {
        let half = self.sides.map(|side| 0.5 * side);
        let of = |line: [f64; 3], half: f32| line.map(|number| number as f32 / half);
        let depth = self.from.depth.map(|number| number as f32);
        let (column, row) = (of(self.from.column, half[0]), of(self.from.row, half[1]));
        NearLines { column, row, depth, half, to_half: half }
    }

    #[expect(clippy::cast_precision_loss, reason = "as torch calculates")]
    fn at_pixel(&self, column: usize, row: usize) -> (f32, f32) {
        let lines = self.lines();
        let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
        let depth = x * lines.depth[0] + y * lines.depth[1] + 1.0;
        let place = |line: [f32; 3], side: f32| {
            let from_middle = (x * line[0] + y * line[1] + line[2]) / depth - 1.0;
            ((from_middle + 1.0) * side - 1.0) / 2.0
        };
        (place(lines.column, self.sides[0]), place(lines.row, self.sides[1]))
    }
}
