//! The limit that `benches/compare` holds a loader against: decoder and resizer in threads over bytes in memory, with
//! no daemon, no ring and no Python. Takes a job as JSON in its argument and prints what it measured as JSON.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forebay_pixels::{CpuDecoder, Draw, Input, JpegChoice, Limits, Output, Recipe, SeekPoints, Transform};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let job: Value = serde_json::from_str(&std::env::args().nth(1).ok_or("the job is missing")?)?;
    let files: Vec<String> = serde_json::from_value(job["files"].clone())?;
    let pictures = files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let threads: usize = serde_json::from_value(job["threads"].clone())?;
    let [warm, seconds] = ["warm", "seconds"].map(|key| Duration::from_secs_f64(job[key].as_f64().unwrap_or(1.0)));
    let options = job["options"].as_object().ok_or("the options are missing")?;
    let recipe = recipe(job["task"] == "train", options)?;
    let jpeg = jpeg(options)?;
    let seeks = options.get("seek").is_some_and(|seek| seek == "memory");
    let pictures: Vec<_> =
        pictures.into_iter().map(|bytes| Picture { bytes, points: seeks.then(Mutex::default) }).collect();
    let (decoded, time) = measure(&pictures, &recipe, jpeg, threads, warm, seconds);
    println!("{}", json!({ "pictures": decoded, "seconds": time.as_secs_f64() }));
    Ok(())
}

/// A file, and the block of its seek points if they are kept, as by the option `seek`.
struct Picture {
    bytes: Vec<u8>,
    points: Option<Mutex<Vec<u8>>>,
}

impl Picture {
    /// Decodes it into a place with what is known of its seek points, and keeps what has changed in them.
    fn decode(
        &self,
        with: &mut CpuDecoder,
        points: &mut SeekPoints,
        recipe: &Recipe,
        draw: Draw,
        to: &mut [u8],
    ) -> bool {
        let limits = Limits::default();
        let Some(kept) = &self.points else {
            return with.decode(&self.bytes, recipe, draw, &limits, to).is_ok();
        };
        points.load(&kept.lock());
        let decoded = with.decode_seeking((&self.bytes, points), recipe, draw, &limits, to).is_ok();
        if let Some(block) = points.changed() {
            *kept.lock() = block.to_vec();
        }
        decoded
    }
}

/// The Loader's own transforms for `size=224`; the options are `interpolation` and `reducing_gap`.
fn recipe(train: bool, options: &Map<String, Value>) -> Result<Recipe, Box<dyn Error>> {
    let with_size = |size: u32| {
        let interpolation = options.get("interpolation").cloned().unwrap_or_else(|| "bilinear".into());
        json!({ "size": size, "interpolation": interpolation })
    };
    let steps = if train {
        json!([{ "random_resized_crop": with_size(224) }, { "random_horizontal_flip": {} }])
    } else {
        json!([{ "resize": with_size(256) }, { "center_crop": { "size": 224 } }])
    };
    let steps: Vec<Transform> = serde_json::from_value(steps)?;
    let input = Input { reducing_gap: options.get("reducing_gap").and_then(Value::as_f64), ..Input::default() };
    Ok(Recipe::new(steps, Output::default())?.with_input(input)?)
}

/// Where JPEGs go, by the option `jpeg`, `auto` or `libjpeg-turbo`, as in the configuration's `decode.jpeg`.
fn jpeg(options: &Map<String, Value>) -> Result<JpegChoice, Box<dyn Error>> {
    match options.get("jpeg").map_or(Some("auto"), Value::as_str) {
        Some("auto") => Ok(JpegChoice::default()),
        Some("libjpeg-turbo") => Ok(JpegChoice::LIBJPEG_TURBO),
        _ => Err("the option jpeg is neither auto nor libjpeg-turbo".into()),
    }
}

/// Pictures decoded by all threads together, and the time that it took, after `warm`.
fn measure(
    pictures: &[Picture],
    recipe: &Recipe,
    jpeg: JpegChoice,
    threads: usize,
    warm: Duration,
    seconds: Duration,
) -> (u64, Duration) {
    let (next, done, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let (mut decoder, mut points) = (CpuDecoder::with_jpeg(jpeg), SeekPoints::default());
                let mut place = vec![0; recipe.place_len()];
                while !over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let (epoch, record) = (number / pictures.len() as u64, number % pictures.len() as u64);
                    let picture = &pictures[usize::try_from(record).expect("a place in a list fits")];
                    let draw = Draw { seed: 0, epoch, record };
                    // A picture that cannot be decoded counts for nothing.
                    if picture.decode(&mut decoder, &mut points, recipe, draw, &mut place) {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        thread::park_timeout(warm);
        let (begun, before) = (Instant::now(), done.load(Ordering::Relaxed));
        thread::park_timeout(seconds);
        let measured = (done.load(Ordering::Relaxed) - before, begun.elapsed());
        over.store(true, Ordering::Relaxed);
        measured
    })
}
