//! Every look of random codes, beside the same bits decoded symbol by symbol.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::hops::HOP_BITS;
use super::model::{Does, Model, Reader, any_code};
use super::steps::DC_LOOK_BITS;
use super::*;

/// What symbols say when they are read one by one.
#[derive(Default, PartialEq, Eq, Debug)]
struct Told {
    bits: u32,
    advance: u32,
    /// Place and value, counted from where the look began.
    values: Vec<(u32, i32)>,
}

impl Told {
    /// Adds the AC symbol that `reader` is at. None if there is no such code.
    fn add(&mut self, model: &Model, reader: &mut Reader<'_>) -> Option<()> {
        let (length, symbol) = model.read(reader)?;
        self.bits += length;
        match Does::of(symbol) {
            Does::End => self.advance += u32::from(END),
            Does::Zeros => self.advance += 16,
            Does::Value(run, size) => {
                self.values.push((self.advance + u32::from(run), reader.value(size)));
                self.bits += u32::from(size);
                self.advance += u32::from(run) + 1;
            }
        }
        Some(())
    }

    fn add_dc(&mut self, model: &Model, reader: &mut Reader<'_>) -> Option<()> {
        let (length, size) = model.read(reader)?;
        self.values.push((0, reader.value(size)));
        self.bits += length + u32::from(size);
        self.advance = 1;
        Some(())
    }

    fn ends(&self) -> bool {
        self.advance >= u32::from(END)
    }
}

/// Compares the symbol that a long code is with what it says.
fn check_symbol(found: Option<Symbol>, told: Option<&Told>, bits: u64) {
    let (Some(symbol), Some(told)) = (found, told) else {
        assert!(found.is_none() && told.is_none(), "{bits:064b}: {found:?}");
        return;
    };
    assert_eq!((symbol.bits(), u32::from(symbol.advance)), (told.bits, told.advance));
    if let &[(place, value)] = &told.values[..] {
        assert_eq!((u32::from(symbol.skip), i32::from(Value::of(symbol).from(bits))), (place, value));
    }
}

/// The values that a look's step stores, without zeros.
fn stored(steps: &Steps, bits: u64) -> Vec<(u32, i32)> {
    let (_, step) = steps.look(bits);
    // The last is stored after the first, which is a zero where it has the same place.
    let mut stored = BTreeMap::from([(u32::from(step.first_place), i32::from(step.first))]);
    stored.insert(u32::from(step.last_place), i32::from(step.last.from(bits)));
    stored.into_iter().filter(|&(_, value)| value != 0).collect()
}

/// What the symbols say that a look has room for: the code of the last, and all of one before it.
fn in_a_look(model: &Model, bytes: &[u8]) -> Option<Told> {
    let mut reader = Reader::new(bytes);
    let length = model.read(&mut reader.clone()).map(|(length, _)| length)?;
    let mut first = Told::default();
    first.add(model, &mut reader).filter(|()| length <= LOOK_BITS && first.bits <= MOST_BITS)?;
    let code = model.read(&mut reader.clone()).map_or(u32::MAX, |(length, _)| length);
    let is_small = first.values.iter().all(|(_, value)| value.abs() < 128);
    if first.ends() || !is_small || code.saturating_add(first.bits) > LOOK_BITS {
        return Some(first);
    }
    let mut both = Told { values: first.values.clone(), ..first };
    both.add(model, &mut reader)?;
    Some(if both.bits <= MOST_BITS { both } else { first })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_look_finds_what_its_symbols_say_one_by_one((code, model) in any_code(255), behind in any::<u64>()) {
        let mut steps = Steps::default();
        steps.make(&code);
        let escape = code.escape();
        for look in 0_u64..1 << LOOK_BITS {
            let bits = (look << (64 - LOOK_BITS)) | (behind >> LOOK_BITS);
            let bytes = bits.to_be_bytes();
            let (taken, step) = steps.look(bits);
            if let Some(told) = in_a_look(&model, &bytes) {
                prop_assert_eq!((taken, u32::from(step.advance)), (told.bits, told.advance));
                prop_assert_eq!(stored(&steps, bits), told.values);
            } else {
                prop_assert!(taken == 0 && step.advance > END, "what is not in the table leaves the loop");
                prop_assert_eq!(stored(&steps, bits), vec![]);
            }
            let mut told = Told::default();
            let known = told.add(&model, &mut Reader::new(&bytes)).is_some();
            check_symbol(escape.ac(bits), known.then_some(&told), bits);
        }
    }

    #[test]
    fn a_look_finds_a_dc_difference((code, model) in any_code(15), behind in any::<u64>()) {
        let mut differences = Differences::default();
        differences.make(&code);
        let escape = code.escape();
        for look in 0_u64..1 << LOOK_BITS {
            let bits = (look << (64 - LOOK_BITS)) | (behind >> LOOK_BITS);
            let bytes = bits.to_be_bytes();
            let mut told = Told::default();
            let known = told.add_dc(&model, &mut Reader::new(&bytes)).is_some();
            let (taken, value) = differences.look(bits);
            if taken > 0 {
                prop_assert_eq!(told.values[..].to_vec(), vec![(0, i32::from(value.from(bits)))]);
                prop_assert_eq!(taken, told.bits);
            } else {
                let length = model.read(&mut Reader::new(&bytes)).map_or(u32::MAX, |(length, _)| length);
                prop_assert!(length > DC_LOOK_BITS || told.bits > MOST_BITS);
            }
            check_symbol(escape.dc(bits), known.then_some(&told), bits);
        }
    }

    #[test]
    fn a_hop_takes_all_symbols_that_have_their_codes_in_its_look((code, model) in any_code(255)) {
        let mut hops = Hops::default();
        hops.make(&code);
        for look in 0_u64..1 << HOP_BITS {
            let bits = look << (64 - HOP_BITS);
            let bytes = bits.to_be_bytes();
            let mut reader = Reader::new(&bytes);
            // Nothing follows the block's end, and nothing leads beyond what any block has left.
            let mut told = Told::default();
            while told.advance < 64 {
                let length = model.read(&mut reader.clone()).map_or(u32::MAX, |(length, _)| length);
                let mut next = Told { bits: told.bits, advance: told.advance, values: vec![] };
                let has_room = length.saturating_add(told.bits) <= HOP_BITS;
                let known = next.add(&model, &mut reader).is_some();
                let is_too_far = (65..u32::from(END)).contains(&next.advance);
                if !known || !has_room || next.bits > MOST_BITS || is_too_far {
                    break;
                }
                told = next;
            }
            let (taken, advance) = hops.look(bits);
            if told.bits == 0 {
                prop_assert!(taken == 0 && advance > usize::from(END));
            } else {
                prop_assert_eq!((taken, advance), (told.bits, told.advance as usize));
            }
        }
    }
}

#[test]
fn a_value_with_its_highest_bit_set_is_positive_and_all_others_are_negative() {
    let of_three = |bits: u64| Value::of(Symbol::of_dc(2, 3)).from((0b10 << 62) | (bits << 59) | 0x55);
    assert_eq!((0..8).map(of_three).collect::<Vec<_>>(), [-7, -6, -5, -4, 4, 5, 6, 7]);
    assert_eq!(Value::of(Symbol::of_dc(2, 0)).from(u64::MAX), 0);
    let of_fifteen = |bits: u64| Value::of(Symbol::of_dc(2, 15)).from(bits << 47);
    assert_eq!([0, 0x3FFF, 0x4000, 0x7FFF].map(of_fifteen), [-32767, -16384, 16384, 32767]);
}

#[test]
fn the_look_of_the_front_page_finds_a_pair() {
    // The codes of up to four bits of table K.5.
    let mut counts = [0; 16];
    counts[..4].copy_from_slice(&[0, 2, 1, 3]);
    let code = Code::new(&counts, &[0x01, 0x02, 0x03, 0x00, 0x04, 0x11]).unwrap();
    let mut steps = Steps::default();
    steps.make(&code);
    let bits = 0b0110_1100_1101 << 52;
    let (taken, step) = steps.look(bits);
    assert_eq!((taken, step.advance, step.first_place, step.first, step.last_place), (9, 3, 0, 2, 2));
    assert_eq!(step.last.from(bits), 1);
}

#[test]
fn a_code_of_eleven_bits_is_longer_than_a_look() {
    // One code of each length from 1 to 11: 0, 10, 110 and so on, for values of one bit without zeros before them.
    let mut counts = [0; 16];
    counts[..11].fill(1);
    let code = Code::new(&counts, &[1; 11]).unwrap();
    let mut steps = Steps::default();
    steps.make(&code);
    let bits = 0b1111_1111_1101 << 52;
    assert_eq!(steps.look(bits).0, 0);
    let symbol = code.escape().ac(bits).unwrap();
    assert_eq!((symbol.code, symbol.size, symbol.skip, symbol.advance), (11, 1, 0, 1));
    assert!(code.escape().ac(u64::MAX).is_none(), "no code begins with eleven ones");
}

#[test]
fn what_takes_more_bits_than_a_look_may_is_found_as_a_long_code_is() {
    // The code 0 for a value of 15 bits, which no picture has, and 10 for one of a bit.
    let mut counts = [0; 16];
    counts[..2].fill(1);
    let code = Code::new(&counts, &[0x0F, 0x01]).unwrap();
    let mut steps = Steps::default();
    steps.make(&code);
    let (long, pair) = (0b0100_0000_0000_0000 << 48, 0b1010_0000_0000_0000 << 48);
    assert_eq!(steps.look(long).0, 16, "it fits");
    assert_eq!(steps.look(pair).0, 19, "a bit's value, and 15 bits behind 4");
    let mut counts = [0; 16];
    counts[..8].copy_from_slice(&[0, 0, 0, 0, 0, 0, 1, 0]);
    let code = Code::new(&counts, &[0x0F]).unwrap();
    steps.make(&code);
    assert_eq!(steps.look(0).0, 0, "7 bits and 15");
}
