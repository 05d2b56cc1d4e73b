//! TLS and users of etcd: secrets come from files (semantics rule 25).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forebay_coordinator::{EtcdSettings, EtcdStore, Store as _};
use forebay_ledger_client::CertificateFiles;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::cluster::EtcdCluster;
use crate::{leads, open, settings, until};

fn secret(file: &Path, text: &str) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

/// `ca.pem`, and certificates with keys that it has signed.
fn certificates(folder: &Path, names: &[&str]) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    secret(&folder.join("ca.pem"), &issuer.pem());
    for name in names {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        secret(&folder.join(format!("{name}.pem")), &params.signed_by(&key, &issuer).unwrap().pem());
        secret(&folder.join(format!("{name}.key")), &key.serialize_pem());
    }
}

/// Why it does not lead, once etcd has said something.
fn refusal(settings: &EtcdSettings) -> String {
    let mut store = EtcdStore::open(settings).unwrap();
    until("etcd has said something", || {
        let error = store.term().expect_err("it does not lead").to_string();
        Some(error).filter(|error| !error.contains("not asked yet"))
    })
}

#[test]
fn rule_25_etcd_is_asked_with_a_certificate_and_as_a_user_by_secrets_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    certificates(folder.path(), &["member", "coordinator"]);
    let [certificate, key, authority] =
        ["member.pem", "member.key", "ca.pem"].map(|name| path(name).display().to_string());
    let tls = ["--cert-file", &certificate, "--key-file", &key, "--client-cert-auth", "--trusted-ca-file", &authority];
    let Some(mut etcd) = EtcdCluster::with_tls(&tls) else { return };
    for (call, body) in [
        ("user/add", r#"{"name": "root", "password": "of-the-test"}"#),
        ("role/add", r#"{"name": "root"}"#),
        ("user/grant", r#"{"user": "root", "role": "root"}"#),
        ("enable", "{}"),
    ] {
        let answer = etcd.post(0, &format!("/v3/auth/{call}"), body);
        assert!(answer.contains("200 OK"), "{call}: {answer}");
    }
    secret(&path("password"), "of-the-test\n");
    secret(&path("wrong"), "another\n");
    let whole = EtcdSettings {
        authority: Some(path("ca.pem")),
        certificate: Some(CertificateFiles { certificate: path("coordinator.pem"), key: path("coordinator.key") }),
        user: Some(("root".to_owned(), path("password"))),
        ..settings(&etcd.tls_endpoint(), "/secret")
    };
    let password_is = |mode| fs::set_permissions(path("password"), fs::Permissions::from_mode(mode)).unwrap();
    let mut store = open(&EtcdSettings { lease: Duration::from_secs(12), ..whole.clone() });
    let term = store.term().unwrap();
    store.commit(&[]).unwrap();
    // etcd forgets all tokens, and for a while there is no password for new ones. The lease is not renewed, and not given up.
    // After a crash, etcd would find the last tokens in its log.
    password_is(0o644);
    etcd.stop(0);
    etcd.restart(0);
    let unsure = until("the lease is late", || store.term().err());
    assert!(unsure.to_string().contains("etcd has not been heard"), "{unsure}");
    password_is(0o600);
    leads(&mut store);
    store.commit(&[]).unwrap();
    assert_eq!(store.term().unwrap(), term);
    drop(store);

    let wrong = EtcdSettings { user: Some(("root".to_owned(), path("wrong"))), ..whole.clone() };
    assert!(refusal(&wrong).contains("authentication failed"), "{}", refusal(&wrong));
    let without_user = EtcdSettings { user: None, certificate: None, ..whole.clone() };
    refusal(&without_user);
    password_is(0o644);
    let open_file = EtcdStore::open(&whole).unwrap_err().to_string();
    assert!(open_file.contains("password") && open_file.contains("chmod o="), "{open_file}");
}
