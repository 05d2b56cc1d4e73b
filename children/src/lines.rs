//! What a child writes to its error output goes into the log, line by line, for as long as the child lives.
//!
//! The end of the pipe is not waited for: a process that the child has started may hold it open for ever.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use forebay_printable::printable;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::Pid;

/// Longest line of a child that goes into the log in one piece, and most lines of one child.
const LINE: usize = 2048;
const LINES: u64 = 1000;
/// Bytes that are read at once. A pipe holds no more than a few of these when its child has ended.
const CHUNK: usize = 16 << 10;
const LAST_CHUNKS: usize = 64;

/// The error output of one child.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    stderr: OwnedFd,
    /// What messages call the child.
    name: String,
    pid: Pid,
    lines: ChildLines,
}

impl ChildOutput {
    /// # Errors
    /// The pipe cannot be read without waiting.
    pub(crate) fn new(stderr: OwnedFd, name: String, pid: Pid) -> Result<Self, Errno> {
        fcntl_setfl(&stderr, fcntl_getfl(&stderr)? | OFlags::NONBLOCK)?;
        Ok(Self { stderr, name, pid, lines: ChildLines::default() })
    }

    /// Passes on what can be read at once. False, if nothing more will come.
    pub(crate) fn pass_on(&mut self) -> bool {
        self.read() != Some(0)
    }

    /// Passes on what was written before the end of the child.
    pub(crate) fn finish(mut self) {
        for _ in 0..LAST_CHUNKS {
            if self.read().is_none_or(|len| len == 0) {
                break;
            }
        }
        let Self { name, pid, lines, .. } = &mut self;
        lines.finish(&mut |line, number| log(name, *pid, line, number));
    }

    /// Reads once, and says how many bytes there were. None, if there are none yet.
    fn read(&mut self) -> Option<usize> {
        let mut chunk = [0; CHUNK];
        match rustix::io::read(&self.stderr, &mut chunk[..]) {
            Err(Errno::INTR | Errno::AGAIN) => None,
            Ok(0) | Err(_) => Some(0),
            Ok(len) => {
                let Self { name, pid, lines, .. } = self;
                lines.push(&chunk[..len], &mut |line, number| log(name, *pid, line, number));
                Some(len)
            }
        }
    }
}

impl AsFd for ChildOutput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stderr.as_fd()
    }
}

fn log(name: &str, pid: Pid, line: &[u8], number: u64) {
    let (name, pid) = (printable(name), pid.as_raw_pid());
    let text = String::from_utf8_lossy(line.trim_ascii_end());
    if number <= LINES {
        tracing::info!("{name} ({pid}): {}", printable(&*text));
    } else if number == LINES + 1 {
        tracing::warn!("{name} ({pid}): has written {LINES} lines; the others are left out");
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
    fn the_end_of_the_pipe_is_not_waited_for() {
        let (reader, mut held) = io::pipe().unwrap();
        let pid = rustix::process::getpid();
        let mut output = ChildOutput::new(reader.into(), "reader.py".into(), pid).unwrap();
        assert!(output.pass_on(), "nothing is written yet");
        held.write_all(b"before the end\n").unwrap();
        assert!(output.pass_on());
        assert_eq!(output.lines.count, 1);
        held.write_all(b"the last").unwrap();
        output.finish();
        assert_eq!(held.write_all(b"nobody reads it").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let (reader, writer) = io::pipe().unwrap();
        let mut output = ChildOutput::new(reader.into(), "reader.py".into(), pid).unwrap();
        drop(writer);
        assert!(!output.pass_on(), "nothing more can come");
    }
}
