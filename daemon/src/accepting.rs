//! Accepts connections, and retries when that fails. A process that is out of descriptors cannot accept a connection
//! until one is closed.

use std::io;
use std::time::Duration;

/// Accepts the connections of one socket.
#[derive(Debug)]
pub(crate) struct Accepting {
    /// Whose connections, for the log.
    what: &'static str,
    failing: bool,
}

/// How long accepting rests after it failed.
const PAUSE: Duration = Duration::from_millis(100);

impl Accepting {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, failing: false }
    }

    /// The next connection. Says once that accepting fails, and once that it does not any more.
    pub(crate) async fn next<T, F: Future<Output = io::Result<T>>>(&mut self, mut accept: impl FnMut() -> F) -> T {
        loop {
            match accept().await {
                Ok(connection) => {
                    if std::mem::take(&mut self.failing) {
                        tracing::info!(of = self.what, "connections are accepted again");
                    }
                    return connection;
                }
                Err(error) => {
                    if !std::mem::replace(&mut self.failing, true) {
                        tracing::warn!(of = self.what, %error, "connections cannot be accepted; the daemon retries");
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn accepting_that_fails_is_tried_again_and_does_not_spin() {
        let mut accepting = Accepting::new("tests");
        let tries = Cell::new(0);
        let accept = || {
            tries.set(tries.get() + 1);
            let next = if tries.get() < 3 { Err(io::Error::from_raw_os_error(24)) } else { Ok(7) };
            std::future::ready(next)
        };
        assert_eq!(accepting.next(accept).now_or_never(), None);
        assert_eq!(tries.get(), 1, "it rests before it tries again");
        assert_eq!(accepting.next(accept).await, 7);
        assert_eq!(tries.get(), 3);
        assert!(!accepting.failing);
    }
}
