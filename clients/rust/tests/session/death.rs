//! The daemon's death (semantics rule 16): what was consumed stays consumed, what is held stays readable, and only
//! what nobody saw comes again.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use forebay_client::{
    Broken, CallError, Next, NextError, Notice, Options, Patient, PrivateDaemon, Session, Target, Watch,
};
use forebay_ring::{Listener, Socket, inherited};

use crate::daemon::{Daemon, Plan, serve_parent};
use crate::{Impatient, World, batch, epoch, next};

#[test]
fn rule_16_the_next_batch_comes_from_the_next_daemon_and_no_record_twice() {
    let world = World::new();
    let first_daemon = world.start(Plan::new(20, 4, 1));
    let mut session = world.attach();
    let mut seen = batch(next(&mut session)).records().to_vec();
    let in_hand = batch(next(&mut session));
    seen.extend(in_hand.records());
    first_daemon.die();
    let second_daemon = world.start(Plan::new(20, 4, 1));
    seen.extend(epoch(&mut session));
    assert_eq!(seen, (0..20).collect::<Vec<i64>>());
    assert_eq!(in_hand.records(), [4, 5, 6, 7], "memory of the dead daemon stays readable");
    drop((in_hand, session));
    second_daemon.stop();

    let log = world.log.lock();
    let resumed: Vec<u32> = log.resumed.iter().map(|item| item.held).collect();
    assert_eq!(resumed, [0, 0], "asking for the next batch had consumed both");
    assert_eq!(log.wrong_sums, 0);
}

#[test]
fn rule_16_a_batch_held_over_the_death_is_resumed_and_acked_later() {
    let world = World::new();
    let first_daemon = world.start(Plan::new(12, 4, 1));
    let mut session = world.attach();
    let in_hand = batch(next(&mut session));
    first_daemon.die();
    let second_daemon = world.start(Plan::new(12, 4, 1));
    // A call reaches the new daemon while the batch is still in hand.
    session.state(&mut Patient).unwrap();
    assert_eq!(world.log.lock().resumed.iter().map(|item| item.held).collect::<Vec<_>>(), [1]);
    assert!(world.delivered(0).is_empty(), "nobody has acked it");
    in_hand.ack().unwrap();
    assert_eq!(epoch(&mut session), (4..12).collect::<Vec<i64>>());
    drop((in_hand, session));
    second_daemon.stop();
    let log = world.log.lock();
    assert_eq!(log.delivered[&0].iter().filter(|record| **record < 4).count(), 4);
    assert_eq!(log.wrong_sums, 0);
}

#[test]
fn rule_16_an_offer_of_a_dead_daemon_is_not_handed_out() {
    let world = World::new();
    let first_daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    // Wait until offers stand in the socket, then let their daemon die.
    session.state(&mut Patient).unwrap();
    first_daemon.die();
    let mut watch = Impatient { slices: 5, ..Impatient::default() };
    let interrupted = session.next(None, &mut watch);
    assert!(interrupted.is_err(), "{interrupted:?}");
    assert!(matches!(watch.notices[0], Notice::DaemonLost { .. }));
    let _second_daemon = world.start(Plan::new(8, 4, 1));
    assert_eq!(epoch(&mut session), (0..8).collect::<Vec<i64>>());
}

#[test]
fn rule_16_an_attempt_to_come_back_that_was_interrupted_continues_and_tells_what_was_decided_meanwhile() {
    let world = World::new();
    let first_daemon = world.start(Plan::new(12, 4, 1));
    let mut session = world.attach();
    let in_hand = batch(next(&mut session));
    first_daemon.die();
    // The next daemon has its socket, but takes its time to answer.
    let listener = Listener::bind(&world.socket(), 0o600).unwrap();
    for _ in 0..3 {
        let interrupted = session.state(&mut Impatient { slices: 3, ..Impatient::default() });
        assert!(matches!(interrupted, Err(CallError::Broken(Broken::Interrupted))), "{interrupted:?}");
    }
    in_hand.ack().unwrap();
    let second_daemon = Daemon::serve(listener, Plan::new(12, 4, 1), &world.log);
    assert_eq!(epoch(&mut session), (4..12).collect::<Vec<i64>>());
    drop((in_hand, session));
    second_daemon.stop();
    assert_eq!(world.delivered(0), (0..12).collect::<Vec<u64>>());
    let log = world.log.lock();
    assert_eq!(log.resumed.iter().map(|item| item.held).collect::<Vec<_>>(), [1], "it was held when it was handed in");
    assert_eq!(log.attached, 2, "the trainer waited for the daemon that it had asked");
}

/// Gives up once, and is patient after that: a signal is raised once.
struct Once {
    slices: u32,
}

impl Watch for Once {
    fn keep_waiting(&mut self) -> bool {
        self.slices = self.slices.wrapping_sub(1);
        self.slices != 0
    }

    fn notice(&mut self, _: &Notice) {}
}

#[test]
fn a_signal_while_the_next_daemon_takes_its_time_is_an_interruption_and_no_outage() {
    let world = World::new();
    let first_daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    first_daemon.die();
    let listener = Listener::bind(&world.socket(), 0o600).unwrap();
    let interrupted = session.next(None, &mut Once { slices: 2 });
    assert!(matches!(interrupted, Err(NextError::Broken(Broken::Interrupted))), "{interrupted:?}");
    let _second_daemon = Daemon::serve(listener, Plan::new(8, 4, 1), &world.log);
    assert_eq!(epoch(&mut session), (0..8).collect::<Vec<i64>>());
}

#[test]
fn rule_16_a_daemon_that_does_not_come_back_is_an_outage_and_views_stay() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 1));
    let options = Options { reconnect_timeout: Duration::from_millis(200), ..Options::default() };
    let mut session = Session::attach(world.target(), options, &mut Patient).unwrap();
    let in_hand = batch(next(&mut session));
    daemon.die();
    let error = next(&mut session).unwrap_err();
    assert!(matches!(error, NextError::Outage { .. }), "{error}");
    assert_eq!(in_hand.records(), [0, 1, 2, 3]);
}

/// Counts how often it is told that the daemon is gone.
#[derive(Default)]
struct Losses(u32);

impl Watch for Losses {
    fn keep_waiting(&mut self) -> bool {
        true
    }

    fn notice(&mut self, notice: &Notice) {
        self.0 += u32::from(matches!(notice, Notice::DaemonLost { .. }));
    }
}

#[test]
fn rule_16_a_caller_whose_calls_are_short_is_told_of_the_outage_too() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 1));
    // The next daemon has as long to answer at the end.
    let options = Options { reconnect_timeout: Duration::from_secs(2), ..Options::default() };
    let mut session = Session::attach(world.target(), options, &mut Patient).unwrap();
    daemon.die();
    let mut losses = Losses::default();
    let mut calls = (0..1000).map(|_| session.next(Some(Duration::from_millis(10)), &mut losses));
    let last = calls.find(|outcome| !matches!(outcome, Err(NextError::Timeout { .. })));
    assert!(matches!(last, Some(Err(NextError::Outage { .. }))), "{last:?}");
    assert_eq!(losses.0, 1, "it is told once that the daemon is gone");
    let _next_daemon = world.start(Plan::new(8, 4, 1));
    assert_eq!(epoch(&mut session), (0..8).collect::<Vec<i64>>());
}

#[test]
fn rule_16_a_request_after_a_wait_that_was_given_up_reaches_the_next_daemon() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 1));
    let mut session = world.attach();
    let first = batch(next(&mut session)).keep();
    daemon.die();
    // So long a wait is told to the daemon, and there is none.
    let waited = session.next(Some(Duration::from_millis(150)), &mut Patient);
    assert!(matches!(waited, Err(NextError::Timeout { .. })), "{waited:?}");
    drop(first);
    let _next_daemon = world.start(Plan::new(8, 4, 1));
    session.state(&mut Patient).unwrap();
    assert_eq!(epoch(&mut session), [4, 5, 6, 7]);
}

#[test]
fn rule_10_a_wait_that_was_given_up_has_begun_the_epoch_even_if_no_daemon_was_there() {
    let world = World::new();
    let daemon = world.start(Plan::new(8, 4, 2));
    let mut session = world.attach();
    daemon.die();
    let waited = session.next(Some(Duration::from_millis(150)), &mut Patient);
    assert!(matches!(waited, Err(NextError::Timeout { .. })), "{waited:?}");
    let _next_daemon = world.start(Plan::new(8, 4, 2));
    session.reset(&mut Patient).unwrap();
    assert_eq!(world.log.lock().resets, [0]);
}

#[test]
fn rule_16_a_private_daemon_that_is_killed_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let [draft, binary] = ["draft", "forebay"].map(|name| folder.path().join(name));
    let this = std::env::current_exe().unwrap();
    // The command line is the daemon's; the test binary is told by its own arguments to play the daemon.
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = 'serve --private --socket-fd 0' ] || exit 9\nexec '{}' --ignored --exact death::play_the_private_daemon >/dev/null\n",
        this.display()
    );
    std::fs::write(&draft, script).unwrap();
    // Another process writes what is run: a child that another test starts meanwhile would keep our descriptor until it
    // runs its program, and a file that somebody writes cannot be run ("text file busy").
    let installed = Command::new("install").args(["-m", "700"]).arg(draft).arg(&binary).status().unwrap();
    assert!(installed.success(), "{installed}");

    let daemon = Arc::new(PrivateDaemon::new(binary));
    let target = Target::Private {
        daemon: Arc::clone(&daemon),
        number: daemon.number(),
        settings: "{}".to_owned(),
        files: None,
    };
    let mut session = Session::attach(target, Options::default(), &mut Patient).unwrap();
    let mut seen = batch(next(&mut session)).records().to_vec();
    for _ in 0..3 {
        let pid = rustix::process::Pid::from_raw(daemon.pid().unwrap().cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        seen.extend(batch(next(&mut session)).records());
    }
    seen.extend(epoch(&mut session));
    seen.sort_unstable();
    assert_eq!(seen, (0..40).collect::<Vec<i64>>());
    assert!(matches!(next(&mut session), Ok(Next::Done)));
}

#[test]
#[ignore = "a part of the test above, in a process of its own"]
fn play_the_private_daemon() {
    let parent = Socket::from_fd(inherited(0).unwrap()).unwrap();
    serve_parent(&parent, Plan::new(40, 4, 1));
}
