//! A picture as the kernel takes it: `struct picture` of `kernels/compose.cu`, member for member.
#![allow(unsafe_code, reason = "a struct is copied to the GPU byte by byte")]

use forebay_pixels::{Composition, Dtype, Layout, Match, Orientation, Pass, Sampling};

use super::TILE;
use crate::frame::Surface;

/// Where a decoded picture stands in a GPU's memory, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    planes: [u64; 3],
    pitches: [u32; 3],
    step: u32,
    colours: u32,
    factors: (u32, u32),
    chroma: (u32, u32),
}

/// `struct pass`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Taps {
    address: u64,
    stride: u32,
    begin: u32,
    len: u32,
    side: u32,
}

/// The weights of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct PictureTables {
    pub(super) columns: Taps,
    pub(super) rows: Taps,
}

/// `struct picture`, all of whose members have 4 or 8 bytes and leave no gaps.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Picture {
    planes: [u64; 3],
    out: u64,
    tables: [Taps; 2],
    pitches: [u32; 3],
    step: u32,
    colours: u32,
    factors: [u32; 2],
    chroma: [u32; 2],
    x: [i32; 3],
    y: [i32; 3],
    down_first: u32,
    in_floats: u32,
    element: u32,
    by_planes: u32,
    fill: u32,
    mean: [f32; 3],
    deviation: [f32; 3],
}

const _: () = assert!(size_of::<Taps>() == 24 && size_of::<Picture>() == 4 * 8 + 2 * 24 + 26 * 4);

const GRAY: u32 = 0;
const YCC: u32 = 1;
const RGB: u32 = 2;

impl Source {
    /// Planes that begin at an address.
    pub(crate) fn planar(surface: &Surface, address: u64) -> Self {
        let planes = surface.planes();
        let plane = |number: usize| planes[number.min(planes.len() - 1)];
        let sampling = surface.frame().sampling;
        let chroma = plane(1);
        Self {
            planes: [0, 1, 2].map(|number| address + plane(number).offset as u64),
            pitches: [0, 1, 2].map(|number| number_of(plane(number).pitch)),
            step: 1,
            colours: if sampling == Sampling::Gray { GRAY } else { YCC },
            factors: sampling.factors(),
            chroma: (number_of(chroma.width), number_of(chroma.height)),
        }
    }

    /// Packed RGB that begins at an address, with `pitch` bytes from row to row.
    pub(crate) fn rgb(address: u64, pitch: u32) -> Self {
        let planes = [address, address + 1, address + 2];
        Self { planes, pitches: [pitch; 3], step: 3, colours: RGB, factors: (1, 1), chroma: (1, 1) }
    }
}

impl Taps {
    /// The weights of a pass, written at an address; the result has `side` pixels in its direction.
    pub(super) fn new(address: u64, stride: usize, pass: &Pass, side: u32) -> Self {
        Self { address, stride: number_of(stride), begin: pass.begin, len: number_of(pass.len()), side }
    }
}

impl Picture {
    pub(super) fn new(source: &Source, made: &Composition, address: u64, tables: PictureTables) -> Self {
        let [x, y] = stored_pixel(made.orientation, made.stored);
        let (mean, deviation) = made.normalize.as_ref().map_or(([0.0; 3], [1.0; 3]), |n| (n.mean, n.std));
        Self {
            planes: source.planes,
            out: address,
            tables: [tables.columns, tables.rows],
            pitches: source.pitches,
            step: source.step,
            colours: source.colours,
            factors: [source.factors.0, source.factors.1],
            chroma: [source.chroma.0, source.chroma.1],
            x,
            y,
            down_first: made.down_first.into(),
            in_floats: (made.matched == Match::Torch).into(),
            element: element(made.output.dtype),
            by_planes: (made.output.layout == Layout::Nchw).into(),
            fill: made.fill.into(),
            mean,
            deviation,
        }
    }

    /// Threads that it takes.
    pub(super) fn tiles(&self) -> u32 {
        let [columns, rows] = self.tables.map(|taps| taps.side);
        let (along, across) = if self.down_first == 1 { (rows, columns) } else { (columns, rows) };
        along * across.div_ceil(TILE)
    }

    /// The same with other addresses.
    pub(super) fn moved(&self, mut to: impl FnMut(u64) -> u64) -> Self {
        let tables = self.tables.map(|taps| Taps { address: to(taps.address), ..taps });
        Self { planes: self.planes.map(&mut to), out: to(self.out), tables, ..*self }
    }

    /// As it is copied.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: it has just these bytes, all of them initialised: members of 4 and 8 bytes without gaps, as asserted above.
        unsafe { std::slice::from_raw_parts((&raw const *self).cast(), size_of::<Self>()) }
    }
}

/// The stored pixel of one as seen, in either direction: a constant, and what a column and a row as seen add to it.
pub(super) fn stored_pixel(orientation: Orientation, (width, height): (u32, u32)) -> [[i32; 3]; 2] {
    let last = |side: u32| i32::try_from(side).expect("sides of pictures fit 31 bits") - 1;
    let (right, below) = (last(width), last(height));
    match orientation {
        Orientation::AsStored => [[0, 1, 0], [0, 0, 1]],
        Orientation::Mirrored => [[right, -1, 0], [0, 0, 1]],
        Orientation::Half => [[right, -1, 0], [below, 0, -1]],
        Orientation::UpsideDown => [[0, 1, 0], [below, 0, -1]],
        Orientation::Transposed => [[0, 0, 1], [0, 1, 0]],
        Orientation::Right => [[0, 0, 1], [below, -1, 0]],
        Orientation::Transversed => [[right, 0, -1], [below, -1, 0]],
        Orientation::Left => [[right, 0, -1], [0, 1, 0]],
    }
}

/// The kernel's number of a value's type.
fn element(dtype: Dtype) -> u32 {
    match dtype {
        Dtype::Uint8 => 0,
        Dtype::Float16 => 1,
        Dtype::Bfloat16 => 2,
        Dtype::Float32 => 3,
    }
}

fn number_of(count: usize) -> u32 {
    u32::try_from(count).expect("sides and rows of pictures fit 32 bits")
}
