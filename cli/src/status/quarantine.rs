//! The records in quarantine. Each record is listed once, with the epochs in which it was found bad.

use std::collections::BTreeMap;
use std::io::{self, Write};

use forebay_printable::printable;
use forebay_proto::v1::{QuarantinedRecord, StreamQuarantine};
use serde::Serialize;

use crate::json::values;

/// The lists of all streams.
#[derive(Debug, Default, Serialize)]
pub(super) struct Quarantine {
    streams: Vec<ListedStream>,
}

#[derive(Debug, Serialize)]
struct ListedStream {
    name: String,
    /// Times that a record was put in quarantine; the list may have fewer, since its length is bounded.
    quarantined: u64,
    #[serde(rename = "records", serialize_with = "values")]
    by_record: BTreeMap<u64, BadRecord>,
}

#[derive(Debug, Serialize)]
struct BadRecord {
    record: u64,
    file: String,
    /// Of the first epoch.
    reason: String,
    epochs: Vec<u64>,
}

impl Quarantine {
    /// Takes a page; those of a stream come one after the other.
    pub(super) fn add(&mut self, page: StreamQuarantine) {
        let StreamQuarantine { stream, records, quarantined } = page;
        if self.streams.last().is_none_or(|last| last.name != stream) {
            self.streams.push(ListedStream { name: stream, quarantined, by_record: BTreeMap::new() });
        }
        let Some(listed) = self.streams.last_mut() else { return };
        for QuarantinedRecord { epoch, record, file, reason, .. } in records {
            let new = BadRecord { record, file, reason, epochs: Vec::new() };
            listed.by_record.entry(record).or_insert(new).epochs.push(epoch);
        }
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        for ListedStream { name, by_record, .. } in &self.streams {
            let records = if by_record.len() == 1 { "record" } else { "records" };
            writeln!(out, "stream {name}: {} {records} in quarantine", by_record.len())?;
            for BadRecord { record, file, reason, epochs } in by_record.values() {
                let (file, reason) = (printable(file), printable(reason.trim_end_matches('.')));
                writeln!(out, "  record {record} {file}: {reason} ({})", spans(epochs))?;
            }
            self.cut(out, name)?;
        }
        Ok(())
    }

    /// Says where the ledger's list is not the whole.
    fn cut(&self, out: &mut impl Write, stream: &str) -> io::Result<()> {
        let cut = self.streams.iter().find(|listed| listed.name == stream && listed.quarantined > listed.entries());
        cut.map_or(Ok(()), |listed| {
            let (all, kept) = (listed.quarantined, listed.entries());
            writeln!(out, "  records were put in quarantine {all} times; the ledger lists the first {kept}")
        })
    }
}

impl ListedStream {
    fn entries(&self) -> u64 {
        self.by_record.values().map(|bad| bad.epochs.len() as u64).sum()
    }
}

/// Rising numbers, as `epoch 3` or `epochs 0 to 4, 7`.
fn spans(epochs: &[u64]) -> String {
    let spans = epochs.chunk_by(|before, after| before + 1 == *after);
    let spans: Vec<String> = spans
        .map(|span| match span {
            [first, .., last] => format!("{first} to {last}"),
            _ => span.first().map_or_else(String::new, u64::to_string),
        })
        .collect();
    format!("{} {}", if epochs.len() == 1 { "epoch" } else { "epochs" }, spans.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(stream: &str, quarantined: u64, records: &[(u64, u64)]) -> StreamQuarantine {
        let records = records.iter().map(|&(epoch, record)| QuarantinedRecord {
            record,
            file: format!("{record}.jpg"),
            reason: "truncated.".into(),
            epoch,
            ..Default::default()
        });
        StreamQuarantine { stream: stream.into(), quarantined, records: records.collect() }
    }

    #[test]
    fn a_file_is_listed_once_with_its_epochs() {
        let mut all = Quarantine::default();
        all.add(page("s", 9, &[(0, 3), (1, 3), (1, 8)]));
        all.add(page("s", 9, &[(2, 3), (4, 3)]));
        all.add(page("empty", 0, &[]));
        let mut out = Vec::new();
        all.text(&mut out).unwrap();
        let text = "stream s: 2 records in quarantine\n  record 3 3.jpg: truncated (epochs 0 to 2, 4)\n  record 8 8.jpg: \
                    truncated (epoch 1)\n  records were put in quarantine 9 times; the ledger lists the first 5\nstream empty: \
                    0 records in quarantine\n";
        assert_eq!(String::from_utf8(out).unwrap(), text);
        assert_eq!(
            serde_json::to_value(&all).unwrap()["streams"][0]["records"][0]["epochs"],
            serde_json::json!([0, 1, 2, 4])
        );
    }
}
