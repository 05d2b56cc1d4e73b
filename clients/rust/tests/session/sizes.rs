//! Batches whose pictures have a size of their own: each offer names it, and one that has no room is refused (semantics rule 64).

use forebay_client::{Next, Patient};

use crate::daemon::Plan;
use crate::{World, batch, next};

#[test]
fn rule_64_each_batch_has_the_places_and_the_size_that_its_offer_names() {
    let world = World::new();
    let sizes = vec![(1, 3), (2, 2), (4, 1)];
    let daemon = world.start(Plan { sizes: sizes.clone(), ..Plan::new(22, 4, 2) });
    let mut session = world.attach();
    let mut seen = Vec::new();
    let mut count = 0;
    loop {
        match next(&mut session).unwrap() {
            Next::Batch(batch) => {
                let (height, width) = sizes[count % 6 % 3];
                let places = if count % 6 == 5 { 2 } else { 4 };
                count += 1;
                let shape = batch.shape();
                assert_eq!((shape.batch, shape.height, shape.width), (places, height.into(), width.into()));
                let (labels, records, mask) = (batch.labels(), batch.records(), batch.mask());
                assert_eq!([labels.len(), records.len(), mask.len(), batch.shown()], [places as usize; 4]);
                let len = usize::from(height) * usize::from(width) * 3;
                let pixels: Vec<_> =
                    batch.images().chunks(len).map(|place| (place.len(), place[0], place[len - 1])).collect();
                let right = records.iter().map(|record| u8::try_from(*record).unwrap());
                assert_eq!(pixels, right.map(|record| (len, record, record)).collect::<Vec<_>>());
                seen.extend(records.to_vec());
                session.put_back(&batch).unwrap();
                let again = crate::batch(next(&mut session));
                assert_eq!((again.shape(), again.images()), (shape, batch.images()), "it keeps its size");
            }
            Next::EpochEnd(_) => {}
            Next::Done => break,
        }
    }
    assert_eq!(seen, (0..22).chain(0..22).collect::<Vec<i64>>());
    drop(session);
    daemon.stop();
    assert_eq!((world.delivered(1), world.log.lock().wrong_sums), ((0..22).collect::<Vec<u64>>(), 0));
}

#[test]
fn rule_64_an_offer_whose_pictures_have_no_room_in_the_slot_ends_the_session_before_a_byte_is_read() {
    for (lie, words) in [
        ((5, 1), "4 pictures of 5 x 1 pixels do not fit into a slot"),
        ((u16::MAX, u16::MAX), "do not fit into a slot"),
        ((0, 2), "have one side"),
    ] {
        let world = World::new();
        let _daemon = world.start(Plan { lie: Some(lie), ..Plan::new(8, 4, 1) });
        let mut session = world.attach();
        let said = next(&mut session).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn rule_64_a_batch_keeps_its_size_when_its_daemon_is_dead() {
    let world = World::new();
    let daemon = world.start(Plan { sizes: vec![(1, 2)], ..Plan::new(8, 4, 1) });
    let mut session = world.attach();
    let held = batch(next(&mut session));
    daemon.die();
    let _next = world.start(Plan { sizes: vec![(4, 1)], ..Plan::new(8, 4, 1) });
    let after = batch(next(&mut session));
    assert_eq!(
        ((held.shape().height, held.images().len()), (after.shape().height, after.images().len())),
        ((1, 24), (4, 48))
    );
    session.state(&mut Patient).unwrap();
}
