//! The coordinators of a cluster in trouble: one on a file, or three on etcd. Nodes reach them through proxies.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::super::etcd::SLOW_ELECTIONS;
use super::super::etcd::cluster::{EtcdCluster, free_port};
use super::super::nodes::command;
use crate::daemon::{Daemon, stderr};
use crate::full_disk::fill;

/// See the module.
pub(super) struct TroubledSite {
    folder: TempDir,
    etcd: Option<EtcdCluster>,
    ports: Vec<u16>,
    coordinators: Vec<Option<Daemon>>,
}

impl TroubledSite {
    /// Three coordinators on etcd, if that is wanted and this machine has one. Else one on a file.
    pub(super) fn start(on_etcd: bool) -> Self {
        let etcd = if on_etcd { EtcdCluster::start(3, &SLOW_ELECTIONS) } else { None };
        let count = if etcd.is_some() { 3 } else { 1 };
        let mut site = Self {
            folder: tempfile::tempdir().unwrap(),
            etcd,
            ports: (0..count).map(|_| free_port()).collect(),
            coordinators: (0..count).map(|_| None).collect(),
        };
        (0..count).for_each(|number| site.restart(number));
        site
    }

    pub(super) fn ports(&self) -> &[u16] {
        &self.ports
    }

    pub(super) fn kill(&mut self, number: usize) {
        self.coordinators[number].take().expect("it runs").kill();
    }

    pub(super) fn signal(&self, number: usize, signal: Signal) {
        self.coordinators[number].as_ref().expect("it runs").signal(signal);
    }

    pub(super) fn restart(&mut self, number: usize) {
        let mut coordinator = Daemon::spawn(self.coordinate(number));
        coordinator.hears("the coordinator is ready");
        self.coordinators[number] = Some(coordinator);
    }

    /// Ends the leader of etcd as a crash would, and starts it again. Nothing where there is no etcd.
    pub(super) fn strike_etcd(&mut self) {
        if let Some(etcd) = &mut self.etcd {
            let leader = etcd.leader();
            etcd.kill(leader);
            etcd.restart(leader);
        }
    }

    /// Nothing that is counted can be written, or it can again: the disk of a coordinator on a file is full, or etcd has no room.
    pub(super) fn fill(&self, full: bool) {
        let Some(etcd) = &self.etcd else { return fill(self.coordinators[0].as_ref().expect("it runs"), full) };
        let action = if full { "ACTIVATE" } else { "DEACTIVATE" };
        let alarm = format!(r#"{{"action": "{action}", "alarm": "NOSPACE", "memberID": "1"}}"#);
        let answer = etcd.post(0, "/v3/maintenance/alarm", &alarm);
        assert!(answer.contains("200 OK"), "{answer}");
    }

    /// Leases last for two seconds, so that they expire while a node is in trouble.
    fn coordinate(&self, number: usize) -> Command {
        let mut coordinate = command();
        coordinate.args(["coordinate", "--lease-ttl", "2s", "--listen", &format!("127.0.0.1:{}", self.ports[number])]);
        match &self.etcd {
            Some(etcd) => {
                coordinate.args(["--store", "etcd", "--etcd-prefix", "/chaos", "--etcd", &etcd.endpoints()]);
                coordinate.args(["--leader-lease", "8s"]);
            }
            None => {
                coordinate.arg("--path").arg(self.ledgers());
            }
        }
        coordinate
    }

    fn ledgers(&self) -> PathBuf {
        self.folder.path().join("ledgers")
    }

    /// What `forebay audit` says of the epochs.
    pub(super) fn audit(&self) -> Vec<Value> {
        let addresses: Vec<String> = self.ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        let mut audit = command();
        audit.args(["audit", "--json", "--coordinator", &addresses.join(",")]);
        let output = audit.stdin(Stdio::null()).output().unwrap();
        // The epochs are complete but for the bad record.
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["streams"][0]["epochs"].as_array().unwrap().clone()
    }
}
