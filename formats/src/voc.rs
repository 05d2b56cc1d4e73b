//! `voc:`: a folder with an XML of Pascal VOC for each picture, as the challenge and labelImg write it.

mod annotation;
mod layout;

use std::collections::HashMap;

use forebay_columns::{Column, Role};
use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use self::annotation::{VocAnnotation, VocObject};
use self::layout::VocLayout;
use crate::address::Address;
use crate::annotation_file;
use crate::class_names::{CLASSES, given_classes};
use crate::faults::Faults;
use crate::files::existing;
use crate::listing::Found;
use crate::numbers::single;
use crate::opened::DatasetResult;
use crate::parts::{Chosen, KnownPart};
use crate::paths::Paths;
use crate::progress::Progress;
use crate::root::ROOT;
use crate::scheme::{Indexing, OptionKey, Scheme};
use crate::thread_pool;

pub(super) const SCHEME: Scheme = Scheme {
    name: "voc",
    takes: "a folder of pictures with Pascal VOC's XML files",
    options: &[ROOT, SET, ONE_BASED, CLASSES],
    has_columns: true,
    recognises: VocLayout::has_annotations,
    open: |address, options, _| open(address, options),
    indexing: Indexing::Never("Its labels are in a file for each picture, all of which would have to be compared."),
};

const SET: OptionKey = OptionKey {
    name: "set",
    help: "the list of pictures in ImageSets/Main, such as \"train\"; \"all\" for all that have an XML",
};
const ONE_BASED: OptionKey = OptionKey {
    name: "one_based",
    help: "whether the first pixel has the coordinate 1: \"true\", as in Pascal VOC, or \"false\"",
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VocPart {
    Boxes,
    Classes,
    Difficult,
    Truncated,
    Occluded,
}

const PARTS: [KnownPart<VocPart>; 5] = [
    part("boxes", VocPart::Boxes, "f32 [*, 4]", true).with_role(Role::Boxes),
    part("classes", VocPart::Classes, "i64 [*]", true).with_role(Role::Classes),
    part("difficult", VocPart::Difficult, "bool [*]", true),
    part("truncated", VocPart::Truncated, "bool [*]", true),
    part("occluded", VocPart::Occluded, "bool [*]", false),
];

const fn part(name: &'static str, part: VocPart, column_type: &'static str, by_default: bool) -> KnownPart<VocPart> {
    KnownPart { name, part, column_type, of_objects: true, by_default, role: Role::Plain }
}

/// An XML that was read, or what is wrong with it.
type Parsed = Result<VocAnnotation, String>;

fn open(address: &Address, options: &Options) -> DatasetResult {
    let folder = address.path();
    let one_based = options.own.flag(ONE_BASED.name, true)?;
    let chosen = Chosen::new(options, &PARTS)?;
    let layout = VocLayout::find(address, options)?;
    let stems = layout.stems()?;
    let set = layout.set(options)?;
    let is_list = set.is_some();
    let records = match set {
        Some(lines) => lines.into_iter().map(|line| layout::stem_of(line, &stems)).collect(),
        None => stems.clone(),
    };
    if records.is_empty() {
        return Err(SourceError::NoRecords { path: folder.to_owned() });
    }
    let given = given_classes(options)?;
    // Without given names, those of all XMLs count, so that the sets of a folder agree about the classes.
    let to_read = if given.is_some() { &records } else { &stems };
    let mut parsed = read_all(&layout, to_read)?;
    for stem in &records {
        if !parsed.contains_key(stem) {
            let annotation = read(&layout, stem)?;
            parsed.insert(stem.clone(), annotation);
        }
    }
    let classes = given.unwrap_or_else(|| class_names(&parsed));
    let class_of: HashMap<&str, i64> = classes.iter().map(String::as_str).zip(0..).collect();

    let pictures = layout.pictures()?;
    let mut paths = Paths::default();
    let mut damaged = Faults::default();
    let mut objects: Vec<&[VocObject]> = Vec::new();
    for (record, stem) in (0..).zip(&records) {
        let annotation = parsed.get(stem).expect("every record's XML was looked for");
        let checked = annotation.as_ref().map_err(Clone::clone).and_then(|annotation| {
            let unknown = annotation.objects.iter().find(|object| !class_of.contains_key(&*object.name));
            unknown.map_or(Ok(annotation), |object| {
                Err(format!("has the class \"{}\", which classes= does not name", object.name))
            })
        });
        let file_name = annotation.as_ref().ok().and_then(|annotation| annotation.file_name.as_deref());
        paths.push(&pictures.of(stem, file_name));
        match checked {
            Ok(annotation) => objects.push(&annotation.objects),
            Err(problem) => {
                let xml = layout.xml(stem);
                damaged.add(record, &format!("its annotation \"{}\" {problem}", printable(&xml.shown())));
                objects.push(&[]);
            }
        }
    }
    let fill = |part, column: &mut Column| fill(part, column, &objects, &class_of, one_based);
    let targets = chosen.table(folder, records.len(), fill)?;
    let shard_name = layout.shard_name(options);
    let root = layout.pictures.clone();
    let oversights = layout.beside(&paths, is_list)?.oversights(options.labels, &[]);
    let found = Found { root, paths, classes, targets, damaged, shard_name, oversights, ..Found::default() };
    existing(folder, found, options)
}

fn read_all(layout: &VocLayout, stems: &[Vec<u8>]) -> Result<HashMap<Vec<u8>, Parsed>, SourceError> {
    let progress = Progress::new("reading annotations");
    let mut parsed = HashMap::with_capacity(stems.len());
    let read = |place: usize| {
        progress.step();
        read(layout, &stems[place])
    };
    thread_pool::in_order(
        stems.len(),
        thread_pool::threads_for(layout.folder().tree().is_some()),
        read,
        |place, annotation| {
            parsed.insert(stems[place].clone(), annotation);
            Ok(())
        },
    )?;
    Ok(parsed)
}

fn read(layout: &VocLayout, stem: &[u8]) -> Result<Parsed, SourceError> {
    let parsed = match annotation_file::read(&layout.xml(stem))? {
        Ok(xml) => VocAnnotation::parse(&xml),
        Err(problem) => Err(problem.to_string()),
    };
    Ok(parsed)
}

fn class_names(parsed: &HashMap<Vec<u8>, Parsed>) -> Vec<String> {
    let objects = parsed.values().flatten().flat_map(|annotation| &annotation.objects);
    let mut names: Vec<String> = objects.map(|object| object.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn fill(part: VocPart, column: &mut Column, records: &[&[VocObject]], class_of: &HashMap<&str, i64>, one_based: bool) {
    // Coordinates of Pascal VOC count from 1 and include the last pixel. Half-open ones that count from 0 differ only at
    // the beginning.
    let before = if one_based { 1.0 } else { 0.0 };
    for objects in records {
        for object in *objects {
            match part {
                VocPart::Boxes => {
                    let [left, top, right, bottom] = object.corners;
                    let corners = [left - before, top - before, right, bottom];
                    column.extend(&corners.map(|number| single(number).expect("the parser has checked it")));
                }
                VocPart::Classes => column.extend(&[class_of[&*object.name]]),
                VocPart::Difficult => column.extend(&[u8::from(object.difficult)]),
                VocPart::Truncated => column.extend(&[u8::from(object.truncated)]),
                VocPart::Occluded => column.extend(&[u8::from(object.occluded)]),
            }
        }
        column.close(1);
    }
}

#[cfg(test)]
mod tests;
