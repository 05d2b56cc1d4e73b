//! A daemon of one test: its folder with pictures, sockets and ledgers, its process, and what it says.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crossbeam_channel::{self as crossbeam, RecvTimeoutError};
use forebay_pixels::sample::photograph;
use forebay_proto::v1::control_client::ControlClient;
use forebay_proto::v1::{StatusReply, StatusRequest, StreamStatus};
use hyper_util::rt::TokioIo;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};

/// How long anything may take before the test has failed. Nothing is ever waited for this long where all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// With this, a daemon reads little ahead: when it dies, most of 200 records are not leased. The next daemon grants what was leased
/// last, and so its trainers may come back as late as they do.
pub(crate) const LITTLE_AHEAD: &str = "[prefetch]\nbudget = \"4kb\"\n";

/// Where one test's daemon lives.
pub(crate) struct Home {
    folder: TempDir,
}

/// A daemon that runs. It is killed with the test.
pub(crate) struct Daemon {
    child: Child,
    lines: crossbeam::Receiver<String>,
    said: String,
}

impl Home {
    /// With a flat folder of so many pictures: record n, in the order of names, is picture n.
    pub(crate) fn with_pictures(count: u64) -> Self {
        let home = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir(home.path("pictures")).unwrap();
        for number in 0..count {
            fs::write(home.picture(number), photograph(number, 24, 18)).unwrap();
        }
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file of a record.
    pub(crate) fn picture(&self, number: u64) -> PathBuf {
        self.path("pictures").join(format!("{number:04}.jpg"))
    }

    /// Where trainers attach.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path("sockets").join("forebay.sock")
    }

    /// A table for the stream `train`: batches of 4 pictures of 16 x 16, unless the settings say otherwise.
    pub(crate) fn train(&self, settings: &str) -> String {
        self.stream("train", settings)
    }

    /// As [`train`](Self::train), for a stream of another name.
    pub(crate) fn stream(&self, name: &str, settings: &str) -> String {
        let mut table = format!("[streams.{name}]\nsource = \"{}\"\n", self.path("pictures").display());
        for (key, value) in [("batch_size", 4), ("size", 16)] {
            let instead = if key == "size" { "transform" } else { "global_batch" };
            let given = settings.lines().any(|line| line.starts_with(key)) || settings.contains(instead);
            if !given {
                writeln!(table, "{key} = {value}").unwrap();
            }
        }
        table + settings + "\n"
    }

    /// Writes the configuration: sockets and ledgers in this folder, then `tables`. A drain that waits for somebody
    /// does not end within a test.
    pub(crate) fn configure(&self, tables: &str) {
        let (sockets, state) = (self.path("sockets"), self.path("state"));
        let head = format!(
            "drain_timeout = \"1h\"\n[control]\ndir = \"{}\"\n[coordinator]\npath = \"{}\"\n",
            sockets.display(),
            state.display()
        );
        fs::write(self.path("forebay.toml"), head + tables).unwrap();
    }

    /// Serves the stream `train` with these settings.
    pub(crate) fn serve(&self, settings: &str) -> Daemon {
        self.configure(&self.train(settings));
        self.start()
    }

    /// As [`serve`](Self::serve), with [`LITTLE_AHEAD`].
    pub(crate) fn serve_little_ahead(&self, settings: &str) -> Daemon {
        self.configure(&(self.train(settings) + LITTLE_AHEAD));
        self.start()
    }

    /// Starts a daemon with the configuration as it is, and waits until it is ready.
    pub(crate) fn start(&self) -> Daemon {
        let mut daemon = Daemon::spawn(self.serve_command());
        daemon.hears("ready");
        daemon
    }

    /// Starts a daemon that cannot start: its exit code, and what it said.
    pub(crate) fn fails_to_start(&self) -> (Option<i32>, String) {
        Daemon::spawn(self.serve_command()).fails()
    }

    /// The command that serves the configuration as it is.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.args(["serve", "--config"]).arg(self.path("forebay.toml"));
        command
    }

    /// Runs another command against the daemon.
    pub(crate) fn command(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.args(args).arg("--socket-dir").arg(self.path("sockets"));
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// `forebay audit`, in which everything must add up, line by line; the first names the stream.
    pub(crate) fn audit(&self) -> Vec<String> {
        let output = self.command(&["audit"]);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim().to_owned()).collect()
    }

    /// The status of the daemon.
    pub(crate) fn whole_status(&self) -> StatusReply {
        runtime().block_on(async {
            let mut client = ControlClient::new(self.channel().await);
            client.status(StatusRequest {}).await.expect("a status").into_inner()
        })
    }

    /// The status of the only stream.
    pub(crate) fn status(&self) -> StreamStatus {
        let [stream] = <[StreamStatus; 1]>::try_from(self.whole_status().streams).expect("one stream");
        stream
    }

    /// A connection to the control socket.
    pub(crate) async fn channel(&self) -> Channel {
        channel(self.path("sockets").join("control.sock")).await
    }

    /// Waits until the stream's status is so.
    pub(crate) fn wait_for(&self, what: &str, condition: impl Fn(&StreamStatus) -> bool) {
        self.wait_for_daemon(what, |status| condition(status.streams.first().expect("one stream")));
    }

    /// Waits until the daemon's status is so.
    pub(crate) fn wait_for_daemon(&self, what: &str, condition: impl Fn(&StatusReply) -> bool) {
        let mut status = self.whole_status();
        let until = Instant::now() + PATIENCE;
        while !condition(&status) {
            assert!(Instant::now() < until, "it never came to be that {what}: {status:?}");
            // Nobody unparks this thread: it rests between two questions.
            thread::park_timeout(Duration::from_millis(10));
            status = self.whole_status();
        }
    }
}

impl Daemon {
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("forebay can be started");
        let lines = lines(child.stderr.take().unwrap());
        Self { child, lines, said: String::new() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said up to the last words that were waited for.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    /// Waits until it writes a line with these words.
    pub(crate) fn hears(&mut self, words: &str) {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.said += &line;
                    self.said += "\n";
                    if line.contains(words) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => panic!("it ended before it said {words:?}:\n{}", self.said),
                Err(RecvTimeoutError::Timeout) => panic!("it never said {words:?}:\n{}", self.said),
            }
        }
    }

    /// The same, if it has not written one yet: it may have before it was ready.
    pub(crate) fn has_said(&mut self, words: &str) {
        if !self.said.contains(words) {
            self.hears(words);
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).unwrap();
        kill_process(pid, signal).expect("it runs");
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it as a crash would: all that it said.
    pub(crate) fn last_words(&mut self) -> &str {
        self.child.kill().unwrap();
        self.lines.iter().for_each(|line| self.said += &(line + "\n"));
        &self.said
    }

    /// Ends it as a service manager would.
    pub(crate) fn stop(self) {
        self.signal(Signal::TERM);
        let (status, said) = self.ends();
        assert!(status.success(), "{status}:\n{said}");
    }

    /// Waits for the end of one that must not become ready: its exit code, and what it said.
    pub(crate) fn fails(self) -> (Option<i32>, String) {
        let (status, said) = self.reads_to_its_end(false);
        assert!(!status.success(), "{said}");
        (status.code(), said)
    }

    /// Waits for its end: how, and what it said.
    pub(crate) fn ends(self) -> (ExitStatus, String) {
        self.reads_to_its_end(true)
    }

    fn reads_to_its_end(mut self, may_be_ready: bool) -> (ExitStatus, String) {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    assert!(may_be_ready || !line.contains("INFO ready"), "it has started");
                    self.said += &(line + "\n");
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.said),
            }
        }
        (self.child.wait().unwrap(), std::mem::take(&mut self.said))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
        if thread::panicking() {
            let rest: String = self.lines.iter().map(|line| line + "\n").collect();
            eprintln!("The daemon said:\n{}{rest}", self.said);
        }
    }
}

/// A connection to a socket.
pub(crate) async fn channel(socket: PathBuf) -> Channel {
    let connector = tower::service_fn(move |_: Uri| {
        let socket = socket.clone();
        async move { UnixStream::connect(socket).await.map(TokioIo::new) }
    });
    Endpoint::from_static("http://daemon").connect_with_connector(connector).await.expect("a socket that answers")
}

/// The lines of a pipe as they come.
pub(crate) fn lines(pipe: impl std::io::Read + Send + 'static) -> crossbeam::Receiver<String> {
    let (sender, lines) = crossbeam::unbounded();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// What a command said on stderr.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What one of many looks gives first.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < end, "it never came to be that {what}");
        // Nobody unparks this thread: it rests between two looks.
        thread::park_timeout(Duration::from_millis(10));
    }
}

/// For one question to the control socket.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
