//! `forebay doctor --measure`: bare loops of nvJPEG's decoders. They vary the number of states, the batch length and
//! the output. The engines' best setting is then measured again.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use forebay_cuda::Form;
use forebay_cuda::lane::ceiling::{Drive, ceiling};
use forebay_cuda::lane::gpu::Gpu;
use forebay_cuda::lane::{LaneError, LaneKind};
use forebay_cuda::survey::Places;

use crate::failure::Failure;

/// How often the best way is measured, and how many times as long as the others.
const ROUNDS: usize = 3;
const LONGER: u32 = 5;
/// Memory of the GPU that a loop may take.
const MEMORY: usize = 8 << 30;

fn fail(error: &dyn Display) -> Failure {
    Failure::Failed(format!("The decoders cannot be measured: {error}."))
}

/// A line for each way: `bare hardware loop, planes: 2 states, batches of 32: 1234 pictures/s`; and `best ...` for each round
/// of the engines' best one.
pub(super) fn measure(out: &mut impl Write, places: &Places, folder: &Path, seconds: f64) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| fail(&error))?;
    let entries = std::fs::read_dir(folder).map_err(|error| fail(&error))?;
    let files: Vec<_> = entries.filter_map(|entry| std::fs::read(entry.ok()?.path()).ok()).collect();
    for gpu in Gpu::open_all(places, MEMORY).map_err(|error| fail(&error))? {
        let gpu = gpu.map_err(|error| fail(&error))?;
        writeln!(out, "\nGPU {}, {} files", gpu.ordinal(), files.len())?;
        let mut best: Option<(f64, Drive)> = None;
        for drive in Drive::all().into_iter().filter(|drive| gpu.lacks(drive.kind).is_none()) {
            let rate = line(out, "bare", &gpu, &files, drive, time)?;
            let beaten = rate.filter(|rate| best.is_none_or(|(most, _)| *rate > most));
            if let (LaneKind::Hardware, Form::Planes, Some(rate)) = (drive.kind, drive.form, beaten) {
                best = Some((rate, drive));
            }
        }
        if let Some((_, drive)) = best {
            for _ in 0..ROUNDS {
                line(out, "best", &gpu, &files, drive, time * LONGER)?;
            }
        }
    }
    Ok(())
}

fn line(
    out: &mut impl Write,
    which: &str,
    gpu: &Gpu,
    files: &[Vec<u8>],
    drive: Drive,
    time: Duration,
) -> Result<Option<f64>, Failure> {
    let Drive { kind, form, states, batch } = drive;
    let form = match form {
        Form::Planes => "planes",
        Form::Rgb => "RGB",
    };
    write!(out, "{which} {kind} loop, {form}: {states} states, batches of {batch}: ")?;
    let rate = match ceiling(gpu, files, drive, time) {
        Ok(rate) => {
            writeln!(out, "{rate:.0} pictures/s")?;
            Some(rate)
        }
        Err(LaneError::Cuda(error)) if error.is_fault() => return Err(fail(&error)),
        // Long batches may take more memory than the GPU has.
        Err(error) => {
            writeln!(out, "none, {error}")?;
            None
        }
    };
    out.flush()?;
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use forebay_cuda::NvjpegPlaces;
    use forebay_fake_gpu::{Fake, Knob};

    use super::*;

    /// What is printed of one small photograph.
    fn measured(fake: &Fake, (width, height): (u32, u32)) -> String {
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let places = Places { driver: Some(fake.path()), nvjpeg };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jpg"), forebay_pixels::sample::photograph(1, width, height)).unwrap();
        let mut out = Vec::new();
        measure(&mut out, &places, folder.path(), 0.0).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_way_has_a_line_and_the_engines_best_is_measured_once_more() {
        let text = measured(&Fake::new(), (32, 24));
        assert_eq!(text.matches("bare ").count(), Drive::all().len(), "{text}");
        assert_eq!(text.matches("best hardware loop, planes: ").count(), ROUNDS, "{text}");
        assert!(text.contains("bare hardware loop, RGB: 2 states") && !text.contains("none"), "{text}");
    }

    #[test]
    fn one_that_takes_more_memory_than_there_is_does_not_cost_the_others_their_figures() {
        let fake = Fake::new();
        fake.set(Knob::Memory, 1 << 20);
        let text = measured(&fake, (128, 96));
        assert!(text.contains("1 states, batches of 16: ") && text.contains("pictures/s"), "{text}");
        assert!(text.contains("3 states, batches of 256: none, "), "{text}");
    }

    #[test]
    fn decoders_that_the_gpu_does_not_have_are_left_out() {
        let fake = Fake::new();
        fake.set(Knob::Engines, 0);
        let text = measured(&fake, (32, 24));
        assert!(!text.contains("hardware") && text.contains("bare hybrid loop"), "{text}");
    }
}
