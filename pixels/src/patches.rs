//! Patches: a picture that is resized to a whole number of square patches, at most as many as its step has room for. They are
//! the rows of its place, one after the other (semantics rule 65).

mod rule;

pub use rule::{PatchGrid, PatchRule};

use crate::draw::Draw;
use crate::fault::Fault;
use crate::interpolation::Interpolation;
use crate::origin::{Annotated, Origin};
use crate::plan::Plan;
use crate::random_part::RandomPart;

/// What is behind the last patch of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PatchPadding {
    /// Zeros, whatever the normalisation.
    #[default]
    Zero,
    /// What a black pixel is normalised to, as timm's loader has it, which pads before it normalises.
    Timm,
}

/// How pictures become patches.
///
/// ```
/// use forebay_pixels::{Interpolation, PatchGrid, PatchPadding, PatchRule, Patches};
///
/// let (rule, interpolation, padding) = (PatchRule::Naflex, Interpolation::Bicubic, PatchPadding::Zero);
/// let patches = Patches { rule, side: 16, length: 256, interpolation, padding, part: None };
/// assert_eq!(patches.grid(1000, 1500), Some(PatchGrid { rows: 13, columns: 19 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patches {
    /// Which size a picture gets.
    pub rule: PatchRule,
    /// Height and width of a patch in pixels, 1 to [`MAX_PATCH_SIDE`].
    pub side: u32,
    /// Patches of a place, at least 1: those of the picture, and padding.
    pub length: u32,
    /// Filter of the resize.
    pub interpolation: Interpolation,
    /// What is behind the picture's own patches.
    pub padding: PatchPadding,
    /// What is cut out before the resize, if not the whole picture is resized.
    pub part: Option<RandomPart>,
}

/// Longest side of a patch: its pixels are counted in 16 bits.
pub const MAX_PATCH_SIDE: u32 = 255;

impl Patches {
    /// The patches of a picture of this height and width, each at least 1. Nothing if the rule refuses the picture.
    pub fn grid(&self, height: u32, width: u32) -> Option<PatchGrid> {
        let grid = self.rule.grid((height, width), self.side, self.length)?;
        (1..=u64::from(self.length)).contains(&grid.tokens()).then_some(grid)
    }

    /// The patches of what is drawn of a picture of this height and width, as seen.
    pub fn drawn_grid(&self, (height, width): (u32, u32), draw: Draw) -> Option<PatchGrid> {
        let Some(part) = self.part else { return self.grid(height, width) };
        let part = part.of((width, height), draw.fitting());
        self.grid(part.height, part.width)
    }

    /// The patches of a picture that was made of this, whatever it was decoded as.
    pub fn grid_of(&self, origin: &Origin, draw: Draw) -> Option<PatchGrid> {
        let (width, height) = origin.annotated(Annotated::AsSeen);
        self.drawn_grid((height, width), draw)
    }

    /// Pixels of a patch.
    pub const fn pixels(&self) -> u32 {
        self.side * self.side
    }

    /// Two sizes that no transform leaves as they are by chance.
    pub(crate) const fn probes(&self) -> [(u32, u32); 2] {
        [(3 * self.side, 5 * self.side), (11 * self.side, 7 * self.side)]
    }

    /// Adds what they need to a plan that has no step yet.
    pub(crate) fn plan(&self, plan: &mut Plan, origin: &Origin, draw: Draw) {
        if let Some(part) = self.part {
            plan.cut(part.of((plan.width, plan.height), draw.fitting()));
        }
        if let Some(PatchGrid { rows, columns }) = self.grid_of(origin, draw) {
            plan.resize(columns * self.side, rows * self.side, self.interpolation);
        } else {
            let (width, height) = origin.annotated(Annotated::AsSeen);
            let fault = Fault::NoPatches { height, width, rule: self.rule.name(), length: self.length };
            plan.refuse(fault, (self.side, self.side));
        }
    }

    /// Refuses a picture whose size has changed since.
    pub(crate) fn check(&self, plan: &mut Plan, origin: &Origin, draw: Draw) {
        if let Some(PatchGrid { rows, columns }) = self.grid_of(origin, draw) {
            plan.expect(columns * self.side, rows * self.side);
        }
    }
}
