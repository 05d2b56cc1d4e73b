//! A decoder on another machine, as `status`, `top` and the page tell of it.

use std::time::Duration;

use forebay_printable::printable;
use forebay_proto::v1::RemoteDecoder;
use serde::Serialize;

use crate::json::{Seconds, unless_empty};

/// See the module.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct RemoteReport<'a> {
    pub(crate) name: &'a str,
    pub(crate) state: &'a str,
    pub(crate) reason: Option<&'a str>,
    pub(crate) under_way: u64,
    #[serde(rename = "expected_seconds")]
    pub(crate) expected: Option<Seconds>,
    pub(crate) pictures: u64,
    pub(crate) taken_back: u64,
}

impl<'a> RemoteReport<'a> {
    pub(crate) fn new(of: &'a RemoteDecoder) -> Self {
        Self {
            name: &of.name,
            state: &of.state,
            reason: unless_empty(&of.reason),
            under_way: of.under_way,
            expected: of.expected_us.map(|time| Seconds(Duration::from_micros(time))),
            pictures: of.pictures,
            taken_back: of.taken_back,
        }
    }

    /// What there is to say of it, for people.
    pub(crate) fn text(&self) -> String {
        let Self { state, under_way, pictures, taken_back, .. } = self;
        let expected = self.expected.map(|Seconds(time)| format!(", {:.0} ms for one", time.as_secs_f64() * 1000.0));
        let reason = self.reason.map(|reason| format!(": {}", printable(reason))).unwrap_or_default();
        let counts = format!("{under_way} under way, {pictures} pictures, {taken_back} taken back");
        format!("{state}; {counts}{}{reason}", expected.unwrap_or_default())
    }
}
