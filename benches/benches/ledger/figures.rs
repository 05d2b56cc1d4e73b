//! How long things took, and how long a bare sync takes.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) type Bare = Box<dyn Error + Send + Sync>;

/// Syncs that are measured at a time.
const SYNCS: u32 = 500;

/// Times of one kind. Its `Display` has the middle and p99.
#[derive(Debug, Default)]
pub(crate) struct Lateness(Vec<Duration>);

impl Lateness {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The time within which `of_hundred` percent were done.
    pub(crate) fn share(&self, of_hundred: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get((sorted.len() * of_hundred / 100).min(last)).copied().unwrap_or_default()
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |of_hundred| self.share(of_hundred).as_secs_f64() * 1e3;
        write!(f, "{:.1} ms (median), {:.1} ms (p99)", millis(50), millis(99))
    }
}

/// How long a bare write of 4 KiB with a sync takes in this folder.
pub(crate) fn syncs(folder: &Path) -> Result<Lateness, Bare> {
    let path = folder.join("bare");
    let (mut file, mut taken) = (File::create(&path)?, Lateness::default());
    for _ in 0..SYNCS {
        let start = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        taken.push(start.elapsed());
    }
    std::fs::remove_file(path)?;
    Ok(taken)
}

/// A rate per second.
#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn ratio(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}
