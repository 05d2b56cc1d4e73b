//! A message on the socket between a daemon and a child: 8 bytes of length, little-endian, and the message.

use std::io::{self, Read, Write};

use prost::Message;

/// Most bytes of a message. A longer one is none.
const MOST: u64 = 1 << 34;
/// Bytes that are made room for before any of them has arrived.
const STEP: usize = 1 << 20;

/// A message with its length.
pub(super) fn framed(message: &impl Message) -> Vec<u8> {
    let len = message.encoded_len();
    let mut frame = Vec::with_capacity(8 + len);
    frame.extend((len as u64).to_le_bytes());
    message.encode(&mut frame).expect("a vector grows");
    frame
}

/// Reads a message. Nothing at the end of what there is.
///
/// # Errors
/// What is read ends inside of a message, or is none.
pub(super) fn read<M: Message + Default>(from: &mut impl Read) -> io::Result<Option<M>> {
    let mut head = [0; 8];
    match from.read(&mut head[..1])? {
        0 => return Ok(None),
        _ => from.read_exact(&mut head[1..])?,
    }
    let len = u64::from_le_bytes(head);
    let none = || io::Error::from(io::ErrorKind::InvalidData);
    let len = usize::try_from(len).ok().filter(|_| len <= MOST).ok_or_else(none)?;
    let mut body = Vec::new();
    while body.len() < len {
        let start = body.len();
        body.resize(len.min(start + STEP), 0);
        from.read_exact(&mut body[start..])?;
    }
    M::decode(body.as_slice()).map(Some).map_err(|_| none())
}

/// Writes a message.
///
/// # Errors
/// The other end is gone.
pub(super) fn write(into: &mut impl Write, message: &impl Message) -> io::Result<()> {
    into.write_all(&framed(message))
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::ChildReply;

    use super::*;

    #[test]
    fn a_message_comes_back_and_what_is_cut_off_or_too_long_is_none() {
        let message = ChildReply { picture: vec![7; 3_000_000], fault: "no".into(), ..ChildReply::default() };
        let frame = framed(&message);
        assert_eq!(read::<ChildReply>(&mut frame.as_slice()).unwrap(), Some(message));
        assert_eq!(read::<ChildReply>(&mut [].as_slice()).unwrap(), None);
        for cut in [1, 7, 8, 2_000_000] {
            assert!(read::<ChildReply>(&mut &frame[..cut]).is_err(), "{cut}");
        }
        assert!(read::<ChildReply>(&mut u64::MAX.to_le_bytes().as_slice()).is_err());
    }
}
