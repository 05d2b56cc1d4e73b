//! What a decode on GPUs from seek points would take, on this CPU (decision 92): `cargo bench -p forebay-benches --bench gate --
//! [FOLDER] [--step N] [--dump FOLDER]` reads one of N JPEGs below a folder, else of `FOREBAY_TEST_DATA/imagenet`, and prints
//! the time of the host's half beside that of a decode, and how many steps warps take.
//!
//! `--dump` writes the memory of a picture's launch and what the twin made of it, for `benches/gpu/instructions --gate`.
#![allow(clippy::print_stdout, reason = "it prints its figures")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "figures")]

#[path = "gate/warps.rs"]
mod warps;

use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use forebay_benches::gate::Twin;
use forebay_jpeg::segments::Launch;
use forebay_jpeg::{Decoder, Header, Region, Scale, SeekPoints};
use warps::Warps;

type Bare = Box<dyn std::error::Error>;

/// Pictures of a launch.
const BATCH: usize = 256;
/// Rounds of the host's half, beside as many decodes.
const ROUNDS: usize = 5;

/// A photograph with points.
struct Photograph {
    path: PathBuf,
    file: Vec<u8>,
    header: Header,
    block: Vec<u8>,
}

/// What is decoded of pictures.
#[derive(Clone, Copy)]
enum Part {
    /// The crop of which the instructions of compose.cu are counted, 0.6 by 0.71 of the sides.
    Typical,
    /// Of training, with this draw.
    Random(u64),
}

impl Photograph {
    /// `None` if no points are kept of it.
    fn read(path: PathBuf) -> Result<Option<Self>, Bare> {
        let file = std::fs::read(&path)?;
        let Ok(header) = Header::read(&file) else { return Ok(None) };
        let mut points = SeekPoints::default();
        Decoder::default().note(&header, &file, &mut points)?;
        let Some(block) = points.changed().map(<[u8]>::to_vec) else { return Ok(None) };
        Ok(Some(Self { path, file, header, block }))
    }

    fn region(&self, part: Part, record: u64) -> Region {
        let Header { width, height, .. } = self.header;
        match part {
            Part::Typical => {
                let of = |side: u32, parts: u32, all: u32| side * parts / all;
                let (left, top) = (of(width, 97, 500), of(height, 53, 375));
                Region { left, top, width: of(width, 300, 500).max(1), height: of(height, 265, 375).max(1) }
            }
            Part::Random(seed) => crop((width, height), seed << 32 | record),
        }
    }
}

/// A part of 0.08 to 1 of a picture, as wide as high by 3/4 to 4/3, as random resized crops of training are.
fn crop((width, height): (u32, u32), seed: u64) -> Region {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for _ in 0..10 {
        let area = f64::from(width) * f64::from(height) * (0.08 + 0.92 * random());
        let ratio = (3.0_f64 / 4.0).powf(1.0 - 2.0 * random());
        let (w, h) = ((area * ratio).sqrt().round() as u32, (area / ratio).sqrt().round() as u32);
        if (1..=width).contains(&w) && (1..=height).contains(&h) {
            let below = |end: u32, random: f64| (f64::from(end) * random) as u32;
            let (left, top) = (below(width - w + 1, random()), below(height - h + 1, random()));
            return Region { left, top, width: w, height: h };
        }
    }
    Region::whole(width, height)
}

fn main() -> Result<(), Bare> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return Ok(());
    }
    let after = |name: &str| arguments.iter().position(|word| word == name).and_then(|at| arguments.get(at + 1));
    let folder = arguments.first().filter(|word| !word.starts_with("--")).map(PathBuf::from);
    let data = std::env::var_os("FOREBAY_TEST_DATA").map(|data| Path::new(&data).join("imagenet"));
    let folder = folder.or(data).ok_or("give a folder of JPEGs, or set FOREBAY_TEST_DATA")?;
    let step = after("--step").map_or(Ok(1), |step| step.parse())?;
    let mut paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, Bare>>()?;
    paths.sort();
    let count = paths.iter().step_by(step).count();
    let read = paths.into_iter().step_by(step).map(Photograph::read).collect::<Result<Vec<_>, _>>()?;
    let photographs: Vec<_> = read.into_iter().flatten().collect();
    println!("{count} pictures, {} of them with points", photographs.len());
    if let Some(folder) = after("--dump") {
        return dump(&photographs, Path::new(folder));
    }
    host(&photographs)?;
    for (name, parts) in [("typical crop", &[Part::Typical][..]), ("training", &[Part::Random(0), Part::Random(1)])] {
        println!("{name}");
        for (colours, wanted) in [("all", None), ("4:4:4", Some((1, 1))), ("4:2:0", Some((2, 2)))] {
            let chosen = photographs.iter().filter(|one| wanted.is_none_or(|it| one.header.sampling.factors() == it));
            let chosen: Vec<_> = chosen.collect();
            let mut warps = Warps::default();
            for part in parts {
                for pictures in chosen.chunks(BATCH) {
                    let (launch, twin) = decoded(pictures, *part)?;
                    warps.add(&launch, &twin, pictures.len());
                }
            }
            println!("  {colours}: {} pictures{warps}", chosen.len());
        }
    }
    Ok(())
}

/// A launch of pictures, decoded.
fn decoded(pictures: &[&Photograph], part: Part) -> Result<(Launch, Twin), Bare> {
    let (mut launch, mut twin, mut points) = (Launch::default(), Twin::default(), SeekPoints::default());
    for (record, one) in (0..).zip(pictures) {
        points.load(&one.block);
        let added = launch.add(&one.header, &one.file, one.region(part, record), &mut points);
        added.map_err(|unfit| format!("{}: {unfit:?}", one.path.display()))?;
    }
    let faults = twin.run(&launch, pictures.len());
    if faults.is_empty() { Ok((launch, twin)) } else { Err(format!("pictures {faults:?} have faults").into()) }
}

/// Processor time of this thread in seconds: other work of the machine is no part of it.
fn processor() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Prints microseconds of the host's half, and of decodes of the same regions and of whole pictures on the CPU.
fn host(photographs: &[Photograph]) -> Result<(), Bare> {
    let (mut launch, mut points, mut decoder) = (Launch::default(), SeekPoints::default(), Decoder::default());
    let (mut file, mut rgb) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut seconds = [0.0; 4];
        let mut bytes = 0;
        for (record, one) in (0..).zip(photographs) {
            let region = one.region(Part::Random(round as u64), record);
            let mut timed = |of: usize, work: &mut dyn FnMut() -> Result<(), Bare>| {
                let begun = processor();
                let outcome = work();
                seconds[of] += processor() - begun;
                outcome
            };
            timed(0, &mut || {
                file.resize(one.file.len(), 0);
                Ok(std::fs::File::open(&one.path)?.read_exact_at(&mut file, 0)?)
            })?;
            timed(1, &mut || {
                let header = Header::read(&file)?;
                points.load(&one.block);
                launch.clear();
                launch.add(&header, &file, region, &mut points).map_err(|unfit| format!("{unfit:?}"))?;
                Ok(())
            })?;
            bytes += launch.data().len() + launch.tables.len() + launch.segments.len() * 68 + launch.lines.len() * 24;
            let whole = Region::whole(one.header.width, one.header.height);
            for (of, region) in [(2, region), (3, whole)] {
                rgb.resize(region.width as usize * region.height as usize * 3, 0);
                timed(of, &mut || {
                    let header = Header::read(&file)?;
                    points.load(&one.block);
                    decoder.begin_seeking(&header, &file, Scale::Full, region, &mut points).read(&mut rgb)?;
                    Ok(())
                })?;
            }
            black_box((&launch, &rgb));
        }
        let [read, host, region, whole] = seconds.map(|seconds| seconds * 1e6 / photographs.len() as f64);
        println!(
            "host's half: read {read:.1} us and {host:.1} us, {:.0} kB; the CPU's decode of the region {region:.0} us, of all {whole:.0} us",
            bytes as f64 / 1e3 / photographs.len() as f64
        );
    }
    Ok(())
}

/// Writes the launch of a picture.
fn dump(photographs: &[Photograph], folder: &Path) -> Result<(), Bare> {
    let one = photographs.first().ok_or("there is no picture with points")?;
    let (launch, twin) = decoded(&[one], Part::Typical)?;
    std::fs::create_dir_all(folder)?;
    for (name, bytes) in [("data", launch.data()), ("tables", &launch.tables)] {
        std::fs::write(folder.join(name), bytes)?;
    }
    for (name, bytes) in twin.memory(&launch) {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
