//! Where a coordinator is reached.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;
use tonic::transport::Uri;

/// The address of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A host and a port, with TLS or without: `https://a:7171`, `http://127.0.0.1:7171`.
    Network {
        /// Whether TLS is spoken.
        tls: bool,
        /// Name or number of the host.
        host: String,
        /// The port.
        port: u16,
    },
    /// A Unix socket: `unix:/run/forebay/coordinator.sock`.
    Socket(PathBuf),
}

/// A text that is no address. What is before its last `@` is not shown: it may be a user with a password.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "\"{0}\" is not the address of a coordinator; give a host with a port, such as \"http://127.0.0.1:7171\" or \
     \"https://coordinator:7171\", or a socket, such as \"unix:/run/forebay/coordinator.sock\""
)]
pub struct NoAddress(String);

impl NoAddress {
    fn of(text: &str) -> Self {
        Self(text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, place)| format!("...@{place}")))
    }

    /// As much of the text as may be shown.
    pub fn shown(&self) -> &str {
        &self.0
    }
}

/// Most addresses that a daemon may be given.
const MOST: usize = 16;

impl Address {
    /// One or several addresses, with commas between them.
    ///
    /// ```
    /// # use forebay_ledger_client::Address;
    /// let both = Address::list("http://a:7171,http://b:7171")?;
    /// assert_eq!(both[1].to_string(), "http://b:7171");
    /// assert!(Address::list("http://a").is_err(), "without a port");
    /// # Ok::<(), forebay_ledger_client::NoAddress>(())
    /// ```
    ///
    /// # Errors
    /// One of them is none, or they are more than 16.
    pub fn list(text: &str) -> Result<Vec<Self>, NoAddress> {
        let all: Result<Vec<Self>, _> = text.split(',').map(|one| one.trim().parse()).collect();
        // A password may have a comma in it.
        let all = all.map_err(|error| if text.contains('@') { NoAddress::of(text) } else { error })?;
        if all.len() > MOST { Err(NoAddress::of(text)) } else { Ok(all) }
    }

    /// Whether TLS is spoken there.
    pub const fn is_tls(&self) -> bool {
        matches!(self, Self::Network { tls: true, .. })
    }
}

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let none = || NoAddress::of(text);
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.starts_with('/') && !path.contains('\0') {
                Ok(Self::Socket(path.into()))
            } else {
                Err(none())
            };
        }
        let uri: Uri = text.parse().map_err(|_| none())?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(none()),
        };
        let plain = matches!(uri.path(), "" | "/") && uri.query().is_none() && !text.contains('@');
        let (Some(host), Some(port)) = (uri.host(), uri.port_u16().filter(|port| *port != 0 && plain)) else {
            return Err(none());
        };
        // Brackets of a URI around the number of a host.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() { Err(none()) } else { Ok(Self::Network { tls, host, port }) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network { tls, host, port } => {
                let scheme = if *tls { "https" } else { "http" };
                if host.contains(':') {
                    write!(f, "{scheme}://[{host}]:{port}")
                } else {
                    write!(f, "{scheme}://{host}:{port}")
                }
            }
            Self::Socket(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_as_they_were_given() {
        for text in ["http://127.0.0.1:7171", "https://train-1.example:443", "http://[::1]:7171", "unix:/run/a.sock"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert!("https://a:1".parse::<Address>().unwrap().is_tls());
    }

    #[test]
    fn what_is_no_address_is_refused_with_examples() {
        for text in [
            "",
            "a:7171",
            "http://a",
            "ftp://a:1",
            "http://:1",
            "http://a:0",
            "http://a:70000",
            "http://a:1/b",
            "http://a:1?b",
            "http://user@a:1",
            "unix:",
            "unix:relative",
            "https:///a",
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains("http://127.0.0.1:7171"), "{text:?}: {error}");
        }
        Address::list(&["http://a:1"; 17].join(",")).unwrap_err();
    }

    #[test]
    fn a_password_in_what_is_no_address_is_not_shown() {
        for text in ["http://root:hun,ter2@a:2379", "http://b:1,http://root:hun@ter2@a:2379", "root:hunter2@a:2379"] {
            let error = Address::list(text).unwrap_err();
            assert_eq!(error.shown(), "...@a:2379");
            assert!(!error.to_string().contains("hun"), "{error}");
        }
        assert_eq!("http://u:hunter2@a".parse::<Address>().unwrap_err().shown(), "...@a");
    }
}
