//! Tests of single cases of reading ahead.

mod left_out;
mod partners;
mod probes;
mod requests;

use std::sync::Arc;
use std::time::Duration;

use forebay_proto::Turn;
use forebay_sources::{Locator, ReadError, ReadErrorKind};

use super::outage::MOST_TROUBLED;
use super::*;

pub(super) fn span(lease: u64, epoch: u64, start: u64, len: u64) -> Span {
    Span { lease, epoch, start, len, bare: Vec::new(), suspect: false, turn: Arc::new(Turn::first) }
}

const TIMEOUT: Duration = Duration::from_secs(60);

fn storage() -> ReadError {
    error(ReadErrorKind::Storage)
}

pub(super) fn error(kind: ReadErrorKind) -> ReadError {
    ReadError { kind, locator: Locator::file("0.jpg"), cause: "no answer".into() }
}

/// Reads everything that the budget allows.
fn read(ahead: &mut ReadAhead<u64>, now: Instant) -> Vec<u64> {
    let jobs = std::iter::from_fn(|| ahead.next_job(now, |_, _| 10)).collect::<Vec<_>>();
    for job in &jobs {
        assert_ne!(ahead.done(job, Ok(job.record()), now), Noted::Late);
    }
    jobs.iter().map(ReadJob::record).collect()
}

fn record(taken: TakenRead<Result<LoadedRead<u64>, Reason>>) -> u64 {
    match taken {
        TakenRead::Record(_, Ok(held)) => held.bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn records_are_taken_in_order_however_the_reads_come_back() {
    let (mut ahead, now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(7, 0, 5, 2));
    let jobs = [ahead.next_job(now, |_, _| 1).unwrap(), ahead.next_job(now, |_, _| 1).unwrap()];
    assert_eq!(jobs.map(|job| (job.record(), job.last)), [(5, false), (6, true)]);
    assert_eq!(ahead.done(&jobs[1], Ok("second"), now), Noted::Behind);
    assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
    assert_eq!(ahead.done(&jobs[0], Err(error(ReadErrorKind::Missing)), now), Noted::Next);
    let position = |offset| Position {
        epoch: 0,
        lease: 7,
        offset,
        lease_end: 2,
        index: 5 + offset,
        record: 5 + offset,
        repeat: 0,
        suspect: false,
    };
    assert_eq!(ahead.take(0, |_| false), TakenRead::NoRoom(position(0)));
    assert_eq!(
        ahead.take(0, |_| true),
        TakenRead::Record(position(0), Err(Reason::Read(Box::new(error(ReadErrorKind::Missing)))))
    );
    assert_eq!(
        ahead.take(0, |_| true),
        TakenRead::Record(position(1), Ok(LoadedRead { bytes: "second", reserved: 1 }))
    );
}

#[test]
fn rule_28_the_budget_is_granted_in_order_and_the_oldest_may_exceed_it() {
    let (mut ahead, now) = (ReadAhead::new(25, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 9));
    assert_eq!(read(&mut ahead, now), [0, 1], "ten bytes each");
    for expected in 0..2 {
        assert_eq!(record(ahead.take(0, |_| true)), expected);
    }
    assert_eq!(read(&mut ahead, now), [0; 0], "they are in decoding, and will give their room back");
    ahead.release(10);
    assert_eq!(read(&mut ahead, now), [2]);
    ahead.release(10);
    assert_eq!(record(ahead.take(0, |_| true)), 2);
    ahead.release(10);
    assert_eq!(ahead.used(), 0);
    let large = ahead.next_job(now, |_, _| 1000).unwrap();
    assert_eq!(ahead.next_job(now, |_, _| 1), None, "it has the budget alone");
    assert_eq!(ahead.done(&large, Ok(3), now), Noted::Next);
    assert_eq!(record(ahead.take(0, |_| true)), 3);
    ahead.release(1000);
    assert_eq!(read(&mut ahead, now), [4, 5]);
}

#[test]
fn rule_28_the_first_record_of_an_epoch_is_not_the_oldest_while_the_epoch_before_has_some() {
    let (mut ahead, now) = (ReadAhead::new(10, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 1));
    ahead.lease(span(2, 1, 5, 1));
    ahead.drained(1);
    assert_eq!(read(&mut ahead, now), [0]);
    assert_eq!(record(ahead.take(1, |_| true)), 0);
    ahead.release(10);
    assert_eq!(read(&mut ahead, now), [5]);
}

#[test]
fn rule_28_a_record_that_comes_back_late_is_the_oldest_though_the_next_epoch_fills_the_budget() {
    let (mut ahead, now) = (ReadAhead::new(20, 0), Instant::now());
    ahead.drained(1);
    ahead.lease(span(2, 1, 0, 5));
    assert_eq!(read(&mut ahead, now), [0, 1]);
    ahead.lease(span(3, 0, 7, 2));
    assert_eq!(read(&mut ahead, now), [7], "nothing goes before it");
    assert_eq!(record(ahead.take(1, |_| true)), 7, "it passes the next epoch");
    assert_eq!(ahead.take(1, |_| true), TakenRead::Wait);
    ahead.release(10);
    assert_eq!(read(&mut ahead, now), [8]);
}

#[test]
fn rule_28_a_read_that_is_late_is_an_outcome_as_soon_as_the_storage_gives_another_record() {
    let (mut ahead, start) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 2));
    let job = ahead.next_job(start, |_, _| 10).unwrap();
    assert_eq!(ahead.expire(start + TIMEOUT, TIMEOUT, Silence::Thread), 0);
    let late = start + TIMEOUT + Duration::from_millis(1);
    assert_eq!(ahead.expire(late, TIMEOUT, Silence::Thread), 1, "its thread is replaced");
    assert_eq!((ahead.expire(late, TIMEOUT, Silence::Thread), ahead.take(0, |_| true)), (0, TakenRead::Wait));
    let other = ahead.next_job(late, |_, _| 10).unwrap();
    assert_eq!(ahead.done(&other, Ok(1), late), Noted::Behind);
    assert_eq!(ahead.expire(late, TIMEOUT, Silence::Thread), 0);
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Late { timeout: TIMEOUT }))));
    assert_eq!(record(ahead.take(0, |_| true)), 1);
    assert_eq!(ahead.used(), 20, "the thread still has its memory");
    assert_eq!(ahead.done(&job, Ok(0), late), Noted::Late);
    assert_eq!(ahead.used(), 10);
}

#[test]
fn while_every_read_hangs_no_record_is_to_blame_and_what_comes_back_counts() {
    let (mut ahead, start) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    let jobs = [0, 1, 2].map(|_| ahead.next_job(start, |_, _| 10).unwrap());
    let late = start + 10 * TIMEOUT;
    assert_eq!(ahead.expire(late, TIMEOUT, Silence::Thread), 3);
    assert_eq!(ahead.take(0, |_| true), TakenRead::Wait);
    let stall = ahead.stall(late, TIMEOUT).unwrap();
    assert_eq!((stall.since, stall.record, stall.outage), (start, 0, None));
    for job in &jobs {
        assert_eq!(ahead.done(job, Ok(job.record()), late), Noted::Late, "the threads were replaced");
    }
    assert_eq!([0, 1, 2].map(|_| record(ahead.take(0, |_| true))), [0, 1, 2]);
    assert_eq!(ahead.stall(late, TIMEOUT), None);
}

#[test]
fn what_is_not_the_record_s_fault_is_tried_again_and_holds_no_room_meanwhile() {
    for outage in [storage(), error(ReadErrorKind::Resources)] {
        let (mut ahead, mut now) = (ReadAhead::new(10, 0), Instant::now());
        ahead.lease(span(1, 0, 0, 1));
        let began = now;
        for _ in 0..20 {
            let job = ahead.next_job(now, |_, _| 10).unwrap();
            assert_eq!(ahead.done(&job, Err(outage.clone()), now), Noted::Behind);
            assert_eq!((ahead.used(), ahead.next_job(now, |_, _| 10)), (0, None), "not at once");
            now += Duration::from_secs(6);
            assert_eq!(ahead.expire(now, TIMEOUT, Silence::Thread), 0);
        }
        assert_eq!(ahead.stall(now, TIMEOUT), Some(Stall { since: began, record: 0, outage: Some(outage) }));
        let job = ahead.next_job(now, |_, _| 10).unwrap();
        assert_eq!(ahead.done(&job, Ok(0), now), Noted::Next);
        assert_eq!((record(ahead.take(0, |_| true)), ahead.stall(now, TIMEOUT)), (0, None));
    }
}

#[test]
fn when_the_storage_is_back_everything_that_waits_for_it_is_read_at_once() {
    let (mut ahead, mut now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    for _ in 0..5 {
        while let Some(job) = ahead.next_job(now, |_, _| 10) {
            ahead.done(&job, Err(storage()), now);
        }
        now += Duration::from_secs(5);
    }
    let job = ahead.next_job(now, |_, _| 10).unwrap();
    let rest = [0, 1].map(|_| ahead.next_job(now, |_, _| 10).unwrap());
    for job in &rest {
        assert_eq!(ahead.done(job, Err(storage()), now), Noted::Behind);
    }
    assert_eq!(ahead.next_job(now, |_, _| 10), None);
    ahead.done(&job, Ok(0), now);
    assert_eq!(read(&mut ahead, now), [1, 2]);
}

#[test]
fn a_record_that_the_storage_fails_alone_for_read_timeout_is_bad_and_one_among_many_is_not() {
    for fails in 1..=2 {
        let (mut ahead, start) = (ReadAhead::new(100, 0), Instant::now());
        ahead.lease(span(1, 0, 0, 4));
        let jobs = [0, 1, 2].map(|_| ahead.next_job(start, |_, _| 10).unwrap());
        for job in &jobs[..fails] {
            ahead.done(job, Err(storage()), start);
        }
        for job in &jobs[fails..] {
            ahead.done(job, Ok(job.record()), start);
        }
        let late = start + 2 * TIMEOUT;
        ahead.expire(late, TIMEOUT, Silence::Thread);
        assert_eq!(ahead.take(0, |_| true), TakenRead::Wait, "no read that began later has come back");
        for _ in 0..fails {
            let again = ahead.next_job(late, |_, _| 10).unwrap();
            assert_eq!(ahead.done(&again, Err(storage()), late), Noted::Behind);
        }
        assert_eq!(read(&mut ahead, late), [3]);
        ahead.expire(late, TIMEOUT, Silence::Thread);
        match ahead.take(0, |_| true) {
            TakenRead::Record(_, Err(Reason::Outlasted { error, timeout: TIMEOUT })) if fails == 1 => {
                assert_eq!(*error, storage());
            }
            taken => assert_eq!((taken, fails), (TakenRead::Wait, 2)),
        }
    }
}

#[test]
fn an_outage_ends_reading_ahead_after_a_while() {
    let (mut ahead, now) = (ReadAhead::<u64>::new(u64::MAX, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 1000));
    let mut tried = 0;
    while let Some(job) = ahead.next_job(now, |_, _| 10) {
        ahead.done(&job, Err(storage()), now);
        tried += 1;
    }
    assert_eq!(tried, MOST_TROUBLED);
}

#[test]
fn rule_31_a_file_that_has_grown_is_read_when_the_budget_has_room_for_all_of_it() {
    let (mut ahead, now) = (ReadAhead::new(100, 0), Instant::now());
    let size = |_, bytes: u64| bytes.max(10);
    ahead.lease(span(1, 0, 0, 4));
    let jobs = [0, 1].map(|_| ahead.next_job(now, size).unwrap());
    assert_eq!(ahead.done(&jobs[1], Err(error(ReadErrorKind::Larger { size: 95 })), now), Noted::Behind);
    assert_eq!(ahead.used(), 10, "what it had is given back");
    assert_eq!(ahead.next_job(now, size), None, "it has no room, and nothing overtakes it");
    ahead.done(&jobs[0], Ok(0), now);
    assert_eq!(record(ahead.take(0, |_| true)), 0);
    assert_eq!(ahead.next_job(now, size), None);
    ahead.release(10);
    let grown = ahead.next_job(now, size).unwrap();
    assert_eq!((grown.record(), grown.reserved, grown.last), (1, 95, false));
    assert_eq!(ahead.next_job(now, size), None);
    ahead.done(&grown, Ok(1), now);
    assert_eq!(record(ahead.take(0, |_| true)), 1);
    ahead.release(95);
    // What grows with each look is cut off, and bad.
    for more in 1.. {
        let job = ahead.next_job(now, size).unwrap();
        assert_eq!(job.record(), 2);
        if ahead.done(&job, Err(error(ReadErrorKind::Larger { size: 10 + more })), now) == Noted::Next {
            break;
        }
        assert!(more < 10);
    }
    assert!(matches!(ahead.take(0, |_| true), TakenRead::Record(_, Err(Reason::Growing { .. }))));
    assert_eq!(ahead.used(), 0);
}

#[test]
fn drained_is_told_once_and_again_after_a_change() {
    let (mut ahead, now) = (ReadAhead::new(100, 3), Instant::now());
    ahead.lease(span(1, 3, 0, 1));
    read(&mut ahead, now);
    record(ahead.take(3, |_| true));
    assert_eq!(ahead.take(3, |_| true), TakenRead::Wait, "there may be more to lease");
    ahead.drained(4);
    assert_eq!(ahead.take(3, |_| true), TakenRead::Drained(3));
    assert_eq!(ahead.take(3, |_| true), TakenRead::Wait);
    ahead.lease(span(2, 3, 0, 1));
    assert_eq!(ahead.take(3, |_| true), TakenRead::Wait);
    read(&mut ahead, now);
    record(ahead.take(3, |_| true));
    assert_eq!(ahead.take(3, |_| true), TakenRead::Drained(3));
}

#[test]
fn an_epoch_without_a_position_is_drained_before_the_next() {
    let (mut ahead, now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.drained(2);
    ahead.lease(span(1, 1, 0, 1));
    read(&mut ahead, now);
    assert_eq!(ahead.take(1, |_| true), TakenRead::Drained(0));
    record(ahead.take(1, |_| true));
    assert_eq!(ahead.take(1, |_| true), TakenRead::Drained(1));
    assert_eq!(ahead.take(1, |_| true), TakenRead::Wait);
}

#[test]
fn rule_5_closing_gives_back_what_was_not_taken() {
    let (mut ahead, now) = (ReadAhead::new(30, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 5));
    ahead.lease(span(2, 0, 5, 2));
    ahead.lease(span(3, 1, 0, 4));
    read(&mut ahead, now);
    record(ahead.take(0, |_| true));
    assert_eq!(ahead.close(), [(1, 1, 5), (2, 0, 2), (3, 0, 4)]);
    assert_eq!(ahead.take(9, |_| true), TakenRead::Wait);
}

#[test]
fn what_is_known_is_not_read_up_to_the_first_record_that_is_not() {
    let (mut ahead, now) = (ReadAhead::new(20, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    ahead.lease(span(2, 0, 3, 3));
    ahead.fetch((9, 9), EpochTurn { epoch: 0, turn: Turn::first(5) });
    let known = |record| (record != 4).then_some(record * 100);
    let passed = Passed { records: 5, last: true, next: true };
    assert_eq!(ahead.pass(now, known), passed, "the fetch and the records before 4, among them the end of a lease");
    assert_eq!(ahead.pass(now, known), Passed::default());
    assert_eq!(read(&mut ahead, now), [4, 5], "within the budget, as if nothing had been before");
    let fetched =
        TakenRead::Fetched { tag: (9, 9), turn: Turn::first(5), read: Ok(LoadedRead { bytes: 500, reserved: 0 }) };
    assert_eq!(ahead.take(0, |_| true), fetched);
    let taken: Vec<u64> = (0..6).map(|_| record(ahead.take(0, |_| true))).collect();
    assert_eq!(taken, [0, 100, 200, 300, 4, 5]);
}

#[test]
fn rule_04_what_is_known_leaves_leases_ahead_until_something_is_taken() {
    let (mut ahead, now) = (ReadAhead::new(20, 0), Instant::now());
    let most = MOST_AHEAD as u64;
    let mut leased = 0;
    // As leases are kept: two ahead of the readers.
    while ahead.leases_ahead(1) < 2 {
        assert!(leased < most / 300 + 3, "{leased} leases for {most} records");
        ahead.lease(span(leased, 1, leased * 300, 300));
        leased += 1;
        ahead.pass(now, Some);
    }
    assert_eq!(ahead.pass(now, Some), Passed::default());
    assert_eq!(ahead.next_job(now, |_, _| 1), None, "what comes next is not read either: it is known");
    for index in 0..2 {
        assert_eq!(record(ahead.take(1, |_| true)), index);
    }
    let behind = Passed { records: 2, last: false, next: false };
    assert_eq!(ahead.pass(now, Some), behind, "others lie ready before them, so nobody has to hear of it");
    // What comes back late does not wait for the epoch after it, which may not be taken yet.
    ahead.lease(span(99, 0, 7, 1));
    assert_eq!(ahead.pass(now, Some), Passed { records: 1, last: true, next: true });
    assert_eq!(record(ahead.take(0, |_| true)), 7);
}

#[test]
fn what_is_known_is_asked_for_once_also_while_room_is_short() {
    let (mut ahead, now, mut asked) = (ReadAhead::new(20, 0), Instant::now(), Vec::new());
    ahead.lease(span(1, 0, 0, 3));
    ahead.next_job(now, |_, _| 100).expect("the oldest record may exceed the budget");
    for _ in 0..3 {
        ahead.pass(now, |record| {
            asked.push(record);
            Some(record)
        });
    }
    assert_eq!((asked, ahead.used()), (vec![1, 2], 100));
}

#[test]
fn readers_are_called_for_a_round_of_reads_and_at_once_for_what_all_others_wait_for() {
    let (mut ahead, now) = (ReadAhead::new(160, 0), Instant::now());
    assert!(!ahead.wants_readers(), "there is nothing to read");
    ahead.lease(span(1, 1, 0, 90));
    assert!(ahead.wants_readers());
    assert_eq!(read(&mut ahead, now).len(), 16);
    for _ in 0..2 {
        record(ahead.take(1, |_| true));
        assert!(!ahead.wants_readers(), "an eighth of the budget is more than there is room");
        ahead.release(10);
    }
    assert!(ahead.wants_readers());
    assert_eq!(read(&mut ahead, now).len(), 2);
    ahead.lease(span(2, 0, 0, 1));
    assert!(ahead.wants_readers(), "what comes back late goes before all that lies ready");
    assert_eq!(read(&mut ahead, now), [0]);
}
