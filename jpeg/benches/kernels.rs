//! Time per block and per pixel of the kernels, beside libjpeg-turbo's: `cargo bench -p forebay-jpeg --bench kernels`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "stops at what should not be, and prints what it found")]

// Its kernels have names of their own on x86-64 alone.
#[cfg(target_arch = "x86_64")]
#[path = "../tests/shared/turbo.rs"]
mod turbo;

use std::array::from_fn;
use std::hint::black_box;
use std::time::Instant;

use forebay_jpeg::Path;
use forebay_jpeg::colour;
use forebay_jpeg::idct::{self, Quant, Size};
use forebay_jpeg::upsample::{self, RowPair, Upsampling};

/// Blocks in a row; pixels are eight times as many.
const BLOCKS: usize = 64;

/// As libjpeg-turbo's aligned loads want them.
#[repr(align(32))]
struct Blocks([idct::Block; BLOCKS]);

/// Something to be timed.
type Work<'a> = (String, Box<dyn FnMut() + 'a>);

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test` builds benches and runs them without this argument.
        println!("skipped: figures are taken by `cargo bench`");
        return;
    }
    blocks();
    pixels();
}

/// Nanoseconds for each of `parts`: the best of many rounds, in which all works take their turns.
fn print(title: &str, parts: usize, works: Vec<Work<'_>>) {
    let (names, mut works): (Vec<_>, Vec<_>) = works.into_iter().unzip();
    let mut best = vec![f64::MAX; works.len()];
    for _ in 0..200 {
        for (work, best) in works.iter_mut().zip(&mut best) {
            let begun = Instant::now();
            (0..20).for_each(|_| work());
            *best = best.min(begun.elapsed().as_secs_f64());
        }
    }
    println!("{title}");
    for (name, best) in names.iter().zip(best) {
        let parts = 20.0 * f64::from(u32::try_from(parts).unwrap());
        println!("  {name:<28} {:8.3} ns", best * 1e9 / parts);
    }
}

fn blocks() {
    // As in photographs: small coefficients here and there.
    let mut state = 1_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    let mut coefficient = || if random() % 4 == 0 { i16::try_from(random() % 21).unwrap() - 10 } else { 0 };
    let Blocks(blocks) = &Blocks(from_fn(|_| from_fn(|_| coefficient())));
    let quant = Quant::new(&[5; 64]);
    for size in [Size::Eight, Size::Four, Size::Two, Size::One] {
        let stride = BLOCKS * size.samples();
        let mut works: Vec<Work<'_>> = Vec::new();
        for path in Path::available() {
            let quant = &quant;
            let mut out = vec![0; stride * size.samples()];
            let work = move || idct::row(path, size, quant, black_box(blocks), &[63; BLOCKS], &mut out, stride);
            works.push((format!("{path:?}"), Box::new(work)));
        }
        #[cfg(target_arch = "x86_64")]
        if Path::Avx2.is_available() && size != Size::One {
            let mut out = vec![0; stride * size.samples()];
            let work = move || turbo::idct_row(size, black_box(blocks), &[5; 64], &mut out, stride);
            works.push(("libjpeg-turbo".to_owned(), Box::new(work)));
        }
        print(&format!("{size:?}, a block"), BLOCKS, works);
    }
}

fn pixels() {
    const WIDTH: usize = BLOCKS * 8;
    let luma: Vec<u8> = (0..=255).cycle().take(WIDTH).collect();
    let near: Vec<u8> = (0..=255).rev().cycle().take(WIDTH).collect();
    let far = luma.clone();
    let (luma, near, far) = (&luma, &near, &far);
    let mut works: Vec<Work<'_>> = Vec::new();
    for path in Path::available() {
        for (name, upsampling) in [
            ("4:4:4", Upsampling::Repeat(1)),
            ("4:2:2", Upsampling::Across),
            ("4:4:0", Upsampling::Down),
            ("4:2:0", Upsampling::Both),
            ("4:1:1", Upsampling::Repeat(4)),
        ] {
            let rows = RowPair {
                near: &near[..WIDTH / upsampling.across()],
                far: &far[..WIDTH / upsampling.across()],
                below: true,
            };
            let mut out = vec![0; WIDTH * 3];
            let work = move || colour::row(path, black_box(luma), upsampling, rows, rows, 0, &mut out);
            works.push((format!("{path:?}, {name} to RGB"), Box::new(work)));
            if upsampling != Upsampling::Repeat(1) {
                let mut out = vec![0; WIDTH];
                let work = move || upsample::row(upsampling, black_box(rows), 0, &mut out);
                works.push((format!("{path:?}, {name} upsampled"), Box::new(work)));
            }
        }
        let mut out = vec![0; WIDTH * 3];
        works.push((format!("{path:?}, gray to RGB"), Box::new(move || colour::gray(path, black_box(luma), &mut out))));
    }
    #[cfg(target_arch = "x86_64")]
    if Path::Avx2.is_available() {
        let mut kernels = turbo::Pixels::new(luma, &near[..WIDTH / 2], &far[..WIDTH / 2]);
        works.push(("libjpeg-turbo, 4:2:0 to RGB".to_owned(), Box::new(move || kernels.both_to_colours())));
    }
    print("a pixel", WIDTH, works);
}
