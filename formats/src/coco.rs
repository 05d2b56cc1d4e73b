//! `coco:`: a JSON file of annotations in the form of COCO (instances, captions, keypoints or panoptic) or of LVIS, and the
//! pictures that it names. Records are ordered by image id, as torchvision's `CocoDetection` orders them.

mod document;
mod flip;
mod loose;
mod masks;
mod rows;
mod strays;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use forebay_columns::{Column, Role};
use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use self::document::Document;
use self::rows::{Annotations, Objects, Wanted};
use self::strays::Strays;
use crate::address::Address;
use crate::basis::Basis;
use crate::faults::Faults;
use crate::files::existing;
use crate::listing::Found;
use crate::opened::DatasetResult;
use crate::parts::{Chosen, KnownPart};
use crate::paths::Paths;
use crate::root::{ROOT, given_root};
use crate::scheme::{Indexing, OptionKey, Scheme};

pub(super) const SCHEME: Scheme = Scheme {
    name: "coco",
    takes: "a .json file of COCO annotations",
    options: &[ROOT, EMPTY],
    has_columns: true,
    recognises: is_coco,
    open: |path, options, _| open(path, options),
    indexing: Indexing::Files,
};

const EMPTY: OptionKey =
    OptionKey { name: "empty", help: "what becomes of pictures without annotations: \"keep\" or \"skip\"" };

/// What the file says of a picture or an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CocoPart {
    Boxes,
    Classes,
    Crowd,
    Area,
    CategoryIds,
    Captions,
    Keypoints,
    Polygons,
    Rle,
    ImageIds,
    Ids,
    Negatives,
    NotExhaustive,
    /// What the file says of the picture's size.
    Height,
    Width,
}

const PARTS: [KnownPart<CocoPart>; 15] = [
    part("boxes", CocoPart::Boxes, "f32 [*, 4]", true, true).with_role(Role::Boxes),
    part("classes", CocoPart::Classes, "i64 [*]", true, true).with_role(Role::Classes),
    part("crowd", CocoPart::Crowd, "bool [*]", true, true),
    part("area", CocoPart::Area, "f32 [*]", true, true),
    part("captions", CocoPart::Captions, "u8 [*][*]", false, true),
    part("category_ids", CocoPart::CategoryIds, "i64 [*]", true, false),
    part("keypoints", CocoPart::Keypoints, "f32 [*][*, 3]", true, true).with_role(Role::Keypoints),
    part("polygons", CocoPart::Polygons, "f32 [*][*][*, 2]", true, false).with_role(Role::Points),
    part("rle", CocoPart::Rle, "u32 [*][*]", true, false),
    part("image_ids", CocoPart::ImageIds, "i64", false, false),
    part("ids", CocoPart::Ids, "i64 [*]", true, true),
    part("negatives", CocoPart::Negatives, "i64 [*]", false, false).with_role(Role::Classes),
    part("not_exhaustive", CocoPart::NotExhaustive, "i64 [*]", false, false).with_role(Role::Classes),
    part("height", CocoPart::Height, "i64", false, false),
    part("width", CocoPart::Width, "i64", false, false),
];

const fn part(
    name: &'static str,
    part: CocoPart,
    column_type: &'static str,
    of_objects: bool,
    by_default: bool,
) -> KnownPart<CocoPart> {
    KnownPart { name, part, column_type, of_objects, by_default, role: Role::Plain }
}

/// The keys of the whole file, in any order.
const TOP_KEYS: [&str; 6] = ["info", "licenses", "images", "annotations", "categories", "type"];
/// Pictures that are looked for in each folder where they may be.
const LOOKED_FOR: usize = 8;

/// Whether a file is named `.json` and its first key is one of COCO's.
fn is_coco(address: &Address) -> bool {
    if !crate::containers::is_named(address.path(), &["json"]) {
        return false;
    }
    let start = address.beginning(256);
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    let key = start.strip_prefix(b"{").map(<[u8]>::trim_ascii_start).and_then(|rest| rest.strip_prefix(b"\""));
    key.is_some_and(|key| {
        TOP_KEYS.iter().any(|known| key.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.starts_with(b"\"")))
    })
}

fn open(address: &Address, options: &Options) -> DatasetResult {
    let file = address.path();
    let keep_empty = options.own.choice(EMPTY.name, &[("keep", true), ("skip", false)])?;
    let mut chosen = Chosen::new(options, &PARTS)?;
    let wanted = Wanted {
        boxes: chosen.has(CocoPart::Boxes),
        areas: chosen.has(CocoPart::Area),
        crowds: chosen.has(CocoPart::Crowd),
        categories: chosen.has(CocoPart::Classes) || chosen.has(CocoPart::CategoryIds),
        captions: chosen.has(CocoPart::Captions),
        keypoints: chosen.has(CocoPart::Keypoints),
        polygons: chosen.has(CocoPart::Polygons),
        rle: chosen.has(CocoPart::Rle),
        image_level: chosen.has(CocoPart::Negatives) || chosen.has(CocoPart::NotExhaustive),
        sizes: chosen.has(CocoPart::Height) || chosen.has(CocoPart::Width),
    };
    let basis = Basis::look(address)?;
    let document = Document::read(address, wanted)?;
    if options.columns.is_empty() {
        let captions_only = document.annotations.captions.len() > 0 && document.annotations.objects.len() == 0;
        let is_panoptic = document.annotations.is_panoptic;
        let has_keypoints = !document.keypoint_names.is_empty();
        chosen.retain(|part| match part {
            CocoPart::Captions => captions_only,
            CocoPart::Ids => is_panoptic && !captions_only,
            CocoPart::Keypoints => has_keypoints && !captions_only,
            _ => !captions_only,
        });
    }
    let categories = Categories::new(file, &document, &chosen)?;
    if chosen.has(CocoPart::Keypoints) {
        chosen.set_flip(&categories.flip(&document));
    }
    let pictures = Pictures::new(&document, &categories, keep_empty);
    if pictures.order.is_empty() {
        return Err(SourceError::NoRecords { path: file.to_owned() });
    }
    let targets = chosen.table(file, pictures.order.len(), |part, column| {
        pictures.fill(part, &document, &categories, column);
    })?;
    let given_root = given_root(options, &address.parent())?;
    let mut paths = Paths::default();
    for &image in &pictures.order {
        let path = document.files.bytes(image);
        if crate::paths::escapes(path, given_root.as_ref().map(Address::path)) {
            let id = document.ids[image];
            let path = String::from_utf8_lossy(path);
            let problem = format!(
                "the path \"{}\" of image {id} leads out of the folder of the pictures. Move the file, or give root= \
                 with a folder that holds all of them.",
                printable(&*path)
            );
            return Err(SourceError::malformed_at(file, 0, problem));
        }
        paths.push(path);
    }
    let root = given_root.unwrap_or_else(|| root_of(address, &paths, document.named_by_urls));
    let shard_name = address.last_name();
    let found = Found {
        root,
        paths,
        classes: categories.names,
        targets,
        damaged: pictures.damaged,
        shard_name,
        bases: vec![basis],
        oversights: pictures.strays.oversights(),
        ..Found::default()
    };
    existing(file, found, options)
}

/// The folder of the pictures: the first of the usual ones that has one of the first pictures.
///
/// For `annotations/instances_train2017.json` these are `train2017` and `images/train2017` beside `annotations`, then
/// `images` beside it and in it, and last the folder of the JSON. Paths from URLs have the folder of their set, so it may
/// be beside the folder of the JSON too.
fn root_of(file: &Address, paths: &Paths, named_by_urls: bool) -> Address {
    let folder = file.parent();
    let stem = file.path().file_stem().unwrap_or_default().to_string_lossy();
    let set = stem.rsplit('_').next().unwrap_or_default();
    let above = folder.join("..");
    let of_set = [above.join(set), above.join("images").join(set), folder.join(set), folder.join("images").join(set)];
    // Such a set would lead out of the folders of the dataset.
    let of_set = of_set.into_iter().filter(|_| !matches!(set, "" | "." | ".."));
    let others = [above.join("images"), folder.join("images"), folder.clone()];
    let looked_for = paths.len().min(LOOKED_FOR);
    let has_one = |root: &Address| (0..looked_for).any(|index| root.join(paths.get(index)).is_file());
    of_set.chain(others).chain(named_by_urls.then_some(above)).find(has_one).unwrap_or(folder)
}

/// The classes: categories by rising id, without the gaps between the ids.
#[derive(Debug, Default)]
struct Categories {
    names: Vec<String>,
    class_of: HashMap<i64, i64>,
    /// Whether objects must have one.
    are_wanted: bool,
    /// How many keypoints the objects of a category have, by its id; empty if keypoints are not wanted.
    keypoints: HashMap<i64, usize>,
}

impl Categories {
    fn new(file: &Path, document: &Document, chosen: &Chosen<CocoPart>) -> Result<Self, SourceError> {
        let are_wanted = chosen.has(CocoPart::Classes) || chosen.has(CocoPart::CategoryIds);
        let mut by_id = BTreeMap::new();
        for (id, name) in &document.categories {
            if let Some(other) = by_id.insert(*id, name)
                && other != name
            {
                let problem = format!(
                    "two categories have the id {id}: \"{}\" and \"{}\". Give each its own id.",
                    printable(other),
                    printable(name)
                );
                return Err(SourceError::malformed_at(file, 0, problem));
            }
        }
        let class_of = by_id.keys().copied().zip(0..).collect();
        let counts = document.keypoint_names.iter().map(|(id, names)| (*id, names.len()));
        let keypoints = counts.filter(|_| chosen.has(CocoPart::Keypoints)).collect();
        Ok(Self { names: by_id.into_values().cloned().collect(), class_of, are_wanted, keypoints })
    }

    /// Which keypoints change places in a mirrored picture. Nothing if that is not the same for all categories, since a column
    /// has one such list.
    fn flip(&self, document: &Document) -> Vec<u32> {
        let mut flips = document.keypoint_names.iter().map(|(_, names)| (names.len(), flip::of_names(names)));
        let Some(first) = flips.next() else { return Vec::new() };
        if flips.all(|other| other == first) {
            return first.1;
        }
        tracing::warn!(
            categories = self.keypoints.len(),
            "the categories have different keypoints, so left and right ones do not change places in mirrored pictures"
        );
        Vec::new()
    }

    /// What is wrong with the number of an object's keypoints.
    fn wrong_keypoints(&self, objects: &Objects, row: usize) -> Option<String> {
        let named = *self.keypoints.get(objects.category_ids.get(row)?)?;
        let found = objects.keypoints.list(row).len() / 3;
        let (annotation, image) = (objects.ids[row], objects.images[row]);
        (found != 0 && found != named).then(|| {
            format!(
                "annotation {annotation} of image {image} has {found} keypoints, but its category names {named}. Correct the \
                 annotation, or remove it."
            )
        })
    }
}

/// The records, and the annotations of each.
#[derive(Debug)]
struct Pictures {
    /// Images by their place in the document, ordered by id.
    order: Vec<usize>,
    /// For each record, its objects and captions by their places.
    objects: Vec<Vec<usize>>,
    captions: Vec<Vec<usize>>,
    damaged: Faults,
    strays: Strays,
}

impl Pictures {
    fn new(document: &Document, categories: &Categories, keep_empty: bool) -> Self {
        let Annotations { objects, captions, damaged, .. } = &document.annotations;
        let mut order: Vec<usize> = (0..document.ids.len()).collect();
        order.sort_unstable_by_key(|&image| document.ids[image]);
        let ids: Vec<i64> = order.iter().map(|&image| document.ids[image]).collect();
        let mut strays = Strays { without_image: document.annotations.without_image, ..Strays::default() };
        let mut by_record = |images: &[i64]| {
            let mut lists = vec![Vec::new(); ids.len()];
            for (row, image) in images.iter().enumerate() {
                match ids.binary_search(image) {
                    Ok(record) => lists[record].push(row),
                    Err(_) => strays.note(*image),
                }
            }
            lists
        };
        let (object_lists, caption_lists) = (by_record(&objects.images), by_record(&captions.images));
        let mut pictures =
            Self { order: vec![], objects: vec![], captions: vec![], damaged: Faults::default(), strays };
        for ((image, objects_of), captions_of) in order.into_iter().zip(object_lists).zip(caption_lists) {
            let id = document.ids[image];
            let unknown = objects_of
                .iter()
                .find(|&&row| categories.are_wanted && !categories.class_of.contains_key(&objects.category_ids[row]));
            let unlisted = unknown.map(|&row| {
                let (category, annotation) = (objects.category_ids[row], objects.ids[row]);
                format!(
                    "annotation {annotation} of image {id} has the category id {category}, which the file does not list. \
                     Add the category, or remove the annotation."
                )
            });
            let unlisted =
                unlisted.or_else(|| objects_of.iter().find_map(|&row| categories.wrong_keypoints(objects, row)));
            let unlisted = unlisted.or_else(|| {
                let said = document.image_level.get(image)?;
                let mut ids = said.negatives.iter().chain(&said.not_exhaustive);
                let unknown = ids.find(|id| !categories.class_of.contains_key(id))?;
                Some(format!(
                    "image {id} names the category id {unknown}, which the file does not list. Add the category, or \
                     remove the id from the image."
                ))
            });
            let cause = damaged.get(&id).cloned().or(unlisted);
            if !keep_empty && cause.is_none() && objects_of.is_empty() && captions_of.is_empty() {
                continue;
            }
            let broken = cause.is_some();
            if let Some(cause) = cause {
                pictures.damaged.add(pictures.order.len() as u64, &cause);
            }
            pictures.order.push(image);
            pictures.objects.push(if broken { Vec::new() } else { objects_of });
            pictures.captions.push(if broken { Vec::new() } else { captions_of });
        }
        pictures
    }

    fn fill(&self, part: CocoPart, document: &Document, categories: &Categories, column: &mut Column) {
        let Annotations { objects, captions, .. } = &document.annotations;
        if part == CocoPart::ImageIds {
            self.order.iter().for_each(|&image| column.push(&[document.ids[image]]));
            return;
        }
        if matches!(part, CocoPart::Height | CocoPart::Width) {
            let side = usize::from(part == CocoPart::Width);
            self.order.iter().for_each(|&image| match document.sizes[image][side] {
                Some(pixels) => column.push(&[pixels]),
                None => column.push_null(),
            });
            return;
        }
        if matches!(part, CocoPart::Negatives | CocoPart::NotExhaustive) {
            for &image in &self.order {
                let said = &document.image_level[image];
                let ids = if part == CocoPart::Negatives { &said.negatives } else { &said.not_exhaustive };
                let class = |id: &i64| categories.class_of.get(id).copied();
                column.push(&ids.iter().filter_map(class).collect::<Vec<_>>());
            }
            return;
        }
        let lists = if part == CocoPart::Captions { &self.captions } else { &self.objects };
        for rows in lists {
            for &row in rows {
                match part {
                    CocoPart::Boxes => column.extend(&objects.boxes[row]),
                    CocoPart::Classes => column.extend(&[categories.class_of[&objects.category_ids[row]]]),
                    CocoPart::CategoryIds => column.extend(&[objects.category_ids[row]]),
                    CocoPart::Crowd => column.extend(&[objects.crowd[row]]),
                    CocoPart::Area => column.extend(&[objects.area[row]]),
                    CocoPart::Captions => column.extend(captions.texts.list(row)),
                    CocoPart::Keypoints => column.extend(objects.keypoints.list(row)),
                    CocoPart::Rle => column.extend(objects.rle.list(row)),
                    CocoPart::Polygons => {
                        for polygon in objects.polygons_of(row) {
                            column.extend(polygon);
                            column.close(3);
                        }
                    }
                    CocoPart::Ids => column.extend(&[objects.ids[row]]),
                    CocoPart::ImageIds
                    | CocoPart::Negatives
                    | CocoPart::NotExhaustive
                    | CocoPart::Height
                    | CocoPart::Width => {}
                }
                if matches!(part, CocoPart::Captions | CocoPart::Keypoints | CocoPart::Rle | CocoPart::Polygons) {
                    column.close(2);
                }
            }
            column.close(1);
        }
    }
}

#[cfg(test)]
mod tests;
