//! A cluster of etcd on this machine, for a test: started, asked, and killed with the test.
#![allow(clippy::print_stdout, reason = "scripts/test.py counts what is skipped")]
#![allow(dead_code, reason = "tests of two crates use it, each a part of it")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// How long etcd may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// See the module.
pub(crate) struct EtcdCluster {
    folder: TempDir,
    binary: PathBuf,
    members: Vec<Member>,
    args: Vec<String>,
    /// Where clients that speak TLS are answered.
    tls: Option<u16>,
}

struct Member {
    clients: u16,
    peers: u16,
    child: Option<Child>,
}

impl EtcdCluster {
    /// Nothing if this machine has no etcd, which is then printed.
    pub(crate) fn start(members: usize, args: &[&str]) -> Option<Self> {
        Self::begin(members, args, None)
    }

    /// One member, which speaks TLS at a further port as these arguments say.
    pub(crate) fn with_tls(args: &[&str]) -> Option<Self> {
        Self::begin(1, args, Some(free_port()))
    }

    fn begin(members: usize, args: &[&str], tls: Option<u16>) -> Option<Self> {
        let Some(binary) = binary() else {
            println!("skipped: no etcd on this machine (scripts/etcd.sh gets it)");
            return None;
        };
        let member = |_| Member { clients: free_port(), peers: free_port(), child: None };
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { folder, binary, members: (0..members).map(member).collect(), args, tls };
        (0..members).for_each(|number| cluster.spawn(number));
        (0..members).for_each(|number| cluster.wait(number));
        Some(cluster)
    }

    /// Addresses of all members, with commas between them.
    pub(crate) fn endpoints(&self) -> String {
        let all: Vec<String> = (0..self.members.len()).map(|number| self.endpoint(number)).collect();
        all.join(",")
    }

    pub(crate) fn endpoint(&self, number: usize) -> String {
        format!("http://127.0.0.1:{}", self.members[number].clients)
    }

    pub(crate) fn tls_endpoint(&self) -> String {
        format!("https://127.0.0.1:{}", self.tls.expect("it speaks TLS"))
    }

    /// The port of a member.
    pub(crate) fn port(&self, number: usize) -> u16 {
        self.members[number].clients
    }

    /// The member that leads the others.
    pub(crate) fn leader(&self) -> usize {
        let until = Instant::now() + PATIENCE;
        loop {
            let leads = |number: &usize| self.get(*number, "/metrics").contains("\netcd_server_is_leader 1\n");
            if let Some(leader) = (0..self.members.len()).find(leads) {
                return leader;
            }
            assert!(Instant::now() < until, "no member leads");
            rest();
        }
    }

    /// Ends a member as a crash would.
    pub(crate) fn kill(&mut self, number: usize) {
        let mut child = self.members[number].child.take().expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Ends a member in good order: it goes through nothing of its log again when it starts.
    pub(crate) fn stop(&mut self, number: usize) {
        let mut child = self.members[number].child.take().expect("it runs");
        let pid = Pid::from_child(&child);
        rustix::process::kill_process(pid, Signal::TERM).unwrap();
        child.wait().unwrap();
    }

    /// Starts a member again that was ended.
    pub(crate) fn restart(&mut self, number: usize) {
        self.spawn(number);
        self.wait(number);
    }

    fn spawn(&mut self, number: usize) {
        let peers = |member: &Member| format!("http://127.0.0.1:{}", member.peers);
        let all = self.members.iter().enumerate().map(|(number, member)| format!("m{number}={}", peers(member)));
        let all = all.collect::<Vec<_>>().join(",");
        let (clients, peers) = (self.endpoint(number), peers(&self.members[number]));
        let mut command = Command::new(&self.binary);
        command
            .args(["--name", &format!("m{number}"), "--data-dir"])
            .arg(self.folder.path().join(format!("m{number}")));
        let tls = self.tls.map(|port| format!(",https://127.0.0.1:{port}")).unwrap_or_default();
        command.args(["--listen-client-urls", &format!("{clients}{tls}"), "--advertise-client-urls", &clients]);
        command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
        command.args(["--initial-cluster", &all]).args(&self.args);
        let log = fs::File::options().create(true).append(true).open(self.log(number)).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.members[number].child = Some(command.spawn().expect("etcd can be started"));
    }

    fn wait(&mut self, number: usize) {
        let until = Instant::now() + PATIENCE;
        while !self.get(number, "/health").contains("\"true\"") {
            let ended = self.members[number].child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_some());
            let log = || fs::read_to_string(self.log(number)).unwrap_or_default();
            assert!(!ended && Instant::now() < until, "etcd does not answer:\n{}", log());
            rest();
        }
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("m{number}.log"))
    }

    fn get(&self, number: usize, path: &str) -> String {
        self.ask(number, &format!("GET {path} HTTP/1.0\r\n\r\n"))
    }

    /// Calls etcd's API in JSON.
    pub(crate) fn post(&self, number: usize, path: &str, body: &str) -> String {
        self.ask(number, &format!("POST {path} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    }

    /// What a member answers over HTTP; nothing if it does not.
    fn ask(&self, number: usize, request: &str) -> String {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.members[number].clients))?;
            stream.set_read_timeout(Some(Duration::from_secs(2)))?;
            stream.write_all(request.as_bytes())?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer)?;
            Ok(String::from_utf8_lossy(&answer).into_owned())
        };
        ask().unwrap_or_default()
    }
}

impl Drop for EtcdCluster {
    fn drop(&mut self) {
        for child in self.members.iter_mut().filter_map(|member| member.child.as_mut()) {
            // It may have ended already.
            let _killed = child.kill();
            let _ended = child.wait();
        }
    }
}

/// The one that the caller names, the system's, or the one that was got by scripts/etcd.sh because the system has none.
fn binary() -> Option<PathBuf> {
    let named = std::env::var_os("FOREBAY_ETCD").map(PathBuf::from);
    let unpacked = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/etcd/usr/bin/etcd"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join("etcd"));
    named.into_iter().chain(in_path).chain([unpacked]).find(|binary| binary.is_file())
}

/// A port at which nobody listens. It is not one of those that the system gives to connections, so it is still free when its
/// server is started again.
pub(crate) fn free_port() -> u16 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let given = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let end = given.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(32_768).max(20_000);
    loop {
        // Tests in other processes begin elsewhere.
        let number = std::process::id().wrapping_mul(97).wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(10_000 + number % (end - 10_000)).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Nobody unparks this thread: it rests between two looks.
fn rest() {
    thread::park_timeout(Duration::from_millis(20));
}
