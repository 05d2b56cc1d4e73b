//! The operations on a picture, round by round. A round is what a GPU does in one launch, with numbers instead of
//! operations. All pixels of a round are there before the next one begins.

use crate::interpolation::Interpolation;

/// For each value, another value.
pub type ValueTable = Box<[u8; 256]>;

/// Where pixels are taken from, and what is done with each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Where its pixels come from.
    pub source: RoundSource,
    /// What is done with each pixel, in this order.
    pub changes: Vec<Change>,
    /// Whether its result is mirrored left to right, after the changes.
    pub mirrored: bool,
}

/// Where the pixels of a round come from.
#[derive(Clone, Debug, PartialEq)]
pub enum RoundSource {
    /// The two weighted sums over the stored picture. Only the first round has them.
    Sums,
    /// The same pixel of the round before.
    Own,
    /// The 3 x 3 pixels around, as in sharpness. The outermost pixels stay.
    Smoothed {
        /// Of the own value beside the smoothed one; for torch, the share of the smoothed one.
        factor: f32,
    },
    /// A Gaussian blur: the weights from the middle outwards.
    Blurred {
        /// Along the rows.
        along: Vec<f32>,
        /// Down the columns.
        down: Vec<f32>,
    },
    /// One of the box blurs that a Gaussian blur of Pillow consists of.
    Boxed(BoxShape),
    /// Somewhere else in the picture of the round before.
    Moved(Box<MovedFrom>),
}

/// A box blur. Beyond the ends of a line are its outermost values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxShape {
    /// Whether it is down the columns, and not along the rows.
    pub down: bool,
    /// Values on either side of the middle one, with those at the ends. At least 1.
    pub reach: u32,
    /// Weight of a value, with 24 bits after the point.
    pub whole: u32,
    /// Weight of those at the ends.
    pub end: u32,
}

/// Where moved pixels come from: the middle of a pixel (x, y) shows the column `column[0] * x + column[1] * y + column[2]`, and the
/// row likewise, either divided by `depth[0] * x + depth[1] * y + 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedFrom {
    /// How places are found.
    pub by: MovedBy,
    /// Filter.
    pub filter: Interpolation,
    /// Of the column.
    pub column: [f64; 3],
    /// Of the row.
    pub row: [f64; 3],
    /// What both are divided by.
    pub depth: [f64; 2],
    /// The value of pixels outside, in all digits, if there are any.
    pub fill: Option<[f64; 3]>,
    /// The same as pixels have it.
    pub fill_bytes: [u8; 3],
    /// What torch has instead for nearest pixels.
    pub near: NearLines,
}

/// How the places of moved pixels are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedBy {
    /// Pillow's steps from pixel to pixel, in whole numbers with 16 bits after the point.
    WholeSteps,
    /// Pillow's steps in double precision, whose roundings add up.
    Steps,
    /// Each on its own, filtered as Pillow does.
    Places,
    /// Each on its own, filtered as torch does.
    TorchPlaces,
    /// torch's in single precision, from -1 to 1 over the picture.
    TorchNearest,
    /// The same with a depth.
    TorchNearestProjected,
}

/// Where torch looks for nearest pixels, in single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearLines {
    /// Of the column.
    pub column: [f32; 3],
    /// Of the row.
    pub row: [f32; 3],
    /// What both are divided by, with 1.
    pub depth: [f32; 2],
    /// Half the sides of the picture.
    pub half: [f32; 2],
    /// Half the sides of the result.
    pub to_half: [f32; 2],
}

/// Something done with each pixel.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Every value by a table.
    Table(ValueTable),
    /// Nearer to the pixel's gray, or farther from it.
    Saturation(BlendShares),
    /// Its gray.
    Gray,
    /// Another hue.
    Hue {
        /// Pillow's turn, of 256.
        turn: u8,
        /// torch's, of 1.
        factor: f32,
    },
    /// Another hue, and saturation and value by tables, in Pillow's arithmetic.
    Gains {
        /// Of 256.
        turn: u8,
        /// Of the saturation.
        saturations: ValueTable,
        /// Of the value.
        values: ValueTable,
    },
    /// A rectangle of one colour.
    Erase {
        /// From, and to.
        rows: [u32; 2],
        /// From, and to.
        columns: [u32; 2],
        /// Red, green and blue.
        rgb: [u8; 3],
    },
    /// Nearer to the mean of all grays, or farther from it.
    Contrast(BlendShares),
    /// Each channel stretched to all values.
    Autocontrast,
    /// Each channel's values spread evenly.
    Equalize,
}

/// The shares of a value and, for torch, of what it is blended with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlendShares {
    /// Of the value.
    pub own: f32,
    /// Of the other.
    pub other: f32,
}

/// What must be counted of a picture before an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// How often each channel has each value.
    Values,
    /// How often its pixels have each gray.
    Grays,
}

impl Round {
    /// One that only takes pixels.
    pub(crate) fn of(source: RoundSource) -> Self {
        Self { source, changes: Vec::new(), mirrored: false }
    }

    /// What it needs to know of the round before.
    pub fn counted(&self) -> Option<Counted> {
        self.changes.first().and_then(Change::counted)
    }

    /// Does one more thing with each pixel. Tables in a row become one.
    pub(crate) fn change(&mut self, change: Change) {
        if let (Some(Change::Table(last)), Change::Table(next)) = (self.changes.last_mut(), &change) {
            last.iter_mut().for_each(|value| *value = next[usize::from(*value)]);
        } else {
            self.changes.push(change);
        }
    }
}

impl Change {
    /// What it needs to know of the picture.
    pub(crate) fn counted(&self) -> Option<Counted> {
        match self {
            Self::Contrast(_) => Some(Counted::Grays),
            Self::Autocontrast | Self::Equalize => Some(Counted::Values),
            _ => None,
        }
    }
}
