//! The messages for the service manager: that the process is ready, that it lives, that it ends.

use std::ffi::OsString;
use std::time::Duration;
use std::{env, fmt, io};

use sd_notify::NotifyState;
use tokio::net::UnixDatagram;

/// Names the service manager's socket.
const SOCKET: &str = "NOTIFY_SOCKET";
/// If the service manager does not read its socket for so long, it is not told.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tells the service manager that the runtime turns, as often as it asks for.
pub(crate) async fn watch() {
    let Some(within) = sd_notify::watchdog_enabled() else { return };
    let mut tick = tokio::time::interval(within / 2);
    loop {
        tick.tick().await;
        notify(NotifyState::Watchdog).await;
    }
}

/// Tells the service manager this, if there is one. If it does not read its socket, no thread waits for it.
pub(crate) async fn notify(state: NotifyState<'_>) {
    let Some(socket) = env::var_os(SOCKET) else { return };
    let late = |_| Err(io::ErrorKind::TimedOut.into());
    if let Err(error) = tokio::time::timeout(PATIENCE, tell(socket, &state)).await.unwrap_or_else(late) {
        tracing::warn!(%error, "the service manager cannot be told");
    }
}

async fn tell(socket: OsString, state: &impl fmt::Display) -> io::Result<()> {
    let datagrams = UnixDatagram::unbound()?;
    datagrams.connect(socket)?;
    datagrams.send(format!("{state}\n").as_bytes()).await.map(drop)
}
