//! What a test's server does wrong on purpose, one fault for each request that it is meant for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderValue};
use hyper::{Response, StatusCode};
use parking_lot::Mutex;

use crate::server::{Body, Whole, body};

/// Something that goes wrong.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Another answer, with the store's code for it.
    Answer(u16, &'static str),
    /// The connection breaks in the middle of the body.
    Reset,
    /// The body ends before it has the bytes that its header promises.
    Short,
    /// The same, where the header promises nothing.
    ShortChunks,
    /// As `Short`, and then something happens.
    ShortAndThen(Event),
    /// The first half of the body comes, and then nothing.
    Stuck,
    /// A byte of the body comes from time to time. Counts them.
    Dripping(Arc<AtomicU64>),
    /// The body comes in pieces of so many bytes.
    Pieces(usize),
    /// No answer comes.
    Silent,
    /// The answer says that it has other bytes.
    WrongRange,
    /// A header that cannot be read.
    BadRange(&'static str),
    /// The whole object instead of the range.
    Whole,
    /// An answer that claims to be the whole object, and is not.
    NotPartial,
}

/// Something that happens between two requests.
#[derive(Clone)]
pub(crate) struct Event(pub(crate) Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Event")
    }
}

/// The faults of the next reads of objects. A clone is the same plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    next: Arc<Mutex<VecDeque<Option<Fault>>>>,
    always: Arc<Mutex<Option<Fault>>>,
}

impl Faults {
    /// The next requests go wrong in this way, in this order.
    pub(crate) fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.next.lock().extend(faults.into_iter().map(Some));
    }

    /// All requests go wrong in this way, or none any more.
    pub(crate) fn always(&self, fault: Option<Fault>) {
        *self.always.lock() = fault;
    }

    pub(crate) fn take(&self) -> Option<Fault> {
        self.next.lock().pop_front().flatten().or_else(|| self.always.lock().clone())
    }
}

impl Fault {
    /// The answer as the client gets it. None for silence.
    pub(crate) fn apply(&self, answer: Response<Whole>) -> Option<Response<Body>> {
        let (mut parts, whole) = answer.into_parts();
        let half = whole.len() / 2;
        let body = match self {
            Self::Silent => return None,
            Self::Answer(status, code) => {
                parts.status = StatusCode::from_u16(*status).unwrap();
                parts.headers.clear();
                body::whole(format!("<Error><Code>{code}</Code><Message>on purpose</Message></Error>"))
            }
            Self::Reset => body::broken(whole.slice(..half)),
            Self::Stuck => body::stuck(whole.slice(..half)),
            Self::Dripping(sent) => body::dripping(whole, Arc::clone(sent)),
            Self::Pieces(size) => body::pieces(&whole, *size),
            Self::Short => {
                parts.headers.insert(CONTENT_LENGTH, whole.len().into());
                body::short(whole.slice(..half))
            }
            Self::ShortAndThen(event) => {
                (event.0)();
                return Self::Short.apply(Response::from_parts(parts, whole));
            }
            Self::ShortChunks => {
                parts.headers.remove(CONTENT_LENGTH);
                body::short(whole.slice(..half))
            }
            Self::WrongRange => {
                let end = whole.len();
                let wrong = format!("bytes 1-{end}/{}", end + 1);
                parts.headers.insert(CONTENT_RANGE, HeaderValue::from_str(&wrong).unwrap());
                body::whole(whole)
            }
            Self::BadRange(text) => {
                parts.headers.insert(CONTENT_RANGE, HeaderValue::from_static(text));
                body::whole(whole)
            }
            Self::NotPartial => {
                parts.status = StatusCode::OK;
                parts.headers.remove(CONTENT_RANGE);
                body::whole(whole)
            }
            Self::Whole => body::whole(whole),
        };
        Some(Response::from_parts(parts, body))
    }
}
