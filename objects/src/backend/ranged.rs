//! Answers of HTTP servers that were asked for a range, and what their headers say.

use std::ops::Range;

use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderName};
use reqwest::{Response, StatusCode};

use super::Body;
use crate::Object;
use crate::client::COMPLAINT_LIMIT;
use crate::content_range::ContentRange;
use crate::fault::{Fault, FaultKind};

/// Bytes that may be received and thrown away because a server sends the whole file instead of a range.
const SKIP_LIMIT: u64 = 8 << 20;

/// The bytes of a successful answer, if they are of the pinned object. `version` is what the server says of it.
pub(super) fn body(
    answer: Response,
    object: &Object,
    range: &Range<u64>,
    version: Option<&str>,
) -> Result<Body, Fault> {
    let (size, skip) = if answer.status() == StatusCode::PARTIAL_CONTENT {
        let found = content_range(answer.headers())?;
        if found.bytes != *range {
            return Err(Fault::new(FaultKind::Unavailable, "the server sends other bytes than were asked for"));
        }
        (found.size, 0)
    } else {
        // The whole file is right too, as long as little of it is thrown away.
        (length(answer.headers()), range.start)
    };
    if !object.is(size, version) {
        return Err(Fault::new(FaultKind::Changed, ""));
    }
    if skip > SKIP_LIMIT {
        let problem = "the server sends whole files and no ranges of them; copy the dataset to a server or a disk \
                       that has ranges";
        return Err(Fault::new(FaultKind::Unreadable, problem));
    }
    let bytes = answer.bytes_stream().map_err(|error| Fault::of_transport(&error.without_url()));
    Ok(Body { skip, bytes: bytes.boxed() })
}

/// The beginning of the body of a refusal.
pub(super) async fn complaint(answer: Response) -> Vec<u8> {
    let mut complaint = Vec::new();
    let mut body = answer.bytes_stream();
    while let Some(Ok(chunk)) = body.next().await {
        complaint.extend_from_slice(&chunk);
        if complaint.len() > COMPLAINT_LIMIT {
            break;
        }
    }
    complaint
}

pub(super) fn content_range(headers: &HeaderMap) -> Result<ContentRange, Fault> {
    let parsed = header(headers, &CONTENT_RANGE).and_then(ContentRange::parse);
    parsed.ok_or_else(|| Fault::new(FaultKind::Unavailable, "the server does not say which bytes it sends"))
}

/// The size that an answer with a whole file tells.
pub(super) fn length(headers: &HeaderMap) -> Option<u64> {
    header(headers, &CONTENT_LENGTH)?.parse().ok()
}

pub(super) fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
