//! `groups = "each"`: each batch goes once to each group of trainers (semantics rules 42 to 44), told as stories.
#![allow(clippy::unwrap_used, reason = "a test's own steps")]

use forebay_ring::{
    Action, BatchId, ConsumerId, CreditsTaken, Exchange, Granted, HeldBatch, Join, Membership, NoPlace, SlotId, Voided,
};

const ANNA: ConsumerId = ConsumerId(1);
const BELA: ConsumerId = ConsumerId(2);
const CLEO: ConsumerId = ConsumerId(3);

/// An exchange with six slots, and what trainers have of it.
struct Story {
    exchange: Exchange,
    next: u64,
    /// Everything that was wanted, but for offers.
    told: Vec<Action>,
    /// What each trainer was offered and has not let go of.
    hands: Vec<(ConsumerId, HeldBatch)>,
}

fn named(group: &str) -> Membership {
    Membership { group: Some(group.into()), join: Join::Next }
}

fn alone() -> Membership {
    Membership::default()
}

impl Story {
    fn begin() -> Self {
        let mut exchange = Exchange::new(0).each();
        exchange.add_ring(0, 6);
        (0..6).for_each(|slot| exchange.populated(SlotId { ring: 0, slot }));
        let mut story = Self { exchange, next: 1, told: Vec::new(), hands: Vec::new() };
        story.hear();
        story.told.clear();
        story
    }

    fn attach(&mut self, consumer: ConsumerId, membership: Membership) -> u64 {
        let granted = self.exchange.attach(consumer, 2, membership).unwrap();
        self.hear();
        granted.epoch
    }

    /// Publishes a batch of the epoch; gives its number.
    fn publish(&mut self, epoch: u64) -> u64 {
        let slot = self.exchange.claim().expect("a slot is free");
        let seq = self.next;
        self.next += 1;
        self.exchange.publish(slot, BatchId { seq, epoch });
        self.hear();
        seq
    }

    fn hear(&mut self) {
        loop {
            let actions: Vec<_> = self.exchange.drain().collect();
            if actions.is_empty() {
                return;
            }
            for action in actions {
                match action {
                    Action::Offer { consumer, slot, batch, generation, .. } => {
                        self.hands.push((consumer, HeldBatch { seq: batch.seq, slot, generation }));
                    }
                    Action::Seen(batch) => {
                        self.told.push(action);
                        self.exchange.noted(batch.seq);
                    }
                    other => self.told.push(other),
                }
            }
        }
    }

    fn has(&self, consumer: ConsumerId) -> Vec<u64> {
        self.hands.iter().filter(|(holder, _)| *holder == consumer).map(|(_, held)| held.seq).collect()
    }

    fn held(&self, consumer: ConsumerId, seq: u64) -> HeldBatch {
        let found = self.hands.iter().find(|(holder, held)| *holder == consumer && held.seq == seq);
        found.unwrap_or_else(|| panic!("{consumer:?} does not have batch {seq}")).1
    }

    fn ack(&mut self, consumer: ConsumerId, seq: u64) {
        let held = self.held(consumer, seq);
        assert!(self.exchange.ack(consumer, held));
        self.hear();
    }

    /// Lets go of a batch, and asks for the next one.
    fn release(&mut self, consumer: ConsumerId, seq: u64, returned: bool) {
        let held = self.held(consumer, seq);
        self.hands.retain(|hand| *hand != (consumer, held));
        assert!(self.exchange.release(consumer, held, returned));
        self.exchange.credit(consumer, 1);
        self.hear();
    }

    fn read(&mut self, consumer: ConsumerId, seq: u64) {
        self.ack(consumer, seq);
        self.release(consumer, seq, false);
    }

    fn die(&mut self, consumer: ConsumerId) {
        self.hands.retain(|(holder, _)| *holder != consumer);
        self.exchange.gone(consumer);
        self.hear();
    }

    fn acked(&self) -> Vec<u64> {
        self.told.iter().filter(|action| matches!(action, Action::Acked { .. })).map(seq).collect()
    }

    /// Whether a batch of epoch 0 goes back to the ledger, and somebody may have seen it.
    fn has_dropped(&self, seq: u64, seen: bool) -> bool {
        self.told.contains(&Action::Dropped { batch: BatchId { seq, epoch: 0 }, seen })
    }

    fn seen(&self) -> Vec<u64> {
        self.told.iter().filter(|action| matches!(action, Action::Seen(_))).map(seq).collect()
    }
}

fn seq(action: &Action) -> u64 {
    match action {
        Action::Acked { batch, .. } | Action::Seen(batch) | Action::Dropped { batch, .. } => batch.seq,
        _ => panic!("{action:?} is of no batch"),
    }
}

#[test]
fn rule_42_every_trainer_without_a_group_gets_every_batch() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, alone());
    let [one, two] = [story.publish(0), story.publish(0)];
    assert_eq!((story.has(ANNA), story.has(BELA)), (vec![one, two], vec![one, two]));
    story.read(ANNA, one);
    assert_eq!((story.acked(), story.exchange.counts().held), (vec![], 2), "Bela has it still");
    story.ack(BELA, one);
    assert_eq!((story.acked(), story.exchange.counts().held), (vec![one], 2), "and looks at it still");
    story.release(BELA, one, false);
    assert_eq!((story.exchange.counts().held, story.exchange.counts().free), (1, 5));
}

#[test]
fn rule_42_trainers_of_one_group_share_the_batches() {
    let mut story = Story::begin();
    story.attach(ANNA, named("vision"));
    story.attach(BELA, named("vision"));
    story.attach(CLEO, named("audit"));
    let all: Vec<u64> = (0..2).map(|_| story.publish(0)).collect();
    let mut shared = [story.has(ANNA), story.has(BELA)].concat();
    shared.sort_unstable();
    assert_eq!((shared, story.has(CLEO)), (all.clone(), all));
    assert_eq!((story.has(ANNA).len(), story.has(BELA).len()), (1, 1));
}

#[test]
fn rule_44_a_groups_credits_are_its_own() {
    let mut story = Story::begin();
    let mut attach = |id: u64, membership| story.exchange.attach(ConsumerId(id), 3, membership);
    assert_eq!(attach(1, named("vision")), Ok(Granted { credits: 3, epoch: 0 }));
    assert_eq!(attach(2, named("vision")), Ok(Granted { credits: 1, epoch: 0 }));
    let refused = CreditsTaken { slots: 6, credits: 4, trainers: 2 };
    assert_eq!(attach(3, named("vision")), Err(NoPlace::Credits(refused)));
    for id in 4..67 {
        attach(id, alone()).unwrap();
    }
    let refused = attach(67, alone()).unwrap_err();
    assert!(refused.to_string().contains("64 groups"), "{refused}");
    attach(68, named("vision")).expect_err("its credits are taken");
}

#[test]
fn rule_43_a_late_group_begins_with_the_next_batch_or_the_next_epoch() {
    let mut story = Story::begin();
    let epoch = |join| Membership { group: None, join };
    assert_eq!(story.attach(ANNA, epoch(Join::Epoch)), 0, "nothing of the epoch was offered");
    let one = story.publish(0);
    assert_eq!(story.attach(BELA, epoch(Join::Next)), 0);
    assert_eq!(story.attach(CLEO, epoch(Join::Epoch)), 1);
    let two = story.publish(0);
    assert_eq!((story.has(ANNA), story.has(BELA), story.has(CLEO)), (vec![one, two], vec![two], vec![]));
    story.read(ANNA, one);
    assert_eq!(story.acked(), [one], "it is nobody else's");
    story.read(ANNA, two);
    story.read(BELA, two);
    story.told.clear();
    story.exchange.open_epoch(1);
    story.hear();
    let ends = [ANNA, BELA].map(|consumer| Action::EpochEnd { consumer, epoch: 0 });
    assert_eq!(story.told, ends, "Cleo hears nothing of an epoch that she was not in");
    let three = story.publish(1);
    assert_eq!(story.has(CLEO), [three]);
}

#[test]
fn rule_43_an_epoch_that_has_no_group_left_goes_to_one_that_waited_for_the_next() {
    let mut story = Story::begin();
    let late = || Membership { group: None, join: Join::Epoch };
    story.attach(ANNA, named("vision"));
    let one = story.publish(0);
    story.read(ANNA, one);
    assert_eq!((story.attach(BELA, late()), story.attach(CLEO, late())), (1, 1));
    let two = story.publish(0);
    story.die(ANNA);
    assert_eq!(story.has(BELA), [], "Anna's group may come back");
    let vision = story.exchange.groups().find(|group| group.name.is_some()).unwrap().id;
    assert!(story.exchange.end_group(vision));
    story.hear();
    let three = story.publish(0);
    assert_eq!((story.has(BELA), story.has(CLEO)), (vec![two, three], vec![]), "one group is enough");
    story.die(BELA);
    assert_eq!(story.has(CLEO), [two, three]);
    story.read(CLEO, two);
    story.read(CLEO, three);
    assert_eq!(story.acked(), [one, two, three]);
    story.told.clear();
    story.exchange.open_epoch(1);
    story.hear();
    assert_eq!(story.told, [Action::EpochEnd { consumer: CLEO, epoch: 0 }]);
}

#[test]
fn rule_43_a_job_that_begins_again_alone_gets_the_rest_of_the_epoch() {
    let mut story = Story::begin();
    let late = || Membership { group: None, join: Join::Epoch };
    story.attach(ANNA, late());
    let one = story.publish(0);
    story.die(ANNA);
    assert_eq!(story.attach(BELA, late()), 0, "there is no other group for this epoch");
    assert_eq!(story.has(BELA), [one]);
}

#[test]
fn rule_43_a_named_group_finds_what_it_missed_when_it_comes_back() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, named("vision"));
    let one = story.publish(0);
    story.die(BELA);
    let two = story.publish(0);
    story.read(ANNA, one);
    story.read(ANNA, two);
    assert_eq!((story.acked(), story.seen()), (vec![], vec![one]), "the group may come back");
    let vision = story.exchange.groups().find(|group| group.name.is_some()).unwrap();
    assert_eq!((vision.behind, vision.members.len()), (2, 0));
    story.attach(CLEO, named("vision"));
    assert_eq!(story.has(CLEO), [one, two]);
    story.read(CLEO, one);
    assert_eq!(story.acked(), [one]);
    assert!(!story.exchange.end_group(vision.id), "somebody is in it");
}

#[test]
fn rule_43_a_group_that_has_ended_holds_up_nothing() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, named("vision"));
    let [one, two] = [story.publish(0), story.publish(0)];
    story.read(ANNA, one);
    story.die(BELA);
    let vision = story.exchange.groups().find(|group| group.name.is_some()).unwrap().id;
    assert!(story.exchange.end_group(vision));
    story.hear();
    assert_eq!(story.acked(), [one], "Anna has acked it, and nobody else needs it");
    story.read(ANNA, two);
    assert_eq!((story.acked(), story.exchange.counts().free), (vec![one, two], 6));
    assert!(!story.exchange.end_group(vision), "it has ended");
}

#[test]
fn rule_44_a_batch_that_no_group_has_acked_is_offered_again() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, alone());
    let one = story.publish(0);
    story.die(ANNA);
    assert_eq!(story.seen(), [], "Bela has it, and nobody gets it again");
    story.release(BELA, one, true);
    assert_eq!(story.has(BELA), [one], "she has returned it, and is still there");
    story.die(BELA);
    assert_eq!((story.acked(), story.seen()), (vec![], vec![one]), "both may have seen it");
    story.attach(CLEO, alone());
    assert_eq!(story.has(CLEO), [one]);
    story.read(CLEO, one);
    assert_eq!((story.acked(), story.exchange.counts().free), (vec![one], 6));
}

#[test]
fn rule_44_a_group_gets_what_its_dead_trainer_had_first() {
    let mut story = Story::begin();
    story.attach(ANNA, named("vision"));
    story.attach(CLEO, named("audit"));
    let one = story.publish(0);
    story.read(CLEO, one);
    let two = story.publish(0);
    story.die(ANNA);
    story.attach(BELA, named("vision"));
    assert_eq!((story.has(BELA), story.has(CLEO)), (vec![one, two], vec![two]));
}

#[test]
fn a_void_batch_goes_to_nobody_who_does_not_hold_it() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, alone());
    let [one, two, three] = [story.publish(0), story.publish(0), story.publish(0)];
    assert_eq!(story.exchange.void(one), Voided::Held(vec![ANNA, BELA]));
    assert_eq!(story.exchange.void(three), Voided::Dropped, "nobody was offered it");
    story.ack(ANNA, one);
    story.release(BELA, one, true);
    assert_eq!(story.acked(), [one], "Bela does not get it again");
    story.release(ANNA, one, false);
    let _of_two = [story.held(ANNA, two), story.held(BELA, two)];
    assert_eq!(story.exchange.counts().held, 1);
    assert!(story.told.contains(&Action::Dropped { batch: BatchId { seq: three, epoch: 0 }, seen: false }));
}

#[test]
fn rule_44_the_slot_of_an_evicted_trainer_is_not_filled_while_its_process_lives() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, alone());
    let one = story.publish(0);
    story.exchange.evict(ANNA);
    story.hear();
    story.read(BELA, one);
    assert_eq!((story.acked(), story.exchange.counts().quarantined), (vec![one], 1));
    story.die(ANNA);
    assert_eq!(story.exchange.counts().free, 6);
}

#[test]
fn rule_44_who_holds_up_a_full_ring_is_known() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, named("vision"));
    for _ in 0..6 {
        assert_eq!(story.exchange.held_up(), None, "there is room");
        let seq = story.publish(0);
        story.read(ANNA, seq);
    }
    let (group, waiting) = story.exchange.held_up().unwrap();
    assert_eq!((group.name.as_deref(), group.behind, waiting), (Some("vision"), 6, vec![ANNA]));
    story.read(BELA, 1);
    assert_eq!(story.exchange.held_up(), None, "there is room again");
}

#[test]
fn rule_11_a_trainer_is_done_with_an_epoch_when_its_group_is() {
    let mut story = Story::begin();
    story.attach(ANNA, alone());
    story.attach(BELA, alone());
    let one = story.publish(0);
    story.read(ANNA, one);
    assert!(story.exchange.is_done_with(ANNA, 0) && !story.exchange.is_done_with(BELA, 0));
    assert_eq!(story.exchange.holders(0).iter().map(|holder| holder.consumer).collect::<Vec<_>>(), [BELA]);
    story.attach(CLEO, Membership { group: None, join: Join::Epoch });
    let _more_than_anybody_has_credit_for = [story.publish(0), story.publish(0), story.publish(0)];
    assert!(story.exchange.is_done_with(CLEO, 0), "she was not in it");
}

#[test]
fn rule_43_a_group_that_was_there_before_the_daemon_was_started_gets_its_batches_when_it_comes() {
    assert!(!Exchange::new(0).expect_group("vision"), "in split there are none");
    let mut story = Story::begin();
    assert!(story.exchange.expect_group("vision"));
    story.attach(ANNA, alone());
    let one = story.publish(0);
    story.read(ANNA, one);
    assert_eq!(story.acked(), [], "it waits for the other group");
    story.attach(BELA, named("vision"));
    assert_eq!(story.has(BELA), [one]);
    story.read(BELA, one);
    assert_eq!(story.acked(), [one]);
}

#[test]
fn rule_44_a_stream_that_ends_takes_nothing_from_a_group_that_another_one_gets() {
    let mut story = Story::begin();
    story.exchange.expect_group("slow");
    story.attach(ANNA, named("fast"));
    let [one, two, unread] = [story.publish(0), story.publish(0), story.publish(0)];
    story.exchange.drop_unread();
    story.hear();
    assert!(story.has_dropped(unread, false));
    assert_eq!(story.exchange.waiting_for(one), None, "nobody has acked it");
    story.ack(ANNA, one);
    assert_eq!(story.exchange.waiting_for(one), Some(vec!["slow".to_owned()]));
    story.exchange.drop_unacked();
    story.die(ANNA);
    assert!(story.has_dropped(two, true));
    assert_eq!((story.acked(), story.exchange.counts().free), (vec![], 5), "the first one waits for the slow group");
}
