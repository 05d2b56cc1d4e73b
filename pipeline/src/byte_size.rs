//! Numbers of bytes as people write them: `"100gb"`, `"64 MiB"`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A number of bytes. `kb mb gb tb` are powers of 1000, `kib mib gib tib` of 1024, in any case; a bare number or `b`
/// is bytes.
///
/// ```
/// use forebay_pipeline::ByteSize;
/// assert_eq!("1.5gb".parse(), Ok(ByteSize(1_500_000_000)));
/// assert_eq!("64 MiB".parse(), Ok(ByteSize(64 << 20)));
/// assert_eq!(ByteSize(128_000_000).to_string(), "128mb");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// A text that is no size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "\"{0}\" is not a size below 1024 PiB; write a number and b, kb, mb, gb, tb, kib, mib, gib or tib, such as \"1.5gb\""
)]
pub struct NoSize(String);

/// Sizes are below it, so that sums of a few of them fit into 64 bits.
const LIMIT: u64 = 1 << 60;

const SIZE_UNITS: [(&str, u64); 10] = [
    ("tib", 1 << 40),
    ("gib", 1 << 30),
    ("mib", 1 << 20),
    ("kib", 1 << 10),
    ("tb", 1_000_000_000_000),
    ("gb", 1_000_000_000),
    ("mb", 1_000_000),
    ("kb", 1_000),
    ("b", 1),
    ("", 1),
];

impl ByteSize {
    /// So many bytes, if they are below 1024 PiB.
    pub fn of(bytes: u64) -> Option<Self> {
        (bytes < LIMIT).then_some(Self(bytes))
    }
}

impl FromStr for ByteSize {
    type Err = NoSize;

    fn from_str(text: &str) -> Result<Self, NoSize> {
        let no_size = || NoSize(text.to_owned());
        let (number, unit) = split(text);
        let unit = unit.to_ascii_lowercase();
        let &(_, factor) = SIZE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(no_size)?;
        if let Ok(number) = number.parse::<u64>() {
            return number.checked_mul(factor).and_then(Self::of).ok_or_else(no_size);
        }
        let number: f64 = number.parse().map_err(|_| no_size())?;
        #[expect(clippy::cast_precision_loss, reason = "every factor is exact in an f64")]
        let bytes = (number * factor as f64).round();
        // 2^53: above it a fraction of a byte count means nothing.
        if !(0.0..9_007_199_254_740_992.0).contains(&bytes) {
            return Err(no_size());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was looked at")]
        Ok(Self(bytes as u64))
    }
}

impl fmt::Display for ByteSize {
    /// In the largest unit that leaves a whole number; with `{:#}` rounded, for people: `1.50 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return rounded(self.0, f);
        }
        let whole = SIZE_UNITS.iter().filter(|(_, factor)| self.0 != 0 && self.0.is_multiple_of(*factor));
        let (unit, factor) = whole.max_by_key(|(name, factor)| (*factor, name.len())).unwrap_or(&("b", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

fn rounded(bytes: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let units = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1_u64 << 10)];
    let Some((unit, factor)) = units.into_iter().find(|(_, factor)| bytes >= *factor) else {
        return write!(f, "{bytes} bytes");
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits of it are shown")]
    let number = bytes as f64 / factor as f64;
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    write!(f, "{number:.digits$} {unit}")
}

/// The number in front, and the unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_for_people() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1536, "1.50 KiB"),
            (128_000_000, "122 MiB"),
            (40_000_000, "38.1 MiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(format!("{:#}", ByteSize(bytes)), text);
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("100gb", 100_000_000_000),
            ("1.5GB", 1_500_000_000),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("0.5kib", 512),
            ("4096", 4096),
            ("7b", 7),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in [
            "",
            "gb",
            "-1gb",
            "1e3mb",
            "1..5gb",
            "5 parsecs",
            "99999999999tb",
            "5g",
            "1152921504606846976",
            "2000000tb",
        ] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_is_written_so_that_it_reads_back() {
        for bytes in [0, 1, 1000, 1024, 1500, 128_000_000, 1 << 30, LIMIT - 1] {
            let text = ByteSize(bytes).to_string();
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        assert_eq!(ByteSize(1 << 30).to_string(), "1gib");
        assert_eq!(ByteSize(128_000_000).to_string(), "128mb");
    }
}
