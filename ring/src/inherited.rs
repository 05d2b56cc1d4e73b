//! Descriptors that a parent or the service manager left open for us under a known number.
#![allow(unsafe_code, reason = "a number says nothing about who owns the descriptor")]

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd, RawFd},
};

/// A duplicate, closed on exec, of the descriptor that this process was started with under `number`. Call it at the
/// start, before threads open and close descriptors of their own.
///
/// The original stays open: it is not known who else uses the number. That does no harm at the end of a socket that
/// lives as long as the process.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::Error::from(rustix::io::Errno::BADF));
    }
    // SAFETY: the number is not -1, and the borrow ends with the call, in which the kernel refuses a closed number.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn an_open_number_is_duplicated_and_a_closed_one_refused() {
        let file = tempfile::tempfile().unwrap();
        let copy = inherited(file.as_raw_fd()).unwrap();
        assert_ne!(copy.as_raw_fd(), file.as_raw_fd());
        assert!(inherited(1_000_000).is_err());
        assert!(inherited(-1).is_err());
    }
}
