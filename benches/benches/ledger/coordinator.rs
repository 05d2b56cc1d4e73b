//! A coordinator as a process of its own, which is killed with this value.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use forebay_coordinator::{Address, Handle, Remote};
use forebay_proto::v1::ListLedgersRequest;

use crate::figures::Bare;

/// How long it may take to start.
const START: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    address: String,
}

impl Running {
    /// Starts one with its ledgers in this folder, which it makes. Leases last for longer than any figure takes.
    pub(crate) async fn start(folder: &Path) -> Result<Self, Bare> {
        let binary = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/forebay").canonicalize()?;
        // Somebody else may take the port in between. Then the coordinator says so.
        let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let mut command = Command::new(binary);
        command.args(["coordinate", "--lease-ttl", "1h", "--listen", &listen, "--path"]).arg(folder);
        let process = command.env("FOREBAY_LOG", "error").stdin(Stdio::null()).spawn()?;
        let mut running = Self { process, address: format!("http://{listen}") };
        let (handle, end) = (running.handle()?, Instant::now() + START);
        while let Err(error) = handle.call(ListLedgersRequest::default()).await {
            if Instant::now() >= end || running.process.try_wait()?.is_some() {
                return Err(error.into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(running)
    }

    /// A connection of its own, as each daemon has one.
    pub(crate) fn handle(&self) -> Result<Handle, Bare> {
        let addresses = Address::list(&self.address).map_err(|_| "no address")?;
        Ok(Remote { deadline: Duration::from_secs(60), ..Remote::at(addresses) }.connect()?)
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
