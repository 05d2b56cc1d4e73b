//! URLs of objects: which store they name, and which key in it. Pure.

use forebay_sources::SourceError;
use reqwest::Url;

use crate::repository::Repository;

/// A protocol of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// S3, and stores that speak its protocol.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage and Data Lake Storage.
    Azure,
    /// Datasets of the Hugging Face Hub.
    Hub,
    /// A plain HTTP server. It cannot list.
    Web,
}

/// A URL of an object, or of several under a prefix, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The protocol.
    pub scheme: Scheme,
    /// The store, as the URL names it, with a slash at its end: `s3://bucket/`, `hf://datasets/owner/name@revision/`.
    pub root: String,
    /// What follows the root: a key, a prefix of keys, or nothing. In the URL of an HTTP server it is percent-encoded
    /// as the URL is. In all others it is the key itself, so `%20` is three characters of it.
    pub key: String,
}

const SCHEMES: [(&str, Scheme); 11] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Google),
    ("gcs", Scheme::Google),
    ("az", Scheme::Azure),
    ("azure", Scheme::Azure),
    ("abfs", Scheme::Azure),
    ("abfss", Scheme::Azure),
    ("hf", Scheme::Hub),
    ("http", Scheme::Web),
    ("https", Scheme::Web),
];

/// What a store's URL must be, for an error.
const EXPECTED: &str = "s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY, \
                        abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY, hf://datasets/OWNER/NAME/PATH or \
                        https://HOST/PATH";

/// Whether the name begins with the scheme of a store, as in `s3://`.
pub fn is_object_url(name: &str) -> bool {
    split_scheme(name).is_some()
}

impl Address {
    /// Takes the URL apart. A name or a password in it is refused: it would reach logs and indices.
    ///
    /// ```
    /// use forebay_objects::Address;
    ///
    /// let address = Address::parse("s3://pictures/train/0.tar")?;
    /// assert_eq!((address.root.as_str(), address.key.as_str()), ("s3://pictures/", "train/0.tar"));
    /// # Ok::<(), forebay_sources::SourceError>(())
    /// ```
    pub fn parse(url: &str) -> Result<Self, SourceError> {
        let wrong = |expected: &str| SourceError::bad_option("source", &shown(url), expected);
        let (scheme, rest) = split_scheme(url).ok_or_else(|| wrong(EXPECTED))?;
        if scheme == Scheme::Hub {
            let (_, key) = Repository::split(rest).map_err(wrong)?;
            let root = format!("{}/", url[..url.len() - key.len()].trim_end_matches('/'));
            return Ok(Self { scheme, root, key: key.to_owned() });
        }
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        let fine =
            !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c.is_control() || "?#\\".contains(c));
        let account = host.split_once('@');
        match (scheme, account) {
            _ if !fine => return Err(wrong(EXPECTED)),
            (Scheme::Azure, Some((container, host))) if !container.is_empty() && !host.is_empty() => {}
            (_, Some(_)) => {
                return Err(wrong("without a name and a password; set them as variables or options instead"));
            }
            (Scheme::Web, None) => {
                Url::parse(&format!("http://{host}/")).map_err(|_| wrong(EXPECTED))?;
            }
            _ => {}
        }
        let root = format!("{}/", &url[..url.len() - rest.len() + host.len()]);
        Ok(Self { scheme, root, key: key.to_owned() })
    }

    /// The host, bucket, container or dataset that the root names.
    pub(crate) fn host(&self) -> &str {
        let (_, rest) = self.root.split_once("://").unwrap_or_default();
        rest.trim_end_matches('/')
    }
}

/// The URL without what may be secret in it: a name and a password, or the query of a signed URL.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let start = url.len() - rest.len();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_web = SCHEMES.contains(&(scheme, Scheme::Web));
    let host = match host.rsplit_once('@') {
        Some((_, host)) if !scheme.starts_with("abfs") => host,
        _ => host,
    };
    let path = if is_web { path.split(['?', '#']).next().unwrap_or_default() } else { path };
    format!("{}{host}{path}", &url[..start])
}

fn split_scheme(url: &str) -> Option<(Scheme, &str)> {
    let (name, rest) = url.split_once("://")?;
    let (_, scheme) = SCHEMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known))?;
    Some((*scheme, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(url: &str) -> (Scheme, String, String) {
        let address = Address::parse(url).unwrap();
        (address.scheme, address.root, address.key)
    }

    #[test]
    fn a_url_is_a_store_and_a_key() {
        for (url, scheme, root, key) in [
            ("s3://b/a/b.tar", Scheme::S3, "s3://b/", "a/b.tar"),
            ("s3a://b", Scheme::S3, "s3a://b/", ""),
            ("gs://b/a%20b+c d.jpg", Scheme::Google, "gs://b/", "a%20b+c d.jpg"),
            ("az://c/train/", Scheme::Azure, "az://c/", "train/"),
            ("abfss://c@a.dfs.core.windows.net/x", Scheme::Azure, "abfss://c@a.dfs.core.windows.net/", "x"),
            ("https://h:8443/d/{0..3}.tar?t=1", Scheme::Web, "https://h:8443/", "d/{0..3}.tar?t=1"),
            ("http://[::1]:80/a", Scheme::Web, "http://[::1]:80/", "a"),
            ("hf://datasets/o/n", Scheme::Hub, "hf://datasets/o/n/", ""),
            ("hf://datasets/o/n@v1/a/b c", Scheme::Hub, "hf://datasets/o/n@v1/", "a/b c"),
        ] {
            assert_eq!(parts(url), (scheme, root.to_owned(), key.to_owned()));
        }
        assert_eq!(Address::parse("s3://b/a").unwrap().host(), "b");
    }

    #[test]
    fn rule_54_only_schemes_of_stores_are_followed_and_no_password_is_shown() {
        for url in [
            "file:///etc/passwd",
            "ftp://h/a",
            "/data",
            "s3:b/a",
            "s3://",
            "s3:///a",
            "http:///a",
            "http://h:x/",
            "gs://b?c/d",
            "hf://o/n/a",
            "hf://user:hunter2@datasets/o/n",
        ] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
        assert!(!is_object_url("file:///a") && !is_object_url("tar:s3") && is_object_url("S3://b/a"));
        let error = Address::parse("https://user:hunter2@host/a?sig=hunter3").unwrap_err().to_string();
        assert!(error.contains("https://host/a") && !error.contains("hunter"), "{error}");
        assert!(Address::parse("s3://key:secret@bucket/a").unwrap_err().to_string().contains("without a name"));
        assert_eq!(shown("az://a?b/c?d"), "az://a?b/c?d");
        assert_eq!(shown("abfs://c@account/x"), "abfs://c@account/x");
    }
}
