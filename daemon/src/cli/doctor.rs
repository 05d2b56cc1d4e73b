//! `forebay doctor`: what this machine has for decoding on a GPU, what each missing thing costs, and how to get it.

use std::io::{self, Write};
use std::path::PathBuf;

use forebay::decode::lanes::places;
use forebay_cuda::survey::{FoundGpu, Survey, survey};

use super::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file of libnvjpeg, as `decode.nvjpeg` names it.
    #[arg(long, value_name = "FILE")]
    nvjpeg: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    Ok(tell(&mut io::stdout().lock(), &survey(&places(args.nvjpeg.clone())))?)
}

fn tell(out: &mut impl Write, survey: &Survey) -> io::Result<()> {
    match &survey.driver {
        Ok(driver) => writeln!(out, "driver   {}, CUDA {}.{}", driver.path.display(), driver.cuda.0, driver.cuda.1)?,
        Err(_) => writeln!(out, "driver   none")?,
    }
    match &survey.nvjpeg {
        Ok((path, version)) => writeln!(out, "nvJPEG   {version}, {}", path.display())?,
        Err(_) => writeln!(out, "nvJPEG   none")?,
    }
    match &survey.nvcuvid {
        Ok(path) => writeln!(out, "nvcuvid  {}", path.display())?,
        Err(_) => writeln!(out, "nvcuvid  none")?,
    }
    for gpu in &survey.gpus {
        one(out, gpu)?;
    }
    for lack in survey.lacks() {
        writeln!(out, "\nmissing: {}\n  without it: {}\n  to get it:  {}", lack.what, lack.cost, lack.remedy)?;
    }
    if survey.gpus.iter().any(|gpu| gpu.hardware.is_ok()) {
        writeln!(out, "\ndecode.lanes = \"auto\" uses the NVJPG engines and the CPU.")?;
    }
    Ok(())
}

fn one(out: &mut impl Write, FoundGpu { device, hardware, hybrid }: &FoundGpu) -> io::Result<()> {
    let (major, minor) = device.capability;
    writeln!(
        out,
        "GPU {}    {} at {}, {} MiB, compute capability {major}.{minor}, {} multiprocessors",
        device.ordinal,
        device.name,
        device.bus,
        device.memory >> 20,
        device.multiprocessors
    )?;
    match hardware {
        Ok((engines, cores)) => writeln!(out, "  hardware  {engines} NVJPG engines of {cores} cores")?,
        Err(error) => writeln!(out, "  hardware  none: {error}")?,
    }
    match hybrid {
        Ok(()) => writeln!(out, "  hybrid    to be had"),
        Err(error) => writeln!(out, "  hybrid    none: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use forebay_cuda::NvjpegPlaces;
    use forebay_cuda::survey::Places;
    use forebay_fake_gpu::{Fake, Knob};

    use super::*;

    fn doctor(places: &Places) -> String {
        let mut out = Vec::new();
        tell(&mut out, &survey(places)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_machine_without_a_gpu_is_told_what_is_missing_what_it_costs_and_how_to_get_it() {
        let nvjpeg = NvjpegPlaces { file: Some("/nowhere/libnvjpeg.so".into()), packages: Vec::new() };
        let text = doctor(&Places { driver: Some("/nowhere/libcuda.so.1".into()), nvjpeg });
        assert!(text.contains("driver   none") && text.contains("without it: no GPU is used"), "{text}");
        assert!(text.contains("FOREBAY_NVJPEG") && !text.contains("decode.lanes"), "{text}");
    }

    #[test]
    fn engines_are_shown_and_the_setting_that_uses_them() {
        let fake = Fake::new();
        fake.set(Knob::Engines, 7);
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let text = doctor(&Places { driver: Some(fake.path()), nvjpeg });
        assert!(text.contains("7 NVJPG engines") && text.contains("decode.lanes = \"auto\""), "{text}");
        assert!(text.contains("nvJPEG   12.3.0") && text.contains("hybrid    to be had"), "{text}");
    }
}
