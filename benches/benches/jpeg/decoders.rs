//! The decoders, and what each of them does with a picture.

use std::fmt;

use forebay_jpeg::{Decoder, Parser, Path, Region, Scale};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;

use crate::Bare;
use crate::pictures::Picture;
use crate::turbo::Turbo;

/// What is done with a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// Entropy decoding, coefficients stored.
    Coefficients,
    /// Entropy decoding, nothing stored: one pixel is decoded, the last.
    Skip,
    /// All pixels.
    Whole,
    /// The pixels that random-resized-crop keeps.
    Region,
}

/// Which decoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Name {
    Turbo,
    Zune,
    Ours(Path),
}

/// A decoder with its memory.
pub(crate) enum Worker {
    Turbo { turbo: Turbo, out: Vec<u8> },
    Zune { out: Vec<u8> },
    Ours { decoder: Box<Decoder>, parser: Box<Parser>, out: Vec<u8> },
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Coefficients => "entropy, coefficients stored",
            Self::Skip => "entropy, skipped",
            Self::Whole => "whole picture to RGB",
            Self::Region => "region of random-resized-crop",
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turbo => f.write_str("libjpeg-turbo"),
            Self::Zune => f.write_str("zune-jpeg"),
            Self::Ours(path) => write!(f, "forebay-jpeg, {path:?}"),
        }
    }
}

impl Name {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        [Self::Turbo, Self::Zune].into_iter().chain(Path::available().map(Self::Ours))
    }

    /// zune-jpeg has whole pictures only.
    pub(crate) fn does(self, work: Work) -> bool {
        self != Self::Zune || work == Work::Whole
    }

    pub(crate) fn worker(self) -> Worker {
        let out = Vec::new();
        match self {
            Self::Turbo => Worker::Turbo { turbo: Turbo::new(), out },
            Self::Zune => Worker::Zune { out },
            Self::Ours(path) => {
                Worker::Ours { decoder: Box::new(Decoder::new(path)), parser: Box::new(Parser::new(path)), out }
            }
        }
    }
}

impl Worker {
    /// Does the work. Returns which part of the picture is in memory, or `None` if the work failed.
    pub(crate) fn work(&mut self, work: Work, picture: &Picture) -> Option<Region> {
        let header = &picture.header;
        let region = match work {
            Work::Coefficients | Work::Whole => Region::whole(header.width, header.height),
            Work::Skip => Region { left: header.width - 1, top: header.height - 1, width: 1, height: 1 },
            Work::Region => picture.region,
        };
        match self {
            Self::Turbo { turbo, .. } if work == Work::Coefficients => turbo.coefficients(&picture.bytes)?,
            Self::Turbo { turbo, out } => return turbo.region(&picture.bytes, region, out),
            Self::Zune { out } => {
                out.resize(header.width as usize * header.height as usize * 3, 0);
                JpegDecoder::new(ZCursor::new(&picture.bytes)).decode_into(out).ok()?;
            }
            Self::Ours { decoder, parser, out } => {
                // The header is read again, as for a caller that has only the file.
                let header = forebay_jpeg::Header::read(&picture.bytes).ok()?;
                if work == Work::Coefficients {
                    parser.parse(&header, &picture.bytes).ok()?;
                } else {
                    out.resize(region.width as usize * region.height as usize * 3, 0);
                    decoder.begin(&header, &picture.bytes, Scale::Full, region).read(out).ok()?;
                }
            }
        }
        Some(region)
    }

    fn pixels(&self) -> &[u8] {
        match self {
            Self::Turbo { out, .. } | Self::Zune { out } | Self::Ours { out, .. } => out,
        }
    }
}

/// Looks that every decoder takes every picture, and that ours give libjpeg-turbo's pixels.
pub(crate) fn compare(pictures: &[Picture]) -> Result<(), Bare> {
    let mut workers: Vec<_> = Name::all().map(|name| (name, name.worker())).collect();
    for (number, picture) in pictures.iter().enumerate() {
        for work in [Work::Coefficients, Work::Skip, Work::Whole, Work::Region] {
            let mut turbo = Vec::new();
            for (name, worker) in workers.iter_mut().filter(|(name, _)| name.does(work)) {
                let held = worker.work(work, picture).ok_or_else(|| format!("{name}: picture {number}, {work}"))?;
                if work == Work::Coefficients || *name == Name::Zune {
                    continue;
                }
                let pixels = match (*name, work) {
                    (_, Work::Region) => columns(worker.pixels(), held, picture.region),
                    (Name::Turbo, Work::Skip) => worker.pixels()[worker.pixels().len() - 3..].to_vec(),
                    _ => worker.pixels().to_vec(),
                };
                if *name == Name::Turbo {
                    turbo = pixels;
                } else if pixels != turbo {
                    return Err(format!("{name} differs from libjpeg-turbo: picture {number}, {work}").into());
                }
            }
        }
    }
    Ok(())
}

/// The columns of `region` out of more of them.
fn columns(pixels: &[u8], held: Region, region: Region) -> Vec<u8> {
    let from = (region.left - held.left) as usize * 3;
    let rows = pixels.chunks_exact(held.width as usize * 3);
    rows.flat_map(|row| &row[from..][..region.width as usize * 3]).copied().collect()
}
