//! What the daemons of a run have in common.

use std::fs;

use super::nodes::Site;
use super::visits::Visits;
use super::{EPOCHS, RECORDS};
use crate::trainer::{Event, Puppet, batches, records};

#[test]
fn rule_41_a_daemon_that_asks_for_other_epochs_is_told_so_and_the_first_one_continues() {
    let site = Site::start();
    let (home, _daemon) = site.node("one", RECORDS, EPOCHS);
    let other = site.home("two", RECORDS, "epochs = 3\nshuffle = true", "1h");
    let (_, said) = other.fails_to_start();
    assert!(said.contains("epochs = 2 on node \"one\", and node \"two\" asks for epochs = 3"), "{said}");
    let mut visits = Visits::default();
    visits.note("one", &Puppet::attach(&home).finish());
    visits.check_once(RECORDS, 2);
}

#[test]
fn rule_41_a_daemon_with_another_dataset_is_told_where_it_differs() {
    let mut site = Site::start();
    let (_home, _daemon) = site.node("one", RECORDS, EPOCHS);
    let other = site.home("two", RECORDS, EPOCHS, "1h");
    fs::remove_file(other.picture(120)).unwrap();
    // The first daemon describes its dataset in the background.
    let said = loop {
        let (_, said) = other.fails_to_start();
        if said.contains("this one has") {
            break said;
        }
    };
    assert!(said.contains("has 200 records with") && said.contains("this one has 199 records with"), "{said}");
    let path = |picture| other.picture(picture).display().to_string();
    let words = format!("differ first in records 120 to 120, which are {} to {} here", path(121), path(121));
    assert!(said.contains(&words), "{said}");
    site.kill();
    site.restart();
    assert!(other.fails_to_start().1.contains(&words), "the summary is durable");
}

#[test]
fn rule_66_a_daemon_with_another_selection_is_refused_with_both_digests_and_the_others_share_the_selected_records() {
    let mut site = Site::start();
    let list = |name: &str, records: &[u8]| {
        let file = site.ledgers(name);
        let head = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({},), }}", records.len());
        let len = u16::try_from(head.len()).unwrap().to_le_bytes();
        fs::write(&file, [b"\x93NUMPY\x01\0", &len[..], head.as_bytes(), records].concat()).unwrap();
        format!("{EPOCHS}\nselect = \"{}\"", file.display())
    };
    let kept: Vec<u8> = (0..200).filter(|record| record % 3 == 1).collect();
    let (own, other) = (list("own.npy", &kept), list("other.npy", &kept[1..]));
    let nodes = [site.node("one", RECORDS, &own), site.node("two", RECORDS, &own)];
    let (_, said) = site.home("three", RECORDS, &other, "1h").fails_to_start();
    assert!(said.contains("the selection was ") && said.contains(" (67 of 200 records) and is now "), "{said}");
    assert!(said.contains(" (66 of 200 records)"), "{said}");
    let mut trainers = nodes.each_ref().map(|(home, _)| Puppet::attach(home));
    let own = |events: &[Event]| records(&batches(events));
    let mut seen: Vec<u64> = trainers.iter_mut().flat_map(|trainer| own(&[trainer.next()])).collect();
    // The selected records are durable.
    site.kill();
    site.restart();
    assert!(site.home("three", RECORDS, &other, "1h").fails_to_start().1.contains("the selection was "));
    trainers.iter_mut().for_each(Puppet::run);
    for trainer in &trainers {
        seen.extend(own(&trainer.rest()));
    }
    seen.sort_unstable();
    let twice: Vec<u64> = kept.iter().flat_map(|record| [u64::from(*record); 2]).collect();
    assert_eq!(seen, twice, "each selected record once in each of two epochs");
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("67 of 67") && epoch.contains("checksum equal")));
}

#[test]
fn rule_42_a_stream_whose_groups_each_get_every_batch_is_for_one_node() {
    let site = Site::start();
    let (_, said) = site.home("one", RECORDS, "groups = \"each\"", "1h").fails_to_start();
    let words = "stream \"train\" has groups = \"each\", which needs a ledger of one daemon";
    assert!(said.contains(words) && said.contains("Leave out [coordinator] endpoint"), "{said}");
}

#[test]
fn rule_41_a_bad_record_on_one_node_stops_the_trainers_of_all() {
    let site = Site::start();
    let nodes = ["one", "two"].map(|node| {
        let home = site.home(node, 40, "epochs = 2", "1h");
        fs::write(home.picture(3), "this is no picture").unwrap();
        let daemon = home.start();
        (home, daemon)
    });
    let mut trainers = nodes.each_ref().map(|(home, _)| Puppet::attach(home));
    for trainer in &mut trainers {
        let reason = trainer.fails();
        assert!(reason.contains("0003.jpg") && reason.contains("on_error is \"fail\""), "{reason}");
    }
}

impl Puppet {
    /// Reads on until the stream fails, with the reason.
    pub(super) fn fails(&mut self) -> String {
        loop {
            match self.next() {
                Event::Failed(reason) => return reason,
                Event::Done => panic!("it has read the whole run"),
                Event::Batch(_) | Event::EpochEnd(_) | Event::Well | Event::State(_) => {}
            }
        }
    }
}
