//! Carries out a plan's steps, with two buffers that take turns. The last pass writes row by row into the place.

use crate::border::Border;
use crate::buffer::{SLACK, sized};
use crate::cpu::resize::{Resizer, Source, Task};
use crate::fault::{Fault, Limits};
use crate::finish::OutputPlace;
use crate::interpolation::Interpolation;
use crate::matching::Match;
use crate::operation::{Operation, Scratch, Workpiece, gray};
use crate::output::Mode;
use crate::picture::KeptPicture;
use crate::plan::stage::{Frame, Stage};
use crate::plan::{Plan, Rect, Step};
use crate::transform_list::TransformList;

/// Memory that one buffer keeps from picture to picture; more is given back after the picture that needed it, since it is
/// counted for the time of that picture alone.
pub(in crate::cpu) const KEEP: usize = 4 << 20;

/// A picture under work, rows without padding, and the buffer for the next step's result.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    picture: Vec<u8>,
    spare: Vec<u8>,
    /// The memory of a picture that several plans are carried out on, while it is not in use.
    aside: Vec<u8>,
    scratch: Scratch,
    width: u32,
    height: u32,
    /// Bytes of a pixel.
    pixel: usize,
    resizer: Resizer,
}

/// Pixels that a plan is carried out on, and where they lie in the first stage's picture.
#[derive(Clone, Copy)]
pub(super) struct PlanInput<'a> {
    /// Pixels with [`SLACK`] bytes behind them. Without them, the canvas's own pixels are used.
    pixels: Option<&'a [u8]>,
    rect: Rect,
}

impl<'a> PlanInput<'a> {
    /// The canvas holds this part.
    pub(super) fn canvas(rect: Rect) -> Self {
        Self { pixels: None, rect }
    }

    /// A picture that was [set aside](Canvas::set_aside) holds this part.
    pub(super) fn aside(pixels: &'a [u8], rect: Rect) -> Self {
        Self { pixels: Some(pixels), rect }
    }

    /// Others hold a whole picture.
    pub(super) fn kept(picture: &'a KeptPicture) -> Self {
        Self { pixels: Some(picture.padded()), rect: Rect::whole(picture.width, picture.height) }
    }
}

impl Canvas {
    /// Starts a picture of this size: gives its buffer, of width x height x 3 bytes with unspecified content, and the spare.
    pub(super) fn begin(
        &mut self,
        width: u32,
        height: u32,
        limits: &Limits,
    ) -> Result<(&mut [u8], &mut Vec<u8>), Fault> {
        self.begin_of(3, (width, height), limits)
    }

    /// The same with pixels of so many bytes.
    pub(super) fn begin_of(
        &mut self,
        pixel: usize,
        (width, height): (u32, u32),
        limits: &Limits,
    ) -> Result<(&mut [u8], &mut Vec<u8>), Fault> {
        let len = limits.check_pixels(width, height)? * pixel;
        (self.width, self.height, self.pixel) = (width, height, pixel);
        Ok((&mut sized(&mut self.picture, len + SLACK)[..len], &mut self.spare))
    }

    /// The whole picture.
    pub(super) fn pixels(&self) -> &[u8] {
        &self.picture[..self.len()]
    }

    /// Makes the picture, which is RGB or RGB with alpha, one of this mode.
    pub(super) fn convert(&mut self, mode: Mode) {
        let len = self.len();
        if mode == Mode::L {
            gray::in_place(&mut self.picture[..len]);
        }
        if mode.has_alpha() && self.pixel == 3 {
            let len = len / 3 * 4;
            let to = &mut sized(&mut self.spare, len + SLACK)[..len];
            for (to, [r, g, b]) in to.as_chunks_mut::<4>().0.iter_mut().zip(self.picture.as_chunks::<3>().0) {
                *to = [*r, *g, *b, u8::MAX];
            }
            self.swap(self.width, self.height);
            self.pixel = 4;
        }
        if mode == Mode::La {
            let len = self.len();
            gray::with_alpha_in_place(&mut self.picture[..len]);
            self.pixel = 2;
        }
    }

    /// A row of `part`, counted from its first, where the canvas holds `held`.
    pub(super) fn row(&self, held: Rect, part: Rect, row: u32) -> &[u8] {
        row_of(&self.picture, held, part.top + row, part.left, part.width, self.pixel)
    }

    /// Replaces the picture by one of as many pixels, made from it by `make(old, new)`.
    pub(super) fn remake(&mut self, width: u32, height: u32, make: impl FnOnce(&[u8], &mut [u8])) {
        let len = self.len();
        make(&self.picture[..len], &mut sized(&mut self.spare, len + SLACK)[..len]);
        self.swap(width, height);
    }

    /// Gives the picture away, so that plans can be carried out on it one after the other. It comes
    /// [back](Self::take_back) for the sake of its memory.
    pub(super) fn set_aside(&mut self) -> Vec<u8> {
        let other = std::mem::take(&mut self.aside);
        std::mem::replace(&mut self.picture, other)
    }

    /// Takes the memory of a picture back that was given away.
    pub(super) fn take_back(&mut self, picture: Vec<u8>) {
        self.aside = picture;
    }

    /// Resizes the whole picture, which is of this mode, by the triangle filter; one of this size already is left alone.
    pub(super) fn shrink(&mut self, width: u32, height: u32, mode: Mode) {
        let (columns, rows) = Frame::whole(self.width, self.height).axes(width, height, Interpolation::Bilinear);
        let window = Rect::whole(width, height);
        let task = Task { columns, rows, window, mirrored: false, matched: Match::Pillow, mode };
        if (width, height) != (self.width, self.height) {
            self.resize(None, Rect::whole(self.width, self.height), &task);
        }
    }

    /// Carries the plan out and writes the result into `out`, which has room for just that. `from` has at least what the first
    /// stage needs. The plan's steps are within the limits. `look` looks at the clock before each of them.
    pub(super) fn carry_out(
        &mut self,
        from: PlanInput<'_>,
        (plan, stages): (&Plan, &[Stage]),
        list: &TransformList,
        out: &mut [u8],
        look: impl Fn() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let PlanInput { pixels: mut kept, rect: mut held } = from;
        let mode = list.output().mode;
        let pixel = mode.pixel_len();
        self.pixel = pixel;
        let mut place =
            OutputPlace::new((list.values(), list.output()), list.patches(), (plan.width, plan.height), out);
        let last = plan.steps.iter().rposition(|step| !matches!(step, Step::Cut(_)));
        let mut number = 0;
        while let Some(step) = plan.steps.get(number) {
            look()?;
            let (Stage { frame, need }, window) = (stages[number], stages[number + 1].need);
            number += 1;
            match *step {
                Step::Cut(_) => continue,
                Step::Resize { width, height, interpolation } => {
                    let (columns, rows) = frame.axes(width, height, interpolation);
                    let is_last = last == Some(number - 1);
                    // A mirroring that follows comes with the resize.
                    let mirrors = plan.steps.get(number) == Some(&Step::Mirror);
                    let mirrored = mirrors || (is_last && plan.mirrored);
                    let task = Task { columns, rows, window, mirrored, matched: list.matched(), mode };
                    if is_last {
                        let source = Source { pixels: kept.unwrap_or(&self.picture), held };
                        self.resizer.resize(source, &task, |row, pixels| place.put(line_of(plan, row), pixels, false));
                        return Ok(());
                    }
                    self.resize(kept, held, &task);
                    if mirrors {
                        (kept, held) = (None, window.mirrored_in(width));
                        number += 1;
                        continue;
                    }
                }
                Step::Canvas { left, top, border, .. } => {
                    let to = &mut sized(&mut self.spare, window.area() * pixel + SLACK)[..window.area() * pixel];
                    let picture = Piece { pixels: kept.unwrap_or(&self.picture), held, part: frame.pixels(), pixel };
                    if let Border::Fill(paint) = border {
                        paint.fill(mode, to);
                        lay(picture, to, window, (left, top));
                    } else {
                        surround(picture, to, window, (left, top), border);
                    }
                    self.swap(window.width, window.height);
                }
                Step::Mirror => {
                    self.keep(kept, held, need);
                    for row in self.picture[..need.area() * pixel].chunks_exact_mut(need.width as usize * pixel) {
                        reverse(row, pixel);
                    }
                }
                Step::Flip => {
                    self.keep(kept, held, need);
                    upside_down(&mut self.picture[..need.area() * pixel], need.width as usize * pixel);
                }
                Step::Turn { rotate, width, height } => {
                    self.keep(kept, held, need);
                    let turned = Rect::whole(width, height);
                    let to = &mut sized(&mut self.spare, turned.area() * 3 + SLACK)[..turned.area() * 3];
                    let from = (&self.picture[..need.area() * 3], (need.width, need.height));
                    rotate.expand(from, (to, (width, height)), list.matched());
                    self.swap(width, height);
                    (kept, held) = (None, turned);
                    continue;
                }
                Step::Operate(_) => {
                    self.keep(kept, held, need);
                    let following = plan.steps[number - 1..].iter().map_while(Step::as_operation);
                    number += self.operate(following, list.matched(), &look)? - 1;
                    (kept, held) = (None, need.seen_from(frame.pixels()));
                    continue;
                }
            }
            (kept, held) = (None, window);
        }
        let pixels = kept.unwrap_or(&self.picture);
        let result = stages.last().expect("the result is a stage").need;
        for (number, row) in result.rows().enumerate() {
            let row = row_of(pixels, held, row, result.left, result.width, pixel);
            place.put(line_of(plan, number), row, plan.mirrored);
        }
        Ok(())
    }

    /// Makes this part the whole picture. The picture, or the kept one in its place, holds `held`.
    fn keep(&mut self, kept: Option<&[u8]>, held: Rect, part: Rect) {
        if kept.is_some() || held != part {
            let len = part.area() * self.pixel;
            let to = &mut sized(&mut self.spare, len + SLACK)[..len];
            let from = Piece { pixels: kept.unwrap_or(&self.picture), held, part, pixel: self.pixel };
            lay(from, to, Rect::whole(part.width, part.height), (0, 0));
            self.swap(part.width, part.height);
        }
        (self.width, self.height) = (part.width, part.height);
    }

    /// Carries operations out on the whole picture, and tells how many there were.
    fn operate<'o>(
        &mut self,
        operations: impl Iterator<Item = &'o Operation>,
        matched: Match,
        look: impl Fn() -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let size = (self.width as usize, self.height as usize);
        let mut work = Workpiece::new(&mut self.picture, &mut self.spare, &mut self.scratch, size, matched);
        let mut count = 0;
        for operation in operations {
            look()?;
            operation.carry_out(&mut work);
            count += 1;
        }
        work.finish();
        Ok(count)
    }

    /// Resizes the picture, or the kept one in its place, which holds `held`, into another one.
    fn resize(&mut self, kept: Option<&[u8]>, held: Rect, task: &Task) {
        let window = task.window;
        let source = Source { pixels: kept.unwrap_or(&self.picture), held };
        let to = sized(&mut self.spare, window.area() * task.mode.pixel_len() + SLACK);
        self.resizer.resize(source, task, |row, pixels| {
            to[row * pixels.len()..][..pixels.len()].copy_from_slice(pixels);
        });
        self.swap(window.width, window.height);
    }

    /// Gives back what an unusually large picture has left.
    pub(super) fn trim(&mut self) {
        for buffer in [&mut self.picture, &mut self.spare, &mut self.aside] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
        }
        self.scratch.trim(KEEP);
        self.resizer.trim(KEEP);
    }

    /// Bytes of the picture.
    fn len(&self) -> usize {
        self.width as usize * self.height as usize * self.pixel
    }

    fn swap(&mut self, width: u32, height: u32) {
        std::mem::swap(&mut self.picture, &mut self.spare);
        (self.width, self.height) = (width, height);
    }
}

/// A part of a picture, and the pixels that have it.
#[derive(Clone, Copy)]
struct Piece<'a> {
    /// Pixels of `pixel` bytes, which are those of `held`.
    pixels: &'a [u8],
    held: Rect,
    part: Rect,
    pixel: usize,
}

/// Lays a part on a canvas at `left` and `top`, as far as `window` shows it.
fn lay(from: Piece<'_>, to: &mut [u8], window: Rect, (left, top): (u32, u32)) {
    let Piece { pixels, held, part, pixel } = from;
    let columns = window.left.max(left)..(window.left + window.width).min(left + part.width);
    let rows = window.top.max(top)..(window.top + window.height).min(top + part.height);
    for row in rows.filter(|_| !columns.is_empty()) {
        let width = columns.end - columns.start;
        let from = row_of(pixels, held, part.top + row - top, part.left + columns.start - left, width, pixel);
        let at = (row - window.top) as usize * window.width as usize + (columns.start - window.left) as usize;
        to[at * pixel..][..from.len()].copy_from_slice(from);
    }
}

/// Puts a part on a canvas at `left` and `top`, as far as it is in `window`, and fills the rest as `border` says.
fn surround(from: Piece<'_>, to: &mut [u8], window: Rect, (left, top): (u32, u32), border: Border) {
    let Piece { pixels, held, part, pixel } = from;
    let line = |at: u32, first: u32, len: u32| border.line(i64::from(at) - i64::from(first), len).unwrap_or(0);
    for (row, to) in window.rows().zip(to.chunks_exact_mut(window.width as usize * pixel)) {
        let row = part.top + line(row, top, part.height);
        let from = row_of(pixels, held, row, part.left, part.width, pixel);
        for (column, to) in window.columns().zip(to.chunks_exact_mut(pixel)) {
            to.copy_from_slice(&from[line(column, left, part.width) as usize * pixel..][..pixel]);
        }
    }
}

/// Mirrors a row of pixels of so many bytes.
fn reverse(row: &mut [u8], pixel: usize) {
    match pixel {
        2 => row.as_chunks_mut::<2>().0.reverse(),
        4 => row.as_chunks_mut::<4>().0.reverse(),
        _ => row.as_chunks_mut::<3>().0.reverse(),
    }
}

/// The line of the place that a row of the result is.
fn line_of(plan: &Plan, row: usize) -> usize {
    if plan.flipped { plan.height as usize - 1 - row } else { row }
}

/// Mirrors a picture top to bottom; its rows have `row` bytes.
fn upside_down(picture: &mut [u8], row: usize) {
    let (upper, lower) = picture.split_at_mut(picture.len() / row / 2 * row);
    for (above, below) in upper.chunks_exact_mut(row).zip(lower.rchunks_exact_mut(row)) {
        above.swap_with_slice(below);
    }
}

/// `width` pixels of a row, of `pixel` bytes each, where the buffer holds `held`.
fn row_of(picture: &[u8], held: Rect, row: u32, left: u32, width: u32, pixel: usize) -> &[u8] {
    let at = (row - held.top) as usize * held.width as usize + (left - held.left) as usize;
    &picture[at * pixel..][..width as usize * pixel]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuDecoder;
    use crate::sample::{JpegColors, JpegForm, photograph, photograph_rgb};

    /// Decoding memory is counted for the time of a picture; what a thread keeps afterwards comes from the reserve.
    #[test]
    fn rule_31_after_a_large_picture_little_memory_is_kept() {
        let pixels: Vec<u8> = photograph_rgb(1, 40, 30).into_iter().cycle().take(1600 * 1200 * 4).collect();
        let form = JpegForm { colors: JpegColors::Cmyk, sampling: [1, 1], ..JpegForm::default() };
        let large = form.encode(&pixels, 1600, 1200).unwrap();
        let small = photograph(1, 400, 300);
        let mut decoder = CpuDecoder::new();
        let mut kept = |bytes: &[u8]| {
            decoder.whole(bytes, &Limits::default()).unwrap();
            [&decoder.canvas.picture, &decoder.canvas.spare].map(Vec::capacity)
        };
        assert_eq!(kept(&large), [0, 0]);
        assert_eq!(kept(&small), [400 * 300 * 3 + SLACK, 0], "for the next of its size");
        assert_eq!(kept(&large), [0, 0]);
    }
}
