//! Tests of probes, which read a record once more to tell whether the storage answers.

use std::collections::VecDeque;

use forebay_sources::Member;

use super::*;

/// A second more than a read may take.
const LATE: Duration = Duration::from_secs(61);
const THREAD: Silence<'_> = Silence::Thread;

fn expire(ahead: &mut ReadAhead<u64>, now: Instant, silence: Silence<'_>) {
    ahead.expire(now, TIMEOUT, silence);
}

fn probe(ahead: &mut ReadAhead<u64>, now: Instant) -> Option<ReadJob> {
    ahead.next_probe(now, |_, bytes| bytes.max(10))
}

fn is_outlasted(taken: &TakenRead<Result<LoadedRead<u64>, Reason>>) -> bool {
    matches!(taken, TakenRead::Record(_, Err(Reason::Outlasted { .. })))
}

/// Reads records below `last` well, and takes them. The read of the last one fails at once. Answers when.
fn fails_at_the_end(ahead: &mut ReadAhead<u64>, last: u64) -> Instant {
    let now = Instant::now();
    ahead.lease(span(1, 0, 0, last + 1));
    for expected in 0..last {
        let job = ahead.next_job(now, |_, _| 10).unwrap();
        ahead.done(&job, Ok(expected), now);
        assert_eq!(record(ahead.take(0, |_| true)), expected);
        ahead.release(10);
    }
    // Later than the others, which say nothing of what comes after them.
    let now = now + Duration::from_secs(1);
    fail_again(ahead, now);
    now
}

/// The read of the record that fails is tried once more.
fn fail_again(ahead: &mut ReadAhead<u64>, now: Instant) {
    let job = ahead.next_job(now, |_, _| 10).unwrap();
    assert_eq!(ahead.done(&job, Err(storage()), now), Noted::Behind);
}

#[test]
fn rule_28_the_last_record_is_bad_if_a_probe_is_answered_and_nobody_gets_that_one_twice() {
    let mut ahead = ReadAhead::new(100, 0);
    let began = fails_at_the_end(&mut ahead, 3);
    expire(&mut ahead, began + TIMEOUT, THREAD);
    assert_eq!(probe(&mut ahead, began + TIMEOUT), None, "the storage has its time");
    let now = began + LATE;
    expire(&mut ahead, now, THREAD);
    assert_eq!((ahead.take(0, |_| true), ahead.wants_readers()), (TakenRead::Wait, true));
    let job = probe(&mut ahead, now).unwrap();
    assert_eq!((job.record(), job.probe, ahead.used(), ahead.in_flight().reads), (0, true, 10, 1));
    expire(&mut ahead, now, THREAD);
    assert_eq!((probe(&mut ahead, now), ahead.wants(&job)), (None, true), "one at a time");
    assert_eq!(ahead.done(&job, Ok(0), now), Noted::Behind);
    assert_eq!((ahead.used(), ahead.in_flight(), ahead.wants(&job)), (0, InFlight::default(), false));
    assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
    expire(&mut ahead, now, THREAD);
    assert!(is_outlasted(&ahead.take(0, |_| true)));
    ahead.drained(1);
    assert_eq!(ahead.take(0, |_| true), TakenRead::Drained(0), "the epoch ends");
    expire(&mut ahead, now + LATE, THREAD);
    assert_eq!((ahead.take(0, |_| true), probe(&mut ahead, now + LATE)), (TakenRead::Wait, None));
}

#[test]
fn rule_28_while_probes_fail_the_storage_is_away_and_its_time_begins_again_when_one_is_answered() {
    let mut ahead = ReadAhead::new(100, 0);
    let mut now = fails_at_the_end(&mut ahead, 6) + LATE;
    let mut asked = Vec::new();
    for _ in 0..6 {
        expire(&mut ahead, now, THREAD);
        let job = probe(&mut ahead, now).unwrap();
        asked.push(job.record());
        assert_eq!((ahead.done(&job, Err(storage()), now), ahead.used()), (Noted::Behind, 0));
        expire(&mut ahead, now, THREAD);
        assert_eq!((probe(&mut ahead, now), ahead.take(0, |_| true)), (None, TakenRead::Wait), "after a pause");
        now += Duration::from_secs(5);
    }
    assert_eq!(asked, [0, 1, 2, 3, 0, 1], "one after the other: one that turned bad does not block the others");
    expire(&mut ahead, now, THREAD);
    let job = probe(&mut ahead, now).unwrap();
    ahead.done(&job, Ok(2), now);
    fail_again(&mut ahead, now);
    for moment in [now, now + TIMEOUT] {
        expire(&mut ahead, moment, THREAD);
        let next = probe(&mut ahead, moment);
        assert_eq!((next, ahead.take(0, |_| true)), (None, TakenRead::Wait), "the outage has only just ended");
    }
    now += LATE;
    expire(&mut ahead, now, THREAD);
    let job = probe(&mut ahead, now).unwrap();
    ahead.done(&job, Ok(3), now);
    expire(&mut ahead, now, THREAD);
    assert!(is_outlasted(&ahead.take(0, |_| true)));
}

#[test]
fn rule_28_the_last_record_is_good_if_it_comes_after_an_outage_that_probes_have_seen() {
    let mut ahead = ReadAhead::new(100, 0);
    let now = fails_at_the_end(&mut ahead, 2) + LATE;
    expire(&mut ahead, now, THREAD);
    let job = probe(&mut ahead, now).unwrap();
    ahead.done(&job, Err(storage()), now);
    assert_eq!(read(&mut ahead, now), [2]);
    expire(&mut ahead, now + LATE, THREAD);
    assert_eq!((record(ahead.take(0, |_| true)), probe(&mut ahead, now + LATE)), (2, None));
}

#[test]
fn what_failed_beside_a_probe_is_not_bad_as_soon_as_a_new_read_is_answered() {
    let mut ahead = ReadAhead::new(100, 0);
    let mut now = fails_at_the_end(&mut ahead, 2) + LATE;
    expire(&mut ahead, now, THREAD);
    let job = probe(&mut ahead, now).unwrap();
    ahead.done(&job, Err(storage()), now);
    // A lease of another daemon comes back.
    ahead.lease(span(2, 0, 3, 2));
    now += Duration::from_secs(1);
    for expected in [3, 4] {
        fail_again(&mut ahead, now);
        let job = ahead.next_job(now, |_, _| 10).unwrap();
        assert_eq!((job.record(), ahead.done(&job, Ok(expected), now)), (expected, Noted::Behind));
        expire(&mut ahead, now, THREAD);
        let was_judged = is_outlasted(&ahead.take(0, |_| true));
        assert_eq!(was_judged, expected == 4, "alone for read_timeout since the storage is back");
        now += LATE;
    }
}

#[test]
fn a_read_that_began_before_a_probe_failed_does_not_speak_against_it() {
    let mut ahead = ReadAhead::new(100, 0);
    let mut now = fails_at_the_end(&mut ahead, 2) + LATE;
    expire(&mut ahead, now, THREAD);
    ahead.lease(span(2, 0, 3, 1));
    fail_again(&mut ahead, now);
    let (other, job) = (ahead.next_job(now, |_, _| 10).unwrap(), probe(&mut ahead, now).unwrap());
    ahead.done(&job, Err(storage()), now);
    ahead.done(&other, Ok(3), now);
    expire(&mut ahead, now, THREAD);
    assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
    for _ in 0..2 {
        now += LATE;
        fail_again(&mut ahead, now);
        expire(&mut ahead, now, THREAD);
        assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
        let job = probe(&mut ahead, now).unwrap();
        ahead.done(&job, Ok(job.record()), now);
    }
    expire(&mut ahead, now, THREAD);
    assert!(is_outlasted(&ahead.take(0, |_| true)), "alone for read_timeout since a probe was answered");
}

#[test]
fn without_a_record_that_was_read_well_or_with_two_that_fail_there_is_no_probe() {
    let known = |record| (record == 0).then_some(record);
    for (fails, good) in [(1, false), (2, true)] {
        let (mut ahead, now) = (ReadAhead::new(100, 0), Instant::now());
        ahead.lease(span(1, 0, 0, fails + 1));
        if good {
            let job = ahead.next_job(now, |_, _| 10).unwrap();
            ahead.done(&job, Ok(0), now);
        } else {
            assert_eq!(ahead.pass(now, known).records, 1, "a cache does not speak for the storage");
        }
        let mut now = now + Duration::from_secs(1);
        for _ in 0..20 {
            (0..fails).for_each(|_| fail_again(&mut ahead, now));
            now += LATE;
            expire(&mut ahead, now, THREAD);
            assert_eq!((probe(&mut ahead, now), ahead.wants_probe()), (None, false));
        }
        assert_eq!(record(ahead.take(0, |_| true)), 0);
        assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
    }
}

#[test]
fn what_the_system_lacks_asks_for_no_probe_and_neither_does_what_other_reads_will_tell() {
    let mut ahead = ReadAhead::new(100, 0);
    let mut now = fails_at_the_end(&mut ahead, 2) + LATE;
    // Another read is under way.
    ahead.lease(span(2, 0, 3, 1));
    fail_again(&mut ahead, now);
    let other = ahead.next_job(now, |_, _| 10).unwrap();
    expire(&mut ahead, now, THREAD);
    assert_eq!(probe(&mut ahead, now), None);
    ahead.done(&other, Err(error(ReadErrorKind::Missing)), now);
    expire(&mut ahead, now, THREAD);
    assert!(ahead.wants_probe(), "a record that is bad tells nothing");
    now += LATE;
    let job = ahead.next_job(now, |_, _| 10).unwrap();
    ahead.done(&job, Err(error(ReadErrorKind::Resources)), now);
    now += LATE;
    expire(&mut ahead, now, THREAD);
    assert_eq!((probe(&mut ahead, now), ahead.take(0, |_| true)), (None, TakenRead::Wait));
}

#[test]
fn a_probe_of_a_record_that_was_deleted_says_nothing_and_another_one_follows() {
    for kind in [ReadErrorKind::Missing, ReadErrorKind::Larger { size: 12 }] {
        let mut ahead = ReadAhead::new(100, 0);
        let mut now = fails_at_the_end(&mut ahead, 2) + LATE;
        expire(&mut ahead, now, THREAD);
        let job = probe(&mut ahead, now).unwrap();
        ahead.done(&job, Err(error(kind)), now);
        expire(&mut ahead, now, THREAD);
        assert_eq!((probe(&mut ahead, now), ahead.take(0, |_| true)), (None, TakenRead::Wait));
        now += Duration::from_secs(5);
        expire(&mut ahead, now, THREAD);
        let other = probe(&mut ahead, now).unwrap();
        assert_eq!((job.record(), other.record()), (0, 1));
        ahead.done(&other, Ok(1), now);
        expire(&mut ahead, now, THREAD);
        assert!(is_outlasted(&ahead.take(0, |_| true)));
    }
}

#[test]
fn a_probe_reads_a_record_of_the_source_whose_record_fails() {
    let member = |records| Member { name: String::new(), records };
    for (first, expected) in [(2, Some(2)), (4, None)] {
        let mut ahead = ReadAhead::new(100, 0).of(&[member(first), member(5 - first)]);
        let now = fails_at_the_end(&mut ahead, 4) + LATE;
        expire(&mut ahead, now, THREAD);
        assert_eq!(probe(&mut ahead, now).map(|job| job.record()), expected);
    }
}

#[test]
fn rule_28_a_thread_that_hangs_behind_the_last_records_is_judged_by_a_probe() {
    let (mut ahead, began) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 2));
    assert_eq!(record_of_next(&mut ahead, began), 0);
    let hangs = ahead.next_job(began + Duration::from_secs(1), |_, _| 10).unwrap();
    let now = began + 2 * LATE;
    assert_eq!(ahead.expire(now, TIMEOUT, THREAD), 1);
    let job = probe(&mut ahead, now).unwrap();
    // The storage is away: the probe hangs as well. It has a thread, so no other one follows.
    let mut now = now + LATE;
    assert_eq!((ahead.expire(now, TIMEOUT, THREAD), ahead.in_flight().reads), (1, 0));
    now += 10 * LATE;
    assert_eq!((ahead.expire(now, TIMEOUT, THREAD), probe(&mut ahead, now), ahead.used()), (0, None, 20));
    // It comes back first. That is the end of the outage, and the other one gets its time.
    assert_eq!((ahead.done(&job, Ok(0), now), ahead.used()), (Noted::Late, 10));
    expire(&mut ahead, now + TIMEOUT, THREAD);
    assert_eq!((probe(&mut ahead, now + TIMEOUT), ahead.take(0, |_| true)), (None, TakenRead::Wait));
    now += LATE;
    expire(&mut ahead, now, THREAD);
    let job = probe(&mut ahead, now).unwrap();
    ahead.done(&job, Ok(0), now);
    expire(&mut ahead, now, THREAD);
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Late { timeout: TIMEOUT }))));
    assert_eq!((ahead.done(&hangs, Ok(1), now), ahead.used()), (Noted::Late, 0));
}

/// Reads the next record well, and takes it.
fn record_of_next(ahead: &mut ReadAhead<u64>, now: Instant) -> u64 {
    let job = ahead.next_job(now, |_, _| 10).unwrap();
    ahead.done(&job, Ok(job.record()), now);
    let taken = record(ahead.take(0, |_| true));
    ahead.release(10);
    taken
}

#[test]
fn rule_28_the_last_request_is_bad_if_it_has_no_answer_twice_while_probes_have() {
    for answers in [true, false] {
        let silence: Silence<'_> = Silence::Request(&|_| storage());
        let (mut ahead, mut now) = (ReadAhead::new(100, 0), Instant::now());
        ahead.lease(span(1, 0, 0, 2));
        assert_eq!(record_of_next(&mut ahead, now), 0);
        let (mut open, mut rounds) = (VecDeque::new(), 0);
        let bad = loop {
            now += Duration::from_secs(10);
            open.extend(ahead.next_job(now, |_, _| 10).filter(|job| job.record() == 1));
            expire(&mut ahead, now, silence);
            now += Duration::from_secs(1);
            let asks = probe(&mut ahead, now);
            assert!(asks.is_none() || rounds > 0, "the first request has its time");
            if let Some(job) = asks {
                if answers {
                    ahead.done(&job, Ok(0), now);
                    expire(&mut ahead, now, silence);
                    assert_eq!(probe(&mut ahead, now), None, "one for each request");
                } else {
                    open.push_back(job);
                }
            }
            now += LATE;
            expire(&mut ahead, now, silence);
            assert_eq!(ahead.in_flight().reads, 0, "all of them are late");
            rounds += 1;
            let taken = ahead.take(0, |_| true);
            if taken != TakenRead::Wait || rounds == 10 {
                break matches!(taken, TakenRead::Record(_, Err(Reason::Late { timeout: TIMEOUT })));
            }
        };
        assert_eq!((bad, rounds), (answers, if answers { 3 } else { 10 }));
        assert!(open.iter().all(|job| job.record() == 1 || !ahead.wants(job)), "a late probe is withdrawn");
        for job in &open {
            assert_eq!(ahead.done(job, Err(storage()), now), Noted::Late);
        }
        assert_eq!(ahead.used(), 0);
    }
}

#[test]
fn a_probe_waits_for_room_and_exceeds_the_budget_only_for_the_oldest_record() {
    let (mut ahead, began) = (ReadAhead::new(20, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 5));
    assert_eq!(record_of_next(&mut ahead, began), 0);
    let began = began + Duration::from_secs(1);
    let first = ahead.next_job(began, |_, _| 10).unwrap();
    let fails = ahead.next_job(began, |_, _| 10).unwrap();
    ahead.done(&fails, Err(storage()), began);
    ahead.done(&first, Ok(1), began);
    // Begun no later than what fails, and so no answer. The budget is full then.
    let other = ahead.next_job(began, |_, _| 10).unwrap();
    ahead.done(&other, Ok(3), began);
    let now = began + LATE;
    expire(&mut ahead, now, THREAD);
    assert_eq!((ahead.wants_probe(), probe(&mut ahead, now)), (true, None), "a record before it lies ready");
    assert_eq!(record(ahead.take(0, |_| true)), 1);
    assert_eq!(probe(&mut ahead, now), None, "it is in decoding, and will give its room back");
    ahead.release(10);
    let job = ahead.next_probe(now, |_, _| 15).unwrap();
    assert_eq!((job.record(), ahead.used()), (0, 25), "nothing else can go on");
    ahead.done(&job, Ok(0), now);
    expire(&mut ahead, now, THREAD);
    assert!(is_outlasted(&ahead.take(0, |_| true)));
    assert_eq!((record(ahead.take(0, |_| true)), ahead.used()), (3, 10));
}

#[test]
fn rule_5_closing_forgets_the_probe() {
    let mut ahead = ReadAhead::new(100, 0);
    let now = fails_at_the_end(&mut ahead, 2) + LATE;
    expire(&mut ahead, now, THREAD);
    let job = probe(&mut ahead, now).unwrap();
    assert_eq!((ahead.close(), ahead.wants(&job)), (vec![(1, 2, 3)], false));
    assert_eq!(ahead.done(&job, Ok(0), now), Noted::Late, "its thread ends");
    expire(&mut ahead, now + LATE, THREAD);
    assert_eq!((ahead.used(), ahead.in_flight(), ahead.wants_probe()), (0, InFlight::default(), false));
}
