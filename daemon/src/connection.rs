//! A connection of gRPC. It is closed if it is silent for too long, or if a later connection needs its place.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use tonic::transport::server::Connected;

use crate::connection_limits::ConnectionPlace;

/// How long nothing may come. A client that waits for an answer is asked for a sign of life more often than that.
const SILENCE: Duration = Duration::from_secs(15);
/// How often it is asked.
pub(crate) const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// One connection, and the information about it that requests carry.
#[derive(Debug)]
pub(crate) struct Connection<S, I> {
    stream: S,
    info: I,
    /// Nothing when its place went to a later one.
    place: Option<ConnectionPlace>,
    silence: Pin<Box<Sleep>>,
}

impl<S, I> Connection<S, I> {
    /// A connection that was accepted at this moment.
    pub(crate) fn new(stream: S, info: I, place: ConnectionPlace) -> Self {
        Self { stream, info, place: Some(place), silence: Box::pin(sleep(SILENCE)) }
    }
}

impl<S, I: Clone + Send + Sync + 'static> Connected for Connection<S, I> {
    type ConnectInfo = I;

    fn connect_info(&self) -> I {
        self.info.clone()
    }
}

impl<S: AsyncRead + Unpin, I: Unpin> AsyncRead for Connection<S, I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.place.as_mut().is_none_or(|place| place.poll_lost(context).is_ready()) {
            self.place = None;
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

impl<S: AsyncWrite + Unpin, I: Unpin> AsyncWrite for Connection<S, I> {
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
