//! A keyed permutation of 0..n, computed on demand in O(1) memory: the shuffled order of an epoch.
//!
//! An alternating, unbalanced Feistel network on `max(8, bits(n - 1))` bits with 12 rounds; results outside of
//! 0..n are walked on until one is inside. It is a pseudo-random permutation with keys made from a 64-bit seed, not
//! a uniform choice among all n! orders. Pinned: a change of any value here is a new permutation version.

const ROUNDS: usize = 12;
/// Below 8 bits the orders of very small sets are visibly uneven, whatever the number of rounds.
const MIN_BITS: u32 = 8;

/// Epoch numbers beyond this are no run's, so that sums with them cannot overflow.
pub const MAX_EPOCH: u64 = 1 << 48;

/// A permutation of `0..n`.
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..n` for an epoch of a dataset. `domain` keeps different uses of one seed apart.
    pub fn new(n: u64, seed: u64, epoch: u64, fingerprint: &[u8], domain: &str) -> Self {
        let bits = (u64::BITS - n.saturating_sub(1).leading_zeros()).max(MIN_BITS);
        let low_bits = bits.div_ceil(2);
        let mut hasher = blake3::Hasher::new_derive_key("forebay permutation 1");
        hasher.update(&seed.to_le_bytes());
        hasher.update(&epoch.to_le_bytes());
        hasher.update(&(fingerprint.len() as u64).to_le_bytes());
        hasher.update(fingerprint);
        hasher.update(domain.as_bytes());
        let mut bytes = [0; ROUNDS * 8];
        hasher.finalize_xof().fill(&mut bytes);
        let mut keys = [0; ROUNDS];
        for (key, chunk) in keys.iter_mut().zip(bytes.as_chunks().0) {
            *key = u64::from_le_bytes(*chunk);
        }
        Self { n, low_bits, low_mask: mask(low_bits), high_mask: mask(bits - low_bits), keys }
    }

    /// A permutation of `0..n` for one part of what this one is for, from its keys. It costs much less than hashing.
    #[must_use]
    pub fn part(&self, part: u64, n: u64) -> Self {
        let bits = (u64::BITS - n.saturating_sub(1).leading_zeros()).max(MIN_BITS);
        let low_bits = bits.div_ceil(2);
        // Each key is mixed once more, so that the keys of two parts do not differ by the same bits everywhere.
        let own = mix(part.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let keys = self.keys.map(|key| mix(key ^ own));
        Self { n, low_bits, low_mask: mask(low_bits), high_mask: mask(bits - low_bits), keys }
    }

    /// The number that `x` maps to; for `x < n` the result is below `n`. Other `x` give `x`.
    pub fn forward(&self, x: u64) -> u64 {
        self.walk(x, Self::encrypt)
    }

    /// The number that maps to `y`: the inverse of [`forward`](Self::forward).
    pub fn inverse(&self, y: u64) -> u64 {
        self.walk(y, Self::decrypt)
    }

    /// Follows the network's cycle from `x` until it comes back below `n`, which it does at `x` at the latest. The
    /// network's domain is at most twice `n` (or 256), so that few steps are needed.
    fn walk(&self, x: u64, step: fn(&Self, u64) -> u64) -> u64 {
        if x >= self.n {
            return x;
        }
        let mut y = step(self, x);
        while y >= self.n {
            y = step(self, y);
        }
        y
    }

    fn encrypt(&self, x: u64) -> u64 {
        let (mut high, mut low) = (x >> self.low_bits, x & self.low_mask);
        for pair in self.keys.as_chunks::<2>().0 {
            high ^= mix(low ^ pair[0]) & self.high_mask;
            low ^= mix(high ^ pair[1]) & self.low_mask;
        }
        (high << self.low_bits) | low
    }

    fn decrypt(&self, x: u64) -> u64 {
        let (mut high, mut low) = (x >> self.low_bits, x & self.low_mask);
        for pair in self.keys.as_chunks::<2>().0.iter().rev() {
            low ^= mix(high ^ pair[1]) & self.low_mask;
            high ^= mix(low ^ pair[0]) & self.high_mask;
        }
        (high << self.low_bits) | low
    }
}

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// The splitmix64 finaliser: each output bit depends on every input bit.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_pinned() {
        // Ledgers on disk depend on these numbers: another order is another permutation version.
        let order = Permutation::new(10, 0, 0, b"", "records");
        assert_eq!((0..10).map(|x| order.forward(x)).collect::<Vec<_>>(), PINNED_10);
        let order = Permutation::new(1_281_167, 42, 3, &[7; 32], "records");
        assert_eq!((0..4).map(|x| order.forward(x)).collect::<Vec<_>>(), PINNED_IMAGENET);
        let order = Permutation::new(6_000_000_000, 42, 3, &[7; 32], "records");
        assert_eq!((0..4).map(|x| order.forward(x)).collect::<Vec<_>>(), PINNED_6_BILLION);
    }

    #[test]
    fn every_number_comes_exactly_once_and_the_inverse_leads_back() {
        let around = (2..=12).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]);
        for n in [1, 2, 3, 5, 65_535, 65_536, 65_537, 100_003].into_iter().chain(around) {
            let order = Permutation::new(n, 1, 2, b"x", "records");
            let mut seen = vec![false; usize::try_from(n).unwrap()];
            for x in 0..n {
                let y = order.forward(x);
                assert!(!std::mem::replace(&mut seen[usize::try_from(y).unwrap()], true), "{y} twice for n = {n}");
                assert_eq!(order.inverse(y), x);
            }
        }
    }

    #[test]
    fn another_seed_epoch_dataset_or_domain_is_another_order() {
        let order = |seed, epoch, data: &[u8], domain| {
            let order = Permutation::new(1000, seed, epoch, data, domain);
            (0..1000).map(|x| order.forward(x)).collect::<Vec<_>>()
        };
        let base = order(1, 0, b"a", "r");
        // Seed 0 in epoch 1 is not seed 1 in epoch 0: the two are hashed apart, not added.
        for other in [order(0, 1, b"a", "r"), order(1, 1, b"a", "r"), order(1, 0, b"b", "r"), order(1, 0, b"a", "s")] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn all_orders_of_five_come_about_equally_often() {
        let mut counts = std::collections::BTreeMap::<Vec<u64>, u32>::new();
        for seed in 0..12_000 {
            let order = Permutation::new(5, seed, 0, b"", "records");
            *counts.entry((0..5).map(|x| order.forward(x)).collect()).or_default() += 1;
        }
        assert_eq!(counts.len(), 120);
        let chi: f64 = counts.values().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
        // 119 degrees of freedom: mean 119, standard deviation 15.
        assert!(chi < 190.0, "chi-squared {chi}");
    }

    #[test]
    fn all_orders_of_five_come_about_equally_often_among_the_parts_of_one() {
        let whole = Permutation::new(1000, 3, 0, b"", "windows");
        let mut counts = std::collections::BTreeMap::<Vec<u64>, u32>::new();
        for part in 0..12_000 {
            let order = whole.part(part, 5);
            *counts.entry((0..5).map(|x| order.forward(x)).collect()).or_default() += 1;
        }
        assert_eq!(counts.len(), 120);
        let chi: f64 = counts.values().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
        assert!(chi < 190.0, "chi-squared {chi}");
    }

    const PINNED_10: [u64; 10] = [7, 2, 6, 3, 9, 8, 5, 4, 1, 0];
    const PINNED_IMAGENET: [u64; 4] = [326_198, 1_239_130, 1_274_871, 103_989];
    const PINNED_6_BILLION: [u64; 4] = [4_340_242_765, 299_993_297, 5_211_768_556, 4_168_830_132];
}
