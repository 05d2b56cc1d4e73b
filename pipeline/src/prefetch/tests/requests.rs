//! Tests of reading by requests, with a source that answers when the test says so, from any thread.

mod desk;

use std::collections::VecDeque;

use super::*;
use desk::{Closing, Desk, SIZE, good};

/// The oldest record may exceed the budget, by all of its room.
const OLDEST: u64 = 2 * SIZE;

fn start(desk: &Arc<Desk>, requests: usize, budget: u64, cache: Option<&Arc<Cache>>) -> Arc<Prefetch> {
    let settings = ReadAheadSettings { threads: 64, requests, budget, read_timeout: TIMEOUT };
    Prefetch::start(Arc::clone(desk) as Arc<dyn Source>, cache.cloned(), None, None, settings, 0).unwrap()
}

/// What must hold of a record that was answered as [`Desk::answer`] does.
#[track_caller]
fn check(index: u64, read: Read) {
    match read {
        Ok(content) => assert_eq!(*file(&content), index.to_le_bytes()),
        Err(reason) => assert_eq!((index % 10, reason.to_string().as_str()), (5, "the file does not exist: busy")),
    }
}

/// Nothing is left of what was requested or taken.
#[track_caller]
fn nothing_is_left(desk: &Desk, prefetch: &Prefetch) {
    let state = prefetch.shared.state.lock();
    assert_eq!((state.ahead.used(), state.ahead.in_flight().reads), (0, 0));
    assert!(desk.state.lock().requests.is_empty());
}

/// Waits until everything that was started has ended, and the source is free.
fn ends(prefetch: Arc<Prefetch>, desk: &Arc<Desk>) {
    let shared = Arc::downgrade(&prefetch.shared);
    drop(prefetch);
    while shared.strong_count() > 0 || Arc::strong_count(desk) > 1 {
        thread::yield_now();
    }
}

#[test]
fn rule_28_three_hundred_requests_of_one_thread_are_answered_in_any_order_and_records_come_in_theirs() {
    let (desk, records) = (Desk::new(5000, usize::MAX), 5000);
    let prefetch = start(&desk, 300, 1 << 20, None);
    prefetch.lease(span(1, 0, records));
    desk.wait_for(300);
    assert_eq!(prefetch.requests(), Some(RequestFigures { in_flight: 300, most: 300, given_up: 0 }));
    thread::scope(|scope| {
        let _closing = Closing(&desk);
        for seed in 0..4 {
            let desk = &desk;
            scope.spawn(move || desk.serve(seed));
        }
        for index in 0..records {
            let (position, read) = next(&prefetch);
            assert_eq!(position.index, index);
            check(index, read);
        }
    });
    nothing_is_left(&desk, &prefetch);
    let state = desk.state.lock();
    assert_eq!((state.most_requests, state.threads.len(), prefetch.replaced()), (300, 1, 0));
    for record in 0..records {
        let tries = if matches!(record % 10, 3 | 4 | 6) { 2 } else { 1 };
        assert_eq!(state.tries[&record], tries, "{record}");
    }
    drop(state);
    ends(prefetch, &desk);
}

#[test]
fn rule_28_requests_never_have_more_of_the_budget_than_there_is() {
    let desk = Desk::new(400, 50);
    // Records that are larger than was known take twice the room.
    let prefetch = start(&desk, 300, 25 * SIZE, None);
    prefetch.lease(span(1, 0, 400));
    desk.wait_for(25);
    thread::scope(|scope| {
        let _closing = Closing(&desk);
        for seed in 0..2 {
            let desk = &desk;
            scope.spawn(move || desk.serve(seed));
        }
        // As decoders hold some, which they give back sooner or later.
        let (mut held, mut expected) = (VecDeque::new(), 0);
        while expected < 400 {
            match prefetch.take(0, |_| true) {
                TakenRead::Record(position, read) => {
                    assert_eq!(position.index, expected);
                    held.push_back(read);
                    expected += 1;
                }
                TakenRead::Wait => {
                    (expected - held.len() as u64..).zip(held.drain(..)).for_each(|(index, read)| check(index, read));
                    prefetch.ready().recv().unwrap();
                }
                other => panic!("{other:?}"),
            }
            if held.len() > 5 {
                check(expected - 6, held.pop_front().unwrap());
            }
            let used = prefetch.shared.state.lock().ahead.used();
            assert!(used <= 25 * SIZE + OLDEST, "{used}");
        }
    });
    nothing_is_left(&desk, &prefetch);
    let most = desk.state.lock().most_bytes;
    assert!((25 * SIZE..=25 * SIZE + OLDEST).contains(&most), "{most}");
    ends(prefetch, &desk);
}

#[test]
fn a_source_may_allow_fewer_requests_than_the_setting() {
    let desk = Desk::new(100, 3);
    let prefetch = start(&desk, 300, 1 << 20, None);
    prefetch.lease(span(1, 0, 100));
    for index in 0..100 {
        desk.wait_for(usize::try_from(3.min(100 - index)).unwrap());
        good(desk.pick(0));
        let (position, read) = next(&prefetch);
        assert_eq!((position.index, read.is_ok()), (index, true));
    }
    assert_eq!((desk.state.lock().most_requests, prefetch.requests().unwrap().most), (3, 3));
}

#[test]
fn the_memory_of_a_record_is_that_of_the_next_request() {
    let desk = Desk::new(50, 10);
    let prefetch = start(&desk, 1, 1 << 20, None);
    let mut first = None;
    for record in 0..50 {
        prefetch.lease(span(record, record, 1));
        desk.wait_for(1);
        good(desk.pick(0));
        let content = next(&prefetch).1.unwrap();
        let at = file(&content).as_ptr();
        assert_eq!(*first.get_or_insert(at), at, "no allocation for each picture");
    }
}

#[test]
fn a_record_out_of_turn_is_requested_as_soon_as_any_other_is_answered() {
    let desk = Desk::new(100, 10);
    let prefetch = start(&desk, 2, 1 << 20, None);
    prefetch.lease(span(1, 0, 50));
    desk.wait_for(2);
    prefetch.fetch((7, 1), EpochTurn { epoch: 0, turn: Turn::first(77) });
    good(desk.pick(1));
    desk.wait_for(2);
    assert_eq!(desk.state.lock().requests[1].record, 77);
    good(desk.pick(1));
    let fetched = loop {
        match prefetch.take(0, |_| true) {
            TakenRead::Fetched { tag, turn, read } => break (tag, turn.record(), read.is_ok()),
            TakenRead::Wait => prefetch.ready().recv().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(fetched, ((7, 1), 77, true));
}

#[test]
fn rule_54_a_request_that_is_late_is_made_again_by_the_same_thread_and_its_late_answer_is_dropped() {
    let desk = Desk::new(2, 10);
    let prefetch = start(&desk, 10, 1 << 20, None);
    prefetch.lease(span(1, 0, 2));
    desk.wait_for(2);
    let late = Instant::now() + 2 * TIMEOUT;
    prefetch.expire(late);
    assert_eq!(prefetch.requests(), Some(RequestFigures { in_flight: 0, most: 10, given_up: 2 }));
    let wait = prefetch.storage_wait(late).unwrap().reason;
    assert_eq!(wait, "0.jpg: the storage fails: no answer within read_timeout (60s)");
    // The pause begins at the time that the test has made up. A record that is given ends all pauses.
    let first = desk.take_all();
    let (mut lost, mut late_answer) = (None, None);
    for request in first {
        if request.record == 0 { lost = Some(request) } else { late_answer = Some(request) }
    }
    good(late_answer.unwrap());
    desk.wait_for(1);
    good(desk.pick(0));
    for index in 0..2_u64 {
        let (position, read) = next(&prefetch);
        assert_eq!((position.index, file(&read.unwrap())), (index, &index.to_le_bytes()[..]));
    }
    assert_eq!(prefetch.shared.state.lock().ahead.used(), SIZE, "the first request of record 0 still has its memory");
    assert_eq!(desk.withdrawn(), [0], "nobody waits for it any more");
    good(lost.unwrap());
    nothing_is_left(&desk, &prefetch);
    assert!(matches!(prefetch.take(0, |_| true), TakenRead::Wait));
    let state = desk.state.lock();
    assert_eq!((state.threads.len(), state.tries[&0], state.tries[&1], prefetch.replaced()), (1, 2, 1, 0));
}

#[test]
fn rule_28_the_last_record_is_bad_if_its_requests_fail_and_a_probe_is_answered() {
    let desk = Desk::new(3, 10);
    let prefetch = start(&desk, 10, 1 << 20, None);
    prefetch.lease(span(1, 0, 3));
    desk.wait_for(3);
    let error = || ReadError { kind: ReadErrorKind::Storage, locator: desk.locator(2), cause: "broken".into() };
    let (mut probes, mut taken) = (0, 0);
    while taken < 3 {
        for request in desk.take_all() {
            if request.record == 2 {
                request.answer(Err(error()));
            } else {
                probes += u32::from(taken == 2);
                good(request);
            }
        }
        match prefetch.take(0, |_| true) {
            TakenRead::Record(position, read) => {
                assert_eq!((position.index, read.is_ok()), (taken, taken < 2));
                taken += 1;
            }
            TakenRead::Wait => look_later(&prefetch),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(probes, 1);
    nothing_is_left(&desk, &prefetch);
    ends(prefetch, &desk);
}

#[test]
fn rule_31_a_probe_that_is_requested_as_the_prefetch_is_closed_is_withdrawn() {
    let desk = Desk::new(2, 10);
    let prefetch = start(&desk, 10, 1 << 20, None);
    prefetch.lease(span(1, 0, 2));
    desk.wait_for(2);
    for request in desk.take_all() {
        if request.record == 0 { good(request) } else { drop(request) }
    }
    while !desk.state.lock().requests.iter().any(|request| request.record == 0) {
        let again: Vec<_> = desk.state.lock().requests.extract_if(.., |request| request.record == 1).collect();
        drop(again);
        look_later(&prefetch);
    }
    // It is noted as under way before it lies on the desk.
    prefetch.close();
    assert!(desk.withdrawn().contains(&0));
    drop(desk.take_all());
    ends(prefetch, &desk);
}

#[test]
fn rule_5_closing_gives_back_what_is_requested_and_waits_for_no_answer() {
    let desk = Desk::new(100, 300);
    let cache = Arc::new(Cache::new(Keep::Encoded, 1 << 20));
    let prefetch = start(&desk, 300, 1 << 20, Some(&cache));
    prefetch.lease(span(1, 0, 60));
    prefetch.lease(span(2, 60, 40));
    desk.wait_for(100);
    good(desk.pick(0));
    assert_eq!(next(&prefetch).0.offset, 0);
    assert_eq!(prefetch.close(), [(1, 1, 60), (2, 0, 40)]);
    let shared = Arc::downgrade(&prefetch.shared);
    drop(prefetch);
    for (number, request) in desk.take_all().into_iter().enumerate() {
        assert!(shared.strong_count() > 0, "it is where answers arrive");
        if number % 2 == 0 { good(request) } else { drop(request) }
    }
    while shared.strong_count() > 0 || Arc::strong_count(&desk) > 1 {
        thread::yield_now();
    }
    assert_eq!(desk.state.lock().tries.len(), 100, "nothing was requested after that");
}

#[test]
fn rule_31_requests_of_a_closed_prefetch_are_withdrawn_and_no_others() {
    let desk = Desk::new(100, 300);
    let prefetch = start(&desk, 300, 1 << 20, None);
    prefetch.lease(span(1, 0, 100));
    desk.wait_for(100);
    let place = desk.state.lock().requests.iter().position(|request| request.record == 7).unwrap();
    good(desk.pick(place));
    assert_eq!(desk.withdrawn(), [0; 0]);
    prefetch.close();
    assert_eq!(desk.withdrawn(), (0..100).filter(|record| *record != 7).collect::<Vec<_>>());
    prefetch.close();
    assert_eq!(desk.withdrawn().len(), 99, "each is withdrawn once");
}

#[test]
fn rule_31_a_request_without_an_answer_keeps_neither_the_source_nor_the_cache() {
    let desk = Desk::new(3, 10);
    let cache = Arc::new(Cache::new(Keep::Encoded, 1 << 20));
    let prefetch = start(&desk, 10, 1 << 20, Some(&cache));
    prefetch.lease(span(1, 0, 3));
    desk.wait_for(3);
    let (requests, gone) = (desk.take_all(), Arc::downgrade(&cache));
    drop((prefetch, cache));
    while gone.strong_count() > 0 || Arc::strong_count(&desk) > 1 {
        thread::yield_now();
    }
    assert_eq!(requests.len(), 3);
}

#[test]
fn what_is_in_the_cache_is_not_requested_and_what_was_requested_is_kept() {
    let desk = Desk::new(20, 10);
    let cache = Arc::new(Cache::new(Keep::Encoded, 1 << 20));
    let prefetch = start(&desk, 10, 1 << 20, Some(&cache));
    thread::scope(|scope| {
        let _closing = Closing(&desk);
        let desk = &desk;
        scope.spawn(move || desk.serve(1));
        for lease in 1..=3 {
            prefetch.lease(span(lease, 0, 20));
            for index in 0..20 {
                check(index, next(&prefetch).1);
            }
        }
    });
    let tries = &desk.state.lock().tries;
    assert_eq!((tries[&0], tries[&3], tries[&5]), (1, 2, 3), "bad records are not kept");
    assert_eq!(cache.figures().records, 18);
}

#[test]
fn a_stage_that_waits_for_requests_is_not_idle() {
    let desk = Desk::new(100, 4);
    let prefetch = start(&desk, 4, 1 << 20, None);
    let idle = || {
        let waits = prefetch.meter().waits();
        waits.writer + waits.reader
    };
    prefetch.lease(span(1, 0, 100));
    desk.wait_for(4);
    let before = idle();
    for index in 0..90 {
        good(desk.pick(0));
        assert_eq!(next(&prefetch).0.index, index);
        // It has all requests under way again, and so waits for the storage.
        desk.wait_for(4);
    }
    assert_eq!((idle(), prefetch.meter().waits().items), (before, 90));
}
