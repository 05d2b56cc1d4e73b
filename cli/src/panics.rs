//! What a panic in a long-running process does: it ends the process.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::{panic, process, thread};

use forebay_pipeline::DECODE_THREAD;

/// A stage that has panicked would leave trainers waiting for ever, and a coordinator's thread its daemons. The process ends
/// instead: what started it starts it again, and trainers and daemons reconnect. A decoder's panic is an outcome of its picture.
/// That of a library that reads a file is an outcome of the file, and is not reported: the error says what is wrong.
///
/// The report is a line of the log, which no full pipe can hold up.
pub(crate) fn end_the_process() {
    panic::set_hook(Box::new(move |info| {
        if forebay_formats::is_panic_contained() {
            return;
        }
        let backtrace = Backtrace::capture();
        let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
        tracing::error!(thread = thread::current().name(), backtrace, "{info}");
        if is_fatal(thread::current().name()) {
            process::abort();
        }
    }));
}

/// Whether a panic in the thread of this name ends the process.
fn is_fatal(thread: Option<&str>) -> bool {
    !thread.is_some_and(|name| name.starts_with(DECODE_THREAD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_process_unless_it_is_a_decoder_s() {
        let decoder = format!("{DECODE_THREAD}-3");
        let fatal =
            [None, Some("main"), Some("forebay-ring"), Some("tokio-runtime-worker"), Some(&*decoder)].map(is_fatal);
        assert_eq!(fatal, [true, true, true, true, false]);
    }
}
