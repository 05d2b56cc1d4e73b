//! Answers viewers. What one of them got is kept for a moment, so that two hundred viewers cost as much as one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_daemon::website::{Site, WebAnswer, WebRequest};
use forebay_proto::v1::DrawingReply;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::access::Access;
use super::document::{Document, SCRIPT, STYLE};
use super::pictures::{PagePictures, SheetKey};
use super::reader::{PageReader, PageReply};
use super::route::{PICTURES, ROWS, Route};
use super::view::{self, Stream};
use crate::draw_pictures::DrawnAs;
use crate::failure::Failure;

/// See the module.
#[derive(Debug)]
pub(super) struct Viewers {
    access: Access,
    maker: Arc<PageMaker>,
    /// One page is made at a time, and beside it one list of bad records, which may take long.
    pages: Arc<Semaphore>,
    lists: Arc<Semaphore>,
    /// So many pages with pictures are made at a time, each by a child process.
    drawn: Arc<Semaphore>,
}

/// Makes pages.
#[derive(Debug)]
struct PageMaker {
    reader: PageReader,
    /// None if the page has no pictures.
    pictures: Option<PagePictures>,
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
/// Pages whose pictures are drawn at a time.
const DRAWN_AT_ONCE: usize = 2;
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
    pub(super) fn new(access: Access, reader: PageReader, pictures: Option<PagePictures>) -> Self {
        let maker = Arc::new(PageMaker { reader, pictures, kept: Mutex::default() });
        let [pages, lists, drawn] = [1, 1, DRAWN_AT_ONCE].map(|most| Arc::new(Semaphore::new(most)));
        Self { access, maker, pages, lists, drawn }
    }
}

impl Site for Viewers {
    async fn answer(&self, request: WebRequest) -> WebAnswer {
        let target = match self.access.check(&request) {
            Ok(target) => target,
            Err(refusal) => return text(refusal.status(), PLAIN, refusal.text().into()),
        };
        let route = match Route::of(target) {
            None => return text(404, PLAIN, "There is no such page.\n".into()),
            Some(Route::Style) => return text(200, "text/css; charset=utf-8", STYLE.into()),
            Some(Route::Script) => return text(200, "text/javascript; charset=utf-8", SCRIPT.into()),
            Some(Route::Image { name }) => {
                let image = self.maker.pictures.as_ref().and_then(|pictures| pictures.image(&name));
                let Some(image) = image else { return text(404, PLAIN, "There is no such image any more.\n".into()) };
                return answer(200, image.content_type, image.bytes);
            }
            Some(route) => route,
        };
        let turns = match &route {
            route if route.has_pictures() => &self.drawn,
            route if route.is_list_of_bad() => &self.lists,
            _ => &self.pages,
        };
        let turns = Arc::clone(turns);
        let turn = turns.acquire_owned().await;
        let maker = Arc::clone(&self.maker);
        let made = forebay_threads::beside("page-maker", move || {
            // The turn ends with the work, even if the viewer has gone.
            let _turn = turn;
            maker.page(&route)
        });
        match made.await {
            Ok(KeptPage { status, html, .. }) => text(status, HTML, html),
            Err(error) => text(503, PLAIN, format!("The page cannot be made: {error}.\n").into()),
        }
    }
}

fn text(status: u16, content_type: &'static str, body: Arc<str>) -> WebAnswer {
    answer(status, content_type, body.into())
}

fn answer(status: u16, content_type: &'static str, body: Arc<[u8]>) -> WebAnswer {
    let headers = HEADERS.into_iter().chain([("content-type", content_type)]).collect();
    WebAnswer { status, headers, body }
}

impl PageMaker {
    /// The page that was made a moment ago, or a new one.
    fn page(&self, route: &Route) -> KeptPage {
        let keep = if route.is_long() { LIST_KEPT } else { KEPT };
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
                    .map(|_stream| self.reader.bad(*daemon, name, *part, ROWS).map(|bad| view::bad(route, &bad))),
                PageReply::Ledgers(_) => None,
            },
            Route::BadPictures { daemon, name, .. } | Route::Batch { daemon, name } => match &*reading.reply {
                PageReply::Daemons(told) => {
                    Stream::of(told, *daemon, name).map(|_stream| self.with_pictures(route, *daemon, name))
                }
                PageReply::Ledgers(_) => None,
            },
            Route::LedgerQuarantine { ledger, part } => {
                Some(self.reader.bad_of_ledger(ledger, *part).map(|bad| view::bad(route, &bad)))
            }
            _ => view::page(route, &reading).map(Ok),
        };
        let (status, mut document) = match found {
            Some(Ok(document)) => (200, document),
            Some(Err(Failure::Unavailable(why))) => (503, nothing_of(&why)),
            Some(Err(failure)) => (404, nothing_of(&failure.to_string())),
            None => {
                let why = "No daemon that answers has this open. It may have ended, or its number has changed.";
                (404, nothing_of(why))
            }
        };
        if self.pictures.is_some() && status == 200 {
            document.links.extend(view::link_to_pictures(route));
        }
        (status, view::dressed(document, route, &reading))
    }

    /// A page with pictures, or with the reason why it has none.
    fn with_pictures(&self, route: &Route, daemon: u32, name: &str) -> Result<Document, Failure> {
        let Some(pictures) = &self.pictures else {
            return Err(Failure::Failed("This page was started with --no-pictures.".to_owned()));
        };
        let sheet = |from: DrawingReply, drawn_as, turns| {
            pictures.sheet(SheetKey { daemon, stream: name.to_owned(), drawn_as, turns }, from)
        };
        if let Route::BadPictures { part, .. } = route {
            let bad = self.reader.bad(daemon, name, *part, PICTURES)?;
            let turns = bad.rows.iter().map(|row| (row.record, 0)).collect();
            let drawn = || self.reader.drawing(daemon, name).and_then(|from| sheet(from, DrawnAs::Stored, turns));
            let drawn = if bad.rows.is_empty() { Ok([].into()) } else { drawn() };
            return Ok(view::bad_pictures(route, &bad, drawn));
        }
        let from = self.reader.drawing(daemon, name)?;
        let (epoch, turns) = (from.epoch, from.turns.clone());
        let numbers: Vec<_> =
            turns.iter().map(|turn| (turn.record, u16::try_from(turn.repeat).unwrap_or_default())).collect();
        let drawn =
            if numbers.is_empty() { Ok([].into()) } else { sheet(from, DrawnAs::Epoch(epoch), numbers.clone()) };
        Ok(view::batch(route, epoch, &numbers, drawn))
    }
}

fn nothing_of(why: &str) -> Document {
    view::nothing("Nothing to show", why)
}
