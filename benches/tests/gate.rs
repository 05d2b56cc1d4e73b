//! The kernels of `benches/gpu/gate` on the CPU: what they decode from seek points and restart markers has the CPU decoder's
//! bytes, and what is damaged or made up has them or is refused. Their memory is checked before each launch.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::print_stdout, reason = "says how many were taken")]

#[path = "../../jpeg/tests/shared/pictures.rs"]
mod pictures;
#[path = "../../jpeg/tests/turbo/reference.rs"]
mod reference;

use forebay_benches::gate::Twin;
use forebay_jpeg::segments::{Launch, Unfit};
use forebay_jpeg::{Decoder, Fault, Header, Region, Scale, SeekPoints, Spacing};
use pictures::{Dice, pictures};
use proptest::prelude::*;
use reference::Kind;

const CLOSE: Spacing = Spacing { every: 2, columns: 100, share: u32::MAX };

/// What the kernels made of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Made {
    Pixels(Vec<u8>),
    /// A segment did not end as it should.
    Fault,
    /// It was not even begun.
    Unfit(Unfit),
}

/// Decodes regions of a picture in one launch.
fn made(file: &[u8], block: &[u8], regions: &[Region], points: &mut SeekPoints) -> Vec<Made> {
    let header = Header::read(file).unwrap();
    let (mut launch, mut twin) = (Launch::default(), Twin::default());
    let mut added = Vec::new();
    for region in regions {
        points.load(block);
        added.push(launch.add(&header, file, *region, points));
    }
    let faults = twin.run(&launch, regions.len());
    let mut number = 0;
    let mut of = |(planes, region)| match planes {
        Err(unfit) => Made::Unfit(unfit),
        Ok(planes) => {
            number += 1;
            if faults.contains(&(number - 1)) { Made::Fault } else { Made::Pixels(twin.rgb(&planes, region)) }
        }
    };
    added.into_iter().zip(regions.iter().copied()).map(&mut of).collect()
}

/// The same by the CPU's decoder, with a block of points or with none.
fn expected(file: &[u8], block: &[u8], region: Region, points: &mut SeekPoints) -> Result<Vec<u8>, Fault> {
    let header = Header::read(file).unwrap();
    let mut rgb = vec![0; region.width as usize * region.height as usize * 3];
    let mut decoder = Decoder::default();
    points.load(block);
    let mut rows = if block.is_empty() {
        decoder.begin(&header, file, Scale::Full, region)
    } else {
        decoder.begin_seeking(&header, file, Scale::Full, region, points)
    };
    rows.read(&mut rgb)?;
    Ok(rgb)
}

/// The block of a picture's points; empty if it has none.
fn noted(file: &[u8], points: &mut SeekPoints) -> Result<Vec<u8>, Fault> {
    Decoder::default().note(&Header::read(file)?, file, points)?;
    Ok(points.changed().unwrap_or_default().to_vec())
}

fn random_regions(header: &Header, count: u32, seed: u64) -> Vec<Region> {
    let mut dice = Dice(seed);
    (0..count).map(|_| dice.region(header.width, header.height)).collect()
}

#[test]
fn regions_of_photographs_have_the_cpu_decoders_bytes() {
    // With the number that decision 92 has, it takes all pictures.
    let asked = std::env::var("FOREBAY_GATE_REGIONS").ok().map(|count| count.parse().unwrap());
    let (step, regions) = asked.map_or((10, 4), |count: u32| (1, count));
    let (mut taken, mut without, mut points) = (0, 0, SeekPoints::default());
    let folders = ["imagenet", "conformance", "coco_tiny", "voc_raccoon", "hostile"];
    for (path, file) in folders.into_iter().flat_map(pictures).step_by(step) {
        let Ok(header) = Header::read(&file) else { continue };
        if u64::from(header.width) * u64::from(header.height) > 20_000_000 {
            continue;
        }
        let block = noted(&file, &mut points);
        let regions = random_regions(&header, regions, file.len() as u64);
        let all = made(&file, block.as_deref().unwrap_or_default(), &regions, &mut points);
        for (region, made) in regions.into_iter().zip(all) {
            match made {
                Made::Unfit(_) => without += 1,
                Made::Fault => assert!(block.is_err(), "{}: a good picture is refused", path.display()),
                Made::Pixels(pixels) => {
                    taken += 1;
                    let expected = expected(&file, &[], region, &mut points);
                    // Without points, what is damaged before the region is not seen from a restart marker.
                    if block.is_ok() || expected.is_ok() {
                        assert!(expected == Ok(pixels), "{}: {region:?} differs", path.display());
                    }
                }
            }
        }
    }
    println!("{taken} regions have the same bytes, {without} are of pictures without points");
}

#[test]
fn a_picture_without_points_and_restarts_and_a_progressive_one_are_for_another_lane() {
    let kind = Kind { restart: 0, ..example() };
    let points = &mut SeekPoints::new(CLOSE);
    let whole = [Region::whole(kind.width, kind.height)];
    assert_eq!(made(&kind.encode(), &[], &whole, points), [Made::Unfit(Unfit::NoEntry)]);
    let progressive = Kind { progressive: true, ..kind }.encode();
    assert_eq!(made(&progressive, &[], &whole, points), [Made::Unfit(Unfit::NoEntry)]);
}

#[test]
fn a_segment_that_does_not_end_where_the_next_one_begins_is_a_fault() {
    let file = Kind { restart: 0, ..example() }.encode();
    let header = Header::read(&file).unwrap();
    let points = &mut SeekPoints::new(CLOSE);
    let block = noted(&file, points).unwrap();
    let whole = Region::whole(header.width, header.height);
    let mut faults = 0;
    let scan = file.len() / 2..file.len() - 2;
    for at in scan.clone().step_by(11) {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        let mut sealed = block.clone();
        SeekPoints::seal(&mut sealed, &damaged);
        let made = made(&damaged, &sealed, &[whole], points).remove(0);
        faults += usize::from(!matches!(made, Made::Pixels(_)));
        if let Made::Pixels(pixels) = made {
            assert_eq!(expected(&damaged, &sealed, whole, points), Ok(pixels), "byte {at}");
        }
    }
    let tried = scan.step_by(11).count();
    // Bits of AC values change nothing but a value.
    assert!(faults * 3 > tried, "{faults} of {tried} changed bits were seen");
}

fn example() -> Kind {
    Kind {
        sampling: forebay_jpeg::Sampling::S420,
        width: 150,
        height: 130,
        quality: 90,
        restart: 5,
        optimised: true,
        progressive: false,
        noise: 60,
        seed: 3,
    }
}

fn any_spacing() -> impl Strategy<Value = Spacing> {
    (1..6_u16, 0..=100_u8).prop_map(|(every, columns)| Spacing { every, columns, share: u32::MAX })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pictures_of_every_kind_have_the_cpu_decoders_bytes(kind in Kind::any(), spacing in any_spacing(), seed in any::<u64>()) {
        let file = kind.encode();
        let points = &mut SeekPoints::new(spacing);
        let block = noted(&file, points).unwrap();
        let header = Header::read(&file).unwrap();
        let regions = random_regions(&header, 6, seed);
        // With points; and with markers alone, where there are any.
        for block in [&block[..], &[]] {
            for (region, made) in regions.iter().zip(made(&file, block, &regions, points)) {
                match made {
                    Made::Pixels(pixels) => prop_assert!(expected(&file, &[], *region, points) == Ok(pixels), "{:?} {:?}", kind, region),
                    Made::Unfit(Unfit::NoEntry) => prop_assert!(block.is_empty()),
                    made => prop_assert!(false, "{:?} {:?}: {:?}", kind, region, made),
                }
            }
        }
    }

    #[test]
    fn a_damaged_picture_with_points_that_were_right_has_the_cpu_decoders_bytes_or_is_refused(
        kind in Kind::any(), spacing in any_spacing(), seed in any::<u64>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut file = kind.encode();
        let points = &mut SeekPoints::new(spacing);
        let mut block = noted(&file, points).unwrap();
        for (place, value) in damage {
            let place = place.index(file.len());
            file[place] = value;
        }
        SeekPoints::seal(&mut block, &file);
        let Ok(header) = Header::read(&file) else { return Ok(()) };
        if header.width * header.height > 1_000_000 {
            return Ok(());
        }
        let regions = random_regions(&header, 3, seed);
        for (region, made) in regions.iter().zip(made(&file, &block, &regions, points)) {
            if let Made::Pixels(pixels) = made {
                let expected = expected(&file, &block, *region, points);
                // The block may be of another shape now: then markers are what it began at.
                if expected.is_ok() || kind.restart == 0 {
                    prop_assert!(expected == Ok(pixels), "{:?} {:?}", kind, region);
                }
            }
        }
    }

    #[test]
    fn a_made_up_block_leads_to_some_pixels_or_a_refusal(
        kind in Kind::any(), noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20), seed in any::<u64>(),
    ) {
        let file = kind.encode();
        let points = &mut SeekPoints::new(CLOSE);
        let mut block = noted(&file, points).unwrap();
        for (place, value) in noise {
            if !block.is_empty() {
                let place = place.index(block.len());
                block[place] = value;
            }
        }
        SeekPoints::seal(&mut block, &file);
        let regions = random_regions(&Header::read(&file).unwrap(), 3, seed);
        for (region, made) in regions.iter().zip(made(&file, &block, &regions, points)) {
            let size = region.width as usize * region.height as usize * 3;
            prop_assert!(!matches!(&made, Made::Pixels(pixels) if pixels.len() != size));
        }
    }
}
