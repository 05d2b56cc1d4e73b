//! The MCUs of a cut, beside those that have a sample of which a pixel of the region is made, looked for one by one.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::frame::{Layout, Scale};
use crate::header::Header;
use crate::header::crafted::Crafted;

/// The samples of a component that a pixel is made of, across or down: `factor` pixels stand over each.
fn samples(pixel: u32, factor: u32, leans: bool, len: u32) -> Vec<u32> {
    let near = pixel / factor;
    match (leans, pixel % factor) {
        (false, _) => vec![near],
        (true, 0) => vec![near.saturating_sub(1), near],
        (true, _) => vec![near, (near + 1).min(len - 1)],
    }
}

/// The columns and the rows of MCUs in which a component has samples for the region.
fn needed(layout: &Layout, region: Region) -> [BTreeSet<u32>; 2] {
    let across = matches!(layout.upsampling, Upsampling::Across | Upsampling::Both);
    let down = matches!(layout.upsampling, Upsampling::Down | Upsampling::Both);
    let columns = (region.left..region.left + region.width)
        .flat_map(|x| samples(x, layout.factors.0, across, layout.width))
        .map(|x| x / layout.mcu().0);
    let rows = (region.top..region.top + region.height)
        .flat_map(|y| samples(y, layout.factors.1, down, layout.height))
        .map(|y| y / layout.mcu().1);
    [columns.collect(), rows.collect()]
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let factors = prop::sample::select(vec![
        &[0x11][..],
        &[0x11, 0x11, 0x11],
        &[0x21, 0x11, 0x11],
        &[0x22, 0x11, 0x11],
        &[0x12, 0x11, 0x11],
        &[0x41, 0x11, 0x11],
    ]);
    (factors, 1_u16..=130, 1_u16..=130, prop::sample::select(Scale::ALL.to_vec())).prop_map(
        |(factors, width, height, scale)| {
            let header = Header::read(&Crafted::new(width, height, factors).bytes()).expect("it is a good header");
            Frame::new(&header, scale)
        },
    )
}

fn any_cut() -> impl Strategy<Value = (Frame, Region)> {
    let place = any::<prop::sample::Index>;
    (any_frame(), place(), place(), place(), place()).prop_map(|(frame, left, top, width, height)| {
        let left = left.index(frame.width as usize) as u32;
        let top = top.index(frame.height as usize) as u32;
        let width = 1 + width.index((frame.width - left) as usize) as u32;
        let height = 1 + height.index((frame.height - top) as usize) as u32;
        (frame, Region { left, top, width, height })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn rule_30_a_cut_has_the_mcus_that_a_regions_pixels_are_made_of_and_no_more((frame, region) in any_cut()) {
        let cut = Cut::new(&frame, region);
        let each: Vec<_> = frame.layouts().iter().map(|layout| needed(layout, region)).collect();
        let all = |axis: usize| each.iter().flat_map(|needed| needed[axis].iter().copied()).collect::<BTreeSet<_>>();
        prop_assert_eq!(all(0), cut.columns.clone().collect(), "columns of {:?} in {:?}", region, frame);
        prop_assert_eq!(all(1), cut.rows.clone().collect(), "rows of {:?} in {:?}", region, frame);
        prop_assert_eq!(&each[0][1], &cut.luma_rows.clone().collect(), "rows of luma of {:?} in {:?}", region, frame);
        prop_assert!(cut.columns.end <= frame.mcus.0 && cut.rows.end <= frame.mcus.1);
    }

    #[test]
    fn the_mcus_of_a_frame_cover_it_and_no_mcu_is_beyond_it(frame in any_frame()) {
        for (pixels, mcu, mcus) in [(frame.width, frame.mcu.0, frame.mcus.0), (frame.height, frame.mcu.1, frame.mcus.1)] {
            prop_assert!((mcus - 1) * mcu < pixels && pixels <= mcus * mcu, "{:?}", frame);
        }
        for layout in frame.layouts() {
            // Every pixel has its sample, and the last sample has a pixel.
            for (pixels, factor, samples) in [
                (frame.width, layout.factors.0, layout.width),
                (frame.height, layout.factors.1, layout.height),
            ] {
                prop_assert!((pixels - 1) / factor < samples && (samples - 1) * factor < pixels.next_multiple_of(factor), "{:?}", frame);
            }
        }
    }
}

#[test]
fn a_region_lies_in_a_picture_or_it_does_not() {
    let region = |left, top, width, height| Region { left, top, width, height };
    assert!(region(0, 0, 5, 4).is_in(5, 4));
    assert!(region(4, 3, 1, 1).is_in(5, 4));
    assert!(!region(0, 0, 0, 4).is_in(5, 4), "an empty one does not");
    assert!(!region(4, 3, 2, 1).is_in(5, 4));
    assert!(!region(5, 0, 1, 1).is_in(5, 4));
    assert!(!region(1, 1, u32::MAX, u32::MAX).is_in(5, 4), "sums that do not fit a number do not make it so");
}
