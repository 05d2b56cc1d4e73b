//! Streams that cannot be opened, or whose dataset does not answer: each is alone with it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use forebay_client::{Options, Patient, PrivateDaemon, Session, Target};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::daemon::{Daemon, Home, stderr};
use crate::trainer::{Event, Trainer, next, options, records, target};

/// A list of files in which nothing is: whoever reads it waits, as for a file system that does not answer.
pub(crate) fn silent_list(home: &Home) -> PathBuf {
    let list = home.path("silent.txt");
    mknodat(CWD, &list, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    list
}

/// A table for a stream with that list.
fn silent_stream(home: &Home, name: &str, settings: &str) -> String {
    let list = silent_list(home);
    format!("[streams.{name}]\nsource = \"files:{}\"\nbatch_size = 4\nsize = 16\n{settings}\n", list.display())
}

/// The list answers those who wait for it.
fn answer(home: &Home) {
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
        assert_eq!(crate::daemon::names(&home.path("sockets")), [""; 0]);
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
