//! Tests of what trainers say of their waits, and of what is shown of a ring.

use std::sync::atomic::Ordering;
use std::time::Instant;

use forebay_ring::Number;

use super::*;

/// A trainer of a scene, and a moment after it was attached.
fn attached(scene: &Scene, id: u64) -> (Trainer, Instant) {
    (scene.attach(id), Instant::now())
}

fn says_it_waited(trainer: &Trainer, nanos: u64) {
    trainer.says(&packet(&Number { kind: MessageKind::Waited as u32, reserved: 0, value: nanos }, &[]));
}

fn leaves(scene: &Scene, trainer: &Trainer) -> u64 {
    trainer.says(&packet(&Number { kind: MessageKind::Bye as u32, reserved: 0, value: 0 }, &[]));
    scene.wait_until_no_trainer_is_there();
    scene.counters.waited.load(Ordering::Relaxed)
}

#[test]
fn what_trainers_waited_is_added_up() {
    let scene = Scene::new(|_| ());
    let mut all = 0;
    for (id, waits) in [(1, [700_000, 300_000]), (2, [1, 17])] {
        let (trainer, since) = attached(&scene, id);
        // The ring's thread may look at its clock some time after the trainer was let in.
        while since.elapsed() < Duration::from_millis(100) {
            std::hint::spin_loop();
        }
        for nanos in waits {
            says_it_waited(&trainer, nanos);
        }
        all += waits.iter().sum::<u64>();
        assert_eq!(leaves(&scene, &trainer), all);
    }
}

#[test]
fn a_trainer_is_not_believed_to_have_waited_longer_than_it_is_there() {
    let scene = Scene::new(|_| ());
    let before = Instant::now();
    let (trainer, _) = attached(&scene, 1);
    for _ in 0..50 {
        says_it_waited(&trainer, u64::MAX);
    }
    let counted = leaves(&scene, &trainer);
    assert!(counted > 0 && Duration::from_nanos(counted) <= before.elapsed(), "{counted}");
}

#[test]
fn the_status_has_the_memory_of_the_ring() {
    let scene = Scene::new(|_| ());
    let (reply, status) = oneshot::channel();
    scene.outbox.post(InboxMessage::Status(reply));
    let shape = Shape { batch: 1, height: 1, width: 1, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    let expected = Geometry::try_new(shape, 4).unwrap().total_len() as u64;
    assert_eq!(status.blocking_recv().unwrap().bytes, expected);
    assert!(expected >= 4 * (2 << 20), "a slot takes whole pages of 2 MiB");
}
