//! States that trainers of several nodes load together, and what only the trainers of one node may do.

use std::fs;
use std::time::Instant;

use forebay_client::Patient;

use super::nodes::Site;
use super::visits::Visits;
use super::{EPOCHS, RECORDS};
use crate::daemon::PATIENCE;
use crate::trainer::{Puppet, Trainer};

#[test]
fn rule_38_ranks_of_two_nodes_load_one_state_and_it_is_applied_once_for_each_load() {
    let site = Site::start();
    let nodes = [site.node("one", RECORDS, EPOCHS), site.node("two", RECORDS, EPOCHS)];
    let mut ranks = nodes.each_ref().map(|(home, _)| Puppet::attach(home));
    let start = ranks[0].state();
    for id in ["first", "second"] {
        for rank in &mut ranks {
            rank.next().batch();
        }
        ranks[0].load(&start, id);
        let mut visits = Visits::default();
        // Were the other rank's load applied anew, this batch would come again.
        visits.note("one", &[ranks[0].next()]);
        ranks[1].load(&start, id);
        ranks.iter_mut().for_each(Puppet::run);
        for (rank, node) in ranks.iter().zip(["one", "two"]) {
            visits.note(node, &rank.rest());
        }
        visits.check_once(RECORDS, 2);
        assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")));
        // The next round begins at the start as well.
        ranks[0].load(&start, &format!("{id}, over"));
        ranks[1].load(&start, &format!("{id}, over"));
    }
}

#[test]
fn rule_38_a_node_without_trainers_continues_at_the_state_that_another_one_loads() {
    let site = Site::start();
    let (busy, idle) = (site.node("busy", RECORDS, EPOCHS), site.node("idle", RECORDS, EPOCHS));
    let mut trainer = Puppet::attach(&busy.0);
    let start = trainer.state();
    trainer.next().batch();
    trainer.next().batch();
    // The other node has no trainer: no load id is needed.
    trainer.restore(&start);
    let mut late = Puppet::attach(&idle.0);
    let mut visits = Visits::default();
    trainer.run();
    late.run();
    visits.note("busy", &trainer.rest());
    visits.note("late", &late.rest());
    visits.check_once(RECORDS, 2);
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")));
}

#[test]
fn rule_38_reset_waits_for_the_last_trainer_of_the_other_node_to_leave() {
    let site = Site::start();
    let nodes = [site.node("one", RECORDS, EPOCHS), site.node("two", RECORDS, EPOCHS)];
    let mut one = Trainer::attach(&nodes[0].0);
    let two = Puppet::attach(&nodes[1].0);
    let start = one.session.state(&mut Patient).unwrap();
    one.next().batch();
    let refused = one.session.reset(&mut Patient).unwrap_err().to_string();
    assert!(refused.contains("ends epoch 0") && refused.contains("node \"two\""), "{refused}");
    let refused = one.session.restore(&start, &mut Patient).unwrap_err().to_string();
    assert!(refused.contains("node \"two\"") && refused.contains("load_id"), "{refused}");
    two.close();
    let until = Instant::now() + PATIENCE;
    // Its daemon says so behind its back.
    while let Err(refused) = one.session.reset(&mut Patient) {
        assert!(refused.to_string().contains("node \"two\"") && Instant::now() < until, "{refused}");
    }
    let seen = one.epoch();
    assert!(seen.iter().all(|seen| seen.epoch == 1), "the first epoch is over");
    let audit = site.audit();
    assert!(audit[1].contains("abandoned") && audit[2].contains("200 delivered"), "{audit:?}");
}

#[test]
fn rule_41_a_load_ends_the_failure_on_all_nodes() {
    let site = Site::start();
    let nodes = ["one", "two"].map(|node| {
        let home = site.home(node, 40, "epochs = 1", "1h");
        fs::write(home.picture(3), "this is no picture").unwrap();
        let daemon = home.start();
        (home, daemon)
    });
    let mut ranks = nodes.each_ref().map(|(home, _)| Puppet::attach(home));
    for rank in &mut ranks {
        rank.fails();
    }
    // The record is in quarantine by now, also in the state.
    let state = ranks[0].state();
    for rank in &mut ranks {
        rank.load(&state, "without the bad record");
    }
    ranks.iter_mut().for_each(Puppet::run);
    for rank in &ranks {
        rank.rest();
    }
    let audit = site.audit();
    assert!(
        audit[1].contains("40 of 40 records accounted for (39 delivered, 1 quarantined), complete but for 1 bad"),
        "{audit:?}"
    );
}
