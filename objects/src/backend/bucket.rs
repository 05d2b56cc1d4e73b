//! Objects of a store with an interface of its own, through the library `object_store`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures_util::StreamExt as _;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::{Error as PathError, Path};
use object_store::{Extensions, GetOptions, GetRange, ObjectMeta, ObjectStore};

use super::{Body, Page};
use crate::fault::{Fault, FaultKind};
use crate::fault_slot::FaultSlot;
use crate::object::{Pin, version_of_etag};
use crate::{Object, Secret};

/// A bucket or a container.
pub(crate) struct Bucket {
    objects: Arc<dyn ObjectStore>,
    lists: Arc<dyn PaginatedListStore>,
    /// What decides which server answers.
    server: String,
    /// Texts that must be in no error.
    secrets: Vec<Secret>,
    credentials: BucketCredentials,
}

/// Credentials that may be missing.
pub(super) struct BucketCredentials {
    /// What the last request for them met.
    pub(super) slot: FaultSlot,
    /// How they are given to this store, as the end of an error.
    pub(super) hint: &'static str,
}

impl Bucket {
    pub(super) fn new<S: ObjectStore + PaginatedListStore>(
        store: S,
        server: String,
        secrets: Vec<Secret>,
        credentials: BucketCredentials,
    ) -> Self {
        let store = Arc::new(store);
        Self { objects: Arc::clone(&store) as _, lists: store, server, secrets, credentials }
    }

    /// What decides which server answers, beside the URL. May have secrets.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(crate) async fn head(&self, key: &str) -> Result<Object, Fault> {
        let slot = FaultSlot::default();
        let options = GetOptions { head: true, extensions: noted(&slot), ..GetOptions::default() };
        let path = path(key)?;
        match self.objects.get_opts(&path, options).await {
            Ok(found) => Ok(Object { key: key.to_owned(), size: found.meta.size, version: version(&found.meta) }),
            Err(error) => Err(self.explained(&path, self.fault(&error, &slot)).await),
        }
    }

    /// An answer to HEAD has no body, and so no code: a token that has expired looks like an object that may not be read. The
    /// answer to a read of one byte has the code.
    async fn explained(&self, path: &Path, fault: Fault) -> Fault {
        if !matches!(fault.kind, FaultKind::Denied | FaultKind::Unreadable) {
            return fault;
        }
        let slot = FaultSlot::default();
        let range = Some(GetRange::Bounded(0..1));
        let options = GetOptions { range, extensions: noted(&slot), ..GetOptions::default() };
        let Err(error) = self.objects.get_opts(path, options).await else { return fault };
        let told = self.fault(&error, &slot);
        let is_of_object = matches!(told.kind, FaultKind::Denied | FaultKind::Unreadable | FaultKind::Changed);
        if is_of_object { fault } else { told }
    }

    pub(crate) async fn get(&self, object: &Object, range: Range<u64>) -> Result<Body, Fault> {
        let slot = FaultSlot::default();
        let mut options = GetOptions { extensions: noted(&slot), ..GetOptions::default() };
        options.range = Some(GetRange::Bounded(range.clone()));
        if let Pin::Strong(etag) = object.pin() {
            options.if_match = Some(format!("\"{etag}\""));
        }
        let found = self.objects.get_opts(&path(&object.key)?, options).await;
        let found = found.map_err(|error| self.fault(&error, &slot))?;
        if !object.is(Some(found.meta.size), version(&found.meta).as_deref()) {
            return Err(Fault::new(FaultKind::Changed, ""));
        }
        if found.range != range {
            return Err(Fault::new(FaultKind::Unavailable, "the store sends other bytes than were asked for"));
        }
        let bytes = found.into_stream().map(|chunk| chunk.map_err(|error| Fault::of_transport(&error)));
        Ok(Body { skip: 0, bytes: bytes.boxed() })
    }

    /// A page of the keys that begin with `prefix`: of all of them or, if not `deep`, down to the next slash.
    pub(crate) async fn page(
        &self,
        prefix: &str,
        deep: bool,
        from: Option<String>,
        limit: Option<usize>,
    ) -> Result<Page, Fault> {
        let slot = FaultSlot::default();
        let options = PaginatedListOptions {
            delimiter: (!deep).then(|| "/".into()),
            page_token: from,
            max_keys: limit,
            extensions: noted(&slot),
            ..PaginatedListOptions::default()
        };
        let prefix = (!prefix.is_empty()).then_some(prefix);
        let listed = self.lists.list_paginated(prefix, options).await;
        let listed = listed.map_err(|error| self.fault(&error, &slot))?;
        let object =
            |meta: ObjectMeta| Object { version: version(&meta), size: meta.size, key: String::from(meta.location) };
        // The library drops the first slash of a key, and so gives the name of another object.
        if listed.result.common_prefixes.iter().any(|prefix| prefix.as_ref().is_empty()) {
            return Err(odd_key("/"));
        }
        Ok(Page {
            objects: listed.result.objects.into_iter().map(object).collect(),
            prefixes: listed.result.common_prefixes.iter().map(|prefix| format!("{prefix}/")).collect(),
            next: listed.page_token,
        })
    }

    /// What the client noted, or else what the library says: that the credentials cannot be had, or that an answer
    /// makes no sense.
    fn fault(&self, error: &object_store::Error, slot: &FaultSlot) -> Fault {
        if let Some(fault) = slot.take() {
            return fault;
        }
        if let Some(fault) = self.credentials.slot.take() {
            let cause = if fault.cause.is_empty() { "the server has none" } else { &fault.cause };
            let kind = if fault.kind == FaultKind::Resources { fault.kind } else { FaultKind::Unavailable };
            return Fault::new(kind, format!("no credentials were found ({cause}); {}", self.credentials.hint));
        }
        if let object_store::Error::InvalidPath { source } = error
            && let Some(key) = key_of(source)
        {
            return odd_key(key);
        }
        let lacks = Fault::of_transport(error).kind == FaultKind::Resources;
        let kind = match error {
            _ if lacks => FaultKind::Resources,
            object_store::Error::InvalidPath { .. } | object_store::Error::NotSupported { .. } => FaultKind::Unreadable,
            _ => FaultKind::Unavailable,
        };
        let mut text = error.to_string();
        for secret in &self.secrets {
            text = text.replace(secret.expose(), "(hidden)");
        }
        Fault::new(kind, text)
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").finish_non_exhaustive()
    }
}

/// Extensions by which the client tells what the request met.
fn noted(slot: &FaultSlot) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(slot.clone());
    extensions
}

/// The key as the library takes it: as it is, with nothing encoded twice.
fn path(key: &str) -> Result<Path, Fault> {
    let path = Path::parse(key).ok().filter(|path| path.as_ref() == key);
    path.ok_or_else(|| odd_key(key))
}

/// The key that the library refuses.
fn key_of(error: &PathError) -> Option<&str> {
    match error {
        PathError::EmptySegment { path } | PathError::BadSegment { path, .. } => Some(path),
        _ => None,
    }
}

fn odd_key(key: &str) -> Fault {
    let problem = format!(
        "the key \"{key}\" has an empty part, a part of dots alone, or a control character, and cannot be read; rename the object"
    );
    Fault::new(FaultKind::Unreadable, problem)
}

fn version(meta: &ObjectMeta) -> Option<String> {
    let etag = meta.e_tag.as_deref().and_then(version_of_etag);
    let changed = meta.last_modified.timestamp();
    etag.or_else(|| (changed != 0).then(|| format!("@{changed}")))
}
