//! Tests of reads for mosaics: what the storage does with a partner is not the fault of the record that is read.

use super::*;
use crate::record::FailedRead;

/// A second more than a read may take.
const LATE: Duration = Duration::from_secs(61);
/// The partner that the storage does not give.
const PARTNER: u64 = 77;

fn start(ahead: &mut ReadAhead<u64>, now: Instant) -> ReadJob {
    ahead.next_job(now, |_, bytes| bytes.max(10)).unwrap()
}

/// The read fails at `record`.
fn fail(ahead: &mut ReadAhead<u64>, job: &ReadJob, record: u64, kind: ReadErrorKind, now: Instant) -> Noted {
    ahead.ended(job, Err(FailedRead::at(record, error(kind))), now)
}

/// Tells of a partner, and gives the record if that is left out.
fn leaves_out(ahead: &mut ReadAhead<u64>, job: &ReadJob, partner: u64, now: Instant) -> bool {
    let is_left_out = !ahead.turns_to(job, partner, now);
    if is_left_out {
        ahead.done(job, Ok(job.record()), now);
    }
    is_left_out
}

#[test]
fn rule_28_a_partner_that_the_storage_fails_alone_for_read_timeout_is_left_out_of_all_mosaics() {
    let (mut ahead, began) = (ReadAhead::new(1000, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 5));
    let jobs = [0, 1, 2].map(|_| start(&mut ahead, began));
    for job in &jobs {
        assert!(ahead.turns_to(job, PARTNER, began));
        assert_eq!(fail(&mut ahead, job, PARTNER, ReadErrorKind::Storage, began), Noted::Behind);
    }
    let late = began + LATE;
    // One of them is on its way once more.
    let again = start(&mut ahead, late);
    assert_eq!((again.record(), ahead.turns_to(&again, PARTNER, late)), (0, true));
    for _ in 0..2 {
        let job = start(&mut ahead, late);
        assert_eq!(fail(&mut ahead, &job, PARTNER, ReadErrorKind::Storage, late), Noted::Behind);
    }
    let good = start(&mut ahead, late);
    assert_eq!((good.record(), ahead.done(&good, Ok(3), late)), (3, Noted::Behind));
    assert_eq!(ahead.stall(late, TIMEOUT).unwrap().record, PARTNER);
    assert_eq!(ahead.expire(late, TIMEOUT, Silence::Thread), 0);
    assert_eq!(ahead.stall(late, TIMEOUT), None, "nothing waits for it any more");
    assert_eq!(fail(&mut ahead, &again, PARTNER, ReadErrorKind::Storage, late), Noted::Behind);
    for expected in [0, 1, 2, 4] {
        let job = start(&mut ahead, late);
        assert_eq!((job.record(), leaves_out(&mut ahead, &job, PARTNER, late)), (expected, true));
    }
    assert_eq!([0; 5].map(|_| record(ahead.take(0, |_| true))), [0, 1, 2, 3, 4]);
}

#[test]
fn while_the_storage_fails_two_records_neither_is_to_blame() {
    for other in [PARTNER, PARTNER + 1] {
        let (mut ahead, began) = (ReadAhead::new(1000, 0), Instant::now());
        ahead.lease(span(1, 0, 0, 3));
        for partner in [PARTNER, other] {
            let job = start(&mut ahead, began);
            fail(&mut ahead, &job, partner, ReadErrorKind::Storage, began);
        }
        let late = began + LATE;
        for partner in [PARTNER, other] {
            let job = start(&mut ahead, late);
            fail(&mut ahead, &job, partner, ReadErrorKind::Storage, late);
        }
        let good = start(&mut ahead, late);
        ahead.done(&good, Ok(2), late);
        ahead.expire(late, TIMEOUT, Silence::Thread);
        let is_judged = ahead.stall(late, TIMEOUT).is_none();
        assert_eq!((is_judged, ahead.take(0, |_| true)), (other == PARTNER, TakenRead::Wait));
    }
}

#[test]
fn a_record_that_fails_is_judged_at_its_own_place_though_mosaics_show_it() {
    let (mut ahead, began) = (ReadAhead::new(1000, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    for _ in 0..2 {
        let job = start(&mut ahead, began);
        fail(&mut ahead, &job, 1, ReadErrorKind::Storage, began);
    }
    let late = began + LATE;
    for _ in 0..2 {
        let job = start(&mut ahead, late);
        fail(&mut ahead, &job, 1, ReadErrorKind::Storage, late);
    }
    let good = start(&mut ahead, late);
    ahead.done(&good, Ok(2), late);
    ahead.expire(late, TIMEOUT, Silence::Thread);
    let job = start(&mut ahead, late);
    assert_eq!((job.record(), leaves_out(&mut ahead, &job, 1, late)), (0, true));
    assert_eq!(record(ahead.take(0, |_| true)), 0);
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Outlasted { .. }))));
    assert_eq!(record(ahead.take(0, |_| true)), 2);
}

#[test]
fn rule_28_each_record_of_a_mosaic_has_read_timeout_for_itself_and_the_one_that_hangs_is_left_out() {
    let (mut ahead, mut now) = (ReadAhead::new(1000, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 2));
    let job = start(&mut ahead, now);
    for partner in [PARTNER - 2, PARTNER - 1, PARTNER] {
        now += TIMEOUT;
        assert_eq!((ahead.expire(now, TIMEOUT, Silence::Thread), ahead.stall(now, TIMEOUT)), (0, None));
        assert!(ahead.turns_to(&job, partner, now));
    }
    let other = start(&mut ahead, now + Duration::from_secs(1));
    ahead.done(&other, Ok(1), now);
    now += LATE;
    assert_eq!(ahead.stall(now, TIMEOUT).unwrap().record, PARTNER);
    assert_eq!(ahead.expire(now, TIMEOUT, Silence::Thread), 1, "its thread is replaced");
    let again = start(&mut ahead, now);
    assert_eq!((again.record(), leaves_out(&mut ahead, &again, PARTNER, now)), (0, true));
    assert_eq!([0; 2].map(|_| record(ahead.take(0, |_| true))), [0, 1]);
    assert_eq!(ahead.done(&job, Ok(0), now), Noted::Late);
    ahead.release(10);
    ahead.release(10);
    assert_eq!((ahead.used(), ahead.in_flight()), (0, InFlight::default()));
}

#[test]
fn rule_31_each_record_of_a_mosaic_may_grow_as_often_as_one_alone() {
    let (mut ahead, now) = (ReadAhead::new(1 << 20, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 2));
    let mut bytes = 10;
    let mut grow = |ahead: &mut ReadAhead<u64>, record| {
        let job = start(ahead, now);
        bytes += 1;
        fail(ahead, &job, record, ReadErrorKind::Larger { size: bytes }, now)
    };
    for _ in 0..4 {
        for record in [0, PARTNER - 2, PARTNER - 1, PARTNER] {
            assert_eq!(grow(&mut ahead, record), Noted::Behind);
        }
    }
    assert_eq!(grow(&mut ahead, PARTNER), Noted::Behind, "what always grows is left out, and the record stays good");
    let job = start(&mut ahead, now);
    assert!(ahead.turns_to(&job, PARTNER - 1, now));
    assert!(leaves_out(&mut ahead, &job, PARTNER, now));
    assert_eq!(record(ahead.take(0, |_| true)), 0);
    for _ in 0..5 {
        grow(&mut ahead, 1);
    }
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Growing { .. }))));
}

#[test]
fn a_partner_that_was_judged_is_tried_again_in_a_later_epoch_or_once_its_own_turn_gives_it() {
    for own_turn in [false, true] {
        let (mut ahead, now) = (ReadAhead::new(1 << 20, 3), Instant::now());
        ahead.lease(span(1, 3, 0, 3));
        for _ in 0..5 {
            let job = start(&mut ahead, now);
            fail(&mut ahead, &job, 1, ReadErrorKind::Larger { size: 10 }, now);
        }
        let job = start(&mut ahead, now);
        assert!(leaves_out(&mut ahead, &job, 1, now));
        if own_turn {
            let own = start(&mut ahead, now);
            assert_eq!((own.record(), ahead.done(&own, Ok(1), now)), (1, Noted::Behind));
        } else {
            ahead.completed(3);
            let next = start(&mut ahead, now);
            assert!(!ahead.turns_to(&next, 1, now), "its epoch is not complete");
            ahead.completed(4);
        }
        let next = start(&mut ahead, now);
        assert!(ahead.turns_to(&next, 1, now));
    }
}
