//! Masks that come with the records of a reader.

use forebay_columns::ElementType;
use forebay_sources::{ColumnMap, RecordParts};

use super::*;
use crate::npy::NpyArray;
use crate::scene::says;

/// Records of the shards, with what `mask` gives for a number.
fn reader(mask: &str) -> Script {
    Script::new(&format!(
        "{SHARDS}\ndef mask(self, number):\n{}\ndef read_records(self, task):\n    \
         for number in range(task.shard.start, task.shard.end):\n        \
         yield {{'images': content(task, number), 'seg': self.mask(number), 'more': 5}}\n",
        indented(mask, "    ")
    ))
}

fn masked(masks: &[(&str, &str)]) -> Options {
    let masks = masks.iter().copied().collect::<ColumnMap>();
    Options { masks, ..with([("records_per_task", "3"), ("workers", "1")]) }
}

fn png(bits: u8) -> String {
    format!("b'\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\x0dIHDR\\0\\0\\0\\x02\\0\\0\\0\\x01' + bytes([{bits}, 0, 0, 0, 0])")
}

#[test]
fn rule_55_a_mask_is_a_key_of_a_record_and_may_be_missing() {
    let body = format!("return {{0: None, 2: b''}}.get(number, {} + b'%d' % number)", png(16));
    let script = reader(&body);
    let source = open(&script.file(), &masked(&[("segments", "none;seg")])).unwrap();
    assert_eq!((source.masks()[0].name.as_str(), source.masks()[0].element), ("segments", ElementType::U16));
    let mut bytes = Vec::new();
    for (record, (name, number)) in
        (0..).zip([("a", 0), ("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 100), ("b", 101), ("b", 102)])
    {
        source.read(record, u64::MAX, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, source.size(record), "the budget is charged with all of it");
        let parts = RecordParts::of(&bytes, 1);
        assert_eq!(parts.picture(), format!("{name}-{number}").as_bytes());
        let expected = crate::masks::tests::png(16, 0, &number.to_string());
        assert_eq!(parts.mask(0), (![0, 2].contains(&number)).then_some(&expected[..]), "{number}");
    }
    let plain = open(&script.file(), &masked(&[])).unwrap();
    assert_eq!(read(&plain, 1).unwrap(), "a-1");
    let other = open(&script.file(), &masked(&[("segments", "seg")])).unwrap();
    assert!(![plain.fingerprint(), other.fingerprint()].contains(&source.fingerprint()));
    // The table behind the masks is no part of what the limit is about.
    source.read(7, u64::MAX, &mut bytes).unwrap();
    let whole = bytes.len() as u64 - RecordParts::table_len(1);
    for (byte_limit, is_good) in [(whole, true), (whole - 1, false)] {
        let options = Options { byte_limit, ..masked(&[("seg", "seg")]) };
        let read = open(&script.file(), &options).unwrap().read(7, u64::MAX, &mut bytes);
        assert_eq!(read.is_ok(), is_good, "{read:?}");
    }
}

#[test]
fn rule_55_arrays_of_whole_numbers_are_masks_as_numpy_saves_them() {
    let class = "class Array:\n    dtype, shape = 'uint8', (2, 1)\n    def astype(self, kind):\n        return self\n    \
                 def tobytes(self):\n        return b'\\x07\\x09'\n";
    let kind = "class Kind(str):\n    def newbyteorder(self, order):\n        return self\n";
    let script = reader(&format!("{kind}{class}array = Array()\narray.dtype = Kind('uint8')\nreturn array"));
    let source = open(&script.file(), &masked(&[("seg", "seg")])).unwrap();
    assert_eq!(source.masks()[0].element, ElementType::U8);
    let mut bytes = Vec::new();
    source.read(4, u64::MAX, &mut bytes).unwrap();
    let mask = NpyArray::parse(RecordParts::of(&bytes, 1).mask(0).unwrap()).unwrap();
    assert_eq!(mask, NpyArray { element: ElementType::U8, shape: vec![2, 1], bytes: vec![7, 9] });
}

#[test]
fn rule_55_what_is_no_mask_is_refused_by_name_or_makes_its_record_bad_alone() {
    let refused = |mask: &str, words: &[&str]| {
        says(&open(&reader(mask).file(), &masked(&[("seg", "seg")])).unwrap_err().to_string(), words);
    };
    refused("return None", &["masks.seg = \"seg\"", "at least one record"]);
    refused("return b'no picture'", &["masks.seg", "reader.py, record", "PNG"]);
    let script = reader(&format!("return 'a text' if number == 1 else {}", png(8)));
    let source = open(&script.file(), &masked(&[("seg", "seg")])).unwrap();
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Reader);
    says(&error.to_string(), &["a mask must be", "one is str"]);
    source.read(2, u64::MAX, &mut Vec::new()).unwrap();
    let many = Script::new(&format!(
        "def create_shards(self):\n    return {{'': (0, 300)}}\n\ndef read_records(self, task):\n    {}",
        "return [b'%d' % number for number in range(task.shard.start, task.shard.end)]"
    ));
    let error = open(&many.file(), &masked(&[("seg", "seg")])).unwrap_err();
    says(&error.to_string(), &["masks.seg = \"seg\"", "first 256 records"]);
}
