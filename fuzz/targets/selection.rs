//! Which records of a dataset are read: a condition of any text, or a list of any bytes, is refused in words, or selects records that
//! the dataset has. The first byte says which of the two the others are.
#![no_main]

use std::fs;
use std::path::PathBuf;

use forebay_sources::Options;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Records of the dataset.
const RECORDS: u64 = 20;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for the dataset");
    static DATASET: PathBuf = FOLDER.with(|folder| {
        let mut table = String::from("path,label,caption,score\n");
        for record in 0..RECORDS {
            fs::write(folder.path().join(format!("{record}.jpg")), b"a picture").expect("room for a picture");
            table += &format!("{record}.jpg,{},text {},{}.5\n", record % 3, record % 5, record);
        }
        let file = folder.path().join("list.csv");
        fs::write(&file, table).expect("room for the table");
        file
    });
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let name = DATASET.with(|file| format!("csv:{}", file.display()));
    let columns = [("caption", "caption"), ("score", "score")].into_iter().collect();
    let mut options = Options { columns, ..Options::default() };
    if first % 2 == 0 {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        options.condition = Some(text.to_owned());
    } else {
        let list = FOLDER.with(|folder| folder.path().join("list"));
        fs::write(&list, bytes).expect("room for the list");
        options.select = Some(list.to_string_lossy().into_owned());
    }
    match forebay_formats::open(&name, &options) {
        Ok(source) => {
            let selection = source.selection().expect("the options select records");
            let count = selection.iter().inspect(|record| assert!(*record < RECORDS)).count() as u64;
            assert!((1..=RECORDS).contains(&count) && count == selection.count());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
