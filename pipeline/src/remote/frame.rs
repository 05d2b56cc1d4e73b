//! Frames: how messages between a daemon and a decoder are told apart. Each has the length of its head in 4 bytes and that of its
//! body in 8, both little-endian, then the head, which is a message, and the body, which is the pixels of an answer.
//!
//! The other end may be hostile: no length is believed beyond what is allowed, and nothing is allocated for one that is not.

use std::io;

use prost::Message;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The protocol's name in TLS (ALPN), so that neither end takes a coordinator for a decoder.
pub const DECODE_PROTOCOL: &[u8] = b"forebay-decode/1";

/// Longest head, in bytes.
const LONGEST_HEAD: u32 = 4 << 20;

/// Writes a frame.
///
/// # Errors
/// The other end is gone.
pub async fn write_frame(into: &mut (impl AsyncWrite + Unpin), head: &impl Message, body: &[u8]) -> io::Result<()> {
    let mut start = vec![0; 12];
    head.encode(&mut start).expect("a vector grows");
    let len = u32::try_from(start.len() - 12).ok().filter(|len| *len <= LONGEST_HEAD);
    let len = len.ok_or_else(|| io::Error::other("the message is too long"))?;
    start[..4].copy_from_slice(&len.to_le_bytes());
    start[4..12].copy_from_slice(&(body.len() as u64).to_le_bytes());
    into.write_all(&start).await?;
    into.write_all(body).await?;
    // TLS keeps what the connection did not take at once, until more is written.
    into.flush().await
}

/// Reads a frame. If it has a body, `room` is told its length, and gives the memory to read it into, which has this length. Nothing
/// at the end of the connection.
///
/// # Errors
/// The connection ends inside of a frame, or what comes is none, or `room` refuses it.
pub async fn read_frame<M: Message + Default>(
    from: &mut (impl AsyncRead + Unpin),
    room: impl FnOnce(u64) -> io::Result<Vec<u8>>,
) -> io::Result<Option<(M, Vec<u8>)>> {
    let mut start = [0; 12];
    let first = from.read(&mut start).await?;
    if first == 0 {
        return Ok(None);
    }
    from.read_exact(&mut start[first..]).await?;
    let [a, b, c, d, body @ ..] = start;
    let (head, body) = (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(body));
    if head > LONGEST_HEAD {
        return Err(invalid("a message is too long"));
    }
    let mut bytes = Vec::new();
    // A length is only a claim: memory is taken for what has come.
    let read = (&mut *from).take(head.into()).read_to_end(&mut bytes).await?;
    if read as u64 != u64::from(head) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let message = M::decode(bytes.as_slice()).map_err(|_| invalid("a message cannot be read"))?;
    let mut content = Vec::new();
    if body > 0 {
        content = room(body)?;
        if content.len() as u64 != body {
            return Err(invalid("a body has another length than it may have"));
        }
        from.read_exact(&mut content).await?;
    }
    Ok(Some((message, content)))
}

/// Nothing may have a body.
///
/// # Errors
/// Always.
pub fn no_body(_len: u64) -> io::Result<Vec<u8>> {
    Err(invalid("a message has a body that it may not have"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{
        DecoderAnswer, DecoderCancel, DecoderReply, DecoderRequest, decoder_reply, decoder_request,
    };
    use proptest::prelude::*;

    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    fn answer(id: u64) -> DecoderReply {
        DecoderReply { message: Some(decoder_reply::Message::Answer(DecoderAnswer { id, ..DecoderAnswer::default() })) }
    }

    fn room(len: u64) -> io::Result<Vec<u8>> {
        if len == 600 { Ok(vec![0; 600]) } else { no_body(len) }
    }

    #[test]
    fn rule_60_frames_come_back_and_one_that_is_cut_off_is_an_error() {
        let mut bytes = Vec::new();
        run(async {
            write_frame(&mut bytes, &answer(7), &[9; 600]).await.unwrap();
            write_frame(&mut bytes, &answer(8), &[]).await.unwrap();
            let mut from = bytes.as_slice();
            assert_eq!(read_frame(&mut from, room).await.unwrap(), Some((answer(7), vec![9; 600])));
            assert_eq!(read_frame(&mut from, room).await.unwrap(), Some((answer(8), Vec::new())));
            assert_eq!(read_frame::<DecoderReply>(&mut from, room).await.unwrap(), None);
            for cut in 1..bytes.len() - 15 {
                let read = read_frame::<DecoderReply>(&mut &bytes[..cut], room).await;
                assert!(read.is_err() || cut > 611, "cut after {cut}");
            }
        });
    }

    #[test]
    fn rule_60_no_memory_is_taken_for_a_length_that_may_not_be() {
        let frame = |head: u32, body: u64| [&head.to_le_bytes()[..], &body.to_le_bytes()].concat();
        run(async {
            for bytes in [frame(u32::MAX, 0), frame(LONGEST_HEAD, 0), frame(0, u64::MAX), frame(0, 601), frame(0, 1)] {
                read_frame::<DecoderReply>(&mut bytes.as_slice(), room).await.unwrap_err();
            }
        });
    }

    proptest! {
        #[test]
        fn rule_60_hostile_bytes_are_errors_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), len in 0..40_u32) {
            let framed = [&len.to_le_bytes()[..], &[0; 8], &bytes].concat();
            for bytes in [bytes.as_slice(), framed.as_slice()] {
                run(async {
                    let _read = read_frame::<DecoderReply>(&mut &*bytes, room).await;
                    let _read = read_frame::<DecoderRequest>(&mut &*bytes, no_body).await;
                });
            }
        }

        #[test]
        fn rule_60_requests_come_back(ids in prop::collection::vec(any::<u64>(), 0..50)) {
            let cancel = DecoderRequest { message: Some(decoder_request::Message::Cancel(DecoderCancel { ids })) };
            let read = run(async {
                let mut bytes = Vec::new();
                write_frame(&mut bytes, &cancel, &[]).await.unwrap();
                read_frame::<DecoderRequest>(&mut bytes.as_slice(), no_body).await
            });
            prop_assert_eq!(read.unwrap(), Some((cancel, Vec::new())));
        }
    }
}
