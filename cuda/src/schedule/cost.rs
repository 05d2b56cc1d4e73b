//! What a picture costs a lane: a fixed part, one for its pixels and one for its bytes, fitted to what was measured.

use std::ops::AddAssign;
use std::time::Duration;

/// What of a picture, or of several, makes work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Pixels as stored, in millions.
    pub megapixels: f64,
    /// Bytes of the file, in thousands.
    pub kilobytes: f64,
}

/// What one worker has decoded together, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Pictures.
    pub pictures: u32,
    /// Their work.
    pub work: Work,
    /// The time.
    pub took: Duration,
}

/// Seconds of one worker for a picture: fixed + per megapixel + per kilobyte.
///
/// Least squares over the measurements. Older ones count less and less, so the estimate follows a machine that slows down.
/// The prior always counts a little, so the estimate stays sound while all pictures have one size. One outlier, such as a
/// pause of the whole machine, changes it little.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Fixed, per megapixel, per kilobyte.
    weights: [f64; 3],
    prior: [f64; 3],
    /// The normal equations' matrix and right side.
    matrix: [[f64; 3]; 3],
    right: [f64; 3],
}

/// How much of an older figure is left with each newer one: half of it after 70.
const MEMORY: f64 = 0.99;
/// How much the prior counts, in figures.
const FAITH: f64 = 0.05;
/// A measurement counts as at most this many times the estimate. If a machine truly is slower, further measurements show it.
const SURPRISE: f64 = 4.0;
/// No picture is believed to cost less than this part of what the prior says, however sizes far from those measured are
/// reckoned.
const LEAST: f64 = 1.0 / 16.0;
/// How much is left of all figures when they fade.
const FADED: f64 = 0.75;

impl Work {
    /// The work of a picture.
    #[expect(clippy::cast_precision_loss, reason = "sizes of pictures are far below 2^53")]
    pub fn of(pixels: u64, bytes: u64) -> Self {
        Self { megapixels: pixels as f64 / 1e6, kilobytes: bytes as f64 / 1e3 }
    }
}

impl Sample {
    /// With one more picture.
    pub fn add(&mut self, work: Work) {
        self.pictures += 1;
        self.work += work;
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.megapixels += other.megapixels;
        self.kilobytes += other.kilobytes;
    }
}

impl Cost {
    /// The cost before anything was measured, in seconds.
    pub const fn new(fixed: f64, per_megapixel: f64, per_kilobyte: f64) -> Self {
        let prior = [fixed, per_megapixel, per_kilobyte];
        Self { weights: prior, prior, matrix: [[0.0; 3]; 3], right: [0.0; 3] }
    }

    /// Seconds of one worker for this work of one picture.
    pub fn seconds(&self, work: Work) -> f64 {
        let by = |[fixed, per_megapixel, per_kilobyte]: [f64; 3]| {
            fixed + per_megapixel * work.megapixels + per_kilobyte * work.kilobytes
        };
        by(self.weights).max(by(self.prior) * LEAST)
    }

    /// Takes in what was measured.
    pub(crate) fn observe(&mut self, sample: &Sample) {
        let Sample { pictures, work, took } = *sample;
        if pictures == 0 {
            return;
        }
        // Of one picture, so that groups of all lengths count alike.
        let each = 1.0 / f64::from(pictures);
        let work = Work { megapixels: work.megapixels * each, kilobytes: work.kilobytes * each };
        let x = [1.0, work.megapixels, work.kilobytes];
        let seconds = (took.as_secs_f64() * each).min(SURPRISE * self.seconds(work));
        for row in 0..3 {
            for column in 0..3 {
                self.matrix[row][column] = self.matrix[row][column] * MEMORY + x[row] * x[column];
            }
            self.right[row] = self.right[row] * MEMORY + x[row] * seconds;
        }
        self.fit();
    }

    /// Trusts what was measured less, and the prior more.
    pub(crate) fn fade(&mut self) {
        self.matrix.as_flattened_mut().iter_mut().chain(&mut self.right).for_each(|sum| *sum *= FADED);
        self.fit();
    }

    fn fit(&mut self) {
        let (mut matrix, mut right) = (self.matrix, self.right);
        // The prior is a figure for each weight, in its own unit: a picture of 0.2 megapixels and 100 kilobytes.
        for (place, unit) in [1.0, 0.2, 100.0].into_iter().enumerate() {
            let weight = FAITH * unit * unit;
            matrix[place][place] += weight;
            right[place] += weight * self.prior[place];
        }
        if let Some(weights) = solve(matrix, right) {
            self.weights = weights;
        }
    }
}

/// Gauss with the larger pivot. `None` if the matrix is singular, which the prior does not allow.
fn solve(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> Option<[f64; 3]> {
    for step in 0..3 {
        let pivot = (step..3).max_by(|a, b| matrix[*a][step].abs().total_cmp(&matrix[*b][step].abs()))?;
        matrix.swap(step, pivot);
        right.swap(step, pivot);
        if matrix[step][step].abs() < 1e-30 {
            return None;
        }
        for row in step + 1..3 {
            let factor = matrix[row][step] / matrix[step][step];
            let above = matrix[step];
            for (value, above) in matrix[row].iter_mut().zip(above).skip(step) {
                *value -= factor * above;
            }
            right[row] -= factor * right[step];
        }
    }
    let mut weights = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| matrix[row][column] * weights[column]).sum();
        weights[row] = (right[row] - known) / matrix[row][row];
    }
    weights.iter().all(|weight| weight.is_finite()).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_follows_what_was_measured_in_groups_of_any_length() {
        let mut cost = Cost::new(1e-3, 1e-3, 1e-6);
        let truth = |work: Work| 0.2e-3 + 3e-3 * work.megapixels + 4e-6 * work.kilobytes;
        for number in 0..400_u32 {
            let sizes = (1..=number % 7 + 1).map(|place| u64::from((number * 31 + place * 17) % 40 + 1));
            let works: Vec<_> = sizes.map(|size| Work::of(size * 50_000, (size % 9 + 1) * 30_000)).collect();
            let mut all = Work::default();
            for work in &works {
                all += *work;
            }
            let took = Duration::from_secs_f64(works.iter().map(|work| truth(*work)).sum());
            cost.observe(&Sample { pictures: u32::try_from(works.len()).unwrap(), work: all, took });
        }
        for work in [Work::of(100_000, 60_000), Work::of(2_000_000, 200_000)] {
            let (fitted, true_seconds) = (cost.seconds(work), truth(work));
            assert!((fitted / true_seconds - 1.0).abs() < 0.05, "{fitted} for {true_seconds}");
        }
    }

    #[test]
    fn pictures_of_one_size_leave_the_cost_sound_for_others() {
        let mut cost = Cost::new(1e-3, 4e-3, 1e-6);
        let work = Work::of(200_000, 100_000);
        for _ in 0..1000 {
            cost.observe(&Sample { pictures: 1, work, took: Duration::from_millis(2) });
        }
        assert!((cost.seconds(work) - 2e-3).abs() < 1e-4);
        let large = cost.seconds(Work::of(8_000_000, 3_000_000));
        assert!((2e-3..1.0).contains(&large), "{large}");
    }

    #[test]
    fn one_figure_that_stands_out_moves_the_cost_little_and_many_are_believed() {
        let mut cost = Cost::new(1e-3, 0.0, 0.0);
        let work = Work::of(200_000, 100_000);
        let sample = |seconds| Sample { pictures: 1, work, took: Duration::from_secs(seconds) };
        cost.observe(&sample(10));
        assert!(cost.seconds(work) < 5e-3, "{}", cost.seconds(work));
        for _ in 0..40 {
            cost.observe(&sample(10));
        }
        assert!(cost.seconds(work) > 3.0, "{}", cost.seconds(work));
    }

    #[test]
    fn what_was_measured_fades_to_the_prior() {
        let mut cost = Cost::new(1e-3, 0.0, 0.0);
        let work = Work::of(200_000, 100_000);
        for _ in 0..200 {
            cost.observe(&Sample { pictures: 1, work, took: Duration::from_millis(100) });
        }
        let before = cost.seconds(work);
        for _ in 0..60 {
            cost.fade();
        }
        assert!(before > 90e-3 && cost.seconds(work) < 2e-3, "{before}, then {}", cost.seconds(work));
    }

    /// Pictures that grew in pixels and shrank in bytes at the same cost: what they say of bytes is below nothing.
    #[test]
    fn no_size_is_believed_to_cost_next_to_nothing() {
        let mut cost = Cost::new(0.15e-3, 0.3e-3, 0.0);
        for number in 0..500 {
            let step = number % 10;
            let work = Work::of(100_000 + step * 20_000, 200_000 - step * 15_000);
            cost.observe(&Sample { pictures: 1, work, took: Duration::from_micros(100 + 20 * step) });
        }
        let far = Work::of(10_000, 5_000_000);
        assert!(cost.seconds(far) >= 0.15e-3 / 16.0, "{}", cost.seconds(far));
    }
}
