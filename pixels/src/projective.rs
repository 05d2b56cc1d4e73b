//! Moves of the plane that keep lines straight: rotations, shears and perspectives, as matrices of 3 x 3.

/// Takes a point (x, y) to (X / W, Y / W). X, Y and W are sums of x, y and 1 with the weights of a row each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Projective {
    rows: [[f64; 3]; 3],
}

impl Projective {
    /// The move by these weights.
    pub(crate) fn new(rows: [[f64; 3]; 3]) -> Self {
        Self { rows }
    }

    /// The way back. If several points are taken to one, there is none: then every number that it gives is NaN.
    pub(crate) fn inverse(self) -> Self {
        let [first, second, third] = self.rows;
        let columns = [cross(second, third), cross(third, first), cross(first, second)];
        let determinant = self.determinant();
        let divisor = if determinant == 0.0 { f64::NAN } else { determinant };
        Self { rows: std::array::from_fn(|row| columns.map(|column| column[row] / divisor)) }
    }

    /// Where a point is.
    pub(crate) fn at(self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [wide, high, depth] = self.sums([x, y]);
        [wide / depth, high / depth]
    }

    /// Where a point is. None behind the horizon of a perspective: nothing of there is in the result.
    pub(crate) fn at_in_front(self, point: [f64; 2]) -> Option<[f64; 2]> {
        (self.sums(point)[2] > 0.0).then(|| self.at(point))
    }

    /// Whether it makes a mirror image of what is in front of the horizon.
    pub(crate) fn is_mirrored(self) -> bool {
        self.determinant() < 0.0
    }

    fn determinant(self) -> f64 {
        let [first, second, third] = self.rows;
        first.iter().zip(cross(second, third)).map(|(one, other)| one * other).sum()
    }

    fn sums(self, [x, y]: [f64; 2]) -> [f64; 3] {
        self.rows.map(|[of_x, of_y, of_one]| of_x * x + of_y * y + of_one)
    }
}

/// The vector product of two rows.
fn cross(one: [f64; 3], other: [f64; 3]) -> [f64; 3] {
    let minor = |first: usize, second: usize| one[first] * other[second] - one[second] * other[first];
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_of_a_perspective_returns_every_point() {
        let there = Projective::new([[0.9, -0.2, 3.0], [0.1, 1.1, -4.0], [0.001, -0.002, 1.0]]);
        let back = there.inverse();
        for point in [[0.0, 0.0], [100.0, 0.0], [31.5, 77.25]] {
            let [x, y] = back.at_in_front(there.at(point)).expect("it was in front");
            assert!((x - point[0]).abs() < 1e-9 && (y - point[1]).abs() < 1e-9, "{x} {y}");
        }
    }

    #[test]
    fn behind_the_horizon_there_is_nothing_and_without_a_way_back_no_number() {
        let there = Projective::new([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.01, 0.0, 1.0]]);
        assert_eq!(there.at_in_front([50.0, 10.0]), Some([100.0, 20.0]));
        assert_eq!(there.at_in_front([101.0, 10.0]), None);
        let flat = Projective::new([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]]).inverse();
        assert!(flat.at([1.0, 1.0])[0].is_nan() && flat.at_in_front([1.0, 1.0]).is_none());
    }
}
