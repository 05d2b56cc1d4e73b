//! What decoders on other machines make instead of a read here (semantics rule 60).

use std::time::Instant;

use super::choice::{self, Reader};
use super::{Noted, ReadAhead, ReadJob};

impl<B> ReadAhead<B> {
    /// The same, but this daemon reads only what no decoder on another machine may make.
    pub(crate) fn leaving_to_decoders(mut self) -> Self {
        self.reader = Reader::Rest;
        self
    }

    /// The next position for a decoder. If there is no memory for further answers, only the oldest one is given.
    pub(crate) fn decoder_job(&mut self, is_full: bool, now: Instant) -> Option<ReadJob> {
        choice::decoder_job(&mut self.reads, is_full, now)
    }

    /// Notes what a decoder has made. It says nothing about the storage.
    pub(crate) fn made(&mut self, job: &ReadJob, content: B, now: Instant) -> Noted {
        self.note(job, Ok(content), now, false)
    }

    /// Takes a position back from a decoder. If it is to be made `here`, no other decoder is asked for it. A suspect is made in a
    /// child process.
    pub(crate) fn take_back(&mut self, job: &ReadJob, here: bool, suspect: bool) {
        self.reads.take_back(job, here, suspect);
    }
}

/// The rest of the state machine has tests of its own; these are of what decoders add.
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forebay_proto::Turn;

    use super::super::{LoadedRead, Span, TakenRead};
    use super::*;

    fn span(suspect: bool, start: u64) -> Span {
        let turn = Arc::new(|index| Turn::first(100 + index));
        Span { lease: start, epoch: 0, start, len: 2, bare: Vec::new(), suspect, turn }
    }

    fn take(ahead: &mut ReadAhead<u64>) -> Option<(u64, bool, u64)> {
        match ahead.take(0, |_| true) {
            TakenRead::Record(position, read) => {
                let LoadedRead { bytes, .. } = read.expect("none is bad");
                Some((position.record, position.suspect, bytes))
            }
            _ => None,
        }
    }

    #[test]
    fn rule_60_a_decoder_and_this_daemon_share_the_positions_and_each_is_taken_in_its_order() {
        let (mut ahead, now) = (ReadAhead::<u64>::new(1 << 20, 0), Instant::now());
        ahead.lease(span(false, 0));
        let remote = ahead.decoder_job(false, now).unwrap();
        let here = ahead.next_job(now, |_, _| 1).unwrap();
        assert_eq!((remote.record(), here.record()), (100, 101));
        assert_eq!((ahead.used(), ahead.in_flight().reads), (1, 1), "an answer takes no room of the budget");
        assert_eq!(ahead.done(&here, Ok(2), now), Noted::Behind);
        assert_eq!(take(&mut ahead), None, "the first one is not there yet");
        assert_eq!(ahead.made(&remote, 1, now), Noted::Next);
        assert_eq!([take(&mut ahead), take(&mut ahead)], [Some((100, false, 1)), Some((101, false, 2))]);
    }

    #[test]
    fn rule_60_a_position_that_is_taken_back_is_read_here_or_asked_again_and_a_late_answer_changes_nothing() {
        let (mut ahead, now) = (ReadAhead::<u64>::new(1 << 20, 0).leaving_to_decoders(), Instant::now());
        ahead.lease(span(false, 0));
        assert_eq!(ahead.next_job(now, |_, _| 1), None, "this daemon leaves it to the decoders");
        let [first, second] = [(); 2].map(|()| ahead.decoder_job(false, now).unwrap());
        ahead.take_back(&first, false, false);
        assert_eq!(ahead.next_job(now, |_, _| 1), None);
        let later = now + std::time::Duration::from_secs(1);
        let again = ahead.decoder_job(true, later).unwrap();
        assert_eq!(again.record(), 100, "it is the oldest one, so that there is always room for it");
        ahead.take_back(&first, true, false);
        ahead.take_back(&second, true, true);
        assert_eq!(ahead.decoder_job(false, later), None, "what is made here is for no decoder");
        let here = ahead.next_job(later, |_, _| 1).unwrap();
        assert_eq!((here.record(), ahead.done(&here, Ok(9), later)), (101, Noted::Behind));
        assert_eq!(ahead.made(&again, 1, later), Noted::Next);
        assert_eq!(ahead.made(&first, 7, later), Noted::Late, "another answer counted");
        assert_eq!([take(&mut ahead), take(&mut ahead)], [Some((100, false, 1)), Some((101, true, 9))]);
    }

    #[test]
    fn rule_60_suspects_are_for_no_decoder_and_memory_for_answers_keeps_later_positions_back() {
        let (mut ahead, now) = (ReadAhead::<u64>::new(1 << 20, 0).leaving_to_decoders(), Instant::now());
        ahead.lease(span(true, 0));
        ahead.lease(span(false, 2));
        assert_eq!(ahead.decoder_job(false, now), None);
        let suspects = [(); 2].map(|()| ahead.next_job(now, |_, _| 1).unwrap());
        assert_eq!(suspects.map(|job| job.record()), [100, 101]);
        assert_eq!(ahead.next_job(now, |_, _| 1), None);
        assert_eq!(ahead.decoder_job(true, now), None, "others are before it");
        assert_eq!(ahead.decoder_job(false, now).map(|job| job.record()), Some(102));
        // When the stream stops, a position with a decoder is given back like any other.
        assert_eq!(ahead.close(), [(0, 0, 2), (2, 0, 2)]);
    }
}
