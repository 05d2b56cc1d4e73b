//! The cluster seen as one: its nodes, where a record is, and its epochs as they are completed.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use super::nodes::{Site, command};
use crate::daemon::{PATIENCE, lines, stderr, until};
use crate::trainer::{Event, Puppet};

const RECORDS: u64 = 200;

/// What a command that must succeed prints as JSON.
fn json(site: &Site, args: &[&str]) -> Value {
    let output = site.command(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The states of a record in the ledgers that have it.
fn states(site: &Site, record: i64) -> Vec<String> {
    let found = json(site, &["status", "--where", &record.to_string()]);
    let ledgers = found["ledgers"].as_array().unwrap();
    let places = ledgers.iter().flat_map(|ledger| ledger["places"].as_array().unwrap());
    places.map(|place| place["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rule_35_a_node_that_others_wait_for_is_slow_and_one_that_was_killed_is_gone() {
    let site = Site::start();
    let (slow, quick) = (site.node("slow", RECORDS, "epochs = 1"), site.node("quick", RECORDS, "epochs = 1"));
    let (mut holder, mut waiting) = (Puppet::attach(&slow.0), Puppet::attach(&quick.0));
    let held = holder.next().batch();
    waiting.run();
    let node = |name: &str| {
        let cluster = json(&site, &["status", "--cluster"]);
        let nodes = cluster["nodes"].as_array().unwrap().clone();
        nodes.into_iter().find(|node| node["name"] == name).unwrap()
    };
    until("the other node waits for it", || {
        (node("slow")["state"] == "slow" && node("quick")["state"] == "waits").then_some(())
    });
    assert_eq!(states(&site, held.records[0]), ["leased"]);
    let said = String::from_utf8(site.command(&["status", "--where", &held.records[0].to_string()]).stdout).unwrap();
    assert!(said.contains("not delivered yet, in lease ") && said.contains(" of slow (process "), "{said}");
    // Not in one look with the above: what it gives back meanwhile is waited for no more.
    until("the text says so as well", || {
        let said = String::from_utf8(site.command(&["status", "--cluster"]).stdout).unwrap();
        said.starts_with("2 nodes, 1 stream, 1 slow\n").then_some(())
    });

    slow.1.kill();
    holder.kill();
    waiting.rest();
    until("nothing is heard from it", || (node("slow")["state"] == "gone").then_some(()));
    assert_eq!(states(&site, held.records[0]), ["delivered"]);
    let cluster = json(&site, &["status", "--cluster"]);
    assert_eq!((&cluster["streams"][0]["delivered"], &cluster["streams"][0]["epochs"]), (&RECORDS.into(), &1.into()));
}

#[test]
fn rule_24_an_audit_that_follows_tells_each_epoch_and_ends_with_the_last() {
    let site = Site::start();
    let (home, _daemon) = site.node("one", RECORDS, "epochs = 3\nshuffle = true");
    let mut trainer = Puppet::attach(&home);
    trainer.run();
    let followed = site.command(&["audit", "--follow=50ms"]);
    trainer.rest();
    assert!(followed.status.success(), "{}", stderr(&followed));
    let lines = String::from_utf8(followed.stdout).unwrap();
    let epochs: Vec<&str> = lines.lines().filter_map(|line| line.strip_prefix("default/train/all: ")).collect();
    assert_eq!(epochs.len(), 3, "{lines}");
    for (number, epoch) in epochs.iter().enumerate() {
        assert!(
            epoch.starts_with(&format!("epoch {number}: 200 of 200")) && epoch.contains("checksum equal"),
            "{lines}"
        );
    }
    // The daemon is asked in the same way. With --json, each line is an object.
    let followed = home.command(&["audit", "--follow", "--json"]);
    assert!(followed.status.success(), "{}", stderr(&followed));
    let lines = String::from_utf8(followed.stdout).unwrap();
    let told: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<&str> =
        told[0]["epochs"].as_array().unwrap().iter().filter_map(|e| e["verdict"].as_str()).collect();
    assert_eq!((told.len(), verdicts), (1, vec!["adds_up"; 3]), "{lines}");
}

#[test]
fn rule_34_an_audit_that_follows_waits_for_a_coordinator_that_was_killed() {
    let mut site = Site::start();
    let (home, _daemon) = site.node("one", RECORDS, "epochs = 2\nshuffle = true");
    let mut trainer = Puppet::attach(&home);
    while trainer.next() != Event::EpochEnd(0) {}
    let mut follow = command();
    follow.args(["audit", "--follow=50ms", "--coordinator", &site.address()]);
    let mut follow = follow.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (told, said) = (lines(follow.stdout.take().unwrap()), lines(follow.stderr.take().unwrap()));
    let first = told.recv_timeout(PATIENCE).unwrap();
    assert!(first.contains("epoch 0: 200 of 200"), "{first}");
    site.kill();
    let outage = said.recv_timeout(PATIENCE).unwrap();
    assert!(outage.contains("The coordinator does not answer") && outage.contains("The audit waits"), "{outage}");
    site.restart();
    trainer.finish();
    let second = told.recv_timeout(PATIENCE).unwrap();
    assert!(second.contains("epoch 1: 200 of 200") && second.contains("checksum equal"), "{second}");
    assert!(follow.wait().unwrap().success());
    assert_eq!(said.recv_timeout(PATIENCE).unwrap(), "forebay: The coordinator answers again.");
    // One that never answered may be the wrong one.
    site.kill();
    let refused = site.command(&["audit", "--follow", "--timeout", "1s"]);
    assert!(!refused.status.success() && stderr(&refused).contains("Check the address"), "{}", stderr(&refused));
}

#[test]
fn a_record_that_no_dataset_has_is_in_no_ledger_and_a_daemon_is_not_asked_for_one() {
    let site = Site::start();
    let (home, _daemon) = site.node("one", 20, "epochs = 1");
    assert_eq!(states(&site, 20), [""; 0]);
    let said = String::from_utf8(site.command(&["status", "--where", "20"]).stdout).unwrap();
    assert_eq!(said, "no ledger has record 20 in an epoch that goes on\n");
    for args in [&["status", "--where", "3"][..], &["status", "--cluster"]] {
        let refused = home.command(args);
        assert!(!refused.status.success() && stderr(&refused).contains("--coordinator"), "{}", stderr(&refused));
    }
}

#[test]
fn the_metrics_of_a_coordinator_count_workers_and_what_they_delivered() {
    let site = Site::with(&["--metrics", "127.0.0.1:0"]);
    let address = site.said().split("metrics=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let (home, _daemon) = site.node("one", RECORDS, "epochs = 1");
    let mut trainer = Puppet::attach(&home);
    trainer.run();
    trainer.rest();
    let get = |path: &str| {
        let mut socket = TcpStream::connect(&address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
            .write_all(format!("GET {path} HTTP/1.1\r\nHost: forebay\r\nConnection: close\r\n\r\n").as_bytes())
            .unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        text
    };
    let wanted = [
        "forebay_ledger_writable 1",
        "forebay_ledger_workers{ledger=\"default/train/all\"} 1",
        "forebay_ledger_delivered_total{ledger=\"default/train/all\"} 200",
        "forebay_ledger_leased_positions{ledger=\"default/train/all\"} 0",
    ];
    until("the numbers are those of now", || {
        let text = get("/metrics");
        wanted.iter().all(|line| text.contains(line)).then_some(())
    });
    assert!(get("/healthz").ends_with("\r\n\r\nok\n"));
    assert!(get("/readyz").ends_with("\r\n\r\nready\n"));
}
