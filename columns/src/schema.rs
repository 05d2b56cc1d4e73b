//! The names and types of a batch's columns.

use thiserror::Error;

use crate::ColumnType;

/// Most columns of a batch, beside those that every batch has.
pub const MAX_COLUMNS: usize = 256;
/// Longest name of a column, in bytes.
pub const MAX_NAME: usize = 63;
/// The columns that every batch has.
pub const RESERVED: [&str; 4] = ["images", "labels", "records", "mask"];

/// A named column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name: ASCII letters, digits and `_`, no digit first.
    pub name: String,
    /// Its type.
    pub column_type: ColumnType,
    /// The objects that its outermost level counts. Columns of the same objects have equal lengths there.
    pub objects: Option<String>,
}

/// The columns of a dataset or a batch, checked. Their order is part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    fields: Vec<Field>,
}

/// Why columns are no schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// The name has other characters, is empty or too long.
    #[error(
        "\"{0}\" cannot be the name of a column. A name has 1 to {MAX_NAME} letters, digits and \"_\", and does not begin with a digit."
    )]
    Name(String),
    /// Every batch has a column of this name.
    #[error("the name \"{0}\" is taken: every batch has a column of this name")]
    Reserved(String),
    /// Two columns of one name.
    #[error("there are two columns with the name \"{0}\"")]
    Twice(String),
    /// A dense column of objects.
    #[error("the column \"{name}\" has the type {column_type}, which cannot be a column of objects: it has no list")]
    Objects {
        /// The column.
        name: String,
        /// Its type.
        column_type: ColumnType,
    },
    /// Too many columns.
    #[error("a batch has at most {MAX_COLUMNS} columns, and these are {0}")]
    Many(usize),
}

impl Field {
    /// A column of its own.
    pub fn new(name: impl Into<String>, column_type: ColumnType) -> Self {
        Self { name: name.into(), column_type, objects: None }
    }

    /// A column of these objects.
    pub fn of_objects(name: impl Into<String>, column_type: ColumnType, objects: impl Into<String>) -> Self {
        Self { name: name.into(), column_type, objects: Some(objects.into()) }
    }
}

impl Schema {
    /// No columns.
    pub const EMPTY: Self = Self { fields: Vec::new() };

    /// Checks names and types.
    pub fn try_new(fields: Vec<Field>) -> Result<Self, SchemaError> {
        if fields.len() > MAX_COLUMNS {
            return Err(SchemaError::Many(fields.len()));
        }
        for (place, field) in fields.iter().enumerate() {
            if !is_name(&field.name) {
                return Err(SchemaError::Name(field.name.clone()));
            }
            if RESERVED.contains(&field.name.as_str()) {
                return Err(SchemaError::Reserved(field.name.clone()));
            }
            if fields[..place].iter().any(|other| other.name == field.name) {
                return Err(SchemaError::Twice(field.name.clone()));
            }
            if field.objects.is_some() && field.column_type.depth() == 0 {
                let (name, column_type) = (field.name.clone(), field.column_type.clone());
                return Err(SchemaError::Objects { name, column_type });
            }
        }
        Ok(Self { fields })
    }

    /// The columns, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The place of the column with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The first column whose objects this column has: itself, where there is no earlier one.
    pub fn leader(&self, column: usize) -> usize {
        let objects = &self.fields[column].objects;
        let same = |field: &Field| objects.is_some() && field.objects == *objects;
        self.fields.iter().position(same).unwrap_or(column)
    }
}

/// Whether this can be the name of a column. Names are attributes of a batch in Python, so they are identifiers.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed) && !name.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, column_type: &str, objects: Option<&str>) -> Field {
        Field { objects: objects.map(Into::into), ..Field::new(name, column_type.parse().unwrap()) }
    }

    #[test]
    fn columns_of_the_same_objects_have_one_leader() {
        let fields = vec![
            field("caption", "u8 [*]", None),
            field("boxes", "f32 [*, 4]", Some("objects")),
            field("area", "f32 [*]", Some("objects")),
            field("parts", "f32 [*, 4]", Some("parts")),
        ];
        let schema = Schema::try_new(fields).unwrap();
        assert_eq!([0, 1, 2, 3].map(|column| schema.leader(column)), [0, 1, 1, 3]);
        assert_eq!((schema.find("area"), schema.find("images")), (Some(2), None));
    }

    #[test]
    fn columns_that_cannot_be_are_refused_by_name() {
        let of = |fields: Vec<Field>| Schema::try_new(fields).unwrap_err();
        for name in ["", "1st", "a b", "a.b", "größe", &"x".repeat(64)] {
            assert_eq!(of(vec![field(name, "i64", None)]), SchemaError::Name(name.into()));
        }
        assert_eq!(of(vec![field("labels", "i64", None)]), SchemaError::Reserved("labels".into()));
        assert_eq!(of(vec![field("a", "i64", None), field("a", "u8", None)]), SchemaError::Twice("a".into()));
        assert!(matches!(of(vec![field("a", "i64 [2]", Some("o"))]), SchemaError::Objects { .. }));
        let many = (0..257).map(|number| field(&format!("c{number}"), "i64", None)).collect();
        assert_eq!(of(many), SchemaError::Many(257));
    }
}
