//! What the readers of a stream and the task that asks decoders share: the memory of answers, and whether there is a decoder.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// See the module.
#[derive(Debug)]
pub(crate) struct RemoteShare {
    /// Bytes of an answer.
    answer_len: u64,
    /// Whether the daemon decodes too.
    makes_here: bool,
    /// Bytes of answers whose pictures are not in their places yet.
    held: AtomicU64,
    /// Memory of earlier answers.
    spare: Mutex<Vec<Vec<u8>>>,
    /// There may be something to ask for.
    changed: Notify,
    /// Since when no decoder answers, and why, if the daemon does not decode.
    outage: Mutex<Option<(Instant, String)>>,
}

/// Buffers that are kept for later answers.
const MOST_SPARE: usize = 256;

impl RemoteShare {
    /// For answers of so many bytes.
    pub(crate) fn new(answer_len: u64, makes_here: bool) -> Self {
        let (held, spare, changed, outage) = (AtomicU64::default(), Mutex::default(), Notify::new(), Mutex::default());
        Self { answer_len, makes_here, held, spare, changed, outage }
    }

    pub(crate) fn makes_here(&self) -> bool {
        self.makes_here
    }

    pub(crate) fn answer_len(&self) -> u64 {
        self.answer_len
    }

    /// Memory for an answer of so many bytes. It has the bytes of an earlier one. Nothing for another length than that of an answer.
    pub(crate) fn take(&self, len: u64) -> Option<Vec<u8>> {
        let bytes = usize::try_from(len).ok().filter(|_| len == self.answer_len)?;
        Some(self.spare.lock().pop().unwrap_or_else(|| vec![0; bytes]))
    }

    /// An answer has been received, and its memory is in use until it is given back.
    pub(crate) fn hold(&self, bytes: &[u8]) {
        self.held.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    /// Gives the memory of an answer back.
    pub(crate) fn give_back(&self, bytes: Vec<u8>) {
        self.held.fetch_sub(bytes.len() as u64, Ordering::Relaxed);
        let mut spare = self.spare.lock();
        if spare.len() < MOST_SPARE {
            spare.push(bytes);
        }
        drop(spare);
        self.wake();
    }

    /// Bytes of answers that are here.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// There may be something to ask for.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Whether there is a decoder, and if not, why the last one cannot be asked. Without one, a daemon that does not decode waits, as
    /// it waits for a storage.
    pub(crate) fn note_peers(&self, has_one: bool, why: &str, now: Instant) {
        let mut outage = self.outage.lock();
        if has_one || self.makes_here {
            *outage = None;
        } else {
            let since = outage.as_ref().map_or(now, |(since, _)| *since);
            let why = if why.is_empty() { "none has answered yet" } else { why };
            *outage = Some((since, format!("no decoder of [decode] remote makes pictures: {why}")));
        }
    }

    /// Since when no decoder answers, and why.
    pub(crate) fn outage(&self) -> Option<(Instant, String)> {
        self.outage.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_60_memory_of_answers_is_counted_and_used_again_and_no_other_length_is_taken() {
        let share = RemoteShare::new(4, false);
        assert_eq!(share.take(5), None);
        let mut bytes = share.take(4).unwrap();
        bytes[0] = 7;
        share.hold(&bytes);
        assert_eq!(share.held(), 4);
        share.give_back(bytes);
        assert_eq!((share.held(), share.take(4)), (0, Some(vec![7, 0, 0, 0])));
    }

    #[test]
    fn rule_60_no_decoder_is_an_outage_for_a_daemon_that_does_not_decode() {
        let (share, now) = (RemoteShare::new(4, false), Instant::now());
        share.note_peers(false, "http://a:1: connection refused", now);
        share.note_peers(false, "", now + std::time::Duration::from_secs(9));
        let (since, why) = share.outage().unwrap();
        assert!(since == now && why.contains("none has answered"), "{why}");
        share.note_peers(true, "", now);
        assert_eq!(share.outage(), None);
        let share = RemoteShare::new(4, true);
        share.note_peers(false, "", now);
        assert_eq!(share.outage(), None, "its own threads decode");
    }
}
