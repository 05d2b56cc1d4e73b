//! Pictures that take long to decode.

use std::fs;

use forebay_pixels::sample::photograph;

use super::{benched, limited_while_reading};
use crate::daemon::Home;
use crate::trainer::Trainer;

/// Pictures that keep one decode thread at work, and so many that leases are no matter.
pub(super) fn large_pictures(home: &Home) {
    for number in 0..8 {
        fs::write(home.picture(number), photograph(number, 1200, 900)).unwrap();
    }
    for number in 8..200 {
        fs::hard_link(home.picture(number % 8), home.picture(number)).unwrap();
    }
}

/// Pictures without loss, which every decoder reads whole.
fn noise(home: &Home) {
    for number in 0..8 {
        let noise = |x: u32, y: u32| image::Rgb([x, y, x * y + number].map(|value| value.to_le_bytes()[0]));
        let picture = image::RgbImage::from_fn(900, 700, noise);
        picture.save(home.path("pictures").join(format!("{number}.png"))).unwrap();
    }
}

#[test]
fn pictures_that_take_long_to_decode_are_named() {
    let home = Home::with_pictures(0);
    noise(&home);
    home.configure(&(home.train("") + "[decode]\nthreads = 1\n"));
    let said = benched(&home, &[]);
    assert!(said.contains("decoding") && said.contains("100 % of the pictures are not JPEG"), "{said}");
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "decoding");
    assert!(verdict.contains("100 % of the pictures are not JPEG"), "{verdict}");
    drop(daemon);
}

#[test]
fn too_few_decode_threads_are_named() {
    let home = Home::with_pictures(0);
    large_pictures(&home);
    home.configure(&(home.train("size = 896") + "[decode]\nthreads = 1\n"));
    // On a machine with one core, more threads would not help.
    let said = benched(&home, &[]);
    assert!(said.starts_with("The bottleneck is decoding") && !said.contains("not JPEG"), "{said}");
    let daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let verdict = limited_while_reading(&home, &mut trainer, "decoding");
    assert!(!verdict.contains("not JPEG"), "{verdict}");
    drop(daemon);
}
