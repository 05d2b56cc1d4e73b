//! One stream: what each of its stages waits for, its ring, trainers, caches, and what it did in the last hour.

use forebay_pipeline::ByteSize;
use forebay_proto::v1::{StatusReply, StreamStatus};
use indicatif::HumanCount;

use super::{StreamRate, counted, daemon, progress, shown_verdict};
use crate::group::{in_batches, members, process};
use crate::page::chart::{LineChart, number};
use crate::page::document::{
    Document, DocumentFact, DocumentLink, DocumentPart, DocumentSection, DocumentTable, ShareBar, TableCell, shown,
};
use crate::page::history::RatePoint;
use crate::page::route::{ROWS, Route};
use crate::span::span;
use crate::status::Told;
use crate::status::report::{FillReport, GroupReport, StreamReport, TrainerReport};
use crate::user;
use crate::verdict::StageShares;

/// A stream of a daemon, as it was read.
#[derive(Debug)]
pub(in crate::page) struct Stream<'a> {
    reply: &'a StatusReply,
    stream: &'a StreamStatus,
}

impl<'a> Stream<'a> {
    /// None if no daemon has it open.
    pub(in crate::page) fn of(told: &'a [Told], pid: u32, name: &str) -> Option<Self> {
        let (_, reply) = daemon(told, pid)?;
        let stream = reply.streams.iter().find(|stream| stream.name == name)?;
        Some(Self { reply, stream })
    }

    /// Its page. `points` are of the last hour.
    pub(in crate::page) fn document(&self, points: &[RatePoint]) -> Document {
        let Self { reply, stream } = self;
        let report = StreamReport::new(reply, stream);
        let name = stream.name.clone();
        let quarantine = Route::Quarantine { daemon: reply.pid, name, part: 1 };
        let mut alerts = Vec::new();
        if let Some(why) = report.failure {
            alerts.push(format!("It has failed: {}", shown(why)));
        }
        if let Some(wait) = &report.storage_wait {
            alerts.push(format!("It has waited {} for its storage: {}", span(wait.time.0), shown(wait.reason)));
        }
        let sections = [
            ("Now", self.now(&report)),
            ("Rates", charts(points)),
            ("What its stages wait for", self.stages(&report)),
            ("Ring", ring(&report)),
            ("Trainers", trainers(&report)),
            ("Groups of trainers", groups(&report)),
            ("Reading and caches", caches(&report)),
        ];
        let sections = sections.into_iter().filter(|(_, parts)| !parts.is_empty());
        Document {
            title: format!("Stream {}", shown(&stream.name)),
            links: vec![DocumentLink::to(&quarantine, "Bad records")],
            alerts,
            sections: sections.map(|(title, parts)| DocumentSection { title: title.to_owned(), parts }).collect(),
            ..Document::default()
        }
    }

    fn now(&self, report: &StreamReport<'_>) -> Vec<DocumentPart> {
        let rate = StreamRate::of(self.reply, self.stream);
        let facts = vec![
            fact("Pictures in a second", number(rate.pictures)),
            fact("Batches in a second", number(rate.batches)),
            fact("Delivered in this run", counted(report.delivered, "record")),
            fact("Bad records", HumanCount(report.bad).to_string()),
            fact("Dataset", format!("{}, {}", shown(report.source), counted(report.records, "record"))),
            fact("Run", shown(report.run)),
            fact("Open for", span(report.open_seconds.0)),
        ];
        vec![
            DocumentPart::Verdict(shown_verdict(&report.verdict)),
            DocumentPart::Shares(vec![progress(self.stream, rate)]),
            DocumentPart::Facts(facts),
        ]
    }

    fn stages(&self, report: &StreamReport<'_>) -> Vec<DocumentPart> {
        let mut parts = Vec::new();
        let nothing = StatusReply::default();
        let before = self.reply.earlier.as_deref().unwrap_or(&nothing);
        if let Some(shares) = StageShares::since(before, self.stream) {
            let StreamStatus { readers, decode_threads, python_workers, .. } = self.stream;
            let mut bars = vec![
                share("Reading", shares.reading, &format!("of {}", counted((*readers).into(), "thread"))),
                share("Decoding", shares.decoding, &format!("of {}", counted((*decode_threads).into(), "thread"))),
                share("No lease", shares.no_lease, "of the time readers had nothing to read"),
                share("No slot", shares.no_slot, "of the time no slot was free for a batch"),
            ];
            if !self.stream.functions.is_empty() {
                let workers = match python_workers {
                    1 => "1 process".to_owned(),
                    count => format!("{count} processes"),
                };
                bars.push(share("Functions", shares.functions, &format!("of {workers}")));
            }
            parts.push(DocumentPart::Note("In the last seconds:".to_owned()));
            parts.push(DocumentPart::Shares(bars));
        }
        let columns = [("Stage", false), ("Items", true), ("Waited for room", true), ("Waited for input", true)];
        let mut table = DocumentTable::new("Since the stream was opened", &columns);
        for stage in &report.stages {
            table.rows.push(vec![
                TableCell::text(stage.name),
                TableCell::number(&HumanCount(stage.items)),
                TableCell::number(&span(stage.for_room.0)),
                TableCell::number(&span(stage.for_input.0)),
            ]);
        }
        if !table.rows.is_empty() {
            parts.push(DocumentPart::Table(table));
        }
        parts
    }
}

fn charts(points: &[RatePoint]) -> Vec<DocumentPart> {
    let charts = [
        LineChart::of("Pictures in a second", points, |point| point.pictures),
        LineChart::of("Batches in a second", points, |point| point.batches),
    ];
    let charts: Vec<_> = charts.into_iter().flatten().map(DocumentPart::Chart).collect();
    if charts.is_empty() {
        return vec![DocumentPart::Note("The first values come 10 seconds after this page was started.".to_owned())];
    }
    charts
}

fn ring(report: &StreamReport<'_>) -> Vec<DocumentPart> {
    let slots = report.slots;
    let states = [
        ("Free", slots.free, "for the next batches"),
        ("Filling", slots.filling, "batches that are being made"),
        ("Ready", slots.ready, "batches that wait for a trainer"),
        ("Held", slots.held, "by trainers"),
        ("Quarantined", slots.quarantined, "trainers that were evicted may still read them"),
    ];
    let all: u32 = states.iter().map(|(_, count, _)| count).sum();
    let bar = |(name, count, what): (&str, u32, &str)| ShareBar {
        name: name.to_owned(),
        percent: u64::from(count) * 100 / u64::from(all.max(1)),
        text: format!("{count} of {}, {what}", counted(all.into(), "slot")),
    };
    let mut parts = vec![DocumentPart::Shares(states.into_iter().map(bar).collect())];
    if let Some(ring) = &report.ring
        && ring.gpu_bytes + ring.page_locked_bytes > 0
    {
        let [gpu, locked, copied] = [ring.gpu_bytes, ring.page_locked_bytes, ring.copied_bytes].map(ByteSize);
        let what = "of GPU memory, page-locked host memory, and copied to the GPU so far";
        parts.push(DocumentPart::Note(format!(
            "Pixels in {}: {gpu:#}, {locked:#} and {copied:#} {what}.",
            shown(ring.placement)
        )));
    }
    parts
}

fn trainers(report: &StreamReport<'_>) -> Vec<DocumentPart> {
    if report.trainers.is_empty() {
        return vec![DocumentPart::Note("No trainer is attached.".to_owned())];
    }
    let columns = [("Trainer", false), ("User", false), ("Holds", true), ("Consumed", true)];
    let mut table = DocumentTable::new("Trainers that are attached", &columns);
    for TrainerReport { pid, foreign, user, held, consumed, .. } in report.trainers.iter().take(ROWS) {
        table.rows.push(vec![
            TableCell::text(process(*pid, *foreign)),
            TableCell::text(user::name(*user)),
            TableCell::number(&in_batches(*held)),
            TableCell::number(&in_batches(consumed.batches)),
        ]);
    }
    with_rest(table, report.trainers.len(), "trainer")
}

fn groups(report: &StreamReport<'_>) -> Vec<DocumentPart> {
    if report.groups.is_empty() {
        return Vec::new();
    }
    let columns = [("Group", false), ("Behind", true), ("Consumed", true)];
    let mut table = DocumentTable::new("Each batch goes once to each group", &columns);
    for GroupReport { name, pids, behind, batches } in report.groups.iter().take(ROWS) {
        table.rows.push(vec![
            TableCell::text(members(name.unwrap_or_default(), pids)),
            TableCell::number(&in_batches(*behind)),
            TableCell::number(&in_batches(batches.unwrap_or_default())),
        ]);
    }
    with_rest(table, report.groups.len(), "group")
}

/// A table, and how many rows it does not have.
fn with_rest(table: DocumentTable, all: usize, what: &str) -> Vec<DocumentPart> {
    let rest = all.saturating_sub(table.rows.len());
    let note = (rest > 0).then(|| DocumentPart::Note(format!("{} more.", counted(rest as u64, what))));
    [DocumentPart::Table(table)].into_iter().chain(note).collect()
}

fn caches(report: &StreamReport<'_>) -> Vec<DocumentPart> {
    let mut facts = Vec::new();
    if let Some(FillReport { unit, filled, room }) = report.fill {
        let [filled, room] = [filled, room].map(HumanCount);
        facts.push(fact("Filled by records", format!("{filled} of {room} {unit} of batches")));
    }
    for decoder in &report.remote {
        facts.push(fact("Decoder on another machine", format!("{}: {}", shown(decoder.name), decoder.text())));
    }
    if let Some(requests) = &report.requests {
        let given_up = HumanCount(requests.given_up);
        let text =
            format!("{} of {} under way; {given_up} given up without an answer", requests.in_flight, requests.most);
        facts.push(fact("Requests", text));
    }
    if let Some(cache) = &report.cache {
        let [bytes, budget] = [cache.bytes, cache.budget_bytes].map(ByteSize);
        let kept = format!("{} {}, {bytes:#} of {budget:#}", counted(cache.records, "record"), shown(cache.keep));
        let asked = format!("{} hits, {} misses", HumanCount(cache.hits), HumanCount(cache.misses));
        facts.push(fact("Cache", format!("{kept}; {asked}")));
    }
    if let Some(seek) = &report.seek {
        let [bytes, budget] = [seek.bytes, seek.budget_bytes].map(ByteSize);
        facts.push(fact("Seek points", format!("{bytes:#} of {budget:#}, for {}", counted(seek.pictures, "picture"))));
    }
    if facts.is_empty() { Vec::new() } else { vec![DocumentPart::Facts(facts)] }
}

fn fact(name: &'static str, value: String) -> DocumentFact {
    DocumentFact { name, value }
}

fn share(name: &str, share: f64, of: &str) -> ShareBar {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    let percent = (share.clamp(0.0, 1.0) * 100.0).round() as u64;
    ShareBar { name: name.to_owned(), percent, text: format!("{percent} % {of}") }
}
