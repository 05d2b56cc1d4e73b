//! The labels and columns of `MXNet`'s image headers.

use std::path::Path;

use forebay_columns::{Column, ColumnType, ElementType, Field, Schema, Table};
use forebay_sources::{Labels, Options, SourceError};

use super::MxPayload;
use super::frame::ImageHeader;
use crate::example::gather::whole;
use crate::label_column::Column as TextLabels;

/// The labels and columns so far.
#[derive(Debug)]
pub(super) struct MxLabels {
    option: Labels,
    /// The first label of each record; nothing for a damaged one.
    first: Vec<Option<i64>>,
    columns: Vec<(Field, MxPart, Column)>,
}

/// What becomes a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MxPart {
    /// All labels of a record.
    Label,
    Id,
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
            let (part, column_type) = match parts[..] {
                ["label"] => (MxPart::Label, ColumnType::list(ElementType::F32)),
                ["id"] => (MxPart::Id, ColumnType::scalar(ElementType::U64)),
                _ => {
                    let (key, value) = (format!("columns.{name}"), parts.join(";"));
                    return Err(SourceError::bad_option(&key, &value, "\"label\" or \"id\""));
                }
            };
            columns.push((Field::new(name, column_type.clone()), part, Column::new(column_type)));
        }
        Ok(Self { option: options.labels, first: Vec::new(), columns })
    }

    /// A damaged record.
    pub(super) fn skip(&mut self) {
        self.first.push(None);
        self.columns.iter_mut().for_each(|(_, _, column)| column.push_null());
    }

    /// The next record.
    ///
    /// # Errors
    /// Its first label is not a whole number, and labels are wanted.
    pub(super) fn push(&mut self, header: &ImageHeader, (path, offset): (&Path, u64)) -> Result<(), SourceError> {
        let label = header.labels.first().copied().unwrap_or_default();
        let integer = whole(label);
        if integer.is_none() && self.option != Labels::None {
            let problem = format!(
                "the first label of this record is {label}, which is not a whole number. Give labels=\"none\", and name a column for all labels of a record (its part is \"label\")."
            );
            return Err(SourceError::malformed_at(path, offset, problem));
        }
        self.first.push(integer);
        for (_, part, column) in &mut self.columns {
            match part {
                MxPart::Label => column.push(&header.labels),
                MxPart::Id => column.push(&[header.id]),
            }
        }
        Ok(())
    }

    /// Labels, classes and columns of the dataset with this name.
    ///
    /// # Errors
    /// The columns cannot be.
    pub(super) fn finish(self, name: &Path, payload: MxPayload) -> Result<(Vec<i64>, Vec<String>, Table), SourceError> {
        let wrong = |problem: String| SourceError::Columns { path: name.to_owned(), problem };
        let (fields, columns) = self.columns.into_iter().map(|(field, _, column)| (field, column)).unzip();
        let schema = Schema::try_new(fields).map_err(|error| wrong(format!("{error}.")))?;
        let targets = Table::try_new(schema, columns, self.first.len()).map_err(|error| wrong(format!("{error}.")))?;
        if payload == MxPayload::Picture || self.option == Labels::None {
            return Ok((Vec::new(), Vec::new(), targets));
        }
        if self.option != Labels::Text {
            return Ok((self.first.iter().map(|label| label.unwrap_or(-1)).collect(), Vec::new(), targets));
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
}
