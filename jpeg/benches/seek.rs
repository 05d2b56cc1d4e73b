//! What seek points take and give: `cargo bench -p forebay-jpeg --bench seek -- [--step N] [--passes N] [FOLDER]` reads one of N
//! JPEGs of a folder, else of `FOREBAY_TEST_DATA/imagenet`, and prints the time without points divided by that with them, for
//! several spacings. Both ways take turns, and the best time of each picture counts, so that other work of the machine matters
//! little. With points, a decode also loads their block and hashes the file.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "stops at what should not be, and prints what it found")]

#[path = "../tests/turbo/reference.rs"]
mod reference;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use forebay_jpeg::{Decoder, Header, Region, Sampling, Scale, SeekPoints, Spacing};
use reference::Kind;

/// What is decoded of a picture.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// A random resized crop, of 0.08 to 1 of the picture.
    Training,
    /// A square of 224/256 of the shorter side, in the middle.
    Evaluation,
    /// A square of a quarter of the shorter side, anywhere.
    Small,
}

const WORKS: [Work; 3] = [Work::Training, Work::Evaluation, Work::Small];

/// A picture, and the block of its points.
struct Case {
    file: Vec<u8>,
    header: Header,
    region: Region,
    block: Vec<u8>,
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX) * end
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return;
    }
    let after = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
    let passes = after("--passes").map_or(15, |passes| passes.parse::<usize>().unwrap());
    let step = after("--step").map_or(1, |step| step.parse::<usize>().unwrap());
    let folder = arguments.last().map(PathBuf::from).filter(|folder| folder.is_dir()).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("FOREBAY_TEST_DATA").expect("a folder is named")).join("imagenet")
    });
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let photographs = paths.iter().step_by(step).map(|path| std::fs::read(path).unwrap());
    table("photographs", photographs.filter_map(Case::new).collect(), passes);
    let (width, height) = (4000, 3000);
    let sampling = Sampling::S420;
    let large = Kind { sampling, width, height, quality: 90, restart: 0, optimised: true, noise: 70, seed: 1 };
    table("a made picture of 12 megapixels", Case::new(large.encode()).into_iter().collect(), passes);
}

impl Case {
    /// None if the decoder does not take it.
    fn new(file: Vec<u8>) -> Option<Self> {
        let header = Header::read(&file).ok()?;
        let region = Region { left: 0, top: 0, width: header.width, height: header.height };
        let case = Self { file, header, region, block: Vec::new() };
        case.decode(&mut Decoder::default(), None, &mut Vec::new()).then_some(case)
    }

    fn decode(&self, decoder: &mut Decoder, points: Option<&mut SeekPoints>, rgb: &mut Vec<u8>) -> bool {
        let Self { file, header, region, block } = self;
        rgb.resize(region.width as usize * region.height as usize * 3, 0);
        let mut rows = match points {
            None => decoder.begin(header, file, Scale::Full, *region),
            Some(points) => {
                points.load(block);
                decoder.begin_seeking(header, file, Scale::Full, *region, points)
            }
        };
        rows.read(rgb).is_ok()
    }

    /// Notes the points of the whole picture.
    fn record(&mut self, spacing: Spacing) {
        self.block.clear();
        self.region = Region { left: 0, top: 0, width: self.header.width, height: self.header.height };
        let mut points = SeekPoints::new(spacing);
        assert!(self.decode(&mut Decoder::default(), Some(&mut points), &mut Vec::new()));
        self.block = points.changed().unwrap_or_default().to_vec();
    }

    fn ask(&mut self, work: Work, dice: &mut Dice) {
        let sides = [self.header.width, self.header.height].map(f64::from);
        let shorter = sides[0].min(sides[1]);
        let square = |part: f64| (shorter * part, shorter * part);
        let (width, height) = match work {
            Work::Evaluation => square(224.0 / 256.0),
            Work::Small => square(0.25),
            Work::Training => (0..10)
                .map(|_| {
                    let area = sides[0] * sides[1] * (0.08 + dice.below(0.92));
                    let aspect = ((0.75_f64).ln() + dice.below(2.0 * (4.0_f64 / 3.0).ln())).exp();
                    ((area * aspect).sqrt(), (area / aspect).sqrt())
                })
                .find(|(width, height)| *width <= sides[0] && *height <= sides[1])
                .unwrap_or_else(|| square(1.0)),
        };
        let mut place = |side: f64, len: f64| match work {
            Work::Evaluation => (side - len) / 2.0,
            _ => dice.below(side - len),
        };
        let (left, top) = (place(sides[0], width), place(sides[1], height));
        let [left, top] = [left, top].map(floor);
        let [width, height] = [width, height].map(|len| floor(len).max(1));
        self.region = Region { left, top, width, height };
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sides of pictures")]
fn floor(length: f64) -> u32 {
    length as u32
}

/// The time of a decode.
fn timed(case: &Case, decoder: &mut Decoder, mut points: Option<&mut SeekPoints>, rgb: &mut Vec<u8>) -> Duration {
    let begun = Instant::now();
    assert!(case.decode(decoder, points.as_deref_mut(), rgb));
    if let Some(points) = points {
        black_box(points.changed());
    }
    begun.elapsed()
}

#[expect(clippy::cast_precision_loss, reason = "sums of a few million")]
fn table(title: &str, mut cases: Vec<Case>, passes: usize) {
    let files: usize = cases.iter().map(|case| case.file.len()).sum();
    println!("\n{} of {title}, {:.1} MB\n", cases.len(), files as f64 / 1e6);
    println!("| MCUs | columns | of the files | noting them | training | evaluation | small |");
    println!("|---|---|---|---|---|---|---|");
    let spacings = [4, 8, 16, 32, 64].map(|every| Spacing { every, columns: 60, share: u32::MAX });
    let wider = [40, 80, 100].map(|columns| Spacing { every: 16, columns, share: u32::MAX });
    let rows = Spacing { every: u16::MAX, columns: 1, share: u32::MAX };
    let (mut decoder, mut rgb) = (Decoder::default(), Vec::new());
    for spacing in spacings.into_iter().chain(wider).chain([rows, Spacing::default()]) {
        let mut points = SeekPoints::new(spacing);
        let mut cells = Vec::new();
        let mut ratio = |cases: &[Case]| {
            let mut sums = [Duration::ZERO; 2];
            for case in cases {
                let mut best = [Duration::MAX; 2];
                for _ in 0..passes {
                    best[0] = best[0].min(timed(case, &mut decoder, None, &mut rgb));
                    best[1] = best[1].min(timed(case, &mut decoder, Some(&mut points), &mut rgb));
                }
                sums = [sums[0] + best[0], sums[1] + best[1]];
            }
            cells.push(format!("{:.3}", sums[0].as_secs_f64() / sums[1].as_secs_f64()));
        };
        // Whole pictures without a block: what the first epoch does.
        for case in &mut cases {
            case.block.clear();
        }
        ratio(&cases);
        for case in &mut cases {
            case.record(spacing);
        }
        let kept: usize = cases.iter().map(|case| case.block.len()).sum();
        for work in WORKS {
            let mut dice = Dice(1);
            for case in &mut cases {
                case.ask(work, &mut dice);
            }
            ratio(&cases);
        }
        let Spacing { every, columns, share } = spacing;
        let name = if share == u32::MAX { format!("{every}") } else { format!("{every}, as built") };
        let part = 100.0 * kept as f64 / files as f64;
        println!("| {name} | {columns} % | {part:.2} % | {} |", cells.join(" | "));
    }
}
