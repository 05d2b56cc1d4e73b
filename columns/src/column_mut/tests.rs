//! Columns against a model: nested vectors, which are written into a column, copied into a batch, and read back.

use proptest::prelude::*;

use super::*;
use crate::{Column, Room, ValueBuf};

/// A record of `[*][*][*, 2]`; `None` is a null.
type Record = Option<Vec<Vec<Vec<[i16; 2]>>>>;

fn records() -> impl Strategy<Value = Vec<Record>> {
    let points = prop::collection::vec(any::<[i16; 2]>(), 0..4);
    let polygons = prop::collection::vec(points, 0..4);
    let objects = prop::collection::vec(polygons, 0..4);
    prop::collection::vec(prop::option::weighted(0.8, objects), 1..6)
}

fn column(records: &[Record]) -> Column {
    let mut column = Column::new("i16 [*][*][*, 2]".parse().unwrap());
    for record in records {
        let Some(objects) = record else {
            column.push_null();
            continue;
        };
        for object in objects {
            for polygon in object {
                column.extend(polygon.as_flattened());
                column.close(3);
            }
            column.close(2);
        }
        column.close(1);
    }
    column
}

/// Memory for a batch.
struct Memory {
    column_type: ColumnType,
    validity: Vec<u8>,
    offsets: [Vec<i64>; 3],
    values: Vec<u8>,
}

impl Memory {
    fn new(places: usize, room: Room) -> Self {
        let lists = |level: usize| places * usize::try_from(room.0[level]).unwrap();
        let offsets = [vec![-1; places + 1], vec![-1; lists(0) + 1], vec![-1; lists(1) + 1]];
        let column_type = "i16 [*][*][*, 2]".parse().unwrap();
        Self { column_type, validity: vec![9; places], offsets, values: vec![9; lists(2) * 4] }
    }

    fn column(&mut self) -> ColumnMut<'_> {
        let [first, second, third] = &mut self.offsets;
        ColumnMut::new(&self.column_type, &mut self.validity, [first, second, third], &mut self.values)
    }

    /// What stands in a place, by the meaning of offsets alone.
    fn record(&self, place: usize) -> Record {
        let lists = |level: usize, list: usize| {
            let at = |index: usize| usize::try_from(self.offsets[level][index]).unwrap();
            at(list)..at(list + 1)
        };
        let number = |at: usize| i16::from_le_bytes([self.values[at], self.values[at + 1]]);
        let point = |row: usize| [number(row * 4), number(row * 4 + 2)];
        let polygon = |list: usize| lists(2, list).map(point).collect();
        let object = |list: usize| lists(1, list).map(polygon).collect();
        let objects = lists(0, place).map(object).collect();
        (self.validity[place] == 1).then_some(objects)
    }
}

proptest! {
    #[test]
    fn rule_45_what_is_written_into_a_column_is_read_from_a_batch(records in records()) {
        let column = column(&records);
        prop_assert_eq!(column.len(), records.len());
        let mut memory = Memory::new(records.len(), column.room());
        let mut batch = memory.column();
        for record in 0..records.len() {
            batch.push(&column.value(record)).unwrap();
        }
        let read: Vec<Record> = (0..records.len()).map(|place| memory.record(place)).collect();
        prop_assert_eq!(read, records);
    }

    #[test]
    fn rule_45_an_object_that_is_left_out_is_gone_from_all_levels(records in records(), kept in any::<u8>()) {
        let column = column(&records);
        let mut memory = Memory::new(records.len(), column.room());
        let (mut batch, mut copy) = (memory.column(), ValueBuf::default());
        let keep = |object: usize| kept >> object & 1 == 1;
        for record in 0..records.len() {
            copy.copy(&column.value(record), column.column_type(), keep);
            copy.each(|[x, y]: [i16; 2]| [y, x]);
            batch.push(&copy.value()).unwrap();
        }
        let read: Vec<Record> = (0..records.len()).map(|place| memory.record(place)).collect();
        let swapped = |polygon: Vec<[i16; 2]>| polygon.into_iter().map(|[x, y]| [y, x]).collect();
        let expected = records.into_iter().map(|record: Record| {
            let objects = record?.into_iter().enumerate().filter(|(object, _)| keep(*object));
            Some(objects.map(|(_, polygons)| polygons.into_iter().map(swapped).collect()).collect())
        });
        prop_assert_eq!(read, expected.collect::<Vec<Record>>());
    }

    #[test]
    fn rule_46_a_record_without_room_is_refused_and_leaves_the_batch_as_it_was(records in records()) {
        let column = column(&records);
        let longest = column.room();
        let short = Room([longest.0[0], longest.0[1], longest.0[2].saturating_sub(1)]);
        let mut memory = Memory::new(1, short);
        let refused: Vec<bool> = (0..records.len())
            .map(|record| memory.column().push(&column.value(record)).is_err())
            .collect();
        let beyond: Vec<bool> = (0..records.len())
            .map(|record| !short.holds(&column.value(record).room(column.column_type())))
            .collect();
        prop_assert_eq!(&refused, &beyond);
        let mut batch = memory.column();
        for record in 0..records.len() {
            if batch.push(&column.value(record)).is_ok() {
                break;
            }
        }
        let fits = records.iter().zip(beyond).find(|(_, beyond)| !beyond).map(|(record, _)| record.clone());
        prop_assert!(fits.is_none_or(|record| memory.record(0) == record));
    }

    #[test]
    fn columns_can_be_joined(first in records(), second in records()) {
        let mut joined = column(&first);
        joined.append(&column(&second));
        prop_assert_eq!(joined, column(&[first, second].concat()));
    }
}

#[test]
fn a_dense_column_has_one_row_in_each_place() {
    let column_type: ColumnType = "f32 [2]".parse().unwrap();
    let mut column = Column::new(column_type.clone());
    column.push(&[1.0_f32, 2.0]);
    column.push_null();
    let (mut validity, mut values) = ([9; 3], [9; 24]);
    let mut batch = ColumnMut::new(&column_type, &mut validity, [&mut [], &mut [], &mut []], &mut values);
    batch.push(&column.value(1)).unwrap();
    batch.push(&column.value(0)).unwrap();
    batch.push_null().unwrap();
    assert_eq!(validity, [0, 1, 0]);
    let floats: Vec<f32> = values.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    assert_eq!(floats, [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
}
