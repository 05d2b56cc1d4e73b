//! The annotations of a document, each in a row. What is not wanted is not kept.

use std::collections::HashMap;

use super::loose::Loose;
use super::masks;
use crate::numbers::single;

/// What is kept of annotations.
#[expect(clippy::struct_excessive_bools, reason = "each is a column that may be wanted")]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted {
    pub boxes: bool,
    pub areas: bool,
    pub crowds: bool,
    pub categories: bool,
    pub captions: bool,
    pub keypoints: bool,
    pub polygons: bool,
    pub rle: bool,
    /// What LVIS says of an image itself.
    pub image_level: bool,
    /// The heights and widths of the images.
    pub sizes: bool,
}

/// An annotation as it is written, as far as it is wanted.
#[derive(Debug)]
pub(super) struct CocoAnnotation {
    pub id: Loose,
    pub image: Loose,
    pub category: Loose,
    pub bbox: Loose,
    pub crowd: Loose,
    pub area: Loose,
    pub caption: Loose,
    pub keypoints: Loose,
    pub segmentation: Loose,
    /// The objects of a panoptic annotation, which is about a whole image.
    pub segments: Option<Vec<CocoAnnotation>>,
}

/// The annotations of all images.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    pub wanted: Wanted,
    pub objects: Objects,
    pub captions: Captions,
    /// The first thing that is wrong with an annotation of each image.
    pub damaged: HashMap<i64, String>,
    /// Annotations without an image id.
    pub without_image: u64,
    /// An annotation has segments.
    pub is_panoptic: bool,
}

/// Objects, in the file's order. The lists of what is not wanted are empty.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub images: Vec<i64>,
    pub ids: Vec<i64>,
    pub category_ids: Vec<i64>,
    pub boxes: Vec<[f32; 4]>,
    pub crowd: Vec<u8>,
    pub area: Vec<f32>,
    pub keypoints: Lists<f32>,
    pub rle: Lists<u32>,
    /// The polygons of all objects, and where those of each object end.
    polygons: Lists<f32>,
    polygon_ends: Vec<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Captions {
    pub images: Vec<i64>,
    pub texts: Lists<u8>,
}

/// Lists in one allocation, and where each ends.
#[derive(Debug, Default)]
pub(super) struct Lists<T> {
    values: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Lists<T> {
    fn push(&mut self, values: impl IntoIterator<Item = T>) {
        self.values.extend(values);
        self.ends.push(self.values.len());
    }

    pub(super) fn list(&self, index: usize) -> &[T] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.values[start..self.ends[index]]
    }
}

impl Objects {
    pub(super) fn len(&self) -> usize {
        self.images.len()
    }

    /// The polygons of an object, as coordinates.
    pub(super) fn polygons_of(&self, row: usize) -> impl Iterator<Item = &[f32]> {
        let start = if row == 0 { 0 } else { self.polygon_ends[row - 1] };
        (start..self.polygon_ends[row]).map(|polygon| self.polygons.list(polygon))
    }
}

impl Captions {
    pub(super) fn len(&self) -> usize {
        self.images.len()
    }
}

/// The values of an object that were checked.
struct Checked {
    category: i64,
    corners: [f32; 4],
    crowd: u8,
    area: f32,
    keypoints: Vec<f32>,
    polygons: Vec<Vec<f32>>,
    rle: Vec<u32>,
}

impl Annotations {
    /// Adds an annotation to its image, or each of its segments. If something is wrong with it, the image remembers what.
    pub(super) fn push(&mut self, annotation: &CocoAnnotation) {
        let Some(image) = annotation.image.integer() else {
            self.without_image += 1;
            return;
        };
        match &annotation.segments {
            None => self.push_one(image, annotation),
            Some(segments) => {
                self.is_panoptic = true;
                for segment in segments {
                    self.push_one(image, segment);
                }
            }
        }
    }

    fn push_one(&mut self, image: i64, annotation: &CocoAnnotation) {
        let id = annotation.id.integer().unwrap_or(-1);
        if let Loose::Text(caption) = &annotation.caption {
            self.captions.images.push(image);
            self.captions.texts.push(caption.bytes());
            if annotation.bbox == Loose::Nothing && annotation.category == Loose::Nothing {
                return;
            }
        }
        match self.checked(annotation) {
            Ok(checked) => self.objects.push(image, id, checked),
            Err(problem) => {
                self.damaged.entry(image).or_insert_with(|| {
                    format!("annotation {id} of image {image} {problem}. Correct the annotation, or remove it.")
                });
            }
        }
    }

    fn checked(&self, annotation: &CocoAnnotation) -> Result<Checked, String> {
        let wanted = self.wanted;
        let needs_box = wanted.boxes || (wanted.areas && annotation.area == Loose::Nothing);
        let (corners, box_area) = if needs_box { corners(&annotation.bbox)? } else { ([0.0; 4], 0.0) };
        let category = match annotation.category.integer() {
            Some(category) => category,
            None if wanted.categories => return Err("has no integer as \"category_id\"".into()),
            None => -1,
        };
        let crowd = match &annotation.crowd {
            Loose::Integer(1) => 1,
            Loose::Nothing | Loose::Integer(0) => 0,
            _ if !wanted.crowds => 0,
            _ => return Err("has an \"iscrowd\" that is neither 0 nor 1".into()),
        };
        let area = match &annotation.area {
            Loose::Nothing => box_area,
            _ if !wanted.areas => 0.0,
            area => area
                .number()
                .and_then(single)
                .filter(|area| *area >= 0.0)
                .ok_or("has an \"area\" that is not a number, is negative or is too large")?,
        };
        let keypoints = if wanted.keypoints { keypoints(&annotation.keypoints)? } else { Vec::new() };
        let polygons = if wanted.polygons { polygons(&annotation.segmentation)? } else { Vec::new() };
        let rle = if wanted.rle { run_lengths(&annotation.segmentation)? } else { Vec::new() };
        Ok(Checked { category, corners, crowd, area, keypoints, polygons, rle })
    }
}

impl Objects {
    fn push(&mut self, image: i64, id: i64, object: Checked) {
        self.images.push(image);
        self.ids.push(id);
        self.category_ids.push(object.category);
        self.boxes.push(object.corners);
        self.crowd.push(object.crowd);
        self.area.push(object.area);
        self.keypoints.push(object.keypoints);
        self.rle.push(object.rle);
        for polygon in object.polygons {
            self.polygons.push(polygon);
        }
        self.polygon_ends.push(self.polygons.ends.len());
    }
}

/// The corners of a box of x, y, width and height, and its area. A box without width or height is kept: COCO has some.
fn corners(bbox: &Loose) -> Result<([f32; 4], f32), String> {
    let Loose::Numbers(numbers) = bbox else { return Err("has no list of numbers as \"bbox\"".into()) };
    let [x, y, width, height] = numbers[..] else {
        return Err(format!("has a \"bbox\" of {} numbers, and it must have 4", numbers.len()));
    };
    if width < 0.0 || height < 0.0 {
        return Err(format!("has a \"bbox\" with the width {width} and the height {height}"));
    }
    let ends = [x, y, x + width, y + height, width * height].map(single);
    match ends {
        [Some(left), Some(top), Some(right), Some(bottom), Some(area)] => Ok(([left, top, right, bottom], area)),
        _ => Err("has a \"bbox\" with a number that is too large".into()),
    }
}

fn keypoints(points: &Loose) -> Result<Vec<f32>, String> {
    let numbers = match points {
        Loose::Nothing => return Ok(Vec::new()),
        Loose::Numbers(numbers) if numbers.len() % 3 == 0 => numbers,
        _ => return Err("has \"keypoints\" that are not a list of x, y and visibility".into()),
    };
    singles(numbers).ok_or_else(|| "has \"keypoints\" with a number that is too large".into())
}

/// The polygons of a segmentation; none if it is a mask.
fn polygons(segmentation: &Loose) -> Result<Vec<Vec<f32>>, String> {
    let lists = match segmentation {
        Loose::Nothing | Loose::Mask { .. } => return Ok(Vec::new()),
        Loose::Numbers(numbers) if numbers.is_empty() => return Ok(Vec::new()),
        Loose::Lists(lists) => lists,
        _ => return Err("has a \"segmentation\" that is neither a list of polygons nor a mask".into()),
    };
    if lists.iter().any(|list| list.len() % 2 != 0) {
        return Err("has a polygon with an odd number of coordinates".into());
    }
    let polygons = lists.iter().map(|list| singles(list)).collect::<Option<_>>();
    polygons.ok_or_else(|| "has a polygon with a number that is too large".into())
}

/// The run lengths of a segmentation; none if it has polygons.
fn run_lengths(segmentation: &Loose) -> Result<Vec<u32>, String> {
    let Loose::Mask { size, counts } = segmentation else {
        return match segmentation {
            Loose::Nothing | Loose::Numbers(_) | Loose::Lists(_) => Ok(Vec::new()),
            _ => Err("has a \"segmentation\" that is neither a list of polygons nor a mask".into()),
        };
    };
    let side = |value: f64| whole(value).ok_or_else(|| "has a mask without a proper \"size\"".to_owned());
    let (height, width) = match &**size {
        Loose::Numbers(sides) if sides.len() == 2 => (side(sides[0])?, side(sides[1])?),
        _ => return Err("has a mask without a proper \"size\"".into()),
    };
    let counts = match &**counts {
        Loose::Text(text) => masks::from_text(text.as_bytes())?,
        Loose::Numbers(numbers) => {
            let counts = numbers.iter().map(|&number| whole(number)).collect::<Option<Vec<u32>>>();
            counts.ok_or_else(|| "has a mask with a count that is not a run length".to_owned())?
        }
        _ => return Err("has a mask without \"counts\"".into()),
    };
    masks::checked(counts, height.into(), width.into())
}

fn singles(numbers: &[f64]) -> Option<Vec<f32>> {
    numbers.iter().map(|&number| single(number)).collect()
}

fn whole(number: f64) -> Option<u32> {
    let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and in the range")]
    fits.then_some(number as u32)
}
