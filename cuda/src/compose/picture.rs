//! A picture in a round as the kernel takes it: `struct picture` of `kernels/picture.h`, member for member.
#![allow(unsafe_code, reason = "a struct is copied to the GPU byte by byte")]

use forebay_pixels::{Composition, Counted, Dtype, Layout, Match, Orientation, Output, Pass, Sampling};

use super::TILE;
use crate::frame::Surface;

/// Where a decoded picture is in a GPU's memory, and in which form.
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

/// What is written for a picture's round. An address of nothing is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTables {
    pub(super) columns: Taps,
    pub(super) rows: Taps,
    pub(super) source: u32,
    pub(super) places: u64,
    pub(super) changes: u64,
    pub(super) change_count: usize,
    /// What the round before has counted.
    pub(super) seen: u64,
    /// Where this one counts for the next, and what.
    pub(super) count: u64,
    pub(super) counting: Option<Counted>,
    pub(super) mirrored: bool,
}

/// `struct picture`, all of whose members have 4 or 8 bytes and leave no gaps.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Picture {
    planes: [u64; 3],
    out: u64,
    tables: [Taps; 2],
    changes: u64,
    places: u64,
    seen: u64,
    count: u64,
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
    source: u32,
    change_count: u32,
    counting: u32,
    mirrored: u32,
    mean: [f32; 3],
    deviation: [f32; 3],
}

const _: () = assert!(size_of::<Taps>() == 24 && size_of::<Picture>() == 8 * 8 + 2 * 24 + 30 * 4);

/// What a round's pixels and result are besides its tables.
#[derive(Clone, Copy)]
struct RoundForm<'a> {
    source: &'a Source,
    x: [i32; 3],
    y: [i32; 3],
    down_first: bool,
    output: Output,
    address: u64,
}

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
        debug_assert_eq!(chroma.pitch, plane(2).pitch, "the kernel finds samples of both at the same place");
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
    /// No weights, for a result with `side` pixels.
    pub(super) fn none(side: u32) -> Self {
        Self { address: 0, stride: 0, begin: 0, len: 0, side }
    }

    /// The weights of a pass, written at an address; the result has `side` pixels in its direction.
    pub(super) fn new(address: u64, stride: usize, pass: &Pass, side: u32) -> Self {
        Self { address, stride: number_of(stride), begin: pass.begin, len: number_of(pass.len()), side }
    }
}

impl Picture {
    /// The first round of a picture. It reads the decoded pixels, and writes a result of this form to an address.
    pub(super) fn first(
        source: &Source,
        made: &Composition,
        (address, output): (u64, Output),
        tables: RoundTables,
    ) -> Self {
        let [x, y] = stored_pixel(made.orientation, made.stored);
        let form = RoundForm { source, x, y, down_first: made.sums.down_first, output, address };
        Self::new(form, made, tables)
    }

    /// A further round, of what the one before has made at the address `from`.
    pub(super) fn further(
        from: u64,
        made: &Composition,
        (address, output): (u64, Output),
        tables: RoundTables,
    ) -> Self {
        let source = &Source::rgb(from, made.result.0 * 3);
        let [x, y] = stored_pixel(Orientation::AsStored, made.result);
        Self::new(RoundForm { source, x, y, down_first: false, output, address }, made, tables)
    }

    fn new(form: RoundForm<'_>, made: &Composition, tables: RoundTables) -> Self {
        let RoundForm { source, x, y, down_first, output, address } = form;
        let (mean, deviation) = made.normalize.as_ref().map_or(([0.0; 3], [1.0; 3]), |n| (n.mean.rgb(), n.std.rgb()));
        Self {
            planes: source.planes,
            out: address,
            tables: [tables.columns, tables.rows],
            changes: tables.changes,
            places: tables.places,
            seen: tables.seen,
            count: tables.count,
            pitches: source.pitches,
            step: source.step,
            colours: source.colours,
            factors: [source.factors.0, source.factors.1],
            chroma: [source.chroma.0, source.chroma.1],
            x,
            y,
            down_first: down_first.into(),
            in_floats: (made.matched == Match::Torch).into(),
            element: element(output.dtype),
            by_planes: (output.layout == Layout::Nchw).into(),
            fill: made.sums.fill.into(),
            source: tables.source,
            change_count: number_of(tables.change_count),
            counting: tables.counting.map_or(0, |counted| match counted {
                Counted::Values => 1,
                Counted::Grays => 2,
            }),
            mirrored: tables.mirrored.into(),
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
        let mut to = |address: u64| if address == 0 { 0 } else { to(address) };
        let tables = self.tables.map(|taps| Taps { address: to(taps.address), ..taps });
        let [changes, places, seen, count] = [self.changes, self.places, self.seen, self.count].map(&mut to);
        let (planes, out) = (self.planes.map(&mut to), to(self.out));
        Self { planes, out, tables, changes, places, seen, count, ..*self }
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
