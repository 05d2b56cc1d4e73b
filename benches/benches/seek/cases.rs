//! A picture, what is decoded of it, and the block of its seek points.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use forebay_jpeg::{Decoder, Fault, Region, Scale, SeekPoints, Spacing};
use forebay_pixels::{Draw, Interpolation, Output, RandomResizedCrop, Recipe, Size, Step, Transform};

use crate::pictures::Picture;

/// What is decoded of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// All of it.
    Whole,
    /// A random resized crop, of 0.08 to 1 of the picture.
    Training,
    /// A square of 224/256 of the shorter side, in the middle.
    Evaluation,
    /// A random crop of a tenth of the picture at most.
    Small,
}

impl Work {
    /// What the first epoch does, which notes points.
    pub(crate) const NOTING: [Self; 3] = [Self::Whole, Self::Training, Self::Evaluation];
    /// What later epochs do, which use them.
    pub(crate) const SEEKING: [Self; 3] = [Self::Training, Self::Evaluation, Self::Small];
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole => "whole",
            Self::Training => "training",
            Self::Evaluation => "evaluation",
            Self::Small => "small crops",
        })
    }
}

impl FromStr for Work {
    type Err = Box<dyn Error>;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "whole" => Ok(Self::Whole),
            "training" => Ok(Self::Training),
            "evaluation" => Ok(Self::Evaluation),
            "small" => Ok(Self::Small),
            _ => Err(format!("there is no work {word:?}: give whole, training, evaluation or small").into()),
        }
    }
}

/// A picture that is decoded in part, and the block of its points.
pub(crate) struct Case {
    picture: Picture,
    region: Region,
    block: Vec<u8>,
}

impl Case {
    pub(crate) fn new(picture: Picture) -> Self {
        let region = whole(&picture);
        Self { picture, region, block: Vec::new() }
    }

    pub(crate) fn file_len(&self) -> usize {
        self.picture.bytes.len()
    }

    pub(crate) fn block_len(&self) -> usize {
        self.block.len()
    }

    /// Chooses what is decoded: the same in every run for a record's number.
    pub(crate) fn ask(&mut self, work: Work, record: u64) {
        let Picture { header, .. } = &self.picture;
        let whole = whole(&self.picture);
        let cut = |recipe: Recipe| {
            let plan = recipe.plan(header.width, header.height, Draw { seed: 0, epoch: 0, record });
            match plan.steps.first() {
                Some(Step::Cut(part)) => {
                    Region { left: part.left, top: part.top, width: part.width, height: part.height }
                }
                _ => whole,
            }
        };
        self.region = match work {
            Work::Whole => whole,
            Work::Training => cut(Recipe::training(224).expect("a recipe of the library's own")),
            Work::Evaluation => {
                let side = header.width.min(header.height) * 224 / 256;
                let (left, top) = ((header.width - side.max(1)) / 2, (header.height - side.max(1)) / 2);
                Region { left, top, width: side.max(1), height: side.max(1) }
            }
            Work::Small => cut(small_crops()),
        };
    }

    pub(crate) fn forget(&mut self) {
        self.block.clear();
    }

    /// Notes the points of the whole picture.
    pub(crate) fn note(&mut self, spacing: Spacing) -> Result<(), Fault> {
        let mut points = SeekPoints::new(spacing);
        Decoder::default().note(&self.picture.header, &self.picture.bytes, &mut points)?;
        self.block = points.changed().unwrap_or_default().to_vec();
        Ok(())
    }

    pub(crate) fn decode(
        &self,
        decoder: &mut Decoder,
        points: Option<&mut SeekPoints>,
        rgb: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let Self { picture: Picture { bytes, header, .. }, region, block } = self;
        rgb.resize(region.width as usize * region.height as usize * 3, 0);
        let mut rows = match points {
            None => decoder.begin(header, bytes, Scale::Full, *region),
            Some(points) => {
                points.load(block);
                decoder.begin_seeking(header, bytes, Scale::Full, *region, points)
            }
        };
        rows.read(rgb).map(drop)
    }
}

fn small_crops() -> Recipe {
    let (size, scale, ratio) = (Size::One(224), [0.02, 0.1], [3.0 / 4.0, 4.0 / 3.0]);
    let crop = RandomResizedCrop { size, scale, ratio, interpolation: Interpolation::default() };
    Recipe::new(vec![Transform::RandomResizedCrop(crop)], Output::default()).expect("a recipe of crops alone")
}

fn whole(picture: &Picture) -> Region {
    Region::whole(picture.header.width, picture.header.height)
}
