//! Roles of columns: what each gives, which columns go with boxes, and what is refused.

use forebay_columns::{Column, Element, Field, Role, Schema, Table};
use forebay_sources::{ColumnMap, OwnOptions};

use super::*;
use crate::numbers::single;
use crate::scene::says;
use crate::tar::writer::TarWriter;

/// A column of lists, which may be nested, as JSON.
fn column(of: &str, records: &[&str]) -> Column {
    let mut column = Column::new(of.parse().unwrap());
    for record in records {
        match serde_json::from_str(record).unwrap() {
            serde_json::Value::Null => column.push_null(),
            value => push(&mut column, &value, 1),
        }
    }
    column
}

fn push(column: &mut Column, value: &serde_json::Value, level: usize) {
    let items = value.as_array().unwrap();
    if level == column.column_type().depth().max(1) {
        fn numbers(value: &serde_json::Value) -> Vec<f64> {
            value.as_array().map_or_else(|| vec![value.as_f64().unwrap()], |all| all.iter().flat_map(numbers).collect())
        }
        let numbers: Vec<f64> = items.iter().flat_map(numbers).collect();
        match column.column_type().element().name() {
            "f64" => column.extend(&numbers),
            "i64" => column.extend(&numbers.iter().map(|number| whole(*number)).collect::<Vec<_>>()),
            "i16" => {
                column.extend(&numbers.iter().map(|number| i16::try_from(whole(*number)).unwrap()).collect::<Vec<_>>());
            }
            "f32" => column.extend(&numbers.iter().map(|number| single(*number).unwrap()).collect::<Vec<_>>()),
            other => panic!("{other}"),
        }
    } else {
        for item in items {
            push(column, item, level + 1);
        }
    }
    column.close(level);
}

/// The integer that a number is.
fn whole(number: f64) -> i64 {
    number.to_string().parse().unwrap()
}

fn texts(records: &[&str]) -> Column {
    let mut column = Column::new("u8 [*]".parse().unwrap());
    for record in records {
        column.push(record.as_bytes());
    }
    column
}

/// The table of these columns with these roles.
fn applied(columns: Vec<(&str, Column, Option<&str>)>) -> Result<(Table, Faults), String> {
    let records = columns[0].1.len();
    let fields = columns.iter().map(|(name, column, _)| Field::new(*name, column.column_type().clone())).collect();
    let roles: Vec<_> = columns.iter().map(|(.., role)| role.map(|role| GivenRole::named(role).unwrap())).collect();
    let values = columns.into_iter().map(|(_, column, _)| column).collect();
    let table = Table::try_new(Schema::try_new(fields).unwrap(), values, records).unwrap();
    columns::with_roles(table, &roles)
}

fn values<T: Element>(table: &Table, column: usize, record: usize) -> Vec<T> {
    table.value(column, record).numbers(table.columns()[column].column_type()).unwrap()
}

fn kind(table: &Table, column: usize) -> (String, Role, Option<&str>) {
    let field = &table.schema().fields()[column];
    (field.column_type.to_string(), field.role, field.objects.as_deref())
}

#[test]
fn rule_45_boxes_are_the_same_however_their_numbers_are_kept() {
    let nested = ["[[3, 5, 13, 25], [0, 0, 7, 9]]", "[]", "[[1, 2, 4, 8]]"];
    let flat = ["[3, 5, 13, 25, 0, 0, 7, 9]", "[]", "[1, 2, 4, 8]"];
    let words = ["3 5 13 25 0,0,7,9", "", "[[1, 2, 4.0, 8]]"];
    for boxes in [
        column("f64 [*][*]", &nested),
        column("i16 [*, 4]", &nested),
        column("i64 [*]", &flat),
        texts(&nested),
        texts(&flat),
        texts(&words),
    ] {
        let of = boxes.column_type().to_string();
        let (table, faults) = applied(vec![("b", boxes, Some("xyxy"))]).unwrap();
        assert_eq!(kind(&table, 0), ("f32 [*, 4]".into(), Role::Boxes, Some("objects")), "{of}");
        assert_eq!(values::<f32>(&table, 0, 0), [3.0, 5.0, 13.0, 25.0, 0.0, 0.0, 7.0, 9.0], "{of}");
        assert_eq!((values::<f32>(&table, 0, 1), values::<f32>(&table, 0, 2)), (vec![], vec![1.0, 2.0, 4.0, 8.0]));
        assert!(faults.is_empty(), "{of}");
    }
    let (table, _) = applied(vec![("b", column("f32 [4]", &["[2, 4, 6, 8]"]), Some("cxcywh"))]).unwrap();
    assert_eq!(values::<f32>(&table, 0, 0), [-1.0, 0.0, 5.0, 8.0]);
    let (table, _) =
        applied(vec![("b", column("f64 [*]", &["[0.25, 0.5, 0.75, 1]"]), Some("yxyx_fractions"))]).unwrap();
    assert_eq!((kind(&table, 0).1, values::<f32>(&table, 0, 0)), (Role::FractionBoxes, vec![0.5, 0.25, 1.0, 0.75]));
}

#[test]
fn rule_45_values_of_objects_go_with_their_boxes_and_others_do_not() {
    let (table, faults) = applied(vec![
        ("label", column("i64 [*]", &["[7, 8]", "[9]", "null"]), None),
        ("b", column("f64 [*][*]", &["[[0, 0, 1, 1], [1, 1, 2, 2]]", "[[0, 0, 3, 3]]", "null"]), Some("xywh")),
        ("outline", column("f64 [*][*]", &["[[0, 0, 1, 0, 1, 1], [5, 5]]", "[[2, 3, 4, 5]]", "null"]), Some("points")),
        ("other", column("i64 [*]", &["[7, 8]", "[9]", "[1]"]), None),
        ("alone", column("i64 [*]", &["[7, 8]", "[9]", "null"]), Some("none")),
        ("text", texts(&["ab", "c", ""]), None),
    ])
    .unwrap();
    assert!(faults.is_empty());
    let objects: Vec<_> = (0..6).map(|place| kind(&table, place).2).collect();
    assert_eq!(objects, [Some("objects"), Some("objects"), Some("objects"), None, None, None]);
    assert_eq!(kind(&table, 2).0, "f32 [*][*, 2]");
    assert!(table.value(1, 2).is_null());
    // What is said to be of objects must have as many values: a record in which it has not is bad, and has no objects.
    let (table, faults) = applied(vec![
        ("b", column("f64 [*][*]", &["[[0, 0, 1, 1], [1, 1, 2, 2]]", "[[0, 0, 3, 3]]"]), Some("xyxy")),
        ("label", column("i64 [*]", &["[7]", "[9]"]), Some("objects")),
    ])
    .unwrap();
    assert_eq!((faults.len(), table.value(0, 0).items(), table.value(1, 0).items()), (1, 0, 0));
    says(faults.get(0).unwrap(), &["\"label\" has 1 values", "\"b\" has 2"]);
    assert_eq!(values::<i64>(&table, 1, 1), [9]);
}

#[test]
fn rule_45_a_record_whose_values_are_not_what_their_role_says_is_bad_alone() {
    let boxes = ["[[0, 0, 1, 1]]", "[[0, 0, 1]]", "[[5, 0, 1, 1]]", "[[0, 0, 1, 2]]"];
    for boxes in [column("f64 [*][*]", &boxes), texts(&boxes)] {
        let labels = column("i64 [*]", &["[1]", "[2]", "[3]", "[4]"]);
        let (table, faults) = applied(vec![("b", boxes, Some("xyxy")), ("l", labels, Some("objects"))]).unwrap();
        says(faults.get(1).unwrap(), &["\"b\"", "four numbers"]);
        says(faults.get(2).unwrap(), &["ends before it begins"]);
        assert_eq!([0, 1, 2, 3].map(|record| table.value(1, record).items()), [1, 0, 0, 1]);
        assert_eq!((values::<i64>(&table, 1, 3), values::<f32>(&table, 0, 3)), (vec![4], vec![0.0, 0.0, 1.0, 2.0]));
    }
    let (_, faults) =
        applied(vec![("b", texts(&["[[0, 0, 90, 40]]", "x", "{}", "[[true]]"]), Some("xyxy_fractions"))]).unwrap();
    says(faults.get(0).unwrap(), &["no", "fractions", "roles"]);
    assert_eq!(faults.len(), 4);
    let (_, faults) = applied(vec![("p", column("f64 [*]", &["[1, 2]", "[1, 2, 3]"]), Some("points"))]).unwrap();
    says(faults.get(1).unwrap(), &["3 numbers", "a point has 2"]);
}

#[test]
fn rule_45_points_keep_their_lists_and_a_last_list_of_one_point_is_the_point() {
    for (of, record, expected) in [
        ("f64 [*]", "[1, 2, 3, 4]", "f32 [*, 2]"),
        ("i16 [*][*]", "[[1, 2], [3, 4]]", "f32 [*, 2]"),
        ("f64 [*][*]", "[[1, 2, 3, 4]]", "f32 [*][*, 2]"),
        ("f64 [*][*][*]", "[[[1, 2], [3, 4]]]", "f32 [*][*, 2]"),
        ("f64 [*][*][*]", "[[[1, 2, 3, 4]]]", "f32 [*][*][*, 2]"),
        ("f64 [*, 2, 2]", "[[[1, 2], [3, 4]]]", "f32 [*, 2, 2]"),
        ("i64 [2, 2]", "[[1, 2], [3, 4]]", "f32 [2, 2]"),
    ] {
        let (table, faults) = applied(vec![("p", column(of, &[record]), Some("points"))]).unwrap();
        assert_eq!((kind(&table, 0).0.as_str(), kind(&table, 0).1), (expected, Role::Points), "{of}");
        assert_eq!((values::<f32>(&table, 0, 0), faults.len()), (vec![1.0, 2.0, 3.0, 4.0], 0), "{of}");
    }
    let deep = texts(&["[[[[1, 2], [3, 4]]], []]", "[]"]);
    let (table, _) = applied(vec![("p", deep, Some("points"))]).unwrap();
    assert_eq!((kind(&table, 0).0.as_str(), table.value(0, 0).items()), ("f32 [*][*][*, 2]", 2));
    let joints = column("f64 [*][*]", &["[[1, 2, 2, 3, 4, 0]]"]);
    let (table, _) = applied(vec![("k", joints, Some("keypoints"))]).unwrap();
    assert_eq!(kind(&table, 0), ("f32 [*][*, 3]".into(), Role::Keypoints, None));
    assert!(
        applied(vec![("p", texts(&["[[[[[1, 2, 3, 4]]]]]"]), Some("points"))]).unwrap_err().contains("within 5 lists")
    );
}

#[test]
fn a_role_is_given_by_an_option_of_any_source_and_changes_its_fingerprint() {
    let dir = tempfile::tempdir().unwrap();
    let json = br#"{"boxes": [[1, 2, 3, 4]], "kinds": [5]}"#;
    let path = dir.path().join("a.tar");
    std::fs::write(&path, TarWriter::of(&[("1.jpg", b"x"), ("1.json", json)])).unwrap();
    let columns = ColumnMap::from_iter([("b", "json:boxes"), ("k", "json:kinds")]);
    let open = |own: &[(&str, &str)], query: &str| {
        let own: OwnOptions = own.iter().copied().collect();
        crate::open(
            &format!("tar:{}{query}", path.display()),
            &Options { columns: columns.clone(), own, ..Options::default() },
        )
    };
    let plain = open(&[], "").unwrap();
    let given = open(&[("roles.b", "xywh")], "").unwrap();
    assert_ne!(plain.fingerprint(), given.fingerprint());
    assert_ne!(given.fingerprint(), open(&[("roles.b", "xyxy")], "").unwrap().fingerprint());
    assert_eq!(given.fingerprint(), open(&[], "?roles.b=xywh").unwrap().fingerprint());
    assert_eq!(plain.fingerprint(), open(&[("roles.b", "none")], "").unwrap().fingerprint());
    assert_eq!(crate::scene::values::<f32>(&*given, "b", 0), [1.0, 2.0, 4.0, 6.0]);
    let mut read = Vec::new();
    given.read(0, u64::MAX, &mut read).unwrap();
    assert_eq!(read, b"x");
    says(&open(&[("roles.b", "squares")], "").unwrap_err().to_string(), &["roles.b", "\"xyxy\"", "\"keypoints\""]);
    says(&open(&[("roles.c", "xyxy")], "").unwrap_err().to_string(), &["roles.c", "\"b\", \"k\""]);
    says(&open(&[("role", "xyxy")], "").unwrap_err().to_string(), &["roles.COLUMN"]);
}
