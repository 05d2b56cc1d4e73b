//! What commands tell of a running daemon to programs, and how they wait for one.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::daemon::{Home, stderr};
use crate::trainer::{Trainer, records};

/// What a command prints as JSON.
fn told(home: &Home, args: &[&str]) -> Value {
    let output = home.command(&[args, &["--json"]].concat());
    // 3: complete but for bad records.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn status_audit_and_quarantine_are_told_as_json() {
    let home = Home::with_pictures(6);
    fs::write(home.picture(2), "this is no picture").unwrap();
    let daemon = home.serve("epochs = 2\non_error = \"skip\"\ncache = { keep = \"encoded\", memory = \"1mb\" }");
    let mut trainer = Trainer::attach(&home);
    for _ in 0..2 {
        assert_eq!(records(&trainer.epoch()), [0, 1, 3, 4, 5]);
    }

    let status = told(&home, &["status"]);
    assert_eq!((&status["pid"], &status["ledger_outage"]), (&json!(daemon.pid()), &Value::Null));
    assert!(status["uptime_seconds"].is_f64() && status["version"].is_string(), "{status}");
    assert_eq!(status["socket"], home.socket().to_str().unwrap());
    assert_eq!((&status["ready"], &status["closed"]), (&json!(true), &json!([])));
    let stream = &status["streams"][0];
    let figures = ["name", "run", "records", "delivered", "bad", "failure"].map(|key| stream[key].clone());
    assert_eq!(figures, [json!("train"), json!("default"), json!(6), json!(10), json!(2), Value::Null]);
    assert_eq!(stream["source"], home.path("pictures").to_str().unwrap());
    assert_eq!(stream["trainers"][0]["pid"], std::process::id());
    assert_eq!((&stream["ring"]["placement"], &stream["cache"]["budget_bytes"]), (&json!("host"), &json!(1_000_000)));
    let slots: Vec<&String> = stream["slots"].as_object().unwrap().keys().collect();
    assert_eq!(slots, ["free", "filling", "ready", "held", "quarantined"]);
    let stages: Vec<&Value> = stream["stages"].as_array().unwrap().iter().map(|stage| &stage["name"]).collect();
    assert_eq!(stages, ["prefetch", "decode", "batch"]);
    assert!(stream["stages"][0]["waited_for_input_seconds"].is_f64(), "{stream}");
    assert_eq!(status["lanes"][0]["name"], "cpu");
    assert!(status["decoders"].is_array() && status["gpus"].is_array() && status["switched_off"].is_array());

    let quarantine = told(&home, &["status", "--quarantine"]);
    let listed = &quarantine["streams"][0];
    assert_eq!((&listed["name"], &listed["quarantined"]), (&json!("train"), &json!(2)));
    let [bad] = &listed["records"].as_array().unwrap()[..] else { panic!("one record: {listed}") };
    assert_eq!((&bad["record"], &bad["epochs"]), (&json!(2), &json!([0, 1])));
    assert_eq!(bad["file"], home.picture(2).to_str().unwrap());
    assert!(bad["reason"].as_str().unwrap().contains("no picture"), "{bad}");

    let audit = told(&home, &["audit", "train"]);
    let epoch = &audit["streams"][0]["epochs"][1];
    let keys = ["epoch", "verdict", "records", "accounted", "delivered", "dropped", "quarantined", "abandoned"];
    let figures = keys.map(|key| epoch[key].clone());
    assert_eq!(figures, [json!(1), json!("adds_up"), json!(6), json!(6), json!(5), json!(0), json!(1), json!(0)]);
    assert_eq!(epoch["answer"], "complete_but_for_bad");
    assert_eq!(epoch["checksum"], epoch["checksum_expected"]);
    assert_eq!(epoch["possibly_repeated"]["daemon_died"], 0);
    assert_eq!(epoch["checksum"].as_str().unwrap().len(), 32);
}

#[test]
fn status_waits_for_a_daemon_that_is_not_there_yet() {
    let home = Home::with_pictures(2);
    let mut waits = Command::new(env!("CARGO_BIN_EXE_forebay"));
    waits.args(["status", "--wait", "--socket-dir"]).arg(home.path("sockets"));
    let waits = waits.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _daemon = home.serve("");
    let output = waits.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("stream train"));
}

#[test]
fn status_does_not_wait_for_ever_for_a_daemon_that_never_comes() {
    let home = Home::with_pictures(0);
    let output = home.command(&["status", "--wait=10ms"]);
    assert_eq!(output.status.code(), Some(1));
    for words in ["No daemon serves at", "control.sock", "within 0.01 s"] {
        assert!(stderr(&output).contains(words), "{words:?} is not in: {}", stderr(&output));
    }
}
