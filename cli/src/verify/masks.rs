//! Decodes the masks of records: to see whether they can be, and to draw them.

use forebay_columns::ElementType;
use forebay_pixels::{Limits, MaskDecoder, MaskFault, Origin};
use forebay_sources::{MaskColumn, RecordParts};

use super::checked::Trouble;
use super::shown::Shown;
use crate::drawing::mask_depth;

/// Decodes one mask after the other.
#[derive(Debug, Default)]
pub(super) struct MaskReader {
    decoder: MaskDecoder,
}

impl MaskReader {
    /// The numbers of a mask, in the size of the picture that is shown.
    ///
    /// # Errors
    /// It cannot be decoded, or is not as large as its picture.
    pub(super) fn numbers(
        &mut self,
        png: &[u8],
        element: ElementType,
        shown: &Shown,
        limits: &Limits,
    ) -> Result<Vec<u8>, MaskFault> {
        let depth = mask_depth(element);
        let (height, width, _) = shown.recipe.shape();
        let mut numbers = vec![0; height as usize * width as usize * depth.size()];
        self.decoder.decode(png, depth, &shown.mask_order(), limits, &mut numbers)?;
        Ok(numbers)
    }

    /// Decodes all masks of a record.
    ///
    /// # Errors
    /// One of them cannot be decoded, or is not as large as its picture.
    pub(super) fn check(
        &mut self,
        columns: &[MaskColumn],
        parts: RecordParts<'_>,
        origin: Origin,
        limits: &Limits,
    ) -> Result<(), Trouble> {
        if columns.is_empty() {
            return Ok(());
        }
        // All of a mask is decoded, whatever is taken of it.
        let shown = Shown::of_size(origin, 1, 1).expect("a recipe may make one pixel");
        for (place, column) in columns.iter().enumerate() {
            let Some(png) = parts.mask(place) else { continue };
            let found = self.numbers(png, column.element, &shown, limits);
            found.map_err(|fault| Trouble::Mask { column: column.name.as_str().into(), fault: fault.into() })?;
        }
        Ok(())
    }
}
