//! The results of looks if values are wanted: AC symbols, and DC differences.

use std::ops::Range;

use super::{Code, END, LOOK_BITS, Looks, MOST_BITS, Symbol};

/// Bits of a look for a DC difference. There are few symbols, and one is wanted.
pub(super) const DC_LOOK_BITS: u32 = 8;

/// Where in the next bits a value is, and what it means (T.81, F.2.2.1: EXTEND).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Value {
    /// Added if the highest bit is not set.
    negative: i16,
    /// Bits before it.
    before: u8,
    /// 64 less its size.
    shift: u8,
}

/// The result of a look at AC codes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Step {
    /// The last symbol's value.
    pub(crate) last: Value,
    /// Its place, counted from where the look began.
    pub(crate) last_place: u8,
    /// The place of the value of a symbol before it; without such a symbol, the last one's place.
    pub(crate) first_place: u8,
    /// The value of a symbol before it; 0 without one.
    pub(crate) first: i8,
    /// By how many coefficients the symbols advance.
    pub(crate) advance: u8,
}

/// The steps of all looks.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The number of bits of the whole step. The next look waits for this number alone, and a table of its own gives it
    /// sooner.
    bits: Looks<u8>,
    steps: Looks<Step>,
}

/// The DC differences of all looks.
#[derive(Debug)]
pub(crate) struct Differences {
    /// Bits of code and value; 0 if the code is longer than the look.
    bits: [u8; 1 << DC_LOOK_BITS],
    values: [Value; 1 << DC_LOOK_BITS],
}

impl Value {
    /// Of no bits. All that is left of others is shifted beyond the 16 bits that are taken, also if some ten come before it.
    pub(crate) const NONE: Self = Self { negative: 0, before: 48, shift: 0 };

    pub(crate) fn of(symbol: Symbol) -> Self {
        let Symbol { code, size, .. } = symbol;
        if size == 0 {
            return Self::NONE;
        }
        let negative = 1_i32 - (1 << size);
        Self { negative: i16::try_from(negative).unwrap_or(i16::MIN), before: code, shift: 64 - size }
    }

    /// A number of `size` bits behind `before` others, as it is.
    pub(crate) fn unsigned(before: u8, size: u8) -> Self {
        if size == 0 { Self::NONE } else { Self { negative: 0, before, shift: 64 - size } }
    }

    /// The value, from the bits, without a branch.
    #[inline(always)]
    pub(crate) fn from(self, bits: u64) -> i16 {
        let bits = bits.wrapping_shl(u32::from(self.before));
        let value = bits.wrapping_shr(u32::from(self.shift));
        let is_positive = bits.cast_signed() >> 63;
        #[expect(clippy::cast_possible_truncation, reason = "the value has at most 15 bits")]
        let (value, is_positive) = ((value as u16).cast_signed(), is_positive as i16);
        value.wrapping_add(self.negative & !is_positive)
    }
}

impl Step {
    /// For a code that is longer than the look, or for no code. It takes no bits, stores only zeros, and advances past the
    /// end of every block, so that it needs no comparison of its own.
    const LONG: Self = Self { last: Value::NONE, last_place: 0, first_place: 0, first: 0, advance: u8::MAX };

    fn of(symbol: Symbol) -> Self {
        let Symbol { skip, advance, .. } = symbol;
        Self { last: Value::of(symbol), last_place: skip, first_place: skip, first: 0, advance }
    }

    /// This step of one symbol with another before it.
    fn behind(self, symbol: Symbol, value: i8) -> Self {
        let before = symbol.code + symbol.size;
        Self {
            last: Value { before: self.last.before + before, ..self.last },
            last_place: self.last_place + symbol.advance,
            first_place: symbol.skip,
            first: value,
            advance: self.advance + symbol.advance,
        }
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self { bits: [0; 1 << LOOK_BITS], steps: [Step::LONG; 1 << LOOK_BITS] }
    }
}

impl Default for Differences {
    fn default() -> Self {
        Self { bits: [0; 1 << DC_LOOK_BITS], values: [Value::NONE; 1 << DC_LOOK_BITS] }
    }
}

impl Steps {
    /// The result of a look at the next bits, and the bits that it takes: none if the code is longer.
    #[inline(always)]
    pub(crate) fn look(&self, bits: u64) -> (u32, &Step) {
        let look = (bits >> (64 - LOOK_BITS)) as usize;
        (u32::from(self.bits[look]), &self.steps[look])
    }

    /// Makes the steps for a code.
    pub(crate) fn make(&mut self, code: &Code) {
        *self = Self::default();
        let mut short = [(0, Symbol::of_ac(0, 0), Step::LONG); 256];
        let mut count = 0;
        for (single, (first, bits, symbol)) in short.iter_mut().zip(code.short_codes(LOOK_BITS)) {
            let symbol = Symbol::of_ac(bits, symbol);
            *single = (first, symbol, Step::of(symbol));
            count += 1;
        }
        let short = &short[..count];
        for &(look, symbol, step) in short {
            if symbol.bits() > MOST_BITS {
                continue;
            }
            self.fill(look..look + (1 << (LOOK_BITS - u32::from(symbol.code))), symbol.bits(), step);
            // A value that is in the table has 8 bits and a sign there.
            let may_be_first = symbol.advance != END && symbol.size < 8;
            let Some(room) = LOOK_BITS.checked_sub(symbol.bits()).filter(|_| may_be_first) else { continue };
            for bits in 0..1_u8 << symbol.size {
                let value = i8::try_from(extend(bits, symbol.size)).expect("it has less than 8 bits");
                let look = look + (usize::from(bits) << room);
                for &(next, symbol_2, step) in short.iter().take_while(|(_, next, _)| u32::from(next.code) <= room) {
                    let bits = symbol.bits() + symbol_2.bits();
                    if bits <= MOST_BITS {
                        let look = look + (next >> (LOOK_BITS - room));
                        let looks = look..look + (1 << (room - u32::from(symbol_2.code)));
                        self.fill(looks, bits, step.behind(symbol, value));
                    }
                }
            }
        }
    }

    fn fill(&mut self, looks: Range<usize>, bits: u32, step: Step) {
        self.bits[looks.clone()].fill(u8::try_from(bits).unwrap_or(0));
        self.steps[looks].fill(step);
    }
}

impl Differences {
    /// The DC difference at the beginning of the next bits, and its number of bits: 0 if the code is longer than a look.
    #[inline(always)]
    pub(crate) fn look(&self, bits: u64) -> (u32, &Value) {
        let look = (bits >> (64 - DC_LOOK_BITS)) as usize;
        (u32::from(self.bits[look]), &self.values[look])
    }

    /// Makes them for a code.
    pub(crate) fn make(&mut self, code: &Code) {
        *self = Self::default();
        for (look, bits, size) in code.short_codes(DC_LOOK_BITS) {
            let symbol = Symbol::of_dc(bits, size);
            if symbol.bits() <= MOST_BITS {
                let looks = look..look + (1 << (DC_LOOK_BITS - u32::from(bits)));
                self.bits[looks.clone()].fill(symbol.code + symbol.size);
                self.values[looks].fill(Value::of(symbol));
            }
        }
    }
}

/// A value from its bits, if it has less than eight.
fn extend(bits: u8, size: u8) -> i32 {
    let bits = i32::from(bits);
    if size == 0 || bits >> (size - 1) != 0 { bits } else { bits - (1 << size) + 1 }
}
