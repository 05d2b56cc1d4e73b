//! Who may ask a decoder, and which decoder a daemon believes: tokens, certificates, and the names in them (semantics rules 25 and 60).

use std::process::Command;

use crate::authority::{Authority, secret};
use crate::daemon::{Daemon, Home};
use crate::trainer::Trainer;

/// A decoder on TCP, with these options too. Gives its port.
fn decoder(home: &Home, options: &[&str]) -> (Daemon, u16) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command
        .args(["decode", "--threads", "1", "--listen", "127.0.0.1:0", "--root"])
        .arg(home.path("pictures"))
        .args(options);
    let mut decoder = Daemon::spawn(command);
    decoder.hears("the decoder is ready");
    let port = decoder.said().split("address=127.0.0.1:").nth(1).unwrap().split_whitespace().next().unwrap();
    let port = port.parse().unwrap();
    (decoder, port)
}

/// A daemon without decode threads, whose only decoder is at this address.
fn daemon(home: &Home, address: &str, keys: &str) -> Daemon {
    let decode = format!("[decode]\nthreads = 0\nremote = [\"{address}\"]\n{keys}");
    home.configure(&(home.train("epochs = 1") + &decode));
    home.start()
}

fn records(home: &Home) -> usize {
    Trainer::attach(home).epoch().iter().map(|batch| batch.own.len()).sum()
}

#[test]
fn rule_60_a_decoder_does_not_listen_for_other_machines_without_a_proof() {
    let mut open = Command::new(env!("CARGO_BIN_EXE_forebay"));
    open.args(["decode", "--listen", "0.0.0.0:0", "--root", "/tmp"]);
    let (code, said) = Daemon::spawn(open).fails();
    assert_eq!(code, Some(1));
    assert!(said.contains("does not listen on 0.0.0.0:0 without protection"), "{said}");
}

#[test]
fn rule_60_a_daemon_with_another_token_is_refused_by_name_until_it_has_the_decoders() {
    let home = Home::with_pictures(9);
    let [server, client] = ["server", "client"].map(|name| home.path(name));
    secret(&server, "the-token-of-the-decoder");
    secret(&client, "not-the-token-of-the-decoder");
    let (mut served, port) = decoder(&home, &["--token-file", server.to_str().unwrap()]);
    let key = format!("remote_token_file = \"{}\"\n", client.display());
    let mut refused = daemon(&home, &format!("http://127.0.0.1:{port}"), &key);
    refused.has_said("The token is not the decoder's.");
    served.has_said("a daemon's stream is refused");
    refused.stop();
    secret(&client, "the-token-of-the-decoder");
    let _daemon = daemon(&home, &format!("http://127.0.0.1:{port}"), &key);
    assert_eq!(records(&home), 9);
}

#[test]
fn rule_60_a_decoder_needs_a_certificate_of_its_name_and_a_daemon_one_of_its_authority() {
    let home = Home::with_pictures(9);
    let (authority, stranger) = (Authority::new(), Authority::new());
    authority.sign("decoder", &["localhost"]);
    authority.sign("elsewhere", &["elsewhere.example"]);
    authority.sign("node", &["train-1"]);
    stranger.sign("node", &["train-1"]);
    let ca = authority.file("ca.pem");
    let own = |of: &Authority, name: &str| {
        let [certificate, key] = ["pem", "key"].map(|kind| of.file(&format!("{name}.{kind}")));
        format!("remote_tls_ca = \"{ca}\"\nremote_tls_certificate = \"{certificate}\"\nremote_tls_key = \"{key}\"\n")
    };
    let shows = |name: &str| ["pem", "key"].map(|kind| authority.file(&format!("{name}.{kind}")));
    let [certificate, key] = shows("elsewhere");
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key, "--tls-client-ca", &ca];
    let (wrong, port) = decoder(&home, &tls);
    let mut doubts = daemon(&home, &format!("https://localhost:{port}"), &own(&authority, "node"));
    doubts.has_said("no decoder of [decode] remote makes pictures");
    assert!(doubts.said().contains("elsewhere.example") || doubts.said().contains("certificate"), "{}", doubts.said());
    doubts.stop();
    wrong.stop();
    let [certificate, key] = shows("decoder");
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key, "--tls-client-ca", &ca];
    let (mut asked, port) = decoder(&home, &tls);
    let address = format!("https://localhost:{port}");
    for keys in [format!("remote_tls_ca = \"{ca}\"\n"), own(&stranger, "node")] {
        let refused = daemon(&home, &address, &keys);
        asked.hears("a connection was refused");
        refused.stop();
    }
    let _daemon = daemon(&home, &address, &own(&authority, "node"));
    assert_eq!(records(&home), 9);
}
