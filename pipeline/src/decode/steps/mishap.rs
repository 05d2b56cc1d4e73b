//! What the end of a child says of the picture that its function had.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;

/// Why there is no answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mishap {
    /// The function has ended its process, or was silent, or took all memory, in words.
    Fault(String),
    /// Something that says nothing of the picture, in words.
    Blameless(String),
    /// It was silent, and so were the others.
    Unclear,
    /// A function's file has changed, in words. No child is started any more.
    Changed(String),
}

/// Signals that a process gets from outside, and that of a file that was cut off.
const FROM_OUTSIDE: [Signal; 6] = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::BUS];

impl Mishap {
    /// Of a child that ended. Unlike a program of our own, a function may end its process in any way.
    pub(super) fn of(status: ExitStatus) -> Self {
        let outside = FROM_OUTSIDE.iter().find(|signal| status.signal() == Some(signal.as_raw()));
        match (outside, status.signal(), status.code()) {
            (Some(_), ..) => Self::Blameless(format!("the process that calls its function in Python ended ({status})")),
            (None, _, Some(code)) => Self::Fault(format!("exit code {code}")),
            (None, ..) => Self::Fault(status.to_string()),
        }
    }

    /// Of a child that gave no answer while others did, or while there were none.
    pub(super) fn silence(timeout: Duration) -> Self {
        Self::Fault(format!("silence for {timeout:?} (python_timeout)"))
    }

    /// Of a child that got no more memory.
    pub(super) fn no_memory(limit: u64) -> Self {
        Self::Fault(format!("a MemoryError within its {limit} bytes of memory (python_memory)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_59_a_function_that_ends_its_process_is_at_fault_and_who_kills_it_is_not() {
        let of_signal = |signal: Signal| Mishap::of(ExitStatus::from_raw(signal.as_raw()));
        for signal in FROM_OUTSIDE {
            assert!(matches!(of_signal(signal), Mishap::Blameless(_)), "{signal:?}");
        }
        for signal in [Signal::SEGV, Signal::ABORT, Signal::FPE, Signal::ILL, Signal::SYS, Signal::ALARM, Signal::XCPU]
        {
            assert!(matches!(of_signal(signal), Mishap::Fault(how) if how.contains("signal")), "{signal:?}");
        }
        for code in [0, 1, 3, 101] {
            let how = Mishap::Fault(format!("exit code {code}"));
            assert_eq!(Mishap::of(ExitStatus::from_raw(code << 8)), how);
        }
    }
}
