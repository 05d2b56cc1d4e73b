//! Pixels of a warp's result, each from the four or sixteen pixels around the place that it comes from.

use super::rgbx::Rgbx;
use crate::interpolation::Interpolation;
use crate::vector::VectorLoop;

/// The bytes that are read of two pixels beside each other.
const PAIR: usize = 8;

/// A picture to take pixels from.
pub(super) struct WarpSource<'a> {
    pub(super) pixels: &'a [[u8; 3]],
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Pixels to set, and how many columns they have.
pub(super) type WarpResult<'a> = (&'a mut [[u8; 3]], usize);

/// Where points of a result come from.
pub(super) trait Places: Copy {
    /// Column and row.
    fn at(self, x: f64, y: f64) -> (f64, f64);
}

/// All pixels by Pillow's arithmetic. Those that come from outside of the picture stay.
pub(super) struct PillowWarp<'a, P, V: Rgbx> {
    pub(super) source: &'a WarpSource<'a>,
    pub(super) to: WarpResult<'a>,
    pub(super) from: P,
    pub(super) interpolation: Interpolation,
    pub(super) cpu: V::Cpu,
}

/// All pixels by the arithmetic of torch's bilinear filter. Outside of the picture all is 0, or with a fill that.
pub(super) struct TorchWarp<'a, P, V: Rgbx> {
    pub(super) source: &'a WarpSource<'a>,
    pub(super) to: WarpResult<'a>,
    pub(super) from: P,
    pub(super) fill: Option<[f64; 3]>,
    pub(super) cpu: V::Cpu,
}

/// What a pixel of the result is. A type, since the call of a function that is given would not be inlined.
trait Filter<V: Rgbx> {
    /// The pixel that comes from a place in the picture.
    fn sample(source: &WarpSource<'_>, x: f64, y: f64, cpu: V::Cpu) -> [u8; 3];
}

/// The pixel that a place is in.
struct Nearest;

/// Between the four pixels around.
struct Bilinear;

/// Between the sixteen pixels around.
struct Bicubic;

/// The pixel to the upper left of a place, and how far the place is from its middle.
#[derive(Clone, Copy)]
struct Between {
    left: i64,
    top: i64,
    right: f64,
    below: f64,
}

impl<P: Places, V: Rgbx> VectorLoop for PillowWarp<'_, P, V> {
    #[inline(always)]
    fn run(self) {
        match self.interpolation {
            Interpolation::Nearest => self.each::<Nearest>(),
            Interpolation::Bicubic => self.each::<Bicubic>(),
            Interpolation::Bilinear | Interpolation::Lanczos3 => self.each::<Bilinear>(),
        }
    }
}

impl<P: Places, V: Rgbx> PillowWarp<'_, P, V> {
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    fn each<F: Filter<V>>(self) {
        let Self { source, to: (to, to_width), from, cpu, .. } = self;
        let (wide, high) = (source.width as f64, source.height as f64);
        for (row, to) in to.chunks_exact_mut(to_width).enumerate() {
            for (column, to) in to.iter_mut().enumerate() {
                let (x, y) = from.at(column as f64 + 0.5, row as f64 + 0.5);
                if x >= 0.0 && x < wide && y >= 0.0 && y < high {
                    *to = F::sample(source, x, y, cpu);
                }
            }
        }
    }
}

impl<P: Places, V: Rgbx> VectorLoop for TorchWarp<'_, P, V> {
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    fn run(self) {
        let Self { source, to: (to, to_width), from, fill, cpu } = self;
        let fill = fill.map(|[red, green, blue]| V::numbers(cpu, [red, green, blue, 0.0]));
        for (row, to) in to.chunks_exact_mut(to_width).enumerate() {
            for (column, to) in to.iter_mut().enumerate() {
                let (x, y) = from.at(column as f64 + 0.5, row as f64 + 0.5);
                let (sum, share) = source.weighted::<V>(x, y, cpu);
                let mixed = match fill {
                    None => sum,
                    Some(fill) => sum.minus(fill).times(share).plus(fill),
                };
                *to = mixed.rounded();
            }
        }
    }
}

impl<'a> WarpSource<'a> {
    /// A picture of this width.
    pub(super) fn new(pixels: &'a [[u8; 3]], width: usize) -> Self {
        Self { pixels, width, height: pixels.len() / width }
    }

    /// A pixel, if the picture has it.
    #[inline(always)]
    pub(super) fn within(&self, column: i64, row: i64) -> Option<[u8; 3]> {
        let (column, row) = (usize::try_from(column).ok()?, usize::try_from(row).ok()?);
        (column < self.width && row < self.height).then(|| self.pixels[row * self.width + column])
    }

    /// The nearest pixel of the picture.
    fn clamped(&self, column: i64, row: i64) -> [u8; 3] {
        let within = |at: i64, len: usize| usize::try_from(at).unwrap_or(0).min(len - 1);
        self.pixels[within(row, self.height) * self.width + within(column, self.width)]
    }

    /// The number of the pixel that a place is in, and how far the place is from its upper left corner, if the picture has
    /// `more` columns and rows behind that pixel.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places in a picture")]
    #[expect(clippy::cast_precision_loss, reason = "sides are below 2^53")]
    fn inside(&self, x: f64, y: f64, more: usize) -> Option<(usize, f64, f64)> {
        let (wide, high) = (self.width as f64 - more as f64, self.height as f64 - more as f64);
        if x >= 0.0 && x < wide && y >= 0.0 && y < high {
            let (column, row) = (x as u32, y as u32);
            let first = row as usize * self.width + column as usize;
            Some((first, x - f64::from(column), y - f64::from(row)))
        } else {
            None
        }
    }

    /// A pixel and the next one. The last two bytes of a picture make neither.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "only the lower bytes are wanted")]
    fn pair<V: Rgbx>(&self, pixel: usize, cpu: V::Cpu) -> Option<(V, V)> {
        let line = self.pixels.as_flattened().get(pixel * 3..pixel * 3 + PAIR)?;
        let bytes = u64::from_le_bytes(line.try_into().ok()?);
        Some((V::of(cpu, bytes as u32), V::of(cpu, (bytes >> 24) as u32)))
    }

    /// Two pixels beside each other, or the nearest ones that the picture has.
    #[inline(always)]
    fn pair_at_edge<V: Rgbx>(&self, left: i64, row: i64, cpu: V::Cpu) -> (V, V) {
        (four(self.clamped(left, row), cpu), four(self.clamped(left + 1, row), cpu))
    }

    /// The sum of the four pixels around, those outside being 0, and how much of the weight is inside.
    #[inline(always)]
    fn weighted<V: Rgbx>(&self, x: f64, y: f64, cpu: V::Cpu) -> (V, f64) {
        if let Some((first, right, below)) = self.inside(x - 0.5, y - 0.5, 1)
            && let Some(above) = self.pair::<V>(first, cpu)
            && let Some(under) = self.pair::<V>(first + self.width, cpu)
        {
            let weights = shares(right, below);
            let sum = above.0.times(weights[0]).plus(above.1.times(weights[1]));
            let sum = sum.plus(under.0.times(weights[2])).plus(under.1.times(weights[3]));
            return (sum, weights[0] + weights[1] + weights[2] + weights[3]);
        }
        let Between { left, top, right, below } = Between::new(x, y);
        let (mut sum, mut share) = (V::of(cpu, 0), 0.0);
        for (number, weight) in shares(right, below).into_iter().enumerate() {
            let (column, row) = (i64::from(number % 2 == 1), i64::from(number >= 2));
            if let Some(rgb) = self.within(left.saturating_add(column), top.saturating_add(row)) {
                share += weight;
                sum = sum.plus(four::<V>(rgb, cpu).times(weight));
            }
        }
        (sum, share)
    }
}

impl Between {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "such casts saturate, which is meant")]
    fn new(x: f64, y: f64) -> Self {
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        Self { left: left as i64, top: top as i64, right: x - left, below: y - top }
    }
}

impl<V: Rgbx> Filter<V> for Nearest {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in a picture")]
    fn sample(source: &WarpSource<'_>, x: f64, y: f64, _: V::Cpu) -> [u8; 3] {
        source.clamped((x - 0.5 + 0.5) as i64, (y - 0.5 + 0.5) as i64)
    }
}

impl<V: Rgbx> Filter<V> for Bilinear {
    #[inline(always)]
    fn sample(source: &WarpSource<'_>, x: f64, y: f64, cpu: V::Cpu) -> [u8; 3] {
        if let Some((first, right, below)) = source.inside(x - 0.5, y - 0.5, 1)
            && let Some(above) = source.pair::<V>(first, cpu)
            && let Some(under) = source.pair::<V>(first + source.width, cpu)
        {
            return between(between(above.0, above.1, right), between(under.0, under.1, right), below).cut();
        }
        let Between { left, top, right, below } = Between::new(x, y);
        let above = source.pair_at_edge::<V>(left, top, cpu);
        let under = source.pair_at_edge::<V>(left, top + 1, cpu);
        between(between(above.0, above.1, right), between(under.0, under.1, right), below).cut()
    }
}

impl<V: Rgbx> Filter<V> for Bicubic {
    #[inline(always)]
    fn sample(source: &WarpSource<'_>, x: f64, y: f64, cpu: V::Cpu) -> [u8; 3] {
        let Between { left, top, right, below } = Between::new(x, y);
        let inside = source.inside(x - 1.5, y - 1.5, 3);
        let mut lines = [V::of(cpu, 0); 4];
        for (number, (row, line)) in (top - 1..).zip(&mut lines).enumerate() {
            *line = if let Some((first, ..)) = inside
                && let Some(near) = source.pair::<V>(first + number * source.width, cpu)
                && let Some(far) = source.pair::<V>(first + number * source.width + 2, cpu)
            {
                cubic(near.0, near.1, far.0, far.1, right)
            } else {
                let near = source.pair_at_edge::<V>(left - 1, row, cpu);
                let far = source.pair_at_edge::<V>(left + 1, row, cpu);
                cubic(near.0, near.1, far.0, far.1, right)
            };
        }
        let [first, second, third, fourth] = lines;
        cubic(first, second, third, fourth, below).cut()
    }
}

#[inline(always)]
fn four<V: Rgbx>([red, green, blue]: [u8; 3], cpu: V::Cpu) -> V {
    V::of(cpu, u32::from_le_bytes([red, green, blue, 0]))
}

/// What the four pixels around a place have of its pixel: upper left, upper right, lower left, lower right.
#[inline(always)]
fn shares(right: f64, below: f64) -> [f64; 4] {
    [(1.0 - below) * (1.0 - right), (1.0 - below) * right, below * (1.0 - right), below * right]
}

#[inline(always)]
fn between<V: Rgbx>(first: V, second: V, part: f64) -> V {
    first.plus(second.minus(first).times(part))
}

/// Pillow's cubic filter with a = -1, between the second and the third number.
#[inline(always)]
fn cubic<V: Rgbx>(first: V, second: V, third: V, fourth: V, part: f64) -> V {
    let slope = third.minus(first);
    let bend = first.minus(second).times(2.0).plus(third).minus(fourth);
    let rest = second.minus(first).minus(third).plus(fourth);
    second.plus(slope.plus(bend.plus(rest.times(part)).times(part)).times(part))
}
