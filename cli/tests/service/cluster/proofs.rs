//! Who may ask a coordinator: tokens, certificates, and the names in them (semantics rule 25).

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tonic::Code;
use tonic::transport::Endpoint;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use super::nodes::command;
use crate::authority::{Authority, secret};
use crate::daemon::{Daemon, Home, runtime, stderr};
use crate::trainer::Puppet;

/// A coordinator on TCP. Gives its port.
fn coordinate(folder: &Path, args: &[&str]) -> (Daemon, u16) {
    let mut coordinate = command();
    coordinate.args(["coordinate", "--listen", "127.0.0.1:0", "--path"]).arg(folder.join("ledgers")).args(args);
    let mut daemon = Daemon::spawn(coordinate);
    daemon.hears("the coordinator is ready");
    let port = daemon.said().split("address=127.0.0.1:").nth(1).unwrap().split_whitespace().next().unwrap();
    let port = port.parse().unwrap();
    (daemon, port)
}

fn status(port: u16, scheme: &str, args: &[&str]) -> Output {
    let address = format!("{scheme}://127.0.0.1:{port}");
    command().args(["status", "--coordinator", &address]).args(args).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn rule_25_a_coordinator_does_not_listen_for_other_machines_without_a_proof() {
    let folder = tempfile::tempdir().unwrap();
    let mut open = command();
    open.args(["coordinate", "--listen", "0.0.0.0:0", "--path"]).arg(folder.path().join("ledgers"));
    let (code, said) = Daemon::spawn(open).fails();
    assert_eq!(code, Some(1));
    assert!(said.contains("does not listen on 0.0.0.0:0 without protection"), "{said}");
}

#[test]
fn rule_25_only_callers_with_the_token_are_answered_and_it_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let (server, client) = (folder.path().join("server"), folder.path().join("client"));
    let [server_file, client_file] = [&server, &client].map(|file| file.display().to_string());
    secret(&server, "the first token of this test");
    secret(&client, "the-first-token-of-this-test");
    let mut wrong = command();
    wrong.args(["coordinate", "--listen", "127.0.0.1:0", "--token-file", &server_file, "--path"]);
    let (_, said) = Daemon::spawn({
        wrong.arg(folder.path().join("ledgers"));
        wrong
    })
    .fails();
    assert!(said.contains("a token is one line"), "{said}");
    secret(&server, "the-first-token-of-this-test");
    let (_daemon, port) = coordinate(folder.path(), &["--token-file", &server_file]);
    let refused = status(port, "http", &[]);
    assert!(stderr(&refused).contains("has no token"), "{}", stderr(&refused));
    let served = status(port, "http", &["--token-file", &client_file]);
    assert!(served.status.success(), "{}", stderr(&served));
    secret(&server, "another-token-of-this-test");
    let refused = status(port, "http", &["--token-file", &client_file]);
    assert!(stderr(&refused).contains("another token"), "{}", stderr(&refused));
    secret(&client, "another-token-of-this-test");
    assert!(status(port, "http", &["--token-file", &client_file]).status.success());
}

/// What the reflection of gRPC tells a caller with this token.
fn reflected(port: u16, token: &str, asked: MessageRequest) -> Result<MessageResponse, Code> {
    runtime().block_on(async {
        let channel = Endpoint::from_shared(format!("http://127.0.0.1:{port}")).unwrap().connect().await.unwrap();
        let asked = ServerReflectionRequest { message_request: Some(asked), ..ServerReflectionRequest::default() };
        let mut request = tonic::Request::new(futures_util::stream::iter([asked]));
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let told = ServerReflectionClient::new(channel).server_reflection_info(request).await;
        let told = told.map_err(|refused| refused.code())?.into_inner().message().await;
        Ok(told.map_err(|refused| refused.code())?.unwrap().message_response.unwrap())
    })
}

#[test]
fn a_coordinator_describes_its_calls_only_if_it_is_told_to_and_only_to_callers_with_the_token() {
    let services = || MessageRequest::ListServices(String::new());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let token = "the-only-token-of-this-test";
    secret(&file, token);
    let file = file.display().to_string();
    let (silent, port) = coordinate(folder.path(), &["--token-file", &file]);
    assert_eq!(reflected(port, token, services()), Err(Code::Unimplemented));
    drop(silent);
    let (_daemon, port) = coordinate(folder.path(), &["--token-file", &file, "--reflection"]);
    assert_eq!(reflected(port, "another-token-of-this-test", services()), Err(Code::Unauthenticated));
    let Ok(MessageResponse::ListServicesResponse(list)) = reflected(port, token, services()) else { panic!("no list") };
    let mut names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["forebay.v1.Ledger", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"]);
    let symbol = |name: &str| reflected(port, token, MessageRequest::FileContainingSymbol(name.to_owned()));
    for name in ["forebay.v1.Ledger", "forebay.v1.AcquireRequest", "grpc.health.v1.Health"] {
        assert!(matches!(symbol(name), Ok(MessageResponse::FileDescriptorResponse(_))), "{name}");
    }
    // A stream's calls are not the coordinator's.
    assert!(matches!(symbol("forebay.v1.Session"), Err(Code::NotFound) | Ok(MessageResponse::ErrorResponse(_))));
}

#[test]
fn rule_25_with_certificates_a_daemon_speaks_only_under_a_name_that_its_own_has() {
    let authority = Authority::new();
    authority.sign("server", &["127.0.0.1"]);
    authority.sign("node", &["train-1"]);
    let [ca, certificate, key] = ["ca.pem", "server.pem", "server.key"].map(|name| authority.file(name));
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key, "--tls-client-ca", &ca];
    let (_coordinator, port) = coordinate(authority.folder.path(), &tls);
    let refused = status(port, "http", &["--timeout", "5s"]);
    assert!(!refused.status.success(), "it speaks TLS only");
    assert!(
        stderr(&refused).contains("the other end speaks TLS. Begin the address with https://"),
        "{}",
        stderr(&refused)
    );
    let refused = status(port, "https", &["--tls-ca", &ca, "--timeout", "5s"]);
    assert!(!refused.status.success(), "it asks for a certificate");
    let words = "The coordinator does not accept the certificate of this program";
    assert!(stderr(&refused).contains(words), "{}", stderr(&refused));
    // One that another authority has signed.
    let other = Authority::new();
    other.sign("node", &["train-1"]);
    let [shown, its_key] = ["node.pem", "node.key"].map(|name| other.file(name));
    let shown = ["--tls-ca", &ca, "--tls-certificate", &shown, "--tls-key", &its_key, "--timeout", "5s"];
    let refused = status(port, "https", &shown);
    assert!(stderr(&refused).contains(words), "{}", stderr(&refused));

    let home = Home::with_pictures(12);
    let configure = |node: &str| {
        let text = format!(
            "[control]\ndir = \"{}\"\n[coordinator]\nendpoint = \"https://127.0.0.1:{port}\"\nnode = \"{node}\"\n\
             tls_ca = \"{ca}\"\ntls_certificate = \"{}\"\ntls_key = \"{}\"\n{}",
            home.path("sockets").display(),
            authority.file("node.pem"),
            authority.file("node.key"),
            home.train("epochs = 1")
        );
        fs::write(home.path("forebay.toml"), text).unwrap();
    };
    configure("train-2");
    let (_, said) = home.fails_to_start();
    assert!(said.contains("is not for worker \"train-2\""), "{said}");
    configure("train-1");
    let daemon = home.start();
    Puppet::attach(&home).finish();
    home.audit();
    daemon.stop();
}

#[test]
fn rule_25_a_wildcard_of_a_certificate_needs_two_names_behind_it() {
    let authority = Authority::new();
    authority.sign("server", &["127.0.0.1"]);
    authority.sign("nodes", &["*.train", "*.train.lan"]);
    let [ca, certificate, key] = ["ca.pem", "server.pem", "server.key"].map(|name| authority.file(name));
    let tls = ["--tls-certificate", &certificate, "--tls-key", &key, "--tls-client-ca", &ca];
    let (_coordinator, port) = coordinate(authority.folder.path(), &tls);
    let home = Home::with_pictures(12);
    let configure = |node: &str| {
        let [shown, its_key] = ["nodes.pem", "nodes.key"].map(|name| authority.file(name));
        let sockets = home.path("sockets");
        let text = format!(
            "[control]\ndir = {sockets:?}\n[coordinator]\nendpoint = \"https://127.0.0.1:{port}\"\nnode = \"{node}\"\n\
             tls_ca = \"{ca}\"\ntls_certificate = \"{shown}\"\ntls_key = \"{its_key}\"\n{}",
            home.train("epochs = 1")
        );
        fs::write(home.path("forebay.toml"), text).unwrap();
    };
    configure("a.train");
    let (_, said) = home.fails_to_start();
    assert!(said.contains("is not for worker \"a.train\""), "{said}");
    configure("a.train.lan");
    let daemon = home.start();
    Puppet::attach(&home).finish();
    daemon.stop();
}

#[test]
fn rule_25_certificates_are_exchanged_without_a_restart() {
    let (old, new) = (Authority::new(), Authority::new());
    old.sign("server", &["127.0.0.1"]);
    new.sign("server", &["127.0.0.1"]);
    let [certificate, key] = ["server.pem", "server.key"].map(|name| old.file(name));
    let (_coordinator, port) = coordinate(old.folder.path(), &["--tls-certificate", &certificate, "--tls-key", &key]);
    let [trusts_old, trusts_new] = [&old, &new].map(|authority| authority.file("ca.pem"));
    assert!(status(port, "https", &["--tls-ca", &trusts_old]).status.success());
    assert!(!status(port, "https", &["--tls-ca", &trusts_new, "--timeout", "5s"]).status.success());
    // Between the two it is a certificate with another's key, which is not used.
    fs::rename(new.path("server.pem"), old.path("server.pem")).unwrap();
    assert!(status(port, "https", &["--tls-ca", &trusts_old]).status.success(), "the earlier ones stay in use");
    fs::rename(new.path("server.key"), old.path("server.key")).unwrap();
    let served = status(port, "https", &["--tls-ca", &trusts_new]);
    assert!(served.status.success(), "{}", stderr(&served));
}
