//! Moves bits into the places that a mask has: what refinement does for each symbol.
#![expect(clippy::inline_always, reason = "compiled for each path: what is not inlined loses its instructions")]

/// Moves bits into places.
pub(crate) trait Deposit: Copy {
    /// The lowest bits of `bits` in the places of `mask`, the lowest in the lowest.
    fn deposit(self, bits: u64, mask: u64) -> u64;

    /// The bit of `mask` that has `above` bits of it above itself, of `count` in all. `above` is less than `count`.
    fn pick(self, above: u32, mask: u64, count: u32) -> u64;
}

/// For every processor: bit by bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Deposit for Plain {
    #[inline(always)]
    fn deposit(self, mut bits: u64, mut mask: u64) -> u64 {
        let mut out = 0;
        while mask != 0 {
            let lowest = mask & mask.wrapping_neg();
            out |= lowest & (bits & 1).wrapping_neg();
            bits >>= 1;
            mask ^= lowest;
        }
        out
    }

    #[inline(always)]
    fn pick(self, above: u32, mut mask: u64, _: u32) -> u64 {
        for _ in 0..above {
            mask &= !highest(mask);
        }
        highest(mask)
    }
}

/// The highest bit of a mask, which is not 0.
#[inline(always)]
fn highest(mask: u64) -> u64 {
    (1 << 63) >> mask.leading_zeros()
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod bmi {
    //! The instruction for it, PDEP.
    #![allow(unsafe_code, reason = "an instruction that only some processors have")]

    use std::arch::x86_64::{__cpuid, _pdep_u64, CpuidResult};
    use std::sync::OnceLock;

    use super::Deposit;

    /// The instruction is there.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Pdep(());

    impl Pdep {
        /// Only functions that are compiled for BMI2 can make one.
        #[target_feature(enable = "bmi2")]
        pub(crate) fn new() -> Self {
            Self(())
        }
    }

    impl Deposit for Pdep {
        #[inline(always)]
        fn deposit(self, bits: u64, mask: u64) -> u64 {
            // SAFETY: the processor has BMI2, since this was made in a function that is compiled for it.
            unsafe { _pdep_u64(bits, mask) }
        }

        #[inline(always)]
        fn pick(self, above: u32, mask: u64, count: u32) -> u64 {
            self.deposit(1 << (count - 1 - above), mask)
        }
    }

    /// What the processor says of itself.
    #[allow(unused_unsafe, reason = "newer versions of Rust know that it is safe")]
    fn about(leaf: u32) -> CpuidResult {
        // SAFETY: every processor with 64 bits has the instruction.
        unsafe { __cpuid(leaf) }
    }

    /// Whether the instruction is worth while: AMD's processors before Zen 3 carry it out bit by bit, in up to 300 cycles.
    pub(crate) fn is_fast() -> bool {
        static IS_FAST: OnceLock<bool> = OnceLock::new();
        *IS_FAST.get_or_init(|| {
            let of_amd = matches!(&about(0).ebx.to_le_bytes(), b"Auth" | b"Hygo");
            let version = about(1).eax;
            let family = (version >> 8 & 15) + (version >> 20 & 255);
            !of_amd || family >= 0x19
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_go_to_the_places_of_a_mask_in_their_order(bits in any::<u64>(), mask in any::<u64>()) {
            let places: Vec<u32> = (0..64).filter(|place| mask >> place & 1 != 0).collect();
            let moved = |from: usize, place: u32| (bits >> from & 1) << place;
            let expected = places.iter().enumerate().fold(0, |out, (from, &place)| out | moved(from, place));
            prop_assert_eq!(Plain.deposit(bits, mask), expected);
            for (above, &place) in places.iter().rev().enumerate() {
                let count = mask.count_ones();
                prop_assert_eq!(Plain.pick(u32::try_from(above).unwrap(), mask, count), 1 << place);
            }
        }
    }
}
