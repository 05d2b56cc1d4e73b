//! A picture under operations. What changes single values is only noted in a table, so that any number of such operations is
//! carried out in one pass. Statistics are those of the values as the table changes them.

use super::pixelwise::{self, PixelMap, PixelNumber};
use super::tables::{Tables, look_up, table};
use super::warp::Warp;
use crate::buffer::{SLACK, sized};
use crate::matching::Match;

/// For each value, how many pixels have it in one channel.
pub(super) type Histogram = [u32; 256];

/// Memory for work that a picture's operations take beside the picture, and that is used again for the next picture.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Rows of a blur.
    pub(super) floats: Vec<f32>,
    /// The sum of a mixture, one of the pictures that it is mixed of, and another one for the operations on that.
    pub(super) sum: Vec<f32>,
    pub(super) chain: Vec<u8>,
    pub(super) spare: Vec<u8>,
}

impl Scratch {
    /// Gives the memory of each buffer back that has more than `keep` bytes.
    pub(crate) fn trim(&mut self, keep: usize) {
        for floats in [&mut self.floats, &mut self.sum] {
            if floats.capacity() * size_of::<f32>() > keep {
                *floats = Vec::new();
            }
        }
        for bytes in [&mut self.chain, &mut self.spare] {
            if bytes.capacity() > keep {
                *bytes = Vec::new();
            }
        }
    }
}

/// A picture, packed RGB, and what is still to be done with its values.
pub(crate) struct Workpiece<'a> {
    picture: &'a mut Vec<u8>,
    spare: &'a mut Vec<u8>,
    scratch: &'a mut Scratch,
    width: usize,
    height: usize,
    /// Which library's results operations give.
    pub(super) matched: Match,
    /// What every value becomes, if that is not itself.
    pending: Option<Tables>,
    /// How often the picture has each value, without what is pending.
    counted: Option<[Histogram; 3]>,
}

impl<'a> Workpiece<'a> {
    /// A picture of this width and height, in the first bytes of a buffer. The other memory is for work, and has any content.
    pub(crate) fn new(
        picture: &'a mut Vec<u8>,
        spare: &'a mut Vec<u8>,
        scratch: &'a mut Scratch,
        (width, height): (usize, usize),
        matched: Match,
    ) -> Self {
        Self { picture, spare, scratch, width, height, matched, pending: None, counted: None }
    }

    /// Carries out what is pending. The picture is in the buffer that was its own.
    pub(crate) fn finish(mut self) {
        self.settle();
    }

    /// Replaces each value.
    pub(super) fn map(&mut self, value: impl Fn(u8) -> u8) {
        let table = table(value);
        self.chain([&table; 3]);
    }

    /// Replaces each value by a number from 0 to 255.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    pub(super) fn map_numbers(&mut self, number: impl Fn(i32) -> i32) {
        self.map(|value| number(value.into()) as u8);
    }

    /// Replaces the values of each channel by a table that is made from how often it has each.
    pub(super) fn map_by_histogram(&mut self, table: impl Fn(&Histogram) -> [u8; 256]) {
        let tables = self.histograms().map(|histogram| table(&histogram));
        self.chain([&tables[0], &tables[1], &tables[2]]);
    }

    /// Replaces the values of red, green and blue by a table each.
    pub(super) fn map_channels(&mut self, tables: &Tables) {
        self.chain([&tables[0], &tables[1], &tables[2]]);
    }

    /// The mean of a number for each pixel.
    #[expect(clippy::cast_precision_loss, reason = "a sum of bytes is below 2^53")]
    pub(super) fn mean(&self, number: impl PixelNumber) -> f64 {
        let pixels = self.rgb().as_chunks::<3>().0;
        pixelwise::sum(pixels, self.pending.as_ref(), number) as f64 / pixels.len() as f64
    }

    /// Replaces each pixel.
    pub(super) fn each_pixel(&mut self, map: impl PixelMap) {
        let pending = self.pending.take();
        self.counted = None;
        pixelwise::each(self.rgb_mut().as_chunks_mut::<3>().0, pending.as_ref(), map);
    }

    /// Replaces the picture by another one of its size, from `make(old, new, width)`.
    pub(super) fn remake(&mut self, make: impl FnOnce(&[u8], &mut [u8], usize)) {
        self.remake_by(|from, to, width, _| make(from, to, width));
    }

    /// The same with further memory for work.
    pub(super) fn remake_by(&mut self, make: impl FnOnce(&[u8], &mut [u8], usize, &mut Scratch)) {
        self.settle();
        self.counted = None;
        let len = self.rgb().len();
        let new = &mut sized(self.spare, len + SLACK)[..len];
        make(&self.picture[..len], new, self.width, self.scratch);
        std::mem::swap(self.picture, self.spare);
    }

    /// Takes each pixel from somewhere else.
    pub(super) fn warp(&mut self, warp: &Warp) {
        let matched = self.matched;
        self.remake(|from, to, width| warp.carry_out((from, width), (to, width), matched));
    }

    /// The picture, packed RGB, to be changed here and there.
    pub(super) fn changeable(&mut self) -> &mut [u8] {
        self.settle();
        self.counted = None;
        self.rgb_mut()
    }

    /// Width and height.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    fn rgb(&self) -> &[u8] {
        &self.picture[..self.width * self.height * 3]
    }

    fn rgb_mut(&mut self) -> &mut [u8] {
        &mut self.picture[..self.width * self.height * 3]
    }

    fn histograms(&mut self) -> [Histogram; 3] {
        let counted = self.counted.take().unwrap_or_else(|| count(self.rgb()));
        self.counted = Some(counted);
        let Some(tables) = &self.pending else { return counted };
        let mut changed = [[0; 256]; 3];
        for ((table, counts), changed) in tables.iter().zip(&counted).zip(&mut changed) {
            for (to, count) in table.iter().zip(counts) {
                changed[usize::from(*to)] += count;
            }
        }
        changed
    }

    fn chain(&mut self, next: [&[u8; 256]; 3]) {
        let tables = self.pending.get_or_insert_with(|| [table(|value| value); 3]);
        for (table, next) in tables.iter_mut().zip(next) {
            for value in table {
                *value = next[usize::from(*value)];
            }
        }
    }

    fn settle(&mut self) {
        if let Some(tables) = self.pending.take() {
            self.counted = None;
            look_up(self.rgb_mut().as_chunks_mut::<3>().0, &tables);
        }
    }
}

fn count(rgb: &[u8]) -> [Histogram; 3] {
    let mut counts = [[0; 256]; 3];
    for [red, green, blue] in rgb.as_chunks::<3>().0 {
        counts[0][usize::from(*red)] += 1;
        counts[1][usize::from(*green)] += 1;
        counts[2][usize::from(*blue)] += 1;
    }
    counts
}
