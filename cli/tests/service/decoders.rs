//! Decoders on other machines (semantics rule 60), as processes of this one: pictures are the same to the byte, wherever they are made,
//! and nothing is lost when decoders are killed or stopped.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use forebay_client::{Next, Patient};
use rustix::process::Signal;

use crate::daemon::{Daemon, Home, PATIENCE, stderr};
use crate::environment::scrape;
use crate::trainer::Trainer;

/// Random crops and mirrors, and a second view of each picture.
const STREAM: &str = "epochs = 2\nshuffle = true\nseed = 7\nviews = { small = { size = 8 } }";

/// A decoder of this test, at a socket of this name.
fn decoder(home: &Home, name: &str, root: &str) -> Daemon {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["decode", "--threads", "1", "--listen"]).arg(format!("unix:{}", home.path(name).display()));
    command.arg("--root").arg(home.path(root));
    let mut decoder = Daemon::spawn(command);
    decoder.hears("the decoder is ready");
    decoder
}

/// The section of a daemon with decoders at these sockets.
fn section(home: &Home, threads: usize, names: &[&str]) -> String {
    let mut addresses = String::new();
    for name in names {
        write!(addresses, "\"unix:{}\", ", home.path(name).display()).unwrap();
    }
    format!("[decode]\nthreads = {threads}\nremote = [{addresses}]\n")
}

/// A picture with its view, by epoch and record.
type Pixels = Vec<(u64, i64, Vec<u8>, Vec<u8>)>;

/// All that a trainer sees. `between` is called with the number of each batch.
fn pixels(home: &Home, mut between: impl FnMut(usize)) -> Pixels {
    let (mut trainer, mut all) = (Trainer::attach(home), Vec::new());
    for number in 0.. {
        let batch = match trainer.session.next(None, &mut Patient).unwrap() {
            Next::Batch(batch) => batch,
            Next::EpochEnd(_) => continue,
            Next::Done => break,
        };
        let (images, small) = (batch.images(), batch.column("small").unwrap().values().to_vec());
        let places = batch.records().len();
        for (place, record) in batch.records().iter().enumerate().take(batch.shown()) {
            let part = |bytes: &[u8]| bytes[place * bytes.len() / places..(place + 1) * bytes.len() / places].to_vec();
            all.push((batch.epoch(), *record, part(images), part(&small)));
        }
        between(number);
    }
    let audit = trainer.session.audit(&mut Patient).unwrap();
    assert!(audit.iter().all(|epoch| epoch.adds_up == Some(true)), "{audit:?}");
    all.sort();
    all
}

/// What a daemon without decoders makes.
fn alone(home: &Home) -> Pixels {
    home.configure(&home.train(STREAM));
    let daemon = home.start();
    let all = pixels(home, |_| ());
    daemon.stop();
    fs::remove_dir_all(home.path("state")).unwrap();
    all
}

#[test]
fn rule_60_one_decoder_or_three_make_the_daemons_pixels_and_the_daemon_makes_none() {
    let home = Home::with_pictures(60);
    let expected = alone(&home);
    assert_eq!(expected.len(), 120);
    let names = ["a.sock", "b.sock", "c.sock"];
    let decoders = names.map(|name| decoder(&home, name, "pictures"));
    for (threads, names) in [(0, &names[..1]), (0, &names[..]), (1, &names[..])] {
        home.configure(&(home.train(STREAM) + &section(&home, threads, names)));
        let daemon = home.start();
        assert!(pixels(&home, |_| ()) == expected, "{threads} threads, {names:?}");
        let made: u64 = home.whole_status().decoders.iter().map(|decoder| decoder.pictures).sum();
        assert!(threads > 0 || made == 0, "the daemon made {made} pictures itself");
        let told = home.status().remote;
        let states: Vec<&str> = told.iter().map(|decoder| decoder.state.as_str()).collect();
        assert_eq!(states, vec!["asked"; names.len()]);
        let asked: u64 = told.iter().map(|decoder| decoder.pictures).sum();
        assert!(if threads == 0 { asked == 120 } else { asked <= 120 }, "{told:?}");
        daemon.stop();
        fs::remove_dir_all(home.path("state")).unwrap();
    }
    for decoder in decoders {
        decoder.signal(Signal::TERM);
        let (status, said) = decoder.ends();
        assert!(status.success() && said.contains("the decoder has ended"), "{said}");
    }
}

#[test]
fn rule_60_nothing_is_lost_when_one_decoder_is_killed_and_one_is_stopped() {
    let home = Home::with_pictures(200);
    let expected = alone(&home);
    let [first, second, _third] = ["a.sock", "b.sock", "c.sock"].map(|name| decoder(&home, name, "pictures"));
    let names = ["a.sock", "b.sock", "c.sock"];
    home.configure(&(home.train(STREAM) + &section(&home, 0, &names)));
    let _daemon = home.start();
    let mut first = Some(first);
    let seen = pixels(&home, |number| match number {
        5 => first.take().unwrap().kill(),
        20 => second.signal(Signal::STOP),
        _ => {}
    });
    second.signal(Signal::CONT);
    assert!(seen == expected, "{} pictures of {}", seen.len(), expected.len());
    let audit = home.command(&["audit"]);
    assert_eq!(audit.status.code(), Some(0), "it is whole: {}", stderr(&audit));
    assert_eq!(home.status().bad, 0);
}

#[test]
fn rule_60_a_decoder_that_is_told_to_end_answers_what_it_has() {
    let home = Home::with_pictures(200);
    let expected = alone(&home);
    let [first, _second] = ["a.sock", "b.sock"].map(|name| decoder(&home, name, "pictures"));
    home.configure(&(home.train(STREAM) + &section(&home, 0, &["a.sock", "b.sock"])));
    let daemon = home.start();
    let seen = pixels(&home, |number| {
        if number == 5 {
            first.signal(Signal::TERM);
        }
    });
    assert!(seen == expected, "{} pictures of {}", seen.len(), expected.len());
    let (status, said) = first.ends();
    assert!(status.success() && said.contains("drained=true"), "{said}");
    daemon.stop();
}

#[test]
fn rule_60_a_bad_record_is_judged_by_the_daemon_itself_and_a_decoder_without_the_files_is_refused_by_name() {
    let home = Home::with_pictures(12);
    fs::write(home.picture(5), b"no picture").unwrap();
    fs::create_dir(home.path("elsewhere")).unwrap();
    let good = decoder(&home, "a.sock", "pictures");
    let mut blind = decoder(&home, "b.sock", "elsewhere");
    let settings = "epochs = 1\non_error = \"skip\"";
    home.configure(&(home.train(settings) + &section(&home, 0, &["a.sock", "b.sock"])));
    let mut daemon = home.start();
    // The stream is open as long as its trainer is attached.
    let mut trainer = Trainer::attach(&home);
    let seen: usize = trainer.epoch().iter().map(|batch| batch.own.len()).sum();
    assert_eq!(seen, 11);
    blind.has_said("a daemon's stream is refused");
    daemon.has_said("a decoder makes no pictures of this stream");
    let status = home.status();
    let [good_told, blind_told] = &status.remote[..] else { panic!("{:?}", status.remote) };
    assert_eq!(good_told.state, "asked");
    assert!(good_told.pictures + good_told.taken_back == 12 && good_told.taken_back > 0, "{good_told:?}");
    assert!(blind_told.state == "refused" && blind_told.reason.contains("cannot open the dataset"), "{blind_told:?}");
    // Metrics are read once a second.
    let until = Instant::now() + PATIENCE;
    while !scrape(&home).contains("forebay_remote_taken_back_total{decoder=") {
        assert!(Instant::now() < until, "{}", scrape(&home));
        thread::park_timeout(Duration::from_millis(50));
    }
    let quarantine = home.command(&["status", "--quarantine"]);
    let told = String::from_utf8_lossy(&quarantine.stdout).into_owned();
    assert!(told.contains("0005.jpg"), "{told}{}", stderr(&quarantine));
    good.stop();
}

#[test]
fn rule_60_without_a_decoder_a_daemon_without_threads_waits_and_continues_when_one_comes() {
    let home = Home::with_pictures(8);
    home.configure(&(home.train("epochs = 1") + &section(&home, 0, &["a.sock"])));
    let mut daemon = home.start();
    daemon.has_said("no decoder of [decode] remote makes pictures");
    let _decoder = decoder(&home, "a.sock", "pictures");
    let seen: usize = Trainer::attach(&home).epoch().iter().map(|batch| batch.own.len()).sum();
    assert_eq!(seen, 8);
}

#[test]
fn rule_60_what_decoders_do_not_make_is_refused_by_name_if_the_daemon_has_no_threads() {
    let home = Home::with_pictures(4);
    home.configure(&(home.train("cache = { keep = \"encoded\", memory = \"1mb\" }") + &section(&home, 0, &["a.sock"])));
    let (code, said) = home.fails_to_start();
    assert!(said.contains("make no pictures of a stream with a cache"), "{code:?}: {said}");
}
