//! The boxes of a file (ISO/IEC 14496-12, section 4.2), and the numbers in them.

use crate::fault::AvifFault;

/// Most boxes that are looked at in one box or file.
const MOST: usize = 4096;

/// A box: its type, and what is in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boxed<'a> {
    pub(crate) kind: [u8; 4],
    pub(crate) body: &'a [u8],
}

/// Reads numbers from the front of some bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], AvifFault> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(AvifFault::Corrupt("a box is too short"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A number of this many bytes, at most 8.
    pub(crate) fn number(&mut self, bytes: usize) -> Result<u64, AvifFault> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, AvifFault> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(crate) fn short(&mut self) -> Result<u16, AvifFault> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(crate) fn long(&mut self) -> Result<u32, AvifFault> {
        self.take(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(crate) fn name(&mut self) -> Result<[u8; 4], AvifFault> {
        self.long().map(u32::to_be_bytes)
    }

    /// The version of a full box, and its flags.
    pub(crate) fn version(&mut self) -> Result<(u8, u32), AvifFault> {
        let both = self.long()?;
        Ok((both.to_be_bytes()[0], both & 0xff_ffff))
    }
}

/// The boxes in these bytes. `of_file` says that they are a whole file: a box that its end cuts is truncated, and is given as far as it
/// is there.
pub(crate) fn boxes(bytes: &[u8], of_file: bool) -> Result<Vec<Boxed<'_>>, AvifFault> {
    let (mut reader, mut found) = (Reader::new(bytes), Vec::new());
    while !reader.rest().is_empty() {
        if found.len() == MOST {
            return Err(AvifFault::Corrupt("it has too many boxes"));
        }
        match one(&mut reader, of_file) {
            Ok(boxed) => found.push(boxed),
            // What a cut has left of a box's head.
            Err(_) if of_file && !found.is_empty() => break,
            Err(fault) => return Err(fault),
        }
    }
    Ok(found)
}

fn one<'a>(reader: &mut Reader<'a>, of_file: bool) -> Result<Boxed<'a>, AvifFault> {
    let (short, kind) = (reader.long()?, reader.name()?);
    let (len, head) = match short {
        0 => (reader.rest().len() as u64, 0),
        1 => (reader.number(8)?, 16),
        len => (u64::from(len), 8),
    };
    let len = len.checked_sub(head).ok_or(AvifFault::Corrupt("a box is shorter than its head"))?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let len = if of_file { len.min(reader.rest().len()) } else { len };
    Ok(Boxed { kind, body: reader.take(len)? })
}

/// The only box of this kind, if there is one.
pub(crate) fn only<'a>(boxes: &[Boxed<'a>], kind: [u8; 4]) -> Result<Option<&'a [u8]>, AvifFault> {
    let mut of_kind = boxes.iter().filter(|boxed| boxed.kind == kind).map(|boxed| boxed.body);
    let first = of_kind.next();
    if of_kind.next().is_some() { Err(AvifFault::Corrupt("it has two boxes where one may be")) } else { Ok(first) }
}
