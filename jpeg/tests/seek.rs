//! Regions that are decoded with seek points have the same bytes as without: with those that were recorded, and with blocks
//! that are damaged, of another file, or made up.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]
#![allow(clippy::print_stdout, reason = "says how many were taken")]

#[path = "shared/pictures.rs"]
mod pictures;
#[path = "turbo/reference.rs"]
mod reference;

use forebay_jpeg::{Decoder, Fault, Header, Path, Region, Sampling, Scale, SeekPoints, Spacing};
use pictures::{Dice, pictures};
use proptest::prelude::*;
use reference::Kind;

const CLOSE: Spacing = Spacing { every: 2, columns: 100, share: u32::MAX };

/// What is asked of a picture.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    file: &'a [u8],
    scale: Scale,
    region: Region,
}

impl Asked<'_> {
    /// Without points, a few rows at a time.
    fn plain(&self, decoder: &mut Decoder) -> Result<Vec<u8>, Fault> {
        self.rows(|header| decoder.begin(header, self.file, self.scale, self.region))
    }

    fn with(&self, decoder: &mut Decoder, points: &mut SeekPoints) -> Result<Vec<u8>, Fault> {
        self.rows(|header| decoder.begin_seeking(header, self.file, self.scale, self.region, points))
    }

    /// As somebody decodes who keeps `block`: again, if its points were wrong.
    fn keeping(&self, decoder: &mut Decoder, points: &mut SeekPoints, block: &mut Vec<u8>) -> Result<Vec<u8>, Fault> {
        points.load(block);
        let decoded = match self.with(decoder, points) {
            Err(Fault::Misled) => self.with(decoder, points),
            decoded => decoded,
        };
        if let Some(changed) = points.changed() {
            *block = changed.to_vec();
        }
        assert!(points.changed().is_none(), "it was just asked");
        decoded
    }

    fn rows<'b>(&self, begin: impl FnOnce(&Header) -> forebay_jpeg::Rows<'b>) -> Result<Vec<u8>, Fault> {
        let header = Header::read(self.file)?;
        let line = self.region.width as usize * 3;
        let mut rgb = vec![0; line * self.region.height as usize];
        let mut rows = begin(&header);
        for part in rgb.chunks_mut(line * 7) {
            rows.read(part)?;
        }
        Ok(rgb)
    }
}

/// A random region of a picture at a scale.
fn ask<'a>(file: &'a [u8], dice: &mut Dice) -> Asked<'a> {
    let header = Header::read(file).unwrap();
    let scale = Scale::ALL[(dice.below(8) % 5 % 4) as usize];
    Asked { file, scale, region: dice.region(scale.side(header.width), scale.side(header.height)) }
}

fn whole(file: &[u8]) -> Asked<'_> {
    let header = Header::read(file).unwrap();
    Asked { file, scale: Scale::Full, region: Region::whole(header.width, header.height) }
}

/// Decodes regions one after the other, as epochs do, and compares each. Gives the block that is kept in the end.
fn epochs(name: &str, file: &[u8], spacing: Spacing, decoder: &mut Decoder, regions: u32) -> Vec<u8> {
    let (mut points, mut block) = (SeekPoints::new(spacing), Vec::new());
    let mut dice = Dice(file.len() as u64);
    for _ in 0..regions {
        let asked = ask(file, &mut dice);
        let expected = asked.plain(decoder);
        let seeking = asked.keeping(decoder, &mut points, &mut block);
        assert!(seeking == expected, "{name}: {:?} {:?} differs with points", asked.scale, asked.region);
        if expected.is_err() {
            assert!(block.is_empty(), "{name}: nothing is kept of a decode that failed");
        }
    }
    block
}

/// A picture of many MCU rows with whatever restarts are asked for.
fn picture(sampling: Sampling, restart: u32, seed: u64) -> Vec<u8> {
    Kind {
        sampling,
        width: 150,
        height: 130,
        quality: 90,
        restart,
        optimised: true,
        progressive: false,
        noise: 60,
        seed,
    }
    .encode()
}

/// Every picture that this decoder takes, by the folder that it is in.
const FOLDERS: [&str; 5] = ["imagenet", "conformance", "coco_tiny", "voc_raccoon", "hostile"];

#[test]
fn regions_of_photographs_have_the_same_bytes_with_points() {
    let mut decoder = Decoder::default();
    // Every tenth picture is enough for a run of all tests. `make test-regions` takes all of them.
    let (step, regions) = if cfg!(debug_assertions) { (10, 8) } else { (1, 50) };
    let is_taken = |file: &[u8]| {
        // How many pixels are too many is for the caller to say.
        Header::read(file).is_ok_and(|header| u64::from(header.width) * u64::from(header.height) < 50_000_000)
    };
    let mut taken = 0;
    for (path, file) in FOLDERS.into_iter().flat_map(pictures).filter(|(_, file)| is_taken(file)).step_by(step) {
        let block = epochs(&path.display().to_string(), &file, Spacing::default(), &mut decoder, regions);
        // What a point takes is guessed before it is known.
        assert!(block.len() <= file.len() / 90, "{} of {} bytes: {}", block.len(), file.len(), path.display());
        taken += 1;
    }
    println!("{taken} pictures, {regions} regions of each");
}

/// The block of a picture's points, found without a decode.
fn noted(file: &[u8], decoder: &mut Decoder, points: &mut SeekPoints) -> Result<Vec<u8>, Fault> {
    points.load(&[7; 40]);
    decoder.note(&Header::read(file)?, file, points)?;
    Ok(points.changed().unwrap_or_default().to_vec())
}

#[test]
fn a_later_decode_adds_to_the_points_of_an_earlier_one_until_they_are_complete() {
    let file = picture(Sampling::S420, 0, 1);
    let (mut decoder, mut points, mut block) = (Decoder::default(), SeekPoints::new(CLOSE), Vec::new());
    let mut lengths = Vec::new();
    for rows in [1, 40, 20, 90, 130, 130] {
        let mut asked = whole(&file);
        asked.region.height = rows;
        let expected = asked.plain(&mut decoder);
        assert_eq!(asked.keeping(&mut decoder, &mut points, &mut block), expected);
        lengths.push(block.len());
    }
    let [one, forty, twenty, ninety, all, again] = lengths[..] else { panic!("there were six") };
    assert!(0 < one && one < forty && forty < ninety && ninety < all, "{lengths:?}");
    assert!(twenty == forty && again == all && points.is_complete(), "{lengths:?}");
}

#[test]
fn what_is_beside_and_above_a_region_is_not_read() {
    let file = picture(Sampling::S444, 0, 2);
    let (mut decoder, mut points, mut block) = (Decoder::default(), SeekPoints::new(CLOSE), Vec::new());
    whole(&file).keeping(&mut decoder, &mut points, &mut block).unwrap();
    // The columns 8 to 11 of the MCU rows 6 and 7.
    let asked = Asked { region: Region { left: 64, top: 48, width: 32, height: 16 }, ..whole(&file) };
    let expected = asked.plain(&mut decoder).unwrap();
    // Markers where the scan's data was: whoever comes there ends.
    let start = Header::read(&file).unwrap();
    let scan = file.len() - file.len() * 9 / 10;
    assert!(start.width == 150 && file[..scan].windows(2).any(|two| two == [0xFF, 0xDA]));
    let mut unread = 0;
    for at in (scan..file.len() - 64).step_by(64) {
        let mut damaged = file.clone();
        damaged[at..at + 2].copy_from_slice(&[0xFF, 0xD9]);
        let mut block = block.clone();
        SeekPoints::seal(&mut block, &damaged);
        points.load(&block);
        let asked = Asked { file: &damaged, ..asked };
        if asked.with(&mut decoder, &mut points) == Ok(expected.clone()) {
            unread += 1;
        } else {
            assert_eq!(asked.plain(&mut decoder), Err(Fault::Truncated), "the whole way comes there too");
        }
    }
    let steps = (file.len() - 64 - scan).div_ceil(64);
    assert!(unread * 100 > steps * 90, "{unread} of {steps} places were not read");
}

#[test]
fn a_file_without_room_for_points_has_none_and_is_decoded_all_the_same() {
    let file = picture(Sampling::S420, 0, 3);
    let (mut decoder, mut points) = (Decoder::default(), SeekPoints::new(Spacing { share: 0, ..CLOSE }));
    let mut block = vec![7; 40];
    let expected = whole(&file).plain(&mut decoder);
    assert_eq!(whole(&file).keeping(&mut decoder, &mut points, &mut block), expected);
    assert!(block.is_empty(), "what was kept is not its");
}

#[test]
fn points_of_a_file_that_has_changed_are_refused_whatever_byte_it_is() {
    let file = picture(Sampling::S422, 5, 4);
    let (mut decoder, mut points, mut block) = (Decoder::default(), SeekPoints::new(CLOSE), Vec::new());
    whole(&file).keeping(&mut decoder, &mut points, &mut block).unwrap();
    for at in (0..file.len()).step_by(97) {
        let mut changed = file.clone();
        changed[at] ^= 1;
        if Header::read(&changed).is_err() {
            continue;
        }
        let mut kept = block.clone();
        let asked = ask(&changed, &mut Dice(at as u64));
        let expected = asked.plain(&mut decoder);
        assert_eq!(asked.keeping(&mut decoder, &mut points, &mut kept), expected, "byte {at}");
        assert_ne!(kept, block, "byte {at}");
    }
}

fn any_spacing() -> impl Strategy<Value = Spacing> {
    (1..6_u16, 0..=100_u8).prop_map(|(every, columns)| Spacing { every, columns, share: u32::MAX })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 150 } else { 2000 }))]

    #[test]
    fn pictures_of_every_kind_have_the_same_bytes_with_points_on_every_path(kind in Kind::any(), spacing in any_spacing()) {
        let blocks: Vec<_> = Path::available()
            .map(|path| epochs(&format!("{kind:?}"), &kind.encode(), spacing, &mut Decoder::new(path), 8))
            .collect();
        prop_assert!(blocks.windows(2).all(|two| two[0] == two[1]), "{:?}", kind);
    }

    #[test]
    fn points_that_are_noted_without_a_decode_are_those_of_a_decode(kind in Kind::any(), spacing in any_spacing()) {
        let file = kind.encode();
        for path in Path::available() {
            let (mut decoder, mut points, mut block) = (Decoder::new(path), SeekPoints::new(spacing), Vec::new());
            whole(&file).keeping(&mut decoder, &mut points, &mut block).unwrap();
            prop_assert_eq!(noted(&file, &mut decoder, &mut points), Ok(block));
            prop_assert!(points.is_complete());
        }
    }

    #[test]
    fn a_damaged_picture_has_no_points_unless_it_decodes(kind in Kind::any(), at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut file = kind.encode();
        let at = at.index(file.len());
        file[at] = value;
        let (mut decoder, mut points, mut block) = (Decoder::default(), SeekPoints::new(CLOSE), Vec::new());
        if Header::read(&file).is_ok_and(|header| header.width * header.height < 1_000_000) {
            let decoded = whole(&file).keeping(&mut decoder, &mut points, &mut block);
            prop_assert_eq!(noted(&file, &mut decoder, &mut points).ok(), decoded.ok().map(|_| block));
        }
    }

    #[test]
    fn damaged_pictures_end_with_points_as_they_end_without(kind in Kind::any(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut file = kind.encode();
        for (place, value) in damage {
            let place = place.index(file.len());
            file[place] = value;
        }
        if Header::read(&file).is_ok_and(|header| header.width * header.height < 1_000_000) {
            epochs(&format!("{kind:?}"), &file, CLOSE, &mut Decoder::default(), 6);
        }
    }

    #[test]
    fn a_made_up_block_is_dropped_or_leads_to_some_pixels_and_to_no_panic(
        kind in Kind::any(), noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20), seed in any::<u64>(),
    ) {
        let file = kind.encode();
        let (mut decoder, mut points, mut block) = (Decoder::default(), SeekPoints::new(CLOSE), Vec::new());
        whole(&file).keeping(&mut decoder, &mut points, &mut block).unwrap();
        for (place, value) in noise {
            let place = place.index(block.len());
            block[place] = value;
        }
        SeekPoints::seal(&mut block, &file);
        let asked = ask(&file, &mut Dice(seed));
        points.load(&block);
        match asked.with(&mut decoder, &mut points) {
            Ok(rgb) => prop_assert_eq!(rgb.len(), asked.region.width as usize * asked.region.height as usize * 3),
            Err(fault) => {
                prop_assert_eq!(fault, Fault::Misled);
                prop_assert_eq!(points.changed(), Some(&[][..]));
                prop_assert_eq!(asked.with(&mut decoder, &mut points), asked.plain(&mut decoder));
            }
        }
    }
}
