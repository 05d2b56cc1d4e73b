//! Tests of what trainers are told of bad records, and of a run that is over.

use forebay_proto::Turn;

use super::*;
use crate::handover::BadPlace;

fn progress(floor: u64) -> InboxMessage {
    InboxMessage::Progress(Progress { floor, drained: floor, generation: 0, failed: false })
}

fn bad(scene: &Scene, epoch: u64, record: u64) {
    let (turn, reason) = (Turn::first(record), format!("record {record} (x.jpg): it is empty"));
    scene.outbox.post(InboxMessage::Batch(Handover::Bad { epoch, turn, reason, place: BadPlace::Next }));
}

/// The next words for the user, or the end of an epoch.
fn next(trainer: &Trainer) -> String {
    trainer.hears(|message| match message {
        Message::Notice(_, words) => Some(words.to_string()),
        Message::EpochEnd(epoch) => Some(format!("end of {epoch}")),
        _ => None,
    })
}

#[test]
fn trainers_hear_of_the_first_bad_record_and_of_an_epoch_s_number_before_its_end() {
    let scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    for record in [7, 9, 11] {
        bad(&scene, 0, record);
    }
    bad(&scene, 1, 7);
    scene.outbox.post(progress(1));
    let first = next(&trainer);
    assert!(first.contains("record 7 (x.jpg): it is empty"), "{first}");
    assert_eq!(next(&trainer), "epoch 0: 3 bad records were left out");
    assert_eq!(next(&trainer), "end of 0");
    scene.outbox.post(progress(2));
    assert_eq!([next(&trainer), next(&trainer)], ["epoch 1: 1 bad record was left out", "end of 1"]);
}

#[test]
fn a_trainer_that_attaches_after_the_first_bad_record_hears_of_it() {
    let scene = Scene::new(|_| ());
    for record in [7, 9] {
        bad(&scene, 0, record);
    }
    for id in [1, 2] {
        let trainer = scene.attach(id);
        let first = next(&trainer);
        assert!(first.contains("record 7 (x.jpg): it is empty"), "{first}");
    }
}

#[test]
fn a_stream_that_fails_at_a_bad_record_says_it_once() {
    let scene = Scene::new(|_| ());
    let trainer = scene.attach(1);
    scene.outbox.post(InboxMessage::Batch(Handover::Failed("record 7 is bad".into())));
    bad(&scene, 0, 7);
    scene.outbox.post(InboxMessage::Tell { words: "so far".into(), lasting: false });
    assert_eq!(next(&trainer), "so far");
}
