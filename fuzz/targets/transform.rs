//! The whole transform: any list of transforms on any bytes. Every byte of the place is written, our own decoder and
//! libjpeg-turbo agree, and a picture that was kept decoded gives the same result as its file.
#![no_main]

use std::cell::RefCell;

use arbitrary::{Arbitrary, Unstructured};
use forebay_pixels::{
    AutoAugment, AutoAugmentPolicy, Background, CenterCrop, ColorJitter, CpuDecoder, Decoded, Draw, Dtype, ExpectSize,
    Fill, Form, GaussianBlur, Grayscale, Interpolation, Jitter, JpegChoice, Layout, Limits, Match, Normalize, OneOrTwo,
    Output, Pad, PerChannel, RandAugment, RandomAdjustSharpness, RandomAffine, RandomApply, RandomAutocontrast,
    RandomChoice, RandomEqualize, RandomGrayscale, RandomHorizontalFlip, RandomHsv, RandomInvert, RandomOrder,
    RandomPosterize, RandomResizedCrop, RandomRotation, RandomSolarize, RandomVerticalFlip, RandomZoomOut, Recipe,
    Resize, ShearRange, Size, Transform, TrivialAugmentWide,
};
use libfuzzer_sys::fuzz_target;

/// Small, so that no case takes long.
const LIMITS: Limits = Limits { pixels: 1 << 20, bytes: 1 << 20, scans: 20, time: None };

thread_local! {
    static USED: RefCell<CpuDecoder> = RefCell::new(CpuDecoder::new());
    static TURBO: RefCell<CpuDecoder> = RefCell::new(CpuDecoder::with_jpeg(JpegChoice::LIBJPEG_TURBO));
}

/// A recipe and a draw in a few bytes.
#[derive(Arbitrary, Debug)]
struct Asked {
    steps: [Step; 2],
    last: (u8, u8),
    dtype: u8,
    planar: bool,
    torch: bool,
    normalized: bool,
    /// None: alpha is left out.
    background: Option<[u8; 3]>,
    record: u16,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Nothing,
    Crop { side: u8, small: u8, filter: u8 },
    Resize { height: u8, width: u8, square: bool, filter: u8 },
    Center { height: u8, width: u8 },
    Expect { height: u8, width: u8 },
    Pad { side: u8, fill: u8 },
    Flip,
    UpsideDown,
    Values { kind: u8, amount: u8, other: u8, often: u8 },
}

impl Asked {
    fn background(&self) -> Background {
        self.background.map_or(Background::Dropped, Background::Colour)
    }

    fn recipe(&self) -> Recipe {
        let mut list: Vec<Transform> = self.steps.iter().filter_map(Step::transform).collect();
        let size = Size::HeightWidth([side(self.last.0), side(self.last.1)]);
        list.push(Transform::CenterCrop(CenterCrop { size }));
        let dtype = [Dtype::Uint8, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32][usize::from(self.dtype % 4)];
        if self.normalized && dtype != Dtype::Uint8 {
            list.push(Transform::Normalize(Normalize { mean: PerChannel::One(0.5), std: PerChannel::One(0.25) }));
        }
        let layout = if self.planar { Layout::Nchw } else { Layout::Nhwc };
        let output = Output { dtype, layout, background: self.background(), ..Output::default() };
        let recipe = Recipe::new(list, output).expect("a right list of transforms");
        let matched = if self.torch { Match::Torch } else { Match::Pillow };
        recipe.clone().with_match(matched).unwrap_or(recipe)
    }
}

impl Step {
    fn transform(&self) -> Option<Transform> {
        Some(match *self {
            Self::Nothing => return None,
            Self::Crop { side: wanted, small, filter } => {
                let size = Size::One(side(wanted));
                let scale = [0.01 + f64::from(small) / 300.0, 1.0];
                let interpolation = interpolation(filter);
                Transform::RandomResizedCrop(RandomResizedCrop { size, scale, ratio: [0.75, 4.0 / 3.0], interpolation })
            }
            Self::Resize { height, width, square, filter } => {
                let size = if square { Size::One(side(height)) } else { Size::HeightWidth([height, width].map(side)) };
                Transform::Resize(Resize { size, interpolation: interpolation(filter) })
            }
            Self::Center { height, width } => {
                Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([height, width].map(side)) })
            }
            Self::Expect { height, width } => {
                Transform::ExpectSize(ExpectSize { size: Size::HeightWidth([height, width].map(side)) })
            }
            Self::Pad { side: wanted, fill } => Transform::Pad(Pad::to(Size::One(side(wanted)), fill)),
            Self::Flip => Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(0.5)),
            Self::UpsideDown => Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(0.5)),
            Self::Values { kind, amount, other, often } => values(kind, amount, other, f64::from(often) / 255.0),
        })
    }
}

/// Any transform that changes values. The lists by chance have two others in them.
fn values(kind: u8, amount: u8, other: u8, p: f64) -> Transform {
    let part = f64::from(amount) / 255.0;
    let inner = || vec![values(other % 9, amount, other, 0.5), values(other / 9 % 9, amount, other, 0.5)];
    let interpolation = interpolation(other % 3);
    let fill = (other & 128 > 0).then_some(Fill::Gray(amount.into()));
    match kind % 20 {
        0 => {
            let by = |number: u8| (other >> number & 1 == 1).then_some(Jitter::By(part * 2.0));
            let hue = (other & 8 > 0).then_some(Jitter::By(part / 2.0));
            Transform::ColorJitter(ColorJitter { brightness: by(0), contrast: by(1), saturation: by(2), hue })
        }
        1 => Transform::Grayscale(Grayscale { num_output_channels: 3 }),
        2 => Transform::RandomGrayscale(RandomGrayscale { p }),
        3 => Transform::RandomAdjustSharpness(RandomAdjustSharpness { sharpness_factor: part * 4.0, p }),
        4 => Transform::RandomSolarize(RandomSolarize { threshold: amount.into(), p }),
        5 => Transform::RandomPosterize(RandomPosterize { bits: amount % 9, p }),
        6 => Transform::RandomInvert(RandomInvert { p }),
        7 => Transform::RandomAutocontrast(RandomAutocontrast { p }),
        8 => Transform::RandomEqualize(RandomEqualize { p }),
        9 => Transform::RandomApply(RandomApply { transforms: inner(), p }),
        10 => Transform::RandomChoice(RandomChoice { transforms: inner(), p: None }),
        11 => Transform::RandomOrder(RandomOrder { transforms: inner() }),
        12 => {
            let (kernel_size, sigma) = (OneOrTwo::One(u32::from(amount) | 1), OneOrTwo::One(p + 0.01));
            Transform::GaussianBlur(GaussianBlur { kernel_size, sigma })
        }
        13 => {
            let degrees = Jitter::By(f64::from(amount) * 3.0);
            let (fill, center) = (Some(Fill::Rgb([p * 255.0, 0.0, 9.0])), fill.map(|_| [part * 99.0, -7.0]));
            Transform::RandomRotation(RandomRotation { degrees, interpolation, expand: other & 64 > 0, center, fill })
        }
        14 => Transform::RandomAffine(RandomAffine {
            degrees: Jitter::By(amount.into()),
            translate: Some([part, p]),
            scale: Some([p + 0.001, p + 2.0]),
            shear: Some(ShearRange::By(other.into())),
            interpolation,
            fill: Fill::Gray(amount.into()),
            center: None,
        }),
        15 => Transform::AutoAugment(AutoAugment { policy: AutoAugmentPolicy::default(), interpolation, fill }),
        17 => Transform::RandomHsv(RandomHsv { hsv_h: part, hsv_s: p, hsv_v: 1.0 - part }),
        18 => {
            let (side_range, fill) = ([1.0, 1.0 + part * 3.0], Fill::Rgb([part * 255.0, p, 7.0]));
            Transform::RandomZoomOut(RandomZoomOut { fill, side_range, p })
        }
        16 => {
            let (num_ops, magnitude, num_magnitude_bins) = (u32::from(other % 5), u32::from(amount), 256);
            Transform::RandAugment(RandAugment { num_ops, magnitude, num_magnitude_bins, interpolation, fill })
        }
        _ => {
            let num_magnitude_bins = u32::from(amount) + 2;
            Transform::TrivialAugmentWide(TrivialAugmentWide { num_magnitude_bins, interpolation, fill })
        }
    }
}

fn side(byte: u8) -> u32 {
    u32::from(byte) + 1
}

fn interpolation(byte: u8) -> Interpolation {
    [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic, Interpolation::Lanczos3]
        [usize::from(byte % 4)]
}

fuzz_target!(|data: &[u8]| {
    // The recipe comes after the picture, so that any file is a seed without changes.
    let (bytes, tail) = data.split_at(data.len().saturating_sub(32));
    let Ok(asked) = Asked::arbitrary(&mut Unstructured::new(tail)) else { return };
    let recipe = asked.recipe();
    let draw = Draw { seed: 0, epoch: 0, record: asked.record.into() };
    let mut out = vec![0; recipe.place_len()];
    let decoded = USED.with_borrow_mut(|decoder| decoder.decode(bytes, &recipe, draw, &LIMITS, &mut out));
    let mut again = vec![0xFF; recipe.place_len()];
    let mut fresh = CpuDecoder::new();
    assert_eq!(fresh.decode(bytes, &recipe, draw, &LIMITS, &mut again), decoded);
    assert!(decoded.is_err() || out == again, "every byte is written, the same each time");
    again.fill(0xFF);
    let by_turbo = TURBO.with_borrow_mut(|decoder| decoder.decode(bytes, &recipe, draw, &LIMITS, &mut again));
    // Which of the two it was is no part of the answer.
    assert_eq!(
        by_turbo.map(|seen| Decoded { by: None, ..seen }),
        decoded.clone().map(|seen| Decoded { by: None, ..seen })
    );
    assert!(decoded.is_err() || out == again, "pixels do not depend on the decoder");
    let form = Form { background: asked.background(), ..Form::default() };
    let Ok((kept, _)) = fresh.upright(bytes, form, &LIMITS) else { return };
    // Damage outside of the part that the recipe needs may be a fault for only one of them; rule 30 is about sound pictures.
    if decoded.is_ok() {
        let mut from_kept = vec![0; recipe.place_len()];
        fresh.transform(&kept, &recipe, draw, &LIMITS, &mut from_kept).expect("the limits are the same");
        assert!(out == from_kept, "a region equals the cut of a whole decode");
    }
});
