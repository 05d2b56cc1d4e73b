//! Tests of the columns of a stream.

use forebay_pixels::Recipe;

use super::*;
use crate::prefetch::memory_source::MemorySource;

fn targets(names: Option<&[&str]>) -> Result<Vec<String>, UnknownColumn> {
    let names: Option<Vec<String>> = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    let targets = Targets::new(Arc::new(MemorySource::new(4)), names.as_deref(), (1, 1))?;
    Ok(targets.schema().fields().iter().map(|field| field.name.clone()).collect())
}

#[test]
fn rule_47_a_stream_has_the_columns_that_its_setting_names_and_an_unknown_one_is_refused() {
    assert_eq!(targets(None).unwrap(), ["tally"]);
    assert_eq!(targets(Some(&[])).unwrap(), [""; 0]);
    assert_eq!(targets(Some(&["images", "tally", "labels", "tally"])).unwrap(), ["tally"]);
    let error = targets(Some(&["tally", "boxes"])).unwrap_err();
    let words = "the dataset has no column \"boxes\"; its columns are: images, labels, records, mask, tally";
    assert_eq!(error.to_string(), words);
}

#[test]
fn rule_57_a_stream_that_repeats_records_has_a_last_column_of_repeats_whatever_its_setting_names() {
    let targets = Targets::new(Arc::new(MemorySource::new(3)), Some(&[]), (1, 1)).unwrap().with_repeats().unwrap();
    assert_eq!((targets.schema().repeats(), targets.rooms()), (Some(0), vec![Room::default()]));
    targets.has(&["repeats".into(), "records".into()]).unwrap();
}

#[test]
fn rule_48_views_and_mixing_add_columns_whatever_the_setting_names() {
    let view = |name: &str, side| View { name: name.to_owned(), recipe: Recipe::training(side).unwrap() };
    let plain = || Targets::new(Arc::new(MemorySource::new(3)), Some(&[]), (1, 1)).unwrap();
    let targets = plain().with_views(&[view("small", 8), view("tiny", 2)]).unwrap();
    let targets = targets.with_mixing().unwrap().with_repeats().unwrap();
    let fields = targets.schema().fields().iter().map(|field| format!("{} {}", field.name, field.column_type));
    assert_eq!(
        fields.collect::<Vec<_>>(),
        ["small u8 [8, 8, 3]", "tiny u8 [2, 2, 3]", "mixed_labels i64", "mix f32", "repeats i32"]
    );
    assert_eq!((targets.views().columns.clone(), targets.rooms().len()), (vec![0, 1], 5));
    targets.has(&["tiny".into(), "mix".into()]).unwrap();
    let refused = |name| plain().with_views(&[view(name, 2), view("mix", 2)]).unwrap().with_mixing().unwrap_err();
    assert_eq!(refused("small"), SchemaError::Twice("mix".into()));
    let large = plain().with_views(&[view("large", 16_000)]).unwrap_err().to_string();
    assert!(large.starts_with("the column \"large\": a column cannot have rows of"), "{large}");
    let labels = plain().with_views(&[view("labels", 2)]).unwrap_err();
    assert_eq!(labels, SchemaError::Reserved("labels".into()));
}

#[test]
fn rule_50_the_first_column_with_places_in_the_picture_is_known_by_its_name() {
    let targets = Targets::new(Arc::new(MemorySource::new(3)), None, (1, 1)).unwrap();
    assert_eq!(targets.first_in_the_picture(), None, "tally has none");
}

#[test]
fn rule_46_a_column_has_room_for_the_longest_record() {
    let targets = Targets::new(Arc::new(MemorySource::new(3)), None, (1, 1)).unwrap();
    assert_eq!(targets.rooms(), [Room([2, 0, 0])]);
}
