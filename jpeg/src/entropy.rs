//! Blocks out of the bits of a scan (T.81, annex F.2.2). The inner loop of the crate: see `huffman.rs` for its tables.
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]
#![expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "fields are loaded from the table one by one, where they are used"
)]

#[cfg(test)]
mod tests;

use crate::huffman::{Code, END, Escape, Hop, LOOK_BITS, Looks, Step};
use crate::window::{Bytes, WINDOW};

/// A block's coefficients, and behind them room for what damaged data puts past its end.
pub(crate) type Block = [i16; 256];

/// Where a coefficient goes by its number in zigzag order; those past the end go behind the block. What is put there is the
/// place of the next block's DC value, which is written later. A place in a block and a byte's worth further is in here.
pub(crate) type Order = [u8; 64 + 256];

/// The next bits of a scan, the very next in the highest place.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Bits {
    next: u64,
    /// How many bits of `next` have been counted as read. Below them are bits of the data that follows, or zeros.
    count: u32,
    /// The byte of the window that the bits after the counted ones begin with.
    at: usize,
}

/// The tables for the blocks of a component.
#[derive(Debug)]
pub(crate) struct Tables {
    dc: Looks<Step>,
    ac: Looks<Step>,
    hops: Looks<Hop>,
    dc_escape: Escape,
    ac_escape: Escape,
    /// The codes that the tables were made of.
    made_of: (Code, Code),
    has_hops: bool,
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
    /// Bytes of the window that hold what has been used, the last perhaps in part.
    #[inline(always)]
    pub(crate) fn used(&self) -> usize {
        self.at - (self.count / 8) as usize
    }

    /// The window has dropped the first `bytes`.
    pub(crate) fn shift_back(&mut self, bytes: usize) {
        self.at -= bytes;
    }

    /// How many bytes can be dropped from the window: neither a bit of them nor their number will be asked for again.
    pub(crate) fn droppable(&self) -> usize {
        self.at.saturating_sub(8)
    }

    /// Brings at least 56 bits into `next`. Giesen's variant 4 (Reading bits in far too many ways, 2018): no branch.
    #[inline(always)]
    fn refill(&mut self, window: &Bytes) {
        let at = self.at & (WINDOW - 1);
        let bytes: [u8; 8] = window[at..at + 8].try_into().expect("8 bytes are 8 bytes");
        self.next |= u64::from_be_bytes(bytes) >> self.count;
        self.at += ((63 - self.count) >> 3) as usize;
        self.count |= 0x38;
    }

    #[inline(always)]
    fn look(&self) -> usize {
        (self.next >> (64 - LOOK_BITS)) as usize
    }

    #[inline(always)]
    fn drop(&mut self, bits: u32) {
        self.next <<= bits;
        self.count = self.count.wrapping_sub(bits);
    }

    /// The value of a step's first symbol: EXTEND of T.81, F.2.2.1, without a branch.
    #[inline(always)]
    fn value(&self, step: &Step) -> i16 {
        let above = u64::MAX.wrapping_shl(u32::from(step.size));
        let value = self.next.wrapping_shr(u32::from(step.behind)) & !above;
        let negative = value.wrapping_add(above).wrapping_add(1);
        // The sum is below zero where the highest of the bits is not set.
        let is_negative = value.wrapping_add(negative).cast_signed() < 0;
        #[expect(clippy::cast_possible_truncation, reason = "at most 15 bits and a sign")]
        let value = if is_negative { negative } else { value } as u16;
        value.cast_signed()
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            dc: [Step::default(); 1 << LOOK_BITS],
            ac: [Step::default(); 1 << LOOK_BITS],
            hops: [Hop::default(); 1 << LOOK_BITS],
            dc_escape: Code::default().escape(),
            ac_escape: Code::default().escape(),
            made_of: Default::default(),
            has_hops: false,
        }
    }
}

impl Tables {
    /// Makes the tables for a pair of codes; those for skipping blocks only if they are wanted. Tables that are so already
    /// stay.
    pub(crate) fn make(&mut self, dc: &Code, ac: &Code, hops: bool) {
        if self.made_of.0 != *dc || self.made_of.1 != *ac {
            self.made_of = (dc.clone(), ac.clone());
            ac.ac_steps(&mut self.ac);
            dc.dc_steps(&self.ac, &mut self.dc);
            self.dc_escape = dc.escape();
            self.ac_escape = ac.escape();
            self.has_hops = false;
        }
        if hops && !self.has_hops {
            ac.hops(&mut self.hops);
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
        block: &mut Block,
    ) -> Option<(Bits, Decoded)> {
        let (mut bits, dc_difference, step) = self.dc_step(bits, window)?;
        block[usize::from(order[usize::from(step.second)])] = i16::from(step.value);
        let mut k = usize::from(step.advance);
        if k >= 64 {
            return Some((bits, Decoded { dc_difference, last: 0 }));
        }
        loop {
            // A look takes at most 25 bits, a DC's at most 31, and a refill leaves 56: there are two looks for each, the first
            // of them before it.
            loop {
                let (taken, next) = self.look(bits, order, block, k);
                if next >= 64 {
                    break;
                }
                bits.drop(taken);
                k = next;
                bits.refill(window);
                let (taken, next) = self.look(bits, order, block, k);
                if next >= 64 {
                    break;
                }
                bits.drop(taken);
                k = next;
            }
            let ended;
            (bits, ended) = self.end(bits, window, order, block, &mut k)?;
            if let Some(last) = ended {
                return Some((bits, Decoded { dc_difference, last }));
            }
        }
    }

    /// Takes a look at `k` and stores what it finds. Gives the bits that it takes, and where the next look is.
    #[inline(always)]
    fn look(&self, bits: Bits, order: &Order, block: &mut Block, k: usize) -> (u32, usize) {
        let step = &self.ac[bits.look()];
        // The second first: where there is none, it is a zero in the first one's place.
        block[usize::from(order[k + usize::from(step.second)])] = i16::from(step.value);
        block[usize::from(order[k + usize::from(step.skip)])] = bits.value(step);
        (u32::from(step.bits), k + usize::from(step.advance))
    }

    /// What to make of a look at `k` that reached the block's end, or found a long code. Gives the number of the last
    /// coefficient, or none where the block goes on at a new `k`.
    #[inline(always)]
    fn end(
        &self,
        mut bits: Bits,
        window: &Bytes,
        order: &Order,
        block: &mut Block,
        k: &mut usize,
    ) -> Option<(Bits, Option<u8>)> {
        // Found again, so that the loop has nothing to keep for this.
        let step = &self.ac[bits.look()];
        let next = *k + usize::from(step.advance);
        let end = next.wrapping_sub(usize::from(END));
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        if end < 64 {
            bits.drop(u32::from(step.bits));
            return Some((bits, Some(end as u8 - 1)));
        }
        if next == 64 {
            bits.drop(u32::from(step.bits));
            return Some((bits, Some(63)));
        }
        if !step.is_long() {
            // The first symbol may have ended the block with its 64th coefficient: then the second is the next block's.
            bits.drop(step.first_bits());
            return (*k + usize::from(step.first_advance) == 64).then_some((bits, Some(63)));
        }
        bits.refill(window);
        let step = self.ac_escape.ac_step(bits.next)?;
        block[usize::from(order[*k + usize::from(step.skip)])] = bits.value(&step);
        bits.drop(u32::from(step.bits));
        bits.refill(window);
        *k += usize::from(step.advance);
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        match *k {
            0..64 => Some((bits, None)),
            64 => Some((bits, Some(63))),
            next if step.advance == END => Some((bits, Some((next - usize::from(END)) as u8 - 1))),
            _ => None,
        }
    }

    /// Skips a block's AC values and gives its DC difference. None for irregular data.
    #[inline(always)]
    pub(crate) fn skip_block(&self, bits: Bits, window: &Bytes) -> Option<(Bits, Decoded)> {
        let (mut bits, dc_difference, step) = self.dc_step(bits, window)?;
        let mut k = usize::from(step.advance);
        while k < 64 {
            let hop;
            // Two hops for each refill, as in `block`.
            (bits, k, hop) = loop {
                let hop = self.hops[bits.look()];
                let next = k + usize::from(hop.advance);
                if next >= 64 {
                    break (bits, k, hop);
                }
                bits.drop(u32::from(hop.bits));
                k = next;
                bits.refill(window);
                let hop = self.hops[bits.look()];
                let next = k + usize::from(hop.advance);
                if next >= 64 {
                    break (bits, k, hop);
                }
                bits.drop(u32::from(hop.bits));
                k = next;
            };
            let next = k + usize::from(hop.advance);
            if next == 64 || next.wrapping_sub(usize::from(END)) < 64 {
                bits.drop(u32::from(hop.bits));
                break;
            }
            // One symbol only: more would go beyond the block's end, or its code is a long one.
            bits.refill(window);
            let taken;
            (taken, k) = self.step_over(bits.next, k)?;
            bits.drop(taken);
            bits.refill(window);
        }
        Some((bits, Decoded { dc_difference, last: 0 }))
    }

    /// Skips the one symbol that `bits` begin with. Gives the bits that it takes, and where the next look is.
    #[cold]
    #[inline(never)]
    fn step_over(&self, bits: u64, k: usize) -> Option<(u32, usize)> {
        let mut step = self.ac[(bits >> (64 - LOOK_BITS)) as usize];
        if step.is_long() {
            step = self.ac_escape.ac_step(bits)?;
        }
        let next = k + usize::from(step.first_advance);
        (next <= 64 || step.first_advance == END).then_some((step.first_bits(), next))
    }

    /// Refills, and takes the look that finds the DC difference.
    #[inline(always)]
    fn dc_step(&self, mut bits: Bits, window: &Bytes) -> Option<(Bits, i16, Step)> {
        bits.refill(window);
        let mut step = self.dc[bits.look()];
        if step.is_long() {
            step = self.dc_escape.dc_step(bits.next)?;
        }
        let difference = bits.value(&step);
        bits.drop(u32::from(step.bits));
        Some((bits, difference, step))
    }
}
