//! Masks as COCO encodes them: run lengths column by column, the first of the background, as numbers or as a short text.

/// The run lengths of a mask of this height and width, as they are or from their text.
///
/// # Errors
/// They do not cover the mask exactly.
pub(super) fn checked(counts: Vec<u32>, height: u64, width: u64) -> Result<Vec<u32>, String> {
    let pixels: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    match height.checked_mul(width) {
        Some(expected) if expected == pixels => Ok(counts),
        _ => Err(format!("has a mask of {pixels} pixels, but its size is {height} x {width}")),
    }
}

/// Reads the text of pycocotools: groups of five bits and a bit that says whether another one follows, with an offset of
/// 48. From the fourth on, a count is the difference to the one two places before.
///
/// # Errors
/// A character is not one of those 64, the text ends within a count, or a count is no run length.
pub(super) fn from_text(text: &[u8]) -> Result<Vec<u32>, String> {
    let wrong = |place: usize| format!("has a mask whose text is wrong at character {place}");
    let mut counts: Vec<u32> = Vec::new();
    let (mut value, mut shift) = (0_i64, 0_u32);
    for (place, &byte) in text.iter().enumerate() {
        let bits = byte.checked_sub(48).filter(|bits| *bits < 64).ok_or_else(|| wrong(place))?;
        // Seven groups hold every difference of two counts.
        if shift > 30 {
            return Err(wrong(place));
        }
        value |= i64::from(bits & 31) << shift;
        shift += 5;
        if bits & 32 != 0 {
            continue;
        }
        if bits & 16 != 0 {
            value |= -1 << shift;
        }
        if counts.len() > 2 {
            value += i64::from(counts[counts.len() - 2]);
        }
        counts.push(u32::try_from(value).map_err(|_| wrong(place))?);
        (value, shift) = (0, 0);
    }
    if shift == 0 { Ok(counts) } else { Err(wrong(text.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As pycocotools' `rleToString` writes it.
    fn to_text(counts: &[u32]) -> Vec<u8> {
        let mut text = Vec::new();
        for (place, &count) in counts.iter().enumerate() {
            let mut value = i64::from(count);
            if place > 2 {
                value -= i64::from(counts[place - 2]);
            }
            loop {
                let mut bits = u8::try_from(value & 31).unwrap();
                value >>= 5;
                let more = if bits & 16 != 0 { value != -1 } else { value != 0 };
                bits |= if more { 32 } else { 0 };
                text.push(bits + 48);
                if !more {
                    break;
                }
            }
        }
        text
    }

    #[test]
    fn a_text_gives_the_counts_that_it_was_made_from() {
        for counts in [&[][..], &[0, 5], &[6, 1, 40, 4, 5, 4, 5, 4, 21], &[0, 640 * 480], &[1, 2, 3, 4, 1 << 30, 0, 7]]
        {
            assert_eq!(from_text(&to_text(counts)).unwrap(), counts);
        }
    }

    #[test]
    fn a_text_of_pycocotools_gives_the_run_lengths_of_its_mask() {
        let random = [1, 1, 1, 3, 2, 5, 1, 1, 2, 3, 1, 3, 7, 5, 1, 1, 2, 2, 1, 1, 4];
        let far_apart = [21_005, 1, 8_681_993, 1, 2999, 1, 2999, 1, 291_000];
        for (text, height, width, counts) in [
            ("0o1", 7, 9, &[0, 63][..]),
            ("o1", 7, 9, &[63]),
            ("61X13mN000`0", 9, 10, &[6, 1, 40, 4, 5, 4, 5, 4, 21]),
            ("111212OL12O062JL11OO3", 6, 8, &random),
            ("]`d01Y`nX80^]TgG000QXi8", 3000, 3000, &far_apart),
        ] {
            let found = from_text(text.as_bytes()).unwrap();
            assert_eq!(found, counts);
            assert_eq!(to_text(counts), text.as_bytes());
            checked(found, height, width).unwrap();
        }
    }

    #[test]
    fn a_text_that_no_mask_has_is_refused() {
        for text in [&b"\x01"[..], b"6\x7f", b"p", b"oooooooo1", b"ooooooo", b"L"] {
            assert!(from_text(text).is_err(), "{text:?}");
        }
        assert!(checked(vec![1, 2], 3, 1).is_ok());
        assert!(checked(vec![1, 2], u64::MAX, 2).unwrap_err().contains("3 pixels"));
    }
}
