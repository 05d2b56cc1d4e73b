//! Further columns of a reader's records, as a child sends them (`cells.py`). Pure, and nothing that it says is believed.

use std::collections::BTreeMap;

use forebay_children::Silence;
use forebay_columns::{Column, ColumnType, Element, ElementType, Field, Schema, Table};
use forebay_printable::printable;
use half::{bf16, f16};

/// The columns so far, by the numbers that the child gave them.
#[derive(Debug, Default)]
pub(super) struct GivenColumns {
    all: BTreeMap<u64, GivenColumn>,
    /// Records whose value does not fit its column, and why.
    wrong: BTreeMap<u64, String>,
}

#[derive(Debug)]
struct GivenColumn {
    name: String,
    column: Column,
}

/// More than a batch can have; a reader may give them all the same.
const MOST_COLUMNS: usize = 4096;

/// How a record's value begins.
const VALUE: u8 = 0;
const NULL: u8 = 1;
const WRONG: u8 = 2;

impl GivenColumns {
    /// A column begins: JSON with its number, its name and its type.
    pub(super) fn begin(&mut self, json: &[u8]) -> Result<(), Silence> {
        let (number, name, of): (u64, String, String) = serde_json::from_slice(json).map_err(|_| Silence::Garbage)?;
        let column_type: ColumnType = of.parse().map_err(|_| Silence::Garbage)?;
        let given = GivenColumn { name, column: Column::new(column_type) };
        if self.all.len() == MOST_COLUMNS || self.all.contains_key(&number) {
            return Err(Silence::Garbage);
        }
        self.all.insert(number, given);
        Ok(())
    }

    /// Values of records: the number of their column, then one after the other.
    pub(super) fn push(&mut self, body: &[u8]) -> Result<(), Silence> {
        let mut rest = Rest(body);
        let given = self.all.get_mut(&rest.count()?).ok_or(Silence::Garbage)?;
        while !rest.0.is_empty() {
            match rest.take(1)? {
                [VALUE] => value(&mut given.column, &mut rest)?,
                [NULL] => given.column.push_null(),
                [WRONG] => {
                    let len = rest.count()?;
                    let words = String::from_utf8_lossy(rest.take(len)?).into_owned();
                    let words = format!("its column \"{}\" cannot be: {words}", given.name);
                    self.wrong.entry(given.column.len() as u64).or_insert_with(|| printable(&words).to_string());
                    given.column.push_null();
                }
                _ => return Err(Silence::Garbage),
            }
        }
        Ok(())
    }

    /// The table, and the records whose values do not fit.
    ///
    /// # Errors
    /// There is no such table: a name is taken, or values are missing. The text says what is wrong.
    pub(super) fn finish(self, records: usize) -> Result<(Table, BTreeMap<u64, String>), String> {
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for GivenColumn { name, column } in self.all.into_values() {
            fields.push(Field::new(name, column.column_type().clone()));
            columns.push(column);
        }
        let schema = Schema::try_new(fields).map_err(|error| error.to_string())?;
        let table = Table::try_new(schema, columns, records).map_err(|error| error.to_string())?;
        Ok((table, self.wrong))
    }
}

/// Bytes that are not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: u64) -> Result<&'a [u8], Silence> {
        let len = usize::try_from(len).map_err(|_| Silence::Garbage)?;
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Silence::Garbage)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of four bytes.
    fn count(&mut self) -> Result<u64, Silence> {
        let bytes = self.take(4)?.try_into().map_err(|_| Silence::Garbage)?;
        Ok(u32::from_le_bytes(bytes).into())
    }
}

/// Adds a record's value: the lengths of its lists, level by level, and its numbers.
fn value(column: &mut Column, rest: &mut Rest<'_>) -> Result<(), Silence> {
    let depth = column.column_type().depth();
    let row = column.column_type().row_len() as u64;
    let mut levels: Vec<Vec<u64>> = Vec::with_capacity(depth);
    let mut items = 1;
    for _ in 0..depth {
        // Each length takes four bytes of what is there, so that memory grows only with what arrived.
        if items > rest.0.len() as u64 / 4 {
            return Err(Silence::Garbage);
        }
        let lengths = (0..items).map(|_| rest.count()).collect::<Result<Vec<_>, _>>()?;
        items = lengths.iter().sum();
        levels.push(lengths);
    }
    let bytes = items.checked_mul(row).ok_or(Silence::Garbage)?;
    let mut numbers = rest.take(bytes)?;
    if column.column_type().element() == ElementType::Bool && numbers.iter().any(|byte| *byte > 1) {
        return Err(Silence::Garbage);
    }
    if depth == 0 {
        extend(column, numbers);
        column.close(1);
        return Ok(());
    }
    let mut places = vec![0; depth];
    write(column, &levels, &mut places, 0, row, &mut numbers);
    Ok(())
}

/// Writes the next list of a level, from the inside out.
fn write(column: &mut Column, levels: &[Vec<u64>], places: &mut [usize], level: usize, row: u64, numbers: &mut &[u8]) {
    let count = levels[level][places[level]];
    places[level] += 1;
    if level + 1 == levels.len() {
        // The sum of all lengths was taken, so this is there.
        let len = usize::try_from(count * row).unwrap_or(usize::MAX).min(numbers.len());
        let (own, rest) = numbers.split_at(len);
        extend(column, own);
        *numbers = rest;
    } else {
        for _ in 0..count {
            write(column, levels, places, level + 1, row, numbers);
        }
    }
    column.close(level + 1);
}

/// Adds numbers, of which the child sends the little end first.
fn extend(column: &mut Column, bytes: &[u8]) {
    fn of<T: Element, const N: usize>(column: &mut Column, bytes: &[u8], number: fn([u8; N]) -> T) {
        let (numbers, _) = bytes.as_chunks::<N>();
        column.extend(&numbers.iter().map(|bytes| number(*bytes)).collect::<Vec<T>>());
    }
    match column.column_type().element() {
        ElementType::Bool | ElementType::U8 | ElementType::I8 => column.extend(bytes),
        ElementType::I16 => of(column, bytes, i16::from_le_bytes),
        ElementType::I32 => of(column, bytes, i32::from_le_bytes),
        ElementType::I64 => of(column, bytes, i64::from_le_bytes),
        ElementType::U16 => of(column, bytes, u16::from_le_bytes),
        ElementType::U32 => of(column, bytes, u32::from_le_bytes),
        ElementType::U64 => of(column, bytes, u64::from_le_bytes),
        ElementType::F16 => of(column, bytes, f16::from_le_bytes),
        ElementType::Bf16 => of(column, bytes, bf16::from_le_bytes),
        ElementType::F32 => of(column, bytes, f32::from_le_bytes),
        ElementType::F64 => of(column, bytes, f64::from_le_bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn given(of: &str) -> GivenColumns {
        let mut columns = GivenColumns::default();
        columns.begin(serde_json::json!([7, "c", of]).to_string().as_bytes()).unwrap();
        columns
    }

    fn frame(cells: &[u8]) -> Vec<u8> {
        [&7_u32.to_le_bytes()[..], cells].concat()
    }

    fn lengths(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn rule_55_nested_lists_nulls_and_words_become_records() {
        let mut columns = given("u8 [*][*]");
        let texts = [&[VALUE][..], &lengths(&[2, 3, 0]), b"one", &[NULL, WRONG], &lengths(&[4]), b"what"].concat();
        columns.push(&frame(&texts)).unwrap();
        columns.push(&frame(&[&[VALUE][..], &lengths(&[0])].concat())).unwrap();
        let (table, wrong) = columns.finish(4).unwrap();
        let value = |record| (table.value(0, record).is_null(), table.value(0, record).items());
        assert_eq!([0, 1, 2, 3].map(value), [(false, 2), (true, 0), (true, 0), (false, 0)]);
        assert_eq!(table.value(0, 0).bytes(), b"one");
        assert_eq!(wrong.into_iter().collect::<Vec<_>>(), [(2, "its column \"c\" cannot be: what".to_owned())]);
    }

    #[test]
    fn rule_55_what_is_no_column_is_no_answer() {
        let mut columns = given("f32 [*, 4]");
        for json in ["[7, \"c\", \"i64\"]", "[8, \"d\", \"f32 [*, 0]\"]", "[8, \"d\"]", "{"] {
            assert_eq!(columns.begin(json.as_bytes()), Err(Silence::Garbage), "{json}");
        }
        let short = [&[VALUE][..], &lengths(&[2]), &[0; 31]].concat();
        let many = [&[VALUE][..], &lengths(&[u32::MAX])].concat();
        for cells in [&short[..], &many, &[9], &[WRONG, 1, 0, 0, 0]] {
            assert_eq!(columns.push(&frame(cells)), Err(Silence::Garbage), "{cells:?}");
        }
        assert_eq!(columns.push(&8_u32.to_le_bytes()), Err(Silence::Garbage));
        assert_eq!(given("bool").push(&frame(&[VALUE, 2])), Err(Silence::Garbage));
        assert!(given("i64").finish(1).is_err(), "a column without its record");
        let mut taken = GivenColumns::default();
        taken.begin(b"[0, \"labels\", \"i64\"]").unwrap();
        assert!(taken.finish(0).unwrap_err().contains("labels"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_values_or_no_answer(
            of in prop::sample::select(vec!["i64", "bool", "u8 [*]", "f32 [*, 4]", "i16 [*][*][*, 2]", "f16 [3]"]),
            cells in prop::collection::vec(prop::sample::select(vec![0_u8, 0, 0, 1, 2, 3, 255]), 0..200),
        ) {
            let _answer = given(of).push(&frame(&cells));
        }
    }
}
