//! `yolo:`: folders `images` and `labels` of the same shape, with a text of boxes for each picture, as Ultralytics reads
//! them. Boxes are fractions of the picture's sides, because a text does not say how large its picture is. They become
//! pixels when the picture is decoded.

mod keypoints;
mod label_file;
mod layout;
mod names;
mod texts;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use forebay_columns::{Column, Role};
use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use self::keypoints::{FLIP, PoseLines, SHAPE};
use self::label_file::{LabelLines, YoloObject};
use self::layout::YoloLayout;
use self::texts::Texts;
use crate::address::Address;
use crate::annotation_file;
use crate::class_names::{CLASSES, given_classes};
use crate::faults::Faults;
use crate::files::existing;
use crate::listing::Found;
use crate::opened::DatasetResult;
use crate::parts::{Chosen, KnownPart};
use crate::paths::Paths;
use crate::progress::Progress;
use crate::scheme::{Indexing, OptionKey, Scheme};
use crate::thread_pool;

pub(super) const SCHEME: Scheme = Scheme {
    name: "yolo",
    takes: "a folder with \"images\" and \"labels\" in YOLO's form, or its data.yaml",
    options: &[SET, CLASSES, SHAPE, FLIP],
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
    Keypoints,
}

const PARTS: [KnownPart<YoloPart>; 7] = [
    part("boxes", YoloPart::Boxes, "f32 [*, 4]", true).with_role(Role::FractionBoxes),
    part("classes", YoloPart::Classes, "i64 [*]", true).with_role(Role::Classes),
    part("polygons", YoloPart::Polygons, "f32 [*][*, 2]", false).with_role(Role::FractionPoints),
    part("keypoints", YoloPart::Keypoints, "f32 [*][*, 3]", true).with_role(Role::FractionKeypoints),
    part("boxes_normalised", YoloPart::Boxes, "f32 [*, 4]", false),
    part("polygons_normalised", YoloPart::Polygons, "f32 [*][*, 2]", false),
    part("keypoints_normalised", YoloPart::Keypoints, "f32 [*][*, 3]", false),
];

const fn part(name: &'static str, part: YoloPart, column_type: &'static str, by_default: bool) -> KnownPart<YoloPart> {
    KnownPart { name, part, column_type, of_objects: true, by_default, role: Role::Plain }
}

fn open(address: &Address, options: &Options) -> DatasetResult {
    let path = address.path();
    let mut chosen = Chosen::new(options, &PARTS)?;
    let layout = YoloLayout::find(address)?;
    let yaml = layout.yaml()?;
    let classes = match given_classes(options)? {
        Some(given) => given,
        None => layout.class_names(yaml.as_ref())?,
    };
    let yaml = yaml.as_ref().and_then(|text| text.as_deref().ok());
    let pose = PoseLines::find(options, yaml)?
        .map_err(|problem| layout.wrong_yaml(&problem, "Correct it, or give kpt_shape= and flip_idx=."))?;
    match &pose {
        PoseLines::Keypoints(keypoints) => chosen.set_flip(&keypoints.flip),
        PoseLines::Unknown | PoseLines::None if options.columns.is_empty() => {
            chosen.retain(|part| part != YoloPart::Keypoints);
        }
        PoseLines::Unknown | PoseLines::None if chosen.has(YoloPart::Keypoints) => {
            let problem =
                "no \"kpt_shape\" says how many keypoints a line has. Write it into data.yaml, or give kpt_shape=.";
            return Err(SourceError::Columns { path: path.to_owned(), problem: problem.to_owned() });
        }
        PoseLines::Unknown | PoseLines::None => {}
    }
    let (paths, others) = layout.files(options)?;
    if paths.is_empty() {
        return Err(SourceError::NoRecords { path: path.to_owned() });
    }
    let texts = Texts::new(others);
    let mut damaged = Faults::default();
    let lines = LabelLines { classes: classes.len(), pose: &pose };
    let records = read_labels(&layout, &texts, &paths, lines, &mut damaged)?;
    let used = texts.used();
    let beside = texts.beside();
    if used == 0 {
        let problem = format!(
            "none of the {} pictures has a text of labels: for \"images/a.jpg\" it would be \"labels/a.txt\". For pictures \
             without labels, open the folder \"images\" itself with \"folder:\".{}",
            paths.len(),
            beside.told()
        );
        return Err(SourceError::malformed_at(path, 0, problem));
    }
    if used < paths.len() {
        let (pictures, background) = (paths.len(), paths.len() - used);
        tracing::info!(pictures, background, "pictures without a text of labels show only background");
    }
    if pose == PoseLines::Unknown && label_file::look_like_poses(records.iter().flatten()) {
        let problem = "each line has a box and then points of x, y and 0 or 1, as lines of keypoints have, but no \
                       \"kpt_shape\" says so. Write kpt_shape into data.yaml, such as \"kpt_shape: [17, 3]\", or give it as an \
                       option. If the lines have polygons, give kpt_shape=\"none\".";
        return Err(SourceError::malformed_at(path, 0, problem));
    }
    if pose == PoseLines::Unknown
        && let Some(count) = label_file::look_like_points(records.iter().flatten())
    {
        let points = if count == 1 { "1 point".to_owned() } else { format!("{count} points") };
        let problem = format!(
            "each line has a box and then {points} of x and y in it, as lines of keypoints have, but no \"kpt_shape\" says \
             so. Write \"kpt_shape: [{count}, 2]\" into data.yaml, or give kpt_shape=\"{count},2\". If the lines have polygons, \
             give kpt_shape=\"none\"."
        );
        return Err(SourceError::malformed_at(path, 0, problem));
    }
    let targets = chosen.table(path, records.len(), |part, column| fill(part, column, &records))?;
    let shard_name = layout.shard_name(options);
    let oversights = beside.oversights(options.labels, &[]);
    let root = layout.folder;
    existing(
        path,
        Found { root, paths, classes, targets, damaged, shard_name, oversights, ..Found::default() },
        options,
    )
}

/// The objects of each picture. A picture without a text has none: it shows the background.
fn read_labels(
    layout: &YoloLayout,
    texts: &Texts,
    paths: &Paths,
    lines: LabelLines<'_>,
    damaged: &mut Faults,
) -> Result<Vec<Vec<YoloObject>>, SourceError> {
    let progress = Progress::new("reading labels");
    let mut records = Vec::with_capacity(paths.len());
    let address = |text: &[u8]| layout.folder.join(OsStr::from_bytes(text));
    let read = |record: usize| {
        progress.step();
        let Some(text) = texts.of(paths.bytes(record)) else { return Ok(Ok(Vec::new())) };
        Ok(match annotation_file::read(&address(text))? {
            Ok(bytes) => label_file::parse(&bytes, lines),
            Err(problem) => Err(problem.to_string()),
        })
    };
    thread_pool::in_order(
        paths.len(),
        thread_pool::threads_for(layout.folder.tree().is_some()),
        read,
        |record, objects| {
            records.push(objects.unwrap_or_else(|problem| {
                let text = texts.of(paths.bytes(record)).unwrap_or_default();
                damaged.add(record as u64, &format!("its labels \"{}\": {problem}", printable(&address(text).shown())));
                Vec::new()
            }));
            Ok(())
        },
    )?;
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
                YoloPart::Keypoints => {
                    column.extend(&object.keypoints);
                    column.close(2);
                }
            }
        }
        column.close(1);
    }
}

#[cfg(test)]
mod tests;
