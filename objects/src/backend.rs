//! The ways to reach objects: through the library of the stores, by the calls of the Hugging Face Hub, and by plain HTTP.

mod bucket;
mod hub;
mod ranged;
mod vendors;
mod web;

use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::fault::{Fault, FaultKind};
use crate::{Address, Object, Scheme, Settings};

use bucket::Bucket;
use hub::Hub;
use web::Web;

/// Where objects come from.
#[derive(Debug)]
pub(crate) enum Backend {
    /// A store with an interface of its own.
    Bucket(Bucket),
    /// A dataset of the Hugging Face Hub.
    Hub(Box<Hub>),
    /// A server of files.
    Web(Web),
}

/// The body of an answer that has the bytes that were asked for, and perhaps some before them.
pub(crate) struct Body {
    /// Bytes before the first one that was asked for.
    pub(crate) skip: u64,
    pub(crate) bytes: BoxStream<'static, Result<Bytes, Fault>>,
}

/// A page of a list.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) objects: Vec<Object>,
    /// Prefixes with a slash at their end.
    pub(crate) prefixes: Vec<String>,
    /// Where the next page begins, if there is one.
    pub(crate) next: Option<String>,
}

impl Backend {
    /// The error completes "The store cannot be used:".
    pub(crate) fn open(address: &Address, settings: &Settings) -> Result<Self, String> {
        match address.scheme {
            Scheme::Hub => Hub::open(address, settings).map(|hub| Self::Hub(Box::new(hub))),
            Scheme::Web => Web::open(address, settings).map(Self::Web),
            _ => vendors::open(address, settings).map(Self::Bucket),
        }
    }

    /// What decides which server answers, beside the store's URL. It may have secrets, so it is not shown.
    pub(crate) fn server(&self) -> &str {
        match self {
            Self::Bucket(bucket) => bucket.server(),
            Self::Hub(hub) => hub.server(),
            Self::Web(_) => "",
        }
    }

    /// What the object is now.
    pub(crate) async fn head(&self, key: &str) -> Result<Object, Fault> {
        match self {
            Self::Bucket(bucket) => bucket.head(key).await,
            Self::Hub(hub) => hub.head(key).await,
            Self::Web(web) => web.head(key).await,
        }
    }

    /// Begins to read a range of the object, if it is still the same object.
    pub(crate) async fn get(&self, object: &Object, range: Range<u64>) -> Result<Body, Fault> {
        match self {
            Self::Bucket(bucket) => bucket.get(object, range).await,
            Self::Hub(hub) => hub.get(object, range).await,
            Self::Web(web) => web.get(object, range).await,
        }
    }

    /// A page of the keys that begin with `prefix`: of all of them or, if not `deep`, down to the next slash.
    pub(crate) async fn page(
        &self,
        prefix: &str,
        deep: bool,
        from: Option<String>,
        limit: Option<usize>,
    ) -> Result<Page, Fault> {
        match self {
            Self::Bucket(bucket) => bucket.page(prefix, deep, from, limit).await,
            Self::Hub(hub) => hub.page(prefix, deep, from.as_deref()).await,
            Self::Web(_) => Err(Fault::new(FaultKind::Unreadable, "an HTTP server cannot list its files")),
        }
    }

    /// Whether the store fills each page of a recursive list and has no empty objects as folder markers. Such a list is best
    /// read as a whole.
    pub(crate) fn lists_whole(&self) -> bool {
        matches!(self, Self::Hub(_))
    }
}
