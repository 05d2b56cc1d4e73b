//! Who may look at the page. It is pure: it sees the head of a request, and no connection.
//!
//! Every user of the machine can connect to a loopback address, so the path begins with a token. A browser can be made to send requests
//! by other sites: such a request names another origin, or a host name that an attacker has pointed at this machine (DNS rebinding).

use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;

use forebay_daemon::website::WebRequest;
use forebay_ledger_client::TokenFile;
use percent_encoding::percent_decode_str;
use rustix::rand::{GetRandomFlags, getrandom};

/// Decides about requests.
#[derive(Debug)]
pub(super) struct Access {
    /// None for a Unix socket, which only its user can open.
    token: Option<PageToken>,
    /// The address that is listened on.
    address: Option<IpAddr>,
}

/// What the path of a URL begins with.
pub(super) enum PageToken {
    /// Made at the start.
    Fresh {
        text: String,
        /// Two hashes are compared in constant time.
        hash: blake3::Hash,
    },
    /// The user's own.
    OfFile(TokenFile),
}

/// Why a request is not answered with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessRefusal {
    /// It names another server, or none.
    Host,
    /// A script of another site has made it.
    Origin,
    Method,
    /// The path does not begin with the token.
    Token,
}

/// Bytes of a token, too many to be guessed.
const RANDOM: usize = 16;

impl std::fmt::Debug for PageToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token, which is secret.
        f.debug_struct("PageToken").finish_non_exhaustive()
    }
}

impl PageToken {
    /// A new one.
    ///
    /// # Errors
    /// The system has no randomness to give.
    pub(super) fn fresh() -> io::Result<Self> {
        let mut bytes = [0; RANDOM];
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        let mut text = String::with_capacity(2 * RANDOM);
        for byte in bytes {
            write!(text, "{byte:02x}").map_err(io::Error::other)?;
        }
        Ok(Self::of(text))
    }

    fn of(text: String) -> Self {
        let hash = blake3::hash(text.as_bytes());
        Self::Fresh { text, hash }
    }

    fn is(&self, sent: &str) -> bool {
        match self {
            Self::Fresh { hash, .. } => blake3::hash(sent.as_bytes()) == *hash,
            Self::OfFile(file) => percent_decode_str(sent).decode_utf8().is_ok_and(|sent| file.is(&sent)),
        }
    }
}

impl AccessRefusal {
    /// The status of the answer.
    pub(super) const fn status(self) -> u16 {
        match self {
            Self::Host => 421,
            Self::Origin => 403,
            Self::Method => 405,
            Self::Token => 404,
        }
    }

    /// What the answer says. It tells nothing of the daemon.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Host => "Open the page by the address that forebay page has printed, or by localhost.\n",
            Self::Origin => "Other sites cannot read this page.\n",
            Self::Method => "Only GET and HEAD are answered here.\n",
            Self::Token => "Open the whole URL that forebay page has printed: its path begins with a token.\n",
        }
    }
}

impl Access {
    pub(super) const fn new(token: Option<PageToken>, address: Option<IpAddr>) -> Self {
        Self { token, address }
    }

    /// What a request asks for, from the slash behind the token on.
    ///
    /// # Errors
    /// It must not get that.
    pub(super) fn check<'a>(&self, request: &'a WebRequest) -> Result<&'a str, AccessRefusal> {
        let WebRequest { method, target, hosts, origins } = request;
        let [host] = hosts.as_slice() else { return Err(AccessRefusal::Host) };
        if !self.is_own(host) || !target.starts_with('/') {
            return Err(AccessRefusal::Host);
        }
        let is_own_origin =
            |origin: &String| origin.strip_prefix("http://").is_some_and(|of| of.eq_ignore_ascii_case(host));
        if !origins.iter().all(is_own_origin) {
            return Err(AccessRefusal::Origin);
        }
        if !matches!(method.as_str(), "GET" | "HEAD") {
            return Err(AccessRefusal::Method);
        }
        let Some(token) = &self.token else { return Ok(target) };
        let path = &target[1..];
        let end = path.find(['/', '?']).unwrap_or(path.len());
        let (sent, rest) = path.split_at(end);
        // Without the slash, links of the page would lead elsewhere.
        if token.is(sent) && rest.starts_with('/') { Ok(rest) } else { Err(AccessRefusal::Token) }
    }

    /// Whether a host is this machine, by a name that no DNS server decides about. The port may be that of a tunnel.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(inner) => inner.split_once(']').map(|(name, _)| name),
            None => Some(host.split_once(':').map_or(host, |(name, _)| name)),
        };
        let Some(name) = name else { return false };
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        name.parse::<IpAddr>().is_ok_and(|ip| Some(ip) == self.address || is_usual(ip))
    }
}

/// The addresses at which tunnels listen.
fn is_usual(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip == std::net::Ipv4Addr::LOCALHOST,
        IpAddr::V6(ip) => ip == std::net::Ipv6Addr::LOCALHOST,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn request(method: &str, target: &str, host: &str) -> WebRequest {
        WebRequest { method: method.into(), target: target.into(), hosts: vec![host.into()], origins: Vec::new() }
    }

    fn with_token() -> Access {
        Access::new(Some(PageToken::of(TOKEN.into())), Some([127, 0, 0, 2].into()))
    }

    #[test]
    fn the_path_begins_with_the_token_and_with_nothing_else() {
        let access = with_token();
        let asked = |target: &str| access.check(&request("GET", target, "localhost:7180")).map(str::to_owned);
        assert_eq!(asked(&format!("/{TOKEN}/")), Ok("/".to_owned()));
        assert_eq!(asked(&format!("/{TOKEN}/stream?name=a")), Ok("/stream?name=a".to_owned()));
        let upper = TOKEN.to_uppercase();
        for target in ["/", "//", "/style.css", &format!("/{TOKEN}"), &format!("/{TOKEN}?a"), &format!("/{upper}/")] {
            assert_eq!(asked(target), Err(AccessRefusal::Token), "{target}");
        }
        assert_eq!(asked(&format!("/{}/", &TOKEN[1..])), Err(AccessRefusal::Token));
        assert_ne!(PageToken::fresh().unwrap().text(), PageToken::fresh().unwrap().text());
    }

    #[test]
    fn a_host_that_a_name_server_decides_about_is_refused() {
        let access = with_token();
        let asked = |host: &str| access.check(&request("GET", &format!("/{TOKEN}/"), host)).is_ok();
        for host in ["localhost", "LOCALHOST:7180", "127.0.0.1:7180", "127.0.0.2", "[::1]:1"] {
            assert!(asked(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:7180",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::1",
            "10.0.0.1",
            "127.0.0.3",
            "0.0.0.0:7180",
            "user@localhost",
        ] {
            assert!(!asked(host), "{host}");
        }
        let mut two = request("GET", &format!("/{TOKEN}/"), "localhost");
        two.hosts.push("localhost".into());
        assert_eq!(access.check(&two), Err(AccessRefusal::Host));
        two.hosts.clear();
        assert_eq!(access.check(&two), Err(AccessRefusal::Host));
        assert_eq!(access.check(&request("GET", "", "localhost")), Err(AccessRefusal::Host), "another server's target");
    }

    #[test]
    fn other_sites_and_other_methods_get_nothing() {
        let access = with_token();
        let from = |origin: &str| {
            let origins = vec![origin.into()];
            let asked = WebRequest { origins, ..request("GET", &format!("/{TOKEN}/"), "localhost:7180") };
            access.check(&asked).map(str::to_owned)
        };
        assert!(from("http://localhost:7180").is_ok());
        for origin in ["null", "http://evil.example", "http://localhost:80", "https://localhost:7180", ""] {
            assert_eq!(from(origin), Err(AccessRefusal::Origin), "{origin}");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get"] {
            let asked = request(method, &format!("/{TOKEN}/"), "localhost");
            assert_eq!(access.check(&asked), Err(AccessRefusal::Method), "{method}");
        }
        assert!(access.check(&request("HEAD", &format!("/{TOKEN}/"), "localhost")).is_ok());
    }

    #[test]
    fn a_socket_needs_no_token_and_a_token_of_a_file_may_be_encoded() {
        let open = Access::new(None, None);
        assert_eq!(open.check(&request("GET", "/nodes", "localhost:7180")), Ok("/nodes"));
        assert_eq!(open.check(&request("GET", "/", "evil.example")), Err(AccessRefusal::Host));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "a/b?c#d%e-0123456789\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let access = Access::new(Some(PageToken::OfFile(TokenFile::open(&file).unwrap())), None);
        let asked = |target: &str| access.check(&request("GET", target, "localhost")).map(str::to_owned);
        assert_eq!(asked("/a%2Fb%3Fc%23d%25e-0123456789/"), Ok("/".to_owned()));
        assert_eq!(asked("/a%2Fb%3Fc%23d%25e-0123456780/"), Err(AccessRefusal::Token));
        assert_eq!(asked("/%ff/"), Err(AccessRefusal::Token));
    }

    impl PageToken {
        fn text(&self) -> Option<&str> {
            match self {
                Self::Fresh { text, .. } => Some(text),
                Self::OfFile(_) => None,
            }
        }
    }
}
