//! A coordinator whose ledgers are lost, and made anew from the snapshot beside them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use forebay_coordinator::StoreSnapshot;
use forebay_proto::v1::EpochTally;
use prost::Message as _;

use super::nodes::Site;
use super::visits::Visits;
use crate::daemon::until;
use crate::trainer::{Event, Puppet, batches};

const RECORDS: u64 = 200;

/// Waits until the snapshot has these words, and gives its bytes.
fn has(file: &Path, words: &str) -> Vec<u8> {
    until(&format!("{} has {words:?}", file.display()), || {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.windows(words.len()).any(|part| part == words.as_bytes()).then_some(bytes)
    })
}

/// The records of epoch 0 that are delivered according to a snapshot.
fn delivered(file: &Path) -> u64 {
    let documents = StoreSnapshot::read(file).unwrap().documents;
    let tally = documents.iter().find(|(key, _)| key.ends_with("/epoch/0000000000000000"));
    tally.and_then(|(_, tally)| EpochTally::decode(&**tally).unwrap().delivered).map_or(0, |delivered| delivered.count)
}

#[test]
fn rule_18_ledgers_that_are_lost_continue_from_their_snapshot_and_every_record_is_delivered() {
    let mut site = Site::with(&["--snapshot-every", "1s"]);
    let (home, _daemon) = site.node("one", RECORDS, "epochs = 1\nshuffle = true");
    let mut trainer = Puppet::attach(&home);
    let mut seen = vec![trainer.next(), trainer.next()];
    let first = has(&site.ledgers("ledger.snapshot"), "default/train/all/worker/one");
    let older = site.ledgers("older.snapshot");
    fs::write(&older, first).unwrap();
    // What is delivered now is in no snapshot that is used.
    seen.extend((0..8).map(|_| trainer.next()));
    let is_counted = |status: &forebay_proto::v1::StreamStatus| status.delivered >= 32;
    home.wait_for("receipts are in the ledger", is_counted);
    site.kill();
    home.wait_for_outage();
    fs::remove_file(site.ledgers("ledger.redb")).unwrap();
    let said = site.restart_with(&["--recover-from", older.to_str().unwrap()]);
    let named = said.lines().find(|line| line.contains("recovered from a snapshot of")).unwrap_or(&said);
    assert!(named.contains("generation 65536") && named.contains("default/train/all"), "{said}");

    trainer.run();
    let rest = trainer.rest();
    // What was delivered after the snapshot comes again, and so may what the daemon had finished.
    let delivered: BTreeSet<u64> =
        [&seen, &rest].into_iter().flat_map(|events| batches(events)).flat_map(|batch| batch.own).collect();
    assert_eq!(delivered, (0..RECORDS).collect(), "every record is delivered at least once");
    assert!(rest.contains(&Event::EpochEnd(0)), "{rest:?}");
    let audit = site.audit();
    assert!(audit[1].starts_with("generation 65536: recovered from a snapshot of 20"), "{audit:?}");
    assert!(audit[2].starts_with("epoch 0: 200 of 200 records accounted for") && audit[2].contains("checksum equal"));
    let json = String::from_utf8(site.command(&["audit", "--json"]).stdout).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["streams"][0]["recoveries"][0]["generation"], 65_536, "{json}");
}

#[test]
fn rule_18_ledgers_are_recovered_only_from_a_whole_snapshot_and_only_where_there_are_none() {
    let mut site = Site::with(&["--snapshot-every", "1s"]);
    let (home, daemon) = site.node("one", 12, "epochs = 1");
    Puppet::attach(&home).finish();
    daemon.stop();
    let snapshot = site.ledgers("ledger.snapshot");
    let whole = has(&snapshot, "default/train/all/epoch");
    site.kill();
    let path = snapshot.to_str().unwrap();
    let said = site.fails_with(&["--recover-from", path]);
    assert!(said.contains("ledger.redb") && said.contains("start without --recover-from"), "{said}");
    fs::remove_file(site.ledgers("ledger.redb")).unwrap();
    let said = site.fails_with(&[]);
    assert!(said.contains("--recover-from") && said.contains("move the snapshot away"), "{said}");
    let damaged = site.ledgers("damaged");
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    let said = site.fails_with(&["--recover-from", damaged.to_str().unwrap()]);
    assert!(said.contains("damaged\" cannot be used: it is damaged or cut off"), "{said}");
    assert!(!site.ledgers("ledger.redb").exists(), "nothing was begun");
    site.restart_with(&["--recover-from", path]);
}

#[test]
fn a_disk_that_is_full_while_a_snapshot_is_written_does_not_hurt_the_ledger() {
    let mut site = Site::with(&["--snapshot-every", "1s"]);
    let snapshot = site.ledgers("ledger.snapshot");
    let (home, _daemon) = site.node("one", RECORDS, "epochs = 1");
    let mut trainer = Puppet::attach(&home);
    trainer.next();
    has(&snapshot, "default/train/all/worker/one");
    // The next snapshot is written to a device that is always full. One may be on its way at this moment.
    until("no snapshot is being written", || symlink("/dev/full", site.ledgers("ledger.snapshot.new")).ok());
    let mut visits = Visits::default();
    trainer.run();
    visits.note("one", &trainer.rest());
    site.hears("the snapshot of the ledgers cannot be written");
    assert!(site.said().contains("No space left on device"), "{}", site.said());
    assert!(site.audit()[1].contains("200 of 200 records accounted for"), "{:?}", site.audit());
    site.hears("the snapshot of the ledgers is written again");
    until("the snapshot has the whole epoch", || (delivered(&snapshot) == RECORDS).then_some(()));
    site.kill();
    fs::remove_file(site.ledgers("ledger.redb")).unwrap();
    site.restart_with(&["--recover-from", snapshot.to_str().unwrap()]);
    assert!(site.audit()[2].contains("200 of 200 records accounted for"), "{:?}", site.audit());
}
