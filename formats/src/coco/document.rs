//! Reads the JSON in one pass, annotation by annotation. Keys may have any order, and unused values are skipped.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use forebay_sources::SourceError;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::loose::Loose;
use super::rows::{Annotations, CocoAnnotation, Wanted};
use crate::address::Address;
use crate::paths::Paths;
use crate::progress::Progress;

/// What a file of annotations says.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The ids of the images, in the file's order.
    pub ids: Vec<i64>,
    /// Their files.
    pub files: Paths,
    /// What the file says about each image itself. Empty unless that is wanted.
    pub image_level: Vec<ImageLevel>,
    /// The height and the width of each image. Empty unless they are wanted.
    pub sizes: Vec<[Option<i64>; 2]>,
    /// Ids and names.
    pub categories: Vec<(i64, String)>,
    /// The names of the keypoints of those categories that have some, by the categories' ids.
    pub keypoint_names: Vec<(i64, Vec<String>)>,
    pub annotations: Annotations,
    /// Images are named by their URLs, with their folders.
    pub named_by_urls: bool,
    has_images: bool,
}

/// What a file says about an image in addition to its objects, as LVIS does: ids of categories.
#[derive(Debug, Default)]
pub(super) struct ImageLevel {
    /// Categories without an object in the image.
    pub negatives: Vec<i64>,
    /// Categories whose objects in the image are not all annotated.
    pub not_exhaustive: Vec<i64>,
}

#[derive(Deserialize)]
struct ImageEntry {
    id: i64,
    file_name: Option<String>,
    /// LVIS has this in the place of a file's name.
    coco_url: Option<String>,
    #[serde(default)]
    neg_category_ids: Vec<i64>,
    #[serde(default)]
    not_exhaustive_category_ids: Vec<i64>,
    height: Option<Loose>,
    width: Option<Loose>,
}

impl ImageEntry {
    /// The file below the folder of the pictures. For a URL, these are its last folder and its name, because LVIS mixes
    /// the pictures of two folders.
    fn file(&self) -> &str {
        let of_url = |url: &str| url.rmatch_indices('/').nth(1).map_or(0, |(slash, _)| slash + 1);
        match (&self.file_name, &self.coco_url) {
            (Some(name), _) => name,
            (None, Some(url)) => &url[of_url(url)..],
            (None, None) => "",
        }
    }
}

#[derive(Deserialize)]
struct CategoryEntry {
    id: i64,
    name: String,
    /// A list of names, in files of keypoints.
    #[serde(default)]
    keypoints: serde_json::Value,
}

impl CategoryEntry {
    fn keypoint_names(&self) -> Option<Vec<String>> {
        let names = self.keypoints.as_array().filter(|names| !names.is_empty())?;
        names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
    }
}

impl Document {
    /// # Errors
    /// The file cannot be read, is no JSON, or has no images; an image has no id, no path, or the id of another.
    pub(super) fn read(address: &Address, wanted: Wanted) -> Result<Self, SourceError> {
        let (file, path) = (address.reader()?, address.path());
        let mut counted = Counted { reader: BufReader::with_capacity(1 << 18, file), bytes: 0 };
        let mut document = Self { annotations: Annotations { wanted, ..Annotations::default() }, ..Self::default() };
        let result =
            skip_mark(&mut counted).map_err(serde_json::Error::io).and_then(|()| document.read_from(&mut counted));
        // The parser has read one byte further than it has understood.
        let offset = counted.bytes.saturating_sub(1);
        let problem = match result {
            Ok(()) => return document.checked(path),
            Err(error) if error.is_io() => return Err(SourceError::of_path(path, error.into())),
            Err(error) if error.is_eof() => {
                "the JSON ends too early. The file is cut: copy or download it again.".to_owned()
            }
            Err(error) => format!(
                "{error}. An annotation file of COCO has \"images\" with \"id\" and \"file_name\", \"annotations\" and \
                 \"categories\" with \"id\" and \"name\". Correct this place."
            ),
        };
        Err(SourceError::malformed_at(path, offset, problem))
    }

    fn read_from(&mut self, reader: &mut impl Read) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_reader(reader);
        let progress = Progress::counting("reading annotations", "annotations");
        json.deserialize_map(Top { document: self, progress: &progress })?;
        json.end()
    }

    fn checked(self, path: &Path) -> Result<Self, SourceError> {
        let refuse = |problem: String| Err(SourceError::malformed_at(path, 0, problem));
        if !self.has_images {
            return refuse("the file has no \"images\". Give a file of annotations in COCO's form.".into());
        }
        let mut order: Vec<usize> = (0..self.ids.len()).collect();
        order.sort_unstable_by_key(|&image| (self.ids[image], image));
        for pair in order.windows(2) {
            let id = self.ids[pair[0]];
            if id == self.ids[pair[1]] {
                let names = [pair[0], pair[1]].map(|image| self.files.get(image).display().to_string());
                return refuse(format!(
                    "two images have the id {id}: \"{}\" and \"{}\". Give each its own id, in \"images\" and \
                     \"annotations\".",
                    forebay_printable::printable(&names[0]),
                    forebay_printable::printable(&names[1])
                ));
            }
        }
        if let Some(image) = self.files.iter().position(|file| file.trim_ascii().is_empty() || file.contains(&0)) {
            return refuse(format!(
                "image {} has no \"file_name\", or an empty one. Write its path there.",
                self.ids[image]
            ));
        }
        Ok(self)
    }
}

/// Counts what was read, so that an error can say where.
struct Counted<R> {
    reader: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buf)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Passes over a byte order mark, which some editors write.
fn skip_mark<R: BufRead>(counted: &mut Counted<R>) -> io::Result<()> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if counted.reader.fill_buf()?.starts_with(MARK) {
        counted.reader.consume(MARK.len());
        counted.bytes += MARK.len() as u64;
    }
    Ok(())
}

/// The whole file.
struct Top<'a> {
    document: &'a mut Document,
    progress: &'a Progress,
}

/// A list in it, by what its items are.
enum Items<'a> {
    Images(&'a mut Document),
    Categories(&'a mut Document),
    Annotations(&'a mut Document, &'a Progress),
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"images\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "images" => map.next_value_seed(Items::Images(self.document))?,
                "categories" => map.next_value_seed(Items::Categories(self.document))?,
                "annotations" => map.next_value_seed(Items::Annotations(self.document, self.progress))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        match self {
            Self::Images(document) => {
                document.has_images = true;
                while let Some(image) = seq.next_element::<ImageEntry>()? {
                    document.ids.push(image.id);
                    document.files.push(image.file().as_bytes());
                    document.named_by_urls |= image.file_name.is_none();
                    if document.annotations.wanted.sizes {
                        let side = |side: &Option<Loose>| side.as_ref().and_then(Loose::integer);
                        document.sizes.push([side(&image.height), side(&image.width)]);
                    }
                    if document.annotations.wanted.image_level {
                        let (negatives, not_exhaustive) = (image.neg_category_ids, image.not_exhaustive_category_ids);
                        document.image_level.push(ImageLevel { negatives, not_exhaustive });
                    }
                }
            }
            Self::Categories(document) => {
                while let Some(category) = seq.next_element::<CategoryEntry>()? {
                    if let Some(names) = category.keypoint_names() {
                        document.keypoint_names.push((category.id, names));
                    }
                    document.categories.push((category.id, category.name));
                }
            }
            Self::Annotations(document, progress) => {
                let annotations = &mut document.annotations;
                let wanted = annotations.wanted;
                while let Some(annotation) = seq.next_element_seed(OneAnnotation { wanted, is_segment: false })? {
                    annotations.push(&annotation);
                    progress.step();
                }
            }
        }
        Ok(())
    }
}

/// An annotation. Only the wanted parts of it are kept.
struct OneAnnotation {
    wanted: Wanted,
    /// It is a segment of a panoptic annotation, and has none itself.
    is_segment: bool,
}

/// The segments of a panoptic annotation.
struct Segments(Wanted);

impl<'de> DeserializeSeed<'de> for Segments {
    type Value = Vec<CocoAnnotation>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Segments {
    type Value = Vec<CocoAnnotation>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of segments")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut segments = Vec::new();
        while let Some(segment) = seq.next_element_seed(OneAnnotation { wanted: self.0, is_segment: true })? {
            segments.push(segment);
        }
        Ok(segments)
    }
}

impl<'de> DeserializeSeed<'de> for OneAnnotation {
    type Value = CocoAnnotation;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<CocoAnnotation, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneAnnotation {
    type Value = CocoAnnotation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an annotation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CocoAnnotation, A::Error> {
        let Self { wanted, is_segment } = self;
        let mut annotation = CocoAnnotation {
            id: Loose::Nothing,
            image: Loose::Nothing,
            category: Loose::Nothing,
            bbox: Loose::Nothing,
            crowd: Loose::Nothing,
            area: Loose::Nothing,
            caption: Loose::Nothing,
            keypoints: Loose::Nothing,
            segmentation: Loose::Nothing,
            segments: None,
        };
        while let Some(key) = map.next_key::<String>()? {
            let (field, is_wanted) = match key.as_str() {
                "id" => (&mut annotation.id, true),
                "image_id" => (&mut annotation.image, true),
                "category_id" => (&mut annotation.category, true),
                "bbox" => (&mut annotation.bbox, true),
                "iscrowd" => (&mut annotation.crowd, true),
                "area" => (&mut annotation.area, true),
                "caption" => (&mut annotation.caption, wanted.captions),
                "keypoints" => (&mut annotation.keypoints, wanted.keypoints),
                "segmentation" => (&mut annotation.segmentation, wanted.polygons || wanted.rle),
                "segments_info" if !is_segment => {
                    annotation.segments = Some(map.next_value_seed(Segments(wanted))?);
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if is_wanted {
                *field = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(annotation)
    }
}
