//! The bad records of a stream or a ledger, a hundred at a time.

use indicatif::HumanCount;

use super::counted;
use crate::page::document::{Document, DocumentLink, DocumentPart, DocumentSection, DocumentTable, TableCell, shown};
use crate::page::reader::BadRows;
use crate::page::route::{ROWS, Route};

/// The page of these rows. `of` is where they are from.
pub(in crate::page) fn bad(route: &Route, bad: &BadRows) -> Document {
    let (of, part, back) = match route {
        Route::Quarantine { daemon, name, part } => {
            let stream = Route::Stream { daemon: *daemon, name: name.clone() };
            (format!("stream {}", shown(name)), *part, vec![DocumentLink::to(&stream, "The stream")])
        }
        Route::LedgerQuarantine { ledger, part } => (format!("ledger {}", shown(ledger)), *part, Vec::new()),
        _ => (String::new(), 1, Vec::new()),
    };
    let columns = [("Record", true), ("Name", false), ("Reason", false), ("Epoch", true)];
    let first = (part - 1) * ROWS + 1;
    let caption = format!("From row {} on", HumanCount(first as u64));
    let mut table = DocumentTable::new(caption, &columns);
    for row in &bad.rows {
        table.rows.push(vec![
            TableCell::number(&HumanCount(row.record)),
            TableCell::text(&row.file),
            TableCell::text(&row.reason),
            TableCell::number(&row.epoch),
        ]);
    }
    let mut parts = vec![DocumentPart::Note(note(bad))];
    if !bad.rows.is_empty() {
        parts.push(DocumentPart::Table(table));
    } else if bad.quarantined > 0 {
        let listed = "There is no such part: the ledger lists only the first ones.";
        parts.push(DocumentPart::Note(listed.to_owned()));
    }
    parts.extend(neighbours(route, part, bad.more));
    Document {
        title: format!("Bad records of {of}"),
        links: back,
        sections: vec![DocumentSection { title: "Quarantine".to_owned(), parts }],
        ..Document::default()
    }
}

/// How many there are.
pub(super) fn note(bad: &BadRows) -> String {
    match bad.quarantined {
        0 => "No record was bad.".to_owned(),
        count => {
            let times = counted(count, "time");
            format!("A record was put in quarantine {times}, once for each epoch that met it.")
        }
    }
}

/// Links to the parts of a list before and behind the one that is shown.
pub(super) fn neighbours(route: &Route, part: usize, more: bool) -> Option<DocumentPart> {
    let mut links = Vec::new();
    if part > 1 {
        links.push(DocumentLink::to(&route.with_part(1), "first rows"));
        links.push(DocumentLink::to(&route.with_part(part - 1), "rows before these"));
    }
    if more {
        links.push(DocumentLink::to(&route.with_part(part + 1), "next rows"));
    }
    (!links.is_empty()).then_some(DocumentPart::Links(links))
}
