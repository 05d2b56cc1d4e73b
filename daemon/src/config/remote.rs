//! The keys of `[decode]` about decoders on other machines (semantics rule 60).

use forebay_ledger_client::{Address, CertificateFiles};
use forebay_pipeline::ByteSize;
use forebay_pipeline::settings::{DecodeSettings, RemoteSettings};
use serde_json::Value;

use super::table::Table;
use super::value::{path, size};

/// Memory for answers, for each decoder and stream, if nothing else is said.
const MEMORY: ByteSize = ByteSize(64 << 20);
/// Keys that mean nothing without decoders.
const BESIDE: [&str; 5] =
    ["remote_memory", "remote_token_file", "remote_tls_ca", "remote_tls_certificate", "remote_tls_key"];

/// Reads them. Nothing if there are no decoders.
pub(super) fn read(table: &mut Table<'_, '_>) -> Option<RemoteSettings> {
    let addresses = table.take("remote", addresses);
    let memory = table.take_or("remote_memory", MEMORY, size);
    let [token, authority, certificate, key] =
        ["remote_token_file", "remote_tls_ca", "remote_tls_certificate", "remote_tls_key"]
            .map(|key| table.take(key, path));
    let Some(addresses) = addresses else {
        if let Some(key) = BESIDE.into_iter().find(|key| table.has(key)).filter(|_| !table.has("remote")) {
            table.mistake(key, "is of no use without remote.");
        }
        return None;
    };
    if addresses.iter().any(Address::is_tls) && authority.is_none() && !table.has("remote_tls_ca") {
        table.mistake("remote_tls_ca", "is missing: an https address in remote needs it.");
    }
    if certificate.is_some() != key.is_some() {
        table.mistake("remote_tls_key", "and remote_tls_certificate belong together; give both.");
    }
    let certificate = certificate.zip(key).map(|(certificate, key)| CertificateFiles { certificate, key });
    Some(RemoteSettings { addresses, memory, token, authority, certificate })
}

/// What they do not go together with.
pub(super) fn check(table: &mut Table<'_, '_>, settings: &DecodeSettings) {
    if settings.threads == Some(0) && settings.remote.is_none() {
        table.mistake("threads", "is 0, but there is no remote whose decoders make the pictures; give at least 1.");
    }
    if settings.remote.is_some() && settings.lanes.want_gpu() {
        table.mistake(
            "remote",
            "cannot be combined with lanes of GPUs: decoders on other machines make the pixels of the CPU lane. Set lanes = [\"cpu\"].",
        );
    }
}

fn addresses(value: &Value) -> Result<Vec<Address>, String> {
    let given = value.as_array().map(|all| all.iter().map(|one| one.as_str()?.parse().ok()).collect());
    match given {
        Some(Some(addresses)) if !Vec::<Address>::is_empty(&addresses) && addresses.len() <= 32 => Ok(addresses),
        _ => Err(
            "a list of 1 to 32 addresses, such as [\"https://decoders:7272\"] or [\"unix:/run/forebay/decode.sock\"]"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn rule_60_threads_may_be_0_beside_decoders_and_keys_that_do_not_go_together_are_named() {
        let read = |keys: &str| Config::parse(&format!("[decode]\n{keys}\n"), "forebay.toml");
        let good = read("threads = 0\nremote = [\"http://127.0.0.1:7272\", \"unix:/run/d.sock\"]").unwrap().decode;
        let remote = good.remote.unwrap();
        assert_eq!((good.threads, remote.addresses.len(), remote.memory), (Some(0), 2, MEMORY));
        assert_eq!(read("").unwrap().decode.remote, None);
        for (keys, words) in [
            ("threads = 0", "decode.threads: is 0, but there is no remote"),
            ("remote = []", "a list of 1 to 32 addresses"),
            ("remote = \"http://a:1\"", "a list of 1 to 32 addresses"),
            ("remote = [\"a:1\"]", "a list of 1 to 32 addresses"),
            ("remote = [\"https://a:1\"]", "decode.remote_tls_ca: is missing"),
            ("remote = [\"http://a:1\"]\nremote_tls_key = \"/k\"", "belong together"),
            ("remote_memory = \"1mb\"", "is of no use without remote"),
            ("remote = [\"http://a:1\"]\nlanes = \"auto\"", "cannot be combined with lanes of GPUs"),
        ] {
            let told = read(keys).unwrap_err().to_string();
            assert!(told.contains(words), "{keys}: {told}");
        }
    }
}
