//! The coordinators of a cluster in trouble: one on a file, or two on etcd. Nodes reach them through proxies.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::super::etcd::cluster::EtcdCluster;
use super::super::nodes::command;
use crate::daemon::{Daemon, stderr};

/// See the module.
pub(super) struct TroubledSite {
    folder: TempDir,
    etcd: Option<EtcdCluster>,
    ports: Vec<u16>,
    coordinators: Vec<Option<Daemon>>,
}

impl TroubledSite {
    /// Two coordinators on etcd, if that is wanted and this machine has one. Else one on a file.
    pub(super) fn start(on_etcd: bool) -> Self {
        let etcd = if on_etcd { EtcdCluster::start(3, &super::super::etcd::SLOW_ELECTIONS) } else { None };
        let count = if etcd.is_some() { 2 } else { 1 };
        let port = |_| TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let mut site = Self {
            folder: tempfile::tempdir().unwrap(),
            etcd,
            ports: (0..count).map(port).collect(),
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
        assert!(output.status.success(), "{}", stderr(&output));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["streams"][0]["epochs"].as_array().unwrap().clone()
    }
}
