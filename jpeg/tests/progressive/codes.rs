//! Huffman codes for the scans of made pictures, with all symbols and some lengths.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

/// What a code is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbols {
    Dc,
    Ac,
}

/// A code as a DHT segment has it, with the bits of each symbol.
#[derive(Clone, Debug)]
pub(crate) struct CodeBook {
    pub(crate) counts: [u8; 16],
    pub(crate) symbols: Vec<u8>,
    /// By symbol: the code and its length.
    codes: [(u32, u32); 256],
}

impl CodeBook {
    /// All symbols in an order and with lengths that the seed chooses: a few short ones, and the others as long as they must
    /// be, or all of them as even as can be.
    pub(crate) fn new(of: Symbols, seed: u64) -> Self {
        let mut symbols: Vec<u8> = if of == Symbols::Dc { (0..=11).collect() } else { (0..=255).collect() };
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut below = |end: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % end
        };
        for i in (1..symbols.len()).rev() {
            symbols.swap(i, below(i + 1));
        }
        let short = below(3);
        let (mut counts, mut left, mut room) = ([0_u8; 16], symbols.len(), 1_usize);
        for (i, count) in counts.iter_mut().enumerate() {
            room *= 2;
            // The codes that are left have to fit below, and the one of ones alone is none.
            let fits = |here: usize| ((room - here) << (15 - i)) > left - here;
            let most = if short == 0 { 0 } else { below(short + 1) };
            *count = (0..=most.min(left)).rev().find(|&here| here < room && fits(here)).unwrap_or(0) as u8;
            // From here on, all that are left fit into this length or the next.
            if room > left {
                *count = left.min(255) as u8;
            }
            left -= usize::from(*count);
            room -= usize::from(*count);
        }
        assert_eq!(left, 0, "every symbol has a code");
        let (mut codes, mut code, mut from) = ([(0, 0); 256], 0, 0);
        for (length, &count) in (1..).zip(&counts) {
            for &symbol in &symbols[from..from + usize::from(count)] {
                codes[usize::from(symbol)] = (code, length);
                code += 1;
            }
            from += usize::from(count);
            code <<= 1;
        }
        Self { counts, symbols, codes }
    }

    /// A symbol's code and its length.
    pub(crate) fn code(&self, symbol: u8) -> (u32, u32) {
        let (code, length) = self.codes[usize::from(symbol)];
        assert!(length > 0, "{symbol:#04x} has a code");
        (code, length)
    }
}
