//! Blurred by a Gaussian kernel.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::blend::rounded;
use super::workpiece::Workpiece;
use crate::border::reflected;
use crate::draw::Draws;
use crate::number::range_problem;
use crate::vector::{self, VectorLoop};

/// Longest side of a kernel.
const LONGEST: u32 = 255;

/// Values of a row that are summed beside each other.
const BLOCK: usize = 64;

/// Least standard deviation. The square of a much smaller one is 0, by which nothing can be divided.
const LEAST_SIGMA: f64 = 1e-3;

/// Least weight that counts. With a smaller one, even two of the brightest pixels add less than half a unit in the last
/// place to a sum of 0.25 or more, and smaller sums become 0.
const LEAST_WEIGHT: f32 = 2.0e-11;

/// torchvision's `gaussian_blur`. It is the same for Pillow's images, which torchvision makes tensors of.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Blur {
    /// Width and height of the kernel, or one number for both. Odd.
    pub kernel_size: OneOrTwo<u32>,
    /// Standard deviations along the rows and down the columns, in pixels. Without them, as much as fits into the kernel.
    #[serde(default)]
    pub sigma: Option<OneOrTwo<f64>>,
}

/// torchvision's `GaussianBlur`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianBlur {
    /// As in [`Blur`].
    pub kernel_size: OneOrTwo<u32>,
    /// Least and greatest standard deviation, or the only one.
    #[serde(default = "default_sigma")]
    pub sigma: OneOrTwo<f64>,
}

/// One number, or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged, expecting = "kernel_size, sigma and radius must be one number or two, and a kernel_size is whole")]
pub enum OneOrTwo<T> {
    /// The same for both.
    One(T),
    /// Two.
    Two([T; 2]),
}

/// The weights of a kernel's one side, from its middle outwards.
struct BlurWeights {
    half: [f32; LONGEST as usize / 2 + 1],
    radius: usize,
}

/// Down the columns into a row of floats, and along that into a row of the result. Beyond its border a picture is reflected.
struct Blurring<'a> {
    from: &'a [u8],
    to: &'a mut [u8],
    width: usize,
    along: &'a BlurWeights,
    down: &'a BlurWeights,
    floats: &'a mut Vec<f32>,
}

impl<T: Copy> OneOrTwo<T> {
    pub(super) fn both(self) -> [T; 2] {
        match self {
            Self::One(value) => [value; 2],
            Self::Two(values) => values,
        }
    }
}

impl Blur {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        let sizes = self.kernel_size.both();
        if sizes.iter().any(|size| size % 2 == 0 || *size > LONGEST) {
            return Some(format!("kernel_size is {sizes:?}, but must be odd numbers up to {LONGEST}"));
        }
        let sigmas = self.sigma?.both();
        let good = sigmas.iter().all(|sigma| *sigma >= LEAST_SIGMA && sigma.is_finite());
        (!good).then(|| format!("sigma is {sigmas:?}, but must be numbers of at least {LEAST_SIGMA}"))
    }

    /// The weights along the rows and down the columns, each from the middle outwards.
    pub(super) fn weights(self) -> [Vec<f32>; 2] {
        self.sides().map(|side| side.half[..=side.radius].to_vec())
    }

    fn sides(self) -> [BlurWeights; 2] {
        let sizes = self.kernel_size.both();
        let sigmas = self.sigma.map_or_else(|| sizes.map(|size| f64::from(size) * 0.15 + 0.35), OneOrTwo::both);
        [0, 1].map(|side| BlurWeights::new(sizes[side], sigmas[side]))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let [along, down] = self.sides();
        work.remake_by(|from, to, width, scratch| {
            let floats = &mut scratch.floats;
            vector::run(Blurring { from, to, width, along: &along, down: &down, floats });
        });
    }
}

impl GaussianBlur {
    pub(crate) fn problem(&self) -> Option<String> {
        let sizes = Blur { kernel_size: self.kernel_size, sigma: None };
        let ends = Blur { sigma: Some(self.sigma), ..sizes };
        sizes.problem().or_else(|| range_problem("sigma", self.sigma.both())).or_else(|| ends.problem())
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        let [least, greatest] = self.sigma.both();
        let sigma = draws.between(0, least, greatest);
        give(Operation::Blur(Blur { kernel_size: self.kernel_size, sigma: Some(OneOrTwo::One(sigma)) }));
    }
}

impl BlurWeights {
    /// torchvision's: Gaussian values at points from the kernel's one end to the other, which add up to 1.
    #[expect(clippy::cast_possible_truncation, reason = "weights have single precision")]
    fn new(size: u32, sigma: f64) -> Self {
        let radius = size / 2;
        // The points are 1 / sqrt(2) apart, so that their squares need no factor.
        let square = |at: u32| f64::from(at) * f64::from(at) * 0.5;
        let value = |at: u32| libm::exp(-square(at) / (sigma * sigma));
        let sum = 1.0 + 2.0 * (1..=radius).map(value).sum::<f64>();
        let mut half = [0.0; LONGEST as usize / 2 + 1];
        for (at, weight) in (0..=radius).zip(&mut half) {
            *weight = (value(at) / sum) as f32;
        }
        // Those that are left out would take as long as the others.
        let radius = half[..=radius as usize].iter().rposition(|weight| *weight >= LEAST_WEIGHT).unwrap_or(0);
        Self { half, radius }
    }
}

impl VectorLoop for Blurring<'_> {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "weights add up to 1")]
    fn run(self) {
        let Self { from, to, width, along, down, floats } = self;
        let (along_middle, down_middle) = (along.half[0], down.half[0]);
        let stride = width * 3;
        let height = from.len() / stride;
        let margin = along.radius * 3;
        let row = |number: isize| &from[line_at(number, height) * stride..][..stride];
        floats.clear();
        floats.resize(stride + margin * 2 + BLOCK, 0.0);
        let summed = floats;
        for (number, to) in to.chunks_exact_mut(stride).enumerate() {
            let number = number.cast_signed();
            let middle = &mut summed[margin..][..stride];
            for (sum, value) in middle.iter_mut().zip(row(number)) {
                *sum = f32::from(*value) * down_middle;
            }
            for (at, weight) in (1..).zip(down.half[1..=down.radius].iter().copied()) {
                let pairs = row(number - at).iter().zip(row(number + at));
                for (sum, (above, below)) in middle.iter_mut().zip(pairs) {
                    *sum += f32::from(u16::from(*above) + u16::from(*below)) * weight;
                }
            }
            for at in 1..=along.radius {
                for channel in 0..3 {
                    let [left, right] = [-at.cast_signed(), (width - 1 + at).cast_signed()]
                        .map(|column| summed[margin + line_at(column, width) * 3 + channel]);
                    summed[margin - at * 3 + channel] = left;
                    summed[margin + (width - 1 + at) * 3 + channel] = right;
                }
            }
            for (first, to) in (margin..).step_by(BLOCK).zip(to.chunks_mut(BLOCK)) {
                let block =
                    |first: usize| summed[first..].first_chunk::<BLOCK>().expect("a block is behind each value");
                let mut sums = [0.0; BLOCK];
                for (sum, value) in sums.iter_mut().zip(block(first)) {
                    *sum = value * along_middle;
                }
                for (at, weight) in (1..).zip(along.half[1..=along.radius].iter().copied()) {
                    let (left, right) = (block(first - at * 3), block(first + at * 3));
                    for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
                        *sum += (left + right) * weight;
                    }
                }
                for (to, sum) in to.iter_mut().zip(sums) {
                    *to = rounded(sum.min(255.0)) as u8;
                }
            }
        }
    }
}

/// The line of a side that is shown at this place, which may be beyond either end.
#[expect(clippy::cast_possible_wrap, reason = "sides are far below 2^63")]
fn line_at(at: isize, len: usize) -> usize {
    usize::try_from(reflected(at as i64, len as i64)).expect("a line of the picture")
}

fn default_sigma() -> OneOrTwo<f64> {
    OneOrTwo::Two([0.1, 2.0])
}
