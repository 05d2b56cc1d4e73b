//! The objects of pictures in tables, as a structure of lists and as a list of structures, in Arrow and Parquet files.

use std::path::Path;
use std::sync::Arc;

use ::parquet::file::properties::WriterProperties;
use arrow_array::types::{Float32Type, Int16Type};
use arrow_array::{
    Array as _, ArrayRef, FixedSizeListArray, Float32Array, Int16Array, LargeListArray, ListArray, RecordBatch,
    StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use forebay_columns::Role;
use forebay_sources::{ColumnMap, Options, Source, SourceError};

use crate::arrow::tests::{file, stream, zstd};
use crate::parquet::tests::{batch, binary, write};
use crate::scene::{says, values};

/// Objects of three pictures: two, none and one. Each has a box (left, top, width, height) and a kind.
const BOXES: [&[[f32; 4]]; 3] = [&[[3.0, 5.0, 10.0, 20.0], [0.5, 0.0, 7.0, 9.0]], &[], &[[1.0, 2.0, 3.0, 6.0]]];
const KINDS: [&[i16]; 3] = [&[4, 2], &[], &[9]];
const ENDS: [usize; 3] = [2, 0, 1];

fn structure(fields: Vec<(&str, ArrayRef)>, nulls: Option<NullBuffer>) -> StructArray {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
        fields.into_iter().map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array)).unzip();
    StructArray::new(fields.into(), arrays, nulls)
}

/// All boxes one after the other, each a list of a fixed length.
fn boxes() -> ArrayRef {
    let sides: Vec<f32> = BOXES.concat().concat();
    Arc::new(FixedSizeListArray::new(item(&DataType::Float32), 4, Arc::new(Float32Array::from(sides)), None))
}

fn item(of: &DataType) -> Arc<Field> {
    Arc::new(Field::new_list_field(of.clone(), true))
}

/// A structure with a list of boxes and a list of kinds.
fn of_lists() -> ArrayRef {
    let boxes = ListArray::new(item(boxes().data_type()), OffsetBuffer::from_lengths(ENDS), boxes(), None);
    let kinds = KINDS.map(|kinds| Some(kinds.iter().copied().map(Some)));
    let kinds = ListArray::from_iter_primitive::<Int16Type, _, _>(kinds);
    Arc::new(structure(vec![("bbox", Arc::new(boxes) as ArrayRef), ("category", Arc::new(kinds))], None))
}

/// The structures of the objects: the box is behind a text and a structure, whose values are not asked for.
fn objects(nulls: Option<NullBuffer>) -> ArrayRef {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("owl"), None, Some("a longer text")]));
    let beside = structure(vec![("x", Arc::new(Int16Array::from(vec![1, 2, 3])) as ArrayRef)], None);
    let kinds: ArrayRef = Arc::new(Int16Array::from(KINDS.concat()));
    Arc::new(structure(vec![("text", texts), ("at", Arc::new(beside)), ("bbox", boxes()), ("category", kinds)], nulls))
}

fn of_structures() -> ArrayRef {
    let objects = objects(None);
    Arc::new(ListArray::new(item(objects.data_type()), OffsetBuffer::from_lengths(ENDS), objects, None))
}

/// The same in large lists, of which the second is null, and with boxes that are lists of any length.
fn of_structures_with_a_null() -> ArrayRef {
    let sides = BOXES.concat().into_iter().map(|sides| Some(sides.map(Some)));
    let boxes = ListArray::from_iter_primitive::<Float32Type, _, _>(sides);
    let kinds: ArrayRef = Arc::new(Int16Array::from(KINDS.concat()));
    let objects: ArrayRef = Arc::new(structure(vec![("category", kinds), ("bbox", Arc::new(boxes))], None));
    let nulls = NullBuffer::from(vec![true, false, true]);
    Arc::new(LargeListArray::new(item(objects.data_type()), OffsetBuffer::from_lengths(ENDS), objects, Some(nulls)))
}

fn table(objects: ArrayRef) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int16Array::from(vec![7, 8, 9]));
    batch(vec![("number", numbers), ("objects", objects), ("image", binary(&[Some(b"a"), Some(b"bc"), Some(b"def")]))])
}

/// A writer of a file.
type Write = fn(&Path, &[RecordBatch]);

/// Writes the table with each writer, in two batches, and opens it.
fn each_format(objects: &ArrayRef, options: &Options, check: impl Fn(&str, Result<Box<dyn Source>, SourceError>)) {
    let dir = tempfile::tempdir().unwrap();
    let parquet: Write = |path, batches| write(path, batches, WriterProperties::builder().build());
    for (name, write) in [("a.parquet", parquet), ("file.arrow", file), ("stream.arrow", stream), ("zstd.arrow", zstd)]
    {
        let (path, table) = (dir.path().join(name), table(ArrayRef::clone(objects)));
        write(&path, &[table.slice(0, 1), table.slice(1, 2)]);
        check(name, crate::open(path.to_str().unwrap(), options));
    }
}

#[test]
fn rule_45_objects_are_the_same_as_a_structure_of_lists_and_as_a_list_of_structures() {
    for (layout, objects) in [of_lists(), of_structures(), of_structures_with_a_null()].iter().enumerate() {
        each_format(objects, &Options::default(), |name, source| {
            let source = source.unwrap();
            let schema = source.targets().schema();
            let kinds: Vec<_> = schema
                .fields()
                .iter()
                .map(|field| (field.name.as_str(), field.column_type.to_string(), field.role, field.objects.is_some()))
                .collect();
            let expected = [
                ("boxes", "f32 [*, 4]".to_owned(), Role::Boxes, true),
                ("classes", "i16 [*]".to_owned(), Role::Plain, true),
            ];
            assert_eq!(kinds, expected, "{name}, layout {layout}");
            for (record, (boxes, kinds)) in BOXES.iter().zip(KINDS).enumerate() {
                let corners =
                    boxes.iter().flat_map(|[left, top, width, height]| [*left, *top, left + width, top + height]);
                assert!(corners.eq(values::<f32>(&*source, "boxes", record)), "{name}, layout {layout}");
                assert_eq!(values::<i16>(&*source, "classes", record), kinds, "{name}, layout {layout}");
                let is_null = source.targets().value(0, record).is_null();
                assert_eq!(is_null, layout == 2 && record == 1, "{name}, layout {layout}");
            }
        });
    }
}

#[test]
fn rule_45_other_fields_of_a_list_of_structures_are_columns_by_their_names() {
    let columns = ColumnMap::from_iter([("x", "objects.at.x"), ("box", "objects.bbox"), ("n", "number")]);
    let own = [("roles.box", "xyxy")].into_iter().collect();
    each_format(&of_structures(), &Options { columns, own, ..Options::default() }, |name, source| {
        let source = source.unwrap();
        let of = |record| (values::<i16>(&*source, "x", record), values::<i16>(&*source, "n", record));
        assert_eq!([0, 1, 2].map(of), [(vec![1, 2], vec![7]), (vec![], vec![8]), (vec![3], vec![9])], "{name}");
        assert_eq!(values::<f32>(&*source, "box", 2), [1.0, 2.0, 3.0, 6.0]);
    });
    for part in ["objects.none", "objects.at.y", "objects.category.x"] {
        let options = Options { columns: [("x", part)].into_iter().collect(), ..Options::default() };
        each_format(&of_structures(), &options, |_, source| {
            says(&source.unwrap_err().to_string(), &[part, "\"objects\""]);
        });
    }
}

#[test]
fn a_null_among_the_structures_and_pictures_in_lists_are_refused_by_name() {
    let with_null = objects(Some(NullBuffer::from(vec![true, true, false])));
    let lists = ListArray::new(item(with_null.data_type()), OffsetBuffer::from_lengths(ENDS), with_null, None);
    each_format(&(Arc::new(lists) as ArrayRef), &Options::default(), |name, source| {
        says(&source.expect_err(name).to_string(), &["row 2", "null within the list"]);
    });
    let views: ArrayRef = Arc::new(structure(vec![("photo", binary(&[Some(b"x"), Some(b"y"), Some(b"z")]))], None));
    let views: ArrayRef =
        Arc::new(ListArray::new(item(views.data_type()), OffsetBuffer::from_lengths(ENDS), views, None));
    let pictures = Options { columns: [("images", "objects.photo")].into_iter().collect(), ..Options::default() };
    let masks = Options { masks: [("seg", "objects.photo")].into_iter().collect(), ..Options::default() };
    for (options, words) in
        [(pictures, "\"objects.photo\" has the type List"), (masks, "masks.seg = \"objects.photo\"")]
    {
        each_format(&views, &options, |_, source| says(&source.unwrap_err().to_string(), &[words]));
    }
}

#[test]
fn no_damage_of_a_file_with_a_list_of_structures_makes_a_reader_panic() {
    let dir = tempfile::tempdir().unwrap();
    let parquet: Write = |path, batches| write(path, batches, WriterProperties::builder().build());
    for (name, write) in [("a.parquet", parquet), ("a.arrow", stream as Write)] {
        let path = dir.path().join(name);
        write(&path, &[table(of_structures_with_a_null())]);
        let mut opened = 0;
        crate::mutations::each(&std::fs::read(&path).unwrap(), 400, |bytes| {
            std::fs::write(&path, bytes).unwrap();
            let Ok(source) = crate::open(path.to_str().unwrap(), &Options::default()) else { return };
            opened += 1;
            for record in 0..source.len() {
                let _read = source.read(record, u64::MAX, &mut Vec::new());
            }
        });
        assert!(opened > 0, "{name}: some damages are in bytes that are not read");
    }
}
