//! The standard process metrics, under the names that all Prometheus clients use.

use std::fs;
use std::time::Duration;

use forebay_pipeline::{Metric, Samples};
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

/// What `/proc/self/stat` has.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    /// Of user and system together.
    cpu_ticks: u64,
    /// After the machine's start.
    start_ticks: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

/// The process, as far as `/proc` tells.
pub(crate) fn process(samples: &mut Samples) {
    samples.level(Metric::BuildInfo, &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let ticks = |count| Duration::from_millis(count * 1000 / clock_ticks_per_second().max(1));
    if let Some(stat) = fs::read_to_string("/proc/self/stat").ok().and_then(|text| Stat::parse(&text)) {
        samples.seconds(Metric::ProcessCpu, &[], ticks(stat.cpu_ticks));
        samples.level(Metric::ProcessVirtual, &[], stat.virtual_bytes);
        samples.level(Metric::ProcessResident, &[], stat.resident_pages.saturating_mul(page_size() as u64));
        if let Some(boot) = fs::read_to_string("/proc/stat").ok().and_then(|text| boot_time(&text)) {
            samples.gauge(
                Metric::ProcessStart,
                &[],
                (Duration::from_secs(boot) + ticks(stat.start_ticks)).as_secs_f64(),
            );
        }
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        // One of them is the folder's own.
        samples.level(Metric::ProcessOpenFds, &[], open.count().saturating_sub(1) as u64);
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        samples.level(Metric::ProcessMaxFds, &[], most);
    }
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The process's name may hold anything, parentheses included.
        let fields: Vec<u64> =
            text.rsplit_once(')')?.1.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
        // proc_pid_stat(5) counts from 1, and two fields come before these.
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            cpu_ticks: field(14)? + field(15)?,
            start_ticks: field(22)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }
}

/// The machine's start in Unix time.
fn boot_time(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_strange_name_is_read_as_well() {
        let text = "7 (a) 9 (b) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 9 0 1234 8192 5 18446744073709551615 1 1";
        let stat = Stat { cpu_ticks: 300, start_ticks: 1234, virtual_bytes: 8192, resident_pages: 5 };
        assert_eq!(Stat::parse(text), Some(stat));
        assert_eq!(Stat::parse("7 (short) S 1"), None);
        assert_eq!(boot_time("cpu 1 2\nbtime 1700000000\n"), Some(1_700_000_000));
    }

    #[test]
    fn this_process_has_all_of_them() {
        let mut samples = Samples::default();
        process(&mut samples);
        let text = samples.render();
        for name in [
            "cpu_seconds_total",
            "start_time_seconds",
            "resident_memory_bytes",
            "virtual_memory_bytes",
            "open_fds",
            "max_fds",
        ] {
            assert!(text.contains(&format!("\nprocess_{name} ")), "{name} is not in:\n{text}");
        }
        assert!(text.contains("forebay_build_info{version="), "{text}");
    }
}
