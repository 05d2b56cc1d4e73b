//! What a refusal by the hub means, and what the user can do about it. Pure.

use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::fault::{Fault, FaultKind};
use crate::repository::Repository;
use crate::retry_after::retry_after;

/// The header that says what the hub itself thinks is wrong.
const ERROR_CODE: &str = "x-error-code";

/// What is known of the caller.
pub(super) struct Refusals<'a> {
    pub(super) endpoint: &'a str,
    pub(super) repository: &'a Repository,
    pub(super) has_token: bool,
}

impl Refusals<'_> {
    /// What an answer of the hub other than success says.
    pub(super) fn of(&self, status: StatusCode, headers: &HeaderMap) -> Fault {
        let code = headers.get(ERROR_CODE).and_then(|code| code.to_str().ok()).unwrap_or_default();
        let page = format!("{}{}", self.endpoint, self.repository.page_path());
        let tokens = format!("{}/settings/tokens", self.endpoint);
        let wait = retry_after(headers);
        let settings = |cause: String| Fault::new(FaultKind::Settings, cause);
        let fault = match (status.as_u16(), code, self.has_token) {
            (401 | 403, "GatedRepo", true) => settings(format!(
                "the dataset is gated, and the token's account has no access ({status}); ask for it at {page}, or set \
                 HF_TOKEN to a token of an account that has it"
            )),
            (401 | 403, "GatedRepo", false) => settings(format!(
                "the dataset is gated ({status}); ask for access at {page}, and set HF_TOKEN to a token of the same \
                 account, from {tokens}"
            )),
            (401, _, true) => settings(format!(
                "the hub does not accept the token, or has no such dataset ({status}); set HF_TOKEN to another one, \
                 from {tokens}, and check the name and your access at {page}"
            )),
            (401, _, false) => settings(format!(
                "the dataset does not exist, or is private or gated ({status}); check its name, set HF_TOKEN to a \
                 token, from {tokens}, and ask for access at {page}"
            )),
            (403, ..) => settings(format!(
                "the hub gives no access ({status}); ask for it at {page}, or set HF_TOKEN to a token that has it"
            )),
            (404, "RepoNotFound", _) => self.unknown(),
            (404, "RevisionNotFound", _) => {
                let revision = &self.repository.revision;
                let cause = format!("the dataset has no branch, tag or commit \"{revision}\"; see {page}");
                Fault::new(FaultKind::Gone, cause)
            }
            (429, ..) => {
                let until = wait.map_or_else(String::new, |wait| format!(" and asks to wait {} s", wait.as_secs()));
                let hint = if self.has_token { "" } else { "; with a token in HF_TOKEN it allows more" };
                let cause = format!("the hub refuses further requests for now{until} ({status}){hint}");
                Fault::new(FaultKind::Unavailable, cause)
            }
            _ => Fault::of_answer(status, None, None),
        };
        fault.with_answer(status, wait)
    }

    /// The hub has no such dataset, as far as it tells those who ask.
    pub(super) fn unknown(&self) -> Fault {
        let Repository { name, revision } = self.repository;
        let page = format!("{}{}", self.endpoint, self.repository.page_path());
        let hint = if self.has_token { "check that the account of HF_TOKEN has access" } else { "set HF_TOKEN" };
        let cause = format!(
            "the hub shows no dataset \"{name}\" with a revision \"{revision}\" (404); check both at {page} and, if it is \
             private or gated, {hint}"
        );
        Fault::new(FaultKind::Gone, cause)
    }
}

/// What an answer of a file server other than success says. Only the hub knows which files there are, and how long they are.
pub(super) fn of_file_server(host: &str, status: StatusCode, headers: &HeaderMap) -> Fault {
    let fault = Fault::new(FaultKind::Unavailable, format!("the hub's file server {host} answers {status}"));
    fault.with_answer(status, retry_after(headers))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn of(status: u16, code: &'static str, has_token: bool) -> Fault {
        let (repository, _) = Repository::split("datasets/o/n@v1").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(ERROR_CODE, HeaderValue::from_static(code));
        headers.insert("retry-after", HeaderValue::from_static("7"));
        let refusals = Refusals { endpoint: "https://hub.example", repository: &repository, has_token };
        refusals.of(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn who_has_no_access_is_told_what_to_set_and_where_to_ask() {
        for (status, code) in [(401, "GatedRepo"), (403, "GatedRepo"), (401, "RepoNotFound"), (401, ""), (403, "")] {
            for has_token in [false, true] {
                let fault = of(status, code, has_token);
                assert_eq!(fault.kind, FaultKind::Settings, "{status} {code}");
                for word in ["HF_TOKEN", "https://hub.example/datasets/o/n", &status.to_string()] {
                    assert!(fault.cause.contains(word), "{word}: {}", fault.cause);
                }
                assert!(!fault.cause.ends_with("..."), "it is not cut: {}", fault.cause);
            }
        }
        assert!(of(401, "GatedRepo", false).cause.contains("https://hub.example/settings/tokens"));
    }

    #[test]
    fn a_missing_dataset_a_missing_revision_and_a_missing_file_are_three_things() {
        let (dataset, revision) = (of(404, "RepoNotFound", false), of(404, "RevisionNotFound", true));
        assert_eq!((dataset.kind, revision.kind), (FaultKind::Gone, FaultKind::Gone));
        assert!(dataset.cause.contains("\"o/n\"") && dataset.cause.contains("HF_TOKEN"), "{}", dataset.cause);
        assert!(revision.cause.contains("\"v1\""), "{}", revision.cause);
        assert_eq!(
            (of(404, "EntryNotFound", true).kind, of(404, "", true).kind),
            (FaultKind::Missing, FaultKind::Missing)
        );
    }

    #[test]
    fn rule_54_too_many_requests_are_an_outage_with_a_wait() {
        let fault = of(429, "", false);
        assert_eq!((fault.kind, fault.wait.map(|wait| wait.as_secs())), (FaultKind::Unavailable, Some(7)));
        assert!(fault.cause.contains("7 s") && fault.cause.contains("HF_TOKEN"), "{}", fault.cause);
        assert!(!of(429, "", true).cause.contains("HF_TOKEN"));
        assert_eq!(of(503, "", false).kind, FaultKind::Unavailable);
    }

    #[test]
    fn rule_54_a_file_server_s_refusal_is_never_a_missing_record_or_another_one() {
        for status in [401, 403, 404, 412, 416, 500, 503] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(
                of_file_server("cdn.example", status, &HeaderMap::new()).kind,
                FaultKind::Unavailable,
                "{status}"
            );
        }
    }
}
