//! A store for tests: it serves a folder of this machine as a bucket of S3, and to plain HTTP.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use forebay_sources::Options;

use super::http::{Asked, LoopServer, answer};

/// By what a reader of an object can know that it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// An `ETag` of the bytes, and of the time of files that are older than this century.
    Tagged,
    /// Only the size.
    Untagged,
}

/// A running store.
pub(crate) struct Loopback {
    server: LoopServer,
    shared: Arc<Shared>,
}

struct Shared {
    folder: PathBuf,
    changes: Changes,
    /// Answers with 503, as long as it is set.
    is_out: AtomicBool,
    /// Answers all reads with 403, as long as it is set.
    is_closed: AtomicBool,
    requests: AtomicU64,
}

/// Keys of one page of a list.
const PAGE: usize = 3;

impl Loopback {
    /// Serves what is below the folder as the bucket `data`.
    pub(crate) fn of(folder: &Path, changes: Changes) -> Self {
        let (is_out, is_closed) = (AtomicBool::new(false), AtomicBool::new(false));
        let requests = AtomicU64::new(0);
        let shared = Arc::new(Shared { folder: folder.to_owned(), changes, is_out, is_closed, requests });
        let own = Arc::clone(&shared);
        Self { server: LoopServer::start(move |asked| own.answer(asked)), shared }
    }

    /// The options of a dataset in this store.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.own.set("endpoint", self.server.url());
        options.own.set("anonymous", "true");
        options.own.set("region", "nowhere-1");
        options
    }

    /// The URL of a file for plain HTTP.
    pub(crate) fn web(&self, name: &str) -> String {
        format!("{}/data/{name}", self.server.url())
    }

    /// From now on, whether all requests are answered with an outage.
    pub(crate) fn set_out(&self, is_out: bool) {
        self.shared.is_out.store(is_out, Ordering::SeqCst);
    }

    /// From now on, whether no object may be read.
    pub(crate) fn set_closed(&self, is_closed: bool) {
        self.shared.is_closed.store(is_closed, Ordering::SeqCst);
    }

    /// Requests that were answered.
    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn answer(&self, asked: &Asked) -> Vec<u8> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if self.is_out.load(Ordering::SeqCst) {
            return answer("503 Slow Down", "", b"<Error><Code>SlowDown</Code></Error>", true);
        }
        if asked.query.iter().any(|(key, _)| key == "list-type") {
            return answer("200 OK", "Content-Type: application/xml\r\n", self.list(asked).as_bytes(), true);
        }
        let key = asked.path.strip_prefix("/data/").unwrap_or_default();
        let file = self.folder.join(key);
        let is_head = asked.method == "HEAD";
        if self.is_closed.load(Ordering::SeqCst) {
            return answer("403 Forbidden", "", b"<Error><Code>AccessDenied</Code></Error>", !is_head);
        }
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
