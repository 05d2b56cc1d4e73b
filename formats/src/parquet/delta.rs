//! Byte arrays that are stored as lengths, or as parts of the value before them, made plain. The library's decoders allocate
//! what such a page claims; here each number is compared with what there is.

/// Most bytes of the values of a page. Values that repeat the one before them can be far larger than what is stored.
const MOST: usize = 512 << 20;

/// The values of a page with `DELTA_LENGTH_BYTE_ARRAY`: all lengths, and then all bytes. The result has a length before each
/// value, as plain pages have. A page has at most so many values.
///
/// # Errors
/// The text says what is wrong.
pub(super) fn of_lengths(bytes: &[u8], values: usize) -> Result<Vec<u8>, &'static str> {
    let (lengths, mut rest) = numbers(bytes, values)?;
    let mut plain = PlainValues::of(&lengths, 0)?;
    for &length in &lengths {
        let (value, behind) = rest.split_at_checked(length as usize).ok_or(SHORT)?;
        plain.add(0, value)?;
        rest = behind;
    }
    if rest.is_empty() { Ok(plain.bytes) } else { Err(LONG) }
}

/// The same with `DELTA_BYTE_ARRAY`: how much each value has of the one before it, and what follows then.
///
/// # Errors
/// The text says what is wrong.
pub(super) fn of_prefixes(bytes: &[u8], values: usize) -> Result<Vec<u8>, &'static str> {
    let (prefixes, rest) = numbers(bytes, values)?;
    let (suffixes, mut rest) = numbers(rest, values)?;
    if prefixes.len() != suffixes.len() {
        return Err("it has another number of beginnings than of ends");
    }
    let of_prefixes = prefixes.iter().map(|&prefix| u64::from(prefix)).sum();
    let mut plain = PlainValues::of(&suffixes, of_prefixes)?;
    for (&prefix, &suffix) in prefixes.iter().zip(&suffixes) {
        let (end, behind) = rest.split_at_checked(suffix as usize).ok_or(SHORT)?;
        plain.add(prefix as usize, end)?;
        rest = behind;
    }
    if rest.is_empty() { Ok(plain.bytes) } else { Err(LONG) }
}

const SHORT: &str = "its values end before their lengths do";
const LONG: &str = "it has more bytes than its values";
const NO_NUMBERS: &str = "the lengths of its values cannot be read";

/// Values that are being made plain.
struct PlainValues {
    bytes: Vec<u8>,
    /// Where the latest value begins.
    last: usize,
}

impl PlainValues {
    /// Room for values with these lengths, and so many bytes beside them.
    fn of(lengths: &[u32], more: u64) -> Result<Self, &'static str> {
        let len = lengths.iter().map(|&length| 4 + u64::from(length)).sum::<u64>().saturating_add(more);
        let len = usize::try_from(len).ok().filter(|len| *len <= MOST).ok_or("its values take more than 512 MiB")?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| "there is no memory for its values")?;
        Ok(Self { bytes, last: 0 })
    }

    /// Adds a value that begins with so many bytes of the latest one.
    fn add(&mut self, prefix: usize, end: &[u8]) -> Result<(), &'static str> {
        let beginning = self.last..self.last + prefix;
        if beginning.end > self.bytes.len() {
            return Err("a value has more of the one before it than that has");
        }
        let len = u32::try_from(prefix + end.len()).expect("all values together were compared with a limit");
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.last = self.bytes.len();
        self.bytes.extend_from_within(beginning);
        self.bytes.extend_from_slice(end);
        Ok(())
    }
}

/// Numbers that `DELTA_BINARY_PACKED` stores as differences: at most so many, none of them negative. What follows them is the
/// second part of the result.
fn numbers(bytes: &[u8], most: usize) -> Result<(Vec<u32>, &[u8]), &'static str> {
    read_numbers(bytes, most).ok_or(NO_NUMBERS)
}

fn read_numbers(bytes: &[u8], most: usize) -> Option<(Vec<u32>, &[u8])> {
    let mut rest = bytes;
    let (block, parts, count) = (varint(&mut rest)?, varint(&mut rest)?, varint(&mut rest)?);
    let mut value = zigzag(varint(&mut rest)?);
    let count = usize::try_from(count).ok().filter(|count| *count <= most)?;
    let (block, parts) = (usize::try_from(block).ok()?, usize::try_from(parts).ok()?);
    let of_part = block.checked_div(parts).filter(|of_part| *of_part > 0 && of_part.is_multiple_of(32))?;
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).ok()?;
    if count > 0 {
        numbers.push(length(value)?);
    }
    while numbers.len() < count {
        let least = zigzag(varint(&mut rest)?);
        let (widths, behind) = rest.split_at_checked(parts)?;
        rest = behind;
        for &width in widths {
            // A part behind the last number has a width, and no bytes.
            let wanted = of_part.min(count - numbers.len());
            if wanted == 0 {
                break;
            }
            let width = usize::from(width);
            if width > 32 {
                return None;
            }
            let (packed, behind) = rest.split_at_checked(of_part.checked_mul(width)? / 8)?;
            rest = behind;
            for place in 0..wanted {
                // Differences are numbers of 32 bits, and go around at their ends.
                let difference = least.wrapping_add(bits(packed, place * width, width));
                value = value.wrapping_add(difference) & 0xffff_ffff;
                numbers.push(length(value)?);
            }
        }
    }
    Some((numbers, rest))
}

/// A length, unless it is none.
fn length(value: i64) -> Option<u32> {
    i32::try_from(value).ok().and_then(|value| u32::try_from(value).ok())
}

/// So many bits from this one on, the lowest first.
fn bits(packed: &[u8], start: usize, width: usize) -> i64 {
    let bytes = packed[start / 8..].iter().take(5).enumerate();
    let word = bytes.fold(0_u64, |word, (place, &byte)| word | u64::from(byte) << (8 * place));
    ((word >> (start % 8)) & ((1 << width) - 1)).cast_signed()
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One block of four parts with these numbers: all differences in 8 bits.
    fn packed(lengths: &[u32]) -> Vec<u8> {
        let (count, first) = (u8::try_from(lengths.len()).unwrap(), u8::try_from(lengths[0]).unwrap());
        let mut bytes = vec![128, 1, 4, count, first * 2];
        if lengths.len() > 1 {
            // The least difference is -64.
            bytes.extend([127, 8, 8, 8, 8]);
            let differences = lengths.windows(2).map(|pair| u8::try_from(pair[1] + 64 - pair[0]).unwrap());
            let mut differences: Vec<u8> = differences.collect();
            differences.resize(differences.len().next_multiple_of(32), 0);
            bytes.extend(differences);
        }
        bytes
    }

    fn plain(values: &[&[u8]]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| [&u32::try_from(value.len()).unwrap().to_le_bytes()[..], value].concat())
            .collect()
    }

    #[test]
    fn lengths_and_prefixes_become_plain_values() {
        let values: [&[u8]; 4] = [b"abc", b"", b"abcdef", b"x"];
        let stored = [&packed(&[3, 0, 6, 1])[..], b"abcabcdefx"].concat();
        assert_eq!(of_lengths(&stored, 4), Ok(plain(&values)));
        let stored = [&packed(&[0, 3, 2, 0])[..], &packed(&[3, 1, 0, 1]), b"abcdx"].concat();
        assert_eq!(of_prefixes(&stored, 4), Ok(plain(&[b"abc", b"abcd", b"ab", b"x"])));
        let many: Vec<u32> = (0..100).map(|number| number % 7).collect();
        let bytes: Vec<u8> = (0..many.iter().sum()).map(|byte: u32| u8::try_from(byte % 251).unwrap()).collect();
        let made = of_lengths(&[packed(&many), bytes.clone()].concat(), 100).unwrap();
        assert_eq!(made.len(), bytes.len() + 400);
    }

    #[test]
    fn a_page_that_claims_more_than_there_is_is_refused_before_memory_is_taken() {
        let stored = [&packed(&[3, 0])[..], b"abc"].concat();
        assert_eq!(of_lengths(&stored, 1), Err(NO_NUMBERS), "more values than the page has");
        assert_eq!(of_lengths(&stored[..stored.len() - 1], 2), Err(SHORT));
        assert_eq!(of_lengths(&[&stored[..], b"x"].concat(), 2), Err(LONG));
        for cut in 0..stored.len() - 3 {
            assert_eq!(of_lengths(&stored[..cut], 2), Err(NO_NUMBERS), "{cut}");
        }
        for (place, byte) in [(0, 0), (2, 0), (2, 5), (4, 1), (6, 33), (1, 0xff)] {
            let mut wrong = stored.clone();
            wrong[place] = byte;
            assert!(of_lengths(&wrong, 2).is_err(), "byte {place}");
        }
        // The second value would begin with 5 bytes of 3.
        let stored = [&packed(&[0, 5])[..], &packed(&[3, 0]), b"abc"].concat();
        assert!(of_prefixes(&stored, 2).unwrap_err().contains("the one before it"));
        // 1,000 values that each repeat a value of 1 MiB.
        let prefixes = [&[128, 1, 4, 0xe8, 7, 0x80, 0x80, 0x80, 1][..], &[0; 40]].concat();
        let suffixes = [&[128, 1, 4, 0xe8, 7, 0][..], &[0; 40]].concat();
        let stored = [prefixes, suffixes].concat();
        assert!(of_prefixes(&stored, 1000).unwrap_err().contains("512 MiB"));
    }
}
