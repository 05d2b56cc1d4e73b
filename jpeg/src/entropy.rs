//! Blocks out of the bits of a scan (T.81, annex F.2.2). The inner loop of the crate: see `huffman.rs` for its tables.
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

#[cfg(test)]
mod tests;

use crate::huffman::{Code, Differences, END, Escape, Hops, Steps, Value};
use crate::window::{Bytes, WINDOW};

/// A block's coefficients, and behind them room for what damaged data puts past its end.
pub(crate) type PaddedBlock = [i16; 256];

/// Where a coefficient goes by its number in zigzag order; those past the end go behind the block. What is put there is the
/// place of the next block's DC value, which is written later. A place in a block and a byte's worth further is in here.
pub(crate) type Order = [u8; 64 + 256];

/// The next bits of a scan, the very next in the highest place.
///
/// A block begins with at least 43 of them. A look takes at most 21, so two looks are possible before more bits must be
/// read. They are read between a look and the drop of its bits, so that the next look does not wait for them.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Bits {
    next: u64,
    /// How many bits of `next` have been counted as read. Below them are bits of the data that follows, or zeros.
    count: u32,
    /// The byte of the window that the bits after the counted ones begin with.
    at: usize,
}

/// The tables for the blocks of a component.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    dc: DcTables,
    ac: Steps,
    hops: Hops,
    ac_escape: Escape,
    /// The code that the tables for AC were made of.
    made_of: Code,
    has_hops: bool,
}

/// The tables for the DC differences of a component.
#[derive(Debug, Default)]
pub(crate) struct DcTables {
    differences: Differences,
    escape: Escape,
    /// The code that the tables were made of.
    made_of: Code,
}

/// What a block held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    /// Its DC value less the one before.
    pub(crate) dc_difference: i16,
    /// No coefficient beyond this number, in zigzag order, is other than zero.
    pub(crate) last: u8,
}

impl Bits {
    /// The first bits of the window.
    pub(crate) fn first(window: &Bytes) -> Self {
        let mut bits = Self { next: 0, count: 0, at: 0 };
        bits.refill(window);
        bits
    }

    /// The bits of a window that begins with this byte, without the first `bits` of it.
    pub(crate) fn within_byte(window: &Bytes, bits: u32) -> Self {
        let mut first = Self::first(window);
        first.drop(bits & 7);
        first
    }

    /// The next bits, the very next in the highest place.
    #[inline(always)]
    pub(crate) fn next(self) -> u64 {
        self.next
    }

    /// Takes the next bits as a number, and drops them: at most 63, and at most as many as are valid.
    #[inline(always)]
    pub(crate) fn take(&mut self, bits: u32) -> u64 {
        let number = self.next >> 1 >> (63 - bits);
        self.drop(bits);
        number
    }

    /// How many bits of the window have been used.
    #[inline(always)]
    pub(crate) fn used_bits(&self) -> usize {
        self.at * 8 - self.count as usize
    }

    /// Bytes of the window that hold what has been used, the last perhaps in part.
    #[inline(always)]
    pub(crate) fn used(&self) -> usize {
        self.at - (self.count / 8) as usize
    }

    /// The window has dropped the first `bytes`.
    pub(crate) fn shift_back(&mut self, bytes: usize) {
        self.at -= bytes;
    }

    /// How many bytes can be dropped from the window, since neither their bits nor their number are needed again.
    pub(crate) fn droppable(&self) -> usize {
        self.at.saturating_sub(8)
    }

    /// Brings 64 bits into `next`; at least 56 of them are valid. Giesen's variant 4 (Reading bits in far too many ways,
    /// 2018): no branch.
    #[inline(always)]
    pub(crate) fn refill(&mut self, window: &Bytes) {
        let at = self.at & (WINDOW - 1);
        let bytes: [u8; 8] = window[at..at + 8].try_into().expect("8 bytes are 8 bytes");
        self.next |= u64::from_be_bytes(bytes) >> self.count;
        self.at += ((63 - self.count) >> 3) as usize;
        self.count |= 0x38;
    }

    /// Drops the next bits; at most as many as are valid.
    #[inline(always)]
    pub(crate) fn drop(&mut self, bits: u32) {
        self.next <<= bits;
        self.count = self.count.wrapping_sub(bits);
    }
}

impl Tables {
    /// Makes the tables for a pair of codes; those for skipping blocks only if they are wanted. Tables that are so already
    /// stay.
    pub(crate) fn make(&mut self, dc: &Code, ac: &Code, hops: bool) {
        self.dc.make(dc);
        if self.made_of != *ac {
            self.made_of = ac.clone();
            self.ac.make(ac);
            self.ac_escape = ac.escape();
            self.has_hops = false;
        }
        if hops && !self.has_hops {
            self.hops.make(ac);
            self.has_hops = true;
        }
    }

    /// Decodes a block's AC values into `block`, which holds zeros, and gives its DC difference. None for irregular data.
    ///
    /// The bits are taken by value and given back, here and below, so that they stay in registers.
    #[inline(always)]
    pub(crate) fn block(
        &self,
        bits: Bits,
        window: &Bytes,
        order: &Order,
        block: &mut PaddedBlock,
    ) -> Option<(Bits, Decoded)> {
        let (mut bits, dc_difference) = self.dc.difference(bits, window)?;
        let mut k = 1;
        loop {
            loop {
                let (taken, next) = self.look(bits, order, block, k);
                if next >= 64 {
                    break;
                }
                bits.refill(window);
                bits.drop(taken);
                k = next;
                let (taken, next) = self.look(bits, order, block, k);
                if next >= 64 {
                    break;
                }
                bits.drop(taken);
                k = next;
            }
            // Found again, so that the loop has nothing to keep for this.
            let (taken, step) = self.ac.look(bits.next);
            bits.refill(window);
            let next = k + usize::from(step.advance);
            let end = next.wrapping_sub(usize::from(END));
            #[expect(clippy::cast_possible_truncation, reason = "below 64")]
            if end < 64 {
                bits.drop(taken);
                return Some((bits, Decoded { dc_difference, last: end as u8 - 1 }));
            }
            if next == 64 {
                bits.drop(taken);
                return Some((bits, Decoded { dc_difference, last: 63 }));
            }
            // A code that is longer than a look; or the first of two symbols ended the block, and the second is of the next.
            let symbol = self.ac_escape.ac(bits.next)?;
            block[usize::from(order[k + usize::from(symbol.skip)])] = Value::of(symbol).from(bits.next);
            bits.drop(symbol.bits());
            bits.refill(window);
            k += usize::from(symbol.advance);
            #[expect(clippy::cast_possible_truncation, reason = "below 64")]
            match k {
                0..64 => {}
                64 => return Some((bits, Decoded { dc_difference, last: 63 })),
                next if symbol.advance == END => {
                    return Some((bits, Decoded { dc_difference, last: (next - usize::from(END)) as u8 - 1 }));
                }
                _ => return None,
            }
        }
    }

    /// Takes a look at `k` and stores its values. Returns the bits that it takes, and the place of the next look.
    #[inline(always)]
    fn look(&self, bits: Bits, order: &Order, block: &mut PaddedBlock, k: usize) -> (u32, usize) {
        let (taken, step) = self.ac.look(bits.next);
        // If there is only one symbol, the first value is a zero in the last one's place.
        block[usize::from(order[k + usize::from(step.first_place)])] = i16::from(step.first);
        block[usize::from(order[k + usize::from(step.last_place)])] = step.last.from(bits.next);
        (taken, k + usize::from(step.advance))
    }

    /// Skips a block's AC values and gives its DC difference. None for irregular data.
    #[inline(always)]
    pub(crate) fn skip_block(&self, bits: Bits, window: &Bytes) -> Option<(Bits, i16)> {
        let (mut bits, dc_difference) = self.dc.difference(bits, window)?;
        let mut k = 1;
        loop {
            // As in `block`.
            loop {
                let (taken, advance) = self.hops.look(bits.next);
                if k + advance >= 64 {
                    break;
                }
                bits.refill(window);
                bits.drop(taken);
                k += advance;
                let (taken, advance) = self.hops.look(bits.next);
                if k + advance >= 64 {
                    break;
                }
                bits.drop(taken);
                k += advance;
            }
            let (taken, advance) = self.hops.look(bits.next);
            bits.refill(window);
            let next = k + advance;
            if next == 64 || next.wrapping_sub(usize::from(END)) < 64 {
                bits.drop(taken);
                return Some((bits, dc_difference));
            }
            // One symbol only: more would go beyond the block's end, or its code is a long one.
            let symbol = self.ac_escape.ac(bits.next)?;
            bits.drop(symbol.bits());
            bits.refill(window);
            k += usize::from(symbol.advance);
            match k {
                0..64 => {}
                64 => return Some((bits, dc_difference)),
                _ => return (symbol.advance == END).then_some((bits, dc_difference)),
            }
        }
    }
}

impl DcTables {
    /// Makes the tables for a code. Tables that are so already stay.
    pub(crate) fn make(&mut self, code: &Code) {
        if self.made_of != *code {
            self.made_of = code.clone();
            self.differences.make(code);
            self.escape = code.escape();
        }
    }

    /// The DC difference that a block begins with. None if there is no such code.
    #[inline(always)]
    pub(crate) fn difference(&self, mut bits: Bits, window: &Bytes) -> Option<(Bits, i16)> {
        let (taken, value) = self.differences.look(bits.next);
        if taken > 0 {
            let difference = value.from(bits.next);
            bits.drop(taken);
            return Some((bits, difference));
        }
        bits.refill(window);
        let symbol = self.escape.dc(bits.next)?;
        let difference = Value::of(symbol).from(bits.next);
        bits.drop(symbol.bits());
        bits.refill(window);
        Some((bits, difference))
    }
}
