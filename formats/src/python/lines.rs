//! What a child writes to its standard error goes into the log, line by line, for as long as the child lives.
//!
//! The end of the pipe is not waited for: a process that the child has started may hold it open for ever.

use std::os::fd::{AsFd, BorrowedFd};

use forebay_printable::printable;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Pid;

/// Longest line of a reader that goes into the log in one piece, and most lines of one child.
const LINE: usize = 2048;
const LINES: u64 = 1000;
/// Bytes that are read at once. A pipe holds no more than a few of these when its child has ended.
const CHUNK: usize = 16 << 10;
const LAST_CHUNKS: usize = 64;

/// Passes on what comes out of `stderr` until the child ends, which makes `process` readable, and what is left then.
pub(super) fn follow(stderr: impl AsFd, process: impl AsFd, name: &str, child: Pid) {
    let (stderr, process) = (stderr.as_fd(), process.as_fd());
    let mut lines = ChildLines::default();
    let mut log = |line: &[u8], number: u64| {
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if number <= LINES {
            tracing::info!("{name} ({}): {}", child.as_raw_pid(), printable(&*text));
        } else if number == LINES + 1 {
            tracing::warn!("{name} ({}): has written {LINES} lines; the others are left out", child.as_raw_pid());
        }
    };
    let mut chunk = vec![0; CHUNK];
    let mut last_chunks = LAST_CHUNKS;
    while let Some(has_ended) = wait(stderr, process) {
        if has_ended {
            last_chunks -= 1;
        }
        match rustix::io::read(stderr, &mut chunk[..]) {
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => break,
            Ok(len) => lines.push(&chunk[..len], &mut log),
        }
        if last_chunks == 0 {
            break;
        }
    }
    lines.finish(&mut log);
}

/// Waits for bytes, and says whether the child has ended by then. Nothing, if it has and there are none.
fn wait(stderr: BorrowedFd<'_>, process: BorrowedFd<'_>) -> Option<bool> {
    loop {
        let mut fds =
            [PollFd::from_borrowed_fd(stderr, PollFlags::IN), PollFd::from_borrowed_fd(process, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => {}
            Err(_) => return None,
            Ok(_) => {
                let (has_bytes, has_ended) = (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
                return has_bytes.then_some(has_ended);
            }
        }
    }
}

/// The line that is being written.
#[derive(Debug, Default)]
struct ChildLines {
    line: Vec<u8>,
    /// Lines so far.
    count: u64,
}

impl ChildLines {
    /// Gives each line that ends in these bytes, and each piece of a long one, with its number.
    fn push(&mut self, bytes: &[u8], log: &mut impl FnMut(&[u8], u64)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let mut rest = piece;
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(LINE - self.line.len()));
                self.line.extend_from_slice(now);
                rest = later;
                if now.ends_with(b"\n") || self.line.len() == LINE {
                    self.finish(log);
                }
            }
        }
    }

    /// Gives what is there of a line.
    fn finish(&mut self, log: &mut impl FnMut(&[u8], u64)) {
        if !self.line.is_empty() {
            self.count = self.count.saturating_add(1);
            log(&self.line, self.count);
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write as _};
    use std::process::Command;

    use rustix::process::{PidfdFlags, pidfd_open};

    use super::*;

    #[test]
    fn lines_are_put_together_and_long_ones_are_cut() {
        let (mut lines, mut seen) = (ChildLines::default(), Vec::new());
        let mut log = |line: &[u8], number| seen.push((String::from_utf8_lossy(line).into_owned(), number));
        for bytes in [&b"a"[..], b"b\n\nc", &[b'x'; 2 * LINE], b"\nend"] {
            lines.push(bytes, &mut log);
        }
        lines.finish(&mut log);
        let lengths: Vec<usize> = seen.iter().map(|(line, _)| line.len()).collect();
        assert_eq!(lengths, [3, 1, LINE, LINE, 2, 3]);
        assert_eq!((seen[0].0.as_str(), seen[5].0.as_str(), seen[5].1), ("ab\n", "end", 6));
    }

    #[test]
    fn the_end_of_the_child_is_the_end_even_if_another_process_holds_its_pipe() {
        let (reader, mut held) = io::pipe().unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let process = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        held.write_all(b"before the end\n").unwrap();
        // It would wait for ever if it waited for the pipe.
        follow(&reader, &process, "reader.py", pid);
        assert!(child.wait().unwrap().success());
        held.write_all(b"still open").unwrap();
    }
}
