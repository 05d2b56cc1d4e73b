//! The daemon's end of the socket to a child: requests, and answers in frames. Nothing that a child says is believed before it is
//! here, and every wait has an end.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::event::PollFlags;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::frame::FrameHead;
use crate::patience::Patience;
use crate::refill::Refill;

/// The daemon's end of the socket.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    /// It can be read once the child has ended. A process that the child has started may hold the other end of the socket.
    process: Arc<OwnedFd>,
}

/// Why there is no answer. The child cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It has ended, or its end of the socket is closed.
    Ended,
    /// Nothing came in time.
    Late,
    /// What came is no answer.
    Garbage,
    /// The system lacks memory.
    Memory,
}

impl Channel {
    pub(crate) fn new(stream: UnixStream, process: Arc<OwnedFd>) -> io::Result<Self> {
        // The waits are those of `Patience`. The child's end is not changed.
        stream.set_nonblocking(true)?;
        Ok(Self { stream, process })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// The child does not take it in time.
    pub fn send(&mut self, request: &[u8], patience: &Patience<'_>) -> Result<(), Silence> {
        Ok(self.patient(patience).write_all(request)?)
    }

    /// Sends a descriptor, before any request. A child in Python takes it as its memory.
    pub(crate) fn send_descriptor(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let descriptors = [descriptor];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        sendmsg(&self.stream, &[IoSlice::new(b"M")], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// How the next frame begins.
    ///
    /// # Errors
    /// None comes in time.
    pub fn head(&mut self, patience: &Patience<'_>) -> Result<FrameHead, Silence> {
        FrameHead::read(&mut self.patient(patience))?.ok_or(Silence::Ended)
    }

    /// Adds the body of a frame to `into`. One of more than `most` bytes is no answer.
    ///
    /// # Errors
    /// It is too long, or does not come in time.
    pub fn body(
        &mut self,
        head: FrameHead,
        most: u64,
        patience: &Patience<'_>,
        into: &mut Refill,
    ) -> Result<(), Silence> {
        Ok(head.body(most, &mut self.patient(patience), into)?)
    }

    /// The body of a frame, which has at most so many bytes.
    ///
    /// # Errors
    /// It is too long, or does not come in time.
    pub fn whole(&mut self, head: FrameHead, most: u64, patience: &Patience<'_>) -> Result<Vec<u8>, Silence> {
        let mut body = Refill::new(Vec::new());
        self.body(head, most, patience, &mut body)?;
        Ok(body.finish())
    }

    fn patient<'a>(&'a self, patience: &'a Patience<'a>) -> PatientSocket<'a> {
        PatientSocket { channel: self, patience }
    }
}

impl From<io::Error> for Silence {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Late,
            io::ErrorKind::OutOfMemory => Self::Memory,
            io::ErrorKind::InvalidData => Self::Garbage,
            _ => Self::Ended,
        }
    }
}

/// Reads and writes, and waits only as long as it should.
struct PatientSocket<'a> {
    channel: &'a Channel,
    patience: &'a Patience<'a>,
}

impl PatientSocket<'_> {
    fn patiently(
        &self,
        flags: PollFlags,
        mut act: impl FnMut(&mut &UnixStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let Channel { stream, process } = self.channel;
        let mut has_ended = false;
        loop {
            // What is here is taken, however late the daemon looks.
            match act(&mut &*stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && has_ended => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let fds = [(stream.as_fd(), flags), (process.as_fd(), PollFlags::IN)];
                    // What it has sent before its end is still read.
                    [_, has_ended] = self.patience.wait(fds)?;
                }
                done => return done,
            }
        }
    }
}

impl Read for PatientSocket<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.patiently(PollFlags::IN, |stream| stream.read(into))
    }
}

impl Write for PatientSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(PollFlags::OUT, |stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn soon() -> Patience<'static> {
        Patience::lasting(Duration::from_secs(60))
    }

    /// A channel to a child that never ends, and the child's end.
    fn pair() -> (Channel, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (lives, life) = io::pipe().unwrap();
        std::mem::forget(life);
        (Channel::new(ours, Arc::new(lives.into())).unwrap(), theirs)
    }

    fn frame(letter: u8, len: u64, body: &[u8]) -> Vec<u8> {
        [&FrameHead { letter, len }.bytes()[..], body].concat()
    }

    #[test]
    fn a_length_is_not_believed_before_its_bytes_arrive() {
        let (mut channel, mut child) = pair();
        child.write_all(&frame(b'R', u64::MAX >> 1, b"few")).unwrap();
        drop(child);
        let head = channel.head(&soon()).unwrap();
        let mut body = Refill::new(Vec::new());
        assert_eq!(channel.body(head, u64::MAX, &soon(), &mut body), Err(Silence::Ended));
        assert!(body.finish().capacity() <= 2 << 20);
    }

    #[test]
    fn what_is_longer_than_it_may_be_is_not_read() {
        let (mut channel, mut child) = pair();
        child.write_all(&frame(b'E', 11, b"x")).unwrap();
        let head = channel.head(&soon()).unwrap();
        assert_eq!(channel.whole(head, 10, &soon()), Err(Silence::Garbage));
    }

    #[test]
    fn a_child_that_says_nothing_or_does_not_read_is_late() {
        let (mut channel, _child) = pair();
        let brief = || Patience::lasting(Duration::from_millis(5));
        assert_eq!(channel.head(&brief()), Err(Silence::Late));
        assert_eq!(channel.head(&Patience::until(Instant::now())), Err(Silence::Late));
        assert_eq!(channel.send(&vec![0; 16 << 20], &brief()), Err(Silence::Late));
    }

    #[test]
    fn an_answer_that_was_sent_before_the_end_is_read_and_the_socket_need_not_close() {
        let (ours, mut held) = UnixStream::pair().unwrap();
        let (ended, life) = io::pipe().unwrap();
        let mut channel = Channel::new(ours, Arc::new(ended.into())).unwrap();
        held.write_all(&frame(b'D', 0, b"")).unwrap();
        drop(life);
        assert_eq!(channel.head(&soon()), Ok(FrameHead { letter: b'D', len: 0 }));
        assert_eq!(channel.head(&soon()), Err(Silence::Ended));
        drop(held);
    }

    proptest! {
        #[test]
        fn any_bytes_are_frames_or_no_answer(bytes in prop::collection::vec(any::<u8>(), 0..64), cut in 0_usize..16) {
            let (mut channel, mut child) = pair();
            let sent = [frame(b'R', 3, b"abc"), bytes].concat();
            let sent = sent[..sent.len().saturating_sub(cut)].to_vec();
            let writer = thread::spawn(move || child.write_all(&sent));
            while let Ok(head) = channel.head(&soon()) {
                let Ok(body) = channel.whole(head, 32, &soon()) else { break };
                prop_assert_eq!(body.len() as u64, head.len);
            }
            writer.join().unwrap().unwrap();
        }
    }
}
