//! Runs: what a ledger is about stays as it is, other settings may change, and a new run begins at epoch 0.

use std::fs;

use forebay_client::{Options, Shard};
use forebay_pixels::sample::photograph;

use crate::daemon::{Home, LITTLE_AHEAD, stderr};
use crate::trainer::{Event, Puppet, Trainer, batches, options, records};

#[test]
fn rule_01_a_run_is_refused_with_another_seed_order_or_dataset_and_both_are_shown() {
    let home = Home::with_pictures(12);
    home.serve("seed = 5").stop();
    let refused = |settings: &str, words: &str| {
        home.configure(&home.train(settings));
        let (_, said) = home.fails_to_start();
        assert!(said.contains("stream \"train\"") && said.contains(words), "{words:?} is not in: {said}");
    };
    refused("seed = 6", "seed was 5 and is now 6");
    refused("seed = 5\nshuffle = true", "shuffle was false and is now true");
    fs::write(home.picture(12), photograph(12, 24, 18)).unwrap();
    refused("seed = 5", "records was 12 and is now 13");
    fs::remove_file(home.picture(12)).unwrap();

    let _daemon = home.serve("seed = 5\nnum_shards = 2");
    let shard = Some(Shard { id: 0, count: 2 });
    let said = Trainer::with(&home, Options { shard, ..options() }).map(drop).unwrap_err().to_string();
    assert!(said.contains("assignment was dynamic and is now static"), "{said}");
}

#[test]
fn rule_01_a_run_that_keeps_the_daemon_from_starting_is_forgotten_without_one() {
    let home = Home::with_pictures(12);
    home.serve("seed = 5").stop();
    home.configure(&home.train("seed = 6"));
    let (_, said) = home.fails_to_start();
    assert!(said.contains("forebay run new train"), "{said}");
    let config = home.path("forebay.toml").display().to_string();
    let renewed = home.command(&["run", "new", "train", "--config", &config]);
    assert!(renewed.status.success(), "{}", stderr(&renewed));
    let again = home.command(&["run", "new", "train", "--config", &config]);
    assert!(stderr(&again).contains("has no run \"default\" of stream \"train\""), "{}", stderr(&again));
    home.serve("seed = 6").stop();
}

#[test]
fn rule_01_a_new_run_begins_at_epoch_0_and_its_trainers_reconnect() {
    let home = Home::with_pictures(24);
    let _daemon = home.serve("epochs = 2\nshuffle = true\ncredits = 1");
    let mut first = Puppet::with_one_credit(&home);
    let mut second = Puppet::with_one_credit(&home);
    second.run();
    let before = first.finish();
    let after = second.rest();
    assert_eq!(records(batches(&before).iter().chain(&batches(&after))).len(), 48);

    for round in 1..=5 {
        let renewed = home.command(&["run", "new", "train"]);
        assert!(renewed.status.success(), "{}", stderr(&renewed));
        assert!(String::from_utf8_lossy(&renewed.stdout).contains("stream train starts again"));
        // In a middle of the run, with a batch in hand, the next round begins.
        let (one, two) = (first.next().batch(), second.next().batch());
        assert_eq!((one.epoch, two.epoch), (0, 0), "round {round}");
    }
    home.command(&["run", "new", "train"]);
    second.run();
    let all: Vec<_> = batches(&first.finish()).into_iter().chain(batches(&second.rest())).collect();
    for epoch in 0..2 {
        let of_epoch = all.iter().filter(|seen| seen.epoch == epoch);
        assert_eq!(records(of_epoch), (0..24).collect::<Vec<_>>(), "epoch {epoch}");
    }
    let audit = home.audit();
    assert_eq!(audit.len(), 3, "the stream and two epochs: {audit:?}");
}

#[test]
fn a_new_run_of_a_stream_that_is_not_there_names_those_that_are() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    let refused = home.command(&["run", "new", "tain"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = stderr(&refused);
    assert!(said.contains("there is no stream \"tain\"") && said.contains("train"), "{said}");
}

#[test]
fn rule_20_batch_size_threads_and_transform_may_change_between_incarnations() {
    let home = Home::with_pictures(200);
    let daemon = home.serve_little_ahead("epochs = 1\nshuffle = true");
    let mut trainer = Trainer::attach(&home);
    let mut seen = vec![trainer.next().batch(), trainer.next().batch()];
    daemon.kill();
    let crop =
        "transform = [{ center_crop = { size = 8 } }]\nnum_threads = 1\nbatch_size = 6\nprefetch_queue_depth = 3";
    home.configure(&(home.train(&format!("epochs = 1\nshuffle = true\n{crop}")) + LITTLE_AHEAD));
    let daemon = home.start();
    let further = trainer.epoch();
    assert_eq!((trainer.session.info().batch_size, trainer.session.info().height), (6, 8));
    assert_eq!(further[0].records.len(), 6);
    seen.extend(further);
    assert_eq!(records(&seen), (0..200).collect::<Vec<_>>());
    daemon.stop();

    home.configure(&home.train("epochs = 1\nshuffle = true\nlease_size = 24"));
    let (_, said) = home.fails_to_start();
    assert!(said.contains("lease_size") && said.contains("16") && said.contains("24"), "{said}");
}

#[test]
fn rule_01_a_daemon_that_is_started_again_continues_in_the_same_run() {
    let home = Home::with_pictures(8);
    let daemon = home.serve("epochs = 2");
    let mut trainer = Trainer::attach(&home);
    assert_eq!(records(&trainer.epoch()).len(), 8);
    trainer.session.close().unwrap();
    daemon.stop();
    let _daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let second = trainer.epoch();
    assert!(second.iter().all(|seen| seen.epoch == 1));
    assert_eq!(records(&second), (0..8).collect::<Vec<_>>());
    assert_eq!(trainer.next(), Event::Done);
}
