//! Small pictures of single records, for the page.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use forebay_pixels::sample::JpegForm;
use forebay_pixels::{CpuDecoder, Fault, Form, Format, JpegChoice, KeptPicture, Limits};
use forebay_sources::Source;

use super::scan::read;

/// A small JPEG.
pub(super) struct Thumbnail {
    pub jpeg: Vec<u8>,
    pub width: u32,
    pub height: u32,
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
            && let Ok(Some(thumbnail)) = catch_unwind(AssertUnwindSafe(|| thumbnail(&mut bytes, limits)))
        {
            made.insert(*record, thumbnail);
        }
        bytes.clear();
    }
    made
}

fn thumbnail(bytes: &mut Vec<u8>, limits: &Limits) -> Option<Thumbnail> {
    let form = Form { max_side: Some(SIDE), background: [255; 3], ..Form::default() };
    let picture = match CpuDecoder::new().upright(bytes, form, limits) {
        Ok((picture, _)) => picture,
        Err(Fault::Truncated | Fault::Corrupt { .. }) => begun(bytes, form, limits)?,
        Err(_) => return None,
    };
    let KeptPicture { width, height, .. } = picture;
    let jpeg = JpegForm { quality: 85, ..JpegForm::default() }.encode(picture.rgb(), width, height)?;
    Some(Thumbnail { jpeg, width, height })
}

/// What of a damaged JPEG gives pixels: a decoder that forgives more fills the rest.
fn begun(bytes: &mut Vec<u8>, form: Form, limits: &Limits) -> Option<KeptPicture> {
    if Format::of(bytes) != Ok(Format::Jpeg) {
        return None;
    }
    bytes.extend(END);
    let mut decoder = CpuDecoder::with_jpeg(JpegChoice::IMAGE);
    decoder.upright(bytes, form, limits).ok().map(|(picture, _)| picture)
}
