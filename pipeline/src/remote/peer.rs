//! One decoder, as a stream knows it: what it was asked, how fast it answers, and how much it may be asked. Pure: time is an
//! argument.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The expected time of a request is never shorter.
const SHORTEST: Duration = Duration::from_millis(100);
/// The expected time of a decoder that has not answered yet: it may have to open files first.
const UNKNOWN: Duration = Duration::from_secs(2);
/// How long a decoder may be silent, beyond twice the expected time.
const SILENCE: Duration = Duration::from_secs(2);
/// How long a decoder that is busy is not asked.
const BUSY: Duration = Duration::from_millis(100);
/// A new measurement counts for one part in so many.
const SMOOTHING: f64 = 16.0;
/// The least weight of a decoder.
const LEAST_WEIGHT: f64 = 1.0 / 64.0;

/// Number of a connection to a decoder, which is never used twice.
pub(crate) type PeerId = u64;

/// What a decoder says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerTerms {
    /// What tells its address from others.
    pub address: u64,
    /// Pictures that it makes at once.
    pub threads: usize,
    /// The most requests that it may have.
    pub most: usize,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Peer {
    terms: PeerTerms,
    /// Between a small number and 1: its share of the records.
    weight: f64,
    /// How many requests it may have now: one at first, and twice as many after each answer.
    window: usize,
    /// Requests without an answer, with the time at which each was sent.
    under_way: BTreeMap<u64, Instant>,
    /// When it last answered, or was asked after it had nothing to do.
    heard: Instant,
    pace: Option<Pace>,
    busy: Option<Instant>,
    /// It has said goodbye.
    is_leaving: bool,
    /// Records whose first choice it was, and how many of them went to another decoder because it had no room.
    named: u64,
    passed: u64,
}

/// How long an answer takes, on average, and the size of the records that were asked for.
#[derive(Clone, Copy, Debug)]
struct Pace {
    seconds: f64,
    bytes: f64,
}

impl Peer {
    pub(super) fn new(terms: PeerTerms, now: Instant) -> Self {
        Self {
            terms,
            weight: 1.0,
            window: 1,
            under_way: BTreeMap::new(),
            heard: now,
            pace: None,
            busy: None,
            is_leaving: false,
            named: 0,
            passed: 0,
        }
    }

    /// How long an answer for a file of this size is expected to take.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn expected(&self, size: u64) -> Duration {
        let Some(Pace { seconds, bytes }) = self.pace else { return UNKNOWN };
        let factor = if bytes > 0.0 { (size as f64 / bytes).max(1.0) } else { 1.0 };
        Duration::try_from_secs_f64(seconds * factor).unwrap_or(Duration::MAX).max(SHORTEST)
    }

    /// Whether it has made a picture.
    pub(super) fn is_measured(&self) -> bool {
        self.pace.is_some()
    }

    /// Whether it may be asked for a record now.
    pub(super) fn has_room(&self, now: Instant) -> bool {
        let is_busy = self.busy.is_some_and(|until| now < until);
        !self.is_leaving && !is_busy && self.under_way.len() < self.window
    }

    /// Whether a request would be begun at once: no other one waits there.
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        self.has_room(now) && self.under_way.len() < self.terms.threads.max(1)
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.is_leaving
    }

    pub(super) fn leaves(&mut self) {
        self.is_leaving = true;
    }

    pub(super) fn ask(&mut self, id: u64, now: Instant) {
        if self.under_way.is_empty() {
            self.heard = now;
        }
        self.under_way.insert(id, now);
    }

    /// It has answered. Gives when it was asked, if it was and the request was not taken back.
    pub(super) fn answered(&mut self, id: u64) -> Option<Instant> {
        self.under_way.remove(&id)
    }

    /// It has answered with a picture, or that there is none. That it is busy says nothing about what it has.
    pub(super) fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    /// Its answer was good, and took from `asked` until now.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn made(&mut self, size: u64, asked: Instant, now: Instant) {
        let (seconds, bytes) = (now.saturating_duration_since(asked).as_secs_f64(), size as f64);
        let pace = self.pace.get_or_insert(Pace { seconds, bytes });
        pace.seconds += (seconds - pace.seconds) / SMOOTHING;
        pace.bytes += (bytes - pace.bytes) / SMOOTHING;
        self.window = (self.window * 2).min(self.terms.most.max(1));
    }

    /// It has no room, though it was thought to have some.
    pub(super) fn is_busy(&mut self, now: Instant) {
        self.busy = Some(now + BUSY);
        self.window = (self.window / 2).max(1);
    }

    /// Forgets a request, whose answer does not count any more.
    pub(super) fn forget(&mut self, id: u64) {
        self.under_way.remove(&id);
    }

    /// How long an answer for a file of this size is waited for.
    pub(super) fn patience(&self, size: u64) -> Duration {
        (self.expected(size) * 2).saturating_add(SILENCE).min(Duration::from_secs(3600))
    }

    /// When it counts as silent, if nothing comes until then. The oldest request is for a file of this size.
    pub(super) fn silent_at(&self, size: u64) -> Instant {
        self.heard + self.patience(size)
    }

    pub(super) fn under_way(&self) -> &BTreeMap<u64, Instant> {
        &self.under_way
    }

    /// How many requests it may have now.
    #[cfg(test)]
    pub(super) fn window(&self) -> usize {
        self.window
    }

    /// Which decoder has a record: the one with the highest score (rendezvous hashing with weights). If a decoder comes or goes,
    /// only its own records move.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
    pub(super) fn score(&self, dataset: u64, record: u64) -> f64 {
        let hash = mixed(mixed(self.terms.address ^ dataset) ^ record);
        let between_0_and_1 = ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        -self.weight / between_0_and_1.ln()
    }

    /// It was the first choice for a record, which it got or not.
    pub(super) fn named(&mut self, got_it: bool) {
        self.named += 1;
        self.passed += u64::from(!got_it);
    }

    /// Moves its weight by an eighth: down if it had no room for one in twenty of its records.
    pub(super) fn weigh(&mut self) {
        let is_slow = self.passed * 20 > self.named;
        self.weight = if is_slow { self.weight * 7.0 / 8.0 } else { self.weight * 9.0 / 8.0 }.clamp(LEAST_WEIGHT, 1.0);
        (self.named, self.passed) = (0, 0);
    }
}

/// Mixes all bits of a number (the finisher of `MurmurHash3`).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: u64) -> Peer {
        Peer::new(PeerTerms { address, threads: 2, most: 64 }, Instant::now())
    }

    #[test]
    fn rule_60_records_of_a_decoder_that_goes_move_and_no_others_do_and_a_weight_is_a_share() {
        let mut peers: Vec<Peer> = (1..=3).map(peer).collect();
        let best = |peers: &[Peer], record| {
            let by_score = |a: &&Peer, b: &&Peer| a.score(7, record).total_cmp(&b.score(7, record));
            peers.iter().max_by(by_score).unwrap().terms.address
        };
        let before: Vec<u64> = (0..30_000).map(|record| best(&peers, record)).collect();
        let share = |of: &[u64], address| of.iter().filter(|best| **best == address).count();
        for address in 1..=3 {
            let share = share(&before, address);
            assert!((9_500..10_500).contains(&share), "{share} of 30,000 records for one of three decoders");
        }
        let gone = peers.pop().unwrap();
        for (record, before) in (0..).zip(&before).filter(|(_, before)| **before != gone.terms.address) {
            assert_eq!(best(&peers, record), *before, "record {record} has no reason to move");
        }
        // A slow decoder loses an eighth of its weight at a time.
        peers[0].named(false);
        peers[0].weigh();
        assert!((peers[0].weight - 0.875).abs() < 1e-9);
        let after: Vec<u64> = (0..30_000).map(|record| best(&peers, record)).collect();
        let (slow, other) = (share(&after, 1), share(&after, 2));
        assert!((13_500..14_500).contains(&slow) && slow + other == 30_000, "{slow} for a weight of 0.875 beside 1");
        peers[0].weigh();
        assert!((peers[0].weight - 0.984_375).abs() < 1e-9, "it is fast again");
    }

    #[test]
    fn rule_60_the_expected_time_follows_what_was_measured_and_the_size_of_the_file() {
        let (mut peer, start) = (peer(1), Instant::now());
        assert_eq!(peer.expected(1), UNKNOWN);
        peer.made(1_000, start, start + Duration::from_millis(300));
        assert_eq!(peer.expected(1_000), Duration::from_millis(300));
        assert_eq!(peer.expected(10_000), Duration::from_secs(3), "a large file takes longer");
        assert_eq!(peer.expected(1), Duration::from_millis(300), "a small one is not expected sooner");
        for _ in 0..1_000 {
            peer.made(1_000, start, start);
        }
        assert_eq!(peer.expected(1_000), SHORTEST);
    }

    #[test]
    fn rule_60_a_new_decoder_has_one_request_and_twice_as_many_after_each_answer_and_one_that_is_busy_rests() {
        let (mut peer, start) = (peer(1), Instant::now());
        let mut windows = Vec::new();
        for id in 0..8 {
            windows.push(peer.window());
            peer.ask(id, start);
            let asked = peer.answered(id).unwrap();
            peer.made(1, asked, start);
        }
        assert_eq!(windows, [1, 2, 4, 8, 16, 32, 64, 64]);
        peer.is_busy(start);
        assert_eq!((peer.window(), peer.has_room(start), peer.has_room(start + BUSY)), (32, false, true));
        assert_eq!(peer.answered(99), None, "it was not asked for this");
    }
}
