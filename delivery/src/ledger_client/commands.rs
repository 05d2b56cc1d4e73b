//! How a worker asks: one command after the other, each repeated while there is an outage, unless the stream ends.
//!
//! Each command has the next sequence number. A command whose answer was lost is repeated with the same number until it is
//! answered, so it takes effect once (semantics rule 18). An outage is never mistaken for the end of the data. When the
//! stream ends, an outage is waited for no longer (semantics rule 34).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use forebay_ledger_client::{CallError, Handle, Outage, Pauses, Request};
use forebay_proto::v1::{Caller, LedgerUpdate};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

/// The commands of a worker in one incarnation.
#[derive(Debug)]
pub(super) struct LedgerCommands {
    handle: Handle,
    ledger: String,
    worker: String,
    incarnation: u64,
    /// Other daemons may have the same ledger.
    has_others: bool,
    /// Number of the last command.
    sequence: Mutex<u64>,
    /// The lowest number whose reply was not seen.
    unseen: AtomicU64,
    /// The coordinator has said that another daemon has its place.
    is_fenced: AtomicBool,
    /// Since when the stream ends.
    ending: watch::Sender<Option<Instant>>,
}

/// How long the end of a stream waits for a coordinator that does not answer.
const MOMENT: Duration = Duration::from_secs(1);

impl LedgerCommands {
    /// None was sent yet.
    pub(super) fn new(handle: Handle, ledger: String, worker: String, incarnation: u64, has_others: bool) -> Self {
        Self {
            handle,
            ledger,
            worker,
            incarnation,
            has_others,
            sequence: Mutex::new(0),
            unseen: AtomicU64::new(1),
            is_fenced: AtomicBool::new(false),
            ending: watch::Sender::new(None),
        }
    }

    pub(super) fn ledger(&self) -> &str {
        &self.ledger
    }

    pub(super) fn worker(&self) -> &str {
        &self.worker
    }

    pub(super) const fn has_others(&self) -> bool {
        self.has_others
    }

    pub(super) fn is_fenced(&self) -> bool {
        self.is_fenced.load(Ordering::SeqCst)
    }

    pub(super) fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.handle.outage()
    }

    /// The stream ends.
    pub(super) fn end(&self) {
        self.ending.send_if_modified(|since| since.replace(Instant::now()).is_none());
    }

    /// Sends the next command, and repeats it until it is answered.
    pub(super) async fn command<R: Request>(&self, request: impl FnOnce(Caller) -> R) -> Result<R::Reply, CallError> {
        let mut sequence = self.sequence.lock().await;
        *sequence += 1;
        let request = request(self.caller(*sequence));
        self.unseen.store(*sequence, Ordering::Relaxed);
        let pauses = Pauses::of(self.incarnation ^ *sequence);
        let answer = self.repeated(pauses, || self.handle.call(request.clone())).await;
        self.unseen.store(*sequence + 1, Ordering::Relaxed);
        answer.inspect_err(|refusal| self.refused(refusal))
    }

    /// Asks once for what changes nothing.
    pub(super) async fn ask<R: Request>(&self, request: R) -> Result<R::Reply, CallError> {
        self.handle.call(request).await
    }

    /// Asks once in the worker's name, beside the commands.
    pub(super) async fn ask_beside<R: Request>(
        &self,
        request: impl FnOnce(Caller) -> R,
    ) -> Result<R::Reply, CallError> {
        let caller = Caller { unseen: self.unseen.load(Ordering::Relaxed), ..self.caller(0) };
        self.handle.call(request(caller)).await.inspect_err(|refusal| self.refused(refusal))
    }

    /// Follows the ledger until the coordinator cannot be asked.
    pub(super) async fn follow(&self) -> mpsc::Receiver<LedgerUpdate> {
        self.handle.follow(self.caller(0)).await
    }

    /// Repeats a call that has the same effect each time until it is answered.
    pub(super) async fn until_answered<T, F>(&self, call: impl Fn() -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        self.repeated(Pauses::of(self.incarnation), call).await
    }

    async fn repeated<T, F>(&self, mut pauses: Pauses, call: impl Fn() -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        loop {
            match self.attempt(call()).await {
                Err(CallError::Unavailable(why)) if !self.is_over() => self.pause(&mut pauses, &why).await,
                answer => return answer,
            }
        }
    }

    /// One call, which the end of the stream cuts short if the coordinator is known not to answer.
    async fn attempt<T>(&self, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        let hopeless = async {
            let (mut ending, mut outage) = (self.ending.subscribe(), self.outage());
            let since = ending.wait_for(Option::is_some).await.ok().and_then(|since| *since);
            if let Some(since) = since.filter(|_| self.has_others) {
                sleep_until(since + MOMENT).await;
                if let Some(outage) = outage.wait_for(Option::is_some).await.ok().and_then(|outage| outage.clone()) {
                    return outage.cause;
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            answer = call => answer,
            cause = hopeless => Err(CallError::Unavailable(format!("{cause}."))),
        }
    }

    /// Waits before the next attempt, or for the end of the stream, before which there is one more.
    async fn pause(&self, pauses: &mut Pauses, why: &str) {
        // Once for each command: an outage may be long.
        if pauses.is_first() {
            tracing::warn!(ledger = self.ledger, why, "a command is repeated until the ledger takes it");
        }
        let mut ending = self.ending.subscribe();
        tokio::select! {
            () = sleep(pauses.next()) => {}
            _over = ending.wait_for(Option::is_some), if self.has_others => {}
        }
    }

    /// An outage is not waited for any more.
    fn is_over(&self) -> bool {
        self.has_others && self.ending.borrow().is_some()
    }

    /// The coordinator has refused something.
    fn refused(&self, refusal: &CallError) {
        if matches!(refusal, CallError::Fenced(_)) {
            self.is_fenced.store(true, Ordering::SeqCst);
        }
    }

    fn caller(&self, sequence: u64) -> Caller {
        Caller {
            ledger: self.ledger.clone(),
            worker: self.worker.clone(),
            incarnation: self.incarnation,
            sequence,
            // One command at a time: all replies before this one's were seen, or are not waited for any more.
            unseen: sequence,
        }
    }
}
