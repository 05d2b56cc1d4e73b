//! A Huffman code as a DHT segment defines it, and the tables that decode up to two symbols with their values at a look.
//!
//! A look takes the next [`LOOK_BITS`] bits and finds a [`Step`]:
//!
//! ```text
//!  |<---------------- 10 bits ---------------->|
//!  +--------------+------------+---------------+---------------
//!  | code, 1st    | value, 1st | code, 2nd | value, 2nd |  ...
//!  +--------------+------------+---------------+---------------
//!    symbol = run of zeros, size of the value in bits
//! ```
//!
//! The first symbol's code is in the look, its value may reach beyond it: it is taken from the bits by arithmetic, without a
//! branch. The second symbol is there if its code and its value both are within the look; its value is in the table. An end
//! of block is a symbol that advances by [`END`], so that one comparison after the look sees it. A code that is longer than a
//! look is found length by length ([`Escape`]).
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

#[cfg(test)]
pub(crate) mod model;
#[cfg(test)]
mod tests;

use crate::fault::Fault;

/// Bits of a look. More bits find more pairs, and take more cache.
pub(crate) const LOOK_BITS: u32 = 10;

/// How far an end of block advances: past anything that runs of zeros reach.
pub(crate) const END: u8 = 128;

/// A Huffman code, with the lengths of its codes checked (T.81, annex C).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Code {
    counts: [u8; 16],
    symbols: [u8; 256],
}

/// What one look finds.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Step {
    /// Bits of all that was found.
    pub(crate) bits: u8,
    /// How many of the next 64 bits lie behind the first symbol's value.
    pub(crate) behind: u8,
    /// Bits of the first symbol's value.
    pub(crate) size: u8,
    /// Zeros before the first value.
    pub(crate) skip: u8,
    /// Where the second value goes, counted from where the look began; without one, where the first goes.
    pub(crate) second: u8,
    /// The second value; 0 without one.
    pub(crate) value: i8,
    /// How far the first symbol alone advances.
    pub(crate) first_advance: u8,
    /// How far all that was found advances.
    pub(crate) advance: u8,
}

impl Step {
    /// The code is longer than the look, or there is none: takes no bits, stores nothing but zeros, and advances past the end
    /// of every block, so that it needs no comparison of its own.
    const LONG: Self =
        Self { bits: 0, behind: 63, size: 0, skip: 0, second: 0, value: 0, first_advance: u8::MAX, advance: u8::MAX };

    /// Whether the code is longer than the look.
    #[inline(always)]
    pub(crate) fn is_long(self) -> bool {
        self.bits == 0
    }

    /// Bits of the first symbol with its value.
    #[inline(always)]
    pub(crate) fn first_bits(self) -> u32 {
        64 - u32::from(self.behind)
    }
}

impl Default for Step {
    fn default() -> Self {
        Self::LONG
    }
}

/// What one look finds where values are not wanted: as many whole symbols as are in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// Bits of all that was found.
    pub(crate) bits: u8,
    /// How far it advances.
    pub(crate) advance: u8,
}

impl Hop {
    /// As [`Step::LONG`].
    const LONG: Self = Self { bits: 0, advance: u8::MAX };
}

impl Default for Hop {
    fn default() -> Self {
        Self::LONG
    }
}

/// A table with an entry for every look.
pub(crate) type Looks<T> = [T; 1 << LOOK_BITS];

/// Finds codes of any length, a length at a time.
#[derive(Clone, Debug)]
pub(crate) struct Escape {
    /// By length less one: the first 16 bits that are beyond the codes of this length.
    limits: [u32; 16],
    /// By length less one: what to add to a code of this length for its place in `symbols`.
    offsets: [i32; 16],
    symbols: [u8; 256],
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
    fn symbols(&self) -> impl Iterator<Item = (u32, u8)> {
        let lengths =
            (1..=16).zip(&self.counts).flat_map(|(bits, &count)| std::iter::repeat_n(bits, usize::from(count)));
        lengths.zip(self.symbols)
    }

    /// Calls `found` with each code that fits into a look: the looks that begin with it, its length and its symbol.
    fn short_codes(&self, mut found: impl FnMut(std::ops::Range<usize>, u32, u8)) {
        let mut look = 0;
        for (bits, symbol) in self.symbols().take_while(|&(bits, _)| bits <= LOOK_BITS) {
            let next = look + (1 << (LOOK_BITS - bits));
            found(look..next, bits, symbol);
            look = next;
        }
    }

    /// Fills a table of AC steps.
    pub(crate) fn ac_steps(&self, steps: &mut Looks<Step>) {
        steps.fill(Step::LONG);
        self.short_codes(|looks, code_bits, symbol| steps[looks].fill(Step::of_ac(code_bits, symbol)));
        // A second symbol changes nothing of a step that is the second symbol of another, so that the order does not matter.
        for look in 0..steps.len() {
            steps[look] = steps[look].with_second(steps, look);
        }
    }

    /// Fills a table of DC steps, each with an AC step of `ac_steps` behind it where there is room.
    pub(crate) fn dc_steps(&self, ac_steps: &Looks<Step>, steps: &mut Looks<Step>) {
        steps.fill(Step::LONG);
        self.short_codes(|looks, code_bits, symbol| steps[looks].fill(Step::of_dc(code_bits, symbol)));
        for (look, step) in steps.iter_mut().enumerate() {
            *step = step.with_second(ac_steps, look);
        }
    }

    /// Fills a table of hops.
    pub(crate) fn hops(&self, hops: &mut Looks<Hop>) {
        hops.fill(Hop::LONG);
        self.short_codes(|looks, code_bits, symbol| {
            let step = Step::of_ac(code_bits, symbol);
            hops[looks].fill(Hop { bits: step.bits, advance: step.advance });
        });
        let singles = *hops;
        for (look, hop) in hops.iter_mut().enumerate() {
            while hop.bits != 0 && hop.advance < 64 && u32::from(hop.bits) < LOOK_BITS {
                let next = singles[(look << hop.bits) & (singles.len() - 1)];
                if next.bits == 0 || u32::from(hop.bits + next.bits) > LOOK_BITS {
                    break;
                }
                // No block has room for more than 64, and a longer hop at its end would look like an end of block.
                if next.advance != END && hop.advance + next.advance > 64 {
                    break;
                }
                *hop = Hop { bits: hop.bits + next.bits, advance: hop.advance + next.advance };
            }
        }
    }

    /// What finds codes of any length.
    pub(crate) fn escape(&self) -> Escape {
        let mut escape = Escape { limits: [0; 16], offsets: [0; 16], symbols: self.symbols };
        let (mut code, mut index) = (0_i32, 0_i32);
        for (i, &count) in self.counts.iter().enumerate() {
            escape.offsets[i] = index - code;
            code += i32::from(count);
            index += i32::from(count);
            escape.limits[i] = u32::try_from(code).unwrap_or(0) << (15 - i);
            code <<= 1;
        }
        escape
    }
}

impl Step {
    /// A step of one AC symbol. Runs without a value other than 15 end the block, as libjpeg has it.
    pub(crate) fn of_ac(code_bits: u32, symbol: u8) -> Self {
        let (run, size) = (symbol >> 4, symbol & 15);
        let (skip, advance) = match (run, size) {
            (15, 0) => (15, 16),
            (_, 0) => (0, END),
            _ => (run, run + 1),
        };
        Self::single(code_bits, size, skip, advance)
    }

    /// A step of a DC difference.
    pub(crate) fn of_dc(code_bits: u32, size: u8) -> Self {
        Self::single(code_bits, size, 0, 1)
    }

    fn single(code_bits: u32, size: u8, skip: u8, advance: u8) -> Self {
        let code_bits = u8::try_from(code_bits).unwrap_or(u8::MAX);
        Self {
            bits: code_bits + size,
            behind: 64 - code_bits - size,
            size,
            skip,
            second: skip,
            value: 0,
            first_advance: advance,
            advance,
        }
    }

    /// This single step with the first symbol of the step in `nexts` behind it, where that is whole in the rest of the look.
    fn with_second(self, nexts: &Looks<Self>, look: usize) -> Self {
        if self.is_long() || self.advance == END || u32::from(self.bits) >= LOOK_BITS {
            return self;
        }
        let rest = (look << self.bits) & (nexts.len() - 1);
        let next = nexts[rest];
        let bits = u32::from(self.bits) + next.first_bits();
        if next.is_long() || bits > LOOK_BITS {
            return self;
        }
        let low = i32::try_from(look >> (LOOK_BITS - bits)).unwrap_or(0);
        let Ok(value) = i8::try_from(signed(low, next.size)) else { return self };
        Self {
            bits: u8::try_from(bits).unwrap_or(0),
            advance: self.advance + next.first_advance,
            second: if next.size == 0 { self.second } else { self.advance + next.skip },
            value,
            ..self
        }
    }
}

/// A value from its bits, which are the lowest `size` of `bits` (T.81, F.2.2.1: EXTEND).
fn signed(bits: i32, size: u8) -> i32 {
    let value = bits & ((1 << size) - 1);
    if size == 0 || value >> (size - 1) != 0 { value } else { value - (1 << size) + 1 }
}

impl Escape {
    /// The step of the AC symbol whose code `bits` begin with.
    #[cold]
    #[inline(never)]
    pub(crate) fn ac_step(&self, bits: u64) -> Option<Step> {
        self.find(bits).map(|(code_bits, symbol)| Step::of_ac(code_bits, symbol))
    }

    /// The step of the DC difference whose code `bits` begin with.
    #[cold]
    #[inline(never)]
    pub(crate) fn dc_step(&self, bits: u64) -> Option<Step> {
        self.find(bits).map(|(code_bits, size)| Step::of_dc(code_bits, size))
    }

    /// The length and symbol of a code.
    fn find(&self, bits: u64) -> Option<(u32, u8)> {
        let next = u32::try_from(bits >> 48).ok()?;
        let i = self.limits.iter().position(|&limit| next < limit)?;
        let code = i32::try_from(next >> (15 - i)).ok()?;
        let symbol = *self.symbols.get(usize::try_from(code + self.offsets[i]).ok()?)?;
        Some((u32::try_from(i).ok()? + 1, symbol))
    }
}
