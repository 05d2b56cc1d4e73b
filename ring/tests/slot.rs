//! The right to write in a slot moves, is split and joined, and is never there twice.

use forebay_ring::{Claim, Dtype, Geometry, JoinError, Layout, Region, RegionError, Shape, SlotError, View};

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
