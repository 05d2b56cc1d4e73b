//! What a call ends with: a status for programs, and for people a text, which each thread keeps of its last failure.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

use forebay_client::{AttachError, Broken, CallError, NextError, SettingNames, StateError};

/// What a call ended with. Errors are negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// The call has done what it says.
    Ok = 0,
    /// The epoch is complete. The next call of `forebay_next` begins the epoch after it.
    EpochEnd = 1,
    /// The stream has no further epoch.
    Done = 2,
    /// No batch came in time. Nothing is lost: call `forebay_next` again.
    Timeout = 3,
    /// An argument is NULL, or has no meaning.
    Invalid = -1,
    /// The handle was closed or released before, or is of another process, such as the parent of a forked child.
    Closed = -2,
    /// Another thread is in a call on this session.
    Busy = -3,
    /// The buffer is too small. `*length` says how many bytes are needed.
    Space = -4,
    /// No daemon could be reached, or it did not answer in time.
    Unreachable = -5,
    /// The daemon refuses this trainer or its settings.
    Refused = -6,
    /// The caller holds as many batches as it may: release one.
    SlotsHeld = -7,
    /// The epoch has waited too long for a batch that another trainer holds.
    EpochHeld = -8,
    /// The dataset's storage has given nothing for too long. The next call waits on.
    Stalled = -9,
    /// The daemon has evicted this trainer: attach again.
    Evicted = -10,
    /// The stream has failed, such as by a bad record with `on_error = "fail"`. Every further call says so.
    Failed = -11,
    /// The daemon went away and did not come back. Batches that the caller holds stay valid.
    Outage = -12,
    /// The daemon does not keep to the protocol, or the kernel has refused something.
    Broken = -13,
    /// A fault of this library.
    Internal = -14,
    /// Other groups have consumed batches that this trainer's group does not get, because the daemon ended.
    /// `forebay_missed_info` says which. This is told once: call `forebay_next` again.
    Missed = -15,
}

/// Every status, with its text.
const TEXTS: [(Status, &CStr); 19] = [
    (Status::Ok, c"done"),
    (Status::EpochEnd, c"the epoch is complete"),
    (Status::Done, c"the stream has no further epoch"),
    (Status::Timeout, c"no batch came in time"),
    (Status::Invalid, c"an argument has no meaning"),
    (Status::Closed, c"the handle is not open in this process"),
    (Status::Busy, c"another thread is using the session"),
    (Status::Space, c"the buffer is too small"),
    (Status::Unreachable, c"no daemon could be reached"),
    (Status::Refused, c"the daemon has refused this trainer"),
    (Status::SlotsHeld, c"the trainer holds as many batches as it may"),
    (Status::EpochHeld, c"another trainer holds a batch of the epoch"),
    (Status::Stalled, c"the dataset's storage gives nothing"),
    (Status::Evicted, c"the daemon has evicted this trainer"),
    (Status::Failed, c"the stream has failed"),
    (Status::Outage, c"the daemon went away and did not come back"),
    (Status::Broken, c"the connection to the daemon is broken"),
    (Status::Internal, c"a fault of this library"),
    (Status::Missed, c"the trainer's group has missed batches"),
];

thread_local! {
    /// The text of this thread's last failure.
    static LAST: RefCell<CString> = RefCell::default();
}

/// What `forebay_options` calls the settings that an error names.
const NAMES: SettingNames = SettingNames { socket: "socket of forebay_options", wait: Some("daemon_wait_ms") };

/// A call that has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Status {
    /// A text for the number of a status.
    pub(crate) fn text(number: i32) -> &'static CStr {
        TEXTS.iter().find(|(status, _)| *status as i32 == number).map_or(c"no status has this number", |(_, text)| text)
    }
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// An argument without a meaning.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Status::Invalid, message)
    }

    /// Keeps the text for this thread, if the status is an error. A time-out is none: the text before it stays where it is.
    pub(crate) fn keep(self) -> Status {
        if (self.status as i32) < 0 {
            let text = CString::new(self.message.replace('\0', " ")).unwrap_or_default();
            // A destructor of the thread may call after the text is gone.
            let _gone = LAST.try_with(|last| last.replace(text));
        }
        self.status
    }
}

/// The text of this thread's last failure; empty if there was none. It is valid until the next failure on this thread.
pub(crate) fn last() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

impl From<AttachError> for Failure {
    fn from(error: AttachError) -> Self {
        match error {
            AttachError::Refused(_) | AttachError::Name { .. } => Self::new(Status::Refused, error.to_string()),
            AttachError::Group { .. } => Self::invalid(error.to_string()),
            AttachError::Broken(broken) => broken.into(),
            _ => Self::new(Status::Unreachable, error.in_words_of(&NAMES)),
        }
    }
}

impl From<NextError> for Failure {
    fn from(error: NextError) -> Self {
        let status = match error {
            NextError::Broken(broken) => return broken.into(),
            NextError::SlotsHeld { granted } => {
                let message = format!(
                    "the caller holds batches in all {granted} slots that it may use; release one, or attach with more \
                     credits of forebay_options"
                );
                return Self::new(Status::SlotsHeld, message);
            }
            NextError::Missed { epoch, from, to, records } => {
                let message = format!(
                    "this trainer's group missed {records} records of epoch {epoch}, in batches {from} to {to}: other groups \
                     consumed them, and the daemon or its leases ended before this group got them; to continue, call \
                     forebay_next again"
                );
                return Self::new(Status::Missed, message);
            }
            NextError::Timeout { .. } => Status::Timeout,
            NextError::EpochHeld(_) => Status::EpochHeld,
            NextError::Stalled(_) => Status::Stalled,
            NextError::Evicted(_) => Status::Evicted,
            NextError::Outage { .. } => Status::Outage,
            _ => Status::Failed,
        };
        Self::new(status, error.to_string())
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let status = match error {
            CallError::Broken(broken) => return broken.into(),
            CallError::Timeout { .. } => Status::Unreachable,
            CallError::Outage { .. } => Status::Outage,
            _ => Status::Refused,
        };
        Self::new(status, error.to_string())
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        let status = match broken {
            // Only `forebay_close` in another thread interrupts a wait.
            Broken::Interrupted => return Self::new(Status::Closed, "the session was closed during the call"),
            Broken::Forked { .. } => Status::Closed,
            Broken::Decided { .. } => Status::Invalid,
            _ => Status::Broken,
        };
        Self::new(status, broken.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_a_text_of_its_own_and_other_numbers_have_none() {
        let mut texts: Vec<_> = TEXTS.iter().map(|(status, _)| Status::text(*status as i32)).collect();
        texts.push(Status::text(99));
        texts.push(Status::text(i32::MIN));
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), TEXTS.len() + 1);
    }

    #[test]
    fn rule_44_missed_batches_have_a_status_of_their_own_and_a_text_with_their_numbers() {
        let failure = Failure::from(NextError::Missed { epoch: 3, from: 17, to: 19, records: 96 });
        assert_eq!(failure.status, Status::Missed);
        assert!(failure.message.contains("missed 96 records of epoch 3, in batches 17 to 19"), "{}", failure.message);
        assert!(failure.message.ends_with("to continue, call forebay_next again"), "{}", failure.message);
    }

    #[test]
    fn a_text_is_of_the_thread_that_failed() {
        let said = || {
            // The pointer is of this thread, and no failure has come since.
            LAST.with(|last| last.borrow().to_str().map(str::to_owned))
        };
        assert_eq!(Failure::invalid("here\0there").keep(), Status::Invalid);
        assert_eq!(said().as_deref(), Ok("here there"));
        let text = last();
        assert_eq!(Failure::new(Status::Timeout, "no batch").keep(), Status::Timeout);
        assert_eq!((last(), said().as_deref()), (text, Ok("here there")), "a time-out is no failure");
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(said().as_deref(), Ok("")));
        });
    }
}
