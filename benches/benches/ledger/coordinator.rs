//! A coordinator as a process of its own, which is killed with this value.

use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use forebay_ledger_client::{Address, Handle, Remote};
use forebay_proto::v1::ListLedgersRequest;

use crate::figures::Bare;

/// How long it may take to start.
const START: Duration = Duration::from_secs(30);

/// Where a coordinator listens, and how it is started there, once or again.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    listen: String,
    args: Vec<OsString>,
}

#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    address: String,
}

impl Launch {
    /// With its ledgers in this folder, which it makes.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self, Bare> {
        Self::with(vec!["--path".into(), folder.into()])
    }

    /// With its ledgers in etcd. If the leader is silent for `lease` seconds, another coordinator of the same etcd takes
    /// over.
    pub(crate) fn on_etcd(endpoints: &str, lease: u64) -> Result<Self, Bare> {
        let args = ["--store", "etcd", "--etcd", endpoints, "--leader-lease", &format!("{lease}s")];
        Self::with(args.map(OsString::from).to_vec())
    }

    fn with(args: Vec<OsString>) -> Result<Self, Bare> {
        // Another process may take the port in between. Then the coordinator reports that.
        let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        Ok(Self { listen, args })
    }

    /// The address at which daemons reach it.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// Starts it. It may not answer yet. Leases last for longer than any figure takes.
    pub(crate) fn spawn(&self) -> Result<Running, Bare> {
        let mut command = Command::new(binary()?);
        command.args(["coordinate", "--lease-ttl", "1h", "--listen", &self.listen]).args(&self.args);
        let process = command.env("FOREBAY_LOG", "error").stdin(Stdio::null()).spawn()?;
        Ok(Running { process, address: self.address() })
    }
}

impl Running {
    /// Starts one with its ledgers in this folder.
    pub(crate) async fn start(folder: &Path) -> Result<Self, Bare> {
        Launch::in_folder(folder)?.spawn()?.ready().await
    }

    /// Waits until it answers.
    pub(crate) async fn ready(mut self) -> Result<Self, Bare> {
        let (handle, end) = (self.handle()?, Instant::now() + START);
        while let Err(error) = handle.call(ListLedgersRequest::default()).await {
            if Instant::now() >= end || self.process.try_wait()?.is_some() {
                return Err(error.into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(self)
    }

    /// A connection of its own, as each daemon has one.
    pub(crate) fn handle(&self) -> Result<Handle, Bare> {
        let remote = remote(&self.address)?;
        Ok(Remote { deadline: Duration::from_secs(60), ..remote }.connect()?)
    }

    /// Memory that the process has, in MB.
    pub(crate) fn resident(&self) -> Result<f64, Bare> {
        let kibibytes: u32 = self.number("status", "VmRSS:")?.try_into()?;
        Ok(f64::from(kibibytes) * 1024.0 / 1e6)
    }

    /// Bytes that the process has written to files and sockets. Replies are a small part of them.
    pub(crate) fn written(&self) -> Result<u64, Bare> {
        self.number("io", "wchar:")
    }

    fn number(&self, file: &str, name: &str) -> Result<u64, Bare> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("the system does not tell")?;
        Ok(line.split_whitespace().next().unwrap_or_default().parse()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The binary that is measured.
pub(crate) fn binary() -> Result<PathBuf, Bare> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/forebay").canonicalize()?)
}

/// The coordinators at these addresses, with commas between them.
pub(crate) fn remote(addresses: &str) -> Result<Remote, Bare> {
    Ok(Remote::at(Address::list(addresses).map_err(|_| "no address")?))
}
