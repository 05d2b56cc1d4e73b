//! How long a server asks to wait. It writes the header, so it may say anything.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// Digits of the largest number of seconds that is read.
const DIGITS_LIMIT: usize = 6;
/// The header that tells when the current window of requests ends: `"api";r=0;t=55`.
const RATE_LIMIT: &str = "ratelimit";

/// What `Retry-After` asks for in seconds or, without it, what is left of a window that allows no more requests. A
/// date is not read: clocks differ.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    header(RETRY_AFTER.as_str()).and_then(seconds).or_else(|| header(RATE_LIMIT).and_then(rest_of_window))
}

fn rest_of_window(text: &str) -> Option<Duration> {
    let value = |name: &str| text.split(';').find_map(|part| part.trim().strip_prefix(name));
    if value("r=").is_some_and(|rest| rest == "0") { value("t=").and_then(seconds) } else { None }
}

/// Digits and nothing else.
fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = !text.is_empty() && text.len() <= DIGITS_LIMIT && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok().map(Duration::from_secs) } else { None }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn of(name: &'static str, value: &'static str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        retry_after(&headers).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_wait_is_in_seconds_or_is_what_is_left_of_a_window() {
        assert_eq!((of("retry-after", "120"), of("retry-after", " 0 ")), (Some(120), Some(0)));
        assert_eq!(of("ratelimit", "\"api\";r=0;t=55"), Some(55));
        assert_eq!(of("ratelimit", "\"api\"; r=0; t=55"), Some(55));
        assert_eq!(of("ratelimit", "\"api\";r=10;t=55"), None);
        for value in ["", "-1", "+1", "1.5", "1e3", "9999999", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            assert_eq!(of("retry-after", value), None, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
