//! Makes one picture after the other: as it is stored, or as the recipe makes it.

use std::io::Cursor;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forebay_daemon::drawing::no_readers;
use forebay_pipeline::settings::{DecodeSettings, StreamSettings};
use forebay_pipeline::{PictureMaps, Replay};
use forebay_pixels::{Draw, Limits, MaskOrder, Mosaics, Plan};
use forebay_proto::Turn;
use forebay_sources::{RecordParts, Source};
use image::{ImageFormat, RgbImage, imageops};

use super::{DrawnAs, DrawnPicture};
use crate::drawing::annotate_record;
use crate::preview::replayed;
use crate::verify::thumbnail::{Thumbnail, thumbnail};

/// Longest side of a picture of a batch.
const SIDE: u32 = 256;
/// Longest text beside a picture, in letters.
const LETTERS: usize = 200;

pub(super) struct Maker<'a> {
    source: &'a Arc<dyn Source>,
    settings: &'a StreamSettings,
    limits: Limits,
    /// The epoch, and what makes its pictures.
    replay: Option<(u64, Replay<'a>)>,
}

impl<'a> Maker<'a> {
    /// # Errors
    /// The pictures of an epoch cannot be made here.
    pub(super) fn new(
        source: &'a Arc<dyn Source>,
        settings: &'a StreamSettings,
        limits: Limits,
        drawn_as: DrawnAs,
    ) -> Result<Self, String> {
        let replay = match drawn_as {
            DrawnAs::Stored => None,
            DrawnAs::Epoch(_) if Mosaics::of(&settings.recipe).is_some() => {
                return Err("Its recipe makes mosaics, which forebay replay can make again.".to_owned());
            }
            DrawnAs::Epoch(epoch) => {
                let decode = DecodeSettings { limits, ..DecodeSettings::default() };
                let replay = Replay::new(source, settings, (&decode, &no_readers()));
                Some((epoch, replay.map_err(|error| format!("Its pictures cannot be made again here: {error}."))?))
            }
        };
        Ok(Self { source, settings, limits, replay })
    }

    /// A record, or why it cannot be drawn.
    pub(super) fn picture(&mut self, turn: Turn) -> DrawnPicture {
        let record = turn.record();
        if record >= self.source.len() {
            let why = format!("The dataset that is opened here has only {} records.", self.source.len());
            return DrawnPicture { why, ..DrawnPicture::default() };
        }
        let made = match &self.replay {
            None => self.stored(record),
            Some(_) => self.of_epoch(turn),
        };
        let (label, classes) = (self.source.label(record), self.source.classes());
        let name = usize::try_from(label).ok().and_then(|label| classes.get(label));
        let number = || if label >= 0 { format!("label {label}") } else { String::new() };
        let made = made.unwrap_or_else(|why| DrawnPicture { why, ..DrawnPicture::default() });
        DrawnPicture { label: name.map_or_else(number, |name| cut(name)), caption: cut(&made.caption), ..made }
    }

    fn stored(&self, record: u64) -> Result<DrawnPicture, String> {
        let mut bytes = Vec::new();
        self.source.read(record, u64::MAX, &mut bytes).map_err(|error| format!("It cannot be read: {error}."))?;
        let made = thumbnail(self.source.as_ref(), record, &bytes, &self.limits);
        let Thumbnail { jpeg, width, height, caption } = made.ok_or("None of it can be decoded.")?;
        let (image, caption) = (STANDARD.encode(jpeg), caption.unwrap_or_default());
        Ok(DrawnPicture { image, width, height, caption, ..DrawnPicture::default() })
    }

    fn of_epoch(&mut self, turn: Turn) -> Result<DrawnPicture, String> {
        let Self { source, settings, limits, replay } = self;
        let Some((epoch, replay)) = replay else { return Err(String::new()) };
        let views = replay.turn(*epoch, turn).map_err(|error| error.to_string())?;
        let view = views.first().ok_or("It has no picture.")?;
        let mut picture = replayed(view);
        let (mut bytes, mut caption) = (Vec::new(), None);
        if let Some(origin) = &view.origin
            && source.read(turn.record(), u64::MAX, &mut bytes).is_ok()
        {
            let draw = Draw { seed: settings.seed, epoch: *epoch, record: turn.key() };
            let (annotated, recipe) = (settings.annotated, &view.recipe);
            let maps = PictureMaps::new(origin, recipe, draw, annotated, &mut Plan::default());
            let order = MaskOrder { origin, recipe, draw, annotated, fill: settings.mask_fill.map_or(0, i32::from) };
            let parts = RecordParts::of(&bytes, source.masks().len());
            caption = annotate_record((source.as_ref(), turn.record(), parts), (&maps, &order), limits, &mut picture);
        }
        let (image, (width, height)) = png(picture).map_err(|error| error.to_string())?;
        Ok(DrawnPicture { image, width, height, caption: caption.unwrap_or_default(), ..DrawnPicture::default() })
    }
}

/// A picture in Base64, and its size. A large one is shrunk.
fn png(picture: RgbImage) -> image::ImageResult<(String, (u32, u32))> {
    let longest = picture.width().max(picture.height());
    let picture = if longest > SIDE {
        let shrunk = |side: u32| (side * SIDE / longest).max(1);
        imageops::thumbnail(&picture, shrunk(picture.width()), shrunk(picture.height()))
    } else {
        picture
    };
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png)?;
    Ok((STANDARD.encode(bytes.get_ref()), picture.dimensions()))
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    text.chars().take(LETTERS).collect()
}
