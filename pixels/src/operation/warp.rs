//! Every pixel of the result taken from somewhere else in the picture: rotations, shears and the like. Pillow's arithmetic in
//! double precision, or torch's `grid_sample`. The result may have another size than the picture.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod filters;
mod moved;
mod rgbx;
mod torch_places;

use serde::{Deserialize, Serialize};

use crate::interpolation::Interpolation;
use crate::matching::Match;
use crate::paint::Paint;
use crate::vector;
use filters::{PillowWarp, Places, TorchWarp, WarpResult, WarpSource};
pub(super) use moved::moved_from;
use rgbx::{Plain, Rgbx};
pub(super) use torch_places::TorchPlaces;

/// What pixels from outside of the picture are: one number, or one for each channel, from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "fill must be one number or [red, green, blue], from 0 to 255. With alpha in the mode it may be [gray, alpha] or [red, green, blue, alpha]"
)]
pub enum Fill {
    /// The same in all channels.
    Gray(f64),
    /// Red, green and blue.
    Rgb([f64; 3]),
    /// Brightness and alpha. Only borders have that.
    La([f64; 2]),
    /// Red, green, blue and alpha. Only borders have that.
    Rgba([f64; 4]),
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

impl Fill {
    fn rgb(self) -> [f64; 3] {
        match self {
            Self::Gray(value) => [value; 3],
            Self::Rgb(rgb) | Self::Rgba([rgb @ .., _]) => rgb,
            Self::La([gray, _]) => [gray; 3],
        }
    }

    /// All numbers that it has.
    pub(crate) fn numbers(&self) -> &[f64] {
        match self {
            Self::Gray(value) => std::slice::from_ref(value),
            Self::La(numbers) => numbers,
            Self::Rgb(numbers) => numbers,
            Self::Rgba(numbers) => numbers,
        }
    }

    /// As a border has it, cut off below the point.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fill is from 0 to 255")]
    pub(crate) fn paint(self) -> Paint {
        match self {
            Self::Gray(value) => Paint::One(value as u8),
            Self::Rgb(_) => self.bytes().into(),
            Self::La(numbers) => Paint::La(numbers.map(|value| value as u8)),
            Self::Rgba(numbers) => Paint::Rgba(numbers.map(|value| value as u8)),
        }
    }

    /// As pixels have it, cut off below the point.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fill is from 0 to 255")]
    pub(crate) fn bytes(self) -> [u8; 3] {
        self.rgb().map(|value| value as u8)
    }

    /// As torch rounds it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fill is from 0 to 255")]
    fn rounded(self) -> [u8; 3] {
        self.rgb().map(|value| value.round_ties_even() as u8)
    }

    /// What is wrong with it for an operation.
    pub(crate) fn problem(self) -> Option<String> {
        let alpha = matches!(self, Self::La(_) | Self::Rgba(_));
        let problem = || format!("fill is {:?}, but must be one number or [red, green, blue]", self.numbers());
        alpha.then(problem).or_else(|| self.range_problem())
    }

    /// What is wrong with it for a border, whose mode says how many numbers there may be.
    pub(crate) fn range_problem(self) -> Option<String> {
        let good = self.numbers().iter().all(|value| (0.0..256.0).contains(value));
        (!good).then(|| format!("fill is {:?}, but must be from 0 to 255", self.numbers()))
    }
}

impl Affine2D {
    /// Where a point comes from.
    pub(super) fn at(self, x: f64, y: f64) -> (f64, f64) {
        let Self { column, row } = self;
        (column[0] * x + column[1] * y + column[2], row[0] * x + row[1] * y + row[2])
    }
}

impl Places for Affine2D {
    #[inline(always)]
    fn at(self, x: f64, y: f64) -> (f64, f64) {
        Affine2D::at(self, x, y)
    }
}

impl Places for Projection {
    #[inline(always)]
    fn at(self, x: f64, y: f64) -> (f64, f64) {
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
        let source = WarpSource::new(pixels, width);
        let to = to.as_chunks_mut::<3>().0;
        if matched == Match::Pillow {
            to.fill(self.fill.map_or([0; 3], Fill::bytes));
        }
        let nearest = self.interpolation == Interpolation::Nearest;
        match self.from {
            _ if matched == Match::Torch && nearest => {
                let places = TorchPlaces::new(self.from, (width, source.height), (to_width, to.len() / to_width));
                self.nearest_like_torch(&source, (to, to_width), &places);
            }
            Mapping::Affine(from) if from.shift().is_some() => {
                if let (Match::Torch, Some(fill)) = (matched, self.fill) {
                    to.fill(fill.rounded());
                } else if matched == Match::Torch {
                    to.fill([0; 3]);
                }
                shifted(&source, (to, to_width), from.shift().unwrap_or_default());
            }
            Mapping::Affine(from) if nearest => from.nearest(&source, (to, to_width)),
            Mapping::Affine(from) => self.filtered(&source, (to, to_width), from, matched),
            Mapping::Perspective(from) => self.filtered(&source, (to, to_width), from, matched),
        }
    }

    fn filtered(&self, source: &WarpSource<'_>, to: WarpResult<'_>, from: impl Places, matched: Match) {
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = avx2::Avx2::found() {
            return self.filtered_by::<avx2::Quad>(source, to, from, matched, cpu);
        }
        self.filtered_by::<Plain>(source, to, from, matched, ());
    }

    fn filtered_by<V: Rgbx>(
        &self,
        source: &WarpSource<'_>,
        to: WarpResult<'_>,
        from: impl Places,
        matched: Match,
        cpu: V::Cpu,
    ) {
        let Self { interpolation, fill, .. } = *self;
        match matched {
            Match::Pillow => vector::run(PillowWarp::<_, V> { source, to, from, interpolation, cpu }),
            Match::Torch => vector::run(TorchWarp::<_, V> { source, to, from, fill: fill.map(Fill::rgb), cpu }),
        }
    }

    fn nearest_like_torch(&self, source: &WarpSource<'_>, (to, to_width): WarpResult<'_>, places: &TorchPlaces) {
        let fill = self.fill.map_or([0; 3], Fill::rounded);
        for (row, to) in to.chunks_exact_mut(to_width).enumerate() {
            for (column, to) in to.iter_mut().enumerate() {
                let (x, y) = places.nearest(column, row);
                *to = source.within(x, y).unwrap_or(fill);
            }
        }
    }
}

/// Moves the picture by whole pixels: each pixel of the result shows the one that is `columns` and `rows` farther.
fn shifted(source: &WarpSource<'_>, (to, to_width): WarpResult<'_>, (columns, rows): (i64, i64)) {
    let to_high = to.len() / to_width;
    let shown = |by: i64, len: usize, to_len: usize| {
        let [len, to_len] = [len, to_len].map(|len| i64::try_from(len).unwrap_or(i64::MAX));
        let [first, end] = [-by, len.saturating_sub(by)].map(|at| at.clamp(0, to_len));
        let at = |place: i64| usize::try_from(place).expect("a place in the picture");
        (first < end).then(|| (at(first)..at(end), at(first + by)))
    };
    let (Some((columns, left)), Some((rows, top))) =
        (shown(columns, source.width, to_width), shown(rows, source.height, to_high))
    else {
        return;
    };
    for (to, row) in to.chunks_exact_mut(to_width).skip(rows.start).take(rows.len()).zip(top..) {
        to[columns.clone()].copy_from_slice(&source.pixels[row * source.width + left..][..columns.len()]);
    }
}

impl Affine2D {
    /// By how many columns and rows the picture is moved, if that is all, and by whole pixels. All filters then give its pixels.
    #[expect(clippy::cast_possible_truncation, reason = "it was looked whether they are whole and small")]
    fn shift(self) -> Option<(i64, i64)> {
        const FAR: f64 = 1e12;
        let Self { column, row } = self;
        let moves = ((column[0], column[1]), (row[0], row[1])) == ((1.0, 0.0), (0.0, 1.0));
        let whole = [column[2], row[2]].iter().all(|by| by.abs() < FAR && by.fract() == 0.0);
        (moves && whole).then_some((column[2] as i64, row[2] as i64))
    }

    /// Pillow's nearest pixel: by sums in double precision where nothing turns, else in whole numbers with 16 bits after the
    /// point, unless they have no room.
    fn nearest(self, source: &WarpSource<'_>, to: WarpResult<'_>) {
        let Self { column, row } = self;
        let steps = ((column[0], row[0]), (column[1], row[1]));
        let start = |line: [f64; 3]| line[2] + line[0] * 0.5 + line[1] * 0.5;
        let start = (start(column), start(row));
        if self.steps_in_whole_numbers((to.1, to.0.len() / to.1)) {
            let both = |(x, y): (f64, f64)| (fixed(x), fixed(y));
            let whole = |at: i64, len: usize| usize::try_from(at >> 16).ok().filter(|at| *at < len);
            stepped(source, to, both(start), (both(steps.0), both(steps.1)), whole);
        } else {
            stepped(source, to, start, steps, index);
        }
    }

    /// Whether Pillow steps in whole numbers over a result of this width and height.
    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    fn steps_in_whole_numbers(self, (width, height): (usize, usize)) -> bool {
        let (wide, high) = (width as f64, height as f64);
        let turns = (self.column[1], self.row[0]) != (0.0, 0.0);
        turns
            && [(0.0, 0.0), (wide, high), (0.0, high), (wide, 0.0)].into_iter().all(|(x, y)| {
                let (column, row) = self.at(x, y);
                column.abs() < 32768.0 && row.abs() < 32768.0
            })
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
