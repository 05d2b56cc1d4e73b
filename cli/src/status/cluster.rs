//! What `forebay status --cluster` prints: the nodes that a coordinator knows, over all its ledgers, and the streams over all
//! their shards and ranks.

use std::collections::BTreeMap;
use std::io::{self, Write};

use forebay_printable::printable;
use forebay_proto::v1::{LedgerStatus, WorkerStatus};
use serde::Serialize;

use super::process::ProcessReport;
use crate::json::{Seconds, values};
use crate::span::span;

/// All ledgers of a coordinator, seen as one.
#[derive(Default, Serialize)]
pub(crate) struct Cluster<'a> {
    #[serde(serialize_with = "values")]
    pub(crate) streams: BTreeMap<&'a str, ClusterStream<'a>>,
    #[serde(serialize_with = "values")]
    pub(crate) nodes: BTreeMap<&'a str, ClusterNode<'a>>,
}

/// A stream of a run.
#[derive(Serialize)]
pub(crate) struct ClusterStream<'a> {
    pub(crate) name: &'a str,
    pub(crate) ledgers: usize,
    /// The first one that is not complete.
    pub(crate) epoch: u64,
    pub(crate) epochs: Option<u64>,
    pub(crate) delivered: u64,
    pub(crate) bad: u64,
    pub(crate) returned: u64,
    /// Trainers of a node wait for the end of its epoch.
    pub(crate) trainers_wait: bool,
}

/// A worker, with what it has of each ledger.
#[derive(Serialize)]
pub(crate) struct ClusterNode<'a> {
    pub(crate) name: &'a str,
    #[serde(flatten)]
    pub(crate) process: ProcessReport<'a>,
    pub(crate) state: NodeState,
    #[serde(rename = "silent_seconds")]
    pub(crate) silent: Seconds,
    pub(crate) ledgers: Vec<NodeLedger<'a>>,
    #[serde(skip)]
    is_gone: bool,
    #[serde(skip)]
    waits: bool,
    #[serde(skip)]
    has_last: bool,
}

/// What a worker has of a ledger.
#[derive(Serialize)]
pub(crate) struct NodeLedger<'a> {
    pub(crate) name: &'a str,
    pub(crate) leases: u64,
    pub(crate) positions: u64,
    #[serde(skip)]
    pub(crate) epoch: u64,
}

/// How it is with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NodeState {
    Well,
    /// Its trainers wait for positions that others have.
    Waits,
    /// It has positions that trainers of others wait for.
    Slow,
    /// Nothing was heard for longer than leases last.
    Gone,
}

impl<'a> Cluster<'a> {
    pub(crate) fn of(ledgers: &'a [LedgerStatus]) -> Self {
        let mut cluster = Self::default();
        for ledger in ledgers {
            let (epoch, waits) = (ledger.progress.unwrap_or_default().floor, ledger.workers.iter().any(|w| w.waits));
            let name = stream_of(&ledger.name);
            let stream = cluster.streams.entry(name).or_insert_with(|| ClusterStream::new(name, epoch));
            stream.ledgers += 1;
            stream.epoch = stream.epoch.min(epoch);
            stream.epochs = (ledger.epochs > 0).then_some(ledger.epochs);
            stream.delivered += ledger.delivered;
            stream.bad += ledger.quarantined;
            stream.returned += ledger.returned;
            stream.trainers_wait |= waits;
            for worker in &ledger.workers {
                let node = cluster.nodes.entry(&worker.name).or_insert_with(|| ClusterNode::new(worker));
                node.process = node.process.or(ProcessReport::new(worker.process.as_ref()));
                node.silent = node.silent.min(Seconds::of_millis(worker.silent_ms));
                let limit = if worker.gone_after_ms > 0 { worker.gone_after_ms } else { ledger.lease_ttl_ms };
                node.is_gone &= limit > 0 && worker.silent_ms > limit;
                node.waits |= worker.waits;
                node.has_last |= worker.has_last && ledger.workers.iter().any(|w| w.waits && w.name != worker.name);
                let WorkerStatus { leases, positions, .. } = *worker;
                node.ledgers.push(NodeLedger { name: &ledger.name, leases, positions, epoch });
            }
        }
        for node in cluster.nodes.values_mut() {
            node.state = node.state();
        }
        cluster
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let of_state = |state| self.nodes.values().filter(|node| node.state == state).count();
        write!(out, "{}, {}", counted(self.nodes.len() as u64, "node"), counted(self.streams.len() as u64, "stream"))?;
        for (word, count) in [("slow", of_state(NodeState::Slow)), ("gone", of_state(NodeState::Gone))] {
            if count > 0 {
                write!(out, ", {count} {word}")?;
            }
        }
        writeln!(out)?;
        for (name, stream) in &self.streams {
            let epochs = stream.epochs.map_or_else(String::new, |epochs| format!(" of {epochs}"));
            let parts = if stream.ledgers == 1 { String::new() } else { format!(" ({} ledgers)", stream.ledgers) };
            writeln!(
                out,
                "stream {}{parts}: epoch {}{epochs}; {} records delivered, {} bad records, {} positions returned",
                printable(name),
                stream.epoch,
                stream.delivered,
                stream.bad,
                stream.returned
            )?;
        }
        self.nodes.values().try_for_each(|node| node.text(out))
    }
}

impl<'a> ClusterStream<'a> {
    fn new(name: &'a str, epoch: u64) -> Self {
        Self { name, ledgers: 0, epoch, epochs: None, delivered: 0, bad: 0, returned: 0, trainers_wait: false }
    }
}

impl<'a> ClusterNode<'a> {
    /// One that is gone, unless a ledger has heard of it.
    fn new(worker: &'a WorkerStatus) -> Self {
        Self {
            name: &worker.name,
            process: ProcessReport::new(None),
            state: NodeState::Well,
            silent: Seconds::of_millis(worker.silent_ms),
            ledgers: Vec::new(),
            is_gone: true,
            waits: false,
            has_last: false,
        }
    }

    fn state(&self) -> NodeState {
        match self {
            Self { is_gone: true, .. } => NodeState::Gone,
            Self { has_last: true, .. } => NodeState::Slow,
            Self { waits: true, .. } => NodeState::Waits,
            _ => NodeState::Well,
        }
    }

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let heard = span(self.silent.0);
        write!(out, "node {}{}: ", printable(self.name), self.process)?;
        match self.state {
            NodeState::Gone => writeln!(out, "GONE, last heard {heard} ago; others get what it had leased")?,
            NodeState::Slow => writeln!(out, "SLOW, trainers of other nodes wait for what it has; heard {heard} ago")?,
            NodeState::Waits => writeln!(out, "its trainers wait for other nodes; heard {heard} ago")?,
            NodeState::Well => writeln!(out, "heard {heard} ago")?,
        }
        for NodeLedger { name, leases, positions, epoch } in self.ledgers.iter().filter(|ledger| ledger.leases > 0) {
            writeln!(
                out,
                "  {}: {} with {}; epoch {epoch} goes on",
                printable(name),
                counted(*leases, "lease"),
                counted(*positions, "open position")
            )?;
        }
        Ok(())
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `RUN/STREAM` of a ledger's name.
fn stream_of(ledger: &str) -> &str {
    ledger.rsplit_once('/').map_or(ledger, |(stream, _)| stream)
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{Progress, WorkerProcess};

    use super::*;

    fn worker(name: &str, silent_ms: u64, leases: u64) -> WorkerStatus {
        let process = Some(WorkerProcess { host: format!("host-{name}"), pid: 42, boot: String::new() });
        WorkerStatus { name: name.into(), process, silent_ms, leases, positions: leases * 8, ..Default::default() }
    }

    fn ledger(name: &str, epoch: u64, workers: Vec<WorkerStatus>) -> LedgerStatus {
        let progress = Some(Progress { floor: epoch, ..Default::default() });
        LedgerStatus {
            name: name.into(),
            epochs: 9,
            delivered: 100,
            lease_ttl_ms: 30_000,
            progress,
            workers,
            ..Default::default()
        }
    }

    #[test]
    fn nodes_that_are_slow_or_gone_are_named_over_all_ledgers() {
        let waiting = WorkerStatus { waits: true, ..worker("b", 1_000, 0) };
        let slow = WorkerStatus { has_last: true, ..worker("a", 2_000, 1) };
        let ledgers = [
            ledger("run/eval/shard-0", 3, vec![worker("b", 500, 0)]),
            ledger("run/eval/shard-1", 2, vec![worker("b", 500, 2)]),
            ledger("run/train/all", 4, vec![slow, waiting, worker("c", 31_000, 0)]),
        ];
        let cluster = Cluster::of(&ledgers);
        let mut shown = Vec::new();
        cluster.text(&mut shown).unwrap();
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "3 nodes, 2 streams, 1 slow, 1 gone\n\
             stream run/eval (2 ledgers): epoch 2 of 9; 200 records delivered, 0 bad records, 0 positions returned\n\
             stream run/train: epoch 4 of 9; 100 records delivered, 0 bad records, 0 positions returned\n\
             node a (process 42 on host-a): SLOW, trainers of other nodes wait for what it has; heard 2 s ago\n  \
               run/train/all: 1 lease with 8 open positions; epoch 4 goes on\n\
             node b (process 42 on host-b): its trainers wait for other nodes; heard 500 ms ago\n  \
               run/eval/shard-1: 2 leases with 16 open positions; epoch 2 goes on\n\
             node c (process 42 on host-c): GONE, last heard 31 s ago; others get what it had leased\n"
        );
        let json = serde_json::to_value(&cluster).unwrap();
        let states: Vec<&str> = json["nodes"].as_array().unwrap().iter().filter_map(|n| n["state"].as_str()).collect();
        assert_eq!(states, ["slow", "waits", "gone"]);
        assert_eq!(json["streams"][1]["trainers_wait"], true);
        assert_eq!(json["nodes"][1]["ledgers"][1]["positions"], 16);
    }

    #[test]
    fn a_worker_whose_leases_have_no_end_is_gone_after_a_time_of_its_own() {
        let of_its_own = |gone_after_ms, worker| WorkerStatus { gone_after_ms, ..worker };
        let workers = vec![of_its_own(300_000, worker("a", 31_000, 1)), of_its_own(30_000, worker("b", 31_000, 1))];
        let ledgers = [LedgerStatus { lease_ttl_ms: u64::MAX, ..ledger("default/mnist/all", 0, workers) }];
        let cluster = Cluster::of(&ledgers);
        assert_eq!([cluster.nodes["a"].is_gone, cluster.nodes["b"].is_gone], [false, true]);
    }

    #[test]
    fn who_has_the_last_positions_is_slow_only_if_others_wait() {
        let last = WorkerStatus { has_last: true, waits: true, ..worker("a", 0, 1) };
        let ledgers = [ledger("run/train/all", 0, vec![last, worker("b", 0, 0)])];
        assert_eq!(Cluster::of(&ledgers).nodes["a"].state, NodeState::Waits);
        assert!(Cluster::of(&[]).nodes.is_empty());
    }
}
