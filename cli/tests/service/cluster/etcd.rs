//! Coordinators that share their ledgers, on a real etcd: the leader is killed or stopped, etcd's own leader too, and
//! every record is delivered once.

#[path = "../../../../coordinator/tests/etcd/cluster.rs"]
pub(super) mod cluster;

use std::fs;

use rustix::process::Signal;
use tempfile::TempDir;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use self::cluster::EtcdCluster;
use super::nodes::command;
use super::visits::Visits;
use crate::daemon::{Daemon, Home, channel, runtime, stderr};
use crate::trainer::Puppet;

const RECORDS: u64 = 200;

/// Two coordinators on one etcd, and a node that knows both.
struct Replicas {
    etcd: EtcdCluster,
    folder: TempDir,
    /// How long one leads that is not heard.
    lease: &'static str,
    /// The one that leads, and the one that follows.
    coordinators: Vec<Daemon>,
}

impl Replicas {
    /// Nothing where there is no etcd. etcd syncs every commit. Its election is slow, so that a busy machine starts none.
    fn start(members: usize, args: &[&str]) -> Option<Self> {
        Self::with_lease(members, args, "8s")
    }

    /// With another lease of the leader.
    fn with_lease(members: usize, args: &[&str], lease: &'static str) -> Option<Self> {
        let etcd = EtcdCluster::start(members, args)?;
        let mut all = Self { etcd, folder: tempfile::tempdir().unwrap(), lease, coordinators: Vec::new() };
        for number in 0..2 {
            let mut coordinator = Daemon::spawn(all.coordinate(number));
            coordinator.hears(if number == 0 { "this process begins to lead" } else { "the coordinator is ready" });
            all.coordinators.push(coordinator);
        }
        Some(all)
    }

    fn address(&self, number: usize) -> String {
        format!("unix:{}", self.folder.path().join(format!("{number}.sock")).display())
    }

    fn coordinate(&self, number: usize) -> std::process::Command {
        let mut coordinate = command();
        coordinate.args(["coordinate", "--store", "etcd", "--etcd", &self.etcd.endpoints(), "--etcd-prefix", "/test"]);
        coordinate.args(["--leader-lease", self.lease, "--listen", &self.address(number)]);
        coordinate
    }

    /// Whether a coordinator says that it serves the ledgers.
    fn serves(&self, number: usize) -> bool {
        let request = HealthCheckRequest { service: "forebay.v1.Ledger".to_owned() };
        let socket = self.folder.path().join(format!("{number}.sock"));
        let answer = runtime().block_on(async { HealthClient::new(channel(socket).await).check(request).await });
        answer.unwrap().into_inner().status() == ServingStatus::Serving
    }

    fn node(&self) -> (Home, Daemon) {
        let home = Home::with_pictures(RECORDS);
        let endpoints = [0, 1].map(|number| self.address(number)).join(",");
        let text = format!(
            "[prefetch]\nbudget = \"4kb\"\n[control]\ndir = \"{}\"\n[coordinator]\nendpoint = \"{endpoints}\"\nnode = \"one\"\n{}",
            home.path("sockets").display(),
            home.train("epochs = 1\nshuffle = true")
        );
        fs::write(home.path("forebay.toml"), text).unwrap();
        let daemon = home.start();
        (home, daemon)
    }

    /// The rest is delivered, once, and both coordinators know it, however they are asked.
    fn check(&self, mut trainer: Puppet, mut visits: Visits) {
        trainer.run();
        visits.note("one", &trainer.rest());
        visits.check_once(RECORDS, 1);
        let addresses = [0, 1].map(|number| self.address(number)).join(",");
        let audit = command().args(["audit", "--coordinator", &addresses]).output().unwrap();
        let said = String::from_utf8(audit.stdout.clone()).unwrap();
        assert!(
            said.contains("200 of 200 records accounted for (200 delivered), checksum equal"),
            "{}",
            stderr(&audit)
        );
    }
}

/// A trainer that has seen something, so that leases are out.
fn begun(home: &Home) -> (Puppet, Visits) {
    let (mut trainer, mut visits) = (Puppet::attach(home), Visits::default());
    visits.note("one", &[trainer.next(), trainer.next()]);
    (trainer, visits)
}

#[test]
fn rule_18_another_coordinator_continues_where_the_killed_leader_was() {
    let Some(mut site) = Replicas::start(1, &["--unsafe-no-fsync"]) else { return };
    let (home, _daemon) = site.node();
    let (trainer, visits) = begun(&home);
    site.coordinators.remove(0).kill();
    site.coordinators[0].hears("this coordinator leads");
    site.check(trainer, visits);
}

#[test]
fn rule_18_a_leader_that_is_told_to_end_hands_over_at_once() {
    // Whoever waited until the leader's lease expires would wait for an hour.
    let Some(mut site) = Replicas::with_lease(1, &["--unsafe-no-fsync"], "1h") else { return };
    let (home, _daemon) = site.node();
    let (trainer, visits) = begun(&home);
    assert!(site.serves(0) && !site.serves(1));
    site.coordinators.remove(0).stop();
    site.coordinators[0].hears("this coordinator leads");
    site.check(trainer, visits);
}

pub(super) const SLOW_ELECTIONS: [&str; 4] = ["--heartbeat-interval", "500", "--election-timeout", "5000"];

#[test]
fn rule_18_a_leader_that_is_stopped_for_longer_than_its_lease_changes_nothing_when_it_continues() {
    let Some(mut site) = Replicas::start(3, &SLOW_ELECTIONS) else { return };
    let (home, _daemon) = site.node();
    let (trainer, visits) = begun(&home);
    site.coordinators[0].signal(Signal::STOP);
    site.coordinators[1].hears("this coordinator leads");
    site.coordinators[0].signal(Signal::CONT);
    site.coordinators[0].hears("this coordinator does not lead");
    site.check(trainer, visits);
}

#[test]
fn rule_18_etcd_may_lose_its_leader_and_a_coordinator_may_die_after_that() {
    let Some(mut site) = Replicas::start(3, &SLOW_ELECTIONS) else { return };
    let (home, _daemon) = site.node();
    let (mut trainer, mut visits) = begun(&home);
    let leader = site.etcd.leader();
    site.etcd.kill(leader);
    visits.note("one", &[trainer.next(), trainer.next()]);
    site.etcd.restart(leader);
    site.coordinators.remove(0).kill();
    site.coordinators[0].hears("this coordinator leads");
    site.check(trainer, visits);
}
