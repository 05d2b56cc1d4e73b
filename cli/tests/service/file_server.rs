//! A plain HTTP server of a folder, on the loopback. It says what was asked for.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

/// A server that lives as long as the test's process.
pub(crate) struct FileServer {
    address: SocketAddr,
    /// Paths and ranges of the bytes that were asked for.
    asked: Arc<Mutex<Vec<String>>>,
}

impl FileServer {
    pub(crate) fn of(folder: &Path) -> Self {
        Self::slow(folder, Duration::ZERO)
    }

    /// Each answer takes this long.
    pub(crate) fn slow(folder: &Path, time: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (folder, asked) = (folder.to_owned(), Arc::<Mutex<Vec<String>>>::default());
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (folder, log) = (folder.clone(), Arc::clone(&log));
                thread::spawn(move || while serve(&stream, &folder, time, &log).is_some() {});
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// The bytes that were asked for since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock())
    }
}

/// Answers a request. Nothing when the client is gone.
fn serve(mut stream: &TcpStream, folder: &Path, time: Duration, log: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut range) = (String::new(), None);
    reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("range") {
            range = value
                .trim()
                .strip_prefix("bytes=")
                .and_then(|range| range.split_once('-'))
                .map(|(first, last)| (first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap()));
        }
    }
    if !time.is_zero() {
        // Nobody unparks this thread.
        thread::park_timeout(time);
    }
    let mut words = head.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let Ok(bytes) = fs::read(folder.join(path.trim_start_matches('/'))) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").ok();
    };
    let tag = blake3::hash(&bytes).to_hex();
    let (status, part, place) = match range {
        Some((first, last)) => {
            let last = last.min(bytes.len() - 1);
            let place = format!("Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
            ("206 Partial Content", &bytes[first..=last], place)
        }
        None => ("200 OK", &bytes[..], String::new()),
    };
    let headers = format!("HTTP/1.1 {status}\r\nETag: \"{tag}\"\r\n{place}Content-Length: {}\r\n\r\n", part.len());
    stream.write_all(headers.as_bytes()).ok()?;
    if method == "GET" {
        log.lock().push(format!("{path} {range:?}"));
        stream.write_all(part).ok()?;
    }
    Some(())
}
