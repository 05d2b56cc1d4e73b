//! One trainer's attachment to a stream. It receives batches, sends receipts, and survives the daemon's death.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use forebay_proto::v1::{self, StreamInfo, call_reply::Reply, call_request::Call as Request};

use crate::audit::EpochAudit;
use crate::batch::Batch;
use crate::error::{AttachError, Broken, CallError, NextError};
use crate::hold::Holds;
use crate::mapped::Mapped;
use crate::quarantine::Quarantined;
use crate::state::State;
use crate::target::{Options, Target};
use crate::watch::Watch;
use calls::unexpected;
use dialogue::Dialogue;

mod batches;
mod caller_wait;
mod calls;
mod connection;
mod dialogue;

/// A trainer's end of a stream.
///
/// ```no_run
/// use forebay_client::{Next, Options, Patient, Session, Target};
///
/// let target = Target::Stream { socket: None, name: "train".to_owned(), settings: None };
/// let mut session = Session::attach(target, Options::default(), &mut Patient)?;
/// while let Next::Batch(batch) = session.next(None, &mut Patient)? {
///     println!("{} pictures, labels {:?}", batch.valid(), batch.labels());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    dialogue: Dialogue,
    /// How many states this trainer has loaded.
    loads: u64,
}

/// What the stream has next.
#[derive(Debug)]
pub enum Next {
    /// A batch. It is in the caller's hands until the next call, which acknowledges it.
    Batch(Batch),
    /// The epoch of this number is complete; the next call begins the one after it.
    EpochEnd(u64),
    /// The stream has no further epoch. So does every further call say.
    Done,
}

impl Session {
    /// Attaches to a stream; a private daemon is started where it does not run yet.
    ///
    /// # Errors
    /// When no daemon answers, or it refuses, with its reason.
    pub fn attach(target: Target, options: Options, watch: &mut dyn Watch) -> Result<Self, AttachError> {
        Ok(Self { dialogue: Dialogue::attach(target, options, watch)?, loads: 0 })
    }

    /// What the daemon says about the stream.
    pub fn info(&self) -> &StreamInfo {
        self.dialogue.connection.info()
    }

    /// The epoch that the caller is in. After the end of an epoch it is the next one.
    pub fn epoch(&self) -> u64 {
        self.dialogue.batches.inbox.epoch()
    }

    /// Slots that this trainer may hold at once.
    pub fn credits(&self) -> u32 {
        self.dialogue.connection.welcome().credits
    }

    /// Slots that still have a view. As long as they are [all that may be held](Self::credits), no further batch comes.
    pub fn viewed(&self) -> usize {
        self.dialogue.batches.hands.with(Holds::viewed)
    }

    /// The rings that batches may be in now. They change after a daemon's death, and when the daemon makes or retires one.
    pub fn rings(&self) -> impl Iterator<Item = Mapped> {
        self.dialogue.batches.rings.iter()
    }

    /// How often the [rings](Self::rings) have changed so far, for callers that have mapped or locked them.
    pub fn ring_changes(&self) -> u64 {
        self.dialogue.batches.rings.changes()
    }

    /// Acknowledges what is in hand and waits for the next batch.
    ///
    /// The first call after an epoch's end joins the epoch that the stream is in by then. With a `timeout` of zero it
    /// does not wait.
    ///
    /// # Errors
    /// See [`NextError`]. After [`NextError::Timeout`], [`NextError::SlotsHeld`], [`NextError::EpochHeld`],
    /// [`NextError::Stalled`], [`NextError::Missed`] and [`Broken::Interrupted`] the next call continues as if nothing had
    /// happened.
    pub fn next(&mut self, timeout: Option<Duration>, watch: &mut dyn Watch) -> Result<Next, NextError> {
        let hands = &self.dialogue.batches.hands;
        hands.owner().check()?;
        hands.change(Holds::consume_all);
        self.dialogue.next(timeout, watch)
    }

    /// Returns all batches in hand unread, and ends the session. Slots that are still viewed stay blocked in the daemon
    /// until this process ends.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn close(self) -> Result<(), Broken> {
        self.dialogue.batches.hands.owner().check()
        // The drop does the rest.
    }

    /// Puts back the batch that the last [`next`](Self::next) gave, as if it had not been handed out: it comes next,
    /// and [`state`](Self::state) does not count it as consumed. Call it before anything else of the session. Nothing
    /// happens to a batch that was acknowledged or given back.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn put_back(&mut self, batch: &Batch) -> Result<(), Broken> {
        self.dialogue.batches.hands.owner().check()?;
        self.dialogue.batches.put_back(batch);
        Ok(())
    }

    /// Puts back the end of an epoch that the last [`next`](Self::next) gave: the next call gives it again.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn put_back_end(&mut self, epoch: u64) -> Result<(), Broken> {
        self.dialogue.batches.hands.owner().check()?;
        self.dialogue.batches.inbox.put_back_end(epoch);
        Ok(())
    }

    /// A snapshot of the run in which every batch that this session handed out counts as consumed, the one in hand
    /// included, and batches in other trainers' hands do not (semantics rule 22).
    ///
    /// # Errors
    /// See [`CallError`]; so for the other calls.
    pub fn state(&mut self, watch: &mut dyn Watch) -> Result<State, CallError> {
        let receipts = |holds: &Holds| v1::StateCall {
            in_hand: holds.receipts_in_hand().map(|receipt| receipt.seq).collect(),
            receipts: holds.receipts_in_hand().flat_map(|receipt| receipt.ack_items().collect::<Vec<_>>()).collect(),
        };
        let call = self.dialogue.batches.hands.with(receipts);
        match self.dialogue.call(Request::State(call), watch)? {
            Reply::State(snapshot) => Ok(State::new(snapshot)),
            other => Err(unexpected(&other)),
        }
    }

    /// Takes the run back to a snapshot. Batches in hand are given back, and waiting offers are discarded.
    ///
    /// # Errors
    /// [`CallError::Failed`] if the snapshot is of another dataset, order or seed, or trainers of other nodes read the
    /// stream.
    pub fn restore(&mut self, state: &State, watch: &mut dyn Watch) -> Result<(), CallError> {
        self.load(state, "", watch)
    }

    /// As [`restore`](Self::restore), for one of several ranks that load the same state together, on any nodes. All of them
    /// give the same `load_id`, which is new for each load: the run is taken to the state once.
    ///
    /// # Errors
    /// Also [`CallError::Failed`] if the id was used for another state.
    pub fn load(&mut self, state: &State, load_id: &str, watch: &mut dyn Watch) -> Result<(), CallError> {
        self.loads += 1;
        let (snapshot, load_id, number) = (Some(state.snapshot().clone()), load_id.to_owned(), self.loads);
        let call = v1::RestoreCall { snapshot, load_id, number };
        self.done(Request::Restore(call), watch)?;
        // The answer comes after all messages of the old generation, and before all of the new one.
        self.dialogue.batches.restart(state.epoch());
        Ok(())
    }

    /// The file of a record.
    ///
    /// # Errors
    /// [`CallError::Failed`] if the dataset has no such record.
    pub fn path(&mut self, record: u64, watch: &mut dyn Watch) -> Result<PathBuf, CallError> {
        match self.dialogue.call(Request::Path(v1::PathCall { record }), watch)? {
            Reply::Path(bytes) => Ok(PathBuf::from(OsString::from_vec(bytes))),
            other => Err(unexpected(&other)),
        }
    }

    /// Ends the epoch that the caller is in: what is in hand was consumed, the rest is abandoned. Nothing happens between
    /// two epochs, and nothing is abandoned if the batch in hand was the epoch's last.
    ///
    /// # Errors
    /// [`CallError::Failed`] where other trainers are attached.
    pub fn reset(&mut self, watch: &mut dyn Watch) -> Result<(), CallError> {
        self.dialogue.batches.hands.owner().check()?;
        let Some(epoch) = self.dialogue.batches.inbox.epoch_begun() else { return Ok(()) };
        self.dialogue.batches.hands.change(Holds::consume_all);
        self.done(Request::Reset(v1::ResetCall { epoch }), watch)?;
        self.dialogue.batches.leave(epoch);
        Ok(())
    }

    /// Records that could not be read or decoded, each once, in the order of their epochs.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn quarantine(&mut self, watch: &mut dyn Watch) -> Result<Vec<Quarantined>, CallError> {
        let mut all: Vec<v1::QuarantinedRecord> = Vec::new();
        loop {
            let after = all.last().map(v1::QuarantinedRecord::key);
            match self.dialogue.call(Request::Quarantine(v1::QuarantineCall { after }), watch)? {
                Reply::Quarantine(page) if page.more && !page.records.is_empty() => all.extend(page.records),
                Reply::Quarantine(last) => {
                    all.extend(last.records);
                    return Ok(Quarantined::gather(all));
                }
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// What became of every record, epoch by epoch.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn audit(&mut self, watch: &mut dyn Watch) -> Result<Vec<EpochAudit>, CallError> {
        let mut all = v1::AuditReply::default();
        let mut from_epoch = Some(0);
        while let Some(epoch) = from_epoch {
            match self.dialogue.call(Request::Audit(v1::AuditCall { from_epoch: epoch }), watch)? {
                Reply::Audit(page) => {
                    from_epoch = page.next_epoch().filter(|next| *next > epoch);
                    all.append(page);
                }
                other => return Err(unexpected(&other)),
            }
        }
        Ok(EpochAudit::of(&all))
    }

    fn done(&mut self, request: Request, watch: &mut dyn Watch) -> Result<(), CallError> {
        match self.dialogue.call(request, watch)? {
            Reply::Done(_) => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.dialogue.batches.hands.owner().is_here() {
            self.dialogue.close();
        }
    }
}
