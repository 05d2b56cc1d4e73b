//! The report for programs. docs/operating.md has the fields: they keep their names and meanings, and new ones may be added.

use forebay_sources::Oversight;
use serde_json::{Value, json};

use super::findings::{BadGroup, ColumnTotals, Findings};
use super::names::Names;

pub(super) fn json(names: &Names<'_>, found: &Findings) -> Value {
    let kinds = found.kinds.iter().map(|(kind, count)| json!({ "name": kind.name(), "records": count }));
    let labels = found
        .labels
        .iter()
        .map(|(label, count)| json!({ "label": label, "class": names.class(*label), "records": count }));
    let twins = found.twins.iter().map(|group| {
        let files: Vec<String> = group.records.iter().map(|record| names.raw(*record)).collect();
        json!({ "records": group.records, "files": files, "labels_differ": group.labels_differ })
    });
    let misnamed = found.misnamed.iter().map(|record| json!({ "record": record, "file": names.raw(*record) }));
    let further = found.further.iter().map(|((kind, what), totals)| {
        let files: Vec<String> = totals.records.iter().map(|record| names.raw(*record)).collect();
        json!({ "name": kind.name(), "what": what.name(), "count": totals.count, "records": totals.records, "files": files })
    });
    let oversights = found.oversights.iter().map(|Oversight { kind, what, count, examples, remedy }| {
        json!({ "kind": kind.name(), "what": what, "count": count, "examples": examples, "remedy": remedy })
    });
    json!({
        "source": names.datasets.join(", "),
        "sources": names.datasets,
        "records": found.records,
        "bytes": found.bytes,
        "good_records": found.good_records(),
        "bad_records": found.bad_records(),
        "bad": bad(names, &found.bad),
        "unread_records": found.unread_records(),
        "unread": bad(names, &found.unread),
        "kinds": kinds.collect::<Value>(),
        "turned": found.turned,
        "further": further.collect::<Value>(),
        "sizes": found.sizes,
        "extremes": {
            "longest": extremes(names, found, &found.extremes.longest),
            "smallest": extremes(names, found, &found.extremes.smallest),
            "largest": extremes(names, found, &found.extremes.largest),
        },
        "labels": labels.collect::<Value>(),
        "duplicates": twins.collect::<Value>(),
        "misnamed": misnamed.collect::<Value>(),
        "not_used": oversights.collect::<Value>(),
        "unreferenced": found.strays,
        "columns": found.columns.iter().map(|totals| column(names, totals)).collect::<Value>(),
    })
}

fn bad(names: &Names<'_>, groups: &[BadGroup]) -> Value {
    let one = |group: &BadGroup| {
        let reason = group.reason.clone();
        let record = |(record, trouble): &(u64, super::checked::Trouble)| json!({ "record": record, "file": names.raw(*record), "reason": trouble.to_string(), "group": reason });
        group.records.iter().map(record).collect::<Vec<_>>()
    };
    groups.iter().flat_map(one).collect()
}

fn extremes(names: &Names<'_>, found: &Findings, records: &[u64]) -> Value {
    let one = |record: &u64| {
        let picture = &found.shown[record];
        json!({ "record": record, "file": names.raw(*record), "width": picture.width, "height": picture.height })
    };
    records.iter().map(one).collect()
}

fn column(names: &Names<'_>, totals: &ColumnTotals) -> Value {
    let classes = totals.classes.iter();
    let classes: Vec<Value> =
        classes.map(|(label, count)| json!({ "label": label, "class": names.class(*label), "items": count })).collect();
    json!({
        "name": totals.name,
        "type": totals.column_type,
        "objects": totals.objects,
        "null_records": totals.nulls,
        "empty_records": totals.empty,
        "items": totals.items,
        "longest": totals.longest,
        "classes": classes,
    })
}
