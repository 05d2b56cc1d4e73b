//! The bytes of a record that has masks beside its picture. They are read at once, into one buffer: the picture, the masks
//! one after the other, and a table of the masks' lengths.

use forebay_columns::ElementType;

/// A mask that each record of a dataset may have: a picture of numbers, which becomes a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskColumn {
    /// The column's name.
    pub name: String,
    /// The type of its numbers: `u8`, `u16` or `i32`.
    pub element: ElementType,
}

/// The parts of what was read of a record.
///
/// ```
/// use forebay_sources::RecordParts;
///
/// let mut bytes = b"picture".to_vec();
/// bytes.extend(b"mask");
/// RecordParts::close(&mut bytes, &[4, 0]);
/// let parts = RecordParts::of(&bytes, 2);
/// assert_eq!((parts.picture(), parts.mask(0), parts.mask(1)), (&b"picture"[..], Some(&b"mask"[..]), None));
/// // What a dataset without masks gives is its picture.
/// assert_eq!(RecordParts::of(b"picture", 0).picture(), b"picture");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecordParts<'a> {
    bytes: &'a [u8],
    /// Where the masks begin, and their table.
    masks: usize,
    table: usize,
}

/// Bytes of a length in the table.
const LENGTH: usize = size_of::<u64>();

impl<'a> RecordParts<'a> {
    /// Bytes of the table of `masks` masks.
    pub const fn table_len(masks: usize) -> u64 {
        (masks * LENGTH) as u64
    }

    /// Writes the table behind a picture and its masks, which have these lengths. A mask without bytes is missing.
    pub fn close(bytes: &mut Vec<u8>, lengths: &[u64]) {
        for length in lengths {
            bytes.extend_from_slice(&length.to_le_bytes());
        }
    }

    /// Whether these bytes are a picture with so many masks. A source asks this of bytes that another process has put together.
    pub fn are_well_formed(bytes: &[u8], masks: usize) -> bool {
        let Some(table) = bytes.len().checked_sub(masks * LENGTH) else { return false };
        let lengths = bytes[table..].as_chunks::<LENGTH>().0.iter().map(|length| u64::from_le_bytes(*length));
        lengths.fold(0, u64::saturating_add) <= table as u64
    }

    /// The parts of a record that a source with `masks` masks has read, or of its end that begins with the first mask.
    ///
    /// # Panics
    /// No such source has read it.
    pub fn of(bytes: &'a [u8], masks: usize) -> Self {
        let table = bytes.len().checked_sub(masks * LENGTH).expect("a table of lengths is behind the masks");
        let lengths = bytes[table..].as_chunks::<LENGTH>().0.iter().map(|length| u64::from_le_bytes(*length));
        let of_masks = usize::try_from(lengths.sum::<u64>()).expect("masks in memory can be counted");
        let masks = table.checked_sub(of_masks).expect("the masks are before their table");
        Self { bytes, masks, table }
    }

    /// The picture's bytes.
    pub fn picture(&self) -> &'a [u8] {
        &self.bytes[..self.masks]
    }

    /// A mask's bytes, by its place among the dataset's. Nothing if the record has no such mask.
    ///
    /// # Panics
    /// The dataset has no such mask.
    pub fn mask(&self, mask: usize) -> Option<&'a [u8]> {
        let mut lengths = self.bytes[self.table..]
            .as_chunks::<LENGTH>()
            .0
            .iter()
            .map(|length| usize::try_from(u64::from_le_bytes(*length)).expect("a mask in memory can be counted"));
        let start = self.masks + lengths.by_ref().take(mask).sum::<usize>();
        let len = lengths.next().expect("the dataset has this mask");
        (len > 0).then(|| &self.bytes[start..start + len])
    }

    /// All but the picture: the masks and their table. Nothing for a dataset without masks.
    pub fn behind_picture(&self) -> &'a [u8] {
        &self.bytes[self.masks..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_45_the_parts_of_a_record_are_what_was_put_together_and_may_lack_masks() {
        for masks in [vec![], vec![&b"one"[..]], vec![b"", b"two"], vec![b"a", b"", b"ccc"]] {
            let mut bytes = b"the picture".to_vec();
            for mask in &masks {
                bytes.extend_from_slice(mask);
            }
            let lengths: Vec<u64> = masks.iter().map(|mask| mask.len() as u64).collect();
            RecordParts::close(&mut bytes, &lengths);
            let whole = RecordParts::of(&bytes, masks.len());
            let rest = RecordParts::of(whole.behind_picture(), masks.len());
            assert_eq!((whole.picture(), rest.picture()), (&b"the picture"[..], &b""[..]));
            for (number, mask) in masks.iter().enumerate() {
                let expected = (!mask.is_empty()).then_some(*mask);
                assert_eq!((whole.mask(number), rest.mask(number)), (expected, expected));
            }
            let len = whole.behind_picture().len() as u64;
            assert_eq!(len, lengths.iter().sum::<u64>() + RecordParts::table_len(masks.len()));
            assert!(RecordParts::are_well_formed(&bytes, masks.len()));
        }
    }

    #[test]
    fn a_table_whose_masks_are_longer_than_the_record_is_found() {
        let record = |lengths: &[u64]| {
            let mut bytes = b"picture".to_vec();
            RecordParts::close(&mut bytes, lengths);
            bytes
        };
        for (lengths, is_good) in [(&[7, 0][..], true), (&[4, 4], false), (&[u64::MAX, 2], false)] {
            assert_eq!(RecordParts::are_well_formed(&record(lengths), 2), is_good, "{lengths:?}");
        }
        assert!(!RecordParts::are_well_formed(b"1234567", 1) && RecordParts::are_well_formed(b"", 0));
    }
}
