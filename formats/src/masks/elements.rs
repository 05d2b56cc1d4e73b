//! The types of a dataset's columns of masks, by its first masks.

use std::path::Path;

use forebay_columns::{ColumnType, ElementType, Field, Schema};
use forebay_printable::printable;
use forebay_sources::{ColumnMap, MaskColumn, SourceError};

/// Masks that are looked at for the type of a column.
pub(super) const LOOKED_AT: usize = 16;

/// Bytes of a mask that say of what type its numbers are: the head of a PNG, or of an array of `NumPy`.
pub(crate) const MASK_HEAD: usize = 128;

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

    /// A column of which no mask was seen, and what the user named for it.
    pub(crate) fn without_mask(&self) -> Option<(&str, &str)> {
        self.columns.iter().find(|column| column.looked_at == 0).map(|column| (&*column.name, &*column.parts))
    }

    /// Looks at the beginning of a mask that is at this place.
    pub(crate) fn look(&mut self, column: usize, head: &[u8], place: impl FnOnce() -> String) {
        if !self.wants(column) {
            return;
        }
        let column = &mut self.columns[column];
        column.looked_at += 1;
        column.element = element_of_mask(head);
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

/// The type that holds the numbers of a mask, by its head.
pub(super) fn element_of_mask(head: &[u8]) -> Option<ElementType> {
    element_of_png(head).or_else(|| element_of_array(head))
}

/// A palette or grey of at most 8 bits, grey of 16 bits, or red, green and blue as one number.
fn element_of_png(png: &[u8]) -> Option<ElementType> {
    let head = png.strip_prefix(b"\x89PNG\r\n\x1a\n")?.first_chunk::<18>().filter(|head| head[4..8] == *b"IHDR")?;
    match (head[17], head[16]) {
        (0 | 3, 1 | 2 | 4 | 8) => Some(ElementType::U8),
        (0, 16) => Some(ElementType::U16),
        (2, 8) => Some(ElementType::I32),
        _ => None,
    }
}

/// Bytes or bools, numbers of 16 bits without a sign, or other whole numbers. An array of `NumPy` begins with its type.
fn element_of_array(npy: &[u8]) -> Option<ElementType> {
    let header = String::from_utf8_lossy(npy.strip_prefix(b"\x93NUMPY")?).into_owned();
    let (_, of) = header.split_once("'descr':")?;
    let of = of.trim_start().strip_prefix('\'')?;
    match of.split('\'').next()?.trim_start_matches(['<', '>', '|', '=']) {
        "u1" | "b1" | "?" => Some(ElementType::U8),
        "u2" => Some(ElementType::U16),
        "i1" | "i2" | "i4" | "i8" | "u4" | "u8" => Some(ElementType::I32),
        _ => None,
    }
}

/// No mask of a column says what its numbers are, and neither does the one at this place.
pub(super) fn no_element(column: &str, place: &str) -> SourceError {
    let expected = "a PNG file with a palette, with grey, or with 8 bits each of red, green and blue, or an array of NumPy with \
                    whole numbers";
    SourceError::bad_option(&format!("masks.{column}"), &printable(place).to_string(), expected)
}

/// Refuses names that a batch cannot have beside these columns.
pub(super) fn check_names(targets: &Schema, columns: &[MaskColumn], dataset: &Path) -> Result<(), SourceError> {
    let mut fields = targets.fields().to_vec();
    fields.extend(columns.iter().map(|column| Field::new(&column.name, ColumnType::scalar(column.element))));
    let of_columns = |problem: String| SourceError::Columns { path: dataset.to_owned(), problem };
    Schema::try_new(fields).map(drop).map_err(|error| of_columns(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masks::tests::png;
    use crate::npy::tests::npy;

    #[test]
    fn rule_45_the_head_of_a_mask_says_which_numbers_it_has() {
        for (of, element) in [
            ("|u1", Some(ElementType::U8)),
            ("|b1", Some(ElementType::U8)),
            (">u2", Some(ElementType::U16)),
            ("|i1", Some(ElementType::I32)),
            ("<i8", Some(ElementType::I32)),
            ("<u4", Some(ElementType::I32)),
            ("<f4", None),
            ("|O", None),
        ] {
            let file = npy(of, false, "(1, 2)", &[0; 16]);
            assert_eq!(element_of_mask(&file[..MASK_HEAD.min(file.len())]), element, "{of}");
        }
        let of_png = |bits, colours| element_of_mask(&png(bits, colours, ""));
        assert_eq!([of_png(16, 0), of_png(8, 2), of_png(8, 6)], [Some(ElementType::U16), Some(ElementType::I32), None]);
        for head in [&b""[..], b"\x93NUMPY", b"\x93NUMPY\x01\0v\0{'descr': [('a', 'u1')]", b"\xff\xd8\xff"] {
            assert_eq!(element_of_mask(head), None, "{head:?}");
        }
    }
}
