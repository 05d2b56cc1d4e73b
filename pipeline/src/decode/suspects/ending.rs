//! What the end of a child says of the record that it was making.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By a fault of its own, in words.
    Fault(String),
    /// By what says nothing of its record, in words.
    Blameless(String),
    /// It was silent, and so were the others.
    Unclear,
}

/// The signals of a process that has gone wrong by itself.
const FAULTS: [(Signal, &str); 5] = [
    (Signal::SEGV, "SIGSEGV"),
    (Signal::ILL, "SIGILL"),
    (Signal::FPE, "SIGFPE"),
    (Signal::ABORT, "SIGABRT"),
    (Signal::SYS, "SIGSYS"),
];
/// The exit code of a Rust program that panics.
const PANIC: i32 = 101;

impl Ending {
    /// Of a child that ended, whose memory was limited to so many bytes, or to what its picture needs if that is more.
    pub(super) fn of(status: ExitStatus, memory: u64) -> Self {
        let fault = FAULTS.iter().find(|(signal, _)| status.signal() == Some(signal.as_raw()));
        match fault {
            // A process that is given no more memory aborts.
            Some((Signal::ABORT, name)) => Self::Fault(format!(
                "{name}, by itself or beyond its {memory} bytes of memory, or what the picture needs if that is more"
            )),
            Some((_, name)) => Self::Fault((*name).to_owned()),
            None if status.code() == Some(PANIC) => Self::Fault("a panic".to_owned()),
            None if status.signal() == Some(Signal::BUS.as_raw()) => {
                Self::Blameless("the storage of the daemon's program failed (SIGBUS)".to_owned())
            }
            None if status.signal() == Some(Signal::KILL.as_raw()) => {
                Self::Blameless("the process that makes it was killed (SIGKILL)".to_owned())
            }
            None => Self::Blameless(format!("the process that makes it ended ({status})")),
        }
    }

    /// Of a child that gave no answer while others did, or while there were none.
    pub(super) fn silence(timeout: Duration) -> Self {
        Self::Fault(format!("silence for {timeout:?} (read_timeout)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_9_only_faults_of_the_process_itself_say_something_of_its_record() {
        let of_signal = |signal: Signal| Ending::of(ExitStatus::from_raw(signal.as_raw()), 1 << 30);
        for (signal, name) in FAULTS {
            assert!(matches!(of_signal(signal), Ending::Fault(how) if how.starts_with(name)), "{name}");
        }
        for signal in [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::BUS, Signal::PIPE, Signal::XCPU] {
            assert!(matches!(of_signal(signal), Ending::Blameless(_)), "{signal:?}");
        }
        let of_code = |code: i32| Ending::of(ExitStatus::from_raw(code << 8), 1 << 30);
        assert_eq!(of_code(PANIC), Ending::Fault("a panic".to_owned()));
        for code in [0, 1, 2, 127] {
            assert!(matches!(of_code(code), Ending::Blameless(_)), "{code}");
        }
    }
}
