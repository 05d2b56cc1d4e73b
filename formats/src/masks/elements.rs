//! The types of a dataset's columns of masks, by its first masks.

use std::path::Path;

use forebay_columns::{ColumnType, ElementType, Field, Schema};
use forebay_printable::printable;
use forebay_sources::{ColumnMap, MaskColumn, SourceError};

/// Masks that are looked at for the type of a column.
pub(super) const LOOKED_AT: usize = 16;

/// Bytes of a mask that say of what type its numbers are.
pub(crate) const MASK_HEAD: usize = 32;

/// What is known so far of the columns of masks.
#[derive(Debug)]
pub(crate) struct MaskElements {
    columns: Vec<MaskElement>,
}

#[derive(Debug)]
struct MaskElement {
    name: String,
    /// What the user named for it.
    parts: String,
    element: Option<ElementType>,
    looked_at: usize,
    /// Where the latest mask was that says nothing.
    last: String,
}

impl MaskElements {
    /// The columns that the user named. Nothing is known of them.
    pub(crate) fn new(masks: &ColumnMap) -> Self {
        let column = |(name, parts): (&str, Vec<&str>)| MaskElement {
            name: name.to_owned(),
            parts: parts.join(";"),
            element: None,
            looked_at: 0,
            last: String::new(),
        };
        Self { columns: masks.targets().map(column).collect() }
    }

    /// Whether another mask of a column may help.
    pub(crate) fn wants(&self, column: usize) -> bool {
        self.columns[column].element.is_none() && self.columns[column].looked_at < LOOKED_AT
    }

    /// Looks at the beginning of a mask that is at this place.
    pub(crate) fn look(&mut self, column: usize, head: &[u8], place: impl FnOnce() -> String) {
        if !self.wants(column) {
            return;
        }
        let column = &mut self.columns[column];
        column.looked_at += 1;
        column.element = element_of_png(head);
        if column.element.is_none() {
            column.last = place();
        }
    }

    /// The columns, beside these ones.
    ///
    /// # Errors
    /// A column has no mask, or none that can be one; or two columns have one name.
    pub(crate) fn finish(self, targets: &Schema, dataset: &Path) -> Result<Vec<MaskColumn>, SourceError> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for MaskElement { name, parts, element, looked_at, last } in self.columns {
            match element {
                Some(element) => columns.push(MaskColumn { name, element }),
                None if looked_at == 0 => {
                    let expected = "what at least one record has";
                    return Err(SourceError::bad_option(&format!("masks.{name}"), &parts, expected));
                }
                None => return Err(no_element(&name, &last)),
            }
        }
        check_names(targets, &columns, dataset)?;
        Ok(columns)
    }
}

/// The type that holds the numbers of a PNG, by its head: a palette or grey of at most 8 bits, grey of 16 bits, or red, green
/// and blue as one number.
pub(super) fn element_of_png(png: &[u8]) -> Option<ElementType> {
    let head = png.strip_prefix(b"\x89PNG\r\n\x1a\n")?.first_chunk::<18>().filter(|head| head[4..8] == *b"IHDR")?;
    match (head[17], head[16]) {
        (0 | 3, 1 | 2 | 4 | 8) => Some(ElementType::U8),
        (0, 16) => Some(ElementType::U16),
        (2, 8) => Some(ElementType::I32),
        _ => None,
    }
}

/// No mask of a column says what its numbers are, and neither does the one at this place.
pub(super) fn no_element(column: &str, place: &str) -> SourceError {
    let expected = "a PNG file with a palette, with grey, or with 8 bits each of red, green and blue";
    SourceError::bad_option(&format!("masks.{column}"), &printable(place).to_string(), expected)
}

/// Refuses names that a batch cannot have beside these columns.
pub(super) fn check_names(targets: &Schema, columns: &[MaskColumn], dataset: &Path) -> Result<(), SourceError> {
    let mut fields = targets.fields().to_vec();
    fields.extend(columns.iter().map(|column| Field::new(&column.name, ColumnType::scalar(column.element))));
    let of_columns = |problem: String| SourceError::Columns { path: dataset.to_owned(), problem };
    Schema::try_new(fields).map(drop).map_err(|error| of_columns(error.to_string()))
}
