//! Records that daemons died with: a death makes no record bad, and a record that ends its process twice alone is bad (semantics
//! rule 9).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;

use forebay_client::{Next, Patient};
use forebay_pixels::sample::mask_png;
use image::{ImageFormat, RgbImage};
use rustix::process::Signal;

use crate::daemon::{Daemon, Home, stderr, until};
use crate::trainer::{Event, Trainer, records};

const EPOCH: &str = "epochs = 1\nshuffle = true";
/// Pictures of these widths end the process that decodes them: by a fault, not at all, and by SIGKILL while there is a file.
pub(crate) const FAULT: u32 = 7919;
const SILENCE: u32 = 8219;
const KILLED: u32 = 8519;
/// It takes all memory that its process is given. In a daemon, whose memory has no limit, it ends by SIGKILL.
const GREED: u32 = 8819;

/// Puts a picture of this width in the place of another one.
fn replace(home: &Home, number: u64, width: u32) {
    RgbImage::new(width, 1).save_with_format(home.picture(number), ImageFormat::Png).unwrap();
}

pub(crate) fn library(home: &Home) -> PathBuf {
    let [source, library] = ["poison.c", "poison.so"].map(|name| home.path(name));
    fs::write(&source, include_str!("poison.c")).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output().unwrap();
    assert!(compiled.status.success(), "{}", stderr(&compiled));
    library
}

fn poisoned(home: &Home) -> Daemon {
    let mut command = home.serve_command();
    command.env("LD_PRELOAD", library(home)).env("POISON_FILE", home.path("killing"));
    Daemon::spawn(command)
}

/// The pixels of each record of an epoch, by their numbers, with those of a view.
fn pixels(home: &Home) -> Vec<(i64, Vec<u8>, Vec<u8>)> {
    let mut trainer = Trainer::attach(home);
    let mut all = Vec::new();
    while let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() {
        let (images, small) = (batch.images(), batch.column("small").unwrap().values().to_vec());
        let places = batch.records().len();
        for (place, record) in batch.records().iter().enumerate().take(batch.shown()) {
            let part = |bytes: &[u8]| bytes[place * bytes.len() / places..(place + 1) * bytes.len() / places].to_vec();
            all.push((*record, part(images), part(&small)));
        }
    }
    all.sort();
    all
}

/// Ends two daemons, one after the other, by this picture.
fn ends_two(home: &Home, signal: Signal) {
    for death in 0..2 {
        let (status, said) = poisoned(home).ends();
        assert_eq!(status.signal(), Some(signal.as_raw()), "death {death}: {said}");
    }
}

/// The bytes of all columns of each batch of one record, by record.
fn all_columns(home: &Home) -> BTreeMap<i64, Vec<Vec<u8>>> {
    let mut trainer = Trainer::attach(home);
    let mut all = BTreeMap::new();
    while let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() {
        let mut bytes = vec![batch.images().to_vec()];
        for field in batch.columns().fields() {
            let column = batch.column(&field.name).unwrap();
            bytes.extend([column.validity().to_vec(), column.place(0).to_vec()]);
        }
        all.insert(batch.records()[0], bytes);
    }
    all
}

/// The columns of a stream, and those that it has after two daemons have died: the second record is a suspect.
fn beside_suspects(home: &Home, tables: &str) -> [BTreeMap<i64, Vec<Vec<u8>>>; 2] {
    home.configure(tables);
    let daemon = home.start();
    let expected = all_columns(home);
    daemon.stop();
    fs::remove_dir_all(home.path("state")).unwrap();
    fs::write(home.path("killing"), []).unwrap();
    ends_two(home, Signal::KILL);
    fs::remove_file(home.path("killing")).unwrap();
    let mut daemon = poisoned(home);
    daemon.hears("ready");
    let made = all_columns(home);
    daemon.hears("a child process makes suspects");
    [expected, made]
}

#[test]
fn rule_9_suspects_have_the_masks_and_boxes_of_any_other_decoder() {
    let home = Home::with_pictures(10);
    replace(&home, 1, KILLED);
    fs::create_dir(home.path("seg")).unwrap();
    let mut lines = "path,x0,y0,x1,y1\n".to_owned();
    for record in 0..10_u32 {
        let (width, height) = if record == 1 { (KILLED, 1) } else { (24, 18) };
        let mask = mask_png(width, height, |x, y| u8::try_from((x + 7) * (y + 3) % 97 + record).unwrap());
        fs::write(home.path(&format!("seg/{record:04}.png")), mask).unwrap();
        for object in 0..=record % 3 {
            writeln!(lines, "pictures/{record:04}.jpg,{object},1,{},{}", 9 + record, 12 + object).unwrap();
        }
    }
    fs::write(home.path("table.csv"), lines).unwrap();
    let stream = format!(
        "[streams.train]\nsource = \"{}\"\nbatch_size = 1\nprefetch_queue_depth = 20\nepochs = 1\nshuffle = true\nlabels = \"none\"\n\
         columns = {{ boxes = \"x0,y0,x1,y1\" }}\nsource_options = {{ group = \"true\", boxes = \"xyxy\" }}\n\
         masks = {{ seg = \"{}\" }}\ntransform = [{{ random_iou_crop = {{}} }}, {{ random_resized_crop = {{ size = 16 }} }}, \
         {{ random_horizontal_flip = {{}} }}]\n",
        home.path("table.csv").display(),
        home.path("seg").display()
    );
    let [expected, made] = beside_suspects(&home, &stream);
    assert_eq!(expected.len(), 10);
    assert!(made == expected, "the same pictures, masks and boxes");
}

#[test]
fn rule_9_suspects_have_the_mosaics_of_any_other_decoder() {
    let home = Home::with_pictures(14);
    replace(&home, 1, KILLED);
    let settings = "batch_size = 1\nprefetch_queue_depth = 20\nepochs = 1\nshuffle = true\ntransform = [{ mosaic = { size = 32 } }]";
    let [expected, made] = beside_suspects(&home, &home.train(settings));
    assert_eq!(expected.len(), 14);
    assert!(made == expected, "the same mosaics");
}

#[test]
fn rule_9_suspects_have_the_buckets_of_any_other_decoder() {
    // When the stream opens, 64 headers are compared with the index. That of the second record is not among them.
    let home = Home::with_pictures(130);
    replace(&home, 1, KILLED);
    let (pictures, index) = (home.path("pictures"), home.path("sizes.arrow"));
    let [pictures, index] = [&pictures, &index].map(|path| path.to_str().unwrap());
    let args = ["index", pictures, "--sizes", "--output", index];
    let made = Command::new(env!("CARGO_BIN_EXE_forebay")).args(args).output().unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    let settings = format!(
        "batch_size = 1\nprefetch_queue_depth = 140\nepochs = 1\nshuffle = true\nindex = \"{index}\"\n\
         buckets = {{ rule = [\"12x16\", \"9x9\", \"4x32\"], crop = \"random\" }}\n\
         transform = [{{ random_horizontal_flip = {{}} }}]"
    );
    let [expected, made] = beside_suspects(&home, &home.train(&settings));
    assert_eq!(expected.len(), 130);
    assert!(made == expected, "the same pictures, of the same buckets");
}

#[test]
fn rule_9_a_mosaic_is_not_to_blame_for_a_partner_that_ends_its_process() {
    let home = Home::with_pictures(14);
    replace(&home, 5, FAULT);
    let settings = "batch_size = 2\nprefetch_queue_depth = 20\nepochs = 1\nshuffle = true\non_error = \"skip\"\ntransform = [{ mosaic = { size = 32 } }]";
    home.configure(&home.train(settings));
    ends_two(&home, Signal::SEGV);
    // All that is left is suspect by now, so no further daemon ends.
    let mut daemon = poisoned(&home);
    daemon.hears("ready");
    let mut trainer = Trainer::attach(&home);
    assert_eq!(records(&trainer.epoch()), (0..14).filter(|record| *record != 5).collect::<Vec<_>>());
    let quarantine = trainer.session.quarantine(&mut Patient).unwrap();
    assert_eq!(quarantine.iter().map(|bad| bad.record).collect::<Vec<_>>(), [5]);
    assert!(quarantine[0].reason.contains("SIGSEGV"), "{:?}", quarantine[0].reason);
    daemon.hears("a picture is left out of a mosaic");
}

#[test]
fn rule_9_a_record_that_takes_more_memory_than_a_child_may_have_is_bad_with_its_file() {
    let home = Home::with_pictures(12);
    replace(&home, 6, GREED);
    home.configure(&home.train(&format!("{EPOCH}\non_error = \"skip\"\nnum_threads = 2")));
    ends_two(&home, Signal::KILL);
    let mut daemon = poisoned(&home);
    daemon.hears("ready");
    let mut trainer = Trainer::attach(&home);
    assert_eq!(records(&trainer.epoch()), (0..12).filter(|record| *record != 6).collect::<Vec<_>>());
    let quarantine = trainer.session.quarantine(&mut Patient).unwrap();
    let [bad] = &quarantine[..] else { panic!("{quarantine:?}") };
    assert_eq!((bad.record, bad.file.contains("0006.jpg")), (6, true), "{bad:?}");
    assert!(bad.reason.contains("SIGABRT") && bad.reason.contains("bytes of memory"), "{bad:?}");
}

#[test]
fn rule_9_kills_while_no_trainer_consumes_make_no_record_bad_and_no_other_pixels() {
    let settings =
        "size = 16\nepochs = 1\nshuffle = true\nprefetch_queue_depth = 3\n[streams.train.views.small]\nsize = 16";
    let whole = Home::with_pictures(120);
    let daemon = whole.serve(settings);
    let expected = pixels(&whole);
    daemon.stop();
    let home = Home::with_pictures(120);
    home.configure(&home.train(settings));
    for kill in 0..8 {
        let daemon = home.start();
        if kill % 3 == 0 {
            home.wait_for("batches are ready", |status| status.slots_ready > 0);
        }
        daemon.kill();
    }
    let _daemon = home.start();
    assert!(pixels(&home) == expected, "the same records with the same pixels");
    let mut trainer = Trainer::attach(&home);
    assert_eq!(trainer.session.quarantine(&mut Patient).unwrap(), []);
    home.audit();
}

#[test]
fn rule_9_a_record_that_ends_its_process_ends_two_daemons_and_is_an_ordinary_bad_record_then() {
    for (settings, told) in [
        ("on_error = \"skip\"", None),
        ("on_error = \"fail\"", Some("on_error is \"fail\"")),
        ("on_error = \"skip\"\nmax_failures = 0", Some("max_failures (0)")),
    ] {
        let home = Home::with_pictures(40);
        replace(&home, 11, FAULT);
        home.configure(&home.train(&format!("{EPOCH}\n{settings}")));
        for death in 0..2 {
            let (status, said) = poisoned(&home).ends();
            assert_eq!(status.signal(), Some(Signal::SEGV.as_raw()), "death {death}: {said}");
        }
        let mut daemon = poisoned(&home);
        daemon.hears("ready");
        let mut trainer = Trainer::attach(&home);
        match told {
            None => {
                let expected: Vec<u64> = (0..40).filter(|record| *record != 11).collect();
                assert_eq!(records(&trainer.epoch()), expected);
            }
            Some(words) => loop {
                match trainer.next() {
                    Event::Batch(_) => {}
                    Event::Failed(error) => {
                        assert!(error.contains(words) && error.contains("SIGSEGV"), "{error}");
                        break;
                    }
                    other => panic!("{other:?} came in place of the error"),
                }
            },
        }
        // A trainer may hear of the failure before the ledger has the record.
        let quarantine = until("the record is in quarantine", || {
            Some(trainer.session.quarantine(&mut Patient).unwrap()).filter(|bad| !bad.is_empty())
        });
        let bad: Vec<_> = quarantine.iter().map(|bad| (bad.record, bad.file.as_str(), bad.reason.as_str())).collect();
        let file = home.picture(11);
        let [(11, named, reason)] = bad[..] else { panic!("{bad:?}") };
        assert!(file.ends_with(named) || named.ends_with(file.file_name().unwrap().to_str().unwrap()), "{named}");
        assert!(reason.contains("SIGSEGV"), "{reason}");
    }
}

#[test]
fn rule_9_a_record_at_which_a_process_is_silent_is_bad_and_one_that_was_killed_is_made_again() {
    let home = Home::with_pictures(12);
    home.configure(&home.train(&format!("{EPOCH}\non_error = \"skip\"\nnum_threads = 2\nread_timeout = \"2s\"")));
    replace(&home, 3, SILENCE);
    replace(&home, 8, KILLED);
    fs::write(home.path("killing"), []).unwrap();
    for death in 0..2 {
        let (status, said) = poisoned(&home).ends();
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "death {death}: {said}");
    }
    let mut command = home.serve_command();
    command.env("LD_PRELOAD", library(&home)).env("POISON_FILE", home.path("killing")).env("FOREBAY_LOG", "debug");
    let mut daemon = Daemon::spawn(command);
    // It is killed each time, and that is not its fault.
    daemon.hears("its record is made again");
    daemon.hears("its record is made again");
    fs::remove_file(home.path("killing")).unwrap();
    let mut trainer = Trainer::attach(&home);
    assert_eq!(records(&trainer.epoch()), (0..12).filter(|record| *record != 3).collect::<Vec<_>>());
    let quarantine = trainer.session.quarantine(&mut Patient).unwrap();
    assert_eq!(quarantine.iter().map(|bad| bad.record).collect::<Vec<_>>(), [3]);
    assert!(quarantine[0].reason.contains("silence for 2s (read_timeout)"), "{:?}", quarantine[0].reason);
}
