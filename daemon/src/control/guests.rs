//! The connections to the control socket.

use std::io;

use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::net::{UnixListener, UnixStream};

use crate::accepting::Accepting;
use crate::guest::Guest;
use crate::visitors::Visitors;

/// The connections of a socket, without end.
pub(super) fn guests(
    listener: UnixListener,
    visitors: Visitors,
) -> impl Stream<Item = io::Result<Guest<UnixStream, ()>>> {
    unfold((listener, visitors, Accepting::new("the control socket")), async |(listener, visitors, mut accepting)| {
        let room = visitors.room().await;
        let accept = || async {
            let (stream, _) = listener.accept().await?;
            let user = stream.peer_cred()?.uid();
            Ok((stream, user))
        };
        let (stream, user) = accepting.next(accept).await;
        Some((Ok(Guest::new(stream, (), room.enter(user))), (listener, visitors, accepting)))
    })
}
