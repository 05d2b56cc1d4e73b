//! How much memory a CALL would take once it is decoded. An empty message takes two bytes on the wire, but hundreds in
//! memory. The size is computed before anything is decoded.

use std::mem::size_of;

use forebay_proto::v1::{
    AckItem, EpochTally, GroupTally, OpenRange, ShareChange, SourceShare, SourceTally, UnsummedRange,
};

/// A field of a message of which there may be many, or that contains such.
#[derive(Debug)]
struct Part {
    /// Its number.
    field: u64,
    /// Bytes that each takes in memory.
    each: usize,
    /// What is inside.
    of: Inside,
}

/// What is inside of a length-delimited field.
#[derive(Debug)]
enum Inside {
    /// A message. Fields that are not listed come once, or are bytes that take in memory what they take on the wire.
    Message(&'static [Part]),
    /// Whole numbers, one after the other.
    Numbers,
}

/// The parts of a `CallRequest`.
const CALL: &[Part] = &[
    // StateCall: in_hand, receipts.
    Part {
        field: 1,
        each: 0,
        of: Inside::Message(&[
            Part { field: 1, each: size_of::<u64>(), of: Inside::Numbers },
            Part { field: 2, each: size_of::<AckItem>(), of: Inside::Message(&[]) },
        ]),
    },
    // RestoreCall: the snapshot's open ranges, and its tallies and spec with what they have of each source and group.
    Part {
        field: 2,
        each: 0,
        of: Inside::Message(&[Part {
            field: 1,
            each: 0,
            of: Inside::Message(&[
                // The spec, with its sources and the numbers of its classes.
                Part {
                    field: 3,
                    each: 0,
                    of: Inside::Message(&[
                        Part { field: 8, each: size_of::<SourceShare>(), of: Inside::Message(&[]) },
                        Part {
                            field: 9,
                            each: size_of::<ShareChange>(),
                            of: Inside::Message(&[Part { field: 2, each: size_of::<u64>(), of: Inside::Numbers }]),
                        },
                        Part {
                            field: 80,
                            each: 0,
                            of: Inside::Message(&[
                                Part { field: 2, each: size_of::<u32>(), of: Inside::Numbers },
                                Part { field: 4, each: size_of::<u32>(), of: Inside::Numbers },
                                Part { field: 7, each: size_of::<u32>(), of: Inside::Numbers },
                            ]),
                        },
                    ]),
                },
                Part { field: 7, each: size_of::<OpenRange>(), of: Inside::Message(&[]) },
                Part {
                    field: 10,
                    each: size_of::<EpochTally>(),
                    of: Inside::Message(&[
                        Part { field: 8, each: size_of::<SourceTally>(), of: Inside::Message(&[]) },
                        Part { field: 41, each: size_of::<UnsummedRange>(), of: Inside::Message(&[]) },
                        Part { field: 50, each: size_of::<GroupTally>(), of: Inside::Message(&[]) },
                    ]),
                },
            ]),
        }]),
    },
];

/// Bytes of memory that a `CallRequest` with these bytes takes; nothing if these bytes are no protobuf.
pub(super) fn of_call(bytes: &[u8]) -> Option<usize> {
    of_message(bytes, CALL)
}

fn of_message(mut bytes: &[u8], parts: &[Part]) -> Option<usize> {
    let mut weight = 0_usize;
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let part = parts.iter().find(|part| part.field == key >> 3);
        weight = weight.saturating_add(match key & 7 {
            0 => {
                varint(&mut bytes)?;
                part.map_or(0, |part| part.each)
            }
            1 => take(&mut bytes, 8)?.len(),
            2 => {
                let len = usize::try_from(varint(&mut bytes)?).ok()?;
                let inside = take(&mut bytes, len)?;
                match part {
                    Some(Part { each, of: Inside::Message(parts), .. }) => {
                        each.saturating_add(of_message(inside, parts)?)
                    }
                    Some(Part { each, of: Inside::Numbers, .. }) => {
                        let ends = inside.iter().filter(|byte| **byte < 0x80).count();
                        ends.saturating_mul(*each)
                    }
                    None => inside.len(),
                }
            }
            5 => take(&mut bytes, 4)?.len(),
            // Groups, which proto3 does not have.
            _ => return None,
        });
    }
    Some(weight)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::call_request::Call;
    use forebay_proto::v1::{
        CallRequest, ClassOrder, LedgerSpec, PathCall, Range, RecordSelection, RestoreCall, Snapshot, StateCall, Tally,
    };
    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;

    fn call(call: Call) -> Vec<u8> {
        CallRequest { call: Some(call) }.encode_to_vec()
    }

    proptest! {
        #[test]
        fn what_is_weighed_is_at_least_what_the_lists_take(
            in_hand in prop::collection::vec(any::<u64>(), 0..40),
            receipts in 0..40_usize,
            open in 0..40_usize,
            tallies in 0..40_usize,
            sources in 0..5_usize,
            numbers in any::<(u64, u32)>(),
        ) {
            let item = AckItem { lease: numbers.0, range: Some(Range { start: 1, end: numbers.0 }), ..AckItem::default() };
            let lists = in_hand.len() * size_of::<u64>() + receipts * size_of::<AckItem>();
            let state = call(Call::State(StateCall { in_hand, receipts: vec![item; receipts] }));
            prop_assert!(of_call(&state).unwrap() >= lists);
            let range = OpenRange { epoch: numbers.0, deaths: numbers.1, ..OpenRange::default() };
            let tally = EpochTally {
                delivered: Some(Tally { count: numbers.0, ..Tally::default() }),
                sources: vec![SourceTally::default(); sources],
                unsummed: vec![UnsummedRange::default(); sources],
                groups: vec![GroupTally::default(); sources],
                ..EpochTally::default()
            };
            let snapshot = Snapshot {
                spec_hash: vec![7; 32],
                spec: Some(LedgerSpec {
                    sources: vec![SourceShare::default(); sources],
                    share_changes: vec![ShareChange { epoch: 1, positions: vec![1; sources] }; tallies],
                    ..LedgerSpec::default()
                }),
                open: vec![range; open],
                tallies: vec![tally; tallies],
                ..Snapshot::default()
            };
            let (snapshot, load_id) = (Some(snapshot), "first".to_owned());
            let restore = call(Call::Restore(RestoreCall { snapshot, load_id, number: 1 }));
            let of_tally = sources * (size_of::<SourceTally>() + size_of::<UnsummedRange>() + size_of::<GroupTally>());
            let of_change = size_of::<ShareChange>() + sources * size_of::<u64>();
            let of_sources = sources * size_of::<SourceShare>() + tallies * (of_tally + of_change);
            let lists = open * size_of::<OpenRange>() + tallies * size_of::<EpochTally>() + of_sources;
            let weight = of_call(&restore).unwrap();
            prop_assert!((lists..=lists + restore.len()).contains(&weight), "{weight} for {lists}");
        }

        #[test]
        fn any_bytes_are_weighed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if of_call(&bytes).is_none() {
                prop_assert!(CallRequest::decode(&*bytes).is_err() || bytes.iter().any(|byte| byte & 7 > 2));
            }
        }
    }

    #[test]
    fn numbers_that_are_not_packed_count_as_well() {
        let mut inner = Vec::new();
        for _ in 0..100 {
            inner.extend([0x08, 0x01]);
        }
        let mut bytes = vec![0x0a, 0xc8, 0x01];
        bytes.extend(inner);
        assert_eq!(
            CallRequest::decode(&*bytes).unwrap().call,
            Some(Call::State(StateCall { in_hand: vec![1; 100], receipts: Vec::new() }))
        );
        assert_eq!(of_call(&bytes), Some(800));
    }

    /// A field that is added to one of these messages fails to compile here: if it may be repeated, or has repeated
    /// fields inside, it belongs into the table above.
    #[test]
    fn the_table_knows_every_field_that_may_be_repeated() {
        let StateCall { in_hand: _, receipts: _ } = StateCall::default();
        let RestoreCall { snapshot: _, load_id: _, number: _ } = RestoreCall::default();
        let PathCall { record: _ } = PathCall::default();
        let Snapshot {
            version: _,
            spec_hash: _,
            spec: _,
            lease_size: _,
            epoch: _,
            cursor: _,
            open: _,
            generation: _,
            ack_sequence: _,
            tallies: _,
        } = Snapshot::default();
        let EpochTally {
            epoch: _,
            delivered: _,
            dropped: _,
            quarantined: _,
            abandoned: _,
            regranted: _,
            repeats: _,
            sources: _,
            by_state: _,
            unsummed: _,
            groups: _,
            renumbered: _,
        } = EpochTally::default();
        let UnsummedRange { rank: _, world_size: _, start: _, end: _, abandoned: _ } = UnsummedRange::default();
        let GroupTally { group: _, consumed: _, first_batch: _, last_batch: _, missed: _, differs: _ } =
            GroupTally::default();
        let SourceTally { delivered: _, dropped: _, quarantined: _, abandoned: _, repeated: _ } =
            SourceTally::default();
        let LedgerSpec {
            fingerprint: _,
            records: _,
            shuffle: _,
            seed: _,
            permutation: _,
            shard: _,
            grains: _,
            sources: _,
            share_changes: _,
            lockstep: _,
            classes: _,
            selection: _,
        } = LedgerSpec::default();
        let RecordSelection { digest: _, records: _ } = RecordSelection::default();
        let ClassOrder { digest: _, places: _, leftovers: _, repeats: _, rule: _, accumulate: _, lengths: _ } =
            ClassOrder::default();
        let SourceShare { records: _, positions: _, name: _ } = SourceShare::default();
        let ShareChange { epoch: _, positions: _ } = ShareChange::default();
        let AckItem { lease: _, range: _, kind: _, count: _, sum_high: _, sum_low: _ } = AckItem::default();
    }
}
