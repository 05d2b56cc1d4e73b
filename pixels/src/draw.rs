//! Random draws as a pure function of (seed, epoch, record, transform's place, draw number): rule 8.
//!
//! The function is part of what users can reproduce, like a file format: `tests/draw.rs` pins vectors of it.

/// No transform has so many draws that this would be the number of one.
const PARTS: u64 = u64::MAX;

/// Used instead of a transform's place in the draws of mixing. No list is that long.
const MIXING: u64 = u64::MAX;

/// The same for what is done to a picture before the list, so that it fits its step.
const FITTING: u64 = u64::MAX - 1;

/// Which picture's random choices: they depend on this alone, not on batch, node, lane, attempt or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Seed of the stream.
    pub seed: u64,
    /// Epoch in which the record is delivered.
    pub epoch: u64,
    /// Record number in the dataset. Where an epoch has a record more than once, a number of its own for each repeat.
    pub record: u64,
}

/// The draws of one transform for one picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    key: u64,
}

impl Draw {
    /// The draws of the transform at `place` in the recipe's list, counted from 0.
    pub fn at(self, place: usize) -> Draws {
        self.draws(place as u64)
    }

    /// The random choices for a further view of the record. They have nothing to do with those of other views.
    #[must_use]
    pub fn of_view(self, name: &str) -> Self {
        let seed = name.bytes().fold(absorb(self.seed, name.len() as u64), |seed, byte| absorb(seed, byte.into()));
        Self { seed, ..self }
    }

    /// The draws of what mixes the picture with another one of its batch.
    pub fn mixing(self) -> Draws {
        self.draws(MIXING)
    }

    /// The draws of what fits the picture to its step, before the recipe's list.
    pub(crate) fn fitting(self) -> Draws {
        self.draws(FITTING)
    }

    fn draws(self, place: u64) -> Draws {
        Draws { key: [self.seed, self.epoch, self.record, place].into_iter().fold(0, absorb) }
    }
}

impl Draws {
    /// 64 random bits: draw `number` of this transform.
    pub fn bits(self, number: u64) -> u64 {
        absorb(self.key, number)
    }

    /// What these draws depend on.
    pub(crate) fn key(self) -> u64 {
        self.key
    }

    /// The draws that depend on this.
    pub(crate) fn of_key(key: u64) -> Self {
        Self { key }
    }

    /// The draws of the part `number` of this transform, such as one of the transforms that it has in it. They have nothing to
    /// do with this transform's own, nor with those of its other parts.
    #[must_use]
    pub fn part(self, number: u64) -> Self {
        Self { key: absorb(absorb(self.key, PARTS), number) }
    }

    /// Any order of the items, each as likely, by the draws of the part `number`.
    #[expect(clippy::cast_possible_truncation, reason = "lists of a few")]
    pub(crate) fn shuffle<T>(self, number: u64, items: &mut [T]) {
        let draws = self.part(number);
        for last in (1..items.len()).rev() {
            items.swap(last, draws.below(last as u64, last as u32 + 1) as usize);
        }
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn unit(self, number: u64) -> f64 {
        (self.bits(number) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn between(self, number: u64, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit(number)
    }

    /// Of a normal distribution with mean 0 and standard deviation 1, by this draw and the next.
    pub(crate) fn normal(self, number: u64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit(number)));
        radius * libm::cos(std::f64::consts::TAU * self.unit(number + 1))
    }

    /// Uniform whole number in 0..count, for a count above 0.
    #[expect(clippy::cast_possible_truncation, reason = "the product's upper half is below count")]
    pub fn below(self, number: u64, count: u32) -> u32 {
        ((u128::from(self.bits(number)) * u128::from(count)) >> 64) as u32
    }
}

/// Takes one more word into a hash: the finaliser of `SplitMix64` over state, word and an odd constant.
fn absorb(state: u64, word: u64) -> u64 {
    let mut z = state.rotate_left(23).wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
