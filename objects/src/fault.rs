//! What went wrong with a request, and the cause: the object, the settings or the store.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use forebay_printable::{printable, system_error};
use forebay_sources::{Locator, ReadError, ReadErrorKind};
use reqwest::StatusCode;
use rustix::io::Errno;

/// A request that failed. Its text is safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// What happened; empty if the kind says everything.
    pub(crate) cause: String,
    /// How long the store asks to wait before the next attempt.
    pub(crate) wait: Option<Duration>,
    /// The request timed out or was refused for now, as it happens if too many are under way.
    pub(crate) crowded: bool,
}

/// The cause of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// No such object.
    Missing,
    /// The object may not be read with these credentials.
    Denied,
    /// The object is not the one that was pinned.
    Changed,
    /// The bucket is gone, and with it the dataset.
    Gone,
    /// The store will never give these bytes.
    Unreadable,
    /// The settings are wrong: no request to this store can succeed until the user changes them.
    Settings,
    /// The store fails, is not reached, or is too slow. It is tried again.
    Unavailable,
    /// This machine lacks descriptors or memory.
    Resources,
}

/// Characters of a cause that are kept.
const CAUSE_LIMIT: usize = 400;
/// Errors inside errors that are followed.
const CHAIN_LIMIT: usize = 32;

/// Codes of S3, Google and Azure that speak of the credentials, not of the object.
const CREDENTIAL_CODES: [&str; 11] = [
    "ExpiredToken",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "RequestTimeTooSkewed",
    "InvalidToken",
    "TokenRefreshRequired",
    "AuthenticationFailed",
    "InvalidAuthenticationInfo",
    "NoAuthenticationInformation",
    "AuthorizationHeaderMalformed",
    "InvalidSecurity",
];
/// Codes for a bucket that does not exist.
const BUCKET_CODES: [&str; 3] = ["NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted"];

impl Fault {
    /// A fault with the text of its cause, cut and made safe to show.
    pub(crate) fn new(kind: FaultKind, cause: impl fmt::Display) -> Self {
        let cause = printable(cause.to_string().trim()).to_string();
        let cause = match cause.char_indices().nth(CAUSE_LIMIT) {
            Some((cut, _)) => format!("{}...", &cause[..cut]),
            None => cause,
        };
        Self { kind, cause, wait: None, crowded: false }
    }

    /// The same fault, of a request with this answer.
    #[must_use]
    pub(crate) fn with_answer(self, status: StatusCode, wait: Option<Duration>) -> Self {
        let crowded = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        Self { wait, crowded, ..self }
    }

    /// What an answer other than success means. `code` is the store's own word for it.
    pub(crate) fn of_answer(status: StatusCode, code: Option<&str>, region: Option<&str>) -> Self {
        let kind = kind_of_answer(status, code.unwrap_or_default());
        let says_all = matches!(kind, FaultKind::Missing | FaultKind::Changed);
        let cause = match (kind, code, region) {
            _ if says_all => String::new(),
            (FaultKind::Settings, _, Some(region)) if status.is_redirection() => {
                format!("the bucket is in the region \"{region}\"; set AWS_REGION to it")
            }
            (FaultKind::Settings, _, None) if status.is_redirection() => {
                format!(
                    "the store redirects to another host ({status}), which is not followed; check the endpoint and the region, or give the final URL"
                )
            }
            (FaultKind::Settings, Some(code), _) => {
                format!("the store does not accept the credentials ({status}, {code}); renew them")
            }
            (FaultKind::Settings, None, _) => {
                format!(
                    "the store does not accept the credentials ({status}); check that they are set, and that they may read this bucket"
                )
            }
            (_, Some(code), _) => format!("the store answers {status}, {code}"),
            (_, None, _) => format!("the store answers {status}"),
        };
        Self::new(kind, cause)
    }

    /// A request that got no answer, or an answer that broke off.
    pub(crate) fn of_transport(error: &(dyn Error + 'static)) -> Self {
        let (deepest, lacks) = follow(error);
        let kind = if lacks { FaultKind::Resources } else { FaultKind::Unavailable };
        Self::new(kind, deepest)
    }

    /// The server was silent, or too slow.
    pub(crate) fn late(what: &str) -> Self {
        Self { crowded: true, ..Self::new(FaultKind::Unavailable, what) }
    }

    /// Whether another attempt may succeed at once.
    pub(crate) fn passes(&self) -> bool {
        self.kind == FaultKind::Unavailable
    }

    /// The fault as the error of a record, or of what the locator names.
    pub(crate) fn at(self, locator: Locator) -> ReadError {
        let kind = match self.kind {
            FaultKind::Missing => ReadErrorKind::Missing,
            FaultKind::Denied => ReadErrorKind::Denied,
            FaultKind::Changed => ReadErrorKind::Changed,
            FaultKind::Gone => ReadErrorKind::Gone,
            FaultKind::Unreadable => ReadErrorKind::Unreadable,
            FaultKind::Settings | FaultKind::Unavailable => ReadErrorKind::Storage,
            FaultKind::Resources => ReadErrorKind::Resources,
        };
        ReadError { kind, locator, cause: self.cause }
    }
}

fn kind_of_answer(status: StatusCode, code: &str) -> FaultKind {
    match status.as_u16() {
        _ if CREDENTIAL_CODES.contains(&code) => FaultKind::Settings,
        _ if BUCKET_CODES.contains(&code) => FaultKind::Gone,
        // S3 calls a connection that was idle for long a bad request.
        400 if code == "RequestTimeout" => FaultKind::Unavailable,
        300..=399 | 401 | 407 => FaultKind::Settings,
        403 => FaultKind::Denied,
        404 | 410 => FaultKind::Missing,
        412 | 416 => FaultKind::Changed,
        408 | 409 | 423 | 425 | 429 => FaultKind::Unavailable,
        400..=499 | 501 | 505 => FaultKind::Unreadable,
        _ => FaultKind::Unavailable,
    }
}

/// The innermost error's text, which names no URL, and whether this machine lacks something.
fn follow(error: &(dyn Error + 'static)) -> (String, bool) {
    let mut deepest = error;
    let mut lacks = false;
    for _ in 0..CHAIN_LIMIT {
        if let Some(system) = deepest.downcast_ref::<io::Error>() {
            let errno = Errno::from_io_error(system);
            lacks |= matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS));
            lacks |= system.kind() == io::ErrorKind::OutOfMemory;
        }
        match deepest.source() {
            Some(source) => deepest = source,
            None => break,
        }
    }
    let system = deepest.downcast_ref::<io::Error>();
    (system.map_or_else(|| deepest.to_string(), system_error), lacks)
}

/// The text inside the first `<Code>` of an XML answer.
pub(crate) fn code_of(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let plain = !code.is_empty() && code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use forebay_sources::Retry;

    use super::*;

    fn of(status: u16, code: Option<&str>) -> FaultKind {
        Fault::of_answer(StatusCode::from_u16(status).unwrap(), code, None).kind
    }

    #[test]
    fn rule_54_an_outage_is_never_a_missing_record() {
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 599] {
            assert_eq!(of(status, None), FaultKind::Unavailable, "{status}");
        }
        assert_eq!(of(503, Some("SlowDown")), FaultKind::Unavailable);
        assert_eq!(of(400, Some("RequestTimeout")), FaultKind::Unavailable);
        let retry = |kind| Fault::new(kind, "").at(Locator::file("a")).retry();
        for kind in [FaultKind::Unavailable, FaultKind::Settings, FaultKind::Gone, FaultKind::Resources] {
            assert_eq!(retry(kind), Retry::Later, "{kind:?}");
        }
        for kind in [FaultKind::Missing, FaultKind::Denied, FaultKind::Changed, FaultKind::Unreadable] {
            assert_eq!(retry(kind), Retry::Never, "{kind:?}");
        }
    }

    #[test]
    fn rule_54_a_missing_bucket_and_stale_credentials_are_not_the_record_s_fault() {
        assert_eq!((of(404, None), of(404, Some("NoSuchKey"))), (FaultKind::Missing, FaultKind::Missing));
        assert_eq!(
            (of(404, Some("NoSuchBucket")), of(404, Some("ContainerNotFound"))),
            (FaultKind::Gone, FaultKind::Gone)
        );
        assert_eq!((of(403, None), of(403, Some("AccessDenied"))), (FaultKind::Denied, FaultKind::Denied));
        for (status, code) in [(400, "ExpiredToken"), (403, "InvalidAccessKeyId"), (403, "AuthenticationFailed")] {
            assert_eq!(of(status, Some(code)), FaultKind::Settings, "{code}");
        }
        assert_eq!((of(401, None), of(301, None)), (FaultKind::Settings, FaultKind::Settings));
        assert_eq!((of(412, None), of(416, None)), (FaultKind::Changed, FaultKind::Changed));
        assert_eq!(
            (of(400, None), of(405, None), of(501, None)),
            (FaultKind::Unreadable, FaultKind::Unreadable, FaultKind::Unreadable)
        );
    }

    #[test]
    fn a_bucket_of_another_region_is_told_with_its_region() {
        let fault = Fault::of_answer(StatusCode::MOVED_PERMANENTLY, Some("PermanentRedirect"), Some("eu-west-3"));
        assert_eq!(fault.cause, "the bucket is in the region \"eu-west-3\"; set AWS_REGION to it");
    }

    #[test]
    fn a_code_is_a_word_and_a_cause_has_an_end() {
        assert_eq!(code_of(b"<Error><Code>NoSuchKey</Code></Error>").as_deref(), Some("NoSuchKey"));
        for body in ["", "<Code>", "<Code></Code>", "<Code>a b</Code>", "<Code>\x1b[2J</Code>", "</Code><Code>"] {
            assert_eq!(code_of(body.as_bytes()), None, "{body}");
        }
        assert_eq!(code_of(format!("<Code>{}</Code>", "x".repeat(65)).as_bytes()), None);
        assert_eq!(code_of(b"\xff<Code>Gone</Code>\xfe").as_deref(), Some("Gone"));
        let fault = Fault::new(FaultKind::Unavailable, format!("\u{1b}[2J{}", "\u{e9}".repeat(1000)));
        assert!(fault.cause.len() < 3 * CAUSE_LIMIT && !fault.cause.contains('\u{1b}'), "{}", fault.cause);
    }

    #[test]
    fn too_few_descriptors_are_not_the_store_s_fault() {
        #[derive(Debug)]
        struct Outer(io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("https://bucket/?signature=hidden")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let of = |errno: Errno| Fault::of_transport(&Outer(errno.into()));
        assert_eq!(
            (of(Errno::MFILE).kind, of(Errno::CONNREFUSED).kind),
            (FaultKind::Resources, FaultKind::Unavailable)
        );
        assert!(of(Errno::CONNREFUSED).cause.contains("Connection refused"), "the innermost error is told");
        assert!(!of(Errno::CONNREFUSED).cause.contains("signature"));
    }
}
