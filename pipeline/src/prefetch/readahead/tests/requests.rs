//! Tests of reading ahead by requests, which are made again if they are not answered.

use super::*;

/// A second more than a request may take.
const LATE: Duration = Duration::from_secs(61);

/// Looks for late requests. Answers how many there were.
fn expire(ahead: &mut ReadAhead<u64>, now: Instant) -> usize {
    ahead.expire(now, TIMEOUT, Silence::Request(&|_| storage()))
}

fn start(ahead: &mut ReadAhead<u64>, now: Instant) -> ReadJob {
    ahead.next_job(now, |_, _| 10).unwrap()
}

#[test]
fn rule_28_a_request_without_an_answer_is_made_again_and_bad_if_that_has_none_either() {
    let (mut ahead, mut now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    let silent = start(&mut ahead, now);
    now += Duration::from_secs(1);
    let other = start(&mut ahead, now);
    ahead.done(&other, Ok(1), now);
    assert_eq!(expire(&mut ahead, now + TIMEOUT / 2), 0);
    now += LATE;
    assert_eq!((expire(&mut ahead, now), ahead.in_flight()), (1, InFlight::default()));
    assert_eq!(ahead.take(0, |_| true), TakenRead::Wait, "one request proves nothing");
    let stall = ahead.stall(now, TIMEOUT).unwrap();
    assert_eq!((stall.record, stall.outage), (0, Some(storage())), "but whoever asks is told");
    now += LATE;
    let again = start(&mut ahead, now);
    assert_eq!((again.record(), again.id), (0, silent.id));
    let third = start(&mut ahead, now + Duration::from_secs(1));
    ahead.done(&third, Ok(2), now);
    now += LATE;
    assert_eq!(expire(&mut ahead, now), 1);
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Late { timeout: TIMEOUT }))));
    assert_eq!([0; 2].map(|_| record(ahead.take(0, |_| true))), [1, 2]);
    ahead.release(20);
    assert_eq!(ahead.used(), 20, "both requests may still be answered");
    assert_eq!(ahead.done(&silent, Ok(0), now), Noted::Late);
    assert_eq!(ahead.done(&again, Err(storage()), now), Noted::Late);
    assert_eq!((ahead.used(), ahead.take(0, |_| true)), (0, TakenRead::Wait), "late answers are dropped");
}

#[test]
fn rule_28_a_read_that_continues_is_neither_late_nor_bad_however_long_it_takes() {
    for silence in [Silence::Thread, Silence::Request(&|_| storage())] {
        let (mut ahead, began) = (ReadAhead::new(1000, 0), Instant::now());
        ahead.lease(span(1, 0, 0, 30));
        let slow = start(&mut ahead, began);
        let mut now = began;
        for _ in 0..10 {
            now += TIMEOUT / 2;
            let other = start(&mut ahead, now);
            ahead.done(&other, Ok(other.record()), now);
            ahead.continues(&slow, now);
            assert_eq!((ahead.expire(now, TIMEOUT, silence), ahead.stall(now, TIMEOUT / 6)), (0, None));
        }
        assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
        // It fails after all. That it was slow does not count, and that others were given meanwhile neither.
        ahead.done(&slow, Err(storage()), now);
        ahead.expire(now + Duration::from_secs(1), TIMEOUT, silence);
        assert_eq!((ahead.take(0, |_| true), ahead.stall(now, TIMEOUT).unwrap().since), (TakenRead::Wait, now));
        now += TIMEOUT / 2;
        let again = start(&mut ahead, now);
        // A sign of the earlier try says nothing of this one.
        ahead.continues(&slow, now + LATE);
        assert_eq!((again.record(), ahead.expire(now + LATE, TIMEOUT, silence)), (0, 1));
    }
}

#[test]
fn rule_28_a_read_that_stands_still_after_a_while_is_late_from_then_on() {
    let (mut ahead, began) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    let slow = start(&mut ahead, began);
    let meanwhile = start(&mut ahead, began + TIMEOUT / 2);
    let stopped = began + 3 * TIMEOUT;
    ahead.continues(&slow, stopped);
    ahead.done(&meanwhile, Ok(1), stopped);
    assert_eq!(ahead.expire(stopped + TIMEOUT, TIMEOUT, Silence::Thread), 0);
    assert_eq!(ahead.expire(stopped + LATE, TIMEOUT, Silence::Thread), 1);
    assert_eq!(ahead.take(0, |_| true), TakenRead::Wait, "the other one began before it stopped");
    let later = start(&mut ahead, stopped + LATE);
    ahead.done(&later, Ok(2), stopped + LATE);
    ahead.expire(stopped + LATE, TIMEOUT, Silence::Thread);
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Late { timeout: TIMEOUT }))));
}

#[test]
fn rule_54_an_outage_in_which_no_request_is_answered_makes_no_record_bad() {
    let (mut ahead, mut now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 2));
    for round in 0..10 {
        let jobs = [start(&mut ahead, now), start(&mut ahead, now)];
        assert_eq!(jobs.map(|job| job.record()), [0, 1], "round {round}");
        now += LATE;
        assert_eq!(expire(&mut ahead, now), 2);
        for job in &jobs {
            // Its source gives it up as well, after a while of its own.
            assert_eq!(ahead.done(job, Err(storage()), now), Noted::Late);
        }
        // By then both are due.
        now += LATE;
    }
    // The storage answers again, but not to the request that was made before that.
    let lost = start(&mut ahead, now);
    now += Duration::from_secs(30);
    let other = start(&mut ahead, now);
    assert_eq!(ahead.done(&other, Ok(1), now), Noted::Behind);
    now += LATE;
    assert_eq!((expire(&mut ahead, now), ahead.take(0, |_| true)), (1, TakenRead::Wait));
    now += LATE;
    let job = start(&mut ahead, now);
    assert_eq!((job.record(), ahead.done(&job, Ok(0), now)), (lost.record(), Noted::Next));
    assert_eq!([0; 2].map(|_| record(ahead.take(0, |_| true))), [0, 1]);
}

#[test]
fn rule_54_what_fails_once_more_as_an_outage_ends_is_not_bad() {
    let (mut ahead, start_of_outage) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 2));
    for _ in 0..2 {
        let job = start(&mut ahead, start_of_outage);
        ahead.done(&job, Err(storage()), start_of_outage);
    }
    let now = start_of_outage + 10 * TIMEOUT;
    let jobs = [start(&mut ahead, now), start(&mut ahead, now)];
    ahead.done(&jobs[1], Ok(1), now);
    // As a store that is busy with all who waited for it.
    ahead.done(&jobs[0], Err(storage()), now);
    expire(&mut ahead, now + Duration::from_secs(1));
    assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
    let again = now + Duration::from_secs(10);
    let job = start(&mut ahead, again);
    ahead.done(&job, Err(storage()), again);
    let (now, third) = (again + 2 * TIMEOUT, again + TIMEOUT);
    ahead.lease(span(2, 0, 2, 1));
    let job = start(&mut ahead, third);
    assert_eq!(job.record(), 0);
    ahead.done(&job, Err(storage()), third);
    let job = start(&mut ahead, third);
    ahead.done(&job, Ok(2), third);
    expire(&mut ahead, now);
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Outlasted { .. }))), "alone for long");
}

#[test]
fn the_first_request_that_is_answered_counts_also_if_it_was_made_again() {
    for made_again in [false, true] {
        let (mut ahead, mut now) = (ReadAhead::new(100, 0), Instant::now());
        ahead.lease(span(1, 0, 0, 1));
        let first = start(&mut ahead, now);
        now += LATE;
        assert_eq!(expire(&mut ahead, now), 1);
        now += LATE;
        let second = made_again.then(|| start(&mut ahead, now));
        assert_eq!(ahead.in_flight().reads, usize::from(made_again));
        assert!(ahead.wants(&first) && second.is_none_or(|second| ahead.wants(&second)));
        assert_eq!(ahead.done(&first, Ok(7), now), Noted::Late, "whoever takes records is told");
        assert!(second.is_none_or(|second| !ahead.wants(&second)), "its record is there");
        assert_eq!(record(ahead.take(0, |_| true)), 7);
        assert_eq!(ahead.in_flight(), InFlight::default());
        assert_eq!(ahead.next_job(now, |_, _| 10), None, "nothing is left to request");
        if let Some(second) = second {
            assert_eq!(ahead.done(&second, Ok(8), now), Noted::Late);
        }
        assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
        ahead.release(10);
        assert_eq!(ahead.used(), 0);
    }
}

#[test]
fn an_error_of_a_request_that_was_given_up_is_no_verdict() {
    let (mut ahead, mut now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 1));
    let first = start(&mut ahead, now);
    now += LATE;
    expire(&mut ahead, now);
    now += LATE;
    let second = start(&mut ahead, now);
    assert_eq!(ahead.done(&first, Err(error(ReadErrorKind::Missing)), now), Noted::Late);
    assert_eq!((ahead.take(0, |_| true), ahead.used()), (TakenRead::Wait, 10));
    assert_eq!(ahead.done(&second, Ok(7), now), Noted::Next);
    assert_eq!(record(ahead.take(0, |_| true)), 7);
}

#[test]
fn what_is_under_way_is_slow_if_it_has_most_of_the_room() {
    let (mut ahead, now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 10));
    assert!(!ahead.waits_for_storage(), "nothing is");
    let jobs: Vec<_> = (0..10).map(|_| start(&mut ahead, now)).collect();
    assert_eq!((ahead.in_flight(), ahead.waits_for_storage()), (InFlight { reads: 10, bytes: 100 }, true));
    for job in &jobs[..5] {
        ahead.done(job, Ok(job.record()), now);
    }
    assert!(!ahead.waits_for_storage(), "half of it lies ready");
}
