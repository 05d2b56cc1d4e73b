//! Shows progress on stderr while a large dataset is scanned. It starts after a second, and only on a terminal.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Counts files, what is in them, or their bytes; shared by the threads that look at them.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    unit: &'static str,
    /// Bytes that there are, if bytes are counted.
    bytes: Option<u64>,
    start: Instant,
    count: AtomicU64,
    steps: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

const PATIENCE: Duration = Duration::from_secs(1);
/// Steps between two looks at the clock.
const STRIDE: u64 = 1024;

impl Progress {
    pub(super) fn new(what: &'static str) -> Self {
        Self::counting(what, "files")
    }

    /// Counts something else than files.
    pub(super) fn counting(what: &'static str, unit: &'static str) -> Self {
        let (count, steps) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { what, unit, bytes: None, start: Instant::now(), count, steps, bar: OnceLock::new() }
    }

    /// Counts bytes, of which there are this many.
    pub(super) fn of_bytes(what: &'static str, bytes: u64) -> Self {
        let mut progress = Self::counting(what, "bytes");
        progress.bytes = Some(bytes);
        progress
    }

    pub(super) fn step(&self) {
        self.advance(1);
    }

    /// A step over several of what is counted.
    pub(super) fn advance(&self, by: u64) {
        let count = self.count.fetch_add(by, Ordering::Relaxed) + by;
        let steps = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        if steps.is_multiple_of(STRIDE) && self.start.elapsed() > PATIENCE {
            self.bar.get_or_init(|| bar(self.what, self.unit, self.bytes)).set_position(count);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, unit: &'static str, bytes: Option<u64>) -> ProgressBar {
    // A fresh bar draws to stderr, and nowhere when that is no terminal.
    let (bar, template) = match bytes {
        None => (ProgressBar::no_length(), "{spinner} {prefix}: {human_pos} {msg} ({per_sec})"),
        Some(bytes) => {
            (ProgressBar::new(bytes), "{spinner} {prefix}: {binary_bytes} of {binary_total_bytes} ({eta} left)")
        }
    };
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    bar.with_style(style).with_prefix(what).with_message(unit)
}
