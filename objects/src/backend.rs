//! The two ways to reach objects: through the library of the stores, and by plain HTTP.

mod bucket;
mod vendors;
mod web;

use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::fault::Fault;
use crate::{Address, Object, Scheme, Settings};

pub(crate) use bucket::{Bucket, Page};
use web::Web;

/// Where objects come from.
#[derive(Debug)]
pub(crate) enum Backend {
    /// A store with an interface of its own.
    Bucket(Bucket),
    /// A server of files.
    Web(Web),
}

/// The body of an answer that has the bytes that were asked for, and perhaps some before them.
pub(crate) struct Body {
    /// Bytes before the first one that was asked for.
    pub(crate) skip: u64,
    pub(crate) bytes: BoxStream<'static, Result<Bytes, Fault>>,
}

impl Backend {
    /// The error completes "The store cannot be used:".
    pub(crate) fn open(address: &Address, settings: &Settings) -> Result<Self, String> {
        match address.scheme {
            Scheme::Web => Web::open(address, settings).map(Self::Web),
            _ => vendors::open(address, settings).map(Self::Bucket),
        }
    }

    /// What the object is now.
    pub(crate) async fn head(&self, key: &str) -> Result<Object, Fault> {
        match self {
            Self::Bucket(bucket) => bucket.head(key).await,
            Self::Web(web) => web.head(key).await,
        }
    }

    /// Begins to read a range of the object, if it is still the same object.
    pub(crate) async fn get(&self, object: &Object, range: Range<u64>) -> Result<Body, Fault> {
        match self {
            Self::Bucket(bucket) => bucket.get(object, range).await,
            Self::Web(web) => web.get(object, range).await,
        }
    }
}
