//! The kernel's twin beside the CPU lane: pictures that the fake nvJPEG decodes into planes, composed on the fake GPU, are what
//! the CPU decoder makes of the same files, to the byte.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

mod forms;
mod operations;

use std::path::Path;
use std::process::Command;

use forebay_fake_gpu::{Count, Fake, Knob};
use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{
    CpuDecoder, Draw, Draws, Dtype, Interpolation, JpegHead, Limits, Normalize, Orientation, Output, Recipe, Resize,
    Size, Transform,
};

use super::cases::{FILTERS, pick, recipe};
use super::*;
use crate::driver::{Driver, Stream};
use crate::frame::{Form, Frame, Placed, Surface};
use crate::nvjpeg::{Backend, BatchState, Handle, Nvjpeg, NvjpegPlaces};

const ROOM: usize = 32 << 20;

/// A fake GPU with all that a worker has.
struct Bench {
    fake: Fake,
    context: Arc<Context>,
    account: Arc<Account>,
    state: BatchState,
    stream: Stream,
    surfaces: AccountedMemory,
    results: AccountedMemory,
    composer: Composer,
    host: PinnedMemory,
}

impl Bench {
    fn new() -> Self {
        let fake = Fake::new();
        let driver = Driver::open(Some(&fake.path())).unwrap();
        let nvjpeg = Nvjpeg::open(&NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() }).unwrap();
        let context = Context::new(&driver, 0).unwrap();
        let account = Account::new(&context, 8 * ROOM);
        let handle = Handle::new(&nvjpeg, &context, &account, Backend::Hardware).unwrap();
        let kernel = ComposeKernel::load(&context).unwrap();
        Self {
            fake,
            state: BatchState::new(Form::Planes, &handle, ROOM).unwrap(),
            stream: Stream::new(&context).unwrap(),
            surfaces: account.take(ROOM).unwrap().unwrap(),
            results: account.take(ROOM).unwrap().unwrap(),
            composer: Composer::new(&context, &account, &kernel, ROOM).unwrap(),
            host: PinnedMemory::new(&context, ROOM).unwrap(),
            context,
            account,
        }
    }

    /// Decodes JPEGs into surfaces, one behind the other.
    fn decode(&mut self, files: &[&[u8]]) -> Vec<Source> {
        let mut used = 0;
        let mut placed = Vec::new();
        for bytes in files {
            let surface = Surface::of(Frame::read(bytes).unwrap());
            placed.push(Placed { bytes, surface, at: used });
            used += surface.bytes();
        }
        self.state.decode(&placed, &mut self.surfaces, &mut self.stream).unwrap();
        let address = self.surfaces.at();
        placed.iter().map(|picture| Source::planar(&picture.surface, address + picture.at as u64)).collect()
    }

    /// Composes pictures by as many launches as the one with the most rounds needs, and gives their results.
    fn compose(&mut self, pictures: &[(Source, &Composition)]) -> Vec<Vec<u8>> {
        self.composer.clear();
        let mut results = Vec::new();
        let mut used = 0;
        for (source, made) in pictures {
            let result = used..used + made.result_len();
            let at = |place: usize| self.results.at() + place as u64;
            self.composer.add(source, made, at(result.start), at(result.end));
            used = (result.end + Composer::between_len(made)).next_multiple_of(8);
            results.push(result);
        }
        let launches = self.fake.count(Count::Launches);
        // SAFETY: surfaces, results and composer are left alone until the wait of the read below.
        unsafe { self.composer.launch(&mut self.stream, |_| true) }.unwrap();
        self.stream.read(&self.results, 0..used, &mut self.host).unwrap();
        let rounds = pictures.iter().map(|(_, made)| made.rounds.len()).max().unwrap();
        let launched = usize::try_from(self.fake.count(Count::Launches) - launches).unwrap();
        assert_eq!(launched, rounds, "a launch for each round of all pictures");
        results.into_iter().map(|result| self.host[result].to_vec()).collect()
    }

    /// Composes so many pictures with sides up to the first, to sides up to the second, twenty at a time. `look` is given what is
    /// made of each. Says how many were left to the CPU.
    fn against_the_cpu(
        &mut self,
        seed: u64,
        count: u64,
        (longest, longest_result): (u32, u32),
        mut look: impl FnMut(&Composition),
    ) -> usize {
        let limits = Limits::default();
        let mut cpu = CpuDecoder::new();
        let mut left = 0;
        let records: Vec<u64> = (0..count).collect();
        for records in records.chunks(20) {
            let mut cases = Vec::new();
            for record in records {
                let draw = Draw { seed, epoch: 0, record: *record };
                let (bytes, recipe) = (picture(draw.at(0), longest), recipe(draw.at(1), longest_result));
                match composition(&bytes, &recipe, draw) {
                    Some(made) => {
                        look(&made);
                        cases.push((bytes, recipe, draw, made));
                    }
                    None => left += 1,
                }
            }
            let files: Vec<_> = cases.iter().map(|(bytes, ..)| bytes.as_slice()).collect();
            let sources = self.decode(&files);
            let pictures: Vec<_> = sources.into_iter().zip(cases.iter().map(|(.., made)| made)).collect();
            let composed = self.compose(&pictures);
            for ((bytes, recipe, draw, made), ours) in cases.iter().zip(composed) {
                let mut expected = vec![0; recipe.place_len()];
                cpu.decode(bytes, recipe, *draw, &limits, &mut expected).unwrap();
                let differ = ours.iter().zip(&expected).position(|(a, b)| a != b);
                assert!(
                    differ.is_none() && ours.len() == expected.len(),
                    "{differ:?}, {draw:?}: {made:?} of {recipe:?}"
                );
            }
        }
        left
    }
}

/// The file with an EXIF segment that says how it is to be turned, right after its start.
fn turned(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let tiff = [b'I', b'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0];
    let mut exif = vec![0xFF, 0xE1, 0, u8::try_from(2 + 6 + tiff.len()).unwrap()];
    exif.extend(b"Exif\0\0");
    exif.extend(tiff);
    [&jpeg[..2], &exif, &jpeg[2..]].concat()
}

/// A picture of any sampling and orientation, with sides from 1 to `longest`.
fn picture(draws: Draws, longest: u32) -> Vec<u8> {
    let (width, height) = (1 + draws.below(0, longest), 1 + draws.below(1, longest));
    let sampling = pick(draws, 2, [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]);
    let gray = draws.below(3, 6) == 0;
    let rgb = photograph_rgb(draws.bits(4) % 1000, width, height);
    let (colors, pixels, sampling) = if gray {
        (JpegColors::Gray, rgb.chunks_exact(3).map(|pixel| pixel[1]).collect(), [1, 1])
    } else {
        (JpegColors::YCbCr, rgb, sampling)
    };
    let form = JpegForm { colors, quality: 60 + draws.below(5, 40), sampling, ..JpegForm::default() };
    turned(&form.encode(&pixels, width, height).unwrap(), u8::try_from(1 + draws.below(6, 8)).unwrap())
}

fn composition(bytes: &[u8], recipe: &Recipe, draw: Draw) -> Option<Composition> {
    let head = JpegHead::read(bytes).unwrap();
    Composition::of((head.width, head.height), head.orientation, recipe, draw, &Limits::default()).ok()
}

#[test]
fn small_pictures_of_every_form_are_the_cpu_lanes_to_the_byte() {
    let left = Bench::new().against_the_cpu(1, 4000, (70, 60), |_| {});
    assert!(left < 800, "{left} of 4000 were left to the CPU");
}

#[test]
fn large_pictures_shrink_and_small_ones_grow_to_the_cpu_lanes_bytes() {
    Bench::new().against_the_cpu(2, 60, (900, 40), |_| {});
    Bench::new().against_the_cpu(3, 100, (12, 300), |_| {});
}

/// As real ones come: a few hundred pixels, into the sizes of training.
#[test]
fn photographs_for_training_and_evaluation_are_the_cpu_lanes_to_the_byte() {
    let limits = Limits::default();
    let mut bench = Bench::new();
    let mut cpu = CpuDecoder::new();
    let (training, evaluation) = (Recipe::training(224).unwrap(), Recipe::evaluation(224).unwrap());
    let torch = training.clone().with_match(Match::Torch).unwrap();
    for recipe in [training, evaluation, torch] {
        let files: Vec<_> = (0..12)
            .map(|index| forebay_pixels::sample::photograph(index, 333 + u32::try_from(index).unwrap(), 250))
            .collect();
        let draw = |index: usize| Draw { seed: 5, epoch: 1, record: index as u64 };
        let made: Vec<_> =
            (0..).zip(&files).map(|(index, bytes)| composition(bytes, &recipe, draw(index)).unwrap()).collect();
        let refs: Vec<_> = files.iter().map(Vec::as_slice).collect();
        let sources = bench.decode(&refs);
        let pictures: Vec<_> = sources.into_iter().zip(&made).collect();
        for ((index, bytes), ours) in (0..).zip(&files).zip(bench.compose(&pictures)) {
            let mut expected = vec![0; recipe.place_len()];
            cpu.decode(bytes, &recipe, draw(index), &limits, &mut expected).unwrap();
            assert!(ours == expected, "{index}");
        }
    }
}

/// The composition of a picture of 61 x 47 with this filter, to 20 x 33 in single precision, and its pixels.
fn small(interpolation: Interpolation, dtype: Dtype) -> (Vec<u8>, Composition, Recipe) {
    let resize = Transform::Resize(Resize { size: Size::HeightWidth([33, 20]), interpolation });
    let recipe = Recipe::new(vec![resize], Output { dtype, ..Output::default() }).unwrap();
    let bytes =
        JpegForm { sampling: [2, 2], ..JpegForm::default() }.encode(&photograph_rgb(7, 61, 47), 61, 47).unwrap();
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let made = composition(&bytes, &recipe, draw).unwrap();
    (bytes, made, recipe)
}

#[test]
fn pictures_that_were_not_decoded_are_left_out_of_the_launch() {
    let mut bench = Bench::new();
    let (bytes, made, _) = small(Interpolation::Bilinear, Dtype::Uint8);
    let planes = bench.decode(&[&bytes])[0];
    let (len, step) = (made.result_len(), made.result_len().next_multiple_of(8));
    bench.composer.clear();
    for number in 0..3 {
        let address = bench.results.at() + (number * step) as u64;
        bench.composer.add(&planes, &made, address, address);
    }
    bench.host[..3 * step].fill(0xA5);
    // SAFETY: both memories are left alone until the next wait.
    unsafe { bench.stream.begin_write(&bench.host, 3 * step, &bench.results) }.unwrap();
    bench.stream.wait().unwrap();
    // SAFETY: surfaces, results and composer are left alone until the wait of the read below.
    unsafe { bench.composer.launch(&mut bench.stream, |number| number != 1) }.unwrap();
    bench.stream.read(&bench.results, 0..3 * step, &mut bench.host).unwrap();
    let untouched = (0..3).map(|number| bench.host[number * step..][..len].iter().all(|value| *value == 0xA5));
    assert_eq!(untouched.collect::<Vec<_>>(), [false, true, false]);
    let before = bench.fake.count(Count::Launches);
    bench.composer.clear();
    // SAFETY: nothing is launched.
    unsafe { bench.composer.launch(&mut bench.stream, |_| true) }.unwrap();
    assert_eq!(bench.fake.count(Count::Launches), before, "nothing to do is no launch");
}

#[test]
fn a_driver_that_takes_no_form_of_the_kernel_says_why_and_kernels_are_unloaded_at_the_end() {
    let bench = Bench::new();
    bench.fake.set(Knob::OldDriver, 1);
    let error = ComposeKernel::load(&bench.context).unwrap_err();
    assert_eq!(error.to_string(), "cuModuleLoadData failed with CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)");
    assert!(Composer::new(&bench.context, &bench.account, &bench.composer.kernel, 1 << 40).is_err(), "the limit holds");
    let Bench { fake, composer, .. } = bench;
    assert_eq!(fake.count(Count::Modules), 1);
    drop(composer);
    assert_eq!(fake.count(Count::Modules), 0);
}

/// Whoever changes the kernel compiles it: `cuda/kernels/make` says how.
#[test]
fn what_is_compiled_ahead_belongs_to_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let check =
        Command::new("sha256sum").args(["--check", "--strict", "compose.sha256"]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&check.stdout) + String::from_utf8_lossy(&check.stderr);
    assert!(check.status.success(), "run cuda/kernels/make, which compiles the kernel anew:\n{said}");
    assert_eq!(said.matches(": OK").count(), 6, "{said}");
}

#[test]
fn every_orientation_stands_in_the_table_with_all_four_corners() {
    // Where the corners of a picture of 3 x 2 as seen are stored, by what EXIF says of rows and columns.
    for number in 1..=8 {
        let orientation = Orientation::from_exif(number);
        let (width, height) = orientation.seen(3, 2);
        let [x, y] = picture::stored_pixel(orientation, (3, 2));
        let at = |[constant, by_column, by_row]: [i32; 3], column: u32, row: u32| {
            constant + by_column * i32::try_from(column).unwrap() + by_row * i32::try_from(row).unwrap()
        };
        let mut stored: Vec<_> = (0..height)
            .flat_map(|row| (0..width).map(move |column| (row, column)))
            .map(|(row, column)| (at(y, column, row), at(x, column, row)))
            .collect();
        stored.sort_unstable();
        assert_eq!(stored, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)], "{orientation:?}");
    }
}
