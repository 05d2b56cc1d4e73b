//! What a coordinator knows: streams over all their shards, nodes with their state, and ledgers.

use forebay_proto::v1::LedgerStatus;
use indicatif::HumanCount;

use super::counted;
use crate::page::document::{Document, DocumentPart, DocumentSection, DocumentTable, TableCell, parts, shown};
use crate::page::route::{ROWS, Route};
use crate::span::span;
use crate::status::cluster::{Cluster, ClusterNode, NodeState};

pub(super) fn streams(ledgers: &[LedgerStatus], part: usize) -> Document {
    let cluster = Cluster::of(ledgers);
    let columns = [
        ("Stream", false),
        ("Epoch", true),
        ("Delivered", true),
        ("Bad", true),
        ("Returned", true),
        ("Ledgers", true),
        ("State", false),
    ];
    let mut table = DocumentTable::new("The streams of all runs", &columns);
    for stream in cluster.streams.values().skip((part - 1) * ROWS).take(ROWS) {
        let epoch = stream.epochs.map_or_else(|| stream.epoch.to_string(), |all| format!("{} of {all}", stream.epoch));
        let state = if stream.trainers_wait { "trainers of a node wait for the end of its epoch" } else { "" };
        table.rows.push(vec![
            TableCell::text(stream.name),
            TableCell::number(&epoch),
            TableCell::number(&HumanCount(stream.delivered)),
            TableCell::number(&HumanCount(stream.bad)),
            TableCell::number(&HumanCount(stream.returned)),
            TableCell::number(&stream.ledgers),
            TableCell::text(state),
        ]);
    }
    let mut document = listed("Streams of the cluster", table, cluster.streams.len(), &Route::Overview { part }, part);
    document.alerts = alerts(&cluster);
    document
}

pub(super) fn nodes(ledgers: &[LedgerStatus], part: usize) -> Document {
    let cluster = Cluster::of(ledgers);
    let columns = [("Node", false), ("State", false), ("Heard", true), ("Leases", true), ("Open positions", true)];
    let mut table = DocumentTable::new("The daemons that have opened ledgers", &columns);
    for node in cluster.nodes.values().skip((part - 1) * ROWS).take(ROWS) {
        let sum = |of: fn(&crate::status::cluster::NodeLedger<'_>) -> u64| node.ledgers.iter().map(of).sum::<u64>();
        table.rows.push(vec![
            TableCell::text(format!("{}{}", node.name, node.process)),
            TableCell::text(state(node)),
            TableCell::number(&format!("{} ago", span(node.silent.0))),
            TableCell::number(&HumanCount(sum(|ledger| ledger.leases))),
            TableCell::number(&HumanCount(sum(|ledger| ledger.positions))),
        ]);
    }
    let mut document = listed("Nodes", table, cluster.nodes.len(), &Route::Nodes { part }, part);
    document.alerts = alerts(&cluster);
    document
}

pub(super) fn ledgers(ledgers: &[LedgerStatus], part: usize) -> Document {
    let columns = [
        ("Ledger", false),
        ("Records", true),
        ("Epoch", true),
        ("Delivered", true),
        ("Bad", true),
        ("Returned", true),
        ("Workers", true),
    ];
    let mut table = DocumentTable::new("Each stream of a run has a ledger for each shard or rank", &columns);
    for ledger in ledgers.iter().skip((part - 1) * ROWS).take(ROWS) {
        let epoch = ledger.progress.unwrap_or_default().floor;
        let epoch = if ledger.epochs > 0 { format!("{epoch} of {}", ledger.epochs) } else { epoch.to_string() };
        let bad = Route::LedgerQuarantine { ledger: ledger.name.clone(), part: 1 };
        table.rows.push(vec![
            TableCell::link(&ledger.name, &bad),
            TableCell::number(&HumanCount(ledger.spec.as_ref().map_or(0, |spec| spec.records))),
            TableCell::number(&epoch),
            TableCell::number(&HumanCount(ledger.delivered)),
            TableCell::number(&HumanCount(ledger.quarantined)),
            TableCell::number(&HumanCount(ledger.returned)),
            TableCell::number(&ledger.workers.len()),
        ]);
    }
    let mut document = listed("Ledgers", table, ledgers.len(), &Route::Ledgers { part }, part);
    if let Some(section) = document.sections.first_mut() {
        section.parts.insert(0, DocumentPart::Note("The name of a ledger leads to its bad records.".to_owned()));
    }
    document
}

fn listed(title: &str, table: DocumentTable, rows: usize, route: &Route, part: usize) -> Document {
    let mut all = Vec::new();
    if rows == 0 {
        all.push(DocumentPart::Note("No daemon has opened a ledger yet.".to_owned()));
    } else if !table.rows.is_empty() {
        all.push(DocumentPart::Table(table));
    }
    all.extend(parts(route, part, rows));
    Document {
        title: title.to_owned(),
        sections: vec![DocumentSection { title: format!("{} in all", HumanCount(rows as u64)), parts: all }],
        ..Document::default()
    }
}

fn state(node: &ClusterNode<'_>) -> &'static str {
    match node.state {
        NodeState::Gone => "GONE: others get what it had leased",
        NodeState::Slow => "SLOW: trainers of other nodes wait for what it has",
        NodeState::Waits => "its trainers wait for other nodes",
        NodeState::Well => "well",
    }
}

/// Nodes that hold others up, or are gone.
fn alerts(cluster: &Cluster<'_>) -> Vec<String> {
    let of = |wanted: NodeState, are: &str| {
        let mut nodes = cluster.nodes.values().filter(|node| node.state == wanted);
        let first = nodes.next()?;
        let more = nodes.count();
        let others = if more > 0 { format!(", and {} more", counted(more as u64, "node")) } else { String::new() };
        Some(format!("{are}: {}{others}.", shown(first.name)))
    };
    [of(NodeState::Slow, "Nodes that hold others up"), of(NodeState::Gone, "Nodes that are gone")]
        .into_iter()
        .flatten()
        .collect()
}
