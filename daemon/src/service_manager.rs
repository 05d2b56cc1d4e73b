//! What the service manager is told: that the process is ready, that it lives, that it ends.

use sd_notify::NotifyState;

/// Tells the service manager that the runtime turns, as often as it asks for.
pub(crate) async fn watch() {
    let Some(within) = sd_notify::watchdog_enabled() else { return };
    let mut tick = tokio::time::interval(within / 2);
    loop {
        tick.tick().await;
        notify(&[NotifyState::Watchdog]);
    }
}

/// Tells the service manager this, if there is one.
pub(crate) fn notify(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "the service manager cannot be told");
    }
}
