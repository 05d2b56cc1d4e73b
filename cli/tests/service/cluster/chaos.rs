//! Clusters in trouble, as real processes: whatever is killed, stopped, cut off or started twice, every good record is delivered,
//! each epoch adds up, only the bad record is in quarantine, and the audit names what may have been seen twice.

mod beginning;
mod node;
#[path = "../../../../coordinator/tests/etcd/proxy.rs"]
#[allow(dead_code, reason = "tests of the store use it too")]
mod proxy;
mod site;

use std::thread;
use std::time::{Duration, Instant};

use forebay_coordinator::suite::Random;
use rustix::process::Signal;
use serde_json::json;

use super::visits::Visits;
use crate::daemon::PATIENCE;
use beginning::LateNode;
use node::TroubledNode;
use site::TroubledSite;

/// Records for each node.
const RECORDS: u64 = 100;
const EPOCHS: u64 = 2;
const SETTINGS: &str = "epochs = 2\nshuffle = true\non_error = \"skip\"";
/// The only record that is bad.
const BAD: u64 = 7;
/// More milliseconds than leases last.
const BEYOND_THE_LEASE: u64 = 3_000;
/// Nodes by seed, in turn. `make test` has the first seed alone, and the second one has the largest site on etcd.
const NODES: [u64; 3] = [3, 16, 6];

/// What happens to the coordinators, or to the way to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CentralTrouble {
    None,
    Killed,
    Stopped,
    CutOff,
    EtcdStruck,
    DiskFull,
}

/// What happens to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeTrouble {
    None,
    Killed,
    /// Its daemon is killed several times in a row, while it has no trainer.
    KilledWithoutTrainer,
    Stopped,
    /// Its leases expire, although nothing dies.
    StoppedBeyondTheLease,
    TrainerKilled,
    StartedTwice,
}

struct Cluster {
    /// Of what happens, and of the trainers' pauses.
    random: Random,
    pace: Random,
    site: TroubledSite,
    nodes: Vec<TroubledNode>,
    late: Option<LateNode>,
    records: u64,
}

impl Cluster {
    /// Every other seed has its coordinators on etcd.
    fn start(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let nodes = NODES[usize::try_from(seed % 3).unwrap()];
        let (site, records) = (TroubledSite::start(seed % 2 == 1), nodes * RECORDS);
        let late = LateNode::draw(&mut random, records);
        let early = nodes - u64::from(late.is_some());
        let node = |number| TroubledNode::start(&format!("node-{number}"), records, SETTINGS, site.ports());
        let nodes = (0..early).map(node).collect();
        Self { random, pace: Random::new(!seed), site, nodes, late, records }
    }

    /// Trainers go on for so long.
    fn continues(&mut self, millis: u64) {
        let until = Instant::now() + Duration::from_millis(millis);
        while Instant::now() < until {
            for node in &mut self.nodes {
                node.turn(&mut self.pace);
            }
            // Nobody unparks this thread: it rests between two turns.
            thread::park_timeout(Duration::from_millis(10));
        }
    }

    fn is_done(&self) -> bool {
        self.nodes.iter().all(|node| node.is_done)
    }

    /// Something happens to the coordinators and to a node, and is over after a while.
    fn trouble(&mut self) {
        let central = *self.random.choose(&[
            CentralTrouble::None,
            CentralTrouble::Killed,
            CentralTrouble::Stopped,
            CentralTrouble::CutOff,
            CentralTrouble::EtcdStruck,
            CentralTrouble::DiskFull,
        ]);
        let local = *self.random.choose(&[
            NodeTrouble::None,
            NodeTrouble::Killed,
            NodeTrouble::KilledWithoutTrainer,
            NodeTrouble::Stopped,
            NodeTrouble::StoppedBeyondTheLease,
            NodeTrouble::TrainerKilled,
            NodeTrouble::StartedTwice,
        ]);
        let number = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        let coordinator = usize::try_from(self.random.below(self.site.ports().len() as u64)).unwrap();
        println!("the coordinator {coordinator}: {central:?}; node {number}: {local:?}");
        match central {
            CentralTrouble::Killed => self.site.kill(coordinator),
            CentralTrouble::Stopped => self.site.signal(coordinator, Signal::STOP),
            CentralTrouble::CutOff => self.nodes[number].cut(&mut self.random),
            CentralTrouble::EtcdStruck => self.site.strike_etcd(),
            CentralTrouble::DiskFull => self.site.fill(true),
            CentralTrouble::None => {}
        }
        let pause = self.random.below(600);
        self.continues(pause);
        match local {
            NodeTrouble::Killed => self.nodes[number].kill(),
            NodeTrouble::KilledWithoutTrainer => {
                self.nodes[number].kill_trainer();
                self.nodes[number].kill();
            }
            NodeTrouble::Stopped | NodeTrouble::StoppedBeyondTheLease => self.nodes[number].signal(Signal::STOP),
            NodeTrouble::TrainerKilled => self.nodes[number].kill_trainer(),
            NodeTrouble::StartedTwice | NodeTrouble::None => {}
        }
        // Longer than the leases, as often as not.
        let pause = 500 + self.random.below(3_500);
        self.continues(if local == NodeTrouble::StoppedBeyondTheLease { pause.max(BEYOND_THE_LEASE) } else { pause });
        match central {
            CentralTrouble::Killed => self.site.restart(coordinator),
            CentralTrouble::Stopped => self.site.signal(coordinator, Signal::CONT),
            CentralTrouble::CutOff => self.nodes[number].join(),
            CentralTrouble::DiskFull => self.site.fill(false),
            CentralTrouble::EtcdStruck | CentralTrouble::None => {}
        }
        if local == NodeTrouble::KilledWithoutTrainer {
            self.kill_again(number);
        }
        let node = &mut self.nodes[number];
        match local {
            NodeTrouble::Killed => node.restart(),
            NodeTrouble::KilledWithoutTrainer => {
                node.restart();
                node.attach();
            }
            NodeTrouble::Stopped | NodeTrouble::StoppedBeyondTheLease => node.signal(Signal::CONT),
            NodeTrouble::TrainerKilled => node.attach(),
            NodeTrouble::StartedTwice => node.start_twice(SETTINGS),
            NodeTrouble::None => {}
        }
    }

    /// The daemon of a node is started and killed, twice or three times, while it reads ahead or before.
    fn kill_again(&mut self, number: usize) {
        for _ in 0..2 + self.random.below(2) {
            self.nodes[number].restart();
            let pause = self.random.below(1_000);
            self.continues(pause);
            self.nodes[number].kill();
        }
    }

    fn check(&mut self) {
        let mut visits = Visits::default();
        (0..EPOCHS).for_each(|epoch| visits.quarantine(epoch, BAD));
        let mut spared = 0;
        for node in &mut self.nodes {
            if node.is_spared() {
                visits.note(&node.name, &node.told);
                spared += 1;
            } else {
                // Whose receipts were lost with its daemon, only the ledger can tell.
                visits.doubt(&node.told);
            }
        }
        visits.check(self.records, EPOCHS);
        let epochs = self.site.audit();
        assert_eq!(epochs.len() as u64, EPOCHS, "{epochs:?}");
        let mut named = 0;
        for epoch in &epochs {
            let outcome = json!([epoch["verdict"], epoch["delivered"], epoch["quarantined"]]);
            assert_eq!(outcome, json!(["adds_up", self.records - 1, 1]), "{epoch}");
            named += epoch["possibly_repeated"]
                .as_object()
                .unwrap()
                .values()
                .filter_map(serde_json::Value::as_u64)
                .sum::<u64>();
        }
        let repeated = visits.repeated();
        println!("{repeated} records were seen again, and the audit names {named}; {spared} nodes were spared");
        assert!(named >= repeated, "{repeated} records were seen again, and the audit names {named}: {epochs:?}");
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn rule_15_a_cluster_in_chaos_delivers_every_record_and_adds_up() {
    let first = number("FOREBAY_CHAOS_SEED").unwrap_or(0);
    let end = number("FOREBAY_CHAOS_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    for round in 0.. {
        let seed = first + round;
        println!("chaos with seed {seed}");
        let mut cluster = Cluster::start(seed);
        cluster.may_load_together();
        cluster.late_node_may_come();
        let until = Instant::now() + 4 * PATIENCE;
        while !cluster.is_done() {
            assert!(Instant::now() < until, "seed {seed}: the epochs do not end");
            cluster.trouble();
            cluster.continues(300);
        }
        cluster.check();
        if end.is_none_or(|end| end <= Instant::now()) {
            return;
        }
    }
}
