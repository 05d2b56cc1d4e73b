//! A connection to the control socket. It is closed if it is silent for too long, or if a later connection needs its
//! place.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, Sleep, sleep};
use tonic::transport::server::Connected;

use crate::accepting::Accepting;
use crate::visitors::{Visit, Visitors};

/// How long nothing may come. A client that waits for an answer is asked for a sign of life more often than that.
const SILENCE: Duration = Duration::from_secs(15);
/// How often it is asked.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// One connection.
#[derive(Debug)]
pub(super) struct Guest {
    stream: UnixStream,
    /// Nothing when its place went to a later one.
    visit: Option<Visit>,
    silence: Pin<Box<Sleep>>,
}

/// The connections of a socket, without end.
pub(super) fn guests(listener: UnixListener, visitors: Visitors) -> impl Stream<Item = io::Result<Guest>> {
    unfold((listener, visitors, Accepting::new("the control socket")), async |(listener, visitors, mut accepting)| {
        let room = visitors.room().await;
        let accept = || async {
            let (stream, _) = listener.accept().await?;
            let user = stream.peer_cred()?.uid();
            Ok((stream, user))
        };
        let (stream, user) = accepting.next(accept).await;
        let guest = Guest { stream, visit: Some(room.enter(user)), silence: Box::pin(sleep(SILENCE)) };
        Some((Ok(guest), (listener, visitors, accepting)))
    })
}

impl Connected for Guest {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.visit.as_mut().is_none_or(|visit| visit.poll_lost(context).is_ready()) {
            self.visit = None;
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) {
            self.silence.as_mut().reset(Instant::now() + SILENCE);
            return Poll::Ready(read);
        }
        ready!(self.silence.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Guest {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
