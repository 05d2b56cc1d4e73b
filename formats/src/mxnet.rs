//! `mxnet:`: `MXNet`'s `RecordIO` files (`.rec`), with an index (`.idx`) or without one. A record is a picture behind a header
//! with its labels, or a picture alone.

mod frame;
mod index;
mod labels;

use std::path::Path;
use std::sync::Arc;

use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use self::frame::{ImageHeader, MxPacking, MxRecord};
use self::labels::MxLabels;
use crate::address::Address;
use crate::basis::Basis;
use crate::containers;
use crate::example::gather::whole;
use crate::faults::Faults;
use crate::folder::is_picture;
use crate::packed::{Packed, PackedMasks, PackedParts, Spans};
use crate::progress::Progress;
use crate::scan::Scan;
use crate::scheme::{Indexing, OptionKey, Scheme};
use crate::stores;
use crate::window::Window;

pub(super) const SCHEME: Scheme = Scheme {
    name: "mxnet",
    takes: "an MXNet .rec file, a folder of them, or a pattern",
    options: &[
        OptionKey {
            name: "payload",
            help: "what a record is: \"image\" (a picture behind MXNet's image header) or \"picture\" (no header)",
        },
        OptionKey {
            name: "index",
            help: "the .idx file of a single .rec file, or \"none\"; otherwise the one beside it",
        },
    ],
    has_columns: true,
    recognises: |path| {
        containers::begins(
            path,
            &EXTENSIONS,
            |bytes| frame::head(bytes).is_some_and(frame::PartHead::is_first),
            is_picture,
        )
    },
    open: |path, options, scan| Ok(open(path, options, scan)?.into()),
    indexing: Indexing::Ranges(MxPacking::from_index),
};

const EXTENSIONS: [&str; 1] = ["rec"];

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MxPayload {
    /// A picture behind a header with its labels.
    Image,
    Picture,
}

/// What is found while the files are scanned.
struct MxScan {
    payload: MxPayload,
    spans: Spans,
    labels: MxLabels,
    damaged: Faults,
    progress: Progress,
}

fn open(name: &Address, options: &Options, scan: &Scan) -> Result<Packed, SourceError> {
    let payload = payload(options)?;
    if payload == MxPayload::Picture && !options.columns.is_empty() {
        return Err(SourceError::bad_option("payload", "picture", "\"image\" if the stream names columns"));
    }
    let paths = containers::find(name, &EXTENSIONS)?;
    let has_none = options.own.get("index") == Some("none");
    let asked = match options.own.get("index").filter(|_| !has_none) {
        None => None,
        Some(url) if stores::is_url(url) => Some(stores::open(url, options)?),
        Some(path) if name.tree().is_some() => Some(name.parent().join(path)),
        Some(path) => Some(Address::file(path)),
    };
    if paths.len() > 1 && asked.is_some() {
        return Err(SourceError::bad_option("index", "a file", "\"none\" where the dataset has several .rec files"));
    }
    let mut found = MxScan {
        payload,
        spans: Spans::default(),
        labels: MxLabels::new(options)?,
        damaged: Faults::default(),
        progress: Progress::new("looking for records"),
    };
    let (mut files, mut bases) = (Vec::new(), Vec::new());
    for (number, path) in (0..).zip(paths) {
        let (mut window, container) = scan.open(&path)?;
        let records = found.records(&mut window, path.path())?;
        let records = match &asked {
            _ if has_none => index::without(records),
            Some(index) => {
                bases.push(Basis::look(index)?);
                index::chosen(&path, index, &records)?
            }
            None => {
                let index = path.with_extension("idx");
                bases.push(Basis::look(&index)?);
                index::beside(&path, &index, records)?
            }
        };
        found.file(&mut window, path.path(), number, records)?;
        scan.done(window, &container);
        files.push(container);
    }
    let MxScan { spans, labels, damaged, .. } = found;
    if payload == MxPayload::Image && !spans.is_empty() && damaged.len() == spans.len() {
        let cause = damaged.first().unwrap_or_default();
        let problem = format!(
            "no record has an image header. The first one: {cause}. If records are pictures without headers, give payload=\"picture\"."
        );
        return Err(SourceError::malformed_at(name.path(), 0, problem));
    }
    damaged.warn(&name.shown());
    let (labels, classes, targets) = labels.finish(name.path(), payload)?;
    let packing = Arc::new(MxPacking { is_image: payload == MxPayload::Image, damaged });
    let labels = labels.into();
    let parts = PackedParts {
        files,
        spans,
        labels,
        classes,
        targets,
        grains: Vec::new(),
        masks: PackedMasks::default(),
        packing,
    };
    Ok(Packed::new(name, parts, options)?.with_bases(bases))
}

fn payload(options: &Options) -> Result<MxPayload, SourceError> {
    options.own.choice("payload", &[("image", MxPayload::Image), ("picture", MxPayload::Picture)])
}

impl MxScan {
    /// Finds all records of a file, in its order.
    fn records(&self, window: &mut Window<'_>, path: &Path) -> Result<Vec<MxRecord>, SourceError> {
        let mut records = Vec::new();
        let mut at = 0;
        while at < window.len() {
            let (record, next) = frame::record(window, path, at)?;
            records.push(record);
            self.progress.step();
            at = next;
        }
        Ok(records)
    }

    /// Takes the labels of a file's records. `records` have their key, where there is an index, and otherwise their place.
    fn file(
        &mut self,
        window: &mut Window<'_>,
        path: &Path,
        number: u32,
        records: Vec<(u64, MxRecord)>,
    ) -> Result<(), SourceError> {
        let (mut identities, mut left_out) = (None, 0_u64);
        for (place, (key, record)) in records.into_iter().enumerate() {
            let header = match self.payload {
                MxPayload::Image => Some(ImageHeader::read(window, &record).map_err(SourceError::Outage)?),
                MxPayload::Picture => None,
            };
            if let Some(Ok(header)) = &header {
                if place == 0 && header.is_header_of_a_file() {
                    identities = header.labels.first().and_then(|&first| u64::try_from(whole(first)?).ok());
                    left_out += 1;
                    continue;
                }
                if header.is_empty && identities.is_some_and(|first| key >= first) {
                    left_out += 1;
                    continue;
                }
            }
            match header {
                None => {}
                Some(Ok(header)) => {
                    if let Err(cause) = self.labels.push(&header, (path, record.start())) {
                        self.damaged.add(self.spans.len() as u64, &cause);
                    }
                }
                Some(Err(cause)) => {
                    self.damaged.add(self.spans.len() as u64, &cause);
                    self.labels.skip();
                }
            }
            self.spans.push(record.span(number));
        }
        if left_out > 0 {
            tracing::info!(file = %printable(path), records = left_out, "left out the file's header record and the records of identities, which have no picture (InsightFace)");
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
