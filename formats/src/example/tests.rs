//! Tests of the walk through Examples, and a writer of them for the tests of formats.

use super::*;

/// A feature to write.
pub(crate) enum Values<'a> {
    Bytes(&'a [&'a [u8]]),
    Floats(&'a [f32]),
    Integers(&'a [i64]),
    /// The same, but each value in a field of its own, as some writers have it.
    UnpackedFloats(&'a [f32]),
    UnpackedIntegers(&'a [i64]),
    /// A feature without a list.
    Nothing,
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

/// A field that has a length.
pub(crate) fn field(number: u64, content: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

pub(crate) fn feature(values: &Values<'_>) -> Vec<u8> {
    match values {
        Values::Bytes(texts) => field(1, &texts.iter().flat_map(|text| field(1, text)).collect::<Vec<_>>()),
        Values::Floats(floats) => {
            field(2, &field(1, &floats.iter().flat_map(|float| float.to_le_bytes()).collect::<Vec<_>>()))
        }
        Values::Integers(integers) => {
            field(3, &field(1, &integers.iter().flat_map(|value| varint(value.cast_unsigned())).collect::<Vec<_>>()))
        }
        Values::UnpackedFloats(floats) => {
            let each = floats.iter().flat_map(|float| [vec![1 << 3 | 5], float.to_le_bytes().to_vec()].concat());
            field(2, &each.collect::<Vec<_>>())
        }
        Values::UnpackedIntegers(integers) => {
            let each = integers.iter().flat_map(|value| [vec![1 << 3], varint(value.cast_unsigned())].concat());
            field(3, &each.collect::<Vec<_>>())
        }
        Values::Nothing => Vec::new(),
    }
}

pub(crate) fn example(features: &[(&str, Values<'_>)]) -> Vec<u8> {
    let entry = |(name, values): &(&str, Values<'_>)| {
        field(1, &[field(1, name.as_bytes()), field(2, &feature(values))].concat())
    };
    field(1, &features.iter().flat_map(entry).collect::<Vec<_>>())
}

fn found(bytes: &[u8], name: &str) -> Option<Feature> {
    let mut window = Window::of_bytes(bytes);
    find(&mut window, 0..bytes.len() as u64, &[name.to_owned()]).unwrap().remove(0)
}

fn refused(bytes: &[u8]) -> String {
    let mut window = Window::of_bytes(bytes);
    match find(&mut window, 0..bytes.len() as u64, &["a".to_owned()]) {
        Err(ExampleFault::Form(words)) => words,
        other => panic!("{other:?}"),
    }
}

#[test]
fn packed_and_unpacked_lists_have_the_same_values() {
    let (floats, integers) = ([0.5, -1.0, f32::MAX], [0, -1, i64::MAX, i64::MIN, 300]);
    let bytes = example(&[
        ("f", Values::Floats(&floats)),
        ("g", Values::UnpackedFloats(&floats)),
        ("i", Values::Integers(&integers)),
        ("j", Values::UnpackedIntegers(&integers)),
    ]);
    let mut window = Window::of_bytes(&bytes);
    for name in ["f", "g"] {
        let feature = found(&bytes, name).unwrap();
        assert_eq!((feature.kind, feature.floats(&mut window).unwrap()), (FeatureKind::Floats, floats.to_vec()));
    }
    for name in ["i", "j"] {
        let feature = found(&bytes, name).unwrap();
        assert_eq!((feature.kind, feature.integers(&mut window).unwrap()), (FeatureKind::Integers, integers.to_vec()));
    }
    assert_eq!(names(&mut window, 0..bytes.len() as u64), ["f", "g", "i", "j"]);
}

#[test]
fn of_two_features_with_one_name_the_last_counts_and_of_one_in_pieces_all() {
    let bytes = example(&[("a", Values::Integers(&[1])), ("a", Values::Bytes(&[b"x", b"yz"]))]);
    let mut window = Window::of_bytes(&bytes);
    let texts = found(&bytes, "a").unwrap().texts(&mut window).unwrap();
    let texts: Vec<Vec<u8>> = texts.into_iter().map(|text| copied(&mut window, text).unwrap().to_vec()).collect();
    assert_eq!(texts, [&b"x"[..], b"yz"]);

    let one = |values| feature(&values);
    let entry = |value: Vec<u8>| field(1, &field(1, &[field(1, b"a"), field(2, &value)].concat()));
    let merged = entry([one(Values::Integers(&[1])), one(Values::Integers(&[2, 3]))].concat());
    let mut window = Window::of_bytes(&merged);
    assert_eq!(found(&merged, "a").unwrap().integers(&mut window).unwrap(), [1, 2, 3]);
    let replaced = entry([one(Values::Integers(&[1])), one(Values::Floats(&[2.0]))].concat());
    assert_eq!(found(&replaced, "a").unwrap().kind, FeatureKind::Floats);
    // Two messages of features are one.
    let both = [example(&[("a", Values::Integers(&[1]))]), example(&[("b", Values::Integers(&[2]))])].concat();
    assert!(found(&both, "a").is_some() && found(&both, "b").is_some());
}

#[test]
fn unknown_fields_are_passed_over_and_an_empty_example_has_nothing() {
    let unknown =
        [varint(9 << 3), varint(300), varint(10 << 3 | 1), vec![1; 8], varint(11 << 3 | 5), vec![1; 4]].concat();
    let bytes = [unknown.clone(), field(7, b"text"), example(&[("a", Values::Floats(&[1.0]))]), unknown].concat();
    assert!(found(&bytes, "a").is_some());
    assert_eq!(found(b"", "a"), None);
    assert_eq!(found(&example(&[("a", Values::Nothing)]), "a"), None);
    let long = "n".repeat(5000);
    assert_eq!(found(&example(&[(&long, Values::Floats(&[1.0]))]), &long), None, "no one looks for such a name");
}

#[test]
fn bytes_that_are_no_example_are_refused_with_the_reason() {
    for (bytes, words) in [
        (&b"\x0a\x05abc"[..], "ends inside a field"),
        (b"\x0a", "ends inside a field"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "ends inside a field"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "more than ten bytes"),
        (b"\x08\x01", "the features has a wrong type"),
        (b"\x0b", "wrong type"),
        (b"\x02\x00", "number 0"),
    ] {
        assert!(refused(bytes).contains(words), "{bytes:?}: {}", refused(bytes));
    }
    let mut window = Window::of_bytes(b"\x0a\x03abc");
    let feature = Feature { kind: FeatureKind::Floats, lists: std::iter::once(0..5).collect() };
    assert!(
        matches!(feature.floats(&mut window), Err(ExampleFault::Form(words)) if words.contains("a part of a float"))
    );
    let feature = Feature { kind: FeatureKind::Integers, lists: std::iter::once(0..1).collect() };
    assert!(matches!(feature.integers(&mut window), Err(ExampleFault::Form(_))));
}
