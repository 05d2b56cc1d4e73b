//! Asks the daemons or the coordinator, from one thread of its own: once for all viewers who ask within a second, and otherwise every
//! ten seconds, for the history.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_proto::v1::{
    DrawingReply, DrawingRequest, LedgerStatus, ListQuarantineRequest, QuarantineRequest, QuarantinedRecord,
};
use parking_lot::{Condvar, Mutex};

use super::history::{RateHistory, RatePoint, STEP};
use super::route::ROWS;
use crate::daemon::{Client, Daemon};
use crate::failure::Failure;
use crate::remote::Coordinator;
use crate::status::Told;

/// Who is asked.
#[derive(Debug)]
pub(super) enum PageSource {
    Daemons(Daemon),
    Coordinator(Coordinator),
}

/// What was answered, and when.
#[derive(Debug)]
pub(super) struct PageReading {
    at: Instant,
    /// When something newer was asked for last.
    tried: Instant,
    pub(super) reply: Arc<PageReply>,
    /// Why nothing newer is known.
    pub(super) failing: Option<String>,
}

/// What was answered.
#[derive(Debug)]
pub(super) enum PageReply {
    /// By the service or the user's daemon, and the private daemons of the user.
    Daemons(Vec<Told>),
    /// By the coordinator.
    Ledgers(Vec<LedgerStatus>),
}

/// The rows of a list of bad records that are shown.
#[derive(Debug, Default)]
pub(super) struct BadRows {
    pub(super) rows: Vec<QuarantinedRecord>,
    /// Times that a record was put in quarantine. The list may be shorter, since its length is bounded.
    pub(super) quarantined: u64,
    /// There are further rows behind these.
    pub(super) more: bool,
    /// Rows before these.
    pub(super) skipped: usize,
    /// Rows that are shown at most.
    pub(super) most: usize,
}

/// See the module.
#[derive(Debug)]
pub(super) struct PageReader(Arc<ReaderShared>);

#[derive(Debug)]
struct ReaderShared {
    source: PageSource,
    state: Mutex<ReaderState>,
    /// A viewer asks.
    asked: Condvar,
    /// There is a newer reading.
    read: Condvar,
}

#[derive(Debug, Default)]
struct ReaderState {
    latest: Option<Arc<PageReading>>,
    history: RateHistory,
    /// A viewer waits.
    wanted: bool,
    /// Readings so far.
    count: u64,
}

/// How old a reading may be that a viewer gets.
const FRESH: Duration = Duration::from_secs(1);
/// A viewer gets the last reading if a newer one takes longer than this.
const PATIENCE: Duration = Duration::from_secs(5);

impl PageReader {
    /// Begins to read.
    ///
    /// # Errors
    /// The system has no room for a thread.
    pub(super) fn start(source: PageSource) -> io::Result<Self> {
        let state = Mutex::new(ReaderState::default());
        let shared = Arc::new(ReaderShared { source, state, asked: Condvar::new(), read: Condvar::new() });
        let own = Arc::clone(&shared);
        forebay_threads::start("page-reader", move || own.read_on())?;
        Ok(Self(shared))
    }

    /// A reading that is fresh, or the last one if none comes.
    pub(super) fn reading(&self) -> Option<Arc<PageReading>> {
        let mut state = self.0.state.lock();
        let is_fresh = |reading: &Arc<PageReading>| reading.tried.elapsed() < FRESH;
        if !state.latest.as_ref().is_some_and(is_fresh) {
            let (known, until) = (state.count, Instant::now() + PATIENCE);
            state.wanted = true;
            self.0.asked.notify_one();
            while state.count == known && !self.0.read.wait_until(&mut state, until).timed_out() {}
        }
        state.latest.clone()
    }

    /// What a stream has done in the last hour, with the time at which that ends.
    pub(super) fn history(&self, daemon: u32, name: &str) -> Vec<RatePoint> {
        self.0.state.lock().history.of(daemon, name)
    }

    /// The daemon with this process number.
    fn daemon(&self, daemon: u32) -> Result<Daemon, Failure> {
        let nothing = || Failure::Failed(format!("No daemon with the process number {daemon} runs."));
        let PageSource::Daemons(asked) = &self.0.source else { return Err(nothing()) };
        let all = asked.all()?;
        let found = all.iter().find(|each| each.private() == Some(daemon));
        found.or_else(|| all.iter().find(|each| each.private().is_none())).cloned().ok_or_else(nothing)
    }

    /// What the pictures of a daemon's stream are drawn from.
    pub(super) fn drawing(&self, daemon: u32, name: &str) -> Result<DrawingReply, Failure> {
        let request = DrawingRequest { stream: name.to_owned() };
        self.daemon(daemon)?.ask(|mut client| async move { client.drawing(request).await })
    }

    /// A part of the bad records of a daemon's stream, with so many rows.
    pub(super) fn bad(&self, daemon: u32, name: &str, part: usize, rows: usize) -> Result<BadRows, Failure> {
        let mut bad = BadRows::before(part, rows);
        let found = self.daemon(daemon)?;
        // The shards of a stream are asked for together.
        let request = QuarantineRequest { stream: name.split(" (").next().unwrap_or_default().to_owned() };
        let ask = |mut client: Client| async move { client.list_quarantine(request).await };
        let asked = found.ask_pages(ask, |page| {
            if page.stream == name {
                bad.add(page.records, page.quarantined);
            }
            // Nothing behind the rows that are shown is asked for.
            if bad.more { Err(Failure::Unavailable(String::new())) } else { Ok(()) }
        });
        match asked {
            Err(_) if bad.more => Ok(bad),
            asked => asked.map(|()| bad),
        }
    }

    /// A part of the bad records of a ledger.
    pub(super) fn bad_of_ledger(&self, ledger: &str, part: usize) -> Result<BadRows, Failure> {
        let mut bad = BadRows::before(part, ROWS);
        let PageSource::Coordinator(coordinator) = &self.0.source else { return Ok(bad) };
        let mut after = None;
        loop {
            let page = coordinator.ask(ListQuarantineRequest { ledger: ledger.to_owned(), after })?;
            after = page.records.last().map(QuarantinedRecord::key);
            bad.add(page.records, page.quarantined);
            if bad.more || !page.more {
                return Ok(bad);
            }
        }
    }
}

impl PageReading {
    /// Of this moment.
    #[cfg(test)]
    pub(super) fn now(said: PageReply) -> Self {
        let at = Instant::now();
        Self { at, tried: at, reply: Arc::new(said), failing: None }
    }

    pub(super) fn age(&self) -> Duration {
        self.at.elapsed()
    }
}

impl BadRows {
    /// None yet of this part.
    fn before(part: usize, most: usize) -> Self {
        Self { skipped: (part - 1) * most, most, ..Self::default() }
    }

    /// Takes the next rows of the list.
    fn add(&mut self, rows: Vec<QuarantinedRecord>, quarantined: u64) {
        self.quarantined = quarantined;
        let skip = self.skipped.min(rows.len());
        self.skipped -= skip;
        let mut rows = rows.into_iter().skip(skip);
        self.rows.extend(rows.by_ref().take(self.most - self.rows.len()));
        self.more |= rows.next().is_some();
    }
}

impl ReaderShared {
    fn read_on(&self) {
        let began = Instant::now();
        let mut noted: Option<Instant> = None;
        loop {
            let said = self.ask();
            let now = Instant::now();
            let mut state = self.state.lock();
            // The history has one point every ten seconds, however many viewers ask.
            let is_due = noted.is_none_or(|noted| now - noted >= STEP);
            if is_due && let Ok(PageReply::Daemons(told)) = &said {
                let replies = told.iter().filter_map(|told| told.reply.as_ref().ok());
                let streams = replies.flat_map(|reply| reply.streams.iter().map(|stream| (reply.pid, stream)));
                state.history.note(now - began, streams);
            }
            if is_due {
                noted = Some(now);
            }
            state.take(said, now);
            self.read.notify_all();
            let next = noted.unwrap_or(now) + STEP;
            while !state.wanted && !self.asked.wait_until(&mut state, next).timed_out() {}
            state.wanted = false;
        }
    }

    fn ask(&self) -> Result<PageReply, String> {
        let said = match &self.source {
            PageSource::Daemons(daemon) => Told::of_all(daemon).map(PageReply::Daemons),
            PageSource::Coordinator(coordinator) => coordinator.ledgers(None).map(PageReply::Ledgers),
        };
        said.map_err(|failure| failure.to_string())
    }
}

impl ReaderState {
    /// Keeps an answer, or the last answer with the reason why there is no newer one.
    fn take(&mut self, said: Result<PageReply, String>, now: Instant) {
        self.count += 1;
        let reading = match (said, &self.latest) {
            (Ok(said), _) => PageReading { at: now, tried: now, reply: Arc::new(said), failing: None },
            (Err(why), Some(last)) => {
                PageReading { at: last.at, tried: now, reply: Arc::clone(&last.reply), failing: Some(why) }
            }
            (Err(why), None) => {
                let said = Arc::new(PageReply::Daemons(Vec::new()));
                PageReading { at: now, tried: now, reply: said, failing: Some(why) }
            }
        };
        self.latest = Some(Arc::new(reading));
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::StatusReply;

    use super::*;

    fn rows(from: u64, to: u64) -> Vec<QuarantinedRecord> {
        (from..to).map(|record| QuarantinedRecord { record, ..Default::default() }).collect()
    }

    #[test]
    fn a_part_of_a_list_is_found_over_the_pages_in_which_it_comes() {
        let all = |part| {
            let mut bad = BadRows::before(part, ROWS);
            for from in (0..1030).step_by(70) {
                if bad.more {
                    break;
                }
                bad.add(rows(from, (from + 70).min(1030)), 1030);
            }
            (bad.rows.first().map(|row| row.record), bad.rows.len(), bad.more)
        };
        assert_eq!(all(1), (Some(0), 100, true));
        assert_eq!(all(3), (Some(200), 100, true));
        assert_eq!(all(11), (Some(1000), 30, false));
        assert_eq!(all(12), (None, 0, false));
        let mut whole = BadRows::before(1, ROWS);
        whole.add(rows(0, 100), 100);
        assert!(!whole.more && whole.rows.len() == 100);
    }

    #[test]
    fn what_was_said_last_is_kept_beside_the_reason_why_nobody_answers() {
        let mut state = ReaderState::default();
        let now = Instant::now();
        state.take(Err("nobody".into()), now);
        assert_eq!(state.latest.as_ref().unwrap().failing.as_deref(), Some("nobody"));
        let told = Told { loader: None, reply: Ok(StatusReply { pid: 7, ..Default::default() }) };
        state.take(Ok(PageReply::Daemons(vec![told])), now);
        assert_eq!(state.latest.as_ref().unwrap().failing, None);
        state.take(Err("it ended".into()), now + FRESH);
        let latest = state.latest.as_ref().unwrap();
        assert_eq!((latest.failing.as_deref(), latest.at), (Some("it ended"), now));
        assert!(matches!(&*latest.reply, PageReply::Daemons(told) if told.len() == 1));
        assert_eq!(state.count, 3);
    }
}
