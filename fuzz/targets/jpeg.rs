//! Our own JPEG decoder, on every set of instructions of this machine: all give the same answer, a region equals the cut of
//! the whole, seek points change nothing, and a picture equals libjpeg-turbo's.
#![no_main]

#[path = "jpeg/reference.rs"]
mod reference;
#[path = "jpeg/seeking.rs"]
mod seeking;

use std::cell::RefCell;

use forebay_jpeg::{Decoder, Fault, Header, Path, Region, Scale};
use libfuzzer_sys::fuzz_target;
use reference::Turbo;
use seeking::Seeking;

/// Small, so that no case takes long.
const MOST_PIXELS: u32 = 100_000;

thread_local! {
    static DECODERS: RefCell<(Vec<Decoder>, Turbo, Seeking)> =
        RefCell::new((Path::available().map(Decoder::new).collect(), Turbo::new(), Seeking::default()));
}

fn decode(decoder: &mut Decoder, header: &Header, bytes: &[u8], scale: Scale, part: Region) -> Result<Vec<u8>, Fault> {
    let mut rgb = vec![0; part.width as usize * part.height as usize * 3];
    let rows = decoder.begin(header, bytes, scale, part).read(&mut rgb)?;
    assert_eq!(rows, part.height, "all rows come");
    Ok(rgb)
}

/// A number for all choices of a case, so that a file is a case as it is.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(7_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(*byte)))
}

/// A scale, and the whole and a part of the picture at that scale.
fn asked(hash: u32, header: &Header) -> (Scale, Region, Region) {
    let scale = Scale::ALL[(hash % 4) as usize];
    let (width, height) = (scale.side(header.width), scale.side(header.height));
    let (left, top) = ((hash >> 3) % width, (hash >> 9) % height);
    let (wide, high) = (1 + (hash >> 15) % (width - left), 1 + (hash >> 20) % (height - top));
    (scale, Region::whole(width, height), Region { left, top, width: wide, height: high })
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(header) = Header::read(bytes) else { return };
    if header.width * header.height > MOST_PIXELS {
        return;
    }
    let hash = hash(bytes);
    let (scale, all, part) = asked(hash, &header);
    DECODERS.with_borrow_mut(|(decoders, turbo, seeking)| {
        let mut answers =
            decoders.iter_mut().map(|decoder| [all, part].map(|region| decode(decoder, &header, bytes, scale, region)));
        let first = answers.next().expect("there are plain instructions at least");
        for other in answers {
            assert!(first == other, "sets of instructions differ");
        }
        for decoder in decoders {
            seeking.check(decoder, (&header, bytes), scale, (all, part), &first[1], hash);
        }
        let [Ok(whole), of_part] = first else { return };
        let of_part = of_part.expect("a part of a good picture is good");
        let row = |y: u32| &whole[((y * all.width + part.left) * 3) as usize..][..part.width as usize * 3];
        let cut: Vec<u8> = (part.top..part.top + part.height).flat_map(row).copied().collect();
        assert!(of_part == cut, "a region is the same cut of the whole");
        let theirs = turbo.decode(bytes, scale).expect("libjpeg-turbo takes what we take");
        assert!(theirs == whole, "libjpeg-turbo decodes it otherwise");
    });
});
