//! Children that talk too much, and children that cannot be watched.

use std::io;

use rustix::process::{WaitOptions, waitpid};

use super::*;

#[test]
fn rule_55_a_child_that_sends_labels_without_records_gives_no_record() {
    for frame in ["b'L', 1, b'7'", "b'O', 2, b'[]'"] {
        let body = format!(
            "import socket, stat, struct\nfor fd in range(3, 20) if number == 3 else ():\n    try:\n        \
             if stat.S_ISSOCK(os.fstat(fd).st_mode):\n            \
             kind, size, text = {frame}\n            os.write(fd, 2 * (struct.pack('<cQ', kind, size) + text))\n    \
             except OSError:\n        pass\nyield content(task, number)"
        );
        let read = all(&Script::new(&reads(&body)).open([("records_per_task", "1")]).unwrap());
        assert!(read[3].as_ref().unwrap_err().contains("sent something that is not an answer"), "{read:?}");
        assert_eq!(read.iter().filter(|read| read.is_ok()).count(), 7);
    }
}

#[test]
fn a_child_that_cannot_be_watched_leaves_no_zombie() {
    let script = Script::new(&reads("yield content(task, number)"));
    let settings = ReaderSettings::new(&script.file(), &with([])).unwrap();
    let mut started = None;
    let spawned = ReaderChild::spawn(&settings, |pid| {
        started = Some(pid);
        Err(io::Error::other("no descriptor is left"))
    });
    assert_eq!(spawned.unwrap_err().to_string(), "no descriptor is left");
    assert_eq!(waitpid(started, WaitOptions::NOHANG).unwrap_err(), rustix::io::Errno::CHILD);
}
