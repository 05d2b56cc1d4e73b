//! A daemon that serves streams to a benchmark. It is killed with this value.

use std::fs::{self, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use forebay_client::{Options, Patient, Session, Target};
use tempfile::TempDir;

/// See the module.
#[derive(Debug)]
pub struct Served {
    process: Child,
    folder: TempDir,
}

impl Served {
    /// Starts a daemon with this configuration. Its sockets are in a new folder below this one, and so are its ledgers, unless
    /// the configuration has a section about a coordinator.
    ///
    /// # Errors
    /// The folder cannot be written, or the binary does not run.
    pub fn start(binary: &Path, below: &Path, config: &str) -> io::Result<Self> {
        let own = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().permissions(own).tempdir_in(below)?;
        let dir = folder.path().display();
        let ledgers =
            if config.contains("[coordinator]") { String::new() } else { format!("[coordinator]\npath = \"{dir}\"\n") };
        let file = folder.path().join("forebay.toml");
        fs::write(&file, format!("{config}\n[control]\ndir = \"{dir}\"\n{ledgers}"))?;
        let process = Command::new(binary).args(["serve", "--config"]).arg(&file).stderr(Stdio::piped()).spawn()?;
        Ok(Self { process, folder })
    }

    /// Attaches to a stream as soon as the daemon serves it.
    ///
    /// # Errors
    /// The daemon has ended: what it said.
    pub fn attach(&mut self, stream: &str) -> io::Result<Session> {
        loop {
            let socket = Some(self.folder.path().join("forebay.sock"));
            let target = Target::Stream { socket, name: stream.into(), settings: None };
            match Session::attach(target, Options::default(), &mut Patient) {
                Ok(session) => return Ok(session),
                Err(error) if self.process.try_wait()?.is_some() => {
                    let mut words = String::new();
                    self.process.stderr.take().map(|mut said| said.read_to_string(&mut words)).transpose()?;
                    return Err(io::Error::other(format!("{error}\n{words}")));
                }
                Err(_starting) => thread::park_timeout(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}
