//! Resizing packed pixels to the byte as Pillow does it: a pass along the rows and one down the columns, 8 bits in between,
//! weights of 22 bits. Or as torch does it, in floats.
//!
//! Only a window of the output is computed, from the source pixels that it depends on. Rows are returned one after the
//! other, so that they are still in the cache when the next step reads them. Buffers and tables are kept from picture to
//! picture.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod floats;
mod lines;
mod multiplied;
mod plain;
mod taps;

use crate::axis::Axis;
use crate::buffer::{SLACK, sized};
use crate::interpolation::Interpolation;
use crate::matching::Match;
use crate::output::Mode;
use crate::plan::Rect;
use floats::Floats;
use lines::{BLOCK, GROUP, Lines};
use taps::Taps;

/// A source of pixels.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// Pixels, rows without padding, and [`SLACK`](crate::buffer::SLACK) bytes.
    pub(super) pixels: &'a [u8],
    /// Where these pixels are in the picture.
    pub(super) held: Rect,
}

/// What is made of the source: for either direction the pixel from which the axis counts, and the axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) columns: (u32, Axis),
    pub(super) rows: (u32, Axis),
    /// The part of the output that is wanted.
    pub(super) window: Rect,
    /// Whether the window is mirrored left to right.
    pub(super) mirrored: bool,
    /// How it is calculated.
    pub(super) matched: Match,
    /// What a pixel has.
    pub(super) mode: Mode,
}

/// Resizes; made once per thread.
#[derive(Debug)]
pub(super) struct Resizer {
    columns: Taps,
    rows: Taps,
    /// What the first pass gives, rows padded.
    between: Vec<u8>,
    /// What the second pass gives.
    last: Vec<u8>,
    /// The source with its colours multiplied by alpha.
    multiplied: Vec<u8>,
    /// A row of the result, with its colours divided again.
    divided: Vec<u8>,
    kernel: Kernel,
    floats: Floats,
}

/// Which instructions are used; all give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Default for Resizer {
    fn default() -> Self {
        Self {
            columns: Taps::default(),
            rows: Taps::default(),
            between: Vec::new(),
            last: Vec::new(),
            multiplied: Vec::new(),
            divided: Vec::new(),
            kernel: Kernel::best(),
            floats: Floats::default(),
        }
    }
}

impl Kernel {
    /// The fastest of this CPU.
    fn best() -> Self {
        Self::available().last().unwrap_or(Self::Plain)
    }

    /// All that this CPU has the instructions for, the slowest first.
    fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let all = [(Self::Plain, true), (Self::Avx2, avx2::available())];
        #[cfg(not(target_arch = "x86_64"))]
        let all = [(Self::Plain, true)];
        all.into_iter().filter_map(|(kernel, is_there)| is_there.then_some(kernel))
    }

    /// The pass along the rows: each gives one of `to`, of `to_stride` bytes.
    fn along(self, from: Lines<'_>, taps: &Taps, to: &mut [u8], to_stride: usize) {
        match (self, from.pixel) {
            (_, 2) => plain::along::<2>(from, taps, to, to_stride),
            (_, 4) => plain::along::<4>(from, taps, to, to_stride),
            (Self::Plain, _) => plain::along::<3>(from, taps, to, to_stride),
            #[cfg(target_arch = "x86_64")]
            (Self::Avx2, _) => avx2::along(from, taps, to, to_stride),
        }
    }

    /// The pass down the columns: row `at` of the result, in whole blocks.
    fn down(self, from: Lines<'_>, taps: &Taps, at: usize, to: &mut [u8]) {
        match self {
            Self::Plain => plain::down(from, taps, at, to),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::down(from, taps, at, to),
        }
    }
}

impl Task {
    fn down_first(&self) -> bool {
        self.matched.down_first(&self.columns.1, &self.rows.1)
    }
}

impl Resizer {
    /// Gives the window's rows from the top down.
    pub(super) fn resize(&mut self, source: Source<'_>, task: &Task, mut put: impl FnMut(usize, &[u8])) {
        let ((left, columns), (top, rows)) = (&task.columns, &task.rows);
        if columns.interpolation == Interpolation::Nearest {
            return self.pick(source, task, put);
        }
        let (wide, high) = (columns.reach(&task.window.columns()), rows.reach(&task.window.rows()));
        let count = high.end - high.start;
        let held = source.held;
        let first = (top + high.start - held.top) as usize * held.width as usize;
        let first = first + (left + wide.start - held.left) as usize;
        let pixel = task.mode.pixel_len();
        let bytes = &source.pixels[first * pixel..];
        let from = Lines { bytes, stride: held.width as usize * pixel, count: count as usize, pixel };
        if task.matched == Match::Torch {
            self.floats.columns.weigh(columns, &task.window.columns(), &wide, task.mirrored);
            self.floats.rows.weigh(rows, &task.window.rows(), &high, false);
            return self.floats.resize(from, put);
        }
        self.columns.weigh(columns, &task.window.columns(), &wide, task.mirrored);
        self.rows.weigh(rows, &task.window.rows(), &high, false);
        let width = (wide.end - wide.start) as usize;
        if !task.mode.has_alpha() {
            return self.passes(from, width, task, put);
        }
        let mut multiplied = std::mem::take(&mut self.multiplied);
        let stride = width * pixel;
        let rows = sized(&mut multiplied, from.count * stride + SLACK);
        for (number, to) in rows.chunks_exact_mut(stride).take(from.count).enumerate() {
            multiplied::multiply(task.mode, &from.bytes[number * from.stride..][..stride], to);
        }
        let from = Lines { bytes: rows, stride, ..from };
        let mut divided = std::mem::take(&mut self.divided);
        self.passes(from, width, task, |number, row| {
            let divided = &mut sized(&mut divided, row.len())[..row.len()];
            divided.copy_from_slice(row);
            multiplied::divide(task.mode, divided);
            put(number, divided);
        });
        (self.multiplied, self.divided) = (multiplied, divided);
    }

    /// Both passes, over the source's `columns`.
    fn passes(&mut self, from: Lines<'_>, columns: usize, task: &Task, put: impl FnMut(usize, &[u8])) {
        if task.down_first() {
            self.down_and_along(from, columns, task.window, put);
        } else {
            self.along_and_down(from, task.window, put);
        }
    }

    fn along_and_down(&mut self, from: Lines<'_>, window: Rect, mut put: impl FnMut(usize, &[u8])) {
        let (len, padded, stride) = padded(window.width as usize, from.pixel);
        let between = sized(&mut self.between, from.count * stride);
        self.kernel.along(from, &self.columns, between, stride);
        let between = Lines { bytes: between, stride, ..from };
        let last = sized(&mut self.last, padded);
        for row in 0..window.height as usize {
            self.kernel.down(between, &self.rows, row, last);
            put(row, &last[..len]);
        }
    }

    fn down_and_along(&mut self, from: Lines<'_>, columns: usize, window: Rect, mut put: impl FnMut(usize, &[u8])) {
        let (_, padded_between, stride) = padded(columns, from.pixel);
        let (len, _, last_stride) = padded(window.width as usize, from.pixel);
        let height = window.height as usize;
        for first in (0..height).step_by(GROUP) {
            let count = GROUP.min(height - first);
            let between = sized(&mut self.between, count * stride);
            for (row, to) in between.chunks_exact_mut(stride).enumerate() {
                self.kernel.down(from, &self.rows, first + row, &mut to[..padded_between]);
            }
            let last = sized(&mut self.last, count * last_stride);
            self.kernel.along(Lines { bytes: between, stride, count, ..from }, &self.columns, last, last_stride);
            for (row, pixels) in last.chunks_exact(last_stride).enumerate() {
                put(first + row, &pixels[..len]);
            }
        }
    }

    /// The nearest filter: no arithmetic on values.
    fn pick(&mut self, source: Source<'_>, task: &Task, mut put: impl FnMut(usize, &[u8])) {
        let Rect { left, top, width, height } = task.window;
        let ((first_column, columns), (first_row, rows)) = (&task.columns, &task.rows);
        let picked = &mut self.columns.first;
        picked.clear();
        let shift = first_column.wrapping_sub(source.held.left);
        picked.extend(columns.nearest().skip(left as usize).take(width as usize).map(|at| at.wrapping_add(shift)));
        if task.mirrored {
            picked.reverse();
        }
        let pixel = task.mode.pixel_len();
        let row = sized(&mut self.last, width as usize * pixel);
        let stride = source.held.width as usize * pixel;
        for (at, from) in rows.nearest().skip(top as usize).take(height as usize).enumerate() {
            let from = &source.pixels[(first_row + from - source.held.top) as usize * stride..][..stride];
            match pixel {
                2 => pick_row::<2>(from, picked, row),
                4 => pick_row::<4>(from, picked, row),
                _ => pick_row::<3>(from, picked, row),
            }
            put(at, row);
        }
    }

    /// Gives back memory beyond `keep` bytes that an unusually large picture has left.
    pub(super) fn trim(&mut self, keep: usize) {
        for buffer in [&mut self.between, &mut self.last, &mut self.multiplied, &mut self.divided] {
            if buffer.capacity() > keep {
                *buffer = Vec::new();
            }
        }
        if self.columns.len() + self.rows.len() > keep {
            (self.columns, self.rows) = (Taps::default(), Taps::default());
        }
        self.floats.trim(keep);
    }
}

/// A row of these columns.
fn pick_row<const N: usize>(from: &[u8], columns: &[u32], to: &mut [u8]) {
    let from = from.as_chunks::<N>().0;
    for (to, column) in to.as_chunks_mut::<N>().0.iter_mut().zip(columns) {
        *to = from[*column as usize];
    }
}

/// Bytes of a row of `pixels` pixels, its bytes in whole blocks, and its bytes with a further block for reads and writes
/// beyond the end.
fn padded(pixels: usize, len: usize) -> (usize, usize, usize) {
    let blocks = (pixels * len).next_multiple_of(BLOCK);
    (pixels * len, blocks, blocks + BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    const FILTERS: [Interpolation; 4] =
        [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic, Interpolation::Lanczos3];

    fn axis(limit: u32, len: u32, interpolation: Interpolation) -> Axis {
        Axis { start: 0.0, end: f64::from(limit), limit, len, interpolation }
    }

    fn resized(kernel: Kernel, source: Source<'_>, task: &Task) -> Vec<u8> {
        let mut out = Vec::new();
        let mut resizer = Resizer { kernel, ..Resizer::default() };
        resizer.resize(source, task, |row, rgb| {
            assert_eq!(out.len(), row * rgb.len(), "rows come from the top down, each once");
            out.extend_from_slice(rgb);
        });
        out
    }

    /// The part of a picture, with the slack that a source has.
    fn cut(rgb: &[u8], width: u32, part: Rect) -> Vec<u8> {
        let rows = rgb.chunks_exact(width as usize * 3).skip(part.top as usize).take(part.height as usize);
        let cut = rows.flat_map(|row| &row[part.left as usize * 3..][..part.width as usize * 3]).copied();
        cut.chain([0xA5; SLACK]).collect()
    }

    /// Windows of all sizes, each from no more than the pixels that it depends on, mirrored and not, by every kernel.
    #[test]
    fn a_window_equals_the_same_cut_of_the_whole_and_kernels_give_the_same_bytes() {
        let sizes = [
            (97, 61, 224, 224),
            (413, 307, 224, 224),
            (640, 11, 97, 13),
            (1, 1, 5, 3),
            (2, 300, 1, 7),
            (40, 30, 40, 30),
        ];
        let matches = [Match::Pillow, Match::Torch];
        for (((width, height, to_width, to_height), interpolation), matched) in sizes
            .into_iter()
            .flat_map(|size| FILTERS.map(|filter| (size, filter)))
            .flat_map(|case| matches.map(|matched| (case, matched)))
        {
            let photo = crate::sample::photograph_rgb(2, width, height);
            let columns = (0, axis(width, to_width, interpolation));
            let rows = (0, axis(height, to_height, interpolation));
            let window = Rect::whole(to_width, to_height);
            let all = Task { columns, rows, window, mirrored: false, matched, mode: Mode::Rgb };
            let held = Rect::whole(width, height);
            let whole = resized(Kernel::Plain, Source { pixels: &cut(&photo, width, held), held }, &all);
            for number in 0..40 {
                let draws = Draw { seed: 1, epoch: 0, record: number }.at(0);
                let (left, top) = (draws.below(0, to_width), draws.below(1, to_height));
                let (wide, high) = (1 + draws.below(2, to_width - left), 1 + draws.below(3, to_height - top));
                let window = Rect { left, top, width: wide, height: high };
                let (x, y) = (columns.1.reach(&window.columns()), rows.1.reach(&window.rows()));
                let held = Rect { left: x.start, top: y.start, width: x.end - x.start, height: y.end - y.start };
                let rgb = cut(&photo, width, held);
                let mut expected = cut(&whole, to_width, window);
                expected.truncate(expected.len() - SLACK);
                for mirrored in [false, true] {
                    if mirrored {
                        for row in expected.chunks_exact_mut(wide as usize * 3) {
                            row.as_chunks_mut::<3>().0.reverse();
                        }
                    }
                    let task = Task { window, mirrored, ..all };
                    for kernel in Kernel::available() {
                        let ours = resized(kernel, Source { pixels: &rgb, held }, &task);
                        assert!(ours == expected, "{width} x {height}, {kernel:?}: {task:?}");
                    }
                }
            }
        }
    }
}
