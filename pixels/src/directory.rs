//! A directory of fields (TIFF 6.0, section 2), as EXIF and TIFF files have it. It is read as Pillow reads it, which forgives much.

/// Kinds of values (TIFF 6.0, section 2).
pub(crate) const BYTE: u16 = 1;
pub(crate) const SHORT: u16 = 3;

/// The first directory of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Directory<'a> {
    file: &'a [u8],
    is_little: bool,
    /// Whether it is a big TIFF, with numbers of 64 bits.
    is_big: bool,
    /// Where it begins.
    at: usize,
}

/// The values of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    /// The kind of its values.
    pub(crate) kind: u16,
    /// The values as the file has them.
    pub(crate) data: &'a [u8],
    /// Where the values are in the file.
    pub(crate) at: usize,
    is_little: bool,
}

impl<'a> Directory<'a> {
    /// The first directory of a file. None if it does not begin as one.
    pub(crate) fn first(file: &'a [u8]) -> Option<Self> {
        // With the two bytes exchanged, Pillow takes it, too.
        let (is_little, is_big) = match file.get(..4)? {
            b"II*\0" | b"II\0*" => (true, false),
            b"MM\0*" | b"MM*\0" => (false, false),
            b"II+\0" => (true, true),
            b"MM\0+" => (false, true),
            _ => return None,
        };
        let numbers = Numbers { is_little };
        let at = if is_big { numbers.long8(file.get(8..16)?) } else { numbers.long(file.get(4..8)?) };
        Some(Self { file, is_little, is_big, at: index(at) })
    }

    /// Whether the file's numbers begin with their lowest byte.
    pub(crate) fn is_little(&self) -> bool {
        self.is_little
    }

    /// The field of a tag. None if there is none, or if it, or one before it, leads out of the file.
    pub(crate) fn field(&self, wanted: u16) -> Option<Field<'a>> {
        let numbers = Numbers { is_little: self.is_little };
        let (counted, inline) = if self.is_big { (8, 8) } else { (2, 4) };
        let head = self.file.get(self.at..)?.get(..counted)?;
        let count = if self.is_big { numbers.long8(head) } else { numbers.short(head).into() };
        let mut entries = self.file.get(self.at + counted..)?.chunks_exact(4 + 2 * inline);
        let mut at = self.at + counted;
        let mut elsewhere = 0_u64;
        for _ in 0..count {
            let entry = entries.next()?;
            let values_at = at + 4 + inline;
            at += entry.len();
            let (tag, kind) = (numbers.short(entry), numbers.short(&entry[2..]));
            let Some(unit) = unit(kind) else { continue };
            let number = |bytes: &[u8]| if self.is_big { numbers.long8(bytes) } else { numbers.long(bytes) };
            let size = number(&entry[4..]).saturating_mul(unit);
            let is_inline = size <= inline as u64;
            let from = if is_inline { values_at as u64 } else { number(&entry[4 + inline..]) };
            if !is_inline {
                elsewhere = elsewhere.saturating_add(size);
                if elsewhere > self.file.len() as u64 {
                    continue;
                }
            }
            let data = self.file.get(index(from)..)?.get(..index(size))?;
            if tag == wanted && !data.is_empty() {
                return Some(Field { kind, data, at: index(from), is_little: self.is_little });
            }
        }
        None
    }
}

impl Field<'_> {
    /// How many values it has.
    pub(crate) fn len(&self) -> usize {
        self.data.len() / unit(self.kind).map_or(1, index)
    }

    /// One of its values, as a number. `None` if there are fewer values, or if they are no numbers.
    pub(crate) fn number(&self, place: usize) -> Option<f64> {
        let numbers = Numbers { is_little: self.is_little };
        let unit = index(unit(self.kind)?);
        let bytes = self.data.chunks_exact(unit).nth(place)?;
        let ratio = |above: f64, below: f64| (below != 0.0).then(|| above / below);
        #[expect(clippy::cast_possible_wrap, clippy::cast_precision_loss, reason = "the kind says that it is so")]
        match self.kind {
            BYTE => Some(bytes[0].into()),
            SHORT => Some(numbers.short(bytes).into()),
            4 | 13 => Some(numbers.long(bytes) as f64),
            5 => ratio(numbers.long(bytes) as f64, numbers.long(&bytes[4..]) as f64),
            6 => Some((bytes[0] as i8).into()),
            8 => Some((numbers.short(bytes) as i16).into()),
            9 => Some((numbers.word(bytes) as i32).into()),
            10 => ratio((numbers.word(bytes) as i32).into(), (numbers.word(&bytes[4..]) as i32).into()),
            11 => Some(f32::from_bits(numbers.word(bytes)).into()),
            12 => Some(f64::from_bits(numbers.long8(bytes))),
            16 => Some(numbers.long8(bytes) as f64),
            _ => None,
        }
    }
}

impl<'a> Field<'a> {
    /// Its values, as places or lengths in a file. Those that are none are 0.
    pub(crate) fn numbers(self) -> impl Iterator<Item = usize> + use<'a> {
        let number = move |place: usize| self.number(place).filter(|number| (0.0..9.0e15).contains(number));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in the range")]
        (0..self.len()).map(move |place| number(place).map_or(0, |number| number as usize))
    }
}

/// Bytes of a value of this kind; none of those that Pillow does not know.
fn unit(kind: u16) -> Option<u64> {
    match kind {
        BYTE | 2 | 6 | 7 => Some(1),
        SHORT | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 | 16 => Some(8),
        _ => None,
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Numbers in a file's order of bytes. What is read is as long as the number.
#[derive(Clone, Copy)]
struct Numbers {
    is_little: bool,
}

impl Numbers {
    fn short(self, bytes: &[u8]) -> u16 {
        let bytes = *bytes.first_chunk().expect("two bytes");
        if self.is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }

    fn word(self, bytes: &[u8]) -> u32 {
        let bytes = *bytes.first_chunk().expect("four bytes");
        if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    fn long(self, bytes: &[u8]) -> u64 {
        self.word(bytes).into()
    }

    fn long8(self, bytes: &[u8]) -> u64 {
        let bytes = *bytes.first_chunk().expect("eight bytes");
        if self.is_little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of entries `(tag, kind, count, value or offset)`, and what follows it.
    fn file(entries: &[(u16, u16, u32, u32)], tail: &[u8]) -> Vec<u8> {
        let mut bytes = b"MM\0*\0\0\0\x08".to_vec();
        bytes.extend(u16::try_from(entries.len()).unwrap().to_be_bytes());
        for (tag, kind, count, value) in entries {
            bytes.extend([tag.to_be_bytes(), kind.to_be_bytes()].concat());
            bytes.extend([count.to_be_bytes(), value.to_be_bytes()].concat());
        }
        [bytes, tail.to_vec()].concat()
    }

    #[test]
    fn numbers_of_all_kinds_are_read() {
        let tail = [&5_u32.to_be_bytes()[..], &2_u32.to_be_bytes(), &2.5_f64.to_be_bytes()].concat();
        let at = 8 + 2 + 12 * 8;
        let entries = [
            (1, SHORT, 2, 0x0003_0007),
            (2, 4, 1, 70_000),
            (3, 9, 1, u32::MAX),
            (4, 8, 1, 0xFFFE_0000),
            (5, 6, 1, 0xFD00_0000),
            (6, 11, 1, 1.5_f32.to_bits()),
            (7, 5, 1, at),
            (8, 12, 1, at + 8),
        ];
        let bytes = file(&entries, &tail);
        let directory = Directory::first(&bytes).unwrap();
        let number = |tag: u16, place: usize| directory.field(tag).and_then(|field| field.number(place));
        let found: Vec<_> = (1..9).map(|tag| number(tag, 0).unwrap()).collect();
        assert_eq!(found, [3.0, 70_000.0, -1.0, -2.0, -3.0, 1.5, 2.5, 2.5]);
        assert_eq!((number(1, 1), number(1, 2), number(9, 0)), (Some(7.0), None, None));
        assert_eq!(directory.field(1).map(|field| (field.len(), field.at)), Some((2, 18)));
    }

    #[test]
    fn what_leads_out_of_the_file_ends_the_directory_and_what_is_unknown_is_passed_over() {
        let wanted = (0x112, SHORT, 1, 6 << 16);
        let found = |before: (u16, u16, u32, u32)| {
            let bytes = file(&[before, wanted], &[0; 20]);
            Directory::first(&bytes).unwrap().field(0x112).and_then(|field| field.number(0))
        };
        assert_eq!(found((1, 99, 1, 0)), Some(6.0), "no known kind");
        assert_eq!(found((0x112, 4, 0, 0)), Some(6.0), "no value");
        assert_eq!(found((1, 2, 10, 34)), Some(6.0));
        assert_eq!(found((1, 2, 10, 1000)), None, "a text beyond the end");
        assert_eq!(found((1, 2, u32::MAX, 34)), Some(6.0), "longer than the file");
        let bytes = file(&[wanted], b"");
        for cut in 0..bytes.len() {
            let field = Directory::first(&bytes[..cut]).and_then(|directory| directory.field(0x112));
            assert!(field.is_none(), "{cut}");
        }
    }
}
