//! Bytes to messages and back. Everything that arrives is checked once, here, and trusted afterwards.

mod error;
mod kind;

use std::os::fd::OwnedFd;

use bytemuck::{NoUninit, Pod};

use crate::message::{
    Ack, Attach, Call, ClaimSum, Held, MessageKind, Missed, NewRing, Number, Offer, PACKET_LEN, Release, SUMS_PER_ACK,
    Text, Welcome, attach_flags, attach_join,
};

use crate::pixels::Pixels;
use crate::protocol::{FIRST_WITH_OLDEST, OPTIONAL_KINDS, PROTOCOL, Versions};
pub use error::PacketError;

/// A packet with its descriptors, checked: lengths fit, flags are known, texts are UTF-8, and exactly the
/// descriptors that belong to it are there.
///
/// Bulk descriptors are not opened yet: [`Bulk::accept`](crate::Bulk::accept) checks their seals.
#[derive(Debug)]
#[non_exhaustive]
pub enum Message<'a> {
    /// The trainer asks for a stream.
    Attach {
        /// Name ([`Attach::stream_name`]), credits, shard, incarnation, GPUs ([`Attach::gpus`]).
        head: Box<Attach>,
        /// Bulk JSON.
        settings: Option<OwnedFd>,
        /// Bulk paths separated by NUL bytes.
        files: Option<OwnedFd>,
        /// Bulk array of [`ResumedClaim`](crate::ResumedClaim).
        resume: Option<OwnedFd>,
        /// Bulk names of columns separated by NUL bytes.
        columns: Option<OwnedFd>,
    },
    /// The daemon accepts.
    Welcome {
        /// Incarnation, consumer, credits, ring, and where its pixels are.
        head: Welcome,
        /// The ring, for [`View::map`](crate::View::map).
        ring: OwnedFd,
        /// Bulk protobuf `StreamInfo`.
        info: OwnedFd,
        /// Memory of a GPU, if the pixels are there.
        pixels: Option<OwnedFd>,
    },
    /// The daemon refuses: [`text_code`](crate::text_code) and reason.
    Refused(u32, &'a str),
    /// A batch may be read.
    Offer(Offer),
    /// A batch, or a part of its claims, was consumed.
    Ack {
        /// Which batch, which claims.
        head: Ack,
        /// One sum per claim from `head.first` on.
        sums: Vec<ClaimSum>,
    },
    /// No view of the slot is left.
    Release(Release),
    /// How many more offers may be sent.
    Credit(u64),
    /// This epoch is complete.
    EpochEnd(u64),
    /// The stream has no further epoch; how many there were.
    Done(u64),
    /// The stream has failed: [`text_code`](crate::text_code) and reason.
    Failed(u32, &'a str),
    /// The consumer is evicted: [`text_code`](crate::text_code) and reason.
    Evict(u32, &'a str),
    /// A request: id and protobuf `CallRequest`.
    Call(u64, Body<'a>),
    /// Its answer: id and protobuf `CallReply`.
    Answer(u64, Body<'a>),
    /// An epoch waits for a batch that a trainer or another node holds.
    Held {
        /// Who, which, since when.
        head: Held,
        /// Name and host of the node, if it is another one.
        elsewhere: Option<(&'a str, &'a str)>,
    },
    /// Why no batches come, or that they come again: [`text_code`](crate::text_code) and a text for the user.
    Notice(u32, &'a str),
    /// The dataset's storage has given nothing for too long: [`text_code`](crate::text_code) and reason.
    Stalled(u32, &'a str),
    /// A further ring.
    Ring {
        /// Its number, and where its pixels are.
        head: NewRing,
        /// The ring, for [`View::map`](crate::View::map).
        fd: OwnedFd,
        /// Memory of a GPU, if the pixels are there.
        pixels: Option<OwnedFd>,
    },
    /// The trainer leaves and holds nothing.
    Bye,
    /// A private daemon's parent passes the daemon's end of a new trainer's socket.
    Connect {
        /// The daemon's end of the socket.
        socket: OwnedFd,
        /// Memory of the parent's process in which its daemon keeps ledgers.
        ledgers: OwnedFd,
    },
    /// Everything offered so far may be handed out until this `CLOCK_BOOTTIME` nanosecond.
    Deadline(u64),
    /// Every batch offered before is void; the stream continues at this epoch.
    Fenced(u64),
    /// This ring has no batch, and will have none.
    Retired(u64),
    /// This batch is not to be handed out any more.
    Void(u64),
    /// The trainer's group does not get these batches.
    Missed(Missed),
    /// The trainer's caller has waited for that many nanoseconds more.
    Waited(u64),
    /// A message of a newer daemon, of this kind, that a trainer may skip. Its descriptors are closed.
    Unknown(u32),
}

/// Protobuf bytes of a call or its answer.
#[derive(Debug)]
pub enum Body<'a> {
    /// In the packet.
    Inline(&'a [u8]),
    /// Too long for a packet: a bulk descriptor.
    Bulk(OwnedFd),
}

/// A packet with its kind, during the checks.
struct Reader<'a> {
    kind: MessageKind,
    bytes: &'a [u8],
    fds: Vec<OwnedFd>,
}

/// Puts head and tail into one packet.
///
/// ```
/// use forebay_ring::{MessageKind, Message, Number, packet};
///
/// let bytes = packet(&Number { kind: MessageKind::Credit as u32, reserved: 0, value: 2 }, &[]);
/// assert!(matches!(Message::parse(&bytes, Vec::new())?, Message::Credit(2)));
/// # Ok::<(), forebay_ring::PacketError>(())
/// ```
pub fn packet(head: &impl NoUninit, tail: &[u8]) -> Vec<u8> {
    [bytemuck::bytes_of(head), tail].concat()
}

/// A REFUSED, FAILED or EVICT packet. A text too long for a packet is cut.
pub fn text(kind: MessageKind, code: u32, reason: &str) -> Vec<u8> {
    let room = (0..=PACKET_LEN - size_of::<Text>()).rev().find(|end| reason.is_char_boundary(*end));
    let reason = &reason[..room.unwrap_or(0)];
    let len = u32::try_from(reason.len()).expect("it was cut to a packet's length");
    packet(&Text { kind: kind as u32, len, code, reserved: 0 }, reason.as_bytes())
}

impl<'a> Message<'a> {
    /// As [`parse`](Self::parse), for a daemon: what a trainer says is never skipped.
    pub fn from_trainer(bytes: &'a [u8], fds: Vec<OwnedFd>) -> Result<Self, PacketError> {
        match Self::parse(bytes, fds)? {
            Self::Unknown(kind) => Err(PacketError::UnknownKind(kind)),
            message => Ok(message),
        }
    }

    /// Checks a packet and its descriptors. On an error the descriptors are closed.
    pub fn parse(bytes: &'a [u8], fds: Vec<OwnedFd>) -> Result<Self, PacketError> {
        let Some(first) = bytes.first_chunk() else { return Err(PacketError::Short(bytes.len())) };
        let word = u32::from_le_bytes(*first);
        if word >= OPTIONAL_KINDS {
            return Ok(Self::Unknown(word));
        }
        let kind = MessageKind::try_from(word)?;
        let reader = Reader { kind, bytes, fds };
        match kind {
            MessageKind::Attach => reader.attach(),
            MessageKind::Welcome => {
                let head: Welcome = reader.welcome()?;
                let ([ring, info], pixels) = reader.with_pixels(&head.pixels)?;
                Ok(Self::Welcome { head, ring, info, pixels })
            }
            MessageKind::Refused => reader.text().map(|(code, text)| Self::Refused(code, text)),
            MessageKind::Failed => reader.text().map(|(code, text)| Self::Failed(code, text)),
            MessageKind::Evict => reader.text().map(|(code, text)| Self::Evict(code, text)),
            MessageKind::Stalled => reader.text().map(|(code, text)| Self::Stalled(code, text)),
            MessageKind::Notice => reader.text().map(|(code, text)| Self::Notice(code, text)),
            MessageKind::Offer => reader.plain().map(Self::Offer),
            MessageKind::Ack => reader.ack(),
            MessageKind::Release => reader.plain().map(Self::Release),
            MessageKind::Credit => reader.number().map(Self::Credit),
            MessageKind::EpochEnd => reader.number().map(Self::EpochEnd),
            MessageKind::Done => reader.number().map(Self::Done),
            MessageKind::Deadline => reader.number().map(Self::Deadline),
            MessageKind::Fenced => reader.number().map(Self::Fenced),
            MessageKind::Retired => reader.number().map(Self::Retired),
            MessageKind::Void => reader.number().map(Self::Void),
            MessageKind::Missed => reader.plain().map(Self::Missed),
            MessageKind::Waited => reader.number().map(Self::Waited),
            MessageKind::Bye => reader.number().map(|_| Self::Bye),
            MessageKind::Call => reader.call().map(|(id, body)| Self::Call(id, body)),
            MessageKind::Answer => reader.call().map(|(id, body)| Self::Answer(id, body)),
            MessageKind::Held => reader.held(),
            MessageKind::Ring => {
                let head: NewRing = reader.whole()?;
                let ([fd], pixels) = reader.with_pixels(&head.pixels)?;
                Ok(Self::Ring { head, fd, pixels })
            }
            MessageKind::Connect => {
                let _head: Number = reader.whole()?;
                let [socket, ledgers] = reader.descriptors()?;
                Ok(Self::Connect { socket, ledgers })
            }
        }
    }
}

impl<'a> Reader<'a> {
    fn attach(self) -> Result<Message<'a>, PacketError> {
        let kind = self.kind;
        let head = Box::new(self.attach_head()?);
        let known = attach_flags::SETTINGS | attach_flags::FILES | attach_flags::RESUME | attach_flags::COLUMNS;
        let wrong = [
            ("flags", head.flags & !known != 0),
            ("a name", head.stream_name().is_none()),
            ("a group", head.group_name().is_none()),
            ("join", ![attach_join::NEXT, attach_join::EPOCH].contains(&head.join)),
            ("a trainer's number", head.trainer == 0),
            ("shard_id", head.shard_id >= head.num_shards.max(1)),
        ];
        if let Some((field, _)) = wrong.into_iter().find(|(_, is_wrong)| *is_wrong) {
            return Err(PacketError::Field { kind, field });
        }
        let expected = head.flags.count_ones() as usize;
        if self.fds.len() != expected {
            return Err(PacketError::Descriptors { kind, found: self.fds.len(), expected });
        }
        let mut fds = self.fds.into_iter();
        let mut next = |flag| if head.flags & flag == 0 { None } else { fds.next() };
        let settings = next(attach_flags::SETTINGS);
        let files = next(attach_flags::FILES);
        let resume = next(attach_flags::RESUME);
        let columns = next(attach_flags::COLUMNS);
        Ok(Message::Attach { head, settings, files, resume, columns })
    }

    fn ack(self) -> Result<Message<'a>, PacketError> {
        let kind = self.kind;
        let (head, tail): (Ack, _) = self.head()?;
        if head.count as usize > SUMS_PER_ACK || head.first.checked_add(head.count).is_none() {
            return Err(PacketError::Field { kind, field: "a number of sums" });
        }
        if head.last > 1 || head.freed > head.last || (head.more > 0 && head.last == 0) {
            return Err(PacketError::Field { kind, field: "last, freed or more" });
        }
        self.expect_len(size_of::<Ack>() + head.count as usize * size_of::<ClaimSum>())?;
        self.no_descriptors()?;
        let sums = tail.chunks_exact(size_of::<ClaimSum>()).map(bytemuck::pod_read_unaligned).collect();
        Ok(Message::Ack { head, sums })
    }

    fn call(mut self) -> Result<(u64, Body<'a>), PacketError> {
        let (head, tail): (Call, _) = self.head()?;
        let too_long = PacketError::Field { kind: self.kind, field: "a length" };
        let expected = size_of::<Call>().checked_add(head.len as usize).ok_or(too_long)?;
        self.expect_len(expected)?;
        match (self.fds.pop(), self.fds.len()) {
            (None, _) => Ok((head.id, Body::Inline(tail))),
            (Some(fd), 0) if head.len == 0 => Ok((head.id, Body::Bulk(fd))),
            (Some(_), others) => {
                let expected = usize::from(head.len == 0);
                Err(PacketError::Descriptors { kind: self.kind, found: others + 1, expected })
            }
        }
    }

    fn text(self) -> Result<(u32, &'a str), PacketError> {
        let (head, tail): (Text, _) = self.head()?;
        let too_long = PacketError::Field { kind: self.kind, field: "a length" };
        let expected = size_of::<Text>().checked_add(head.len as usize).ok_or(too_long)?;
        self.expect_len(expected)?;
        self.no_descriptors()?;
        let text = std::str::from_utf8(tail);
        Ok((head.code, text.map_err(|_| PacketError::Field { kind: self.kind, field: "a text" })?))
    }

    fn held(self) -> Result<Message<'a>, PacketError> {
        let (head, tail): (Held, _) = self.head()?;
        let field = |field| PacketError::Field { kind: self.kind, field };
        self.expect_len(size_of::<Held>().checked_add(head.len as usize).ok_or_else(|| field("a length"))?)?;
        let names = |tail| std::str::from_utf8(tail).ok()?.split_once('\0').filter(|(_, host)| !host.contains('\0'));
        let elsewhere = if tail.is_empty() { None } else { Some(names(tail).ok_or_else(|| field("a node"))?) };
        self.no_descriptors()?;
        Ok(Message::Held { head, elsewhere })
    }

    fn number(self) -> Result<u64, PacketError> {
        self.plain::<Number>().map(|number| number.value)
    }

    /// A message that is one struct without descriptors.
    fn plain<T: Pod>(self) -> Result<T, PacketError> {
        self.no_descriptors()?;
        self.whole()
    }

    /// A message that is one struct.
    fn whole<T: Pod>(&self) -> Result<T, PacketError> {
        self.expect_len(size_of::<T>())?;
        self.head().map(|(head, _)| head)
    }

    fn head<T: Pod>(&self) -> Result<(T, &'a [u8]), PacketError> {
        match self.bytes.split_at_checked(size_of::<T>()) {
            Some((head, tail)) => Ok((bytemuck::pod_read_unaligned(head), tail)),
            None => Err(PacketError::Len { kind: self.kind, found: self.bytes.len(), expected: size_of::<T>() }),
        }
    }

    /// The head of an ATTACH. That of a newer trainer may be longer: what this version does not know is of no account.
    fn attach_head(&self) -> Result<Attach, PacketError> {
        let newest = self.word(1)?;
        let oldest = if newest < FIRST_WITH_OLDEST { newest } else { self.word(2)? };
        let theirs = Versions { oldest, newest };
        if Versions::OURS.shared_with(theirs).is_none() {
            return Err(PacketError::Protocol { theirs });
        }
        if newest == PROTOCOL {
            self.expect_len(size_of::<Attach>())?;
        }
        self.head().map(|(head, _)| head)
    }

    /// A WELCOME, which names the version that the daemon has chosen.
    fn welcome(&self) -> Result<Welcome, PacketError> {
        let theirs = Versions::one(self.word(1)?);
        if Versions::OURS.shared_with(theirs).is_none() {
            return Err(PacketError::Protocol { theirs });
        }
        self.whole()
    }

    /// A word of ATTACH or WELCOME that has the same place in every version.
    fn word(&self, place: usize) -> Result<u32, PacketError> {
        let word = self.bytes.get(place * 4..).and_then(|bytes| bytes.first_chunk());
        Ok(u32::from_le_bytes(*word.ok_or(PacketError::Short(self.bytes.len()))?))
    }

    fn expect_len(&self, expected: usize) -> Result<(), PacketError> {
        let found = self.bytes.len();
        if found == expected { Ok(()) } else { Err(PacketError::Len { kind: self.kind, found, expected }) }
    }

    fn no_descriptors(&self) -> Result<(), PacketError> {
        if self.fds.is_empty() {
            return Ok(());
        }
        Err(PacketError::Descriptors { kind: self.kind, found: self.fds.len(), expected: 0 })
    }

    /// The descriptors that come in any case, and that of pixels in memory of a GPU.
    fn with_pixels<const N: usize>(mut self, pixels: &Pixels) -> Result<([OwnedFd; N], Option<OwnedFd>), PacketError> {
        let (kind, found) = (self.kind, self.fds.len());
        let own = pixels.has_descriptor().ok_or(PacketError::Field { kind, field: "the place of its pixels" })?;
        let expected = N + usize::from(own);
        if found != expected {
            return Err(PacketError::Descriptors { kind, found, expected });
        }
        let memory = if own { self.fds.pop() } else { None };
        Ok((self.descriptors()?, memory))
    }

    fn descriptors<const N: usize>(self) -> Result<[OwnedFd; N], PacketError> {
        let kind = self.kind;
        self.fds.try_into().map_err(|fds: Vec<_>| PacketError::Descriptors { kind, found: fds.len(), expected: N })
    }
}
