//! The vectors in which the transform is written: eight lanes of 32 bits, each of which may be a pair of 16 bits, and two
//! halves of four lanes. There is an implementation for each instruction set.
#![allow(
    clippy::inline_always,
    reason = "all of it has to be compiled for the instructions of the function that calls it"
)]

#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) mod array;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;
#[cfg(target_arch = "x86_64")]
pub(super) mod sse2;

/// Eight lanes. They can only be made from other lanes, so code that has a value of this type may use its instructions.
///
/// Sums and differences wrap.
pub(super) trait Lanes: Copy {
    /// Eight pairs.
    fn load(self, pairs: &[i16; 16]) -> Self;

    /// The low 16 bits of the products, pair by pair.
    fn times(self, factors: Self) -> Self;

    /// Of each pair, the sum of the products with two factors.
    fn products(self, first: i16, second: i16) -> Self;

    /// Sums of pairs, in 16 bits each.
    fn plus_pairs(self, other: Self) -> Self;

    /// Sums.
    fn plus(self, other: Self) -> Self;

    /// Differences.
    fn minus(self, other: Self) -> Self;

    /// The same added to each lane.
    fn raised(self, by: i32) -> Self;

    /// Divided by a power of two, downward.
    fn shifted<const BY: i32>(self) -> Self;

    /// The first of each pair, times 2^16.
    fn firsts(self) -> Self;

    /// The second of each pair, times 2^16.
    fn seconds(self) -> Self;

    /// Pairs of the first of each pair, and the second of each of the other's.
    fn with_seconds_of(self, other: Self) -> Self;

    /// Saturated to 16 bits: in each half, two pairs of these and two of the others.
    fn packed(self, other: Self) -> Self;

    /// In each half, the two even lanes of these and of the others.
    fn even_lanes(self, other: Self) -> Self;

    /// In each half, the two odd lanes of these and of the others.
    fn odd_lanes(self, other: Self) -> Self;

    /// The lower half of these, and that of the others.
    fn lower_halves(self, other: Self) -> Self;

    /// The upper half of these, and that of the others.
    fn upper_halves(self, other: Self) -> Self;

    /// The bits of these and of the others.
    fn or(self, other: Self) -> Self;

    /// Whether all are zero.
    fn are_zero(self) -> bool;

    /// One by one.
    fn lanes(self) -> [i32; 8];

    /// Eight columns, each of eight rows, as rows of samples: limited to -128..128, and 128 added.
    fn samples(columns: [Self; 8]) -> [[u8; 8]; 8];
}

/// Two factors as they multiply a pair.
#[cfg(target_arch = "x86_64")]
fn factors(first: i16, second: i16) -> i32 {
    (i32::from(first) & 0xFFFF) | (i32::from(second) << 16)
}
