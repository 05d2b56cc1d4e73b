//! Masks: pictures whose pixels are numbers of classes or segments. A mask follows its picture: it is turned, cut, resized
//! and mirrored as the picture was, by the nearest pixel, so that no number is made that was not there.

mod gather;
mod lines;
mod npy;
mod png;

use thiserror::Error;

use self::lines::MaskLines;
use self::npy::NpyMask;
use self::png::{PngFrame, PngHeader};
use crate::draw::Draw;
use crate::fault::Limits;
use crate::origin::{Annotated, Origin};
use crate::plan::Plan;
use crate::recipe::Recipe;

/// The type of a mask's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskDepth {
    /// A byte: indices into a palette, grey of at most 8 bits, or an array of bytes or bools.
    U8,
    /// Grey of 16 bits, or an array of such numbers.
    U16,
    /// Red, green and blue of 8 bits as one number, the red lowest: `r + 256 g + 65536 b`, as in COCO's panoptic masks. Or an
    /// array of any other whole numbers.
    I32,
}

/// What a mask is made to follow.
#[derive(Clone, Copy, Debug)]
pub struct MaskOrder<'a> {
    /// What the picture was made of, as its decoder told it.
    pub origin: &'a Origin,
    /// What became of the picture.
    pub recipe: &'a Recipe,
    /// The picture's random choices.
    pub draw: Draw,
    /// The picture whose pixels the mask has.
    pub annotated: Annotated,
    /// The number of what the mask does not show: the border of the picture.
    pub fill: i32,
}

/// Why a mask gave no numbers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MaskFault {
    /// The bytes are neither a PNG nor an array.
    #[error("it is not a PNG, and not an array of NumPy. Other formats are not read as masks: save it as PNG")]
    NotPng,
    /// The bytes of a PNG are damaged, or end too early.
    #[error("the PNG is damaged: {0}")]
    Damaged(Box<str>),
    /// The array is damaged, or has something else than a whole number for each pixel.
    #[error("its array is no mask: {0}")]
    Array(Box<str>),
    /// It has another size than its picture.
    #[error(
        "it has {found:?} pixels (width, height), and its picture has {expected:?}. Make it as large as the picture"
    )]
    Size {
        /// Its width and height.
        found: (u32, u32),
        /// Its picture's.
        expected: (u32, u32),
    },
    /// Its pixels do not fit into the column.
    #[error(
        "it has {found}, and the column has numbers of the type {column}, as the first masks of the dataset need it"
    )]
    Depth {
        /// What it has, in words.
        found: Box<str>,
        /// The column's type.
        column: &'static str,
    },
    /// Pixels that are no numbers.
    #[error("it has {0}. A mask has a palette, grey, or red, green and blue of 8 bits")]
    Colours(Box<str>),
    /// It has more pixels than allowed.
    #[error("it has {pixels} pixels, and the limit is {limit}")]
    TooLarge {
        /// Its pixels.
        pixels: u64,
        /// [`Limits::pixels`].
        limit: u64,
    },
}

/// Decodes masks. Its memory is used again for each.
///
/// ```
/// use forebay_pixels::{Annotated, Draw, Limits, MaskDecoder, MaskDepth, MaskOrder, Orientation, Origin, Recipe, sample};
///
/// let mask = sample::mask_png(4, 2, |x, y| u8::from(x > 1) + 2 * u8::from(y > 0));
/// let recipe = Recipe::evaluation(8)?;
/// let origin = &Origin::of_recipe((4, 2), Orientation::AsStored, &recipe);
/// let draw = Draw { seed: 0, epoch: 0, record: 0 };
/// let order = MaskOrder { origin, recipe: &recipe, draw, annotated: Annotated::AsSeen, fill: 255 };
/// let mut numbers = vec![9; 8 * 8];
/// MaskDecoder::default().decode(&mask, MaskDepth::U8, &order, &Limits::default(), &mut numbers)?;
/// assert_eq!((numbers[0], numbers[7], numbers[56], numbers[63]), (0, 1, 2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MaskDecoder {
    frame: PngFrame,
    lines: MaskLines,
    plan: Plan,
}

impl MaskDepth {
    /// Bytes of a number.
    pub fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::I32 => 4,
        }
    }

    /// As a column's type spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::I32 => "i32",
        }
    }

    /// Writes this number into all of `out`, which has whole numbers. One that does not fit keeps its lower bytes.
    pub fn fill(self, fill: i32, out: &mut [u8]) {
        let bytes = fill.to_le_bytes();
        for number in out.chunks_exact_mut(self.size()) {
            number.copy_from_slice(&bytes[..self.size()]);
        }
    }
}

impl MaskDecoder {
    /// Bytes that decoding this mask takes, beside those of the result. None for what is no PNG: it is refused, or is an array,
    /// whose numbers are in its bytes.
    pub fn memory(mask: &[u8]) -> u64 {
        PngHeader::read(mask).map_or(0, PngHeader::bytes)
    }

    /// Decodes a mask into `out`, which has the size of the recipe's result: rows of little-endian numbers. The mask is a PNG, or
    /// an array of `NumPy`.
    ///
    /// # Errors
    /// It cannot be decoded, or is not as large as its picture. `out` may have anything then.
    ///
    /// # Panics
    /// `out` does not have the recipe's size.
    pub fn decode(
        &mut self,
        mask: &[u8],
        depth: MaskDepth,
        order: &MaskOrder<'_>,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<(), MaskFault> {
        let (height, width, _) = order.recipe.shape();
        assert_eq!(out.len(), height as usize * width as usize * depth.size(), "a number for each pixel");
        let Self { frame, lines, plan } = self;
        if NpyMask::is_array(mask) {
            let array = NpyMask::read(mask)?;
            check_size((array.width, array.height), order, limits)?;
            array.fits(depth)?;
            follow(lines, plan, order);
            gather::gather_array(&array, lines, depth, order.fill, out);
            return Ok(());
        }
        let header = PngHeader::read(mask).ok_or(MaskFault::NotPng)?;
        check_size((header.width, header.height), order, limits)?;
        let decoded = frame.decode(mask, header).and_then(|()| {
            follow(lines, plan, order);
            gather::gather(frame, lines, depth, order.fill, out)
        });
        frame.give_back();
        decoded
    }

    /// Makes a mask of another one, whose numbers are there: rows of little-endian numbers, as many as a picture of this size
    /// (width, height) has pixels. It follows what a recipe does to that picture. `out` has the size of the recipe's result.
    ///
    /// ```
    /// use forebay_pixels::{Draw, MaskDecoder, MaskDepth, Output, Recipe};
    ///
    /// let middle = serde_json::from_str(r#"[{ "center_crop": { "size": [1, 2] } }]"#)?;
    /// let (recipe, draw) = (Recipe::new(middle, Output::default())?, Draw { seed: 0, epoch: 0, record: 0 });
    /// let mut out = [0; 2];
    /// MaskDecoder::default().carry(&[1, 2, 3, 4], (4, 1), MaskDepth::U8, (&recipe, draw, 255), &mut out);
    /// assert_eq!(out, [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// There is not a number for each pixel, or `out` does not have the recipe's size.
    pub fn carry(
        &mut self,
        numbers: &[u8],
        (width, height): (u32, u32),
        depth: MaskDepth,
        (recipe, draw, fill): (&Recipe, Draw, i32),
        out: &mut [u8],
    ) {
        let (high, wide, _) = recipe.shape();
        let bytes = |width: u32, height: u32| width as usize * height as usize * depth.size();
        assert_eq!((numbers.len(), out.len()), (bytes(width, height), bytes(wide, high)), "a number for each pixel");
        let Self { lines, plan, .. } = self;
        let origin = &Origin::plain((width, height));
        follow(lines, plan, &MaskOrder { origin, recipe, draw, annotated: Annotated::AsSeen, fill });
        gather::gather_numbers((numbers, width as usize), lines, depth, fill, out);
    }
}

/// Refuses a mask that is not as large as its picture, or larger than allowed.
fn check_size(found: (u32, u32), order: &MaskOrder<'_>, limits: &Limits) -> Result<(), MaskFault> {
    let expected = order.origin.annotated(order.annotated);
    if found != expected {
        return Err(MaskFault::Size { found, expected });
    }
    let pixels = u64::from(found.0) * u64::from(found.1);
    if pixels > limits.pixels { Err(MaskFault::TooLarge { pixels, limit: limits.pixels }) } else { Ok(()) }
}

/// Finds which pixels of a mask its result shows.
fn follow(lines: &mut MaskLines, plan: &mut Plan, order: &MaskOrder<'_>) {
    order.recipe.plan_into(order.origin, order.draw, plan);
    lines.follow(plan, order.origin, order.annotated);
}

#[cfg(test)]
mod tests;
