//! The AC coefficients of a block out of the bits of a scan: those that are new, and one more bit of those that are known
//! (T.81, G.1.2.2 and G.1.2.3). The inner loops of progressive decoding.
//!
//! A scan of new coefficients is like a sequential one, but one symbol can end many blocks, which have nothing in this scan.
//!
//! A scan that refines has a bit for each coefficient that is known to be other than zero, in between symbols for those that
//! become so. A symbol's run counts zeros only:
//!
//! ```text
//!   known before      0   5   0   0  -3   0   0   9   0          a run of 2, and +1
//!   the scan has          b           b   +1      b
//!                                         the third zero behind where the symbol began
//! ```
//!
//! Coefficient by coefficient this takes a branch for each. But with a mask of what is known, the third zero is found by one
//! instruction, the number of bits before it is a count of ones, and one more instruction moves these bits to their places
//! ([`Deposit`]). What they change is added once for each block.
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

use super::coefficients::Mask;
use super::deposit::Deposit;
use super::symbols::{END, Symbols};
use crate::entropy::Bits;
use crate::idct::{Block, ORDER};
use crate::window::Bytes;

/// A scan's part of every block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    /// Zigzag index of the first coefficient, and of the last.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The lowest bit that the scan has.
    pub(crate) low: u8,
}

impl Band {
    /// The coefficients as a mask.
    fn mask(self) -> Mask {
        (u64::MAX >> self.first) & (u64::MAX << (63 - self.last))
    }

    /// Decodes the new coefficients of a block. Gives the number of blocks that end with this one. None for irregular data.
    ///
    /// At least 25 bits are valid before, and behind.
    #[inline(always)]
    pub(crate) fn begin(
        self,
        symbols: &Symbols,
        (mut bits, window): (Bits, &Bytes),
        block: &mut Block,
        mask: &mut Mask,
    ) -> Option<(Bits, u32)> {
        let (mut k, mut new) = (self.first, 0);
        while k <= self.last {
            let mut symbol = *symbols.look(bits.next());
            // The look does not wait for this.
            bits.refill(window);
            if symbol.bits == 0 {
                symbol = symbols.find(bits.next())?;
            }
            let value = symbol.value.from(bits.next());
            bits.drop(u32::from(symbol.bits));
            if symbol.advance >= END {
                *mask |= new;
                return Some((bits, ends(symbol.advance, value)));
            }
            k += usize::from(symbol.advance);
            if k > self.last + 1 {
                return None;
            }
            block[usize::from(ORDER[(k - 1) & 63])] = value << self.low;
            new |= u64::from(value != 0) << ((64 - k) & 63);
        }
        *mask |= new;
        Some((bits, 0))
    }

    /// Decodes one more bit of a block's coefficients, and those that get their first. Gives the number of blocks that end with
    /// this one. None for irregular data.
    ///
    /// At least 56 bits are valid before, and behind.
    #[inline(always)]
    pub(crate) fn refine(
        self,
        symbols: &Symbols,
        deposit: impl Deposit,
        (mut bits, window): (Bits, &Bytes),
        block: Option<&mut Block>,
        mask: &mut Mask,
    ) -> Option<(Bits, u32)> {
        let known = *mask;
        let (mut rest, mut ended) = (self.mask(), 0);
        // One more bit of what is known, where it is 1; and the places of what is new, by its sign.
        let (mut ones, mut plus, mut minus) = (0, 0, 0);
        while rest != 0 {
            // A symbol takes at most 17 bits here, or 30 if it ends blocks.
            let mut symbol = *symbols.look(bits.next());
            if symbol.bits == 0 {
                symbol = symbols.find(bits.next())?;
            }
            let value = symbol.value.from(bits.next());
            bits.drop(u32::from(symbol.bits));
            if symbol.advance >= END {
                ended = ends(symbol.advance, value);
                bits.refill(window);
                let passed = rest & known;
                let number;
                (bits, number) = take(bits, window, passed.count_ones());
                ones |= deposit.deposit(number, passed);
                break;
            }
            let zeros = rest & !known;
            let count = zeros.count_ones();
            let above = u32::from(symbol.advance) - 1;
            if above >= count {
                return None;
            }
            let place = deposit.pick(above, zeros, count);
            let passed = rest & known & !(place | (place - 1));
            rest &= place - 1;
            let number;
            (bits, number) = take(bits, window, passed.count_ones());
            ones |= deposit.deposit(number, passed);
            plus |= place & u64::from(value > 0).wrapping_neg();
            minus |= place & u64::from(value < 0).wrapping_neg();
        }
        *mask = known | plus | minus;
        if let Some(block) = block {
            self.add(block, ones, plus, minus);
        }
        Some((bits, ended))
    }

    /// Decodes one more bit of the coefficients of a block that an earlier one ended.
    ///
    /// At least 56 bits are valid before, and behind.
    #[inline(always)]
    pub(crate) fn refine_ended(
        self,
        deposit: impl Deposit,
        (bits, window): (Bits, &Bytes),
        block: Option<&mut Block>,
        known: Mask,
    ) -> Bits {
        let passed = self.mask() & known;
        let (bits, number) = take(bits, window, passed.count_ones());
        let ones = deposit.deposit(number, passed);
        if let Some(block) = block {
            self.add(block, ones, 0, 0);
        }
        bits
    }

    /// Adds the bit of this scan.
    #[inline(always)]
    fn add(self, block: &mut Block, mut ones: Mask, plus: Mask, minus: Mask) {
        let mut new = plus | minus;
        while new != 0 {
            let k = new.leading_zeros();
            let bit = (1 << 63) >> k;
            let sign = i16::from(plus & bit != 0) * 2 - 1;
            block[usize::from(ORDER[k as usize & 63])] = sign << self.low;
            new ^= bit;
        }
        while ones != 0 {
            let k = ones.leading_zeros();
            let value = &mut block[usize::from(ORDER[k as usize & 63])];
            *value = value.wrapping_add((*value >> 15 | 1) << self.low);
            ones ^= (1 << 63) >> k;
        }
    }
}

/// How many blocks end, by the symbol that ends them.
#[inline(always)]
fn ends(advance: u8, value: i16) -> u32 {
    (1 << (advance - END)) + u32::from(value.cast_unsigned())
}

/// Takes up to 63 bits. At least 32 bits are valid before, and 56 behind.
#[inline(always)]
fn take(mut bits: Bits, window: &Bytes, count: u32) -> (Bits, u64) {
    if count <= 32 {
        let number = bits.take(count);
        bits.refill(window);
        return (bits, number);
    }
    let upper = bits.take(32);
    bits.refill(window);
    let lower = bits.take(count - 32);
    bits.refill(window);
    (bits, upper << (count - 32) | lower)
}
