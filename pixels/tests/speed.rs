//! Time per picture with one thread, printed, never judged:
//! `cargo test --release -p forebay-pixels --test speed -- --ignored --nocapture`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they found"
)]

#[path = "shared/data.rs"]
mod data;

use std::time::{Duration, Instant};

use forebay_pixels::{CpuDecoder, Draw, Limits, Recipe, sample};

/// Best of some rounds over all pictures, per picture.
fn per_picture(pictures: &[Vec<u8>], mut work: impl FnMut(u64, &[u8])) -> Duration {
    let round = |_| {
        let begun = Instant::now();
        (0..).zip(pictures).for_each(|(record, bytes)| work(record, bytes));
        begun.elapsed()
    };
    let best = (0..5).map(round).min().unwrap();
    best / u32::try_from(pictures.len()).unwrap()
}

#[test]
#[ignore = "prints times; judges nothing"]
fn time_per_picture() {
    let pictures: Vec<Vec<u8>> = match data::folder("imagenet") {
        Some(folder) => data::files(&folder).iter().map(|path| std::fs::read(path).unwrap()).collect(),
        None => (0..100).map(|index| sample::photograph(index, 500, 375)).collect(),
    };
    let limits = Limits::default();
    let mut decoder = CpuDecoder::new();
    let whole = per_picture(&pictures, |_, bytes| {
        decoder.whole(bytes, &limits).unwrap();
    });
    println!("{} pictures, one thread", pictures.len());
    println!("whole decode: {whole:?}");
    for (name, recipe) in [("training", Recipe::training(224)), ("evaluation", Recipe::evaluation(224))] {
        let recipe = recipe.unwrap();
        let mut place = vec![0; recipe.place_len()];
        let time = per_picture(&pictures, |record, bytes| {
            let draw = Draw { seed: 0, epoch: 0, record };
            decoder.decode(bytes, &recipe, draw, &limits, &mut place).unwrap();
        });
        println!("{name} 224: {time:?}, {:.2} of a whole decode", time.as_secs_f64() / whole.as_secs_f64());
    }
}
