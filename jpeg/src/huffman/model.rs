//! Huffman codes as the standard's annex C draws them, bit by bit: what tables and loops are compared with. For tests.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use proptest::prelude::*;

use super::Code;

/// A code as a list: length, bits, symbol.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    codes: Vec<(u32, u32, u8)>,
}

/// Bits that are read one by one; zeros follow them.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// Bits that have been read.
    pub(crate) at: usize,
}

/// What an AC symbol does (T.81, F.2.2.2; what it leaves open, as libjpeg has it).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    End,
    Zeros,
    /// The number of zeros, then the number of bits of the value.
    Value(u8, u8),
}

impl Does {
    pub(crate) fn of(symbol: u8) -> Self {
        match (symbol >> 4, symbol & 15) {
            (15, 0) => Self::Zeros,
            (_, 0) => Self::End,
            (run, size) => Self::Value(run, size),
        }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn bit(&mut self) -> u32 {
        let byte = self.bytes.get(self.at / 8).copied().unwrap_or(0);
        self.at += 1;
        u32::from(byte >> (7 - (self.at - 1) % 8)) & 1
    }

    /// A value by T.81, F.2.2.1: RECEIVE and EXTEND.
    pub(crate) fn value(&mut self, size: u8) -> i32 {
        let bits = (0..size).fold(0, |bits, _| (bits << 1) | self.bit().cast_signed());
        let half = if size == 0 { 0 } else { 1 << (size - 1) };
        if bits < half { bits - (1 << size) + 1 } else { bits }
    }
}

impl Model {
    /// The codes of one length are numbers that follow each other; the next length's go on at twice the next.
    fn new(counts: &[u8; 16], symbols: &[u8]) -> Self {
        let (mut code, mut codes) = (0, Vec::new());
        let mut symbols = symbols.iter();
        for (length, &count) in (1..).zip(counts) {
            for &symbol in symbols.by_ref().take(usize::from(count)) {
                codes.push((length, code, symbol));
                code += 1;
            }
            code <<= 1;
        }
        Self { codes }
    }

    /// The next symbol and the length of its code; none if no code has these bits.
    pub(crate) fn read(&self, reader: &mut Reader<'_>) -> Option<(u32, u8)> {
        let mut bits = 0;
        (1..=16).find_map(|length| {
            bits = (bits << 1) | reader.bit();
            self.codes.iter().find(|&&(l, code, _)| (l, code) == (length, bits)).map(|&(_, _, symbol)| (length, symbol))
        })
    }

    /// A code, its length and its symbol, chosen by a number.
    pub(crate) fn pick(&self, number: usize) -> (u32, u32, u8) {
        self.codes[number % self.codes.len()]
    }

    /// The code of the first symbol that does as asked.
    pub(crate) fn find(&self, wanted: impl Fn(u8) -> bool) -> Option<(u32, u32, u8)> {
        self.codes.iter().copied().find(|&(_, _, symbol)| wanted(symbol))
    }
}

/// Legal codes of symbols up to `most`, short and long, full and nearly empty, with the model of each.
pub(crate) fn any_code(most: u8) -> impl Strategy<Value = (Code, Model)> {
    let even = prop::collection::vec((1_u32..=16, 0..=most), 1..=256);
    let short = prop::collection::vec((1_u32..=6, 0..=most), 1..=40);
    let long = prop::collection::vec((9_u32..=16, 0..=most), 1..=256);
    prop_oneof![even, short, long].prop_map(|wishes| {
        // A code takes its share of all 16 bits that can come; one that does not fit gets longer, and one share is left.
        let (mut room, mut lengths) = (1_u32 << 16, vec![]);
        for (mut length, symbol) in wishes {
            while length < 16 && 1 << (16 - length) >= room {
                length += 1;
            }
            if 1 << (16 - length) < room {
                room -= 1 << (16 - length);
                lengths.push((length, symbol));
            }
        }
        lengths.sort_by_key(|&(length, _)| length);
        let count = |length| lengths.iter().filter(|&&(l, _)| l == length).count();
        let counts: [u8; 16] = std::array::from_fn(|i| u8::try_from(count(i as u32 + 1)).unwrap_or(u8::MAX));
        let symbols: Vec<u8> = lengths.iter().map(|&(_, symbol)| symbol).collect();
        let total = counts.iter().map(|&count| usize::from(count)).sum();
        let symbols = &symbols[..total];
        let code = Code::new(&counts, symbols).expect("it was made to be legal");
        (code, Model::new(&counts, symbols))
    })
}
