//! The decode threads of a daemon, as the kernel shows them: how many, and on which cores.

use std::fs;

use crate::daemon::{Daemon, Home};

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
