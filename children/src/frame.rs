//! A frame: a letter that says what it is, a length of 8 bytes, little-endian, and so many bytes. A length is not believed before
//! its bytes are here: memory grows only with what arrives.

use std::io::{self, Read};

use crate::refill::Refill;

/// Bytes that are made room for before any of them has arrived.
const STEP: u64 = 1 << 20;

/// How a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// What it is. Each program has letters of its own.
    pub letter: u8,
    /// Bytes that follow or, of an answer in lent memory, are there, as the child says.
    pub len: u64,
}

impl FrameHead {
    /// As it travels.
    pub fn bytes(self) -> [u8; 9] {
        let mut bytes = [self.letter; 9];
        bytes[1..].copy_from_slice(&self.len.to_le_bytes());
        bytes
    }

    /// The next frame's. Nothing at the end of what there is.
    ///
    /// # Errors
    /// What is read ends inside of it, or cannot be read.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; 9];
        loop {
            match from.read(&mut head[..1]) {
                Ok(0) => return Ok(None),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        from.read_exact(&mut head[1..])?;
        let [letter, len @ ..] = head;
        Ok(Some(Self { letter, len: u64::from_le_bytes(len) }))
    }

    /// Adds the bytes that follow to `into`.
    ///
    /// # Errors
    /// They are more than `most`, end early, or cannot be read, or there is no memory for them.
    pub fn body(self, most: u64, from: &mut impl Read, into: &mut Refill) -> io::Result<()> {
        if self.len > most {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut left = self.len;
        while left > 0 {
            let step = left.min(STEP);
            from.read_exact(into.add(usize::try_from(step).unwrap_or(0))?)?;
            left -= step;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_and_what_is_cut_off_or_too_long_is_none() {
        let head = FrameHead { letter: b'R', len: 3_000_000 };
        let frame = [&head.bytes()[..], &vec![7; 3_000_000]].concat();
        let read = |mut bytes: &[u8]| {
            let head = FrameHead::read(&mut bytes)?;
            let mut body = Refill::new(Vec::new());
            head.map(|head| head.body(4_000_000, &mut bytes, &mut body)).transpose()?;
            io::Result::Ok((head, body.finish().len()))
        };
        assert_eq!(read(&frame).unwrap(), (Some(head), 3_000_000));
        assert_eq!(read(&[]).unwrap(), (None, 0));
        for cut in [1, 8, 9, 2_000_000] {
            assert_eq!(read(&frame[..cut]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{cut}");
        }
        let long = FrameHead { letter: b'R', len: u64::MAX }.bytes();
        assert_eq!(read(&long).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
