//! A warp in the numbers that a GPU takes: the same places, by the same arithmetic.

use super::{Affine2D, Fill, Mapping, Projection, TorchPlaces, Warp};
use crate::interpolation::Interpolation;
use crate::matching::Match;
use crate::rounds::{MovedBy, MovedFrom};

/// Where a warp takes the pixels of a result from, in a picture of the same width and height.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fill is from 0 to 255")]
pub(in crate::operation) fn moved_from(warp: &Warp, size: (usize, usize), matched: Match) -> Box<MovedFrom> {
    let nearest = warp.interpolation == Interpolation::Nearest;
    let by = match (matched, warp.from) {
        (Match::Pillow, Mapping::Affine(from)) if nearest => {
            if from.steps_in_whole_numbers(size) {
                MovedBy::WholeSteps
            } else {
                MovedBy::Steps
            }
        }
        (Match::Pillow, _) => MovedBy::Places,
        (Match::Torch, Mapping::Affine(_)) if nearest => MovedBy::TorchNearest,
        (Match::Torch, Mapping::Perspective(_)) if nearest => MovedBy::TorchNearestProjected,
        (Match::Torch, _) => MovedBy::TorchPlaces,
    };
    // A sum that is divided by 1 stays as it is.
    let (column, row, depth) = match warp.from {
        Mapping::Affine(Affine2D { column, row }) => (column, row, [0.0; 2]),
        Mapping::Perspective(Projection { column, row, depth }) => (column, row, depth),
    };
    let fill = warp.fill.map(Fill::rgb);
    let fill_bytes = match matched {
        Match::Pillow => warp.fill.map_or([0; 3], Fill::bytes),
        Match::Torch => fill.unwrap_or_default().map(|value| libm::rint(value) as u8),
    };
    let near = TorchPlaces::new(warp.from, size, size).lines();
    Box::new(MovedFrom { by, filter: warp.interpolation, column, row, depth, fill, fill_bytes, near })
}
