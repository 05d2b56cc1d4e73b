//! What may happen to an exchange, and events at random.

use proptest::prelude::*;

/// Names of groups; further ones are of trainers without a group.
pub(crate) const NAMES: [&str; 2] = ["vision", "audit"];

/// One thing that happens. Numbers pick among what there is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Publish { ahead: u64 },
    Attach { name: usize, late: bool, credits: u32 },
    Ack(usize),
    Release { pick: usize, returned: bool },
    Credit(usize),
    Evict(usize),
    Exit(usize),
    Bye(usize),
    EndGroup(usize),
    NextEpoch,
    Void(u64),
    Noted(usize),
}

/// Any event.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    let any = any::<usize>;
    prop_oneof![
        8 => (0..2_u64).prop_map(|ahead| Event::Publish { ahead }),
        4 => (0..4_usize, prop::bool::weighted(0.2), 1..4_u32)
            .prop_map(|(name, late, credits)| Event::Attach { name, late, credits }),
        8 => any().prop_map(Event::Ack),
        8 => (any(), prop::bool::weighted(0.2)).prop_map(|(pick, returned)| Event::Release { pick, returned }),
        8 => any().prop_map(Event::Credit),
        1 => any().prop_map(Event::Evict),
        2 => any().prop_map(Event::Exit),
        1 => any().prop_map(Event::Bye),
        1 => any().prop_map(Event::EndGroup),
        5 => Just(Event::NextEpoch),
        1 => (0..40_u64).prop_map(Event::Void),
        5 => any().prop_map(Event::Noted),
    ]
}
