//! Tells when the process that has started this one is gone, for `loader.page()`: a page without its Loader shows nothing.

use std::io;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, getppid, pidfd_open};
use tokio::sync::oneshot;

/// Gets a value when standard input is closed, or when the process that has started this one ends. Processes that it has forked may
/// have copies of the other end of standard input, so that the end of one does not say the other.
///
/// # Errors
/// The system has no room for a thread or a descriptor.
pub(super) fn gone() -> io::Result<oneshot::Receiver<()>> {
    let (tell, gone) = oneshot::channel();
    let parent = getppid().map(|parent| pidfd_open(parent, PidfdFlags::empty())).transpose()?;
    forebay_threads::start("page-starter", move || {
        let stdin = io::stdin();
        // Nothing but the end of the other side is waited for.
        let mut watched = vec![PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::empty())];
        watched.extend(parent.iter().map(|parent| PollFd::new(parent, PollFlags::IN)));
        while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
        let _is_ending = tell.send(());
    })?;
    Ok(gone)
}
