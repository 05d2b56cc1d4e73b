//! Durations as people write them: `"500ms"`, `"5s"`, `"1.5h"`.

use std::time::Duration;

const DURATION_UNITS: [(&str, f64); 6] =
    [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// Parses `"500ms"`, `"5s"`, `"10m"`, `"1.5h"` or `"2d"`. Returns `None` for any other text.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let &(_, factor) = DURATION_UNITS.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * factor).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in
            [("500ms", 500), ("5s", 5000), ("10m", 600_000), ("1.5h", 5_400_000), ("2 d", 172_800_000)]
        {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "s", "-5s", "5 min", "1e3s", "99999999999999999999999d"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
