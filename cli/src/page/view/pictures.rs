//! Pages with pictures: bad records as they are stored, and the batch that was made last.

use std::sync::Arc;

use forebay_proto::v1::QuarantinedRecord;
use indicatif::HumanCount;

use super::bad::{neighbours, note};
use crate::draw_pictures::DrawnPicture;
use crate::failure::Failure;
use crate::page::document::{Document, DocumentLink, DocumentPart, DocumentSection, PictureCard, shown};
use crate::page::pictures::ShownPicture;
use crate::page::reader::BadRows;
use crate::page::route::Route;

/// What was drawn, or why nothing was.
pub(in crate::page) type Sheet = Result<Arc<[ShownPicture]>, Failure>;

/// The way from a page to pictures of the same.
pub(in crate::page) fn link_to_pictures(route: &Route) -> Option<DocumentLink> {
    match route {
        Route::Stream { daemon, name } => {
            let batch = Route::Batch { daemon: *daemon, name: name.clone() };
            Some(DocumentLink::to(&batch, "Latest batch"))
        }
        Route::Quarantine { daemon, name, .. } => {
            let bad = Route::BadPictures { daemon: *daemon, name: name.clone(), part: 1 };
            Some(DocumentLink::to(&bad, "As pictures"))
        }
        _ => None,
    }
}

/// These bad records, with what can be decoded of each.
pub(in crate::page) fn bad_pictures(route: &Route, bad: &BadRows, drawn: Sheet) -> Document {
    let Route::BadPictures { daemon, name, part } = route else { return Document::default() };
    let mut parts = vec![DocumentPart::Note(note(bad))];
    let (sheet, alerts) = told(drawn);
    let rows = bad.rows.iter().enumerate();
    let cards: Vec<_> = rows.map(|(place, row)| bad_card(row, sheet.get(place))).collect();
    if !cards.is_empty() {
        let what =
            "Each is shown as far as it can be decoded. It was read again for this page, in a process of its own.";
        parts.push(DocumentPart::Note(what.to_owned()));
        parts.push(DocumentPart::Pictures(cards));
    }
    parts.extend(neighbours(route, *part, bad.more));
    let stream = Route::Stream { daemon: *daemon, name: name.clone() };
    let list = Route::Quarantine { daemon: *daemon, name: name.clone(), part: 1 };
    Document {
        title: format!("Pictures of bad records of stream {}", shown(name)),
        links: vec![DocumentLink::to(&stream, "The stream"), DocumentLink::to(&list, "As a list")],
        alerts,
        sections: vec![DocumentSection { title: "Quarantine".to_owned(), parts }],
        ..Document::default()
    }
}

/// The first records of the batch that was made last, as the recipe makes them.
pub(in crate::page) fn batch(route: &Route, epoch: u64, turns: &[(u64, u16)], drawn: Sheet) -> Document {
    let Route::Batch { daemon, name } = route else { return Document::default() };
    let (sheet, alerts) = told(drawn);
    let mut parts = Vec::new();
    if turns.is_empty() {
        parts.push(DocumentPart::Note("No batch was made yet since the stream was opened.".to_owned()));
    } else {
        let what = "These are the first records of the batch that was made last. They were drawn anew by the recipe, in a process \
                    of its own, and not taken from the ring. Pictures are not mixed here.";
        parts.push(DocumentPart::Note(what.to_owned()));
        let cards = turns.iter().enumerate();
        let cards = cards.map(|(place, turn)| batch_card(*turn, sheet.get(place))).collect();
        parts.push(DocumentPart::Pictures(cards));
    }
    let stream = Route::Stream { daemon: *daemon, name: name.clone() };
    Document {
        title: format!("Latest batch of stream {}", shown(name)),
        links: vec![DocumentLink::to(&stream, "The stream")],
        alerts,
        sections: vec![DocumentSection { title: format!("Epoch {epoch}"), parts }],
        ..Document::default()
    }
}

/// The pictures, or the reason why there are none.
fn told(drawn: Sheet) -> (Arc<[ShownPicture]>, Vec<String>) {
    match drawn {
        Ok(sheet) => (sheet, Vec::new()),
        Err(failure) => ([].into(), vec![format!("No pictures: {}", shown(&failure.to_string()))]),
    }
}

fn bad_card(row: &QuarantinedRecord, drawn: Option<&ShownPicture>) -> PictureCard {
    let title = format!("Record {}", HumanCount(row.record));
    let alt = format!("What can be decoded of record {}, {}", HumanCount(row.record), shown(&row.file));
    let mut card = card(title, alt, drawn);
    let mut lines = vec![shown(&row.file), shown(&row.reason)];
    lines.append(&mut card.lines);
    PictureCard { lines, ..card }
}

fn batch_card((record, repeat): (u64, u16), drawn: Option<&ShownPicture>) -> PictureCard {
    let again = if repeat == 0 { String::new() } else { format!(", repeat {repeat}") };
    let title = format!("Record {}{again}", HumanCount(record));
    let label = drawn.map_or_else(String::new, |shown| shown.drawn.label.clone());
    let of = if label.is_empty() { String::new() } else { format!(": {}", shown(&label)) };
    card(title.clone(), format!("{title} as the recipe makes it{of}"), drawn)
}

fn card(title: String, alt: String, drawn: Option<&ShownPicture>) -> PictureCard {
    let nothing = DrawnPicture::default();
    let (image, of) = drawn.map_or((None, &nothing), |shown| (shown.image.as_ref(), &shown.drawn));
    let lines = [&of.label, &of.caption].into_iter().filter(|text| !text.is_empty()).map(|text| shown(text));
    PictureCard {
        title,
        image: image.map(|image| Route::Image { name: image.name.clone() }.to_string()),
        alt,
        width: of.width,
        height: of.height,
        why: if of.why.is_empty() { "No picture.".to_owned() } else { shown(&of.why) },
        lines: lines.collect(),
    }
}
