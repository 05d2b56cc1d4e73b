//! A table whose rows have the paths of pictures, and not the pictures: `metadata.parquet` of Hugging Face's `imagefolder`.

use forebay_columns::Column;
use forebay_sources::Options;

use super::file::TableFile;
use crate::address::Address;
use crate::files::existing;
use crate::listing::Found;
use crate::opened::DatasetResult;
use crate::packed::ContainerFile;
use crate::packed::open_files::OpenFiles;
use crate::paths::{Paths, below_root, escapes, foreign_url};
use crate::progress::Progress;
use crate::root::given_root;
use crate::tables::{TableChoice, bad_row, outage};

/// The pictures that a table names, with its labels and columns. Relative paths start at the table's folder.
pub(crate) fn open_paths(table: &Address, options: &Options) -> DatasetResult {
    let _progress = Progress::new("reading the table");
    let container = ContainerFile::look(table)?;
    let file = OpenFiles::new(1).get(0, &container).map_err(|error| outage(container.path(), error))?;
    let file = TableFile::choosing(0, &container, file, |path, schema| TableChoice::of_paths(path, schema, options))?;
    let mut values = None;
    file.read_values(&mut values, 0)?;
    let records = usize::try_from(file.rows()).unwrap_or(usize::MAX);
    let (column, values) = values.expect("they were read").without_first();
    let (labels, classes, targets) = values.finish(container.path(), records)?;
    let given_root = given_root(options, &table.parent())?;
    let mut paths = Paths::default();
    for row in 0..records {
        let path = path(&column, row).map_err(|problem| bad_row(container.path(), row as u64, problem.to_owned()))?;
        let root = given_root.as_ref().map(Address::path);
        let Some(path) = below_root(path, root) else {
            let folder = table.parent();
            let problem = foreign_url(path, root.unwrap_or_else(|| folder.path()));
            return Err(bad_row(container.path(), row as u64, format!("In this row, {problem}")));
        };
        if escapes(path, root) {
            let problem = format!(
                "The path \"{}\" leads out of the folder of the table. Set root= if that is intended.",
                table.shown_name(path)
            );
            return Err(bad_row(container.path(), row as u64, problem));
        }
        paths.push(path);
    }
    let (root, shard_name) = (given_root.unwrap_or_else(|| table.parent()), table.last_name());
    let bases = vec![container.basis()?];
    let found = Found { root, paths, labels, classes, targets, shard_name, bases, ..Found::default() };
    existing(container.path(), found, options)
}

/// The path of a row.
fn path(column: &Column, row: usize) -> Result<&[u8], &'static str> {
    let value = column.value(row);
    let path = value.bytes();
    if value.is_null() || path.trim_ascii().is_empty() {
        return Err("The row has no path. Write the picture's path in it, or delete it.");
    }
    if path.contains(&0) { Err("The path has a NUL byte, which no path can have.") } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::file::properties::WriterProperties;
    use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, ListBuilder};
    use arrow_array::{ArrayRef, Int64Array, StringArray};

    use crate::parquet::tests::{batch, mapped, write};
    use crate::scene::{folder, labels, names, says, values};

    fn texts(texts: &[Option<&str>]) -> ArrayRef {
        Arc::new(texts.iter().copied().collect::<StringArray>())
    }

    #[test]
    fn a_folder_has_the_columns_of_its_metadata_parquet() {
        let dir = folder(&[("a.jpg", ""), ("below/b.jpg", ""), ("c.jpg", "")]);
        let mut boxes = ListBuilder::new(FixedSizeListBuilder::new(Float32Builder::new(), 4));
        for objects in [2, 0] {
            for _ in 0..objects {
                boxes.values().values().append_slice(&[1.0, 2.0, 3.0, 4.0]);
                boxes.values().append(true);
            }
            boxes.append(true);
        }
        let table = vec![
            ("file_name", texts(&[Some("below/b.jpg"), Some("a.jpg")])),
            ("label", Arc::new(Int64Array::from(vec![7, 5])) as ArrayRef),
            ("bbox", Arc::new(boxes.finish()) as ArrayRef),
        ];
        write(&dir.path().join("metadata.parquet"), &[batch(table)], WriterProperties::default());
        let name = dir.path().to_str().unwrap();
        let source = crate::open(name, &mapped(&[("boxes", "bbox")])).unwrap();
        assert_eq!((names(&*source), labels(&*source)), (vec!["b.jpg".to_owned(), "a.jpg".into()], vec![7, 5]));
        assert_eq!(source.targets().schema().fields()[0].column_type.to_string(), "f32 [*, 4]");
        assert_eq!(values::<f32>(&*source, "boxes", 0), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((source.targets().value(0, 1).items(), source.targets().schema().len()), (0, 1));
        let mut bytes = Vec::new();
        source.read(0, u64::MAX, &mut bytes).unwrap();
        assert_eq!(bytes, b"below/b.jpg");
        // Another column may have the paths.
        let renamed = mapped(&[("images", "bbox"), ("boxes", "bbox")]);
        says(&crate::open(name, &renamed).unwrap_err().to_string(), &["\"bbox\"", "is a text"]);
        let missing = mapped(&[("images", "photo")]);
        says(&crate::open(name, &missing).unwrap_err().to_string(), &["\"photo\"", "file_name"]);
    }

    #[test]
    fn a_path_that_is_missing_or_leads_out_is_named_by_its_row() {
        for (paths, words) in [
            (texts(&[Some("a.jpg"), None]), ["row 1", "has no path"]),
            (texts(&[Some("../a.jpg")]), ["row 0", "leads out of the folder"]),
            (texts(&[Some("nowhere.jpg")]), ["metadata.parquet", "nowhere.jpg"]),
        ] {
            let dir = folder(&[("a.jpg", "")]);
            let rows: ArrayRef = Arc::new(Int64Array::from(vec![1; paths.len()]));
            let table = vec![("file_name", paths), ("n", rows)];
            write(&dir.path().join("metadata.parquet"), &[batch(table)], WriterProperties::default());
            let opened = crate::open(dir.path().to_str().unwrap(), &mapped(&[("number", "n")]));
            says(&opened.unwrap_err().to_string(), &words);
        }
    }
}
