//! What a look finds where values are not wanted: as many symbols as have their codes in it.

use super::{Code, END, LOOK_BITS, Looks, MOST_BITS, Symbol};

/// The hops of all looks.
#[derive(Debug)]
pub(crate) struct Hops {
    /// Bits of all that was found; 0 where the code is longer than the look.
    bits: Looks<u8>,
    /// How far it advances.
    advance: Looks<u8>,
}

impl Default for Hops {
    fn default() -> Self {
        Self { bits: [0; 1 << LOOK_BITS], advance: [u8::MAX; 1 << LOOK_BITS] }
    }
}

impl Hops {
    /// The bits that a look at the next bits takes, and how far it advances: past the end of every block where it takes none.
    #[inline(always)]
    pub(crate) fn look(&self, bits: u64) -> (u32, usize) {
        let look = (bits >> (64 - LOOK_BITS)) as usize;
        (u32::from(self.bits[look]), usize::from(self.advance[look]))
    }

    /// Makes the hops for a code.
    pub(crate) fn make(&mut self, code: &Code) {
        *self = Self::default();
        let mut singles = [None; 1 << LOOK_BITS];
        for (look, bits, symbol) in code.short_codes(LOOK_BITS) {
            let symbol = Symbol::of_ac(bits, symbol);
            let looks = look..look + (1 << (LOOK_BITS - u32::from(bits)));
            singles[looks].fill(Some(symbol).filter(|symbol| symbol.bits() <= MOST_BITS));
        }
        for (look, (bits, advance)) in self.bits.iter_mut().zip(&mut self.advance).enumerate() {
            let Some(first) = singles[look] else { continue };
            (*bits, *advance) = (first.code + first.size, first.advance);
            while *advance < 64 && u32::from(*bits) < LOOK_BITS {
                let Some(next) = singles[(look << *bits) & (singles.len() - 1)] else { break };
                // No block has room for more than 64, and a longer hop at its end would look like an end of block.
                let is_too_far = next.advance != END && *advance + next.advance > 64;
                if u32::from(*bits + next.code) > LOOK_BITS || u32::from(*bits) + next.bits() > MOST_BITS || is_too_far
                {
                    break;
                }
                *bits += next.code + next.size;
                *advance += next.advance;
            }
        }
    }
}
