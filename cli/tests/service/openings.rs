//! Streams that cannot be opened, or whose dataset does not answer: each is alone with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use forebay_client::{AttachError, Options, Patient, PrivateDaemon, Refusal, Session, Shard, Target, text_code};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::daemon::{Daemon, Home, PATIENCE, names, stderr};
use crate::environment::scrape;
use crate::trainer::{Event, Trainer, next, options, records, target};

/// A list of files in which nothing is: whoever reads it waits, as for a file system that does not answer.
fn silent_list(home: &Home) -> PathBuf {
    let list = home.path("silent.txt");
    mknodat(CWD, &list, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    list
}

/// A table for a stream with that list.
pub(crate) fn silent_stream(home: &Home, name: &str, settings: &str) -> String {
    let list = silent_list(home);
    format!("[streams.{name}]\nsource = \"files:{}\"\nbatch_size = 4\nsize = 16\n{settings}\n", list.display())
}

/// The list answers those who wait for it.
pub(crate) fn answer(home: &Home) {
    let lines = ["pictures/0000.jpg", "pictures/0001.jpg", "pictures/0002.jpg", "pictures/0003.jpg"];
    fs::write(home.path("silent.txt"), lines.join("\n")).unwrap();
}

#[test]
fn a_dataset_that_does_not_answer_holds_up_no_other_stream() {
    let home = Home::with_pictures(8);
    home.configure(&(home.train("epochs = 1") + &silent_stream(&home, "silent", "epochs = 1")));
    let mut daemon = Daemon::spawn(home.serve_command());
    daemon.hears("the stream is open");
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>(), "while the other one opens");
    let socket = home.socket();
    let silent =
        thread::spawn(move || Session::attach(target(&socket, "silent", None), options(), &mut Patient).unwrap());
    let renewed = home.command(&["run", "new", "train"]);
    assert!(renewed.status.success(), "{}", stderr(&renewed));
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>(), "after a new run of it");
    answer(&home);
    let mut session = silent.join().unwrap();
    assert!(matches!(next(&mut session), Event::Batch(seen) if seen.own == [0, 1, 2, 3]), "it was waited for");
    session.close().unwrap();
    daemon.hears("ready");
    daemon.stop();
}

#[test]
fn rule_21_a_signal_ends_a_daemon_whose_stream_is_still_being_opened() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::with_pictures(4);
        home.configure(&silent_stream(&home, "train", ""));
        let mut daemon = Daemon::spawn(home.serve_command());
        daemon.hears("opening the stream");
        daemon.signal(signal);
        let (status, said) = daemon.ends();
        assert!(status.success(), "{status}:\n{said}");
        assert!(said.contains("without waiting for its dataset") && said.contains("train"), "{said}");
        assert_eq!(names(&home.path("sockets")), [""; 0]);
    }
}

#[test]
fn a_loader_whose_dataset_does_not_answer_holds_up_no_other_of_its_process() {
    let home = Home::with_pictures(8);
    let daemon = Arc::new(PrivateDaemon::new(env!("CARGO_BIN_EXE_forebay")));
    let attach = |source: String| {
        let settings = format!("{{\"source\": {source:?}, \"batch_size\": 4, \"size\": 16, \"epochs\": 1}}");
        let target = Target::Private { number: daemon.number(), daemon: Arc::clone(&daemon), settings, files: None };
        move |options| Session::attach(target, options, &mut Patient).unwrap()
    };
    let pictures = home.path("pictures").display().to_string();
    let mut first = attach(pictures.clone())(options());
    let silent = attach(format!("files:{}", silent_list(&home).display()));
    let silent = thread::spawn(move || silent(options()));
    // A Loader's end and the next one's beginning, the dataset of the other one being looked through all the while.
    for _ in 0..3 {
        let mut other = attach(pictures.clone())(Options { credits: 1, ..options() });
        assert!(matches!(next(&mut other), Event::Batch(_)));
        other.close().unwrap();
    }
    assert!(matches!(next(&mut first), Event::Batch(_)));
    answer(&home);
    let mut session = silent.join().unwrap();
    assert!(matches!(next(&mut session), Event::Batch(_)), "it was waited for");
}

/// A stream of this name with a source that is not there.
fn missing(home: &Home, name: &str, settings: &str) -> String {
    let source = home.path("later");
    format!("[streams.{name}]\nsource = \"{}\"\nbatch_size = 4\nsize = 16\n{settings}\n", source.display())
}

/// Streams that are not open, with the reason.
fn closed(home: &Home) -> Vec<(String, String)> {
    home.whole_status().closed.into_iter().map(|stream| (stream.name, stream.failure)).collect()
}

pub(crate) fn refusal(home: &Home, name: &str, shard: Option<Shard>) -> Refusal {
    match Session::attach(target(&home.socket(), name, None), Options { shard, ..options() }, &mut Patient) {
        Err(AttachError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stream_that_cannot_be_opened_fails_alone_and_everybody_is_told_why() {
    let home = Home::with_pictures(8);
    let group = home.stream("grouped", "unix_group = \"no-such-group\"");
    let streams = [missing(&home, "gone", ""), missing(&home, "sharded", "num_shards = 2"), group];
    home.configure(&(home.train("epochs = 1") + &streams.concat()));
    let mut daemon = Daemon::spawn(home.serve_command());
    daemon.hears("ready");
    let status = home.whole_status();
    assert!(status.ready);
    let reasons = closed(&home);
    let shown: Vec<_> = reasons.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(shown, ["gone", "grouped", "sharded"]);
    assert!(reasons[0].1.contains("later\" does not exist"), "{reasons:?}");
    assert!(reasons[1].1.contains("there is no group \"no-such-group\""), "{reasons:?}");
    assert!(reasons[2].1.contains("later\" does not exist"), "{reasons:?}");
    let shown = String::from_utf8(home.command(&["status"]).stdout).unwrap();
    assert!(shown.contains("FAILED") && shown.contains("forebay reload"), "{shown}");

    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>());
    let refused = refusal(&home, "gone", None);
    assert_eq!(refused.code, text_code::DATASET);
    assert!(refused.message.starts_with("stream \"gone\" cannot be opened: "), "{refused}");
    let refused = refusal(&home, "sharded", Some(Shard { id: 1, count: 2 }));
    assert_eq!(refused.code, text_code::DATASET);

    let until = Instant::now() + PATIENCE;
    let metrics = ["forebay_stream_up{stream=\"gone\"} 0", "forebay_stream_up{stream=\"train\"} 1"];
    while !metrics.iter().all(|line| scrape(&home).contains(line)) {
        assert!(Instant::now() < until, "{}", scrape(&home));
        thread::park_timeout(Duration::from_millis(10));
    }
    daemon.stop();
}

#[test]
fn where_no_stream_can_be_opened_the_daemon_does_not_start_and_names_each() {
    let home = Home::with_pictures(4);
    home.configure(&(missing(&home, "one", "") + &missing(&home, "two", "num_shards = 2")));
    let (code, said) = home.fails_to_start();
    assert_eq!(code, Some(1));
    let last = said.split("forebay: ").last().unwrap();
    assert!(last.contains("stream \"one\": ") && last.contains("stream \"two\": "), "{said}");
}

#[test]
fn a_reload_opens_what_is_there_by_then_and_takes_up_new_streams() {
    let home = Home::with_pictures(8);
    let old = home.train("epochs = 1") + &missing(&home, "gone", "");
    home.configure(&old);
    let mut daemon = home.start();
    let reload = |code| {
        let output = home.command(&["reload"]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output)
    };
    let said = reload(1);
    assert!(said.contains("FAILED   stream gone") && said.contains("1 streams cannot be opened"), "{said}");

    fs::rename(home.path("pictures"), home.path("later")).unwrap();
    assert!(reload(0).contains("the configuration is applied"));
    assert_eq!(closed(&home), []);
    fs::rename(home.path("later"), home.path("pictures")).unwrap();

    let next = old.replace("batch_size = 4\nsize = 16\nepochs", "batch_size = 2\nsize = 16\nepochs");
    assert_ne!(next, old);
    home.configure(&(next + &home.stream("new", "num_shards = 2")));
    let said = reload(1);
    assert!(said.contains("applied  streams.new"), "{said}");
    assert!(said.contains("REFUSED  streams.train.batch_size: the stream is open"), "{said}");
    let shard = Some(Shard { id: 0, count: 2 });
    Session::attach(target(&home.socket(), "new", None), Options { shard, ..options() }, &mut Patient).unwrap();

    home.configure("[streams.train]\nbatch = 4\n");
    assert!(reload(1).contains("streams.train.batch"));
    daemon.signal(Signal::HUP);
    daemon.hears("nothing was changed");
    home.configure(&old);
    daemon.signal(Signal::HUP);
    daemon.hears("the configuration was read again");
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>(), "it was open all the while");
}

#[test]
fn a_reload_replaces_a_source_that_does_not_answer() {
    let home = Home::with_pictures(8);
    home.configure(&silent_stream(&home, "train", "epochs = 1"));
    let mut daemon = Daemon::spawn(home.serve_command());
    daemon.hears("opening the stream");
    home.configure(&home.train("epochs = 1"));
    let reloaded = home.command(&["reload"]);
    assert!(reloaded.status.success(), "{}", stderr(&reloaded));
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>());
}

#[test]
fn rule_24_no_audit_and_no_quarantine_of_all_streams_leaves_out_one_that_is_still_being_opened() {
    let home = Home::with_pictures(8);
    home.configure(&(home.train("epochs = 1") + &silent_stream(&home, "silent", "epochs = 1")));
    let mut daemon = Daemon::spawn(home.serve_command());
    daemon.hears("the stream is open");
    for all in [&["audit"][..], &["status", "--quarantine"], &["audit", "silent"]] {
        let refused = home.command(all);
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(1), "{all:?}: {said}");
        assert!(said.contains("The stream \"silent\" is still being opened. Try again later"), "{all:?}: {said}");
    }
    let [silent] = <[_; 1]>::try_from(home.whole_status().closed).unwrap();
    assert!(silent.opening && !silent.dataset_open, "{silent:?}");
    assert!(home.command(&["audit", "train"]).status.success(), "it has nothing to do with the other one");
    answer(&home);
    daemon.hears("ready");
    let lines = home.audit();
    assert_eq!(lines.iter().filter(|line| line.starts_with("stream ")).count(), 2, "{lines:?}");
}
