//! What a dataset has beside a record, drawn onto its picture.

use forebay_columns::{ColumnType, ElementType, ValueBuf};
use forebay_pipeline::PictureMaps;
use forebay_pixels::{Limits, MaskDecoder, MaskDepth, MaskOrder};
use forebay_sources::{RecordParts, Source};
use image::RgbImage;

use super::{Annotation, annotate, first_text};

/// The depth of a column of masks.
pub(crate) fn mask_depth(element: ElementType) -> MaskDepth {
    match element {
        ElementType::U16 => MaskDepth::U16,
        ElementType::I32 => MaskDepth::I32,
        _ => MaskDepth::U8,
    }
}

/// Draws what a record has in the columns and masks of its dataset onto what became of its picture. `maps` and `order` say where it
/// is there. The first text is the result.
pub(crate) fn annotate_record(
    (source, record, parts): (&dyn Source, u64, RecordParts<'_>),
    (maps, order): (&PictureMaps, &MaskOrder<'_>),
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
            maps.follow(field.role, &mut copy);
            moved.push((column, copy));
        }
    }
    let mut decoder = MaskDecoder::default();
    let (width, height) = picture.dimensions();
    let masks: Vec<(&str, ColumnType, Vec<u8>)> = (source.masks().iter().enumerate())
        .filter_map(|(place, mask)| {
            let depth = mask_depth(mask.element);
            let mut numbers = vec![0; height as usize * width as usize * depth.size()];
            decoder.decode(parts.mask(place)?, depth, order, limits, &mut numbers).ok()?;
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
