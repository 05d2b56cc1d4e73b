//! Files that cannot be decoded, by policy, over a service.

use std::fs;

use forebay_client::{NextError, Patient};
use forebay_ring::text_code;

use crate::daemon::{Home, stderr};
use crate::trainer::{Event, Puppet, Trainer, records};

/// Twelve records of which two are damaged: 5 is cut in its middle, 10 is a text.
fn damaged() -> Home {
    let home = Home::with_pictures(12);
    let whole = fs::read(home.picture(5)).unwrap();
    fs::write(home.picture(5), &whole[..whole.len() / 2]).unwrap();
    fs::write(home.picture(10), "this is no picture").unwrap();
    home
}

/// What `forebay status --quarantine` lists, without its head.
fn quarantine(home: &Home) -> Vec<String> {
    let output = home.command(&["status", "--quarantine"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

fn assert_both_are_listed(home: &Home) {
    let listed = quarantine(home);
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert!(
        listed[0].contains("record 5") && listed[0].contains("0005.jpg") && listed[0].contains("runcated"),
        "{listed:?}"
    );
    assert!(listed[1].contains("record 10") && listed[1].contains("0010.jpg"), "{listed:?}");
}

#[test]
fn rule_07_skip_fills_the_place_with_the_next_record_and_lists_the_bad_one() {
    let home = damaged();
    let _daemon = home.serve("epochs = 1\non_error = \"skip\"");
    let mut trainer = Trainer::attach(&home);
    let seen = trainer.epoch();
    // Which good record comes into the place depends on how far the others were when the bad one was found.
    assert_eq!(records(&seen), [0, 1, 2, 3, 4, 6, 7, 8, 9, 11]);
    assert_eq!(seen.iter().map(|seen| seen.records.len()).collect::<Vec<_>>(), [4, 4, 2], "no hole but at the end");
    assert_both_are_listed(&home);
    let audit = trainer.session.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].delivered, audit[0].quarantined, audit[0].adds_up), (10, 2, Some(true)));
    let own: Vec<u64> = trainer.session.quarantine(&mut Patient).unwrap().iter().map(|bad| bad.record).collect();
    assert_eq!(own, [5, 10]);
    home.audit();
}

#[test]
fn rule_07_replace_shows_a_good_record_of_the_batch_in_its_place_and_does_not_count_it() {
    let home = damaged();
    let _daemon = home.serve("epochs = 1\non_error = \"replace\"");
    let mut trainer = Trainer::attach(&home);
    let seen = trainer.epoch();
    let shown: Vec<Vec<i64>> = seen.iter().map(|seen| seen.records.clone()).collect();
    assert_eq!(shown, [vec![0, 1, 2, 3], vec![4, 4, 6, 7], vec![8, 9, 9, 11]]);
    assert_eq!(records(&seen), [0, 1, 2, 3, 4, 6, 7, 8, 9, 11]);
    assert_both_are_listed(&home);
    home.audit();
}

#[test]
fn rule_07_fail_tells_every_trainer_which_record_and_why() {
    let home = damaged();
    let _daemon = home.serve("epochs = 1");
    let mut other = Puppet::attach(&home);
    let mut trainer = Trainer::attach(&home);
    let reason = loop {
        match trainer.session.next(None, &mut Patient) {
            Ok(_) => {}
            Err(NextError::Failed(refusal)) => break refusal,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(reason.code, text_code::RECORD);
    assert!(reason.message.contains("record 5") && reason.message.contains("0005.jpg"), "{reason}");
    let told = loop {
        match other.next() {
            Event::Batch(_) => {}
            Event::Failed(told) => break told,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(told, reason.message);
    assert!(home.status().failure.contains("record 5"));
    trainer.session.close().unwrap();
    // One that comes later is told as well.
    assert_eq!(Trainer::attach(&home).next(), Event::Failed(reason.message));
}

#[test]
fn rule_07_more_bad_records_than_max_failures_fail_the_stream() {
    let home = damaged();
    let daemon = home.serve("epochs = 1\non_error = \"skip\"\nmax_failures = 1");
    let mut trainer = Trainer::attach(&home);
    let reason = loop {
        match trainer.next() {
            Event::Batch(_) => {}
            Event::Failed(reason) => break reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(reason.contains("max_failures"), "{reason}");
    trainer.session.close().unwrap();
    daemon.stop();
    // A larger limit may be set for the same run, as a part of the dataset.
    let _daemon = home.serve("epochs = 1\non_error = \"skip\"\nmax_failures = 0.25");
    Trainer::attach(&home).epoch();
    home.audit();
}

#[test]
fn rule_07_a_shard_s_bad_records_before_a_restart_count_and_its_trainer_is_told() {
    let home = Home::with_pictures(96);
    for bad in [2, 90] {
        fs::write(home.picture(bad), "this is no picture").unwrap();
    }
    let settings = "epochs = 1\nnum_shards = 1\non_error = \"skip\"\nmax_failures = 1";
    let daemon = home.serve_little_ahead(settings);
    let mut trainer = Puppet::of_shard(&home, 0, 1);
    for _ in 0..3 {
        assert!(matches!(trainer.next(), Event::Batch(_)));
    }
    daemon.kill();
    let _daemon = home.serve_little_ahead(settings);
    let reason = loop {
        match trainer.next() {
            Event::Batch(_) => {}
            Event::Failed(reason) => break reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(reason.contains("2 bad records are more than max_failures (1)"), "{reason}");
    assert!(reason.contains("record 90") && reason.contains("0090.jpg"), "{reason}");
}

#[test]
fn a_quarantine_that_no_message_could_hold_is_listed_whole_and_audited() {
    const BAD: usize = 4100;
    let home = Home::with_pictures(1);
    // Long paths: the list is longer than the 4 MiB that gRPC takes as one message.
    let folder =
        home.path(&["x".repeat(200), "y".repeat(200), "z".repeat(200), "w".repeat(200), "v".repeat(200)].join("/"));
    fs::create_dir_all(&folder).unwrap();
    let bad = folder.join("bad.jpg");
    fs::write(&bad, "this is no picture").unwrap();
    let mut list = format!("{}\n", bad.display()).repeat(BAD);
    list += home.picture(0).to_str().unwrap();
    fs::write(home.path("list.txt"), list).unwrap();
    let source = home.path("list.txt");
    home.configure(&format!(
        "[streams.train]\nsource = \"{}\"\nbatch_size = 64\nsize = 16\nepochs = 1\non_error = \"skip\"\n",
        source.display()
    ));
    let _daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    assert_eq!(records(&trainer.epoch()), [BAD as u64]);
    assert_eq!(quarantine(&home).len(), BAD);
    let own: Vec<u64> = trainer.session.quarantine(&mut Patient).unwrap().iter().map(|bad| bad.record).collect();
    assert_eq!(own, (0..BAD as u64).collect::<Vec<_>>());
    let line = "epoch 0: 4101 of 4101 records accounted for (1 delivered, 4100 quarantined), complete but for 4100 bad";
    assert_eq!(home.audit()[1], line);
    assert_eq!(home.status().bad, BAD as u64);
}

#[test]
fn names_that_a_terminal_would_obey_are_escaped_in_lists_logs_and_errors() {
    let home = Home::with_pictures(2);
    let name = home.path("pictures/\u{1b}[2J\u{202e}\nfake.jpg");
    fs::write(&name, "this is no picture").unwrap();
    let shown = r"/pictures/\u{1b}[2J\u{202e}\nfake.jpg";
    let mut daemon = home.serve("epochs = 1");
    let mut trainer = Trainer::attach(&home);
    let reason = loop {
        match trainer.next() {
            Event::Failed(reason) => break reason,
            Event::Batch(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert!(reason.contains(shown) && !reason.contains(".."), "{reason:?}");
    daemon.hears(r"\u{1b}[2J");
    let listed = quarantine(&home);
    assert!(listed.len() == 1 && listed[0].contains(shown), "{listed:?}");
    let own = trainer.session.quarantine(&mut Patient).unwrap();
    assert_eq!(own[0].file, name.to_str().unwrap(), "a program gets the name as it is");
    let missing = home.command(&["preview", "--stream", "\u{1b}[2J"]);
    assert!(!missing.status.success() && stderr(&missing).contains(r"\u{1b}[2J"), "{missing:?}");
    assert!(!stderr(&missing).contains('\u{1b}'), "{missing:?}");
    assert!(home.command(&["status"]).stdout.iter().all(|byte| !byte.is_ascii_control() || *byte == b'\n'));
}

#[test]
fn a_file_that_cannot_be_read_is_named_once_in_its_reason_and_its_list() {
    let home = Home::with_pictures(3);
    fs::write(home.picture(1), "").unwrap();
    let _daemon = home.serve("epochs = 1\non_error = \"skip\"");
    let mut trainer = Trainer::attach(&home);
    assert_eq!(records(&trainer.epoch()), [0, 2]);
    let listed = quarantine(&home);
    assert!(listed.len() == 1 && listed[0].matches("0001.jpg").count() == 1, "{listed:?}");
    let [bad] = &trainer.session.quarantine(&mut Patient).unwrap()[..] else { panic!("one bad record") };
    assert!(bad.file.ends_with("0001.jpg") && bad.reason.contains("empty") && !bad.reason.contains('/'), "{bad:?}");
}
