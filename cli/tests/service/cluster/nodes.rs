//! A coordinator and daemons of one test.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::daemon::{Daemon, Home, stderr};

/// A coordinator that runs at a Unix socket. It is killed with the test.
pub(super) struct Site {
    folder: TempDir,
    coordinator: Option<Daemon>,
    args: Vec<String>,
}

pub(super) fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_forebay"))
}

impl Site {
    pub(super) fn start() -> Self {
        Self::with(&[])
    }

    /// With further arguments of the coordinator.
    pub(super) fn with(args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut site = Self { folder, coordinator: None, args };
        site.restart();
        site
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("coordinator.sock")
    }

    pub(super) fn address(&self) -> String {
        format!("unix:{}", self.socket().display())
    }

    /// A file in the folder of the ledgers.
    pub(super) fn ledgers(&self, name: &str) -> PathBuf {
        self.folder.path().join("ledgers").join(name)
    }

    pub(super) fn restart(&mut self) {
        self.restart_with(&[]);
    }

    /// Starts the coordinator with these arguments too, and gives what it said.
    pub(super) fn restart_with(&mut self, args: &[&str]) -> String {
        let mut coordinator = Daemon::spawn(self.coordinate(args));
        coordinator.hears("the coordinator is ready");
        let said = coordinator.said().to_owned();
        self.coordinator = Some(coordinator);
        said
    }

    /// Starts a coordinator that cannot start with these arguments: what it said.
    pub(super) fn fails_with(&self, args: &[&str]) -> String {
        Daemon::spawn(self.coordinate(args)).fails().1
    }

    /// Leases last for two seconds, so that a test of a death need not wait for long.
    fn coordinate(&self, args: &[&str]) -> Command {
        let mut coordinate = command();
        coordinate.args(["coordinate", "--lease-ttl", "2s", "--listen", &self.address(), "--path"]);
        coordinate.arg(self.folder.path().join("ledgers")).args(&self.args).args(args);
        coordinate
    }

    /// Waits until the coordinator says these words.
    pub(super) fn hears(&mut self, words: &str) {
        self.coordinator.as_mut().unwrap().hears(words);
    }

    /// What the coordinator said up to the last words that were waited for.
    pub(super) fn said(&self) -> &str {
        self.coordinator.as_ref().unwrap().said()
    }

    /// Ends the coordinator as a crash would.
    pub(super) fn kill(&mut self) {
        self.coordinator.take().unwrap().kill();
    }

    /// A node that does not read so far ahead that the others get nothing, with the stream `train` of so many pictures, whose daemon does not run yet.
    pub(super) fn home(&self, node: &str, pictures: u64, settings: &str, drain: &str) -> Home {
        let home = Home::with_pictures(pictures);
        let text = format!(
            "drain_timeout = \"{drain}\"\n[prefetch]\nbudget = \"4kb\"\n[control]\ndir = \"{}\"\n[coordinator]\nendpoint = \"{}\"\nnode = \"{node}\"\n{}",
            home.path("sockets").display(),
            self.address(),
            home.train(settings)
        );
        fs::write(home.path("forebay.toml"), text).unwrap();
        home
    }

    /// A node whose daemon runs.
    pub(super) fn node(&self, node: &str, pictures: u64, settings: &str) -> (Home, Daemon) {
        let home = self.home(node, pictures, settings, "1h");
        let daemon = home.start();
        (home, daemon)
    }

    /// Runs a command that asks the coordinator.
    pub(super) fn command(&self, args: &[&str]) -> Output {
        command().args(args).args(["--coordinator", &self.address()]).stdin(Stdio::null()).output().unwrap()
    }

    /// `forebay audit`, in which everything must add up, line by line.
    pub(super) fn audit(&self) -> Vec<String> {
        let output = self.command(&["audit"]);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim().to_owned()).collect()
    }
}
