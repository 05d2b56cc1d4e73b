//! `yolo:`: folders `images` and `labels` of the same shape, with a text of boxes for each picture, as Ultralytics reads
//! them. Boxes are fractions of the picture's sides, because a text does not say how large its picture is. They become
//! pixels when the picture is decoded.

mod label_file;
mod layout;
mod names;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use forebay_columns::{Column, Role};
use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use self::label_file::YoloObject;
use self::layout::YoloLayout;
use crate::address::Address;
use crate::annotation_file::{self, FileProblem};
use crate::faults::Faults;
use crate::files::existing;
use crate::listing::Found;
use crate::opened::DatasetResult;
use crate::parts::{Chosen, KnownPart};
use crate::paths::Paths;
use crate::progress::Progress;
use crate::scheme::{Indexing, OptionKey, Scheme};
use crate::{CLASSES, crew};

pub(super) const SCHEME: Scheme = Scheme {
    name: "yolo",
    takes: "a folder with \"images\" and \"labels\" in YOLO's form, or its data.yaml",
    options: &[SET, CLASSES],
    has_columns: true,
    recognises: YoloLayout::is_one,
    open: |path, options, _| open(path, options),
    indexing: Indexing::Never("Its labels are in a file for each picture, all of which would have to be compared."),
};

const SET: OptionKey =
    OptionKey { name: "set", help: "the folder of one set, such as \"train\"; \"all\" for the pictures of all sets" };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum YoloPart {
    Boxes,
    Classes,
    Polygons,
}

const PARTS: [KnownPart<YoloPart>; 5] = [
    part("boxes", YoloPart::Boxes, "f32 [*, 4]", true).with_role(Role::FractionBoxes),
    part("classes", YoloPart::Classes, "i64 [*]", true).with_role(Role::Classes),
    part("polygons", YoloPart::Polygons, "f32 [*][*, 2]", false).with_role(Role::FractionPoints),
    part("boxes_normalised", YoloPart::Boxes, "f32 [*, 4]", false),
    part("polygons_normalised", YoloPart::Polygons, "f32 [*][*, 2]", false),
];

const fn part(name: &'static str, part: YoloPart, column_type: &'static str, by_default: bool) -> KnownPart<YoloPart> {
    KnownPart { name, part, column_type, of_objects: true, by_default, role: Role::Plain }
}

fn open(address: &Address, options: &Options) -> DatasetResult {
    let path = address.path();
    let chosen = Chosen::new(options, &PARTS)?;
    let layout = YoloLayout::find(address)?;
    let classes = match crate::classes(options)? {
        Some(given) => given,
        None => layout.class_names()?,
    };
    let paths = layout.pictures(options)?;
    if paths.is_empty() {
        return Err(SourceError::NoRecords { path: path.to_owned() });
    }
    let mut damaged = Faults::default();
    let records = read_labels(&layout, &paths, classes.len(), &mut damaged)?;
    let targets = chosen.table(path, records.len(), |part, column| fill(part, column, &records))?;
    let shard_name = layout.shard_name(options);
    let found = Found { root: layout.folder, paths, classes, targets, damaged, shard_name, ..Found::default() };
    existing(path, found, options)
}

/// The objects of each picture. A picture without a text has none: it shows the background.
fn read_labels(
    layout: &YoloLayout,
    paths: &Paths,
    classes: usize,
    damaged: &mut Faults,
) -> Result<Vec<Vec<YoloObject>>, SourceError> {
    let progress = Progress::new("reading labels");
    let mut records = Vec::with_capacity(paths.len());
    let text = |record: usize| layout.folder.join(OsStr::from_bytes(&layout::label_path(paths.bytes(record))));
    let read = |record: usize| {
        progress.step();
        Ok(match annotation_file::read(&text(record))? {
            Ok(bytes) => label_file::parse(&bytes, classes),
            Err(FileProblem::Missing) => Ok(Vec::new()),
            Err(problem) => Err(problem.to_string()),
        })
    };
    crew::in_order(paths.len(), crew::threads_for(layout.folder.tree().is_some()), read, |record, objects| {
        records.push(objects.unwrap_or_else(|problem| {
            damaged.add(record as u64, &format!("its labels \"{}\": {problem}", printable(&text(record).shown())));
            Vec::new()
        }));
        Ok(())
    })?;
    Ok(records)
}

fn fill(part: YoloPart, column: &mut Column, records: &[Vec<YoloObject>]) {
    for objects in records {
        for object in objects {
            match part {
                YoloPart::Boxes => column.extend(&object.corners),
                YoloPart::Classes => column.extend(&[object.class]),
                YoloPart::Polygons => {
                    column.extend(&object.polygon);
                    column.close(2);
                }
            }
        }
        column.close(1);
    }
}

#[cfg(test)]
mod tests;
