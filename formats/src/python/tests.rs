//! Readers that are well, that fail in each way, and that are killed: each record is delivered or bad, and none is lost.

mod columns;
mod large;
mod masks;
mod outages;
mod services;
mod strays;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use forebay_sources::{Grains, Labels, OwnOptions, Part, ReadErrorKind, ReaderFolders, Retry, Source};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;

use super::child::{ReaderChild, STARTING, TaskFailure};
use super::shards::TaskSpan;
use super::*;

fn with<const N: usize>(own: [(&str, &str); N]) -> Options {
    Options { own: OwnOptions::from_iter(own), ..Options::default() }
}

fn indented(text: &str, by: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{by}{line}\n")).collect();
    lines.concat()
}

/// A folder with a reader's file.
struct Script {
    dir: TempDir,
}

impl Script {
    /// `body` is the class's; `name` and `number` of a record are what `content` gives.
    fn new(body: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let head = "import os, signal, sys, time\n\n\ndef content(task, number):\n    \
                    return f'{task.shard.name}-{number}'.encode()\n\n\n";
        let lines = indented(body, "    ");
        let text = format!("{head}class CustomDataReader:\n{lines}");
        fs::write(dir.path().join("reader.py"), text).unwrap();
        Self { dir }
    }

    fn raw(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("reader.py"), text).unwrap();
        Self { dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("reader.py")
    }

    fn open<const N: usize>(&self, own: [(&str, &str); N]) -> Result<ReaderRows, SourceError> {
        open(&self.file(), &with(own))
    }

    fn refusal<const N: usize>(&self, own: [(&str, &str); N], words: &[&str]) {
        refused(self.open(own), words);
    }
}

fn refused(opened: Result<ReaderRows, SourceError>, words: &[&str]) {
    let message = opened.unwrap_err().to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

/// What each record gives: its text, or why it is bad.
fn all(source: &dyn Source) -> Vec<Result<String, String>> {
    (0..source.len()).map(|record| read(source, record)).collect()
}

fn read(source: &dyn Source, record: u64) -> Result<String, String> {
    let mut buf = Vec::new();
    let read = source.read(record, u64::MAX, &mut buf);
    read.map_err(|error| {
        assert_eq!(error.kind, ReadErrorKind::Reader, "{error}");
        assert_eq!(error.locator, source.locator(record));
        error.to_string()
    })?;
    Ok(String::from_utf8(buf).unwrap())
}

fn good(shard: &str, numbers: std::ops::Range<u64>) -> Vec<Result<String, String>> {
    numbers.map(|number| Ok(format!("{shard}-{number}"))).collect()
}

const SHARDS: &str = "def create_shards(self):\n    return {'a': (0, 5), 'b': (100, 3)}\n";

fn reads(body: &str) -> String {
    let lines = indented(body, "        ");
    format!(
        "{SHARDS}\ndef read_records(self, task):\n    for number in range(task.shard.start, task.shard.end):\n{lines}"
    )
}

/// Waits for the end of a process.
fn ended(pid: Pid) {
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
    let timeout = Timespec { tv_sec: 60, tv_nsec: 0 };
    assert_eq!(poll(&mut fds, Some(&timeout)).unwrap(), 1, "the process lives on");
}

#[test]
fn rule_55_shards_are_a_dict_or_a_list_and_tasks_stay_within_them() {
    let body = reads("assert task.shard.indices == [] and task.type == 1\nyield content(task, number)");
    let list = body.replace("{'a': (0, 5), 'b': (100, 3)}", "[('a', 0, 5), ('empty', 7, 0), ('b', 100, 3)]");
    for body in [body, list] {
        let script = Script::new(&body);
        let source = script.open([("records_per_task", "2")]).unwrap();
        assert_eq!(all(&source), [good("a", 0..5), good("b", 100..103)].concat());
        assert_eq!(source.grains(), Grains::Starts(&[0, 2, 4, 5, 7]));
        assert_eq!((source.shard_name(4), source.shard_name(5)), ("a", "b"));
        assert_eq!((source.label(0), source.classes().len(), source.size(0)), (-1, 0, 3));
        let file = script.file().canonicalize().unwrap();
        assert_eq!(source.locator(6).to_string(), format!("{}, record 101 of \"b\"", file.display()));
    }
}

#[test]
fn rule_55_a_plain_function_may_tell_the_size_and_a_function_may_make_the_reader() {
    let script = Script::raw(
        "import sibling\n\n\ndef get_training_size():\n    return 3\n\n\nclass Reader:\n    \
         def read_records(self, task):\n        return [b'%d' % n for n in range(task.shard.start, task.shard.end)]\n\n\n\
         def custom_data_reader(records_per_task, **parameters):\n    \
         assert (records_per_task, parameters) == (64, {'data_origin': 'x y'})\n    return Reader()\n",
    );
    fs::write(script.dir.path().join("sibling.py"), "").unwrap();
    let source = script.open([("data_origin", "x y")]).unwrap();
    assert_eq!(all(&source), ["0", "1", "2"].map(|text| Ok(text.to_owned())));
    assert_eq!(
        (source.shard_name(0), source.locator(2).part),
        ("reader", Part::Numbered(Box::new((String::new(), 2))))
    );
}

#[test]
fn rule_55_labels_come_from_a_method_or_from_a_scan_and_are_refused_otherwise() {
    let pairs = reads("yield content(task, number), 'odd' if number % 2 else 'even'");
    let labels = |source: &ReaderRows| (0..source.len()).map(|record| source.label(record)).collect::<Vec<_>>();
    let script = Script::new(&pairs);
    script.refusal([], &["yields labels with its records", "labels()", "scan=true", "labels=\"none\""]);
    let source = script.open([("scan", "true"), ("records_per_task", "3")]).unwrap();
    assert_eq!(source.classes(), ["even", "odd"]);
    assert_eq!(labels(&source), [0, 1, 0, 1, 0, 0, 1, 0]);
    assert_eq!(all(&source), [good("a", 0..5), good("b", 100..103)].concat());
    let without = Options { labels: Labels::None, ..Options::default() };
    assert_eq!(labels(&open(&script.file(), &without).unwrap()), [-1; 8]);

    let method = format!("{pairs}\ndef labels(self):\n    return [7, 8, 7, 8, 7, 7, 8, 7]\n");
    let script = Script::new(&method.replace("'odd' if number % 2 else 'even'", "7 + number % 2"));
    let source = script.open([]).unwrap();
    assert_eq!((labels(&source), source.classes().len()), (vec![7, 8, 7, 8, 7, 7, 8, 7], 0));
    assert!(all(&source).iter().all(Result::is_ok));
    let text = Options { labels: Labels::Text, ..Options::default() };
    assert_eq!(open(&script.file(), &text).unwrap().classes(), ["7", "8"]);

    let few = method.replace("[7, 8, 7, 8, 7, 7, 8, 7]", "[1, 2]");
    Script::new(&few).refusal([], &["has 2 labels and 8 records"]);
    Script::new(&method.replace("[7, 8,", "[7, 'x',")).refusal([], &["some labels are int and others str"]);
    Script::new(&method.replace("[7, 8,", "[7, 1.5,")).refusal([], &["a label must be int or str, and one is float"]);
}

#[test]
fn rule_55_a_record_with_another_label_than_it_had_is_bad_alone() {
    let body = reads("yield content(task, number), 5 if number == 3 else 0");
    let script = Script::new(&format!("{body}\ndef labels(self):\n    return [0] * 8\n"));
    let read = all(&script.open([]).unwrap());
    assert!(read[3].as_ref().unwrap_err().contains("gave the label 5"), "{read:?}");
    assert_eq!(read.iter().filter(|read| read.is_ok()).count(), 7);
}

#[test]
fn rule_55_a_dict_has_a_picture_and_a_label() {
    let body = reads("yield {'images': bytearray(content(task, number)), 'labels': number, 'boxes': [1]}");
    let script = Script::new(&body);
    let source = script.open([("scan", "true")]).unwrap();
    assert_eq!((source.label(5), read(&source, 5)), (100, Ok("b-100".into())));
    let text = reads("yield content(task, number).decode()");
    let error = read(&Script::new(&text).open([]).unwrap(), 0).unwrap_err();
    assert!(error.contains("it yielded str"), "{error}");
}

#[test]
fn rule_55_a_record_that_raises_is_bad_and_no_other() {
    let script = Script::new(&reads("if number == 2:\n    raise KeyError('two')\nyield content(task, number)"));
    let source = script.open([]).unwrap();
    for _epoch in 0..2 {
        let mut read = all(&source);
        assert_eq!(read.remove(2).unwrap_err(), "the reader failed: KeyError: 'two'");
        assert_eq!(read, [good("a", 0..2), good("a", 3..5), good("b", 100..103)].concat());
    }
    // A scan for labels passes over it.
    let script = Script::new(&reads("if number == 2:\n    raise KeyError('two')\nyield content(task, number), number"));
    let source = script.open([("scan", "true")]).unwrap();
    assert_eq!((source.label(1), source.label(2), source.label(3)), (1, -1, 3));
}

#[test]
fn rule_55_a_reader_that_yields_another_number_than_promised_gives_no_record_a_wrong_number() {
    // It leaves one out, so that all after it would have the number of another.
    let script = Script::new(&reads("if number != 2:\n    yield content(task, number)"));
    let mut read = all(&script.open([]).unwrap());
    assert_eq!(read.remove(2).unwrap_err(), "the reader failed: ValueError: read_records() yielded 0 records of 1");
    assert_eq!(read, [good("a", 0..2), good("a", 3..5), good("b", 100..103)].concat());
    // It does not look at its task.
    let script = Script::new(&format!("{SHARDS}\ndef read_records(self, task):\n    return [b'x'] * 8"));
    for bad in all(&script.open([]).unwrap()) {
        assert!(bad.unwrap_err().contains("yielded more than 1 records"));
    }
}

#[test]
fn rule_55_a_record_that_hangs_is_bad_after_its_time() {
    let script = Script::new(&reads("if number == 1:\n    time.sleep(1000)\nyield content(task, number)"));
    let source = script.open([("read_timeout", "2"), ("workers", "1")]).unwrap();
    let mut read = all(&source);
    assert_eq!(read.remove(1).unwrap_err(), "the reader failed: it gave no answer within 2s");
    assert_eq!(read, [good("a", 0..1), good("a", 2..5), good("b", 100..103)].concat());
}

#[test]
fn rule_55_a_record_that_ends_the_process_is_bad_and_no_other() {
    let script = Script::new(&reads("if number == 101:\n    os._exit(3)\nyield content(task, number)"));
    let mut read = all(&script.open([]).unwrap());
    assert!(read.remove(6).unwrap_err().contains("its process ended"));
    assert_eq!(read, [good("a", 0..5), good("b", 100..101), good("b", 102..103)].concat());
}

#[test]
fn what_a_reader_prints_is_no_record() {
    let body =
        "print('garbage' * 5000)\nos.write(1, b'R' * 50)\nsys.stderr.write('x' * 5000)\nyield content(task, number)";
    let script = Script::new(&reads(body));
    let source = script.open([]).unwrap();
    assert_eq!(all(&source), [good("a", 0..5), good("b", 100..103)].concat());
}

#[test]
fn rule_55_garbage_between_the_frames_makes_bad_records_and_nothing_worse() {
    // The socket is a descriptor that a reader should not know.
    let body = "for fd in range(3, 20):\n    try:\n        os.write(fd, b'\\xff' * 900) if number == 3 else None\n    \
                except OSError:\n        pass\nyield content(task, number)";
    let read = all(&Script::new(&reads(body)).open([]).unwrap());
    assert!(read[3].as_ref().unwrap_err().contains("sent something that is not an answer"), "{read:?}");
    assert_eq!(read.iter().filter(|read| read.is_ok()).count(), 7);
}

#[test]
fn rule_55_a_killed_child_costs_nothing_but_time() {
    let script = Script::new(&reads("yield content(task, number)"));
    let source = script.open([("records_per_task", "1"), ("workers", "1")]).unwrap();
    let expected = [good("a", 0..5), good("b", 100..103)].concat();
    for (record, content) in (0..).zip(expected) {
        if let [pid] = source.pool().idle()[..] {
            kill_process(pid, Signal::KILL).unwrap();
            ended(pid);
        }
        assert_eq!(read(&source, record), content, "{record}");
    }
}

#[test]
fn children_end_with_their_dataset_and_with_the_daemon() {
    let script = Script::new(&reads("yield content(task, number)"));
    let source = script.open([]).unwrap();
    all(&source);
    let pids = source.pool().idle();
    assert_eq!(pids.len(), 1, "one thread needs one child");
    drop(source);
    pids.into_iter().for_each(ended);

    // In the middle of a call that does not return, with a child of its own.
    let body = reads("os.fork()\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\ntime.sleep(1000)");
    let script = Script::new(&body);
    let settings = ReaderSettings::new(&script.file(), &with([("read_timeout", "0.2")])).unwrap();
    let mut child = ReaderChild::start(&settings, STARTING).unwrap();
    let span = TaskSpan { shard: "a", start: 0, end: 1, record: 0 };
    assert!(matches!(child.read(&span, &settings, Vec::new()), Err(TaskFailure::Hung(_))));
    child.let_go();
    ended(child.pid());
}

#[test]
fn a_reader_that_cannot_be_used_is_refused_with_the_reason() {
    Script::raw("import nothing_of_this_name").refusal([], &["reader.py", "No module named 'nothing_of_this_name'"]);
    Script::raw("x = 1").refusal([], &["no CustomDataReader or custom_data_reader", "class="]);
    let fine = reads("yield content(task, number)");
    Script::new(&fine).refusal([("class", "Other")], &["the file has no Other"]);
    Script::new(&fine).refusal([("colour", "red")], &["CustomDataReader() takes no arguments"]);
    Script::new(&fine)
        .refusal([("python", "/nowhere/python")], &["\"/nowhere/python\"", "cannot be started", "python="]);
    Script::new(&fine).refusal([("workers", "0")], &["workers = \"0\"", "from 1 to 64"]);
    Script::new(&fine).refusal([("read_timeout", "-1")], &["read_timeout = \"-1\" must be seconds"]);
    Script::new("def create_shards(self):\n    return {}").refusal([], &["has no record"]);
    Script::new("def create_shards(self):\n    return {'a': (0, 1 << 40)}").refusal([], &["more than 4294967296"]);
    Script::new("def create_shards(self):\n    return {'a': (0, -1)}").refusal([], &["shards that cannot be used"]);
    Script::new("def create_shards(self):\n    os._exit(0)").refusal([], &["its process ended"]);
    Script::new("pass").refusal([], &["no create_shards()", "get_training_size()"]);
}

#[test]
fn rule_55_a_service_runs_readers_only_below_its_folders() {
    let (script, other) = (Script::new(&reads("yield content(task, number)")), tempfile::tempdir().unwrap());
    let below = |folders: &[&Path]| Options {
        readers: ReaderFolders::Below(folders.iter().map(|folder| (*folder).to_owned()).collect()),
        ..Options::default()
    };
    refused(open(&script.file(), &below(&[])), &["a service does not run", "It names none", "[sources]"]);
    assert!(open(&script.file(), &below(&[other.path(), script.dir.path()])).is_ok());
    // A link from a folder that is allowed leads out of it.
    let link = other.path().join("reader.py");
    symlink(script.file(), &link).unwrap();
    refused(open(&link, &below(&[other.path()])), &["a service does not run", other.path().to_str().unwrap()]);
    assert!(open(&link, &below(&[script.dir.path()])).is_ok());
}

#[test]
fn a_reader_s_file_that_has_changed_gives_no_record() {
    let script = Script::new(&reads("yield content(task, number)"));
    let source = script.open([]).unwrap();
    fs::write(script.file(), "class CustomDataReader: pass").unwrap();
    let error = source.read(0, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Changed);
    drop(script);
    let error = source.read(0, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Gone, Retry::Later));
}

#[test]
fn the_fingerprint_covers_parameters_and_what_the_reader_says() {
    let body = reads("yield content(task, number)");
    let print = |script: &Script, split: &str, workers: &str| {
        script.open([("split", split), ("workers", workers)]).unwrap().fingerprint()
    };
    let of_version = |version: &str| {
        let init = format!("def __init__(self, split):\n    pass\n\ndef version(self):\n    return {version}\n\n");
        Script::new(&format!("{init}{body}"))
    };
    let script = of_version("1");
    let first = print(&script, "train", "1");
    assert_eq!(first, print(&script, "train", "2"));
    assert_eq!(first, print(&of_version("1"), "train", "1"), "a reader elsewhere");
    assert_ne!(first, print(&script, "val", "1"));
    assert_ne!(first, print(&of_version("2"), "train", "1"));
}
