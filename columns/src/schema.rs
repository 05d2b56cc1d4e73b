//! The names and types of a batch's columns.

use thiserror::Error;

use crate::{ColumnType, ElementType, Role, TypeError};

/// Most columns of a batch, beside those that every batch has.
pub const MAX_COLUMNS: usize = 256;
/// Longest name of a column, in bytes.
pub const MAX_NAME: usize = 63;
/// The columns that every batch has.
pub const RESERVED: [&str; 4] = ["images", "labels", "records", "mask"];
/// The column that says which repeat of its record a place has. Only a ring whose epochs repeat records has it, as the last
/// column.
const REPEATS: &str = "repeats";
/// The columns that a stream has if it mixes pictures: the other picture's label, and the weight of `labels`.
pub const MIXED: [&str; 2] = ["mixed_labels", "mix"];
/// The columns that a stream has if its pictures are in buckets. `planned` is how many records the epoch's plan gives the step on all
/// ranks. The others are pairs of a vertical and a horizontal number: the size of the picture as it was, the size that is shown, and
/// where this begins in the picture once it was resized.
pub const BUCKETED: [&str; 4] = ["planned", "sizes", "shown", "crop"];
/// The columns that a stream has if its pictures are cut into patches. `planned` is that of [`BUCKETED`], `planned_tokens` how many
/// patches these records have, 0 if that is not known, and `grid` the rows and columns of patches of each picture.
pub const PATCHED: [&str; 3] = ["planned", "planned_tokens", "grid"];
/// The columns that a stream has if each picture has a size of its own: `planned`, and height and width of the picture as it is in the
/// batch, 0 and 0 where a place has none. They are those of [`BUCKETED`].
pub const RAGGED: [&str; 2] = ["planned", "shown"];
/// The column that a stream has if trainers want random bits for choices of their own.
pub const DRAW: &str = "draw";
/// What else a batch has a name for.
const TAKEN: [&str; 4] = ["epoch", "valid", "validity", REPEATS];

/// A named column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name: ASCII letters, digits and `_`, no digit first.
    pub name: String,
    /// Its type.
    pub column_type: ColumnType,
    /// The objects that its outermost level counts. Columns of the same objects have equal lengths there.
    pub objects: Option<String>,
    /// What its numbers are. Trainers do not see it: what is in a batch has followed its picture already.
    pub role: Role,
    /// Of keypoints: for each, the number of the one that takes its place in a mirrored picture, such as the right eye for the
    /// left one. The keypoints of an object are as many. Empty if that is not known: then each stays where it is in its list.
    pub flip: Vec<u32>,
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
        "\"{0}\" cannot be the name of a column. A name has 1 to {MAX_NAME} letters, digits and \"_\", and does not begin with a digit"
    )]
    Name(String),
    /// Every batch has a column of this name.
    #[error("the name \"{0}\" is taken: a batch has something else of this name. Give the column another one")]
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
    /// A role that a column of this type cannot have.
    #[error("the column \"{name}\" has the type {column_type}, which cannot hold {}", .role.name())]
    Role {
        /// The column.
        name: String,
        /// Its type.
        column_type: ColumnType,
        /// The role.
        role: Role,
    },
    /// Keypoints that cannot change places so.
    #[error(
        "the keypoints of the column \"{name}\" cannot change places as {flip:?} says: that must be the numbers of all keypoints \
         from 0 on, each once"
    )]
    Flip {
        /// The column.
        name: String,
        /// What was said.
        flip: Vec<u32>,
    },
    /// No column can have this type.
    #[error("the column \"{name}\": {problem}")]
    Type {
        /// The column.
        name: String,
        /// What is wrong with it.
        problem: TypeError,
    },
    /// Too many columns.
    #[error("a batch has at most {MAX_COLUMNS} columns, and these are {0}")]
    Many(usize),
}

impl Field {
    /// A column of its own.
    pub fn new(name: impl Into<String>, column_type: ColumnType) -> Self {
        Self { name: name.into(), column_type, objects: None, role: Role::Plain, flip: Vec::new() }
    }

    /// A column of these objects.
    pub fn of_objects(name: impl Into<String>, column_type: ColumnType, objects: impl Into<String>) -> Self {
        Self { objects: Some(objects.into()), ..Self::new(name, column_type) }
    }

    /// The same with a role.
    ///
    /// ```
    /// use forebay_columns::{Field, Role, Schema};
    ///
    /// let boxes = Field::of_objects("boxes", "f32 [*, 4]".parse()?, "objects").with_role(Role::Boxes);
    /// assert_eq!(Schema::try_new(vec![boxes])?.fields()[0].role, Role::Boxes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The same with keypoints that change places in a mirrored picture.
    ///
    /// ```
    /// use forebay_columns::{Field, Role, Schema};
    ///
    /// let eyes = Field::of_objects("eyes", "f32 [*, 2, 3]".parse()?, "objects").with_role(Role::Keypoints).with_flip(&[1, 0]);
    /// assert_eq!(Schema::try_new(vec![eyes])?.fields()[0].flip, [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_flip(self, flip: &[u32]) -> Self {
        Self { flip: flip.to_vec(), ..self }
    }

    /// Whether the keypoints can change places so: each number is there once, and only keypoints have such.
    fn can_flip(&self) -> bool {
        let mut sorted = self.flip.clone();
        sorted.sort_unstable();
        let is_order = (0..).zip(sorted).all(|(place, number): (u32, u32)| place == number);
        // Several objects may be in one list, each with as many keypoints.
        let fits = match *self.column_type.dims() {
            [.., count, _] => (count as usize).is_multiple_of(self.flip.len().max(1)),
            _ => true,
        };
        self.flip.is_empty() || self.role.is_of_keypoints() && is_order && fits
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
            if RESERVED.contains(&field.name.as_str()) || TAKEN.contains(&field.name.as_str()) {
                return Err(SchemaError::Reserved(field.name.clone()));
            }
            if let Some(objects) = field.objects.as_ref().filter(|objects| !is_name(objects)) {
                return Err(SchemaError::Name(objects.clone()));
            }
            if fields[..place].iter().any(|other| other.name == field.name) {
                return Err(SchemaError::Twice(field.name.clone()));
            }
            if !field.role.suits(&field.column_type) {
                let (name, column_type) = (field.name.clone(), field.column_type.clone());
                return Err(SchemaError::Role { name, column_type, role: field.role });
            }
            if !field.can_flip() {
                return Err(SchemaError::Flip { name: field.name.clone(), flip: field.flip.clone() });
            }
            if field.objects.is_some() && field.column_type.depth() == 0 {
                let (name, column_type) = (field.name.clone(), field.column_type.clone());
                return Err(SchemaError::Objects { name, column_type });
            }
        }
        Ok(Self { fields })
    }

    /// Checks the columns of a ring. The last may be the column of repeats.
    ///
    /// # Errors
    /// As [`try_new`](Self::try_new).
    pub fn of_ring(mut fields: Vec<Field>) -> Result<Self, SchemaError> {
        match fields.pop_if(|last| *last == repeats()) {
            Some(_) => Self::try_new(fields)?.with_repeats(),
            None => Self::try_new(fields),
        }
    }

    /// The same with a column of repeats behind all others.
    ///
    /// ```
    /// use forebay_columns::Schema;
    ///
    /// let schema = Schema::EMPTY.with_repeats()?;
    /// assert_eq!((schema.repeats(), schema.fields()[0].name.as_str()), (Some(0), "repeats"));
    /// assert_eq!(Schema::of_ring(schema.fields().to_vec())?, schema);
    /// # Ok::<(), forebay_columns::SchemaError>(())
    /// ```
    ///
    /// # Errors
    /// There are as many columns as there may be.
    pub fn with_repeats(mut self) -> Result<Self, SchemaError> {
        if self.fields.len() >= MAX_COLUMNS {
            return Err(SchemaError::Many(self.fields.len() + 1));
        }
        self.fields.push(repeats());
        Ok(self)
    }

    /// The same with the columns of [`MIXED`] behind the others.
    ///
    /// ```
    /// use forebay_columns::Schema;
    ///
    /// let schema = Schema::EMPTY.with_mixing()?;
    /// assert_eq!(schema.find("mix"), Some(1));
    /// # Ok::<(), forebay_columns::SchemaError>(())
    /// ```
    ///
    /// # Errors
    /// A column has one of these names, or there are as many columns as there may be.
    pub fn with_mixing(self) -> Result<Self, SchemaError> {
        let types = [ElementType::I64, ElementType::F32].map(ColumnType::scalar);
        let mixed = MIXED.into_iter().zip(types).map(|(name, of)| Field::new(name, of));
        Self::try_new(self.fields.into_iter().chain(mixed).collect())
    }

    /// The same with the columns of [`BUCKETED`] behind the others.
    ///
    /// # Errors
    /// A column has one of these names, or there are as many columns as there may be.
    pub fn with_buckets(self) -> Result<Self, SchemaError> {
        let pair = || ColumnType::try_new(ElementType::I32, 0, &[2]).expect("a pair is a row");
        let types = [ColumnType::scalar(ElementType::I64), pair(), pair(), pair()];
        let columns = BUCKETED.into_iter().zip(types).map(|(name, of)| Field::new(name, of));
        Self::try_new(self.fields.into_iter().chain(columns).collect())
    }

    /// The same with the columns of [`PATCHED`] behind the others.
    ///
    /// # Errors
    /// A column has one of these names, or there are as many columns as there may be.
    pub fn with_patches(self) -> Result<Self, SchemaError> {
        let pair = ColumnType::try_new(ElementType::I32, 0, &[2]).expect("a pair is a row");
        let types = [ColumnType::scalar(ElementType::I64), ColumnType::scalar(ElementType::I64), pair];
        let columns = PATCHED.into_iter().zip(types).map(|(name, of)| Field::new(name, of));
        Self::try_new(self.fields.into_iter().chain(columns).collect())
    }

    /// The same with the columns of [`RAGGED`] behind the others.
    ///
    /// # Errors
    /// A column has one of these names, or there are as many columns as there may be.
    pub fn with_ragged(self) -> Result<Self, SchemaError> {
        let pair = ColumnType::try_new(ElementType::I32, 0, &[2]).expect("a pair is a row");
        let types = [ColumnType::scalar(ElementType::I64), pair];
        let columns = RAGGED.into_iter().zip(types).map(|(name, of)| Field::new(name, of));
        Self::try_new(self.fields.into_iter().chain(columns).collect())
    }

    /// The same with the column [`DRAW`] behind the others.
    ///
    /// # Errors
    /// A column has this name, or there are as many columns as there may be.
    pub fn with_draw(self) -> Result<Self, SchemaError> {
        let draw = Field::new(DRAW, ColumnType::scalar(ElementType::U64));
        Self::try_new(self.fields.into_iter().chain([draw]).collect())
    }

    /// The place of the column of repeats.
    pub fn repeats(&self) -> Option<usize> {
        self.find(REPEATS)
    }

    /// The columns, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The same names and types as the daemon's side of a ring has them: what is left of the roles is which columns are
    /// masks or views, whose places are written one by one.
    #[must_use]
    pub fn for_slots(&self) -> Self {
        let role = |field: &Field| if field.role.is_of_places() { field.role } else { Role::Plain };
        let fields = self.fields.iter().map(|field| field.clone().with_role(role(field)).with_flip(&[]));
        Self { fields: fields.collect() }
    }

    /// The boxes that say which objects of this column's are shown: the first ones of the same objects. A column of boxes
    /// that belongs to no objects decides for itself.
    pub fn deciding_boxes(&self, column: usize) -> Option<usize> {
        let own = &self.fields[column];
        let decides = |place: usize, field: &Field| match &own.objects {
            Some(_) => field.objects == own.objects,
            None => place == column,
        };
        let mut fields = self.fields.iter().enumerate();
        fields.find(|(place, field)| field.role.is_of_boxes() && decides(*place, field)).map(|(place, _)| place)
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

    /// The first column whose objects this column has: itself, if there is no earlier one.
    pub fn leader(&self, column: usize) -> usize {
        let objects = &self.fields[column].objects;
        let same = |field: &Field| objects.is_some() && field.objects == *objects;
        self.fields.iter().position(same).unwrap_or(column)
    }
}

/// The column of repeats.
fn repeats() -> Field {
    Field::new(REPEATS, ColumnType::scalar(ElementType::I32))
}

/// Whether this can be the name of a column. Names are attributes of a batch in Python, so they are identifiers.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed) && !name.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests;
