//! What is on each page, from what daemons or a coordinator have said. It is pure.

mod bad;
mod cluster;
mod overview;
mod pictures;
mod stream;
#[cfg(test)]
mod tests;

use std::time::Duration;

use forebay_proto::v1::{StatusReply, StreamStatus};

use super::document::{Document, DocumentLink, ShareBar, ShownVerdict, shown};
use super::reader::{PageReading, PageReply};
use super::route::Route;
use crate::span::span;
use crate::status::Told;
use crate::verdict::{Limit, Verdict, earlier};

pub(super) use bad::bad;
pub(super) use pictures::{bad_pictures, batch, link_to_pictures};
pub(super) use stream::Stream;

/// How often pages are renewed, in seconds. Lists of bad records are long to ask for, and pictures to draw.
const RENEWED_AFTER: u32 = 3;
const LIST_RENEWED_AFTER: u32 = 30;
/// Older numbers than this are said to be old.
const OLD: Duration = Duration::from_secs(5);
/// A longer time is not foreseen.
const YEAR: f64 = 365.0 * 24.0 * 3600.0;

/// What a stream did since the earlier reading that its daemon has kept, or since it was opened.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StreamRate {
    pictures: f64,
    batches: f64,
}

/// A page that needs no more than a reading. None if there is no such page.
pub(super) fn page(route: &Route, reading: &PageReading) -> Option<Document> {
    Some(match (route, &*reading.reply) {
        (Route::Overview { part }, PageReply::Daemons(told)) => overview::overview(told, *part),
        (Route::Overview { part }, PageReply::Ledgers(ledgers)) => cluster::streams(ledgers, *part),
        (Route::Nodes { part }, PageReply::Ledgers(ledgers)) => cluster::nodes(ledgers, *part),
        (Route::Ledgers { part }, PageReply::Ledgers(ledgers)) => cluster::ledgers(ledgers, *part),
        _ => return None,
    })
}

/// Adds what all pages have: the way to others, how old the numbers are, and why they are not newer.
pub(super) fn dressed(mut document: Document, route: &Route, reading: &PageReading) -> Document {
    let mut links = vec![DocumentLink::to(&Route::Overview { part: 1 }, "Streams")];
    if matches!(&*reading.reply, PageReply::Ledgers(_)) {
        links.push(DocumentLink::to(&Route::Nodes { part: 1 }, "Nodes"));
        links.push(DocumentLink::to(&Route::Ledgers { part: 1 }, "Ledgers"));
    }
    for link in &mut links {
        link.current = link.target == route.with_part(1).to_string();
    }
    links.append(&mut document.links);
    document.links = links;
    if let Some(why) = &reading.failing {
        document.alerts.insert(0, format!("{} This is how it was last.", shown(why)));
    }
    let is_old = reading.age() >= OLD || reading.failing.is_some();
    document.age = if is_old { format!("{} ago.", span(reading.age())) } else { "Just now.".to_owned() };
    document.renewed_after = if route.is_long() { LIST_RENEWED_AFTER } else { RENEWED_AFTER };
    document
}

/// A page that says only that something is not there.
pub(super) fn nothing(title: &str, why: &str) -> Document {
    Document { title: title.to_owned(), alerts: vec![shown(why)], ..Document::default() }
}

/// The answer of the daemon with this process number.
fn daemon(told: &[Told], pid: u32) -> Option<(Option<u32>, &StatusReply)> {
    let mut answers = told.iter().filter_map(|told| Some((told.loader, told.reply.as_ref().ok()?)));
    answers.find(|(_, reply)| reply.pid == pid)
}

impl StreamRate {
    fn of(reply: &StatusReply, stream: &StreamStatus) -> Self {
        let nothing = StreamStatus::default();
        let was = reply.earlier.as_deref().and_then(|before| earlier(before, stream)).unwrap_or(&nothing);
        let time = Duration::from_millis(stream.open_ms.saturating_sub(was.open_ms)).as_secs_f64();
        let rate = |before: u64, after: u64| if time > 0.0 { float(after.saturating_sub(before)) / time } else { 0.0 };
        Self { pictures: rate(was.delivered, stream.delivered), batches: rate(was.batches, stream.batches) }
    }
}

/// How far a stream is in its epoch.
fn progress(stream: &StreamStatus, rate: StreamRate) -> ShareBar {
    let StreamStatus { epoch, epochs, epoch_len, epoch_done, .. } = stream;
    let done = (*epoch_done).min(*epoch_len);
    let seconds = float(epoch_len - done) / rate.pictures;
    let left =
        if seconds < YEAR { format!(", {} left", span(Duration::from_secs_f64(seconds))) } else { String::new() };
    let whole = done.saturating_mul(100) / (*epoch_len).max(1);
    let (percent, text) = match epochs {
        0 => (whole, format!("of epoch {epoch}{left}")),
        // The epoch behind the last one, which never begins.
        all if epoch >= all => (100, "of the last epoch".to_owned()),
        all => (whole, format!("of epoch {epoch} of {all}{left}")),
    };
    ShareBar { name: "epoch".to_owned(), percent, text: format!("{percent} % {text}") }
}

fn shown_verdict(verdict: &Verdict) -> ShownVerdict {
    let kind = match verdict.limit {
        Limit::Failed | Limit::Ledger | Limit::Storage => "bad",
        Limit::Trainer | Limit::Complete => "good",
        Limit::Slots
        | Limit::NoTrainer
        | Limit::Measuring
        | Limit::Functions
        | Limit::Decoding
        | Limit::Reading
        | Limit::Elsewhere => "slow",
    };
    ShownVerdict { sentence: shown(&verdict.sentence), kind }
}

/// A number of things, in words.
fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", indicatif::HumanCount(count), if count == 1 { "" } else { "s" })
}

#[allow(clippy::cast_precision_loss, reason = "counts of records, far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
