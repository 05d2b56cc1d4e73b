//! What a stream does with single decoders that are slow, busy, silent or gone.

use super::*;

const TERMS: PeerTerms = PeerTerms { address: 1, threads: 1, most: 1024 };

fn lane(peers: u64, makes_here: bool) -> (RemoteLane<u64>, Instant) {
    let (mut lane, now) = (RemoteLane::new(7, makes_here), Instant::now());
    (1..=peers).for_each(|peer| lane.opened(peer, PeerTerms { address: peer, ..TERMS }, now));
    (lane, now)
}

/// Lets decoders answer until each may have many requests, and is expected to answer within 100 ms.
fn warm(lane: &mut RemoteLane<u64>, now: Instant) {
    for record in 0..400 {
        let (peer, id) = lane.ask(record, 1, record, now).unwrap();
        let settled = lane.answered(peer, id, AnswerKind::Made, now);
        assert_eq!(settled, Settled::Made { item: record, cancelled: None });
    }
}

fn after(now: Instant, milliseconds: u64) -> Instant {
    now + Duration::from_millis(milliseconds)
}

#[test]
fn rule_60_a_late_request_is_given_to_an_idle_decoder_and_the_first_answer_counts() {
    let (mut lane, now) = lane(2, false);
    warm(&mut lane, now);
    let (slow, id) = lane.ask(9_999, 1, 9_999, now).unwrap();
    assert_eq!(lane.look(after(now, 199)), []);
    let other = if slow == 1 { 2 } else { 1 };
    assert_eq!(lane.look(after(now, 200)), [Overdue::AskToo { peer: other, id, item: 9_999 }]);
    assert_eq!(lane.look(after(now, 400)), [], "never a third time");
    let settled = lane.answered(slow, id, AnswerKind::Made, after(now, 410));
    assert_eq!(settled, Settled::Made { item: 9_999, cancelled: Some(other) });
    assert_eq!(lane.answered(other, id, AnswerKind::Made, after(now, 420)), Settled::Late);
    assert_eq!((lane.under_way(), lane.hedged()), (0, 1));
}

#[test]
fn rule_60_a_late_request_goes_to_the_daemon_if_no_decoder_is_idle_and_waits_if_the_daemon_has_no_threads() {
    for makes_here in [true, false] {
        let (mut lane, now) = lane(1, makes_here);
        warm(&mut lane, now);
        let (peer, id) = lane.ask(5, 1, 5, now).unwrap();
        let back = TakenBack { item: 5, here: true, suspect: false };
        let expected = if makes_here { vec![Overdue::Back { peer, id, back }] } else { Vec::new() };
        assert_eq!(lane.look(after(now, 300)), expected, "threads here: {makes_here}");
    }
}

#[test]
fn rule_60_if_all_decoders_are_slow_one_request_in_twenty_is_given_twice() {
    let (mut lane, now) = lane(3, true);
    warm(&mut lane, now);
    for record in 0..600 {
        lane.ask(record, 1, record, now).unwrap();
    }
    let twice = lane.look(after(now, 500)).len();
    // 400 requests before count too.
    assert_eq!(twice, 50, "one in twenty of 1,000");
    assert_eq!(lane.look(after(now, 600)), []);
}

#[test]
fn rule_60_a_decoder_that_is_silent_is_closed_and_its_records_are_no_suspects() {
    let (mut lane, now) = lane(1, false);
    warm(&mut lane, now);
    lane.ask(5, 1, 5, now).unwrap();
    assert_eq!(lane.look(after(now, 2_199)), []);
    assert_eq!(lane.look(after(now, 2_200)), [Overdue::Silent(1)]);
    assert_eq!(lane.closed(1, PeerEnd::Silent), [TakenBack { item: 5, here: false, suspect: false }]);
    assert!(!lane.has_peers() && lane.ask(5, 1, 5, after(now, 2_200)).is_none());
}

#[test]
fn rule_60_a_record_that_two_silent_decoders_had_is_made_by_the_daemon() {
    let (mut lane, now) = lane(2, false);
    let (first, _) = lane.ask(5, 1, 5, now).unwrap();
    let back = |here| TakenBack { item: 5, here, suspect: false };
    assert_eq!(lane.closed(first, PeerEnd::Silent), [back(false)], "another one may make it");
    let (second, _) = lane.ask(5, 1, 5, now).unwrap();
    assert_ne!(first, second);
    assert_eq!(lane.closed(second, PeerEnd::Silent), [back(true)], "else it could be asked for without end");
    // The count begins again for what was made, here or there.
    lane.opened(3, TERMS, now);
    lane.ask(5, 1, 5, now).unwrap();
    assert_eq!(lane.closed(3, PeerEnd::Silent), [back(false)]);
}

#[test]
fn rule_60_a_request_that_a_decoder_passes_over_is_taken_back_though_it_answers_others() {
    let (mut lane, now) = lane(1, false);
    warm(&mut lane, now);
    let (_, lost) = lane.ask(5, 1, 5, now).unwrap();
    for turn in 1..=44 {
        let later = after(now, turn * 50);
        let (peer, id) = lane.ask(turn, 1, turn, later).unwrap();
        let settled = lane.answered(peer, id, AnswerKind::Made, later);
        assert_eq!(settled, Settled::Made { item: turn, cancelled: None });
        let back = TakenBack { item: 5, here: true, suspect: false };
        let expected = if turn < 44 { vec![] } else { vec![Overdue::Lost { peers: vec![1], id: lost, back }] };
        assert_eq!(lane.look(later), expected, "after {} ms", turn * 50);
    }
    assert_eq!((lane.under_way(), lane.hedged()), (0, 0));
    assert_eq!(lane.answered(1, lost, AnswerKind::Made, now), Settled::Late);
}

#[test]
fn rule_60_records_under_way_when_a_decoder_ends_without_a_goodbye_are_suspects_and_are_not_asked_again() {
    let (mut lane, now) = lane(1, false);
    lane.ask(5, 1, 5, now).unwrap();
    assert_eq!(lane.closed(1, PeerEnd::Broken), [TakenBack { item: 5, here: true, suspect: true }]);
    assert_eq!(lane.closed(1, PeerEnd::Broken), [], "it is gone already");
}

#[test]
fn rule_60_an_error_of_a_decoder_is_a_hint_and_one_that_is_busy_is_asked_later() {
    let (mut lane, now) = lane(1, false);
    let (peer, id) = lane.ask(5, 1, 5, now).unwrap();
    let back = |here| Settled::Back(TakenBack { item: 5, here, suspect: false });
    assert_eq!(lane.answered(peer, id, AnswerKind::NotMade, now), back(true), "the daemon looks itself");
    let (peer, id) = lane.ask(5, 1, 5, now).unwrap();
    assert_eq!(lane.answered(peer, id, AnswerKind::Busy, now), back(false));
    assert!(!lane.has_room(now) && lane.has_room(after(now, 100)));
    assert_eq!(lane.answered(peer, 77, AnswerKind::Made, now), Settled::Late, "it was not asked for this");
}

#[test]
fn rule_60_a_decoder_that_leaves_gets_nothing_new_and_answers_what_it_has() {
    let (mut lane, now) = lane(1, false);
    let (peer, id) = lane.ask(5, 1, 5, now).unwrap();
    lane.leaves(peer);
    assert!(!lane.has_peers() && lane.ask(6, 1, 6, now).is_none());
    assert_eq!(lane.answered(peer, id, AnswerKind::Made, now), Settled::Made { item: 5, cancelled: None });
}
