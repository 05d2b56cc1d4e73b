//! Tests of static batches: every position keeps its place.

use super::*;

#[test]
fn rule_7_a_static_batch_without_one_good_record_is_black_and_claims_no_place() {
    for on_error in [OnError::Skip, OnError::Replace] {
        let mut batcher = fixed(on_error);
        (0..4).for_each(|index| bad(&mut batcher, index));
        let mut actions = actions(&mut batcher);
        let Some(Action::Publish(metadata)) = actions.pop() else { panic!("{actions:?}") };
        assert_eq!(actions[0], Action::Clear { at: (0, 0) });
        assert_eq!(
            (metadata.places.records, metadata.places.labels, metadata.valid),
            (vec![-1; 4], vec![-1; 4], 0),
            "{on_error:?}"
        );
        assert_eq!((metadata.claims, metadata.bad.len()), (vec![Claim::bare(0, 0, 4)], 4));
    }
}

#[test]
fn rule_07_a_batch_without_room_for_it_does_not_hold_up_the_one_before() {
    let mut batcher = fixed(OnError::Skip);
    good(&mut batcher, 0..3);
    assert!(batcher.needs_slot(&position(4)));
    assert_eq!(actions(&mut batcher), [], "its last record may be behind the others");
    batcher.pass(&position(4));
    assert_eq!(published(&mut batcher).1.places.records, [100, 101, 102, -1]);
}

#[test]
fn rule_07_a_position_that_comes_again_has_its_place_in_a_batch_of_its_own() {
    let mut batcher = fixed(OnError::Skip);
    let slow = place(&mut batcher, 0);
    // Its lease was lost and is granted anew while the batch is in the making.
    good(&mut batcher, 0..2);
    assert_eq!(actions(&mut batcher), []);
    batcher.outcome(slow, Ok(ORIGIN));
    assert_eq!(published(&mut batcher).1.places.records, [100, -1, -1, -1]);
    good(&mut batcher, 2..4);
    assert_eq!(published(&mut batcher).1.places.records, [100, 101, 102, 103]);
}

#[test]
fn rule_07_what_is_not_there_any_more_leaves_its_place_and_nothing_moves_up() {
    let mut batcher = fixed(OnError::Skip);
    // Records 100 and 102 are complete since an earlier daemon.
    good(&mut batcher, [1, 3]);
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [copy((0, 1), (0, 0)), copy((0, 1), (0, 2))]);
    assert_eq!((metadata.places.records, metadata.places.mask), (vec![-1, 101, -1, 103], vec![0, 1, 0, 1]));
    assert_eq!(metadata.claims, [Claim::new(0, 1, 1), Claim::new(0, 3, 1)]);
    // The end of the batch is complete: it goes out when something behind it comes, or the epoch is drained.
    good(&mut batcher, [0, 1]);
    assert_eq!(actions(&mut batcher), []);
    good(&mut batcher, [5]);
    assert_eq!(published(&mut batcher).1.places.records, [100, 101, -1, -1]);
    batcher.end(0);
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [copy((2, 1), (2, 2)), copy((2, 1), (2, 3)), copy((2, 1), (2, 0))]);
    assert_eq!((metadata.places.records, metadata.places.mask), (vec![-1, 105, 105, 105], vec![0, 1, 0, 0]));
}

#[test]
fn rule_7_skip_in_a_static_epoch_repeats_the_nearest_earlier_picture_as_no_record() {
    let mut batcher = fixed(OnError::Skip);
    good(&mut batcher, 0..2);
    bad(&mut batcher, 2);
    good(&mut batcher, 3..4);
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [copy((0, 1), (0, 2))], "the record is quarantined with its batch");
    assert_eq!(
        (metadata.places.records, metadata.places.mask, metadata.valid),
        (vec![100, 101, -1, 103], vec![1, 1, 0, 1], 3)
    );
    assert_eq!(metadata.places.labels, [7; 4]);
    assert_eq!(metadata.claims, [Claim::new(0, 0, 2), Claim::new(0, 3, 1), Claim::bare(0, 2, 1)]);
    let (locator, reason) = wrong();
    assert_eq!(metadata.bad, [BadRecord { position: position(2), locator, reason }]);
}

#[test]
fn rule_13_a_static_epoch_ends_with_copies_that_are_not_acked() {
    let mut batcher = fixed(OnError::Skip);
    good(&mut batcher, 4..6);
    assert_eq!(actions(&mut batcher), [], "a position without a record is to come");
    seat(&mut batcher, &position(6));
    batcher.bare(position(6));
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [copy((0, 1), (0, 2)), copy((0, 1), (0, 3))]);
    assert_eq!(
        (metadata.places.records, metadata.places.mask, metadata.shown),
        (vec![104, 105, 105, 105], vec![1, 1, 0, 0], 4)
    );
    assert_eq!(metadata.claims, [Claim::new(0, 4, 2), Claim::bare(1, 0, 1)]);
    assert_eq!(batcher.close(), []);
}

#[test]
fn rule_13_a_batch_of_copies_answers_for_the_position_without_a_record() {
    let mut batcher = fixed(OnError::Skip);
    let bare = Position { index: 4, ..position(6) };
    assert!(batcher.needs_slot(&bare));
    batcher.begin_fixed(&bare, &Form { positions: 1, own: 0, copies: vec![Turn::first(103); 4], empty: None });
    batcher.bare(bare);
    assert_eq!(
        actions(&mut batcher),
        [Action::Fetch { at: (0, 0), epoch: 0, turn: Turn::first(103) }],
        "once for all copies"
    );
    batcher.copying((0, 0), Turn::first(103), 7);
    batcher.outcome((0, 0), Ok(ORIGIN));
    let (_, metadata) = published(&mut batcher);
    assert_eq!((metadata.places.records, metadata.valid, metadata.shown), (vec![103; 4], 0, 4));
    assert_eq!(metadata.claims, [Claim::bare(1, 0, 1)]);
    // Under `partial` it shows nothing at all.
    batcher.begin_fixed(&bare, &Form { positions: 1, own: 0, copies: vec![], empty: None });
    batcher.bare(bare);
    let (before, metadata) = published(&mut batcher);
    assert_eq!((before.len(), metadata.shown, metadata.claims), (4, 0, vec![Claim::bare(1, 0, 1)]));
}

#[test]
fn rule_63_where_places_stay_empty_nothing_is_copied_and_no_record_is_fetched() {
    let mut batcher = fixed(OnError::Skip);
    let form = Form { positions: 3, own: 2, copies: vec![Turn::first(105); 2], empty: None }.leaving_empty();
    assert_eq!((form.places(), form.empty), (4, Some(2)));
    let [first, second] = [Position { index: 4, ..position(4) }, Position { index: 5, ..position(5) }];
    batcher.begin_fixed(&first, &form);
    let at = batcher.place(first, 7);
    batcher.outcome(at, Ok(ORIGIN));
    let at = batcher.place(second, 7);
    batcher.outcome(at, Err(wrong()));
    batcher.bare(Position { index: 6, ..position(6) });
    let (before, metadata) = published(&mut batcher);
    assert!(before.is_empty(), "neither a copy nor black: {before:?}");
    assert_eq!(
        (&metadata.places.records[..], &metadata.places.labels[..]),
        (&[104, -1, -1, -1][..], &[7, -1, -1, -1][..])
    );
    assert_eq!((&metadata.places.mask[..], metadata.valid, metadata.shown), (&[1, 0, 0, 0][..], 1, 4));
    assert_eq!(metadata.bad.len(), 1);
}

#[test]
fn rule_13_closing_gives_back_bad_records_and_positions_without_one_too() {
    let mut batcher = fixed(OnError::Skip);
    good(&mut batcher, 4..5);
    bad(&mut batcher, 5);
    assert_eq!(batcher.close(), [position(4), position(5)]);
    let mut batcher = fixed(OnError::Skip);
    let slow = place(&mut batcher, 4);
    seat(&mut batcher, &position(6));
    batcher.bare(position(6));
    assert_eq!((slow, batcher.close()), ((0, 0), vec![position(4), position(6)]));
}

#[test]
fn rule_13_a_copy_that_cannot_be_read_shows_another_picture_as_no_record() {
    let mut batcher = fixed(OnError::Fail);
    good(&mut batcher, 4..5);
    batcher.end(0);
    assert_eq!(actions(&mut batcher), [Action::Fetch { at: (0, 2), epoch: 0, turn: Turn::first(105) }]);
    batcher.outcome((0, 2), Err(wrong()));
    let (before, metadata) = published(&mut batcher);
    assert_eq!(before, [1, 2, 3].map(|place| copy((0, 0), (0, place))));
    assert_eq!(metadata.places.records, [104, -1, -1, -1]);
}

#[test]
fn rule_13_drop_acks_the_rest_of_a_static_epoch_at_its_end() {
    let mut batcher = fixed(OnError::Skip);
    batcher.drop_position(position(4));
    batcher.drop_position(position(5));
    assert_eq!(actions(&mut batcher), []);
    batcher.end(0);
    assert_eq!(actions(&mut batcher), [Action::Dropped(vec![position(4), position(5)])]);
}

#[test]
fn rule_7_a_static_stream_that_fails_quarantines_what_its_last_batches_were_to() {
    let mut batcher =
        Batcher::new(Rules { batch_size: 4, on_error: OnError::Skip, max_failures: Some(1), dynamic: None });
    bad(&mut batcher, 0);
    assert_eq!(actions(&mut batcher), []);
    bad(&mut batcher, 2);
    let actions = actions(&mut batcher);
    assert!(matches!(&actions[0], Action::Fail(_)), "{actions:?}");
    assert_eq!(actions[1..], [nack(0), nack(2)]);
    assert_eq!(batcher.close(), []);
}

#[test]
fn rule_36_a_tail_of_bad_records_alone_makes_no_batch_and_leaves_nothing() {
    let mut batcher = dynamic(OnError::Skip, LastBatchPolicy::Partial);
    bad(&mut batcher, 0);
    batcher.end_at_whole_batches(0);
    let told = actions(&mut batcher);
    let [Action::Nack(_), Action::Discard { batch: 0 }, Action::Settled { epoch: 0, tail }] = &told[..] else {
        panic!("{told:?}")
    };
    assert!(tail.is_empty());
}
