//! `[coordinator]`: where the ledgers are kept.

use std::path::PathBuf;

use forebay_ledger_client::{Address, CertificateFiles, Remote};
use forebay_printable::printable;
use serde_json::Value;
use thiserror::Error;

use super::Environment;
use super::table::Table;
use super::value::path;

pub(super) const EXAMPLE: &str = r#"[coordinator]
# Who keeps the ledgers. "embedded": this daemon. An address, such as "http://127.0.0.1:7171", "https://coordinator:7171" or
# "unix:/run/forebay/coordinator.sock": `forebay coordinate` there. Set it if daemons on several nodes read one dataset for
# one training job (docs/cluster.md). Several addresses, with commas between them, are asked in turn.
# endpoint = "embedded"
# The folder of the ledgers, with "embedded". Left out: /var/lib/forebay for a service; $XDG_STATE_HOME/forebay or
# ~/.local/state/forebay for a user.
# path = "/var/lib/forebay"
# The name of this daemon for the coordinator. No two daemons may have the same, and each must keep its own when it is
# started again. Left out: FOREBAY_NODE, or else the machine's host name. Set it if several daemons run on one machine, or
# if host names change.
# node = "train-1"
# A file with the token that the coordinator asks for. It is read again when it changes.
# token_file = "/etc/forebay/token"
# For an https address. The certificates of the authority that has signed the coordinator's certificate, in PEM.
# tls_ca = "/etc/forebay/ca.pem"
# If the coordinator asks for a certificate: the certificate and the key that this daemon shows it. The certificate must
# have the node's name as a DNS name. Both are read again when they change.
# tls_certificate = "/etc/forebay/node.pem"
# tls_key = "/etc/forebay/node.key"
"#;

/// The section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coordinator {
    /// Folder of the ledgers; by default [`Environment::state_dir`](super::Environment::state_dir).
    pub path: Option<PathBuf>,
    /// The coordinator in another process that has the ledgers, if it is not this daemon.
    pub remote: Option<Remote>,
    /// Name of this daemon; see [`Coordinator::name`].
    pub node: Option<String>,
}

/// `FOREBAY_NODE` is no name of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("FOREBAY_NODE is \"{text}\". Give {NAME}.", text = printable(.0))]
pub struct NodeNameError(String);

/// Longest name of a node, in bytes.
const NODE: usize = 200;
const NAME: &str = "a name of at most 200 bytes, without '/' and control characters";

impl Coordinator {
    /// The name of this daemon for a coordinator: by this section, or else by the environment. `None` is the machine's.
    ///
    /// # Errors
    /// The variable has another value than a name.
    pub fn name(&self, environment: &Environment) -> Result<Option<String>, NodeNameError> {
        match (&self.node, &environment.node) {
            (None, Some(name)) if !is_name(name) => Err(NodeNameError(name.clone())),
            (given, variable) => Ok(given.clone().or_else(|| variable.clone())),
        }
    }

    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        let addresses = table.take("endpoint", endpoint).flatten();
        let folder = table.take("path", path);
        let node = table.take("node", node);
        let [token, authority, certificate, key] =
            ["token_file", "tls_ca", "tls_certificate", "tls_key"].map(|key| table.take(key, path));
        // An embedded coordinator needs no proof of identity.
        let Some(addresses) = addresses else { return Self { path: folder, remote: None, node } };
        if folder.is_some() {
            table.mistake("path", "cannot be combined with the endpoint of a coordinator, which has the ledgers.");
        }
        if addresses.iter().any(Address::is_tls) {
            if authority.is_none() && !table.has("tls_ca") {
                table.mistake("tls_ca", "is missing: an https endpoint needs it.");
            }
        } else if let Some(key) = ["tls_ca", "tls_certificate", "tls_key"].into_iter().find(|key| table.has(key)) {
            table.mistake(key, "is of no use without an https endpoint.");
        }
        let certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(CertificateFiles { certificate, key }),
            (None, None) => None,
            (Some(_), None) => missing(table, "tls_key", "tls_certificate"),
            (None, Some(_)) => missing(table, "tls_certificate", "tls_key"),
        };
        let remote = Remote { token, authority, certificate, ..Remote::at(addresses) };
        Self { path: None, remote: Some(remote), node }
    }
}

fn missing<T>(table: &mut Table<'_, '_>, key: &str, other: &str) -> Option<T> {
    if !table.has(key) {
        table.mistake(key, format!("is missing: {other} is given."));
    }
    None
}

/// Nothing for `embedded`.
fn endpoint(value: &Value) -> Result<Option<Vec<Address>>, String> {
    match value.as_str() {
        Some("embedded") => Ok(None),
        Some(text) if Address::list(text).is_ok() => Ok(Address::list(text).ok()),
        _ => Err("\"embedded\", or an address such as \"http://127.0.0.1:7171\", \"https://coordinator:7171\" or \
                  \"unix:/run/forebay/coordinator.sock\""
            .to_owned()),
    }
}

/// As the ledger takes it.
fn node(value: &Value) -> Result<String, String> {
    value.as_str().filter(|text| is_name(text)).map(str::to_owned).ok_or_else(|| NAME.to_owned())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= NODE && !text.contains(|c: char| c == '/' || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use crate::config::Config;

    #[test]
    fn the_environment_names_the_node_if_the_configuration_does_not() {
        let name = |section: &str, variable: Option<&str>| {
            let config = Config::parse(&format!("[coordinator]\n{section}"), "a.toml").unwrap();
            config.coordinator.name(&Environment { node: variable.map(str::to_owned), ..Environment::default() })
        };
        assert_eq!(name("", None), Ok(None));
        assert_eq!(name("", Some("rack 7")), Ok(Some("rack 7".into())));
        assert_eq!(name("node = \"n\"", Some("rack 7")), Ok(Some("n".into())));
        assert_eq!(name("node = \"n\"", Some("a/b")), Ok(Some("n".into())), "the configuration decides");
        for wrong in ["a/b", "a\nb", &"é".repeat(101)] {
            let error = name("", Some(wrong)).unwrap_err().to_string();
            assert!(error.starts_with("FOREBAY_NODE is ") && error.contains("at most 200 bytes"), "{error}");
        }
    }

    fn mistakes(section: &str) -> String {
        Config::parse(&format!("[coordinator]\n{section}"), "a.toml").unwrap_err().to_string()
    }

    #[test]
    fn rule_34_a_coordinator_elsewhere_is_named_by_addresses() {
        let read = |section: &str| Config::parse(&format!("[coordinator]\n{section}"), "a.toml").unwrap().coordinator;
        assert_eq!(read("").remote, None);
        assert_eq!(read("endpoint = \"embedded\"\npath = \"/a\"").path, Some("/a".into()));
        let two = read("endpoint = \"http://a:1, http://b:2\"\nnode = \"n\"\ntoken_file = \"/t\"");
        let remote = two.remote.unwrap();
        assert_eq!((remote.addresses.len(), remote.token, two.node), (2, Some("/t".into()), Some("n".into())));
        let tls = read("endpoint = \"https://a:1\"\ntls_ca = \"/ca\"\ntls_certificate = \"/c\"\ntls_key = \"/k\"");
        assert_eq!(tls.remote.unwrap().certificate.unwrap().key, std::path::Path::new("/k"));
    }

    #[test]
    fn rule_25_keys_that_do_not_go_together_are_named() {
        for (section, words) in [
            ("endpoint = \"a:1\"", "coordinator.endpoint: is \"a:1\"; give \"embedded\", or an address"),
            ("endpoint = \"http://a:1\"\npath = \"/a\"", "coordinator.path: cannot be combined"),
            ("endpoint = \"https://a:1\"", "coordinator.tls_ca: is missing"),
            (
                "endpoint = \"http://a:1\"\ntls_ca = \"/a\"",
                "coordinator.tls_ca: is of no use without an https endpoint",
            ),
            (
                "endpoint = \"https://a:1\"\ntls_ca = \"/a\"\ntls_key = \"/k\"",
                "coordinator.tls_certificate: is missing",
            ),
            (
                "endpoint = \"http://a:1\"\nnode = \"a/b\"",
                "coordinator.node: is \"a/b\"; give a name of at most 200 bytes",
            ),
        ] {
            let told = mistakes(section);
            assert!(told.contains(words), "{section}: {told}");
        }
    }
}
