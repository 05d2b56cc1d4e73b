//! What the audit says of a ledger that was lost and recovered from a snapshot of its store.

use std::fmt;

use forebay_proto::v1::Recovery;

/// One recovery. Its `Display` is the line that users read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryAudit {
    /// The generation that began with it.
    pub generation: u64,
    /// When the snapshot was taken, in seconds since 1970 (UTC).
    pub taken: u64,
}

impl From<&Recovery> for RecoveryAudit {
    fn from(recovery: &Recovery) -> Self {
        Self { generation: recovery.generation, taken: recovery.taken }
    }
}

impl RecoveryAudit {
    /// The time of the snapshot, such as `2026-11-23 09:30:00 UTC`.
    pub fn time(&self) -> String {
        let (days, seconds) = (self.taken / 86_400, self.taken % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

impl fmt::Display for RecoveryAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "generation {}: recovered from a snapshot of {}; what was delivered between the snapshot and the recovery was \
             delivered again, and is counted once. The numbers of possible repetitions do not include it",
            self.generation,
            self.time()
        )
    }
}

/// Year, month and day of a day that is counted from the first of January 1970. Years begin in March here, so that a leap day
/// is the last day of its year.
fn date(days: u64) -> (u64, u64, u64) {
    // From the first of March of the year 0, in eras of 400 years.
    let days = days.saturating_add(719_468);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let first = (153 * month + 2) / 5;
    let is_next_year = month >= 10;
    let calendar_month = if is_next_year { month - 9 } else { month + 3 };
    (era * 400 + year + u64::from(is_next_year), calendar_month, day - first + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_is_named_with_its_generation_and_the_time_of_its_snapshot() {
        let times = [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (1_795_426_201, "2026-11-23 09:30:01 UTC"),
        ];
        for (taken, time) in times {
            let said = RecoveryAudit { generation: 65_536, taken }.to_string();
            assert!(said.starts_with(&format!("generation 65536: recovered from a snapshot of {time};")), "{said}");
        }
        // A stored number may be any.
        RecoveryAudit { generation: 0, taken: u64::MAX }.time();
    }
}
