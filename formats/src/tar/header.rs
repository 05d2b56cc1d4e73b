//! The 512 bytes before each member of a tar: its name, size and kind, and a checksum over them.

use std::ops::Range;

/// Bytes of a header, and what contents are padded to.
pub(super) const BLOCK: usize = 512;
const NAME: Range<usize> = 0..100;
const SIZE: Range<usize> = 124..136;
const CHECKSUM: Range<usize> = 148..156;
const KIND: usize = 156;
const MAGIC: Range<usize> = 257..265;
const PREFIX: Range<usize> = 345..500;
/// Of GNU's sparse members: whether a block with more of the map follows.
const IS_EXTENDED: usize = 482;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TarHeader {
    pub name: Vec<u8>,
    /// Bytes of the contents.
    pub size: u64,
    pub kind: u8,
    /// A GNU sparse map continues in the next block.
    pub is_extended: bool,
}

impl TarHeader {
    /// Reads a header. The text says what is wrong with it.
    pub(super) fn parse(block: &[u8; BLOCK]) -> Result<Self, &'static str> {
        let stored = number(&block[CHECKSUM]).ok_or("its checksum is not a number")?;
        if !sums(block).contains(&i64::try_from(stored).unwrap_or(-1)) {
            return Err("its checksum does not agree with its bytes");
        }
        let size = number(&block[SIZE]).ok_or("its size is not a number that a file can have")?;
        let mut name = until_nul(&block[NAME]).to_vec();
        // GNU's headers have times where those of POSIX have the first part of a long name.
        let prefix = until_nul(&block[PREFIX]);
        if &block[MAGIC] == b"ustar\x0000" && !prefix.is_empty() {
            name = [prefix, b"/", &name].concat();
        }
        Ok(Self { name, size, kind: block[KIND], is_extended: block[IS_EXTENDED] != 0 })
    }
}

/// Whether this is a block of the mark at the end.
pub(super) fn is_zero(block: &[u8]) -> bool {
    block.iter().all(|&byte| byte == 0)
}

pub(super) fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// The sum of a header's bytes, with spaces in place of the sum. Old programs added the bytes as signed numbers.
fn sums(block: &[u8; BLOCK]) -> [i64; 2] {
    let bytes = || block.iter().enumerate().map(|(place, &byte)| if CHECKSUM.contains(&place) { b' ' } else { byte });
    [bytes().map(i64::from).sum(), bytes().map(|byte| i64::from(byte.cast_signed())).sum()]
}

/// A number as octal digits; or, where the highest bit is set, as the bytes of a number in big-endian order.
pub(super) fn number(field: &[u8]) -> Option<u64> {
    let (&first, rest) = field.split_first()?;
    if first & 0x80 != 0 {
        // The next bit is the sign.
        let start = (first & 0x40 == 0).then_some(u64::from(first & 0x3f))?;
        return rest.iter().try_fold(start, |value, &byte| value.checked_mul(256)?.checked_add(u64::from(byte)));
    }
    let digits = field.trim_ascii_start().split(|&byte| byte == 0 || byte == b' ').next().unwrap_or_default();
    digits.iter().try_fold(0_u64, |value, &digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 8)?;
        value.checked_mul(8)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_octal_or_big_endian_and_never_too_large() {
        assert_eq!(number(b"00000000017\0"), Some(15));
        assert_eq!(number(b"    17 \0\0\0\0\0"), Some(15));
        assert_eq!(number(&[0; 12]), Some(0));
        assert_eq!(number(b"777777777777"), Some(0o777_777_777_777));
        assert_eq!(number(b"\x80\0\0\0\0\0\0\x02\0\0\0\0"), Some(1 << 33));
        for wrong in
            [&b"00000000018\0"[..], b"-1\0\0", b"\xff\xff\xff\xff", b"\xc0\0\0\0", b"\x81\0\0\0\0\0\0\0\0\0\0\0"]
        {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
    }
}
