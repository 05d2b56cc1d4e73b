//! Puts a mosaic together in its place. The own picture is already there. Each partner is decoded as an ordinary picture,
//! and a part of it is copied into the place. Boxes and points follow from what each picture was made of. Masks are
//! copied as pictures are.

use std::sync::Arc;

use forebay_pixels::{Draw, Mosaics, Origin, Plan, Rect};

use crate::decode::budget::Budget;
use crate::decode::masks::{MadePicture, MaskThread, Masks};
use crate::decode::views::FurtherViews;
use crate::decode::{Decode, Picture};
use crate::mosaic::{MosaicContent, Partners};
use crate::place::PlaceRight;
use crate::reason::Reason;
use crate::record::Input;

/// What puts mosaics together on one thread. Its memory is used again.
#[derive(Debug, Default)]
pub(crate) struct MosaicThread {
    plan: Plan,
    partner: MosaicPixels,
}

/// What was made of a partner: a result of full size. A part of it is copied.
#[derive(Debug, Default)]
pub(crate) struct MosaicPixels {
    /// The picture, in the form of a place.
    pub picture: Vec<u8>,
    /// For each mask, whether there is one, and its numbers.
    pub masks: Vec<(bool, Vec<u8>)>,
}

/// A mosaic whose own picture is in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnPicture<'a> {
    pub mosaics: &'a Mosaics,
    /// What was read for it.
    pub content: &'a MosaicContent,
    /// Number of its record.
    pub record: u64,
    /// Its random choices, which are those of the whole mosaic.
    pub draw: Draw,
}

impl MosaicThread {
    /// Copies the partners beside the own picture, with their masks. A large mask takes its memory from the budget.
    /// Returns nothing if the picture is alone.
    ///
    /// # Errors
    /// A partner is bad, so the own picture replaces it, and the part of the own picture that is shown there is damaged.
    pub(crate) fn write(
        &mut self,
        decode: &mut Decode,
        own: OwnPicture<'_>,
        (masks, thread): (&Masks, &mut MaskThread),
        memory: &Arc<Budget>,
        place: &mut PlaceRight,
    ) -> Result<Option<Box<Partners>>, Reason> {
        let (height, width, _) = own.mosaics.quarter(0).shape();
        self.partner.masks.resize_with(masks.targets.len(), Default::default);
        for (target, (_, numbers)) in masks.targets.iter().zip(&mut self.partner.masks) {
            numbers.resize(place.column(target.column).1.len(), 0);
        }
        let decode_masks = |partner: &mut MosaicPixels, behind: &[u8], made: MadePicture<'_>| {
            for (number, (is_there, numbers)) in partner.masks.iter_mut().enumerate() {
                *is_there = thread.decode(masks, number, behind, made, memory, numbers)?;
            }
            Ok(())
        };
        let lay = |tile: Rect, partner: &MosaicPixels| {
            own.mosaics.lay(tile, &partner.picture, place.as_mut());
            for (target, (is_there, numbers)) in masks.targets.iter().zip(&partner.masks) {
                let (validity, into) = place.column(target.column);
                *validity |= u8::from(*is_there);
                tile.copy(width, into.len() / (width as usize * height as usize), numbers, into);
            }
        };
        self.each(decode, own, masks, decode_masks, lay)
    }

    /// Decodes each partner that the result shows, and calls `lay` for its part. If a partner is bad, the own picture
    /// replaces it.
    ///
    /// # Errors
    /// The own picture replaces a partner, and the part of the own picture that is shown there is damaged.
    pub(crate) fn each(
        &mut self,
        decode: &mut Decode,
        own: OwnPicture<'_>,
        masks: &Masks,
        mut decode_masks: impl FnMut(&mut MosaicPixels, &[u8], MadePicture<'_>) -> Result<(), Reason>,
        mut lay: impl FnMut(Rect, &MosaicPixels),
    ) -> Result<Option<Box<Partners>>, Reason> {
        let OwnPicture { mosaics, content, record, draw } = own;
        let Some(partners) = content.partners() else { return Ok(None) };
        let mut laid = Box::<Partners>::default();
        for (number, partner) in partners.iter().enumerate() {
            let recipe = mosaics.quarter(1 + number);
            let Some(tile) = mosaics.tile(1 + number, draw, &mut self.plan) else { continue };
            let mut made_of = |record: u64, bytes: &[u8]| -> Result<Origin, Reason> {
                let (input, behind) = (masks.picture(Input::File(bytes)), masks.behind(Input::File(bytes)));
                self.partner.picture.resize(recipe.place_len(), 0);
                let (out, further) = (&mut *self.partner.picture, FurtherViews::default());
                let picture = Picture { input, behind, cache: None, seek: None, recipe, record, draw, out, further };
                let origin = decode(picture)?;
                decode_masks(&mut self.partner, behind, MadePicture { origin: &origin, recipe, draw })?;
                Ok(origin)
            };
            let found = partner.bytes.as_deref();
            let found = found.and_then(|bytes| Some((partner.record, made_of(partner.record, bytes).ok()?)));
            laid[number] = Some(match found {
                Some(found) => found,
                None => (record, made_of(record, content.own())?),
            });
            lay(tile, &self.partner);
        }
        Ok(Some(laid))
    }
}
