//! `groups = "each"`: each group of trainers gets every batch, whatever happens to another group (semantics rules 42 to 44).

use std::fs;

use forebay_client::{Options, Patient};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Home};
use crate::trainer::{Event, Puppet, Seen, Trainer, batches, options, records};

/// The records of one epoch among what a trainer was told.
fn of_epoch(seen: &[Seen], epoch: u64) -> Vec<u64> {
    records(seen.iter().filter(|batch| batch.epoch == epoch))
}

fn all(count: u64) -> Vec<u64> {
    (0..count).collect()
}

#[test]
fn rule_43_a_group_whose_trainer_is_killed_finds_what_it_missed_and_another_group_notices_nothing() {
    let home = Home::with_pictures(60);
    let _daemon = home.serve("groups = \"each\"\nepochs = 3\nshuffle = true");
    let mut steady = Puppet::attach(&home);
    let mut told = vec![steady.next()];
    let mut killed = Puppet::of_group(&home, Some("small"), true);
    steady.run();
    let mut small: Vec<Seen> = (0..4).map(|_| killed.next().batch()).collect();
    assert_eq!(small[0].epoch, 1, "it came in the middle of epoch 0");
    killed.kill();
    small.pop();
    let mut heir = Puppet::of_group(&home, Some("small"), true);
    small.extend(batches(&heir.finish()));
    told.extend(steady.rest());
    let steady = batches(&told);
    for epoch in 0..3 {
        assert_eq!(of_epoch(&steady, epoch), all(60), "epoch {epoch}");
    }
    assert_eq!((of_epoch(&small, 0), of_epoch(&small, 1), of_epoch(&small, 2)), (vec![], all(60), all(60)));
    home.audit();
}

#[test]
fn rule_42_trainers_of_one_group_share_its_batches() {
    let home = Home::with_pictures(60);
    let _daemon = home.serve("groups = \"each\"\nepochs = 2");
    let mut alone = Puppet::attach(&home);
    let first = alone.next();
    let mut sharing = [(); 2].map(|()| Puppet::of_group(&home, Some("small"), true));
    alone.run();
    sharing.iter_mut().for_each(Puppet::run);
    let shared: Vec<Seen> = sharing.iter().flat_map(|puppet| batches(&puppet.rest())).collect();
    assert_eq!(of_epoch(&shared, 1), all(60));
    let own = batches(&[vec![first], alone.rest()].concat());
    assert_eq!((of_epoch(&own, 0), of_epoch(&own, 1)), (all(60), all(60)));
    home.audit();
}

#[test]
fn rule_44_a_slow_group_holds_up_the_ring_and_nothing_is_taken_from_it_until_it_ends() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("groups = \"each\"\nepochs = 1");
    let mut slow = Puppet::with_one_credit(&home);
    slow.next().batch();
    let mut fast = Puppet::attach(&home);
    fast.run();
    home.wait_for("the ring is full of what the slow one has not had", |status| {
        let behind: Vec<u32> = status.groups.iter().map(|group| group.behind).collect();
        behind == [6, 0] && status.slots_free == 0
    });
    let groups = home.status().groups;
    assert_eq!(groups.iter().map(|group| group.pids[0]).collect::<Vec<_>>(), [slow.pid(), fast.pid()]);
    slow.kill();
    let seen = batches(&fast.rest());
    assert_eq!(of_epoch(&seen, 0), all(40), "what the other group alone had comes to it as well");
    home.audit();
}

#[test]
fn rule_44_a_slow_group_is_evicted_with_an_error_that_names_it_and_the_others_continue() {
    let home = Home::with_pictures(40);
    let _daemon = home.serve("groups = \"each\"\nepochs = 1\nslow = \"evict\"\nevict_after = \"1s\"");
    let mut slow = Puppet::of_group(&home, Some("slow"), false);
    slow.next().batch();
    let mut fast = Puppet::attach(&home);
    let seen = batches(&fast.finish());
    let Event::Failed(words) = slow.next() else { panic!("it is evicted") };
    for part in ["group \"slow\"", &slow.pid().to_string(), "without consuming a batch", "attach again"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    assert_eq!(of_epoch(&seen, 0), all(40), "the first batch came to the other group as well");
    home.audit();
}

#[test]
fn rule_44_a_state_is_of_a_stream_with_one_group() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("groups = \"each\"");
    let [mut one, two] = [(); 2].map(|()| Trainer::attach(&home));
    let refused = one.session.state(&mut Patient).unwrap_err().to_string();
    assert!(refused.contains("state_dict() needs a stream with one group of trainers, but 2 groups"), "{refused}");
    one.next().batch();
    let refused = one.session.reset(&mut Patient).unwrap_err().to_string();
    assert!(refused.contains("reads stream \"train\" as well"), "{refused}");
    two.session.close().unwrap();
    one.session.state(&mut Patient).unwrap();
    let in_group = || Trainer::with(&home, Options { group: Some("small".into()), ..options() });
    let first = in_group().unwrap();
    let refused = in_group().err().expect("they would wait for each other").to_string();
    assert!(refused.contains("has a trainer of group \"small\" on stream \"train\" already"), "{refused}");
    first.session.close().unwrap();
    let refused = one.session.reset(&mut Patient).unwrap_err().to_string();
    assert!(refused.contains("reset() needs a stream with one group of trainers, but 2 groups"), "{refused}");
}

#[test]
fn rule_44_after_a_daemon_s_death_every_record_is_accounted_for_and_every_group_continues() {
    let home = Home::with_pictures(200);
    let daemon = home.serve_little_ahead("groups = \"each\"\nepochs = 2\nshuffle = true");
    let mut puppets = [(); 2].map(|()| Puppet::attach(&home));
    for puppet in &mut puppets {
        (0..5).for_each(|_| drop(puppet.next().batch()));
    }
    daemon.kill();
    let _daemon = home.start();
    // Each is there again before the epoch can end.
    for puppet in &mut puppets {
        puppet.next().batch();
    }
    puppets.iter_mut().for_each(Puppet::run);
    for puppet in &puppets {
        let told = puppet.rest();
        assert_eq!(told.last(), Some(&Event::EpochEnd(1)));
        assert_eq!(of_epoch(&batches(&told), 1), all(200), "the next epoch is whole");
    }
    home.audit();
}

/// Two named groups. The slow one has its first batch, whose number is given. The fast one has consumed all six of the ring since
/// then, and waits: the ring is full. Gives what the fast one had.
fn apart(home: &Home) -> (Puppet, Puppet, Vec<Seen>, usize) {
    let mut fast = Puppet::of_group(home, Some("fast"), false);
    let mut slow = Puppet::of_group(home, Some("slow"), false);
    // It may have come before there was a batch, or behind the first two.
    let first = usize::try_from(slow.next().batch().seq).unwrap();
    let had: Vec<Seen> = (0..first + 6).map(|_| fast.next().batch()).collect();
    fast.ask();
    home.wait_for("the receipts have come", |status| {
        let delivered: Vec<u64> = status.groups.iter().map(|group| group.delivered).collect();
        delivered == [had.len() as u64, 0]
    });
    // It is answered when the ledger has all receipts.
    home.audit();
    (fast, slow, had, first)
}

/// Reads on until the group is told what it has missed. Gives what it has read.
fn is_told(slow: &mut Puppet, missed: &[Seen]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let words = loop {
        match slow.next() {
            Event::Batch(batch) => seen.push(batch),
            Event::Failed(words) => break words,
            other => panic!("{other:?}"),
        }
    };
    let (first, last) = (missed[0].seq, missed[missed.len() - 1].seq);
    let records = 4 * missed.len();
    let told = format!("missed {records} records of epoch 0, in batches {first} to {last}");
    assert!(words.contains(&told), "{told} in {words}");
    seen
}

/// What a group has missed after its daemon has ended in this way.
fn missed_after(end: impl FnOnce(Daemon)) {
    let home = Home::with_pictures(200);
    home.configure(&home.train("groups = \"each\"\nepochs = 1"));
    let config = home.path("forebay.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(config, text.replace("drain_timeout = \"1h\"", "drain_timeout = \"1ms\"")).unwrap();
    let daemon = home.start();
    let (mut fast, mut slow, had, first) = apart(&home);
    end(daemon);
    let _daemon = home.start();
    // It hands in its first batch. The fast one reads no more than one meanwhile, so that the epoch goes on.
    let mut of_slow = is_told(&mut slow, &had[first + 1..]);
    let mut of_fast = [had.clone(), vec![fast.told().batch()]].concat();
    fast.run();
    of_slow.extend(batches(&slow.finish()));
    of_fast.extend(batches(&fast.rest()));
    assert_eq!(of_epoch(&of_fast, 0), all(200), "the fast group has had each record once");
    let of_slow = [of_slow, had.clone()].concat();
    assert_eq!(of_epoch(&of_slow, 0), all(200), "the slow group has had all others once");
    let audit = home.audit();
    let has = |part: &str| assert!(audit.iter().any(|line| line.contains(part)), "{part} in {audit:#?}");
    has("group \"fast\": whole, 200 records, checksum equal");
    let (count, from, to) = (180 - 4 * first, first + 1, first + 5);
    has(&format!("{count} of 200 delivered records; missed 20 records of batches {from} to {to}"));
    let json: Value = serde_json::from_slice(&home.command(&["audit", "--json"]).stdout).unwrap();
    let groups = json["streams"][0]["epochs"][0]["groups"].as_array().unwrap();
    let of = |name: &str| groups.iter().find(|group| group["group"] == name).unwrap();
    let told = ["verdict", "records", "missed"];
    assert_eq!(told.map(|key| of("fast")[key].clone()), [json!("whole"), json!(200), Value::Null]);
    let missed = json!({ "from_batch": from, "to_batch": to, "records": 20 });
    assert_eq!(told.map(|key| of("slow")[key].clone()), [json!("part"), json!(count), missed]);
}

#[test]
fn rule_44_a_group_is_told_once_what_it_missed_when_its_daemon_died_and_the_audit_has_it() {
    missed_after(Daemon::kill);
}

#[test]
fn rule_44_a_group_is_told_once_what_it_missed_when_its_daemon_was_stopped_and_the_audit_has_it() {
    missed_after(Daemon::stop);
}

#[test]
fn rule_44_a_group_that_began_with_an_epoch_is_in_it_still_after_a_daemon_s_death() {
    let home = Home::with_pictures(200);
    let daemon = home.serve_little_ahead("groups = \"each\"\nepochs = 2");
    let [mut late, mut other] = [true, false].map(|late| Puppet::of_group(&home, None, late));
    for puppet in [&mut late, &mut other] {
        (0..5).for_each(|_| drop(puppet.next().batch()));
    }
    daemon.kill();
    let _daemon = home.start();
    // More than it can have of the dead daemon: batches of the epoch were offered when the late one comes.
    (0..3).for_each(|_| drop(other.next().batch()));
    assert_eq!(late.next().batch().epoch, 0, "its epoch has not ended");
    for puppet in [&mut late, &mut other] {
        puppet.run();
    }
    for puppet in [&late, &other] {
        assert_eq!(of_epoch(&batches(&puppet.rest()), 1), all(200), "the next epoch is whole");
    }
    home.audit();
}
