//! A session for C: one thread at a time is in a call, and closing it ends that call's wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forebay_client::{Broken, Next, NextError, Notice, Options, Patient, Session as Client, StreamInfo, Target, Watch};
use parking_lot::Mutex;

use crate::failure::{Failure, Status};
use crate::handle::Handles;

/// The open sessions of this process.
pub(crate) static SESSIONS: Handles<OpenSession> = Handles::new("session");

/// An attachment to a stream.
#[derive(Debug)]
pub(crate) struct OpenSession {
    client: Mutex<Client>,
    info: StreamInfo,
    credits: u32,
    missed: Mutex<Option<Missed>>,
    closing: AtomicBool,
}

/// Batches that the trainer's group does not get. [`NextError::Missed`] describes the fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missed {
    pub(crate) epoch: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) records: u64,
}

/// Ends a wait when the session is closed.
struct UntilClosed<'a>(&'a AtomicBool);

impl OpenSession {
    pub(crate) fn attach(target: Target, options: Options) -> Result<Self, Failure> {
        let client = Client::attach(target, options, &mut Patient)?;
        let (info, credits) = (client.info().clone(), client.credits());
        Ok(Self {
            client: Mutex::new(client),
            info,
            credits,
            missed: Mutex::new(None),
            closing: AtomicBool::new(false),
        })
    }

    /// What the daemon said of the stream when the session began.
    pub(crate) fn info(&self) -> &StreamInfo {
        &self.info
    }

    /// Batches that the caller may hold.
    pub(crate) fn credits(&self) -> u32 {
        self.credits
    }

    /// Waits for the next batch. What the group has missed is kept for [`missed`](Self::missed).
    pub(crate) fn next(&self, timeout: Option<Duration>) -> Result<Next, Failure> {
        self.ask(|client, watch| client.next(timeout, watch).inspect_err(|error| self.keep_missed(error)))
    }

    /// What the group has missed, as the session was last told.
    pub(crate) fn missed(&self) -> Result<Missed, Failure> {
        let missing = || {
            Failure::invalid(
                "the session was told of no missed batches: call this after forebay_next has ended with \
                 FOREBAY_STATUS_MISSED",
            )
        };
        self.missed.lock().ok_or_else(missing)
    }

    /// Asks the client, which may wait.
    pub(crate) fn ask<T, E: Into<Failure>>(
        &self,
        act: impl FnOnce(&mut Client, &mut dyn Watch) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let busy = || Failure::new(Status::Busy, "another thread is in a call on this session");
        let mut client = self.client.try_lock().ok_or_else(busy)?;
        let answer = act(&mut client, &mut UntilClosed(&self.closing)).map_err(Into::into)?;
        // A batch that came while the session was closed returns to the daemon with it.
        if self.closing.load(Ordering::Relaxed) { Err(Broken::Interrupted.into()) } else { Ok(answer) }
    }

    fn keep_missed(&self, error: &NextError) {
        if let NextError::Missed { epoch, from, to, records } = *error {
            *self.missed.lock() = Some(Missed { epoch, from, to, records });
        }
    }

    /// Ends the wait of a call in another thread. The session itself ends with the last call on it.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }
}

impl Watch for UntilClosed<'_> {
    fn keep_waiting(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    fn notice(&mut self, _: &Notice) {}
}
