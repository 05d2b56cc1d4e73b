//! The lines of the log on their way to stderr. One thread writes them. So a pipe, a terminal or a disk that does not take
//! them delays no other thread, and an error while writing ends nothing.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_children::ChildCounts;
use forebay_pipeline::threads;
use parking_lot::{Condvar, Mutex};
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Most bytes of lines that wait. Later lines are lost, and counted.
const MOST_WAITING: usize = 1 << 20;
/// How long an error waits until its line is written. The process may abort right behind it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes lines. All clones write to the same place.
#[derive(Clone, Debug)]
pub(super) struct LogLines {
    shared: Arc<SharedLines>,
    patience: Duration,
}

/// When it is dropped, it waits until the last lines are written, those of children that have ended among them, but not for long.
/// Later lines are not written, so the error that ends the process is its last line.
#[derive(Debug)]
#[must_use]
pub struct LogFlush {
    lines: LogLines,
}

/// Takes the line of one event.
#[derive(Debug)]
pub(super) struct LineWriter<'a> {
    lines: &'a LogLines,
    is_error: bool,
}

#[derive(Debug, Default)]
struct SharedLines {
    waiting: Mutex<WaitingLines>,
    /// A line was added.
    added: Condvar,
    /// A line was written, or lost for good.
    written: Condvar,
}

#[derive(Debug, Default)]
struct WaitingLines {
    lines: VecDeque<Vec<u8>>,
    /// Bytes in `lines`.
    bytes: usize,
    /// Lines that were ever added, and those of them that are done.
    added: u64,
    done: u64,
    /// Lines that were lost since the last one that was written.
    lost: u64,
    /// A caller has waited in vain, and no line was written since.
    is_stuck: bool,
    /// The process ends, and takes no more lines.
    is_closed: bool,
}

impl LogLines {
    /// Starts the thread that writes to `sink`. `note` is the line that says how many lines were lost.
    ///
    /// # Errors
    /// The system has no room for a thread.
    pub(super) fn start(
        sink: impl Write + Send + 'static,
        note: impl Fn(u64) -> String + Send + 'static,
    ) -> io::Result<Self> {
        Self::with_patience(sink, note, PATIENCE)
    }

    fn with_patience(
        sink: impl Write + Send + 'static,
        note: impl Fn(u64) -> String + Send + 'static,
        patience: Duration,
    ) -> io::Result<Self> {
        let shared = Arc::<SharedLines>::default();
        let theirs = Arc::clone(&shared);
        // The thread ends with the process: a write that hangs could not be ended anyway.
        threads::start("forebay-log", move || theirs.write_to(sink, note))?;
        Ok(Self { shared, patience })
    }

    pub(super) fn flush_at_end(&self) -> LogFlush {
        LogFlush { lines: self.clone() }
    }

    fn add(&self, line: &[u8]) {
        let mut waiting = self.shared.waiting.lock();
        if waiting.is_closed {
            return;
        }
        if waiting.bytes + line.len() > MOST_WAITING {
            waiting.lost += 1;
            return;
        }
        waiting.bytes += line.len();
        waiting.added += 1;
        waiting.lines.push_back(line.to_owned());
        self.shared.added.notify_one();
    }

    /// Waits until all lines that were added are written or lost. Waits only once for a sink that takes nothing.
    fn wait(&self) {
        let until = Instant::now() + self.patience;
        let mut waiting = self.shared.waiting.lock();
        let last = waiting.added;
        while waiting.done < last && !waiting.is_stuck {
            if self.shared.written.wait_until(&mut waiting, until).timed_out() {
                waiting.is_stuck = true;
            }
        }
    }
}

impl SharedLines {
    fn write_to(&self, mut sink: impl Write, note: impl Fn(u64) -> String) {
        loop {
            let (line, lost) = self.next();
            let note = (lost > 0).then(|| note(lost));
            let written = note.map_or(Ok(()), |note| sink.write_all(note.as_bytes()));
            let noted = written.is_ok();
            let written = written.and_then(|()| sink.write_all(&line));
            let mut waiting = self.waiting.lock();
            if noted {
                waiting.lost -= lost;
            }
            waiting.lost += u64::from(written.is_err());
            waiting.done += 1;
            waiting.is_stuck = false;
            drop(waiting);
            self.written.notify_all();
        }
    }

    /// Waits for a line. The number is that of the lines that were lost before it.
    fn next(&self) -> (Vec<u8>, u64) {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(line) = waiting.lines.pop_front() {
                waiting.bytes -= line.len();
                return (line, waiting.lost);
            }
            self.added.wait(&mut waiting);
        }
    }
}

impl Drop for LogFlush {
    fn drop(&mut self) {
        let _counts = ChildCounts::settled(self.lines.patience);
        self.lines.wait();
        self.lines.shared.waiting.lock().is_closed = true;
    }
}

impl<'a> MakeWriter<'a> for LogLines {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter { lines: self, is_error: false }
    }

    fn make_writer_for(&'a self, about: &Metadata<'_>) -> Self::Writer {
        LineWriter { lines: self, is_error: *about.level() == Level::ERROR }
    }
}

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.add(line);
        if self.is_error {
            self.lines.wait();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Tells the test that a write begins, asks it for the outcome, and tells it what was written.
    struct Sink {
        begun: Sender<()>,
        outcomes: Receiver<io::Result<()>>,
        written: Sender<String>,
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.begun.send(()).map_err(io::Error::other)?;
            self.outcomes.recv().map_err(io::Error::other)??;
            self.written.send(String::from_utf8_lossy(bytes).into_owned()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The test's ends of the channels of a [`Sink`].
    struct Ends {
        begun: Receiver<()>,
        outcomes: Sender<io::Result<()>>,
        written: Receiver<String>,
    }

    fn scene(patience: Duration) -> (LogLines, Ends) {
        let ((begun, begins), (outcomes, asked), (tells, written)) = (channel(), channel(), channel());
        let log = LogLines::with_patience(Sink { begun, outcomes: asked, written: tells }, note, patience).unwrap();
        (log, Ends { begun: begins, outcomes, written })
    }

    fn note(lost: u64) -> String {
        format!("{lost} lines are lost\n")
    }

    fn full() -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn lines_that_cannot_be_written_are_lost_and_the_next_one_that_can_be_has_their_number_before_it() {
        let (log, ends) = scene(LONG);
        for (line, result) in [("a\n", Ok(())), ("b\n", full()), ("c\n", Err(io::ErrorKind::BrokenPipe.into()))] {
            ends.outcomes.send(result).unwrap();
            log.add(line.as_bytes());
            log.wait();
        }
        // Nor can the number itself be written at first.
        ends.outcomes.send(full()).unwrap();
        log.add(b"d\n");
        log.wait();
        ends.outcomes.send(Ok(())).unwrap();
        ends.outcomes.send(Ok(())).unwrap();
        log.add(b"e\n");
        log.wait();
        let lines: Vec<String> = ends.written.try_iter().collect();
        assert_eq!(lines, ["a\n", "3 lines are lost\n", "e\n"]);
    }

    #[test]
    fn no_caller_waits_for_a_sink_that_takes_nothing_and_memory_for_lines_has_a_limit() {
        let (log, ends) = scene(Duration::ZERO);
        let mut error = LineWriter { lines: &log, is_error: true };
        error.write_all(b"first\n").unwrap();
        ends.begun.recv().unwrap();
        let line = [b'x'; 1000];
        for _ in 0..2 * MOST_WAITING / line.len() {
            log.add(&line);
        }
        drop(log.flush_at_end());
        let (added, lost) = {
            let waiting = log.shared.waiting.lock();
            assert!(waiting.bytes <= MOST_WAITING && waiting.is_stuck, "{}", waiting.bytes);
            (waiting.added, waiting.lost)
        };
        // Then it takes them: those that waited, and the number of those that were lost.
        (0..=added).for_each(|_| ends.outcomes.send(Ok(())).unwrap());
        let lines: Vec<String> = ends.written.iter().take(usize::try_from(added).unwrap() + 1).collect();
        assert_eq!((&*lines[0], &*lines[1]), ("first\n", &*note(lost)));
    }

    #[test]
    fn what_comes_after_the_flush_at_the_end_is_not_written() {
        let (log, ends) = scene(LONG);
        (0..2).for_each(|_| ends.outcomes.send(Ok(())).unwrap());
        let flush = log.flush_at_end();
        log.add(b"the last line\n");
        drop(flush);
        LineWriter { lines: &log, is_error: true }.write_all(b"a thread that still runs\n").unwrap();
        assert_eq!(ends.written.try_iter().collect::<Vec<_>>(), ["the last line\n"]);
        assert!(log.shared.waiting.lock().lines.is_empty());
    }

    #[test]
    fn an_error_is_written_when_its_caller_continues() {
        let (log, ends) = scene(LONG);
        ends.outcomes.send(Ok(())).unwrap();
        LineWriter { lines: &log, is_error: true }.write_all(b"the end\n").unwrap();
        assert_eq!(ends.written.try_recv().unwrap(), "the end\n");
    }
}
