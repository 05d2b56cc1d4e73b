//! Carrying a plan's steps out: two buffers that take turns, the last pass written straight into the place.

use fast_image_resize::images::{TypedCroppedImage, TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use crate::cpu::finish::{Values, Window, finish};
use crate::fault::{Fault, Limits};
use crate::plan::{Plan, Rect, Step};
use crate::recipe::{Layout, Recipe};
use crate::transform::Interpolation;

/// Memory that one buffer keeps from picture to picture; more is given back after the picture that needed it.
const KEEP: usize = 48 << 20;

/// A picture under work, packed RGB, and the buffer for the next step's result.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    picture: Vec<u8>,
    spare: Vec<u8>,
    width: u32,
    height: u32,
    resizer: Resizer,
}

impl Canvas {
    /// Starts a picture of this size: gives its buffer, of width x height x 3 bytes with unspecified content, and the spare.
    pub(super) fn begin(
        &mut self,
        width: u32,
        height: u32,
        limits: &Limits,
    ) -> Result<(&mut [u8], &mut Vec<u8>), Fault> {
        let len = limits.check_pixels(width, height)? * 3;
        (self.width, self.height) = (width, height);
        Ok((sized(&mut self.picture, len), &mut self.spare))
    }

    /// The whole picture, packed RGB.
    pub(super) fn rgb(&self) -> &[u8] {
        &self.picture[..self.width as usize * self.height as usize * 3]
    }

    /// Replaces the picture by one of as many pixels, made from it by `make(old, new)`.
    pub(super) fn remake(&mut self, width: u32, height: u32, make: impl FnOnce(&[u8], &mut [u8])) {
        let len = self.rgb().len();
        make(&self.picture[..len], sized(&mut self.spare, len));
        self.swap(width, height);
    }

    /// Resizes the whole picture by the triangle filter; one of this size already is left alone.
    pub(super) fn shrink(&mut self, width: u32, height: u32) {
        if (width, height) == (self.width, self.height) {
            return;
        }
        let to = sized(&mut self.spare, width as usize * height as usize * 3);
        let all = Rect { left: 0, top: 0, width: self.width, height: self.height };
        resize(&mut self.resizer, &self.picture, self.width, all, Interpolation::Bilinear, (width, height), to);
        self.swap(width, height);
    }

    /// Carries the plan out and writes the result into `out`, which has the recipe's place length. `region` is where the
    /// canvas lies in the picture that the plan speaks of; it holds the plan's part.
    pub(super) fn carry_out(
        &mut self,
        region: Rect,
        plan: &Plan,
        recipe: &Recipe,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        let plain = *recipe.values() == Values::Uint8 && recipe.output().layout == Layout::Nhwc && !plan.mirrored;
        // Only the first step can be a cut from a picture of which there is but a region.
        let Rect { left: region_left, top: region_top, .. } = region;
        let mut part = self.all();
        for (number, step) in plan.steps.iter().enumerate() {
            let last = number + 1 == plan.steps.len();
            match *step {
                Step::Cut(rect) if number == 0 => {
                    part = Rect { left: rect.left - region_left, top: rect.top - region_top, ..rect };
                }
                Step::Cut(rect) => part = rect,
                Step::Resize { width, height, interpolation } if last && plain => {
                    resize(&mut self.resizer, &self.picture, self.width, part, interpolation, (width, height), out);
                    return Ok(());
                }
                Step::Resize { width, height, interpolation } => {
                    let len = limits.check_pixels(width, height)? * 3;
                    let to = sized(&mut self.spare, len);
                    resize(&mut self.resizer, &self.picture, self.width, part, interpolation, (width, height), to);
                    self.swap(width, height);
                    part = self.all();
                }
                Step::Canvas { width, height, left, top, fill } => {
                    let len = limits.check_pixels(width, height)? * 3;
                    let to = sized(&mut self.spare, len);
                    to.fill(fill);
                    let rows = to.chunks_exact_mut(width as usize * 3).skip(top as usize);
                    for (to, row) in rows.zip(part.top..part.top + part.height) {
                        let from = (row as usize * self.width as usize + part.left as usize) * 3;
                        let row_len = part.width as usize * 3;
                        to[left as usize * 3..][..row_len].copy_from_slice(&self.picture[from..][..row_len]);
                    }
                    self.swap(width, height);
                    part = self.all();
                }
            }
        }
        let stride = self.width as usize;
        let window = Window {
            rgb: &self.rgb()[(part.top as usize * stride + part.left as usize) * 3..],
            stride,
            width: part.width as usize,
            height: part.height as usize,
        };
        finish(window, plan.mirrored, recipe.values(), recipe.output().layout, out);
        Ok(())
    }

    /// Gives back what an unusually large picture has left.
    pub(super) fn trim(&mut self) {
        for buffer in [&mut self.picture, &mut self.spare] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
        }
        if self.resizer.size_of_internal_buffers() > KEEP {
            self.resizer.reset_internal_buffers();
        }
    }

    fn all(&self) -> Rect {
        Rect::whole(self.width, self.height)
    }

    fn swap(&mut self, width: u32, height: u32) {
        std::mem::swap(&mut self.picture, &mut self.spare);
        (self.width, self.height) = (width, height);
    }
}

/// The first `len` bytes of a buffer, of unspecified content; it grows to that if it must. A fresh buffer is zeroed by the
/// kernel as it is written to, so that a picture that only declares its pixels costs no memory.
pub(super) fn sized(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        *buffer = vec![0; len];
    }
    &mut buffer[..len]
}

/// Resizes a part of a picture. Pixels outside the part have no influence, as in torchvision, which cuts first.
fn resize(
    resizer: &mut Resizer,
    picture: &[u8],
    stride: u32,
    part: Rect,
    interpolation: Interpolation,
    (width, height): (u32, u32),
    out: &mut [u8],
) {
    let algorithm = match interpolation {
        Interpolation::Nearest => ResizeAlg::Nearest,
        Interpolation::Bilinear => ResizeAlg::Convolution(FilterType::Bilinear),
        Interpolation::Bicubic => ResizeAlg::Convolution(FilterType::CatmullRom),
        Interpolation::Lanczos3 => ResizeAlg::Convolution(FilterType::Lanczos3),
    };
    let rows = &picture[part.top as usize * stride as usize * 3..];
    let from = TypedImageRef::<U8x3>::from_buffer(stride, part.height, rows).expect("the rows hold the part");
    let from = TypedCroppedImage::new(from, part.left, 0, part.width, part.height)
        .expect("the part lies inside the picture, and no side is 0");
    let mut to = TypedImage::<U8x3>::from_buffer(width, height, out).expect("the output holds the result");
    let options = ResizeOptions::new().resize_alg(algorithm).use_alpha(false);
    resizer.resize_typed(&from, &mut to, &options).expect("no crop box is given, so none can be wrong");
}

#[cfg(test)]
mod tests {
    #![allow(unsafe_code, reason = "the resizer's switch for CPU extensions is an unsafe function")]

    use fast_image_resize::CpuExtensions;

    use super::*;

    /// Every set of instructions that this machine has gives what plain code gives.
    #[test]
    fn a_resize_gives_the_same_bytes_with_and_without_simd() {
        let (width, height) = (413, 307);
        let picture = crate::sample::photograph_rgb(2, width, height);
        let part = Rect { left: 11, top: 7, width: 399, height: 290 };
        for interpolation in
            [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic, Interpolation::Lanczos3]
        {
            for (to_width, to_height) in [(224, 224), (640, 500), (97, 13), (399, 100)] {
                let run = |extensions: CpuExtensions| {
                    let mut resizer = Resizer::new();
                    // SAFETY: only extensions that `is_supported` has found are passed in.
                    unsafe { resizer.set_cpu_extensions(extensions) };
                    let mut out = vec![0; to_width as usize * to_height as usize * 3];
                    resize(&mut resizer, &picture, width, part, interpolation, (to_width, to_height), &mut out);
                    out
                };
                let plain = run(CpuExtensions::None);
                for extensions in supported() {
                    assert!(run(extensions) == plain, "{interpolation:?} to {to_width} x {to_height}, {extensions:?}");
                }
            }
        }
    }

    fn supported() -> Vec<CpuExtensions> {
        #[cfg(target_arch = "x86_64")]
        let known = vec![CpuExtensions::Sse4_1, CpuExtensions::Avx2];
        #[cfg(target_arch = "aarch64")]
        let known = vec![CpuExtensions::Neon];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let known = vec![];
        known.into_iter().filter(CpuExtensions::is_supported).collect()
    }
}
