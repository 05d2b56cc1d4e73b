//! The masks of a stream: which parts of a record become which columns, and how they are decoded into their places. A
//! thread of the pool does that when a picture is decoded, because a mask follows what became of its picture.

use std::sync::Arc;

use forebay_columns::ElementType;
use forebay_pixels::{Annotated, Draw, Limits, MaskDecoder, MaskDepth, MaskOrder, Origin, Recipe};
use forebay_sources::RecordParts;

use crate::decode::budget::Budget;
use crate::decode::cpu::SMALL;
use crate::mask_numbers::{MaskNumbers, mask_len};
use crate::place::PlaceRight;
use crate::reason::Reason;
use crate::record::Input;

/// A column of masks in a stream's batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaskTarget {
    /// Its name.
    pub name: String,
    /// Which of the source's masks it has.
    pub mask: usize,
    /// Its place among the columns of a batch.
    pub column: usize,
    /// The type of its numbers.
    pub depth: MaskDepth,
}

/// The masks of a stream. Without masks it changes nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Masks {
    /// How many masks each record of the source has.
    pub of_source: usize,
    /// The columns.
    pub targets: Vec<MaskTarget>,
    /// The picture whose pixels the masks have.
    pub annotated: Annotated,
    /// The number of what a mask does not show; none is that of its type.
    pub fill: Option<u16>,
}

/// What decodes masks on one thread.
#[derive(Debug)]
pub(crate) struct MaskThread {
    decoder: MaskDecoder,
    limits: Limits,
}

/// A picture that was decoded, whose masks are to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadePicture<'a> {
    /// What it was made of.
    pub origin: &'a Origin,
    /// What became of it.
    pub recipe: &'a Recipe,
    /// Its random choices.
    pub draw: Draw,
}

impl Masks {
    /// The picture of what was read of a record.
    pub(crate) fn picture<'a>(&self, input: Input<'a>) -> Input<'a> {
        match input {
            Input::File(bytes) => Input::File(RecordParts::of(bytes, self.of_source).picture()),
            kept @ Input::Picture(_) => kept,
        }
    }

    /// What was read behind the picture: the masks, and where each ends.
    pub(crate) fn behind<'a>(&self, input: Input<'a>) -> &'a [u8] {
        match input {
            Input::File(bytes) => RecordParts::of(bytes, self.of_source).behind_picture(),
            Input::Picture(kept) => &kept.masks,
        }
    }

    /// Whether there is nothing to decode.
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// No mask of a picture of this height and width, by its place among the targets.
    pub(crate) fn missing(&self, target: usize, size: (u32, u32)) -> MaskNumbers {
        let depth = self.targets[target].depth;
        let mut missing = MaskNumbers::default();
        missing.fit(size, depth);
        depth.fill(self.fill(depth), &mut missing.numbers);
        missing
    }

    /// Puts the masks of a picture into its place.
    pub(crate) fn put(&self, made: &[MaskNumbers], place: &mut PlaceRight) {
        for (target, mask) in self.targets.iter().zip(made) {
            let (validity, numbers) = place.column(target.column);
            *validity = mask.is_there.into();
            numbers.copy_from_slice(&mask.numbers);
        }
    }

    /// Bytes of all masks of a picture of this height and width.
    pub(crate) fn bytes(&self, size: (u32, u32)) -> u64 {
        self.targets.iter().map(|target| mask_len(size, target.depth) as u64).sum()
    }

    /// The number of what a mask of this type does not show: the largest of small types, as it is ignored in training; 0 of
    /// others, which is nothing in a panoptic mask.
    fn fill(&self, depth: MaskDepth) -> i32 {
        let own = match depth {
            MaskDepth::U8 => u16::from(u8::MAX),
            MaskDepth::U16 => u16::MAX,
            MaskDepth::I32 => 0,
        };
        self.fill.unwrap_or(own).into()
    }
}

/// The depth of a column of this type. Others are no masks.
pub(crate) fn depth(element: ElementType) -> Option<MaskDepth> {
    match element {
        ElementType::U8 => Some(MaskDepth::U8),
        ElementType::U16 => Some(MaskDepth::U16),
        ElementType::I32 => Some(MaskDepth::I32),
        _ => None,
    }
}

impl MaskThread {
    /// With nothing decoded.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { decoder: MaskDecoder::default(), limits }
    }

    /// Decodes the masks of a picture into its place. `behind` is what was read behind it. A large mask takes its memory from
    /// the budget.
    ///
    /// # Errors
    /// One cannot be decoded, or is not as large as its picture.
    pub(crate) fn write(
        &mut self,
        masks: &Masks,
        behind: &[u8],
        picture: MadePicture<'_>,
        memory: &Arc<Budget>,
        place: &mut PlaceRight,
    ) -> Result<(), Reason> {
        for (number, target) in masks.targets.iter().enumerate() {
            let (validity, numbers) = place.column(target.column);
            *validity = self.decode(masks, number, behind, picture, memory, numbers)?.into();
        }
        Ok(())
    }

    /// Decodes the masks of a picture before its place has them.
    ///
    /// # Errors
    /// One cannot be decoded, or is not as large as its picture.
    pub(crate) fn numbers(
        &mut self,
        masks: &Masks,
        behind: &[u8],
        picture: MadePicture<'_>,
        memory: &Arc<Budget>,
        into: &mut Vec<MaskNumbers>,
    ) -> Result<(), Reason> {
        let (height, width, _) = picture.recipe.shape();
        into.resize_with(masks.targets.len(), MaskNumbers::default);
        for (number, (target, mask)) in masks.targets.iter().zip(into).enumerate() {
            mask.fit((height, width), target.depth);
            mask.is_there = self.decode(masks, number, behind, picture, memory, &mut mask.numbers)?;
        }
        Ok(())
    }

    /// Has the masks of a picture of this height and width follow what becomes of it.
    pub(crate) fn carry(
        &mut self,
        masks: &Masks,
        (height, width): (u32, u32),
        (recipe, draw): (&Recipe, Draw),
        of: &mut [MaskNumbers],
    ) {
        let (high, wide, _) = recipe.shape();
        for (MaskTarget { depth, .. }, mask) in masks.targets.iter().zip(of) {
            let (before, fill) = (std::mem::take(&mut mask.numbers), masks.fill(*depth));
            mask.fit((high, wide), *depth);
            self.decoder.carry(&before, (width, height), *depth, (recipe, draw, fill), &mut mask.numbers);
        }
    }

    /// Decodes one mask of a picture, by its place among the targets. Answers whether the record has it. If not, the numbers are
    /// those of what a mask does not show.
    ///
    /// # Errors
    /// It cannot be decoded, or is not as large as its picture.
    pub(crate) fn decode(
        &mut self,
        masks: &Masks,
        target: usize,
        behind: &[u8],
        MadePicture { origin, recipe, draw }: MadePicture<'_>,
        memory: &Arc<Budget>,
        numbers: &mut [u8],
    ) -> Result<bool, Reason> {
        let MaskTarget { name, mask, depth, .. } = &masks.targets[target];
        let fill = masks.fill(*depth);
        let Some(png) = RecordParts::of(behind, masks.of_source).mask(*mask) else {
            depth.fill(fill, numbers);
            return Ok(false);
        };
        let needed = MaskDecoder::memory(png);
        let _share = (needed > SMALL).then(|| memory.take(needed));
        let order = MaskOrder { origin, recipe, draw, annotated: masks.annotated, fill };
        let decoded = self.decoder.decode(png, *depth, &order, &self.limits, numbers);
        decoded.map_err(|fault| Reason::Mask { column: name.as_str().into(), fault: fault.into() })?;
        Ok(true)
    }
}
