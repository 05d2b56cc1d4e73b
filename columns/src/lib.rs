//! Columns: what a batch has beside its pictures, such as boxes, captions and further labels (semantics rule 45).
//!
//! A [`Schema`] names the columns and gives each a [`ColumnType`]. A [`Table`] has the values of a whole dataset, record by
//! record. [`ColumnMut`] writes the values of a batch into memory that the caller laid out. This crate does no I/O.
#![forbid(unsafe_code)]

mod column;
mod column_mut;
mod column_type;
mod element;
mod role;
mod room;
mod schema;
mod table;
mod value;
mod value_buf;

pub use column::Column;
pub use column_mut::{ColumnMut, Full};
pub use column_type::{ColumnType, MAX_DEPTH, MAX_DIMS, TypeError};
pub use element::{Element, ElementType};
pub use role::Role;
pub use room::Room;
pub use schema::{BUCKETED, DRAW, Field, MAX_COLUMNS, MAX_NAME, MIXED, PATCHED, RAGGED, RESERVED, Schema, SchemaError};
pub use table::{Table, TableError};
pub use value::Value;
pub use value_buf::ValueBuf;
