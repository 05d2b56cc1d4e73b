//! Answers viewers. What one of them got is kept for a moment, so that two hundred viewers cost as much as one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_daemon::website::{Site, WebAnswer, WebRequest};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::access::Access;
use super::document::{Document, SCRIPT, STYLE};
use super::reader::{PageReader, PageReply};
use super::route::Route;
use super::view::{self, Stream};
use crate::failure::Failure;

/// See the module.
#[derive(Debug)]
pub(super) struct Viewers {
    access: Access,
    maker: Arc<PageMaker>,
    /// One page is made at a time, and beside it one list of bad records, which may take long.
    pages: Arc<Semaphore>,
    lists: Arc<Semaphore>,
}

/// Makes pages.
#[derive(Debug)]
struct PageMaker {
    reader: PageReader,
    kept: Mutex<HashMap<Route, KeptPage>>,
}

#[derive(Clone, Debug)]
struct KeptPage {
    made: Instant,
    status: u16,
    html: Arc<str>,
}

/// For so long, a page is what it was.
const KEPT: Duration = Duration::from_secs(1);
const LIST_KEPT: Duration = Duration::from_secs(10);
/// Pages that are kept.
const PAGES: usize = 32;

/// What every answer has. A page loads only the style sheet and the script of this server, and no other site may embed or read it.
const HEADERS: [(&str, &str); 9] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];
const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

impl Viewers {
    pub(super) fn new(access: Access, reader: PageReader) -> Self {
        let maker = Arc::new(PageMaker { reader, kept: Mutex::default() });
        Self { access, maker, pages: Arc::new(Semaphore::new(1)), lists: Arc::new(Semaphore::new(1)) }
    }
}

impl Site for Viewers {
    async fn answer(&self, request: WebRequest) -> WebAnswer {
        let target = match self.access.check(&request) {
            Ok(target) => target,
            Err(refusal) => return answer(refusal.status(), PLAIN, refusal.text().into()),
        };
        let route = match Route::of(target) {
            None => return answer(404, PLAIN, "There is no such page.\n".into()),
            Some(Route::Style) => return answer(200, "text/css; charset=utf-8", STYLE.into()),
            Some(Route::Script) => return answer(200, "text/javascript; charset=utf-8", SCRIPT.into()),
            Some(route) => route,
        };
        let turns = Arc::clone(if route.is_list_of_bad() { &self.lists } else { &self.pages });
        let turn = turns.acquire_owned().await;
        let maker = Arc::clone(&self.maker);
        let made = forebay_threads::beside("page-maker", move || {
            // The turn ends with the work, even if the viewer has gone.
            let _turn = turn;
            maker.page(&route)
        });
        match made.await {
            Ok(KeptPage { status, html, .. }) => answer(status, HTML, html),
            Err(error) => answer(503, PLAIN, format!("The page cannot be made: {error}.\n").into()),
        }
    }
}

fn answer(status: u16, content_type: &'static str, body: Arc<str>) -> WebAnswer {
    let headers = HEADERS.into_iter().chain([("content-type", content_type)]).collect();
    WebAnswer { status, headers, body }
}

impl PageMaker {
    /// The page that was made a moment ago, or a new one.
    fn page(&self, route: &Route) -> KeptPage {
        let keep = if route.is_list_of_bad() { LIST_KEPT } else { KEPT };
        if let Some(kept) = self.kept.lock().get(route).filter(|kept| kept.made.elapsed() < keep) {
            return kept.clone();
        }
        let (status, document) = self.document(route);
        let page = KeptPage { made: Instant::now(), status, html: document.html().into() };
        let mut kept = self.kept.lock();
        kept.retain(|_, page| page.made.elapsed() < LIST_KEPT);
        if kept.len() < PAGES {
            kept.insert(route.clone(), page.clone());
        }
        page
    }

    fn document(&self, route: &Route) -> (u16, Document) {
        let Some(reading) = self.reader.reading() else {
            return (503, view::nothing("Streams", "The daemon has not answered yet. Reload this page."));
        };
        let found = match route {
            Route::Stream { daemon, name } => match &*reading.reply {
                PageReply::Daemons(told) => Stream::of(told, *daemon, name)
                    .map(|stream| Ok(stream.document(&self.reader.history(*daemon, name)))),
                PageReply::Ledgers(_) => None,
            },
            Route::Quarantine { daemon, name, part } => match &*reading.reply {
                PageReply::Daemons(told) => Stream::of(told, *daemon, name)
                    .map(|_stream| self.reader.bad(*daemon, name, *part).map(|bad| view::bad(route, &bad))),
                PageReply::Ledgers(_) => None,
            },
            Route::LedgerQuarantine { ledger, part } => {
                Some(self.reader.bad_of_ledger(ledger, *part).map(|bad| view::bad(route, &bad)))
            }
            _ => view::page(route, &reading).map(Ok),
        };
        let (status, document) = match found {
            Some(Ok(document)) => (200, document),
            Some(Err(Failure::Unavailable(why))) => (503, nothing_of(&why)),
            Some(Err(failure)) => (404, nothing_of(&failure.to_string())),
            None => {
                let why = "No daemon that answers has this open. It may have ended, or its number has changed.";
                (404, nothing_of(why))
            }
        };
        (status, view::dressed(document, route, &reading))
    }
}

fn nothing_of(why: &str) -> Document {
    view::nothing("Nothing to show", why)
}
