//! How stores are reached: credentials, endpoints, deadlines. A plain struct that the caller fills in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use forebay_sources::ObjectRoots;

use crate::{Cache, Retries, Secret};

/// How stores are reached. The default knows no credentials.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the vendors' own tools are given.
    pub credentials: Credentials,
    /// Where the store is, if it is not where its vendor's stores are: `http://minio:9000`. Comes before
    /// `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AZURE_STORAGE_ENDPOINT`, `STORAGE_EMULATOR_HOST` and `HF_ENDPOINT`.
    pub endpoint: Option<String>,
    /// The region of the bucket. Comes before `AWS_REGION` and `AWS_DEFAULT_REGION`.
    pub region: Option<String>,
    /// Sends requests without credentials, for public buckets.
    pub anonymous: bool,
    /// Puts the bucket's name before the endpoint's host (`https://BUCKET.HOST/KEY`) instead of before the key. If
    /// none, Alibaba OSS has it so, and other endpoints do not.
    pub virtual_hosted: Option<bool>,
    /// HTTP servers.
    pub web: WebSettings,
    /// A file with certificates (PEM) to trust beside the system's.
    pub certificates: Option<PathBuf>,
    /// Deadlines and retries.
    pub retries: Retries,
    /// The most requests for bytes that a store has under way at once. There are fewer while requests time out or are refused.
    pub requests: usize,
    /// Keeps what was read on a local disk. Stores share it. None reads everything from the store each time.
    pub cache: Option<Arc<Cache>>,
}

/// Variables and files of the vendors' own tools.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// Variables, such as `AWS_ACCESS_KEY_ID`, by name. See [`Settings::from_variables`].
    pub variables: BTreeMap<String, Secret>,
    /// The file with the token of the Hugging Face Hub. Comes after `HF_TOKEN`. It need not exist.
    pub hub_token: Option<PathBuf>,
}

/// How HTTP servers are reached.
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// Tokens by host. Sent as `Authorization: Bearer TOKEN` to that host alone, over TLS or to this machine.
    pub bearers: BTreeMap<String, Secret>,
    /// Hosts to which a server may redirect. Without them, it may redirect only to itself.
    pub redirect_hosts: Vec<String>,
    /// Where a server may redirect to on its own host.
    pub roots: ObjectRoots,
    /// The most bytes that are kept in memory of the files of a server that has no ranges.
    pub whole_files: u64,
}

/// Bytes of whole files.
const WHOLE_FILES: u64 = 256 << 20;
/// How the names of the vendors' variables begin.
const VENDORS: [&str; 6] = ["AWS_", "AZURE_", "GOOGLE_", "STORAGE_EMULATOR_HOST", "HF_", "HUGGING_FACE_HUB_TOKEN"];

impl Default for Settings {
    fn default() -> Self {
        Self {
            credentials: Credentials::default(),
            endpoint: None,
            region: None,
            anonymous: false,
            virtual_hosted: None,
            web: WebSettings::default(),
            certificates: None,
            retries: Retries::default(),
            requests: 128,
            cache: None,
        }
    }
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            bearers: BTreeMap::new(),
            redirect_hosts: Vec::new(),
            roots: ObjectRoots::Anywhere,
            whole_files: WHOLE_FILES,
        }
    }
}

impl Settings {
    /// Takes the credentials and endpoints of the vendors' own tools from variables, such as `std::env::vars_os()`
    /// gives. Variables of other names, and those that are not text, are left out; `HOME` and its like only say where
    /// the file with the hub's token is.
    ///
    /// ```
    /// use forebay_objects::Settings;
    ///
    /// let variables = [("AWS_REGION", "eu-central-1"), ("HOME", "/root")].map(|(name, value)| (name.into(), value.into()));
    /// let settings = Settings::from_variables(variables);
    /// assert_eq!(settings.credentials.variables.len(), 1);
    /// ```
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables: Vec<(OsString, OsString)> = variables.into_iter().collect();
        let hub_token = hub_token(&variables);
        let text = variables.into_iter().filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            let ours = VENDORS.iter().any(|vendor| name.starts_with(vendor)) && !value.is_empty();
            ours.then(|| (name, Secret::new(value)))
        });
        Self { credentials: Credentials { variables: text.collect(), hub_token }, ..Self::default() }
    }

    /// The first of these variables that is set.
    pub(crate) fn variable(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.credentials.variables.get(*name)).map(Secret::expose)
    }
}

/// Where the hub's own tools keep the token.
fn hub_token(variables: &[(OsString, OsString)]) -> Option<PathBuf> {
    let path = |wanted: &str| {
        let found = variables.iter().find(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value)| PathBuf::from(value))
    };
    let caches = || path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
    let home = || path("HF_HOME").or_else(|| caches().map(|caches| caches.join("huggingface")));
    path("HF_TOKEN_PATH").or_else(|| home().map(|home| home.join("token")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_54_secrets_are_in_no_debug_text() {
        let given = [("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI"), ("AZURE_STORAGE_KEY", "Eby8vdM02xNO")];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let mut settings = Settings::from_variables(given);
        settings.web.bearers.insert("hub.example".into(), Secret::new("hf_token"));
        let text = format!("{settings:?} {settings:#?}");
        for secret in ["wJalrXUtnFEMI", "Eby8vdM02xNO", "hf_token"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert_eq!(settings.variable(&["NONE", "AZURE_STORAGE_KEY"]), Some("Eby8vdM02xNO"));
    }

    #[test]
    fn the_hub_s_token_is_where_its_own_tools_keep_it() {
        let path = |variables: &[(&str, &str)]| {
            let given = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            Settings::from_variables(given).credentials.hub_token
        };
        let home = ("HOME", "/home/a");
        assert_eq!(path(&[]), None);
        assert_eq!(path(&[home]), Some("/home/a/.cache/huggingface/token".into()));
        assert_eq!(path(&[home, ("XDG_CACHE_HOME", "/c")]), Some("/c/huggingface/token".into()));
        assert_eq!(path(&[home, ("XDG_CACHE_HOME", ""), ("HF_HOME", "/h")]), Some("/h/token".into()));
        assert_eq!(path(&[home, ("HF_HOME", "/h"), ("HF_TOKEN_PATH", "/t")]), Some("/t".into()));
    }
}
