//! A buffer that is filled again. Its old bytes are overwritten, but not cleared first: for large records, clearing them
//! would take as long as filling the buffer.

use std::collections::TryReserveError;

/// A buffer with the bytes that were added since it was taken. Its old bytes follow them.
#[derive(Debug)]
pub struct Refill {
    bytes: Vec<u8>,
    filled: usize,
}

impl Refill {
    /// Starts without added bytes. Only the memory of `used` is of use, not its content.
    pub fn new(used: Vec<u8>) -> Self {
        Self { bytes: used, filled: 0 }
    }

    /// Bytes that were added.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Adds `len` bytes with any values. The caller overwrites them.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn add(&mut self, len: usize) -> Result<&mut [u8], TryReserveError> {
        let (start, end) = (self.filled, self.filled.saturating_add(len));
        if self.bytes.len() < end {
            if self.bytes.capacity() < end {
                self.bytes.truncate(start);
                self.bytes.try_reserve(len)?;
            }
            self.bytes.resize(end, 0);
        }
        self.filled = end;
        Ok(&mut self.bytes[start..end])
    }

    /// What was added, and nothing else.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.filled);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_follows_each_other_and_nothing_of_before_is_left() {
        for used in [Vec::new(), b"older".to_vec(), vec![b'?'; 100], Vec::with_capacity(7)] {
            let mut refill = Refill::new(used);
            for part in ["ab", "", "cdef", "ghi"] {
                refill.add(part.len()).unwrap().copy_from_slice(part.as_bytes());
            }
            assert_eq!(refill.filled(), 9);
            assert_eq!(refill.finish(), b"abcdefghi");
        }
    }

    #[test]
    fn memory_that_was_used_is_used_again() {
        let used = vec![b'?'; 100];
        let memory = used.as_ptr();
        let mut refill = Refill::new(used);
        refill.add(100).unwrap().fill(b'x');
        let bytes = refill.finish();
        assert_eq!((bytes.as_slice(), bytes.as_ptr()), (&[b'x'; 100][..], memory));
    }

    #[test]
    fn more_than_there_can_be_is_an_error_and_adds_nothing() {
        let mut refill = Refill::new(b"older".to_vec());
        refill.add(2).unwrap().copy_from_slice(b"ab");
        refill.add(usize::MAX).unwrap_err();
        assert_eq!(refill.finish(), b"ab");
    }
}
