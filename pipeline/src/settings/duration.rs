//! Durations as people write them: `"500ms"`, `"5s"`, `"1.5h"`.

use std::time::Duration;

const DURATION_UNITS: [(&str, f64); 6] =
    [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// Longest duration: 100 years. Any clock can count on by it.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Parses `"500ms"`, `"5s"`, `"10m"`, `"1.5h"` or `"2d"`. Returns `None` for any other text, and for more than 100 years.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let &(_, factor) = DURATION_UNITS.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.parse().ok()?;
    of_seconds(number * factor)
}

/// As [`parse_duration`] reads it: whole minutes above one, seconds or milliseconds.
pub(super) fn shown(duration: Duration) -> String {
    match duration.as_millis() {
        millis if millis > 60_000 && millis.is_multiple_of(60_000) => format!("{}m", millis / 60_000),
        millis if millis.is_multiple_of(1000) => format!("{}s", millis / 1000),
        millis => format!("{millis}ms"),
    }
}

/// A number of seconds; `None` if it is negative, no number, or more than 100 years.
pub(super) fn of_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| *duration <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_can_count_on_by_the_longest_duration() {
        let longest = parse_duration("36500d").unwrap();
        assert!(std::time::Instant::now().checked_add(longest).is_some());
        assert!(i64::try_from(longest.as_nanos()).is_ok());
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in
            [("500ms", 500), ("5s", 5000), ("10m", 600_000), ("1.5h", 5_400_000), ("2 d", 172_800_000)]
        {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "s", "-5s", "5 min", "1e3s", "99999999999999999999999d", "9223372036854775808s", "36501d"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
