//! What fills no batch on one node is put together with what fills none on others.

use std::collections::BTreeMap;

use super::nodes::Site;
use super::visits::Visits;
use crate::daemon::{Daemon, Home};
use crate::trainer::{Event, Puppet, batches};

/// Not a multiple of a batch, which is four.
const RECORDS: u64 = 202;
const NAMES: [&str; 3] = ["one", "two", "three"];

/// Three nodes that have all begun before one of them may have everything, until all of them are done.
fn run(site: &Site, settings: &str) -> Vec<(&'static str, Vec<Event>)> {
    let nodes: [(Home, Daemon); 3] = NAMES.map(|name| site.node(name, RECORDS, settings));
    let mut trainers = nodes.each_ref().map(|(home, _)| Puppet::attach(home));
    let mut told: Vec<_> = trainers.iter_mut().map(|trainer| vec![trainer.next()]).collect();
    trainers.iter_mut().for_each(Puppet::run);
    for (events, trainer) in told.iter_mut().zip(&trainers) {
        events.extend(trainer.rest());
    }
    NAMES.into_iter().zip(told).collect()
}

/// The sizes of batches that are not full, by epoch.
fn short(told: &[(&str, Vec<Event>)]) -> BTreeMap<u64, Vec<usize>> {
    let mut short = BTreeMap::<u64, Vec<usize>>::new();
    for (_, events) in told {
        for seen in batches(events).into_iter().filter(|seen| seen.own.len() < 4) {
            short.entry(seen.epoch).or_default().push(seen.own.len());
        }
    }
    short
}

#[test]
fn rule_36_an_epoch_of_three_nodes_has_one_batch_that_is_not_full() {
    let site = Site::start();
    let told = run(&site, "epochs = 3\nshuffle = true");
    let mut visits = Visits::default();
    for (name, events) in &told {
        visits.note(name, events);
    }
    visits.check_once(RECORDS, 3);
    assert_eq!(short(&told), BTreeMap::from([(0, vec![2]), (1, vec![2]), (2, vec![2])]));
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")));
}

#[test]
fn rule_36_only_what_fills_no_batch_of_all_nodes_is_dropped() {
    let site = Site::start();
    let told = run(&site, "epochs = 2\nlast_batch_policy = \"drop\"");
    assert_eq!(short(&told), BTreeMap::new());
    let audit = site.audit();
    let words = "(200 delivered, 2 dropped), checksum equal";
    assert!(audit.len() == 3 && audit[1..].iter().all(|epoch| epoch.contains(words)), "{audit:?}");
}
