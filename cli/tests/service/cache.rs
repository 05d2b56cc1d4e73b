//! A dataset that is kept in memory: the same pixels, no second look at the files, one cache for several streams.

use std::collections::BTreeMap;
use std::fs;

use forebay_client::{Next, Options, Patient, Session, Shard};

use crate::daemon::Home;
use crate::trainer::{Trainer, options, target};

const TWO_EPOCHS: &str = "epochs = 2\nshuffle = true\nseed = 7\n";
const ENCODED: &str = "cache = { keep = \"encoded\", memory = \"1mb\" }";
const DECODED: &str = "cache = { keep = \"decoded\", memory = \"1mb\" }";

/// Pixels by epoch and record.
pub(crate) type Pixels = BTreeMap<(u64, i64), Vec<u8>>;

/// Takes so many batches, or what is left of the epoch.
pub(crate) fn take(session: &mut Session, batches: usize, seen: &mut Pixels) {
    for _ in 0..batches {
        let Next::Batch(batch) = session.next(None, &mut Patient).unwrap() else { return };
        let picture = batch.images().len() / batch.records().len();
        for (place, &record) in batch.records()[..batch.shown()].iter().enumerate() {
            let pixels = batch.images()[place * picture..][..picture].to_vec();
            let before = seen.insert((batch.epoch(), record), pixels.clone());
            assert!(before.is_none_or(|before| before == pixels), "what comes again is the same");
        }
    }
}

pub(crate) fn attach(home: &Home, stream: &str) -> Session {
    Session::attach(target(&home.socket(), stream, None), options(), &mut Patient).unwrap()
}

#[test]
fn rule_8_a_cache_changes_no_pixel_over_two_epochs_with_the_daemon_killed_in_each() {
    let home = Home::with_pictures(60);
    let [plain, encoded, decoded, too_small] = ["", ENCODED, DECODED, &DECODED.replace("1mb", "20kb")].map(|cache| {
        home.configure(&home.train(&(TWO_EPOCHS.to_owned() + cache)));
        let mut seen = Pixels::new();
        let mut daemon = home.start();
        let mut session = attach(&home, "train");
        for _epoch in 0..2 {
            take(&mut session, 7, &mut seen);
            daemon.kill();
            daemon = home.start();
            take(&mut session, usize::MAX, &mut seen);
        }
        home.audit();
        session.close().unwrap();
        daemon.stop();
        fs::remove_dir_all(home.path("state")).unwrap();
        seen
    });
    assert_eq!(plain.len(), 120);
    for cached in [encoded, decoded, too_small] {
        assert!(cached == plain);
    }
}

/// Makes nonsense of every file; names and sizes, and so the dataset's fingerprint, stay.
fn spoil(home: &Home) {
    for entry in fs::read_dir(home.path("pictures")).unwrap() {
        let path = entry.unwrap().path();
        let len = path.metadata().unwrap().len();
        fs::write(path, vec![0; usize::try_from(len).unwrap()]).unwrap();
    }
}

#[test]
fn what_the_first_epoch_has_kept_is_not_read_again() {
    for (keep, cache) in [("encoded", ENCODED), ("decoded", DECODED)] {
        let home = Home::with_pictures(30);
        let _daemon = home.serve(&("epochs = 3\nshuffle = true\n".to_owned() + cache));
        let mut trainer = Trainer::attach(&home);
        // Records of an epoch may be read before the one before it is complete, but no earlier.
        for _epoch in 0..2 {
            assert_eq!(trainer.epoch().len(), 8);
        }
        spoil(&home);
        assert_eq!(trainer.epoch().len(), 8, "{keep}");
        home.audit();
        let kept = home.status().cache.unwrap();
        assert_eq!((kept.keep.as_str(), kept.records, kept.budget), (keep, 30, 1_000_000));
        assert!(kept.hits >= 30 && kept.misses <= 60 && kept.bytes < kept.budget, "{kept:?}");
        let told = home.command(&["status"]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains(&format!("cache    30 records {keep}")), "{told}");
    }
}

#[test]
fn two_streams_of_a_dataset_share_its_cache() {
    for cache in [ENCODED, DECODED] {
        let home = Home::with_pictures(30);
        // A stream with shards is opened when its trainer comes.
        let eval = home.stream("eval", &("num_shards = 1\nepochs = 1\n".to_owned() + cache));
        home.configure(&(home.train(&("epochs = 1\nshuffle = true\n".to_owned() + cache)) + &eval));
        let _daemon = home.start();
        let mut train = attach(&home, "train");
        take(&mut train, usize::MAX, &mut Pixels::new());
        spoil(&home);
        let options = Options { shard: Some(Shard { id: 0, count: 1 }), ..options() };
        let mut eval = Session::attach(target(&home.socket(), "eval", None), options, &mut Patient).unwrap();
        let mut seen = Pixels::new();
        take(&mut eval, usize::MAX, &mut seen);
        assert_eq!(seen.len(), 30, "{cache}");
    }
}

#[test]
fn rule_31_a_cache_that_the_machine_has_no_memory_for_is_refused_with_the_number() {
    let home = Home::with_pictures(4);
    home.configure(&home.train("cache = { keep = \"encoded\", memory = \"1000tb\" }"));
    let (code, said) = home.fails_to_start();
    assert_eq!(code, Some(1));
    assert!(said.contains("memory = \"1000tb\" does not fit") && said.contains("lower cache.memory"), "{said}");
}
