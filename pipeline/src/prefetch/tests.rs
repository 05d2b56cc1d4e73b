//! Tests of the reader threads, with a source whose reads wait for the test.

mod requests;

use std::thread;

use forebay_proto::Turn;

use super::memory_source::MemorySource;
use super::readahead::MOST_AHEAD;
use super::*;
use crate::cache::Keep;
use crate::cache::admission::OVERHEAD;
use crate::mosaic::tests::reads;
use crate::record::{Content, Input, Position};

const TIMEOUT: Duration = Duration::from_secs(60);

fn start(memory_source: &Arc<MemorySource>, threads: usize) -> Arc<Prefetch> {
    start_with(memory_source, threads, None)
}

fn start_with(memory_source: &Arc<MemorySource>, threads: usize, cache: Option<&Arc<Cache>>) -> Arc<Prefetch> {
    let settings = ReadAheadSettings { threads, requests: 1, budget: 1 << 20, read_timeout: TIMEOUT };
    Prefetch::start(Arc::clone(memory_source) as Arc<dyn Source>, cache.cloned(), None, None, settings, 0).unwrap()
}

/// The bytes of a record that was read or kept as a file.
fn file(content: &Buffer) -> &[u8] {
    match content.input() {
        Input::File(bytes) => bytes,
        Input::Picture(_) => panic!("nothing here is decoded"),
    }
}

fn span(lease: u64, start: u64, len: u64) -> Span {
    Span { lease, epoch: 0, start, len, bare: Vec::new(), suspect: false, turn: Arc::new(Turn::first) }
}

fn next(prefetch: &Prefetch) -> (Position, Read) {
    loop {
        match prefetch.take(0, |_| true) {
            TakenRead::Record(position, read) => return (position, read),
            TakenRead::Wait => prefetch.ready().recv().unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

/// Looks for late reads as if `read_timeout` had passed. What is under way would count as hanging, so that is waited for.
fn look_later(prefetch: &Prefetch) {
    let mut state = prefetch.shared.state.lock();
    if state.ahead.in_flight().reads == 0 {
        state.ahead.expire(Instant::now() + 2 * TIMEOUT, TIMEOUT, Silence::Thread);
    }
    drop(state);
    thread::yield_now();
}

fn next_after_timeouts(prefetch: &Prefetch) -> (Position, Read) {
    loop {
        match prefetch.take(0, |_| true) {
            TakenRead::Record(position, read) => return (position, read),
            TakenRead::Wait => look_later(prefetch),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn records_come_in_order_from_many_threads_and_a_bad_one_is_an_outcome() {
    let memory_source = Arc::new(MemorySource::new(100).without(&[3]));
    let slow = memory_source.shut(0);
    let prefetch = start(&memory_source, 4);
    prefetch.lease(span(1, 0, 60));
    prefetch.lease(span(2, 60, 40));
    memory_source.begun(9);
    drop(slow);
    for index in 0..100 {
        let (position, read) = next(&prefetch);
        assert_eq!((position.index, position.lease), (index, 1 + index / 60));
        match read {
            Ok(content) => assert_eq!(u64::from(file(&content)[0]), index),
            Err(reason) => assert_eq!((index, reason.to_string().as_str()), (3, "the file does not exist")),
        }
    }
    assert_eq!((prefetch.leases(), prefetch.bytes_read(), prefetch.replaced()), (0, 99, 0));
    assert_eq!(prefetch.shared.state.lock().ahead.used(), 0);
}

#[test]
fn rule_28_a_read_that_hangs_is_an_outcome_and_its_thread_is_replaced() {
    let memory_source = Arc::new(MemorySource::new(3));
    let hangs = memory_source.shut(0);
    let prefetch = start(&memory_source, 1);
    prefetch.lease(span(1, 0, 3));
    memory_source.begun(0);
    assert!(matches!(prefetch.take(0, |_| true), TakenRead::Wait));
    let late = Instant::now() + 2 * TIMEOUT;
    prefetch.expire(late);
    assert_eq!(prefetch.replaced(), 1);
    assert!(prefetch.storage_wait(late).unwrap().reason.contains("0.jpg: the read does not come back"));
    // There was one thread, and it hangs: another one reads on, and shows that the storage is not to blame.
    memory_source.begun(2);
    while prefetch.bytes_read() < 2 {
        thread::yield_now();
    }
    prefetch.expire(late);
    let (position, read) = next(&prefetch);
    assert_eq!((position.record, prefetch.replaced()), (0, 1));
    assert_eq!(read.unwrap_err().to_string(), "Reading it took longer than read_timeout (60s).");
    assert_eq!(*file(&next(&prefetch).1.unwrap()), [1]);
    drop(hangs);
    assert_eq!(*file(&next(&prefetch).1.unwrap()), [2]);
}

#[test]
fn rule_28_a_record_that_the_storage_never_gives_is_bad_alone_though_mosaics_show_it() {
    let settings = ReadAheadSettings { threads: 2, requests: 1, budget: 1 << 20, read_timeout: TIMEOUT };
    // Behind the last one, no other read begins.
    for bad in [3, 59] {
        let memory_source = Arc::new(MemorySource::new(60).failing(&[bad]));
        let prefetch = Prefetch::start(memory_source, None, Some(reads(1.0)), None, settings, 0).unwrap();
        prefetch.lease(span(1, 0, 60));
        let mut left_out = 0;
        for record in 0..60 {
            let (position, read) = next_after_timeouts(&prefetch);
            let Ok(content) = read else {
                let reason = read.unwrap_err();
                assert!(matches!(reason, Reason::Outlasted { .. }), "{reason}");
                let names_it = reason.to_string().contains(&format!("{bad}.jpg: the storage fails"));
                assert_eq!((position.record, names_it), (bad, true));
                continue;
            };
            let of = EpochTurn { epoch: 0, turn: Turn::first(record) };
            let whole = reads(1.0).read(&MemorySource::new(60), of, u64::MAX, Vec::new(), |_| true).unwrap();
            let drawn = whole.partners().unwrap().each_ref().map(|partner| partner.record);
            let expected = drawn.map(|partner| if partner == bad { record } else { partner });
            left_out += usize::from(drawn != expected);
            let found = content.mosaic().unwrap().partners().unwrap().each_ref().map(|partner| partner.record);
            assert_eq!((position.record, file(&content), found), (record, whole.own(), expected));
        }
        assert!(left_out > 0, "it is a partner of some");
    }
}

#[test]
fn rule_28_the_last_record_is_bad_if_the_storage_fails_it_and_still_gives_one_that_it_gave_before() {
    for threads in [1, 4] {
        let memory_source = Arc::new(MemorySource::new(20).failing(&[19]));
        let prefetch = start(&memory_source, threads);
        prefetch.lease(span(1, 0, 20));
        for record in 0..20 {
            let (position, read) = next_after_timeouts(&prefetch);
            assert_eq!((position.record, read.is_ok()), (record, record < 19));
            if let Err(reason) = read {
                assert!(matches!(reason, Reason::Outlasted { .. }), "{reason}");
            }
        }
        assert!(matches!(prefetch.take(0, |_| true), TakenRead::Wait), "no record comes twice");
        assert_eq!((prefetch.bytes_read(), prefetch.shared.state.lock().ahead.used()), (20, 0), "one was read twice");
    }
}

#[test]
fn rule_28_a_read_that_hangs_at_the_end_is_an_outcome_once_a_probe_has_come_back() {
    let memory_source = Arc::new(MemorySource::new(3));
    let hangs = memory_source.shut(2);
    let prefetch = start(&memory_source, 1);
    prefetch.lease(span(1, 0, 3));
    memory_source.begun(2);
    (0..2).for_each(|_| assert!(next(&prefetch).1.is_ok()));
    // Its thread is replaced, and the other one asks for a record again.
    prefetch.expire(Instant::now() + 2 * TIMEOUT);
    let (position, read) = next_after_timeouts(&prefetch);
    assert_eq!((position.record, prefetch.replaced(), prefetch.bytes_read()), (2, 1, 3));
    assert_eq!(read.unwrap_err().to_string(), "Reading it took longer than read_timeout (60s).");
    drop(hangs);
}

#[test]
fn rule_5_a_probe_that_hangs_does_not_keep_a_stream_that_stops() {
    let memory_source = Arc::new(MemorySource::new(3).failing(&[2]));
    let prefetch = start(&memory_source, 2);
    prefetch.lease(span(1, 0, 3));
    (0..2).for_each(|_| assert!(next(&prefetch).1.is_ok()));
    let hangs = [0, 1].map(|record| memory_source.shut(record));
    while !prefetch.shared.state.lock().ahead.is_probing() {
        look_later(&prefetch);
    }
    assert_eq!(prefetch.close(), [(1, 2, 3)]);
    drop(hangs);
    let shared = Arc::downgrade(&prefetch.shared);
    drop(prefetch);
    while shared.strong_count() > 0 {
        thread::yield_now();
    }
}

#[test]
fn a_buffer_is_read_into_again() {
    let memory_source = Arc::new(MemorySource::new(50));
    let prefetch = start(&memory_source, 1);
    let mut first = None;
    for record in 0..50 {
        prefetch.lease(span(record, record, 1));
        let content = next(&prefetch).1.unwrap();
        let at = file(&content).as_ptr();
        assert_eq!(*first.get_or_insert(at), at, "no allocation for each picture");
    }
}

#[test]
fn what_was_read_once_is_not_read_again_by_any_stream_that_shares_the_cache() {
    let memory_source = Arc::new(MemorySource::new(20).without(&[3]));
    let cache = Arc::new(Cache::new(Keep::Encoded, 1 << 20));
    let streams = [1, 4].map(|threads| start_with(&memory_source, threads, Some(&cache)));
    for (lease, prefetch) in [(1, &streams[0]), (2, &streams[1]), (3, &streams[0])] {
        prefetch.lease(span(lease, 0, 20));
        for index in 0..20 {
            match next(prefetch).1 {
                Ok(content) => assert_eq!(u64::from(file(&content)[0]), index),
                Err(reason) => assert_eq!((index, reason.to_string().as_str()), (3, "the file does not exist")),
            }
        }
    }
    assert_eq!(memory_source.reads(), 22, "each good record once, and the bad one three times");
    assert_eq!(streams.map(|prefetch| prefetch.bytes_read()), [19, 0]);
    let figures = cache.figures();
    assert_eq!((figures.hits, figures.misses, figures.records), (38, 19, 19), "what cannot be read is no miss");
}

#[test]
fn rule_04_a_lease_that_is_all_in_the_cache_is_passed_on_as_it_is_taken() {
    let memory_source = Arc::new(MemorySource::new(1));
    let cache = Arc::new(Cache::new(Keep::Encoded, 1 << 20));
    cache.offer(0, &[0]);
    let prefetch = start_with(&memory_source, 2, Some(&cache));
    let len = 3 * MOST_AHEAD as u64;
    prefetch.lease(Span { turn: Arc::new(|_| Turn::first(0)), ..span(1, 0, len) });
    for index in 0..len {
        assert!(index + MOST_AHEAD as u64 >= len || prefetch.leases() == 1, "before {index} is taken");
        assert_eq!(next(&prefetch).0.index, index);
    }
    assert_eq!((memory_source.reads(), cache.figures().hits), (0, len));
}

#[test]
fn what_does_not_fit_into_the_cache_is_read_in_every_epoch() {
    let memory_source = Arc::new(MemorySource::new(10));
    let cache = Arc::new(Cache::new(Keep::Encoded, 4 * (1 + OVERHEAD)));
    let prefetch = start_with(&memory_source, 1, Some(&cache));
    for lease in 1..=3 {
        prefetch.lease(span(lease, 0, 10));
        for index in 0..10 {
            assert_eq!(u64::from(file(&next(&prefetch).1.unwrap())[0]), index);
        }
    }
    assert_eq!(memory_source.reads(), 10 + 2 * 6, "the first four stay");
    assert_eq!(cache.figures().bytes, cache.figures().budget);
}

#[test]
fn rule_31_a_read_that_hangs_keeps_neither_the_cache_nor_what_was_read_ahead() {
    let memory_source = Arc::new(MemorySource::new(3));
    let cache = Arc::new(Cache::new(Keep::Encoded, 1 << 20));
    cache.offer(0, &[0]);
    let Some(Content::File(kept)) = cache.find(0) else { panic!("it is there") };
    let hangs = memory_source.shut(1);
    let prefetch = start_with(&memory_source, 1, Some(&cache));
    prefetch.lease(span(1, 0, 3));
    memory_source.begun(1);
    assert_eq!(Arc::strong_count(&kept), 3, "the test's, the cache's, and what lies ready");
    let gone = Arc::downgrade(&cache);
    drop((prefetch, cache));
    assert_eq!((gone.strong_count(), Arc::strong_count(&kept)), (0, 1));
    drop(hangs);
}

#[test]
fn rule_5_closing_gives_back_what_was_not_taken_and_ends_the_threads() {
    let memory_source = Arc::new(MemorySource::new(10));
    let slow = memory_source.shut(1);
    let prefetch = start(&memory_source, 2);
    prefetch.lease(span(1, 0, 6));
    prefetch.lease(span(2, 6, 4));
    assert_eq!(next(&prefetch).0.offset, 0);
    memory_source.begun(9);
    assert_eq!(prefetch.close(), [(1, 1, 6), (2, 0, 4)]);
    drop(slow);
    let shared = Arc::downgrade(&prefetch.shared);
    drop(prefetch);
    while shared.strong_count() > 0 {
        thread::yield_now();
    }
}
