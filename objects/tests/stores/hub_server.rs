//! A Hugging Face Hub on the loopback, with a file server of its own at another port.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use forebay_objects::{Settings, Store};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LINK, LOCATION, RANGE};
use hyper::{Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;

use crate::object_map::range;
use crate::s3::quick;
use crate::server::Server;

pub(crate) const TOKEN: &str = "hf_hunter2";
/// Entries of one page of a list.
const PAGE: usize = 2;

/// Files of a commit by their paths.
type Files = BTreeMap<String, Vec<u8>>;

/// What the hub has. A clone is the same.
#[derive(Clone, Default)]
pub(crate) struct Repositories(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    commits: BTreeMap<String, Files>,
    /// The commits of branches.
    revisions: BTreeMap<String, String>,
    is_gated: bool,
    /// Whether the next page of a list is always the same one.
    repeats: bool,
    /// Requests that are answered with 429, and the wait that the answer asks for.
    busy: (usize, &'static str),
    /// Tokens that the file server was sent.
    leaked: usize,
}

/// A hub with the dataset `o/n`. Tars are at the file server, and other files at the hub.
pub(crate) struct TestHub {
    pub(crate) repositories: Repositories,
    pub(crate) hub: Server,
    pub(crate) files: Server,
}

impl TestHub {
    pub(crate) fn start() -> Self {
        let repositories = Repositories::default();
        let files = serve(&repositories, of_file_server);
        let away = files.url();
        let hub = serve(&repositories, move |state, request| of_hub(state, request, &away));
        Self { repositories, hub, files }
    }

    /// Puts a commit with these files at the head of a branch.
    pub(crate) fn commit(&self, branch: &str, files: &[(&str, Vec<u8>)]) -> String {
        let mut state = self.repositories.0.lock();
        let id = format!("{:040x}", state.commits.len() + 1);
        let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.clone()));
        state.commits.insert(id.clone(), files.collect());
        state.revisions.insert(branch.to_owned(), id.clone());
        id
    }

    pub(crate) fn gate(&self) {
        self.repositories.0.lock().is_gated = true;
    }

    pub(crate) fn repeat_pages(&self) {
        self.repositories.0.lock().repeats = true;
    }

    pub(crate) fn be_busy(&self, times: usize, wait: &'static str) {
        self.repositories.0.lock().busy = (times, wait);
    }

    pub(crate) fn leaked(&self) -> usize {
        self.repositories.0.lock().leaked
    }

    pub(crate) fn settings(&self, token: Option<&str>) -> Settings {
        let variables = token.map(|token| ("HF_TOKEN".into(), token.into()));
        let settings = Settings::from_variables(variables);
        Settings { endpoint: Some(self.hub.url()), retries: quick(), ..settings }
    }

    /// The dataset in this revision, with the token.
    pub(crate) fn store(&self, revision: &str) -> Arc<Store> {
        Store::open(&format!("hf://datasets/o/n{revision}/"), &self.settings(Some(TOKEN))).unwrap()
    }
}

/// A server of what the repositories have.
fn serve(
    repositories: &Repositories,
    answer: impl Fn(&mut State, &Request<()>) -> Response<Bytes> + Send + Sync + 'static,
) -> Server {
    let repositories = repositories.clone();
    Server::answering(move |request| answer(&mut repositories.0.lock(), request))
}

fn of_hub(state: &mut State, request: &Request<()>, away: &str) -> Response<Bytes> {
    if state.busy.0 > 0 {
        state.busy.0 -= 1;
        return refusal(429, &[("retry-after", state.busy.1)]);
    }
    let token = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap());
    if state.is_gated && token != Some(&*format!("Bearer {TOKEN}")) {
        return refusal(401, &[("x-error-code", "GatedRepo")]);
    }
    let path = request.uri().path();
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().unwrap().into_owned();
    if let Some(revision) = path.strip_prefix("/api/datasets/o/n/revision/") {
        // A slash would be part of the path.
        let found = Some(revision).filter(|revision| !revision.contains('/'));
        let Some(commit) = found.and_then(|revision| state.revisions.get(&decoded(revision))) else {
            return refusal(404, &[("x-error-code", "RevisionNotFound")]);
        };
        return Response::new(Bytes::from(format!(r#"{{"id": "o/n", "sha": "{commit}", "siblings": []}}"#)));
    }
    if let Some(rest) = path.strip_prefix("/api/datasets/o/n/tree/") {
        let (commit, folder) = rest.split_once('/').unwrap_or((rest, ""));
        return tree(state, commit, &decoded(folder), request.uri().query().unwrap());
    }
    let Some(rest) = path.strip_prefix("/datasets/o/n/resolve/") else {
        return refusal(404, &[("x-error-code", "RepoNotFound")]);
    };
    let (commit, path) = rest.split_once('/').unwrap();
    let path = decoded(path);
    let Some(bytes) = state.commits.get(commit).and_then(|files| files.get(&path)) else {
        return refusal(404, &[("x-error-code", "EntryNotFound")]);
    };
    let digest = digest(&path, bytes);
    if !is_large(&path) {
        return ranged(request, bytes, Some(&digest));
    }
    let answer = Response::builder().status(StatusCode::FOUND);
    let answer = answer.header("x-linked-size", bytes.len()).header("x-linked-etag", format!("\"{digest}\""));
    answer.header(LOCATION, format!("{away}/{digest}?signature=hunter3")).body(Bytes::new()).unwrap()
}

fn tree(state: &State, commit: &str, folder: &str, query: &str) -> Response<Bytes> {
    let value = |name: &str| query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name));
    let is_deep = value("recursive").unwrap().1 == "true";
    let from: usize = value("cursor").map_or(0, |(_, cursor)| cursor.parse().unwrap());
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut entries = BTreeMap::new();
    for (path, bytes) in state.commits.get(commit).into_iter().flatten() {
        let Some(rest) = path.strip_prefix(&prefix) else { continue };
        for (at, _) in rest.match_indices('/').take(if is_deep { usize::MAX } else { 1 }) {
            let folder = format!("{prefix}{}", &rest[..at]);
            entries.insert(folder.clone(), format!(r#"{{"type": "directory", "path": "{folder}", "size": 0}}"#));
        }
        if is_deep || !rest.contains('/') {
            let (digest, size) = (digest(path, bytes), bytes.len());
            let large = format!(r#""size": 134, "lfs": {{"oid": "{digest}", "size": {size}, "pointerSize": 134}}"#);
            let small = format!(r#""size": {size}, "oid": "{digest}""#);
            let of = if is_large(path) { large } else { small };
            entries.insert(path.clone(), format!(r#"{{"type": "file", "path": "{path}", {of}}}"#));
        }
    }
    if entries.is_empty() {
        return refusal(404, &[("x-error-code", "EntryNotFound")]);
    }
    let page: Vec<&str> = entries.values().skip(from).take(PAGE).map(String::as_str).collect();
    let mut answer = Response::builder();
    if from + PAGE < entries.len() || state.repeats {
        let next = if state.repeats { 0 } else { from + PAGE };
        // The host is another one on purpose: a mirror sends what the hub itself has sent.
        let url = format!("https://hub.invalid/api?recursive={is_deep}&expand=false&cursor={next}");
        answer = answer.header(LINK, format!("<{url}>; rel=\"next\""));
    }
    answer.body(Bytes::from(format!("[{}]", page.join(", ")))).unwrap()
}

fn of_file_server(state: &mut State, request: &Request<()>) -> Response<Bytes> {
    state.leaked += usize::from(request.headers().contains_key(AUTHORIZATION));
    assert_eq!(request.method(), Method::GET, "its URLs are signed for GET");
    let wanted = request.uri().path().trim_start_matches('/');
    let mut files = state.commits.values().flatten();
    match files.find(|(path, bytes)| digest(path, bytes) == wanted) {
        Some((_, bytes)) => ranged(request, bytes, None),
        None => refusal(403, &[]),
    }
}

fn ranged(request: &Request<()>, bytes: &[u8], digest: Option<&str>) -> Response<Bytes> {
    let mut answer = Response::builder();
    if let Some(digest) = digest {
        answer = answer.header(ETAG, format!("\"{digest}\""));
    }
    let whole = Bytes::copy_from_slice(bytes);
    let Some(asked) = request.headers().get(RANGE) else {
        // As the hub does; for HEAD, nothing else tells the size.
        return answer.header(CONTENT_LENGTH, bytes.len()).body(whole).unwrap();
    };
    let part = range(asked.to_str().unwrap(), bytes.len() as u64).unwrap();
    let told = format!("bytes {}-{}/{}", part.start, part.end - 1, bytes.len());
    let answer = answer.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, told);
    answer.body(whole.slice(part.start as usize..part.end as usize)).unwrap()
}

fn refusal(status: u16, headers: &[(&str, &str)]) -> Response<Bytes> {
    let mut answer = Response::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    answer.body(Bytes::new()).unwrap()
}

fn is_large(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".tar")
}

/// As long as that of git, or that of its large files.
fn digest(path: &str, bytes: &[u8]) -> String {
    let whole = blake3::hash(bytes).to_hex();
    whole[..if is_large(path) { 64 } else { 40 }].to_owned()
}
