//! A store for tests: it serves a folder of this machine as a bucket of S3, and to plain HTTP.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use forebay_sources::Options;
use percent_encoding::percent_decode_str;

/// By what a reader of an object can know that it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// An `ETag` of the bytes, and of the time of files that are older than this century.
    Tagged,
    /// Only the size.
    Untagged,
}

/// A running server.
pub(crate) struct Loopback {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    folder: PathBuf,
    changes: Changes,
    over: AtomicBool,
    /// Answers with 503, as long as it is set.
    is_out: AtomicBool,
    requests: AtomicU64,
}

/// Keys of one page of a list.
const PAGE: usize = 3;

struct Asked {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    range: Option<(u64, u64)>,
    if_match: Option<String>,
}

impl Loopback {
    /// Serves what is below the folder as the bucket `data`.
    pub(crate) fn of(folder: &Path, changes: Changes) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (over, is_out) = (AtomicBool::new(false), AtomicBool::new(false));
        let requests = AtomicU64::new(0);
        let shared = Arc::new(Shared { folder: folder.to_owned(), changes, over, is_out, requests });
        let own = Arc::clone(&shared);
        let accept = move || {
            for stream in listener.incoming().flatten() {
                if own.over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&own);
                thread::spawn(move || shared.serve(&stream));
            }
        };
        Self { address, shared, thread: Some(thread::spawn(accept)) }
    }

    /// The options of a dataset in this store.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.own.set("endpoint", format!("http://{}", self.address));
        options.own.set("anonymous", "true");
        options.own.set("region", "nowhere-1");
        options
    }

    /// The URL of a file for plain HTTP.
    pub(crate) fn web(&self, name: &str) -> String {
        format!("http://{}/data/{name}", self.address)
    }

    /// From now on, whether all requests are answered with an outage.
    pub(crate) fn set_out(&self, is_out: bool) {
        self.shared.is_out.store(is_out, Ordering::SeqCst);
    }

    /// Requests that were answered.
    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Shared {
    /// Answers requests until the client goes. Whatever goes wrong with a connection is its client's business.
    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(asked) = Asked::read(&mut reader) {
            self.requests.fetch_add(1, Ordering::SeqCst);
            let mut writer = stream;
            let answer = self.answer(&asked);
            if writer.write_all(&answer).is_err() || self.over.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    fn answer(&self, asked: &Asked) -> Vec<u8> {
        if self.is_out.load(Ordering::SeqCst) {
            return answer("503 Slow Down", "", b"<Error><Code>SlowDown</Code></Error>", true);
        }
        if asked.query.iter().any(|(key, _)| key == "list-type") {
            return answer("200 OK", "Content-Type: application/xml\r\n", self.list(asked).as_bytes(), true);
        }
        let key = asked.path.strip_prefix("/data/").unwrap_or_default();
        let file = self.folder.join(key);
        let is_head = asked.method == "HEAD";
        let (Ok(bytes), Ok(metadata)) = (fs::read(&file), file.metadata()) else {
            return answer("404 Not Found", "", b"<Error><Code>NoSuchKey</Code></Error>", !is_head);
        };
        let tag = self.tag(&bytes, metadata.modified().unwrap());
        if asked.if_match.is_some() && asked.if_match != tag {
            return answer("412 Precondition Failed", "", b"<Error><Code>PreconditionFailed</Code></Error>", !is_head);
        }
        let mut headers = "Last-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n".to_owned();
        if let Some(tag) = tag {
            write!(headers, "ETag: {tag}\r\n").unwrap();
        }
        let len = bytes.len() as u64;
        match asked.range {
            Some((first, last)) if first < len => {
                let last = last.min(len - 1);
                write!(headers, "Content-Range: bytes {first}-{last}/{len}\r\n").unwrap();
                let [first, last] = [first, last].map(|place| usize::try_from(place).unwrap());
                answer("206 Partial Content", &headers, &bytes[first..=last], !is_head)
            }
            Some(_) => answer("416 Range Not Satisfiable", &headers, b"", true),
            None => answer("200 OK", &headers, &bytes, !is_head),
        }
    }

    fn tag(&self, bytes: &[u8], modified: SystemTime) -> Option<String> {
        let hash = blake3::hash(bytes).to_hex();
        let age = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let set = if age < Duration::from_secs(900_000_000) { age.as_secs() } else { 0 };
        (self.changes == Changes::Tagged).then(|| format!("\"{}-{set}\"", &hash[..16]))
    }

    fn list(&self, asked: &Asked) -> String {
        let value = |name: &str| asked.query.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value);
        let (prefix, behind) = (value("prefix"), value("continuation-token").max(value("start-after")));
        let mut entries = BTreeSet::new();
        for key in keys(&self.folder, "") {
            let Some(rest) = key.strip_prefix(prefix) else { continue };
            match rest.split_once('/').filter(|_| value("delimiter") == "/") {
                Some((folder, _)) => entries.insert((format!("{prefix}{folder}/"), true)),
                None => entries.insert((key, false)),
            };
        }
        let mut page: Vec<&(String, bool)> = entries.iter().filter(|(key, _)| key.as_str() > behind).collect();
        let is_truncated = page.len() > PAGE;
        page.truncate(PAGE);
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult><Name>data</Name><IsTruncated>{is_truncated}</IsTruncated>"
        );
        for (key, is_folder) in &page {
            let shown = key.replace('&', "&amp;").replace('<', "&lt;");
            if *is_folder {
                write!(text, "<CommonPrefixes><Prefix>{shown}</Prefix></CommonPrefixes>").unwrap();
                continue;
            }
            let file = self.folder.join(key);
            let (bytes, modified) = (fs::read(&file).unwrap_or_default(), file.metadata().unwrap().modified().unwrap());
            let tag = self.tag(&bytes, modified).map(|tag| format!("<ETag>{}</ETag>", tag.replace('"', "&quot;")));
            write!(
                text,
                "<Contents><Key>{shown}</Key><LastModified>2025-01-01T00:00:00.000Z</LastModified>{}<Size>{}</Size></Contents>",
                tag.unwrap_or_default(),
                bytes.len()
            )
            .unwrap();
        }
        if is_truncated {
            let last = &page[page.len() - 1].0;
            // Behind a folder, what follows is behind all that is in it.
            let last = last.strip_suffix('/').map_or_else(|| last.clone(), |folder| format!("{folder}0"));
            write!(text, "<NextContinuationToken>{last}</NextContinuationToken>").unwrap();
        }
        text + "</ListBucketResult>"
    }
}

impl Asked {
    fn read(reader: &mut BufReader<&TcpStream>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
        let mut words = line.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let decoded = |text: &str| percent_decode_str(&text.replace('+', "%20")).decode_utf8_lossy().into_owned();
        let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (decoded(key), decoded(value)));
        let query = query.split('&').filter_map(pair).collect();
        let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
        let (mut range, mut if_match) = (None, None);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "range" => {
                    let (first, last) = value.strip_prefix("bytes=")?.split_once('-')?;
                    range = Some((first.parse().ok()?, last.parse().unwrap_or(u64::MAX)));
                }
                "if-match" => if_match = Some(value.to_owned()),
                _ => {}
            }
        }
        Some(Self { method, path, query, range, if_match })
    }
}

fn answer(status: &str, headers: &str, body: &[u8], has_body: bool) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    if has_body {
        bytes.extend_from_slice(body);
    }
    bytes
}

/// The files below a folder, as keys.
fn keys(folder: &Path, before: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = format!("{before}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            found.extend(keys(&entry.path(), &format!("{name}/")));
        } else {
            found.push(name);
        }
    }
    found
}
