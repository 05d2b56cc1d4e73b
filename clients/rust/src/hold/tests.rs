//! ACK and RELEASE in every order of events, and against a plain model.

use bytemuck::{Zeroable, pod_read_unaligned};
use forebay_ring::{Ack, Claim};
use proptest::prelude::*;

use super::*;

#[derive(Debug, PartialEq, Eq)]
enum Sent {
    Ack {
        seq: u64,
        ring: u32,
    },
    /// An ACK that gives the slot back, for so many more offers.
    AckFreed {
        seq: u64,
        more: u32,
    },
    Release {
        seq: u64,
        returned: bool,
        ring: u32,
    },
    /// An ACK of a batch that was handed in, by its number.
    AckResumed(u64),
    /// A RELEASE of one, which was returned.
    ReturnResumed(u64),
    Credit(u64),
}

fn read(packets: &[Vec<u8>]) -> Vec<Sent> {
    let read = |packet: &Vec<u8>| {
        let kind: u32 = pod_read_unaligned(&packet[..4]);
        if kind == MessageKind::Ack as u32 {
            let ack: Ack = pod_read_unaligned(&packet[..size_of::<Ack>()]);
            let Ack { seq, ring, more, .. } = ack;
            match (HeldBatch::from(&ack).hold(), ack.freed) {
                (Some(hold), _) => Sent::AckResumed(hold),
                (None, 0) => Sent::Ack { seq, ring },
                (None, _) => Sent::AckFreed { seq, more },
            }
        } else if kind == MessageKind::Release as u32 {
            let release: Release = pod_read_unaligned(packet);
            match HeldBatch::from(&release).hold() {
                Some(hold) if release.returned == 1 => Sent::ReturnResumed(hold),
                _ => Sent::Release { seq: release.seq, returned: release.returned == 1, ring: release.ring },
            }
        } else {
            Sent::Credit(pod_read_unaligned::<Number>(packet).value)
        }
    };
    packets.iter().map(read).collect()
}

fn offer(seq: u64) -> Offer {
    Offer { seq, epoch: 0, ring: 3, slot: 1, claims: 1, ..Offer::zeroed() }
}

fn take(holds: &mut Holds, seq: u64) -> HoldTicket {
    let offer = offer(seq);
    let claim = Claim::new(seq, 0, 1);
    holds.take(offer, Receipt::read(&offer, &[claim], &[7], None, &[1]).unwrap())
}

fn released(seq: u64, returned: bool) -> Sent {
    Sent::Release { seq, returned, ring: 3 }
}

#[test]
fn rule_14_the_slot_goes_back_when_the_batch_is_acked_and_then_unviewed() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    assert_eq!(read(&holds.consume(ticket)), [Sent::Ack { seq: 5, ring: 3 }]);
    assert_eq!((holds.slots(), holds.viewed()), (1, 1));
    assert_eq!(read(&holds.unview(ticket)), [released(5, false), Sent::Credit(1)]);
    assert_eq!((holds.slots(), holds.viewed()), (0, 0));
}

#[test]
fn what_the_caller_never_had_is_not_consumed_and_is_handed_out_again() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    let (waits, packets) = holds.put_back(ticket);
    assert_eq!((waits, read(&packets)), (true, vec![]));
    assert_eq!(read(&holds.consume_all()), []);
    assert_eq!(holds.receipts_in_hand().count(), 0, "a snapshot does not count it");
    holds.take_again(ticket);
    assert_eq!(read(&holds.consume_all()), [Sent::Ack { seq: 5, ring: 3 }]);
    assert!(!holds.put_back(ticket).0, "it was consumed");
}

#[test]
fn what_the_caller_never_had_goes_back_with_the_last_view_of_it() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    holds.put_back(ticket);
    let offers = [offer(5), offer(6)];
    assert_eq!(read(&holds.unread(&offers)), [released(6, true), Sent::Credit(1)]);
    assert_eq!(read(&holds.unview(ticket)), [released(5, true), Sent::Credit(1)]);
}

#[test]
fn what_the_caller_never_had_of_a_dead_daemon_is_returned_to_the_next_one() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    holds.orphan();
    let (waits, packets) = holds.put_back(ticket);
    assert_eq!((waits, read(&packets)), (false, vec![Sent::ReturnResumed(1)]));
}

#[test]
fn rule_14_views_that_go_first_do_not_ack() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    assert_eq!(read(&holds.unview(ticket)), []);
    assert_eq!((holds.slots(), holds.viewed()), (1, 0));
    assert_eq!(read(&holds.consume_all()), [Sent::AckFreed { seq: 5, more: 1 }], "one packet says it all");
    assert_eq!((holds.slots(), holds.viewed()), (0, 0));
}

#[test]
fn a_rejected_batch_goes_back_unread_once_nobody_looks_at_it() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    let (found, packets) = holds.give_back(ticket);
    assert!(found && packets.is_empty());
    assert_eq!(read(&holds.unview(ticket)), [released(5, true), Sent::Credit(1)]);
}

#[test]
fn a_batch_is_acked_once_and_cannot_be_rejected_after() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    assert_eq!(holds.consume(ticket).len(), 1);
    assert_eq!(holds.consume(ticket).len(), 0);
    assert!(!holds.give_back(ticket).0);
}

#[test]
fn rule_16_a_batch_held_over_the_daemons_death_is_resumed_and_acked_without_a_slot() {
    let mut holds = Holds::default();
    let seen = take(&mut holds, 4);
    assert_eq!(holds.consume(seen).len(), 1);
    let ticket = take(&mut holds, 5);
    holds.orphan();

    let list: Vec<(u64, u64)> = holds.resumed_claims().iter().map(|item| (item.seq, u64::from(item.held))).collect();
    assert_eq!(list, [(4, 0), (5, 1)]);
    assert_eq!(holds.slots(), 0, "the dead daemon's slots are no longer anybody's");
    assert_eq!(read(&holds.unview(seen)), [], "the consumed batch's slot died with the daemon");
    assert_eq!(read(&holds.consume(ticket)), [Sent::AckResumed(1)]);
    assert_eq!(read(&holds.unview(ticket)), []);
}

#[test]
fn rule_16_a_batch_held_over_the_daemons_death_can_be_rejected() {
    let mut holds = Holds::default();
    let ticket = take(&mut holds, 5);
    holds.orphan();
    let (_, packets) = holds.give_back(ticket);
    assert_eq!(read(&packets), [Sent::ReturnResumed(1)]);
}

/// What is handed in: `seq`, and the number of what is held.
fn resumed(holds: &Holds) -> Vec<(u64, u32)> {
    holds.resumed_claims().iter().map(|item| (item.seq, item.held)).collect()
}

#[test]
fn rule_16_batches_of_one_number_from_dead_daemons_are_resumed_acked_and_returned_each_by_itself() {
    let mut holds = Holds::default();
    let first = take(&mut holds, 0);
    holds.orphan();
    assert_eq!(resumed(&holds), [(0, 1)]);
    let second = take(&mut holds, 0);
    holds.orphan();
    assert_eq!(resumed(&holds), [(0, 1), (0, 2)], "it keeps its number");
    let third = take(&mut holds, 0);
    assert_eq!(read(&holds.consume(third)), [Sent::Ack { seq: 0, ring: 3 }], "this daemon's own");
    assert_eq!(read(&holds.consume(second)), [Sent::AckResumed(2)]);
    assert_eq!(read(&holds.give_back(first).1), [Sent::ReturnResumed(1)]);
    holds.orphan();
    assert_eq!(resumed(&holds), [(0, 0), (0, 0)], "the second and the third were consumed");
}

#[test]
fn rule_16_no_two_batches_in_hand_ever_have_one_number() {
    let mut holds = Holds::default();
    let tickets: Vec<HoldTicket> = (0..3).map(|seq| take(&mut holds, seq)).collect();
    holds.orphan();
    assert_eq!(read(&holds.give_back(tickets[1]).1), [Sent::ReturnResumed(2)]);
    let later = [take(&mut holds, 0), take(&mut holds, 1)];
    holds.orphan();
    assert_eq!(resumed(&holds), [(0, 1), (2, 3), (0, 2), (1, 4)], "a number is free when its batch is decided");
    assert_eq!(read(&holds.consume(later[0])), [Sent::AckResumed(2)]);
    assert_eq!(read(&holds.consume(tickets[2])), [Sent::AckResumed(3)]);
}

#[derive(Clone, Debug)]
enum Step {
    Take,
    Consume(usize),
    GiveBack(usize),
    Unview(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Take),
        (0_usize..12).prop_map(Step::Consume),
        (0_usize..12).prop_map(Step::GiveBack),
        (0_usize..12).prop_map(Step::Unview),
    ]
}

proptest! {
    /// Whatever the order, each batch is acked or given back but not both, its RELEASE comes once and only after its
    /// last view is gone, and each RELEASE brings one credit. An ACK may be the RELEASE too.
    #[test]
    fn every_batch_is_decided_once_and_released_once(steps in prop::collection::vec(step(), 0..80)) {
        let mut holds = Holds::default();
        let mut tickets = Vec::new();
        let mut unviewed = Vec::new();
        let mut sent = Vec::new();
        for step in steps {
            let packets = match step {
                Step::Take => {
                    tickets.push(take(&mut holds, tickets.len() as u64));
                    unviewed.push(false);
                    Packets::new()
                }
                Step::Consume(n) => tickets.get(n).map(|ticket| holds.consume(*ticket)).unwrap_or_default(),
                Step::GiveBack(n) => tickets.get(n).map(|ticket| holds.give_back(*ticket).1).unwrap_or_default(),
                Step::Unview(n) => {
                    if let Some(flag) = unviewed.get_mut(n) {
                        *flag = true;
                    }
                    tickets.get(n).map(|ticket| holds.unview(*ticket)).unwrap_or_default()
                }
            };
            for message in read(&packets) {
                if let Sent::Release { seq, .. } | Sent::AckFreed { seq, .. } = message {
                    prop_assert!(unviewed[usize::try_from(seq).unwrap()]);
                }
                sent.push(message);
            }
        }
        for seq in 0..tickets.len() as u64 {
            let is_ack = |m: &&Sent| matches!(m, Sent::Ack { seq: s, .. } | Sent::AckFreed { seq: s, .. } if *s == seq);
            let acks = sent.iter().filter(is_ack).count();
            let backs: Vec<bool> = sent.iter().filter_map(|m| match m {
                Sent::Release { seq: s, returned, .. } if *s == seq => Some(*returned),
                Sent::AckFreed { seq: s, .. } if *s == seq => Some(false),
                _ => None,
            }).collect();
            prop_assert!(acks <= 1 && backs.len() <= 1);
            if let Some(returned) = backs.first() {
                prop_assert_eq!(*returned, acks == 0);
            }
        }
        let releases = sent.iter().filter(|m| matches!(m, Sent::Release { .. } | Sent::AckFreed { .. })).count();
        let credits = sent.iter().filter(|m| matches!(m, Sent::Credit(1) | Sent::AckFreed { more: 1, .. })).count();
        prop_assert_eq!(releases, credits);
        prop_assert_eq!(holds.slots() + releases, tickets.len());
    }
}
