//! What the streams were some seconds ago. A status has it, so that `forebay status` can judge what happened since.
//! The metric of what limits a stream is made of it too.

use std::convert::Infallible;
use std::time::Duration;

use forebay_proto::v1::{DecoderStatus, StatusReply};
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::daemon::Daemon;

/// How far apart readings are. The one that is given is at least this old, and less than twice as old.
const APART: Duration = Duration::from_secs(5);

/// The last two readings.
#[derive(Debug, Default)]
pub(crate) struct Earlier(Mutex<Readings>);

#[derive(Debug, Default)]
struct Readings {
    older: Option<Box<StatusReply>>,
    newer: Option<Box<StatusReply>>,
}

impl Earlier {
    /// The older reading. None in the first seconds.
    pub(crate) fn reading(&self) -> Option<Box<StatusReply>> {
        self.0.lock().older.clone()
    }

    /// Takes readings, without an end.
    pub(crate) async fn keep(&self, daemon: &Daemon) -> Infallible {
        let mut tick = interval(APART);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            let running = daemon.streams();
            // A stream that does not answer is left out, and holds up no other.
            let asked = running.iter().map(|stream| timeout(APART, stream.reading()));
            let streams = join_all(asked).await.into_iter().flatten().collect();
            let reading = StatusReply { streams, decoders: decoders(daemon), ..StatusReply::default() };
            self.0.lock().push(Box::new(reading));
        }
    }
}

/// Pictures by who decoded them on the CPU.
pub(crate) fn decoders(daemon: &Daemon) -> Vec<DecoderStatus> {
    daemon.shared().decoded().map(|(name, pictures)| DecoderStatus { name: name.into(), pictures }).collect()
}

impl Readings {
    fn push(&mut self, reading: Box<StatusReply>) {
        self.older = self.newer.replace(reading);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_of_two_readings_is_given() {
        let earlier = Earlier::default();
        let given = || earlier.reading().map(|reading| reading.pid);
        assert_eq!(given(), None);
        for pid in [1, 2, 3] {
            earlier.0.lock().push(Box::new(StatusReply { pid, ..StatusReply::default() }));
            assert_eq!(given(), (pid > 1).then(|| pid - 1));
        }
    }
}
