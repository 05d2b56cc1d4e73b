//! An HTTP server for tests, on the loopback.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use percent_encoding::percent_decode_str;

/// A server that ends with its value.
pub(crate) struct LoopServer {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A request.
pub(crate) struct Asked {
    pub method: String,
    /// Path and query, as they were sent.
    pub target: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub range: Option<(u64, u64)>,
    pub if_match: Option<String>,
    pub authorization: Option<String>,
}

impl LoopServer {
    /// Answers each request with the bytes that `answer` makes, status and headers included.
    pub(crate) fn start(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (over, answer) = (Arc::new(AtomicBool::new(false)), Arc::new(answer));
        let own = Arc::clone(&over);
        let accept = move || {
            for stream in listener.incoming().flatten() {
                if own.load(Ordering::SeqCst) {
                    return;
                }
                let (over, answer) = (Arc::clone(&own), Arc::clone(&answer));
                thread::spawn(move || serve(&stream, &over, &*answer));
            }
        };
        Self { address, over, thread: Some(thread::spawn(accept)) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for LoopServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Answers requests until the client goes. Whatever goes wrong with a connection is its client's business.
fn serve(stream: &TcpStream, over: &AtomicBool, answer: &dyn Fn(&Asked) -> Vec<u8>) {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = Asked::read(&mut reader) {
        let mut writer = stream;
        if writer.write_all(&answer(&asked)).is_err() || over.load(Ordering::SeqCst) {
            return;
        }
    }
}

impl Asked {
    fn read(reader: &mut BufReader<&TcpStream>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
        let mut words = line.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let decoded = |text: &str| percent_decode_str(&text.replace('+', "%20")).decode_utf8_lossy().into_owned();
        let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (decoded(key), decoded(value)));
        let query = query.split('&').filter_map(pair).collect();
        let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
        let (mut range, mut if_match, mut authorization) = (None, None, None);
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
                "authorization" => authorization = Some(value.to_owned()),
                _ => {}
            }
        }
        Some(Self { method, target, path, query, range, if_match, authorization })
    }
}

/// An answer with these headers, each with the end of its line.
pub(crate) fn answer(status: &str, headers: &str, body: &[u8], has_body: bool) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    if has_body {
        bytes.extend_from_slice(body);
    }
    bytes
}
