//! Every look of random codes, beside the same bits decoded symbol by symbol.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use proptest::prelude::*;

use super::model::{Does, Model, Reader, any_code};
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

/// The first symbol's value as the inner loop takes it from the bits.
fn first_value(step: Step, bits: u64) -> i32 {
    signed(i32::try_from((bits >> step.behind) & 0xFFFF).unwrap(), step.size)
}

/// Compares a step with what the symbols of its look say: the first, and the second where both are whole in the look.
fn check_step(step: Step, first: &Told, second: Option<Told>, bits: u64) {
    assert_eq!((step.first_bits(), u32::from(step.first_advance)), (first.bits, first.advance));
    // Stores that no symbol asked for are zeros, in the place where the first value goes.
    if let Some(&(place, value)) = first.values.first() {
        assert_eq!((u32::from(step.skip), first_value(step, bits)), (place, value));
    } else {
        assert_eq!(first_value(step, bits), 0);
    }
    let Some(both) = second else {
        assert_eq!((step.bits, step.advance), (64 - step.behind, step.first_advance));
        assert_eq!((step.second, step.value), (step.skip, 0));
        return;
    };
    assert_eq!((u32::from(step.bits), u32::from(step.advance)), (both.bits, both.advance));
    match both.values.get(first.values.len()) {
        Some(&(place, value)) => assert_eq!((u32::from(step.second), i32::from(step.value)), (place, value)),
        None => assert_eq!((step.second, step.value), (step.skip, 0)),
    }
}

/// What two symbols say, if the table has room for the second.
fn two(model: &Model, bytes: [u8; 8], first: Told, after: &Reader<'_>) -> Option<Told> {
    let mut reader = Reader::new(&bytes);
    reader.at = after.at;
    let known = first.values.len();
    let mut both = first;
    let ended = both.ends();
    both.add(model, &mut reader).filter(|()| !ended && both.bits <= LOOK_BITS)?;
    let fits = both.values[known..].iter().all(|&(_, value)| i8::try_from(value).is_ok());
    fits.then_some(both)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_look_finds_what_its_symbols_say_one_by_one((code, model) in any_code(255), behind in any::<u64>()) {
        let mut steps = [Step::default(); 1 << LOOK_BITS];
        code.ac_steps(&mut steps);
        let escape = code.escape();
        for (look, step) in (0_u64..).zip(steps) {
            let bits = (look << (64 - LOOK_BITS)) | (behind >> LOOK_BITS);
            let bytes = bits.to_be_bytes();
            let (mut first, mut reader) = (Told::default(), Reader::new(&bytes));
            let known = first.add(&model, &mut reader);
            let length = model.read(&mut Reader::new(&bytes)).map(|(length, _)| length);
            if let Some(1..=LOOK_BITS) = length {
                let again = Told { values: first.values.clone(), ..first };
                check_step(step, &first, two(&model, bytes, again, &reader), bits);
            } else {
                prop_assert!(step.is_long() && step.advance > END, "what is not in the table leaves the loop");
            }
            match (escape.ac_step(bits), known) {
                (Some(step), Some(())) => check_step(step, &first, None, bits),
                (found, known) => prop_assert!(found.is_none() && known.is_none(), "{look:010b}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_dc_look_has_an_ac_symbol_behind_the_difference(
        (dc, dc_model) in any_code(15),
        (ac, ac_model) in any_code(255),
        behind in any::<u64>(),
    ) {
        let (mut ac_steps, mut steps) = ([Step::default(); 1 << LOOK_BITS], [Step::default(); 1 << LOOK_BITS]);
        ac.ac_steps(&mut ac_steps);
        dc.dc_steps(&ac_steps, &mut steps);
        let escape = dc.escape();
        for (look, step) in (0_u64..).zip(steps) {
            let bits = (look << (64 - LOOK_BITS)) | (behind >> LOOK_BITS);
            let bytes = bits.to_be_bytes();
            let (mut first, mut reader) = (Told::default(), Reader::new(&bytes));
            let known = first.add_dc(&dc_model, &mut reader);
            let length = dc_model.read(&mut Reader::new(&bytes)).map(|(length, _)| length);
            if let Some(1..=LOOK_BITS) = length {
                let again = Told { values: first.values.clone(), ..first };
                check_step(step, &first, two(&ac_model, bytes, again, &reader), bits);
            } else {
                prop_assert!(step.is_long());
            }
            match (escape.dc_step(bits), known) {
                (Some(step), Some(())) => check_step(step, &first, None, bits),
                (found, known) => prop_assert!(found.is_none() && known.is_none(), "{look:010b}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_hop_takes_all_symbols_that_are_whole_in_its_look((code, model) in any_code(255)) {
        let mut hops = [Hop::default(); 1 << LOOK_BITS];
        code.hops(&mut hops);
        for (look, hop) in (0_u64..).zip(&hops) {
            let bytes = (look << (64 - LOOK_BITS)).to_be_bytes();
            let mut reader = Reader::new(&bytes);
            let first = model.read(&mut reader.clone()).filter(|&(length, _)| length <= LOOK_BITS);
            if first.is_none() {
                prop_assert!(hop.bits == 0 && hop.advance > END);
                continue;
            }
            // The first symbol's value may reach beyond the look, those behind it not; nothing follows the block's end, and
            // nothing leads beyond what any block has left.
            let mut told = Told::default();
            told.add(&model, &mut reader).unwrap();
            while told.advance < 64 {
                let mut next = Told { bits: told.bits, advance: told.advance, values: vec![] };
                let known = next.add(&model, &mut reader).is_some();
                if !known || next.bits > LOOK_BITS || (65..u32::from(END)).contains(&next.advance) {
                    break;
                }
                told = next;
            }
            prop_assert_eq!((u32::from(hop.bits), u32::from(hop.advance)), (told.bits, told.advance));
        }
    }
}

#[test]
fn a_value_with_its_highest_bit_set_is_positive_and_all_others_are_negative() {
    let of_three: Vec<i32> = (0..8).map(|bits| signed(bits, 3)).collect();
    assert_eq!(of_three, [-7, -6, -5, -4, 4, 5, 6, 7]);
    assert_eq!(signed(0b1010, 0), 0);
}

#[test]
fn the_look_of_the_front_page_finds_a_pair() {
    // The codes of up to four bits of table K.5.
    let mut counts = [0; 16];
    counts[..4].copy_from_slice(&[0, 2, 1, 3]);
    let code = Code::new(&counts, &[0x01, 0x02, 0x03, 0x00, 0x04, 0x11]).unwrap();
    let mut steps = [Step::default(); 1 << LOOK_BITS];
    code.ac_steps(&mut steps);
    let Step { bits, behind, size, skip, second, value, first_advance, advance } = steps[0b01_1011_0011];
    assert_eq!((bits, behind, size, skip, second, value, first_advance, advance), (9, 60, 2, 0, 2, 1, 1, 3));
    assert_eq!(first_value(steps[0b01_1011_0011], 0b01_1011_0011 << 54), 2);
}

#[test]
fn a_code_of_eleven_bits_is_longer_than_a_look() {
    // One code of each length from 1 to 11: 0, 10, 110 and so on, for values of one bit without zeros before them.
    let mut counts = [0; 16];
    counts[..11].fill(1);
    let code = Code::new(&counts, &[1; 11]).unwrap();
    let mut steps = [Step::default(); 1 << LOOK_BITS];
    code.ac_steps(&mut steps);
    assert!(steps[0b11_1111_1111].is_long());
    let step = code.escape().ac_step(0b1111_1111_1101 << 52).unwrap();
    assert_eq!((step.first_bits(), step.size, step.skip, step.advance), (12, 1, 0, 1));
    assert!(code.escape().ac_step(u64::MAX).is_none(), "no code begins with eleven ones");
}
