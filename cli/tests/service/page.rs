//! `forebay page` as a process of its own beside a running daemon: what it shows, whom it shows it to, and that many viewers, or
//! one that reads nothing, delay no one else.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::daemon::{Home, PATIENCE, stderr, until};
use crate::trainer::{Trainer, records};

/// A page that is served. It is killed with the test.
pub(crate) struct Page {
    child: Child,
    /// Such as `127.0.0.1:40123`.
    address: String,
    /// The path with the token, from its first slash to its last.
    base: String,
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Page {
    /// Of the daemon of this test.
    pub(crate) fn of(home: &Home) -> Self {
        Self::with(&["--socket-dir", home.path("sockets").to_str().unwrap()])
    }

    /// With these arguments, at a port that the system chooses.
    pub(crate) fn with(args: &[&str]) -> Self {
        Self::started(&mut Command::new(env!("CARGO_BIN_EXE_forebay")), args)
    }

    /// The same, by a command that has no arguments yet.
    pub(crate) fn started(command: &mut Command, args: &[&str]) -> Self {
        let (child, line) = started_by(command, &[&["--listen", "127.0.0.1:0"], args].concat());
        let url = line.strip_prefix("The page is at http://").expect("a URL");
        let (address, base) = url.split_at(url.find('/').unwrap());
        Self { child, address: address.to_owned(), base: base.trim_end().to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.asked("GET", &format!("{}{path}", self.base), &self.address, "")
    }

    /// A page that must be there.
    #[track_caller]
    pub(crate) fn shows(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{}{}", answer.head, answer.body);
        answer.body
    }

    fn asked(&self, method: &str, target: &str, host: &str, more: &str) -> Answer {
        let mut stream = self.connect();
        write!(stream, "{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").unwrap();
        answer(stream)
    }

    /// An image that must be there, with its type.
    #[track_caller]
    pub(crate) fn image(&self, path: &str) -> (String, Vec<u8>) {
        let mut stream = self.connect();
        write!(stream, "GET {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.base, self.address).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        assert!(head.starts_with("http/1.1 200") && head.contains("x-content-type-options: nosniff"), "{head}");
        let kind = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap().to_owned();
        (kind, bytes.split_off(end + 4))
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// The process, and the line that it printed.
fn started(args: &[&str]) -> (Child, String) {
    started_by(&mut Command::new(env!("CARGO_BIN_EXE_forebay")), args)
}

fn started_by(command: &mut Command, args: &[&str]) -> (Child, String) {
    command.arg("page").args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

fn answer(mut stream: impl std::io::Read) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// The targets of all links of a page.
fn links(html: &str) -> Vec<String> {
    let links = html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    links.map(|link| link.replace("&amp;", "&").replace("&#x2f;", "/")).collect()
}

/// The link whose target begins so.
#[track_caller]
pub(crate) fn link(html: &str, begin: &str) -> String {
    links(html).into_iter().find(|link| link.starts_with(begin)).unwrap_or_else(|| panic!("no link to {begin}: {html}"))
}

#[test]
fn the_page_shows_streams_their_stages_and_bad_records_whatever_they_are_called() {
    let home = Home::with_pictures(10);
    let hostile = "\"><script>alert(1)<img src=x onerror=alert(2)>\u{202e}\n.jpg";
    fs::write(home.path("pictures").join(hostile), "this is no picture").unwrap();
    home.configure(
        &(home.train("epochs = 1\non_error = \"skip\"") + &home.stream("val", "epochs = 1\non_error = \"skip\"")),
    );
    let _daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    assert_eq!(trainer.epoch().iter().map(|seen| seen.records.len()).sum::<usize>(), 10);
    let page = Page::of(&home);
    let overview = until("the run is complete", || {
        let html = page.shows("");
        html.contains("The last epoch is complete.").then_some(html)
    });
    for text in
        [">train</a>", ">val</a>", "The last epoch is complete.", "1 bad record", "pictures&#x2f;s", "No trainer"]
    {
        assert!(overview.contains(text), "{text}: {overview}");
    }
    let stream = page.shows(&link(&overview, "stream?"));
    for text in ["Stream train", "prefetch", "decode", "Waited for input", "Filling", "Rates", "process "] {
        assert!(stream.contains(text), "{text}: {stream}");
    }
    let bad = page.shows(&link(&stream, "quarantine?"));
    assert!(bad.contains("&gt;&lt;script&gt;alert(1)&lt;img src=x onerror=alert(2)&gt;\\u{202e}\\n.jpg"), "{bad}");
    assert!(!bad.contains("<script>") && !bad.contains("<img") && bad.contains("no picture"), "{bad}");
    for html in [&overview, &stream, &bad] {
        for link in links(html).iter().filter(|link| !link.starts_with("data:")) {
            assert!(!link.contains(':') && !link.starts_with('/'), "{link}");
            assert_eq!(page.get(link.trim_start_matches("./")).status, 200, "{link}");
        }
    }
    assert_eq!(page.get("stream?daemon=1&name=train").status, 404);
    assert_eq!(page.get("quarantine?daemon=1&name=train").status, 404);
    assert_eq!(page.get("nodes").status, 404, "it asks no coordinator");
    assert!(page.get("script.js").head.contains("text/javascript") && page.get("style.css").head.contains("text/css"));
}

#[test]
fn only_who_has_the_url_and_comes_by_it_is_answered() {
    let home = Home::with_pictures(1);
    let _daemon = home.serve("epochs = 1");
    let page = Page::of(&home);
    let port = page.address.rsplit(':').next().unwrap();
    let whole = page.get("");
    assert_eq!(whole.status, 200);
    for header in [
        "content-security-policy: default-src 'none';",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "cross-origin-resource-policy: same-origin",
        "cross-origin-opener-policy: same-origin",
    ] {
        assert!(whole.head.contains(header), "{header}: {}", whole.head);
    }
    assert!(
        !whole.head.contains("cookie") && !whole.body.contains(page.base.trim_matches('/')),
        "the token is nowhere"
    );
    let status = |method: &str, target: &str, host: &str, more: &str| page.asked(method, target, host, more).status;
    assert_eq!(status("GET", &page.base, &format!("localhost:{port}"), ""), 200);
    assert_eq!(status("GET", "/", &page.address, ""), 404);
    assert_eq!(status("GET", "/style.css", &page.address, ""), 404);
    assert_eq!(status("GET", "/0123456789abcdef0123456789abcdef/", &page.address, ""), 404);
    assert_eq!(status("GET", &page.base, "evil.example", ""), 421);
    assert_eq!(status("GET", &page.base, &page.address, "Origin: http://evil.example\r\n"), 403);
    assert_eq!(status("POST", &page.base, &page.address, "Content-Length: 0\r\n"), 405);
    let other = page.asked("GET", "/", "evil.example", "");
    assert!(!other.body.contains("train") && other.head.contains("content-security-policy"), "{}", other.body);
    let head = page.asked("HEAD", &page.base, &page.address, "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let mut long = page.connect();
    write!(long, "GET {} HTTP/1.1\r\nHost: {}\r\n", page.base, page.address).unwrap();
    // It may be closed before all of this was sent.
    let _sent = long.write_all(format!("Cookie: {}\r\n\r\n", "x".repeat(64 << 10)).as_bytes());
    let mut refused = Vec::new();
    let _read = long.read_to_end(&mut refused);
    assert!(!refused.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&refused));
}

#[test]
fn a_token_of_ones_own_is_read_from_a_closed_file_and_other_machines_are_kept_out() {
    let home = Home::with_pictures(1);
    let token = home.path("token");
    fs::write(&token, "my-own-token-0123456789\n").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let file = token.to_str().unwrap();
    let open = home.command(&["page", "--listen", "127.0.0.1:0", "--page-token-file", file]);
    assert!(!open.status.success() && stderr(&open).contains("chmod o="), "{}", stderr(&open));
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let folder = home.path("sockets");
    let page = Page::with(&["--page-token-file", file, "--socket-dir", folder.to_str().unwrap()]);
    let status = |target: &str| page.asked("GET", target, "localhost", "").status;
    assert_eq!((status("/my-own-token-0123456780/"), status("/my-own-token-0123456789/style.css")), (404, 200));
    let wide = home.command(&["page", "--listen", "0.0.0.0:7180"]);
    assert!(!wide.status.success() && stderr(&wide).contains("ssh -L 7180:127.0.0.1:7180"), "{}", stderr(&wide));
}

#[test]
fn a_socket_is_its_user_s_alone_needs_no_token_and_goes_with_the_page() {
    let home = Home::with_pictures(1);
    let _daemon = home.serve("epochs = 1");
    let path = home.path("page.sock");
    let place = format!("unix:{}", path.display());
    let (mut child, line) = started(&["--listen", &place, "--socket-dir", home.path("sockets").to_str().unwrap()]);
    assert!(line.contains(path.to_str().unwrap()) && line.contains("ssh -L"), "{line}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let ask = |host: &str| {
        let mut stream = UnixStream::connect(&path).unwrap();
        write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        answer(stream)
    };
    assert!(ask("localhost:8000").body.contains(">train</a>"));
    assert_eq!(ask("evil.example").status, 421);
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!path.exists());
}

#[test]
fn viewers_who_are_many_or_read_nothing_hold_up_neither_each_other_nor_a_trainer() {
    let home = Home::with_pictures(200);
    let _daemon = home.serve("epochs = 2");
    let page = Page::of(&home);
    let ask = || {
        let mut stream = page.connect();
        write!(stream, "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", page.base, page.address).unwrap();
        stream
    };
    let reads_nothing = ask();
    let mut trainer = Trainer::attach(&home);
    let viewers: Vec<TcpStream> = (0..200).map(|_| ask()).collect();
    assert_eq!(records(&trainer.epoch()), (0..200).collect::<Vec<_>>());
    for viewer in viewers {
        let answer = answer(viewer);
        assert!(answer.status == 200 && answer.body.contains(">train</a>"), "{}{}", answer.head, answer.body);
    }
    let silent: Vec<TcpStream> = (0..600).map(|_| page.connect()).collect();
    assert!(page.shows("").contains(">train</a>"));
    assert_eq!(records(&trainer.epoch()), (0..200).collect::<Vec<_>>());
    drop((silent, reads_nothing));
    // The page asks by one connection at a time, so no other client loses its place at the control socket.
    assert!(home.command(&["status"]).status.success());
}

#[test]
fn the_page_outlives_its_daemon_and_says_how_it_was_last() {
    let home = Home::with_pictures(8);
    let daemon = home.serve("epochs = 2");
    let page = Page::of(&home);
    let asked = |words: &str| until(words, || page.shows("").contains(words).then_some(()));
    asked(">train</a>");
    daemon.kill();
    asked("This is how it was last.");
    assert!(page.shows("").contains(">train</a>"), "the last numbers are still there");
    let _daemon = home.start();
    until("it is current again", || (!page.shows("").contains("how it was last")).then_some(()));
}
