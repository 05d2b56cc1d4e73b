//! Which fields are chosen, by their names, their types and the options.

use std::collections::HashMap;

use arrow_schema::Fields;
use forebay_sources::ColumnMap;

use super::*;

fn image() -> DataType {
    let field = |name: &str, of| Field::new(name, of, true);
    DataType::Struct(Fields::from(vec![field("bytes", DataType::Binary), field("path", DataType::Utf8)]))
}

fn schema(fields: &[(&str, DataType)]) -> Schema {
    Schema::new(fields.iter().map(|(name, of)| Field::new(*name, of.clone(), true)).collect::<Vec<_>>())
}

fn choose(schema: &Schema, columns: &[(&str, &str)]) -> Result<TableChoice, String> {
    let columns = columns.iter().copied().collect::<ColumnMap>();
    let options = Options { columns, ..Options::default() };
    TableChoice::new(Path::new("x.parquet"), schema, &options).map_err(|error| error.to_string())
}

fn path(names: &[&str]) -> FieldPath {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn the_usual_names_are_found_and_a_structure_has_its_bytes_and_its_path() {
    let mut table = schema(&[("label", DataType::Int64), ("image", image()), ("other", DataType::Binary)]);
    table.metadata = HashMap::from([(
        "huggingface".to_owned(),
        r#"{"info": {"features": {"label": {"names": ["a", "b"], "_type": "ClassLabel"}}}}"#.to_owned(),
    )])
    .into();
    let choice = choose(&table, &[]).unwrap();
    assert_eq!(choice.picture, path(&["image", "bytes"]));
    assert_eq!(choice.elsewhere, Some(path(&["image", "path"])));
    assert_eq!((choice.label, choice.classes), (Some(path(&["label"])), path(&["a", "b"])));
}

#[test]
fn the_only_binary_field_is_the_picture_and_of_several_the_user_says_which() {
    let one = schema(&[("id", DataType::Int32), ("jpeg", DataType::LargeBinary)]);
    assert_eq!(choose(&one, &[]).unwrap().picture, path(&["jpeg"]));
    let two = schema(&[("left", DataType::Binary), ("right", image()), ("img", DataType::Utf8)]);
    let error = choose(&two, &[]).unwrap_err();
    for words in ["several of them", "\"left\" (Binary)", "columns = {\"images\": NAME}"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    assert_eq!(choose(&two, &[("images", "x;right")]).unwrap().picture, path(&["right", "bytes"]));
    assert_eq!(choose(&two, &[("images", "right.bytes")]).unwrap().picture, path(&["right", "bytes"]));
    assert!(choose(&two, &[("images", "img")]).unwrap_err().contains("a picture is binary"));
    assert!(choose(&schema(&[("a", DataType::Utf8)]), &[]).unwrap_err().contains("none of them is a picture"));
    assert!(choose(&schema(&[]), &[]).unwrap_err().contains("no columns"));
}

#[test]
fn a_field_that_is_no_label_or_is_not_there_is_refused_by_name() {
    let list = DataType::new_list(DataType::Int64, true);
    let table = schema(&[("image", image()), ("labels", list), ("a.b", DataType::Int8), ("s", image())]);
    let error = choose(&table, &[]).unwrap_err();
    assert!(error.contains("\"labels\" has the type") && error.contains("labels=\"none\""), "{error}");
    let error = choose(&table, &[("labels", "a.b"), ("caption", "text;txt")]).unwrap_err();
    assert!(error.contains("\"caption\" is to be \"text;txt\"") && error.contains("\"a.b\" (Int8)"), "{error}");
    let choice = choose(&table, &[("labels", "a.b"), ("from", "s.path")]).unwrap();
    assert_eq!(choice.label, Some(path(&["a.b"])));
    assert_eq!(choice.targets, [("from".to_owned(), path(&["s", "path"]))]);
}
