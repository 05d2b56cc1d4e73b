//! Samples are the same on every architecture, also where no sane file leads: sums that do not fit 16 bits come out of the
//! transform as on x86-64. libjpeg-turbo has other kernels on each architecture, and is no judge there.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "shared/pictures.rs"]
mod pictures;

use forebay_jpeg::idct::{self, Block, Quant, Size};
use forebay_jpeg::{Decoder, Header, Path, Region, Scale};
use pictures::Dice;
use twox_hash::XxHash3_64;

/// A gray picture of 50 x 17 whose table of factors was overwritten.
const DAMAGED: &[u8] = include_bytes!("damaged/table.jpg");

/// What it becomes on x86-64, as libjpeg-turbo has it there, at each scale.
const DECODED: [u64; 4] =
    [11_878_992_532_231_946_467, 8_720_067_142_993_479_412, 9_155_227_055_028_666_293, 11_116_993_682_405_134_470];

/// The samples of [`wild`] blocks at each size on x86-64.
const TRANSFORMED: [u64; 4] =
    [12_147_112_436_103_765_947, 5_700_259_816_573_311_648, 7_628_957_395_274_166_637, 7_048_480_038_725_484_439];

#[test]
fn a_damaged_picture_is_the_same_on_every_architecture() {
    for path in Path::available() {
        let hashes = Scale::ALL.map(|scale| XxHash3_64::oneshot(&decoded(path, scale)));
        assert_eq!(hashes, DECODED, "{path:?}");
    }
}

fn decoded(path: Path, scale: Scale) -> Vec<u8> {
    let header = Header::read(DAMAGED).unwrap();
    let (width, height) = (scale.side(header.width), scale.side(header.height));
    let mut rgb = vec![0; width as usize * height as usize * 3];
    let read = Decoder::new(path).begin(&header, DAMAGED, scale, Region::whole(width, height)).read(&mut rgb).unwrap();
    assert_eq!(read, height);
    rgb
}

#[test]
fn coefficients_that_no_encoder_writes_become_the_same_samples_on_every_architecture() {
    let mut dice = Dice(1);
    let table: [u16; 64] = std::array::from_fn(|_| u16::try_from(dice.below(65536)).unwrap());
    let sane: [u16; 64] = std::array::from_fn(|_| 1 + u16::try_from(dice.below(60)).unwrap());
    let blocks: Vec<Block> = (0..2000).map(|index| wild(&mut dice, index % 4)).collect();
    for path in Path::available() {
        let hashes = [Size::One, Size::Two, Size::Four, Size::Eight].map(|size| {
            let side = size.samples();
            let mut samples = [table, sane].map(|table| {
                let mut samples = vec![0; side * side * blocks.len()];
                let lasts = vec![63; blocks.len()];
                idct::row(path, size, &Quant::new(&table), &blocks, &lasts, &mut samples, side * blocks.len());
                samples
            });
            let [wild, sane] = &mut samples;
            wild.append(sane);
            XxHash3_64::oneshot(wild)
        });
        assert_eq!(hashes, TRANSFORMED, "{path:?}");
    }
}

/// A block of one of four kinds: anything, as in photographs, the first rows alone, extremes.
fn wild(dice: &mut Dice, kind: u32) -> Block {
    let mut random = |below: u32| i32::try_from(dice.below(below)).unwrap();
    std::array::from_fn(|place| {
        let value = match kind {
            1 => random(600) - 300,
            2 if place >= 16 => 0,
            0 | 2 => random(65536) - 32768,
            _ => [-32768, 32767, 8192, -8193, 0][usize::try_from(random(5)).unwrap()],
        };
        i16::try_from(value).unwrap()
    })
}
