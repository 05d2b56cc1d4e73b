//! The test that a lane has to pass before it gets a picture: known pictures, compared with what the CPU lane makes of them.

use std::collections::{BTreeMap, BTreeSet};

use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Draw, Limits, Match, Recipe};
use thiserror::Error;

use super::order::{Made, Order, Target};
use super::size::REQUIRED;
use super::worker::Worker;
use super::{LaneKind, Refusal};
use crate::driver::CudaError;

/// How far a lane may be off, in levels of 255: a single value, and all of them on average. Another implementation of the
/// inverse DCT is off by one or two in a plane, which the colours double. The right limits must be measured on GPUs.
const WORST: u8 = 10;
/// See [`WORST`].
const MEAN: f64 = 1.0;

/// Rounds over the same surfaces, so that one that is written too early is seen.
const ROUNDS: usize = 3;

/// How far a lane is off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// The largest difference of a value.
    pub worst: u8,
    /// The mean of all.
    pub mean: f64,
}

/// What a lane has made of the known pictures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The largest differences of each picture, by what it is.
    pub differences: BTreeMap<String, Difference>,
    /// As of [`Passed`].
    pub refused: BTreeSet<String>,
}

/// What a lane that has passed is like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passed {
    /// The largest differences.
    pub difference: Difference,
    /// Pictures that it leaves to the next lane, in words, each with the reason. None is 4:2:0 or 4:4:4 and not small.
    pub refused: BTreeSet<String>,
}

/// Why a lane is switched off.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SelfTestError {
    /// It does not decode what it has to: photographs in 4:2:0 and 4:4:4.
    #[error("it refuses a {form}: {}", refusal.name())]
    Refused {
        /// What the picture is.
        form: String,
        /// Why.
        refusal: Refusal,
    },
    /// It decodes wrongly.
    #[error(
        "it decodes a {form} wrongly: values are off by up to {}, by {:.2} on average; {WORST} and {MEAN} are allowed",
        difference.worst, difference.mean
    )]
    Wrong {
        /// What the picture is.
        form: String,
        /// How far it is off.
        difference: Difference,
    },
    /// The GPU broke.
    #[error("{0}")]
    Cuda(#[from] CudaError),
}

/// Pictures of a group that is as short as the last one of a stream may be.
const SHORT: usize = 7;

/// Side of the pictures that a recipe is carried out on.
const SIDE: u32 = 40;

/// What a picture becomes in the test: itself, or what a recipe makes of it.
struct Known {
    form: String,
    /// Whether every lane has to decode it.
    required: bool,
    bytes: Vec<u8>,
    recipe: Option<(Recipe, Draw)>,
    expected: Vec<u8>,
}

/// Looks at what a lane makes of the known pictures, and judges it.
///
/// # Errors
/// The lane is not to be used.
pub fn self_test(worker: &mut Worker) -> Result<Passed, SelfTestError> {
    look(worker)?.judged()
}

impl Seen {
    /// Whether a lane may be so far off.
    ///
    /// # Errors
    /// [`SelfTestError::Wrong`] with the picture that is off the most.
    pub fn judged(self) -> Result<Passed, SelfTestError> {
        let wrong = self.differences.iter().filter(|(_, difference)| !difference.is_allowed());
        if let Some((form, difference)) = wrong.max_by_key(|(_, difference)| difference.worst) {
            return Err(SelfTestError::Wrong { form: form.clone(), difference: *difference });
        }
        Ok(Passed { difference: self.largest(), refused: self.refused })
    }

    /// The largest differences of all pictures.
    pub fn largest(&self) -> Difference {
        self.differences.values().fold(Difference::default(), |largest, difference| largest.and(*difference))
    }
}

/// Decodes the known pictures on a lane, in groups, over and over, and carries out a recipe on every other picture. In
/// service, a picture that a lane refuses goes to the next lane. So a refusal is no fault, unless the lane refuses
/// everything.
///
/// # Errors
/// It refuses what it has to decode, or the GPU broke.
pub fn look(worker: &mut Worker) -> Result<Seen, SelfTestError> {
    let known = known(worker.kind());
    let limits = Limits::default();
    let mut seen = Seen::default();
    for round in 0..ROUNDS {
        // Another picture comes first each time, so that each surface holds another one. At least a whole group: nvJPEG decodes
        // short ones in another way.
        let count = known.len().max(worker.group());
        let order: Vec<_> = (0..count).map(|place| &known[(place + round) % known.len()]).collect();
        let mut places: Vec<_> = order.iter().map(|known| vec![0; known.expected.len()]).collect();
        // In use, some groups are shorter, and nvJPEG must set up its states again for them. The last round tests that.
        let together = if round == ROUNDS - 1 && worker.group() > 1 { SHORT } else { order.len() };
        let mut done = 0;
        while done < order.len() {
            let rest = order[done..].iter().take(together).zip(&mut places[done..]);
            let mut orders: Vec<_> = rest
                .map(|(known, out)| {
                    let made = match known.recipe.as_ref() {
                        Some((recipe, draw)) => Made::By(recipe, *draw, &limits),
                        None => Made::Whole,
                    };
                    Order { bytes: &known.bytes, made, out: Target::Host(out) }
                })
                .collect();
            let outcomes = worker.decode(&mut orders)?;
            let of = order[done..].iter().zip(&places[done..]);
            done += outcomes.len();
            for (outcome, (known, place)) in outcomes.into_iter().zip(of) {
                let form = || known.form.clone();
                match outcome {
                    Ok(()) => {}
                    Err(refusal) if known.required => return Err(SelfTestError::Refused { form: form(), refusal }),
                    Err(refusal) => {
                        seen.refused.insert(format!("{}: {}", known.form, refusal.name()));
                        continue;
                    }
                }
                let difference = Difference::between(place, &known.expected);
                let largest = seen.differences.entry(form()).or_default();
                *largest = largest.and(difference);
            }
        }
    }
    Ok(seen)
}

/// The known pictures, each once whole and once as a recipe makes it, as Pillow and as torch by turns, with what the CPU lane
/// makes.
fn known(kind: LaneKind) -> Vec<Known> {
    let mut cpu = CpuDecoder::new();
    let limits = Limits::default();
    let mut known = Vec::new();
    for (record, (form, required, bytes)) in (0..).zip(pictures(kind)) {
        let expected = cpu.whole(&bytes, &limits).expect("the CPU lane decodes what it has encoded").rgb;
        let matched = if record % 2 == 0 { Match::Pillow } else { Match::Torch };
        let recipe = Recipe::training(SIDE).and_then(|recipe| recipe.with_match(matched));
        let recipe = recipe.expect("the side is allowed, and torch has the filter");
        let draw = Draw { seed: 1, epoch: 0, record };
        let mut place = vec![0; recipe.place_len()];
        cpu.decode(&bytes, &recipe, draw, &limits, &mut place).expect("the CPU lane decodes what it has encoded");
        let composed = format!("part of a {form}");
        known.push(Known { form, required, bytes: bytes.clone(), recipe: None, expected });
        known.push(Known { form: composed, required, bytes, recipe: Some((recipe, draw)), expected: place });
    }
    known
}

impl Difference {
    /// Of two pictures of one size.
    #[expect(clippy::cast_precision_loss, reason = "sums of bytes of a picture are below 2^53")]
    pub fn between(a: &[u8], b: &[u8]) -> Self {
        let each = || a.iter().zip(b).map(|(a, b)| a.abs_diff(*b));
        let sum: u64 = each().map(u64::from).sum();
        Self { worst: each().max().unwrap_or(0), mean: sum as f64 / a.len().max(1) as f64 }
    }

    /// The larger of both.
    fn and(self, other: Self) -> Self {
        Self { worst: self.worst.max(other.worst), mean: self.mean.max(other.mean) }
    }

    /// Whether a lane may be so far off.
    pub(crate) fn is_allowed(self) -> bool {
        self.worst <= WORST && self.mean <= MEAN
    }
}

/// A photograph in every sampling and in gray, at sizes that leave every kind of edge, and whether every lane has to decode it.
/// Lanes that take several scans get the usual samplings in those as well.
fn pictures(kind: LaneKind) -> Vec<(String, bool, Vec<u8>)> {
    let forms = [
        ("4:4:4", [1, 1], JpegColors::YCbCr),
        ("4:2:2", [2, 1], JpegColors::YCbCr),
        ("4:2:0", [2, 2], JpegColors::YCbCr),
        ("4:4:0", [1, 2], JpegColors::YCbCr),
        ("gray", [1, 1], JpegColors::Gray),
    ];
    let usual = |name| matches!(name, "4:2:0" | "4:4:4");
    let mut pictures = Vec::new();
    for (number, (width, height)) in (0..).zip([REQUIRED, (101, 75), (64, 131)]) {
        for (name, sampling, colors) in forms {
            let rgb = photograph_rgb(number, width, height);
            let pixels = match colors {
                JpegColors::Gray => rgb.as_chunks::<3>().0.iter().map(|[_, green, _]| *green).collect(),
                _ => rgb,
            };
            let form = JpegForm { colors, quality: 90, sampling, ..JpegForm::default() };
            let bytes = form.encode(&pixels, width, height).expect("such a picture can be encoded");
            let required = usual(name) && (width, height) == REQUIRED;
            pictures.push((format!("{name} JPEG of {width} x {height}"), required, bytes));
        }
    }
    if kind.takes_several_scans() {
        let (width, height) = (117, 83);
        for (name, sampling, _) in forms.into_iter().filter(|(name, ..)| usual(*name)) {
            let form = JpegForm { sampling, progressive: true, ..JpegForm::default() };
            let bytes = form.encode(&photograph_rgb(3, width, height), width, height);
            let bytes = bytes.expect("such a picture can be encoded");
            pictures.push((format!("progressive {name} JPEG of {width} x {height}"), false, bytes));
        }
    }
    pictures
}
