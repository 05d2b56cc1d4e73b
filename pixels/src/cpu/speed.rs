//! Time per picture with one thread, printed, never judged, beside a bare decode of the same pixels:
//! `cargo test --release -p forebay-pixels speed -- --ignored --nocapture`.
#![allow(clippy::print_stdout, reason = "prints what it found")]

#[path = "../../tests/shared/data.rs"]
mod data;

use std::time::{Duration, Instant};

use super::*;
use crate::recipe::{Dtype, Layout, Output};
use crate::sample;
use crate::transform::Transform;

/// Rounds, of which the best counts, picture by picture: other work on the machine comes and goes.
const ROUNDS: usize = 7;

/// A name and what is done to one picture.
type Work<'a> = (String, Box<dyn FnMut(u64, &[u8]) + 'a>);

fn recipes() -> Vec<(&'static str, Recipe)> {
    let float = Output { dtype: Dtype::Float32, layout: Layout::Nchw, ..Output::default() };
    let fast = Input { reducing_gap: Some(2.0), ..Input::default() };
    vec![
        ("training 224", Recipe::training(224).unwrap()),
        ("evaluation 224", Recipe::evaluation(224).unwrap()),
        ("training 224, float32 NCHW", Recipe::new(Transform::training(224), float).unwrap()),
        ("training 96, reducing_gap 2", Recipe::training(96).unwrap().with_input(fast).unwrap()),
    ]
}

/// A decode of what the recipe needs, into memory that stays, and nothing else.
fn bare<'a>(recipe: &'a Recipe, limits: &'a Limits) -> impl FnMut(u64, &[u8]) + 'a {
    let (mut jpeg, mut canvas) = (JpegDecoders::new(JpegChoice::default()), Canvas::default());
    let (mut plan, mut stages) = (Plan::default(), Vec::new());
    move |record, bytes| {
        let draw = Draw { seed: 0, epoch: 0, record };
        let wanted =
            |stored: &Stored, scales: bool| Wanted::of(recipe, draw, stored, scales, limits, &mut plan, &mut stages);
        load(
            &mut jpeg,
            &mut canvas,
            bytes,
            Input { adjust_orientation: false, ..recipe.input() },
            [0; 3],
            limits,
            wanted,
        )
        .unwrap();
    }
}

fn decode<'a>(recipe: &'a Recipe, limits: &'a Limits) -> impl FnMut(u64, &[u8]) + 'a {
    let mut decoder = CpuDecoder::new();
    let mut place = vec![0; recipe.place_len()];
    move |record, bytes| {
        let draw = Draw { seed: 0, epoch: 0, record };
        decoder.decode(bytes, recipe, draw, limits, &mut place).unwrap();
    }
}

#[test]
#[ignore = "prints times; judges nothing"]
fn speed_of_plans_beside_bare_decodes() {
    let pictures: Vec<Vec<u8>> = match data::folder("imagenet") {
        Some(folder) => data::files(&folder).iter().step_by(2).map(|path| std::fs::read(path).unwrap()).collect(),
        None => (0..100).map(|index| sample::photograph(index, 500, 375)).collect(),
    };
    let limits = Limits::default();
    let recipes = recipes();
    let mut whole = CpuDecoder::new();
    let mut works: Vec<Work<'_>> =
        vec![("whole decode".into(), Box::new(move |_, bytes| drop(whole.whole(bytes, &Limits::default()))))];
    for (name, recipe) in &recipes {
        works.push((format!("{name}, bare"), Box::new(bare(recipe, &limits))));
        works.push(((*name).into(), Box::new(decode(recipe, &limits))));
    }
    let mut sums = vec![Duration::ZERO; works.len()];
    for (record, bytes) in (0..).zip(&pictures) {
        let mut best = vec![Duration::MAX; works.len()];
        for _ in 0..ROUNDS {
            for ((_, work), best) in works.iter_mut().zip(&mut best) {
                let begun = Instant::now();
                work(record, bytes);
                *best = begun.elapsed().min(*best);
            }
        }
        sums.iter_mut().zip(best).for_each(|(sum, best)| *sum += best);
    }
    println!("{} pictures, one thread, best of {ROUNDS} rounds for each picture", pictures.len());
    for ((name, _), sum) in works.iter().zip(&sums) {
        let share = sums[0].as_secs_f64() / sum.as_secs_f64();
        println!("{name}: {:?}, {share:.2} x whole decodes", *sum / u32::try_from(pictures.len()).unwrap());
    }
    for (pair, (name, _)) in sums[1..].chunks_exact(2).zip(&recipes) {
        println!("{name}: {:.3} of its bare decode", pair[0].as_secs_f64() / pair[1].as_secs_f64());
    }
}
