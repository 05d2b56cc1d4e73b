//! `forebay doctor --self-test` and `--pixels`. The first tests the lanes on this machine's GPUs. The second outputs
//! what the lanes decode, for comparisons with other decoders.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use forebay_cuda::lane::LaneKind;
use forebay_cuda::lane::gpu::Gpu;
use forebay_cuda::lane::size::LaneSize;
use forebay_cuda::lane::trial::{Trial, kernel_trials, trials};
use forebay_cuda::lane::whole::Whole;
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::survey::Places;
use forebay_printable::printable;

use crate::failure::Failure;

/// How large the tests are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Bytes of the copies that the test of surfaces takes.
    copy: usize,
    /// Cases in which the kernel is held against its twin.
    cases: u64,
    /// Pictures of a launch that is timed, and how long it is repeated.
    pictures: u32,
    time: Duration,
}

/// Copies of some milliseconds.
pub(super) const SIZES: Sizes = Sizes { copy: 128 << 20, cases: 4000, pictures: 256, time: Duration::from_millis(500) };
/// Memory of the GPU that the tests may take.
const MEMORY: usize = 1 << 30;
/// Bytes of surfaces for pictures that are written.
const SURFACES: usize = 128 << 20;
/// Bytes that the engines' decoder may take beside them: enough for pictures of some 3000 pixels a side.
const ENGINES: usize = 512 << 20;

fn fail(error: &dyn Display) -> Failure {
    Failure::Failed(format!("The GPUs' lanes cannot be tested: {error}."))
}

/// A line for each test of these lanes and of the kernel: `test GPU 0 hardware: memory: ok, 123 bytes at most, of 456`.
pub(super) fn run(
    out: &mut impl Write,
    places: &Places,
    lanes: &[LaneKind],
    required: bool,
    sizes: Sizes,
) -> Result<(), Failure> {
    writeln!(out)?;
    let gpus = match Gpu::open_all(places, MEMORY) {
        Ok(gpus) => gpus,
        Err(error) if required => return Err(fail(&error)),
        Err(error) => {
            writeln!(out, "no lane of a GPU is tested: {error}")?;
            return Ok(());
        }
    };
    let mut failed = 0;
    let mut usable = Vec::new();
    for gpu in gpus {
        match gpu {
            Ok(gpu) => usable.push(gpu),
            Err(error) => {
                failed += 1;
                writeln!(out, "test {error}")?;
            }
        }
    }
    for (gpu, kind) in usable.iter().flat_map(|gpu| lanes.iter().map(move |kind| (gpu, *kind))) {
        let lane = format!("test GPU {} {kind}", gpu.ordinal());
        if let Some(error) = gpu.lacks(kind) {
            failed += usize::from(required);
            writeln!(out, "{lane}: skipped, {error}")?;
            continue;
        }
        failed += tell(out, &lane, trials(gpu, kind, sizes.copy))?;
    }
    for gpu in &usable {
        let kernel = format!("test GPU {} kernel", gpu.ordinal());
        failed += tell(out, &kernel, kernel_trials(gpu, sizes.cases, sizes.pictures, sizes.time))?;
    }
    if failed > 0 { Err(Failure::Failed(format!("{failed} tests of the GPUs' lanes failed."))) } else { Ok(()) }
}

/// A line for each, and how many of them failed.
fn tell(out: &mut impl Write, of: &str, trials: Vec<Trial>) -> io::Result<usize> {
    let mut failed = 0;
    for trial in trials {
        match &trial.outcome {
            Ok(seen) => writeln!(out, "{of}: {}: ok, {seen}", trial.name)?,
            Err(wrong) => writeln!(out, "{of}: {}: failed, {wrong}", trial.name)?,
        }
        failed += usize::from(trial.outcome.is_err());
        out.flush()?;
    }
    Ok(failed)
}

/// Writes `TO/hardware-0/NAME.ppm` and so on, and a line for each picture that a lane leaves to the next.
pub(super) fn pixels(out: &mut impl Write, places: &Places, from: &Path, to: &Path) -> Result<(), Failure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(from).map_err(|error| fail(&error))? {
        let path = entry.map_err(|error| fail(&error))?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_stem()) {
            files.push((name.to_owned(), fs::read(&path).map_err(|error| fail(&error))?));
        }
    }
    let gpus = Gpu::open_all(places, MEMORY).map_err(|error| fail(&error))?;
    let gpus: Vec<_> = gpus.into_iter().collect::<Result<_, _>>().map_err(|error| fail(&error))?;
    for (gpu, kind) in gpus.iter().flat_map(|gpu: &Gpu| LaneKind::GPU.map(|kind| (gpu, kind))) {
        let size = LaneSize { workers: 1, surfaces: SURFACES, engines: ENGINES };
        let mut worker = match Worker::all(gpu, kind, size) {
            Ok(mut workers) => workers.remove(0),
            Err(error) => {
                writeln!(out, "pixels {kind}-{}: none, {error}", gpu.ordinal())?;
                continue;
            }
        };
        let folder = to.join(format!("{kind}-{}", gpu.ordinal()));
        fs::create_dir_all(&folder).map_err(|error| fail(&error))?;
        for (name, bytes) in &files {
            let mut outcomes = worker.whole(&[bytes]).map_err(|error| fail(&error))?;
            match outcomes.remove(0) {
                Ok(Whole { width, height, rgb }) => {
                    let mut file = format!("P6 {width} {height} 255\n").into_bytes();
                    file.extend(rgb);
                    fs::write(folder.join(name).with_extension("ppm"), file).map_err(|error| fail(&error))?;
                }
                Err(refusal) => {
                    let lane = format!("{kind}-{}", gpu.ordinal());
                    writeln!(out, "pixels {lane}: {} refused, {}", printable(name), refusal.name())?;
                }
            }
        }
        writeln!(out, "pixels {kind}-{}: written", gpu.ordinal())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use forebay_cuda::NvjpegPlaces;
    use forebay_fake_gpu::{Fake, Knob};
    use forebay_pixels::{CpuDecoder, Limits, sample};

    use super::*;

    const SMALL: Sizes = Sizes { copy: 1 << 20, cases: 60, pictures: 2, time: Duration::ZERO };

    fn places(fake: &Fake) -> Places {
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        Places { driver: Some(fake.path()), nvjpeg }
    }

    fn tested(fake: &Fake, required: bool) -> (Result<(), Failure>, String) {
        let mut out = Vec::new();
        let outcome = run(&mut out, &places(fake), &LaneKind::GPU, required, SMALL);
        (outcome, String::from_utf8(out).unwrap())
    }

    #[test]
    fn every_test_has_a_line_and_one_that_fails_or_a_missing_lane_that_is_required_fails_the_command() {
        let fake = Fake::new();
        let (outcome, text) = tested(&fake, true);
        assert!(outcome.is_ok() && text.matches(": ok, ").count() == 2 * 4 + 2 * 3 + 2, "{text}");
        fake.set(Knob::Wrong, 1);
        let (outcome, text) = tested(&fake, false);
        assert!(outcome.is_err() && text.contains("hardware: known pictures: failed"), "{text}");
        fake.set(Knob::Wrong, 0);
        fake.set(Knob::Engines, 0);
        assert!(tested(&fake, false).0.is_ok() && tested(&fake, true).0.is_err());
        fake.set(Knob::Gpus, 0);
        assert!(tested(&fake, false).0.is_ok() && tested(&fake, true).0.is_err());
    }

    #[test]
    fn the_pixels_of_each_lane_are_written_and_what_it_refuses_is_told() {
        let fake = Fake::new();
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        let photograph = sample::photograph(1, 33, 21);
        fs::write(from.join("a.jpg"), &photograph).unwrap();
        fs::write(from.join("b.jpg"), b"no picture").unwrap();
        let mut out = Vec::new();
        pixels(&mut out, &places(&fake), &from, &to).unwrap();
        let mut expected = b"P6 33 21 255\n".to_vec();
        expected.extend(CpuDecoder::new().whole(&photograph, &Limits::default()).unwrap().rgb);
        for lane in ["hardware-0", "hardware-single-0", "gpu-huffman-0", "hybrid-0"] {
            assert!(fs::read(to.join(lane).join("a.ppm")).unwrap() == expected);
        }
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("b refused, no JPEG").count(), 4, "{text}");
    }
}
