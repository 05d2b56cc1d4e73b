//! What may happen to an exchange, at random.

use proptest::prelude::*;

use crate::SLOTS;
use crate::dead::End;

/// One thing that happens. Numbers pick among what there is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Populate(u32),
    Claim { epoch_ahead: u64 },
    Publish(usize),
    GiveUp(usize),
    Attach(u32),
    Adopt { pick: usize, seq: u64 },
    EndAdopted { pick: usize, end: End },
    Ack(usize),
    Release { pick: usize, returned: bool },
    Credit { pick: usize, more: u64 },
    Lie { pick: usize, seq: u64, slot: u32, generation: u64 },
    Evict(usize),
    Exit(usize),
    NextEpoch,
    Void(u64),
    DropReady,
    Noted(usize),
}

/// Any event.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => (0..SLOTS).prop_map(Event::Populate),
        6 => (0..2_u64).prop_map(|epoch_ahead| Event::Claim { epoch_ahead }),
        6 => any::<usize>().prop_map(Event::Publish),
        1 => any::<usize>().prop_map(Event::GiveUp),
        2 => (0..4_u32).prop_map(Event::Attach),
        2 => (any::<usize>(), 0..3_u64).prop_map(|(pick, seq)| Event::Adopt { pick, seq }),
        2 => (any::<usize>(), prop::sample::select(vec![End::Acked, End::Returned, End::Released]))
            .prop_map(|(pick, end)| Event::EndAdopted { pick, end }),
        5 => any::<usize>().prop_map(Event::Ack),
        5 => (any::<usize>(), prop::bool::weighted(0.2)).prop_map(|(pick, returned)| Event::Release { pick, returned }),
        5 => (any::<usize>(), 0..4_u64).prop_map(|(pick, more)| Event::Credit { pick, more }),
        1 => (any::<usize>(), 0..9_u64, 0..SLOTS, 0..5_u64)
            .prop_map(|(pick, seq, slot, generation)| Event::Lie { pick, seq, slot, generation }),
        1 => any::<usize>().prop_map(Event::Evict),
        1 => any::<usize>().prop_map(Event::Exit),
        1 => Just(Event::NextEpoch),
        1 => (0..30_u64).prop_map(Event::Void),
        1 => Just(Event::DropReady),
        4 => any::<usize>().prop_map(Event::Noted),
    ]
}
