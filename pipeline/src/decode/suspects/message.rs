//! What a daemon and a child that makes suspects say to each other: messages in frames.

use std::io::{self, Read, Write};

use forebay_children::{FrameHead, Refill};
use prost::Message;

/// Most bytes of a message. A longer one is none.
pub(super) const MOST: u64 = 1 << 34;
/// The letter of all frames.
const LETTER: u8 = b'P';

/// A message in its frame.
pub(super) fn framed(message: &impl Message) -> Vec<u8> {
    let len = message.encoded_len();
    let mut frame = Vec::with_capacity(9 + len);
    frame.extend(FrameHead { letter: LETTER, len: len as u64 }.bytes());
    message.encode(&mut frame).expect("a vector grows");
    frame
}

/// The message of a frame.
pub(super) fn of<M: Message + Default>(head: FrameHead, body: &[u8]) -> Option<M> {
    (head.letter == LETTER).then(|| M::decode(body).ok())?
}

/// Reads a message. Nothing at the end of what there is.
///
/// # Errors
/// What is read ends inside of a message, or is none.
pub(super) fn read<M: Message + Default>(from: &mut impl Read) -> io::Result<Option<M>> {
    let Some(head) = FrameHead::read(from)? else { return Ok(None) };
    let mut body = Refill::new(Vec::new());
    head.body(MOST, from, &mut body)?;
    of(head, &body.finish()).map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
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
    fn a_message_comes_back_and_what_is_cut_off_or_no_message_is_none() {
        let message = ChildReply { picture: vec![7; 3_000_000], fault: "no".into(), ..ChildReply::default() };
        let frame = framed(&message);
        assert_eq!(read::<ChildReply>(&mut frame.as_slice()).unwrap(), Some(message));
        assert_eq!(read::<ChildReply>(&mut [].as_slice()).unwrap(), None);
        for cut in [1, 8, 9, 2_000_000] {
            assert!(read::<ChildReply>(&mut &frame[..cut]).is_err(), "{cut}");
        }
        for (letter, body) in [(b'Q', &[][..]), (LETTER, &[0xff; 3])] {
            let head = FrameHead { letter, len: body.len() as u64 };
            assert_eq!(of::<ChildReply>(head, body), None);
            let none = read::<ChildReply>(&mut [&head.bytes()[..], body].concat().as_slice());
            assert_eq!(none.unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
