//! Random decoders beside a naive model: every request ends exactly once, whatever decoders do and in whatever order.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum LaneStep {
    Open(u64),
    Ask(u64),
    /// The decoder's request of this place answers so.
    Answer(u64, usize, AnswerKind),
    /// An answer to a request that may not exist.
    Invent(u64, u64),
    Leave(u64),
    Close(u64, PeerEnd),
    Wait(u64),
}

fn step() -> impl Strategy<Value = LaneStep> {
    let kind = prop_oneof![
        8 => Just(AnswerKind::Made),
        1 => Just(AnswerKind::Busy),
        1 => Just(AnswerKind::NotMade)
    ];
    let end = prop_oneof![Just(PeerEnd::Goodbye), Just(PeerEnd::Broken), Just(PeerEnd::Silent)];
    prop_oneof![
        1 => (0..6_u64).prop_map(LaneStep::Open),
        12 => (1..1_000_u64).prop_map(LaneStep::Ask),
        12 => (0..6_u64, 0..64_usize, kind).prop_map(|(peer, place, kind)| LaneStep::Answer(peer, place, kind)),
        1 => (0..6_u64, 0..500_u64).prop_map(|(peer, id)| LaneStep::Invent(peer, id)),
        1 => (0..6_u64).prop_map(LaneStep::Leave),
        1 => (0..6_u64, end).prop_map(|(peer, end)| LaneStep::Close(peer, end)),
        4 => (1..4_000_u64).prop_map(LaneStep::Wait),
    ]
}

/// What a reader of the rule would note.
#[derive(Default)]
struct LaneModel {
    /// By connection: the requests that it has.
    peers: BTreeMap<PeerId, BTreeSet<u64>>,
    leaving: BTreeSet<PeerId>,
    /// By request: its item, and all that were asked.
    open: BTreeMap<u64, (u64, Vec<PeerId>)>,
    /// When each request was made.
    when: BTreeMap<u64, Instant>,
    /// When requests were made, and when they were given twice.
    asked: Vec<Instant>,
    twice: Vec<Instant>,
}

impl LaneModel {
    fn ends(&mut self, id: u64, item: u64) {
        let (of, _) = self.open.remove(&id).expect("a request ends once");
        assert_eq!(of, item, "the item of the request");
        for has in self.peers.values_mut() {
            has.remove(&id);
        }
    }

    fn by_item(&self, item: u64) -> u64 {
        *self.open.iter().find(|(_, (of, _))| *of == item).expect("it is open").0
    }

    fn late(&mut self, late: Vec<Overdue<u64>>, now: Instant) -> Vec<PeerId> {
        let mut silent = Vec::new();
        for overdue in late {
            match overdue {
                Overdue::AskToo { peer, id, item } => {
                    self.twice.push(now);
                    assert!(!self.leaving.contains(&peer));
                    let (of, asked) = self.open.get_mut(&id).expect("it has no answer yet");
                    assert!(*of == item && asked.len() == 1 && !asked.contains(&peer), "never a third time");
                    asked.push(peer);
                    assert!(self.peers.get_mut(&peer).expect("it is open").insert(id));
                }
                Overdue::Back { peer, id, back } => {
                    self.twice.push(now);
                    assert!(self.peers[&peer].contains(&id) && back.here && !back.suspect);
                    self.ends(id, back.item);
                }
                Overdue::Lost { peers, id, back } => {
                    let (item, asked) = self.open[&id].clone();
                    let has = asked.iter().filter(|peer| self.peers.get(peer).is_some_and(|has| has.contains(&id)));
                    assert_eq!(has.copied().collect::<BTreeSet<_>>(), peers.into_iter().collect(), "all that have it");
                    assert_eq!(back, TakenBack { item, here: true, suspect: false });
                    let when = self.when[&id];
                    assert!(now.saturating_duration_since(when) >= Duration::from_millis(2_200), "asked {when:?}");
                    self.ends(id, item);
                }
                Overdue::Silent(peer) => silent.push(peer),
            }
        }
        let recent = |times: &[Instant], within| {
            times.iter().filter(|time| now.saturating_duration_since(**time) <= within).count()
        };
        // Buckets of half a second count requests for a little longer than 10 s.
        let (twice, asked) =
            (recent(&self.twice, Duration::from_secs(10)), recent(&self.asked, Duration::from_millis(21_500)));
        assert!(twice * 20 <= asked, "{twice} of {asked} requests were given twice");
        silent
    }
}

proptest! {
    #[test]
    fn rule_60_every_request_ends_once_and_no_decoder_has_more_than_it_may(
        steps in prop::collection::vec(step(), 1..400),
        makes_here in any::<bool>(),
    ) {
        let (mut lane, mut now) = (RemoteLane::new(3, makes_here), Instant::now());
        let (mut model, mut items, mut connections) = (LaneModel::default(), 0, 0);
        // The connection of each of six decoders.
        let mut current = BTreeMap::new();
        for step in steps {
            match step {
                LaneStep::Open(decoder) if !current.contains_key(&decoder) => {
                    connections += 1;
                    current.insert(decoder, connections);
                    lane.opened(connections, PeerTerms { address: decoder, threads: 2, most: 8 }, now);
                    model.peers.insert(connections, BTreeSet::new());
                }
                LaneStep::Ask(size) => {
                    items += 1;
                    let has_room = lane.has_room(now);
                    let asked = lane.ask(items, size, items, now);
                    prop_assert_eq!(asked.is_some(), has_room);
                    if let Some((peer, id)) = asked {
                        model.asked.push(now);
                        model.when.insert(id, now);
                        prop_assert!(!model.leaving.contains(&peer));
                        prop_assert!(model.peers.get_mut(&peer).expect("it is open").insert(id));
                        prop_assert!(model.open.insert(id, (items, vec![peer])).is_none(), "a number is used once");
                    }
                }
                LaneStep::Answer(decoder, place, kind) => {
                    let Some(peer) = current.get(&decoder) else { continue };
                    let Some(id) = model.peers[peer].iter().nth(place).copied() else { continue };
                    let others = model.peers.iter().filter(|(other, has)| *other != peer && has.contains(&id)).count();
                    match lane.answered(*peer, id, kind, now) {
                        Settled::Made { item, cancelled } => {
                            prop_assert_eq!(kind, AnswerKind::Made);
                            prop_assert_eq!(cancelled.is_some(), others == 1);
                            model.ends(id, item);
                        }
                        Settled::Back(back) => {
                            prop_assert_eq!(back.here, kind == AnswerKind::NotMade);
                            prop_assert!(kind != AnswerKind::Made && !back.suspect);
                            model.ends(id, back.item);
                        }
                        Settled::Waits => {
                            prop_assert!(kind == AnswerKind::Busy && others == 1);
                            model.peers.get_mut(peer).expect("it is open").remove(&id);
                        }
                        Settled::Late => prop_assert!(false, "the request is open"),
                    }
                }
                LaneStep::Invent(decoder, id) => {
                    let Some(peer) = current.get(&decoder) else { continue };
                    if !model.peers[peer].contains(&id) {
                        prop_assert_eq!(lane.answered(*peer, id, AnswerKind::Made, now), Settled::Late);
                    }
                }
                LaneStep::Leave(decoder) => {
                    let Some(peer) = current.get(&decoder) else { continue };
                    lane.leaves(*peer);
                    model.leaving.insert(*peer);
                }
                LaneStep::Close(decoder, end) => {
                    let Some(peer) = current.remove(&decoder) else { continue };
                    close(&mut lane, &mut model, peer, end);
                }
                LaneStep::Wait(milliseconds) => {
                    now += Duration::from_millis(milliseconds);
                    for peer in model.late(lane.look(now), now) {
                        current.retain(|_, of| *of != peer);
                        close(&mut lane, &mut model, peer, PeerEnd::Silent);
                    }
                }
                LaneStep::Open(_) => {}
            }
            let under_way: usize = model.peers.values().map(BTreeSet::len).sum();
            prop_assert_eq!(lane.under_way(), under_way);
            prop_assert!(model.peers.values().all(|has| has.len() <= 8));
        }
        // When all are gone, nothing is left.
        for peer in current.into_values() {
            close(&mut lane, &mut model, peer, PeerEnd::Goodbye);
        }
        prop_assert!(model.open.is_empty());
        prop_assert_eq!(lane.next_look(now), None);
    }
}

fn close(lane: &mut RemoteLane<u64>, model: &mut LaneModel, peer: PeerId, end: PeerEnd) {
    let had = model.peers.remove(&peer).expect("it is open");
    let elsewhere = |id: &u64| model.peers.values().any(|has| has.contains(id));
    let mut expected: BTreeSet<u64> = had.iter().filter(|id| !elsewhere(id)).copied().collect();
    for TakenBack { item, here, suspect } in lane.closed(peer, end) {
        assert_eq!((here, suspect), (end == PeerEnd::Broken, end == PeerEnd::Broken));
        let id = model.by_item(item);
        assert!(expected.remove(&id), "a request that another decoder has continues there");
        model.ends(id, item);
    }
    assert!(expected.is_empty(), "all that it had is taken back");
}
