//! What the values of a picture mean: the matrix of ITU-T H.273, with the coefficients that libavif takes.

use crate::calls::{Layout, Planes};
use crate::fault::AvifFault;
use crate::properties::Nclx;

/// How colours are made of the three values of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Matrix {
    /// A brightness and two differences, with the weights of red and blue in the brightness.
    Weights {
        /// Of red.
        red: f32,
        /// Of blue.
        blue: f32,
    },
    /// Green, blue and red themselves.
    Identity,
    /// Brightness, and differences in green and orange.
    YCgCo,
}

/// The weights of red and blue by the number of the matrix.
const WEIGHTS: [(u16, f32, f32); 6] = [
    (1, 0.2126, 0.0722),
    (4, 0.30, 0.11),
    (5, 0.299, 0.114),
    (6, 0.299, 0.114),
    (7, 0.212, 0.087),
    (9, 0.2627, 0.0593),
];
/// The matrix whose weights follow from the primaries.
const OF_PRIMARIES: u16 = 12;
/// Where red, green, blue and white are, as x and y, by the number of the primaries. The first are those of unknown ones.
const PRIMARIES: [(u16, [f32; 8]); 11] = [
    (1, [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329]),
    (4, [0.67, 0.33, 0.21, 0.71, 0.14, 0.08, 0.310, 0.316]),
    (5, [0.64, 0.33, 0.29, 0.60, 0.15, 0.06, 0.3127, 0.3290]),
    (6, [0.630, 0.340, 0.310, 0.595, 0.155, 0.070, 0.3127, 0.3290]),
    (7, [0.630, 0.340, 0.310, 0.595, 0.155, 0.070, 0.3127, 0.3290]),
    (8, [0.681, 0.319, 0.243, 0.692, 0.145, 0.049, 0.310, 0.316]),
    (9, [0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290]),
    (10, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3333, 0.3333]),
    (11, [0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.314, 0.351]),
    (12, [0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.3127, 0.3290]),
    (22, [0.630, 0.340, 0.295, 0.605, 0.155, 0.077, 0.3127, 0.3290]),
];

/// What a picture's colours are made by, and whether its values have the full range. What the container says counts, and else what the
/// data say.
pub(crate) fn of(planes: &Planes, nclx: Option<Nclx>) -> Result<(Matrix, bool), AvifFault> {
    let [primaries, transfer, matrix] = planes.cicp;
    let in_data = Nclx { primaries, transfer, matrix, is_full_range: planes.is_full_range };
    let Nclx { primaries, matrix, is_full_range, .. } = nclx.unwrap_or(in_data);
    let has_subsampling = matches!(planes.layout, Layout::Quarter | Layout::Half);
    let of_colours = match matrix {
        0 if has_subsampling => return Err(AvifFault::Corrupt("red, green and blue have different sizes")),
        0 => Matrix::Identity,
        8 if !is_full_range => return Err(AvifFault::Unsupported("in YCgCo of limited range")),
        8 => Matrix::YCgCo,
        3 | 10 | 11 | 13.. => {
            return Err(AvifFault::Unsupported("whose colours are made by a matrix that is not known"));
        }
        OF_PRIMARIES => weights_of(primaries),
        _ => {
            // What is not said is BT.601, as for a picture without any such box.
            let (_, red, blue) = WEIGHTS.into_iter().find(|known| known.0 == matrix).unwrap_or(WEIGHTS[2]);
            Matrix::Weights { red, blue }
        }
    };
    Ok((of_colours, is_full_range))
}

/// Equations 32 to 37 of H.273.
fn weights_of(primaries: u16) -> Matrix {
    let (_, places) = PRIMARIES.into_iter().find(|known| known.0 == primaries).unwrap_or(PRIMARIES[0]);
    let [rx, ry, gx, gy, bx, by, wx, wy] = places;
    let [rz, gz, bz, wz] = [(rx, ry), (gx, gy), (bx, by), (wx, wy)].map(|(x, y)| 1.0 - (x + y));
    let below = wy * (rx * (gy * bz - by * gz) + gx * (by * rz - ry * bz) + bx * (ry * gz - gy * rz));
    let red = ry * (wx * (gy * bz - by * gz) + wy * (bx * gz - gx * bz) + wz * (gx * by - bx * gy)) / below;
    let blue = by * (wx * (ry * gz - gy * rz) + wy * (gx * rz - rx * gz) + wz * (rx * gy - gx * ry)) / below;
    Matrix::Weights { red, blue }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_follow_from_the_primaries_are_those_of_the_matrices_that_were_made_of_them() {
        for (primaries, red, blue) in [(1, 0.2126, 0.0722), (9, 0.2627, 0.0593), (99, 0.2126, 0.0722)] {
            let Matrix::Weights { red: found_red, blue: found_blue } = weights_of(primaries) else { unreachable!() };
            assert!((found_red - red).abs() < 1e-3 && (found_blue - blue).abs() < 1e-3, "{primaries}: {found_red}");
        }
    }
}
