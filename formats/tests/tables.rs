//! Tables that the original writers made; skipped, with the reason, where they are absent.
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

#[path = "genuine/shared.rs"]
mod shared;

use forebay_formats::open;
use forebay_sources::{Grains, Options, Source};
use shared::shared;

/// The bytes of all records.
fn contents(source: &dyn Source) -> Vec<Vec<u8>> {
    let read = |record| {
        let mut bytes = Vec::new();
        source.read(record, u64::MAX, &mut bytes).expect("the record is whole");
        bytes
    };
    (0..source.len()).map(read).collect()
}

#[test]
fn a_table_of_the_datasets_library_holds_the_photographs_byte_for_byte() {
    let (Some(folder), Some(photographs)) = (shared("generated/parquet"), shared("imagenet")) else { return };
    let table = folder.join("hf_imagenet64.parquet");
    let options = Options { columns: [("path", "image.path")].into_iter().collect(), ..Options::default() };
    let source = open(table.to_str().unwrap(), &options).unwrap();
    assert_eq!((source.len(), source.classes().len()), (64, 64));
    let mut compared = 0;
    for (record, content) in contents(&*source).iter().enumerate() {
        let class = &source.classes()[usize::try_from(source.label(record as u64)).unwrap()];
        let path = String::from_utf8(source.targets().value(0, record).bytes().to_vec()).unwrap();
        assert_eq!(path, format!("{class}.JPEG"));
        // Half of the photographs that were packed are here as files.
        if let Ok(photograph) = std::fs::read(photographs.join(path)) {
            assert!(*content == photograph, "record {record}");
            compared += 1;
        }
    }
    println!("{compared} of 64 photographs compared");
    assert!(compared > 20, "{compared}");
    assert_eq!(source.grains(), Grains::Starts(&[0, 20, 40, 60]));
}

#[test]
fn compressed_tables_with_plain_binary_hold_the_same_photographs() {
    let Some(folder) = shared("generated/parquet") else { return };
    let of = |name: &str| open(folder.join(name).to_str().unwrap(), &Options::default()).unwrap();
    let photographs = contents(&*of("hf_imagenet64.parquet"));
    for name in ["raw_large_binary_zstd.parquet", "raw_large_binary_snappy.parquet"] {
        let source = of(name);
        assert_eq!(source.len(), 16, "{name}");
        assert!(contents(&*source) == photographs[..16], "{name}");
        let sizes: u64 = (0..16).map(|record| source.size(record)).sum();
        let taken: usize = photographs[..16].iter().map(Vec::len).sum();
        println!("{name}: {taken} bytes, {sizes} by the averages of pages, {:?}", source.grains());
        assert!(sizes >= taken as u64);
    }
}

#[test]
fn a_folder_that_save_to_disk_wrote_holds_the_same_photographs() {
    let Some(folder) = shared("generated/parquet") else { return };
    let of = |name: &str| open(folder.join(name).to_str().unwrap(), &Options::default()).unwrap();
    let (table, saved) = (of("hf_imagenet64.parquet"), of("hf_save_to_disk8"));
    assert_eq!(saved.len(), 8);
    assert!(contents(&*saved) == contents(&*table)[..8]);
    assert_eq!(saved.classes(), table.classes());
    for record in 0..8 {
        assert_eq!(saved.label(record), table.label(record));
        assert!(saved.locator(record).to_string().ends_with(&format!("data-00000-of-00001.arrow, row {record}")));
    }
}
