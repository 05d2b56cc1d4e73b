//! Rows of red, green and blue, in libavif's arithmetic: floats of 32 bits, in the same order, so that each value is the same. A product
//! and its sum are never rounded as one, on any processor.

use crate::calls::{Layout, Planes, Row};
use crate::matrix::Matrix;
use crate::part::Part;

/// Makes rows of a picture's colours.
#[derive(Debug)]
pub(crate) struct RowMaker<'a> {
    planes: &'a Planes,
    matrix: Matrix,
    part: Part,
    /// By which values become floats: of brightness, and of colour.
    scales: [Scale; 2],
    /// A row of each plane, from an even column on, and then of red, green and blue.
    rows: [Vec<f32>; 3],
    /// Values of colour in the row that is nearest, and in the next one, with a sample on each side.
    sampled: [Vec<f32>; 2],
}

/// What makes a float between 0 and 1 of a value, or between -0.5 and 0.5.
#[derive(Clone, Copy, Debug)]
struct Scale {
    bias: f32,
    range: f32,
    most: u16,
}

impl<'a> RowMaker<'a> {
    pub(crate) fn new(planes: &'a Planes, (matrix, is_full_range): (Matrix, bool), part: Part) -> Self {
        let most = (1_u16 << planes.depth) - 1;
        let of_depth = |value: u16| f32::from(value << (planes.depth - 8));
        let limited = |bias, range| Scale { bias: of_depth(bias), range: of_depth(range), most };
        let full = |bias| Scale { bias: of_depth(bias), range: f32::from(most), most };
        let brightness = if is_full_range { full(0) } else { limited(16, 219) };
        let difference = match (matrix, is_full_range) {
            (Matrix::Identity, _) => brightness,
            (_, true) => full(128),
            (_, false) => limited(128, 224),
        };
        let pairs = pairs_of(part).len();
        let row = || vec![0.0; 2 * pairs];
        let sampled = || vec![0.0; pairs + 2];
        let (rows, sampled) = ([row(), row(), row()], [sampled(), sampled()]);
        Self { planes, matrix, part, scales: [brightness, difference], rows, sampled }
    }

    /// Makes a row of the part: red, green and blue of each pixel, from 0 to 1.
    pub(crate) fn row(&mut self, row: usize) -> [&[f32]; 3] {
        let Self { planes, part, scales: [brightness, difference], .. } = *self;
        let (left, width, row) = (part.left as usize, part.width as usize, part.top as usize + row);
        let here = left % 2..left % 2 + width;
        brightness.floats(planes.row(0, row), left, &mut self.rows[0][here.clone()]);
        for plane in [1, 2] {
            match planes.layout {
                Layout::Gray => {}
                Layout::Full => difference.floats(planes.row(plane, row), left, &mut self.rows[plane][here.clone()]),
                Layout::Half | Layout::Quarter => self.upsample(plane, row),
            }
        }
        if planes.layout == Layout::Gray {
            self.rows[0].iter_mut().for_each(|y| *y = y.clamp(0.0, 1.0));
            return [&self.rows[0][here]; 3];
        }
        let [first, second, third] = &mut self.rows;
        self.matrix.colours(first, second, third);
        let [red, green, blue] = &self.rows;
        [&red[here.clone()], &green[here.clone()], &blue[here]]
    }

    /// The values of colour of each pixel. Of the four samples around it, the nearest has the weight 9/16, those beside and above or
    /// below it 3/16, and the last one 1/16. At the picture's sides, a sample is its own neighbour.
    fn upsample(&mut self, plane: usize, row: usize) {
        let Self { planes, part, scales: [_, difference], .. } = *self;
        let last_row = planes.colour_size().1 as usize - 1;
        let (near, next) = match planes.layout {
            Layout::Quarter if row.is_multiple_of(2) => (row / 2, (row / 2).saturating_sub(1)),
            Layout::Quarter => (row / 2, (row / 2 + 1).min(last_row)),
            _ => (row, row),
        };
        let last = planes.colour_size().0 as usize - 1;
        let pairs = pairs_of(part);
        let (first, end) = (pairs.start.saturating_sub(1), pairs.end.min(last) + 1);
        for (sampled, row) in self.sampled.iter_mut().zip([near, next]) {
            let at = 1 + first - pairs.start;
            let at = at..at + end - first;
            difference.floats(planes.row(plane, row), first, &mut sampled[at.clone()]);
            let (begin, end) = (sampled[at.start], sampled[at.end - 1]);
            sampled[..at.start].fill(begin);
            sampled[at.end..].fill(end);
        }
        let [near, next] = &self.sampled;
        for (index, out) in self.rows[plane].as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (near, next) = (&near[index..index + 3], &next[index..index + 3]);
            let weighted = |side: usize| {
                near[1] * (9.0 / 16.0) + near[side] * (3.0 / 16.0) + next[1] * (3.0 / 16.0) + next[side] * (1.0 / 16.0)
            };
            *out = [weighted(0), weighted(2)];
        }
    }
}

/// The pairs of columns that a part is in.
fn pairs_of(part: Part) -> std::ops::Range<usize> {
    let (left, width) = (part.left as usize, part.width as usize);
    left / 2..(left + width).div_ceil(2)
}

impl Scale {
    /// The floats of a row's values, from a column on.
    fn floats(self, row: Row<'_>, from: usize, out: &mut [f32]) {
        let float = |value: u16| (f32::from(value) - self.bias) / self.range;
        match row {
            Row::Bytes(row) => {
                for (out, value) in out.iter_mut().zip(&row[from..]) {
                    *out = float((*value).into());
                }
            }
            Row::Shorts(row) => {
                for (out, value) in out.iter_mut().zip(&row[from..]) {
                    *out = float((*value).min(self.most));
                }
            }
        }
    }
}

impl Matrix {
    /// Makes red, green and blue of three values in place.
    fn colours(self, first: &mut [f32], second: &mut [f32], third: &mut [f32]) {
        let clamp = |value: f32| value.clamp(0.0, 1.0);
        let pixels = first.iter_mut().zip(second.iter_mut().zip(third.iter_mut()));
        match self {
            Self::Weights { red, blue } => {
                let green = 1.0 - red - blue;
                let (of_red, of_blue) = (2.0 * (1.0 - red), 2.0 * (1.0 - blue));
                let (red, blue) = (red * (1.0 - red), blue * (1.0 - blue));
                for (first, (second, third)) in pixels {
                    let (y, b, r) = (*first, *second, *third);
                    *first = clamp(y + of_red * r);
                    *second = clamp(y - (2.0 * (red * r + blue * b)) / green);
                    *third = clamp(y + of_blue * b);
                }
            }
            Self::Identity => {
                for (first, (second, third)) in pixels {
                    (*first, *second, *third) = (clamp(*third), clamp(*first), clamp(*second));
                }
            }
            Self::YCgCo => {
                for (first, (second, third)) in pixels {
                    let (y, g, o) = (*first, *second, *third);
                    let t = y - g;
                    (*first, *second, *third) = (clamp(t + o), clamp(y + g), clamp(t - o));
                }
            }
        }
    }
}
