//! The symbols of AC scans, one at a look.
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

use crate::huffman::{Code, Escape, Symbol, Value};

/// Bits of a look.
const LOOK_BITS: u32 = 10;

/// How far the end of a block advances: past the end of every band. What is added is the logarithm of how many blocks end.
pub(crate) const END: u8 = 128;

/// What a symbol does.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ScanSymbol {
    /// Its value; for an end of blocks, how many more of them end than the power of two that `advance` names.
    pub(crate) value: Value,
    /// Bits of code and value; 0 if the code is longer than a look, or is none.
    pub(crate) bits: u8,
    /// By how many coefficients it advances. Its value, if it has one, is at the last of them.
    pub(crate) advance: u8,
}

/// The symbols of all looks, for the scans that have one code.
#[derive(Debug)]
pub(crate) struct Symbols {
    looks: [ScanSymbol; 1 << LOOK_BITS],
    escape: Escape,
    made_of: Code,
    most_size: u8,
}

impl ScanSymbol {
    const LONG: Self = Self { value: Value::NONE, bits: 0, advance: 0 };

    /// None if its value has more bits than the scan can have.
    fn of(code: u8, symbol: u8, most_size: u8) -> Option<Self> {
        let (run, size) = (symbol >> 4, symbol & 15);
        if size > most_size {
            return None;
        }
        let (value, bits, advance) = match (run, size) {
            (15, 0) => (Value::NONE, code, 16),
            (_, 0) => (Value::unsigned(code, run), code + run, END + run),
            _ => (Value::of(Symbol { code, size, skip: run, advance: run + 1 }), code + size, run + 1),
        };
        Some(Self { value, bits, advance })
    }
}

impl Default for Symbols {
    fn default() -> Self {
        let made_of = Code::default();
        Self { looks: [ScanSymbol::LONG; 1 << LOOK_BITS], escape: made_of.escape(), made_of, most_size: 0 }
    }
}

impl Symbols {
    /// Makes them for a code. Symbols whose values have more than `most_size` bits do not exist. If they are so already, they
    /// stay.
    pub(crate) fn make(&mut self, code: &Code, most_size: u8) {
        if self.made_of == *code && self.most_size == most_size {
            return;
        }
        (self.made_of, self.most_size) = (code.clone(), most_size);
        self.looks.fill(ScanSymbol::LONG);
        self.escape = code.escape();
        for (look, bits, symbol) in code.short_codes(LOOK_BITS) {
            if let Some(symbol) = ScanSymbol::of(bits, symbol, most_size) {
                self.looks[look..look + (1 << (LOOK_BITS - u32::from(bits)))].fill(symbol);
            }
        }
    }

    /// The symbol at the beginning of the next bits, if its code is no longer than a look. At least 25
    /// bits are valid, which is what code and value take at most.
    #[inline(always)]
    pub(crate) fn look(&self, bits: u64) -> &ScanSymbol {
        &self.looks[(bits >> (64 - LOOK_BITS)) as usize]
    }

    /// The symbol at the beginning of the next bits, which are valid for 31 of them. None if there is none.
    #[cold]
    #[inline(never)]
    pub(crate) fn find(&self, bits: u64) -> Option<ScanSymbol> {
        let (code, symbol) = self.escape.find(bits)?;
        ScanSymbol::of(code, symbol, self.most_size)
    }
}
