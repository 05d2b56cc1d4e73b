//! Random choices of tests: the same ones for the same seed, on every machine.

/// A stream of numbers: splitmix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// True in one of `cases` cases.
    pub const fn once_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// One of these.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn choose<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        let index = self.below(among.len() as u64);
        &among[usize::try_from(index).expect("an index of a slice")]
    }
}
