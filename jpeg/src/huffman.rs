//! A Huffman code as a DHT segment defines it, and the tables that decode up to two symbols at a look.
//!
//! A look takes the next [`LOOK_BITS`] bits and finds a [`Step`]:
//!
//! ```text
//!  |<---------------- 10 bits ---------------->|
//!  +--------------+------------+---------------+---------------
//!  | code, 1st    | value, 1st | code, 2nd | value, 2nd ...
//!  +--------------+------------+---------------+---------------
//!    symbol = run of zeros, size of the value in bits
//! ```
//!
//! The last symbol's code is in the look, but its value may extend beyond it. Arithmetic takes the value from the bits,
//! without a branch. A symbol before the last one is whole in the look, and its value is in the table. An end of block is a
//! symbol that advances by [`END`], so that one comparison after the look sees it. A code that is longer than a look is
//! found by its length ([`Escape`]).
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

mod hops;
#[cfg(test)]
pub(crate) mod model;
mod steps;
#[cfg(test)]
mod tests;

use crate::fault::Fault;
pub(crate) use hops::Hops;
pub(crate) use steps::{Differences, Steps, Value};

/// Bits of a look. More bits find more pairs, and take more cache.
pub(crate) const LOOK_BITS: u32 = 10;

/// Most bits that a look takes. A symbol that takes more is treated as a code longer than the look. Three looks take less
/// than the 64 bits that are available after a refill.
pub(crate) const MOST_BITS: u32 = 21;

/// How far an end of block advances: past anything that runs of zeros reach.
pub(crate) const END: u8 = 128;

/// A Huffman code, with the lengths of its codes checked (T.81, annex C).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Code {
    counts: [u8; 16],
    symbols: [u8; 256],
}

/// What a code is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Dc,
    Ac,
}

/// A symbol with its code and its meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    /// Bits of its code.
    pub(crate) code: u8,
    /// Bits of its value.
    pub(crate) size: u8,
    /// Zeros before its value.
    pub(crate) skip: u8,
    /// How many coefficients it is, or [`END`].
    pub(crate) advance: u8,
}

/// A table with an entry for every look.
type Looks<T> = [T; 1 << LOOK_BITS];

/// Finds codes of any length.
#[derive(Clone, Debug)]
pub(crate) struct Escape {
    /// By length less one: the first 16 bits that are beyond the codes of this length.
    limits: [u16; 16],
    /// By length less one: what to add to a code of this length for its place in `symbols`.
    offsets: [i32; 16],
    symbols: [u8; 256],
}

impl Symbol {
    /// Of AC. Runs without a value other than 15 end the block, as libjpeg has it.
    fn of_ac(code: u8, symbol: u8) -> Self {
        let (run, size) = (symbol >> 4, symbol & 15);
        let (skip, advance) = match (run, size) {
            (15, 0) => (15, 16),
            (_, 0) => (0, END),
            _ => (run, run + 1),
        };
        Self { code, size, skip, advance }
    }

    /// Of a DC difference.
    fn of_dc(code: u8, size: u8) -> Self {
        Self { code, size, skip: 0, advance: 1 }
    }

    /// Bits of code and value.
    pub(crate) fn bits(self) -> u32 {
        u32::from(self.code) + u32::from(self.size)
    }
}

impl Default for Escape {
    fn default() -> Self {
        Code::default().escape()
    }
}

impl Default for Code {
    fn default() -> Self {
        Self { counts: [0; 16], symbols: [0; 256] }
    }
}

impl Code {
    /// # Errors
    /// The counts ask for more codes than there are, or for one of ones alone (T.81, C.2).
    pub(crate) fn new(counts: &[u8; 16], symbols: &[u8]) -> Result<Self, Fault> {
        let mut room = 1_u32;
        for &count in counts {
            room = (room << 1)
                .checked_sub(u32::from(count))
                .ok_or(Fault::Irregular("a Huffman code with too many codes"))?;
            if room == 0 {
                return Err(Fault::Irregular("a Huffman code with a code of ones alone"));
            }
        }
        let mut code = Self { counts: *counts, symbols: [0; 256] };
        let stored =
            code.symbols.get_mut(..symbols.len()).ok_or(Fault::Irregular("a Huffman code with over 256 symbols"))?;
        stored.copy_from_slice(symbols);
        Ok(code)
    }

    /// Whether its symbols can be sizes of DC differences.
    pub(crate) fn is_for_dc(&self) -> bool {
        self.symbols().all(|(_, symbol)| symbol <= 15)
    }

    /// Length in bits and symbol, in the order of the codes.
    fn symbols(&self) -> impl Iterator<Item = (u8, u8)> {
        let lengths =
            (1..=16).zip(&self.counts).flat_map(|(bits, &count)| std::iter::repeat_n(bits, usize::from(count)));
        lengths.zip(self.symbols)
    }

    /// The codes that fit into a look of `look_bits` bits, the shortest first, each with the first look that begins with it.
    pub(crate) fn short_codes(&self, look_bits: u32) -> impl Iterator<Item = (usize, u8, u8)> {
        let mut next = 0;
        self.symbols().take_while(move |&(code, _)| u32::from(code) <= look_bits).map(move |(code, symbol)| {
            let first = next;
            next += 1 << (look_bits - u32::from(code));
            (first, code, symbol)
        })
    }

    /// Writes what finds codes that are longer than a look, as `segments.rs` has it: for each length the first 16 bits that are
    /// beyond its codes, then what to add to a code, and the symbols.
    pub(crate) fn long_codes(&self, look_bits: u32, out: &mut [u8]) {
        let Escape { limits, offsets, symbols } = self.escape();
        let (numbers, rest) = out.split_at_mut(64);
        let (beyond, added) = numbers.split_at_mut(32);
        let lengths = limits.iter().zip(&offsets).skip(look_bits as usize);
        for ((beyond, added), (limit, offset)) in
            beyond.as_chunks_mut().0.iter_mut().zip(added.as_chunks_mut().0).zip(lengths)
        {
            (*beyond, *added) = (u32::from(*limit).to_le_bytes(), offset.to_le_bytes());
        }
        rest.copy_from_slice(&symbols);
    }

    /// What finds codes of any length.
    pub(crate) fn escape(&self) -> Escape {
        let mut escape = Escape { limits: [0; 16], offsets: [0; 16], symbols: self.symbols };
        let (mut code, mut index) = (0_i32, 0_i32);
        for (i, &count) in self.counts.iter().enumerate() {
            escape.offsets[i] = index - code;
            code += i32::from(count);
            index += i32::from(count);
            escape.limits[i] = u16::try_from(code << (15 - i)).unwrap_or(u16::MAX);
            code <<= 1;
        }
        escape
    }
}

/// Reads the codes of a DHT segment, and hands each out with its class and its number, which is below 4.
pub(crate) fn read_codes(mut segment: &[u8], mut put: impl FnMut(Class, usize, Code)) -> Result<(), Fault> {
    while let [kind, rest @ ..] = segment {
        let (counts, rest) = rest.split_first_chunk::<16>().ok_or(Fault::Irregular("a DHT that is too short"))?;
        let total = counts.iter().map(|&count| usize::from(count)).sum();
        let (symbols, rest) = rest.split_at_checked(total).ok_or(Fault::Irregular("a DHT that is too short"))?;
        let class = match kind >> 4 {
            0 => Class::Dc,
            1 => Class::Ac,
            _ => return Err(Fault::Irregular("a DHT of an unknown class")),
        };
        let index = usize::from(kind & 15);
        if index > 3 {
            return Err(Fault::Irregular("a fifth DHT table"));
        }
        put(class, index, Code::new(counts, symbols)?);
        segment = rest;
    }
    Ok(())
}

impl Escape {
    /// The AC symbol that `bits` begin with.
    #[cold]
    #[inline(never)]
    pub(crate) fn ac(&self, bits: u64) -> Option<Symbol> {
        self.find(bits).map(|(code, symbol)| Symbol::of_ac(code, symbol))
    }

    /// The DC difference that `bits` begin with.
    #[cold]
    #[inline(never)]
    pub(crate) fn dc(&self, bits: u64) -> Option<Symbol> {
        self.find(bits).map(|(code, size)| Symbol::of_dc(code, size))
    }

    /// The length and symbol of a code.
    pub(crate) fn find(&self, bits: u64) -> Option<(u8, u8)> {
        let next = u16::try_from(bits >> 48).ok()?;
        // Limits grow with the length. All are compared at once: a search has branches that cannot be foreseen.
        let shorter: u16 = self.limits.iter().map(|&limit| u16::from(limit <= next)).sum();
        let code = i32::from(next.checked_shr(15_u32.checked_sub(u32::from(shorter))?)?);
        let offset = self.offsets.get(usize::from(shorter))?;
        let symbol = *self.symbols.get(usize::try_from(code + offset).ok()?)?;
        Some((u8::try_from(shorter).ok()? + 1, symbol))
    }
}
