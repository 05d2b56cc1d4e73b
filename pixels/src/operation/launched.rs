//! Operations as a GPU carries them out: in numbers that are calculated here once for a picture. What is not here, the CPU does.

use super::affine::nearest;
use super::warp::{Warp, moved_from};
use super::{AffineMatrix, Blur, Erase, Filling, Operation};
use crate::cpu_only::CpuOnly;
use crate::matching::Match;
use crate::rounds::{BlendShares, Change, RoundSource, ValueTable};

/// Longest side of a blur's kernel. Each pixel takes the square of it.
const LONGEST_BLUR: u32 = 31;
/// Greatest radius of Pillow's blur. Each pixel takes about twelve times as many.
const GREATEST_RADIUS: f64 = 64.0;

/// What an operation is for a GPU.
pub(crate) enum Launched {
    /// Something done with each pixel.
    Change(Change),
    /// Rounds of their own, one after the other. Without any, nothing changes.
    Sources(Vec<RoundSource>),
}

/// What an operation is for a GPU, on a picture of this width and height.
///
/// # Errors
/// It is the CPU's alone.
pub(crate) fn launched(operation: &Operation, size: (u32, u32), matched: Match) -> Result<Launched, CpuOnly> {
    let sides = (size.0 as usize, size.1 as usize);
    let moved = |warp: Warp| Launched::Sources(vec![RoundSource::Moved(moved_from(&warp, sides, matched))]);
    Ok(match operation {
        Operation::Brightness(_)
        | Operation::Solarize(_)
        | Operation::SolarizeAdd(_)
        | Operation::Posterize(_)
        | Operation::Invert(_) => Launched::Change(Change::Table(table(operation, matched))),
        Operation::Saturation(by) => Launched::Change(Change::Saturation(shares(by.saturation_factor))),
        Operation::Contrast(by) => Launched::Change(Change::Contrast(shares(by.contrast_factor))),
        Operation::Gray(_) => Launched::Change(Change::Gray),
        #[expect(clippy::cast_possible_truncation, reason = "as torch calculates")]
        Operation::Hue(hue) => Launched::Change(Change::Hue { turn: hue.turn(), factor: hue.hue_factor as f32 }),
        Operation::HsvGains(gains) => {
            let (turn, saturations, values) = gains.tables();
            Launched::Change(Change::Gains { turn, saturations: saturations.into(), values: values.into() })
        }
        Operation::Erase(erase) => Launched::Change(erased(erase)?),
        Operation::Autocontrast(_) => Launched::Change(Change::Autocontrast),
        Operation::Equalize(_) => Launched::Change(Change::Equalize),
        Operation::Sharpness(sharpness) => {
            Launched::Sources(vec![RoundSource::Smoothed { factor: sharpness.share(matched) }])
        }
        Operation::Blur(blur) => Launched::Sources(vec![blurred(blur)?]),
        Operation::Affine(affine) => moved(affine.warp(sides)),
        Operation::Rotate(rotate) => moved(rotate.warp(sides, matched)),
        Operation::AffineMatrix(matrix) => moved(matrix.warp()),
        Operation::Perspective(perspective) => perspective.warp().map_or_else(|| Launched::Sources(Vec::new()), moved),
        Operation::PillowBlur(blur) if blur.radius.both().into_iter().any(|radius| radius > GREATEST_RADIUS) => {
            return Err(CpuOnly::LargeBlur);
        }
        Operation::PillowBlur(blur) => Launched::Sources(blur.boxes().map(RoundSource::Boxed).collect()),
        Operation::ChainMix(_) => return Err(CpuOnly::AugMix),
    })
}

/// What it makes of each value, if it maps values.
fn table(operation: &Operation, matched: Match) -> ValueTable {
    let mut ramp: Vec<u8> = (0..=255).flat_map(|value| [value; 3]).collect();
    operation.apply(&mut ramp, (256, 1), matched);
    let mut table = ValueTable::new([0; 256]);
    for (to, [red, ..]) in table.iter_mut().zip(ramp.as_chunks::<3>().0) {
        *to = *red;
    }
    table
}

/// A picture of this width and height, mirrored top to bottom. All places are whole numbers and a half, so that nothing is rounded.
pub(crate) fn upside_down((width, height): (u32, u32)) -> RoundSource {
    let matrix = [1.0, 0.0, 0.0, 0.0, -1.0, height.into()];
    let warp = AffineMatrix { matrix, interpolation: nearest(), fill: None }.warp();
    RoundSource::Moved(moved_from(&warp, (width as usize, height as usize), Match::Pillow))
}

#[expect(clippy::cast_possible_truncation, reason = "as Pillow and torch calculate")]
fn shares(factor: f64) -> BlendShares {
    BlendShares { own: factor as f32, other: (1.0 - factor) as f32 }
}

/// A rectangle of one colour.
fn erased(erase: &Erase) -> Result<Change, CpuOnly> {
    let rgb = match erase.v {
        Filling::Gray(value) => [value; 3],
        Filling::Rgb(rgb) => rgb,
        Filling::Noise(_) => return Err(CpuOnly::Noise),
    };
    let ends = |first: u32, len: u32| [first, first.saturating_add(len)];
    Ok(Change::Erase { rows: ends(erase.i, erase.h), columns: ends(erase.j, erase.w), rgb })
}

/// A blur whose kernel is not large.
fn blurred(blur: &Blur) -> Result<RoundSource, CpuOnly> {
    if blur.kernel_size.both().iter().any(|side| *side > LONGEST_BLUR) {
        return Err(CpuOnly::LargeBlur);
    }
    let [along, down] = blur.weights();
    Ok(RoundSource::Blurred { along, down })
}
