//! Progressive pictures, whole and in regions, beside libjpeg-turbo: `cargo bench -p forebay-jpeg --bench progressive`.
//!
//! The pictures are those of `FOREBAY_TEST_DATA/imagenet`, whose coefficients are written again in the scans that libjpeg
//! makes. In each round, every decoder decodes each picture in its turn, in one thread. The least processor time of each
//! picture counts, so that little is seen of what else the machine does. Nothing is judged.
#![allow(clippy::cast_precision_loss, reason = "some seconds and pictures")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "stops at what should not be, and prints what it found")]

#[path = "../tests/shared/pictures.rs"]
mod pictures;
#[path = "../tests/turbo/reference.rs"]
mod reference;

use forebay_jpeg::{Decoder, Header, Path, Region, Scale};
use pictures::{Dice, pictures};
use reference::{Turbo, to_progressive};
use rustix::time::{ClockId, clock_gettime};

/// Pictures at most, from the whole folder.
const MOST: usize = 100;

const ROUNDS: usize = 11;

/// A progressive picture, and a region of it as random-resized-crop takes them.
struct Picture {
    bytes: Vec<u8>,
    whole: Region,
    part: Region,
}

impl Picture {
    fn new(bytes: &[u8], dice: &mut Dice) -> Option<Self> {
        let bytes = to_progressive(bytes)?;
        let header = Header::read(&bytes).ok()?;
        let side = |dice: &mut Dice, side: u32| (side * (30 + dice.below(71)) / 100).max(1);
        let (width, height) = (side(dice, header.width), side(dice, header.height));
        let (left, top) = (dice.below(header.width - width + 1), dice.below(header.height - height + 1));
        let part = Region { left, top, width, height };
        Some(Self { bytes, whole: Region::whole(header.width, header.height), part })
    }
}

/// How long this thread has had a processor.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What decodes, whole or a region.
type Work = Box<dyn FnMut(&Picture, &mut Vec<u8>)>;

fn room(rgb: &mut Vec<u8>, region: Region) {
    rgb.resize(region.width as usize * region.height as usize * 3, 0);
}

fn works() -> Vec<(String, Work)> {
    let mut turbo = Turbo::new();
    let whole = move |picture: &Picture, rgb: &mut Vec<u8>| {
        room(rgb, picture.whole);
        turbo.decode_into(&picture.bytes, rgb);
    };
    let mut works: Vec<(String, Work)> = vec![("libjpeg-turbo, whole".to_owned(), Box::new(whole))];
    for (path, part) in Path::available().flat_map(|path| [(path, false), (path, true)]) {
        let mut decoder = Decoder::new(path);
        let work = move |picture: &Picture, rgb: &mut Vec<u8>| {
            let region = if part { picture.part } else { picture.whole };
            room(rgb, region);
            // The header is read again, as for a caller who has only the file.
            let header = Header::read(&picture.bytes).unwrap();
            decoder.begin(&header, &picture.bytes, Scale::Full, region).read(rgb).unwrap();
        };
        let name = format!("forebay-jpeg, {path:?}, {}", if part { "region" } else { "whole" });
        works.push((name, Box::new(work)));
    }
    works
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return;
    }
    let mut dice = Dice(1);
    let of_folder = pictures("imagenet");
    let step = of_folder.len().div_ceil(MOST).max(1);
    let pictures: Vec<_> =
        of_folder.iter().step_by(step).filter_map(|(_, bytes)| Picture::new(bytes, &mut dice)).collect();
    if pictures.is_empty() {
        return;
    }
    let bytes = pictures.iter().map(|picture| picture.bytes.len()).sum::<usize>();
    println!("{} progressive pictures, {} kB, best of {ROUNDS} rounds", pictures.len(), bytes / 1000);
    let (mut works, mut rgb) = (works(), Vec::new());
    let mut best = vec![vec![f64::MAX; pictures.len()]; works.len()];
    for _ in 0..ROUNDS {
        for (i, picture) in pictures.iter().enumerate() {
            for ((_, work), best) in works.iter_mut().zip(&mut best) {
                let begun = seconds();
                work(picture, &mut rgb);
                best[i] = best[i].min(seconds() - begun);
            }
        }
    }
    let sums: Vec<f64> = best.iter().map(|best| best.iter().sum()).collect();
    for ((name, _), sum) in works.iter().zip(&sums) {
        println!("  {name:<34} {:8.3} ms a picture, {:5.2}", sum * 1000.0 / pictures.len() as f64, sums[0] / sum);
    }
    println!("The last column is how many times as fast as libjpeg-turbo decodes the whole picture.");
}
