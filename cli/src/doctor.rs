//! `forebay doctor`: which pictures are decoded, what this machine has for decoding on a GPU, what each missing part costs, and
//! how to get it.

mod bare;
mod report;
mod self_test;

use std::io::{self, Write};
use std::path::PathBuf;

use forebay_cuda::lane::LaneKind;
use forebay_cuda::survey::{hold, survey};
use forebay_pipeline::{Gpus, places};
use forebay_printable::printable;

use crate::failure::Failure;
use crate::json;
use report::{Availability, DoctorReport, NvjpgEngines, SurveyedGpu};

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// The file of libnvjpeg, as `nvjpeg` of `[decode]`.
    #[arg(long, value_name = "FILE")]
    nvjpeg: Option<PathBuf>,
    /// Measure nvJPEG's decoders alone on the pictures of this folder, with batches of several sizes.
    #[arg(long, value_name = "FOLDER")]
    measure: Option<PathBuf>,
    /// How long each decoder is measured. The best one is measured five times as long.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.8, requires = "measure")]
    seconds: f64,
    /// Test the lanes of each GPU. With `GPU_REQUIRED=1`, a missing lane is a failure.
    #[arg(long)]
    self_test: bool,
    /// Test the kernel alone. This is for compute-sanitizer, whose initcheck does not see what decoders write.
    #[arg(long, conflicts_with = "self_test")]
    kernel: bool,
    /// Decode the pictures of FOLDER with each lane of each GPU, and write the results to TO as .ppm files.
    #[arg(long, num_args = 2, value_names = ["FOLDER", "TO"])]
    pixels: Option<Vec<PathBuf>>,
    /// Print what was found as JSON.
    #[arg(long, conflicts_with_all = ["measure", "self_test", "kernel", "pixels"])]
    json: bool,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let places = places(args.nvjpeg.clone());
    let out = &mut io::stdout().lock();
    let _held = hold(&places);
    let rings = Gpus::new(rustix::process::geteuid().as_raw(), places.driver.clone());
    let found = survey(&places);
    let report = DoctorReport::new(&found, &rings);
    if args.json {
        return Ok(json::print(out, &report)?);
    }
    tell(out, &report)?;
    if args.self_test || args.kernel {
        let required = std::env::var("GPU_REQUIRED").is_ok_and(|value| value == "1");
        let lanes: &[_] = if args.kernel { &[] } else { &LaneKind::GPU };
        self_test::run(out, &places, lanes, required, self_test::SIZES)?;
    }
    if let Some([from, to]) = args.pixels.as_deref() {
        self_test::pixels(out, &places, from, to)?;
    }
    match &args.measure {
        Some(folder) => bare::measure(out, &places, folder, args.seconds),
        None => Ok(()),
    }
}

fn tell(out: &mut impl Write, report: &DoctorReport<'_>) -> io::Result<()> {
    let (read, refused): (Vec<_>, Vec<_>) = report.formats.iter().partition(|format| format.decoder.is_some());
    writeln!(out, "decodes  {}", read.iter().map(|format| format.name).collect::<Vec<_>>().join(", "))?;
    let refused = refused.iter().map(|format| format.name).collect::<Vec<_>>();
    writeln!(out, "refuses  {}, and others: see docs/decoding.md", refused.join(", "))?;
    match &report.driver {
        Some(driver) => writeln!(out, "driver   {}, CUDA {}", printable(driver.path), driver.cuda)?,
        None => writeln!(out, "driver   none")?,
    }
    match &report.nvjpeg {
        Some(nvjpeg) => writeln!(out, "nvJPEG   {}, {}", nvjpeg.version, printable(nvjpeg.path))?,
        None => writeln!(out, "nvJPEG   none")?,
    }
    match &report.nvcuvid {
        Some(found) => writeln!(out, "nvcuvid  {}", printable(found.path))?,
        None if report.nvcuvid_is_given => {
            writeln!(out, "nvcuvid  not searched for: the driver's file was given, and brings its own")?;
        }
        None => writeln!(out, "nvcuvid  none")?,
    }
    for gpu in &report.gpus {
        one(out, gpu)?;
        match &gpu.placement.reason {
            None => writeln!(out, "  placement    pixels can be in its memory")?,
            Some(reason) => writeln!(out, "  placement    pixels cannot be in its memory: {reason}")?,
        }
        let rings = if gpu.locks_read_only { "any ring" } else { "only rings of streams with pin_memory = true" };
        writeln!(out, "  pin          trainers page-lock {rings}")?;
    }
    for lack in &report.missing {
        writeln!(
            out,
            "\nmissing: {}\n  without it: {}\n  to get it:  {}",
            printable(&lack.what),
            lack.cost,
            lack.remedy
        )?;
    }
    if report.has_engines() {
        writeln!(out, "\ndecode.lanes = \"auto\" uses the NVJPG engines and the CPU.")?;
    }
    Ok(())
}

fn one(out: &mut impl Write, report: &SurveyedGpu<'_>) -> io::Result<()> {
    let SurveyedGpu { gpu, name, bus, memory, capability, multiprocessors, .. } = report;
    let megabytes = memory >> 20;
    writeln!(
        out,
        "GPU {gpu}    {name} at {bus}, {megabytes} MiB, compute capability {capability}, {multiprocessors} multiprocessors"
    )?;
    let lanes = report.lanes.iter().map(|(kind, found)| (kind.name(), kind.uses_engines(), found));
    for (what, by_engines, Availability { reason, .. }) in lanes.chain([("kernel", false, &report.kernel)]) {
        match (reason, report.engines) {
            (None, Some(NvjpgEngines { engines, cores })) if by_engines => {
                writeln!(out, "  {what:<11}  {engines} NVJPG engines of {cores} cores")?;
            }
            (None, _) => writeln!(out, "  {what:<11}  available")?,
            (Some(reason), _) => writeln!(out, "  {what:<11}  none: {reason}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use forebay_cuda::NvjpegPlaces;
    use forebay_cuda::survey::Places;
    use forebay_fake_gpu::{Fake, Knob};

    use super::*;

    fn doctor(places: &Places) -> String {
        let mut out = Vec::new();
        tell(&mut out, &DoctorReport::new(&survey(places), &Gpus::new(0, places.driver.clone()))).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn as_json(places: &Places) -> serde_json::Value {
        let found = survey(places);
        serde_json::to_value(DoctorReport::new(&found, &Gpus::new(0, places.driver.clone()))).unwrap()
    }

    #[test]
    fn a_machine_without_a_gpu_is_told_what_is_missing_what_it_costs_and_how_to_get_it() {
        let nvjpeg = NvjpegPlaces { file: Some("/nowhere/libnvjpeg.so".into()), packages: Vec::new() };
        let places = Places { driver: Some("/nowhere/libcuda.so.1".into()), nvjpeg };
        let text = doctor(&places);
        let found = as_json(&places);
        assert_eq!((&found["driver"], &found["gpus"]), (&serde_json::Value::Null, &serde_json::json!([])));
        assert!(found["missing"][0]["remedy"].is_string(), "{found}");
        assert!(text.starts_with("decodes  jpeg, png, ") && text.contains("refuses  HEIC"), "{text}");
        assert_eq!(
            found["formats"][0],
            serde_json::json!({ "name": "jpeg", "decoder": "forebay-jpeg, libjpeg-turbo" })
        );
        assert!(text.contains("driver   none") && text.contains("without it: no GPU is used"), "{text}");
        assert!(text.contains("FOREBAY_NVJPEG") && !text.contains("decode.lanes"), "{text}");
    }

    #[test]
    fn engines_are_shown_and_the_setting_that_uses_them() {
        let fake = Fake::new();
        fake.set(Knob::Engines, 7);
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let places = Places { driver: Some(fake.path()), nvjpeg };
        let found = as_json(&places);
        let gpu = &found["gpus"][0];
        assert_eq!((&gpu["nvjpg"]["engines"], &gpu["lanes"]["hardware"]["available"]), (&7.into(), &true.into()));
        assert_eq!((&found["nvjpeg"]["version"], &found["missing"]), (&"12.3.0".into(), &serde_json::json!([])));
        insta::assert_snapshot!(doctor(&places).replace(&*fake.path().to_string_lossy(), "FAKE"));
        fake.set(Knob::NoReadOnly, 1);
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let text = doctor(&Places { driver: Some(fake.path()), nvjpeg });
        assert!(text.contains("page-lock only rings of streams with pin_memory = true"), "{text}");
        assert!(text.contains("nvJPEG   12.3.0") && text.matches("  available").count() == 3, "{text}");
    }

    #[test]
    fn a_setting_that_the_driver_is_too_old_for_is_not_shown() {
        let fake = Fake::new();
        fake.set(Knob::OldDriver, 1);
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let text = doctor(&Places { driver: Some(fake.path()), nvjpeg });
        assert!(text.contains("kernel       none: ") && text.contains("12.4 (550)"), "{text}");
        assert!(!text.contains("decode.lanes = \"auto\" uses"), "{text}");
    }
}
