//! Datasets of the Hugging Face Hub, opened as users open them: tables, tars and folders of a revision.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::sync::Arc;

use forebay_sources::Retry;
use parking_lot::Mutex;

use super::http::{Asked, LoopServer, answer};
use crate::scene::{contents, says};
use crate::tar::writer::TarWriter;
use crate::{Opened, Options, SourceError, open, parquet};

const TOKEN: &str = "hf_hunter2";
/// Entries of one page of a list.
const PAGE: usize = 3;

/// Files of a commit by their paths.
type HubFiles = BTreeMap<String, Vec<u8>>;

#[derive(Default)]
struct HubState {
    commits: BTreeMap<String, HubFiles>,
    revisions: BTreeMap<String, String>,
    /// Requests that the server of files got with a token.
    leaked: usize,
    /// Files that it gave.
    given: usize,
}

/// A hub with the dataset `o/n`, and a server of files at another port, which has tars and tables.
struct LoopHub {
    state: Arc<Mutex<HubState>>,
    hub: LoopServer,
    _files: LoopServer,
}

impl LoopHub {
    fn start() -> Self {
        let state = Arc::<Mutex<HubState>>::default();
        let (of_files, of_hub) = (Arc::clone(&state), Arc::clone(&state));
        let files = LoopServer::start(move |asked| file(&mut of_files.lock(), asked));
        let away = files.url();
        let hub = LoopServer::start(move |asked| call(&of_hub.lock(), asked, &away));
        Self { state, hub, _files: files }
    }

    /// Puts a commit with these files at the head of a branch.
    fn commit(&self, branch: &str, files: &[(&str, Vec<u8>)]) -> String {
        let mut state = self.state.lock();
        let id = format!("{:040x}", state.commits.len() + 1);
        let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.clone()));
        state.commits.insert(id.clone(), files.collect());
        state.revisions.insert(branch.to_owned(), id.clone());
        id
    }

    /// Opens a dataset of the hub. The token comes from the environment, as a user's own tools have it.
    fn open(&self, name: &str) -> Opened {
        let mut options = Options::default();
        options.own.set("endpoint", self.hub.url());
        open(name, &options)
    }
}

/// A call of the hub. Nobody without the token gets anything.
fn call(state: &HubState, asked: &Asked, away: &str) -> Vec<u8> {
    if asked.authorization.as_deref() != Some(&format!("Bearer {TOKEN}")) {
        return answer("401 Unauthorized", "X-Error-Code: GatedRepo\r\n", b"", true);
    }
    let missing = |code: &str| answer("404 Not Found", &format!("X-Error-Code: {code}\r\n"), b"", true);
    if let Some(revision) = asked.path.strip_prefix("/api/datasets/o/n/revision/") {
        let Some(commit) = state.revisions.get(revision) else { return missing("RevisionNotFound") };
        return answer("200 OK", "", format!(r#"{{"sha": "{commit}"}}"#).as_bytes(), true);
    }
    if let Some(rest) = asked.path.strip_prefix("/api/datasets/o/n/tree/") {
        let (commit, folder) = rest.split_once('/').unwrap_or((rest, ""));
        return tree(&state.commits[commit], folder, asked);
    }
    let Some(rest) = asked.path.strip_prefix("/datasets/o/n/resolve/") else { return missing("RepoNotFound") };
    let (commit, path) = rest.split_once('/').unwrap();
    let Some(bytes) = state.commits.get(commit).and_then(|files| files.get(path)) else {
        return missing("EntryNotFound");
    };
    let tag = digest(path, bytes);
    if !is_large(path) {
        return ranged(asked, bytes, &format!("ETag: \"{tag}\"\r\n"));
    }
    let headers = format!(
        "X-Linked-Size: {}\r\nX-Linked-ETag: \"{tag}\"\r\nLocation: {away}/{tag}?signature=hunter3\r\n",
        bytes.len()
    );
    answer("302 Found", &headers, b"", true)
}

/// A page of what is below a folder.
fn tree(files: &HubFiles, folder: &str, asked: &Asked) -> Vec<u8> {
    let value = |name: &str| asked.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!(value("recursive"), Some("true"), "datasets are listed as a whole");
    let from: usize = value("cursor").map_or(0, |cursor| cursor.parse().unwrap());
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let entries: Vec<String> = files
        .iter()
        .filter(|(path, _)| path.starts_with(&prefix))
        .map(|(path, bytes)| {
            let (digest, size) = (digest(path, bytes), bytes.len());
            let large = format!(r#""size": 134, "lfs": {{"oid": "{digest}", "size": {size}, "pointerSize": 134}}"#);
            let small = format!(r#""size": {size}, "oid": "{digest}""#);
            format!(r#"{{"type": "file", "path": "{path}", {}}}"#, if is_large(path) { large } else { small })
        })
        .collect();
    if entries.is_empty() {
        return answer("404 Not Found", "X-Error-Code: EntryNotFound\r\n", b"", true);
    }
    let next = from + PAGE;
    let url = format!("https://hub.invalid/api?recursive=true&expand=false&cursor={next}");
    let link = if next < entries.len() { format!("Link: <{url}>; rel=\"next\"\r\n") } else { String::new() };
    let page = entries.iter().skip(from).take(PAGE).map(String::as_str).collect::<Vec<_>>().join(", ");
    answer("200 OK", &link, format!("[{page}]").as_bytes(), true)
}

/// A request to the server of files, which knows signatures and no tokens.
fn file(state: &mut HubState, asked: &Asked) -> Vec<u8> {
    state.leaked += usize::from(asked.authorization.is_some());
    let wanted = asked.path.trim_start_matches('/');
    let found = state.commits.values().flatten().find(|(path, bytes)| digest(path, bytes) == wanted);
    let Some((_, bytes)) = found.filter(|_| asked.target.ends_with("?signature=hunter3")) else {
        return answer("403 Forbidden", "", b"", true);
    };
    let given = ranged(asked, bytes, "");
    state.given += 1;
    given
}

fn ranged(asked: &Asked, bytes: &[u8], headers: &str) -> Vec<u8> {
    let Some((first, last)) = asked.range else { return answer("200 OK", headers, bytes, asked.method != "HEAD") };
    let [first, last] = [first, last.min(bytes.len() as u64 - 1)].map(|place| usize::try_from(place).unwrap());
    let headers = format!("{headers}Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
    answer("206 Partial Content", &headers, &bytes[first..=last], true)
}

fn is_large(path: &str) -> bool {
    path.contains(".tar") || path.contains(".parquet")
}

/// As long as that of git, or that of its large files.
fn digest(path: &str, bytes: &[u8]) -> String {
    let whole = blake3::hash(bytes).to_hex();
    whole[..if is_large(path) { 64 } else { 40 }].to_owned()
}

/// What the hub has: a table, two tars and a folder. The contents of all records tell the commit.
fn files(word: &str) -> Vec<(&'static str, Vec<u8>)> {
    let text = |number: u8| format!("{word} {number}").into_bytes();
    let tar = |number: u8| TarWriter::of(&[("a/1.jpg", &text(number)), ("b/2.jpg", &text(number + 1))]);
    let (rows, dir) = ([text(0), text(1), text(2)], tempfile::tempdir().unwrap());
    let path = dir.path().join("train.parquet");
    parquet::tests::write_pictures(&path, &rows.each_ref().map(Vec::as_slice));
    let table = fs::read(path).unwrap();
    vec![
        ("README.md", b"about".to_vec()),
        ("data/train.parquet", table),
        ("shards/0.tar", tar(10)),
        ("shards/1.tar", tar(20)),
        ("pictures/cat/1 %20+\u{e9}.jpg", text(30)),
        ("pictures/cat/2.jpg", text(31)),
        ("pictures/dog/3.jpg", text(32)),
    ]
}

/// The datasets of these files by their URLs behind the revision, and the numbers in their records.
const DATASETS: [(&str, &str, &[u8]); 4] = [
    ("parquet:", "/data/*.parquet", &[0, 1, 2]),
    ("", "/shards/{0..1}.tar", &[10, 11, 20, 21]),
    ("tar:", "/shards", &[10, 11, 20, 21]),
    ("", "/pictures", &[30, 31, 32]),
];

fn expected(word: &str, numbers: &[u8]) -> Vec<Result<Vec<u8>, String>> {
    numbers.iter().map(|number| Ok(format!("{word} {number}").into_bytes())).collect()
}

/// The token is a variable of the process, so the tests that need one run in a process that has it.
#[test]
fn datasets_of_the_hub_are_opened_with_the_token_of_the_environment() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["tests::hub::with_token", "--ignored", "--nocapture"]).env("HF_TOKEN", TOKEN);
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("4 passed"), "{said}");
    assert!(!said.contains(TOKEN), "{said}");
}

mod with_token {
    use super::*;

    #[test]
    #[ignore = "runs in a process with the token"]
    fn tables_tars_and_folders_of_the_hub_are_read_as_those_of_a_disk() {
        let hub = LoopHub::start();
        hub.commit("main", &files("main"));
        let dir = tempfile::tempdir().unwrap();
        for (path, bytes) in files("main") {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        for (scheme, path, numbers) in DATASETS {
            for revision in ["", "@main"] {
                let remote = hub.open(&format!("{scheme}hf://datasets/o/n{revision}{path}")).unwrap();
                let local = open(&format!("{scheme}{}{path}", dir.path().display()), &Options::default()).unwrap();
                assert_eq!(contents(&*remote), expected("main", numbers), "{path}");
                assert_eq!((remote.fingerprint(), remote.classes()), (local.fingerprint(), local.classes()), "{path}");
                let locator = remote.locator(0).to_string();
                assert!(locator.starts_with(&format!("hf://datasets/o/n{revision}/")), "{locator}");
            }
        }
    }

    #[test]
    #[ignore = "runs in a process with the token"]
    fn rule_54_a_revision_that_moves_is_read_as_it_was_and_a_commit_never_moves() {
        let hub = LoopHub::start();
        let old = hub.commit("main", &files("old"));
        let opened: Vec<_> = DATASETS
            .map(|(scheme, path, _)| hub.open(&format!("{scheme}hf://datasets/o/n{path}")).unwrap())
            .into_iter()
            .collect();
        hub.commit("main", &files("new"));
        for (source, (scheme, path, numbers)) in opened.iter().zip(DATASETS) {
            assert_eq!(contents(&**source), expected("old", numbers), "{path}");
            let pinned = hub.open(&format!("{scheme}hf://datasets/o/n@{old}{path}")).unwrap();
            assert_eq!(contents(&*pinned), expected("old", numbers), "{path}");
            let moved = hub.open(&format!("{scheme}hf://datasets/o/n{path}")).unwrap();
            assert_eq!(contents(&*moved), expected("new", numbers), "{path}");
        }
    }

    #[test]
    #[ignore = "runs in a process with the token"]
    fn rule_54_the_token_goes_to_the_hub_alone_and_is_in_no_text() {
        let hub = LoopHub::start();
        hub.commit("main", &files("main"));
        let mut said = String::new();
        for (scheme, path, _) in DATASETS {
            let source = hub.open(&format!("{scheme}hf://datasets/o/n{path}")).unwrap();
            assert!(contents(&*source).iter().all(Result::is_ok));
            write!(said, "{source:?} {}", source.locator(0)).unwrap();
        }
        let HubState { leaked, given, .. } = *hub.state.lock();
        assert!(given > 3, "tables and tars are redirected: {given}");
        assert_eq!(leaked, 0);
        assert!(!said.contains("hunter"), "{said}");
    }

    #[test]
    #[ignore = "runs in a process with the token"]
    fn what_the_hub_has_not_is_named_and_an_outage_is_no_answer() {
        let hub = LoopHub::start();
        hub.commit("main", &files("main"));
        let refused = |name: &str, words: &[&str]| says(&hub.open(name).unwrap_err().to_string(), words);
        refused("hf://datasets/o/n/nothing", &["hf://datasets/o/n/nothing", "does not exist"]);
        refused("tar:hf://datasets/o/n/shards/{0..2}.tar", &["shards/2.tar", "does not exist"]);
        refused("hf://datasets/o/n@v9/pictures", &["\"v9\""]);
        hub.state.lock().commits.clear();
        hub.state.lock().revisions.clear();
        let error = hub.open("hf://datasets/o/n/pictures").unwrap_err();
        let SourceError::Outage(outage) = error else { panic!("{error}") };
        assert_eq!(outage.retry(), Retry::Later);
    }
}
