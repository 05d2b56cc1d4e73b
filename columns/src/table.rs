//! The columns of all records of a dataset.

use thiserror::Error;

use crate::{Column, Role, Room, Schema, Value};

/// The columns of a dataset, beside pictures and labels: one value per record in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    schema: Schema,
    columns: Vec<Column>,
}

/// Why columns are no table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// A column of another number of records.
    #[error("the column \"{name}\" has {found} records, and the dataset has {expected}")]
    Records {
        /// The column.
        name: String,
        /// Its records.
        found: usize,
        /// The dataset's.
        expected: usize,
    },
    /// Columns of the same objects that do not agree.
    #[error("the columns \"{first}\" and \"{second}\" belong to the same objects, but have different numbers of them")]
    Objects {
        /// A column.
        first: String,
        /// The other one.
        second: String,
    },
}

impl Table {
    /// No columns.
    pub const EMPTY: Self = Self { schema: Schema::EMPTY, columns: Vec::new() };

    /// Checks that every column has as many records as the dataset, and that columns of the same objects agree.
    ///
    /// # Panics
    /// The columns are not those of the schema.
    pub fn try_new(schema: Schema, columns: Vec<Column>, records: usize) -> Result<Self, TableError> {
        let types = columns.iter().map(Column::column_type);
        assert!(types.eq(schema.fields().iter().map(|field| &field.column_type)), "the columns of the schema");
        for (place, (field, column)) in schema.fields().iter().zip(&columns).enumerate() {
            let (name, found) = (&field.name, column.len());
            if found != records {
                return Err(TableError::Records { name: name.clone(), found, expected: records });
            }
            let leader = schema.leader(place);
            if !column.has_the_objects_of(&columns[leader]) && leader != place {
                let first = schema.fields()[leader].name.clone();
                return Err(TableError::Objects { first, second: name.clone() });
            }
        }
        Ok(Self { schema, columns })
    }

    /// The names and types of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The columns, in the schema's order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The schema and the columns themselves.
    pub fn into_parts(self) -> (Schema, Vec<Column>) {
        (self.schema, self.columns)
    }

    /// What a record has in a column.
    ///
    /// # Panics
    /// There is no such column or record.
    pub fn value(&self, column: usize, record: usize) -> Value<'_> {
        self.columns[column].value(record)
    }

    /// The columns of the first records.
    ///
    /// # Panics
    /// There are fewer records.
    #[must_use]
    pub fn first(&self, records: usize) -> Self {
        Self { schema: self.schema.clone(), columns: self.columns.iter().map(|column| column.first(records)).collect() }
    }

    /// What the longest record takes in each column.
    pub fn rooms(&self) -> Vec<Room> {
        self.columns.iter().map(Column::room).collect()
    }

    /// Gives `update` bytes that differ whenever two tables differ.
    pub fn digest(&self, update: &mut dyn FnMut(&[u8])) {
        update(&(self.columns.len() as u64).to_le_bytes());
        for (field, column) in self.schema.fields().iter().zip(&self.columns) {
            for text in [Some(&field.name), field.objects.as_ref()].into_iter().flatten() {
                update(text.as_bytes());
                update(&[0]);
            }
            // Plain columns have the digest that they had before there were roles.
            if field.role != Role::Plain {
                update(b"\x01");
                update(field.role.name().as_bytes());
                update(&[0]);
            }
            if !field.flip.is_empty() {
                update(b"\x02");
                field.flip.iter().for_each(|number| update(&number.to_le_bytes()));
            }
            column.digest(update);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Field;

    fn digest(field: Field) -> Vec<u8> {
        let mut column = Column::new(field.column_type.clone());
        column.push(&[1.0_f32, 2.0, 3.0, 4.0]);
        let table = Table::try_new(Schema::try_new(vec![field]).unwrap(), vec![column], 1).unwrap();
        let mut bytes = Vec::new();
        table.digest(&mut |more| bytes.extend_from_slice(more));
        bytes
    }

    #[test]
    fn a_role_is_part_of_the_digest_and_a_column_without_one_has_the_digest_of_its_values() {
        let field = || Field::of_objects("boxes", "f32 [*, 4]".parse().unwrap(), "objects");
        let plain = digest(field());
        let mut expected = [&1_u64.to_le_bytes()[..], b"boxes\0objects\0f32 [*, 4]\0", &1_u64.to_le_bytes()].concat();
        for number in [1_u64, 0, 1, u64::MAX] {
            expected.extend(number.to_le_bytes());
        }
        expected.extend([1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|value| value.to_le_bytes()));
        assert_eq!(plain, expected);
        assert_ne!(digest(field().with_role(Role::Boxes)), plain);
        let keypoints = |flip: &[u32]| {
            let field = Field::new("eyes", "f32 [*, 2, 3]".parse().unwrap()).with_role(Role::Keypoints).with_flip(flip);
            let table = Table::try_new(
                Schema::try_new(vec![field]).unwrap(),
                vec![Column::new("f32 [*, 2, 3]".parse().unwrap())],
                0,
            );
            let mut bytes = Vec::new();
            table.unwrap().digest(&mut |more| bytes.extend_from_slice(more));
            bytes
        };
        assert_ne!(keypoints(&[1, 0]), keypoints(&[]));
    }
}
