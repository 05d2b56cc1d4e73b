//! What happens at the terminal: keys, another size, and its end. crossterm's own reader of events reads on for ever, without
//! a pause, if the terminal is closed and the process ignores SIGHUP.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, stdin};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

/// Where the user's keys come from.
#[derive(Debug)]
pub(super) struct Keyboard {
    terminal: AsyncFd<OwnedFd>,
    resized: Signal,
    /// Read and not yet told.
    pressed: VecDeque<Key>,
    /// The last field: what is above ends before it.
    runtime: Runtime,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Pressed(Key),
    /// The terminal has another size.
    Resized,
    /// The terminal has been closed.
    HungUp,
    /// The time is over.
    Nothing,
}

/// A key that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// q, Escape or Ctrl-C.
    Leave,
    Up,
    Down,
}

const ESCAPE: u8 = 0x1b;
const CTRL_C: u8 = 3;

impl Keyboard {
    /// That of the terminal at standard input; else that of the process's own terminal.
    ///
    /// # Errors
    /// There is no terminal.
    pub(super) fn open() -> io::Result<Self> {
        let stdin = stdin();
        let terminal: OwnedFd = if stdin.is_terminal() {
            stdin.as_fd().try_clone_to_owned()?
        } else {
            OpenOptions::new().read(true).write(true).open("/dev/tty")?.into()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        #[allow(deprecated, reason = "it is unsound for types that change their descriptor; an OwnedFd keeps it")]
        let terminal = AsyncFd::with_interest(terminal, Interest::READABLE)?;
        let resized = signal(SignalKind::window_change())?;
        drop(entered);
        Ok(Self { terminal, resized, pressed: VecDeque::new(), runtime })
    }

    /// Waits until something happens, for at most this time.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub(super) fn wait(&mut self, time: Duration) -> io::Result<Event> {
        let Self { terminal, resized, pressed, runtime } = self;
        let happens = async {
            while pressed.is_empty() {
                let mut bytes = [0; 64];
                let read = tokio::select! {
                    _ = resized.recv() => return Ok(Event::Resized),
                    read = input(terminal, &mut bytes) => read?,
                };
                match read {
                    0 => return Ok(Event::HungUp),
                    read => pressed.extend(keys(&bytes[..read])),
                }
            }
            Ok(pressed.pop_front().map_or(Event::Nothing, Event::Pressed))
        };
        runtime.block_on(async { timeout(time, happens).await.unwrap_or(Ok(Event::Nothing)) })
    }

    /// The terminal has been closed.
    pub(super) fn is_hung_up(&self) -> bool {
        ready(&self.terminal).is_ok_and(|flags| flags.intersects(PollFlags::HUP | PollFlags::ERR))
    }
}

/// Waits for bytes and reads them; 0 if the terminal has been closed.
async fn input(terminal: &AsyncFd<OwnedFd>, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut guard = terminal.readable().await?;
        // The descriptor is blocking, and is shared with the shell. So it is asked first.
        if ready(terminal)?.is_empty() {
            guard.clear_ready();
        } else {
            match read(terminal, &mut *bytes) {
                Err(Errno::IO) => return Ok(0),
                Err(Errno::INTR | Errno::AGAIN) => {}
                read => return Ok(read?),
            }
        }
    }
}

/// What a read would find now.
fn ready(terminal: &AsyncFd<OwnedFd>) -> io::Result<PollFlags> {
    let mut asked = [PollFd::new(terminal.get_ref(), PollFlags::IN)];
    poll(&mut asked, Some(&Timespec::default()))?;
    Ok(asked[0].revents())
}

/// The keys that mean something among the bytes of a terminal. Of sequences only the arrows are known. An Escape at the end
/// is the key.
fn keys(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    loop {
        let (key, rest) = match bytes {
            [] => return keys,
            [b'q' | CTRL_C, rest @ ..] => (Some(Key::Leave), rest),
            [ESCAPE] => (Some(Key::Leave), &[][..]),
            [ESCAPE, b'O' | b'[', b'A', rest @ ..] => (Some(Key::Up), rest),
            [ESCAPE, b'O' | b'[', b'B', rest @ ..] => (Some(Key::Down), rest),
            [ESCAPE, b'[', parameters @ ..] => {
                let end = parameters.iter().position(|byte| (0x40..=0x7e).contains(byte));
                (None, &parameters[end.map_or(parameters.len(), |end| end + 1)..])
            }
            [ESCAPE, _, rest @ ..] | [_, rest @ ..] => (None, rest),
        };
        keys.extend(key);
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_the_sequences_of_others() {
        use Key::{Down, Leave, Up};
        let cases: [(&[u8], &[Key]); 9] = [
            (b"q", &[Leave]),
            (b"\x03", &[Leave]),
            (b"\x1b", &[Leave]),
            (b"\x1b[A\x1b[B\x1bOA", &[Up, Down, Up]),
            (b"x\x1b[B\x1b", &[Down, Leave]),
            (b"\x1b[1;5A", &[]),
            (b"\x1b[15~q", &[Leave]),
            (b"\x1bq", &[]),
            (b"\x1b[", &[]),
        ];
        for (bytes, expected) in cases {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }
}
