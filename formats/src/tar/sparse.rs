//! Sparse members: only some pieces of the file are stored, one behind the other, and a map says where they belong. The rest is
//! zeros. GNU tar has written the map in four ways (its old format, and the PAX versions 0.0, 0.1 and 1.0).

use std::fmt;

use super::header::{BLOCK, number};

/// Most pieces of a member.
const MOST_PIECES: usize = 1 << 16;
/// Bytes of a piece's numbers in the old format: two fields.
const ENTRY: usize = 24;
const FIELD: usize = 12;
/// Where the pieces are in a header of the old format, and how many there are.
const IN_HEADER: (usize, usize) = (386, 4);
/// Of a header of the old format: bytes of the file as it was.
const REAL_SIZE: usize = 483;
/// The same of a block behind the header, which has more of the map, and where it says whether another one follows.
const IN_BLOCK: (usize, usize) = (0, 21);
const CONTINUES: usize = 504;

/// Where the stored pieces of a file belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SparseMap {
    /// The first byte of each piece in the file, and how many bytes it has. Those without bytes are left out.
    pieces: Vec<(u64, u64)>,
    /// Bytes of the file.
    len: u64,
}

/// A map while it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SparsePieces {
    pieces: Vec<(u64, u64)>,
    /// Bytes of the file.
    len: Option<u64>,
    wrong: Option<&'static str>,
}

const NO_NUMBER: &str = "the map of its pieces has something that is not a number";
const TOO_MANY: &str = "the map of its pieces has more than 65,536 of them";

impl SparsePieces {
    /// The beginning of a map of the old format. Whether a block with more of it follows, the header says.
    pub(super) fn of_header(block: &[u8; BLOCK]) -> Self {
        let mut map = Self::default();
        match number(&block[REAL_SIZE..REAL_SIZE + FIELD]) {
            Some(len) => map.len = Some(len),
            None => map.wrong = Some(NO_NUMBER),
        }
        map.add_entries(block, IN_HEADER);
        map
    }

    /// Adds what such a block has. Whether another one follows is the result.
    pub(super) fn add_block(&mut self, block: &[u8; BLOCK]) -> bool {
        self.add_entries(block, IN_BLOCK);
        block[CONTINUES] != 0
    }

    fn add_entries(&mut self, block: &[u8; BLOCK], (start, count): (usize, usize)) {
        let entries = block[start..].chunks_exact(ENTRY).take(count);
        for entry in entries.take_while(|entry| entry[FIELD] != 0) {
            match (number(&entry[..FIELD]), number(&entry[FIELD..])) {
                (Some(offset), Some(len)) => self.push(offset, len),
                _ => self.wrong = Some(NO_NUMBER),
            }
        }
    }

    /// Adds a piece.
    pub(super) fn push(&mut self, offset: u64, len: u64) {
        if self.pieces.len() == MOST_PIECES {
            self.wrong = Some(TOO_MANY);
        } else if len > 0 {
            self.pieces.push((offset, len));
        }
    }

    /// The map cannot be read.
    pub(super) fn spoil(&mut self) {
        self.wrong = Some(NO_NUMBER);
    }

    /// The pieces that a text lists: `OFFSET,LENGTH,OFFSET,LENGTH`.
    pub(super) fn set_list(&mut self, list: &[u8]) {
        self.pieces.clear();
        let mut numbers = list.split(|&byte| byte == b',').map(decimal);
        while let Some(offset) = numbers.next() {
            match (offset, numbers.next().flatten()) {
                (Some(offset), Some(len)) => self.push(offset, len),
                // No piece at all.
                _ if list.is_empty() => {}
                _ => self.wrong = Some(NO_NUMBER),
            }
        }
    }

    /// Bytes of the file, as digits.
    pub(super) fn set_len(&mut self, digits: &[u8]) {
        match decimal(digits) {
            Some(len) => self.len = Some(len),
            None => self.wrong = Some(NO_NUMBER),
        }
    }

    /// The lines of PAX version 1.0, which are before the stored pieces: how many pieces there are, and their numbers. How
    /// many bytes the lines have is the result, or nothing if they do not end here.
    pub(super) fn set_lines(&mut self, bytes: &[u8]) -> Option<usize> {
        self.pieces.clear();
        let mut at = 0;
        let mut next = || {
            let line = bytes[at..].split(|&byte| byte == b'\n').next().filter(|line| at + line.len() < bytes.len())?;
            at += line.len() + 1;
            Some(decimal(line))
        };
        let Some(count) = next()? else {
            self.wrong = Some(NO_NUMBER);
            return Some(0);
        };
        for _ in 0..count {
            let (offset, len) = (next()?, next()?);
            match (offset, len) {
                (Some(offset), Some(len)) => self.push(offset, len),
                _ => self.wrong = Some(NO_NUMBER),
            }
            if self.wrong.is_some() {
                return Some(0);
            }
        }
        Some(at)
    }

    /// Checks the map against the bytes that are stored.
    ///
    /// # Errors
    /// The text says why the file cannot be put together.
    pub(super) fn finish(self, stored: u64) -> Result<SparseMap, &'static str> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let len = self.len.ok_or("its header does not say how large the file is")?;
        let (mut end, mut sum) = (0, 0_u64);
        for (place, &(offset, bytes)) in self.pieces.iter().enumerate() {
            let behind = offset.checked_add(bytes).filter(|&behind| offset >= end && behind <= len);
            end = behind.ok_or("the pieces of its map overlap, or are not within the file")?;
            sum += bytes;
            // Some programs begin each piece with a new block, and others do not. Here both are the same.
            if place + 1 < self.pieces.len() && !bytes.is_multiple_of(BLOCK as u64) {
                return Err("a piece of its map does not end with a block");
            }
        }
        if sum != stored {
            return Err("the pieces of its map have other bytes than are stored");
        }
        Ok(SparseMap { pieces: self.pieces, len })
    }
}

impl SparseMap {
    /// Bytes of the file.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Makes the file of its stored pieces, in place. The caller has compared [`len`](Self::len) with its limit.
    ///
    /// # Errors
    /// There is no room for it.
    pub(super) fn expand(&self, stored: &mut Vec<u8>) -> Result<(), String> {
        let too_large = |error: &dyn fmt::Display| format!("it has {} bytes with its holes: {error}", self.len);
        let len = usize::try_from(self.len).map_err(|error| too_large(&error))?;
        let mut end = stored.len();
        stored.try_reserve_exact(len.saturating_sub(end)).map_err(|error| too_large(&error))?;
        stored.resize(len, 0);
        // From the last piece on: each moves towards the end, and never over one that has not moved yet.
        let mut hole_end = len;
        for &(offset, bytes) in self.pieces.iter().rev() {
            let place = |number: u64| usize::try_from(number).expect("it is less than the length");
            let (to, from) = (place(offset), end - place(bytes));
            stored.copy_within(from..end, to);
            stored[to + (end - from)..hole_end].fill(0);
            (end, hole_end) = (from, to);
        }
        stored[..hole_end].fill(0);
        Ok(())
    }

    /// The map of a text that [`fmt::Display`] wrote.
    pub(super) fn parse(text: &str, stored: u64) -> Option<Self> {
        let (len, list) = text.split_once(':')?;
        let mut pieces = SparsePieces::default();
        pieces.set_len(len.as_bytes());
        pieces.set_list(list.as_bytes());
        pieces.finish(stored).ok()
    }
}

/// Bytes of the file, and its pieces: `LENGTH:OFFSET,LENGTH,OFFSET,LENGTH`.
impl fmt::Display for SparseMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.len)?;
        for (place, (offset, len)) in self.pieces.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{offset},{len}")?;
        }
        Ok(())
    }
}

pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pieces: &[(u64, u64)], len: u64, stored: u64) -> Result<SparseMap, &'static str> {
        let mut map = SparsePieces { len: Some(len), ..SparsePieces::default() };
        for &(offset, bytes) in pieces {
            map.push(offset, bytes);
        }
        map.finish(stored)
    }

    #[test]
    fn pieces_go_to_their_places_with_zeros_between_them() {
        let block = |byte: u8| [byte; 512];
        for (pieces, len, stored) in [
            (&[(0, 512), (1024, 512), (1536, 3)][..], 2000, [&block(1)[..], &block(2), &[3; 3]].concat()),
            (&[(700, 512), (1300, 512)], 1812, [block(1), block(2)].concat()),
            (&[(0, 512), (512, 0), (600, 1)], 601, [&block(1)[..], &[2]].concat()),
            (&[(100, 0)], 100, Vec::new()),
            (&[], 5, Vec::new()),
        ] {
            let mut expected = vec![0; usize::try_from(len).unwrap()];
            let mut rest = &stored[..];
            for &(offset, bytes) in pieces {
                let (piece, behind) = rest.split_at(usize::try_from(bytes).unwrap());
                let offset = usize::try_from(offset).unwrap();
                if !piece.is_empty() {
                    expected[offset..offset + piece.len()].copy_from_slice(piece);
                }
                rest = behind;
            }
            let map = map(pieces, len, stored.len() as u64).unwrap();
            let mut bytes = stored.clone();
            map.expand(&mut bytes).unwrap();
            assert!(bytes == expected, "{pieces:?}");
            assert_eq!(SparseMap::parse(&map.to_string(), stored.len() as u64), Some(map));
        }
    }

    #[test]
    fn a_map_that_cannot_be_is_refused() {
        for (pieces, len, stored, word) in [
            (&[(0, 512), (100, 5)][..], 1000, 517, "overlap"),
            (&[(990, 11)], 1000, 11, "within the file"),
            (&[(u64::MAX, 2)], u64::MAX, 2, "within the file"),
            (&[(0, 5), (512, 5)], 1000, 10, "end with a block"),
            (&[(0, 5)], 1000, 6, "other bytes"),
            (&[], 1000, 6, "other bytes"),
        ] {
            assert!(map(pieces, len, stored).unwrap_err().contains(word), "{pieces:?}");
        }
        let many: Vec<(u64, u64)> = (0..=MOST_PIECES as u64).map(|piece| (piece * 1024, 512)).collect();
        assert_eq!(map(&many, u64::MAX, 512 * many.len() as u64), Err(TOO_MANY));
        assert!(SparsePieces::default().finish(0).unwrap_err().contains("how large"));
        for text in ["", "7", "x:", "7:0", "7:0,x", "7:0,1,", "-1:", "7:0,8"] {
            assert_eq!(SparseMap::parse(text, 1), None, "{text}");
        }
    }

    #[test]
    fn lines_end_where_the_last_number_does() {
        let lines = |bytes: &[u8]| {
            let mut pieces = SparsePieces::default();
            let end = pieces.set_lines(bytes);
            (end, pieces.pieces, pieces.wrong.is_some())
        };
        assert_eq!(lines(b"2\n0\n512\n1024\n3\n\0\0rest"), (Some(15), vec![(0, 512), (1024, 3)], false));
        assert_eq!(lines(b"0\n"), (Some(2), vec![], false));
        for cut in [&b""[..], b"2", b"2\n0\n512\n1024\n3", b"999\n1\n"] {
            assert_eq!(lines(cut).0, None, "{}", cut.escape_ascii());
        }
        for wrong in [&b"x\n"[..], b"\n", b"1\n0\n-5\n", b"18446744073709551616\n"] {
            assert!(lines(wrong).2, "{}", wrong.escape_ascii());
        }
    }
}
