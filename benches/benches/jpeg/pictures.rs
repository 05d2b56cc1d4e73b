//! The pictures that are decoded: those of a folder, or made ones, and large ones that are stitched of them.

use std::path::Path;

use forebay_jpeg::{Header, Region};
use forebay_pixels::sample::{self, JpegForm};
use forebay_pixels::{CpuDecoder, Draw, Limits, Recipe, Step};

use crate::Bare;

/// Pixels of a stitched picture, and of the part that a photograph has of it.
const LARGE: (u32, u32) = (4000, 3000);
const TILE: (u32, u32) = (500, 375);

/// How many large pictures are made at most.
const MOST_LARGE: usize = 4;

/// A JPEG that all decoders take, in memory.
pub(crate) struct Picture {
    pub(crate) bytes: Vec<u8>,
    pub(crate) header: Header,
    /// What random-resized-crop with its usual scale of 0.08 to 1 keeps of it.
    pub(crate) region: Region,
}

impl Picture {
    /// `None` if it is of a kind that is left to libjpeg-turbo.
    fn new(bytes: Vec<u8>, record: u64) -> Option<Self> {
        // Progressive pictures have a bench of their own, because libjpeg-turbo does not decode regions of them.
        let header = Header::read(&bytes).ok().filter(|header| header.scans == 1)?;
        let recipe = Recipe::training(224).expect("a recipe of the library's own");
        let plan = recipe.plan(header.width, header.height, Draw { seed: 0, epoch: 0, record });
        let region = match plan.steps.first() {
            Some(Step::Cut(part)) => Region { left: part.left, top: part.top, width: part.width, height: part.height },
            _ => Region::whole(header.width, header.height),
        };
        Some(Self { bytes, header, region })
    }
}

/// All JPEGs below a folder, by their paths.
pub(crate) fn of_folder(folder: &Path) -> Result<Vec<Picture>, Bare> {
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.sort();
    let (mut pictures, mut left) = (Vec::new(), 0);
    for (record, path) in (0..).zip(paths) {
        let bytes = std::fs::read(path)?;
        if bytes.starts_with(&[0xFF, 0xD8]) {
            match Picture::new(bytes, record) {
                Some(picture) => pictures.push(picture),
                None => left += 1,
            }
        }
    }
    println!("{} JPEGs below {}; {left} more are not baseline", pictures.len(), folder.display());
    if pictures.is_empty() { Err("there are no baseline JPEGs in the folder".into()) } else { Ok(pictures) }
}

/// Pictures that are like photographs.
pub(crate) fn generated() -> Vec<Picture> {
    println!("made pictures: name a folder of photographs for figures that mean something");
    (0..64).filter_map(|index| Picture::new(sample::photograph(index, 500, 375), index)).collect()
}

/// Pictures of 12 megapixels, quality 90, 4:2:0, each made of as many photographs as it has tiles.
pub(crate) fn stitched(photographs: &[Picture]) -> Result<Vec<Picture>, Bare> {
    let tiles = ((LARGE.0 / TILE.0) * (LARGE.1 / TILE.1)) as usize;
    let mut decoder = CpuDecoder::new();
    let mut large = Vec::new();
    for (record, photographs) in (0..).zip(photographs.chunks(tiles).take(MOST_LARGE)) {
        let mut rgb = vec![0; LARGE.0 as usize * LARGE.1 as usize * 3];
        for tile in 0..tiles {
            let photograph = &photographs[tile % photographs.len()];
            let picture = decoder.whole(&photograph.bytes, &Limits::default())?;
            let across = (LARGE.0 / TILE.0) as usize;
            lay(&picture.rgb, (picture.width, picture.height), (tile % across, tile / across), &mut rgb);
        }
        let form = JpegForm { quality: 90, sampling: [2, 2], ..JpegForm::default() };
        let bytes = form.encode(&rgb, LARGE.0, LARGE.1).ok_or("libjpeg-turbo does not write a large picture")?;
        large.extend(Picture::new(bytes, record));
    }
    Ok(large)
}

/// Lays a photograph on its tile: what is too much of it is cut off, what is missing begins again.
fn lay(photograph: &[u8], (width, height): (u32, u32), (column, row): (usize, usize), rgb: &mut [u8]) {
    let (width, height) = (width as usize, height as usize);
    let (tile_width, tile_height) = (TILE.0 as usize, TILE.1 as usize);
    for y in 0..tile_height {
        let line = &photograph[y % height * width * 3..][..width * 3];
        let start = ((row * tile_height + y) * LARGE.0 as usize + column * tile_width) * 3;
        for (out, line) in rgb[start..start + tile_width * 3].chunks_mut(width * 3).zip(std::iter::repeat(line)) {
            out.copy_from_slice(&line[..out.len()]);
        }
    }
}

/// How many, and how large they are.
#[expect(clippy::cast_precision_loss, reason = "sums of a few million")]
pub(crate) fn describe(pictures: &[Picture]) -> String {
    let bytes: usize = pictures.iter().map(|picture| picture.bytes.len()).sum();
    let pixels: u64 = pictures.iter().map(|p| u64::from(p.header.width) * u64::from(p.header.height)).sum();
    let region: u64 = pictures.iter().map(|p| u64::from(p.region.width) * u64::from(p.region.height)).sum();
    format!(
        "{} pictures, {:.1} MB, {:.1} megapixels, regions {:.0} % of them",
        pictures.len(),
        bytes as f64 / 1e6,
        pixels as f64 / 1e6,
        100.0 * region as f64 / pixels as f64
    )
}
