//! Lanes as an array, for processors without an implementation of their own. The compiler finds what instructions it can.

use std::array::from_fn;

use super::Lanes;

/// Pairs are the low and the high half of a lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::idct) struct Array([i32; 8]);

impl Array {
    pub(in crate::idct) fn new() -> Self {
        Self([0; 8])
    }

    fn each(self, change: impl Fn(i32) -> i32) -> Self {
        Self(self.0.map(change))
    }

    fn both(self, other: Self, join: impl Fn(i32, i32) -> i32) -> Self {
        Self(from_fn(|lane| join(self.0[lane], other.0[lane])))
    }
}

fn first(pair: i32) -> i32 {
    (pair << 16) >> 16
}

fn second(pair: i32) -> i32 {
    pair >> 16
}

fn pair(first: i32, second: i32) -> i32 {
    (first & 0xFFFF) | (second << 16)
}

fn saturated(value: i32) -> i32 {
    value.clamp(i16::MIN.into(), i16::MAX.into())
}

impl Lanes for Array {
    fn load(self, pairs: &[i16; 16]) -> Self {
        Self(from_fn(|lane| pair(pairs[lane * 2].into(), pairs[lane * 2 + 1].into())))
    }

    fn times(self, factors: Self) -> Self {
        self.both(factors, |left, right| {
            pair(first(left).wrapping_mul(first(right)), second(left).wrapping_mul(second(right)))
        })
    }

    fn products(self, one: i16, other: i16) -> Self {
        self.each(|pair| (first(pair) * i32::from(one)).wrapping_add(second(pair) * i32::from(other)))
    }

    fn plus_pairs(self, other: Self) -> Self {
        self.both(other, |left, right| pair(first(left) + first(right), second(left) + second(right)))
    }

    fn plus(self, other: Self) -> Self {
        self.both(other, i32::wrapping_add)
    }

    fn minus(self, other: Self) -> Self {
        self.both(other, i32::wrapping_sub)
    }

    fn raised(self, by: i32) -> Self {
        self.each(|lane| lane.wrapping_add(by))
    }

    fn shifted<const BY: i32>(self) -> Self {
        self.each(|lane| lane >> BY)
    }

    fn firsts(self) -> Self {
        self.each(|pair| pair << 16)
    }

    fn seconds(self) -> Self {
        self.each(|pair| pair & !0xFFFF)
    }

    fn with_seconds_of(self, other: Self) -> Self {
        self.both(other, |left, right| (left & 0xFFFF) | (right & !0xFFFF))
    }

    fn packed(self, other: Self) -> Self {
        Self(from_fn(|lane| {
            let Self(from) = if lane % 4 < 2 { self } else { other };
            let at = lane / 4 * 4 + lane % 2 * 2;
            pair(saturated(from[at]), saturated(from[at + 1]))
        }))
    }

    fn even_lanes(self, other: Self) -> Self {
        Self(from_fn(|lane| (if lane % 4 < 2 { self } else { other }).0[lane / 4 * 4 + lane % 2 * 2]))
    }

    fn odd_lanes(self, other: Self) -> Self {
        Self(from_fn(|lane| (if lane % 4 < 2 { self } else { other }).0[lane / 4 * 4 + lane % 2 * 2 + 1]))
    }

    fn lower_halves(self, other: Self) -> Self {
        Self(from_fn(|lane| if lane < 4 { self.0[lane] } else { other.0[lane - 4] }))
    }

    fn upper_halves(self, other: Self) -> Self {
        Self(from_fn(|lane| if lane < 4 { self.0[lane + 4] } else { other.0[lane] }))
    }

    fn or(self, other: Self) -> Self {
        self.both(other, |left, right| left | right)
    }

    fn are_zero(self) -> bool {
        self.0 == [0; 8]
    }

    fn lanes(self) -> [i32; 8] {
        self.0
    }

    fn samples(columns: [Self; 8]) -> [[u8; 8]; 8] {
        from_fn(|row| columns.map(|column| (column.0[row].clamp(-128, 127) + 128).to_le_bytes()[0]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Path;
    use crate::idct::{self, Block, Quant, Size, transform};

    proptest! {
        #[test]
        fn arrays_give_the_samples_of_the_processors_own_lanes(
            values in prop::collection::vec(prop_oneof![3 => -300..300_i16, 1 => any::<i16>()], 64 * 8),
            table in prop::collection::vec(prop_oneof![3 => 1..50_u16, 1 => any::<u16>()], 64),
            zeros in 0..64_usize,
        ) {
            let mut blocks: Vec<Block> = values.as_chunks().0.to_vec();
            for block in &mut blocks {
                block[64 - zeros..].fill(0);
            }
            let quant = Quant::new(table.as_slice().first_chunk().unwrap());
            for size in [Size::One, Size::Two, Size::Four, Size::Eight] {
                let [mut ours, mut wanted] = [[0; 512]; 2];
                transform::row(Array::new(), size, &quant, &blocks, &[63; 8], &mut ours, 64);
                idct::row(Path::detect(), size, &quant, &blocks, &[63; 8], &mut wanted, 64);
                prop_assert_eq!(ours, wanted);
            }
        }
    }
}
