//! The labels and columns of `MXNet`'s image headers.

mod objects;

use std::path::{Path, PathBuf};

use forebay_columns::{Column, ColumnType, ElementType, Field, Schema, Table};
use forebay_printable::printable;
use forebay_sources::{Labels, Options, SourceError};

use self::objects::MxObjects;
use super::MxPayload;
use super::frame::ImageHeader;
use crate::example::gather::whole;
use crate::label_column::Column as TextLabels;

/// The labels and columns so far.
#[derive(Debug)]
pub(super) struct MxLabels {
    option: Labels,
    /// The user named the label.
    is_label_asked: bool,
    /// The first label of each record; nothing for a damaged one.
    first: Vec<Option<f32>>,
    /// The first record whose first label is not a whole number, with that label.
    fraction: Option<(PathBuf, u64, f32)>,
    /// Records with more than one label.
    several: u64,
    columns: Vec<(Field, MxPart, Column)>,
    /// Without named columns: all labels of each record, and whether they are those of objects.
    all: Option<Column>,
    are_objects: bool,
}

/// What becomes a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MxPart {
    /// All labels of a record.
    Label,
    Id,
    /// Corners of the objects, in fractions of the picture's size.
    Boxes,
    /// Classes of the objects.
    Classes,
}

/// Each part with its name, and the type of its column.
const PARTS: [(&str, MxPart, &str); 4] = [
    ("label", MxPart::Label, "f32 [*]"),
    ("id", MxPart::Id, "u64"),
    ("boxes", MxPart::Boxes, "f32 [*, 4]"),
    ("classes", MxPart::Classes, "i64 [*]"),
];

/// Names of columns that are those of a dataset of objects, and of one whose labels are fractions.
const BY_ITSELF: [(&str, MxPart); 2] = [("boxes", MxPart::Boxes), ("classes", MxPart::Classes)];
const FRACTIONS: &str = "label";

impl MxPart {
    fn column_type(self) -> ColumnType {
        let (_, _, of) = PARTS.iter().find(|(_, part, _)| *part == self).expect("each part is in the table");
        of.parse().expect("the table has types of columns")
    }

    fn is_of_objects(self) -> bool {
        matches!(self, Self::Boxes | Self::Classes)
    }
}

impl MxLabels {
    /// # Errors
    /// A column names something that an image header does not have.
    pub(super) fn new(options: &Options) -> Result<Self, SourceError> {
        for (column, only) in [("images", "image"), ("labels", "label")] {
            if let Some(parts) = options.columns.parts(column).filter(|parts| parts[..] != [only]) {
                let expected = format!("\"{only}\"");
                return Err(SourceError::bad_option(&format!("columns.{column}"), &parts.join(";"), &expected));
            }
        }
        let mut columns = Vec::new();
        for (name, parts) in options.columns.targets() {
            let part = match parts[..] {
                [part] => PARTS.iter().find(|(name, ..)| *name == part).map(|(_, part, _)| *part),
                _ => None,
            };
            let Some(part) = part else {
                let (key, value) = (format!("columns.{name}"), parts.join(";"));
                return Err(SourceError::bad_option(&key, &value, "\"label\", \"id\", \"boxes\" or \"classes\""));
            };
            columns.push((Field::new(name, part.column_type()), part, Column::new(part.column_type())));
        }
        Ok(Self {
            option: options.labels,
            is_label_asked: options.columns.parts("labels").is_some(),
            first: Vec::new(),
            fraction: None,
            several: 0,
            all: columns.is_empty().then(|| Column::new(MxPart::Label.column_type())),
            columns,
            are_objects: true,
        })
    }

    /// A damaged record.
    pub(super) fn skip(&mut self) {
        self.first.push(None);
        self.all.iter_mut().for_each(Column::push_null);
        self.columns.iter_mut().for_each(|(_, _, column)| column.push_null());
    }

    /// The next record.
    ///
    /// # Errors
    /// Its labels are not those of objects, and objects are wanted. The text says what is wrong.
    pub(super) fn push(&mut self, header: &ImageHeader, (path, offset): (&Path, u64)) -> Result<(), String> {
        let objects = MxObjects::of(&header.labels);
        if let Err(wrong) = &objects
            && self.columns.iter().any(|(_, part, _)| part.is_of_objects())
        {
            self.skip();
            return Err(format!("its labels are not those of objects: {wrong}"));
        }
        let label = header.labels.first().copied().unwrap_or_default();
        if whole(label).is_none() && self.fraction.is_none() {
            self.fraction = Some((path.to_owned(), offset, label));
        }
        self.several += u64::from(header.labels.len() > 1);
        self.are_objects &= objects.is_ok();
        self.first.push(Some(label));
        self.all.iter_mut().for_each(|all| all.push(&header.labels));
        let objects = objects.unwrap_or_default();
        for (_, part, column) in &mut self.columns {
            match part {
                MxPart::Label => column.push(&header.labels),
                MxPart::Id => column.push(&[header.id]),
                MxPart::Boxes => column.push(objects.boxes.as_flattened()),
                MxPart::Classes => column.push(&objects.classes),
            }
        }
        Ok(())
    }

    /// Labels, classes and columns of the dataset with this name.
    ///
    /// # Errors
    /// The columns cannot be, or the user named the label, and it is not a whole number.
    pub(super) fn finish(
        mut self,
        name: &Path,
        payload: MxPayload,
    ) -> Result<(Vec<i64>, Vec<String>, Table), SourceError> {
        let wrong = |problem: String| SourceError::Columns { path: name.to_owned(), problem };
        let is_of_objects = self.columns_by_themselves(payload);
        let is_fraction = self.fraction.is_some() && self.option == Labels::Auto;
        if let Some((path, offset, label)) = self.fraction.as_ref().filter(|_| is_fraction && self.is_label_asked) {
            let problem = format!(
                "the first label of this record is {label}, which is not a whole number. Leave \"labels\" out, and name a column for all labels of a record (its part is \"label\"), or give labels=\"text\"."
            );
            return Err(SourceError::malformed_at(path, *offset, problem));
        }
        if is_fraction {
            tracing::info!(dataset = %printable(name), "labels are not whole numbers, so they are no classes: a column of the part \"label\" has them");
        }
        let has_all = self.columns.iter().any(|(_, part, _)| *part == MxPart::Label);
        let (fields, columns) = self.columns.into_iter().map(|(field, _, column)| (field, column)).unzip();
        let schema = Schema::try_new(fields).map_err(|error| wrong(format!("{error}.")))?;
        let targets = Table::try_new(schema, columns, self.first.len()).map_err(|error| wrong(format!("{error}.")))?;
        let has_none = is_fraction || is_of_objects && !self.is_label_asked;
        if payload == MxPayload::Picture || self.option == Labels::None || has_none {
            return Ok((Vec::new(), Vec::new(), targets));
        }
        if self.several > 0 && !has_all {
            tracing::warn!(dataset = %printable(name), records = self.several, "records have several labels, and the first is taken. To get all of them, name a column whose part is \"label\": columns = {{all = \"label\"}}");
        }
        if self.option != Labels::Text {
            let labels = self.first.iter().map(|label| label.and_then(whole).unwrap_or(-1));
            return Ok((labels.collect(), Vec::new(), targets));
        }
        let mut texts = TextLabels::new(Labels::Text);
        for label in self.first.iter().flatten() {
            texts.push(label.to_string().as_bytes(), 0).expect("all of them are texts");
        }
        let (values, classes) = texts.finish();
        let mut values = values.into_iter();
        let labels = self.first.iter().map(|label| label.and_then(|_| values.next()).unwrap_or(-1)).collect();
        Ok((labels, classes, targets))
    }

    /// Adds the columns that a dataset has if the user names none. Says whether its labels are those of objects.
    fn columns_by_themselves(&mut self, payload: MxPayload) -> bool {
        let Some(all) = self.all.take().filter(|_| payload == MxPayload::Image) else {
            return self.columns.iter().any(|(_, part, _)| part.is_of_objects());
        };
        let labels = |record: usize| all.value(record).numbers::<f32>(all.column_type()).unwrap_or_default();
        let of = |record: usize| MxObjects::of(&labels(record)).unwrap_or_default();
        let has_objects = || (0..all.len()).any(|record| !of(record).classes.is_empty());
        if self.are_objects && has_objects() {
            for (name, part) in BY_ITSELF {
                let mut column = Column::new(part.column_type());
                for record in 0..all.len() {
                    match part {
                        _ if all.is_null(record) => column.push_null(),
                        MxPart::Boxes => column.push(of(record).boxes.as_flattened()),
                        _ => column.push(&of(record).classes),
                    }
                }
                self.columns.push((Field::new(name, part.column_type()), part, column));
            }
            return true;
        }
        if self.fraction.is_some() && self.option == Labels::Auto {
            let is_single = (0..all.len()).all(|record| all.is_null(record) || all.value(record).items() == 1);
            let column = if is_single { singles(&all) } else { all };
            let of = column.column_type().clone();
            self.columns.push((Field::new(FRACTIONS, of), MxPart::Label, column));
        }
        false
    }
}

/// A column of lists with one number each as one of numbers.
fn singles(all: &Column) -> Column {
    let mut column = Column::new(ColumnType::scalar(ElementType::F32));
    for record in 0..all.len() {
        match all.value(record).numbers::<f32>(all.column_type()).as_deref() {
            Some(numbers @ [_]) => column.push(numbers),
            _ => column.push_null(),
        }
    }
    column
}
