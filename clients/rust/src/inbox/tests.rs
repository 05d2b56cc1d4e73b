//! The inbox: what the caller is told, and in which order, whatever the daemon says meanwhile.

use bytemuck::Zeroable;

use super::*;

fn offer(seq: u64, epoch: u64) -> Offer {
    Offer { seq, epoch, deadline: u64::MAX, ..Offer::zeroed() }
}

/// One line per thing that the caller is told, until nothing is left or the stream is done.
fn told(inbox: &mut Inbox) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        inbox.join();
        match inbox.take(0) {
            Head::Offer(offer) => lines.push(format!("batch {}", offer.seq)),
            Head::EpochEnd(epoch) => lines.push(format!("end {epoch}")),
            Head::Done => {
                lines.push("done".to_owned());
                return lines;
            }
            Head::Expired(_) | Head::Nothing => return lines,
        }
    }
}

#[test]
fn batches_and_ends_come_in_the_order_of_the_wire() {
    let mut inbox = Inbox::new(0);
    inbox.offer(offer(1, 0));
    inbox.epoch_end(0);
    inbox.offer(offer(2, 1));
    inbox.epoch_end(1);
    inbox.done();
    assert_eq!(told(&mut inbox), ["batch 1", "end 0", "batch 2", "end 1", "done"]);
    assert_eq!(told(&mut inbox), ["done"], "a stream that is done stays done");
}

#[test]
fn rule_10_epochs_that_ended_while_nobody_asked_pass_by() {
    let mut inbox = Inbox::new(0);
    inbox.epoch_end(0);
    inbox.epoch_end(1);
    inbox.offer(offer(9, 2));
    assert_eq!(told(&mut inbox), ["batch 9"]);
}

#[test]
fn rule_10_a_caller_that_ends_its_epoch_keeps_what_was_offered_of_the_next_one() {
    let mut inbox = Inbox::new(3);
    assert_eq!(inbox.epoch_begun(), None, "it has asked for nothing yet");
    inbox.join();
    inbox.offer(offer(1, 3));
    assert_eq!(inbox.epoch_begun(), Some(3));
    inbox.epoch_end(3);
    inbox.offer(offer(2, 4));
    let void: Vec<u64> = inbox.leave(3).iter().map(|offer| offer.seq).collect();
    assert_eq!((void, inbox.epoch_begun()), (vec![1], None));
    inbox.epoch_end(4);
    assert_eq!(told(&mut inbox), ["batch 2", "end 4"]);
}

#[test]
fn rule_10_leaving_a_loop_early_does_not_leave_its_epoch() {
    let mut inbox = Inbox::new(0);
    inbox.join();
    inbox.offer(offer(1, 0));
    assert!(matches!(inbox.take(0), Head::Offer(_)));
    inbox.epoch_end(0);
    assert_eq!(told(&mut inbox), ["end 0"], "the second loop is told that its epoch has ended");
}

#[test]
fn what_the_caller_never_had_comes_again_before_everything_else() {
    let mut inbox = Inbox::new(0);
    inbox.join();
    inbox.offer(offer(1, 0));
    inbox.epoch_end(0);
    inbox.offer(offer(2, 1));
    let Head::Offer(first) = inbox.take(0) else { panic!("an offer waits") };
    inbox.put_back(first);
    assert!(matches!(inbox.take(0), Head::Offer(Offer { seq: 1, .. })));
    assert!(matches!(inbox.take(0), Head::EpochEnd(0)));
    assert_eq!(inbox.epoch_begun(), None);
    inbox.put_back_end(0);
    assert_eq!(inbox.epoch_begun(), Some(0));
    assert_eq!(told(&mut inbox), ["end 0", "batch 2"]);
}

#[test]
fn rule_19_a_batch_past_its_deadline_waits_for_a_renewal() {
    let mut inbox = Inbox::new(0);
    inbox.offer(Offer { deadline: 100, ..offer(1, 0) });
    assert!(matches!(inbox.take(101), Head::Expired(_)));
    inbox.renew(200);
    assert!(matches!(inbox.take(101), Head::Offer(_)));
}

#[test]
fn rule_23_after_another_trainers_restore_what_was_queued_is_void() {
    let mut inbox = Inbox::new(0);
    inbox.join();
    inbox.epoch_end(0);
    inbox.offer(offer(5, 1));
    inbox.epoch_end(1);
    inbox.done();
    inbox.reports.fail(7, "record 3".to_owned());
    let void: Vec<u64> = inbox.fence(1).iter().map(|offer| offer.seq).collect();
    assert_eq!((void, inbox.reports.failure()), (vec![5], None));
    inbox.offer(offer(6, 1));
    inbox.epoch_end(1);
    assert_eq!(told(&mut inbox), ["end 0", "batch 6", "end 1"]);
}

#[test]
fn rule_16_offers_of_a_dead_daemon_are_void_but_ends_that_it_told_stand() {
    let mut inbox = Inbox::new(0);
    inbox.join();
    inbox.epoch_end(0);
    inbox.offer(offer(5, 1));
    inbox.take_over(1);
    inbox.offer(offer(1, 1));
    assert_eq!(told(&mut inbox), ["end 0", "batch 1"]);
}

#[test]
fn rule_16_an_end_that_the_dead_daemon_did_not_live_to_tell_is_told() {
    let mut inbox = Inbox::new(3);
    inbox.join();
    inbox.offer(offer(5, 3));
    assert!(matches!(inbox.take(0), Head::Offer(_)));
    inbox.take_over(4);
    assert_eq!(told(&mut inbox), ["end 3"]);
}

/// Ten hours in which the machine was suspended, which `CLOCK_BOOTTIME` counts.
const SUSPENDED: u64 = 10 * 3600 * 1_000_000_000;

#[test]
fn rule_19_after_a_suspend_a_batch_past_its_deadline_is_kept_back_and_those_behind_it_keep_their_order() {
    let (now, lease) = (1_000_000_000, 30_000_000_000);
    let mut inbox = Inbox::new(0);
    inbox.join();
    for seq in [1, 2] {
        inbox.offer(Offer { deadline: now + lease, ..offer(seq, 0) });
    }
    inbox.epoch_end(0);
    assert!(matches!(inbox.take(now), Head::Offer(Offer { seq: 1, .. })));
    let now = now + SUSPENDED;
    assert!(matches!(inbox.take(now), Head::Expired(_)), "others may have its records by now");
    assert!(matches!(inbox.take(now), Head::Expired(_)), "nor is it lost: the daemon is waited for");
    assert!(inbox.asks_beyond(now) && !inbox.asks_beyond(now), "it is asked once");
    assert!(inbox.asks_beyond(now + 1), "its answer may be too old as well");
    inbox.renew(now + lease);
    assert!(matches!(inbox.take(now), Head::Offer(Offer { seq: 2, .. })));
    assert!(matches!(inbox.take(now), Head::EpochEnd(0)));
}

#[test]
fn rule_19_after_a_suspend_a_batch_past_its_deadline_that_was_fenced_is_never_handed_out() {
    let mut inbox = Inbox::new(0);
    inbox.join();
    inbox.offer(Offer { deadline: 30, ..offer(1, 0) });
    assert!(matches!(inbox.take(SUSPENDED), Head::Expired(_)));
    let void: Vec<u64> = inbox.fence(0).iter().map(|offer| offer.seq).collect();
    assert_eq!(void, [1]);
    assert!(matches!(inbox.take(SUSPENDED), Head::Nothing));
}

#[test]
fn rule_19_after_a_suspend_a_batch_without_a_deadline_is_handed_out() {
    let mut inbox = Inbox::new(0);
    inbox.join();
    inbox.offer(offer(1, 0));
    assert!(matches!(inbox.take(SUSPENDED), Head::Offer(Offer { seq: 1, .. })));
}

#[test]
fn rule_05_a_batch_that_the_daemon_takes_back_is_not_handed_out_whatever_is_renewed_behind_it() {
    let mut inbox = Inbox::new(0);
    inbox.join();
    for seq in 1..4 {
        inbox.offer(Offer { deadline: 10, ..offer(seq, 0) });
    }
    assert!(matches!(inbox.take(5), Head::Offer(Offer { seq: 1, .. })));
    // The process was stopped: by now the leases of 1 and 2 are somebody else's.
    assert!(matches!(inbox.take(20), Head::Expired(10)));
    assert!(inbox.void(1).is_none(), "it is in the caller's hands");
    assert_eq!(inbox.void(2).map(|offer| offer.seq), Some(2));
    inbox.renew(30);
    assert_eq!(told(&mut inbox), ["batch 3"]);
    assert!(inbox.void(3).is_none());
}

#[test]
fn rule_22_the_first_loop_after_a_load_begins_with_a_batch_if_there_is_one() {
    let mut inbox = Inbox::new(5);
    inbox.restart(3);
    inbox.epoch_end(3);
    assert_eq!(told(&mut inbox), [""; 0], "the rest of epoch 3 had no batch, and that of epoch 4 may have one");
    inbox.epoch_end(4);
    inbox.offer(offer(1, 5));
    inbox.epoch_end(5);
    inbox.epoch_end(6);
    assert_eq!((told(&mut inbox), inbox.epoch()), (vec!["batch 1".to_owned(), "end 5".to_owned()], 7));
    // A batch of the loaded epoch ends the rule, and so does the end of the run.
    inbox.restart(3);
    inbox.offer(offer(2, 3));
    inbox.epoch_end(3);
    inbox.offer(offer(3, 4));
    assert_eq!(told(&mut inbox), ["batch 2", "end 3", "batch 3"]);
    inbox.restart(3);
    inbox.epoch_end(3);
    inbox.done();
    assert_eq!(told(&mut inbox), ["done"]);
}
