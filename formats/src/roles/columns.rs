//! The columns of a table with the roles that were given to them.

use forebay_columns::{Column, ColumnType, ElementType, Field, Role, Schema, Table};

use super::nest::{Nest, is_fraction};
use super::{BoxFormat, GivenRole, points};
use crate::faults::Faults;

/// What columns of the same objects belong to.
const OBJECTS: &str = "objects";

/// The table with these roles of its columns, and the records whose values do not have them. Those have no value in the
/// columns of objects.
///
/// # Errors
/// A column cannot have its role.
pub(super) fn with_roles(table: Table, roles: &[Option<GivenRole>]) -> Result<(Table, Faults), String> {
    let mut faults = Faults::default();
    let (mut fields, mut columns) = (Vec::with_capacity(roles.len()), Vec::with_capacity(roles.len()));
    let (schema, given) = table.into_parts();
    let records = given.first().map_or(0, Column::len);
    // Each column is freed as soon as the new one is there.
    for ((field, column), role) in schema.fields().iter().zip(given).zip(roles) {
        let mut own = Faults::default();
        let (role, converted) = match role {
            Some(GivenRole::Boxes(format)) => (format.role(), Ok(boxes(&column, *format, &mut own))),
            Some(GivenRole::Points { fractions }) => {
                let role = if *fractions { Role::FractionPoints } else { Role::Points };
                (role, points::convert(&column, 2, *fractions, &mut own))
            }
            Some(GivenRole::Keypoints) => (Role::Keypoints, points::convert(&column, 3, false, &mut own)),
            Some(GivenRole::Objects | GivenRole::Nothing) | None => (field.role, Ok(column)),
        };
        let converted = converted.map_err(|wrong| format!("\"{}\" cannot have its role: {wrong}.", field.name))?;
        for record in 0..records as u64 {
            if let Some(wrong) = own.get(record) {
                faults.add(record, &format!("its column \"{}\": {wrong}", field.name));
            }
        }
        fields.push(Field { column_type: converted.column_type().clone(), role, ..field.clone() });
        columns.push(converted);
    }
    group(&mut fields, &columns, roles, &mut faults)?;
    for (field, column) in fields.iter().zip(&mut columns) {
        if !faults.is_empty() && (field.objects.is_some() || field.role != Role::Plain) {
            *column = without(column, &faults);
        }
    }
    let schema = Schema::try_new(fields).map_err(|error| format!("{error}."))?;
    let table = Table::try_new(schema, columns, records);
    Ok((table.map_err(|error| format!("{error}."))?, faults))
}

/// Says which columns have a value for each box.
///
/// A list that has as many values as there are boxes, in every record, has one for each of them. If a box is dropped, because
/// it is no longer in its picture, its values must be dropped too.
fn group(
    fields: &mut [Field],
    columns: &[Column],
    roles: &[Option<GivenRole>],
    faults: &mut Faults,
) -> Result<(), String> {
    let declared = |place: usize| roles[place] == Some(GivenRole::Objects);
    let leader = (0..fields.len()).find(|place| fields[*place].role.is_of_boxes());
    let Some(leader) = leader.or_else(|| (0..fields.len()).find(|place| declared(*place))) else { return Ok(()) };
    if columns[leader].column_type().depth() == 0 {
        return Err(format!("\"{}\" has no list, so it has no values of objects.", fields[leader].name));
    }
    let objects = fields[leader].objects.get_or_insert_with(|| OBJECTS.to_owned()).clone();
    for place in (0..fields.len()).filter(|place| *place != leader) {
        let is_list = columns[place].column_type().depth() > 0 && *columns[place].column_type() != ColumnType::text();
        let is_open = fields[place].objects.is_none() && roles[place] != Some(GivenRole::Nothing);
        if declared(place) {
            if !is_list {
                return Err(format!("\"{}\" has no list, so it has no values of objects.", fields[place].name));
            }
            for record in differing(&columns[leader], &columns[place], faults) {
                let [boxes, own] = [leader, place].map(|place| columns[place].value(record).items());
                let (name, other) = (&fields[place].name, &fields[leader].name);
                faults.add(
                    record as u64,
                    &format!("its column \"{name}\" has {own} values, and \"{other}\" has {boxes}"),
                );
            }
        } else if !is_open || !is_list || !differing(&columns[leader], &columns[place], faults).is_empty() {
            continue;
        }
        fields[place].objects = Some(objects.clone());
    }
    Ok(())
}

/// Good records in which two columns have different numbers of items.
fn differing(first: &Column, second: &Column, faults: &Faults) -> Vec<usize> {
    let good = (0..first.len()).filter(|record| !faults.has(*record as u64));
    good.filter(|record| first.value(*record).items() != second.value(*record).items()).collect()
}

/// The boxes of a column as corners.
fn boxes(column: &Column, format: BoxFormat, faults: &mut Faults) -> Column {
    let mut boxes = Column::new(ColumnType::try_new(ElementType::F32, 1, &[4]).expect("a box has four sides"));
    for record in 0..column.len() {
        if column.is_null(record) {
            boxes.push_null();
            continue;
        }
        match Nest::of(column, record).and_then(|nest| corners(&nest, format)) {
            Ok(corners) => boxes.push(corners.as_flattened()),
            Err(wrong) => {
                faults.add(record as u64, &wrong);
                boxes.push_null();
            }
        }
    }
    boxes
}

/// The corners of a record's boxes, which are lists of four numbers, or one list with all their numbers.
fn corners(nest: &Nest, format: BoxFormat) -> Result<Vec<[f32; 4]>, String> {
    let Nest::List(items) = nest else { return Err("it is a number, and a box has four".into()) };
    let numbers = if let Some(numbers) = nest.numbers() {
        numbers
    } else {
        let four = |item: &Nest| item.numbers().filter(|numbers| numbers.len() == 4);
        let each: Option<Vec<Vec<f64>>> = items.iter().map(four).collect();
        each.ok_or("it has a list that is not the four numbers of a box")?.concat()
    };
    let (each, rest) = numbers.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(format!("it has {} numbers, and a box has four", numbers.len()));
    }
    each.iter().map(|numbers| corner(*numbers, format)).collect()
}

fn corner(numbers: [f64; 4], format: BoxFormat) -> Result<[f32; 4], String> {
    let Some(corners) = format.corners(numbers) else {
        return Err(format!("the box {numbers:?} ends before it begins, or has a number that does not fit into f32"));
    };
    let is_outside = format.role() == Role::FractionBoxes && !corners.iter().all(|side| is_fraction(f64::from(*side)));
    if is_outside {
        return Err(format!(
            "the box {numbers:?} is not in fractions of the picture's size. If the boxes are in pixels, say so with the \
             option roles.COLUMN"
        ));
    }
    Ok(corners)
}

/// So many boxes that all could be corners are corners: of this many widths, some are less than their left sides.
const MANY: usize = 200;

/// Whether all boxes of a column may be left, top, right and bottom, and are so many that this is no chance.
pub(super) fn are_corners(column: &Column) -> bool {
    let mut found = 0;
    for record in 0..column.len() {
        match Nest::of(column, record).and_then(|nest| corners(&nest, BoxFormat::CORNERS)) {
            Ok(corners) => found += corners.len(),
            Err(_) => return false,
        }
    }
    found >= MANY
}

/// The same column without the values of these records.
fn without(column: &Column, faults: &Faults) -> Column {
    let is_good = |record: usize| !faults.has(record as u64);
    let of = column.column_type();
    let at = |offset: i64| usize::try_from(offset).expect("offsets count what is in memory");
    let nulls = (0..column.len()).map(|record| column.is_null(record) || !is_good(record)).collect();
    if of.depth() == 0 {
        let mut bytes = column.bytes().to_vec();
        for (record, row) in bytes.chunks_exact_mut(of.row_len()).enumerate().filter(|(record, _)| !is_good(*record)) {
            debug_assert!(record < column.len(), "a row is a record's");
            row.fill(0);
        }
        return Column::try_from_parts(of.clone(), Vec::new(), bytes, nulls, column.len()).expect("as many rows");
    }
    let ends = column.offsets(1);
    let mut kept: Vec<_> = (0..column.len()).map(|record| at(ends[record])..at(ends[record + 1])).collect();
    let mut offsets = vec![vec![0_i64]];
    for (record, items) in kept.iter_mut().enumerate() {
        if !is_good(record) {
            *items = items.start..items.start;
        }
        let end = offsets[0][record] + i64::try_from(items.len()).expect("what is in memory can be counted");
        offsets[0].push(end);
    }
    for level in 2..=of.depth() {
        let ends = column.offsets(level);
        let mut own = vec![0_i64];
        for item in kept.iter().cloned().flatten() {
            own.push(own.last().copied().unwrap_or(0) + ends[item + 1] - ends[item]);
        }
        offsets.push(own);
        kept = kept.into_iter().map(|items| at(ends[items.start])..at(ends[items.end])).collect();
    }
    let row = of.row_len();
    let bytes = kept.into_iter().flat_map(|rows| &column.bytes()[rows.start * row..rows.end * row]).copied().collect();
    Column::try_from_parts(of.clone(), offsets, bytes, nulls, column.len()).expect("whole lists were left out")
}
