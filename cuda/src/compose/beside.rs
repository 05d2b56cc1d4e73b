//! The kernel beside its twin on the GPU itself, over random cases, and how fast it is alone.
#![allow(unsafe_code, reason = "launches the kernel on memory that it fills itself")]

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forebay_pixels::{Composition, Draw, Dtype, Limits, Orientation, Output, Recipe, Sampling, Transform};
use half::{bf16, f16};

use super::cases::{pick, recipe};
use super::twin::{self, Copied};
use super::{ComposeKernel, Composer, Source};
use crate::driver::{Context, PinnedMemory, Stream};
use crate::error::LaneError;
use crate::frame::{Frame, Surface};
use crate::nvjpeg::{Account, AccountedMemory};

/// Cases of a launch, and bytes that their sources, their results and their tables have.
const TOGETHER: u64 = 50;
const ROOM: usize = 16 << 20;
/// Sides of sources and results.
const LONGEST: (u32, u32) = (96, 80);

/// Where the kernel is launched: a GPU's context, the account of its memory, and the kernel as it is loaded there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) context: &'a Arc<Context>,
    pub(crate) account: &'a Arc<Account>,
    pub(crate) kernel: &'a ComposeKernel,
}

/// How far the kernel is from its twin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// Pictures that both have composed.
    pub cases: u64,
    /// The largest difference of a value: levels of 255 before normalisation, or steps of the type where these are fewer.
    pub worst: u32,
    /// Values that differ at all.
    pub differ: u64,
}

/// Everything that launches take.
struct Bench {
    stream: Stream,
    sources: AccountedMemory,
    results: AccountedMemory,
    composer: Composer,
    /// The bytes that are in `sources`, and those that were read from `results`.
    given: PinnedMemory,
    made: PinnedMemory,
}

impl Bench {
    /// With noise in its sources, and in its results, so that all of it can be read.
    fn new(site: Site<'_>, room: usize) -> Result<Self, LaneError> {
        let memory = || LaneError::Memory { limit: site.account.limit(), needed: room };
        let mut bench = Self {
            stream: Stream::new(site.context)?,
            sources: site.account.take(room)?.ok_or_else(memory)?,
            results: site.account.take(room)?.ok_or_else(memory)?,
            composer: Composer::new(site.context, site.account, site.kernel, ROOM)?,
            given: PinnedMemory::new(site.context, room)?,
            made: PinnedMemory::new(site.context, room)?,
        };
        let noise = Draw { seed: 11, epoch: 0, record: 0 }.at(0);
        for (number, bytes) in (0..).zip(bench.given.as_chunks_mut::<8>().0) {
            *bytes = noise.bits(number).to_le_bytes();
        }
        for memory in [&bench.sources, &bench.results] {
            // SAFETY: both are left alone until the wait.
            unsafe { bench.stream.begin_write(&bench.given, room, memory) }?;
        }
        bench.stream.wait()?;
        Ok(bench)
    }

    /// Composes what was added, and waits.
    fn launch(&mut self) -> Result<(), LaneError> {
        // SAFETY: sources, results and composer are left alone until the wait; pictures were added with what lies in them.
        unsafe { self.composer.launch(&mut self.stream, |_| true) }?;
        Ok(self.stream.wait()?)
    }
}

/// What is made of a picture of noise.
struct Case {
    source: Source,
    /// Bytes of its source.
    len: usize,
    made: Composition,
}

impl Case {
    /// The composition of a record, for a source at an address. `None` if only the CPU can do the recipe.
    fn of(record: u64, address: u64) -> Option<Self> {
        let draw = Draw { seed: 12, epoch: 0, record };
        let draws = draw.at(0);
        let (width, height) = (1 + draws.below(0, LONGEST.0), 1 + draws.below(1, LONGEST.0));
        let orientation = Orientation::from_exif(pick(draws, 2, [1, 2, 3, 4, 5, 6, 7, 8]));
        let recipe = recipe(draw.at(1), LONGEST.1);
        let made = Composition::of((width, height), orientation, &recipe, draw, &Limits::default()).ok()?;
        let samplings = [Sampling::Gray, Sampling::S444, Sampling::S422, Sampling::S420, Sampling::S440];
        let frame = |sampling| Frame { width, height, sampling, baseline: true };
        let (source, surface) = if draws.below(3, 6) == 0 {
            let surface = Surface::rgb(frame(Sampling::S444));
            (Source::rgb(address, u32::try_from(surface.planes()[0].pitch).unwrap_or(u32::MAX)), surface)
        } else {
            let surface = Surface::of(frame(pick(draws, 4, samplings)));
            (Source::planar(&surface, address), surface)
        };
        Some(Self { source, len: surface.bytes(), made })
    }
}

/// Composes random cases on a GPU and with the twin, from noise in planes of every sampling and in RGB.
///
/// # Errors
/// The GPU fails, or does not take the kernel.
pub(crate) fn beside(site: Site<'_>, cases: u64) -> Result<Beside, LaneError> {
    let mut bench = Bench::new(site, ROOM)?;
    let mut expected = PinnedMemory::new(site.context, ROOM)?;
    let mut seen = Beside::default();
    let mut records = 0..;
    while seen.cases < cases {
        bench.composer.clear();
        let mut results: Vec<(Composition, Range<usize>)> = Vec::new();
        let (mut sources, mut end) = (0, 0);
        for _ in 0..TOGETHER.min(cases - seen.cases) {
            let address = bench.sources.at() + sources as u64;
            let case = records.by_ref().find_map(|record| Case::of(record, address));
            let Case { source, len, made } = case.expect("most recipes are the kernel's");
            let result = end..end + made.result_len();
            let at = |place: usize| bench.results.at() + place as u64;
            bench.composer.add(&source, &made, at(result.start), at(result.end));
            (sources, end) = (sources + len, (result.end + Composer::between_len(&made)).next_multiple_of(8));
            results.push((made, result));
        }
        bench.launch()?;
        bench.stream.read(&bench.results, 0..end, &mut bench.made)?;
        let (pictures, tables) = bench.composer.composed();
        let sources = Copied { at: bench.sources.at(), bytes: &mut bench.given };
        let outputs = Copied { at: bench.results.at(), bytes: &mut expected };
        // SAFETY: pictures were added with sources, results and tables that lie in these.
        unsafe { twin::compose(&pictures, &mut [sources, outputs, tables]) };
        for (made, result) in results {
            seen.add(&made, &bench.made[result.clone()], &expected[result]);
        }
    }
    Ok(seen)
}

impl Beside {
    fn add(&mut self, made: &Composition, ours: &[u8], twins: &[u8]) {
        self.cases += 1;
        if ours == twins {
            return;
        }
        let width = match made.output.dtype {
            Dtype::Uint8 => 1,
            Dtype::Float16 | Dtype::Bfloat16 => 2,
            Dtype::Float32 => 4,
        };
        // The smallest deviation is the smallest step of a level.
        let deviation =
            made.normalize.as_ref().map_or(1.0, |normalize| normalize.std.rgb().into_iter().fold(f32::MAX, f32::min));
        for (ours, twins) in ours.chunks_exact(width).zip(twins.chunks_exact(width)).filter(|(a, b)| a != b) {
            self.differ += 1;
            self.worst = self.worst.max(apart(made.output.dtype, deviation, ours, twins));
        }
    }
}

/// Levels of 255 that two values are apart before normalisation, or steps of their type where these are fewer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate, which is meant")]
fn apart(dtype: Dtype, deviation: f32, a: &[u8], b: &[u8]) -> u32 {
    let (a, b) = match dtype {
        Dtype::Uint8 => return u32::from(a[0].abs_diff(b[0])),
        Dtype::Float16 | Dtype::Bfloat16 => ([a[0], a[1], 0, 0], [b[0], b[1], 0, 0]),
        Dtype::Float32 => ([a[0], a[1], a[2], a[3]], [b[0], b[1], b[2], b[3]]),
    };
    let bits = [a, b].map(u32::from_le_bytes);
    let sign = if dtype == Dtype::Float32 { 1 << 31 } else { 1 << 15 };
    // Floats of the same sign have the order of their bits.
    let place = bits.map(|bits| if bits & sign == 0 { i64::from(bits) } else { -i64::from(bits ^ sign) });
    let steps = u32::try_from(place[0].abs_diff(place[1])).unwrap_or(u32::MAX);
    let half = |bits: u32| u16::try_from(bits).expect("the upper half is empty");
    let values = bits.map(|bits| match dtype {
        Dtype::Float16 => f16::from_bits(half(bits)).to_f32(),
        Dtype::Bfloat16 => bf16::from_bits(half(bits)).to_f32(),
        _ => f32::from_bits(bits),
    });
    let levels = ((values[0] - values[1]).abs() * deviation * 255.0).round();
    if levels.is_nan() { steps } else { steps.min(levels as u32) }
}

/// How many pictures of 500 x 375 in 4:2:0 the kernel alone turns into training pictures per second: 224 x 224 of this type
/// and layout, in batches of this many, measured for at least this time. Launches follow each other with the same tables, so
/// that nothing but the kernel is measured.
///
/// # Errors
/// The GPU fails, or does not take the kernel.
pub(crate) fn speed(site: Site<'_>, batch: u32, output: Output, time: Duration) -> Result<f64, LaneError> {
    let surface = Surface::of(Frame { width: 500, height: 375, sampling: Sampling::S420, baseline: true });
    let recipe = Recipe::new(Transform::training(224), output).expect("the side is allowed");
    let made: Vec<_> = (0..u64::from(batch))
        .filter_map(|record| {
            let draw = Draw { seed: 0, epoch: 0, record };
            Composition::of((500, 375), Orientation::AsStored, &recipe, draw, &Limits::default()).ok()
        })
        .collect();
    let place = made.iter().map(Composition::result_len).max().unwrap_or(0).next_multiple_of(8);
    let mut bench = Bench::new(site, made.len() * surface.bytes().max(place))?;
    for (number, made) in made.iter().enumerate() {
        let source = Source::planar(&surface, bench.sources.at() + (number * surface.bytes()) as u64);
        let at = bench.results.at() + (number * place) as u64;
        // A single round passes nothing on.
        bench.composer.add(&source, made, at, at);
    }
    // The first one takes longer than all others.
    bench.launch()?;
    let mut launches = 1_u32;
    loop {
        let begun = Instant::now();
        for _ in 0..launches {
            // SAFETY: as in `Bench::launch`; nothing was added since.
            unsafe { bench.composer.launch_again(&mut bench.stream) }?;
        }
        bench.stream.wait()?;
        let taken = begun.elapsed();
        if taken >= time || launches == 1 << 20 {
            return Ok(f64::from(batch) * f64::from(launches) / taken.as_secs_f64());
        }
        launches *= 2;
    }
}

#[cfg(test)]
mod tests {
    use forebay_fake_gpu::Fake;

    use super::*;
    use crate::lane::gpu::Gpu;
    use crate::nvjpeg::NvjpegPlaces;
    use crate::places::Places;

    fn gpu(fake: &Fake) -> Gpu {
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let places = Places { driver: Some(fake.path()), nvjpeg };
        Gpu::open_all(&places, 1 << 30).unwrap().remove(0).unwrap()
    }

    #[test]
    fn the_fake_driver_runs_the_twin_and_so_nothing_differs() {
        let fake = Fake::new();
        let seen = beside(gpu(&fake).site().unwrap(), 130).unwrap();
        assert_eq!(seen, Beside { cases: 130, worst: 0, differ: 0 });
    }

    #[test]
    fn what_differs_is_counted_and_the_largest_difference_kept() {
        let made = Composition::whole((2, 1));
        let mut seen = Beside::default();
        seen.add(&made, &[1, 2, 3, 4, 5, 6], &[1, 2, 3, 4, 5, 6]);
        seen.add(&made, &[1, 2, 3, 4, 5, 6], &[1, 4, 3, 4, 5, 5]);
        assert_eq!(seen, Beside { cases: 2, worst: 2, differ: 2 });
    }

    #[test]
    fn floats_are_apart_by_levels_or_by_steps_of_their_type_where_these_are_fewer() {
        let single = |a: f32, b: f32, deviation| apart(Dtype::Float32, deviation, &a.to_le_bytes(), &b.to_le_bytes());
        assert_eq!(single(2.0 / 255.0, 5.0 / 255.0, 1.0), 3);
        assert_eq!(single(0.2, 0.2 + 4.0 / (255.0 * 0.5), 0.5), 4);
        assert_eq!(single(1.0e20, f32::from_bits(1.0e20_f32.to_bits() + 1), 1.0), 1);
        assert_eq!((single(0.0, -0.0, 1.0), single(1.0, f32::NAN, 1.0) > 1000), (0, true));
        let half = |a: f32, b: f32| {
            let [a, b] = [a, b].map(|value| f16::from_f32(value).to_le_bytes());
            apart(Dtype::Float16, 1.0, &a, &b)
        };
        assert_eq!((half(0.1, 0.1 + 6.0 / 255.0), half(-1.0, f32::INFINITY) > 1000), (6, true));
    }

    #[test]
    fn the_kernel_alone_has_a_speed_in_every_type() {
        let fake = Fake::new();
        for dtype in [Dtype::Uint8, Dtype::Float16] {
            let output = Output { dtype, ..Output::default() };
            assert!(speed(gpu(&fake).site().unwrap(), 2, output, Duration::ZERO).unwrap() > 0.0);
        }
    }
}
