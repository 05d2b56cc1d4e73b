//! What is on the pages, by their HTML: it is well-formed, names are text and nothing else, and long lists have parts.

use forebay_proto::v1::{
    CacheStatus, ClosedStream, ConsumerStatus, GroupStatus, LedgerOutage, LedgerSpec, LedgerStatus, Progress,
    QuarantinedRecord, SeekStatus, SourceRequests, StageStatus, StatusReply, StepFill, StreamStatus, SwitchedOff,
    WorkerStatus,
};

use std::sync::Arc;

use super::*;
use crate::draw_pictures::DrawnPicture;
use crate::page::history::{RatePoint, STEP};
use crate::page::pictures::ShownPicture;
use crate::page::reader::BadRows;

/// What a dataset may call its files.
const HOSTILE: &str =
    "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;\u{202e}gpj\u{1b}[2J\n{{ 7*7 }}\u{0}";
/// Elements that HTML does not close.
const VOID: [&str; 4] = ["meta", "link", "br", "img"];

/// The elements of a page and its text, one line each. It fails where the page is not well-formed: an element that is not closed, an
/// attribute twice or without its quotes, or a sign of markup in text.
fn parsed(html: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>\n").expect("it begins as HTML");
    while !rest.is_empty() {
        let (text, tag) = rest.split_once('<').unwrap_or((rest, ""));
        assert!(!text.contains('>'), "a sign of markup in text: {text:?}");
        if !text.trim().is_empty() {
            seen.push(text.trim().to_owned());
        }
        if tag.is_empty() {
            break;
        }
        let (tag, behind) = tag.split_once('>').expect("a tag ends");
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "before {behind:.80}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "<{tag}>");
        checked(name, attributes.trim_end_matches(" /"));
        seen.push(format!("<{tag}>"));
        if !VOID.contains(&name) && !tag.ends_with(" /") {
            open.push(name.to_owned());
        }
    }
    assert_eq!(open, [""; 0], "these are not closed");
    seen
}

/// Attributes are known ones, and none loads or runs anything but our own files.
fn checked(element: &str, attributes: &str) {
    assert!(
        !matches!(element, "iframe" | "object" | "embed" | "form" | "base" | "style"),
        "the page has no <{element}>"
    );
    let mut rest = attributes.trim();
    let mut names = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
                || name == "viewBox"
        );
        assert!(!name.starts_with("on") && name != "style" && !names.contains(&name), "{attributes}");
        names.push(name);
        let Some(value) = behind.strip_prefix('=') else {
            rest = behind.trim_start();
            continue;
        };
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').expect("a quote ends"),
            None => value.split_at(value.find(' ').unwrap_or(value.len())),
        };
        if matches!(name, "href" | "src") {
            assert!(!value.contains(':') || value == "data:,", "{element} leads to {value}");
            assert!(element != "img" || value.starts_with("image?name="), "{element} shows {value}");
        }
        rest = behind.trim_start();
    }
}

/// What is on a page, but for the version.
fn content(html: &str) -> String {
    let lines = parsed(html).into_iter();
    lines.filter(|line| *line != concat!("forebay page ", env!("CARGO_PKG_VERSION"))).collect::<Vec<_>>().join("\n")
}

fn html(said: PageReply, route: &Route) -> String {
    let reading = PageReading::now(said);
    dressed(page(route, &reading).expect("there is such a page"), route, &reading).html()
}

/// What the document of a stream or list becomes.
fn finished(document: Document, route: &Route) -> String {
    dressed(document, route, &PageReading::now(PageReply::Daemons(Vec::new()))).html()
}

fn stage(name: &str, room: u64, input: u64) -> StageStatus {
    StageStatus { name: name.into(), items: 7, writer_wait_us: room, reader_wait_us: input }
}

/// A stream that has read 1,000 of 10,000 records, and does 400 in a second.
fn stream(name: &str, open_ms: u64) -> StreamStatus {
    StreamStatus {
        name: name.into(),
        run: "default".into(),
        source: "/data/train".into(),
        records: 10_000,
        epoch: 3,
        epochs: 90,
        epoch_len: 10_000,
        epoch_done: 1_000,
        delivered: open_ms * 400 / 1000,
        batches: open_ms * 4 / 1000,
        open_ms,
        bad: 2,
        readers: 4,
        decode_threads: 2,
        slots_free: 1,
        slots_ready: 2,
        slots_held: 1,
        consumers: vec![ConsumerStatus {
            id: 1,
            pid: 5201,
            uid: 4_000_000_001,
            held: 1,
            delivered: 40,
            ..Default::default()
        }],
        groups: vec![GroupStatus { name: "small".into(), pids: vec![5201], delivered: 5, behind: 3 }],
        stages: vec![stage("prefetch", 0, 0), stage("decode", 0, 9_000_000), stage("batch", 1_000_000, 0)],
        requests: Some(SourceRequests { in_flight: 7, most: 64, given_up: 1 }),
        cache: Some(CacheStatus { keep: "encoded".into(), records: 5, bytes: 700, budget: 800, hits: 9, misses: 6 }),
        fill: Some(StepFill { unit: "patches".into(), filled: 90_000, room: 102_400 }),
        seek: Some(SeekStatus { pictures: 4, bytes: 600, budget: 900 }),
        ..Default::default()
    }
}

fn reply(names: &[&str]) -> StatusReply {
    let streams = |open_ms| names.iter().map(|name| stream(name, open_ms)).collect();
    StatusReply {
        version: "0.1.0".into(),
        pid: 77,
        uptime_ms: 7_300_000,
        streams: streams(60_000),
        earlier: Some(Box::new(StatusReply { streams: streams(50_000), ..Default::default() })),
        ..Default::default()
    }
}

fn told(reply: StatusReply) -> PageReply {
    PageReply::Daemons(vec![Told { loader: None, reply: Ok(reply) }])
}

#[test]
fn the_overview_has_streams_with_their_progress_and_verdict_and_what_is_wrong() {
    let mut of_service = reply(&["train"]);
    of_service.ledger_outage = Some(LedgerOutage { cause: "no space left".into(), for_ms: 40_000 });
    of_service.switched_off = vec![SwitchedOff { name: "GPU 1".into(), reason: "it is busy".into() }];
    let closed = |name: &str, opening, failure: &str| ClosedStream {
        name: name.into(),
        source: "/data/x".into(),
        opening,
        failure: failure.into(),
        ..Default::default()
    };
    of_service.closed =
        vec![closed("val", false, "no such folder."), closed("test", true, ""), closed("late", false, "")];
    let private = StatusReply { pid: 78, ..Default::default() };
    let said = PageReply::Daemons(vec![
        Told { loader: None, reply: Ok(of_service) },
        Told { loader: Some(5), reply: Ok(private) },
        Told { loader: Some(6), reply: Err("it is stopped.".into()) },
    ]);
    insta::assert_snapshot!(content(&html(said, &Route::Overview { part: 1 })));
}

#[test]
fn a_stream_has_its_stages_ring_trainers_caches_and_the_last_hour() {
    let PageReply::Daemons(told) = told(reply(&["train"])) else { unreachable!("it is of daemons") };
    let points: Vec<_> =
        (0..9u8).map(|step| RatePoint { at: STEP * step.into(), pictures: f32::from(step), batches: 1.0 }).collect();
    let stream = Stream::of(&told, 77, "train").unwrap();
    let route = Route::Stream { daemon: 77, name: "train".into() };
    insta::assert_snapshot!(content(&finished(stream.document(&points), &route)));
    assert!(Stream::of(&told, 78, "train").is_none() && Stream::of(&told, 77, "val").is_none());
}

#[test]
fn a_cluster_has_streams_nodes_with_their_state_and_ledgers() {
    let worker = |name: &str, silent_ms| WorkerStatus {
        name: name.into(),
        silent_ms,
        leases: 1,
        positions: 8,
        ..Default::default()
    };
    let waiting = WorkerStatus { waits: true, ..worker("b", 500) };
    let slow = WorkerStatus { has_last: true, ..worker("a", 2_000) };
    let ledger = LedgerStatus {
        name: "default/train/all".into(),
        spec: Some(LedgerSpec { records: 60, ..Default::default() }),
        epochs: 9,
        delivered: 100,
        quarantined: 3,
        lease_ttl_ms: 30_000,
        progress: Some(Progress { floor: 4, ..Default::default() }),
        workers: vec![slow, waiting, worker("c", 31_000)],
        ..Default::default()
    };
    for (name, route) in [
        ("streams", Route::Overview { part: 1 }),
        ("nodes", Route::Nodes { part: 1 }),
        ("ledgers", Route::Ledgers { part: 1 }),
    ] {
        let page = html(PageReply::Ledgers(vec![ledger.clone()]), &route);
        insta::assert_snapshot!(name, content(&page));
    }
    let empty = html(PageReply::Ledgers(Vec::new()), &Route::Overview { part: 1 });
    assert!(parsed(&empty).contains(&"No daemon has opened a ledger yet.".to_owned()), "{empty}");
}

#[test]
fn names_from_outside_are_text_wherever_they_are_shown() {
    let long = format!("{HOSTILE}{}", "a".repeat(4000));
    let mut hostile = reply(&[&long]);
    let stream = &mut hostile.streams[0];
    for text in [&mut stream.run, &mut stream.source, &mut stream.failure, &mut stream.storage] {
        text.clone_from(&long);
    }
    stream.groups[0].name.clone_from(&long);
    stream.stages[0].name.clone_from(&long);
    hostile.version.clone_from(&long);
    hostile.ledger_outage = Some(LedgerOutage { cause: long.clone(), for_ms: 1 });
    hostile.switched_off = vec![SwitchedOff { name: long.clone(), reason: long.clone() }];
    let all = || long.clone();
    hostile.closed = vec![ClosedStream { name: all(), source: all(), failure: all(), ..Default::default() }];
    let PageReply::Daemons(told) = told(hostile.clone()) else { unreachable!("it is of daemons") };
    let of_stream = Stream::of(&told, 77, &long).unwrap().document(&[]);
    let bad_record = QuarantinedRecord { record: 7, file: all(), reason: all(), ..Default::default() };
    let rows = BadRows { rows: vec![bad_record], quarantined: 1, ..Default::default() };
    let quarantine = Route::Quarantine { daemon: 77, name: all(), part: 1 };
    let of_ledger = Route::LedgerQuarantine { ledger: all(), part: 1 };
    let worker = WorkerStatus { name: all(), ..Default::default() };
    let ledgers =
        || PageReply::Ledgers(vec![LedgerStatus { name: all(), workers: vec![worker.clone()], ..Default::default() }]);
    let mut failing = PageReading::now(PageReply::Daemons(Vec::new()));
    failing.failing = Some(all());
    let route = Route::Overview { part: 1 };
    let pages = [
        html(
            PageReply::Daemons(vec![
                Told { loader: None, reply: Ok(hostile) },
                Told { loader: Some(1), reply: Err(all()) },
            ]),
            &route,
        ),
        finished(of_stream, &Route::Stream { daemon: 77, name: all() }),
        finished(bad(&quarantine, &rows), &quarantine),
        finished(bad(&of_ledger, &rows), &of_ledger),
        html(ledgers(), &route),
        html(ledgers(), &Route::Nodes { part: 1 }),
        html(ledgers(), &Route::Ledgers { part: 1 }),
        finished(nothing("Nothing", &long), &route),
        dressed(Document::default(), &route, &failing).html(),
    ];
    for page in pages {
        let seen = parsed(&page);
        assert!(!page.contains("<script>") && !page.contains("<img"), "{page}");
        let is_obeyed = |c: char| c == '\u{202e}' || c == '\u{1b}' || c == '\0';
        assert!(!page.contains(is_obeyed) && !page.contains("49"), "{page}");
        let named = seen.iter().filter(|text| text.contains("&gt;&lt;script&gt;alert(1)&lt;")).count();
        assert!(named > 0, "the name is shown: {page}");
        assert!(page.len() < 40_000, "{} bytes", page.len());
    }
}

#[test]
fn ten_thousand_streams_come_in_parts_of_a_hundred() {
    let names: Vec<String> = (0..10_000).map(|number| format!("s{number:05}")).collect();
    let all = reply(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let first = html(told(all.clone()), &Route::Overview { part: 1 });
    assert_eq!(first.matches("<article").count(), 100);
    assert!(first.contains(">s00099<") && !first.contains(">s00100<") && first.contains(">part 100 of 100<"));
    assert!(first.len() < 200_000, "{} bytes", first.len());
    let last = html(told(all.clone()), &Route::Overview { part: 100 });
    assert!(last.contains(">s09999<") && last.contains("aria-current=page>part 100 of 100<"));
    let behind = parsed(&html(told(all), &Route::Overview { part: 101 }));
    assert!(behind.iter().all(|text| !text.starts_with("<article")), "{behind:?}");
    let ledger = |number: u32| LedgerStatus { name: format!("run/s{number:05}/all"), ..Default::default() };
    let ledgers: Vec<_> = (0..10_000).map(ledger).collect();
    let page = html(PageReply::Ledgers(ledgers), &Route::Ledgers { part: 2 });
    assert_eq!(page.matches("<th scope=row>").count(), 100);
    assert!(page.contains("run&#x2f;s00100&#x2f;all"), "{page}");
}

#[test]
fn rows_of_bad_records_lead_to_the_next_ones() {
    let row = |record| QuarantinedRecord {
        record,
        file: format!("{record}.jpg"),
        reason: "truncated".into(),
        ..Default::default()
    };
    let rows = BadRows { rows: (100..200).map(row).collect(), quarantined: 100_000, more: true, ..Default::default() };
    let route = Route::Quarantine { daemon: 77, name: "train".into(), part: 2 };
    let seen = parsed(&finished(bad(&route, &rows), &route));
    for text in ["199.jpg", "From row 101 on", "first rows", "rows before these", "next rows"] {
        assert!(seen.iter().any(|seen| seen == text), "{text}: {seen:?}");
    }
    assert!(seen.iter().any(|text| text.contains("quarantine?daemon=77&amp;name=train&amp;part=3")), "{seen:?}");
    let none = parsed(&finished(bad(&route.with_part(1), &BadRows::default()), &route));
    assert!(none.iter().any(|text| text == "No record was bad."), "{none:?}");
    let behind = BadRows { quarantined: 100_000, ..Default::default() };
    let behind = parsed(&finished(bad(&route, &behind), &route));
    assert!(behind.iter().any(|text| text.starts_with("There is no such part")), "{behind:?}");
}

#[test]
fn pictures_have_words_and_what_cannot_be_drawn_has_its_reason() {
    let drawn = |image: &str, why: &str| {
        let label = HOSTILE.to_owned();
        let (image, why) = (image.to_owned(), why.to_owned());
        ShownPicture::from(DrawnPicture { image, width: 160, height: 90, label, why, ..DrawnPicture::default() })
    };
    let sheet = || -> Arc<[ShownPicture]> { [drawn("/9j/4AAQ", ""), drawn("", HOSTILE)].into() };
    let row = |record| QuarantinedRecord {
        record,
        file: format!("{record}-{HOSTILE}.jpg"),
        reason: "truncated".into(),
        ..Default::default()
    };
    let rows = BadRows { rows: vec![row(7), row(9)], quarantined: 2, more: true, ..Default::default() };
    let (daemon, name) = (77, HOSTILE.to_owned());
    let bad = Route::BadPictures { daemon, name: name.clone(), part: 2 };
    let latest = Route::Batch { daemon, name };
    let pages = [
        finished(bad_pictures(&bad, &rows, Ok(sheet())), &bad),
        finished(batch(&latest, 3, &[(7, 0), (9, 2)], Ok(sheet())), &latest),
    ];
    for page in &pages {
        let seen = parsed(page);
        let images: Vec<_> = seen.iter().filter(|text| text.starts_with("<img")).collect();
        assert_eq!(images.len(), 1, "{seen:?}");
        assert!(images[0].contains(" alt=\"") && images[0].contains("width=\"160\" height=\"90\""), "{images:?}");
        assert!(!page.contains("<script>") && seen.iter().any(|text| text == "<p class=none>"), "{page}");
        assert!(seen.iter().any(|text| text.starts_with("Record 7")), "{seen:?}");
    }
    assert!(pages[0].contains("truncated") && pages[0].contains("part=3"), "{}", pages[0]);
    assert!(pages[1].contains("not taken from the ring") && pages[1].contains("Record 9, repeat 2"), "{}", pages[1]);
    let refused = || Err(crate::failure::Failure::Failed("The dataset cannot be opened here.".to_owned()));
    let without = finished(bad_pictures(&bad, &rows, refused()), &bad);
    assert!(without.contains("No pictures: The dataset cannot be opened here."), "{without}");
    assert!(without.contains("truncated") && !without.contains("<img"), "{without}");
    let none = finished(batch(&latest, 0, &[], Ok([].into())), &latest);
    assert!(none.contains("No batch was made yet"), "{none}");
}

#[test]
fn rates_are_those_since_the_earlier_reading_and_time_is_left_only_if_something_moves() {
    let now = reply(&["train"]);
    let stream = &now.streams[0];
    assert_eq!(StreamRate::of(&now, stream), StreamRate { pictures: 400.0, batches: 4.0 });
    assert_eq!(progress(stream, StreamRate::of(&now, stream)).text, "10 % of epoch 3 of 90, 22 s left");
    let still = StreamRate { pictures: 0.0, batches: 0.0 };
    assert_eq!(progress(stream, still).text, "10 % of epoch 3 of 90");
    let last = StreamStatus { epoch: 90, epoch_done: 0, ..stream.clone() };
    assert_eq!(progress(&last, still).text, "100 % of the last epoch");
    assert_eq!(StreamRate::of(&StatusReply::default(), &StreamStatus::default()), still);
}
