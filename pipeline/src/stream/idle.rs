//! A daemon without trainers gives its positions to daemons that have some (semantics rule 35).

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::stream::Stream;
use crate::stream::restart::{Ended, restart};

/// How long a stream may be without a trainer before it gives everything back.
const PATIENCE: Duration = Duration::from_secs(30);

/// Since when a stream has had no trainers. Pure.
#[derive(Clone, Copy, Debug)]
enum Idleness {
    /// There are trainers.
    Read,
    /// There have been none since this moment.
    Left(Instant),
    /// There are none, and nothing is leased for them.
    Resting,
}

impl Idleness {
    /// Checks whether there are trainers. Returns true when everything must be given back.
    fn look(&mut self, is_read: bool, now: Instant, patience: Duration) -> bool {
        match self {
            _ if is_read => *self = Self::Read,
            Self::Read => *self = Self::Left(now),
            Self::Left(since) if now.duration_since(*since) >= patience => {
                *self = Self::Resting;
                return true;
            }
            Self::Left(_) | Self::Resting => {}
        }
        false
    }
}

/// Watches a stream until it is gone, if other daemons may have its ledger. A shard or a rank belongs to one daemon.
pub(super) fn watch(stream: &Arc<Stream>) {
    let ledger = stream.delivery.ledger();
    if !ledger.has_others() || stream.identity.part.is_some() {
        return;
    }
    let patience = PATIENCE.min(ledger.lease_ttl());
    let stream = Arc::downgrade(stream);
    tokio::spawn(async move {
        let mut idleness = Idleness::Read;
        let mut tick = tokio::time::interval(patience / 8);
        loop {
            tick.tick().await;
            let Some(stream) = stream.upgrade() else { return };
            if idleness.look(!stream.is_idle(), Instant::now(), patience) && !rest(&stream).await {
                idleness = Idleness::Read;
            }
        }
    });
}

/// Gives back all positions, including finished batches, and asks for none until a trainer comes. Returns false if
/// one is there.
async fn rest(stream: &Stream) -> bool {
    if !stream.delivery.ledger().permit().withdraw(|| !stream.is_idle()) {
        return false;
    }
    tracing::info!(stream = %stream.identity, "no trainer reads the stream: its positions go to other nodes");
    // If the stages cannot be started again, trainers are told so when they come.
    if let Err(error) = restart(stream, async || Ok(Ended::Some)).await {
        tracing::error!(stream = %stream.identity, %error, "the stream cannot wait for trainers");
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_35_positions_are_given_back_once_when_nobody_has_read_for_long_enough() {
        let (start, patience) = (Instant::now(), Duration::from_secs(30));
        let mut idleness = Idleness::Read;
        let mut look = |is_read, seconds| idleness.look(is_read, start + Duration::from_secs(seconds), patience);
        assert!(!look(true, 0));
        assert!(!look(false, 10) && !look(false, 39));
        assert!(look(false, 40), "thirty seconds after it was seen first");
        assert!(!look(false, 80), "it rests already");
        assert!(!look(true, 90) && !look(false, 100));
        assert!(!look(false, 129));
        assert!(look(false, 130));
    }

    #[test]
    fn rule_35_a_trainer_that_comes_in_time_keeps_the_positions() {
        let (start, patience) = (Instant::now(), Duration::from_secs(30));
        let mut idleness = Idleness::Read;
        for second in 0..300 {
            let is_read = second % 25 == 0;
            assert!(!idleness.look(is_read, start + Duration::from_secs(second), patience));
        }
    }
}
