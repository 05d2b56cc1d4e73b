//! Reads Thrift's compact protocol, as Parquet's footer and page headers have it, and checks both before the library sees
//! them: the library allocates what a footer's counts say, and follows nested schemas without a limit.

/// Structures within each other; Parquet's own have fewer than ten.
const MOST_NESTED: usize = 32;
/// Levels of a table's schema: a list takes two, and so does a column within a structure.
const MOST_SCHEMA_LEVELS: usize = 64;
/// Fewest bytes of an element of the schema, of a row group or a column in it, and of a note or a column's order. The library
/// makes room for as many as a list is said to have, and that is up to a hundred times as much.
const LEAST_ELEMENT: u64 = 4;
const LEAST_CHUNK: u64 = 16;
const LEAST_NOTE: u64 = 3;

/// What is wrong with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThriftError {
    /// They end within a value. More of them may help.
    Short,
    /// They are no such structure.
    Form,
}

/// A field's number and its type, or the type of a list's elements.
type ThriftKind = u8;

const TRUE: ThriftKind = 1;
const FALSE: ThriftKind = 2;
const BYTE: ThriftKind = 3;
const I64: ThriftKind = 6;
const DOUBLE: ThriftKind = 7;
const BINARY: ThriftKind = 8;
const LIST: ThriftKind = 9;
const SET: ThriftKind = 10;
const MAP: ThriftKind = 11;
const STRUCT: ThriftKind = 12;
const UUID: ThriftKind = 13;

/// The fields of a footer that are lists of structures.
const SCHEMA: i64 = 2;
const ROW_GROUPS: i64 = 4;
const NOTES: i64 = 5;
const ORDERS: i64 = 7;

/// The fields of a page's header that are structures: for a page of data, a dictionary, and data of version 2.
const DATA: i64 = 5;
const DICTIONARY: i64 = 7;
const DATA_2: i64 = 8;

/// A place in the bytes.
#[derive(Debug)]
struct Thrift<'a> {
    rest: &'a [u8],
    nested: usize,
}

/// The header of a page, as far as it matters before the page is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Bytes of the header itself.
    pub len: usize,
    /// 0: data, 1: index, 2: dictionary, 3: data of version 2.
    pub kind: i64,
    pub uncompressed: i64,
    pub compressed: i64,
    pub values: i64,
    pub encoding: i64,
    /// How levels of definition are encoded, in data of version 1.
    pub levels: i64,
    /// There is a checksum over the page.
    pub has_checksum: bool,
}

/// The part of a page's header that belongs to a kind of page.
#[derive(Clone, Copy, Debug, Default)]
struct SubHeader {
    values: i64,
    encoding: i64,
    levels: i64,
}

/// Reads a page's header from the start of `bytes`. The library takes the part that belongs to the kind of page, so a header
/// with another part, which would be checked in its place, is refused.
pub(super) fn page_header(bytes: &[u8]) -> Result<PageHeader, ThriftError> {
    let mut thrift = Thrift { rest: bytes, nested: 0 };
    let mut header = PageHeader { kind: -1, ..PageHeader::default() };
    let mut part: Option<(i64, SubHeader)> = None;
    thrift.fields(|thrift, field, kind| {
        match (field, kind) {
            (1, _) => header.kind = thrift.integer()?,
            (2, _) => header.uncompressed = thrift.integer()?,
            (3, _) => header.compressed = thrift.integer()?,
            (4, _) => {
                header.has_checksum = true;
                thrift.skip(kind)?;
            }
            (DATA | DICTIONARY | DATA_2, STRUCT) if part.is_none() => {
                part = Some((field, thrift.sub_header(field)?));
            }
            (DATA | DICTIONARY | DATA_2, _) => return Err(ThriftError::Form),
            _ => thrift.skip(kind)?,
        }
        Ok(())
    })?;
    match (header.kind, part) {
        (0, Some((DATA, part))) | (2, Some((DICTIONARY, part))) | (3, Some((DATA_2, part))) => {
            (header.values, header.encoding, header.levels) = (part.values, part.encoding, part.levels);
        }
        // A page of an index has no values.
        (1, None) => {}
        _ => return Err(ThriftError::Form),
    }
    header.len = bytes.len() - thrift.rest.len();
    Ok(header)
}

/// Checks a footer: it is one structure, its counts are those of its bytes, and its schema is a tree of few levels.
pub(super) fn check_footer(bytes: &[u8]) -> Result<(), ThriftError> {
    let mut thrift = Thrift { rest: bytes, nested: 0 };
    let mut children = Vec::new();
    thrift.fields(|thrift, field, kind| match field {
        SCHEMA => thrift.structs(kind, LEAST_ELEMENT, |thrift| {
            let mut own = 0;
            thrift.fields(|thrift, field, kind| {
                if field == 5 {
                    own = thrift.integer()?;
                    return Ok(());
                }
                thrift.skip(kind)
            })?;
            children.push(own);
            Ok(())
        }),
        ROW_GROUPS => thrift.structs(kind, LEAST_CHUNK, |thrift| {
            thrift.fields(|thrift, field, kind| match field {
                // Its columns.
                1 => thrift.structs(kind, LEAST_CHUNK, |thrift| thrift.skip(STRUCT)),
                _ => thrift.skip(kind),
            })
        }),
        NOTES | ORDERS => thrift.structs(kind, LEAST_NOTE, |thrift| thrift.skip(STRUCT)),
        _ => thrift.skip(kind),
    })?;
    if is_small_tree(&children) { Ok(()) } else { Err(ThriftError::Form) }
}

/// Whether these counts of children, in the order of the schema's elements, are one tree of few levels.
fn is_small_tree(children: &[i64]) -> bool {
    // Of each level that is open, the elements that are still to come.
    let mut open = vec![1_u64];
    for &count in children {
        while open.last() == Some(&0) {
            open.pop();
        }
        let (Some(last), Ok(count)) = (open.last_mut(), u64::try_from(count)) else { return false };
        *last -= 1;
        if count > children.len() as u64 || open.len() > MOST_SCHEMA_LEVELS {
            return false;
        }
        open.push(count);
    }
    open.iter().all(|&count| count == 0)
}

impl<'a> Thrift<'a> {
    fn byte(&mut self) -> Result<u8, ThriftError> {
        let (&first, rest) = self.rest.split_first().ok_or(ThriftError::Short)?;
        self.rest = rest;
        Ok(first)
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], ThriftError> {
        let count = usize::try_from(count).map_err(|_| ThriftError::Form)?;
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(ThriftError::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, ThriftError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ThriftError::Form)
    }

    /// A zigzag number of 16, 32 or 64 bits.
    fn integer(&mut self) -> Result<i64, ThriftError> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    /// The structure in this field of a page's header.
    fn sub_header(&mut self, field: i64) -> Result<SubHeader, ThriftError> {
        let mut part = SubHeader::default();
        self.fields(|thrift, inner, kind| {
            match (field, inner) {
                (_, 1) => part.values = thrift.integer()?,
                (DATA | DICTIONARY, 2) | (DATA_2, 4) => part.encoding = thrift.integer()?,
                (DATA, 3) => part.levels = thrift.integer()?,
                _ => thrift.skip(kind)?,
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// The type of a list's elements, and how many of them there are: no more than the bytes that follow.
    fn list(&mut self) -> Result<(ThriftKind, u64), ThriftError> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Ok((head & 15, count))
    }

    /// Calls `each` for every structure in a list, which it must read. Each has at least so many bytes.
    fn structs(
        &mut self,
        kind: ThriftKind,
        least: u64,
        mut each: impl FnMut(&mut Self) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        if kind != LIST {
            return Err(ThriftError::Form);
        }
        let (element, count) = self.list()?;
        if element != STRUCT || count.saturating_mul(least) > self.rest.len() as u64 {
            return Err(ThriftError::Form);
        }
        (0..count).try_for_each(|_| each(self))
    }

    /// Calls `each` with every field of a structure. It must read the field.
    fn fields(
        &mut self,
        mut each: impl FnMut(&mut Self, i64, ThriftKind) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(ThriftError::Form);
        }
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                break;
            }
            let delta = i64::from(head >> 4);
            field = if delta == 0 { self.integer()? } else { field.checked_add(delta).ok_or(ThriftError::Form)? };
            each(self, field, head & 15)?;
        }
        self.nested -= 1;
        Ok(())
    }

    fn skip(&mut self, kind: ThriftKind) -> Result<(), ThriftError> {
        match kind {
            // The value of a boolean field is its type.
            TRUE | FALSE => Ok(()),
            _ => self.skip_element(kind),
        }
    }

    fn skip_element(&mut self, kind: ThriftKind) -> Result<(), ThriftError> {
        match kind {
            TRUE | FALSE | BYTE => self.take(1).map(drop),
            4..=I64 => self.varint().map(drop),
            DOUBLE => self.take(8).map(drop),
            UUID => self.take(16).map(drop),
            BINARY => {
                let count = self.varint()?;
                self.take(count).map(drop)
            }
            LIST | SET => {
                let (element, count) = self.list()?;
                self.nest(|thrift| (0..count).try_for_each(|_| thrift.skip_element(element)))
            }
            MAP => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                self.nest(|thrift| {
                    (0..count).try_for_each(|_| {
                        thrift.skip_element(kinds >> 4)?;
                        thrift.skip_element(kinds & 15)
                    })
                })
            }
            STRUCT => self.fields(|thrift, _, kind| thrift.skip(kind)),
            _ => Err(ThriftError::Form),
        }
    }

    fn nest(&mut self, inside: impl FnOnce(&mut Self) -> Result<(), ThriftError>) -> Result<(), ThriftError> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(ThriftError::Form);
        }
        inside(self)?;
        self.nested -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page of version 1: 100 bytes, 60 of them when compressed, 7 values, plain, with statistics.
    const PAGE: [u8; 24] = [
        0x15, 0, 0x15, 0xc8, 1, 0x15, 120, 0x2c, 0x15, 14, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18, 1, b'x', 0, 0, 0, 99,
    ];

    #[test]
    fn a_page_header_is_read_to_its_end() {
        let (uncompressed, compressed, values) = (100, 60, 7);
        let header = PageHeader { len: 23, levels: 3, uncompressed, compressed, values, ..PageHeader::default() };
        assert_eq!(page_header(&PAGE), Ok(header));
        for cut in 0..23 {
            assert_eq!(page_header(&PAGE[..cut]), Err(ThriftError::Short), "{cut}");
        }
    }

    #[test]
    fn a_page_header_has_the_part_of_its_kind_of_page_and_no_other() {
        let header = |kind: u8, parts: &[u8]| {
            let bytes = [&[0x15, 2 * kind, 0x15, 20, 0x15, 20][..], parts, &[0]].concat();
            page_header(&bytes).map(|header| (header.values, header.encoding))
        };
        // 7 values that are lengths and bytes, of which the part of another kind of page says that they are 1 plain one.
        let data = [0x2c, 0x15, 14, 0x15, 12, 0];
        let dictionary = [0x4c, 0x15, 14, 0x15, 12, 0];
        let data_2 = [0x5c, 0x15, 14, 0x35, 12, 0];
        let plain_2 = [0x1c, 0x15, 2, 0x35, 0, 0];
        assert_eq!([header(0, &data), header(2, &dictionary), header(3, &data_2)], [Ok((7, 6)); 3]);
        assert_eq!(header(1, &[0x3c, 0]), Ok((0, 0)));
        for kind in 0..4 {
            assert_eq!(header(kind, &[&dictionary[..], &plain_2].concat()), Err(ThriftError::Form), "{kind}");
            assert_eq!(header(kind, &[&data[..], &[0x2c, 0x15, 2, 0x15, 0, 0]].concat()), Err(ThriftError::Form));
            assert_eq!(header(kind, &[&data[..], &[0x0c, 10, 0x15, 2, 0x15, 0, 0]].concat()), Err(ThriftError::Form));
            assert!(kind == 1 || header(kind, &[]) == Err(ThriftError::Form), "{kind}");
            assert!(kind == 2 || header(kind, &dictionary) == Err(ThriftError::Form), "{kind}");
        }
        assert_eq!(header(0, &[0x25, 14]), Err(ThriftError::Form), "a number in its place");
    }

    #[test]
    fn structures_within_each_other_have_an_end() {
        assert_eq!(page_header(&[0x9c; 1000]), Err(ThriftError::Form), "structures");
        let lists = [&[0x99][..], &[0x19; 1000]].concat();
        assert_eq!(page_header(&lists), Err(ThriftError::Form), "lists");
        // A list of 2^60 numbers, and a text of 2^60 bytes.
        assert_eq!(page_header(&[0x99, 0xf5, 128, 128, 128, 128, 128, 128, 128, 128, 16]), Err(ThriftError::Short));
        assert_eq!(page_header(&[0x98, 128, 128, 128, 128, 128, 128, 128, 128, 16]), Err(ThriftError::Short));
    }

    #[test]
    fn a_footer_s_lists_have_no_more_elements_than_its_bytes_can_hold() {
        // A root with one column.
        let schema = [0x29, 0x2c, 0x48, 1, b'r', 0x15, 2, 0, 0x15, 12, 0x25, 0, 0x18, 1, b'a', 0];
        let footer = |rest: &[u8]| check_footer(&[&schema[..], rest, &[0]].concat());
        let many = [&[0xfc, 20][..], &[0; 20]].concat();
        assert_eq!(footer(&[]), Ok(()));
        assert_eq!(footer(&[0x29, 0x0c]), Ok(()), "no row groups");
        assert_eq!(footer(&[&[0x29][..], &many].concat()), Err(ThriftError::Form), "row groups");
        assert_eq!(footer(&[&[0x29, 0x1c, 0x19][..], &many, &[0]].concat()), Err(ThriftError::Form), "columns");
        assert_eq!(footer(&[&[0x39][..], &many].concat()), Err(ThriftError::Form), "notes");
        assert_eq!(footer(&[&[0x59][..], &many].concat()), Err(ThriftError::Form), "orders");
        assert_eq!(footer(&[&[0x2a][..], &many].concat()), Err(ThriftError::Form), "a set");
        let elements = [&[0x29, 0xfc, 40, 0x55, 78, 0][..], &[0; 39], &[0]].concat();
        assert_eq!(check_footer(&elements), Err(ThriftError::Form), "elements of the schema");
    }

    #[test]
    fn a_schema_is_one_tree_of_few_levels() {
        for tree in [&[0][..], &[2, 0, 0], &[2, 1, 0, 0], &[3, 0, 1, 0, 0]] {
            assert!(is_small_tree(tree), "{tree:?}");
        }
        let deep: Vec<i64> = (0..100).map(|level| i64::from(level < 99)).collect();
        for wrong in [&[][..], &[1], &[0, 0], &[2, 0], &[-1], &[i64::MAX, 0], &deep] {
            assert!(!is_small_tree(wrong), "{wrong:?}");
        }
    }
}
