//! A picture as this decoder decodes it, whole and in regions, beside libjpeg-turbo's.

use forebay_jpeg::{Decoder, Fault, Header, Path, Region, Scale};

use crate::pictures::Dice;
use crate::reference::Turbo;

pub(crate) fn decode(
    decoder: &mut Decoder,
    bytes: &[u8],
    scale: Scale,
    region: Option<Region>,
) -> Result<Vec<u8>, Fault> {
    let header = Header::read(bytes)?;
    let region = region.unwrap_or_else(|| Region::whole(scale.side(header.width), scale.side(header.height)));
    let mut rgb = vec![0; region.width as usize * region.height as usize * 3];
    let mut rows = decoder.begin(&header, bytes, scale, region);
    let line = region.width as usize * 3;
    let mut done = 0;
    // A few rows at a time, as a caller would that resizes each at once.
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
///
/// Without a `turbo`, only this decoder's paths and regions are compared with each other.
pub(crate) fn compare(
    name: &str,
    bytes: &[u8],
    mut turbo: Option<&mut Turbo>,
    decoders: &mut [Decoder],
    regions: usize,
) -> Option<Fault> {
    for scale in Scale::ALL {
        let ours = match decode(&mut decoders[0], bytes, scale, None) {
            Ok(ours) => ours,
            Err(fault) => return Some(fault),
        };
        let (width, height, theirs) = if let Some(turbo) = &mut turbo {
            turbo.decode(bytes, scale).unwrap_or_else(|| panic!("{name}: libjpeg-turbo refuses it"))
        } else {
            let header = Header::read(bytes).unwrap();
            (scale.side(header.width), scale.side(header.height), ours.clone())
        };
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

pub(crate) fn decoders() -> Vec<Decoder> {
    Path::available().map(Decoder::new).collect()
}
