//! Every picture that this decoder takes comes out as libjpeg-turbo decodes it: whole, in regions, at every scale, on every
//! path.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::print_stdout, reason = "says how many were taken")]

#[path = "shared/pictures.rs"]
mod pictures;
#[path = "turbo/reference.rs"]
mod reference;

use forebay_jpeg::{Decoder, Fault, Header, Path, Region, Scale};
use pictures::{Dice, pictures};
use proptest::prelude::*;
use reference::{Kind, Turbo};

fn decode(decoder: &mut Decoder, bytes: &[u8], scale: Scale, region: Option<Region>) -> Result<Vec<u8>, Fault> {
    let header = Header::read(bytes)?;
    let region = region.unwrap_or_else(|| Region::whole(scale.side(header.width), scale.side(header.height)));
    let mut rgb = vec![0; region.width as usize * region.height as usize * 3];
    let mut rows = decoder.begin(&header, bytes, scale, region);
    let line = region.width as usize * 3;
    let mut done = 0;
    // A few rows at a time, as somebody would who resizes them at once.
    while done < region.height as usize {
        let end = (done + 5).min(region.height as usize);
        done += rows.read(&mut rgb[done * line..end * line])? as usize;
    }
    assert_eq!(rows.read(&mut [0].repeat(line))?, 0, "no row follows the last");
    Ok(rgb)
}

/// The same cut of a whole picture.
fn cut(whole: &[u8], width: u32, region: Region) -> Vec<u8> {
    let row = |y: u32| &whole[((y * width + region.left) * 3) as usize..][..region.width as usize * 3];
    (region.top..region.top + region.height).flat_map(row).copied().collect()
}

/// Compares whole pictures, and regions, at all scales. Gives what was refused.
fn compare(name: &str, bytes: &[u8], turbo: &mut Turbo, decoders: &mut [Decoder], regions: usize) -> Option<Fault> {
    for scale in Scale::ALL {
        let ours = match decode(&mut decoders[0], bytes, scale, None) {
            Ok(ours) => ours,
            Err(fault) => return Some(fault),
        };
        let (width, height, theirs) =
            turbo.decode(bytes, scale).unwrap_or_else(|| panic!("{name}: libjpeg-turbo refuses it"));
        assert!(ours == theirs, "{name} at {scale:?}: {}", difference(&ours, &theirs, width));
        let mut dice = Dice(bytes.len() as u64);
        for decoder in decoders.iter_mut() {
            let again = decode(decoder, bytes, scale, None).unwrap();
            assert!(again == ours, "{name} at {scale:?}: {decoder:?} differs");
            // Large pictures take their time without optimisation, and have no more kinds of edges than small ones.
            for _ in 0..if theirs.len() > 3_000_000 { regions.min(2) } else { regions } {
                let region = dice.region(width, height);
                let part = decode(decoder, bytes, scale, Some(region)).unwrap();
                let expected = cut(&theirs, width, region);
                assert!(
                    part == expected,
                    "{name} at {scale:?}, {region:?}: {}",
                    difference(&part, &expected, region.width)
                );
            }
        }
    }
    None
}

fn difference(ours: &[u8], theirs: &[u8], width: u32) -> String {
    if ours.len() != theirs.len() {
        return format!("{} bytes, libjpeg-turbo has {}", ours.len(), theirs.len());
    }
    let differ = ours.iter().zip(theirs).filter(|(a, b)| a != b).count();
    let first = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(0);
    let (x, y) = (first / 3 % width as usize, first / 3 / width as usize);
    format!("{differ} bytes differ, first at ({x}, {y}): {} instead of {}", ours[first], theirs[first])
}

fn decoders() -> Vec<Decoder> {
    Path::available().map(Decoder::new).collect()
}

#[test]
fn photographs_are_equal_whole_and_in_regions_at_every_scale() {
    let (mut turbo, mut decoders) = (Turbo::new(), decoders());
    // Every picture is compared whole; the regions of every tenth are enough for a run of all tests.
    for (i, (path, bytes)) in pictures("imagenet").into_iter().enumerate() {
        let regions = if i % 10 == 0 { 5 } else { 0 };
        let refused = compare(&path.display().to_string(), &bytes, &mut turbo, &mut decoders, regions);
        assert!(matches!(refused, None | Some(Fault::Unsupported(_))), "{}: {refused:?}", path.display());
    }
}

#[test]
fn what_is_taken_of_the_conformance_files_is_equal() {
    let (mut turbo, mut decoders) = (Turbo::new(), decoders());
    let (mut taken, mut refused) = (0, 0);
    for (path, bytes) in pictures("conformance") {
        match compare(&path.display().to_string(), &bytes, &mut turbo, &mut decoders, 10) {
            None => taken += 1,
            Some(_) => refused += 1,
        }
    }
    println!("{taken} taken, {refused} refused");
}

#[test]
fn hostile_files_are_refused_or_equal() {
    let (mut turbo, mut decoders) = (Turbo::new(), decoders());
    for (path, bytes) in pictures("hostile") {
        // Those that declare enormous pictures are the business of whoever calls with a limit.
        if Header::read(&bytes).is_ok_and(|header| u64::from(header.width) * u64::from(header.height) > 50_000_000) {
            continue;
        }
        compare(&path.display().to_string(), &bytes, &mut turbo, &mut decoders, 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn pictures_of_every_kind_are_equal(kind in Kind::any()) {
        let bytes = kind.encode();
        let refused = compare(&format!("{kind:?}"), &bytes, &mut Turbo::new(), &mut decoders(), 4);
        prop_assert!(refused.is_none(), "{kind:?}: {refused:?}");
    }

    // Elsewhere libjpeg-turbo's kernels cut sums that do not fit, which these saturate: `architectures.rs`.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn damaged_pictures_are_refused_or_equal(kind in Kind::any(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = kind.encode();
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if Header::read(&bytes).is_ok_and(|header| header.width * header.height < 1_000_000) {
            compare(&format!("{kind:?}"), &bytes, &mut Turbo::new(), &mut decoders(), 2);
        }
    }
}
