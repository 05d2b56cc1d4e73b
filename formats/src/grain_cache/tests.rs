//! Tests of what is kept, of threads that want the same grain, and of what is read ahead.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use forebay_sources::{Locator, ReadErrorKind};

use super::*;

fn grain(len: usize) -> Grain {
    Grain { bytes: vec![7; len], ends: vec![1, len] }
}

#[test]
fn a_grain_is_read_once_while_it_is_kept_and_the_oldest_goes_first() {
    let cache = GrainCache::<ReadError>::new(2 * grain(4).len());
    let reads = Cell::new(0);
    let get = |number| {
        cache.get(number, |_, _| {
            reads.set(reads.get() + 1);
            Ok(grain(4))
        })
    };
    for number in [0, 1, 0, 1, 2] {
        assert_eq!(get(number).unwrap().record(1), Some(&[7; 3][..]));
    }
    assert_eq!(reads.get(), 3, "0, 1 and 2 once each");
    get(1).unwrap();
    assert_eq!(reads.get(), 3, "1 is younger than 0");
    get(0).unwrap();
    assert_eq!(reads.get(), 4, "0 went when 2 came");
}

#[test]
fn a_grain_larger_than_the_budget_is_kept_until_the_next_one_comes() {
    let cache = GrainCache::<ReadError>::new(10);
    cache.get(0, |_, _| Ok(grain(100))).unwrap();
    cache.get(0, |_, _| panic!("it is kept")).unwrap();
    cache.get(1, |_, _| Ok(grain(1))).unwrap();
    assert_eq!(cache.kept.lock().grains.len(), 1);
}

#[test]
fn what_the_records_of_a_grain_take_beside_their_bytes_counts_too() {
    let of_empty_records = || Grain { bytes: Vec::new(), ends: vec![0; 100] };
    let cache = GrainCache::<ReadError>::new(4000);
    for number in 0..100 {
        cache.get(number, |_, _| Ok(of_empty_records())).unwrap();
        cache.get(number, |_, _| panic!("it is kept")).unwrap();
    }
    let kept = cache.kept.lock();
    assert_eq!((kept.grains.len(), kept.order.len(), kept.len), (4, 4, 4 * of_empty_records().len()));
}

#[test]
fn memory_of_grains_that_went_is_given_to_those_that_come_and_is_bounded() {
    let cache = GrainCache::<ReadError>::new(1000);
    // The memory that a new grain of so many bytes is given.
    let given = |number, len| {
        let given = Cell::new(0);
        let read = |_, mut used: Vec<u8>| {
            given.set(used.capacity());
            used.clear();
            used.resize(len, 7);
            Ok(Grain { bytes: used, ends: vec![len] })
        };
        assert_eq!(cache.get(number, read).unwrap().bytes, vec![7; len]);
        given.get()
    };
    assert_eq!([0, 1, 2, 3].map(|number| given(number, 200)), [0; 4], "the fourth puts out the first");
    assert_eq!([4, 5, 6, 7].map(|number| given(number, 200)), [200; 4]);
    assert_eq!(given(8, 20), 200);
    let kept = cache.kept.lock();
    assert_eq!(kept.len, 3 * (200 + 72) + 20 + 72, "a small one does not keep what it was given");
    assert_eq!(kept.used.len(), 0);
}

#[test]
fn memory_that_is_much_or_still_read_is_not_kept_for_others() {
    let cache = GrainCache::<ReadError>::new(1000);
    let get = |number, len| cache.get(number, |_, _| Ok(grain(len))).unwrap();
    get(0, 900);
    let held = get(1, 900);
    get(2, 900);
    assert_eq!(cache.kept.lock().used.len(), 0, "a quarter of the budget is less than any of them");
    let small = get(3, 200);
    (4..8).for_each(|number| drop(get(number, 200)));
    assert_eq!(cache.kept.lock().used.len(), 200);
    assert_eq!((held.bytes.len(), small.bytes.len()), (900, 200));
}

#[test]
fn a_grain_that_cannot_be_read_is_tried_again() {
    let cache = GrainCache::new(10);
    let fault = || ReadError::damaged(Locator::file("x"), "a test");
    assert_eq!(cache.get(0, |_, _| Err(fault())).unwrap_err(), fault());
    assert!(cache.kept.lock().grains.is_empty() && cache.kept.lock().order.is_empty());
    cache.get(0, |_, _| Ok(grain(3))).unwrap();
}

#[test]
fn rule_54_threads_that_wait_for_a_grain_hear_of_its_outage_together() {
    let (cache, reads) = (Arc::new(GrainCache::new(10)), Arc::new(AtomicU64::new(0)));
    let outage = || ReadError::new(ReadErrorKind::Storage, Locator::file("x"));
    let (begins, has_begun) = mpsc::channel();
    let (fail, fails) = mpsc::channel::<()>();
    let first = thread::spawn({
        let (cache, reads) = (Arc::clone(&cache), Arc::clone(&reads));
        move || {
            cache.get(0, |_, _| {
                begins.send(()).unwrap();
                fails.recv().unwrap();
                reads.fetch_add(1, Ordering::Relaxed);
                Err(outage())
            })
        }
    });
    has_begun.recv().unwrap();
    let attempt = Arc::clone(&cache.kept.lock().grains[&0].attempt);
    let heard = Arc::new(AtomicU64::new(0));
    let others = [(); 7].map(|()| {
        let (cache, reads, heard) = (Arc::clone(&cache), Arc::clone(&reads), Arc::clone(&heard));
        let pulse = Pulse::new(move || {
            heard.fetch_add(1, Ordering::Relaxed);
        });
        thread::spawn(move || {
            pulse.during(|| {
                cache.get(0, |_, _| {
                    reads.fetch_add(1, Ordering::Relaxed);
                    Ok(grain(3))
                })
            })
        })
    });
    // All of them wait for this attempt once one beat of it is heard by seven.
    while heard.swap(0, Ordering::Relaxed) < 7 {
        attempt.waiting.all().beat();
        thread::yield_now();
    }
    fail.send(()).unwrap();
    assert_eq!(first.join().unwrap().unwrap_err(), outage());
    for other in others {
        assert_eq!(other.join().unwrap().unwrap_err(), outage());
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1, "one attempt for all of them");
    cache.get(0, |_, _| Ok(grain(3))).expect("a later call reads again");
}

#[test]
fn rule_31_the_columns_of_a_grain_share_what_they_may_repeat() {
    let mut room = RepeatRoom::default();
    assert_eq!(room.most(1000), 1000 + MOST_REPEATED);
    room.take(1000, 1000 + (100 << 20));
    assert_eq!(room.most(10), 10 + MOST_REPEATED - (100 << 20));
    room.take(500, 100);
    assert_eq!(room.most(0), MOST_REPEATED - (100 << 20), "what is not repeated takes nothing");
    room.take(0, 1 << 30);
    assert_eq!(room.most(7), 7);
}

#[test]
fn a_record_beyond_the_grain_is_none() {
    let grain = grain(3);
    assert_eq!((grain.record(0), grain.record(2)), (Some(&[7][..]), None));
    assert_eq!(Grain { bytes: Vec::new(), ends: vec![5] }.record(0), None);
}

#[test]
fn a_thread_that_would_wait_for_a_grain_reads_the_next_one() {
    let cache = Arc::new(GrainCache { count: 3, ahead: 1, ..GrainCache::<ReadError>::new(1 << 20) });
    let (begins, has_begun) = mpsc::channel();
    let (go, goes) = mpsc::channel();
    let first = thread::spawn({
        let cache = Arc::clone(&cache);
        move || {
            cache.get(0, |number, _| {
                begins.send(number).unwrap();
                goes.recv().unwrap();
                Ok(grain(3))
            })
        }
    });
    assert_eq!(has_begun.recv(), Ok(0));
    let (reads, is_read) = mpsc::channel();
    let second = thread::spawn({
        let cache = Arc::clone(&cache);
        move || {
            cache.get(0, |number, _| {
                reads.send(number).unwrap();
                Ok(grain(4))
            })
        }
    });
    assert_eq!(is_read.recv(), Ok(1), "the first one is still being read");
    go.send(()).unwrap();
    for thread in [first, second] {
        assert_eq!(thread.join().unwrap().unwrap().bytes.len(), 3);
    }
    assert_eq!(cache.get(1, |_, _| panic!("it is kept")).unwrap().bytes.len(), 4);
}

#[test]
fn grains_are_read_ahead_in_their_order_only_and_as_far_as_the_budget_holds_them() {
    let cache = GrainCache::<ReadError>::new(1 << 20);
    let next = |number, end, budget| cache.kept.lock().next(number, end, budget);
    assert_eq!((next(0, 9, 1000), next(7, 9, 1000)), (Some(1), None), "the grain before the eighth is not kept");
    let _under_way = cache.kept.lock().attempt(1);
    assert_eq!(next(0, 9, 1000), None, "how large grains are is not known yet");
    cache.get(0, |_, _| Ok(grain(200 - 80))).unwrap();
    assert_eq!((next(1, 9, 1000), next(1, 2, 1000)), (Some(2), None), "there is no third grain");
    let _under_way = cache.kept.lock().attempt(2);
    assert_eq!((next(1, 9, 1199), next(1, 9, 1200)), (None, Some(3)), "three grains of 200 bytes, twice");
}
