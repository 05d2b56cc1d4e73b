//! Progressive pictures in all kinds of scans come out as libjpeg-turbo decodes them. The pictures are made here, coefficient by
//! coefficient, since libjpeg-turbo writes only a few kinds.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "small numbers")]

#[path = "progressive/codes.rs"]
mod codes;
#[path = "turbo/compare.rs"]
mod compare;
#[path = "progressive/encoder.rs"]
mod encoder;
#[path = "shared/pictures.rs"]
mod pictures;
#[path = "turbo/reference.rs"]
mod reference;

use compare::{compare, decode, decoders};
use encoder::{Model, Part};
use forebay_jpeg::{Decoder, Fault, Header, Region, Scale, Unsupported};
use pictures::Dice;
use proptest::prelude::*;
use reference::Turbo;
use twox_hash::XxHash3_64;

const FACTORS: [&[(u32, u32)]; 7] = [
    &[(1, 1)],
    &[(2, 2)],
    &[(1, 1), (1, 1), (1, 1)],
    &[(2, 1), (1, 1), (1, 1)],
    &[(2, 2), (1, 1), (1, 1)],
    &[(1, 2), (1, 1), (1, 1)],
    &[(4, 1), (1, 1), (1, 1)],
];

/// What a case is made of.
#[derive(Clone, Debug)]
struct Kind {
    factors: usize,
    size: (u32, u32),
    restart: u32,
    longest_end: u32,
    /// How many of a hundred coefficients are other than zero.
    dense: u32,
    seed: u64,
}

impl Kind {
    fn any() -> impl Strategy<Value = Self> {
        let restart = prop_oneof![3 => Just(0_u32), 1 => 1..30_u32];
        let longest_end = prop_oneof![2 => Just(0x7FFF_u32), 1 => 1..40_u32];
        let dense = prop::sample::select(vec![0, 1, 4, 15, 50, 95]);
        (0..FACTORS.len(), (1..100_u32, 1..80_u32), restart, longest_end, dense, any::<u64>()).prop_map(
            |(factors, size, restart, longest_end, dense, seed)| Self {
                factors,
                size,
                restart,
                longest_end,
                dense,
                seed,
            },
        )
    }

    fn model(&self, dice: &mut Dice) -> Model {
        let mut dc = 0;
        let coefficient = |_, k: usize| {
            let value = |dice: &mut Dice, most: u32| i16::try_from(dice.below(2 * most + 1)).unwrap() - most as i16;
            if k == 0 {
                dc = (dc + value(dice, 200)).clamp(-1000, 1000);
                dc
            } else if dice.below(100) >= self.dense {
                0
            } else {
                let most = [1, 2, 9, 60, 1000][dice.below(5) as usize];
                value(dice, most)
            }
        };
        let model = Model::new(self.size, FACTORS[self.factors], coefficient);
        Model { restart: self.restart, longest_end: self.longest_end, seed: self.seed, ..model }
    }

    /// Scans in which all bits of all coefficients come, in some legal order.
    fn parts(&self, dice: &mut Dice) -> Vec<Part> {
        let components = FACTORS[self.factors].len();
        let mut first = Vec::new();
        // Of these lists, any may have its next scan.
        let mut chains = Vec::new();
        let low = dice.below(4) as u8;
        let together = match dice.below(3) {
            0 => vec![(0..components).collect()],
            1 if components == 3 => vec![vec![0], vec![1, 2]],
            _ => (0..components).map(|component| vec![component]).collect::<Vec<_>>(),
        };
        for components in together {
            let dc = |high, low| Part { components: components.clone(), band: (0, 0), high, low };
            first.push(dc(None, low));
            chains.push((0..low).rev().map(|low| dc(Some(low + 1), low)).collect::<Vec<_>>());
        }
        for component in 0..components {
            let low = dice.below(4) as u8;
            let mut chain = bands(dice, component, None, low);
            for low in (0..low).rev() {
                chain.extend(bands(dice, component, Some(low + 1), low));
            }
            chains.push(chain);
        }
        for chain in &mut chains {
            chain.reverse();
        }
        while let Some(chain) = pick(dice, &mut chains) {
            first.extend(chain.pop());
        }
        first
    }
}

/// One of the chains that have something left.
fn pick<'a>(dice: &mut Dice, chains: &'a mut [Vec<Part>]) -> Option<&'a mut Vec<Part>> {
    let mut left: Vec<_> = chains.iter_mut().filter(|chain| !chain.is_empty()).collect();
    (!left.is_empty()).then(|| left.swap_remove(dice.below(left.len() as u32) as usize))
}

/// All AC coefficients of a component in some bands.
fn bands(dice: &mut Dice, component: usize, high: Option<u8>, low: u8) -> Vec<Part> {
    let mut bands = Vec::new();
    let mut first = 1;
    while first < 64 {
        let last = if dice.below(3) == 0 { 63 } else { first + dice.below(64 - first) };
        let band = (first as usize, last as usize);
        bands.push(Part { components: vec![component], band, high, low });
        first = last + 1;
    }
    bands
}

/// A picture of 40 x 24 pixels, 4:2:0, and its scans.
fn small() -> (Model, Vec<Part>) {
    let kind = Kind { factors: 4, size: (40, 24), restart: 0, longest_end: 0x7FFF, dense: 15, seed: 3 };
    let mut dice = Dice(9);
    (kind.model(&mut dice), kind.parts(&mut dice))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn pictures_in_all_kinds_of_scans_are_equal_whole_and_in_regions(kind in Kind::any()) {
        let mut dice = Dice(kind.seed);
        let (model, parts) = (kind.model(&mut dice), kind.parts(&mut dice));
        let refused = compare(&format!("{kind:?}, {parts:?}"), &model.encode(&parts), Turbo::of_damage().as_mut(), &mut decoders(), 3);
        prop_assert!(refused.is_none(), "{kind:?}: {refused:?}");
    }

    #[test]
    fn damaged_scans_are_refused_or_equal(kind in Kind::any(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut dice = Dice(kind.seed);
        let (model, parts) = (kind.model(&mut dice), kind.parts(&mut dice));
        let mut bytes = model.encode(&parts);
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if Header::read(&bytes).is_ok_and(|header| header.width * header.height < 100_000) {
            compare(&format!("{kind:?}"), &bytes, Turbo::of_damage().as_mut(), &mut decoders(), 2);
        }
    }

    #[test]
    fn scans_that_are_left_out_are_refused_with_the_header(kind in Kind::any(), left_out in any::<prop::sample::Index>()) {
        let mut dice = Dice(kind.seed);
        let (model, mut parts) = (kind.model(&mut dice), kind.parts(&mut dice));
        let scans = parts.len() as u32;
        prop_assert_eq!(Header::read(&model.encode(&parts)).unwrap().scans, scans);
        parts.remove(left_out.index(parts.len()));
        let refused = Header::read(&model.encode(&parts)).map(|header| header.scans);
        let reasons = [Fault::Unsupported(Unsupported::OpenScans), Fault::Irregular("progressive scans in an order that leaves gaps")];
        let is_named = refused.is_err_and(|fault| reasons.contains(&fault) || parts.is_empty());
        prop_assert!(is_named, "{refused:?}, {parts:?}");
    }
}

/// Samples of 40 pictures at all scales on x86-64, where libjpeg-turbo has the same.
const DECODED: u64 = 4_654_966_856_400_477_225;

#[test]
fn pictures_that_no_encoder_writes_are_the_same_on_every_architecture() {
    let mut dice = Dice(5);
    let (mut turbo, mut decoders) = (Turbo::of_damage(), decoders());
    let mut samples = Vec::new();
    for index in 0..40 {
        let kind = Kind {
            factors: index % FACTORS.len(),
            size: (1 + dice.below(60), 1 + dice.below(60)),
            restart: 0,
            longest_end: 0x7FFF,
            dense: 95,
            seed: u64::from(dice.below(u32::MAX)),
        };
        let (model, parts) = (kind.model(&mut dice), kind.parts(&mut dice));
        let bytes = model.encode(&parts);
        let refused = compare(&format!("{kind:?}"), &bytes, turbo.as_mut(), &mut decoders, 1);
        assert!(refused.is_none(), "{kind:?}: {refused:?}");
        samples.extend(Scale::ALL.into_iter().flat_map(|scale| decode(&mut decoders[0], &bytes, scale, None).unwrap()));
    }
    assert_eq!(XxHash3_64::oneshot(&samples), DECODED);
}

#[test]
fn a_picture_whose_last_scans_are_missing_is_left_to_a_decoder_that_smooths_it() {
    let (model, mut parts) = small();
    parts.retain(|part| part.high.is_none());
    for part in &mut parts {
        part.low = 1;
    }
    let open = Fault::Unsupported(Unsupported::OpenScans);
    assert_eq!(Header::read(&model.encode(&parts)).map(drop), Err(open));
}

#[test]
fn a_file_that_ends_anywhere_is_truncated() {
    let (model, parts) = small();
    let bytes = model.encode(&parts);
    for end in 2..bytes.len() {
        assert_eq!(Header::read(&bytes[..end]).map(drop), Err(Fault::Truncated), "{end} of {} bytes", bytes.len());
    }
}

#[test]
fn data_below_a_region_is_not_read_and_damage_there_is_not_seen() {
    let kind = Kind { factors: 4, size: (64, 512), restart: 0, longest_end: 1, dense: 50, seed: 3 };
    let mut dice = Dice(5);
    let (model, parts) = (kind.model(&mut dice), kind.parts(&mut dice));
    let bytes = model.encode(&parts);
    let mut decoder = Decoder::default();
    let top = Region { left: 8, top: 0, width: 40, height: 20 };
    let expected = decode(&mut decoder, &bytes, Scale::Full, Some(top)).unwrap();
    // Behind the middle of the last scan's data, all codes are ones, which no code is.
    let mut damaged = bytes.clone();
    let last = bytes.windows(2).rposition(|two| two == [0xFF, 0xDA]).unwrap();
    let middle = usize::midpoint(last, bytes.len());
    for at in middle..bytes.len() - 2 {
        if damaged[at] != 0xFF && damaged[at - 1] != 0xFF {
            damaged[at] = 0xFE;
        }
    }
    assert!(decode(&mut decoder, &damaged, Scale::Full, None).is_err());
    assert_eq!(decode(&mut decoder, &damaged, Scale::Full, Some(top)), Ok(expected));
}
