//! The threads of a daemon, as the kernel shows them: how many, on which cores, and what becomes of a stream for which there
//! are too few.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use forebay_client::{AttachError, Shard};
use rustix::process::geteuid;

use crate::daemon::{Daemon, Home, PATIENCE};
use crate::trainer::{Event, Trainer, options};

/// The cores that each decode thread may run on, as the kernel writes them: `0-3`, or `2`.
fn decode_threads(daemon: &Daemon) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    // A thread may end between the two.
    let statuses = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok());
    let value = |status: &str, key| status.lines().find_map(|line| Some(line.strip_prefix(key)?.trim().to_owned()));
    let decode =
        statuses.filter(|status| value(status, "Name:").is_some_and(|name| name.starts_with("forebay-decode")));
    decode.map(|status| value(&status, "Cpus_allowed_list:").unwrap()).collect()
}

#[test]
fn rule_04_there_are_as_many_decode_threads_as_usable_cores_and_they_are_free() {
    let home = Home::with_pictures(4);
    let daemon = home.serve("");
    let usable = std::thread::available_parallelism().unwrap().get();
    home.wait_for("every core has a decode thread", |_| decode_threads(&daemon).len() == usable);
    let threads = decode_threads(&daemon);
    assert!(threads.iter().all(|cores| *cores == threads[0]), "{threads:?}");
}

#[test]
fn pinned_decode_threads_keep_to_one_core_each() {
    let home = Home::with_pictures(4);
    home.configure(&(home.train("num_threads = 2") + "[decode]\nthreads = 1\npin = true\n"));
    let daemon = home.start();
    // The pool's, and those of the stream that asks for another number.
    home.wait_for("three threads are pinned", |_| {
        let threads = decode_threads(&daemon);
        threads.len() == 3 && threads.iter().all(|cores| cores.parse::<u32>().is_ok())
    });
    let mut cores = decode_threads(&daemon);
    cores.sort();
    cores.dedup();
    let usable = std::thread::available_parallelism().unwrap().get();
    assert!(cores.len() >= usable.min(3), "the second pool goes on where the first has ended: {cores:?}");
}

/// A user that has no other process, so that the limit of its threads is the daemon's alone. Each run of the tests has its own.
fn lonely() -> u32 {
    10_000 + std::process::id() % 20_000
}

/// Threads, descriptors and mappings of rings.
fn footprint(daemon: &Daemon) -> [usize; 3] {
    let count = |folder: &str| fs::read_dir(format!("/proc/{}/{folder}", daemon.pid())).unwrap().count();
    let maps = fs::read_to_string(format!("/proc/{}/maps", daemon.pid())).unwrap();
    [count("task"), count("fd"), maps.lines().filter(|line| line.contains("memfd:forebay")).count()]
}

/// Lets the daemon's user have so many threads. That user sets it: not every root may.
fn limit_threads(daemon: &Daemon, limit: usize) {
    let mut command = Command::new("prlimit");
    command.arg(format!("--pid={}", daemon.pid())).arg(format!("--nproc={limit}:")).uid(lonely()).gid(lonely());
    assert!(command.status().unwrap().success());
}

#[test]
fn however_few_threads_the_system_has_left_a_refused_stream_leaves_nothing_behind() {
    if !geteuid().is_root() {
        return println!("skipped: only root can make a daemon of a user that has no other threads");
    }
    let home = Home::with_pictures(1);
    // So many that several threads look at them.
    for number in 1..9000 {
        fs::hard_link(home.picture(0), home.path("pictures").join(format!("link-{number:04}.jpg"))).unwrap();
    }
    let program = home.path("forebay");
    let mut install = Command::new("install");
    assert!(install.args(["-m", "755", env!("CARGO_BIN_EXE_forebay")]).arg(&program).status().unwrap().success());
    fs::set_permissions(home.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    chown(home.path("."), Some(lonely()), Some(lonely())).unwrap();
    // The ledger's thread is the whole daemon's: another stream has it started before.
    fs::create_dir(home.path("eval")).unwrap();
    fs::hard_link(home.picture(0), home.path("eval").join("0.jpg")).unwrap();
    let eval = home.stream("eval", "epochs = 1").replace("/pictures", "/eval");
    home.configure(&(eval + &home.train("num_shards = 1\nunix_group = \"root\"")));
    let mut command = Command::new(program);
    command.args(["serve", "--config"]).arg(home.path("forebay.toml")).uid(lonely()).gid(lonely()).current_dir("/");
    let mut daemon = Daemon::spawn(command);
    daemon.hears("ready");

    let attach =
        || Trainer::with(&home, forebay_client::Options { shard: Some(Shard { id: 0, count: 1 }), ..options() });
    home.wait_for("the other stream has read all that it has", |status| status.batches == 1);
    let mut before = footprint(&daemon);
    let mut refused = Vec::new();
    let mut trainer = loop {
        // At first there is room for none, whichever threads end meanwhile; then for one more each time. It counts from the
        // fewest threads that were seen: a thread that ends just now would leave room for two more.
        let more = refused.len().checked_sub(1);
        limit_threads(&daemon, more.map_or(1, |more| before[0] + more));
        match attach() {
            Ok(trainer) => break trainer,
            Err(AttachError::Refused(refusal)) => refused.push(refusal.message),
            Err(other) => panic!("{other}"),
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let after = footprint(&daemon);
            // What the other stream's opening and the question for the status needed may have ended meanwhile.
            if after.iter().zip(before).all(|(after, before)| *after <= before) {
                before = after;
                break;
            }
            if Instant::now() > until {
                let links = fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap();
                let links: Vec<_> = links.filter_map(|link| fs::read_link(link.ok()?.path()).ok()).collect();
                panic!("{before:?} became {after:?} with {links:?} after: {refused:?}");
            }
            // Nobody unparks this thread: it rests between two looks.
            std::thread::park_timeout(Duration::from_millis(5));
        }
    };
    assert!(refused.len() >= 10, "a ring, a batch and eight readers: {refused:?}");
    // The batch thread starts last. It finds room at once if a thread of the opening has ended just before, so its refusal is
    // not certain.
    for thread in ["forebay-open", "forebay-read"] {
        let named = format!("thread \"{thread}\" cannot be started");
        assert!(refused.iter().any(|message| message.contains(&named)), "{thread} in {refused:#?}");
    }
    assert!(matches!(trainer.next(), Event::Batch(_)), "with room for all of them it is a stream as any other");
    drop(trainer);
    daemon.stop();
}
