//! The type of a column: its values' type, and how they are nested in a record.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::ElementType;

/// Most ragged levels of a column: objects, their polygons, their points.
pub const MAX_DEPTH: usize = 3;
/// Most fixed dimensions of a column.
pub const MAX_DIMS: usize = 4;

/// The type of a column.
///
/// A column without ragged levels is *dense*: every record has the same number of values. Otherwise it is *ragged*. Each
/// `[*]` is a level whose length differs, as in Arrow's lists. The fixed dimensions are in the last brackets.
///
/// ```
/// use forebay_columns::{ColumnType, ElementType};
///
/// let boxes: ColumnType = "f32 [*, 4]".parse()?;
/// assert_eq!((boxes.element(), boxes.depth(), boxes.dims()), (ElementType::F32, 1, &[4][..]));
/// let polygons: ColumnType = "f32 [*][*][*, 2]".parse()?;
/// assert_eq!((polygons.depth(), polygons.row_values()), (3, 2));
/// # Ok::<(), forebay_columns::TypeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnType {
    element: ElementType,
    depth: usize,
    dims: Vec<u32>,
}

/// Why something is no type of a column.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypeError {
    /// The text does not have the form of a type.
    #[error(
        "\"{0}\" is not the type of a column. Examples are \"i64\", \"f32 [5]\", \"f32 [*, 4]\" and \"u8 [*][*]\"."
    )]
    Form(String),
    /// More levels than a column can have.
    #[error("a column has at most {MAX_DEPTH} ragged levels, and this one has {0}")]
    Depth(usize),
    /// More fixed dimensions than a column can have.
    #[error("a column has at most {MAX_DIMS} fixed dimensions, and this one has {0}")]
    Dims(usize),
    /// A dimension without values, or with more than a ring can hold.
    #[error("a column cannot have rows of {0:?} values")]
    Size(Vec<u32>),
}

impl ColumnType {
    /// Checks a type: `depth` ragged levels around rows with these fixed dimensions.
    pub fn try_new(element: ElementType, depth: usize, dims: &[u32]) -> Result<Self, TypeError> {
        if depth > MAX_DEPTH {
            return Err(TypeError::Depth(depth));
        }
        if dims.len() > MAX_DIMS {
            return Err(TypeError::Dims(dims.len()));
        }
        let values = dims.iter().try_fold(1_u32, |product, &dim| product.checked_mul(dim));
        if values.is_none_or(|values| values == 0 || values > 1 << 28) {
            return Err(TypeError::Size(dims.to_vec()));
        }
        Ok(Self { element, depth, dims: dims.to_vec() })
    }

    /// One value per record.
    pub fn scalar(element: ElementType) -> Self {
        Self { element, depth: 0, dims: Vec::new() }
    }

    /// A list of values per record.
    pub fn list(element: ElementType) -> Self {
        Self { element, depth: 1, dims: Vec::new() }
    }

    /// A text per record, as UTF-8: `u8 [*]`.
    pub fn text() -> Self {
        Self::list(ElementType::U8)
    }

    /// The type of one value.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// How many ragged levels it has; 0 for a dense column.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The fixed dimensions of a row. The innermost level counts rows.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// Values of one row: the product of the fixed dimensions.
    pub fn row_values(&self) -> usize {
        self.dims.iter().map(|&dim| dim as usize).product()
    }

    /// Bytes of one row.
    pub fn row_len(&self) -> usize {
        self.row_values() * self.element.size()
    }
}

impl FromStr for ColumnType {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<Self, TypeError> {
        let wrong = || TypeError::Form(text.to_owned());
        let (name, mut rest) = text.split_at(text.find([' ', '[']).unwrap_or(text.len()));
        let element = ElementType::named(name).ok_or_else(wrong)?;
        rest = rest.trim_start();
        let (mut depth, mut dims) = (0, Vec::new());
        while !rest.is_empty() {
            let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let (inside, behind) = inside.ok_or_else(wrong)?;
            let mut parts = inside.split(',').map(str::trim).peekable();
            let ragged = parts.next_if_eq(&"*").is_some();
            depth += usize::from(ragged);
            for part in parts {
                dims.push(part.parse().map_err(|_| wrong())?);
            }
            // Fixed dimensions end a type, and only the first brackets may be without a star.
            let may_continue = ragged && dims.is_empty();
            let may_stand_here = ragged || depth == 0;
            if !may_stand_here || !(may_continue || behind.is_empty()) {
                return Err(wrong());
            }
            rest = behind;
        }
        Self::try_new(element, depth, &dims)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(u32::to_string).collect();
        let dims = dims.join(", ");
        write!(f, "{}", self.element)?;
        match (self.depth, dims.is_empty()) {
            (0, true) => return Ok(()),
            (0, false) => return write!(f, " [{dims}]"),
            _ => f.write_str(" ")?,
        }
        f.write_str(&"[*]".repeat(self.depth - 1))?;
        if dims.is_empty() { f.write_str("[*]") } else { write!(f, "[*, {dims}]") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_is_no_type_is_refused() {
        for text in [
            "",
            "f33",
            "f32[",
            "f32 []",
            "f32 [4][*]",
            "f32 [*, 4][*]",
            "f32 [4][4]",
            "f32 [4, *]",
            "f32 [*] x",
            "[*]",
            "f32 [-1]",
            "f32 [*][4]",
        ] {
            assert_eq!(text.parse::<ColumnType>(), Err(TypeError::Form(text.into())));
        }
        assert_eq!("u8 [*][*][*][*]".parse::<ColumnType>(), Err(TypeError::Depth(4)));
        assert_eq!("u8 [1, 1, 1, 1, 1]".parse::<ColumnType>(), Err(TypeError::Dims(5)));
        assert_eq!("u8 [0]".parse::<ColumnType>(), Err(TypeError::Size(vec![0])));
        assert!(matches!("u8 [65536, 65536]".parse::<ColumnType>(), Err(TypeError::Size(_))));
    }

    proptest! {
        #[test]
        fn rule_45_a_type_is_read_back_from_its_text(
            number in 1_u32..14, depth in 0..=MAX_DEPTH, dims in prop::collection::vec(1_u32..6, 0..=MAX_DIMS)
        ) {
            let column = ColumnType::try_new(ElementType::from_wire(number).unwrap(), depth, &dims).unwrap();
            prop_assert_eq!(column.to_string().parse(), Ok(column));
        }
    }
}
