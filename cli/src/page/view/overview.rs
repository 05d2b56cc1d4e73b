//! The first page of daemons: all their streams, with what limits each.

use forebay_proto::v1::{ClosedStream, StatusReply, StreamStatus};

use super::{StreamRate, counted, progress, shown_verdict};
use crate::page::chart::number;
use crate::page::document::{Document, DocumentPart, DocumentSection, ShownVerdict, StreamCard, parts, shown};
use crate::page::route::{ROWS, Route};
use crate::span::span;
use crate::status::Told;
use crate::status::report::{OffReport, OutageReport};
use crate::status::text::opening;
use crate::verdict::{StageShares, Verdict};

/// Most sentences about what is wrong with daemons.
const ALERTS: usize = 20;

/// A stream, or what is in its place.
enum Listed<'a> {
    Open(&'a StreamStatus),
    Closed(&'a ClosedStream),
    /// A daemon without streams.
    Nothing,
}

pub(super) fn overview(told: &[Told], part: usize) -> Document {
    let mut document = Document { title: "Streams".to_owned(), ..Document::default() };
    let mut all = Vec::new();
    for Told { loader, reply } in told {
        match reply {
            Ok(reply) => {
                document.alerts.extend(alerts(reply));
                let before = all.len();
                all.extend(reply.streams.iter().map(|stream| (*loader, reply, Listed::Open(stream))));
                all.extend(reply.closed.iter().map(|closed| (*loader, reply, Listed::Closed(closed))));
                if all.len() == before {
                    all.push((*loader, reply, Listed::Nothing));
                }
            }
            Err(why) => {
                let loader = loader.unwrap_or_default();
                document.alerts.push(format!("The private daemon of process {loader} does not answer: {}", shown(why)));
            }
        }
    }
    if document.alerts.len() > ALERTS {
        let more = document.alerts.len() - ALERTS;
        document.alerts.truncate(ALERTS);
        document.alerts.push(format!("{more} more. forebay status lists all of them."));
    }
    let rows = all.len();
    let mut current = None;
    for (loader, reply, listed) in all.into_iter().skip((part - 1) * ROWS).take(ROWS) {
        if current != Some(reply.pid) {
            current = Some(reply.pid);
            document.sections.push(section(loader, reply));
        }
        let Some(section) = document.sections.last_mut() else { continue };
        let card = match listed {
            Listed::Open(stream) => open(reply, stream),
            Listed::Closed(stream) => closed(stream),
            Listed::Nothing => {
                section.parts.push(DocumentPart::Note("It has no stream yet.".to_owned()));
                continue;
            }
        };
        match section.parts.last_mut() {
            Some(DocumentPart::Streams(cards)) => cards.push(card),
            _ => section.parts.push(DocumentPart::Streams(vec![card])),
        }
    }
    if let Some(links) = parts(&Route::Overview { part }, part, rows) {
        document.sections.push(DocumentSection { title: counted(rows as u64, "stream"), parts: vec![links] });
    }
    document
}

fn alerts(reply: &StatusReply) -> impl Iterator<Item = String> {
    let outage = OutageReport::of(reply).map(|OutageReport { cause, time }| {
        format!(
            "The ledgers of process {} could not be reached or written for {}: {}. Trainers wait, and nothing is lost.",
            reply.pid,
            span(time.0),
            shown(cause).trim_end_matches('.')
        )
    });
    let off = OffReport::all(reply).into_iter();
    outage.into_iter().chain(off.map(|off| format!("{} is switched off: {}", shown(off.name), shown(off.reason))))
}

fn section(loader: Option<u32>, reply: &StatusReply) -> DocumentSection {
    let up = span(std::time::Duration::from_millis(reply.uptime_ms));
    let title = match loader {
        Some(loader) => format!("Private daemon of process {loader}"),
        None => "Daemon".to_owned(),
    };
    let version = format!("forebay {}, process {}, up {up}.", shown(&reply.version), reply.pid);
    let all: u64 = reply.lanes.iter().map(|lane| lane.pictures).sum();
    let mut notes = vec![DocumentPart::Note(version)];
    if reply.lanes.len() > 1 && all > 0 {
        let lanes = reply.lanes.iter().map(|lane| format!("{} {} %", shown(&lane.name), lane.pictures * 100 / all));
        let lanes = lanes.collect::<Vec<_>>().join(", ");
        notes.push(DocumentPart::Note(format!("Pictures so far by lane: {lanes}.")));
    }
    DocumentSection { title, parts: notes }
}

fn open(reply: &StatusReply, stream: &StreamStatus) -> StreamCard {
    let rate = StreamRate::of(reply, stream);
    let nothing = StatusReply::default();
    let before = reply.earlier.as_deref().unwrap_or(&nothing);
    let verdict = Verdict::of((before, reply), stream, StageShares::since(before, stream), None);
    let trainers = counted(stream.consumers.len() as u64, "trainer");
    let mut lines =
        vec![format!("{} pictures/s, {} batches/s, {trainers}", number(rate.pictures), number(rate.batches))];
    if stream.bad > 0 {
        lines.push(counted(stream.bad, "bad record"));
    }
    StreamCard {
        name: shown(&stream.name),
        target: Some(Route::Stream { daemon: reply.pid, name: stream.name.clone() }.to_string()),
        progress: Some(progress(stream, rate)),
        lines,
        verdict: shown_verdict(&verdict),
    }
}

fn closed(stream: &ClosedStream) -> StreamCard {
    let ClosedStream { name, source, opening: opens, failure, dataset_open, .. } = stream;
    let (sentence, kind) = match (failure.as_str(), opens) {
        ("", true) => (format!("It is being opened: {}.", opening(*dataset_open)), "slow"),
        ("", false) => ("It waits for its first trainer, which chooses the shard or the GPU.".to_owned(), "slow"),
        (why, _) => (format!("It has failed: {} \"forebay reload\" tries again.", ended(&shown(why))), "bad"),
    };
    let verdict = ShownVerdict { sentence, kind };
    StreamCard { name: shown(name), target: None, progress: None, lines: vec![shown(source)], verdict }
}

/// A sentence with its end.
fn ended(sentence: &str) -> String {
    format!("{}.", sentence.trim_end_matches('.'))
}
