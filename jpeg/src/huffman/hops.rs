//! What a look finds where values are not wanted: as many symbols as have their codes in it.

use super::{Code, END, MOST_BITS, Symbol};

/// Bits of a look for a hop. Its entries are small, and more symbols are worth having in one.
pub(super) const HOP_BITS: u32 = 11;

/// The hops of all looks.
#[derive(Debug)]
pub(crate) struct Hops {
    /// Bits of all symbols; 0 if the code is longer than the look.
    bits: [u8; 1 << HOP_BITS],
    /// How far it advances.
    advance: [u8; 1 << HOP_BITS],
}

impl Default for Hops {
    fn default() -> Self {
        Self { bits: [0; 1 << HOP_BITS], advance: [u8::MAX; 1 << HOP_BITS] }
    }
}

impl Hops {
    /// The bits that a look at the next bits takes, and how far it advances: past the end of every block where it takes none.
    #[inline(always)]
    pub(crate) fn look(&self, bits: u64) -> (u32, usize) {
        let look = (bits >> (64 - HOP_BITS)) as usize;
        (u32::from(self.bits[look]), usize::from(self.advance[look]))
    }

    /// Makes the hops for a code.
    pub(crate) fn make(&mut self, code: &Code) {
        *self = Self::default();
        let mut singles = [None; 1 << HOP_BITS];
        let short = || {
            code.short_codes(HOP_BITS).filter_map(|(look, bits, symbol)| {
                let symbol = Symbol::of_ac(bits, symbol);
                let looks = look..look + (1 << (HOP_BITS - u32::from(bits)));
                (symbol.bits() <= MOST_BITS).then_some((looks, symbol))
            })
        };
        short().for_each(|(looks, symbol)| singles[looks].fill(Some(symbol)));
        for (looks, symbol) in short() {
            // What follows the first symbol is the same for each of its values.
            let run = looks.len() >> symbol.size;
            if run <= 1 || symbol.advance == END {
                self.bits[looks.clone()].fill(symbol.code + symbol.size);
                self.advance[looks].fill(symbol.advance);
                continue;
            }
            for (look, rest) in looks.clone().zip((0..singles.len()).step_by(singles.len() / run)) {
                (self.bits[look], self.advance[look]) = with_all_behind(symbol, &singles, rest);
            }
            for copy in looks.clone().step_by(run).skip(1) {
                self.bits.copy_within(looks.start..looks.start + run, copy);
                self.advance.copy_within(looks.start..looks.start + run, copy);
            }
        }
    }
}

/// The bits of a symbol and of all that follow it in a look, and how far they advance. `look` has the bits after the symbol.
fn with_all_behind(symbol: Symbol, singles: &[Option<Symbol>; 1 << HOP_BITS], mut look: usize) -> (u8, u8) {
    let (mut bits, mut advance) = (symbol.code + symbol.size, symbol.advance);
    while let Some(next) = singles[look & (singles.len() - 1)] {
        // No block has room for more than 64, and a longer hop at its end would look like an end of block.
        let is_too_far = next.advance != END && advance + next.advance > 64;
        let has_room = u32::from(bits + next.code) <= HOP_BITS && u32::from(bits) + next.bits() <= MOST_BITS;
        if is_too_far || !has_room {
            break;
        }
        bits += next.code + next.size;
        advance += next.advance;
        if advance >= 64 {
            break;
        }
        look <<= next.bits();
    }
    (bits, advance)
}
