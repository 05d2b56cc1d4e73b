//! Blocks decoded and skipped, beside the same blocks decoded symbol by symbol.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use proptest::prelude::*;

use super::*;
use crate::huffman::model::{Does, Model, Reader, any_code};
use crate::window::{Reading, Window};

/// Bits that are written one by one.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    count: usize,
}

impl Writer {
    fn put(&mut self, bits: u32, length: u32) {
        for place in (0..length).rev() {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let (Some(last), 1) = (self.bytes.last_mut(), (bits >> place) & 1) {
                *last |= 0x80 >> (self.count % 8);
            }
            self.count += 1;
        }
    }
}

/// A block by the letter of T.81, F.2.2: its DC difference and its values in zigzag order. None for irregular data.
fn read_block(dc: &Model, ac: &Model, reader: &mut Reader<'_>) -> Option<(i32, [i32; 64])> {
    let mut values = [0; 64];
    let (_, size) = dc.read(reader)?;
    let difference = reader.value(size);
    let mut k = 1;
    while k < 64 {
        let (_, symbol) = ac.read(reader)?;
        match Does::of(symbol) {
            Does::End => break,
            Does::Zeros => k += 16,
            Does::Value(run, size) => {
                k += usize::from(run);
                let value = reader.value(size);
                *values.get_mut(k)? = value;
                k += 1;
            }
        }
    }
    (k <= 64).then_some((difference, values))
}

/// Blocks of random symbols: those that lead past a block's end are left out where the code can end it otherwise.
fn write_blocks(dc: &Model, ac: &Model, dice: &[(usize, u32)]) -> Vec<u8> {
    let mut writer = Writer::default();
    let mut dice = dice.iter().copied();
    while let Some((number, value)) = dice.next() {
        let (length, code, size) = dc.pick(number);
        writer.put(code, length);
        writer.put(value, u32::from(size));
        let mut k = 1;
        while k < 64 {
            let Some((number, value)) = dice.next() else { break };
            let (mut length, mut code, mut symbol) = ac.pick(number);
            let advance = |symbol| match Does::of(symbol) {
                Does::End => 64,
                Does::Zeros => 16,
                Does::Value(run, _) => usize::from(run) + 1,
            };
            if Does::of(symbol) != Does::End && k + advance(symbol) > 64 {
                let end = ac.find(|symbol| Does::of(symbol) == Does::End || k + advance(symbol) == 64);
                (length, code, symbol) = end.unwrap_or((length, code, symbol));
            }
            writer.put(code, length);
            writer.put(value, u32::from(symbol & 15));
            k += advance(symbol);
        }
    }
    writer.bytes
}

/// Decodes block after block in both ways, and skips them, until one is irregular or the data ends.
fn compare(codes: [&Code; 2], models: [&Model; 2], bytes: &[u8]) {
    let mut tables = Tables::default();
    tables.make(codes[0], codes[1], true);
    let stuffed: Vec<u8> =
        bytes.iter().flat_map(|&byte| [byte, 0].into_iter().take(1 + usize::from(byte == 0xFF))).collect();
    let mut window = Window::default();
    window.begin(&stuffed, 0, Reading::default());
    let order: Order = std::array::from_fn(|k| k.min(64) as u8);
    let first = Bits::first(window.bytes());
    let (mut bits, mut skipped, mut reader) = (first, first, Reader::new(bytes));
    let mut good = 0;
    while reader.at < bytes.len() * 8 {
        let mut block: PaddedBlock = [0; 256];
        let expected = read_block(models[0], models[1], &mut reader);
        let decoded = tables.block(bits, window.bytes(), &order, &mut block);
        let hopped = tables.skip_block(skipped, window.bytes());
        let (Some((difference, values)), Some((after, decoded)), Some((after_skip, hopped))) =
            (expected, decoded, hopped)
        else {
            let none = expected.is_none() && decoded.is_none() && hopped.is_none();
            assert!(none, "block {good}: {expected:?}, decoded {decoded:?}, skipped {hopped:?}");
            return;
        };
        block[0] = 0;
        assert_eq!(block[..64].iter().map(|&value| i32::from(value)).collect::<Vec<_>>(), values, "block {good}");
        assert!(values.iter().skip(usize::from(decoded.last) + 1).all(|&value| value == 0), "block {good}");
        assert_eq!([decoded.dc_difference, hopped].map(i32::from), [difference; 2], "block {good}");
        assert_eq!([after, after_skip].map(|bits| bits.at * 8 - bits.count as usize), [reader.at; 2], "block {good}");
        (bits, skipped) = (after, after_skip);
        good += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn blocks_of_symbols_are_decoded_and_skipped_as_the_standard_has_it(
        (dc, dc_model) in any_code(15),
        (ac, ac_model) in any_code(255),
        dice in prop::collection::vec(any::<(usize, u32)>(), 1..300),
    ) {
        let bytes = write_blocks(&dc_model, &ac_model, &dice);
        compare([&dc, &ac], [&dc_model, &ac_model], &bytes);
    }

    #[test]
    fn blocks_of_noise_are_irregular_at_the_same_place(
        (dc, dc_model) in any_code(15),
        (ac, ac_model) in any_code(255),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        compare([&dc, &ac], [&dc_model, &ac_model], &bytes);
    }
}

/// Bits of blocks, and the tables for them.
fn crafted(dc: &[(u32, u8)], ac: &[(u32, u8)], bits: &str) -> (Tables, Window, usize) {
    let code = |codes: &[(u32, u8)]| {
        let count = |length| codes.iter().filter(|&&(l, _)| l == length).count() as u8;
        let symbols: Vec<u8> = codes.iter().map(|&(_, symbol)| symbol).collect();
        Code::new(&std::array::from_fn(|i| count(i as u32 + 1)), &symbols).unwrap()
    };
    let mut tables = Tables::default();
    tables.make(&code(dc), &code(ac), true);
    let mut writer = Writer::default();
    bits.bytes().filter(|bit| matches!(bit, b'0' | b'1')).for_each(|bit| writer.put(u32::from(bit - b'0'), 1));
    let mut window = Window::default();
    window.begin(&writer.bytes, 0, Reading::default());
    (tables, window, writer.count)
}

/// Decodes and skips two blocks. Gives where each way is behind each of them, and the number of each last coefficient.
fn two_blocks((tables, window, _): &(Tables, Window, usize)) -> [([usize; 2], u8); 2] {
    let order: Order = std::array::from_fn(|k| k.min(64) as u8);
    let (mut bits, mut skipped) = (Bits::first(window.bytes()), Bits::first(window.bytes()));
    std::array::from_fn(|_| {
        let (after, decoded) = tables.block(bits, window.bytes(), &order, &mut [0; 256]).unwrap();
        (skipped, _) = tables.skip_block(skipped, window.bytes()).unwrap();
        bits = after;
        ([bits, skipped].map(|bits| bits.at * 8 - bits.count as usize), decoded.last)
    })
}

#[test]
fn a_look_that_sees_two_symbols_stops_between_two_blocks() {
    // A DC code 0 for no difference; an AC code 0 for a value of one bit. Each block is full: its last symbol and the first
    // of the next block are in one look.
    let block = format!("0 {}", "0 1 ".repeat(63));
    let crafted = crafted(&[(1, 0)], &[(1, 0x01), (2, 0xF0)], &block.repeat(2));
    assert_eq!(two_blocks(&crafted), [([127, 127], 63), ([254, 254], 63)]);
    assert_eq!(crafted.2, 254);
}

#[test]
fn a_hop_far_beyond_a_blocks_end_is_not_taken_for_an_end_of_block() {
    // AC codes: 0 for sixteen zeros, 10 for two zeros and a value of one bit, 110 for the end of the block. The first block is
    // full. Six bits before its end a look sees 3 + 3 coefficients, and in the next block's bits 4 x 16 more.
    let blocks = format!("0 0 0 0 {} 0 0 0 0 110", "10 1 ".repeat(5));
    let crafted = crafted(&[(1, 0)], &[(1, 0xF0), (2, 0x21), (3, 0x00)], &blocks);
    assert_eq!(two_blocks(&crafted), [([19, 19], 63), ([26, 26], 48)]);
}
