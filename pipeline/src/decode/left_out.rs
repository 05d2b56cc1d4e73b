//! How many pictures had content in their files that is not in their pixels, by format and content, over all threads and streams.

use std::sync::atomic::{AtomicU64, Ordering};

use forebay_pixels::{Format, Further, FurtherKind, Limits, Mode};

/// The counts of one format.
type OfFormat = [AtomicU64; FurtherKind::ALL.len()];

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct LeftOut([OfFormat; Format::ALL.len()]);

impl LeftOut {
    /// Counts a file whose picture was decoded in this mode.
    pub(crate) fn count(&self, bytes: &[u8], mode: Mode, limits: &Limits) {
        let Some(format) = Format::of(bytes).ok().and_then(|format| place(&Format::ALL, format)) else { return };
        for further in Further::of(bytes, mode, limits) {
            if let Some(kind) = place(&FurtherKind::ALL, further.kind) {
                self.0[format][kind].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// The format, the content and the number of pictures, of what there was.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Format, FurtherKind, u64)> {
        let of_format = |(format, counts): (Format, &OfFormat)| {
            let pictures = FurtherKind::ALL.into_iter().zip(counts).map(move |(kind, count)| {
                let pictures = count.load(Ordering::Relaxed);
                (format, kind, pictures)
            });
            pictures.filter(|(_, _, pictures)| *pictures > 0).collect::<Vec<_>>()
        };
        Format::ALL.into_iter().zip(&self.0).flat_map(of_format)
    }
}

fn place<T: Copy + PartialEq>(all: &[T], one: T) -> Option<usize> {
    all.iter().position(|other| *other == one)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use forebay_pixels::{Draw, Form, Output, Recipe, Transform, sample};

    use super::*;
    use crate::cache::{Cache, Keep};
    use crate::decode::Picture;
    use crate::decode::budget::Budget;
    use crate::decode::cpu::{CpuLane, CpuShared};
    use crate::decode::views::FurtherViews;
    use crate::record::Input;
    use crate::settings::JpegDecoder;

    fn read(path: &str) -> Vec<u8> {
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
    }

    #[test]
    fn rule_68_content_that_is_not_in_the_pixels_is_counted_by_format_each_time_that_a_picture_is_decoded() {
        let shared = CpuShared::new(Limits::default(), Arc::new(Budget::new(1)), JpegDecoder::Auto);
        let mut lane = CpuLane::maker(shared.clone())();
        let recipe = Recipe::training(32).unwrap();
        let output = Output { mode: Mode::Rgba, ..Output::default() };
        let with_alpha = Recipe::new(Transform::training(32), output).unwrap();
        let cache = Cache::new(Keep::Decoded(Form::default()), 1 << 20);
        let files = [
            (read("webp/tests/pictures/animated-alpha.webp"), None),
            (read("pixels/tests/jxl/deep-31x23.jxl"), None),
            (read("pixels/tests/jxl/deep-31x23.jxl"), Some(&cache)),
            (sample::photograph(1, 90, 60), None),
        ];
        for (bytes, cache) in files.iter().chain(&files) {
            let (mut out, draw) = (vec![0; recipe.place_len()], Draw { seed: 0, epoch: 0, record: 0 });
            let (input, further) = (Input::File(bytes), FurtherViews::default());
            let (behind, seek, cache) = (&[][..], None, *cache);
            let made =
                lane(Picture { input, behind, cache, seek, recipe: &recipe, record: 0, draw, out: &mut out, further });
            made.unwrap();
        }
        let expected = [
            (Format::WebP, FurtherKind::Frames, 2),
            (Format::WebP, FurtherKind::Alpha, 2),
            // One of four was kept decoded.
            (Format::Jxl, FurtherKind::SixteenBits, 3),
            (Format::Jxl, FurtherKind::Profile, 3),
        ];
        assert_eq!(shared.left_out.figures().collect::<Vec<_>>(), expected);
        let (mut out, draw) = (vec![0; with_alpha.place_len()], Draw { seed: 0, epoch: 0, record: 0 });
        let (input, further) = (Input::File(&files[0].0), FurtherViews::default());
        let (behind, recipe) = (&[][..], &with_alpha);
        lane(Picture { input, behind, cache: None, seek: None, recipe, record: 0, draw, out: &mut out, further })
            .unwrap();
        let figures: Vec<_> = shared.left_out.figures().collect();
        assert_eq!(figures[..2], [(Format::WebP, FurtherKind::Frames, 3), (Format::WebP, FurtherKind::Alpha, 2)]);
    }
}
