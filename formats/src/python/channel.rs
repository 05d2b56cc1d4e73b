//! The socket to a child: requests as lines, answers as frames. Nothing that a child says is believed before it is here:
//! memory grows only with the bytes that arrive, and every wait has an end.

use std::io::{self, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::refill::Refill;

/// Most bytes of a frame that is not a record: an error's text, a label.
const SHORT: u64 = 64 << 10;
/// How long a request may take to be sent. It always fits in the socket, unless the child has stopped reading.
const SENDING: Duration = Duration::from_secs(60);
/// Bytes that are made room for before any of them has arrived.
const STEP: u64 = 1 << 20;

/// The daemon's end of the socket.
#[derive(Debug)]
pub(super) struct Channel {
    stream: UnixStream,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// JSON with the shards, the classes and the version.
    Shards,
    /// The labels of all records.
    Integers,
    /// JSON with the number, the name and the type of a further column.
    Type,
    /// Values of a further column.
    Values,
    /// A task was read for its labels.
    Progress,
    /// JSON with the label of the record that follows.
    Label,
    /// JSON with the names of what else the record that follows has.
    Others,
    /// A record.
    Record,
    /// A record that is in the child's memory. The frame says how many bytes it has, and none follow.
    Stored,
    /// The size of a record that is too large.
    Big,
    /// All is said.
    Done,
    /// The last line of an exception.
    Error,
    /// The same, of an exception that is the fault of what our own reader reads from.
    Outage,
}

/// How a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub kind: FrameKind,
    /// Bytes that follow or, of a record in memory, are there, as the child says.
    pub len: u64,
}

const KINDS: [(u8, FrameKind); 13] = [
    (b'S', FrameKind::Shards),
    (b'I', FrameKind::Integers),
    (b'T', FrameKind::Type),
    (b'V', FrameKind::Values),
    (b'P', FrameKind::Progress),
    (b'L', FrameKind::Label),
    (b'O', FrameKind::Others),
    (b'R', FrameKind::Record),
    (b'M', FrameKind::Stored),
    (b'B', FrameKind::Big),
    (b'D', FrameKind::Done),
    (b'E', FrameKind::Error),
    (b'U', FrameKind::Outage),
];

/// Why there is no answer. The child cannot be used any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// Its end of the socket is closed.
    Ended,
    /// Nothing came in time.
    Late,
    /// What came is no answer.
    Garbage,
    /// The system lacks memory.
    Memory,
}

impl Channel {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream }
    }

    /// Sends a request.
    pub(super) fn ask(&mut self, request: &Value) -> Result<(), Silence> {
        self.stream.set_write_timeout(Some(SENDING)).map_err(|_| Silence::Ended)?;
        self.stream.write_all(format!("{request}\n").as_bytes()).map_err(|error| silence(&error))
    }

    /// The beginning of the next frame.
    pub(super) fn head(&mut self, deadline: Instant) -> Result<FrameHead, Silence> {
        let mut head = [0; 9];
        self.take(deadline, &mut head)?;
        let [letter, len @ ..] = head;
        let kind = KINDS.iter().find(|(known, _)| *known == letter).map(|(_, kind)| *kind);
        Ok(FrameHead { kind: kind.ok_or(Silence::Garbage)?, len: u64::from_le_bytes(len) })
    }

    /// Adds the body of a frame to `into`. One of more than `most` bytes is no answer.
    pub(super) fn body(
        &mut self,
        head: FrameHead,
        most: u64,
        deadline: Instant,
        into: &mut Refill,
    ) -> Result<(), Silence> {
        if head.len > most {
            return Err(Silence::Garbage);
        }
        let mut left = head.len;
        while left > 0 {
            let step = left.min(STEP);
            let room = into.add(usize::try_from(step).unwrap_or(0)).map_err(|_| Silence::Memory)?;
            self.take(deadline, room)?;
            left -= step;
        }
        Ok(())
    }

    /// The body of a frame, which has at most so many bytes.
    pub(super) fn whole(&mut self, head: FrameHead, most: u64, deadline: Instant) -> Result<Vec<u8>, Silence> {
        let mut body = Refill::new(Vec::new());
        self.body(head, most, deadline, &mut body)?;
        Ok(body.finish())
    }

    /// The body of a short frame.
    pub(super) fn short(&mut self, head: FrameHead, deadline: Instant) -> Result<Vec<u8>, Silence> {
        self.whole(head, SHORT, deadline)
    }

    fn take(&mut self, deadline: Instant, into: &mut [u8]) -> Result<(), Silence> {
        Timed { stream: &self.stream, deadline }.read_exact(into).map_err(|error| silence(&error))
    }
}

/// Reads until a deadline.
struct Timed<'a> {
    stream: &'a UnixStream,
    deadline: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        (&mut &*self.stream).read(into)
    }
}

fn silence(error: &io::Error) -> Silence {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Silence::Late,
        io::ErrorKind::OutOfMemory => Silence::Memory,
        _ => Silence::Ended,
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn pair() -> (Channel, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Channel::new(ours), theirs)
    }

    fn frame(letter: u8, len: u64, body: &[u8]) -> Vec<u8> {
        [&[letter], &len.to_le_bytes()[..], body].concat()
    }

    #[test]
    fn a_length_is_not_believed_before_its_bytes_arrive() {
        let (mut channel, mut child) = pair();
        child.write_all(&frame(b'R', u64::MAX >> 1, b"few")).unwrap();
        drop(child);
        let head = channel.head(soon()).unwrap();
        let mut body = Refill::new(Vec::new());
        assert_eq!(channel.body(head, u64::MAX, soon(), &mut body), Err(Silence::Ended));
        assert!(body.finish().capacity() <= 2 << 20);
    }

    #[test]
    fn what_is_longer_than_it_may_be_is_not_read() {
        let (mut channel, mut child) = pair();
        child.write_all(&frame(b'E', SHORT + 1, b"x")).unwrap();
        let head = channel.head(soon()).unwrap();
        assert_eq!(channel.short(head, soon()), Err(Silence::Garbage));
    }

    #[test]
    fn a_child_that_says_nothing_is_late() {
        let (mut channel, _child) = pair();
        assert_eq!(channel.head(Instant::now() + Duration::from_millis(5)), Err(Silence::Late));
        assert_eq!(channel.head(Instant::now()), Err(Silence::Late));
    }

    proptest! {
        #[test]
        fn any_bytes_are_frames_or_no_answer(bytes in prop::collection::vec(any::<u8>(), 0..64), cut in 0_usize..16) {
            let (mut channel, mut child) = pair();
            let sent = [frame(b'R', 3, b"abc"), bytes].concat();
            let sent = sent[..sent.len().saturating_sub(cut)].to_vec();
            let writer = thread::spawn(move || child.write_all(&sent));
            while let Ok(head) = channel.head(soon()) {
                let Ok(body) = channel.whole(head, 32, soon()) else { break };
                prop_assert_eq!(body.len() as u64, head.len);
            }
            writer.join().unwrap().unwrap();
        }
    }
}
