//! Further columns of readers: from a scan of dicts, from a method, and what does not fit.

use forebay_sources::ColumnMap;

use super::*;
use crate::scene::values;

const DICTS: &str = "def create_shards(self):\n    return {'a': (0, 4)}\n\ndef read_records(self, task):\n    \
    for n in range(task.shard.start, task.shard.end):\n        yield self.of(n)\n\n";

/// A reader whose record `n` is this dict.
fn dicts(record: &str) -> Script {
    Script::new(&format!("{DICTS}def of(self, n):\n    return {record}\n"))
}

fn scanned(script: &Script, columns: &[(&str, &str)]) -> Result<ReaderRows, SourceError> {
    let columns: ColumnMap = columns.iter().copied().collect();
    open(&script.file(), &Options { columns, ..with([("scan", "true"), ("records_per_task", "3")]) })
}

/// The columns with their types.
fn columns(source: &dyn Source) -> Vec<String> {
    let fields = source.targets().schema().fields().iter();
    fields.map(|field| format!("{}: {}", field.name, field.column_type)).collect()
}

#[test]
fn rule_55_other_keys_of_dicts_become_columns_by_a_scan() {
    let record = "{'image': b'%d' % n, 'label': n, 'boxes': [[float(n), 1, 2, 3]] * n, 'weight': n / 2 or None, \
                  'caption': 'x' * n, 'odd': n % 2 == 1, 'what': object()}";
    let script = dicts(record);
    let source = scanned(&script, &[]).unwrap();
    let types = ["boxes: f64 [*][*]", "weight: f64", "caption: u8 [*]", "odd: bool"];
    assert_eq!(columns(&source), types);
    assert_eq!(values::<f64>(&source, "boxes", 2), [2.0, 1.0, 2.0, 3.0, 2.0, 1.0, 2.0, 3.0]);
    assert_eq!((source.targets().value(0, 0).items(), source.targets().value(0, 3).items()), (0, 3));
    let null = |record| source.targets().value(1, record).is_null();
    assert_eq!([0, 1].map(null), [true, false]);
    assert_eq!((source.targets().value(3, 3).bytes(), source.targets().value(2, 3).bytes()), (&[1][..], &b"xxx"[..]));
    assert_eq!((source.label(2), read(&source, 2)), (2, Ok("2".into())));
    // Without a scan they are left out.
    let labels = Options { labels: Labels::None, ..Options::default() };
    assert!(open(&script.file(), &labels).unwrap().targets().schema().is_empty());
}

#[test]
fn rule_55_a_scan_finds_the_columns_of_records_without_labels() {
    let script = dicts("{'image': b'%d' % n, 'boxes': [[float(n), 1, 2, 3]] * n}");
    for columns_of in [&[][..], &[("boxes", "boxes")]] {
        let source = scanned(&script, columns_of).unwrap();
        assert_eq!(columns(&source), ["boxes: f64 [*][*]"]);
        assert_eq!(values::<f64>(&source, "boxes", 1), [1.0, 1.0, 2.0, 3.0]);
        assert_eq!((source.label(0), source.label(3), read(&source, 3)), (-1, -1, Ok("3".into())));
    }
    // Some have labels, and one cannot be read.
    let some = dicts("{'image': b'%d' % n, 'label': [5, None, 1 // (n - 2) and 6, 7][n], 'size': n}");
    let source = scanned(&some, &[]).unwrap();
    assert_eq!([0, 1, 3].map(|record| source.label(record)), [5, -1, 7]);
    assert_eq!((columns(&source), values::<i64>(&source, "size", 1)), (vec!["size: i64".to_owned()], vec![1]));
    let empty = dicts("{'image': b'%d' % n, 'boxes': []}");
    refused(scanned(&empty, &[("boxes", "boxes")]), &["'boxes'", "column_types()", "f32 [*, 4]"]);
    let wrong = dicts("{'image': b'%d' % n, 'boxes': {'x': 1}}");
    refused(scanned(&wrong, &[("boxes", "boxes")]), &["'boxes'", "it is dict"]);
}

#[test]
fn rule_55_a_map_names_the_keys_and_the_reader_may_say_their_types() {
    let types = "\ndef column_types(self):\n    return {'points': 'f32 [*, 2]'}\n";
    let record = "{'photo': b'%d' % n, 'cls': 'yx'[n % 2], 'xy': [[n, 0.5]] * n, 'weight': 1}";
    let script = Script::new(&format!("{DICTS}def of(self, n):\n    return {record}\n{types}"));
    let map = [("images", "jpg;photo"), ("labels", "cls"), ("points", "xys;xy")];
    let source = scanned(&script, &map).unwrap();
    assert_eq!(columns(&source), ["points: f32 [*, 2]"]);
    assert_eq!(values::<f32>(&source, "points", 2), [2.0, 0.5, 2.0, 0.5]);
    assert_eq!((source.label(0), source.label(1), source.classes().join("")), (1, 0, "xy".into()));
    assert_eq!(read(&source, 3), Ok("3".into()));
    let missing = [("images", "photo"), ("labels", "cls"), ("boxes", "bboxes")];
    refused(scanned(&script, &missing), &["'boxes'", "no record has a value"]);
    let own = Options { columns: ColumnMap::from_iter([("points", "xy"), ("images", "photo")]), ..with([]) };
    refused(open(&script.file(), &own), &["a method columns()", "scan=true"]);
}

#[test]
fn rule_55_a_record_whose_value_does_not_fit_is_bad_and_both_types_are_named() {
    let record = "{'image': b'%d' % n, 'size': [1, 2] if n != 2 else 'large', 'n': n if n != 3 else 0.5}";
    let options = Options { labels: Labels::None, ..with([("scan", "true")]) };
    let script = dicts(record);
    let source = open(&script.file(), &options).unwrap();
    let read = all(&source);
    assert_eq!(read[..2], ["0", "1"].map(|text| Ok(text.to_owned())));
    let words = |record: usize| read[record].clone().unwrap_err();
    assert_eq!(words(2), "the reader failed: its column \"size\" cannot be: it is u8 [*], and the column is i64 [*]");
    assert_eq!(words(3), "the reader failed: its column \"n\" cannot be: it is f64, and the column is i64");
}

#[test]
fn rule_55_a_method_gives_the_columns_of_all_records() {
    let method = "def columns(self):\n    return {'weight': [0.5, None, 2, 1.5], 'name': (c for c in 'abcd')}\n";
    let script = Script::new(&format!("{DICTS}def of(self, n):\n    return b'%d' % n\n\n{method}"));
    let source = script.open([]).unwrap();
    assert_eq!(columns(&source), ["weight: f64", "name: u8 [*]"]);
    assert_eq!((values::<f64>(&source, "weight", 2), source.targets().value(0, 1).is_null()), (vec![2.0], true));
    let other =
        Script::new(&format!("{DICTS}def of(self, n):\n    return b'%d' % n\n\n{}", method.replace("1.5]", "3]")));
    assert_ne!(source.fingerprint(), other.open([]).unwrap().fingerprint());
    let map = Options { columns: ColumnMap::from_iter([("mass", "weight")]), ..Options::default() };
    assert_eq!(columns(&open(&script.file(), &map).unwrap()), ["mass: f64"]);
    let map = Options { columns: ColumnMap::from_iter([("mass", "kg")]), ..Options::default() };
    refused(open(&script.file(), &map), &["columns() gives no 'kg'; it gives weight, name"]);
    let few = Script::new(&format!("{DICTS}\n{}", method.replace("2, 1.5]", "2]")));
    few.refusal([], &["columns() gives 3 values of 'weight', and there are 4 records"]);
    let taken = Script::new(&format!("{DICTS}\n{}", method.replace("'weight'", "'labels'")));
    assert!(matches!(taken.open([]), Err(SourceError::Columns { problem, .. }) if problem.contains("labels")));
}
