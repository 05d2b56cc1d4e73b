//! Every picture that this decoder takes comes out as libjpeg-turbo decodes it: whole, in regions, at every scale, on every
//! path.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::print_stdout, reason = "says how many were taken")]

#[path = "turbo/compare.rs"]
mod compare;
#[path = "shared/pictures.rs"]
mod pictures;
#[path = "turbo/reference.rs"]
mod reference;

use compare::{compare, decoders};
use forebay_jpeg::{Fault, Header};
use pictures::pictures;
use proptest::prelude::*;
use reference::{Kind, Turbo};

#[test]
fn photographs_are_equal_whole_and_in_regions_at_every_scale() {
    let (mut turbo, mut decoders) = (Turbo::new(), decoders());
    // Every picture is compared whole; the regions of every tenth are enough for a run of all tests.
    for (i, (path, bytes)) in pictures("imagenet").into_iter().enumerate() {
        let regions = if i % 10 == 0 { 5 } else { 0 };
        let refused = compare(&path.display().to_string(), &bytes, Some(&mut turbo), &mut decoders, regions);
        assert!(matches!(refused, None | Some(Fault::Unsupported(_))), "{}: {refused:?}", path.display());
    }
}

#[test]
fn what_is_taken_of_the_conformance_files_is_equal() {
    let (mut turbo, mut decoders) = (Turbo::new(), decoders());
    let (mut taken, mut refused) = (0, 0);
    for (path, bytes) in pictures("conformance") {
        match compare(&path.display().to_string(), &bytes, Some(&mut turbo), &mut decoders, 10) {
            None => taken += 1,
            Some(_) => refused += 1,
        }
    }
    println!("{taken} taken, {refused} refused");
}

#[test]
fn hostile_files_are_refused_or_equal() {
    let (mut turbo, mut decoders) = (Turbo::of_damage(), decoders());
    for (path, bytes) in pictures("hostile") {
        // Those that declare enormous pictures are the business of whoever calls with a limit.
        if Header::read(&bytes).is_ok_and(|header| u64::from(header.width) * u64::from(header.height) > 50_000_000) {
            continue;
        }
        compare(&path.display().to_string(), &bytes, turbo.as_mut(), &mut decoders, 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn pictures_of_every_kind_are_equal(kind in Kind::any()) {
        let bytes = kind.encode();
        let refused = compare(&format!("{kind:?}"), &bytes, Some(&mut Turbo::new()), &mut decoders(), 4);
        prop_assert!(refused.is_none(), "{kind:?}: {refused:?}");
    }

    #[test]
    fn progressive_pictures_of_every_kind_are_equal(kind in Kind::any_progressive()) {
        let bytes = kind.encode();
        let refused = compare(&format!("{kind:?}"), &bytes, Some(&mut Turbo::new()), &mut decoders(), 4);
        prop_assert!(refused.is_none(), "{kind:?}: {refused:?}");
    }

    #[test]
    fn damaged_pictures_are_refused_or_equal(kind in prop_oneof![Kind::any(), Kind::any_progressive()], damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = kind.encode();
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if Header::read(&bytes).is_ok_and(|header| header.width * header.height < 1_000_000) {
            compare(&format!("{kind:?}"), &bytes, Turbo::of_damage().as_mut(), &mut decoders(), 2);
        }
    }
}
