//! Small pictures of single records, for the page, with what the dataset has beside each drawn onto it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use forebay_columns::{ColumnType, ValueBuf};
use forebay_pixels::sample::JpegForm;
use forebay_pixels::{Background, CpuDecoder, Fault, Form, Format, KeptPicture, Limits};
use forebay_sources::{RecordParts, Source};
use image::RgbImage;

use super::masks::MaskReader;
use super::scan::read;
use super::shown::Shown;
use crate::drawing::{Annotation, annotate, first_text};

/// A small JPEG.
pub(super) struct Thumbnail {
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

fn thumbnail(source: &dyn Source, record: u64, bytes: &[u8], limits: &Limits) -> Option<Thumbnail> {
    let parts = RecordParts::of(bytes, source.masks().len());
    let form = Form { max_side: Some(SIDE), background: Background::Colour([255; 3]), ..Form::default() };
    let kept = match CpuDecoder::new().upright(parts.picture(), form, limits) {
        Ok((picture, _)) => picture,
        Err(Fault::Truncated | Fault::Corrupt { .. }) => begun(parts.picture(), form, limits)?,
        Err(_) => return None,
    };
    let KeptPicture { width, height, .. } = kept;
    let mut picture = RgbImage::from_raw(width, height, kept.rgb().to_vec())?;
    let caption = Shown::new(&kept).and_then(|shown| draw(&shown, source, record, parts, limits, &mut picture));
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

/// Draws what the record has in the columns and masks of its dataset. The first text is the result.
fn draw(
    shown: &Shown,
    source: &dyn Source,
    record: u64,
    parts: RecordParts<'_>,
    limits: &Limits,
    picture: &mut RgbImage,
) -> Option<String> {
    let (table, row) = (source.targets(), usize::try_from(record).ok()?);
    let mut moved: Vec<(usize, ValueBuf)> = Vec::new();
    for (column, field) in table.schema().fields().iter().enumerate() {
        let value = table.value(column, row);
        if !value.is_null() {
            let mut copy = ValueBuf::default();
            copy.copy(&value, &field.column_type, |_| true);
            shown.maps.follow(field.role, &mut copy);
            moved.push((column, copy));
        }
    }
    let mut reader = MaskReader::default();
    let masks: Vec<(&str, ColumnType, Vec<u8>)> = (source.masks().iter().enumerate())
        .filter_map(|(place, mask)| {
            let numbers = reader.numbers(parts.mask(place)?, mask.element, shown, limits).ok()?;
            let (width, height) = picture.dimensions();
            let column_type = format!("{} [{height}, {width}]", mask.element).parse().ok()?;
            Some((&*mask.name, column_type, numbers))
        })
        .collect();
    let mut annotations: Vec<Annotation<'_>> = Vec::new();
    for (name, column_type, rows) in &masks {
        annotations.push(Annotation { name, column_type, is_of_objects: false, rows, lists: Vec::new() });
    }
    let values: Vec<_> = moved.iter().map(|(column, copy)| (&table.schema().fields()[*column], copy.value())).collect();
    for (field, value) in &values {
        let column_type = &field.column_type;
        let (rows, lists) = (value.bytes(), value.lists(column_type));
        annotations.push(Annotation {
            name: &field.name,
            column_type,
            is_of_objects: field.objects.is_some(),
            rows,
            lists,
        });
    }
    annotate(picture, &annotations, source.classes());
    first_text(&annotations)
}
