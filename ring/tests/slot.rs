//! The right to write in a slot moves, is split and joined, and is never there twice.

use forebay_columns::{Column, Field, Role, Room, Schema, Table};
use forebay_ring::{
    Claim, Dtype, Geometry, JoinError, Layout, PictureSize, Region, RegionError, Shape, SlotError, View,
};
use proptest::prelude::*;

const BATCH: u32 = 4;

fn region(slots: u32) -> Region {
    let shape = Shape { batch: BATCH, height: 5, width: 7, channels: 3, dtype: Dtype::F32, layout: Layout::Nchw };
    let region = Region::create(Geometry::try_new(shape, slots).expect("a small shape"), 9, 0).expect("a small ring");
    for slot in 0..slots {
        region.populate(slot).expect("a few megabytes");
    }
    region
}

#[test]
fn what_decode_threads_write_is_what_a_trainer_sees() {
    let region = region(2);
    let (mut frame, mut places) = region.slot(1).unwrap().split();
    std::thread::scope(|scope| {
        for place in &mut places {
            scope.spawn(|| {
                let value = u8::try_from(place.place()).unwrap() + 1;
                place.as_mut().fill(value);
            });
        }
    });
    frame.labels().copy_from_slice(&[10, 11, 12, -1]);
    frame.records().copy_from_slice(&[70, 71, 72, -1]);
    frame.mask().copy_from_slice(&[1, 1, 1, 0]);
    frame.claims()[0] = Claim::new(5, 2, 3);
    drop(frame.join(places).unwrap());

    let view = View::map(region.fd(), 9, 0).unwrap();
    let place_len = view.geometry().place_len();
    let firsts: Vec<_> = view.images(1).chunks(place_len).map(|place| (place[0], place[place_len - 1])).collect();
    assert_eq!(firsts, [(1, 1), (2, 2), (3, 3), (4, 4)]);
    assert_eq!(view.labels(1), [10, 11, 12, -1]);
    assert_eq!(view.records(1), [70, 71, 72, -1]);
    assert_eq!(view.mask(1), [1, 1, 1, 0]);
    assert_eq!(view.claims(1)[0], Claim::new(5, 2, 3));
    assert!(view.images(0).iter().all(|byte| *byte == 0), "the other slot is untouched");
}

#[test]
fn rule_45_a_trainer_sees_the_columns_that_were_written_and_nothing_beyond_them() {
    let fields = vec![
        Field::of_objects("boxes", "f32 [*, 4]".parse().unwrap(), "objects"),
        Field::of_objects("names", "u8 [*][*]".parse().unwrap(), "objects"),
        Field::new("weight", "f64".parse().unwrap()),
    ];
    let schema = Schema::try_new(fields).unwrap();
    let types = schema.fields().iter().map(|field| field.column_type.clone());
    let mut columns: Vec<Column> = types.map(Column::new).collect();
    let boxes: [&[f32]; 3] = [&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], &[], &[8.0, 8.0, 9.0, 9.0]];
    let names: [&[&str]; 3] = [&["cat", ""], &[], &["dog"]];
    for (boxes, names) in boxes.into_iter().zip(names) {
        columns[0].push(boxes);
        for name in names {
            columns[1].extend(name.as_bytes());
            columns[1].close(2);
        }
        columns[1].close(1);
    }
    columns[2].push(&[0.5_f64]);
    columns[2].push_null();
    columns[2].push(&[2.0_f64]);
    let table = Table::try_new(schema.clone(), columns, 3).unwrap();

    let shape = Shape { batch: BATCH, height: 5, width: 7, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    let geometry = Geometry::with_columns(shape, 2, schema, &table.rooms()).unwrap();
    let region = Region::create(geometry, 9, 0).unwrap();
    region.populate(1).unwrap();
    let mut slot = region.slot(1).unwrap();
    for column in 0..3 {
        let mut written = slot.frame().column(column);
        for record in [2, 1, 0] {
            written.push(&table.value(column, record)).unwrap();
        }
        written.push_null().unwrap();
    }
    drop(slot);

    let view = View::map(region.fd(), 9, 0).unwrap();
    assert_eq!(view.geometry().columns().schema(), table.schema());
    let [boxes, names, weight] = [0, 1, 2].map(|column| view.column(1, column));
    assert_eq!(boxes.offsets(1), [0, 1, 1, 3, 3]);
    assert_eq!(names.offsets(1), boxes.offsets(1), "they are of the same objects");
    assert_eq!((boxes.counts(4), names.counts(4), weight.counts(2)), (vec![4, 3], vec![4, 3, 6], vec![2]));
    assert_eq!([0, 1, 2, 3].map(|place| names.place(place)), [&b"dog"[..], b"", b"cat", b""]);
    assert_eq!(boxes.place(0).len(), 16);
    assert_eq!(weight.validity(), [1, 0, 1, 0]);
    assert_eq!(weight.place(2), 0.5_f64.to_le_bytes());
    assert_eq!(names.lists(2), [(0, &b"cat"[..]), (1, b"")]);
    assert_eq!((names.lists(1), boxes.lists(0)), (vec![], vec![(0, boxes.place(0))]));
    assert!(view.column(0, 0).counts(4).iter().skip(1).all(|rows| *rows == 0), "the other slot is untouched");
}

#[test]
fn rule_45_masks_are_written_place_by_place_and_no_one_else_writes_their_columns() {
    let mask = |name: &str, of: &str| Field::new(name, of.parse().unwrap()).with_role(Role::Mask);
    let fields =
        vec![Field::new("weight", "f64".parse().unwrap()), mask("seg", "u8 [5, 7]"), mask("ids", "i32 [5, 7]")];
    let schema = Schema::try_new(fields).unwrap();
    let shape = Shape { batch: BATCH, height: 5, width: 7, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    let region =
        Region::create(Geometry::with_columns(shape, 2, schema, &[Room::default(); 3]).unwrap(), 9, 0).unwrap();
    region.populate(1).unwrap();
    let (mut frame, mut places) = region.slot(1).unwrap().split();
    std::thread::scope(|scope| {
        for place in &mut places {
            scope.spawn(|| {
                assert_eq!(*place.place_columns(), [1, 2]);
                let number = u8::try_from(place.place()).unwrap() + 1;
                for column in [1, 2] {
                    let (validity, numbers) = place.column(column);
                    numbers.fill(number);
                    *validity = number % 2;
                }
                place.as_mut().fill(9);
            });
        }
    });
    frame.column(0).push_null().unwrap();
    for column in [1, 2] {
        let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            frame.column(column);
        }));
        assert!(taken.is_err(), "column {column} belongs to the places");
    }
    drop(frame.join(places).unwrap());
    let view = View::map(region.fd(), 9, 0).unwrap();
    for (column, len) in [(1, 35), (2, 140)] {
        let column = view.column(1, column);
        assert_eq!(column.validity(), [1, 0, 1, 0]);
        for place in 0..4 {
            let number = u8::try_from(place).unwrap() + 1;
            assert_eq!(column.place(place), vec![number; len]);
        }
    }
    assert!(view.images(1).iter().all(|byte| *byte == 9), "pixels are where they were");
}

#[test]
fn a_slot_has_one_writer_until_the_last_part_of_its_right_is_gone() {
    let region = region(1);
    let whole = region.slot(0).unwrap();
    assert_eq!(region.slot(0).unwrap_err(), SlotError::Busy(0));
    let (frame, mut places) = whole.split();
    let last = places.pop().unwrap();
    drop(frame);
    drop(places);
    assert_eq!(region.slot(0).unwrap_err(), SlotError::Busy(0), "a decode thread still has a place");
    drop(last);
    assert!(region.slot(0).is_ok());
}

#[test]
fn a_place_keeps_the_memory_alive() {
    let region = region(1);
    let (_, mut places) = region.slot(0).unwrap().split();
    let mut place = places.pop().unwrap();
    drop(places);
    drop(region);
    place.as_mut().fill(1);
}

#[test]
fn parts_join_only_when_they_are_all_of_one_right() {
    let region = region(2);
    let (frame, mut places) = region.slot(0).unwrap().split();
    let (other_frame, mut other_places) = region.slot(1).unwrap().split();
    places.swap(0, 1);
    places.push(other_places.pop().unwrap());
    let foreign = frame.join(places).unwrap_err();
    assert_eq!(foreign, JoinError::Foreign { slot: 0, place: BATCH - 1 });
    let missing = other_frame.join(other_places).unwrap_err();
    assert_eq!(missing, JoinError::Missing { slot: 1, found: 3, expected: 4 });
    let (frame, mut places) = region.slot(0).expect("the failed join gave the slot back").split();
    places.reverse();
    assert_eq!(frame.join(places).unwrap().index(), 0, "their order does not matter");
}

#[test]
fn slots_that_are_not_there_are_refused() {
    let region = region(1);
    assert_eq!(region.slot(1).unwrap_err(), SlotError::NoSlot(1));
    assert!(matches!(region.populate(1), Err(RegionError::NoSlot(1))));
}

#[test]
fn rule_64_pictures_of_a_size_of_their_own_are_one_after_the_other_and_the_next_batch_has_the_ring_s_size_again() {
    let region = region(2);
    let mut slot = region.slot(0).unwrap();
    let size = |height, width| PictureSize::of_offer(height, width).unwrap().unwrap();
    let refused = slot.set_size(size(36, 2), 2).unwrap_err().to_string();
    assert!(refused.contains("2 pictures of 36 x 2 pixels") && refused.contains("1680 bytes"), "{refused}");
    assert!(slot.set_size(size(1, 1), BATCH + 1).is_err(), "there are no more places");
    assert_eq!(slot.size(), None, "it is as it was");
    slot.set_size(size(14, 3), 3).unwrap();
    let (frame, mut places) = slot.split();
    assert_eq!(places.len(), 3);
    let len = 14 * 3 * 3 * 4;
    for place in &mut places {
        let value = u8::try_from(place.place()).unwrap() + 1;
        assert_eq!(place.as_mut().len(), len);
        place.as_mut().fill(value);
    }
    let slot = frame.join(places).unwrap();
    assert_eq!((slot.size(), slot.place(2)[0]), (Some(size(14, 3)), 3));
    drop(slot);

    let view = View::map(region.fd(), 9, 0).unwrap();
    let shape = view.geometry().sized(size(14, 3), 3).unwrap();
    let seen = &view.images(0)[..Geometry::images_len(shape)];
    assert_eq!(seen.chunks(len).map(|place| (place[0], place[len - 1])).collect::<Vec<_>>(), [(1, 1), (2, 2), (3, 3)]);
    assert!(view.images(0)[seen.len()..].iter().chain(view.images(1)).all(|byte| *byte == 0), "and nothing beyond");
    let again = region.slot(0).unwrap();
    assert_eq!((again.size(), again.place(3).len()), (None, view.geometry().place_len()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Batches of any sizes, one after the other in the same slots. What is written of one changes no byte of another slot, and none
    /// of its own slot's labels.
    #[test]
    fn rule_64_batches_of_any_size_in_one_slot_after_another_are_read_as_they_were_written(
        batches in prop::collection::vec((0..2_u32, 0..12_u16, 0..12_u16, 0..BATCH + 2), 1..24),
    ) {
        let region = region(2);
        let view = View::map(region.fd(), 9, 0).unwrap();
        let mut right: [Vec<u8>; 2] = [vec![], vec![]];
        for (number, (index, height, width, places)) in batches.into_iter().enumerate() {
            let mut slot = region.slot(index).unwrap();
            slot.frame().labels().fill(i64::try_from(number).unwrap());
            let (mut count, mut shape) = (BATCH, view.geometry().shape());
            if let Ok(Some(size)) = PictureSize::of_offer(height, width) {
                let room = view.geometry().sized(size, places);
                prop_assert_eq!(slot.set_size(size, places).is_ok(), room.is_ok());
                if let Ok(sized) = room {
                    (count, shape) = (places, sized);
                }
            }
            let (frame, mut all) = slot.split();
            prop_assert_eq!(all.len(), count as usize);
            let byte = |place: u32, at: usize| (number * 31 + place as usize * 7 + at * 3).to_le_bytes()[0];
            let mut written = Vec::new();
            for place in &mut all {
                let number = place.place();
                let pixels = place.as_mut();
                (0..).zip(&mut *pixels).for_each(|(at, pixel)| *pixel = byte(number, at));
                written.extend_from_slice(pixels);
            }
            drop(frame.join(all).unwrap());
            prop_assert_eq!(written.len(), Geometry::images_len(shape));
            right[index as usize] = written;
            for (index, right) in (0..).zip(&right) {
                prop_assert_eq!(&view.images(index)[..right.len()], &right[..]);
            }
            prop_assert_eq!(view.labels(index), [i64::try_from(number).unwrap(); BATCH as usize]);
        }
    }
}
