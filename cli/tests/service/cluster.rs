//! Several daemons on one coordinator, as processes: they share each epoch, any of them may be killed, the coordinator too,
//! and the audit still adds up.

mod agreement;
mod border;
mod chaos;
mod etcd;
mod loads;
mod moves;
mod nodes;
mod page;
mod proofs;
mod recovery;
mod tails;
mod visits;
mod whole;

use std::fs;
use std::process::Stdio;

use forebay_client::Patient;
use rustix::process::Signal;

use crate::daemon::{Daemon, Home, stderr};
use crate::trainer::{Event, Puppet, Trainer, batches, records};
use nodes::{Site, command};
use visits::Visits;

const RECORDS: u64 = 200;
const EPOCHS: &str = "epochs = 2\nshuffle = true";

#[test]
fn rule_15_two_daemons_share_each_epoch_and_every_record_is_delivered_once() {
    let site = Site::start();
    let nodes = [site.node("one", RECORDS, EPOCHS), site.node("two", RECORDS, EPOCHS)];
    let mut trainers = nodes.each_ref().map(|(home, _)| Puppet::attach(home));
    let mut visits = Visits::default();
    // Both have their part before one of them can have it all.
    for (trainer, node) in trainers.iter_mut().zip(["one", "two"]) {
        visits.note(node, &[trainer.next()]);
    }
    trainers.iter_mut().for_each(Puppet::run);
    for (trainer, node) in trainers.iter().zip(["one", "two"]) {
        visits.note(node, &trainer.rest());
    }
    visits.check_once(RECORDS, 2);
    let status = site.command(&["status"]);
    let said = String::from_utf8(status.stdout).unwrap();
    assert!(said.contains("ledger default/train/all: 200 records"), "{said}");
    assert!(said.contains("worker   one (process ") && said.contains("worker   two (process "), "{said}");
    let audit = site.audit();
    assert_eq!(audit.len(), 3, "{audit:?}");
    assert!(audit[1..].iter().all(|epoch| epoch.contains("checksum equal")), "{audit:?}");
    // What a daemon says of the stream is of all daemons together.
    let (home, _) = &nodes[0];
    assert_eq!(home.audit(), audit.iter().map(|line| line.replace("default/train/all", "train")).collect::<Vec<_>>());
}

#[test]
fn rule_15_a_killed_daemon_s_records_go_to_the_other_one_and_the_audit_adds_up() {
    let site = Site::start();
    let (kept, killed) = (site.node("kept", RECORDS, EPOCHS), site.node("killed", RECORDS, EPOCHS));
    let (mut survivor, mut victim) = (Puppet::attach(&kept.0), Puppet::attach(&killed.0));
    let mut visits = Visits::default();
    visits.note("survivor", &[survivor.next()]);
    let lost: Vec<Event> = (0..3).map(|_| victim.next()).collect();
    killed.1.kill();
    visits.note_lost("victim", &[lost, victim.kill()].concat());
    survivor.run();
    visits.note("survivor", &survivor.rest());
    visits.check(RECORDS, 2);
    let repeated = visits.repeated();
    let json = String::from_utf8(site.command(&["audit", "--json"]).stdout).unwrap();
    let audit: serde_json::Value = serde_json::from_str(&json).unwrap();
    let epochs = audit["streams"][0]["epochs"].as_array().unwrap();
    assert!(epochs.iter().all(|epoch| epoch["verdict"] == "adds_up"), "{json}");
    let named: u64 = epochs.iter().map(|epoch| epoch["possibly_repeated"]["lease_expired"].as_u64().unwrap()).sum();
    assert!(named >= repeated, "{repeated} records came again, and the audit names {named}: {json}");
}

#[test]
fn rule_19_a_daemon_that_was_stopped_takes_back_what_it_had_offered() {
    let site = Site::start();
    let (stopped, other) = (site.node("stopped", RECORDS, "epochs = 1"), site.node("other", RECORDS, "epochs = 1"));
    let mut visits = Visits::default();
    let mut victim = Puppet::attach(&stopped.0);
    // It has this batch in hand, and a second one was offered to it.
    visits.note_lost("victim", &[victim.next()]);
    stopped.0.wait_for("two batches are with the trainer", |status| status.slots_held == 2);
    stopped.1.signal(Signal::STOP);
    // Its leases expire, and the other node gets all that it had.
    visits.note("other", &Puppet::attach(&other.0).finish());
    stopped.1.signal(Signal::CONT);
    let late = victim.finish();
    assert_eq!(batches(&late), [], "all of it was delivered elsewhere");
    visits.check(RECORDS, 1);
    let audit = site.audit();
    assert!(audit[1].contains("checksum equal"), "{audit:?}");
}

#[test]
fn rule_18_a_killed_coordinator_costs_nothing_but_time() {
    let mut site = Site::start();
    let nodes = [site.node("one", RECORDS, EPOCHS), site.node("two", RECORDS, EPOCHS)];
    let mut trainers = nodes.each_ref().map(|(home, _)| Puppet::attach(home));
    let mut visits = Visits::default();
    for round in 0..3 {
        for (trainer, node) in trainers.iter_mut().zip(["one", "two"]) {
            visits.note(node, &[trainer.next()]);
        }
        site.kill();
        if round == 1 {
            // It stays away until the daemons have noticed.
            nodes[0].0.wait_for_outage();
        }
        site.restart();
    }
    trainers.iter_mut().for_each(Puppet::run);
    for (trainer, node) in trainers.iter().zip(["one", "two"]) {
        visits.note(node, &trainer.rest());
    }
    visits.check_once(RECORDS, 2);
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")));
}

#[test]
fn rule_34_a_daemon_whose_coordinator_is_gone_ends_when_it_is_told_to() {
    let mut site = Site::start();
    let home = site.home("one", RECORDS, EPOCHS, "2s");
    let daemon = home.start();
    let mut trainer = Puppet::attach(&home);
    trainer.next().batch();
    site.kill();
    home.wait_for_outage();
    trainer.kill();
    daemon.signal(Signal::TERM);
    let (_, said) = daemon.ends();
    assert!(said.contains("draining"), "{said}");
}

#[test]
fn rule_34_a_daemon_whose_trainers_are_done_does_not_wait_for_a_coordinator_that_is_gone() {
    let mut site = Site::start();
    // It would give its trainers an hour.
    let (home, daemon) = site.node("one", RECORDS, EPOCHS);
    let mut trainer = Puppet::attach(&home);
    trainer.next().batch();
    site.kill();
    home.wait_for_outage();
    trainer.kill();
    daemon.signal(Signal::TERM);
    let (status, said) = daemon.ends();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("Nothing that was acknowledged is lost"), "{said}");
}

#[test]
fn rule_34_a_stream_is_closed_while_its_coordinator_is_gone_and_read_on_when_it_is_back() {
    let mut site = Site::start();
    let (home, _daemon) = site.node("one", RECORDS, EPOCHS);
    let mut victim = Puppet::attach(&home);
    let mut visits = Visits::default();
    let mut lost = vec![victim.next()];
    site.kill();
    home.wait_for_outage();
    lost.extend(victim.kill());
    visits.note_lost("victim", &lost);
    // A new run closes the stream before the ledgers of the old one are forgotten, which fails here.
    let renewed = home.command(&["run", "new", "train"]);
    assert!(stderr(&renewed).contains("the coordinator at unix:"), "{}", stderr(&renewed));
    site.restart();
    visits.note("heir", &Puppet::attach(&home).finish());
    visits.check(RECORDS, 2);
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")));
}

#[test]
fn rule_34_a_stream_that_waits_for_its_coordinator_says_that_its_dataset_is_open() {
    let mut site = Site::start();
    let home = site.home("one", RECORDS, EPOCHS, "1h");
    site.kill();
    let mut daemon = Daemon::spawn(home.serve_command());
    daemon.hears("the ledger cannot be reached");
    let [stream] = <[_; 1]>::try_from(home.whole_status().closed).unwrap();
    assert!(stream.opening && stream.dataset_open, "{stream:?}");
    let said = String::from_utf8(home.command(&["status"]).stdout).unwrap();
    assert!(said.contains("LEDGER  could not be reached"), "{said}");
    assert!(said.contains("OPENING  its dataset is open; it waits for its ledger"), "{said}");
    site.restart();
    daemon.hears("the stream is open");
    assert_eq!(home.whole_status().closed, []);
}

#[test]
fn rule_33_two_daemons_with_one_name_and_the_later_one_stays() {
    let site = Site::start();
    let (first, _daemon) = site.node("same", RECORDS, EPOCHS);
    let mut fenced = Trainer::attach(&first);
    fenced.next().batch();
    let (second, newer) = site.node("same", RECORDS, EPOCHS);
    let refusal = loop {
        match fenced.next() {
            Event::Failed(why) => break why,
            Event::Batch(_) => {}
            other => panic!("{other:?}"),
        }
    };
    let pid = format!("process {}", newer.pid());
    assert!(refusal.contains(&pid) && refusal.contains("node in [coordinator]"), "{refusal}");
    let mut trainer = Trainer::attach(&second);
    trainer.epoch();
    trainer.session.audit(&mut Patient).unwrap();
}

#[test]
fn rule_33_a_daemon_that_is_started_again_takes_its_own_place_and_its_trainer_hands_in() {
    let site = Site::start();
    let (home, daemon) = site.node("one", RECORDS, EPOCHS);
    let (_other, idle) = site.node("two", RECORDS, EPOCHS);
    let mut trainer = Puppet::attach(&home);
    let mut visits = Visits::default();
    visits.note("one", &[trainer.next(), trainer.next()]);
    daemon.kill();
    let _again = home.start();
    // The second daemon has no trainer: it is stopped, so that what it leased is read by the first.
    idle.stop();
    trainer.run();
    visits.note("one", &trainer.rest());
    visits.check_once(RECORDS, 2);
    site.audit();
}

#[test]
fn rule_35_a_daemon_without_a_trainer_holds_up_nobody_and_reads_again_when_one_comes() {
    let site = Site::start();
    let (busy, idle) = (site.node("busy", RECORDS, "epochs = 3"), site.node("idle", RECORDS, "epochs = 3"));
    idle.0.wait_for("it has batches for nobody", |status| status.slots_ready > 0);
    let mut visits = Visits::default();
    let mut trainer = Puppet::attach(&busy.0);
    let mut events = Vec::new();
    while !events.contains(&Event::EpochEnd(0)) {
        events.push(trainer.next());
    }
    visits.note("busy", &events);
    let mut late = Puppet::attach(&idle.0);
    visits.note("late", &[late.next()]);
    trainer.run();
    late.run();
    visits.note("busy", &trainer.rest());
    visits.note("late", &late.rest());
    visits.check_once(RECORDS, 3);
    let audit = site.audit();
    assert!(audit[1..].iter().all(|epoch| epoch.contains("checksum equal")), "{audit:?}");
}

#[test]
fn rule_35_a_slow_node_keeps_only_what_its_trainer_has_taken_while_others_wait() {
    let site = Site::start();
    let (slow, quick) = (site.node("slow", RECORDS, "epochs = 1"), site.node("quick", RECORDS, "epochs = 1"));
    let mut visits = Visits::default();
    // With more credits, it would be offered a second one, which it gives back only when it asks for the next.
    let mut idler = Puppet::with_one_credit(&slow.0);
    let taken = idler.next();
    slow.0.wait_for("it has more batches than its trainer takes", |status| status.slots_ready > 0);
    let mut trainer = Puppet::attach(&quick.0);
    trainer.run();
    // The slow trainer asks for nothing meanwhile: all but what it has in hand goes to the other one.
    let mut events = Vec::new();
    while records(&batches(&events)).len() < usize::try_from(RECORDS).unwrap() - taken.clone().batch().own.len() {
        events.push(trainer.told());
    }
    visits.note("quick", &events);
    visits.note("slow", &[taken]);
    idler.run();
    visits.note("slow", &idler.rest());
    visits.note("quick", &trainer.rest());
    visits.check_once(RECORDS, 1);
    assert!(site.audit()[1].contains("checksum equal"));
}

#[test]
fn rule_11_an_epoch_that_waits_for_another_node_names_it_with_its_daemon() {
    let site = Site::start();
    let slow = site.node("slow", RECORDS, "epochs = 1");
    let quick = site.node("quick", RECORDS, "epochs = 1\nepoch_end_timeout = \"1s\"");
    let mut idler = Puppet::with_one_credit(&slow.0);
    idler.next().batch();
    let mut trainer = Trainer::attach(&quick.0);
    let why = loop {
        match trainer.next() {
            Event::Batch(_) => {}
            // On a busy machine, it may have waited as long for a batch of its own node before.
            Event::Failed(why) if why.contains("node \"quick\"") => {}
            Event::Failed(why) => break why,
            other => panic!("{other:?} while another node has a batch"),
        }
    };
    let process = format!("node \"slow\" has (process {} on host", slow.1.pid());
    assert!(why.contains("epoch 0 has waited") && why.contains(&process), "{why}");
    // The error costs nothing: the epoch ends when the other trainer goes on.
    idler.run();
    while trainer.next() != Event::EpochEnd(0) {}
}

#[test]
fn a_run_is_forgotten_at_the_coordinator_by_its_address_or_by_a_daemon_s_configuration() {
    let site = Site::start();
    let (home, daemon) = site.node("one", 12, "epochs = 1");
    Puppet::attach(&home).finish();
    daemon.stop();
    let renewed = site.command(&["run", "new", "train"]);
    assert!(renewed.status.success(), "{}", stderr(&renewed));
    let again = site.command(&["run", "new", "train"]);
    assert!(stderr(&again).contains("has no run \"default\" of stream \"train\""), "{}", stderr(&again));
    home.start().stop();
    let config = home.path("forebay.toml");
    let mut by_config = command();
    by_config.args(["run", "new", "train", "--config"]).arg(&config);
    let by_config = by_config.arg("--socket-dir").arg(home.path("nowhere")).stdin(Stdio::null()).output().unwrap();
    assert!(by_config.status.success(), "{}", stderr(&by_config));
}

#[test]
fn a_run_that_is_forgotten_under_its_daemon_fails_that_stream_alone_until_it_begins_again() {
    let site = Site::start();
    let home = site.home("one", 12, "epochs = 1", "1h");
    let file = home.path("forebay.toml");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &home.stream("other", "epochs = 1")).unwrap();
    let daemon = home.start();
    Puppet::attach(&home).finish();
    let renewed = site.command(&["run", "new", "train"]);
    assert!(renewed.status.success(), "{}", stderr(&renewed));

    home.wait_for_daemon("the stream has failed, and it is told of both", |status| {
        let failures: Vec<_> = status.streams.iter().map(|each| (&*each.name, !each.failure.is_empty())).collect();
        failures == [("other", false), ("train", true)]
    });
    let status = home.command(&["status"]);
    assert!(String::from_utf8_lossy(&status.stdout).contains("forebay run new"), "{status:?}");

    let renewed = home.command(&["run", "new", "train"]);
    assert!(renewed.status.success(), "{}", stderr(&renewed));
    assert!(home.whole_status().streams.iter().all(|each| each.failure.is_empty()));
    Puppet::attach(&home).finish();
    daemon.stop();
}

impl Home {
    /// Waits until the daemon has noticed that its coordinator is gone.
    pub(crate) fn wait_for_outage(&self) {
        self.wait_for_daemon("the coordinator is missed", |status| status.ledger_outage.is_some());
    }
}
