//! A connection of a stream to one decoder, in a task of its own. It is made again when it ends: after a second, or after a minute
//! if the decoder cannot make this stream's pictures.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_ledger_client::{Address, TokenFile, Wire, dial};
use forebay_printable::printable;
use forebay_proto::v1::{
    DecoderAnswer, DecoderAsk, DecoderCancel, DecoderHello, DecoderRecord, DecoderReply, DecoderRequest, DecoderSetup,
    decoder_reply, decoder_request,
};
use parking_lot::Mutex;
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::Decoders;
use crate::remote::answer;
use crate::remote::lane::{AnswerKind, PeerEnd, PeerId, PeerTerms};
use crate::remote::roster::DecoderState;
use crate::remote::share::RemoteShare;
use crate::remote::{DECODE_PROTOCOL, REMOTE_VERSION, no_body, read_frame, write_frame};

/// How long a connection may take to begin.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a decoder may take to open a dataset.
const OPEN: Duration = Duration::from_secs(600);
/// How long after a connection ended the next one is made.
const PAUSE: Duration = Duration::from_secs(1);
/// How long after a refusal it is asked again.
const REFUSED: Duration = Duration::from_secs(60);
/// Requests that go into one message.
const AT_ONCE: usize = 256;
/// The longest reason that is shown, in letters.
const MOST_LETTERS: usize = 500;
/// The most requests that one decoder may have.
const MOST: u64 = 1024;

/// What happens on connections.
#[derive(Debug)]
pub(super) enum LinkEvent {
    Opened {
        peer: PeerId,
        terms: PeerTerms,
        orders: mpsc::UnboundedSender<LinkOrder>,
        name: String,
    },
    Answer {
        peer: PeerId,
        answer: DecoderAnswer,
        kind: AnswerKind,
        body: Vec<u8>,
    },
    Leaves(PeerId),
    Closed {
        peer: PeerId,
        end: PeerEnd,
    },
    /// It cannot be asked.
    Failed {
        name: String,
        state: DecoderState,
        why: String,
    },
    /// The settings do not lead to it any more.
    Forgotten {
        name: String,
    },
}

/// What is sent to a decoder.
#[derive(Debug)]
pub(super) enum LinkOrder {
    Ask(DecoderRecord),
    Cancel(u64),
}

/// What the connections of a stream share.
#[derive(Debug)]
pub(super) struct Links {
    pub decoders: Arc<Decoders>,
    pub setup: DecoderSetup,
    pub share: Arc<RemoteShare>,
    pub events: mpsc::UnboundedSender<LinkEvent>,
    pub next: AtomicU64,
    /// Numbers of the decoders that are connected.
    pub numbers: Mutex<BTreeSet<u64>>,
    /// Where each address of the settings leads, by its place among them.
    pub places: Mutex<BTreeMap<usize, Vec<Option<SocketAddr>>>>,
}

/// How a connection ended.
enum LinkEnd {
    /// It had been open.
    Closed,
    /// The decoder cannot make the stream's pictures, or answers what it may not.
    Refused(String),
    /// It could not be opened.
    Failed(String),
}

/// Keeps a connection to one decoder until the stream stops, or the address of the settings does not lead there any more and the
/// connection has ended.
pub(super) async fn keep(links: Arc<Links>, (number, address): (usize, &Address), at: Option<SocketAddr>) {
    let name = at.map_or_else(|| address.to_string(), |at| format!("{address} ({at})"));
    while !links.events.is_closed() && links.leads_to(number, at) {
        let pause = match links.once(address, at, &name).await {
            LinkEnd::Closed => PAUSE,
            LinkEnd::Refused(reason) => {
                tracing::warn!(decoder = name, reason, "a decoder makes no pictures of this stream; it is asked again");
                links.failed(&name, DecoderState::Refused, reason);
                REFUSED
            }
            LinkEnd::Failed(why) => {
                tracing::debug!(decoder = name, why, "a decoder cannot be reached");
                links.failed(&name, DecoderState::Unreachable, why);
                PAUSE
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = links.events.closed() => return,
        }
    }
    let _gone = links.events.send(LinkEvent::Forgotten { name });
}

impl Links {
    fn failed(&self, name: &str, state: DecoderState, why: String) {
        // The stream may have stopped.
        let _gone = self.events.send(LinkEvent::Failed { name: name.to_owned(), state, why });
    }

    fn leads_to(&self, number: usize, at: Option<SocketAddr>) -> bool {
        self.places.lock().get(&number).is_some_and(|places| places.contains(&at))
    }

    /// One connection, from its beginning to its end.
    async fn once(&self, address: &Address, at: Option<SocketAddr>, name: &str) -> LinkEnd {
        let tls = self.decoders.tls.as_deref();
        let dialled = timeout(CONNECT, dial(address, at, tls.map(|tls| tls.speaking(DECODE_PROTOCOL)))).await;
        let wire = match dialled.map_err(io::Error::from).flatten() {
            Ok(wire) => wire,
            Err(error) => return LinkEnd::Failed(error.to_string()),
        };
        let (mut reader, mut writer) = split(wire);
        let hello = match self.greet(&mut reader, &mut writer).await {
            Ok(Ok(hello)) => hello,
            Ok(Err(refusal)) => return LinkEnd::Refused(refusal),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return LinkEnd::Refused(error.to_string()),
            Err(error) => return LinkEnd::Failed(error.to_string()),
        };
        if !self.numbers.lock().insert(hello.number) {
            return LinkEnd::Refused("it is a decoder that is connected under another address".to_owned());
        }
        let peer = self.next.fetch_add(1, Ordering::Relaxed);
        tracing::info!(decoder = name, threads = hello.threads, "a decoder makes pictures of this stream");
        let (orders, taken) = mpsc::unbounded_channel();
        let opened = LinkEvent::Opened { peer, terms: self.terms(&hello, name), orders, name: name.to_owned() };
        let _gone = self.events.send(opened);
        let mut has_left = false;
        let ended = tokio::select! {
            ended = self.read(peer, &mut reader, &mut has_left) => ended,
            ended = write(&mut writer, taken) => ended,
        };
        self.numbers.lock().remove(&hello.number);
        let (end, ended) = match ended {
            // This end closed it.
            Ok(()) => (PeerEnd::Goodbye, LinkEnd::Closed),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                (PeerEnd::Goodbye, LinkEnd::Refused(error.to_string()))
            }
            Err(error) => {
                tracing::info!(decoder = name, %error, "the connection to a decoder ended");
                (if has_left { PeerEnd::Goodbye } else { PeerEnd::Broken }, LinkEnd::Closed)
            }
        };
        let _gone = self.events.send(LinkEvent::Closed { peer, end });
        ended
    }

    /// Says what is to be made, and hears whether the decoder makes it.
    async fn greet(
        &self,
        reader: &mut ReadHalf<Box<dyn Wire>>,
        writer: &mut WriteHalf<Box<dyn Wire>>,
    ) -> io::Result<Result<DecoderHello, String>> {
        let token = self.decoders.token.as_ref().map(TokenFile::text).unwrap_or_default();
        let setup = DecoderSetup { version: REMOTE_VERSION, token, ..self.setup.clone() };
        let request = DecoderRequest { message: Some(decoder_request::Message::Setup(setup)) };
        timeout(CONNECT, write_frame(writer, &request, &[])).await??;
        let read = timeout(OPEN, read_frame::<DecoderReply>(reader, no_body)).await??;
        let Some((reply, _)) = read else { return Err(io::ErrorKind::UnexpectedEof.into()) };
        match reply.message {
            Some(decoder_reply::Message::Hello(hello)) => Ok(Ok(hello)),
            Some(decoder_reply::Message::Refusal(refusal)) => Ok(Err(in_words(&refusal.reason))),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it does not say hello")),
        }
    }

    fn terms(&self, hello: &DecoderHello, name: &str) -> PeerTerms {
        let len = self.setup.answer_len.max(1);
        // A record is as large as its picture, as far as is known here.
        let most = (hello.memory / 2 / len).min(self.decoders.memory / len).clamp(1, MOST);
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        PeerTerms {
            address: hasher.finish(),
            threads: hello.threads.try_into().unwrap_or(1),
            most: most.try_into().unwrap_or(1),
        }
    }

    /// Passes answers on, each checked.
    async fn read(&self, peer: PeerId, reader: &mut ReadHalf<Box<dyn Wire>>, has_left: &mut bool) -> io::Result<()> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        loop {
            let room = |len| self.share.take(len).ok_or_else(|| invalid("an answer has another size than it may have"));
            let Some((reply, body)) = read_frame::<DecoderReply>(reader, room).await? else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            let event = match reply.message {
                Some(decoder_reply::Message::Answer(answer)) => {
                    let kind = answer::check(&answer, &body, self.setup.answer_len)?;
                    LinkEvent::Answer { peer, answer, kind, body }
                }
                Some(decoder_reply::Message::Goodbye(_)) => {
                    *has_left = true;
                    LinkEvent::Leaves(peer)
                }
                _ => return Err(invalid("a decoder says what it may not say")),
            };
            if self.events.send(event).is_err() {
                return Ok(());
            }
        }
    }
}

/// What a decoder says, without what a terminal would obey, and not longer than a line of a log may be.
fn in_words(said: &str) -> String {
    let cut: String = said.chars().take(MOST_LETTERS).collect();
    printable(&cut).to_string()
}

/// Sends what is asked, as many requests at once as there are. Ends when nothing more will be.
async fn write(
    writer: &mut WriteHalf<Box<dyn Wire>>,
    mut orders: mpsc::UnboundedReceiver<LinkOrder>,
) -> io::Result<()> {
    let mut taken = Vec::new();
    while orders.recv_many(&mut taken, AT_ONCE).await > 0 {
        let (mut records, mut ids) = (Vec::new(), Vec::new());
        for order in taken.drain(..) {
            match order {
                LinkOrder::Ask(record) => records.push(record),
                LinkOrder::Cancel(id) => ids.push(id),
            }
        }
        if !records.is_empty() {
            let message = Some(decoder_request::Message::Ask(DecoderAsk { records }));
            write_frame(writer, &DecoderRequest { message }, &[]).await?;
        }
        if !ids.is_empty() {
            let message = Some(decoder_request::Message::Cancel(DecoderCancel { ids }));
            write_frame(writer, &DecoderRequest { message }, &[]).await?;
        }
    }
    Ok(())
}
