//! The connections to the control socket.

use std::io;

use futures_util::Stream;
use futures_util::stream::unfold;
use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

use crate::accepting::Accepting;
use crate::connection::Connection;
use crate::connection_limits::ConnectionLimits;

/// The user who has connected.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlUser(u32);

impl ControlUser {
    /// Whether this user can read the memory and the files of this process anyway.
    pub(super) fn is_own(self) -> bool {
        self.0 == geteuid().as_raw() || self.0 == 0
    }
}

/// The connections of a socket, without end.
pub(super) fn connections(
    listener: UnixListener,
    limits: ConnectionLimits,
) -> impl Stream<Item = io::Result<Connection<UnixStream, ControlUser>>> {
    unfold((listener, limits, Accepting::new("the control socket")), async |(listener, limits, mut accepting)| {
        let room = limits.room().await;
        let accept = || async {
            let (stream, _) = listener.accept().await?;
            let user = stream.peer_cred()?.uid();
            Ok((stream, user))
        };
        let (stream, user) = accepting.next(accept).await;
        Some((Ok(Connection::new(stream, ControlUser(user), room.enter(user))), (listener, limits, accepting)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_and_the_user_of_this_process_are_its_own() {
        let own = geteuid().as_raw();
        assert_eq!([0, own, own + 4_000].map(|user| ControlUser(user).is_own()), [true, true, false]);
    }
}
