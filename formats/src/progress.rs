//! Shows progress on stderr while a large dataset is scanned. It starts after a second, and only on a terminal.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Counts files or what is in them; shared by the threads that look at them.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    unit: &'static str,
    start: Instant,
    count: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

const PATIENCE: Duration = Duration::from_secs(1);
/// Files between two looks at the clock.
const STRIDE: u64 = 1024;

impl Progress {
    pub(super) fn new(what: &'static str) -> Self {
        Self::counting(what, "files")
    }

    /// Counts something else than files.
    pub(super) fn counting(what: &'static str, unit: &'static str) -> Self {
        Self { what, unit, start: Instant::now(), count: AtomicU64::new(0), bar: OnceLock::new() }
    }

    pub(super) fn step(&self) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(STRIDE) && self.start.elapsed() > PATIENCE {
            self.bar.get_or_init(|| bar(self.what, self.unit)).set_position(count);
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

fn bar(what: &'static str, unit: &'static str) -> ProgressBar {
    // A fresh bar draws to stderr, and nowhere when that is no terminal.
    let style = ProgressStyle::with_template("{spinner} {prefix}: {human_pos} {msg} ({per_sec})")
        .expect("the template is well-formed");
    ProgressBar::no_length().with_style(style).with_prefix(what).with_message(unit)
}
