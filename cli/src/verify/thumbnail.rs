//! Small pictures of single records, for the page, with what the dataset has beside each drawn onto it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use forebay_pixels::sample::JpegForm;
use forebay_pixels::{Background, CpuDecoder, Fault, Form, Format, KeptPicture, Limits};
use forebay_sources::{RecordParts, Source};
use image::RgbImage;

use super::scan::read;
use super::shown::Shown;
use crate::drawing::annotate_record;

/// A small JPEG.
pub(crate) struct Thumbnail {
    pub jpeg: Vec<u8>,
    pub width: u32,
    pub height: u32,
    /// The first text of the record.
    pub caption: Option<String>,
}

/// Longest side in pixels.
const SIDE: u32 = 160;
/// The end marker of a JPEG.
const END: [u8; 2] = [0xFF, 0xD9];

/// The records' pictures, as far as they can be decoded.
pub(super) fn thumbnails(source: &dyn Source, records: &BTreeSet<u64>, limits: &Limits) -> BTreeMap<u64, Thumbnail> {
    let mut bytes = Vec::new();
    let mut made = BTreeMap::new();
    for record in records {
        if read(source, *record, &mut bytes).is_ok()
            && let Ok(Some(thumbnail)) = catch_unwind(AssertUnwindSafe(|| thumbnail(source, *record, &bytes, limits)))
        {
            made.insert(*record, thumbnail);
        }
        bytes.clear();
    }
    made
}

/// The picture of a record with these bytes, if any of it can be decoded.
pub(crate) fn thumbnail(source: &dyn Source, record: u64, bytes: &[u8], limits: &Limits) -> Option<Thumbnail> {
    let parts = RecordParts::of(bytes, source.masks().len());
    let form = Form { max_side: Some(SIDE), background: Background::Colour([255; 3]), ..Form::default() };
    let kept = match CpuDecoder::new().upright(parts.picture(), form, limits) {
        Ok((picture, _)) => picture,
        Err(Fault::Truncated | Fault::Corrupt { .. }) => begun(parts.picture(), form, limits)?,
        Err(_) => return None,
    };
    let KeptPicture { width, height, .. } = kept;
    let mut picture = RgbImage::from_raw(width, height, kept.pixels().to_vec())?;
    let annotated = |shown: Shown| {
        annotate_record((source, record, parts), (&shown.maps, &shown.mask_order()), limits, &mut picture)
    };
    let caption = Shown::new(&kept).and_then(annotated);
    let jpeg = JpegForm { quality: 85, ..JpegForm::default() }.encode(&picture, width, height)?;
    Some(Thumbnail { jpeg, width, height, caption })
}

/// The rows of a JPEG that is cut off. The decoder fills the others.
fn begun(bytes: &[u8], form: Form, limits: &Limits) -> Option<KeptPicture> {
    if Format::of(bytes) != Ok(Format::Jpeg) {
        return None;
    }
    let ended = [bytes, &END].concat();
    CpuDecoder::new().upright(&ended, form, limits).ok().map(|(picture, _)| picture)
}
