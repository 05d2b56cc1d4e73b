//! Odd and hostile files: what Pillow opens, we open; everything else gets a verdict, without a crash or a hang.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they found"
)]

#[path = "shared/data.rs"]
mod data;

use forebay_pixels::{CpuDecoder, Draw, Fault, Limits, Recipe, probe};

/// Runs a set; `exception` says which fault is right for a file that Pillow opens.
fn run(set: &str, exception: impl Fn(&str, &Fault) -> bool) {
    let Some(folder) = data::folder(set) else { return };
    let root = folder.parent().unwrap();
    let mut decoder = CpuDecoder::new();
    let recipe = Recipe::training(64).unwrap();
    let mut place = vec![0; recipe.place_len()];
    let (mut opened, mut refused) = (0, 0);
    for data::Verdict { name, verdict } in data::verdicts(&folder) {
        let bytes = std::fs::read(root.join(&name)).unwrap();
        let whole = decoder.whole(&bytes, &Limits::default());
        let draw = Draw { seed: 0, epoch: 0, record: opened };
        let decoded = decoder.decode(&bytes, &recipe, draw, &Limits::default(), &mut place);
        match whole {
            Ok(picture) => {
                opened += 1;
                let probed = probe(&bytes).unwrap();
                let decoded = decoded.unwrap();
                let size = (picture.width, picture.height);
                assert_eq!((probed.width, probed.height), size, "{name}");
                assert_eq!((decoded.width, decoded.height), size, "{name}");
                assert_eq!(picture.rgb.len() as u64, u64::from(size.0) * u64::from(size.1) * 3);
            }
            Err(fault) => {
                refused += 1;
                assert!(!fault.to_string().is_empty());
                assert!(verdict != "ok" || exception(&name, &fault), "Pillow opens {name}, but: {fault}");
            }
        }
    }
    println!("{set}: {opened} opened, {refused} refused");
}

#[test]
fn whatever_pillow_opens_of_the_conformance_set_opens() {
    run("conformance", |_, _| false);
}

#[test]
fn whatever_pillow_opens_of_the_hostile_set_opens_or_is_truncated_by_rule_29() {
    // Pillow stops reading after the last row and does not ask for an end marker; rule 29 does.
    run("hostile", |_, fault| *fault == Fault::Truncated);
}
