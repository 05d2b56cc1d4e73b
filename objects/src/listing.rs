//! Lists a store, many prefixes at once. A store gives a thousand keys in one page, and a page only after the one
//! before it, so folders are listed side by side.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::BuildHasher as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream::{FuturesUnordered, StreamExt as _};

use crate::backend::{Backend, Page};
use crate::fault::{Fault, FaultKind};
use crate::fetch::retried;
use crate::{Object, Retries};

/// Prefixes that are listed at once.
const PARALLEL: usize = 32;
/// Folders under one prefix up to which their own folders are listed side by side as well.
const FEW: usize = 16;
/// Folders under one prefix above which the prefix is listed as a whole: a page for each folder would cost more.
const MANY: usize = 4096;
/// Objects that a list may have. More are not a dataset, but a store that repeats itself.
const OBJECTS_LIMIT: usize = 1 << 30;
/// Objects of a list that is read page after page, in one row. Above it, such a list takes hours.
const WHOLE_LIMIT: usize = 1 << 24;
/// Folders that a list may have, and bytes of all its keys.
const FOLDERS_LIMIT: usize = 1 << 26;
const KEY_BYTES_LIMIT: usize = 1 << 36;
/// Empty pages in a row that a list may have. Stores send them for what was deleted.
const EMPTY_LIMIT: usize = 1000;

/// Something to be listed.
#[derive(Debug)]
struct Job {
    prefix: String,
    /// Whether all keys below are listed, and not only those down to the next slash.
    deep: bool,
}

/// What a job found.
struct Found {
    job: Job,
    objects: Vec<Object>,
    prefixes: Vec<String>,
}

type Listing<'a> = Pin<Box<dyn Future<Output = Result<Found, Fault>> + Send + 'a>>;

/// All objects whose key begins with the prefix, sorted by the bytes of their keys, without the empty objects that are
/// folder markers. `tell` gets the number found so far, from time to time.
pub(crate) async fn list(
    backend: &Backend,
    retries: &Retries,
    prefix: &str,
    tell: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Object>, Fault> {
    let found = AtomicUsize::new(0);
    let more = |count| tell((found.fetch_add(count, Ordering::Relaxed) + count) as u64);
    if backend.lists_whole() {
        let job = Job { prefix: prefix.to_owned(), deep: true };
        let Found { mut objects, .. } = pages(backend, retries, job, &more).await?;
        within_limit(&objects, WHOLE_LIMIT)?;
        objects.sort_unstable_by(|a, b| a.key.as_bytes().cmp(b.key.as_bytes()));
        return Ok(objects);
    }
    let mut waiting = vec![Job { prefix: prefix.to_owned(), deep: false }];
    let mut running: FuturesUnordered<Listing<'_>> = FuturesUnordered::new();
    let (mut objects, mut key_bytes, mut folders) = (Vec::new(), 0, 0);
    let mut may_be_marks = HashSet::new();
    loop {
        while running.len() < PARALLEL
            && let Some(job) = waiting.pop()
        {
            running.push(Box::pin(pages(backend, retries, job, &more)));
        }
        let Some(ended) = running.next().await else { break };
        let Found { job, objects: new, prefixes } = ended?;
        if prefixes.len() > MANY {
            found.fetch_sub(new.len(), Ordering::Relaxed);
            waiting.push(Job { prefix: job.prefix, deep: true });
            continue;
        }
        let deep = prefixes.len() > FEW;
        folders += prefixes.len();
        key_bytes += new.iter().map(|object| object.key.len()).sum::<usize>();
        waiting.extend(prefixes.into_iter().map(|prefix| Job { prefix, deep }));
        if job.deep {
            may_be_marks.extend(new.iter().filter(|object| may_be_mark(object)).map(|object| object.key.clone()));
        }
        objects.extend(new);
        within_limit(&objects, OBJECTS_LIMIT)?;
        for (count, limit, what) in [(folders, FOLDERS_LIMIT, "folders"), (key_bytes, KEY_BYTES_LIMIT, "bytes of keys")]
        {
            if count > limit {
                return Err(Fault::new(FaultKind::Unreadable, format!("the list has more than {limit} {what}")));
            }
        }
    }
    objects.sort_unstable_by(|a, b| a.key.as_bytes().cmp(b.key.as_bytes()));
    without_marks(backend, retries, objects, &may_be_marks).await
}

fn within_limit(objects: &[Object], limit: usize) -> Result<(), Fault> {
    if objects.len() <= limit {
        return Ok(());
    }
    let problem = format!("the list has more than {limit} objects; pack them into larger files, such as tars");
    Err(Fault::new(FaultKind::Unreadable, problem))
}

/// All pages of one prefix, or some of them if it has more than [`MANY`] prefixes. `more` gets the number of objects of each
/// page.
async fn pages(backend: &Backend, retries: &Retries, job: Job, more: &(dyn Fn(usize) + Sync)) -> Result<Found, Fault> {
    let limit = if backend.lists_whole() { WHOLE_LIMIT } else { OBJECTS_LIMIT };
    let mut found = Found { job, objects: Vec::new(), prefixes: Vec::new() };
    let (mut from, mut empty) = (None, 0);
    // Where pages began. A list that returns to one of them would never end.
    let (mut seen, marks) = (HashSet::new(), RandomState::new());
    loop {
        let (prefix, deep) = (&found.job.prefix, found.job.deep);
        let page = retried(retries, || backend.page(prefix, deep, from.clone(), None)).await?;
        let Page { objects, prefixes, next } = page;
        empty = if objects.is_empty() && prefixes.is_empty() { empty + 1 } else { 0 };
        // The mark of the folder itself loses its slash in the library, and with it the prefix.
        let before = found.objects.len();
        found.objects.extend(objects.into_iter().filter(|object| object.key.starts_with(prefix.as_str())));
        // A prefix that is not below this one would lead to the same list again.
        found.prefixes.extend(
            prefixes.into_iter().filter(|below| below.len() > prefix.len() && below.starts_with(prefix.as_str())),
        );
        more(found.objects.len() - before);
        let too_many = found.prefixes.len() > MANY || found.objects.len() > limit;
        match next {
            None => return Ok(found),
            Some(_) if too_many => return Ok(found),
            Some(next) if !seen.insert(marks.hash_one(&next)) || empty > EMPTY_LIMIT => {
                return Err(Fault::new(
                    FaultKind::Unavailable,
                    "the store's list does not end: it repeats a page, or all further pages are empty",
                ));
            }
            Some(next) => from = Some(next),
        }
    }
}

/// Whether the store must be asked about an object. Empty files with an extension, such as labels of pictures without objects,
/// may be as many as there are pictures.
fn may_be_mark(object: &Object) -> bool {
    let name = object.key.rsplit('/').next().unwrap_or_default();
    object.size == 0 && !name.get(1..).is_some_and(|rest| rest.contains('.'))
}

/// Leaves out the marks of folders: `train/`, of which the library shows an empty object `train`. An empty object
/// with keys below it is one. Of those that may be marks, the store is asked. Only a list of all that is below a folder has marks.
async fn without_marks(
    backend: &Backend,
    retries: &Retries,
    objects: Vec<Object>,
    may_be_marks: &HashSet<String>,
) -> Result<Vec<Object>, Fault> {
    let mut marks = Vec::new();
    let mut asked = Vec::new();
    for (place, object) in objects.iter().enumerate().filter(|(_, object)| object.size == 0) {
        if has_keys_below(&objects[place..], &object.key) {
            marks.push(place);
        } else if may_be_marks.contains(&object.key) {
            asked.push(place);
        }
    }
    let answers = asked.into_iter().map(|place| {
        let folder = format!("{}/", objects[place].key);
        async move {
            let page = retried(retries, || backend.page(&folder, true, None, Some(1))).await?;
            let is_mark = !page.objects.is_empty();
            Ok::<_, Fault>(is_mark.then_some(place))
        }
    });
    let mut answers = futures_util::stream::iter(answers).buffer_unordered(PARALLEL);
    while let Some(answer) = answers.next().await {
        marks.extend(answer?);
    }
    drop(answers);
    marks.sort_unstable();
    let mut place = 0;
    let mut kept = objects;
    kept.retain(|_| {
        place += 1;
        marks.binary_search(&(place - 1)).is_err()
    });
    Ok(kept)
}

/// Whether one of the sorted objects is in the folder of this name.
fn has_keys_below(sorted: &[Object], name: &str) -> bool {
    let below = |object: &Object| object.key.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    // Between a name and what is below it there may be other names: `a`, `a-b`, `a/c`.
    let first = sorted.partition_point(|object| object.key.as_bytes() < format!("{name}/").as_bytes());
    sorted.get(first).is_some_and(below)
}
