//! The connections to the control socket.

use std::io;

use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::net::{UnixListener, UnixStream};

use crate::accepting::Accepting;
use crate::connection::Connection;
use crate::connection_limits::ConnectionLimits;

/// The connections of a socket, without end.
pub(super) fn connections(
    listener: UnixListener,
    limits: ConnectionLimits,
) -> impl Stream<Item = io::Result<Connection<UnixStream, ()>>> {
    unfold((listener, limits, Accepting::new("the control socket")), async |(listener, limits, mut accepting)| {
        let room = limits.room().await;
        let accept = || async {
            let (stream, _) = listener.accept().await?;
            let user = stream.peer_cred()?.uid();
            Ok((stream, user))
        };
        let (stream, user) = accepting.next(accept).await;
        Some((Ok(Connection::new(stream, (), room.enter(user))), (listener, limits, accepting)))
    })
}
