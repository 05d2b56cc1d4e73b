//! A session against a scripted daemon: batches, receipts, epochs, calls, misbehaviour, and the daemon's death.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod awaited;
mod calls;
mod daemon;
mod death;
mod put_back;
mod reader;
mod sizes;
mod waiting;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use daemon::{Daemon, Log, Plan};
use forebay_client::{Batch, Broken, Next, NextError, Notice, Options, Patient, Session, Target, Watch};
use forebay_ring::{Held, MessageKind, OPTIONAL_KINDS, Pixels, packet, text, text_code};
use parking_lot::Mutex;
use tempfile::TempDir;

/// A folder with a daemon's socket, and what the daemon saw.
struct World {
    folder: TempDir,
    log: Arc<Mutex<Log>>,
}

/// Stops a wait after so many slices and keeps what it was told.
#[derive(Default)]
struct Impatient {
    slices: u32,
    notices: Vec<Notice>,
}

impl World {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), log: Arc::default() }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("forebay.sock")
    }

    fn start(&self, plan: Plan) -> Daemon {
        Daemon::start(&self.socket(), plan, &self.log)
    }

    fn target(&self) -> Target {
        Target::Stream { socket: Some(self.socket()), name: "train".to_owned(), settings: Some("{}".to_owned()) }
    }

    fn attach(&self) -> Session {
        Session::attach(self.target(), Options::default(), &mut Patient).unwrap()
    }

    fn delivered(&self, epoch: u64) -> Vec<u64> {
        let mut records = self.log.lock().delivered.get(&epoch).cloned().unwrap_or_default();
        records.sort_unstable();
        records
    }
}

impl Watch for Impatient {
    fn keep_waiting(&mut self) -> bool {
        self.slices = self.slices.saturating_sub(1);
        self.slices > 0
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}

fn batch(next: Result<Next, NextError>) -> Batch {
    match next {
        Ok(Next::Batch(batch)) => batch,
        other => panic!("{other:?}"),
    }
}

fn next(session: &mut Session) -> Result<Next, NextError> {
    session.next(Some(Duration::from_secs(20)), &mut Patient)
}

/// Own records of one epoch, as the trainer sees them.
fn epoch(session: &mut Session) -> Vec<i64> {
    let mut seen = Vec::new();
    loop {
        match next(session).unwrap() {
            Next::Batch(batch) => {
                let own = batch.records().iter().zip(batch.mask()).filter(|(_, mask)| **mask == 1);
                seen.extend(own.map(|(record, _)| *record));
            }
            Next::EpochEnd(_) | Next::Done => return seen,
        }
    }
}

#[test]
fn every_record_of_every_epoch_comes_once_with_its_pixels_and_is_acked_with_the_right_sum() {
    let world = World::new();
    let daemon = world.start(Plan::new(10, 4, 2));
    let mut session = world.attach();
    let first = batch(next(&mut session));
    assert_eq!((first.labels(), first.records(), first.valid()), (&[0, 1, 2, 3][..], &[0, 1, 2, 3][..], 4));
    assert_eq!(first.images()[12..24], [1; 12]);
    assert_eq!(epoch(&mut session), [4, 5, 6, 7, 8, 9]);
    drop(first);
    assert_eq!(epoch(&mut session), (0..10).collect::<Vec<i64>>());
    assert!(matches!(next(&mut session), Ok(Next::Done)));
    assert!(matches!(next(&mut session), Ok(Next::Done)));
    drop(session);
    daemon.stop();
    for epoch in 0..2 {
        assert_eq!(world.delivered(epoch), (0..10).collect::<Vec<u64>>());
    }
    assert_eq!(world.log.lock().wrong_sums, 0);
}

#[test]
fn rule_06_a_last_batch_shows_its_own_places_and_keeps_the_others() {
    let world = World::new();
    let _daemon = world.start(Plan::new(5, 4, 1));
    let mut session = world.attach();
    batch(next(&mut session));
    let last = batch(next(&mut session));
    assert_eq!((last.shown(), last.valid()), (1, 1));
    assert_eq!((last.records(), last.mask()), (&[4, 4, 4, 4][..], &[1, 0, 0, 0][..]));
}

#[test]
fn rule_10_a_loop_left_early_continues_in_the_same_epoch() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 2));
    let mut session = world.attach();
    drop(batch(next(&mut session)));
    assert_eq!(epoch(&mut session), [4, 5, 6, 7]);
    drop(session);
    daemon.stop();
    assert_eq!(world.delivered(0), (0..8).collect::<Vec<u64>>());
}

#[test]
fn rule_10_what_is_in_hand_at_the_end_is_given_back() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    let first = batch(next(&mut session));
    drop(first);
    session.close().unwrap();
    let mut second = world.attach();
    assert_eq!(epoch(&mut second), (0..8).collect::<Vec<i64>>());
    drop(second);
    daemon.stop();
    assert_eq!(world.log.lock().byes, 2);
}

#[test]
fn a_rejected_batch_comes_again() {
    let world = World::new();
    let _daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    let first = batch(next(&mut session));
    let decision = first.decision();
    first.reject().unwrap();
    assert!(matches!(decision.reject(), Err(Broken::Decided { .. })));
    let mut seen = epoch(&mut session);
    seen.sort_unstable();
    assert_eq!(seen, (0..8).collect::<Vec<i64>>());
}

#[test]
fn rule_11_who_holds_up_the_epoch_is_told_first_and_raised_later() {
    let world = World::new();
    let daemon = world.start(Plan::new(0, 4, 1));
    let mut session = world.attach();
    let held =
        |expired| Held { kind: MessageKind::Held as u32, pid: 77, epoch: 0, seq: 5, for_ms: 11_000, expired, len: 0 };
    daemon.say(packet(&held(0), &[]));
    daemon.say(packet(&held(1), &[]));
    let mut watch = Impatient { slices: 100, ..Impatient::default() };
    match session.next(None, &mut watch) {
        Err(NextError::EpochHeld(held)) => assert_eq!((held.pid, held.seq, held.held_for.as_secs()), (77, 5, 11)),
        other => panic!("{other:?}"),
    }
    let there = b"train-2\0gpu-7";
    let elsewhere = Held { seq: 0, len: u32::try_from(there.len()).unwrap(), ..held(1) };
    daemon.say(packet(&elsewhere, there));
    let error = next(&mut session).unwrap_err().to_string();
    assert!(error.contains("node \"train-2\" has (process 77 on host \"gpu-7\")"), "{error}");
}

#[test]
fn rule_14_views_in_every_slot_are_an_error_that_names_the_cure() {
    let world = World::new();
    let _daemon = world.start(Plan::new(100, 4, 1));
    let mut session = world.attach();
    let first = batch(next(&mut session));
    let second = batch(next(&mut session));
    let error = next(&mut session).unwrap_err();
    assert!(matches!(error, NextError::SlotsHeld { granted: 2 }) && error.to_string().contains("Options::credits"));
    assert_eq!(first.records()[0], 0, "the views are still good");
    drop(first);
    assert_eq!(batch(next(&mut session)).records()[0], 8, "the wait goes on as if nothing had been");
    drop(second);
}

#[test]
fn rule_14_a_keep_holds_the_slot_and_another_thread_may_drop_it() {
    let world = World::new();
    let daemon = world.start(Plan::new(100, 4, 1));
    let mut session = world.attach();
    let keep = batch(next(&mut session)).keep();
    drop(batch(next(&mut session)));
    drop(batch(next(&mut session)));
    assert_eq!(keep.records(), [0, 1, 2, 3]);
    std::thread::spawn(move || drop(keep)).join().unwrap();
    drop(batch(next(&mut session)));
    drop(session);
    daemon.stop();
    assert!(world.log.lock().releases.iter().any(|(seq, returned)| seq & 0xfffff == 1 && !returned));
}

#[test]
fn rule_19_a_batch_past_its_deadline_is_kept_back_until_it_is_renewed() {
    let world = World::new();
    let daemon = world.start(Plan { deadline: 1, ..Plan::new(4, 4, 1) });
    let mut session = world.attach();
    let short = Some(Duration::from_millis(300));
    for _ in 0..2 {
        assert!(matches!(session.next(short, &mut Patient), Err(NextError::Timeout { .. })));
    }
    daemon.number(MessageKind::Deadline, u64::MAX);
    assert_eq!(batch(next(&mut session)).records(), [0, 1, 2, 3]);
    // Its answer comes behind all that was asked before.
    session.state(&mut Patient).unwrap();
    assert_eq!(world.log.lock().asked_beyond, [1], "the daemon is asked once");
}

#[test]
fn rule_05_a_batch_that_is_taken_back_while_its_deadline_has_passed_is_returned_and_the_next_one_comes() {
    let world = World::new();
    let daemon = world.start(Plan { deadline: 1, ..Plan::new(8, 4, 1) });
    let mut session = world.attach();
    // Both of its credits are offers by then, and none of them may be handed out.
    session.state(&mut Patient).unwrap();
    daemon.number(MessageKind::Void, 1);
    daemon.number(MessageKind::Deadline, u64::MAX);
    assert_eq!(batch(next(&mut session)).records(), [4, 5, 6, 7]);
    session.state(&mut Patient).unwrap();
    assert_eq!(world.log.lock().releases, [(1, true)], "it goes back unread");
}

#[test]
fn a_failed_stream_says_so_at_every_call_before_what_is_queued() {
    let world = World::new();
    let daemon = world.start(Plan::new(0, 4, 1));
    let mut session = world.attach();
    daemon.say(text(MessageKind::Failed, text_code::RECORD, "record 7 (x.jpg): truncated"));
    for _ in 0..2 {
        let error = next(&mut session).unwrap_err();
        assert!(matches!(&error, NextError::Failed(refusal) if refusal.code == text_code::RECORD), "{error}");
    }
}

#[test]
fn messages_of_a_newer_daemon_that_may_be_skipped_are_and_others_end_the_connection() {
    let world = World::new();
    let daemon = world.start(Plan::new(40, 4, 1));
    let mut session = world.attach();
    for kind in [OPTIONAL_KINDS, OPTIONAL_KINDS + 99] {
        daemon.say(packet(&kind, b"what a later version says"));
    }
    assert_eq!(batch(next(&mut session)).records(), [0, 1, 2, 3]);
    daemon.say(packet(&(OPTIONAL_KINDS - 1), b"what it must not say before the two sides agree"));
    let error = loop {
        if let Err(error) = next(&mut session) {
            break error.to_string();
        }
    };
    assert!(error.contains("unknown kind 1023"), "{error}");
}

#[test]
fn all_that_the_daemon_says_to_the_user_is_passed_on_in_its_order() {
    let world = World::new();
    let daemon = world.start(Plan::new(40, 4, 1));
    let [mut session, mut other] = [world.attach(), world.attach()];
    let words = ["the ledger cannot be written", "the ledger is back", "batches 3 to 5 were missed"];
    for words in words {
        daemon.say(text(MessageKind::Notice, text_code::OTHER, words));
    }
    daemon.say(text(MessageKind::Failed, text_code::OTHER, "the end"));
    // When this one has read the end, everything waits in the other one's socket.
    while next(&mut other).is_ok() {}
    let mut watch = Impatient { slices: 100, ..Impatient::default() };
    while session.next(None, &mut watch).is_ok() {}
    let told = words.map(|words| Notice::Told(words.to_owned()));
    assert_eq!(watch.notices, told);
}

#[test]
fn pixels_that_do_not_fit_the_memory_that_they_are_said_to_stand_in_are_refused() {
    // Six slots, each with four pictures of 2 x 2 pixels.
    let (images, slots) = (48, 6);
    for (stride, total, fits) in [
        (images, slots * images, true),
        (images - 1, slots * images, false),
        (images, slots * images - 1, false),
        (u64::MAX / 2, u64::MAX, false),
    ] {
        let world = World::new();
        let _daemon = world.start(Plan { pixels: Pixels::in_gpu([7; 16], stride, total), ..Plan::new(4, 4, 1) });
        let attached = Session::attach(world.target(), Options::default(), &mut Patient);
        match attached {
            Ok(mut session) => {
                assert!(fits, "{stride} {total}");
                assert!(batch(next(&mut session)).images().is_empty(), "they are not in the slot");
            }
            Err(error) => assert!(!fits && error.to_string().contains("do not fit their memory"), "{error}"),
        }
    }
}

#[test]
fn a_ring_that_is_retired_goes_when_its_last_view_does_and_one_that_nobody_knows_is_no_word_of_a_daemon() {
    let world = World::new();
    let daemon = world.start(Plan::new(4, 4, 1));
    let mut session = world.attach();
    let keep = batch(next(&mut session)).keep();
    assert_eq!((session.rings().count(), session.ring_changes()), (1, 0));
    daemon.number(MessageKind::Retired, 0);
    while session.ring_changes() == 0 {
        session.path(0, &mut Patient).unwrap();
    }
    assert_eq!((session.rings().count(), session.ring_changes()), (0, 1));
    assert_eq!(keep.records(), [0, 1, 2, 3]);
    daemon.number(MessageKind::Retired, 0);
    let error = loop {
        if let Err(error) = session.path(0, &mut Patient) {
            break error;
        }
    };
    assert!(error.to_string().contains("ring 0 was retired, which is unknown"), "{error}");
}

#[test]
fn an_evicted_trainer_is_told_why() {
    let world = World::new();
    let daemon = world.start(Plan::new(0, 4, 1));
    let mut session = world.attach();
    daemon.say(text(MessageKind::Evict, text_code::OTHER, "it did not read its messages"));
    let error = next(&mut session).unwrap_err().to_string();
    assert!(error.contains("did not read"), "{error}");
}

#[test]
fn a_refusal_comes_with_its_code_and_reason() {
    let world = World::new();
    let _daemon = world.start(Plan { refuse: Some((text_code::SETTINGS, "batch_size: 0")), ..Plan::new(4, 4, 1) });
    let error = Session::attach(world.target(), Options::default(), &mut Patient).unwrap_err();
    assert_eq!(error.to_string(), "batch_size: 0");
}

#[test]
fn a_wait_can_be_interrupted_and_continues_later() {
    let world = World::new();
    let daemon = world.start(Plan::new(0, 4, 1));
    let mut session = world.attach();
    let interrupted = session.next(None, &mut Impatient { slices: 3, ..Impatient::default() });
    assert!(matches!(interrupted, Err(NextError::Broken(Broken::Interrupted))));
    daemon.number(MessageKind::EpochEnd, 0);
    assert!(matches!(next(&mut session), Ok(Next::EpochEnd(0))));
}

#[test]
fn where_no_daemon_listens_the_socket_is_named() {
    let world = World::new();
    let error = Session::attach(world.target(), Options::default(), &mut Patient).unwrap_err().to_string();
    assert!(error.contains("forebay.sock") && error.contains("forebay serve"), "{error}");
}
