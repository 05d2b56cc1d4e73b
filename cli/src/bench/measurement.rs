//! A measurement: a trainer that takes batches from the daemon, and the state of the daemon before and after.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use forebay_client::{AttachError, Next, NextError, Options, Session, Target};
use forebay_daemon::serve;
use forebay_printable::printable;
use forebay_proto::v1::{QuarantineRequest, StatusReply, StatusRequest, StreamQuarantine};
use forebay_ring::SocketError;

use super::figures::Measured;
use super::stop::Stop;
use super::workload::Workload;
use crate::bad::BadPictures;
use crate::daemon::{Client, Daemon, NAMES};
use crate::failure::Failure;
use crate::progress;
use crate::verdict::{Limit, Verdict};

/// A measurement that gave something.
#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) measured: Measured,
    pub(super) before: StatusReply,
    pub(super) after: StatusReply,
    pub(super) bad: BadPictures,
    /// Why the stream could not go on at the end, if that is so.
    pub(super) outage: Option<String>,
}

/// When a measurement ends, and what its trainer does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) time: Duration,
    /// Epochs that are left out first.
    pub(super) after_epochs: u64,
    /// What the trainer does with each batch takes this long.
    pub(super) step: Option<Duration>,
}

/// Why there are no figures.
#[derive(Debug)]
pub(super) enum Unmeasured {
    /// The daemon says what the stream lacks.
    Limited(Failure),
    /// Something else. The daemon may be about to end, with the reason.
    Other(Failure),
}

impl From<Failure> for Unmeasured {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

const WARMING_UP: Duration = Duration::from_secs(1);
/// The daemon is asked for the reason if no batch comes for this long.
const SILENCE: Duration = Duration::from_secs(5);
/// How soon a signal ends a step.
const SLICE: Duration = Duration::from_millis(50);

/// Takes batches of the stream from the daemon in this folder.
pub(super) fn measure(
    workload: &Workload,
    length: Length,
    folder: &Path,
    stop: &mut Stop,
    service_ended: impl FnMut() -> bool,
) -> Result<Measurement, Unmeasured> {
    let sign = progress::sign("looking through the dataset");
    let session = attach(&workload.stream, &folder.join(serve::SOCKET), stop, service_ended);
    sign.finish_and_clear();
    let mut session = session?;
    let daemon = Watched { daemon: Daemon::in_folder(folder), stream: &workload.stream };
    let bar = progress::bar(length.time.as_secs().max(1), "{wide_bar} {pos} of {len} s  {msg}");
    let mut before = None;
    let mut measured = Measured { step: length.step, ..Measured::default() };
    let mut start = Instant::now();
    let mut processor = processor_time();
    let (mut batches, mut epochs) = (0_u64, 0);
    loop {
        let asked = Instant::now();
        let next = session.next(Some(SILENCE), stop);
        measured.waited += asked.elapsed();
        match next {
            Ok(Next::Batch(batch)) => {
                measured.pictures += batch.valid() as u64;
                batches += 1;
                // As in training, it is in hand meanwhile.
                rest(length.step.unwrap_or_default(), stop);
            }
            // An epoch without one batch: the next is like it.
            Ok(Next::EpochEnd(_) | Next::Done) if batches == 0 => break,
            Ok(Next::EpochEnd(_) | Next::Done) => (batches, epochs) = (0, epochs + 1),
            Err(_) if stop.signal().is_some() => break,
            Err(NextError::Timeout { .. } | NextError::Stalled(_)) => daemon.works()?,
            Err(failed @ NextError::Failed(_)) => return Err(daemon.failed(&failed)?),
            Err(error) => return Err(Failure::Failed(error.to_string()).into()),
        }
        if before.is_none() && start.elapsed() >= WARMING_UP && epochs >= length.after_epochs {
            before = Some(daemon.status()?);
            (measured, processor) = (Measured { step: length.step, ..Measured::default() }, processor_time());
            start = Instant::now();
        }
        measured.time = start.elapsed();
        measured.processor = processor_time().saturating_sub(processor);
        if before.is_some() {
            bar.set_position(measured.time.as_secs());
            bar.set_message(format!("{:.0} pictures/s", measured.rate()));
            if measured.time >= length.time && (measured.pictures > 0 || stop.signal().is_some()) {
                break;
            }
        }
    }
    bar.finish_and_clear();
    let Some(before) = before.filter(|_| measured.pictures > 0) else {
        let none = || Failure::Failed(format!("No picture of \"{}\" was delivered.", printable(&workload.dataset())));
        return Err(stop.signal().map_or_else(none, nothing_yet).into());
    };
    let (after, bad) = (daemon.status()?, daemon.bad()?);
    session.close().map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(Measurement { measured, before, outage: outage(&after), after, bad })
}

/// The daemon that is asked while it is measured.
struct Watched<'a> {
    daemon: Daemon,
    stream: &'a str,
}

impl Watched<'_> {
    fn status(&self) -> Result<StatusReply, Failure> {
        self.daemon.ask(|mut client| async move { client.status(StatusRequest {}).await })
    }

    /// It can go on, unless the stream has failed, or waits for its storage or its ledger.
    fn works(&self) -> Result<(), Unmeasured> {
        outage(&self.status()?).map_or(Ok(()), |sentence| Err(Unmeasured::Limited(Failure::Failed(sentence))))
    }

    /// The trainer got an error because the stream has failed.
    fn failed(&self, told: &NextError) -> Result<Unmeasured, Failure> {
        // The daemon names one bad picture of many.
        let sentence = outage(&self.status()?).unwrap_or_else(|| told.to_string());
        let words = self.bad()?.beside(&sentence.trim_end_matches('.'));
        Ok(Unmeasured::Limited(Failure::Failed(words)))
    }

    /// The pictures that were left out.
    fn bad(&self) -> Result<BadPictures, Failure> {
        let mut bad = BadPictures::default();
        let request = QuarantineRequest { stream: self.stream.to_owned() };
        let ask = |mut client: Client| async move { client.list_quarantine(request).await };
        self.daemon.ask_pages(ask, |page: StreamQuarantine| {
            for each in page.records {
                bad.add(each.record, each.file, each.reason);
            }
            Ok(())
        })?;
        Ok(bad)
    }
}

/// What `forebay status` says of a daemon whose only stream cannot go on.
fn outage(status: &StatusReply) -> Option<String> {
    let stream = status.streams.first()?;
    let verdict = Verdict::of((status, status), stream, None, None);
    let is_outage = matches!(verdict.limit, Limit::Failed | Limit::Storage | Limit::Ledger);
    is_outage.then_some(verdict.sentence)
}

fn attach(
    stream: &str,
    socket: &Path,
    stop: &mut Stop,
    mut service_ended: impl FnMut() -> bool,
) -> Result<Session, Failure> {
    loop {
        // Looked at before: it may come while the attempt fails.
        let there = socket.exists();
        let target = Target::Stream { socket: Some(socket.to_owned()), name: stream.to_owned(), settings: None };
        let refused = match Session::attach(target, Options::default(), stop) {
            Ok(session) => return Ok(session),
            Err(error) => error,
        };
        if let Some(signal) = stop.signal() {
            return Err(nothing_yet(signal));
        }
        if service_ended() || (there && !is_about_to_listen(&refused)) {
            return Err(Failure::Failed(refused.in_words_of(&NAMES)));
        }
        // The daemon is about to make its socket.
        std::thread::park_timeout(SLICE);
    }
}

/// Whether a daemon has made its socket, and does not listen there yet.
fn is_about_to_listen(error: &AttachError) -> bool {
    let AttachError::Connect { source: SocketError::Io(cause), .. } = error else { return false };
    cause.kind() == io::ErrorKind::ConnectionRefused
}

fn nothing_yet(signal: rustix::process::Signal) -> Failure {
    Failure::Interrupted(signal, "Nothing was measured until then.")
}

/// Does nothing for this long, as the host while a GPU computes.
fn rest(time: Duration, stop: &Stop) {
    let until = Instant::now() + time;
    while stop.signal().is_none() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        // Nothing unparks this thread, but it may wake early.
        std::thread::park_timeout(left.min(SLICE));
    }
}

/// Of this process.
fn processor_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}
