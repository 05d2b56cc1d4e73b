//! Positions that are given up unread.

use super::*;

#[test]
fn rule_12_what_is_too_little_for_a_batch_is_left_out_read_or_not() {
    let (mut ahead, now) = (ReadAhead::new(25, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    ahead.lease(span(2, 0, 3, 2));
    ahead.lease(span(3, 1, 0, 4));
    assert_eq!(read(&mut ahead, now), [0, 1], "there is room for no more");
    assert_eq!(record(ahead.take(1, |_| true)), 0);
    assert_eq!(ahead.leave_rest(1, |_| 100), [], "some may be leased yet");
    ahead.drained(1);
    assert_eq!(ahead.leave_rest(1, |_| 3), [], "there are four");
    let most = |epoch| if epoch == 0 { 4 } else { 0 };
    let left_out = ahead.leave_rest(1, most);
    assert_eq!(
        left_out.iter().map(|position| (position.lease, position.index)).collect::<Vec<_>>(),
        [(1, 1), (1, 2), (2, 3), (2, 4)]
    );
    assert_eq!(ahead.used(), 10, "only what was taken has room");
    assert_eq!(ahead.take(1, |_| true), TakenRead::Drained(0));
    assert_eq!(ahead.leave_rest(1, most), [], "the next epoch has none to spare");
    ahead.release(10);
    assert_eq!(read(&mut ahead, now), [0, 1], "the next epoch is read");
}

#[test]
fn rule_12_a_read_of_what_was_left_out_gives_its_room_back_and_nothing_else() {
    let (mut ahead, now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    ahead.drained(1);
    let jobs = [(); 3].map(|()| ahead.next_job(now, |_, _| 10).unwrap());
    // One has failed, and two are under way.
    ahead.done(&jobs[0], Err(storage()), now);
    ahead.expire(now + TIMEOUT, TIMEOUT, Silence::Thread);
    assert_eq!(ahead.leave_rest(0, |_| 3).len(), 3);
    assert!(!ahead.wants(&jobs[1]) && !ahead.wants_room());
    assert_eq!(ahead.in_flight(), InFlight::default());
    assert!(ahead.stall(now + TIMEOUT, Duration::ZERO).is_none(), "nobody waits for the storage");
    for job in &jobs[1..] {
        assert_eq!(ahead.done(job, Ok(job.record()), now), Noted::Behind, "its thread reads on");
    }
    assert_eq!((ahead.used(), ahead.take(0, |_| true)), (0, TakenRead::Drained(0)));
}

#[test]
fn rule_12_every_thread_whose_read_was_left_out_reads_on_or_is_replaced() {
    let (mut ahead, now) = (ReadAhead::new(100, 0), Instant::now());
    ahead.lease(span(1, 0, 0, 3));
    ahead.drained(1);
    let jobs = [(); 3].map(|()| ahead.next_job(now, |_, _| 10).unwrap());
    let late = now + TIMEOUT * 2;
    // The first is given up while it is wanted.
    assert_eq!(ahead.expire(late, TIMEOUT, Silence::Thread), 3);
    assert_eq!(ahead.leave_rest(0, |_| 3).len(), 3);
    for job in &jobs {
        assert_eq!(ahead.done(job, Ok(job.record()), late), Noted::Late, "its thread was replaced");
    }
    // Two of the next epoch are left out while they are read: one comes back, one hangs.
    ahead.lease(span(2, 1, 0, 2));
    ahead.drained(2);
    let [back, hangs] = [(); 2].map(|()| ahead.next_job(late, |_, _| 10).unwrap());
    assert_eq!(ahead.leave_rest(1, |_| 2).len(), 2);
    assert_eq!(ahead.done(&back, Ok(back.record()), late), Noted::Behind);
    let later = late + TIMEOUT * 2;
    assert_eq!(ahead.expire(later, TIMEOUT, Silence::Thread), 1);
    assert_eq!(ahead.expire(later + TIMEOUT, TIMEOUT, Silence::Thread), 0, "once");
    assert_eq!(ahead.done(&hangs, Ok(hangs.record()), later), Noted::Late);
    assert_eq!(ahead.used(), 0);
}
