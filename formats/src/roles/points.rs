//! Points: numbers in twos or threes, in as many lists as the column has around them.

use forebay_columns::{Column, ColumnType, ElementType, MAX_DEPTH};

use super::nest::{Nest, is_fraction, numbers};
use crate::faults::Faults;
use crate::numbers::single;

/// How the points of a column are kept.
struct PointLayout {
    /// Numbers of a point.
    width: usize,
    /// Lists around the numbers, the innermost of which may be the point itself.
    lists: usize,
    /// Every innermost list is one point.
    is_paired: bool,
}

impl PointLayout {
    /// Ragged levels of the column that they become.
    fn levels(&self) -> usize {
        self.lists - usize::from(self.is_paired)
    }
}

/// The column of points with so many numbers each.
///
/// # Errors
/// No column can have them. The text says why.
pub(super) fn convert(
    column: &Column,
    width: usize,
    in_fractions: bool,
    faults: &mut Faults,
) -> Result<Column, String> {
    let of = column.column_type();
    if of.dims().last().is_some_and(|last| *last as usize == width) {
        return Ok(as_it_is(column, width, in_fractions, faults));
    }
    let layout = layout(column, width, faults);
    let row = [u32::try_from(width).expect("a point has few numbers")];
    let levels = layout.levels();
    if levels > MAX_DEPTH {
        return Err(format!("its points are within {levels} lists, and a column has at most {MAX_DEPTH}"));
    }
    let of = ColumnType::try_new(ElementType::F32, levels, &row).map_err(|error| error.to_string())?;
    let mut points = Column::new(of);
    for record in 0..column.len() {
        if column.is_null(record) || faults.has(record as u64) {
            points.push_null();
            continue;
        }
        let nest = Nest::of(column, record)?;
        match check(&nest, &layout, 1, in_fractions) {
            Ok(()) => push(&nest, &layout, 1, &mut points),
            Err(wrong) => {
                faults.add(record as u64, &wrong);
                points.push_null();
            }
        }
    }
    Ok(points)
}

/// The same lists with other numbers in them: their last dimension is a point already.
fn as_it_is(column: &Column, width: usize, in_fractions: bool, faults: &mut Faults) -> Column {
    let of = column.column_type();
    for record in (0..column.len()).filter(|record| !column.is_null(*record)) {
        let values: Vec<f64> = numbers(of.element(), column.value(record).bytes()).collect();
        if let Some(wrong) = values.chunks(width).find_map(|point| wrong_point(point, in_fractions)) {
            faults.add(record as u64, &wrong);
        }
    }
    let singles = numbers(of.element(), column.bytes()).map(|number| single(number).unwrap_or_default());
    let bytes = singles.flat_map(f32::to_le_bytes).collect();
    let offsets = (1..=of.depth()).map(|level| column.offsets(level).to_vec()).collect();
    let nulls = (0..column.len()).map(|record| column.is_null(record)).collect::<Vec<_>>();
    let nulls = if nulls.contains(&true) { nulls } else { Vec::new() };
    let of = ColumnType::try_new(ElementType::F32, of.depth(), of.dims())
        .expect("a column has this type but for its numbers");
    Column::try_from_parts(of, offsets, bytes, nulls, column.len()).expect("only the numbers are others")
}

/// How the records keep their points. The first one that has some decides, and others that differ are bad.
fn layout(column: &Column, width: usize, faults: &mut Faults) -> PointLayout {
    let (mut lists, mut is_paired) = (None, true);
    for record in (0..column.len()).filter(|record| !column.is_null(*record)) {
        let nest = match Nest::of(column, record) {
            Ok(nest) => nest,
            Err(wrong) => {
                faults.add(record as u64, &wrong);
                continue;
            }
        };
        let Some(own) = depth(&nest) else { continue };
        let first = *lists.get_or_insert(own);
        if own == first {
            is_paired &= all_are(&nest, width);
        } else {
            faults.add(
                record as u64,
                &format!("its points are within {own} lists, and those of earlier records within {first}"),
            );
        }
    }
    let lists = lists.unwrap_or(1).max(1);
    PointLayout { width, lists, is_paired: is_paired && lists > 1 }
}

/// How many lists are around the numbers. Nothing if there is no number.
fn depth(nest: &Nest) -> Option<usize> {
    match nest {
        Nest::Number(_) => Some(0),
        Nest::List(items) => items.iter().find_map(depth).map(|inner| inner + 1),
    }
}

/// Whether each list of numbers has so many.
fn all_are(nest: &Nest, width: usize) -> bool {
    match nest {
        Nest::Number(_) => true,
        Nest::List(items) if items.iter().any(|item| matches!(item, Nest::Number(_))) => items.len() == width,
        Nest::List(items) => items.iter().all(|item| all_are(item, width)),
    }
}

/// Finds what is wrong with the lists of a record.
fn check(nest: &Nest, layout: &PointLayout, level: usize, in_fractions: bool) -> Result<(), String> {
    let Nest::List(items) = nest else { return Err("it has a number where a list of points is wanted".into()) };
    if level < layout.levels() {
        return items.iter().try_for_each(|item| check(item, layout, level + 1, in_fractions));
    }
    let width = layout.width;
    let points = flat(items, layout).ok_or("it has lists and numbers side by side")?;
    if !points.len().is_multiple_of(width) {
        return Err(format!("it has {} numbers in a list, and a point has {width}", points.len()));
    }
    points.chunks(width).find_map(|point| wrong_point(point, in_fractions)).map_or(Ok(()), Err)
}

fn wrong_point(point: &[f64], in_fractions: bool) -> Option<String> {
    if point.iter().any(|number| single(*number).is_none()) {
        return Some("a point has a number that does not fit into f32".into());
    }
    let is_outside = in_fractions && !point.iter().copied().all(is_fraction);
    is_outside.then(|| format!("a point is at {point:?}, which are no fractions of a picture's size"))
}

/// The numbers of an innermost list of points.
fn flat(items: &[Nest], layout: &PointLayout) -> Option<Vec<f64>> {
    if layout.is_paired {
        let points: Option<Vec<Vec<f64>>> = items.iter().map(Nest::numbers).collect();
        return Some(points?.concat());
    }
    let number = |item: &Nest| match item {
        Nest::Number(number) => Some(*number),
        Nest::List(_) => None,
    };
    items.iter().map(number).collect()
}

/// Adds the lists of a record, which are right.
fn push(nest: &Nest, layout: &PointLayout, level: usize, points: &mut Column) {
    if let Nest::List(items) = nest {
        if level < layout.levels() {
            for item in items {
                push(item, layout, level + 1, points);
            }
        } else {
            let numbers = flat(items, layout).unwrap_or_default();
            points.extend(&numbers.into_iter().filter_map(single).collect::<Vec<f32>>());
        }
    }
    points.close(level);
}
