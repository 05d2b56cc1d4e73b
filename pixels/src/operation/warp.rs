//! Every pixel of the result taken from somewhere else in the picture: rotations, shears and the like. Pillow's arithmetic in
//! double precision, or torch's `grid_sample`. The result may have another size than the picture.

mod torch_places;

use serde::{Deserialize, Serialize};

use crate::interpolation::Interpolation;
use crate::matching::Match;
pub(super) use torch_places::TorchPlaces;

/// What pixels from outside of the picture are: one number or red, green and blue, from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged, expecting = "fill must be one number or [red, green, blue], from 0 to 255")]
pub enum Fill {
    /// The same in all channels.
    Gray(f64),
    /// Red, green and blue.
    Rgb([f64; 3]),
}

/// Where the pixels of a result come from: the column that a pixel of the result shows is `column[0] * x + column[1] * y +
/// column[2]`, and so is the row. Pixel 0 reaches from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine2D {
    pub(super) column: [f64; 3],
    pub(super) row: [f64; 3],
}

/// Where the pixels of a result come from if lines stay lines, but need not stay parallel: each sum is divided by the one of
/// `depth` and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Projection {
    pub(super) column: [f64; 3],
    pub(super) row: [f64; 3],
    pub(super) depth: [f64; 2],
}

/// Where the pixels of a result come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mapping {
    Affine(Affine2D),
    Perspective(Projection),
}

/// What is done: from where, by which filter, and what is outside.
pub(super) struct Warp {
    pub(super) from: Mapping,
    pub(super) interpolation: Interpolation,
    pub(super) fill: Option<Fill>,
}

/// A picture to take pixels from.
struct WarpSource<'a> {
    pixels: &'a [[u8; 3]],
    width: usize,
    height: usize,
}

/// Pixels to set, and how many columns they have.
type WarpResult<'a> = (&'a mut [[u8; 3]], usize);

impl Fill {
    fn rgb(self) -> [f64; 3] {
        match self {
            Self::Gray(value) => [value; 3],
            Self::Rgb(rgb) => rgb,
        }
    }

    /// As pixels have it, cut off below the point.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fill is from 0 to 255")]
    pub(crate) fn bytes(self) -> [u8; 3] {
        self.rgb().map(|value| value as u8)
    }

    pub(crate) fn problem(self) -> Option<String> {
        let rgb = self.rgb();
        let good = rgb.iter().all(|value| (0.0..256.0).contains(value));
        (!good).then(|| format!("fill is {rgb:?}, but must be from 0 to 255"))
    }
}

impl Affine2D {
    /// Where a point comes from.
    pub(super) fn at(self, x: f64, y: f64) -> (f64, f64) {
        let Self { column, row } = self;
        (column[0] * x + column[1] * y + column[2], row[0] * x + row[1] * y + row[2])
    }

    /// Where the middle of a pixel comes from.
    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    fn at_pixel(self, x: usize, y: usize) -> (f64, f64) {
        self.at(x as f64 + 0.5, y as f64 + 0.5)
    }
}

impl Projection {
    /// Where the middle of a pixel comes from.
    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    fn at_pixel(self, x: usize, y: usize) -> (f64, f64) {
        let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
        let sum = |line: [f64; 3]| line[0] * x + line[1] * y + line[2];
        let depth = self.depth[0] * x + self.depth[1] * y + 1.0;
        (sum(self.column) / depth, sum(self.row) / depth)
    }
}

/// What is wrong with a filter of a warp.
pub(super) fn interpolation_problem(interpolation: Interpolation) -> Option<String> {
    (interpolation == Interpolation::Lanczos3)
        .then(|| "interpolation is \"lanczos3\", but must be \"nearest\", \"bilinear\" or \"bicubic\"".to_owned())
}

/// Whether torchvision moves the pixels of tensors by this filter.
pub(crate) fn torch_has(interpolation: Interpolation) -> bool {
    matches!(interpolation, Interpolation::Nearest | Interpolation::Bilinear)
}

impl Warp {
    /// Makes `to`, of `to_width` columns, from a picture of `width` columns. Both are packed RGB.
    pub(super) fn carry_out(&self, (from, width): (&[u8], usize), (to, to_width): (&mut [u8], usize), matched: Match) {
        let pixels = from.as_chunks::<3>().0;
        let source = WarpSource { pixels, width, height: pixels.len() / width };
        let to = to.as_chunks_mut::<3>().0;
        if matched == Match::Pillow {
            to.fill(self.fill.map_or([0; 3], Fill::bytes));
        }
        let places = TorchPlaces::new(self.from, (width, source.height), (to_width, to.len() / to_width));
        match (matched, self.from) {
            (Match::Torch, Mapping::Affine(from)) => {
                self.like_torch(&source, (to, to_width), |column, row| from.at_pixel(column, row), &places);
            }
            (Match::Torch, Mapping::Perspective(from)) => {
                self.like_torch(&source, (to, to_width), |column, row| from.at_pixel(column, row), &places);
            }
            (Match::Pillow, Mapping::Affine(from)) if self.interpolation == Interpolation::Nearest => {
                from.nearest(&source, (to, to_width));
            }
            (Match::Pillow, Mapping::Affine(from)) => {
                self.each(&source, (to, to_width), |column, row| from.at_pixel(column, row));
            }
            (Match::Pillow, Mapping::Perspective(from)) => {
                self.each(&source, (to, to_width), |column, row| from.at_pixel(column, row));
            }
        }
    }

    /// Sets what comes from within the picture.
    fn each(&self, source: &WarpSource<'_>, to: WarpResult<'_>, at_pixel: impl Fn(usize, usize) -> (f64, f64)) {
        match self.interpolation {
            Interpolation::Nearest => sampled(source, to, at_pixel, own),
            Interpolation::Bicubic => sampled(source, to, at_pixel, bicubic),
            Interpolation::Bilinear | Interpolation::Lanczos3 => sampled(source, to, at_pixel, bilinear),
        }
    }

    /// torchvision's arithmetic on a tensor: pixels from outside are 0, and with a fill what is missing of a pixel is the fill.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as torch calculates")]
    fn like_torch(
        &self,
        source: &WarpSource<'_>,
        (to, to_width): WarpResult<'_>,
        at_pixel: impl Fn(usize, usize) -> (f64, f64),
        places: &TorchPlaces,
    ) {
        let fill = self.fill.map(Fill::rgb);
        for (row, to) in to.chunks_exact_mut(to_width).enumerate() {
            for (column, to) in to.iter_mut().enumerate() {
                if self.interpolation == Interpolation::Nearest {
                    let (x, y) = places.nearest(column, row);
                    let found = source.within(x, y);
                    *to = found.unwrap_or_else(|| fill.unwrap_or_default().map(|value| libm::rint(value) as u8));
                    continue;
                }
                let (x, y) = at_pixel(column, row);
                let (sum, share) = source.weighted(x - 0.5, y - 0.5);
                let mixed = |channel: usize| match fill {
                    None => sum[channel],
                    Some(fill) => (sum[channel] - fill[channel]) * share + fill[channel],
                };
                *to = std::array::from_fn(|channel| libm::rint(mixed(channel)) as u8);
            }
        }
    }
}

impl Affine2D {
    /// Pillow's nearest pixel: by sums in double precision where nothing turns, else in whole numbers with 16 bits after the
    /// point, unless they have no room.
    fn nearest(self, source: &WarpSource<'_>, to: WarpResult<'_>) {
        let Self { column, row } = self;
        let steps = ((column[0], row[0]), (column[1], row[1]));
        let start = |line: [f64; 3]| line[2] + line[0] * 0.5 + line[1] * 0.5;
        if (column[1], row[0]) == (0.0, 0.0) {
            return stepped(source, to, (start(column), start(row)), steps, index);
        }
        #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
        let (wide, high) = (to.1 as f64, (to.0.len() / to.1) as f64);
        let fits = [(0.0, 0.0), (wide, high), (0.0, high), (wide, 0.0)].into_iter().all(|(x, y)| {
            let (column, row) = self.at(x, y);
            column.abs() < 32768.0 && row.abs() < 32768.0
        });
        let start = (start(column), start(row));
        if fits {
            let both = |(x, y): (f64, f64)| (fixed(x), fixed(y));
            let whole = |at: i64, len: usize| usize::try_from(at >> 16).ok().filter(|at| *at < len);
            stepped(source, to, both(start), (both(steps.0), both(steps.1)), whole);
        } else {
            stepped(source, to, start, steps, index);
        }
    }
}

/// Sets what comes from within the picture, from the place in it that `at_pixel` gives.
#[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
fn sampled(
    source: &WarpSource<'_>,
    (to, to_width): WarpResult<'_>,
    at_pixel: impl Fn(usize, usize) -> (f64, f64),
    sample: impl Fn(&WarpSource<'_>, f64, f64) -> [u8; 3],
) {
    let (wide, high) = (source.width as f64, source.height as f64);
    for (row, to) in to.chunks_exact_mut(to_width).enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            let (x, y) = at_pixel(column, row);
            if (0.0..wide).contains(&x) && (0.0..high).contains(&y) {
                *to = sample(source, x - 0.5, y - 0.5);
            }
        }
    }
}

impl WarpSource<'_> {
    fn within(&self, column: i64, row: i64) -> Option<[u8; 3]> {
        let (column, row) = (usize::try_from(column).ok()?, usize::try_from(row).ok()?);
        (column < self.width && row < self.height).then(|| self.pixels[row * self.width + column])
    }

    /// The nearest pixel of the picture.
    fn clamped(&self, column: i64, row: i64) -> [u8; 3] {
        let within = |at: i64, len: usize| usize::try_from(at).unwrap_or(0).min(len - 1);
        self.pixels[within(row, self.height) * self.width + within(column, self.width)]
    }

    /// The sum of the four pixels around, those outside being 0, and how much of the weight is inside.
    #[expect(clippy::cast_possible_truncation, reason = "such casts saturate, which is meant")]
    fn weighted(&self, x: f64, y: f64) -> ([f64; 3], f64) {
        let (left, top) = (libm::floor(x), libm::floor(y));
        let (right, below) = (x - left, y - top);
        let (mut sum, mut share) = ([0.0; 3], 0.0);
        for (row, weight_row) in [(0, 1.0 - below), (1, below)] {
            for (column, weight_column) in [(0, 1.0 - right), (1, right)] {
                if let Some(rgb) = self.within((left as i64).saturating_add(column), (top as i64).saturating_add(row)) {
                    let weight = weight_row * weight_column;
                    share += weight;
                    for (sum, value) in sum.iter_mut().zip(rgb) {
                        *sum += f64::from(value) * weight;
                    }
                }
            }
        }
        (sum, share)
    }
}

/// Goes over the result by adding steps, as Pillow does, so that the same roundings add up.
fn stepped<T: Copy + std::ops::AddAssign>(
    source: &WarpSource<'_>,
    (to, to_width): WarpResult<'_>,
    (mut x, mut y): (T, T),
    ((column_x, column_y), (row_x, row_y)): ((T, T), (T, T)),
    index: impl Fn(T, usize) -> Option<usize>,
) {
    for to in to.chunks_exact_mut(to_width) {
        let mut at = (x, y);
        for to in to {
            if let (Some(column), Some(row)) = (index(at.0, source.width), index(at.1, source.height)) {
                *to = source.pixels[row * source.width + column];
            }
            at.0 += column_x;
            at.1 += column_y;
        }
        x += row_x;
        y += row_y;
    }
}

/// The pixel that a place is in.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was looked whether it is below 0")]
fn index(at: f64, len: usize) -> Option<usize> {
    (at >= 0.0).then_some(at as usize).filter(|at| *at < len)
}

/// With 16 bits after the point, halves up.
#[expect(clippy::cast_possible_truncation, reason = "it was looked whether all places fit")]
fn fixed(value: f64) -> i64 {
    libm::floor(value * 65536.0 + 0.5) as i64
}

/// The pixel that a place is in.
#[expect(clippy::cast_possible_truncation, reason = "places in a picture")]
fn own(source: &WarpSource<'_>, x: f64, y: f64) -> [u8; 3] {
    source.clamped((x + 0.5) as i64, (y + 0.5) as i64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
fn bilinear(source: &WarpSource<'_>, x: f64, y: f64) -> [u8; 3] {
    let (left, top, right, below) = parts(x, y);
    let [above, under] = [top, top + 1].map(|row| [left, left + 1].map(|column| source.clamped(column, row)));
    std::array::from_fn(|channel| {
        let line = |row: [[u8; 3]; 2]| {
            let [first, second] = row.map(|rgb| f64::from(rgb[channel]));
            first + (second - first) * right
        };
        let (first, second) = (line(above), line(under));
        (first + (second - first) * below) as u8
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn bicubic(source: &WarpSource<'_>, x: f64, y: f64) -> [u8; 3] {
    let (left, top, right, below) = parts(x, y);
    let lines = [top - 1, top, top + 1, top + 2]
        .map(|row| [left - 1, left, left + 1, left + 2].map(|column| source.clamped(column, row)));
    std::array::from_fn(|channel| {
        let lines = lines.map(|line| cubic(line.map(|rgb| f64::from(rgb[channel])), right));
        cubic(lines, below) as u8
    })
}

/// The pixel to the upper left, and how far from its middle.
#[expect(clippy::cast_possible_truncation, reason = "places in a picture")]
fn parts(x: f64, y: f64) -> (i64, i64, f64, f64) {
    let (left, top) = (libm::floor(x), libm::floor(y));
    (left as i64, top as i64, x - left, y - top)
}

/// Pillow's cubic filter with a = -1, between the second and the third value.
fn cubic([first, second, third, fourth]: [f64; 4], at: f64) -> f64 {
    let slope = -first + third;
    let bend = 2.0 * (first - second) + third - fourth;
    let rest = -first + second - third + fourth;
    second + at * (slope + at * (bend + at * rest))
}
